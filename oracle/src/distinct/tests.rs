//! Fast paths against the search: on all small histories, and on random ones.

use std::collections::BTreeSet;
use std::fmt::Debug;

use proptest::prelude::*;

use crate::specifications::{PriorityQueue, Queue, Register, Set, Stack, UnorderedQueue, containers, register, set};
use crate::{Answer, Budget, Call, Check, End, History, Moment, Open, Order, Session, Specification, Time, outcomes};

/// An operation, and what is known of its answer.
type Kind<S> = (<S as Specification>::Operation, Option<<S as Specification>::Response>);

/// How many calls all small histories have at most.
const LENGTH: usize = 4;

/// A specification with what tests need.
trait Subject: Specification<Operation: Clone + Debug, Response: Clone + Debug> + Debug {
    /// Returns initial states.
    fn initial() -> Vec<Self>;

    /// Returns what a call can be, with values from 1 to `values` and those that are there at first.
    fn kinds(&self, values: u8) -> Vec<Kind<Self>>;

    /// Returns the value that a call makes, of which there may be no other.
    fn value_made(operation: &Self::Operation) -> Option<u8>;
}

/// The value that is there at first, in one of the initial states.
const INITIAL: u8 = 9;

impl Subject for Register<u8> {
    fn initial() -> Vec<Self> {
        vec![Self(None), Self(Some(INITIAL))]
    }

    fn kinds(&self, values: u8) -> Vec<Kind<Self>> {
        use register::{Operation, Response};
        let writes = (1..=values)
            .flat_map(|value| [Some(Response::Done), None].map(|response| (Operation::Write(value), response)));
        let seen = [None, self.0].into_iter().chain((1..=values).map(Some)).collect::<BTreeSet<_>>();
        writes.chain(seen.into_iter().map(|value| (Operation::Read, Some(Response::Value(value))))).collect()
    }

    fn value_made(operation: &Self::Operation) -> Option<u8> {
        match operation {
            register::Operation::Write(value) => Some(*value),
            _ => None,
        }
    }
}

impl Subject for Set<u8> {
    fn initial() -> Vec<Self> {
        vec![Self::default(), set_of(1)]
    }

    fn kinds(&self, values: u8) -> Vec<Kind<Self>> {
        use set::{Operation, Response};
        let (yes, no, done) = (Some(Response::Is(true)), Some(Response::Is(false)), Some(Response::Done));
        (1..=values)
            .flat_map(|value| {
                let calls = [
                    (Operation::Add(value), vec![yes.clone(), no.clone(), done.clone(), None]),
                    (Operation::Remove(value), vec![yes.clone(), no.clone(), done.clone(), None]),
                    (Operation::Contains(value), vec![yes.clone(), no.clone()]),
                ];
                calls.into_iter().flat_map(|(operation, responses)| {
                    responses.into_iter().map(move |response| (operation.clone(), response))
                })
            })
            .collect()
    }

    /// Where a value is added twice, the fast path declines.
    fn value_made(_: &Self::Operation) -> Option<u8> {
        None
    }
}

/// A set to which values are added, and which is read as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Growing(Set<u8>);

impl Specification for Growing {
    type Operation = set::Operation<u8>;
    type Response = set::Response<u8>;

    fn step(&mut self, session: Session, operation: &Self::Operation, open: &mut Open<'_>) -> Self::Response {
        self.0.step(session, operation, open)
    }

    fn agrees(
        &mut self,
        operation: &Self::Operation,
        expected: &Self::Response,
        observed: &Self::Response,
        open: &mut Open<'_>,
    ) -> bool {
        self.0.agrees(operation, expected, observed, open)
    }

    fn fast_path(&self, calls: &[&Call<Self::Operation, Self::Response>]) -> Option<Answer> {
        self.0.fast_path(calls)
    }
}

impl Subject for Growing {
    fn initial() -> Vec<Self> {
        vec![Self(Set::default()), Self(set_of(INITIAL))]
    }

    fn kinds(&self, values: u8) -> Vec<Kind<Self>> {
        use set::{Operation, Response};
        let adds = (1..=values)
            .flat_map(|value| [Some(Response::Done), None].map(|response| (Operation::Add(value), response)));
        let is_initial = |bits: &u8| if *self == Self(Set::default()) { *bits < 1 << values } else { true };
        let sets = (0..2 << values).filter(is_initial).map(|bits: u8| {
            let members = (0..=values).filter(|bit| bits >> bit & 1 == 1);
            Response::Values(members.map(|bit| if bit == values { INITIAL } else { bit + 1 }).collect())
        });
        adds.chain(sets.map(|response| (Operation::Read, Some(response)))).collect()
    }

