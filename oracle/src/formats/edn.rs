//! Histories in Jepsen's EDN, written.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::Value;
use super::jepsen::DID_NOT_MATCH;
use super::vocabulary::{Asked, Vocabulary};
use crate::history::key;
use crate::{Call, End, History, Mode, Moment, Session, Time};

/// A history that cannot be written in EDN, or a place that cannot be written to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// Jepsen has no form for a call.
    #[error("call {number} ({session}, invoked at {invoked}) has no form in EDN: {reason}; write JSON Lines")]
    NoForm {
        /// The call's place in the history, from 0.
        number: usize,
        /// What made it.
        session: Session,
        /// When it was invoked.
        invoked: Moment,
        /// What has no form.
        reason: &'static str,
    },
    /// The file could not be written.
    #[error("the history cannot be written: {0}")]
    Unwritable(#[from] io::Error),
}

/// The calls of a session, and the place of one of them.
type Numbered<'a, S> = (usize, &'a Call<<S as crate::Specification>::Operation, <S as crate::Specification>::Response>);

/// What writes events.
struct Writer<W> {
    to: W,
    /// How many events were written.
    index: u64,
}

/// Writes a history in Jepsen's EDN, a map a line.
///
/// What is concurrent in the history is concurrent in the file, and what is in order is in order. Registers, sets,
/// queues, stacks and queues by priority have a form there. A comparison that did not match is a `:fail` with
/// `:error :did-not-match`.
///
/// ```
/// use simutant_oracle::formats::{Value, edn};
/// use simutant_oracle::specifications::{Register, register::{Operation, Response}};
/// use simutant_oracle::{Recorder, Session, Time};
///
/// let recorder = Recorder::new();
/// recorder.observed(Session(4), Operation::Write(Value::from(3)), Response::Done, Time::from_nanos(10));
/// let mut written = Vec::new();
/// edn::write::<Register<Value>>(&recorder.history(), &mut written).expect("memory takes all");
/// let text = String::from_utf8(written).expect("it is text");
/// let types: Vec<bool> = text.lines().map(|line| line.contains(":invoke")).collect();
/// assert_eq!(types, [true, false]);
/// assert!(text.lines().all(|line| line.contains(":f :write") && line.contains(":value 3")));
/// ```
///
/// # Errors
/// [`WriteError::Unwritable`] as `to` has it. [`WriteError::NoForm`] if calls of a session overlap, if a call has a
/// revision or is asynchronous, or if the vocabulary does not say its operation or its response.
pub fn write<S: Vocabulary>(history: &History<S::Operation, S::Response>, to: impl Write) -> Result<(), WriteError>
where
    S::Response: PartialEq,
{
    let calls = history.calls();
    // Within an instant, invocations without a place come first and ends without one last: they are concurrent.
    let mut moments = Vec::with_capacity(2 * calls.len());
    for (number, call) in calls.iter().enumerate() {
        moments.push((key(call.invoked), false, number));
        if let Some(at) = call.end.at() {
            moments.push(((at.time, Some(at.event.unwrap_or(u64::MAX))), true, number));
        }
    }
    moments.sort_unstable();

    let mut writer = Writer { to, index: 0 };
    let mut open: BTreeMap<Session, usize> = BTreeMap::new();
    for ((time, _), is_end, number) in moments {
        let call = &calls[number];
        if is_end {
            open.remove(&call.session);
            writer.end::<S>((number, call), time)?;
            continue;
        }
        if let Some(other) = open.insert(call.session, number) {
            // Nobody waits for the answer of an unknown call, so the process goes on.
            if calls[other].end.at().is_some() {
                return Err(no_form::<S>((number, call), "its session has another call at the time"));
            }
            writer.end::<S>((other, &calls[other]), time)?;
        }
        writer.invocation::<S>((number, call), time)?;
    }
    writer.to.flush()?;
    Ok(())
}

impl<W: Write> Writer<W> {
    fn invocation<S: Vocabulary>(&mut self, numbered: Numbered<'_, S>, time: Time) -> Result<(), WriteError> {
        let (_, call) = numbered;
        if call.revision.is_some() || call.mode == Mode::Asynchronous {
            return Err(no_form::<S>(numbered, "it has a revision, or is asynchronous"));
        }
        let Asked { name, value } = ask::<S>(numbered)?;
        self.event::<S>(numbered, time, ("invoke", name), &value, "")
    }

    fn end<S: Vocabulary>(&mut self, numbered: Numbered<'_, S>, time: Time) -> Result<(), WriteError>
    where
        S::Response: PartialEq,
    {
        let (_, call) = numbered;
        let Asked { name, value } = ask::<S>(numbered)?;
        match &call.end {
            End::Unknown => self.event::<S>(numbered, time, ("info", name), &value, ""),
            End::DidNotHappen { .. } => self.event::<S>(numbered, time, ("fail", name), &value, ""),
            End::Returned { response, .. } if S::refusal(&call.operation).as_ref() == Some(response) => {
                let error = format!(", :error :{DID_NOT_MATCH}");
                self.event::<S>(numbered, time, ("fail", name), &value, &error)
            }
            End::Returned { response, .. } => {
                let answer = S::tell(&call.operation, response);
                let answer = answer.ok_or_else(|| no_form::<S>(numbered, "its response has none"))?;
                self.event::<S>(numbered, time, ("ok", name), &answer, "")
            }
        }
    }

    fn event<S: Vocabulary>(
        &mut self,
        numbered: Numbered<'_, S>,
        time: Time,
        (kind, name): (&str, &str),
        value: &Value,
        more: &str,
    ) -> Result<(), WriteError> {
        let (process, nanos, index) = (numbered.1.session.0, time.as_nanos(), self.index);
        if i64::try_from(process.max(nanos)).is_err() {
            return Err(no_form::<S>(numbered, "its session or its time is larger than EDN's integers"));
        }
        self.index += 1;
        writeln!(
            self.to,
            "{{:process {process}, :type :{kind}, :f :{name}, :value {value}, :time {nanos}, :index {index}{more}}}"
        )?;
        Ok(())
    }
}

fn ask<S: Vocabulary>(numbered: Numbered<'_, S>) -> Result<Asked, WriteError> {
    S::ask(&numbered.1.operation).ok_or_else(|| no_form::<S>(numbered, "its operation has none"))
}

const fn no_form<S: Vocabulary>((number, call): Numbered<'_, S>, reason: &'static str) -> WriteError {
    WriteError::NoForm { number, session: call.session, invoked: call.invoked, reason }
}
