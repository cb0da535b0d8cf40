//! Tests from a net: stimuli, and what may be observed of them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use simutant_outcomes::{Finding, Inconclusive, Verdict};

use crate::Token;
use crate::explorer::ExploreError;

use crate::multiset::{Store, TooMany, hasher};
use crate::net::Net;
use crate::space::StateSpace;

/// A stimulus or an observation.
pub trait Event: Token + Ord {}

impl<E: Token + Ord> Event for E {}

/// The stimuli that a tester gives to an implementation, and the outcomes that are allowed.
///
/// The events of a run are a set: their order is not compared, and one that comes again adds nothing. Where either matters,
/// give the events a number or the name of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestCase<I, O> {
    /// The stimuli.
    pub inputs: BTreeSet<I>,
    /// The sets of observations, one of which must be made.
    pub outcomes: BTreeSet<BTreeSet<O>>,
}

/// Of which runs the test cases have the outcomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Paths {
    /// Of all that have the inputs of a test case: what is observed beside them is wrong.
    All,
    /// Of those that were simulated: what is observed beside them may be right.
    Simulated,
}

/// Test cases that were generated from a net.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tests<I, O> {
    /// The test cases, no two of them with the same inputs, in the order of these.
    pub cases: Vec<TestCase<I, O>>,
    /// Of which runs they have the outcomes.
    pub paths: Paths,
    /// The number of cycles that no run leaves which comes to them, or, of a simulation, of runs without an end within
    /// the limit of steps. They give no test case.
    pub endless: usize,
    /// A stimulus that is given twice in a run, and counts once; `None` if there is none.
    pub repeated_input: Option<I>,
    /// An observation that is made twice in a run, and counts once.
    pub repeated_output: Option<O>,
}

impl<I: Event, O: Event> Tests<I, O> {
    /// Returns the verdict on what was observed of an implementation on one of the test cases.
    pub fn judge(&self, case: &TestCase<I, O>, observed: &BTreeSet<O>) -> Verdict {
        if case.outcomes.contains(observed) {
            return Verdict::Pass;
        }
        match self.paths {
            Paths::All => {
                let summary = format!("{observed:?} was observed, and one of {:?} is allowed", case.outcomes);
                Verdict::Fail(Finding::wrong_result("other-outcome", summary))
            }
            Paths::Simulated => {
                let reason = format!("{observed:?} was observed, which no simulated run with these inputs shows");
                Verdict::Inconclusive(Inconclusive { reason })
            }
        }
    }
}

/// Sets of events, each with a number: multisets in which each event is once.
pub(crate) struct Sets {
    store: Store,
    /// Sets with one more event.
    larger: HashMap<(u32, u32), u32, FixedState>,
    /// An event that came to a set that had it.
    repeated: Option<u32>,
}

impl Sets {
    fn new<E: Event>() -> Self {
        Self { store: Store::new::<E>(), larger: HashMap::with_hasher(hasher()), repeated: None }
    }

    fn event<E: Event>(&mut self, event: E) -> Result<u32, ExploreError> {
        self.store.number(event).map_err(too_many)
    }

    /// Returns the set with an event, if there is one.
    fn with(&mut self, set: u32, event: Option<u32>) -> Result<u32, ExploreError> {
        let Some(event) = event else { return Ok(set) };
        if let Some(&larger) = self.larger.get(&(set, event)) {
            return Ok(larger);
        }
        let mut events = self.store.multisets().get(set).to_vec();
        match events.binary_search(&(event, 1)) {
            Ok(_) => _ = self.repeated.get_or_insert(event),
            Err(place) => events.insert(place, (event, 1)),
        }
        let larger = self.store.multisets_mut().number(&events).map_err(too_many)?;
        self.larger.insert((set, event), larger);
        Ok(larger)
    }

    /// Returns how many events a set has.
    pub(crate) fn size(&self, set: u32) -> u64 {
        self.store.multisets().size(set)
    }

    /// Returns about how many bytes they take.
    fn bytes(&self) -> usize {
        self.store.bytes() + self.larger.capacity() * (size_of::<((u32, u32), u32)>() + 1)
    }

    fn repeated<E: Event>(&self) -> Option<E> {
        self.repeated.map(|event| self.store.token::<E>(event).clone())
    }

    /// Returns a set by its number.
    pub(crate) fn get<E: Event>(&self, set: u32) -> BTreeSet<E> {
        self.store.multisets().get(set).iter().map(|&(event, _)| self.store.token::<E>(event).clone()).collect()
    }
}

fn too_many(TooMany: TooMany) -> ExploreError {
    ExploreError::TooMany { what: "events, or sets of them,".to_owned() }
}

/// The events of one run so far: the numbers of a set of stimuli and of one of observations.
pub(crate) type Seen = (u32, u32);

/// Collects what runs showed.
pub(crate) struct Collected {
    pub(crate) inputs: Sets,
    pub(crate) outputs: Sets,
    pub(crate) cases: BTreeSet<Seen>,
}

impl Collected {
    pub(crate) fn new<I: Event, O: Event>() -> Self {
        Self { inputs: Sets::new::<I>(), outputs: Sets::new::<O>(), cases: BTreeSet::new() }
    }

