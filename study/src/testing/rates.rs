//! How often test cases fail.

use serde::Serialize;
use simutant_analysis::statistics::{Interval, wilson};
use simutant_harness::{CaseResult, TestReport};
use simutant_outcomes::{Inconclusive, Verdict};

/// The level of intervals of how likely a test case fails.
const LEVEL: f64 = 0.95;

/// How often a test case failed.
#[derive(Debug, Serialize)]
pub struct CaseRate<'a> {
    /// Its name.
    pub name: &'a str,
    /// In how many repetitions it failed.
    pub failed: usize,
    /// How many there were that were not inconclusive.
    pub of: usize,
    /// In how many repetitions nothing was found out.
    #[serde(skip_serializing_if = "is_zero")]
    pub inconclusive: usize,
    /// What the probability of failing lies in, at the level of 95 % (Wilson); `None` if nothing was found out.
    pub interval: Option<Interval>,
    /// The results, one at least.
    #[serde(skip)]
    pub results: &'a [CaseResult],
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl<'a> CaseRate<'a> {
    /// Returns how often each test case of a report failed, in the order of the suite.
    pub fn of_report(report: &'a TestReport) -> Vec<Self> {
        let rate = |results: &'a [CaseResult]| {
            let count = |is: fn(&Verdict) -> bool| results.iter().filter(|result| is(&result.verdict)).count();
            let (failed, passed) = (count(Verdict::kills), count(Verdict::passes));
            let (of, name) = (failed + passed, &*results[0].name);
            Self { name, failed, of, inconclusive: results.len() - of, interval: wilson(failed, of, LEVEL), results }
        };
        report.results.chunk_by(|one, other| one.name == other.name).map(rate).collect()
    }

    /// Returns whether it passed each time.
    pub fn passes(&self) -> bool {
        self.failed == 0 && self.inconclusive == 0
    }

    /// Returns the results that failed.
    pub fn failures(&self) -> impl Iterator<Item = &'a CaseResult> {
        self.results.iter().filter(|result| result.verdict.kills())
    }

    /// Returns why nothing was found out in some repetition.
    pub fn doubt(&self) -> Option<&'a str> {
        self.results.iter().find_map(|result| match &result.verdict {
            Verdict::Inconclusive(Inconclusive { reason }) => Some(reason.as_str()),
            Verdict::Pass | Verdict::Fail(_) => None,
        })
    }

    /// Returns what was wrong, each with the number of repetitions in which it was, the first ones first.
    pub fn reasons(&self) -> Vec<(String, usize)> {
        let mut reasons: Vec<(String, usize)> = Vec::new();
        for reason in self.failures().filter_map(|result| result.verdict.finding()).map(ToString::to_string) {
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, count)) => *count += 1,
                None => reasons.push((reason, 1)),
            }
        }
        reasons
    }
}

impl std::fmt::Display for CaseRate<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { failed, of, interval, inconclusive, .. } = self;
        write!(formatter, "failed {failed} of {of} times")?;
        if let Some(Interval { lower, upper, .. }) = interval {
            let [lower, upper] = [lower, upper].map(|end| 100.0 * end);
            write!(formatter, " (95 % interval {lower:.1} % to {upper:.1} %)")?;
        }
        if *inconclusive > 0 { write!(formatter, ", {inconclusive} inconclusive") } else { Ok(()) }
    }
}
