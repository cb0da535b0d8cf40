//! Histories as JSON Lines: a call a line, in the form that [`Call`] has in serde.
//!
//! ```
//! use simutant_oracle::{History, json_lines};
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
//! order of invocation, and those of one instant in the order of their lines.

use std::io::{self, BufRead, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use crate::{Call, EndsTooEarly, History};

/// What a line is, for messages.
const FORM: &str =
    r#"{"session":1,"operation":…,"invoked_ns":10,"end":{"returned":{"at_ns":20,"response":…}}}, on a line of its own"#;

/// A file that is not a history, or cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// A line is not a call.
    #[error("line {line}, column {column}: {message}; {cure}")]
    NotACall {
        /// The line, counted from 1.
        line: usize,
        /// The column in bytes, counted from 1.
        column: usize,
        /// What is wrong.
        message: String,
        /// What to do about it.
        cure: String,
    },
    /// The line could not be read.
    #[error("line {line} cannot be read: {source}")]
    Unreadable {
        /// The line, counted from 1.
        line: usize,
        /// What went wrong.
        source: io::Error,
    },
}

/// Writes a call a line, each with its line end.
///
/// # Errors
/// As `to` has them, or if an operation or a response has no form in JSON.
pub fn write<O: Serialize, R: Serialize>(history: &History<O, R>, mut to: impl Write) -> io::Result<()> {
    for call in history.calls() {
        serde_json::to_writer(&mut to, call)?;
        to.write_all(b"\n")?;
    }
    to.flush()
}

/// Reads what [`write()`] wrote. Empty lines are skipped.
///
/// # Errors
/// [`HistoryError`] names the line and the column.
pub fn read<O: DeserializeOwned, R: DeserializeOwned>(mut from: impl BufRead) -> Result<History<O, R>, HistoryError> {
    let (mut calls, mut lines) = (Vec::new(), Vec::new());
    let mut text = Vec::new();
    for line in 1.. {
        text.clear();
        let count = from.read_until(b'\n', &mut text).map_err(|source| HistoryError::Unreadable { line, source })?;
        if count == 0 {
            break;
        }
        let ended = text.strip_suffix(b"\n").unwrap_or(&text);
        if !ended.trim_ascii().is_empty() {
            calls.push(call(ended).map_err(|error| not_a_call(line, ended, &error))?);
            lines.push(line);
        }
    }
    History::from_calls(calls).map_err(|EndsTooEarly { number, invoked, ended, .. }| HistoryError::NotACall {
        line: lines[number],
        column: 1,
        message: format!(
            "the call ends at {} ns, before its invocation at {} ns",
            ended.as_nanos(),
            invoked.as_nanos()
        ),
        cure: "take both times from one clock".to_owned(),
    })
}

fn call<O: DeserializeOwned, R: DeserializeOwned>(text: &[u8]) -> Result<Call<O, R>, serde_json::Error> {
    serde_json::from_slice(text)
}

fn not_a_call(line: usize, text: &[u8], error: &serde_json::Error) -> HistoryError {
    let message = error.to_string();
    // A line has no lines, so what serde says of them is not of use.
    let place = format!(" at line {} column {}", error.line(), error.column());
    let message = message.strip_suffix(&place).unwrap_or(&message).to_owned();
    let cure = match error.classify() {
        Category::Eof => "the line ends within the call: write it anew, or remove it".to_owned(),
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
    use crate::{End, Session, Time};

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
        (any::<u64>(), operation(), instant, any::<u64>(), 0..3, response).prop_map(
            |(session, operation, invoked, lasts, kind, response)| {
                let at = Time::from_nanos(invoked.saturating_add(lasts));
                let end = match kind {
                    0 => End::Returned { at, response },
                    1 => End::DidNotHappen { at },
                    _ => End::Unknown,
                };
                Call { session: Session(session), operation, invoked: Time::from_nanos(invoked), end }
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
            "47: EOF while parsing an object; the line ends within the call: write it anew, or remove it",
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
            "70: unknown field `zxid`, expected one of `session`, `operation`, `invoked_ns`, `end`",
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
        let order: Vec<_> = history.calls().iter().map(|call| (call.invoked.as_nanos(), call.session.0)).collect();
        assert_eq!(order, [(4, 2), (5, 1), (5, 2), (7, 1)]);
    }
}
