//! The engines: how their models are built and run.

use std::fmt;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use clap::ValueEnum;
use serde::Serialize;

use super::python::{install_python, python};
use super::{Kind, Outcome, Workload};
use crate::run;

/// A simulator that the workloads have been written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Engine {
    /// This project's.
    Simutant,
    /// Rust, async functions.
    Simulacra,
    /// Rust, nightly's coroutines.
    Desim,
    /// Rust, models with inputs and outputs.
    Nexosim,
    /// Rust, tokio's interface simulated.
    Madsim,
    /// Rust, tokio with a paused clock.
    Turmoil,
    /// Python, generators.
    Simpy,
}

/// How models are compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Profile {
    /// To measure.
    Release,
    /// To see that they do what they should, soon.
    #[cfg_attr(not(test), expect(dead_code, reason = "only tests do not measure"))]
    Debug,
}

/// The package in `bench/`, and where its programs are.
#[derive(Debug)]
pub(super) struct Bench {
    package: PathBuf,
    target: PathBuf,
    profile: Profile,
}

const BARE: &str = "bare";
/// With this a model says that its engine cannot express the workload.
const NOT_EXPRESSIBLE: i32 = 3;

impl Engine {
    pub(super) const ALL: [Self; 7] =
        [Self::Simutant, Self::Simulacra, Self::Desim, Self::Nexosim, Self::Madsim, Self::Turmoil, Self::Simpy];

    fn name(self) -> &'static str {
        match self {
            Self::Simutant => "simutant",
            Self::Simulacra => "simulacra",
            Self::Desim => "desim",
            Self::Nexosim => "nexosim",
            Self::Madsim => "madsim",
            Self::Turmoil => "turmoil",
            Self::Simpy => "simpy",
        }
    }

    /// What its build needs in the environment. Such a build has a folder of its own, so that it invalidates no other.
    fn variables(self) -> &'static [(&'static str, &'static str)] {
        match self {
            // Stable Rust takes nightly's features in the crates of these names: the engine, and its models.
            Self::Desim => &[("RUSTC_BOOTSTRAP", "desim")],
            Self::Madsim => &[("RUSTFLAGS", "--cfg madsim")],
            _ => &[],
        }
    }

    /// By how much fewer units are enough, so that no run takes much longer than a second.
    pub(super) fn slowness(self) -> u64 {
        match self {
            Self::Simutant | Self::Simulacra | Self::Desim => 1,
            Self::Nexosim | Self::Madsim | Self::Turmoil => 5,
            Self::Simpy => 20,
        }
    }

    /// How long a datagram takes on average, at least and at most: 1 ms was asked for.
    fn one_way_ms(self) -> RangeInclusive<f64> {
        match self {
            Self::Simutant | Self::Simulacra | Self::Desim | Self::Nexosim | Self::Simpy => 1.0..=1.0,
            // Sends wait for a millisecond before the latency begins, and that is rounded up.
            Self::Madsim => 2.9..=3.2,
            // Whole ticks of a millisecond, mostly one.
            Self::Turmoil => 0.95..=1.1,
        }
    }

    /// Returns whether a run would take minutes. turmoil keeps a link for each pair of hosts, and looks at all of them
    /// in every tick: 2,000 hosts had not begun to play after a minute.
    pub(super) fn is_hopeless(self, workload: Workload) -> bool {
        self == Self::Turmoil && workload.kind == Kind::Ping && workload.n >= 1_000
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl Bench {
    /// Returns the package of the project in `root`.
    pub(super) fn new(root: &Path, profile: Profile) -> Self {
        Self { package: root.join("bench"), target: target_directory(root), profile }
    }

    /// Builds the bare loops.
    pub(super) fn build_bare(&self) -> anyhow::Result<()> {
        run(&mut self.cargo_build(BARE, &self.target))
    }

    /// Builds an engine's models, and what they need of the registries.
    pub(super) fn build(&self, engine: Engine) -> anyhow::Result<()> {
        match engine {
            Engine::Simpy => install_python(&self.package, &self.target),
            Engine::Simutant => run(&mut self.cargo_build(engine.name(), &self.target)),
            _ => {
                let mut command = self.cargo_build(engine.name(), &self.target_of(engine));
                run(command.args(["--features", engine.name()]).envs(engine.variables().iter().copied()))
            }
        }
    }

    /// Runs the bare loop, and checks what it did.
    pub(super) fn run_bare(&self, workload: Workload, seed: u64) -> anyhow::Result<Outcome> {
        let outcome = start(&mut Command::new(self.program(BARE, &self.target)), workload, seed, &(1.0..=1.0))?;
        outcome.with_context(|| format!("the bare loop has no {workload}"))
    }

    /// Runs an engine, and checks what it did; `None` if it cannot express the workload.
    pub(super) fn run(&self, engine: Engine, workload: Workload, seed: u64) -> anyhow::Result<Option<Outcome>> {
        let mut command = match engine {
            Engine::Simpy => {
                let mut command = Command::new(self.python());
                command.arg(self.package.join("simpy_models.py"));
                command
            }
            _ => Command::new(self.program(engine.name(), &self.target_of(engine))),
        };
        start(&mut command, workload, seed, &engine.one_way_ms())
    }

    fn cargo_build(&self, program: &str, target: &Path) -> Command {
        let mut command = Command::new("cargo");
        command.args(["build", "--quiet", "--bin", program]);
        command.arg("--manifest-path").arg(self.package.join("Cargo.toml")).arg("--target-dir").arg(target);
        if self.profile == Profile::Release {
            command.arg("--release");
        }
        command
    }

    fn python(&self) -> PathBuf {
        python(&self.target)
    }

    fn target_of(&self, engine: Engine) -> PathBuf {
        if engine.variables().is_empty() { self.target.clone() } else { self.target.join(engine.name()) }
    }

    fn program(&self, name: &str, target: &Path) -> PathBuf {
        let folder = match self.profile {
            Profile::Release => "release",
            Profile::Debug => "debug",
        };
        target.join(folder).join(name)
    }
}

/// Returns where the workspace in `bench/` is built: in a folder of the other's target directory.
pub(crate) fn target_directory(root: &Path) -> PathBuf {
    crate::target(root).join("bench")
}

/// Runs a model once.
fn start(
    command: &mut Command,
    workload: Workload,
    seed: u64,
    one_way_ms: &RangeInclusive<f64>,
) -> anyhow::Result<Option<Outcome>> {
    let Workload { kind, n, timeout_ms, units } = workload;
    command.args([kind.name(), &n.to_string(), &timeout_ms.unwrap_or_default().to_string()]);
    command.args([units.to_string(), seed.to_string()]);
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    if output.status.code() == Some(NOT_EXPRESSIBLE) {
        return Ok(None);
    }
    if !output.status.success() {
        bail!("{command:?} ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    let outcome: Outcome = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("{command:?} printed {}", String::from_utf8_lossy(&output.stdout)))?;
    workload.check(&outcome, one_way_ms).with_context(|| format!("{command:?} did something else"))?;
    Ok(Some(outcome))
}
