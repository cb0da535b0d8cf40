//! Small random nets have the state space that a naive explorer finds.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use proptest::prelude::*;
use simutant_nets::{Added, Budget, ExploreError, Inputs, Net, NetError, Place, any};
use simutant_random::Random;

/// How many markings the naive explorer looks at.
const MARKINGS_MAX: usize = 600;

const PLACES: usize = 3;

/// What a transition takes, by places.
#[derive(Debug, Clone, Copy)]
enum Arcs {
    One(usize),
    Two(usize, usize),
    Tested(usize, usize),
    Rest(usize, usize),
    Free(usize),
}

#[derive(Debug, Clone)]
struct Transition {
    inputs: Arcs,
    outputs: (usize, usize),
    guard: u8,
    add: u8,
    inhibitor: Option<usize>,
    priority: i32,
}

/// The tokens of each place, in order.
type Marking = [Vec<u8>; PLACES];

/// A marking has its successors, one for each binding, in order.
type Graph = BTreeMap<Marking, Vec<Marking>>;

/// Returns the sum of tokens, as far as it matters.
fn sum(tokens: &[u8]) -> u8 {
    tokens.iter().fold(0, |sum, token| (sum + token) % 12)
}

/// What a transition makes of the sum of its tokens.
fn made(transition: &Transition, sum: u8) -> Option<(u8, Vec<u8>)> {
    let all = if sum.is_multiple_of(2) { vec![sum % 2] } else { Vec::new() };
    (sum % 4 != transition.guard).then_some(((sum + transition.add) % 3, all))
}

/// Gives a transition its priority and its inhibitor.
fn limit<Given: Inputs>(added: Added<'_, Given, u8, u8>, what: &Transition, places: &[Place<u8>]) {
    let added = added.priority(what.priority);
    if let Some(place) = what.inhibitor {
        added.unless_marked(places[place]);
    }
}

/// Returns the stimulus of a transition whose tokens have a sum.
fn stimulus(number: usize, sum: u8) -> Option<u8> {
    number.is_multiple_of(2).then_some(sum % 3)
}

/// Returns the observation of it.
fn observation(number: usize, sum: u8) -> Option<u8> {
    sum.is_multiple_of(2).then_some(number as u8)
}

fn net(initial: &Marking, transitions: &[Transition]) -> (Net<u8, u8>, [Place<u8>; PLACES]) {
    let mut net = Net::with_events("random");
    let mut places = Vec::new();
    for (number, tokens) in initial.iter().enumerate() {
        places.push(net.place(format!("place {number}"), tokens.iter().copied()));
    }
    for (number, transition) in transitions.iter().enumerate() {
        let name = format!("transition {number}");
        let outputs = (places[transition.outputs.0].put(), places[transition.outputs.1].put_all());
        let what = transition.clone();
        let (input, output) = (move |sum| stimulus(number, sum), move |sum| observation(number, sum));
        let two = |one: u8, other: u8| one + 2 * other;
        match transition.inputs {
            Arcs::One(one) => {
                let added = net.transition(name, places[one].take(), move |one| made(&what, one), outputs);
                limit(added.input(input).output(output), transition, &places);
            }
            Arcs::Two(one, other) => {
                let inputs = (places[one].take(), places[other].take());
                let added = net.transition(name, inputs, move |one, other| made(&what, two(one, other)), outputs);
                let added = added.input(move |one, other| input(two(one, other)));
                limit(added.output(move |one, other| output(two(one, other))), transition, &places);
            }
            Arcs::Tested(one, other) => {
                let inputs = (places[one].take(), places[other].keep());
                let added = net.transition(name, inputs, move |one, other| made(&what, two(one, other)), outputs);
                let added = added.input(move |one, other| input(two(one, other)));
                limit(added.output(move |one, other| output(two(one, other))), transition, &places);
            }
            Arcs::Rest(one, other) => {
                let inputs = (places[one].take(), places[other].take_all());
                let body = move |one: u8, others: Vec<u8>| made(&what, one + sum(&others));
                let added = net.transition(name, inputs, body, outputs);
                let added = added.input(move |one, others: Vec<u8>| input(one + sum(&others)));
                limit(added.output(move |one, others: Vec<u8>| output(one + sum(&others))), transition, &places);
            }
            Arcs::Free(one) => {
                let inputs = (any([0, 1]), places[one].take());
                let added = net.transition(name, inputs, move |free, one| made(&what, two(one, free)), outputs);
                let added = added.input(move |free, one| input(two(one, free)));
                limit(added.output(move |free, one| output(two(one, free))), transition, &places);
            }
        }
    }
    (net, places.try_into().expect("there are so many"))
}

