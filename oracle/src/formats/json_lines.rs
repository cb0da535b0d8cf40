//! Histories as JSON Lines: a call a line.
//!
//! ```
//! use simutant_oracle::{History, formats::json_lines};
//!
//! let text = r#"{"session":1,"operation":"get","invoked_ns":10,"end":{"returned":{"at_ns":20,"response":7}}}
//! {"session":2,"operation":"get","invoked_ns":15,"end":"unknown"}
//! {"session":1,"operation":"get","invoked_ns":30,"end":{"did_not_happen":{"at_ns":35}}}
//! "#;
//! let history: History<String, u8> = json_lines::read(text.as_bytes()).expect("three calls");
//! let mut written = Vec::new();
//! json_lines::write(&history, &mut written).expect("memory takes all");
//! assert_eq!(written, text.as_bytes());
//! ```
//!
//! Lines may come in any order, so that files of several clients can be put together: the history has calls in the
//! order of invocation. `"mode":"asynchronous"` follows where a session does not wait for the answer, and
//! `"revision":5` after the end where the service says at which place it took the operation. Where the recorder knows
//! the order within an instant, `"invoked_event":0` follows `invoked_ns`, and `"event":1` follows `at_ns`: the place
//! among all invocations and ends of the run.
//!
//! # Limits
//!
//! - JSON has no numbers that are not finite, and `Some(None)` has the form of `None`: operations and responses with
//!   such values do not come back as they were.
//! - A file that was cut between two lines is a shorter history. Write to a file of another name, and rename it at the
//!   end, where that could happen.
//! - A line has at most [`LINE_MAX`](super::LINE_MAX) bytes.

use std::io::{self, BufRead, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::error::Category;

use super::HistoryError;
use super::source::Lines;
use crate::{Call, End, EndsTooEarly, History, Mode, Moment, Revision, Session, Time};

/// What a line is, for messages.
const FORM: &str =
    r#"{"session":1,"operation":…,"invoked_ns":10,"end":{"returned":{"at_ns":20,"response":…}}}, on a line of its own"#;

/// How many characters of what serde says are shown: it quotes names as long as they are.
const MESSAGE_MAX: usize = 300;

/// A [`Call`] in a file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "O: Deserialize<'de>, R: Deserialize<'de>"))]
struct CallForm<O, R> {
    session: Session,
    #[serde(deserialize_with = "given")]
    operation: O,
    invoked_ns: Time,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    invoked_event: Option<u64>,
    #[serde(default, skip_serializing_if = "is_synchronous")]
    mode: Mode,
    end: EndForm<R>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    revision: Option<Revision>,
}

fn is_synchronous(mode: &Mode) -> bool {
    *mode == Mode::Synchronous
}

/// An [`End`] in a file.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields, bound(deserialize = "R: Deserialize<'de>"))]
enum EndForm<R> {
    Returned {
        at_ns: Time,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        event: Option<u64>,
        #[serde(deserialize_with = "given")]
        response: R,
    },
    Unknown,
    DidNotHappen {
        at_ns: Time,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        event: Option<u64>,
    },
}

impl<'a, O, R> From<&'a Call<O, R>> for CallForm<&'a O, &'a R> {
    fn from(Call { session, operation, mode, invoked, end, revision }: &'a Call<O, R>) -> Self {
        let end = match end {
            End::Returned { at, response } => EndForm::Returned { at_ns: at.time, event: at.event, response },
            End::Unknown => EndForm::Unknown,
            End::DidNotHappen { at } => EndForm::DidNotHappen { at_ns: at.time, event: at.event },
        };
        Self {
            session: *session,
            operation,
            invoked_ns: invoked.time,
            invoked_event: invoked.event,
            mode: *mode,
            end,
            revision: *revision,
        }
    }
}

impl<O, R> From<CallForm<O, R>> for Call<O, R> {
    fn from(form: CallForm<O, R>) -> Self {
        let CallForm { session, operation, invoked_ns, invoked_event, mode, end, revision } = form;
        let moment = |time, event| Moment { time, event };
        let end = match end {
            EndForm::Returned { at_ns, event, response } => End::Returned { at: moment(at_ns, event), response },
            EndForm::Unknown => End::Unknown,
            EndForm::DidNotHappen { at_ns, event } => End::DidNotHappen { at: moment(at_ns, event) },
        };
        Self { session, operation, mode, invoked: moment(invoked_ns, invoked_event), end, revision }
    }
}

/// Reads a field that must be there, even if its type could do without, as an [`Option`] could.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    T::deserialize(deserializer)
}

/// Writes a call a line, each with its line end.
///
/// # Errors
/// As `to` has them, or if an operation or a response has no form in JSON.
pub fn write<O: Serialize, R: Serialize>(history: &History<O, R>, mut to: impl Write) -> io::Result<()> {
    for call in history.calls() {
        serde_json::to_writer(&mut to, &CallForm::from(call))?;
        to.write_all(b"\n")?;
    }
    to.flush()
}

