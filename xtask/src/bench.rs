//! `cargo xtask bench engine`: what the engine costs beside a bare event loop, and what other simulators cost;
//! `cargo xtask bench mutation` is in `bench/mutation.rs`, `cargo xtask bench analysis` in `bench/analysis.rs`.
//!
//! `bench/` has a model of each workload for each engine, and its crate's page says what the workloads are. Every run is
//! a process of its own. A run of an engine comes right after a run of the bare loop on the same workload, and the ratio of
//! their costs of a unit is what counts: the processor time of the one says little on a machine that others use as well.

mod analysis;
mod engine;
mod mutation;
mod outcome;
mod plot;
mod table;
mod workload;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use serde::Serialize;

pub(crate) use engine::target_directory;

use engine::{Bench, Engine, Profile};
use outcome::Outcome;
use workload::{Kind, Workload};

/// What is measured.
#[derive(Debug, Subcommand)]
pub(crate) enum Subject {
    /// The processor time of the simulation engine and of its peers, as a ratio to a bare event loop.
    Engine(EngineArguments),
    /// Pairs of a mutant and a test per second, and what instrumentation costs.
    Mutation(mutation::MutationArguments),
    /// Time and memory of an analysis, and how they grow with test cases, mutants, suites and criteria.
    Analysis(analysis::AnalysisArguments),
}

#[derive(Debug, Args)]
pub(crate) struct EngineArguments {
    /// Runs these engines only.
    #[arg(long, value_delimiter = ',', value_enum, default_values_t = Engine::ALL)]
    engines: Vec<Engine>,
    /// Runs these workloads only.
    #[arg(long, value_delimiter = ',', value_enum, default_values_t = Kind::ALL)]
    workloads: Vec<Kind>,
    /// Does a twentieth of the units: to see that everything works, not to quote.
    #[arg(long)]
    quick: bool,
    /// Prints an array of `{engine, workload, n, timeout_ms, ratio, …}` instead of tables.
    #[arg(long)]
    json: bool,
    /// Also measures hold from 10 to 1,000,000 components (100,000 if quick), and draws what an event costs.
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
}

/// What an engine costs on a workload, in the medians of its runs.
#[derive(Debug, Clone, Serialize)]
struct Measurement {
    engine: Engine,
    workload: Kind,
    /// Components, or pairs of them.
    n: u32,
    /// The timeout of a receive; `None` where nothing is received.
    timeout_ms: Option<u64>,
    /// The median of the ratios of the pairs of runs.
    ratio: f64,
    ratio_min: f64,
    ratio_max: f64,
    /// Processor time.
    ns_per_unit: f64,
    bare_ns_per_unit: f64,
    /// The most that a run had; `None` where the system does not tell.
    peak_memory_bytes: Option<u64>,
}

const SEEDS: std::ops::RangeInclusive<u64> = 1..=5;
/// How many times fewer units a quick measurement does.
const QUICK: u64 = 20;

/// Measures what the arguments ask for, and prints it.
pub(crate) fn run(root: &Path, subject: Subject) -> anyhow::Result<()> {
    match subject {
        Subject::Engine(arguments) => run_engine(root, arguments),
        Subject::Mutation(arguments) => mutation::run(root, &arguments),
        Subject::Analysis(arguments) => analysis::run(&arguments),
    }
}

fn run_engine(root: &Path, arguments: EngineArguments) -> anyhow::Result<()> {
    let EngineArguments { engines, workloads, quick, json, plot } = arguments;
    let bench = Bench::new(root, Profile::Release);
    let divisor = if quick { QUICK } else { 1 };
    bench.build_bare()?;
    for &engine in &engines {
        bench.build(engine)?;
    }
    let mut measurements = Vec::new();
    for workload in Workload::all().filter(|workload| workloads.contains(&workload.kind)) {
        for &engine in &engines {
            eprintln!("xtask: {workload}: {engine}");
            measurements.extend(measure(&bench, engine, workload, divisor)?);
        }
    }
    #[expect(clippy::print_stdout, reason = "this is the result")]
    if json {
        println!("{}", serde_json::to_string_pretty(&measurements)?);
    } else {
        print!("{}", table::tables(&measurements));
    }
    if let Some(file) = plot {
        let mut curve = Vec::new();
        let n_max = if quick { 100_000 } else { 1_000_000 };
        for workload in Workload::curve().filter(|workload| workload.n <= n_max) {
            eprintln!("xtask: {workload}: for the plot");
            curve.extend(measure(&bench, Engine::Simutant, workload, divisor)?);
        }
        std::fs::write(&file, plot::cost_by_components(&curve))
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}

/// Runs an engine on a workload, each run after one of the bare loop; `None` if the engine cannot express it.
///
/// Slow engines do fewer units. The bare loop always does all, so that its cost has the same meaning in each row.
fn measure(bench: &Bench, engine: Engine, workload: Workload, divisor: u64) -> anyhow::Result<Option<Measurement>> {
    if engine.is_hopeless(workload) {
        return Ok(None);
    }
    let asked = workload.scaled(divisor);
    let asked_of_engine = asked.scaled(engine.slowness());
    let mut pairs = Vec::new();
    for seed in SEEDS {
        let bare = bench.run_bare(asked, seed)?;
        let Some(outcome) = bench.run(engine, asked_of_engine, seed)? else { return Ok(None) };
        pairs.push((bare, outcome));
    }
    let ratios = sorted(pairs.iter().map(|(bare, outcome)| outcome.ns_per_unit() / bare.ns_per_unit()));
    let (Some(&ratio_min), Some(&ratio_max)) = (ratios.first(), ratios.last()) else { bail!("nothing was run") };
    Ok(Some(Measurement {
        engine,
        workload: workload.kind,
        n: workload.n,
        timeout_ms: workload.timeout_ms,
        ratio: median(&ratios),
        ratio_min,
        ratio_max,
        ns_per_unit: median(&sorted(pairs.iter().map(|(_, outcome)| outcome.ns_per_unit()))),
        bare_ns_per_unit: median(&sorted(pairs.iter().map(|(bare, _)| bare.ns_per_unit()))),
        peak_memory_bytes: pairs.iter().filter_map(|(_, outcome)| outcome.rss_bytes).max(),
    }))
}

fn sorted(numbers: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    numbers
}

/// Returns the middle one of an odd number of sorted numbers.
fn median(sorted: &[f64]) -> f64 {
    sorted[sorted.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_does_every_workload_as_it_should() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the workspace");
        let bench = Bench::new(root, Profile::Debug);
        bench.build_bare().expect("the bare loops build");
        bench.build(Engine::Simutant).expect("the models build");
        for workload in Workload::all() {
            let workload = workload.scaled(200);
            bench.run_bare(workload, 1).expect("the bare loop passes its check");
            let outcome = bench.run(Engine::Simutant, workload, 1).expect("the engine passes its check");
            assert!(outcome.is_some(), "there is no model of {workload}");
        }
    }

    #[test]
    fn the_median_is_the_middle_one() {
        assert_eq!(median(&sorted([3.0, 1.0, 9.0].into_iter())), 3.0);
    }
}