/// Returns the different tokens of a place, each with the marking without it.
fn taken(marking: &Marking, place: usize) -> Vec<(u8, Marking)> {
    let different: BTreeSet<u8> = marking[place].iter().copied().collect();
    let without = |token| {
        let mut rest = marking.clone();
        let at = rest[place].iter().position(|&other| other == token).expect("it is there");
        rest[place].remove(at);
        (token, rest)
    };
    different.into_iter().map(without).collect()
}

/// Returns the sums of a transition's tokens, each with the marking before anything is put.
fn bound(transition: &Transition, marking: &Marking) -> Vec<(u8, Marking)> {
    let mut all = Vec::new();
    match transition.inputs {
        Arcs::One(one) => all = taken(marking, one),
        Arcs::Two(one, other) => {
            for (first, rest) in taken(marking, one) {
                all.extend(taken(&rest, other).into_iter().map(|(second, rest)| (first + 2 * second, rest)));
            }
        }
        Arcs::Tested(one, other) => {
            for (first, rest) in taken(marking, one) {
                all.extend(taken(&rest, other).into_iter().map(|(second, _)| (first + 2 * second, rest.clone())));
            }
        }
        Arcs::Rest(one, other) => {
            for (first, mut rest) in taken(marking, one) {
                let others = sum(&std::mem::take(&mut rest[other]));
                all.push((first + others, rest));
            }
        }
        Arcs::Free(one) => {
            for free in [0, 1] {
                all.extend(taken(marking, one).into_iter().map(|(token, rest)| (token + 2 * free, rest)));
            }
        }
    }
    all
}

/// What is seen of a step.
type Seen = (Option<u8>, Option<u8>);

fn steps(transitions: &[Transition], marking: &Marking) -> Vec<(Seen, Marking)> {
    let mut enabled: Vec<(i32, (Seen, Marking))> = Vec::new();
    for (number, transition) in transitions.iter().enumerate() {
        if transition.inhibitor.is_some_and(|place| !marking[place].is_empty()) {
            continue;
        }
        for (sum, mut rest) in bound(transition, marking) {
            let Some((one, all)) = made(transition, sum) else { continue };
            rest[transition.outputs.0].push(one);
            rest[transition.outputs.1].extend(all);
            rest.iter_mut().for_each(|tokens| tokens.sort_unstable());
            let seen = (stimulus(number, sum), observation(number, sum));
            enabled.push((transition.priority, (seen, rest)));
        }
    }
    let highest = enabled.iter().map(|(priority, _)| *priority).max();
    enabled.into_iter().filter(|(priority, _)| Some(*priority) == highest).map(|(_, step)| step).collect()
}

fn successors(transitions: &[Transition], marking: &Marking) -> Vec<Marking> {
    let mut after: Vec<Marking> = steps(transitions, marking).into_iter().map(|(_, marking)| marking).collect();
    after.sort();
    after
}

