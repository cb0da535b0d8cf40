//! Test cases: a history of a specification, with the verdicts that it must have. The tests of `oracle/` have this
//! file, too.

use std::cell::Cell;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use simutant_oracle::formats::{HistoryError, json_lines};
use simutant_oracle::{Call, Compared, End, EndsTooEarly, Filter, History, Open, Order, Session, Specification};

use crate::any::{Any, Name, Operation, Response};
use crate::examine::Examined;
use crate::judge::{brute_force, brute_force_each, brute_force_each_read, is_contradictory};
use crate::sample::JUDGED_CALLS_MAX;

pub(crate) const FILTERS: [Filter; 3] = [Filter::None, Filter::Reads, Filter::Unrelated];

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
pub(crate) type AnyHistory = History<Operation, Response>;

impl Case {
    /// Returns a test case of operations that nobody saw, and a history with its verdicts.
    pub(crate) fn of(
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

    /// Returns the verdicts of who tries all orders. Those of a wide history are not judged: nobody can try all of its.
    ///
    /// # Errors
    /// If the calls are none of the specification.
    pub fn judged(&self) -> Result<Verdicts, WrongCall> {
        let (history, initial) = (self.history()?, self.initial()?);
        Ok(match self.possible.others {
            Some(_) => judged(&history, &initial, &self.pairs),
            // It is as it was made, and an examination holds the witness against it.
            None if history.calls().len() > JUDGED_CALLS_MAX => self.possible,
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
pub(crate) fn started(specification: Name, operations: &[Operation]) -> Any {
    let mut state = specification.initial();
    for operation in operations {
        state.step(Session(1), operation, &mut Open::first());
    }
    state
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
pub(crate) fn orders(pairs: &[(usize, usize)]) -> [Order; 7] {
    [
        Order::linearizability(),
        Order::linearizability().with_revisions(),
        Order::sequential(),
        Order::ordered_sequential(),
        Order::none(),
        Order::partial(pairs.to_vec()),
        Order { pairs: pairs.to_vec(), ..Order::linearizability() },
    ]
}

/// Returns the orders that calls are explained by themselves by. Where reasons contradict each other, it depends on the
/// calls that are left out whether that shows, so there are no pairs then.
pub(crate) fn orders_of_each(history: &AnyHistory, pairs: &[(usize, usize)]) -> [Order; 3] {
    let revisions = Order::linearizability().with_revisions();
    let all = Order { pairs: pairs.to_vec(), ..revisions.clone() };
    let all = if is_contradictory(&all, history) { revisions } else { all };
    [Order::linearizability(), Order::ordered_sequential(), all]
}

pub(crate) fn judged(history: &AnyHistory, initial: &Any, pairs: &[(usize, usize)]) -> Verdicts {
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
    pub(crate) fn differences(&self) -> usize {
        let Self { linearizability, others: Some(others) } = *self else { return 0 };
        let kinds = [
            (linearizability, others.sequential),
            (linearizability, others.revisions),
            (linearizability, others.time_and_pairs),
            (others.sequential, others.zookeeper),
            (others.none, others.pairs),
            (linearizability, others.strict[0][0]),
            (others.zookeeper, others.strict[1][0]),
        ];
        let simple = others.simple.iter().zip(&others.strict).map(|(simple, strict)| (simple[0], strict[0]));
        let filters = others.strict.iter().flat_map(|strict| [(strict[0], strict[1]), (strict[1], strict[2])]);
        let reads = [(linearizability, others.reads.0), (others.sequential, others.reads.1)];
        let differ = |(one, other): &(bool, bool)| one != other;
        kinds.iter().filter(|kind| differ(kind)).count()
            // These are rare.
            + 3 * simple.chain(filters).chain(reads).filter(differ).count()
    }

    /// In the order of [`orders`].
    pub(crate) const fn by_order(&self, others: &Others) -> [bool; 7] {
        let Others { revisions, sequential, zookeeper, none, pairs, time_and_pairs, .. } = *others;
        [self.linearizability, revisions, sequential, zookeeper, none, pairs, time_and_pairs]
    }
}
