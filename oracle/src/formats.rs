//! Histories in files: our own form, and those of other tools.
//!
//! | format | from | read | written |
//! | --- | --- | --- | --- |
//! | [`Format::JsonLines`] | this crate: a call a line | [`json_lines::read`] | [`json_lines::write()`] |
//! | [`Format::JepsenEdn`] | Jepsen's `history.edn`, and Porcupine's key-value logs | [`read`] | [`edn::write`] |
//! | [`Format::JepsenJson`] | the same in JSON | [`read`] | |
//! | [`Format::JepsenLog`] | Jepsen's `history.txt`, and its log, as Porcupine's etcd histories have it | [`read`] | |
//! | [`Format::Limo`] | LiMo (Abdulla et al., PLDI 2025) and Violin: `.hist` | [`read`] | |
//! | [`Format::PolyLin`] | PolyLin (Lee and Mathur, OOPSLA 2025) | [`read`] | |
//!
//! ```
//! use simutant_oracle::formats::{self, Format, Value};
//! use simutant_oracle::specifications::Register;
//! use simutant_oracle::{Answer, Budget, Order, check};
//!
//! let text = b"{:process 0, :type :invoke, :f :write, :value 3}
//! {:process 1, :type :invoke, :f :read, :value nil}
//! {:process 1, :type :ok, :f :read, :value 3}
//! {:process 0, :type :ok, :f :write, :value 3}
//! ";
//! let format = formats::detect(None, text).expect("maps of EDN");
//! assert_eq!(format, Format::JepsenEdn);
//! let history = formats::read::<Register<Value>>(format, &text[..])?;
//! let checked = check(&history, &Register::default(), &Order::linearizability(), Budget::unlimited());
//! assert!(matches!(checked.answer, Answer::Possible { .. }));
//! # Ok::<(), formats::HistoryError>(())
//! ```
//!
//! # Events, calls, and what they mean
//!
//! Other tools write an event when a call begins and another one when it ends. The order of the lines is the order of
//! the events; a time that is earlier than one before counts as the same time, and a file without times has all at the
//! origin. A process has one call at a time: an invocation of a busy one, and an end that nothing began, are errors.
//!
//! What an operation's name and value mean is a specification's [`Vocabulary`]. Where the specification does not know a
//! name, the error lists those that it knows. How a call ends is the format's:
//!
//! | end | in Jepsen's EDN and JSON | in its log |
//! | --- | --- | --- |
//! | `:ok` | returned | returned |
//! | `:info`, or none | unknown | unknown |
//! | `:fail` | did not happen, or, with `:error :did-not-match`, compared and did not match | the same, with the error after the value or in its place; what timed out is unknown |
//!
//! A `:fail` of a comparison without an error, in a log, says that there was no effect, and not whether the service
//! compared: clients end both like this. It did not happen, and [`parse`] returns it as a [`Doubt`].
//!
//! # Limits
//!
//! A line, and a map of a file whose maps are no lines, has at most [`LINE_MAX`] bytes, and values lie at most
//! [`DEPTH_MAX`] deep in each other. The values of an event take at most [`VALUES_MAX`] bytes of memory, and what is
//! kept of a file some 32 bytes for each of its bytes, if it has many small values.

mod containers;
mod data;
pub mod edn;
mod error;
mod event;
mod jepsen;
pub mod json_lines;
mod limo;
mod polylin;
mod source;
mod value;
mod vocabulary;

use std::ffi::OsStr;
use std::fmt;
use std::io::BufRead;
use std::path::Path;

use serde::de::DeserializeOwned;

use self::data::Grammar;
use self::event::Pairing;
use crate::{History, Specification};

pub use self::data::{DEPTH_MAX, VALUES_MAX};
pub use self::error::{HistoryError, LINE_MAX};
pub use self::value::Value;
pub use self::vocabulary::{Answered, Asked, Misfit, Said, Vocabulary};

/// The format of a history in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Our own: a call a line.
    JsonLines,
    /// Jepsen's `history.edn`: maps, one after the other or in a vector. Porcupine's key-value logs are such maps with
    /// a `:key`.
    JepsenEdn,
    /// The same in JSON.
    JepsenJson,
    /// Jepsen's log, `INFO  jepsen.util - 0 :invoke :read nil`, and its `history.txt`, which has the lines without the
    /// prefix.
    JepsenLog,
    /// LiMo's `.hist`, and Violin's.
    Limo,
    /// PolyLin's calls.
    PolyLin,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 6] =
        [Self::JsonLines, Self::JepsenEdn, Self::JepsenJson, Self::JepsenLog, Self::Limo, Self::PolyLin];

    /// Returns the name of the format, as a command takes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::JsonLines => "json-lines",
            Self::JepsenEdn => "jepsen-edn",
            Self::JepsenJson => "jepsen-json",
            Self::JepsenLog => "jepsen-log",
            Self::Limo => "limo",
            Self::PolyLin => "polylin",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Returns the format of a file that begins with these bytes, some kilobytes of it. Where they do not tell, the name's
