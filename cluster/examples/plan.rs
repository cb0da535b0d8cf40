//! How long a campaign takes on a cluster: shards wait in a queue, processors take them, and now and then a processor is
//! lost with what its shard has not written. A plan before machines are bought or borrowed:
//!
//! ```text
//! cargo run --release --package simutant-cluster --example plan -- CASES MUTANTS EXECUTED
//! ```
//!
//! EXECUTED is the share of pairs that are not pruned. What a run, a recording and a merge cost was measured on `gbn`
//! (`docs/src/benchmarks.md`, Shards); for another system change the constants.

#![expect(clippy::print_stdout, reason = "it is a program")]

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use simutant_sim_core::{Context, Message, Simulation, VirtualDuration};

/// Seconds of a processor for a run on a mutant, for all that is done with a test case before its runs, and for a run that
/// is merged.
const RUN: f64 = 41e-6;
const RECORDING: f64 = 1.9e-3;
const MERGED: f64 = 0.58e-6;
/// Seconds that a shard takes before its first run: a copy of the bundle, and checks of the machine.
const START: f64 = 2.0;
/// Processors of the machine that prepares and merges.
const HERE: usize = 2;
/// Processors of clusters.
const PROCESSORS: [usize; 4] = [HERE, 16, 64, 256];
/// Shards for each processor.
const SHARDS_EACH: usize = 4;
/// How much shards differ, as a share of the mean.
const SPREAD: f64 = 0.1;
/// Seconds after which a processor is lost on average, its shard is in the queue again, and it is back.
const LOST: f64 = 500.0 * 3600.0;
const NOTICED: f64 = 60.0;
const BACK: f64 = 900.0;
/// A shard writes what it has after so many seconds.
const PART: f64 = 300.0;

#[derive(Debug, Clone, Hash)]
enum NoMessage {}

impl Message for NoMessage {
    fn kind(&self) -> &'static str {
        match *self {}
    }
}

#[derive(Debug)]
struct Queue {
    /// The seconds that are left of each shard that waits.
    waiting: VecDeque<f64>,
    unfinished: usize,
    lost: usize,
}

fn seconds(seconds: f64) -> VirtualDuration {
    VirtualDuration::from_nanos((seconds * 1e9) as u64)
}

/// Takes shards until all have ended, and returns when its last one did, in seconds.
async fn processor(mut context: Context<NoMessage>, queue: Rc<RefCell<Queue>>) -> f64 {
    let until_lost = |context: &mut Context<NoMessage>| context.random().exponential(LOST);
    let mut lives = until_lost(&mut context);
    let mut last = 0.0;
    while queue.borrow().unfinished > 0 {
        let taken = queue.borrow_mut().waiting.pop_front();
        let Some(left) = taken else {
            context.pause(seconds(1.0)).await;
            continue;
        };
        let takes = START + left;
        if lives > takes {
            lives -= takes;
            context.pause(seconds(takes)).await;
            queue.borrow_mut().unfinished -= 1;
            last = context.now().as_nanos() as f64 / 1e9;
            continue;
        }
        context.pause(seconds(lives + NOTICED)).await;
        let written = ((lives - START).max(0.0) / PART).floor() * PART;
        queue.borrow_mut().waiting.push_back(left - written);
        queue.borrow_mut().lost += 1;
        context.pause(seconds(BACK)).await;
        lives = until_lost(&mut context);
    }
    last
}

/// Returns after how many seconds the last shard ends, and how often a processor was lost.
fn simulate(processors: usize, work: f64) -> (f64, usize) {
    let shards = processors * SHARDS_EACH;
    let mut simulation = Simulation::new(1);
    let length = |shard: usize| 1.0 + SPREAD * ((shard * 7919 % 201) as f64 / 100.0 - 1.0);
    let waiting = (0..shards).map(|shard| work / shards as f64 * length(shard)).collect();
    let queue = Rc::new(RefCell::new(Queue { waiting, unfinished: shards, lost: 0 }));
    let ends: Vec<_> = (0..processors)
        .map(|number| {
            let queue = Rc::clone(&queue);
            simulation.add(&format!("processor {number}"), |context| processor(context, queue)).returned()
        })
        .collect();
    let report = simulation.run();
    assert!(report.ended.passed(), "{}", report.ended);
    let lost = queue.borrow().lost;
    (ends.iter().filter_map(|end| end.get().as_deref().copied()).fold(0.0, f64::max), lost)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let given: Vec<f64> = std::env::args().skip(1).map(|argument| argument.parse()).collect::<Result<_, _>>()?;
    let [cases, mutants, executed] = given[..] else {
        return Err("give the numbers of test cases and of mutants, and the share of pairs that are executed".into());
    };
    let runs = cases * mutants * executed;
    let (before, merge) = (cases * RECORDING / HERE as f64, runs * MERGED);
    println!("{runs:.3e} runs: {:.1} hours of a processor, {before:.0} s before them", runs * RUN / 3600.0);
    println!("processors  lost     runs    merge      all");
    for processors in PROCESSORS {
        let (took, lost) = simulate(processors, runs * RUN);
        let merge = if processors == HERE { 0.0 } else { merge };
        let all = before + took + merge;
        println!("{processors:>10}  {lost:>4}  {took:>5.0} s  {merge:>5.0} s  {all:>5.0} s");
    }
    Ok(())
}
