//! Test cases: a history of a specification, with the verdicts that it must have. The tests of `oracle/` have this
//! file, too.

use std::cell::Cell;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use simutant_oracle::formats::{HistoryError, json_lines};
use simutant_oracle::{
    Answer, Budget, Call, Check, Checked, Compared, End, EndsTooEarly, Filter, History, Limit, Open, Order, Scope,
    Session, Specification, Strategy, hints,
};
use simutant_random::Random;

use crate::any::{Any, Name, Operation, Response};
use crate::judge::{Shape, agree, brute_force, brute_force_each, brute_force_each_read, history};
use crate::tried::{maybe, one_of};

const STRATEGIES: [Strategy; 5] =
    [Strategy::JustInTime, Strategy::AnswerOrder, Strategy::CallOrder, Strategy::DepthFirst, Strategy::BreadthFirst];

/// What is drawn: few calls, so that the judge can try all orders.
const SHAPE: Shape = Shape { calls_max: 6, sessions: 3, unknown: 3, may_be_wrong: true };

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
    /// By the same, and by revisions.
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
    /// Each call by itself and no other answer compared, by the order of real time and by ZooKeeper's.
    pub simple: (bool, bool),
    /// Each call by itself and all answers compared, by both orders.
    pub strict: (bool, bool),
}

/// A history of some specification.
type AnyHistory = History<Operation, Response>;

impl Case {
    /// Draws a history of a specification.
    pub(crate) fn sample(specification: Name, random: &mut Random) -> Self {
        let operations = some_of(random, specification.operations());
        // Few values that are written more than once, or hardly any: a fast path is for the latter.
        let is_repeated = maybe(random);
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
        let mut text = Vec::new();
        json_lines::write(&history, &mut text).expect("memory takes all");
        let line = |line| serde_json::from_slice(line).expect("it was just written");
        let calls = text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).map(line).collect();
        let possible = judged(&history, &initial, &pairs);
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
        Ok(judged(&self.history()?, &self.initial()?, &self.pairs))
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

fn judged(history: &AnyHistory, initial: &Any, pairs: &[(usize, usize)]) -> Verdicts {
    let [linearizability, revisions, sequential, zookeeper, none, pairs, time_and_pairs] =
        orders(pairs).map(|order| brute_force(history, initial, &order));
    let each = |is_strict| {
        let by = |order| brute_force_each(history, initial, &order, is_strict);
        (by(Order::linearizability()), by(Order::zookeeper()))
    };
    let (simple, strict) = (each(false), each(true));
    let reads = [Order::linearizability(), Order::sequential()];
    let reads = reads.map(|order| brute_force_each_read(history, initial, &order)).into();
    Verdicts { linearizability, revisions, sequential, zookeeper, none, pairs, time_and_pairs, reads, simple, strict }
}

impl Verdicts {
    /// In the order of [`orders`].
    fn by_order(&self) -> [bool; 7] {
        [
            self.linearizability,
            self.revisions,
            self.sequential,
            self.zookeeper,
            self.none,
            self.pairs,
            self.time_and_pairs,
        ]
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
        let operations: Vec<_> = self.history.calls().iter().take(3).map(|call| call.operation.clone()).collect();
        hints::check(&self.initial, &operations, 2).map_err(|wrong| wrong.to_string())?;
        for (order, expected) in orders(&case.pairs).iter().zip(possible.by_order()) {
            for strategy in STRATEGIES {
                self.check(order, strategy, true, expected)?;
            }
            self.budgets(order, expected)?;
        }
        let (real_time, sequential, zookeeper) = (Order::linearizability(), Order::sequential(), Order::zookeeper());
        for strategy in STRATEGIES {
            self.check(&real_time, strategy, false, possible.linearizability)?;
        }
        self.each_read(&real_time, possible.reads.0)?;
        self.each_read(&sequential, possible.reads.1)?;
        self.each(&real_time, possible.simple.0, possible.strict.0)?;
        self.each(&zookeeper, possible.simple.1, possible.strict.1)?;
        self.explain(&real_time, possible.linearizability)?;
        self.explain(&sequential, possible.sequential)?;
        self.explain(&zookeeper, possible.zookeeper)
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
        let is_right = match &checked.answer {
            Answer::Possible { order: witness } => {
                let calls = self.history.calls();
                let is_complete =
                    (0..calls.len()).all(|place| witness.contains(&place) || calls[place].end.response().is_none());
                expected && is_complete && agree(&self.history, &self.initial, order, witness)
            }
            Answer::Impossible { longest, stuck } => {
                let is_call = self.history.calls()[*stuck].end.response().is_some() && !longest.contains(stuck);
                !expected && is_call && agree(&self.history, &self.initial, order, longest)
            }
            Answer::Undecided { .. } => false,
        };
        expect(is_right, || format!("{strategy:?}, {order:?}, partitioned {is_partitioned}: {checked:?}"))
    }

