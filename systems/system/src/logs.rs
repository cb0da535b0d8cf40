//! Histories from what programs write into their logs.

use std::collections::BTreeMap;
use std::fmt::Debug;

use simutant_oracle::{History, Recorder, Session, Time};
use simutant_sim_core::CheckFailure;

/// What a line of a log says, without its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Logged<O, R> {
    /// A call begins. Its number is that of no other call of the session.
    Invoked(u64, O),
    /// The call of this number returns.
    Returned(u64, R),
    /// The call of this number fails, and may have happened, or happen later.
    Failed(u64),
    /// A call begins and returns at once.
    Observed(O, R),
}

/// What is wrong with a log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidLog {
    /// A line cannot be read.
    #[error("the log of {0} has the line {1:?}")]
    Line(Session, String),
    /// A call ends that has not begun, or has ended before, or one begins that goes on.
    #[error("a call of {0} ends without a beginning, or begins or ends twice")]
    Unpaired(Session),
}

/// Returns the history of the sessions whose logs these are. A line is the nanoseconds of a clock that all have in common, and
/// words that `parse` reads. What follows the last end of a line is left out: who is killed may leave a part of one.
///
/// ```
/// use simutant_oracle::Session;
/// use simutant_system::{InvalidLog, Logged, history_of_logs};
///
/// let parse = |words: &[&str]| match words {
///     ["invoke", "read"] => Some(Logged::Invoked(1, ())),
///     ["return", value] => Some(Logged::Returned(1, value.parse::<u32>().ok()?)),
///     _ => None,
/// };
/// let log = "1000 invoke read\n2000 return 7\n300".to_owned();
/// assert_eq!(history_of_logs(&[(Session(1), log)], parse)?.calls().len(), 1);
///
/// for log in ["1000 return 7\n", "1000 invoke read\n2000 invoke read\n"] {
///     let wrong = history_of_logs(&[(Session(1), log.to_owned())], parse).unwrap_err();
///     assert_eq!(wrong, InvalidLog::Unpaired(Session(1)));
/// }
/// # Ok::<(), InvalidLog>(())
/// ```
///
/// # Errors
/// [`InvalidLog`] for the first line that `parse` cannot read, or else the first end without a beginning or beginning without
/// an end.
pub fn history_of_logs<O: Clone, R: Clone>(
    logs: &[(Session, String)],
    parse: impl Fn(&[&str]) -> Option<Logged<O, R>>,
) -> Result<History<O, R>, InvalidLog> {
    let mut events = Vec::new();
    for (session, log) in logs {
        let complete = &log[..log.rfind('\n').map_or(0, |end| end + 1)];
        for line in complete.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let event = words.split_first().and_then(|(nanos, words)| Some((nanos.parse().ok()?, parse(words)?)));
            let (nanos, event) = event.ok_or_else(|| InvalidLog::Line(*session, line.to_owned()))?;
            events.push((Time::from_nanos(nanos), *session, event));
        }
    }
    // Of one instant, what begins comes first: then the calls overlap.
    events.sort_by_key(|(time, _, event)| (*time, !matches!(event, Logged::Invoked(..))));
    let recorder = Recorder::new();
    let mut open = BTreeMap::new();
    for (time, session, event) in events {
        let ended = match event {
            Logged::Invoked(call, operation) => {
                if open.insert((session, call), recorder.invoke(session, operation, time)).is_some() {
                    return Err(InvalidLog::Unpaired(session));
                }
                continue;
            }
            Logged::Observed(operation, response) => {
                recorder.observed(session, operation, response, time);
                continue;
            }
            Logged::Returned(call, response) => {
                open.remove(&(session, call)).map(|id| recorder.returned(id, response, time))
            }
            Logged::Failed(call) => open.remove(&(session, call)).map(|id| recorder.unknown(id)),
        };
        if !matches!(ended, Some(Ok(()))) {
            return Err(InvalidLog::Unpaired(session));
        }
    }
    Ok(recorder.history())
}

/// Checks that a session has made these calls, and no others: one that leaves out calls sees nothing wrong.
///
/// ```
/// use simutant_oracle::{Recorder, Session, Time};
/// use simutant_system::check_calls;
///
/// let recorder = Recorder::new();
/// recorder.observed(Session(1), "read", 7, Time::ZERO);
/// assert!(recorder.with(|history| check_calls(history, Session(1), &["read"])).is_ok());
/// let failure = recorder.with(|history| check_calls(history, Session(1), &["read", "write"])).unwrap_err();
/// assert_eq!(failure.to_string(), r#"session 1 made the calls ["read"], and was to make ["read", "write"]"#);
/// ```
///
/// # Errors
/// [`CheckFailure`] says which calls it has made instead.
pub fn check_calls<O: PartialEq + Debug, R>(
    history: &History<O, R>,
    session: Session,
    expected: &[O],
) -> Result<(), CheckFailure> {
    let made: Vec<&O> = history.of(session).map(|call| &call.operation).collect();
    match made.iter().copied().eq(expected) {
        true => Ok(()),
        false => Err(CheckFailure::new(format!("{session} made the calls {made:?}, and was to make {expected:?}"))),
    }
}
