//! Drawing test cases: short histories of which checks say different things, longer ones, and wide ones. The tests of
//! `oracle/` have this file, too.

use serde_json::Value;
use simutant_oracle::{Budget, Check, Compared, End, Filter, History, Order, Specification};
use simutant_random::Random;

use crate::any::{Any, Name, Operation};
use crate::case::{AnyHistory, Case, Verdicts, judged, orders_of_each, started};
use crate::judge::{Shape, brute_force, brute_force_each, brute_force_each_apart, history, history_of, one_of};
use crate::nodes::as_seen;
use crate::tried::maybe;

/// What is drawn: few calls, so that the judge can try all orders.
const SHAPE: Shape = Shape { calls_max: 6, sessions: 3, unknown: 3, may_be_wrong: true };

/// How many calls there are at most where the judge tries the order of real time alone.
pub(crate) const JUDGED_CALLS_MAX: usize = 12;

/// How many calls a longer history has at most.
const LONG_CALLS_MAX: u64 = 9;

/// How many steps all searches of a test case take at most. The longest run of all test cases says when a run on a mutant
/// is stopped, and such runs take the most time.
const STEPS_MAX: u64 = 2_000;

/// How many histories are drawn until one shows what calls put in order that are left out.
const DRAWN_MAX: usize = 64;

/// How many calls a wide history has at most.
pub(crate) const WIDE_CALLS_MAX: usize = 80;

/// The specifications of wide histories: those whose steps choose nothing.
const WIDE: [Name; 10] = [
    Name::Register,
    Name::Store,
    Name::Counter,
    Name::Set,
    Name::Queue,
    Name::Stack,
    Name::PriorityQueue,
    Name::Mutex,
    Name::UniqueIds,
    Name::Bank,
];

impl Case {
    /// Draws a history of a specification.
    pub(crate) fn sample(specification: Name, random: &mut Random) -> Self {
        let edge = |random: &mut Random| Self::sample_edge(specification, random);
        match random.uniform(0..=39_u64) {
            0..=16 => Self::sample_short(specification, random),
            17 => Self::sample_wide(random),
            18..=22 => Self::sample_doubtful(specification, random),
            23..=32 => edge(random).unwrap_or_else(|| Self::sample_long(specification, random)),
            _ => Self::sample_long(specification, random),
        }
    }

    /// Draws a short history: of some, the one of which checks say the most different things.
    fn sample_short(specification: Name, random: &mut Random) -> Self {
        let drawn = one_of(random, &[1, 4, 16, DRAWN_MAX, DRAWN_MAX]);
        loop {
            let mut best = Drawn::short(specification, random);
            let mut differences = best.differences(drawn);
            for _ in 1..drawn {
                let other = Drawn::short(specification, random);
                let others = other.differences(drawn);
                if others > differences {
                    (best, differences) = (other, others);
                }
            }
            let case = best.judged();
            if case.examine().1 <= STEPS_MAX {
                return case;
            }
        }
    }

    /// Draws a history of calls of unknown end, and of calls one after the other that tell which of the others took effect
    /// and when.
    fn sample_doubtful(specification: Name, random: &mut Random) -> Self {
        let initial = specification.initial();
        let operations = one_of(random, &specification.themes());
        let (reads, changes): (Vec<_>, Vec<_>) = operations.iter().cloned().partition(is_read);
        let reads = if reads.is_empty() || random.uniform(0..=3_u64) == 0 { operations } else { reads };
        let changes = if changes.is_empty() { reads.clone() } else { changes };
        // Where all are of one operation, it matters how many of them took effect, and not which.
        let is_one = random.uniform(0..=2_u64) == 0;
        let changes = if is_one { vec![one_of(random, &changes)] } else { some_of(random, changes) };
        let (doubtful, others) = (random.uniform(2..=4_u64), random.uniform(2..=4_u64));
        // The first ones are invoked before all others, and take effect among them.
        let mut events: Vec<(u64, u64)> = Vec::new();
        for call in 0..doubtful {
            events.extend([(0, call), (random.uniform(1..=4 * others), call), (4 * others + 1, call)]);
        }
        for call in 0..others {
            events.extend([1, 2, 3].map(|step| (4 * call + step, doubtful + call)));
        }
        events.sort_unstable();
        let row: Vec<u64> = events.into_iter().map(|(_, call)| call).collect();
        let mut invoked = 0;
        let operation = |random: &mut Random| {
            invoked += 1;
            one_of(random, if invoked <= doubtful { &changes } else { &reads })
        };
        let shape = Shape { unknown: 0, may_be_wrong: random.uniform(0..=2_u64) == 0, ..SHAPE };
        let history = history_of(random, &row, shape, &initial, operation, Any::made_up);
        let mut calls = as_seen(&history, random).into_calls();
        calls.iter_mut().take(doubtful as usize).for_each(|call| call.end = End::Unknown);
        let history = History::from_calls(calls).expect("what has no end does not end too early");
        let linearizability = brute_force(&history, &initial, &Order::linearizability());
        Self::of(specification, &[], &history, Vec::new(), Verdicts { linearizability, others: None })
    }

