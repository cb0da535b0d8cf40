//! What checks of ZooKeeper's histories cost, by strategy and condition: figures 4.1 and 4.2 of Banzai (2018).
//!
//! `figures SIZE_MAX HISTORIES STEPS` prints a JSON array. For each size from 2 on there are as many sessions with as many
//! calls each; all strategies check the same histories, in turns. A check ends undecided after `STEPS` steps. What the
//! history itself takes, of clients and a server that are simulated, is a row of its own: no oracle.
//!
//! An SMT solver is asked, too, if one is installed, about a quarter of the histories: the formulas are written, and the
//! solver has ten seconds for those of a history. When it decides none of a size, it is not asked about larger ones.

use std::time::{Duration, Instant};

use serde::Serialize;
use simutant_bench_histories::history;
use simutant_oracle::smt::{self, Satisfiable, Solver, SolverError};
use simutant_oracle::{Answer, Budget, Check, Compared, Filter, Order, Scope, Strategy};
use simutant_zookeeper_histories::ZooKeeper;

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

/// What the making of the history is called.
const NO_ORACLE: &str = "no-oracle";

/// How long a solver may take for a history.
const SMT_TIME: Duration = Duration::from_secs(10);

/// Of how many histories the solver is asked about one.
const HISTORIES_OF_SMT: u64 = 4;

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
            let mut no_oracle = Row::new(condition, NO_ORACLE.into(), size, histories);
            for strategy in STRATEGIES {
                of_size.push((strategy, Row::new(condition, serde_json::to_value(strategy)?, size, histories)));
            }
            for seed in 0..histories {
                let (history, seconds) = timed(|| history(size, size, seed));
                no_oracle.seconds += seconds;
                for (strategy, row) in &mut of_size {
                    let budget = Budget { steps: Some(steps), ..Budget::default() };
                    let check = Check {
                        order: Order::ordered_sequential(),
                        scope,
                        strategy: *strategy,
                        budget,
                        ..Check::default()
                    };
                    let (checked, seconds) = timed(|| check.run(&history, &ZooKeeper::default()));
                    row.seconds += seconds;
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
            rows.extend(of_size.into_iter().map(|(_, row)| row).chain([no_oracle]));
        }
    }
    match Solver::installed() {
        Ok(solver) => {
            let histories = histories.div_ceil(HISTORIES_OF_SMT);
            for (condition, scope) in CONDITIONS {
                rows.extend(solved(&solver, condition, scope, size_max, histories)?);
            }
        }
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

/// Returns what something gives, and the seconds that it takes. What takes little is done several times, and the least time
/// counts: what else a machine does can only make it longer.
fn timed<T>(of: impl Fn() -> T) -> (T, f64) {
    const LITTLE: f64 = 0.02;
    let run = || {
        let started = Instant::now();
        let result = of();
        (result, started.elapsed().as_secs_f64())
    };
    let (result, mut seconds) = run();
    for _ in 1..if seconds < LITTLE { 5 } else { 1 } {
        seconds = seconds.min(run().1);
    }
    (result, seconds)
}

/// Returns what a solver takes for histories, the writing of the formulas included.
fn solved(
    solver: &Solver,
    condition: &'static str,
    scope: Scope,
    size_max: u64,
    histories: u64,
) -> Result<Vec<Row>, Box<dyn std::error::Error>> {
    let mut rows = Vec::new();
    for size in 2..=size_max {
        let mut row = Row::new(condition, SMT.into(), size, histories);
        for seed in 0..histories {
            let started = Instant::now();
            let answer = ask(solver, scope, size, seed)?;
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
    Ok(rows)
}

/// Asks for the formulas of a history one by one, until one is not satisfiable or the time is over.
fn ask(solver: &Solver, scope: Scope, size: u64, seed: u64) -> Result<Satisfiable, Box<dyn std::error::Error>> {
    let (history, tree, order) = (history(size, size, seed), ZooKeeper::default(), Order::ordered_sequential());
    let started = Instant::now();
    for formula in smt::formulas(&history, &tree, &order, scope, SMT_STATES) {
        let left = SMT_TIME.saturating_sub(started.elapsed()).as_secs_f64().ceil() as u64;
        // More states than a formula may have: it is not decided.
        let (Ok(formula), 1..) = (formula, left) else { return Ok(Satisfiable::Unknown) };
        match solver.answers(&formula, left)?.first() {
            Some(Satisfiable::Yes) => {}
            other => return Ok(other.copied().unwrap_or(Satisfiable::Unknown)),
        }
    }
    Ok(Satisfiable::Yes)
}
