//! The verdict on a run, a trial or a check: whether the specification could have done this.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a run, a trial or a check was judged.
///
/// ```
/// use simutant_outcomes::{Finding, Inconclusive, Verdict};
///
/// let fail = Verdict::Fail(Finding::wrong_result("stale-read", "session 2 read 3 after 4"));
/// let unknown = Verdict::Inconclusive(Inconclusive { reason: "the budget is used up".to_owned() });
/// // What is not known neither passes nor kills.
/// assert_eq!([Verdict::Pass, fail.clone(), unknown.clone()].map(|verdict| verdict.passes()), [true, false, false]);
/// assert_eq!([Verdict::Pass, fail, unknown].map(|verdict| verdict.kills()), [false, true, false]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The specification allows what was observed.
    Pass,
    /// The specification does not allow it.
    Fail(Finding),
    /// Nothing was found out: neither a pass nor a failure, in every count and score.
    Inconclusive(Inconclusive),
}

impl Verdict {
    /// Returns whether this is [`Verdict::Pass`].
    pub fn passes(&self) -> bool {
        matches!(self, Self::Pass)
    }

    /// Returns what is wrong; `None` if nothing is known to be.
    pub fn finding(&self) -> Option<&Finding> {
        match self {
            Self::Fail(finding) => Some(finding),
            Self::Pass | Self::Inconclusive(_) => None,
        }
    }

    /// Returns whether a run with this verdict kills the mutant it ran on.
    pub fn kills(&self) -> bool {
        match self {
            Self::Fail(_) => true,
            Self::Pass | Self::Inconclusive(_) => false,
        }
    }
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Which of the thesis's ends that is.
    pub class: FindingClass,
    /// What kind of finding it is among those of its testbed or oracle: words with hyphens, for example `timed-out`.
    pub kind: String,
    /// What is wrong, a sentence without a full stop.
    pub summary: String,
    /// The same as data, in the form of the testbed or oracle; null if there is no more to say.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub detail: Value,
}

impl Finding {
    /// Returns the finding of a wrong result.
    pub fn wrong_result(kind: impl Into<String>, summary: impl Into<String>) -> Self {
        Self { class: FindingClass::WrongResult, kind: kind.into(), summary: summary.into(), detail: Value::Null }
    }

    /// Returns the finding with `detail`, as its JSON.
    ///
    /// ```
    /// use serde_json::json;
    /// use simutant_outcomes::Finding;
    ///
    /// let finding = Finding::wrong_result("wrong-answer", "the resolver says 127.0.0.2").with_detail([127, 0, 0, 2]);
    /// assert_eq!(
    ///     serde_json::to_value(&finding)?,
    ///     json!({
    ///         "class": "wrong-result",
    ///         "kind": "wrong-answer",
    ///         "summary": "the resolver says 127.0.0.2",
    ///         "detail": [127, 0, 0, 2],
    ///     })
    /// );
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    ///
    /// # Panics
    /// If `detail` is no JSON value, as a map whose keys are no texts.
    #[must_use]
    pub fn with_detail(self, detail: impl Serialize) -> Self {
        Self { detail: serde_json::to_value(detail).expect("details are plain data"), ..self }
    }
}

impl std::fmt::Display for Finding {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.summary)
    }
}

/// The ends of a run that fails, by Rutherford, PhD thesis, section 3.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingClass {
    /// It ended by itself, with a result that is wrong.
    WrongResult,
    /// It did not end within its limits.
    NotTerminated,
    /// It crashed, or ended otherwise than it should.
    Abnormal,
}

/// Why nothing was found out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inconclusive {
    /// Why, a sentence without a full stop.
    pub reason: String,
}

impl std::fmt::Display for Inconclusive {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_failures_kill_and_verdicts_are_read_as_they_are_written() {
        let finding = Finding::wrong_result("stale-read", "x was 1, not 2").with_detail([1, 2]);
        let inconclusive = Inconclusive { reason: "no majority".into() };
        let verdicts = [
            (Verdict::Pass, r#""pass""#, true, false),
            (
                Verdict::Fail(finding),
                r#"{"fail":{"class":"wrong-result","kind":"stale-read","summary":"x was 1, not 2","detail":[1,2]}}"#,
                false,
                true,
            ),
            (Verdict::Inconclusive(inconclusive), r#"{"inconclusive":{"reason":"no majority"}}"#, false, false),
        ];
        for (verdict, json, passes, kills) in verdicts {
            assert_eq!((verdict.passes(), verdict.kills(), verdict.finding().is_some()), (passes, kills, kills));
            assert_eq!(serde_json::to_string(&verdict).expect("plain data"), json);
            assert_eq!(serde_json::from_str::<Verdict>(json).expect("it was written"), verdict);
        }
    }
}
