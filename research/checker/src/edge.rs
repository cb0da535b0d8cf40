//! Histories at the edge of what is possible: with two events in the other order, or an offset that is one more or one
//! less, they have another verdict. The tests of `oracle/` have this file, too.

use simutant_oracle::specifications::{containers, log, set};
use simutant_oracle::{Call, End, History, Moment, Open, Order, Session, Specification, Time};
use simutant_random::Random;

use crate::any::{Any, Name, Operation, Response};
use crate::case::{AnyHistory, Case, Verdicts, started};
use crate::judge::{brute_force, one_of};
use crate::sample::{JUDGED_CALLS_MAX, kind};
use crate::tried::maybe;

/// How many histories are drawn, of which the one is kept that has the most edges.
const DRAWN_MAX: usize = 24;

/// How many calls there are at most, and how many of a container: what lies above what needs some.
const CALLS_MAX: u64 = 8;
const CONTAINER_CALLS_MAX: u64 = JUDGED_CALLS_MAX as u64;

/// The invocation of a call, or its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Event {
    call: usize,
    is_end: bool,
}

/// A history by its events in order, each at a time of its own.
#[derive(Debug, Clone)]
struct Row {
    before: Vec<Operation>,
    initial: Any,
    events: Vec<Event>,
    /// In the order of invocation. Without an answer nobody knows the end, and it is not among the events.
    calls: Vec<(Session, Operation, Option<Response>)>,
}

impl Case {
    /// Draws a history with many edges, or of ZooKeeper one with watches, or `None` if the specification is none of
    /// those whose code depends on the order of two events, or on an offset.
    pub(crate) fn sample_edge(specification: Name, random: &mut Random) -> Option<Self> {
        let draw: fn(Name, &mut Random) -> Row = match specification {
            Name::Register | Name::Set | Name::Queue | Name::Stack | Name::PriorityQueue => Row::of_fast,
            Name::Log => Row::of_log,
            Name::Zookeeper => return Some(Self::sample_watched(random)),
            _ => return None,
        };
        let mut best = draw(specification, random);
        let mut edges = best.edges();
        for _ in 1..DRAWN_MAX {
            let other = draw(specification, random);
            let others = other.edges();
            if others > edges {
                (best, edges) = (other, others);
            }
        }
        let possible = Verdicts { linearizability: best.is_possible(), others: None };
        Some(Self::of(specification, &best.before, &best.history(), Vec::new(), possible))
    }
}

impl Row {
    /// Draws calls that a service answers when they take effect. Of ten takes twice `unknown` have no known end, and of
    /// ten others half as many.
    fn served(
        random: &mut Random,
        initial: Any,
        unknown: u64,
        mut serve: impl FnMut(&mut Random) -> (Operation, Response),
    ) -> Self {
        let is_container = matches!(initial, Any::Queue(_) | Any::Stack(_) | Any::PriorityQueue(_));
        let calls = random.uniform(3..=if is_container { CONTAINER_CALLS_MAX } else { CALLS_MAX });
        let width = random.uniform(1..=9_u64);
        let mut row: Vec<(u64, u64)> =
            (0..calls).flat_map(|call| [call; 3]).map(|call| (3 * call + random.uniform(0..=width), call)).collect();
        row.sort_unstable();
        let mut places: Vec<Option<usize>> = vec![None; calls as usize];
        let mut answered: Vec<Option<(Operation, Response)>> = Vec::new();
        let mut events = Vec::new();
        for (_, number) in row {
            match places[number as usize] {
                None => {
                    places[number as usize] = Some(answered.len());
                    events.push(Event { call: answered.len(), is_end: false });
                    answered.push(None);
                }
                Some(call) if answered[call].is_none() => answered[call] = Some(serve(random)),
                Some(call) => events.push(Event { call, is_end: true }),
            }
        }
        let mut calls = Vec::new();
        for (operation, response) in answered.into_iter().flatten() {
            let unknown = if is_take(&operation) { 2 * unknown } else { unknown / 2 };
            let is_known = random.uniform(0..=9_u64) >= unknown;
            calls.push((Session(random.uniform(1..=3_u64)), operation, is_known.then_some(response)));
        }
        events.retain(|event| !event.is_end || calls[event.call].2.is_some());
        Self { before: Vec::new(), initial, events, calls }
    }

    /// Draws calls that a fast path knows. Two may have each other's answers.
    fn of_fast(specification: Name, random: &mut Random) -> Self {
        let (mut once, mut others) = specification.distinct();
        if specification == Name::Set {
            // Values do not depend on each other, so all calls are about one.
            use set::Operation::{Add, Contains, Remove};
            let is_about =
                |operation: &Operation| matches!(operation, Operation::Set(Add(0) | Remove(0) | Contains(0)));
            once.truncate(1);
            others.retain(is_about);
        }
        for place in (1..once.len()).rev() {
            once.swap(place, random.uniform(0..=place as u64) as usize);
        }
        let before: Vec<Operation> = once.drain(..one_of(random, &[0, 0, 0, 1, 2]).min(once.len())).collect();
        let mut operation = |random: &mut Random| match once.pop() {
            Some(next) if maybe(random) => next,
            next => {
                once.extend(next);
                one_of(random, &others)
            }
        };
        let initial = started(specification, &before);
        let mut state = initial.clone();
        let serve = |random: &mut Random| {
            let operation = operation(random);
            let response = state.step(Session(1), &operation, &mut Open::first());
            // Some answers of a set say less.
            let made_up = Any::made_up(random, &operation);
            let is_less = state.clone().agrees(&operation, &response, &made_up, &mut Open::first());
            (operation, if is_less { made_up } else { response })
        };
        let unknown = one_of(random, &[0, 0, 1, 2, 4]);
        let mut row = Self { before, ..Self::served(random, initial, unknown, serve) };
        if maybe(random) {
            row.swap_answers(random);
        }
        row
    }

