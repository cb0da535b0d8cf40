//! Judging files: a history in a file, a specification, and what is asked for of a check.
//!
//! `catalogue`, which the feature of this name brings, does it for ready-made specifications. A program of a user's
//! specification does it with [`serve`]: it has the request as its argument, reads the history, and writes what came of
//! it.

use std::fmt;
use std::io::{self, BufRead, Read, Write};
use std::marker::PhantomData;
use std::path::PathBuf;
use std::time::Duration;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::formats::{self, Doubt, Format, HistoryError, Parsed, Vocabulary, json_lines};
use crate::report::{json, reported_calls};
use crate::smt::{self, Words};
use crate::{
    Answer, Budget, Call, Check, CheckReport, End, Formulas, History, Order, ReportedAnswer, Scope, Specification,
    Strategy, words,
};

/// How much of a file tells its format.
const HEAD: u64 = 16 << 10;

/// How many calls a history has at most whose formulas are written: to find out what orders them takes all triples.
const FORMULA_CALLS_MAX: usize = 200;

/// How many states the calls of a formula reach at most.
const FORMULA_STATES_MAX: usize = 5_000;

/// How many bytes the formulas of a history have at most.
const FORMULA_BYTES_MAX: usize = 64 << 20;

/// The request for the check of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JudgingRequest {
    /// The name of the file, whose extension tells the format where its content does not.
    pub file: Option<PathBuf>,
    /// The format; `None` for the one that the file has by its content or its name.
    #[serde(serialize_with = "format_name", deserialize_with = "format_named")]
    pub format: Option<Format>,
    /// What may be assumed of the order of calls.
    pub order: NamedOrder,
    /// Whether calls with smaller revisions were taken before those with larger ones, too.
    pub revisions: bool,
    /// What has to be explained.
    pub scope: Scope,
    /// How the search goes about it.
    pub strategy: Strategy,
    /// How many steps of the specification the search takes at most.
    pub steps: Option<u64>,
    /// How many bytes the search keeps at most.
    pub bytes: Option<usize>,
    /// How long the check takes at most, with the search for an explanation. Without it no clock is asked, and two checks
    /// of a history report the same.
    pub time: Option<Duration>,
    /// Whether there is a service for each key ([`Keyed`](crate::specifications::Keyed)), and calls have keys. It is for
    /// ready-made specifications; one of a user has its keys in its type.
    pub keyed: bool,
    /// Whether a history in which no call was answered is unobserved, and not possible ([`Check::requires_answers`]).
    pub requires_answers: bool,
    /// Whether the report has all calls ([`CheckReport::history`]).
    pub calls: bool,
    /// Whether the report has what an SMT solver can be asked ([`CheckReport::formulas`]).
    pub formulas: bool,
}

/// An order that has a name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NamedOrder {
    /// [`Order::linearizability`].
    #[default]
    Linearizability,
    /// [`Order::sequential`].
    Sequential,
    /// [`Order::ordered_sequential`].
    OrderedSequential,
}

/// The clock and the stop signal of a caller, for the time while a file is judged: this crate reads no clock.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Returns the time since some instant.
    pub elapsed: &'a dyn Fn() -> Duration,
    /// Returns whether to stop.
    pub is_stopped: &'a dyn Fn() -> bool,
}

/// Why a file was not judged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JudgingError {
    /// Neither the content of the file nor its name tells the format.
    #[error("neither the content nor the name tells the format; say which it has, {}", names())]
    UnknownFormat,
    /// The specification reads JSON Lines alone.
    #[error(
        "the history has the format {format}, and the specification has no vocabulary for it; give JSON Lines, or \
         implement `simutant_oracle::formats::Vocabulary`"
    )]
    OtherFormat {
        /// The format of the file.
        format: Format,
    },
    /// There is no service for each key of a specification without a vocabulary.
    #[error("the specification has no service for each key; judge the histories of two keys apart")]
    NoKeys,
    /// The initial state is not one of the specification's.
    #[error("the initial state is not one of the specification's: {message}; {cure}")]
    Initial {
        /// What is wrong.
        message: String,
        /// What to give.
        cure: String,
    },
    /// The file is not a history of the specification.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// Whether the history is possible depends on how calls failed, which the file does not say.
    #[error(
        "line {line}: this call failed, and the log does not say how. If the service refused it, as a comparison that did \
         not match, the history is impossible{}; if it did not happen, possible. Write `:did-not-match` after the value, \
         or the reason why it did not happen",
        if *others == 0 { "" } else { ", if failed calls before it were refused, too" }
    )]
    InDoubt {
        /// The line at which the first call ends that matters, counted from 1.
        line: usize,
        /// How many other calls are in doubt.
        others: usize,
    },
    /// The file cannot be opened, or its beginning not be read.
    #[error("cannot be read: {0}")]
    Unreadable(#[from] io::Error),
}

/// The answer of a program with a user's specification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgingReply {
    /// What came of the check.
    Report(CheckReport),
    /// Why there was none.
    Unreadable {
        /// That, in words.
        message: String,
    },
}