/// Returns the outcomes of each set of stimuli, from all markings with all that can have been seen before; `None` if these
/// are many.
fn outcomes(initial: &Marking, transitions: &[Transition]) -> Option<BTreeMap<BTreeSet<u8>, BTreeSet<BTreeSet<u8>>>> {
    let mut all = BTreeMap::<_, BTreeSet<_>>::new();
    let mut known = BTreeSet::new();
    let mut open = vec![(initial.clone(), BTreeSet::new(), BTreeSet::new())];
    while let Some(at) = open.pop() {
        if !known.insert(at.clone()) {
            continue;
        }
        if known.len() > 20 * MARKINGS_MAX {
            return None;
        }
        let (marking, inputs, outputs) = at;
        let steps = steps(transitions, &marking);
        if steps.is_empty() {
            all.entry(inputs.clone()).or_default().insert(outputs.clone());
        }
        for ((input, output), after) in steps {
            let (mut inputs, mut outputs) = (inputs.clone(), outputs.clone());
            inputs.extend(input);
            outputs.extend(output);
            open.push((after, inputs, outputs));
        }
    }
    Some(all)
}

/// Returns the state space; `None` if it is large.
fn naive(initial: &Marking, transitions: &[Transition]) -> Option<Graph> {
    let mut graph = Graph::new();
    let mut open = VecDeque::from([initial.clone()]);
    while let Some(marking) = open.pop_front() {
        if graph.contains_key(&marking) {
            continue;
        }
        let after = successors(transitions, &marking);
        open.extend(after.iter().cloned());
        graph.insert(marking, after);
        if graph.len() > MARKINGS_MAX {
            return None;
        }
    }
    Some(graph)
}

