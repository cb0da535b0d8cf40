//! `cargo xtask bench analysis`: what an analysis costs in processor time and memory, and how that grows.
//!
//! The outcomes are made up, so that nothing has to be run. Every size is measured in a process of its own, since the
//! most memory that a process has had says nothing about what it did later. The analysis uses one thread.

mod made_up;

use std::process::Command;

use anyhow::{Context, ensure};
use clap::Args;
use serde::{Deserialize, Serialize};
use simutant_analysis::{AnalysisOptions, analyse};
use simutant_report::{report, tables};

use super::table::aligned;
use super::{median, sorted};

#[derive(Debug, Args)]
pub(crate) struct AnalysisArguments {
    /// Measures one size, and prints `{seconds, peak_mb, …}` instead of tables.
    #[arg(long)]
    json: bool,
    /// Test cases of the universe.
    #[arg(long, default_value_t = Size::FULL.cases)]
    cases: usize,
    /// Mutants, all of which count.
    #[arg(long, default_value_t = Size::FULL.mutants)]
    mutants: usize,
    /// Suites for each criterion.
    #[arg(long, default_value_t = Size::FULL.suites)]
    suites: usize,
    /// Criteria.
    #[arg(long, default_value_t = Size::FULL.criteria)]
    criteria: usize,
    /// Measures each size once instead of three times, and a tenth of the test cases and mutants: to see that
    /// everything works, not to quote.
    #[arg(long)]
    quick: bool,
}

/// How large the outcomes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Size {
    cases: usize,
    mutants: usize,
    suites: usize,
    criteria: usize,
}

impl Size {
    /// What an analysis is expected to be good for.
    const FULL: Self = Self { cases: 2500, mutants: 1000, suites: 200, criteria: 8 };

    /// Returns each size that differs from this one in one number, by the number's name.
    fn grown(self) -> Vec<(&'static str, Vec<Self>)> {
        let by = |change: fn(&mut Self, f64)| -> Vec<Self> {
            [0.25, 0.5, 1.0, 2.0]
                .into_iter()
                .map(|factor| {
                    let mut size = self;
                    change(&mut size, factor);
                    size
                })
                .collect()
        };
        vec![
            ("test cases", by(|size, factor| size.cases = times(size.cases, factor))),
            ("mutants", by(|size, factor| size.mutants = times(size.mutants, factor))),
            ("suites", by(|size, factor| size.suites = times(size.suites, factor))),
            ("criteria", by(|size, factor| size.criteria = times(size.criteria, factor))),
        ]
    }
}

fn times(number: usize, factor: f64) -> usize {
    (number as f64 * factor).round() as usize
}

/// What one analysis cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Cost {
    /// Processor time of the analysis, bootstrap included.
    seconds: f64,
    /// The most memory that the process had, the outcomes included.
    peak_mb: f64,
    /// Processor time of the tables, the report and the JSON of it.
    report_seconds: f64,
    #[serde(flatten)]
    size: Size,
}

const SEED: u64 = 1;

/// Measures, and prints what was found out.
pub(super) fn run(arguments: &AnalysisArguments) -> anyhow::Result<()> {
    let AnalysisArguments { json, cases, mutants, suites, criteria, quick } = *arguments;
    let divisor = if quick { 10 } else { 1 };
    let size = Size { cases: cases / divisor, mutants: mutants / divisor, suites, criteria };
    if cfg!(debug_assertions) {
        return run_optimised(arguments);
    }
    #[expect(clippy::print_stdout, reason = "this is the result")]
    if json {
        println!("{}", serde_json::to_string_pretty(&measure(size)?)?);
    } else {
        print!("{}", text(size, if quick { 1 } else { 3 })?);
    }
    Ok(())
}

/// Does the same in a build of this program that is optimised: it is part of what is measured.
fn run_optimised(arguments: &AnalysisArguments) -> anyhow::Result<()> {
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "--release", "--package", "xtask", "--", "bench", "analysis"]);
    command.args(arguments.json.then_some("--json")).args(arguments.quick.then_some("--quick"));
    let AnalysisArguments { cases, mutants, suites, criteria, .. } = *arguments;
    with_size(&mut command, Size { cases, mutants, suites, criteria });
    crate::run(&mut command)
}

