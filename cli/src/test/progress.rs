//! Lines about a suite that is run.

use std::num::NonZeroU32;

use simutant_analysis::{duration, percent, plural};
use simutant_harness::CaseResult;
use simutant_outcomes::Verdict;
use simutant_study::{ExpectedFindings, TestEvent, TestPlan, TestProgress};

use crate::experiment::repeated;
use crate::output;
use crate::progress::ProgressPhase;

/// Shows the build and each result; what is not done is gone when it is dropped.
pub(super) struct TestLines<'a> {
    implementation: &'a str,
    cases: usize,
    repetitions: NonZeroU32,
    phase: Option<ProgressPhase>,
    /// How many results were there before.
    before: usize,
}

impl<'a> TestLines<'a> {
    pub(super) fn new(TestPlan { suite, implementation, options, .. }: &'a TestPlan) -> Self {
        let (cases, repetitions) = (suite.cases.len(), options.repetitions);
        Self { implementation: &implementation.name, cases, repetitions, phase: None, before: 0 }
    }

    pub(super) fn show(&mut self, event: TestEvent<'_>) {
        match (event, &self.phase) {
            (TestEvent::Building, _) => self.phase = Some(ProgressPhase::open("building")),
            (TestEvent::Started { before, total }, _) => {
                self.before = before;
                self.phase = Some(ProgressPhase::counted("testing", total as u64));
            }
            (TestEvent::Result(result, TestProgress { done, failed, expected }), Some(phase)) => {
                phase.at(done as u64, format!("{failed} failed"));
                phase.line(&format!("{}{}", line(result, self.repetitions.get()), so_far(expected)));
            }
            (TestEvent::Ended(progress), _) => self.end(progress),
            (TestEvent::TestTime(fitted), _) => {
                output::tell(&format!("a test case of {} takes {fitted}", self.implementation));
            }
            _ => {}
        }
    }

    fn end(&mut self, TestProgress { done, expected, .. }: TestProgress) {
        let each = repeated(self.repetitions);
        let kept = match self.before {
            0 => String::new(),
            before => format!(", {before} of them before (--fresh runs them again)"),
        };
        let cases = plural(self.cases, "test case");
        let cases = match done < self.cases * self.repetitions.get() as usize {
            true => format!("{done} of {cases}"),
            false => cases,
        };
        if let Some(phase) = self.phase.take() {
            phase.end(&format!("{cases}{each} on {}{kept}{}", self.implementation, left_out(expected)));
        }
    }
}

/// Says how far the test is, as the end of a line.
fn so_far(expected: Option<ExpectedFindings>) -> String {
    match expected {
        Some(ExpectedFindings { found, found_by_all, seconds_left }) if found_by_all > 0.0 && seconds_left > 0.0 => {
            let share = 100.0 * found / found_by_all;
            format!("; {share:.0} % of what is expected, {} to go", duration(seconds_left))
        }
        _ => String::new(),
    }
}

/// Says what is not run.
fn left_out(expected: Option<ExpectedFindings>) -> String {
    match expected {
        Some(ExpectedFindings { found, found_by_all, seconds_left }) if seconds_left > 0.0 => format!(
            "; the others would take {} and are expected to add {:.0} points to {}",
            duration(seconds_left),
            100.0 * (found_by_all - found),
            percent(found),
        ),
        _ => String::new(),
    }
}

fn line(result: &CaseResult, repetitions: u32) -> String {
    let CaseResult { name, repetition, duration_ms, .. } = result;
    let which = if repetitions == 1 { String::new() } else { format!(", repetition {repetition} of {repetitions}") };
    let mut line = match &result.verdict {
        Verdict::Pass if repetitions == 1 => format!("{:>12} {name} in {duration_ms} ms", "passed"),
        Verdict::Pass => format!("{:>12} {name}{which}, in {duration_ms} ms", "passed"),
        Verdict::Fail(finding) => format!("{:>12} {name}{which}: {finding}", "FAILED"),
        Verdict::Inconclusive(inconclusive) => format!("{:>12} {name}{which}: {inconclusive}", "inconclusive"),
    };
    result.remarks().for_each(|remark| line.push_str(&format!("; {remark}")));
    line
}