    fn value_made(operation: &Self::Operation) -> Option<u8> {
        match operation {
            set::Operation::Add(value) => Some(*value),
            _ => None,
        }
    }
}

/// Returns a set that has one value.
fn set_of(value: u8) -> Set<u8> {
    let mut set = Set::default();
    set.step(Session(0), &set::Operation::Add(value), &mut Open::first());
    set
}

/// Implements [`Subject`] for a container.
macro_rules! container {
    ($container:ident) => {
        impl Subject for $container<u8> {
            fn initial() -> Vec<Self> {
                [&[][..], &[INITIAL], &[INITIAL, 2]].into_iter().map(filled).collect()
            }

            fn kinds(&self, values: u8) -> Vec<Kind<Self>> {
                use containers::{Operation, Response};
                let mut initial = BTreeSet::new();
                let mut state = self.clone();
                let mut take = || state.step(Session(0), &Operation::Take, &mut Open::first());
                while let Response::Value(Some(value)) = take() {
                    initial.insert(value);
                }
                let new: BTreeSet<u8> = (1..=values).filter(|value| !initial.contains(value)).collect();
                let puts = new
                    .iter()
                    .flat_map(|&value| [Some(Response::Done), None].map(|response| (Operation::Put(value), response)));
                // The last of these values is never put and not there.
                let taken = initial.union(&new).copied().chain([INITIAL + 1]).map(Some);
                let takes = std::iter::once(None).chain(taken).map(|value| Some(Response::Value(value)));
                let takes = takes.chain([None]).map(|response| (Operation::Take, response));
                puts.chain(takes).collect()
            }

            fn value_made(operation: &Self::Operation) -> Option<u8> {
                match operation {
                    containers::Operation::Put(value) => Some(*value),
                    containers::Operation::Take => None,
                }
            }
        }
    };
}

container!(Queue);
container!(Stack);
container!(PriorityQueue);
container!(UnorderedQueue);

/// Returns a container into which values were put.
fn filled<S>(values: &[u8]) -> S
where
    S: Specification<Operation = containers::Operation<u8>> + Default,
{
    let mut container = S::default();
    for &value in values {
        container.step(Session(0), &containers::Operation::Put(value), &mut Open::first());
    }
    container
}

type HistoryOf<S> = History<<S as Specification>::Operation, <S as Specification>::Response>;

/// Compares a fast path with the search, and returns whether it decided, and how.
#[track_caller]
fn compare<S: Subject>(initial: &S, history: &HistoryOf<S>) -> Option<bool> {
    let calls: Vec<_> = history.calls().iter().collect();
    let answer = initial.fast_path(&calls)?;
    // Without reductions, as some end a search before the call that cannot be explained.
    let strategy = crate::Strategy::AnswerOrder;
    let check = Check { strategy, is_partitioned: false, has_fast_paths: false, ..Check::default() };
    let expect = check.run(history, initial).answer;
    let show = || {
        let line = |call: &&Call<S::Operation, S::Response>| {
            let end = call.end.at().map_or_else(|| "?".to_owned(), |at| at.to_string());
            format!("{:?} from {} to {end}: {:?}\n", call.operation, call.invoked, call.end.response())
        };
        let lines: String = calls.iter().map(line).collect();
        format!("{initial:?}\n{lines}{answer:?}, and the search says {expect:?}")
    };
    // Ends in the order in which they are demanded.
    let demand = |place: usize| {
        let at = calls[place].end.at().expect("it ended");
        (at.time, at.event.is_none(), at.event, place)
    };
    match (&answer, &expect) {
        (Answer::Possible { order }, Answer::Possible { .. }) => {
            assert!(explains(initial, &calls, order, |_| true), "{}", show());
        }
        (Answer::Impossible { longest, stuck }, Answer::Impossible { stuck: expect, .. }) => {
            let is_unknown_take = |call: &&Call<S::Operation, S::Response>| {
                call.end == End::Unknown && S::value_made(&call.operation).is_none()
            };
            if calls.iter().any(is_unknown_take) {
                assert!(demand(*stuck) >= demand(*expect), "{}", show());
                assert!(explains(initial, &calls, longest, |_| false), "{}", show());
            } else {
                assert_eq!(stuck, expect, "{}", show());
                assert!(explains(initial, &calls, longest, |place| demand(place) < demand(*stuck)), "{}", show());
            }
        }
        _ => panic!("{}", show()),
    }
    Some(matches!(answer, Answer::Possible { .. }))
}