    /// Draws a history of so many calls at a time that a search needs more than one word of bits. It is possible, since it
    /// is what a service answered; a witness shows it once more.
    fn sample_wide(random: &mut Random) -> Self {
        loop {
            let specification = one_of(random, &WIDE);
            let operations = one_of(random, &specification.themes());
            let operations = some_of(random, operations);
            let initial = specification.initial();
            let calls = random.uniform(66..=WIDE_CALLS_MAX as u64);
            let unknown = one_of(random, &[0, 1, 8]);
            let shape = Shape { unknown, may_be_wrong: false, ..SHAPE };
            let row: Vec<u64> = (0..3).flat_map(|_| 0..calls).collect();
            let history = history_of(random, &row, shape, &initial, |random| one_of(random, &operations), Any::made_up);
            let budget = Budget { steps: Some(STEPS_MAX), ..Budget::default() };
            let is_soon = |is_partitioned| {
                let check = Check { budget, is_partitioned, has_fast_paths: is_partitioned, ..Check::default() };
                check.run(&history, &initial).is_possible()
            };
            if is_soon(false) && is_soon(true) {
                let possible = Verdicts { linearizability: true, others: None };
                return Self::of(specification, &[], &history, Vec::new(), possible);
            }
        }
    }

    /// Draws a history of more calls, of which the judge tries the order of real time alone: for a fast path, or of
    /// hardly any calls at a time.
    fn sample_long(specification: Name, random: &mut Random) -> Self {
        let (mut once, mut others) = specification.distinct();
        let is_fast = !once.is_empty() && random.uniform(0..=3_u64) > 0;
        if !is_fast {
            let operations = one_of(random, &specification.themes());
            (once, others) = (Vec::new(), some_of(random, operations));
        }
        // In no order.
        for place in (1..once.len()).rev() {
            once.swap(place, random.uniform(0..=place as u64) as usize);
        }
        let mut operation = |random: &mut Random| match once.pop() {
            // Once in a while it comes again, and a fast path is for values that are not written twice.
            Some(next) if maybe(random) => {
                if random.uniform(0..=9_u64) == 0 {
                    once.push(next.clone());
                }
                next
            }
            next => {
                once.extend(next);
                one_of(random, &others)
            }
        };
        let before = one_of(random, &[0, 0, 1, 2, 4]);
        let before: Vec<Operation> = (0..before).map(|_| operation(random)).collect();
        let initial = started(specification, &before);
        // A call is under way with few others.
        let calls = random.uniform(2..=LONG_CALLS_MAX);
        let width = if is_fast { random.uniform(3..=16_u64) } else { random.uniform(0..=4_u64) };
        let mut events: Vec<(u64, u64)> =
            (0..calls).flat_map(|call| [call; 3]).map(|call| (3 * call + random.uniform(0..=width), call)).collect();
        events.sort_unstable();
        let row: Vec<u64> = events.into_iter().map(|(_, call)| call).collect();
        let shape = Shape { unknown: one_of(random, &[0, 0, 1, 2, 4]), may_be_wrong: maybe(random), ..SHAPE };
        let history = as_seen(&history_of(random, &row, shape, &initial, operation, Any::made_up), random);
        let history = match random.uniform(0..=3_u64) {
            0 | 1 => swapped(&history, random),
            2 => nudged(&history, specification, random),
            _ => history,
        };
        let linearizability = brute_force(&history, &initial, &Order::linearizability());
        let possible = Verdicts { linearizability, others: None };
        Self::of(specification, &before, &history, Vec::new(), possible)
    }
}

/// A short history, which is not judged yet.
struct Drawn {
    specification: Name,
    before: Vec<Operation>,
    initial: Any,
    history: AnyHistory,
    pairs: Vec<(usize, usize)>,
}

impl Drawn {
    fn short(specification: Name, random: &mut Random) -> Self {
        let operations = one_of(random, &specification.themes());
        let operations = some_of(random, operations);
        // Operations of all kinds, or each once: a fast path is for values that are not written twice.
        let is_repeated = random.uniform(0..=2_u64) == 0;
        let mut left = Vec::new();
        let mut operation = |random: &mut Random| {
            if is_repeated {
                return one_of(random, &operations);
            }
            if left.is_empty() {
                left.clone_from(&operations);
                left.extend(operations.iter().filter(|operation| is_read(operation)).cloned());
            }
            left.swap_remove(random.uniform(0..left.len()))
        };
        let before = if random.uniform(0..=2_u64) == 0 { random.uniform(1..=2_u64) } else { 0 };
        let before: Vec<Operation> = (0..before).map(|_| operation(random)).collect();
        let initial = started(specification, &before);
        // Some histories have hardly any end that is known.
        let shape = Shape { unknown: SHAPE.unknown + random.uniform(0..=3_u64), ..SHAPE };
        let history = as_seen(&history(random, shape, &initial, operation, Any::made_up), random);
        let mut pairs = Vec::new();
        for other in 1..history.calls().len() {
            if maybe(random) {
                pairs.push((random.uniform(0..=other as u64 - 1) as usize, other));
            }
        }
        Self { specification, before, initial, history, pairs }
    }

