//! Test cases: a history of a specification, with the verdicts that it must have. The tests of `oracle/` have this
//! file, too.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use simutant_oracle::formats::{HistoryError, json_lines};
use simutant_oracle::{
    Answer, Budget, Call, Check, Checked, Compared, End, EndsTooEarly, Filter, History, Limit, Maximal, Open, Order,
    Scope, Session, Specification, Strategy, What, hints,
};
use simutant_random::Random;

use crate::any::{Any, Name, Operation, Response};
use crate::judge::{
    Shape, agree, brute_force, brute_force_compared, brute_force_each, brute_force_each_read, history, history_of,
};
use crate::judge::{brute_force_some, is_contradictory};
use crate::tried::{maybe, one_of};

const STRATEGIES: [Strategy; 5] =
    [Strategy::JustInTime, Strategy::AnswerOrder, Strategy::CallOrder, Strategy::DepthFirst, Strategy::BreadthFirst];

const FILTERS: [Filter; 3] = [Filter::None, Filter::Reads, Filter::Unrelated];

/// What is drawn: few calls, so that the judge can try all orders.
const SHAPE: Shape = Shape { calls_max: 6, sessions: 3, unknown: 3, may_be_wrong: true };

/// How many calls there are at most where the judge tries the order of real time alone.
const LONG_CALLS_MAX: u64 = 9;

/// How many steps all searches of a test case take at most. The longest run of all test cases says when a run on a mutant
/// is stopped, and such runs take the most time.
const STEPS_MAX: u64 = 2_000;

/// A small history, and what is known of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// What the service is.
    pub specification: Name,
    /// Operations that nobody saw: they lead to the state before the history.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<Value>,
    /// The calls, in their form in files of JSON Lines.
    pub calls: Vec<Value>,
    /// Pairs of calls, for two of the orders.
    pub pairs: Vec<(usize, usize)>,
    /// Whether the specification can have done this.
    pub possible: Verdicts,
}

/// Verdicts of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verdicts {
    /// By the order of real time.
    pub linearizability: bool,
    /// By all else. A longer history has no such verdicts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<Others>,
}

/// Verdicts of a history by other orders than that of real time alone, and in parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Others {
    /// By the order of real time and by revisions.
    pub revisions: bool,
    /// By the order of each session's calls.
    pub sequential: bool,
    /// By the order that ZooKeeper keeps.
    pub zookeeper: bool,
    /// In any order.
    pub none: bool,
    /// By pairs.
    pub pairs: bool,
    /// By pairs and the order of real time.
    pub time_and_pairs: bool,
    /// Each read by itself with all changes, by the order of real time and by that of each session's calls.
    pub reads: (bool, bool),
    /// Each call by itself and no other answer compared, by the order of real time, by ZooKeeper's, and by the order of
    /// real time with revisions and pairs: with each of [`FILTERS`].
    pub simple: [[bool; 3]; 3],
    /// Each call by itself and all answers compared, by the same.
    pub strict: [[bool; 3]; 3],
}

/// A history of some specification.
type AnyHistory = History<Operation, Response>;

impl Case {
    /// Draws a history of a specification: of some, the one of which checks say the most different things.
    pub(crate) fn sample(specification: Name, random: &mut Random) -> Self {
        if random.uniform(0..=4_u64) > 1 {
            return Self::sample_long(specification, random);
        }
        loop {
            let mut best = Self::sample_any(specification, random);
            for _ in 1..one_of(random, &[1, 4, 16]) {
                let other = Self::sample_any(specification, random);
                if other.possible.differences() > best.possible.differences() {
                    best = other;
                }
            }
            if best.examine().1 <= STEPS_MAX {
                return best;
            }
        }
    }