/// Returns whether an order explains the calls in it and has all that are demanded.
fn explains<S: Subject>(
    initial: &S,
    calls: &[&Call<S::Operation, S::Response>],
    order: &[usize],
    is_demanded: impl Fn(usize) -> bool,
) -> bool {
    let placed: BTreeSet<usize> = order.iter().copied().collect();
    let is_in_time =
        |(nth, &place): (usize, &usize)| !order[nth..].iter().any(|&later| calls[later].precedes(calls[place]));
    let mut states = vec![initial.clone()];
    let mut agrees = |&place: &usize| {
        let call = calls[place];
        let observed = call.end.response();
        let after = |state: &S| -> Vec<S> {
            outcomes(state, call.session, &call.operation, observed).map(|(_, after)| after).collect()
        };
        states = states.iter().flat_map(after).collect();
        !states.is_empty() && !matches!(call.end, End::DidNotHappen { .. })
    };
    let is_missing = |place: &usize| calls[*place].end.response().is_some() && !placed.contains(place);
    let missing: Vec<usize> = (0..calls.len()).filter(is_missing).collect();
    placed.len() == order.len()
        && order.iter().enumerate().all(is_in_time)
        && order.iter().all(&mut agrees)
        && !missing
            .iter()
            .any(|&place| is_demanded(place) || placed.iter().any(|&other| calls[place].precedes(calls[other])))
}

/// All histories of some calls, but for those that differ in what has no order.
struct All<'a, S: Subject> {
    kinds: Vec<Kind<S>>,
    length: usize,
    visit: &'a mut dyn FnMut(&HistoryOf<S>),
    /// Kinds, invocations and ends.
    calls: Vec<(usize, u64, Option<u64>)>,
    /// Whether the last event was an end, and of which call or kind it was.
    last: Option<(bool, usize)>,
}

impl<S: Subject> All<'_, S> {
    fn go(&mut self, now: u64) {
        let is_open = |&(kind, _, ended): &(usize, u64, Option<u64>)| ended.is_none() && self.kinds[kind].1.is_some();
        let open: Vec<usize> = (0..self.calls.len()).filter(|&call| is_open(&self.calls[call])).collect();
        if self.calls.len() == self.length && open.is_empty() {
            let history = self.history();
            (self.visit)(&history);
        }
        let last = self.last;
        for call in open.into_iter().filter(|&call| last.is_none_or(|(is_end, other)| !is_end || other < call)) {
            self.calls[call].2 = Some(now);
            self.last = Some((true, call));
            self.go(now + 1);
            self.calls[call].2 = None;
        }
        let is_full = self.calls.len() == self.length;
        for kind in (0..self.kinds.len()).filter(|_| !is_full) {
            if last.is_some_and(|(is_end, other)| !is_end && other > kind) {
                continue;
            }
            let made = S::value_made(&self.kinds[kind].0);
            if made.is_some() && self.calls.iter().any(|call| S::value_made(&self.kinds[call.0].0) == made) {
                continue;
            }
            self.calls.push((kind, now, None));
            self.last = Some((false, kind));
            self.go(now + 1);
            self.calls.pop();
        }
        self.last = last;
    }

    fn history(&self) -> HistoryOf<S> {
        let at = |time| Moment::from(Time::from_nanos(time));
        let call = |&(kind, invoked, ended): &(usize, u64, Option<u64>)| {
            let (operation, response) = self.kinds[kind].clone();
            let end = match (response, ended) {
                (Some(response), Some(ended)) => End::Returned { at: at(ended), response },
                _ => End::Unknown,
            };
            Call::new(Session(0), operation, at(invoked), end)
        };
        History::from_calls(self.calls.iter().map(call).collect()).expect("calls end after their invocations")
    }
}

/// What came of a comparison on many histories.
#[derive(Debug, Default)]
struct Counts {
    histories: usize,
    /// Those that the fast path did not decide.
    undecided: usize,
    /// Those that have an explanation.
    possible: usize,
}

impl Counts {
    fn add(&mut self, decided: Option<bool>) {
        self.histories += 1;
        self.undecided += usize::from(decided.is_none());
        self.possible += usize::from(decided == Some(true));
    }
}