/// extension does: `.edn`, `.json`, `.jsonl`, `.hist`.
///
/// `None` says that neither tells; ask for the format then.
///
/// ```
/// use std::path::Path;
/// use simutant_oracle::formats::{Format, detect};
///
/// let line = br#"{"session":1,"operation":"read","invoked_ns":10,"end":"unknown"}"#;
/// assert_eq!(detect(None, line), Some(Format::JsonLines));
/// // Of an empty file the name tells.
/// assert_eq!(detect(Some(Path::new("history.edn")), b""), Some(Format::JepsenEdn));
/// assert_eq!(detect(None, b""), None);
/// ```
pub fn detect(path: Option<&Path>, head: &[u8]) -> Option<Format> {
    by_content(&String::from_utf8_lossy(head)).or_else(|| {
        match path?.extension().and_then(OsStr::to_str)?.to_ascii_lowercase().as_str() {
            "edn" => Some(Format::JepsenEdn),
            "json" => Some(Format::JepsenJson),
            "jsonl" => Some(Format::JsonLines),
            "hist" => Some(Format::Limo),
            _ => None,
        }
    })
}

fn by_content(head: &str) -> Option<Format> {
    for line in head.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if line.starts_with(limo::OBJECT) {
            return Some(Format::Limo);
        }
        if polylin::is_object(line) {
            return Some(Format::PolyLin);
        }
        if line.starts_with(';') || line.starts_with("# ") || line == "#" {
            continue;
        }
        if line.contains(jepsen::LOG_PREFIX) || jepsen::begins_with_process(line.as_bytes()) {
            return Some(Format::JepsenLog);
        }
        break;
    }
    let (mut inner, mut is_map) = (head.trim_start(), false);
    loop {
        inner = match inner.strip_prefix(['[', '(', '{']) {
            Some(rest) => {
                is_map = true;
                rest.trim_start()
            }
            // A comment of EDN.
            None if inner.starts_with(';') => inner.split_once('\n').map_or("", |(_, rest)| rest.trim_start()),
            None => break,
        };
    }
    if is_map && inner.starts_with('"') {
        let line = inner.lines().next().unwrap_or_default();
        // A call of ours has a session, and an event of Jepsen's has a process.
        return match (line.contains("\"session\""), inner.contains("\"process\"")) {
            (true, false) => Some(Format::JsonLines),
            (false, true) => Some(Format::JepsenJson),
            _ => None,
        };
    }
    ((is_map && inner.starts_with(':')) || inner.starts_with("#jepsen")).then_some(Format::JepsenEdn)
}

/// The content of a file: the history, and calls that are in doubt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed<O, R> {
    /// The history. Calls that are in doubt did not happen.
    pub history: History<O, R>,
    /// Calls of which the file says less than the history.
    pub doubts: Vec<Doubt<R>>,
}

/// A call that failed, where the file does not say how: the service took it and refused it, as a comparison that did not
/// match, or it did not happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubt<R> {
    /// The place of the call in the history.
    pub call: usize,
    /// The line at which the call ends, counted from 1.
    pub line: usize,
    /// What it was answered if it was taken.
    pub refusal: R,
}

type ParsedBy<S> = Parsed<<S as Specification>::Operation, <S as Specification>::Response>;

impl<O, R> From<History<O, R>> for Parsed<O, R> {
    fn from(history: History<O, R>) -> Self {
        Self { history, doubts: Vec::new() }
    }
}

/// Reads the history of a specification from a file of a format. What is in [doubt](Doubt) did not happen.
///
/// # Errors
/// [`HistoryError`] names the line and the column, and what to do.
pub fn read<S>(format: Format, from: impl BufRead) -> Result<History<S::Operation, S::Response>, HistoryError>
where
    S: Vocabulary,
    S::Operation: DeserializeOwned,
    S::Response: DeserializeOwned,
{
    parse::<S>(format, from).map(|parsed| parsed.history)
}

/// Reads the history of a specification from a file of a format, and what the file leaves in doubt.
///
/// ```
/// use simutant_oracle::formats::{self, Format, Value};
/// use simutant_oracle::specifications::{Register, register::Response};
///
/// let text = b"INFO  jepsen.util - 0\t:invoke\t:cas\t[1 2]
/// INFO  jepsen.util - 0\t:fail\t:cas\t[1 2]
/// ";
/// let parsed = formats::parse::<Register<Value>>(Format::JepsenLog, &text[..])?;
/// // It did not match, or it did not happen: the file does not say.
/// assert_eq!(parsed.doubts[0].refusal, Response::Compared(false));
/// assert_eq!((parsed.history.calls()[0].end.response(), parsed.doubts[0].line), (None, 2));
/// # Ok::<(), formats::HistoryError>(())
/// ```
///
/// # Errors
/// [`HistoryError`] names the line and the column, and what to do.
pub fn parse<S>(format: Format, from: impl BufRead) -> Result<Parsed<S::Operation, S::Response>, HistoryError>
where
    S: Vocabulary,
    S::Operation: DeserializeOwned,
    S::Response: DeserializeOwned,
{
    let mut pairing = Pairing::<S>::new();
    match format {
        Format::JsonLines => return json_lines::read(from).map(Parsed::from),
        Format::JepsenEdn => jepsen::read_maps(from, Grammar::Edn, &mut |event| pairing.take(event))?,
        Format::JepsenJson => jepsen::read_maps(from, Grammar::Json, &mut |event| pairing.take(event))?,
        Format::JepsenLog => jepsen::read_log(from, &mut |event| pairing.take(event))?,
        Format::Limo => limo::read::<S>(from, &mut |event| pairing.take(event))?,
        Format::PolyLin => polylin::read(from, &mut pairing)?,
    }
    pairing.finish()
}