    /// A budget of exactly what is needed is enough, and of one step less is not.
    fn budgets(&self, order: &Order, expected: bool) -> Examination {
        let run = |budget| self.run(&Check { order: order.clone(), budget, ..Check::default() });
        let steps = run(Budget::default()).explored.steps;
        let with = |steps| run(Budget { steps: Some(steps), ..Budget::default() });
        let enough = with(steps);
        let is_enough = !is_stopped(&enough, Limit::Steps) && enough.explored.steps == steps;
        let less = steps.checked_sub(1).map(with);
        let is_less = less.as_ref().is_none_or(|less| is_stopped(less, Limit::Steps) && less.explored.steps < steps);
        let bytes = run(Budget { bytes: Some(100), ..Budget::default() });
        let is_small = is_stopped(&bytes, Limit::Bytes) || bytes.is_possible() == expected;
        let stopped = run(Budget { stop: Some(&|| true), ..Budget::default() });
        let stops = is_stopped(&stopped, Limit::Stopped) || stopped.is_possible() == expected;
        expect(is_enough && is_less && is_small && stops, || {
            format!("budgets, {order:?}: {steps} steps; {enough:?}; {less:?}; {bytes:?}; {stopped:?}")
        })
    }

    /// Without the ends that an explanation does not name, the history is still impossible, and without one more it is
    /// possible.
    fn explain(&self, order: &Order, expected: bool) -> Examination {
        let check = Check { order: order.clone(), ..Check::default() };
        let Some(explanation) = check.explain(&self.history, &self.initial) else {
            return expect(expected, || format!("{order:?}: no explanation"));
        };
        let core = &explanation.core;
        let is_possible = |but: Option<usize>| {
            let is_kept = |place: usize| Some(place) != but && core.iter().any(|known| known.call == place);
            let forget = |(place, call): (usize, &Call<_, _>)| match call.end {
                End::Returned { .. } if !is_kept(place) => Call { end: End::Unknown, ..call.clone() },
                _ => call.clone(),
            };
            let calls = self.history.calls().iter().enumerate().map(forget).collect();
            let history = History::from_calls(calls).expect("ends are as they were");
            brute_force(&history, &self.initial, order)
        };
        let is_core = !is_possible(None) && core.iter().all(|known| is_possible(Some(known.call)));
        let is_allowed = !explanation.allowed.is_empty();
        expect(!expected && is_core && is_allowed, || format!("{order:?}: {explanation:?}"))
    }

    fn each_read(&self, order: &Order, expected: bool) -> Examination {
        for strategy in [Strategy::JustInTime, Strategy::BreadthFirst] {
            let check = Check { order: order.clone(), strategy, scope: Scope::EachRead, ..Check::default() };
            let checked = self.run(&check);
            let is_decided = !matches!(checked.answer, Answer::Undecided { .. });
            expect(checked.is_possible() == expected && is_decided, || {
                format!("each read, {strategy:?}, {order:?}: {checked:?}")
            })?;
        }
        Ok(())
    }

    fn each(&self, order: &Order, simple: bool, strict: bool) -> Examination {
        for (compared, expected) in [(Compared::Target, simple), (Compared::All, strict)] {
            for filter in [Filter::None, Filter::Reads, Filter::Unrelated] {
                for strategy in [Strategy::JustInTime, Strategy::BreadthFirst] {
                    let scope = Scope::EachCall { compared, filter };
                    let check = Check { order: order.clone(), strategy, scope, ..Check::default() };
                    let checked = self.run(&check);
                    // Where answers are compared, a call that is left out may be the one that is wrong.
                    let is_exact = compared == Compared::Target || filter == Filter::None;
                    let is_right = checked.is_possible() == expected || (!is_exact && !expected);
                    let is_decided = !matches!(checked.answer, Answer::Undecided { .. });
                    expect(is_right && is_decided, || format!("{scope:?}, {strategy:?}, {order:?}: {checked:?}"))?;
                }
            }
        }
        Ok(())
    }
}

fn is_stopped(checked: &Checked, by: Limit) -> bool {
    checked.answer == Answer::Undecided { limit: by }
}
