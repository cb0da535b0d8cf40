//! How much memory and time an analysis takes, on outcomes of any size that are made without a campaign:
//!
//! ```text
//! cargo run --release --package simutant-analysis --example capacity -- CASES MUTANTS
//! ```

#![expect(clippy::print_stdout, reason = "it is a program")]

use std::num::NonZeroUsize;
use std::time::Instant;

use simutant_analysis::{AnalysisOptions, analyse_with_threads};
use simutant_outcomes::{BitSet, Outcomes};
use simutant_synthetic::synthetic;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<usize>());
    let (Some(cases), Some(mutants)) = (arguments.next(), arguments.next()) else {
        return Err("give the numbers of test cases and of mutants".into());
    };
    let (cases, mutants) = (cases?, mutants?);
    let outcomes = enlarged(synthetic(cases, 1), mutants);
    let made = peak_mib()?;
    let begun = Instant::now();
    let jobs = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let analysis = analyse_with_threads(&outcomes, &AnalysisOptions::default(), jobs)?;
    println!(
        "{cases} test cases, {mutants} mutants, {} dominators: outcomes {made} MiB, with the analysis {} MiB at most, {:.1} s",
        analysis.dominators.classes.len(),
        peak_mib()?,
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}

/// Repeats the mutants until there are so many, each killed on some other test cases than the one that it is of.
fn enlarged(mut outcomes: Outcomes, mutants: usize) -> Outcomes {
    let first = outcomes.sites.mutants.len();
    let cases = outcomes.cases.len();
    for mutant in first..mutants {
        let of = mutant % first;
        let repeated = outcomes.sites.mutants[of].clone();
        outcomes.sites.mutants.push(repeated);
        let shift = mutant * 7919 % cases;
        let moved = |set: &BitSet| {
            let mut moved = BitSet::with_capacity(cases);
            set.ones().for_each(|case| moved.insert((case + shift) % cases));
            moved
        };
        let (kills, diverged) = (moved(&outcomes.kills[of]), moved(&outcomes.diverged[of]));
        outcomes.kills.push(kills);
        outcomes.diverged.push(diverged);
        let (verdicts, causes, reasons) =
            (outcomes.verdicts[of], outcomes.causes[of].clone(), outcomes.reasons[of].clone());
        outcomes.verdicts.push(verdicts);
        outcomes.causes.push(causes);
        outcomes.reasons.push(reasons);
    }
    for (number, case) in outcomes.cases.iter_mut().enumerate() {
        for set in [&mut case.reached, &mut case.infected] {
            set.grow(mutants);
            (first..mutants)
                .filter(|mutant| outcomes.diverged[*mutant].contains(number))
                .for_each(|mutant| set.insert(mutant));
        }
    }
    outcomes
}

/// Returns the most memory that the process had at a time.
fn peak_mib() -> Result<u64, Box<dyn std::error::Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("the system does not tell")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse::<u64>()? / 1024)
}