    /// Draws a history of more calls, of which the judge tries the order of real time alone: for a fast path, or of
    /// hardly any calls at a time.
    fn sample_long(specification: Name, random: &mut Random) -> Self {
        let (mut once, mut others) = specification.distinct();
        let is_fast = !once.is_empty() && random.uniform(0..=3_u64) > 0;
        if !is_fast {
            (once, others) = (Vec::new(), some_of(random, specification.operations()));
        }
        // In no order.
        for place in (1..once.len()).rev() {
            once.swap(place, random.uniform(0..=place as u64) as usize);
        }
        let mut operation = |random: &mut Random| match once.pop() {
            Some(next) if maybe(random) => next,
            next => {
                once.extend(next);
                one_of(random, &others)
            }
        };
        let before = random.uniform(0..=2_u64).saturating_sub(1) * 2;
        let before: Vec<Operation> = (0..before).map(|_| operation(random)).collect();
        let initial = started(specification, &before);
        // A call is under way with few others.
        let calls = random.uniform(2..=LONG_CALLS_MAX);
        let width = if is_fast { random.uniform(3..=16_u64) } else { random.uniform(0..=4_u64) };
        let mut events: Vec<(u64, u64)> =
            (0..calls).flat_map(|call| [call; 3]).map(|call| (3 * call + random.uniform(0..=width), call)).collect();
        events.sort_unstable();
        let row: Vec<u64> = events.into_iter().map(|(_, call)| call).collect();
        let shape = Shape { unknown: one_of(random, &[0, 0, 1, 2]), may_be_wrong: maybe(random), ..SHAPE };
        let history = history_of(random, &row, shape, &initial, operation, Any::made_up);
        let history = if maybe(random) { swapped(&history, random) } else { history };
        let linearizability = brute_force(&history, &initial, &Order::linearizability());
        let possible = Verdicts { linearizability, others: None };
        Self::of(specification, &before, &history, Vec::new(), possible)
    }

    fn sample_any(specification: Name, random: &mut Random) -> Self {
        let operations = some_of(random, specification.operations());
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
        let history = history(random, shape, &initial, operation, Any::made_up);
        let mut pairs = Vec::new();
        for other in 1..history.calls().len() {
            if maybe(random) {
                pairs.push((random.uniform(0..=other as u64 - 1) as usize, other));
            }
        }
        let possible = judged(&history, &initial, &pairs);
        Self::of(specification, &before, &history, pairs, possible)
    }

    fn of(
        specification: Name,
        before: &[Operation],
        history: &AnyHistory,
        pairs: Vec<(usize, usize)>,
        possible: Verdicts,
    ) -> Self {
        let mut text = Vec::new();
        json_lines::write(history, &mut text).expect("memory takes all");
        let line = |line| serde_json::from_slice(line).expect("it was just written");
        let calls = text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).map(line).collect();
        let before = before.iter().map(|operation| serde_json::to_value(operation).expect("it has a form")).collect();
        Self { specification, before, calls, pairs, possible }
    }

    /// Asks the oracle for everything, and returns what it gets wrong first, if it does not get everything right, and
    /// how many steps its searches took.
    pub(crate) fn examine(&self) -> (Option<String>, u64) {
        match (self.history(), self.initial()) {
            (Ok(history), Ok(initial)) => {
                let examined = Examined { history, initial, steps: Cell::default() };
                let wrong = examined.all(self).err();
                (wrong, examined.steps.get())
            }
            (Err(error), _) | (_, Err(error)) => (Some(error.to_string()), 0),
        }
    }

    /// Checks that the calls are of the specification.
    ///
    /// # Errors
    /// Where they are not.
    pub fn check(&self) -> Result<(), WrongCall> {
        self.history().and(self.initial()).map(|_| ())
    }

    /// Returns the verdicts of who tries all orders.
    ///
    /// # Errors
    /// If the calls are none of the specification.
    pub fn judged(&self) -> Result<Verdicts, WrongCall> {
        let (history, initial) = (self.history()?, self.initial()?);
        Ok(match self.possible.others {
            Some(_) => judged(&history, &initial, &self.pairs),
            None => {
                let linearizability = brute_force(&history, &initial, &Order::linearizability());
                Verdicts { linearizability, others: None }
            }
        })
    }

    /// Returns the state before the history.
    fn initial(&self) -> Result<Any, WrongCall> {
        let operation = |form: &Value| self.specification.operation(form.clone());
        let before = self.before.iter().map(operation).collect::<Result<Vec<_>, _>>()?;
        Ok(started(self.specification, &before))
    }

    /// Returns the history.
    fn history(&self) -> Result<AnyHistory, WrongCall> {
        let text: String = self.calls.iter().map(|call| format!("{call}\n")).collect();
        let forms: History<Value, Value> = json_lines::read(text.as_bytes())?;
        let calls = forms.calls().iter().map(|call| {
            let end = match &call.end {
                End::Returned { at, response } => {
                    End::Returned { at: *at, response: self.specification.response(response.clone())? }
                }
                End::Unknown => End::Unknown,
                End::DidNotHappen { at } => End::DidNotHappen { at: *at },
            };
            let operation = self.specification.operation(call.operation.clone())?;
            let Call { session, mode, invoked, revision, .. } = *call;
            Ok(Call { session, operation, mode, invoked, end, revision })
        });
        Ok(History::from_calls(calls.collect::<Result<_, WrongCall>>()?)?)
    }
}

