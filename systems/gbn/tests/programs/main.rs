//! Programs of go-back-n, over real sockets.

mod correct;
mod faults;

use std::path::Path;
use std::time::Duration;

use serde_json::json;
use simutant_gbn::testbed::TESTBEDS;
use simutant_harness::{Implementation, RunOptions, TestReport, run_suite};
use simutant_outcomes::{Suite, SuiteCase};

/// An input: bytes, drop, duplicate, seed.
type Input = (u64, f64, f64, u64);

/// An input that asks nothing of a program.
const GENTLE: Input = (1, 0.0, 0.0, 1);

/// Returns the inputs as a suite; their names are their places.
fn suite(inputs: &[Input]) -> Suite {
    let case = |(index, &(bytes, drop, duplicate, seed)): (usize, &Input)| {
        let case = json!({ "bytes": bytes, "drop": drop, "duplicate": duplicate, "seed": seed });
        SuiteCase::new(index.to_string(), case)
    };
    Suite::of_cases("gbn", "by hand", 0, inputs.iter().enumerate().map(case))
}

/// Returns options for a machine that may be busy: four jobs, a minute for each test case.
fn options() -> RunOptions {
    RunOptions {
        jobs: 4.try_into().expect("4 is not 0"),
        timeout: Duration::from_secs(60),
        ..RunOptions::new(Path::new(env!("CARGO_TARGET_TMPDIR")).join("implementations"))
    }
}

/// Returns an implementation of this package.
fn implementation(name: &str) -> Implementation {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("implementations");
    TESTBEDS.find(name, &[folder]).expect("the implementation is there and good")
}

/// Runs the inputs on an implementation.
fn run(implementation: &Implementation, inputs: &[Input]) -> TestReport {
    run_suite(&suite(inputs), implementation, &options(), &mut |_| {}).expect("the suite runs")
}
