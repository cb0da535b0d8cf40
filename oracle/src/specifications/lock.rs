//! Locks: a mutex, and a lease that runs out.

use serde::{Deserialize, Serialize};

use crate::contradictions::{self, cells::Cells};
use crate::formats::{Answered, Misfit, Said, Value, Vocabulary};
use crate::{Call, End, Footprint, Open, Session, Specification};

/// A mutex, which nobody has at first.
///
/// A client that waits until it has the mutex is answered [`Granted`](Response::Granted); one that only tries may be
/// answered [`Refused`](Response::Refused).
///
/// ```
/// use simutant_oracle::specifications::{Mutex, lock::{Operation, Response}};
/// use simutant_oracle::{Check, Recorder, Session, Time};
///
/// let recorder = Recorder::new();
/// let granted = Response::Granted { fence: None };
/// // Two sessions have it at once.
/// recorder.observed(Session(1), Operation::Acquire, granted, Time::from_nanos(0));
/// recorder.observed(Session(2), Operation::Acquire, granted, Time::from_nanos(5));
/// let summary = Check::default().verdict(&recorder.history(), &Mutex::default()).finding().cloned();
/// assert!(summary.expect("it is one of them").summary.contains("session 1 has it"));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mutex {
    holder: Option<Session>,
}

/// A lease that runs out at a time that the service chooses, with a number that grows with each grant.
///
/// ```
/// use simutant_oracle::specifications::{Lease, lock::{Operation, Response}};
/// use simutant_oracle::{Check, Recorder, Session, Time};
///
/// let explains = |fences: [u64; 2]| {
///     let recorder = Recorder::new();
///     for (session, fence) in (1..).zip(fences) {
///         let response = Response::Granted { fence: Some(fence) };
///         recorder.observed(Session(session), Operation::Acquire, response, Time::from_nanos(session));
///     }
///     Check::default().run(&recorder.history(), &Lease::default()).is_possible()
/// };
/// // The first lease may have run out, but its number may not be given again.
/// assert_eq!((explains([1, 2]), explains([1, 1])), (true, false));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lease {
    holder: Option<Session>,
    /// How many were granted.
    #[serde(default)]
    granted: u64,
}

/// An operation on a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Takes it, if nobody has it.
    Acquire,
    /// Makes the lease last longer, if the session has it. Of a mutex, whether the session has it.
    Renew,
    /// Gives it back, if the session has it.
    Release,
}

/// An answer of a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Response {
    /// The session has it, or has given it back.
    Granted {
        /// The number of the grant, of a lease that has one: each is larger than those before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fence: Option<u64>,
    },
    /// Another session has it, or the session that gives it back has it not.
    Refused,
}

impl Response {
    const GRANTED: Self = Self::Granted { fence: None };
}

fn reason(holder: Option<Session>) -> String {
    holder.map_or_else(|| "nobody has it".to_owned(), |holder| format!("{holder} has it"))
}

const fn footprint(operation: Operation, response: Option<&Response>) -> Footprint {
    match (operation, response) {
        (Operation::Renew, _) | (_, Some(Response::Refused)) => Footprint::reads_everything(),
        _ => Footprint::everything(),
    }
}

impl Specification for Mutex {
    type Operation = Operation;
    type Response = Response;

    fn step(&mut self, session: Session, operation: &Operation, _: &mut Open<'_>) -> Response {
        let is_holder = self.holder == Some(session);
        match operation {
            Operation::Acquire if self.holder.is_none() => self.holder = Some(session),
            Operation::Release if is_holder => self.holder = None,
            Operation::Renew if is_holder => {}
            Operation::Acquire | Operation::Release | Operation::Renew => return Response::Refused,
        }
        Response::GRANTED
    }

    fn reason(&self, _: Session, _: &Operation, _: &Response, _: &Response) -> Option<String> {
        Some(reason(self.holder))
    }

    fn footprint(operation: &Operation, response: Option<&Response>) -> Footprint {
        footprint(*operation, response)
    }