/// Returns the state after operations that nobody saw.
fn started(specification: Name, operations: &[Operation]) -> Any {
    let mut state = specification.initial();
    for operation in operations {
        state.step(Session(1), operation, &mut Open::first());
    }
    state
}

/// Returns a history in which two calls of one kind have each other's answers: what was answered wrong is nearly right.
fn swapped(history: &AnyHistory, random: &mut Random) -> AnyHistory {
    let mut calls = history.calls().to_vec();
    // An operation is a name, or an object with its name.
    let kind = |place: usize| match serde_json::to_value(&calls[place].operation).expect("it has a form") {
        Value::Object(form) => form.keys().next().cloned(),
        form => form.as_str().map(str::to_owned),
    };
    let is_swap = |&(one, other): &(usize, usize)| {
        let responses = (calls[one].end.response(), calls[other].end.response());
        matches!(responses, (Some(one), Some(other)) if one != other) && kind(one) == kind(other)
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

/// A call that is not of a test case's specification.
#[derive(Debug)]
pub enum WrongCall {
    /// It is no call at all.
    Form(HistoryError),
    /// The specification has no such operation or answer.
    Specification(serde_json::Error),
    /// It ends before it begins.
    End(EndsTooEarly),
}

impl fmt::Display for WrongCall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form(error) => error.fmt(formatter),
            Self::Specification(error) => error.fmt(formatter),
            Self::End(error) => error.fmt(formatter),
        }
    }
}

impl From<HistoryError> for WrongCall {
    fn from(error: HistoryError) -> Self {
        Self::Form(error)
    }
}

impl From<serde_json::Error> for WrongCall {
    fn from(error: serde_json::Error) -> Self {
        Self::Specification(error)
    }
}

impl From<EndsTooEarly> for WrongCall {
    fn from(error: EndsTooEarly) -> Self {
        Self::End(error)
    }
}

/// Returns the orders that a history is judged by.
fn orders(pairs: &[(usize, usize)]) -> [Order; 7] {
    [
        Order::linearizability(),
        Order::linearizability().with_revisions(),
        Order::sequential(),
        Order::zookeeper(),
        Order::none(),
        Order::partial(pairs.to_vec()),
        Order { pairs: pairs.to_vec(), ..Order::linearizability() },
    ]
}

/// Returns the orders that calls are explained by themselves by. Where reasons contradict each other, it depends on the
/// calls that are left out whether that shows, so there are no pairs then.
fn orders_of_each(history: &AnyHistory, pairs: &[(usize, usize)]) -> [Order; 3] {
    let revisions = Order::linearizability().with_revisions();
    let all = Order { pairs: pairs.to_vec(), ..revisions.clone() };
    let all = if is_contradictory(&all, history) { revisions } else { all };
    [Order::linearizability(), Order::zookeeper(), all]
}

fn judged(history: &AnyHistory, initial: &Any, pairs: &[(usize, usize)]) -> Verdicts {
    let [linearizability, revisions, sequential, zookeeper, none, by_pairs, time_and_pairs] =
        orders(pairs).map(|order| brute_force(history, initial, &order));
    let [simple, strict] = [Compared::Target, Compared::All].map(|compared| {
        orders_of_each(history, pairs)
            .map(|order| FILTERS.map(|filter| brute_force_each(history, initial, &order, compared, filter)))
    });
    let reads = [Order::linearizability(), Order::sequential()];
    let reads = reads.map(|order| brute_force_each_read(history, initial, &order)).into();
    let others =
        Others { revisions, sequential, zookeeper, none, pairs: by_pairs, time_and_pairs, reads, simple, strict };
    Verdicts { linearizability, others: Some(others) }
}

impl Verdicts {
    /// Returns how often what one check allows is forbidden by another one like it.
    fn differences(&self) -> usize {
        let Self { linearizability, others: Some(others) } = *self else { return 0 };
        let kinds = [
            (linearizability, others.sequential),
            (linearizability, others.revisions),
            (linearizability, others.time_and_pairs),
            (others.sequential, others.zookeeper),
            (others.none, others.pairs),
            (linearizability, others.reads.0),
            (others.sequential, others.reads.1),
            (linearizability, others.strict[0][0]),
            (others.zookeeper, others.strict[1][0]),
        ];
        let simple = others.simple.iter().zip(&others.strict).map(|(simple, strict)| (simple[0], strict[0]));
        let filters = others.strict.iter().flat_map(|strict| [(strict[0], strict[1]), (strict[1], strict[2])]);
        let differ = |(one, other): &(bool, bool)| one != other;
        kinds.iter().filter(|kind| differ(kind)).count()
            // These are rare.
            + 3 * simple.chain(filters).filter(differ).count()
    }

