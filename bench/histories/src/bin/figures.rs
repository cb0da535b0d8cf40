//! What checks of ZooKeeper's histories cost, by strategy and condition: figures 4.1 and 4.2 of Banzai (2018).
//!
//! `figures SIZE_MAX HISTORIES STEPS` prints a JSON array. For each size from 2 on there are as many sessions with as many
//! calls each; all strategies check the same histories, in turns. A check ends undecided after `STEPS` steps.
//!
//! Where the whole history is explained at once, an SMT solver is asked, too, if one is installed: the formula is
//! written, and the solver has ten seconds for each. When it decides none of a size, it is not asked about larger ones.

#[path = "../../../../oracle/examples/solver/process.rs"]
mod process;

use std::path::Path;
use std::time::Instant;

use serde::Serialize;
use simutant_bench_histories::history;
use simutant_oracle::specifications::ZooKeeper;
use simutant_oracle::{Answer, Budget, Check, Compared, Filter, Order, Scope, Strategy, smt};

use process::{Satisfiable, Solver, SolverError};

/// The conditions of section 4.1, and the default, which the source does not have.
const CONDITIONS: [(&str, Scope); 5] = [
    ("simple, weak filter", Scope::EachCall { compared: Compared::Target, filter: Filter::Reads }),
    ("simple, strong filter", Scope::EachCall { compared: Compared::Target, filter: Filter::Unrelated }),
    ("strict, weak filter", Scope::EachCall { compared: Compared::All, filter: Filter::Reads }),
    ("strict, strong filter", Scope::EachCall { compared: Compared::All, filter: Filter::Unrelated }),
    ("history", Scope::History),
];

const STRATEGIES: [Strategy; 5] =
    [Strategy::BreadthFirst, Strategy::DepthFirst, Strategy::CallOrder, Strategy::AnswerOrder, Strategy::JustInTime];

/// What the solver is called among the strategies.
const SMT: &str = "smt";

/// How long a solver may take for a history, in seconds.
const SMT_SECONDS: u64 = 10;

/// How many states the calls of a formula may reach.
const SMT_STATES: usize = 20_000;

#[derive(Debug, Serialize)]
struct Row {
    condition: &'static str,
    strategy: serde_json::Value,
    size: u64,
    histories: u64,
    undecided: u64,
    /// Of all histories together, those that ended undecided too.
    seconds: f64,
    steps: u64,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let numbers: Vec<u64> = std::env::args().skip(1).map(|argument| argument.parse()).collect::<Result<_, _>>()?;
    let [size_max, histories, steps] = numbers[..] else {
        return Err("usage: figures SIZE_MAX HISTORIES STEPS".into());
    };
    let mut rows = Vec::new();
    for (condition, scope) in CONDITIONS {
        for size in 2..=size_max {
            let mut of_size = Vec::new();
            for strategy in STRATEGIES {
                of_size.push((strategy, Row::new(condition, serde_json::to_value(strategy)?, size, histories)));
            }
            for seed in 0..histories {
                let history = history(size, size, seed);
                for (strategy, row) in &mut of_size {
                    let budget = Budget { steps: Some(steps), ..Budget::default() };
                    let check =
                        Check { order: Order::zookeeper(), scope, strategy: *strategy, budget, ..Check::default() };
                    let started = Instant::now();
                    let checked = check.run(&history, &ZooKeeper::default());
                    row.seconds += started.elapsed().as_secs_f64();
                    row.steps += checked.explored.steps;
                    match checked.answer {
                        Answer::Possible { .. } => {}
                        Answer::Undecided { .. } => row.undecided += 1,
                        Answer::Impossible { .. } => {
                            return Err(format!("a right history is refused: {size}, {seed}").into());
                        }
                    }
                }
            }
            rows.extend(of_size.into_iter().map(|(_, row)| row));
        }
    }
    match Solver::installed() {
        Ok(solver) => rows.extend(solved(&solver, size_max, histories)?),
        Err(error @ SolverError::NotInstalled) => eprintln!("figures: {error}"),
        Err(error) => return Err(error.into()),
    }
    println!("{}", serde_json::to_string(&rows)?);
    Ok(())
}

impl Row {
    fn new(condition: &'static str, strategy: serde_json::Value, size: u64, histories: u64) -> Self {
        Self { condition, strategy, size, histories, undecided: 0, seconds: 0.0, steps: 0 }
    }
}

/// Returns what a solver takes for whole histories, the writing of the formulas included.
fn solved(solver: &Solver, size_max: u64, histories: u64) -> Result<Vec<Row>, Box<dyn std::error::Error>> {
    let file = std::env::temp_dir().join(format!("simutant-figures-{}.smt2", std::process::id()));
    let mut rows = Vec::new();
    for size in 2..=size_max {
        let mut row = Row::new("history", SMT.into(), size, histories);
        for seed in 0..histories {
            let started = Instant::now();
            let answer = ask(solver, &file, size, seed)?;
            row.seconds += started.elapsed().as_secs_f64();
            match answer {
                Satisfiable::Yes => {}
                Satisfiable::Unknown => row.undecided += 1,
                Satisfiable::No => return Err(format!("a right history is refused: {size}, {seed}").into()),
            }
        }
        let is_last = row.undecided == histories;
        rows.push(row);
        if is_last {
            break;
        }
    }
    std::fs::remove_file(&file)?;
    Ok(rows)
}

fn ask(solver: &Solver, file: &Path, size: u64, seed: u64) -> Result<Satisfiable, Box<dyn std::error::Error>> {
    let formula = smt::formula(&history(size, size, seed), &ZooKeeper::default(), &Order::zookeeper(), SMT_STATES);
    // More states than a formula may have: it is not decided.
    std::fs::write(file, formula.as_deref().unwrap_or_default())?;
    if formula.is_err() {
        return Ok(Satisfiable::Unknown);
    }
    Ok(solver.answers(file, SMT_SECONDS)?.into_iter().next().unwrap_or(Satisfiable::Unknown))
}
