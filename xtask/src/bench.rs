//! `cargo xtask bench engine`: what the engine costs beside a bare event loop, and what other simulators cost;
//! `cargo xtask bench mutation` is in `bench/mutation.rs`, `cargo xtask bench edits` in `bench/edits.rs`,
//! `cargo xtask bench analysis` in `bench/analysis.rs`, `cargo xtask bench oracle` in `bench/oracle.rs`,
//! `cargo xtask bench models` in `bench/models.rs`, `cargo xtask bench http` in `bench/http.rs`.
//!
//! `bench/` has a model of each workload for each engine, and its crate's page says what the workloads are. Every run
//! is a process of its own. What counts is the ratio of an engine's cost of a unit to that of the bare loop on the same
//! workload: the processor time of the one says little on a machine that others use as well. What others do on it can
//! only make a run dearer, and not every loop by the same factor, so the ratio is of the cheapest runs of each. These
//! are looked for in rounds through all workloads, which spreads the runs of each workload over the whole measurement.

mod analysis;
mod edits;
mod engine;
mod http;
mod models;
mod mutation;
mod oracle;
mod outcome;
mod plot;
mod python;
mod spent;
mod table;
mod workload;

use std::path::{Path, PathBuf};

use anyhow::Context;
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
    /// What a study costs the first time, and after edits.
    Edits(edits::EditsArguments),
    /// Time and memory of an analysis, and how they grow with test cases, mutants, suites and criteria.
    Analysis(analysis::AnalysisArguments),
    /// The time of the oracle and of its peers on the same histories, and of its strategies as histories grow.
    Oracle(oracle::OracleArguments),
    /// Transitions that walks of state machines take per second, and those of a peer.
    Models(models::ModelsArguments),
    /// How soon twenty mistakes of HTTP servers are found.
    Http(http::HttpArguments),
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

/// What an engine costs on a workload.
#[derive(Debug, Clone, Serialize)]
struct Measurement {
    engine: Engine,
    workload: Kind,
    /// Components, or pairs of them.
    n: u32,
    /// The timeout of a receive; `None` where nothing is received.
    timeout_ms: Option<u64>,
    /// That of the cheapest runs.
    ratio: f64,
    /// The least ratio of two runs of a round.
    ratio_min: f64,
    /// The median of those.
    ratio_median: f64,
    /// The greatest of those.
    ratio_max: f64,
    /// Processor time of the cheapest run.
    ns_per_unit: f64,
    /// Processor time of the bare loop's cheapest run in the same rounds.
    bare_ns_per_unit: f64,
    /// The most that a run had; `None` where the system does not tell.
    peak_memory_bytes: Option<u64>,
}

/// How often the bare loop and the engine are run; the number of a round is its seed.
const ROUNDS: u64 = 15;
/// In how many of the rounds the peers run, and how many there are for the plot: minutes otherwise.
const ROUNDS_OF_PEERS: u64 = 5;
/// How many times fewer units a quick measurement does.
const QUICK: u64 = 20;