    /// In the order of [`orders`].
    const fn by_order(&self, others: &Others) -> [bool; 7] {
        let Others { revisions, sequential, zookeeper, none, pairs, time_and_pairs, .. } = *others;
        [self.linearizability, revisions, sequential, zookeeper, none, pairs, time_and_pairs]
    }
}

/// A history that is examined.
struct Examined {
    history: AnyHistory,
    initial: Any,
    /// What searches took.
    steps: Cell<u64>,
}

/// What a part of an examination found: nothing, or what is wrong.
type Examination = Result<(), String>;

fn expect(holds: bool, what: impl FnOnce() -> String) -> Examination {
    if holds { Ok(()) } else { Err(what()) }
}

impl Examined {
    fn all(&self, case: &Case) -> Examination {
        let possible = &case.possible;
        let real_time = Order::linearizability();
        for is_partitioned in [false, true] {
            self.check(&real_time, Strategy::JustInTime, is_partitioned, possible.linearizability)?;
        }
        self.fast_path()?;
        let Some(others) = &possible.others else { return Ok(()) };
        let operations: Vec<_> = self.history.calls().iter().take(3).map(|call| call.operation.clone()).collect();
        hints::check(&self.initial, &operations, 2).map_err(|wrong| wrong.to_string())?;
        for (order, expected) in orders(&case.pairs).iter().zip(possible.by_order(others)) {
            for strategy in STRATEGIES {
                self.check(order, strategy, true, expected)?;
            }
            self.budgets(order, expected)?;
        }
        let (sequential, zookeeper) = (Order::sequential(), Order::zookeeper());
        for strategy in STRATEGIES {
            self.check(&real_time, strategy, false, possible.linearizability)?;
        }
        self.each_read(&real_time, others.reads.0)?;
        self.each_read(&sequential, others.reads.1)?;
        for (order, (simple, strict)) in
            orders_of_each(&self.history, &case.pairs).iter().zip(others.simple.into_iter().zip(others.strict))
        {
            self.each(order, simple, strict)?;
        }
        self.explain(&real_time, possible.linearizability, possible.linearizability)?;
        self.explain(&sequential, others.sequential, possible.linearizability)?;
        self.explain(&zookeeper, others.zookeeper, possible.linearizability)?;
        self.explain(&real_time.with_revisions(), others.revisions, possible.linearizability)
    }

    fn run(&self, check: &Check<'_>) -> Checked {
        let checked = check.run(&self.history, &self.initial);
        self.steps.set(self.steps.get() + checked.explored.steps);
        checked
    }

    fn check(&self, order: &Order, strategy: Strategy, is_partitioned: bool, expected: bool) -> Examination {
        let has_fast_paths = is_partitioned;
        let check = Check { order: order.clone(), strategy, is_partitioned, has_fast_paths, ..Check::default() };
        let checked = self.run(&check);
        // A search takes a step for each call that it places.
        let is_counted = |placed: &[usize]| self.is_fast(&check) || checked.explored.steps >= placed.len() as u64;
        let is_right = match &checked.answer {
            Answer::Possible { order: witness } => {
                let calls = self.history.calls();
                let is_complete =
                    (0..calls.len()).all(|place| witness.contains(&place) || calls[place].end.response().is_none());
                expected && is_complete && is_counted(witness) && agree(&self.history, &self.initial, order, witness)
            }
            Answer::Impossible { longest, stuck } => {
                let is_call = self.history.calls()[*stuck].end.response().is_some() && !longest.contains(stuck);
                // Of parts, another one may fail earlier; a search that foresees may be stuck earlier.
                let is_any = is_partitioned || strategy == Strategy::JustInTime || *order != Order::linearizability();
                let is_first = is_any || self.is_first_wrong(*stuck);
                let is_known = is_call && is_first && is_counted(longest);
                !expected && is_known && agree(&self.history, &self.initial, order, longest)
            }
            Answer::Undecided { .. } => false,
        };
        // Of the last configuration nothing is kept but its state.
        let explored = checked.explored;
        let is_kept = is_partitioned || (1..=explored.configurations + 1).contains(&explored.states);
        expect(is_right && is_kept, || format!("{strategy:?}, {order:?}, partitioned {is_partitioned}: {checked:?}"))
    }

