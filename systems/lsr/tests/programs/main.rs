//! Programs of link-state routing: over real sockets, and ours in virtual time.

mod mistakes;
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "real programs take real time")]
mod ospf;
mod routers;

use std::path::Path;
use std::time::Duration;

use simutant_harness::{Implementation, RunOptions};
use simutant_lsr::testbed::TESTBEDS;

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