/// Reads what [`write()`] wrote. Empty lines are skipped.
///
/// # Errors
/// [`HistoryError`] names the line and the column.
pub fn read<O: DeserializeOwned, R: DeserializeOwned>(from: impl BufRead) -> Result<History<O, R>, HistoryError> {
    let (mut calls, mut lines) = (Vec::new(), Vec::new());
    let mut lines_of = Lines::new(from);
    while let Some((line, text)) = lines_of.next()? {
        if !text.trim_ascii().is_empty() {
            calls.push(call(text).map_err(|error| not_a_call(line, text, &error))?);
            lines.push(line);
        }
    }
    check_events(&calls, &lines)?;
    History::from_calls(calls).map_err(|EndsTooEarly { number, invoked, ended, .. }| HistoryError::NotACall {
        line: lines[number],
        column: 1,
        message: format!("the call ends at {}, before its invocation at {}", in_nanos(ended), in_nanos(invoked)),
        cure: "take both times from one clock".to_owned(),
    })
}

/// Checks that no two events of an instant have one number: which of them came first is then unknown, and not that they
/// came together.
fn check_events<O, R>(calls: &[Call<O, R>], lines: &[usize]) -> Result<(), HistoryError> {
    let moments = |(call, &line): (&Call<O, R>, &usize)| {
        let both = [Some((call.invoked, false)), call.end.at().map(|at| (at, true))];
        both.into_iter().flatten().filter_map(move |(at, is_end)| Some(((at.time, at.event?), line, is_end)))
    };
    let mut events: Vec<((Time, u64), usize, bool)> = calls.iter().zip(lines).flat_map(moments).collect();
    events.sort_unstable();
    let Some([(_, other, _), ((time, event), line, is_end)]) =
        events.array_windows().find(|[(one, ..), (other, ..)]| one == other)
    else {
        return Ok(());
    };
    let at = in_nanos(Moment { time: *time, event: Some(*event) });
    let what = if *is_end { "ends" } else { "is invoked" };
    Err(HistoryError::NotACall {
        line: *line,
        column: 1,
        message: format!("the call {what} at {at}, which is another event of line {other}"),
        cure: "number all invocations and ends of the run, each with a number of its own, or leave the numbers out"
            .to_owned(),
    })
}

fn call<O: DeserializeOwned, R: DeserializeOwned>(text: &[u8]) -> Result<Call<O, R>, serde_json::Error> {
    serde_json::from_slice::<CallForm<O, R>>(text).map(Call::from)
}

fn in_nanos(Moment { time, event }: Moment) -> String {
    let event = event.map_or_else(String::new, |event| format!(", event {event}"));
    format!("{} ns{event}", time.as_nanos())
}