    /// Returns whether all calls that ended before one can be explained by real time, and not it with them.
    fn is_first_wrong(&self, stuck: usize) -> bool {
        let ended = |place: usize| {
            let at = self.history.calls()[place].end.at();
            at.map(|at| (at.time, at.event.is_none(), at.event))
        };
        let is_possible = |is_known: &dyn Fn(usize) -> bool| {
            brute_force_some(&self.history, &self.initial, &Order::linearizability(), is_known)
        };
        // What ends at the same moment may come first or later.
        is_possible(&|place| ended(place) < ended(stuck)) && !is_possible(&|place| ended(place) <= ended(stuck))
    }

    /// Returns whether a check may answer without a search.
    fn is_fast(&self, check: &Check<'_>) -> bool {
        check.has_fast_paths && check.order == Order::linearizability() && check.strategy == Strategy::JustInTime
    }

    /// A specification that answers by itself is asked, and what it says stands, unless the budget has no memory for it
    /// or it is to stop.
    fn fast_path(&self) -> Examination {
        let calls: Vec<_> = self.history.calls().iter().collect();
        let known = self.initial.fast_path(&calls);
        let run = |budget| self.run(&Check { is_partitioned: false, budget, ..Check::default() });
        let checked = run(Budget::default());
        let is_asked = match &known {
            Some(answer) => {
                let is_first = !matches!(answer, Answer::Impossible { stuck, .. } if !self.is_first_wrong(*stuck));
                is_first && checked.answer == *answer && checked.explored.steps == 0 && checked.explored.bytes > 0
            }
            None => checked.explored.steps > 0 || checked.answer == Answer::Possible { order: Vec::new() },
        };
        let small = run(Budget { bytes: Some(10), ..Budget::default() });
        let is_small = is_stopped(&small, Limit::Bytes) || small.explored.bytes <= 10;
        expect(is_asked && is_small, || format!("fast path: {known:?}; {checked:?}; {small:?}"))
    }

    /// A budget of exactly what is needed is enough, and of less is not.
    fn budgets(&self, order: &Order, expected: bool) -> Examination {
        self.steps(&Check { order: order.clone(), ..Check::default() })?;
        let run = |budget| self.run(&Check { order: order.clone(), budget, ..Check::default() });
        let bytes = run(Budget { bytes: Some(100), ..Budget::default() });
        let is_small = is_stopped(&bytes, Limit::Bytes) || bytes.is_possible() == expected;
        let stopped = run(Budget { stop: Some(&|| true), ..Budget::default() });
        let stops = is_stopped(&stopped, Limit::Stopped);
        expect(is_small && stops, || format!("budgets, {order:?}: {bytes:?}; {stopped:?}"))
    }

    /// What an explanation names is impossible, and no longer if one of its ends or answers is forgotten. What it says of
    /// the calls before can be, and the answer that cannot follow cannot.
    fn explain(&self, order: &Order, expected: bool, is_possible_by_time: bool) -> Examination {
        let check = Check { order: order.clone(), ..Check::default() };
        let Some(explanation) = check.explain(&self.history, &self.initial) else {
            return expect(expected, || format!("{order:?}: no explanation"));
        };
        let known: BTreeMap<usize, What> = explanation.core.iter().map(|known| (known.call, known.what)).collect();
        let is_possible = |known: &BTreeMap<usize, What>| {
            let forget = |(place, call): (usize, &Call<_, _>)| match call.end {
                End::Returned { .. } if !known.contains_key(&place) => Call { end: End::Unknown, ..call.clone() },
                _ => call.clone(),
            };
            let calls = self.history.calls().iter().enumerate().map(forget).collect();
            let history = History::from_calls(calls).expect("ends are as they were");
            let is_compared = |place: usize| known.get(&place) == Some(&What::Answer);
            brute_force_compared(&history, &self.initial, order, is_compared)
        };
        let is_smallest = known.iter().all(|(&place, &what)| {
            let mut fewer = known.clone();
            match what {
                What::Ended => fewer.remove(&place),
                What::Answer => fewer.insert(place, What::Ended),
            };
            is_possible(&fewer)
        });
        let is_core = !is_possible(&known) && is_smallest;
        let stuck = explanation.stuck;
        // Where the order is that of real time, nothing else can be what the call waits for.
        let follows = |placed: &[usize]| {
            *order == Order::linearizability()
                && agree(&self.history, &self.initial, order, &[placed, &[stuck]].concat())
        };
        let is_maximal = explanation.maximal.iter().all(|maximal| {
            let is_explained = agree(&self.history, &self.initial, order, &maximal.order);
            is_explained && !maximal.order.contains(&stuck) && !follows(&maximal.order)
        });
        let observed = self.history.calls()[stuck].end.response();
        let is_allowed = explanation
            .allowed
            .iter()
            .all(|allowed| Some(&allowed.response) != observed && allowed.after < explanation.maximal.len());
        // The answers of a log do not say all.
        let has_allowed = !explanation.allowed.is_empty()
            || *order != Order::linearizability()
            || matches!(self.initial, Any::Log(_));
        let has_all = has_allowed
            && !explanation.maximal.is_empty()
            && explanation.maximal_count >= explanation.maximal.len() as u64;
        // Nothing is said twice.
        let calls = |maximal: &Maximal<Any>| maximal.order.iter().copied().collect::<BTreeSet<_>>();
        let is_other =
            |one: &Maximal<Any>, other: &Maximal<Any>| one.state != other.state || calls(one) != calls(other);
        let (maximal, allowed) = (&explanation.maximal, &explanation.allowed);
        let is_once = (0..maximal.len()).all(|at| maximal[at + 1..].iter().all(|other| is_other(&maximal[at], other)))
            && (0..allowed.len())
                .all(|at| allowed[at + 1..].iter().all(|other| other.response != allowed[at].response));
        let is_conflict = explanation.revisions.is_some() == (order.revisions && is_possible_by_time);
        expect(!expected && is_core && is_maximal && is_allowed && has_all && is_once && is_conflict, || {
            format!("{order:?}: {explanation:?}")
        })
    }

