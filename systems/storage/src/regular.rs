//! The monitor of a regular register with one writer (Lamport, "On Interprocess Communication", 1986, part II, section 3).
//!
//! A read that overlaps no write returns the value of the last one before it; otherwise it may also return that of any write
//! that it overlaps. Wang's thesis monitors so (2021, section 3.4.1). It says less than a register does that is atomic: of
//! two reads, the later one may return the older value.

use simutant_oracle::specifications::register::{Operation, Response};
use simutant_oracle::{End, History, Session};

/// A read that returned what it must not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{session} read {}, and may have read {}", words(*.read), .allowed.iter().map(|value| words(*value)).collect::<Vec<_>>().join(" or "))]
pub struct NotRegular {
    /// Whose read it is.
    pub session: Session,
    /// What it returned.
    pub read: Option<u32>,
    /// What it may have returned.
    pub allowed: Vec<Option<u32>>,
}

fn words(value: Option<u32>) -> String {
    value.map_or_else(|| "nothing".to_owned(), |value| value.to_string())
}

/// Checks a history in which at most one session writes, each value once.
///
/// ```
/// use simutant_oracle::specifications::register::{Operation, Response};
/// use simutant_oracle::{Recorder, Session, Time};
/// use simutant_storage::regular::check_regular;
///
/// let recorder = Recorder::in_order();
/// let (writer, reader) = (Session(1), Session(2));
/// let write = recorder.invoke(writer, Operation::Write(7), Time::ZERO);
/// recorder.observed(reader, Operation::Read, Response::Value(Some(7)), Time::ZERO);
/// // The older value after the newer one: the write is not over, so that is regular.
/// recorder.observed(reader, Operation::Read, Response::Value(None), Time::ZERO);
/// recorder.returned(write, Response::Done, Time::ZERO)?;
/// assert!(recorder.with(check_regular).is_ok());
/// recorder.observed(reader, Operation::Read, Response::Value(None), Time::ZERO);
/// assert_eq!(recorder.with(check_regular).unwrap_err().to_string(), "session 2 read nothing, and may have read 7");
/// # Ok::<(), simutant_oracle::Misuse>(())
/// ```
///
/// # Errors
/// [`NotRegular`] for the first read that is wrong.
pub fn check_regular(history: &History<Operation<u32>, Response<u32>>) -> Result<(), NotRegular> {
    // In the order in which they were made.
    let writes: Vec<_> = history
        .calls()
        .iter()
        .filter(|call| !matches!(call.end, End::DidNotHappen { .. }))
        .filter_map(|call| if let Operation::Write(value) = call.operation { Some((call, value)) } else { None })
        .collect();
    for call in history.calls() {
        let End::Returned { response: Response::Value(read), .. } = &call.end else { continue };
        let last = writes.iter().rposition(|(write, _)| write.precedes(call));
        let first = last.map_or(0, |last| last + 1);
        let during = writes[first..].iter().filter(|(write, _)| !call.precedes(write));
        let mut allowed: Vec<Option<u32>> = vec![last.map(|last| writes[last].1)];
        allowed.extend(during.map(|(_, value)| Some(*value)));
        if !allowed.contains(read) {
            return Err(NotRegular { session: call.session, read: *read, allowed });
        }
    }
    Ok(())
}
