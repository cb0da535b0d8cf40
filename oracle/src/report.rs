//! Reports of checks: what came of a check as plain data, which needs no specification to be read.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use simutant_outcomes::{Finding, Inconclusive, Verdict};

use crate::{
    Answer, Call, Check, End, Explanation, Explored, History, Limit, Revision, RevisionConflict, Session,
    Specification, Time, What,
};

mod words;

pub use words::words;

/// The kind of the finding of a history that a specification cannot explain.
pub const IMPOSSIBLE_HISTORY: &str = "impossible-history";

/// The result of a check, as plain data. Calls are named by their places in the history, from 0 on, in the order of
/// their invocations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckReport {
    /// How many calls the history has.
    pub calls: usize,
    /// How many of them were answered: of others nothing was observed.
    pub answered: usize,
    /// How many sessions made them.
    pub sessions: usize,
    /// When the first of them began.
    #[serde(default)]
    pub begun_ns: Time,
    /// The answer.
    pub answer: ReportedAnswer,
    /// What the check has done, without the search for an explanation.
    pub explored: Explored,
    /// All calls, for a picture; empty unless they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<ReportedCall>,
    /// What an SMT solver can be asked in place of the check; `None` unless it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formulas: Option<Formulas>,
}

/// Formulas that an SMT solver can decide in place of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Formulas {
    /// The history is possible if and only if all of these texts are satisfiable ([`smt::formulas`](crate::smt::formulas)).
    Texts(Vec<String>),
    /// The history is too large for a solver: why, in words.
    TooLarge(String),
}

/// The answer of a check: whether a specification can have done what clients saw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportedAnswer {
    /// It can.
    Possible {
        /// The calls in an order that explains all of it, without those of unknown end that had no effect. Where calls are
        /// explained by themselves, it is empty.
        order: Vec<usize>,
    },
    /// It cannot, and this is why.
    Impossible(Box<Impossible>),
    /// It can, as any service can: no call was answered, and the check [requires
    /// answers](Check::requires_answers).
    Unobserved,
    /// The budget ran out before it was known.
    Undecided {
        /// What ran out.
        limit: Limit,
    },
}

/// Why a specification cannot have done what clients saw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Impossible {
    /// The call whose answer fits nothing.
    pub stuck: ReportedCall,
    /// What the specification would have allowed instead; empty if the budget ended the explanation, or if it is the
    /// order of calls alone that forbids what was observed.
    pub allowed: Vec<AllowedAnswer>,
    /// The longest part that the search explained, in its order.
    pub longest: Vec<usize>,
    /// The explanations that `stuck` cannot be added to, each in its order; not all of them if there are many.
    pub maximal: Vec<Vec<usize>>,
    /// How many such explanations there are.
    pub maximal_count: u64,
    /// Calls that are impossible whatever else happened; empty if the budget ended the explanation.
    pub core: Vec<CoreCall>,
    /// Whether it would be possible without the order of the revisions, and which of them contradict the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revisions: Option<ReportedConflict>,
}

/// Revisions without which a history would be possible.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportedConflict {
    /// Two calls whose revisions alone contradict the rest: the first one was taken before the second one, as the order
    /// or the answers say, and has the larger revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<[ReportedCall; 2]>,
}

/// A call with its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportedCall {
    /// Its place in the history.
    pub call: usize,
    /// The session that made it.
    pub session: Session,
    /// What was asked for, in the form of JSON Lines.
    pub operation: Json,
    /// The answer; null if there was none.
    pub response: Json,
    /// When the session began.
    pub invoked_ns: Time,
    /// The place of that among all invocations and ends, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invoked_event: Option<u64>,
    /// When the session had the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_ns: Option<Time>,
    /// The place of that among all invocations and ends, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_event: Option<u64>,
    /// Where the service says that it took the operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<Revision>,
    /// Whether it is known that the operation has no effect.
    #[serde(default, skip_serializing_if = "is_false")]
    pub did_not_happen: bool,
}

/// An answer that the specification would have given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllowedAnswer {
    /// The answer, in the form of JSON Lines.
    pub response: Json,
    /// Why it and not what was observed, in the words of the specification.
    pub reason: Option<String>,
    /// The first of the explanations that leads to it, as a place in [`Impossible::maximal`].
    #[serde(default)]
    pub after: usize,
}

/// A call of the core, and what has to be known of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoreCall {
    /// The call.
    #[serde(flatten)]
    pub call: ReportedCall,
    /// What has to be known of it.
    pub known: What,
}

