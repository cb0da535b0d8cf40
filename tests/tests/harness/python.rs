//! An implementation of a user's own: the Python programs in `examples/gbn-python`.
//!
//! Without Python the test is left out, except where the environment variable `CI` is set: there it fails.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::run;

#[test]
fn the_python_example_passes() {
    let python = Command::new("python3").arg("--version").stdout(Stdio::null()).status();
    if !python.is_ok_and(|status| status.success()) {
        assert!(std::env::var_os("CI").is_none(), "python3 is missing; install it, so that the example is tested");
        report_skip();
        return;
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/gbn-python/implementation.toml");
    let implementation = simutant_gbn::testbed::TESTBEDS.read(&file).expect("the example is good");
    let report =
        run(&implementation, &[(100_000, 0.2, 0.2, 1), (1, 0.1, 0.1, 2), (1_399, 0.2, 0.0, 3), (2_798, 0.0, 0.2, 4)]);
    let failures: Vec<_> = report.failures().collect();
    assert!(failures.is_empty(), "{failures:#?}");
}

#[expect(clippy::print_stderr, reason = "who runs the tests must see that one was left out")]
fn report_skip() {
    eprintln!("the Python example was not tested: there is no python3");
}
