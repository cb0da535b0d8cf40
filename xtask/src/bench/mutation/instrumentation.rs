//! What instrumentation costs: the build, and the code that is not mutated.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use anyhow::{Context, bail};
use simutant_mutator::{Build, Probes, Request, Selection, build_plain, build_with};
use simutant_outcomes::Sites;

use super::{Places, timed};

/// How often the suite runs to be measured once.
const SUITES: usize = 3_000;

/// All repetitions.
#[derive(Debug)]
pub(super) struct Instrumentation {
    pub(super) builds: Vec<BuildCosts>,
    pub(super) rounds: Vec<SuiteCosts>,
}

/// What builds took, in seconds of processor time.
#[derive(Debug, Clone, Copy)]
pub(super) struct BuildCosts {
    /// The package without probes.
    pub(super) none: f64,
    /// The package with all mutants that compile.
    pub(super) all: f64,
    /// The package and its main program without probes.
    pub(super) whole_none: f64,
    /// The package and its main program with all mutants, those that do not compile being found out.
    pub(super) whole_all: f64,
}

/// What the suite of all tests took once, in nanoseconds of processor time.
#[derive(Debug, Clone, Copy)]
pub(super) struct SuiteCosts {
    /// Without probes.
    pub(super) plain: f64,
    /// With steps alone.
    pub(super) steps: f64,
    /// With all probes, and no mutant active.
    pub(super) inactive: f64,
    /// Recorded, but for mutants.
    pub(super) covered: f64,
    /// Recorded.
    pub(super) recorded: f64,
}

impl Instrumentation {
    /// Runs the tests so many times in turns, and builds so many times.
    pub(super) fn measure(places: &Places, runs: usize, build_count: usize) -> anyhow::Result<Self> {
        eprintln!("xtask: building what the tests need");
        let driver = |probes, name: &str| {
            let folder = places.root.join("bench/mutation-driver");
            build_in(places, probes, &places.out.path().join(name), ("mutation-driver", &folder))
        };
        let plain = driver(Probes::None, "plain")?;
        let steps = driver(Probes::Steps, "steps")?;
        let all = driver(Probes::All, "all")?;
        let mut rounds = Vec::new();
        for round in 1..=runs {
            eprintln!("xtask: running the tests, {round} of {runs}");
            let Sites { blocks, branches, pairs, conditions, .. } = &all.sites;
            let sizes = |mutants| [blocks.len(), branches.len(), pairs.len(), conditions.len(), mutants];
            rounds.push(SuiteCosts {
                plain: suite_ns(&plain, &[])?,
                steps: suite_ns(&steps, &[])?,
                inactive: suite_ns(&all, &[])?,
                covered: suite_ns(&all, &sizes(0))?,
                recorded: suite_ns(&all, &sizes(all.sites.mutants.len()))?,
            });
        }
        let mut builds = Vec::new();
        // With what the worker depends on.
        build_in(places, Probes::None, &places.out.path().join("first"), ("simutant-worker", &worker(&places.root)))?;
        for round in 1..=build_count {
            eprintln!("xtask: building, {round} of {build_count}");
            builds.push(measure_builds(places, round)?);
        }
        Ok(Self { builds, rounds })
    }
}

/// Builds the package as a campaign has it, in new folders. What it depends on has been built, and is not in these times.
fn measure_builds(places: &Places, round: usize) -> anyhow::Result<BuildCosts> {
    let folder = |name: &str| places.out.path().join(format!("{name}-{round}"));
    let worker = worker(&places.root);
    let whole = |probes, folder: &Path| {
        timed(|| build_in(places, probes, folder, ("simutant-worker", &worker))).map(|(_, spent)| spent.children)
    };
    let (none, all) = (folder("none"), folder("all"));
    let (whole_none, whole_all) = (whole(Probes::None, &none)?, whole(Probes::All, &all)?);
    let costs = BuildCosts { none: package_s(places, &none)?, all: package_s(places, &all)?, whole_none, whole_all };
    Ok(costs)
}

/// Compiles the package alone, in a workspace that the mutator has made, and returns the seconds that it took.
fn package_s(places: &Places, workspace: &Path) -> anyhow::Result<f64> {
    let build = || {
        let mut command = Command::new("cargo");
        command.args(["build", "--quiet", "--release", "--package", places.package.name()]);
        // As the mutator has it.
        command.args(["--config", "build.rustflags=['--cap-lints=allow']"]);
        command.arg("--target-dir").arg(places.package.products()).current_dir(workspace);
        crate::run(&mut command)
    };
    build()?;
    let entries = std::fs::read_dir(workspace)?.collect::<Result<Vec<_>, _>>()?;
    let package = entries.iter().find(|entry| entry.file_name().to_string_lossy().starts_with("package-"));
    let library = package.context("the mutator has made no package")?.path().join("src/lib.rs");
    std::fs::File::options().append(true).open(library)?.set_modified(SystemTime::now())?;
    timed(build).map(|(_, spent)| spent.children)
}

/// Returns the folder of the crate that drives the system in a campaign.
pub(super) fn worker(root: &Path) -> PathBuf {
    root.join("campaign/worker")
}

pub(super) fn build_in(
    places: &Places,
    probes: Probes,
    directory: &Path,
    worker: (&str, &Path),
) -> anyhow::Result<Build> {
    let operators = Selection::default();
    let request = Request { package: &places.package, operators: &operators, directory, worker };
    Ok(build_with(&request, probes, &mut |_| {})?)
}

/// Builds the package as it is written, beside the build with probes in the same folder.
pub(super) fn build_plain_in(places: &Places, directory: &Path, worker: (&str, &Path)) -> anyhow::Result<PathBuf> {
    let operators = Selection::default();
    let request = Request { package: &places.package, operators: &operators, directory, worker };
    Ok(build_plain(&request, &mut |_| {})?)
}

/// Lets a driver measure the suite.
fn suite_ns(build: &Build, sizes: &[usize]) -> anyhow::Result<f64> {
    let numbers = std::iter::once(&SUITES).chain(sizes).map(usize::to_string);
    let output = Command::new(&build.worker).args(numbers).output().context("cannot start the driver of the tests")?;
    let printed = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        bail!("the driver ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    printed.trim().parse().with_context(|| format!("the driver printed {printed}"))
}