fn transition() -> impl Strategy<Value = Transition> {
    let place = 0..PLACES;
    let two = (place.clone(), place.clone());
    let inputs = prop_oneof![
        place.clone().prop_map(Arcs::One),
        two.clone().prop_map(|(one, other)| Arcs::Two(one, other)),
        two.clone().prop_map(|(one, other)| Arcs::Tested(one, other)),
        two.clone().prop_map(|(one, other)| Arcs::Rest(one, other)),
        place.clone().prop_map(Arcs::Free),
    ];
    let inhibitor = proptest::option::weighted(0.2, place);
    (inputs, two, 0..4_u8, 0..3_u8, inhibitor, 0..2).prop_map(|(inputs, outputs, guard, add, inhibitor, priority)| {
        Transition { inputs, outputs, guard, add, inhibitor, priority }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_state_space_is_that_of_a_naive_explorer(
        mut initial in proptest::array::uniform3(proptest::collection::vec(0..3_u8, 0..4)),
        transitions in proptest::collection::vec(transition(), 1..4),
    ) {
        initial.iter_mut().for_each(|tokens| tokens.sort_unstable());
        let (net, places) = net(&initial, &transitions);
        let budget = Budget { markings: Some(MARKINGS_MAX), bytes: None };
        let mut space = match net.explore(&budget) {
            Ok(space) => space,
            Err(ExploreError::Net(NetError::NeverMarked { .. } | NetError::Unused { .. })) => return Ok(()),
            Err(ExploreError::Exhausted { .. }) => {
                prop_assert!(naive(&initial, &transitions).is_none());
                return Ok(());
            }
            Err(error) => panic!("{error}"),
        };
        let marking = |number: usize| {
            let of_place = |place| {
                let tokens = space.marking(number).tokens(place);
                let mut all: Vec<u8> = tokens.flat_map(|(token, count)| vec![*token; count as usize]).collect();
                all.sort_unstable();
                all
            };
            places.map(of_place)
        };
        let mut found = Graph::new();
        for number in 0..space.graph().markings() {
            let mut after: Vec<Marking> = space.graph().successors(number).iter().map(|&to| marking(to as usize)).collect();
            after.sort();
            prop_assert!(found.insert(marking(number), after).is_none(), "a marking has two numbers");
        }
        let expected = naive(&initial, &transitions);
        prop_assert_eq!(Some(&found), expected.as_ref());

        // A marking is a home marking if all reach it.
        let reached = |from: &Marking| {
            let mut known = BTreeSet::from([from.clone()]);
            let mut open = vec![from.clone()];
            while let Some(marking) = open.pop() {
                open.extend(found[&marking].iter().filter(|after| known.insert((*after).clone())).cloned());
            }
            known
        };
        if found.len() <= 60 {
            let all: Vec<BTreeSet<Marking>> = found.keys().map(reached).collect();
            let home: BTreeSet<Marking> = space.graph().home().into_iter().map(marking).collect();
            let is_home = |marking: &&Marking| all.iter().all(|reached| reached.contains(*marking));
            prop_assert_eq!(home, found.keys().filter(is_home).cloned().collect());
        }
        // A run that avoids a goal does, and where there is none, what avoids it has neither an end nor a cycle.
        let is_goal = |marking: &Marking| marking[0].len() == 1;
        let lasso = space.avoiding(|it| it.count(places[0]) == 1);
        match &lasso {
            Some(lasso) if lasso.cycle.is_empty() => {
                prop_assert!(!is_goal(&marking(lasso.begin)) && space.graph().successors(lasso.begin).is_empty());
            }
            Some(lasso) => {
                prop_assert_eq!(lasso.cycle[0].0, lasso.begin);
                for (place, &(from, arc)) in lasso.cycle.iter().enumerate() {
                    let next = lasso.cycle.get(place + 1).map_or(lasso.begin, |next| next.0);
                    prop_assert!(!is_goal(&marking(from)) && space.graph().successors(from)[arc] as usize == next);
                }
            }
            None => {
                // What is left when all that leads to goals and to what is gone alone is taken away.
                let mut left: BTreeSet<&Marking> = found.keys().filter(|marking| !is_goal(marking)).collect();
                let leaves = |left: &BTreeSet<&Marking>, marking: &Marking| {
                    !found[marking].is_empty() && found[marking].iter().all(|after| !left.contains(after))
                };
                while let Some(marking) = left.iter().copied().find(|marking| leaves(&left, marking)) {
                    left.remove(marking);
                }
                prop_assert!(left.is_empty(), "{left:?}");
            }
        }
        // Tests have the outcomes of all paths, and what is simulated is among them.
        if let Some(expected) = outcomes(&initial, &transitions) {
            let tests = space.tests().expect("they are few");
            let found: BTreeMap<_, _> =
                tests.cases.iter().map(|case| (case.inputs.clone(), case.outcomes.clone())).collect();
            prop_assert_eq!(&found, &expected);
            let simulated = self::net(&initial, &transitions).0.simulate(10, 1, 50).expect("it has no mistake");
            for case in simulated.cases {
                prop_assert!(case.outcomes.is_subset(&expected[&case.inputs]));
            }
            // A run with given stimuli shows one of these outcomes, and there is none with others.
            let (mut net, _) = self::net(&initial, &transitions);
            let mut random = Random::from_seed(1);
            for (inputs, outcomes) in expected.iter().take(5) {
                prop_assert_eq!(&net.outcomes(inputs, 100_000).expect("they are few"), outcomes);
                let driven = net.drive(inputs, &mut random, 10_000).expect("it has no mistake").expect("there is one");
                prop_assert!(outcomes.contains(&driven.observed), "{driven:?}");
            }
            let others = BTreeSet::from([u8::MAX]);
            prop_assert_eq!(net.outcomes(&others, 100_000), Ok(BTreeSet::new()));
            prop_assert_eq!(net.drive(&others, &mut random, 10_000), Ok(None));
        }
        // The way to the last marking leads there.
        let last = space.graph().markings() - 1;
        let firings = space.firings_to(last);
        prop_assert_eq!(firings.last().map_or(0, |fired| fired.marking), last);
        let mut at = 0;
        for fired in firings {
            prop_assert!(space.graph().successors(at).contains(&(fired.marking as u32)));
            at = fired.marking;
        }
    }
}