impl Check<'_> {
    /// Returns what came of a check, with the explanation of what is impossible.
    ///
    /// The search for the explanation may take the steps and the memory of the budget again. It asks the same
    /// [`Budget::stop`](crate::Budget::stop), so a limit of time covers check and explanation together.
    pub fn report<S>(&self, history: &History<S::Operation, S::Response>, initial: &S) -> CheckReport
    where
        S: Specification,
        S::Operation: Serialize + Clone,
        S::Response: Serialize + Clone,
    {
        let checked = self.run(history, initial);
        let answered = history.calls().iter().filter(|call| call.end.response().is_some()).count();
        let answer = match checked.answer {
            Answer::Possible { .. } if answered == 0 && self.requires_answers => ReportedAnswer::Unobserved,
            Answer::Possible { order } => ReportedAnswer::Possible { order },
            Answer::Undecided { limit } => ReportedAnswer::Undecided { limit },
            Answer::Impossible { longest, stuck } => {
                let explanation = self.explain(history, initial);
                ReportedAnswer::Impossible(Box::new(impossible(history, longest, stuck, explanation)))
            }
        };
        let sessions: BTreeSet<Session> = history.calls().iter().map(|call| call.session).collect();
        let (calls, sessions, explored) = (history.calls().len(), sessions.len(), checked.explored);
        let begun_ns = history.calls().iter().map(|call| call.invoked.time).min().unwrap_or(Time::ZERO);
        CheckReport { calls, answered, sessions, begun_ns, answer, explored, history: Vec::new(), formulas: None }
    }

    /// Returns the verdict on a history, for testbeds and other judges: the finding of a failure has the whole
    /// [`Impossible`] as its detail.
    ///
    /// ```
    /// use simutant_oracle::specifications::{Register, register::{Operation, Response}};
    /// use simutant_oracle::{Check, Recorder, Session, Time};
    ///
    /// let recorder = Recorder::new();
    /// let read = recorder.invoke(Session(1), Operation::Read, Time::from_nanos(1));
    /// recorder.returned(read, Response::Value(Some(7)), Time::from_nanos(2))?;
    ///
    /// let verdict = Check::default().verdict(&recorder.history(), &Register::default());
    /// let summary = "no order of the calls explains that session 1 asked for `read` and was answered `value 7`: \
    ///                the register has no value, so the answer is `no value`";
    /// assert_eq!(verdict.finding().expect("nobody wrote it").summary, summary);
    /// # Ok::<(), simutant_oracle::Misuse>(())
    /// ```
    pub fn verdict<S>(&self, history: &History<S::Operation, S::Response>, initial: &S) -> Verdict
    where
        S: Specification,
        S::Operation: Serialize + Clone,
        S::Response: Serialize + Clone,
    {
        self.report(history, initial).into_verdict()
    }
}

fn impossible<S>(
    history: &History<S::Operation, S::Response>,
    longest: Vec<usize>,
    stuck: usize,
    explanation: Option<Explanation<S>>,
) -> Impossible
where
    S: Specification,
    S::Operation: Serialize + Clone,
    S::Response: Serialize + Clone,
{
    let reported = |place: usize| ReportedCall::new(place, &history.calls()[place]);
    let Some(Explanation { stuck, maximal, maximal_count, allowed, core, revisions }) = explanation else {
        return Impossible {
            stuck: reported(stuck),
            allowed: Vec::new(),
            maximal: vec![longest.clone()],
            longest,
            maximal_count: 1,
            core: Vec::new(),
            revisions: None,
        };
    };
    let allowed = allowed.into_iter().map(|allowed| AllowedAnswer {
        response: json(&allowed.response),
        reason: allowed.reason.filter(|reason| !reason.is_empty()),
        after: allowed.after,
    });
    let (mut maximal, mut maximal_count): (Vec<Vec<usize>>, u64) =
        (maximal.into_iter().map(|maximal| maximal.order).collect(), maximal_count);
    if maximal.is_empty() && !longest.is_empty() {
        (maximal, maximal_count) = (vec![longest.clone()], 1);
    }
    let core = core.into_iter().map(|known| CoreCall { call: reported(known.call), known: known.what });
    Impossible {
        stuck: reported(stuck),
        allowed: allowed.collect(),
        longest,
        maximal,
        maximal_count,
        core: core.collect(),
        revisions: revisions.map(|RevisionConflict { calls }| ReportedConflict {
            calls: calls.map(|(one, other)| [one, other].map(reported)),
        }),
    }
}