/// The reader of a specification's histories.
pub struct Reading<S: Specification>(ReadHistory<S>);

type ParsedBy<S> = Parsed<<S as Specification>::Operation, <S as Specification>::Response>;
type ReadHistory<S> = fn(Format, &mut dyn BufRead) -> Result<ParsedBy<S>, JudgingError>;

/// The formats of a specification whose type is known, for generated programs: with [`JsonLinesAlone`] in scope,
/// `Formats::<S>::default().reading()` reads all formats if `S` has a [`Vocabulary`], or else JSON Lines.
#[derive(Debug)]
pub struct Formats<S>(PhantomData<S>);

/// The formats of a specification without a [`Vocabulary`].
pub trait JsonLinesAlone<S: Specification> {
    /// Returns how its histories are read.
    fn reading(&self) -> Reading<S>;
}

impl<S> Default for Formats<S> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<S: Vocabulary> Formats<S>
where
    S::Operation: DeserializeOwned,
    S::Response: DeserializeOwned,
{
    /// Returns how histories are read: from all formats.
    pub fn reading(&self) -> Reading<S> {
        Reading::all_formats()
    }
}

impl<S: Specification> JsonLinesAlone<S> for Formats<S>
where
    S::Operation: DeserializeOwned,
    S::Response: DeserializeOwned,
{
    fn reading(&self) -> Reading<S> {
        Reading::json_lines()
    }
}

impl<S: Specification> Reading<S>
where
    S::Operation: DeserializeOwned,
    S::Response: DeserializeOwned,
{
    /// Reads all formats.
    pub fn all_formats() -> Self
    where
        S: Vocabulary,
    {
        Self(|format, from| Ok(formats::parse::<S>(format, from)?))
    }

    /// Reads JSON Lines alone.
    pub fn json_lines() -> Self {
        Self(|format, from| match format {
            Format::JsonLines => Ok(json_lines::read(from)?.into()),
            format => Err(JudgingError::OtherFormat { format }),
        })
    }
}

impl<S: Specification> fmt::Debug for Reading<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Reading")
    }
}

impl fmt::Debug for Watch<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Watch").field("elapsed", &(self.elapsed)()).finish_non_exhaustive()
    }
}

impl NamedOrder {
    /// Returns the order.
    pub fn order(self) -> Order {
        match self {
            Self::Linearizability => Order::linearizability(),
            Self::Sequential => Order::sequential(),
            Self::OrderedSequential => Order::ordered_sequential(),
        }
    }
}

impl Default for JudgingRequest {
    fn default() -> Self {
        Self {
            file: None,
            format: None,
            order: NamedOrder::default(),
            revisions: false,
            scope: Scope::default(),
            strategy: Strategy::default(),
            steps: None,
            bytes: Budget::default().bytes,
            time: None,
            keyed: false,
            requires_answers: false,
            calls: false,
            formulas: false,
        }
    }
}

impl JudgingRequest {
    /// Reads a history to its end, and judges it.
    ///
    /// ```
    /// use std::time::Duration;
    /// use simutant_oracle::ReportedAnswer;
    /// use simutant_oracle::formats::Value;
    /// use simutant_oracle::judging::{JudgingRequest, NamedOrder, Reading, Watch};
    /// use simutant_oracle::specifications::Register;
    ///
    /// let text = b"{:process 0, :type :invoke, :f :read, :value nil}
    /// {:process 0, :type :ok, :f :read, :value 3}
    /// ";
    /// let watch = Watch { elapsed: &|| Duration::ZERO, is_stopped: &|| false };
    /// let request = JudgingRequest { order: NamedOrder::Sequential, ..JudgingRequest::default() };
    /// let reading = Reading::<Register<Value>>::all_formats();
    /// let report = request.judge(&reading, &Register::default(), &mut &text[..], watch)?;
    /// // Nobody wrote what was read.
    /// assert!(matches!(report.answer, ReportedAnswer::Impossible(_)));
    /// # Ok::<(), simutant_oracle::judging::JudgingError>(())
    /// ```
    ///
    /// # Errors
    /// [`JudgingError`] if it cannot be read as a history of the specification.
    pub fn judge<S>(
        &self,
        reading: &Reading<S>,
        initial: &S,
        from: &mut dyn BufRead,
        watch: Watch<'_>,
    ) -> Result<CheckReport, JudgingError>
    where
        S: Specification,
        S::Operation: Serialize + Clone,
        S::Response: Serialize + Clone,
    {
        let mut head = Vec::new();
        from.take(HEAD).read_to_end(&mut head)?;
        let format = self.format.or_else(|| formats::detect(self.file.as_deref(), &head));
        let format = match format {
            // A file without anything is a history without calls in every format.
            None if head.iter().all(u8::is_ascii_whitespace) => Format::JsonLines,
            format => format.ok_or(JudgingError::UnknownFormat)?,
        };
        let Parsed { history, doubts } = (reading.0)(format, &mut head.chain(from))?;

        let begun = (watch.elapsed)();
        let end = self.time.map(|time| begun.saturating_add(time));
        let stop = || (watch.is_stopped)() || end.is_some_and(|end| (watch.elapsed)() >= end);
        let budget = Budget { steps: self.steps, bytes: self.bytes, stop: Some(&stop) };
        let order = Order { revisions: self.revisions, ..self.order.order() };
        let check = Check {
            order,
            budget,
            strategy: self.strategy,
            scope: self.scope,
            requires_answers: self.requires_answers,
            ..Check::default()
        };
        let mut report = check.report(&history, initial);
        if matches!(report.answer, ReportedAnswer::Possible { .. }) && !doubts.is_empty() {
            // What is impossible without refusals is impossible. What is possible may not be so with them.
            let with_refusals = |count| check.run(&with_refusals(&history, &doubts[..count]), initial).answer;
            match with_refusals(doubts.len()) {
                Answer::Possible { .. } => {}
                Answer::Undecided { limit } => report.answer = ReportedAnswer::Undecided { limit },
                Answer::Impossible { .. } => {
                    let counts: Vec<usize> = (1..doubts.len()).collect();
                    let is_possible = |&count: &usize| !matches!(with_refusals(count), Answer::Impossible { .. });
                    let Doubt { line, .. } = doubts[counts.partition_point(is_possible)];
                    return Err(JudgingError::InDoubt { line, others: doubts.len() - 1 });
                }
            }
        }
        if self.calls {
            report.history = reported_calls(&history);
        }
        if self.formulas {
            report.formulas = Some(formulas(&history, initial, &check));
        }
        Ok(report)
    }
}