    /// Returns the numbers of what is seen of a transition; `None` if it gives a stimulus that is not among those allowed.
    pub(crate) fn seen<I: Event, O: Event>(
        &mut self,
        net: &Net<I, O>,
        transition: usize,
        binding: &[u32],
        allowed: Option<&BTreeSet<I>>,
    ) -> Result<Option<[Option<u32>; 2]>, ExploreError> {
        let events = &net.events[transition];
        let places = &net.core.stores;
        let input = events.input.as_ref().and_then(|input| input(binding, places));
        if let (Some(input), Some(allowed)) = (&input, allowed)
            && !allowed.contains(input)
        {
            return Ok(None);
        }
        let output = events.output.as_ref().and_then(|output| output(binding, places));
        let input = input.map(|input| self.inputs.event(input)).transpose()?;
        Ok(Some([input, output.map(|output| self.outputs.event(output)).transpose()?]))
    }

    /// Returns the numbers of what is seen of a transition.
    pub(crate) fn seen_of_all<I: Event, O: Event>(
        &mut self,
        net: &Net<I, O>,
        transition: usize,
        binding: &[u32],
    ) -> Result<[Option<u32>; 2], ExploreError> {
        Ok(self.seen(net, transition, binding, None)?.unwrap_or_default())
    }

    fn bytes(&self) -> usize {
        self.inputs.bytes() + self.outputs.bytes() + 2 * size_of::<Seen>() * self.cases.len()
    }

    pub(crate) fn with(&mut self, seen: Seen, [input, output]: [Option<u32>; 2]) -> Result<Seen, ExploreError> {
        Ok((self.inputs.with(seen.0, input)?, self.outputs.with(seen.1, output)?))
    }

    pub(crate) fn tests<I: Event, O: Event>(&self, paths: Paths, endless: usize) -> Tests<I, O> {
        let mut outcomes: BTreeMap<BTreeSet<I>, BTreeSet<BTreeSet<O>>> = BTreeMap::new();
        // Those with the same inputs come one after the other.
        let cases: Vec<Seen> = self.cases.iter().copied().collect();
        for cases in cases.chunk_by(|one, other| one.0 == other.0) {
            let of_inputs = cases.iter().map(|&(_, outputs)| self.outputs.get(outputs)).collect();
            outcomes.insert(self.inputs.get(cases[0].0), of_inputs);
        }
        let case = |(inputs, outcomes)| TestCase { inputs, outcomes };
        Tests {
            cases: outcomes.into_iter().map(case).collect(),
            paths,
            endless,
            repeated_input: self.inputs.repeated(),
            repeated_output: self.outputs.repeated(),
        }
    }
}

pub(crate) const NOTHING: Seen = (0, 0);

impl<I: Event, O: Event> StateSpace<I, O> {
    /// Returns a test case for each set of stimuli of a run that ends, with what is observed of all runs that have them.
    ///
    /// ```
    /// use std::collections::BTreeSet;
    /// use simutant_nets::{Budget, Net};
    ///
    /// // A read while somebody writes 1: it may be told 0, too.
    /// let mut net = Net::<&str, u64>::with_events("register");
    /// let value = net.place("value", [0]);
    /// let writer = net.place("writer", [1]);
    /// let reader = net.place("reader", [()]);
    /// net.transition("write", (writer.take(), value.take()), |new, _| Some(new), value.put()).input(|_, _| Some("write 1"));
    /// net.transition("read", (reader.take(), value.keep()), |(), _| Some(()), ())
    ///     .input(|(), _| Some("read"))
    ///     .output(|(), value| Some(value));
    ///
    /// let tests = net.explore(&Budget::default())?.tests()?;
    /// let [case] = &tests.cases[..] else { panic!("both calls are made in each run") };
    /// assert_eq!(case.inputs, BTreeSet::from(["read", "write 1"]));
    /// assert_eq!(case.outcomes, BTreeSet::from([BTreeSet::from([0]), BTreeSet::from([1])]));
    /// assert!(!tests.judge(case, &BTreeSet::from([2])).passes());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// What runs show is propagated to a fixpoint: over the strongly connected components in the order of the arcs between
    /// them, and within one until nothing is new.
    ///
    /// Cost: each marking is seen once for each different set of events with which it is reached.
    ///
    /// # Errors
    /// [`ExploreError::TooMany`] if there are more than 2^32 - 1 different sets of events, and [`ExploreError::Exhausted`] if
    /// they take more than the bytes of the budget with which the net was explored.
    pub fn tests(&mut self) -> Result<Tests<I, O>, ExploreError> {
        let mut collected = Collected::new::<I, O>();
        let mut events = Vec::with_capacity(self.graph().markings());
        let of_arcs =
            size_of::<[Option<u32>; 2]>() * self.graph().arcs() + size_of::<Vec<()>>() * self.graph().markings();
        // The sets that are kept of all markings, and the arcs that were followed.
        let (mut kept, mut followed) = (0_usize, 0_usize);
        for marking in 0..self.graph().markings() {
            let fired = self.fired_at(marking);
            let of_marking: Result<Vec<_>, _> = fired
                .iter()
                .map(|(transition, binding)| collected.seen_of_all(self.net(), *transition, binding))
                .collect();
            events.push(of_marking?);
        }
        let components = self.graph().components();
        let mut order: Vec<usize> = (0..self.graph().markings()).collect();
        // Arcs lead to components with smaller numbers.
        order.sort_by_key(|&marking| std::cmp::Reverse(components[marking]));
        let mut seen: Vec<BTreeSet<Seen>> = vec![BTreeSet::new(); self.graph().markings()];
        seen[0].insert(NOTHING);
        kept += 1;
        let mut endless = 0;
        for component in order.chunk_by(|&one, &other| components[one] == components[other]) {
            let mut open: VecDeque<(usize, Seen)> = VecDeque::new();
            let mut is_left = false;
            for &marking in component {
                open.extend(seen[marking].iter().map(|&seen| (marking, seen)));
            }
            while let Some((marking, before)) = open.pop_front() {
                if self.graph().successors(marking).is_empty() {
                    collected.cases.insert(before);
                    is_left = true;
                }
                for (&target, &seen_here) in self.graph().successors(marking).iter().zip(&events[marking]) {
                    let after = collected.with(before, seen_here)?;
                    let target = target as usize;
                    let is_new = seen[target].insert(after);
                    kept += usize::from(is_new);
                    followed += 1;
                    // To add up what everything takes is not for each arc.
                    if followed.is_multiple_of(1 << 16)
                        && let Some(limit) = self.limit_with(of_arcs + collected.bytes() + 2 * size_of::<Seen>() * kept)
                    {
                        let grows = format!("they are reached with {kept} different sets of events");
                        return Err(ExploreError::Exhausted { limit, markings: self.graph().markings(), grows });
                    }
                    if components[target] != components[marking] {
                        is_left = true;
                    } else if is_new {
                        open.push_back((target, after));
                    }
                }
            }
            for &marking in component {
                kept -= std::mem::take(&mut seen[marking]).len();
            }
            endless += usize::from(!is_left);
        }
        Ok(collected.tests(Paths::All, endless))
    }
}