    /// Draws calls on a log that leaves gaps now and then. An offset may be one more or one less than it was.
    fn of_log(specification: Name, random: &mut Random) -> Self {
        let mut records: Vec<(u64, u8)> = Vec::new();
        let mut next = one_of(random, &[0, 0, 1]);
        let (told, values) = (random.uniform(0..=3_u64), random.uniform(0..=1_u64) as u8);
        let serve = |random: &mut Random| {
            let (operation, response) = if maybe(random) {
                let value = if maybe(random) { values } else { 0 };
                records.push((next, value));
                let offset = (random.uniform(0..=3_u64) < told).then_some(next);
                next += one_of(random, &[1, 1, 1, 2, 3]);
                (log::Operation::Append(value), log::Response::Appended { offset })
            } else {
                let from = random.uniform(0..=next);
                let most = one_of(random, &[1, 1, 2, 3]);
                let read = records.iter().filter(|(offset, _)| *offset >= from).take(most).copied().collect();
                (log::Operation::Read { from }, log::Response::Records(read))
            };
            (Operation::Log(operation), Response::Log(response))
        };
        let unknown = one_of(random, &[0, 0, 1, 2]);
        let row = Self::served(random, specification.initial(), unknown, serve);
        let shifted = row.shifted();
        if maybe(random) && !shifted.is_empty() { one_of(random, &shifted) } else { row }
    }

    /// Lets two calls of one kind have each other's answers.
    fn swap_answers(&mut self, random: &mut Random) {
        let calls = &self.calls;
        let is_swap = |&(one, other): &(usize, usize)| {
            let ((_, one, answer), (_, other, others)) = (&calls[one], &calls[other]);
            answer.is_some() && others.is_some() && answer != others && kind(one) == kind(other)
        };
        let pairs = (0..calls.len()).flat_map(|other| (0..other).map(move |one| (one, other)));
        let swaps: Vec<(usize, usize)> = pairs.filter(is_swap).collect();
        if !swaps.is_empty() {
            let (one, other) = one_of(random, &swaps);
            let answer = self.calls[one].2.take();
            self.calls[one].2 = std::mem::replace(&mut self.calls[other].2, answer);
        }
    }

    fn history(&self) -> AnyHistory {
        let mut calls: Vec<Call<Operation, Response>> = Vec::new();
        for (time, event) in (0..).zip(&self.events) {
            let at = Moment { time: Time::from_nanos(time), event: None };
            match &self.calls[event.call] {
                (.., Some(response)) if event.is_end => {
                    calls[event.call].end = End::Returned { at, response: response.clone() };
                }
                (session, operation, _) => calls.push(Call::new(*session, operation.clone(), at, End::Unknown)),
            }
        }
        History::from_calls(calls).expect("calls end after their invocations")
    }

    fn is_possible(&self) -> bool {
        brute_force(&self.history(), &self.initial, &Order::linearizability())
    }

    /// Returns how many small changes give another verdict.
    fn edges(&self) -> usize {
        let is_possible = self.is_possible();
        let swaps = (1..self.events.len()).filter_map(|place| {
            let (one, other) = (self.events[place - 1], self.events[place]);
            let matters = one.call != other.call && one.is_end != other.is_end;
            matters.then(|| {
                let mut swapped = self.clone();
                swapped.events.swap(place - 1, place);
                swapped
            })
        });
        swaps.chain(self.shifted()).filter(|other| other.is_possible() != is_possible).count()
    }

    /// Returns the histories in which one offset is one more, or one less; none if there are no offsets.
    fn shifted(&self) -> Vec<Self> {
        let mut shifted = Vec::new();
        for (call, (_, operation, response)) in self.calls.iter().enumerate() {
            let mut add = |operation: log::Operation<u8>, response: Option<log::Response<u8>>| {
                let mut other = self.clone();
                let call = &mut other.calls[call];
                (call.1, call.2) = (Operation::Log(operation), response.map(Response::Log));
                shifted.push(other);
            };
            let nearby = |offset: u64| [offset.checked_sub(1), Some(offset + 1)].into_iter().flatten();
            match (operation, response) {
                (Operation::Log(operation), Some(Response::Log(log::Response::Appended { offset: Some(offset) }))) => {
                    for offset in nearby(*offset) {
                        add(operation.clone(), Some(log::Response::Appended { offset: Some(offset) }));
                    }
                }
                (Operation::Log(log::Operation::Read { from }), Some(Response::Log(log::Response::Records(read)))) => {
                    for from in nearby(*from) {
                        add(log::Operation::Read { from }, Some(log::Response::Records(read.clone())));
                    }
                    for place in 0..read.len() {
                        for offset in nearby(read[place].0) {
                            let mut read = read.clone();
                            read[place].0 = offset;
                            let from = log::Operation::Read { from: *from };
                            add(from, Some(log::Response::Records(read)));
                        }
                    }
                }
                _ => {}
            }
        }
        shifted
    }
}

/// Returns whether an operation takes a value out of a container.
fn is_take(operation: &Operation) -> bool {
    use containers::Operation::Take;
    matches!(operation, Operation::Queue(Take) | Operation::Stack(Take) | Operation::PriorityQueue(Take))
}