fn not_a_call(line: usize, text: &[u8], error: &serde_json::Error) -> HistoryError {
    let message = error.to_string();
    // A line has no lines, so what serde says of them is not of use.
    let place = format!(" at line {} column {}", error.line(), error.column());
    let message = message.strip_suffix(&place).unwrap_or(&message);
    let message = match message.char_indices().nth(MESSAGE_MAX) {
        Some((end, _)) => format!("{}…", &message[..end]),
        None => message.to_owned(),
    };
    let cure = match error.classify() {
        Category::Eof => "the line ends within the call, so the file was cut: record the history again".to_owned(),
        _ => format!("a call is {FORM}"),
    };
    HistoryError::NotACall { line, column: error.column().clamp(1, text.len().max(1)), message, cure }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Operation {
        Get(String),
        Put { key: String, value: f64 },
        Clear,
    }

    type Response = Option<BTreeMap<String, f64>>;

    fn operation() -> impl Strategy<Value = Operation> {
        let value = prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO;
        prop_oneof![
            any::<String>().prop_map(Operation::Get),
            (any::<String>(), value).prop_map(|(key, value)| Operation::Put { key, value }),
            Just(Operation::Clear),
        ]
    }

    fn any_call() -> impl Strategy<Value = Call<Operation, Response>> {
        let response = prop::option::of(prop::collection::btree_map(any::<String>(), -1e9..1e9, 0..3));
        let instant = prop_oneof![0..4_u64, any::<u64>()];
        let events = prop::option::of(any::<u32>());
        (any::<u64>(), operation(), instant, any::<u64>(), 0..3, response, events).prop_map(
            |(session, operation, invoked, lasts, kind, response, events)| {
                let moment = |nanos, nth: u64| Moment {
                    time: Time::from_nanos(nanos),
                    event: events.map(|first| 2 * u64::from(first) + nth),
                };
                let at = moment(invoked.saturating_add(lasts), 1);
                let end = match kind {
                    0 => End::Returned { at, response },
                    1 => End::DidNotHappen { at },
                    _ => End::Unknown,
                };
                Call {
                    session: Session(session),
                    operation,
                    mode: if invoked % 2 == 0 { Mode::Synchronous } else { Mode::Asynchronous },
                    invoked: moment(invoked, 0),
                    end,
                    revision: (session % 2 == 0).then_some(Revision(invoked)),
                }
            },
        )
    }

    fn written<O: Serialize, R: Serialize>(history: &History<O, R>) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(history, &mut bytes).expect("memory takes all");
        bytes
    }

    fn any_history() -> impl Strategy<Value = History<Operation, Response>> {
        prop::collection::vec(any_call(), 0..8).prop_map(|calls| History::from_calls(calls).expect("all end later"))
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(history in any_history()) {
            let bytes = written(&history);
            prop_assert_eq!(bytes.iter().filter(|byte| **byte == b'\n').count(), history.calls().len());
            prop_assert_eq!(read(&bytes[..]).expect("it was written here"), history);
        }

        /// Whatever is in a file, reading it ends with calls that were there, or with an error that has a place.
        #[test]
        fn a_damaged_file_has_fewer_calls_or_an_error_with_its_place(
            history in any_history(),
            at: prop::sample::Index,
            byte: u8,
            is_cut: bool,
        ) {
            let mut bytes = written(&history);
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                if is_cut { bytes.truncate(at) } else { bytes[at] = byte }
            }
            match read::<Operation, Response>(&bytes[..]) {
                Ok(read) => prop_assert!(read.calls().len() <= history.calls().len()),
                Err(HistoryError::NotACall { line, column, .. }) => {
                    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
                    prop_assert!(column >= 1 && column <= lines[line - 1].len(), "line {}, column {}", line, column);
                }
                Err(error) => prop_assert!(false, "{}", error),
            }
        }
    }

    #[test]
    fn a_bad_line_has_its_line_its_column_and_a_cure() {
        #[track_caller]
        fn check(line: &str, expect: &str) {
            let good = r#"{"session":1,"operation":"clear","invoked_ns":0,"end":"unknown"}"#;
            let text = format!("{good}\n\n{line}\n{good}\n");
            let error = read::<Operation, Response>(text.as_bytes()).expect_err("the line is bad").to_string();
            let with_form = format!("; a call is {FORM}");
            assert_eq!(error.strip_suffix(&with_form).unwrap_or(&error), format!("line 3, column {expect}"));
        }
        check("get x", "1: expected value");
        check(
            r#"{"session":1,"operation":"clear","invoked_ns":0"#,
            "47: EOF while parsing an object; the line ends within the call, so the file was cut: record the history again",
        );
        check(r#"{"session":1,"operation":"clear","invoked_ns":0,"end":"unknown"} x"#, "66: trailing characters");
        check(
            r#"{"session":1,"operation":"pop","invoked_ns":0,"end":"unknown"}"#,
            "30: unknown variant `pop`, expected one of `get`, `put`, `clear`",
        );
        check(
            r#"{"session":1,"operation":"clear","invoked_ns":-1,"end":"unknown"}"#,
            "48: invalid value: integer `-1`, expected u64",
        );
        check(r#"{"session":1,"operation":"clear","invoked_ns":0}"#, "48: missing field `end`");
        check(
            r#"{"session":1,"operation":"clear","invoked_ns":0,"end":"unknown","zxid":5}"#,
            "70: unknown field `zxid`, expected one of `session`, `operation`, `invoked_ns`, `invoked_event`, `mode`, `end`, `revision`",
        );
        // Nothing is guessed: that there is no response is said by `null`.
        check(
            r#"{"session":1,"operation":"clear","invoked_ns":0,"end":{"returned":{"at_ns":5}}}"#,
            "77: missing field `response`",
        );
        check(
            r#"{"session":1,"operation":"clear","invoked_ns":5,"end":{"did_not_happen":{"at_ns":4}}}"#,
            "1: the call ends at 4 ns, before its invocation at 5 ns; take both times from one clock",
        );
        check(
            r#"{"session":1,"operation":"clear","invoked_ns":5,"invoked_event":7,"end":{"did_not_happen":{"at_ns":5,"event":6}}}"#,
            "1: the call ends at 5 ns, event 6, before its invocation at 5 ns, event 7; take both times from one clock",
        );
    }

    #[test]
    fn text_that_is_no_utf_8_is_no_call() {
        let error = read::<Operation, Response>(&b"\xff\n"[..]).expect_err("it is no text").to_string();
        assert!(error.starts_with("line 1, column 1: "), "{error}");
    }

    #[test]
    fn lines_of_several_files_may_come_in_any_order() {
        let line = |session: u64, invoked| {
            format!(r#"{{"session":{session},"operation":"clear","invoked_ns":{invoked},"end":"unknown"}}"#)
        };
        let text = [line(1, 5), line(1, 7), line(2, 4), line(2, 5)].join("\n");
        let history: History<Operation, Response> = read(text.as_bytes()).expect("four calls");
        let order: Vec<_> = history.calls().iter().map(|call| (call.invoked.time.as_nanos(), call.session.0)).collect();
        assert_eq!(order, [(4, 2), (5, 1), (5, 2), (7, 1)]);
    }
}