/// Returns all calls of a history.
pub(crate) fn reported_calls<O: Serialize, R: Serialize>(history: &History<O, R>) -> Vec<ReportedCall> {
    history.calls().iter().enumerate().map(|(place, call)| ReportedCall::new(place, call)).collect()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// Returns a value as JSON. What JSON cannot have, as a map whose keys are no texts, is said to be so: it is shown, and
/// nothing is judged by it.
pub(crate) fn json(value: &impl Serialize) -> Json {
    serde_json::to_value(value).unwrap_or_else(|error| Json::String(format!("not shown: {error}")))
}

impl CheckReport {
    /// Returns the verdict on the history.
    pub fn into_verdict(self) -> Verdict {
        match self.answer {
            ReportedAnswer::Possible { .. } => Verdict::Pass,
            ReportedAnswer::Impossible(impossible) => {
                let kind = if impossible.revisions.is_some() { "contradicting-revisions" } else { IMPOSSIBLE_HISTORY };
                Verdict::Fail(Finding::wrong_result(kind, impossible.to_string()).with_detail(impossible))
            }
            ReportedAnswer::Unobserved => {
                let reason = "no call was answered, so nothing was observed".to_owned();
                Verdict::Inconclusive(Inconclusive { reason })
            }
            ReportedAnswer::Undecided { limit } => {
                let reason = format!("{limit} ran out before it was known whether the history is possible");
                Verdict::Inconclusive(Inconclusive { reason })
            }
        }
    }
}

impl ReportedCall {
    fn new<O: Serialize, R: Serialize>(place: usize, call: &Call<O, R>) -> Self {
        let ended = call.end.at();
        Self {
            call: place,
            session: call.session,
            operation: json(&call.operation),
            response: call.end.response().map_or(Json::Null, json),
            invoked_ns: call.invoked.time,
            invoked_event: call.invoked.event,
            ended_ns: ended.map(|ended| ended.time),
            ended_event: ended.and_then(|ended| ended.event),
            revision: call.revision,
            did_not_happen: matches!(call.end, End::DidNotHappen { .. }),
        }
    }

    /// Returns when the call was, in words: from and to a time, counted from `origin`, or, where all times are zero, an
    /// event.
    pub fn period(&self, origin: Time) -> String {
        let since = |time: Time| Time::from_nanos(time.as_nanos().saturating_sub(origin.as_nanos())).to_string();
        let moment = |time: Time, event: Option<u64>| match event {
            Some(event) if time == Time::ZERO => format!("event {event}"),
            _ => since(time),
        };
        let begun = moment(self.invoked_ns, self.invoked_event);
        let is_timed = self.ended_ns.is_some_and(|ended| ended != Time::ZERO);
        let begun = if is_timed { since(self.invoked_ns) } else { begun };
        match self.ended_ns {
            Some(ended) => format!("{begun} to {}", moment(ended, self.ended_event)),
            None => format!("from {begun} on"),
        }
    }
}

/// A sentence without a full stop.
impl fmt::Display for Impossible {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(conflict) = &self.revisions {
            return conflict.fmt(formatter);
        }
        let ReportedCall { session, operation, response, .. } = &self.stuck;
        let (operation, response) = (words(operation), words(response));
        write!(
            formatter,
            "no order of the calls explains that {session} asked for `{operation}` and was answered `{response}`"
        )?;
        match &self.allowed[..] {
            [AllowedAnswer { response, reason: Some(reason), .. }] => {
                write!(formatter, ": {reason}, so the answer is `{}`", words(response))
            }
            [] => Ok(()),
            [first, rest @ ..] => {
                write!(formatter, "; the specification allows `{}`", words(&first.response))?;
                rest.iter().try_for_each(|allowed| write!(formatter, " or `{}`", words(&allowed.response)))
            }
        }
    }
}

/// A sentence without a full stop.
impl fmt::Display for ReportedConflict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the history is possible without its revisions")?;
        let Some([one, other]) = &self.calls else { return Ok(()) };
        let told = |call: &ReportedCall| {
            let revision = call.revision.map_or_else(String::new, |revision| format!(" ({revision})"));
            format!("`{}` of {}{revision}", words(&call.operation), call.session)
        };
        write!(formatter, ": {} was taken before {}", told(one), told(other))
    }
}
