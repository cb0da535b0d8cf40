//! `cargo xtask bench mutation`: how many pairs of a mutant and a test a second has room for, and what instrumentation
//! costs.
//!
//! What is mutated is the package in `bench/mutation-sample`: 400 lines, thirty tests. Times are of the processor, the
//! campaign's and its worker's together, so that they are those of one core. Each is the least of some repetitions,
//! since what else a machine does only ever makes a run dearer; and all that runs takes turns, since it may do so for
//! half a minute.

mod campaigns;
mod cargo_mutants;
mod instrumentation;

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use serde::Serialize;
use simutant_mutator::Package;

use super::least;
use super::spent::{Spent, timed};
use super::table::aligned;
use campaigns::{CampaignCosts, Campaigns, TESTS};
use cargo_mutants::{CargoMutants, Found};
use instrumentation::{BuildCosts, Drivers, SuiteCosts, measure_builds};

#[derive(Debug, Args)]
pub(crate) struct MutationArguments {
    /// Prints one object `{full_per_s, pruned_per_s, inactive_ratio, coverage_ratio, build_ratio, …}` instead of a
    /// table.
    #[arg(long)]
    json: bool,
    /// Builds less often, and runs a tenth of the test cases.
    #[arg(long)]
    quick: bool,
}

/// What was found out, in the cheapest of the repetitions.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Measurements {
    /// Pairs of a mutant and a test per second of processor time, all of them run.
    full_per_s: f64,
    /// The same pairs per second when only those are run that the recorded runs do not settle; recording included.
    pruned_per_s: f64,
    /// What the tests cost with all mutants built in and none active, with the count of steps alone being 1.
    inactive_ratio: f64,
    /// What a run costs that records coverage, without any instrumentation being 1.
    coverage_ratio: f64,
    /// What it costs to compile the package with all mutants, without any instrumentation being 1.
    build_ratio: f64,
    /// What the first build of the worker costs, in which mutants that do not compile are found, without any being 1.
    first_build_ratio: f64,
    /// What a run costs that records coverage and which mutants are infected, without any instrumentation being 1.
    recording_ratio: f64,
    /// What a test costs without instrumentation, in microseconds.
    test_us: f64,
    /// What it costs with the count of steps alone.
    test_with_steps_us: f64,
    /// Pairs run per second of the worker's processor time alone.
    full_in_worker_per_s: f64,
    mutants: usize,
    tests: usize,
    /// How often all tests together are in the universe of test cases.
    cases: usize,
    /// Mutants that a test kills.
    killed: usize,
    /// The share of pairs that were not run when pruned.
    pruned_share: f64,
    /// `None` if cargo-mutants is not installed.
    cargo_mutants: Option<CargoMutants>,
}

/// Where things are.
#[derive(Debug)]
struct Places {
    /// The project.
    root: PathBuf,
    /// The folder for all that is made.
    out: tempfile::TempDir,
    /// What is mutated.
    package: Package,
}

const SYSTEM: &str = "tests";

/// How often everything runs.
const ROUNDS: usize = 15;

/// Measures, and prints what was found out.
pub(super) fn run(root: &Path, arguments: &MutationArguments) -> anyhow::Result<()> {
    if cfg!(debug_assertions) {
        return run_optimised(arguments);
    }
    let sample = root.join("bench/mutation-sample");
    let package = Package::find(&sample.join("Cargo.toml"), SYSTEM)?;
    let places = Places { root: root.to_owned(), out: tempfile::tempdir()?, package };
    let (divisor, builds) = if arguments.quick { (10, 1) } else { (1, 5) };
    let builds = measure_builds(&places, builds)?;
    let (drivers, campaigns) = (Drivers::build(&places)?, Campaigns::build(&places, divisor)?);
    let round = |round| {
        eprintln!("xtask: running tests and campaigns, {round} of {ROUNDS}");
        Ok((drivers.run()?, campaigns.run(&places)?))
    };
    let (suites, campaigns) = (1..=ROUNDS).map(round).collect::<anyhow::Result<(Vec<_>, Vec<_>)>>()?;
    let found = cargo_mutants::run(&places, &sample)?;
    let measurements = Measurements::new(&builds, &suites, &campaigns, found);
    #[expect(clippy::print_stdout, reason = "this is the result")]
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&measurements)?);
    } else {
        print!("{}", measurements.table());
    }
    Ok(())
}