    fn contradiction(&self, calls: &[&Call<Operation, Response>]) -> Option<Vec<usize>> {
        let initial = || self.holder;
        let mut cells = Cells::new();
        for (place, call) in calls.iter().enumerate() {
            let session = Some(call.session);
            match (call.operation, &call.end) {
                (_, End::DidNotHappen { .. }) => {}
                (Operation::Acquire, End::Returned { response: Response::Refused, .. }) => {
                    cells.denies(place, (), initial, session);
                }
                (Operation::Release, End::Returned { response: Response::Refused, .. }) => {
                    cells.denies(place, (), initial, None);
                }
                (operation, End::Returned { response: Response::GRANTED, .. }) => {
                    let touches = match operation {
                        Operation::Acquire => (Some(None), Some(session)),
                        Operation::Release => (Some(session), Some(None)),
                        Operation::Renew => (Some(session), Some(session)),
                    };
                    cells.returned(place, (), initial, touches);
                }
                // An answer that no mutex gives does not matter to a core without it.
                (Operation::Acquire, _) => cells.may_leave(place, (), initial, session),
                (Operation::Release, _) => cells.may_leave(place, (), initial, None),
                (Operation::Renew, _) => {}
            }
        }
        cells.contradiction(calls)
    }

    fn is_same(one: &Operation, other: &Operation) -> bool {
        one == other
    }
}

impl Specification for Lease {
    type Operation = Operation;
    type Response = Response;

    fn step(&mut self, session: Session, operation: &Operation, open: &mut Open<'_>) -> Response {
        // The lease may have run out by now, and the service chooses when.
        if self.holder.is_some() && open.maybe() {
            self.holder = None;
        }
        let is_holder = self.holder == Some(session);
        match operation {
            Operation::Acquire if self.holder.is_none() => {
                self.holder = Some(session);
                self.granted += 1;
            }
            Operation::Renew if is_holder => {}
            Operation::Release if is_holder => self.holder = None,
            Operation::Acquire | Operation::Renew | Operation::Release => return Response::Refused,
        }
        Response::Granted { fence: Some(self.granted) }
    }

    /// A service that gives no numbers is asked for none.
    fn agrees(&mut self, _: &Operation, expected: &Response, observed: &Response, _: &mut Open<'_>) -> bool {
        match (expected, observed) {
            (Response::Granted { .. }, Response::Granted { fence: None }) => true,
            _ => expected == observed,
        }
    }

    fn reason(&self, _: Session, _: &Operation, expected: &Response, _: &Response) -> Option<String> {
        match expected {
            Response::Granted { .. } => Some(format!("{} leases were granted", self.granted)),
            Response::Refused => Some(reason(self.holder)),
        }
    }

    // A lease may run out in any step, so none is a read.

    fn contradiction(&self, calls: &[&Call<Operation, Response>]) -> Option<Vec<usize>> {
        contradictions::fences(self.granted, calls)
    }

    fn is_same(one: &Operation, other: &Operation) -> bool {
        one == other
    }
}

impl Vocabulary for Mutex {
    const NAME: &'static str = "a mutex";
    const OPERATIONS: &'static [&'static str] = &["acquire", "renew", "release"];

    fn operation(asked: &Said<'_>) -> Result<Operation, Misfit> {
        operation(asked)
    }

    fn response(_: &Operation, answer: &Answered<'_>) -> Result<Response, Misfit> {
        answer.done(Response::GRANTED)
    }

    fn refusal(_: &Operation) -> Option<Response> {
        Some(Response::Refused)
    }
}

impl Vocabulary for Lease {
    const NAME: &'static str = "a lease";
    const OPERATIONS: &'static [&'static str] = Mutex::OPERATIONS;

    fn operation(asked: &Said<'_>) -> Result<Operation, Misfit> {
        operation(asked)
    }

    /// An integer is the number of the grant.
    fn response(_: &Operation, answer: &Answered<'_>) -> Result<Response, Misfit> {
        match answer.value.integer().map(u64::try_from) {
            Some(Ok(fence)) => Ok(Response::Granted { fence: Some(fence) }),
            None if *answer.value == Value::Nil => Ok(Response::GRANTED),
            _ => Err(Misfit::Value { cure: "answer with `nil`, or with the number of the grant" }),
        }
    }

    fn refusal(_: &Operation) -> Option<Response> {
        Some(Response::Refused)
    }
}

fn operation(asked: &Said<'_>) -> Result<Operation, Misfit> {
    match asked.name {
        "acquire" => asked.without_value(Operation::Acquire),
        "renew" => asked.without_value(Operation::Renew),
        "release" => asked.without_value(Operation::Release),
        _ => Err(Misfit::Name),
    }
}