/// Measures what the arguments ask for, and prints it.
pub(crate) fn run(root: &Path, subject: Subject) -> anyhow::Result<()> {
    match subject {
        Subject::Engine(arguments) => run_engine(root, arguments),
        Subject::Mutation(arguments) => mutation::run(root, &arguments),
        Subject::Edits(arguments) => edits::run(root, &arguments),
        Subject::Analysis(arguments) => analysis::run(&arguments),
        Subject::Oracle(arguments) => oracle::run(root, &arguments),
        Subject::Models(arguments) => models::run(root, &arguments),
        Subject::Http(arguments) => http::run(root, &arguments),
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
    let workloads: Vec<Workload> = Workload::all().filter(|workload| workloads.contains(&workload.kind)).collect();
    let measurements = measure(&bench, &engines, &workloads, divisor, ROUNDS)?;
    #[expect(clippy::print_stdout, reason = "this is the result")]
    if json {
        println!("{}", serde_json::to_string_pretty(&measurements)?);
    } else {
        print!("{}", table::tables(&measurements));
    }
    if let Some(file) = plot {
        let n_max = if quick { 100_000 } else { 1_000_000 };
        let workloads: Vec<Workload> = Workload::curve().filter(|workload| workload.n <= n_max).collect();
        let curve = measure(&bench, &[Engine::Simutant], &workloads, divisor, ROUNDS_OF_PEERS)?;
        std::fs::write(&file, plot::cost_by_components(&curve))
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}

/// Runs engines on workloads, and returns what each costs on each that it can express.
///
/// Slow engines do fewer units. The bare loop always does all, so that its cost has the same meaning in each row.
fn measure(
    bench: &Bench,
    engines: &[Engine],
    workloads: &[Workload],
    divisor: u64,
    rounds: u64,
) -> anyhow::Result<Vec<Measurement>> {
    let mut runs: Vec<Vec<Round>> = vec![Vec::new(); workloads.len() * engines.len()];
    for round in 1..=rounds {
        eprintln!("xtask: round {round} of {rounds}");
        for (&workload, runs) in workloads.iter().zip(runs.chunks_mut(engines.len())) {
            let asked = workload.scaled(divisor);
            let bare = bench.run_bare(asked, round)?;
            for (&engine, runs) in engines.iter().zip(runs) {
                if engine.is_hopeless(workload) || (engine != Engine::Simutant && round > ROUNDS_OF_PEERS) {
                    continue;
                }
                let outcome = bench.run(engine, asked.scaled(engine.slowness()), round)?;
                runs.extend(outcome.map(|outcome| Round { bare_ns_per_unit: bare.ns_per_unit(), outcome }));
            }
        }
    }
    let of = workloads.iter().flat_map(|&workload| engines.iter().map(move |&engine| (workload, engine)));
    Ok(of.zip(&runs).filter_map(|((workload, engine), runs)| measurement(engine, workload, runs)).collect())
}

/// A run of an engine beside one of the bare loop.
#[derive(Debug, Clone)]
struct Round {
    bare_ns_per_unit: f64,
    outcome: Outcome,
}

/// Sums up runs; `None` if there are none.
fn measurement(engine: Engine, workload: Workload, rounds: &[Round]) -> Option<Measurement> {
    let ratios = sorted(rounds.iter().map(|round| round.outcome.ns_per_unit() / round.bare_ns_per_unit));
    let ns_per_unit = least(rounds.iter().map(|round| round.outcome.ns_per_unit()))?;
    let bare_ns_per_unit = least(rounds.iter().map(|round| round.bare_ns_per_unit))?;
    Some(Measurement {
        engine,
        workload: workload.kind,
        n: workload.n,
        timeout_ms: workload.timeout_ms,
        ratio: ns_per_unit / bare_ns_per_unit,
        ratio_min: *ratios.first()?,
        ratio_median: median(&ratios),
        ratio_max: *ratios.last()?,
        ns_per_unit,
        bare_ns_per_unit,
        peak_memory_bytes: rounds.iter().filter_map(|round| round.outcome.rss_bytes).max(),
    })
}

fn least(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    numbers.reduce(f64::min)
}

fn sorted(numbers: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    numbers
}

/// Returns the middle one of sorted numbers, of which there is one at least.
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
    fn the_ratio_is_of_the_cheapest_runs() {
        let workload = Workload::all().next().expect("there are workloads");
        let round = |bare_ns_per_unit, cpu_ns| Round {
            bare_ns_per_unit,
            outcome: Outcome { cpu_ns, units: 1, timeouts: 0, virtual_s: 1.0, stay_s: None, rss_bytes: None },
        };
        let rounds = [round(4.0, 8), round(2.0, 6), round(3.0, 3)];
        let measurement = measurement(Engine::Simutant, workload, &rounds).expect("it was run");
        let Measurement { ratio, ratio_min, ratio_median, ratio_max, .. } = measurement;
        assert_eq!((ratio, ratio_min, ratio_median, ratio_max), (1.5, 1.0, 2.0, 3.0));
        assert!(super::measurement(Engine::Simutant, workload, &[]).is_none());
    }

    #[test]
    fn the_median_is_the_middle_one() {
        assert_eq!(median(&sorted([3.0, 1.0, 9.0].into_iter())), 3.0);
    }
}