    fn each_read(&self, order: &Order, expected: bool) -> Examination {
        for strategy in [Strategy::JustInTime, Strategy::BreadthFirst] {
            let check = Check { order: order.clone(), strategy, scope: Scope::EachRead, ..Check::default() };
            let checked = self.run(&check);
            let is_decided = !matches!(checked.answer, Answer::Undecided { .. });
            let has_calls = self.history.calls().iter().any(|call| call.end.response().is_some());
            let is_counted = self.is_fast(&check) || checked.explored.steps >= u64::from(has_calls);
            expect(checked.is_possible() == expected && is_decided && is_counted, || {
                format!("each read, {strategy:?}, {order:?}: {checked:?}")
            })?;
        }
        self.steps(&Check { order: order.clone(), scope: Scope::EachRead, ..Check::default() })
    }

    /// As many steps as a check takes are enough, and one less is not.
    fn steps(&self, check: &Check<'_>) -> Examination {
        let with = |steps| self.run(&Check { budget: Budget { steps, ..Budget::default() }, ..check.clone() });
        let all = with(None);
        let steps = all.explored.steps;
        let enough = with(Some(steps));
        let less = steps.checked_sub(1).map(|less| with(Some(less)));
        let is_less = less.as_ref().is_none_or(|less| is_stopped(less, Limit::Steps) && less.explored.steps < steps);
        expect(enough == all && is_less, || format!("{steps} steps of {check:?}: {enough:?}; {less:?}"))
    }

    fn each(&self, order: &Order, simple: [bool; 3], strict: [bool; 3]) -> Examination {
        let returned = self.history.calls().iter().filter(|call| call.end.response().is_some()).count() as u64;
        for (number, filter) in FILTERS.into_iter().enumerate() {
            for (compared, expected) in [(Compared::Target, simple[number]), (Compared::All, strict[number])] {
                for strategy in [Strategy::JustInTime, Strategy::BreadthFirst] {
                    let scope = Scope::EachCall { compared, filter };
                    let check = Check { order: order.clone(), strategy, scope, ..Check::default() };
                    let checked = self.run(&check);
                    let is_right = match &checked.answer {
                        Answer::Possible { .. } => expected && checked.explored.steps >= returned,
                        Answer::Impossible { stuck, .. } => !expected && *stuck < self.history.calls().len(),
                        Answer::Undecided { .. } => false,
                    };
                    expect(is_right, || format!("{scope:?}, {strategy:?}, {order:?}: {checked:?}"))?;
                }
            }
        }
        let scope = Scope::EachCall { compared: Compared::All, filter: Filter::None };
        self.steps(&Check { order: order.clone(), scope, ..Check::default() })
    }
}

fn is_stopped(checked: &Checked, by: Limit) -> bool {
    checked.answer == Answer::Undecided { limit: by }
}