    fn judged(self) -> Case {
        let possible = judged(&self.history, &self.initial, &self.pairs);
        Case::of(self.specification, &self.before, &self.history, self.pairs, possible)
    }

    /// Returns how often what one check allows is forbidden by another one like it; of many histories, whether calls that
    /// are left out matter, which is rarer.
    fn differences(&self, drawn: usize) -> usize {
        match drawn {
            1 => 0,
            DRAWN_MAX => self.differences_apart(),
            _ => judged(&self.history, &self.initial, &self.pairs).differences(),
        }
    }

    /// Returns how often it matters what calls put in order that are left out.
    fn differences_apart(&self) -> usize {
        let orders = orders_of_each(&self.history, &self.pairs);
        let filters = [Filter::Reads, Filter::Unrelated];
        let checks = orders[1..].iter().flat_map(|order| filters.map(|filter| (order, filter)));
        let differs = |&(order, filter): &(&Order, Filter)| {
            let check = |judge: Judge| judge(&self.history, &self.initial, order, Compared::All, filter);
            check(brute_force_each) != check(brute_force_each_apart)
        };
        checks.filter(differs).count()
    }
}

/// What judges each call by itself.
type Judge = fn(&AnyHistory, &Any, &Order, Compared, Filter) -> bool;

/// Returns a history in which two calls of one kind have each other's answers: what was answered wrong is nearly right.
fn swapped(history: &AnyHistory, random: &mut Random) -> AnyHistory {
    let mut calls = history.calls().to_vec();
    let is_swap = |&(one, other): &(usize, usize)| {
        let (one, other) = (&calls[one], &calls[other]);
        let differ = matches!((one.end.response(), other.end.response()), (Some(one), Some(other)) if one != other);
        differ && kind(&one.operation) == kind(&other.operation)
    };
    let pairs = (0..calls.len()).flat_map(|other| (0..other).map(move |one| (one, other)));
    let swaps: Vec<(usize, usize)> = pairs.filter(is_swap).collect();
    if swaps.is_empty() {
        return history.clone();
    }
    let (one, other) = one_of(random, &swaps);
    let (first, second) = calls.split_at_mut(other);
    if let (End::Returned { response: one, .. }, End::Returned { response: other, .. }) =
        (&mut first[one].end, &mut second[0].end)
    {
        std::mem::swap(one, other);
    }
    History::from_calls(calls).expect("ends are as they were")
}

/// Returns a history in which a number in some answer is one more or one less, or a truth another one.
fn nudged(history: &AnyHistory, specification: Name, random: &mut Random) -> AnyHistory {
    let mut calls = history.calls().to_vec();
    let answered: Vec<usize> = (0..calls.len()).filter(|&place| calls[place].end.response().is_some()).collect();
    if answered.is_empty() {
        return history.clone();
    }
    let place = one_of(random, &answered);
    if let End::Returned { response, .. } = &mut calls[place].end {
        let mut form = serde_json::to_value(&*response).expect("it has a form");
        let mut leaves = Vec::new();
        leaves_of(&mut form, &mut leaves);
        if !leaves.is_empty() {
            let nth = random.uniform(0..leaves.len());
            let leaf = leaves.swap_remove(nth);
            *leaf = match &*leaf {
                Value::Bool(holds) => Value::Bool(!*holds),
                number => {
                    let one = if maybe(random) { 1 } else { -1 };
                    Value::from(number.as_i64().unwrap_or_default().saturating_add(one))
                }
            };
            // What is no answer any more, such as a version below 0, stays as it was.
            if let Ok(nudged) = specification.response(form) {
                *response = nudged;
            }
        }
    }
    History::from_calls(calls).expect("ends are as they were")
}

/// Finds the numbers and truths in a form.
fn leaves_of<'f>(form: &'f mut Value, leaves: &mut Vec<&'f mut Value>) {
    match form {
        Value::Bool(_) | Value::Number(_) => leaves.push(form),
        Value::Array(parts) => parts.iter_mut().for_each(|part| leaves_of(part, leaves)),
        Value::Object(parts) => parts.values_mut().for_each(|part| leaves_of(part, leaves)),
        Value::Null | Value::String(_) => {}
    }
}

/// Returns what an operation is called.
pub(crate) fn kind(operation: &Operation) -> Option<String> {
    // It is a name, or an object with its name.
    match serde_json::to_value(operation).expect("it has a form") {
        Value::Object(form) => form.keys().next().cloned(),
        form => form.as_str().map(str::to_owned),
    }
}

/// Returns whether an operation changes nothing.
fn is_read(operation: &Operation) -> bool {
    Any::footprint(operation, None).is_read()
}

/// Returns some of the options in their order, or all of them.
fn some_of<T: Clone>(random: &mut Random, options: Vec<T>) -> Vec<T> {
    if maybe(random) {
        return options;
    }
    let some: Vec<T> = options.iter().filter(|_| maybe(random)).cloned().collect();
    if some.is_empty() { options } else { some }
}