/// Compares a fast path with the search on all histories of at most `length` calls.
fn exhaust<S: Subject>(initial: &S, length: usize, values: u8) -> Counts {
    let mut counts = Counts::default();
    for length in 1..=length {
        let mut visit = |history: &HistoryOf<S>| counts.add(compare(initial, history));
        let kinds = initial.kinds(values);
        All::<S> { kinds, length, visit: &mut visit, calls: Vec::new(), last: None }.go(0);
    }
    counts
}

/// Exhausts the initial states of a specification, those that are not empty with a call less, and checks how many of a
/// hundred histories the fast path decides.
fn exhaust_all<S: Subject>(length: usize, values: u8, decided: usize) {
    for (nth, initial) in S::initial().into_iter().enumerate() {
        let counts = exhaust(&initial, length - nth.min(1), values);
        assert!(100 * (counts.histories - counts.undecided) >= decided * counts.histories, "{initial:?}: {counts:?}");
        assert!(counts.possible > 0, "{initial:?}: {counts:?}");
    }
}

#[test]
fn registers_agree_with_the_search_on_all_small_histories() {
    exhaust_all::<Register<u8>>(LENGTH, 2, 100);
}

/// Histories in which a value is added twice are among them.
#[test]
fn sets_agree_with_the_search_on_all_small_histories() {
    exhaust_all::<Set<u8>>(LENGTH, 1, 30);
    exhaust_all::<Set<u8>>(LENGTH - 2, 2, 30);
}

#[test]
fn growing_sets_agree_with_the_search_on_all_small_histories() {
    exhaust_all::<Growing>(LENGTH, 2, 100);
}

#[test]
fn queues_agree_with_the_search_on_all_small_histories() {
    exhaust_all::<Queue<u8>>(LENGTH, 2, 99);
}

#[test]
fn stacks_agree_with_the_search_on_all_small_histories() {
    exhaust_all::<Stack<u8>>(LENGTH, 2, 99);
}

#[test]
fn priority_queues_agree_with_the_search_on_all_small_histories() {
    exhaust_all::<PriorityQueue<u8>>(LENGTH, 2, 99);
}

#[test]
fn unordered_queues_agree_with_the_search_on_all_small_histories() {
    exhaust_all::<UnorderedQueue<u8>>(LENGTH, 2, 99);
}

/// How one call of a random history comes about.
#[derive(Debug, Clone)]
struct Step {
    /// Which operation it has.
    operation: u8,
    /// How long before its effect it was invoked, and how long after it ended.
    before: u64,
    after: u64,
    fate: u8,
    /// Whether the places of its invocation and of its end among the events are known.
    is_exact: (bool, bool),
}

fn step() -> impl Strategy<Value = Step> {
    (any::<u8>(), 0..60_u64, 0..60_u64, 0..24_u8, any::<(bool, bool)>())
        .prop_map(|(operation, before, after, fate, is_exact)| Step { operation, before, after, fate, is_exact })
}

/// Returns what clients may see of a specification, with the answers of two calls exchanged if `swapped` says so.
fn history<S: Subject>(
    initial: &S,
    steps: &[Step],
    operations: impl Fn(u8, u8) -> S::Operation,
    coarse: u64,
    swapped: Option<(prop::sample::Index, prop::sample::Index)>,
) -> HistoryOf<S> {
    let mut state = initial.clone();
    let mut made = 0;
    let mut calls = Vec::new();
    for (number, step) in (0..).zip(steps) {
        let operation = operations(step.operation, made);
        made += u8::from(S::value_made(&operation).is_some());
        let at = |time: u64, is_exact: bool| Moment {
            time: Time::from_nanos(time / coarse),
            event: is_exact.then_some(time),
        };
        let effect = 100 + 20 * number;
        let (invoked, ended) =
            (at(effect - step.before, step.is_exact.0), at(effect + 1 + step.after, step.is_exact.1));
        let mut take = || state.step(Session(0), &operation, &mut Open::first());
        let end = match step.fate {
            0 => End::DidNotHappen { at: ended },
            1 => {
                take();
                End::Unknown
            }
            2 => End::Unknown,
            _ => End::Returned { at: ended, response: take() },
        };
        calls.push(Call::new(Session(0), operation, invoked, end));
    }
    let can_swap: Vec<usize> = (0..calls.len())
        .filter(|&call| S::value_made(&calls[call].operation).is_none() && calls[call].end.response().is_some())
        .collect();
    if let Some((one, other)) = swapped.filter(|_| can_swap.len() > 1) {
        let (one, other) = (*one.get(&can_swap), *other.get(&can_swap));
        let responses = [one, other].map(|call| calls[call].end.response().cloned());
        for (call, response) in [other, one].into_iter().zip(responses) {
            if let (End::Returned { response: old, .. }, Some(response)) = (&mut calls[call].end, response) {
                *old = response;
            }
        }
    }
    History::from_calls(calls).expect("calls end after their invocations")
}

