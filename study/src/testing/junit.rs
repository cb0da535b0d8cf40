//! The results of a suite as JUnit XML has them.

use simutant_exports::junit::{JunitEnd, JunitReport, JunitTest, TestSuite};
use simutant_harness::{CaseResult, EndedProcess, TestReport};
use simutant_outcomes::{Inconclusive, Verdict};

use super::CaseRate;

/// How many remarks are listed: each stands in the line of its test case, too.
const REMARKS_MAX: usize = 10;

/// Returns a report as JUnit XML has it: a suite with a test for each test case, which ran `repetitions` times.
pub fn junit(report: &TestReport, repetitions: u32) -> JunitReport {
    let test = |rate: &CaseRate<'_>| {
        let result = rate.failures().next().unwrap_or(&rate.results[0]);
        let inconclusive = |reason: &str| JunitEnd::Inconclusive(reason.to_owned());
        let (end, output) = match &result.verdict {
            Verdict::Pass => (rate.doubt().map_or(JunitEnd::Passed, inconclusive), String::new()),
            Verdict::Fail(finding) => {
                let message = match repetitions {
                    1 => finding.to_string(),
                    _ => format!("{rate}, first in repetition {}: {finding}", result.repetition),
                };
                let (kind, text) = (finding.kind.clone(), format!("input: {}", result.case));
                (JunitEnd::Failed { kind, message, text }, printed(result))
            }
            Verdict::Inconclusive(Inconclusive { reason }) => (inconclusive(reason), printed(result)),
        };
        JunitTest {
            name: result.name.clone(),
            class: format!("{}.{}", report.system, report.implementation),
            duration_ms: Some(rate.results.iter().map(|result| result.duration_ms).sum()),
            end,
            output: output + &listed_remarks(rate.results),
        }
    };
    let mut properties = vec![("seed".to_owned(), report.seed.to_string())];
    if repetitions > 1 {
        properties.push(("repetitions".to_owned(), repetitions.to_string()));
    }
    let name = format!("{} on {}", report.system, report.implementation);
    let suite = TestSuite { name, properties, cases: CaseRate::of_report(report).iter().map(test).collect() };
    JunitReport { name: report.system.clone(), suites: vec![suite] }
}

/// Returns all lines that a report has of what programs printed.
fn printed(result: &CaseResult) -> String {
    result.processes.iter().flat_map(EndedProcess::printed).flatten().map(|line| line + "\n").collect()
}

/// Names what is remarked of results, such as faults that were not injected: a line for each of the first ten, and one
/// for the others.
pub fn listed_remarks(results: &[CaseResult]) -> String {
    let lines =
        || results.iter().flat_map(|result| result.remarks().map(|remark| format!("{}: {remark}\n", result.name)));
    let mut text: String = lines().take(REMARKS_MAX).collect();
    let more = lines().count().saturating_sub(REMARKS_MAX);
    if more > 0 {
        text.push_str(&format!("and {more} more notes\n"));
    }
    text
}