/// Returns what a solver can be asked of a history in place of a check.
fn formulas<S>(history: &History<S::Operation, S::Response>, initial: &S, check: &Check<'_>) -> Formulas
where
    S: Specification,
    S::Operation: Serialize,
    S::Response: Serialize,
{
    if history.calls().len() > FORMULA_CALLS_MAX {
        return Formulas::TooLarge(format!("formulas are written for at most {FORMULA_CALLS_MAX} calls"));
    }
    let names = Words::<S> {
        state: |_| None,
        operation: |operation| words(&json(operation)),
        response: |response| words(&json(response)),
    };
    let mut texts = Vec::new();
    let mut bytes = 0;
    for text in smt::formulas_in(names, history, initial, &check.order, check.scope, FORMULA_STATES_MAX) {
        match text {
            Ok(text) => {
                bytes += text.len();
                texts.push(text);
            }
            Err(error) => return Formulas::TooLarge(error.to_string()),
        }
        if bytes > FORMULA_BYTES_MAX {
            return Formulas::TooLarge(format!("the formulas have more than {FORMULA_BYTES_MAX} bytes"));
        }
    }
    Formulas::Texts(texts)
}

/// Judges a history as a request in JSON asks for, and writes a [`JudgingReply`] as JSON: what a program of a
/// specification does.
///
/// # Errors
/// [`io::Error`] if the reply cannot be written.
pub fn serve<S>(
    reading: &Reading<S>,
    initial: &S,
    request: &str,
    from: &mut dyn BufRead,
    to: &mut dyn Write,
    watch: Watch<'_>,
) -> io::Result<()>
where
    S: Specification,
    S::Operation: Serialize + Clone,
    S::Response: Serialize + Clone,
{
    let reply = match serde_json::from_str::<JudgingRequest>(request) {
        Ok(JudgingRequest { keyed: true, .. }) => {
            JudgingReply::Unreadable { message: JudgingError::NoKeys.to_string() }
        }
        Ok(request) => match request.judge(reading, initial, from, watch) {
            Ok(report) => JudgingReply::Report(report),
            Err(error) => JudgingReply::Unreadable { message: error.to_string() },
        },
        Err(error) => JudgingReply::Unreadable { message: format!("the request is none: {error}") },
    };
    // A line of its own, whatever the specification has printed.
    writeln!(to)?;
    serde_json::to_writer(&mut *to, &reply)?;
    writeln!(to)?;
    to.flush()
}

/// Returns the history in which calls that are in doubt were refused.
fn with_refusals<O: Clone, R: Clone>(history: &History<O, R>, doubts: &[Doubt<R>]) -> History<O, R> {
    let mut history = history.clone();
    for Doubt { call, refusal, .. } in doubts {
        if let Some(Call { end, .. }) = history.call_mut(*call)
            && let Some(at) = end.at()
        {
            *end = End::Returned { at, response: refusal.clone() };
        }
    }
    history
}

fn names() -> String {
    Format::ALL.map(Format::name).join(", ")
}

#[expect(clippy::ref_option, reason = "serde gives a reference")]
fn format_name<S: Serializer>(format: &Option<Format>, serializer: S) -> Result<S::Ok, S::Error> {
    format.map(Format::name).serialize(serializer)
}

fn format_named<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Format>, D::Error> {
    let Some(name) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
    let format = Format::ALL.into_iter().find(|format| format.name() == name);
    format.map(Some).ok_or_else(|| D::Error::custom(format!("there is no format `{name}`; there are: {}", names())))
}
