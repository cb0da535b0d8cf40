//! What checks of ZooKeeper's histories cost, by strategy and condition: figures 4.1 and 4.2 of Banzai (2018).
//!
//! `figures SIZE_MAX HISTORIES STEPS` prints a JSON array. For each size from 2 on there are as many sessions with as many
//! calls each; all strategies check the same histories, in turns. A check ends undecided after `STEPS` steps.

use std::time::Instant;

use serde::Serialize;
use simutant_bench_histories::history;
use simutant_oracle::specifications::ZooKeeper;
use simutant_oracle::{Answer, Budget, Check, Compared, Filter, Order, Scope, Strategy};

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

#[derive(Debug, Serialize)]
struct Row {
    condition: &'static str,
    strategy: Strategy,
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
            let new = |strategy| Row { condition, strategy, size, histories, undecided: 0, seconds: 0.0, steps: 0 };
            let mut of_size = STRATEGIES.map(new);
            for seed in 0..histories {
                let history = history(size, size, seed);
                for row in &mut of_size {
                    let budget = Budget { steps: Some(steps), ..Budget::default() };
                    let check =
                        Check { order: Order::zookeeper(), scope, strategy: row.strategy, budget, ..Check::default() };
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
            rows.extend(of_size);
        }
    }
    println!("{}", serde_json::to_string(&rows)?);
    Ok(())
}