/// Does the same in a build of this program that is optimised: the campaign is part of what is measured.
fn run_optimised(arguments: &MutationArguments) -> anyhow::Result<()> {
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "--release", "--package", "xtask", "--", "bench", "mutation"]);
    command.args(arguments.json.then_some("--json")).args(arguments.quick.then_some("--quick"));
    crate::run(&mut command)
}

fn cheapest(numbers: impl Iterator<Item = f64>) -> f64 {
    least(numbers).expect("there is a repetition at least")
}

impl Measurements {
    /// There is one of each kind at least.
    fn new(
        builds: &[BuildCosts],
        suites: &[SuiteCosts],
        campaigns: &[CampaignCosts],
        cargo_mutants: Option<Found>,
    ) -> Self {
        let suite = |of: fn(&SuiteCosts) -> f64| cheapest(suites.iter().map(of));
        let build = |of: fn(&BuildCosts) -> f64| cheapest(builds.iter().map(of));
        // The campaigns of all rounds are the same.
        let outcomes = &campaigns[0].outcomes;
        let pairs = outcomes.pairs();
        let rate = |of: fn(&CampaignCosts) -> f64| pairs as f64 / cheapest(campaigns.iter().map(of));
        let (plain, steps) = (suite(|suite| suite.plain), suite(|suite| suite.steps));
        let full_per_s = rate(|campaigns| campaigns.full.processor());
        Self {
            full_per_s,
            pruned_per_s: rate(|campaigns| campaigns.pruned.processor()),
            inactive_ratio: suite(|suite| suite.inactive) / steps,
            coverage_ratio: suite(|suite| suite.covered) / plain,
            build_ratio: build(|build| build.all) / build(|build| build.none),
            first_build_ratio: build(|build| build.whole_all) / build(|build| build.whole_none),
            recording_ratio: suite(|suite| suite.recorded) / plain,
            test_us: plain / TESTS as f64 / 1e3,
            test_with_steps_us: steps / TESTS as f64 / 1e3,
            full_in_worker_per_s: rate(|campaigns| campaigns.full.children),
            mutants: outcomes.sites.mutants.len(),
            tests: TESTS,
            cases: outcomes.cases.len(),
            killed: outcomes.killed_mutants().len(),
            pruned_share: 1.0 - outcomes.pairs_infected() as f64 / pairs as f64,
            cargo_mutants: cargo_mutants.map(|found| CargoMutants::new(found, TESTS, full_per_s)),
        }
    }

    /// Returns a table in Markdown, as it stands in the book's page of benchmarks.
    fn table(&self) -> String {
        let rate = |per_s: f64| format!("{:.0} pairs/s", per_s);
        let ratio = |ratio: f64| format!("{ratio:.2}");
        let mut rows = vec![
            ["what".to_owned(), "measured".to_owned()],
            ["all pairs of a mutant and a test".to_owned(), rate(self.full_per_s)],
            ["the same, in the worker alone".to_owned(), rate(self.full_in_worker_per_s)],
            [
                format!("pruned ({:.1} % not run), recording included", 100.0 * self.pruned_share),
                rate(self.pruned_per_s),
            ],
            ["no mutant active, to steps alone".to_owned(), ratio(self.inactive_ratio)],
            ["coverage recorded, to none".to_owned(), ratio(self.coverage_ratio)],
            ["coverage and infection recorded, to none".to_owned(), ratio(self.recording_ratio)],
            ["build of the package, to no instrumentation".to_owned(), ratio(self.build_ratio)],
            ["first build of the worker, to none".to_owned(), ratio(self.first_build_ratio)],
        ];
        if let Some(cargo_mutants) = &self.cargo_mutants {
            rows.push([format!("cargo-mutants, {} mutants", cargo_mutants.mutants), rate(cargo_mutants.per_s)]);
            rows.push(["all pairs, to cargo-mutants".to_owned(), format!("{:.0}", cargo_mutants.times_slower)]);
        }
        let rows: Vec<Vec<String>> = rows.into_iter().map(Vec::from).collect();
        let mut text = aligned(&rows);
        text.push_str(&format!(
            "\n{} mutants, {} killed; {} tests, drawn {} times; a test takes {:.1} us, {:.1} with its steps counted\n",
            self.mutants, self.killed, self.tests, self.cases, self.test_us, self.test_with_steps_us,
        ));
        if self.cargo_mutants.is_none() {
            text.push_str("cargo-mutants is not installed: `cargo install --locked cargo-mutants`\n");
        }
        text
    }
}