/// Analyses made-up outcomes of this size.
fn measure(size: Size) -> anyhow::Result<Cost> {
    let outcomes = made_up::outcomes(size.cases, size.mutants, size.criteria, SEED);
    let options = AnalysisOptions { suites: size.suites, ..AnalysisOptions::default() };
    let (analysis, seconds) = timed(|| Ok(analyse(&outcomes, &options)?))?;
    let counted = analysis.mutants.counts.analysed;
    ensure!(
        counted == size.mutants,
        "{counted} of {} mutants count: the made-up ones are too easy, or too hard",
        size.mutants
    );
    ensure!(analysis.ranking.order.len() == size.criteria, "every criterion has scores");
    let (shown, report_seconds) = timed(|| {
        let results = serde_json::to_string(&analysis)?;
        Ok(results.len() + tables(&analysis, None).len() + report(&outcomes, &analysis, None).len())
    })?;
    ensure!(shown > 0, "there is something to show");
    Ok(Cost { seconds, peak_mb: peak_mb()?, report_seconds, size })
}

fn with_size(command: &mut Command, size: Size) {
    let Size { cases, mutants, suites, criteria } = size;
    for (name, number) in [("--cases", cases), ("--mutants", mutants), ("--suites", suites), ("--criteria", criteria)] {
        command.arg(name).arg(number.to_string());
    }
}

fn timed<T>(action: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<(T, f64)> {
    let (result, spent) = super::spent::timed(action)?;
    Ok((result, spent.own))
}

/// Returns the most memory that this process has had, in millions of bytes.
fn peak_mb() -> anyhow::Result<f64> {
    use nix::sys::resource::{UsageWho, getrusage};
    let usage = getrusage(UsageWho::RUSAGE_SELF).context("cannot ask for the memory")?;
    // Linux counts in units of 1024 bytes, macOS in bytes.
    let unit = if cfg!(target_os = "macos") { 1.0 } else { 1024.0 };
    Ok(usage.max_rss() as f64 * unit / 1e6)
}

/// Measures every size in a process of its own, and returns tables in Markdown.
fn text(size: Size, repetitions: usize) -> anyhow::Result<String> {
    let mut text = String::new();
    for (name, sizes) in size.grown() {
        let head = vec!["varied".to_owned(), "seconds".to_owned(), "peak MB".to_owned(), "report, s".to_owned()];
        let mut rows = vec![head];
        for size in sizes {
            let costs = (0..repetitions).map(|_| measure_apart(size)).collect::<anyhow::Result<Vec<Cost>>>()?;
            let middle = |of: fn(&Cost) -> f64| median(&sorted(costs.iter().map(of)));
            let number = match name {
                "test cases" => size.cases,
                "mutants" => size.mutants,
                "suites" => size.suites,
                _ => size.criteria,
            };
            rows.push(vec![
                format!("{number} {name}"),
                format!("{:.2}", middle(|cost| cost.seconds)),
                format!("{:.0}", middle(|cost| cost.peak_mb)),
                format!("{:.2}", middle(|cost| cost.report_seconds)),
            ]);
        }
        text.push_str(&aligned(&rows));
        text.push('\n');
    }
    text.push_str(&format!(
        "otherwise {} test cases, {} mutants, {} suites, {} criteria; processor time of one thread\n",
        size.cases, size.mutants, size.suites, size.criteria,
    ));
    Ok(text)
}

fn measure_apart(size: Size) -> anyhow::Result<Cost> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["bench", "analysis", "--json"]);
    with_size(&mut command, size);
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    ensure!(output.status.success(), "{command:?} ended with {}", output.status);
    serde_json::from_slice(&output.stdout).context("what the other process printed is no measurement")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_analysis_is_measured() {
        let size = Size { cases: 60, mutants: 30, suites: 10, criteria: 3 };
        let cost = measure(size).expect("it can be analysed");
        assert_eq!(cost.size, size);
        assert!(cost.seconds > 0.0 && cost.peak_mb > 1.0, "{cost:?}");
        let json = serde_json::to_value(cost).expect("plain data");
        assert!(json["seconds"].is_number() && json["peak_mb"].is_number() && json["cases"] == 60, "{json}");
    }

    #[test]
    fn one_number_grows_at_a_time() {
        let grown = Size::FULL.grown();
        assert_eq!(grown.len(), 4);
        for (name, sizes) in grown {
            assert_eq!(sizes[2], Size::FULL, "{name}");
            assert_eq!(sizes.len(), 4, "{name}");
        }
        assert_eq!(Size::FULL.grown()[3].1[0], Size { criteria: 2, ..Size::FULL });
    }
}
