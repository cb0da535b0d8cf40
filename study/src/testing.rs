//! A suite on a real implementation.

use simutant_harness::{CaseResult, Implementation, RunOptions, TestReport, TrialLogError, run_some};
use simutant_outcomes::Suite;

use crate::StudyError;

/// Runs test cases of a suite in repetitions of them as [`run_some`] does, and keeps each result with `keep`. If that fails once,
/// the runs go on, nothing is kept any more, and the error is returned in the end.
pub(crate) fn run_kept(
    suite: &Suite,
    (implementation, options): (&Implementation, &RunOptions),
    runs: &[(usize, u32)],
    tell: &mut dyn FnMut(&CaseResult),
    keep: &mut dyn FnMut(&CaseResult) -> Result<(), TrialLogError>,
) -> Result<TestReport, StudyError> {
    let mut kept = Ok(());
    let report = run_some(suite, implementation, options, runs, &mut |result| {
        tell(result);
        if kept.is_ok() {
            kept = keep(result);
        }
    })?;
    kept?;
    Ok(report)
}
