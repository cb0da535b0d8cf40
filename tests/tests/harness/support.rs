//! What the tests of this folder share.

use std::path::{Path, PathBuf};
use std::time::Duration;

use simutant_gbn::testbed::TESTBEDS;
use simutant_harness::{CaseResult, HarnessError, Implementation, RunOptions, TestReport, run_suite};
use simutant_outcomes::{Suite, SuiteCase};

/// An input: bytes, drop, duplicate, seed.
pub(crate) type Input = (u64, f64, f64, u64);

/// An input that asks nothing of a program.
pub(crate) const GENTLE: Input = (1, 0.0, 0.0, 1);

/// Returns the inputs as a suite; their names are their places.
pub(crate) fn suite(inputs: &[Input]) -> Suite {
    let case = |(index, &(bytes, drop, duplicate, seed)): (usize, &Input)| {
        SuiteCase::new(
            format!("{index}"),
            serde_json::json!({ "bytes": bytes, "drop": drop, "duplicate": duplicate, "seed": seed }),
        )
    };
    Suite::of_cases("gbn", "by hand", 0, inputs.iter().enumerate().map(case))
}

/// Returns options for a machine that may be busy: four jobs, a minute for each test case.
pub(crate) fn options() -> RunOptions {
    RunOptions {
        jobs: 4.try_into().expect("4 is not 0"),
        timeout: Duration::from_secs(60),
        ..RunOptions::new(Path::new(env!("CARGO_TARGET_TMPDIR")).join("implementations"))
    }
}

/// Returns an implementation of go-back-n.
pub(crate) fn implementation(name: &str) -> Implementation {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../systems/gbn/implementations");
    TESTBEDS.find(name, &[folder]).expect("the implementation is there and good")
}

/// Runs the inputs on an implementation.
pub(crate) fn run(implementation: &Implementation, inputs: &[Input]) -> TestReport {
    run_suite(&suite(inputs), implementation, &options(), &mut |_| {}).expect("the suite runs")
}

/// Returns an implementation whose two sides are shell scripts; `receiver` and `sender` may have further fields.
pub(crate) fn scripts(receiver: &str, sender: &str) -> Implementation {
    let text = format!(
        "name = \"scripts\"\nsystem = \"gbn\"\ndescription = \"Two shell scripts\"\n\
         [[side]]\nname = \"receiver\"\n{receiver}\n[[side]]\nname = \"sender\"\n{sender}\n"
    );
    TESTBEDS.parse(&text, Path::new("scripts.toml"), Path::new("/")).expect("the implementation is good")
}

/// Runs one gentle input on an implementation, with a time limit.
pub(crate) fn run_one(implementation: &Implementation, timeout: Duration) -> Result<CaseResult, HarnessError> {
    let options = RunOptions { timeout, ..options() };
    let report = run_suite(&suite(&[GENTLE]), implementation, &options, &mut |_| {})?;
    Ok(report.results.into_iter().next().expect("one test case gives one result"))
}
