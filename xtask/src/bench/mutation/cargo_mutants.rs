//! cargo-mutants on the same package, where it is installed.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use super::{Places, timed};

/// What cargo-mutants came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct CargoMutants {
    /// Mutants that it made and that compiled.
    pub(super) mutants: u64,
    pub(super) caught: u64,
    pub(super) missed: u64,
    pub(super) timeout: u64,
    /// Pairs of a mutant and a test per second of processor time.
    pub(super) per_s: f64,
    /// The same per second on the wall: it waits for mutants that do not end.
    pub(super) per_wall_s: f64,
    /// How many times more pairs the campaign runs in a second of processor time.
    pub(super) times_slower: f64,
}

/// What one run of it left.
#[derive(Debug, Clone)]
pub(super) struct Found {
    counts: Counts,
    processor_s: f64,
    wall_s: f64,
}

/// The counts of its `outcomes.json`.
#[derive(Debug, Clone, Deserialize)]
struct Counts {
    caught: u64,
    missed: u64,
    timeout: u64,
}

impl CargoMutants {
    pub(super) fn new(found: Found, tests: usize, full_per_s: f64) -> Self {
        let Found { counts: Counts { caught, missed, timeout }, processor_s, wall_s } = found;
        let mutants = caught + missed + timeout;
        let pairs = mutants as f64 * tests as f64;
        let per_s = pairs / processor_s;
        let times_slower = full_per_s / per_s;
        Self { mutants, caught, missed, timeout, per_s, per_wall_s: pairs / wall_s, times_slower }
    }
}

/// Runs it on the package, a mutant at a time; `None` if it is not installed.
pub(super) fn run(places: &Places, sample: &Path) -> anyhow::Result<Option<Found>> {
    let installed = Command::new("cargo").args(["mutants", "--version"]).output().context("cannot start cargo")?;
    if !installed.status.success() {
        return Ok(None);
    }
    eprintln!("xtask: running cargo-mutants, which takes minutes");
    let out = places.out.path().join("cargo-mutants");
    std::fs::create_dir_all(&out)?;
    let mut command = Command::new("cargo");
    command.args(["mutants", "--package", "mutation-sample", "--no-default-features", "--jobs", "1"]);
    // A mutant that does not end is waited for as short as it lets us.
    command.args(["--minimum-test-timeout", "1", "--colors", "never", "--output"]).arg(&out);
    let (output, spent) = timed(|| {
        let command = command.current_dir(sample).env_remove("CARGO_TARGET_DIR").stdin(Stdio::null());
        command.output().context("cannot start cargo-mutants")
    })?;
    // Mutants that were missed, and timeouts, are no failure here.
    if !matches!(output.status.code(), Some(0 | 2 | 3)) {
        let [stdout, stderr] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
        bail!("cargo-mutants ended with {}: {stdout}{stderr}", output.status);
    }
    let path = out.join("mutants.out/outcomes.json");
    let text = std::fs::read_to_string(&path).with_context(|| format!("cargo-mutants left no {}", path.display()))?;
    let counts: Counts = serde_json::from_str(&text).context("cargo-mutants has another form of outcomes.json")?;
    Ok(Some(Found { counts, processor_s: spent.children, wall_s: spent.wall }))
}
