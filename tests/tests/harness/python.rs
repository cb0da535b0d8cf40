//! An implementation of a user's own: the Python programs in `examples/gbn-python`.

use std::path::Path;
use std::process::{Command, Stdio};

use simutant_harness::Implementation;

use crate::support::run;

#[test]
fn the_python_example_passes() {
    let python = Command::new("python3").arg("--version").stdout(Stdio::null()).status();
    if !python.is_ok_and(|status| status.success()) {
        return; // The programs need Python; their test does, too.
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/gbn-python/implementation.toml");
    let implementation = Implementation::read(&file).expect("the example is good");
    let report =
        run(&implementation, &[(100_000, 0.2, 0.2, 1), (1, 0.1, 0.1, 2), (1_399, 0.2, 0.0, 3), (2_798, 0.0, 0.2, 4)]);
    let failures: Vec<_> = report.failures().collect();
    assert!(failures.is_empty(), "{failures:#?}");
}
