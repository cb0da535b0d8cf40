//! Tuning of the bandit's rewards.

use serde::Serialize;
use simutant_models::{Bandit, Rewards, Strategy};

use crate::nsga2::{Individual, Nsga2};
use crate::parallel;
use crate::subject::{Measured, Subject};

/// How rewards are tuned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tuning {
    /// How many walks a suite has.
    pub tests: usize,
    /// How many suites of each subject count, by the seeds from 0 on.
    pub seeds: u64,
    /// Which factors of the bandit's bonus there are.
    pub tradeoff: Tradeoff,
    /// How rewards are searched for.
    pub search: Nsga2,
    /// On how many threads suites run. The result does not depend on it.
    pub threads: usize,
}

impl Default for Tuning {
    /// That of Wang et al. (2020, IV-A): suites of 50 walks, 40 seeds, and the search that they had.
    fn default() -> Self {
        Self { tests: 50, seeds: 40, tradeoff: Tradeoff::Fixed(2.0), search: Nsga2::default(), threads: 1 }
    }
}

/// Which factors of the bandit's bonus there are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tradeoff {
    /// This one.
    Fixed(f64),
    /// All from 0 to this one: it is tuned with the rewards.
    UpTo(f64),
}

/// Rewards that no others of the last generation dominate, with their scores.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Candidate {
    /// The rewards, in the order of [`REWARDS`].
    pub rewards: [f64; 8],
    /// The factor of the bonus for transitions that were tried seldom.
    pub tradeoff: f64,
    /// The mean of all scores.
    pub mean: f64,
    /// The scores, in the order of [`Front::objectives`].
    pub scores: Vec<f64>,
}

/// The names of a bandit's rewards, as vectors have them.
pub const REWARDS: [&str; 8] = [
    "to_other",
    "to_self",
    "backtracked",
    "failed",
    "precondition_passed",
    "precondition_failed",
    "assertion_passed",
    "assertion_failed",
];

impl Candidate {
    /// Returns a bandit with these rewards.
    pub fn bandit(&self) -> Bandit {
        Bandit::new(rewards(&self.rewards), self.tradeoff)
    }
}

/// A Pareto set of rewards, and the front of their scores.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Front {
    /// What candidates are scored by: each subject by each of [`Measured::SCORES`], as `subject: score`.
    pub objectives: Vec<String>,
    /// The candidates, from the one with the highest mean on.
    pub candidates: Vec<Candidate>,
}

/// Tunes the rewards of a [`Bandit`] on subjects, by [`Nsga2`]: the objectives are the mean scores of each subject, over
/// all seeds. Modbat's default rewards are among the first candidates. With many objectives hardly any candidate
/// dominates another one, so the defaults may be crowded out.
///
/// The cost is `subjects * seeds * tests * population * (generations + 1)` walks.
pub fn tune(subjects: &[&dyn Subject], tuning: &Tuning) -> Front {
    let dimensions = REWARDS.len() + usize::from(matches!(tuning.tradeoff, Tradeoff::UpTo(_)));
    let mut start = genes(&Rewards::default()).to_vec();
    if let Tradeoff::UpTo(most) = tuning.tradeoff {
        start.push(if most > 0.0 { (2.0 / most).min(1.0) } else { 0.0 });
    }
    let evaluate = |all: &[Vec<f64>]| {
        let suites = subjects.len() * tuning.seeds as usize;
        let measured = parallel::map(all.len() * suites, tuning.threads, |number| {
            let (rewards, tradeoff) = decoded(&all[number / suites.max(1)], tuning.tradeoff);
            let (subject, seed) = (number % suites / tuning.seeds as usize, number as u64 % tuning.seeds);
            let strategy: Box<dyn Strategy> = Box::new(Bandit::new(rewards, tradeoff));
            subjects[subject].suite(strategy, tuning.tests, seed)
        });
        let of = |suites: &[Measured]| suites.chunks(tuning.seeds as usize).flat_map(mean_scores).collect();
        if suites == 0 { vec![Vec::new(); all.len()] } else { measured.chunks(suites).map(of).collect() }
    };
    let found = tuning.search.maximise(dimensions, &[start], evaluate);
    let names = |subject: &&dyn Subject| Measured::SCORES.map(|score| format!("{}: {score}", subject.name()));
    let mut candidates: Vec<Candidate> =
        found.into_iter().map(|individual| candidate(individual, tuning.tradeoff)).collect();
    candidates.sort_by(|one, other| other.mean.total_cmp(&one.mean));
    Front { objectives: subjects.iter().flat_map(names).collect(), candidates }
}

fn candidate(Individual { genes, objectives }: Individual, tradeoff: Tradeoff) -> Candidate {
    let tuned = decoded(&genes, tradeoff);
    let mean = objectives.iter().sum::<f64>() / objectives.len().max(1) as f64;
    Candidate { rewards: self::genes(&tuned.0), tradeoff: tuned.1, mean, scores: objectives }
}

fn mean_scores(suites: &[Measured]) -> [f64; 4] {
    let mut sums = [0.0; 4];
    for suite in suites {
        sums.iter_mut().zip(suite.scores()).for_each(|(sum, score)| *sum += score);
    }
    sums.map(|sum| sum / suites.len() as f64)
}

fn decoded(genes: &[f64], tradeoff: Tradeoff) -> (Rewards, f64) {
    let mut all = [0.0; 8];
    all.iter_mut().zip(genes).for_each(|(reward, gene)| *reward = *gene);
    let tradeoff = match tradeoff {
        Tradeoff::Fixed(tradeoff) => tradeoff,
        Tradeoff::UpTo(most) => genes.get(REWARDS.len()).map_or(0.0, |gene| gene * most),
    };
    (rewards(&all), tradeoff)
}

fn rewards(genes: &[f64; 8]) -> Rewards {
    let [
        to_other,
        to_self,
        backtracked,
        failed,
        precondition_passed,
        precondition_failed,
        assertion_passed,
        assertion_failed,
    ] = *genes;
    Rewards {
        to_other,
        to_self,
        backtracked,
        failed,
        precondition_passed,
        precondition_failed,
        assertion_passed,
        assertion_failed,
    }
}

fn genes(rewards: &Rewards) -> [f64; 8] {
    let Rewards {
        to_other,
        to_self,
        backtracked,
        failed,
        precondition_passed,
        precondition_failed,
        assertion_passed,
        assertion_failed,
    } = *rewards;
    [
        to_other,
        to_self,
        backtracked,
        failed,
        precondition_passed,
        precondition_failed,
        assertion_passed,
        assertion_failed,
    ]
}
