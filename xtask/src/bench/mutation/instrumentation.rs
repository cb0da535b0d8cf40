//! What instrumentation costs: the build, and the code that is not mutated.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use anyhow::{Context, bail};
use simutant_mutator::{Build, BuildRequest, Probes, Selection, build_plain, build_with};
use simutant_outcomes::Sites;

use super::{Places, timed};

/// How often the suite runs to be measured once.
const SUITES: usize = 3_000;

/// The same where mutants are recorded, which takes fifteen times as long.
const RECORDED_SUITES: usize = SUITES / 10;

/// The tests with what measures them: three executables.
#[derive(Debug)]
pub(super) struct Drivers {
    /// Without probes.
    plain: Build,
    /// With the count of steps alone.
    steps: Build,
    /// With all mutants.
    all: Build,
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

impl Drivers {
    pub(super) fn build(places: &Places) -> anyhow::Result<Self> {
        eprintln!("xtask: building what the tests need");
        let folder = places.root.join("bench/mutation-driver");
        let driver =
            |probes, name: &str| build_in(places, probes, &places.out.path().join(name), ("mutation-driver", &folder));
        Ok(Self {
            plain: driver(Probes::None, "plain")?,
            steps: driver(Probes::Steps, "steps")?,
            all: driver(Probes::All, "all")?,
        })
    }

    /// Runs the tests in all ways.
    pub(super) fn run(&self) -> anyhow::Result<SuiteCosts> {
        let Sites { blocks, branches, pairs, conditions, mutants, .. } = &self.all.sites;
        let sizes = |mutants| [blocks.len(), branches.len(), pairs.len(), conditions.len(), mutants];
        Ok(SuiteCosts {
            plain: suite_ns(&self.plain, SUITES, &[])?,
            steps: suite_ns(&self.steps, SUITES, &[])?,
            inactive: suite_ns(&self.all, SUITES, &[])?,
            covered: suite_ns(&self.all, SUITES, &sizes(0))?,
            recorded: suite_ns(&self.all, RECORDED_SUITES, &sizes(mutants.len()))?,
        })
    }
}

/// Builds the package as a campaign has it so many times, in new folders. What it depends on is built before, and is
/// not in these times.
pub(super) fn measure_builds(places: &Places, count: usize) -> anyhow::Result<Vec<BuildCosts>> {
    let worker = worker(&places.root);
    let build = |probes, folder: &Path| build_in(places, probes, folder, ("simutant-worker", &worker));
    let whole = |probes, folder: &Path| timed(|| build(probes, folder)).map(|(_, spent)| spent.children);
    build(Probes::None, &places.out.path().join("first"))?;
    let measure = |round| {
        eprintln!("xtask: building, {round} of {count}");
        let folder = |name: &str| places.out.path().join(format!("{name}-{round}"));
        let (none, all) = (folder("none"), folder("all"));
        let (whole_none, whole_all) = (whole(Probes::None, &none)?, whole(Probes::All, &all)?);
        Ok(BuildCosts { none: package_s(places, &none)?, all: package_s(places, &all)?, whole_none, whole_all })
    };
    (1..=count).map(measure).collect()
}

/// Compiles the package alone, in a workspace that the mutator has made, and returns the seconds that it took.
///
/// From nothing: what a build has left for the next one, which compiles what has changed, is not used.
fn package_s(places: &Places, workspace: &Path) -> anyhow::Result<f64> {
    let build = || {
        let mut command = Command::new("cargo");
        command.args(["build", "--quiet", "--release", "--package", places.package.name()]);
        // As the mutator has it.
        command.args(["--config", "build.rustflags=['--cap-lints=allow']"]).env("CARGO_INCREMENTAL", "0");
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
    let probe = &places.root.join("mutator/probe");
    let request = BuildRequest { package: &places.package, operators: &operators, directory, worker, probe };
    Ok(build_with(&request, probes, &mut |_| {})?)
}

/// Builds the package as it is written, beside the build with probes in the same folder.
pub(super) fn build_plain_in(places: &Places, directory: &Path, worker: (&str, &Path)) -> anyhow::Result<PathBuf> {
    let operators = Selection::default();
    let probe = &places.root.join("mutator/probe");
    let request = BuildRequest { package: &places.package, operators: &operators, directory, worker, probe };
    Ok(build_plain(&request, &mut |_| {})?)
}

/// Lets a driver measure the suite, which it runs so many times.
fn suite_ns(build: &Build, suites: usize, sizes: &[usize]) -> anyhow::Result<f64> {
    let numbers = std::iter::once(&suites).chain(sizes).map(usize::to_string);
    let output = Command::new(&build.worker).args(numbers).output().context("cannot start the driver of the tests")?;
    let printed = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        bail!("the driver ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    printed.trim().parse().with_context(|| format!("the driver printed {printed}"))
}