/// Calls of functions that transitions stand for: what a function is given, with what it may return.
pub type Calls<I, O> = BTreeMap<I, BTreeSet<O>>;

impl<I: Event, O: Event> StateSpace<I, O> {
    /// Returns the calls of the functions that transitions stand for: each stimulus of a transition that fires, with what is
    /// observed of the same firing in any marking. Tests of such a function need no run (Wang's thesis, 2021, section 3.4).
    ///
    /// ```
    /// use std::collections::{BTreeMap, BTreeSet};
    /// use simutant_nets::{Budget, Net};
    ///
    /// // Two numbers come, in any order, and their sum so far is said.
    /// let mut net = Net::<(u32, u32), u32>::with_events("sum");
    /// let (numbers, sum) = (net.place("numbers", [1, 2]), net.place("sum", [0]));
    /// net.transition("add", (numbers.take(), sum.take()), |number, sum| Some(number + sum), sum.put())
    ///     .input(|number, sum| Some((number, sum)))
    ///     .output(|number, sum| Some(number + sum));
    ///
    /// let calls = net.explore(&Budget::default())?.calls();
    /// let said = |sum| BTreeSet::from([sum]);
    /// assert_eq!(calls, BTreeMap::from([((1, 0), said(1)), ((2, 0), said(2)), ((1, 2), said(3)), ((2, 1), said(3))]));
    /// # Ok::<(), simutant_nets::ExploreError>(())
    /// ```
    pub fn calls(&mut self) -> Calls<I, O> {
        let mut calls = Calls::new();
        for marking in 0..self.graph().markings() {
            for (transition, binding) in self.fired_at(marking) {
                self.net().called(transition, &binding, &mut calls);
            }
        }
        calls
    }
}

impl<I: Event, O: Event> Net<I, O> {
    /// Adds the call that the firing of a transition is, if it is one.
    pub(crate) fn called(&self, transition: usize, binding: &[u32], calls: &mut Calls<I, O>) {
        let (events, places) = (&self.events[transition], &self.core.stores);
        let input = events.input.as_ref().and_then(|input| input(binding, places));
        let output = events.output.as_ref().and_then(|output| output(binding, places));
        if let Some((input, output)) = input.zip(output) {
            calls.entry(input).or_default().insert(output);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Budget;

    #[test]
    fn an_event_that_comes_twice_is_told() {
        let tests = |tokens: usize| {
            let mut net = Net::<&str, usize>::with_events("bell");
            let visitors = net.place("visitors", (0..tokens).collect::<Vec<_>>());
            net.transition("ring", visitors.take(), |_| Some(()), ()).input(|_| Some("ring")).output(Some);
            net.explore(&Budget::default()).and_then(|mut space| space.tests()).expect("it is small")
        };
        let (one, two) = (tests(1), tests(2));
        assert_eq!((one.repeated_input, one.repeated_output), (None, None));
        assert_eq!((two.repeated_input, two.repeated_output), (Some("ring"), None));
    }
}