fn swapped() -> impl Strategy<Value = Option<(prop::sample::Index, prop::sample::Index)>> {
    prop::option::of(any::<(prop::sample::Index, prop::sample::Index)>())
}

fn container_operation(operation: u8, made: u8) -> containers::Operation<u8> {
    // In an order that is not that of the values.
    if operation % 16 < 9 { containers::Operation::Put(made.wrapping_mul(37)) } else { containers::Operation::Take }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn registers_agree_with_the_search(
        steps in prop::collection::vec(step(), 5..12), coarse in 1..30_u64, swapped in swapped(),
    ) {
        let operation = |operation: u8, made| match operation % 2 {
            0 => register::Operation::Write(made),
            _ => register::Operation::Read,
        };
        for initial in [Register(None), Register(Some(u8::MAX))] {
            let decided = compare(&initial, &history(&initial, &steps, operation, coarse, swapped));
            prop_assert!(decided.is_some());
        }
    }

    #[test]
    fn sets_agree_with_the_search(
        steps in prop::collection::vec(step(), 5..12), coarse in 1..30_u64, swapped in swapped(),
    ) {
        let operation = |operation: u8, _| {
            let value = operation / 8 % 2;
            match operation % 8 {
                0 | 1 => set::Operation::Add(value),
                2..4 => set::Operation::Remove(value),
                _ => set::Operation::Contains(value),
            }
        };
        for initial in [Set::default(), set_of(0)] {
            compare(&initial, &history(&initial, &steps, operation, coarse, swapped));
        }
    }

    #[test]
    fn growing_sets_agree_with_the_search(
        steps in prop::collection::vec(step(), 5..12), coarse in 1..30_u64, swapped in swapped(),
    ) {
        let operation = |operation: u8, made| match operation % 2 {
            0 => set::Operation::Add(made),
            _ => set::Operation::Read,
        };
        for initial in [Growing(Set::default()), Growing(set_of(u8::MAX))] {
            let decided = compare(&initial, &history(&initial, &steps, operation, coarse, swapped));
            prop_assert!(decided.is_some());
        }
    }

    #[test]
    fn containers_agree_with_the_search(
        steps in prop::collection::vec(step(), 5..12), coarse in 1..30_u64, swapped in swapped(),
        values in prop::sample::subsequence(vec![250, 251, 252], 0..3),
    ) {
        fn check<S>(
            values: &[u8], steps: &[Step], coarse: u64, swapped: Option<(prop::sample::Index, prop::sample::Index)>,
        )
        where
            S: Subject<Operation = containers::Operation<u8>> + Default,
        {
            let initial: S = filled(values);
            compare(&initial, &history(&initial, steps, container_operation, coarse, swapped));
        }
        check::<Queue<u8>>(&values, &steps, coarse, swapped);
        check::<Stack<u8>>(&values, &steps, coarse, swapped);
        check::<PriorityQueue<u8>>(&values, &steps, coarse, swapped);
        check::<UnorderedQueue<u8>>(&values, &steps, coarse, swapped);
    }
}

/// Returns a history of `length` puts and takes, each under way with some others.
fn long(length: u64) -> History<containers::Operation<u64>, containers::Response<u64>> {
    use containers::Operation;
    let mut queue = Queue::default();
    let at = |time: u64| Moment::from(Time::from_nanos(time));
    let calls = (0..length).map(|number| {
        // Three puts, then three takes, of which some are under way from long before until long after.
        let operation = if number / 3 % 2 == 0 { Operation::Put(number) } else { Operation::Take };
        let response = queue.step(Session(0), &operation, &mut Open::first());
        let (effect, reach) = (1000 + 10 * number, 5 + number * number % 97);
        let end = End::Returned { at: at(effect + reach), response };
        Call::new(Session(number % 7), operation, at(effect - reach), end)
    });
    History::from_calls(calls.collect()).expect("calls end after their invocations")
}

#[test]
fn a_long_history_is_checked_without_a_step() {
    let history = long(20_000);
    let check = Check { budget: Budget { steps: Some(0), ..Budget::default() }, ..Check::default() };
    let checked = check.run(&history, &Queue::default());
    assert!(checked.is_possible(), "{:?}", checked.explored);
    assert_eq!(checked.explored.steps, 0);

    let mut calls = history.into_calls();
    let last_take = calls.len() - 1;
    assert_eq!(calls[last_take].operation, containers::Operation::Take);
    if let End::Returned { response, .. } = &mut calls[last_take].end {
        // A value that was taken before.
        *response = containers::Response::Value(Some(0));
    }
    let history = History::from_calls(calls).expect("calls end after their invocations");
    let Answer::Impossible { longest, stuck } = check.run(&history, &Queue::default()).answer else {
        panic!("a value was taken twice");
    };
    assert_eq!(stuck, last_take);
    assert!((last_take - 20..=last_take).contains(&longest.len()), "{}", longest.len());
}

/// As Jepsen's `set-full` has them: additions, and reads of all that is there.
#[test]
fn a_long_history_of_a_set_that_is_read_as_a_whole_is_checked_without_a_step() {
    use set::{Operation, Response};
    let at = |time: u64| Moment::from(Time::from_nanos(time));
    let mut set = Set::default();
    let calls = (0..4_000_u64).map(|number| {
        let operation = if number % 20 == 19 { Operation::Read } else { Operation::Add(number) };
        let response = match set.step(Session(0), &operation, &mut Open::first()) {
            Response::Is(_) => Response::Done,
            response => response,
        };
        let (effect, reach) = (1000 + 10 * number, 5 + number * number % 97);
        Call::new(
            Session(number % 7),
            operation,
            at(effect - reach),
            End::Returned { at: at(effect + reach), response },
        )
    });
    let mut calls: Vec<_> = calls.collect();
    let check = Check { budget: Budget { steps: Some(0), ..Budget::default() }, ..Check::default() };
    let judged = |calls: &[Call<_, _>]| {
        let history = History::from_calls(calls.to_vec()).expect("calls end after their invocations");
        check.run(&history, &Set::default())
    };
    assert!(judged(&calls).is_possible());
    // A value is lost that was read before.
    let last = calls.last_mut().expect("there are calls");
    if let End::Returned { response: Response::Values(values), .. } = &mut last.end {
        values.remove(&1_000);
    }
    let stuck = History::from_calls(calls.clone()).expect("calls end after their invocations");
    let stuck = stuck.calls().iter().rposition(|call| call.operation == Operation::Read);
    assert!(matches!(judged(&calls).answer, Answer::Impossible { stuck: at, .. } if Some(at) == stuck));
}

#[test]
fn fast_paths_are_for_real_time_alone_and_can_be_turned_off() {
    let history = long(60);
    let steps = |check: Check<'_>| {
        let checked = check.run(&history, &Queue::default());
        assert!(checked.is_possible());
        checked.explored.steps
    };
    let has_fast_paths = |has_fast_paths| Check { has_fast_paths, ..Check::default() };
    assert_eq!(steps(has_fast_paths(true)), 0);
    assert!(steps(has_fast_paths(false)) > 0);
    assert!(steps(Check { strategy: crate::Strategy::CallOrder, ..Check::default() }) > 0);
    assert!(steps(Check { order: Order::linearizability().with_revisions(), ..Check::default() }) > 0);
    assert!(steps(Check { budget: Budget { bytes: Some(30_000), ..Budget::default() }, ..Check::default() }) > 0);
}

/// Each key of a set is a part of its own: the values that are added once need no search.
#[test]
fn a_part_without_a_fast_path_is_searched() {
    use set::{Operation, Response};
    let at = |time| Moment::from(Time::from_nanos(time));
    let call = |number: u64, operation: Operation<u8>, is: bool| {
        let end = End::Returned { at: at(2 * number + 1), response: Response::Is(is) };
        Call::new(Session(0), operation, at(2 * number), end)
    };
    let check = |answers: [bool; 5]| {
        let operations =
            [Operation::Add(1), Operation::Remove(1), Operation::Add(1), Operation::Add(2), Operation::Contains(2)];
        let calls = (0..).zip(operations).zip(answers).map(|((number, operation), is)| call(number, operation, is));
        let history = History::from_calls(calls.collect()).expect("calls end after their invocations");
        Check::default().run(&history, &Set::default())
    };
    let checked = check([true; 5]);
    assert_eq!(checked.answer, Answer::Possible { order: (0..5).collect() });
    assert_eq!(checked.explored.steps, 3);
    assert!(matches!(check([true, true, false, true, true]).answer, Answer::Impossible { stuck: 2, .. }));
    assert!(matches!(check([true, true, true, true, false]).answer, Answer::Impossible { stuck: 4, .. }));
}
