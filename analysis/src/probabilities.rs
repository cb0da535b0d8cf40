//! How likely each test case kills each mutant, and what follows for suites.

mod neighbours;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use simutant_outcomes::{BitSet, Outcomes, Reseeded};

use crate::missing::missing_of_random;
use crate::mutants::{MutantClass, MutantClasses};
use crate::statistics::{Posterior, Prior};

use neighbours::Neighbours;

/// So many test cases are near: the universe divided by each of these, the widest neighbourhood first.
const NEAR: [usize; 3] = [4, 16, 64];
/// No more test cases are near than this: more would need much memory, and say little that is new.
const NEAR_MAX: usize = 1_000;
/// With fewer near test cases than this, they say too little.
const NEAR_MIN: usize = 8;
/// How many runs the neighbours may be worth.
const STRENGTHS: [f64; 11] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

/// The probability of each test case to let each mutant survive, when its chance is drawn anew.
///
/// Test cases are independent: whether one kills a mutant says nothing about whether another does. So a suite lets a
/// mutant survive with the product of their probabilities. Of a repetition of one test case the probability is the
/// same, but it is not known for sure: that the first run let the mutant survive makes it likelier that the second
/// does.
#[derive(Debug, Clone)]
pub(crate) struct KillProbabilities {
    cases: usize,
    /// The mutants that count: their numbers, ascending.
    pub(crate) mutants: Vec<usize>,
    /// How hard each of them is to kill: the probability that a random test case lets it survive.
    pub(crate) difficulty: Vec<f64>,
    /// Shape `cases x mutants that count`.
    survival: Vec<Posterior>,
    /// How likely a test case that kills a mutant finds what is looked for: 1 for the mutant itself.
    coupling: f64,
}

/// A mutant and a test case some of whose runs kill it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct KillProbability {
    /// The mutant's number.
    pub mutant: usize,
    /// The test case's number.
    pub case: usize,
    /// How often the test case was run on the mutant, each time with its chance drawn anew.
    pub runs: u8,
    /// How many of these runs killed it.
    pub kills: u8,
    /// How likely one more run kills it, by these runs and those of test cases that are alike.
    pub probability: f64,
}

/// Returns the pairs of which some run kills a mutant that expected scores count, by mutant and test case; none without
/// re-seedings.
///
/// # Panics
/// If `classes` are not those of the mutants of `outcomes`.
pub fn kill_probabilities(outcomes: &Outcomes, classes: &MutantClasses) -> Vec<KillProbability> {
    let known = KillProbabilities::of(outcomes, classes);
    let Some((known, reseeded)) = known.zip(outcomes.reseeded.as_ref()) else { return Vec::new() };
    let of_mutant = |(place, &mutant): (usize, &usize)| {
        let known = &known;
        let pairs = reseeded.runs[mutant].iter().zip(&reseeded.kills[mutant]).enumerate();
        pairs.filter(|(_, (_, kills))| **kills > 0).map(move |(case, (&runs, &kills))| {
            let probability = 1.0 - known.survival(case, place);
            KillProbability { mutant, case, runs, kills, probability }
        })
    };
    known.mutants.iter().enumerate().flat_map(of_mutant).collect()
}

/// What a suite is expected to kill.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ExpectedScore {
    /// The expected share of mutants that are killed, each counted by its difficulty.
    pub mean: f64,
    /// How sure that is: the standard deviation of it that comes of the few re-seedings that the probabilities are
    /// known from.
    pub sd: f64,
}

impl KillProbabilities {
    /// Estimates the probabilities of the mutants that scores count; `None` without re-seedings, or if no score is
    /// defined.
    pub(crate) fn of(outcomes: &Outcomes, classes: &MutantClasses) -> Option<Self> {
        let found = Self::new(outcomes, outcomes.reseeded.as_ref()?, &counted(classes));
        found.total_difficulty().is_some().then_some(found)
    }

    /// Estimates the probabilities of the mutants of `counted` from their re-seedings. A mutant that no run kills does
    /// not count.
    ///
    /// A few runs of a pair say little, and test cases that are alike say more: what is believed of a pair before its
    /// own runs is the share of kills on its nearest test cases, worth some runs. How many test cases are near, and how
    /// many runs they are worth, is for each mutant what makes all its runs most likely, each predicted by others
    /// alone; where alike test cases do not kill alike, they are worth little.
    fn new(outcomes: &Outcomes, reseeded: &Reseeded, counted: &BitSet) -> Self {
        let is_killed = |mutant: &usize| reseeded.kills[*mutant].iter().any(|&kills| kills > 0);
        let mutants: Vec<usize> = counted.ones().filter(is_killed).collect();
        let cases = outcomes.cases.len();
        let inputs: Vec<serde_json::Value> = outcomes.cases.iter().map(|case| case.case.clone()).collect();
        let chance: BTreeSet<String> = reseeded.chance.iter().cloned().collect();
        let neighbours = Neighbours::new(&inputs, &chance, (cases / NEAR[0]).min(NEAR_MAX));
        let mut survival = vec![Posterior::certain(false); cases * mutants.len()];
        let mut difficulty = Vec::with_capacity(mutants.len());
        for (place, &mutant) in mutants.iter().enumerate() {
            let known = estimate(&reseeded.runs[mutant], &reseeded.kills[mutant], &neighbours);
            difficulty.push(known.iter().map(|known| known.failure).sum::<f64>() / cases as f64);
            known.into_iter().enumerate().for_each(|(case, known)| survival[case * mutants.len() + place] = known);
        }
        Self { cases, mutants, difficulty, survival, coupling: 1.0 }
    }

    /// Returns the same of faults in the place of the mutants: a test case that kills a mutant finds a fault of its
    /// kind with the probability `coupling`, or else does not however often it runs. Survival is that of the fault
    /// then.
    pub(crate) fn coupled(&self, coupling: f64) -> Self {
        Self { coupling, ..self.clone() }
    }

    /// Returns the numbers of the mutants that tell suites apart, each with its re-seedings and their kills.
    pub(crate) fn rows<'a>(&self, reseeded: &'a Reseeded) -> impl Iterator<Item = (usize, [&'a [u8]; 2])> {
        let differs = |place: &usize| self.difficulty[*place] > 0.0;
        let mutants = (0..self.mutants.len()).filter(differs).map(|place| self.mutants[place]);
        mutants.map(|mutant| (mutant, [reseeded.runs[mutant].as_slice(), reseeded.kills[mutant].as_slice()]))
    }

    /// Returns what is known of some of the mutants that count, by their numbers.
    pub(crate) fn restricted(&self, keeps: impl Fn(usize) -> bool) -> Self {
        let kept: Vec<usize> = (0..self.mutants.len()).filter(|&place| keeps(self.mutants[place])).collect();
        let survival = (0..self.cases).flat_map(|case| kept.iter().map(move |&place| self.known(case, place)));
        Self {
            cases: self.cases,
            mutants: kept.iter().map(|&place| self.mutants[place]).collect(),
            difficulty: kept.iter().map(|&place| self.difficulty[place]).collect(),
            survival: survival.collect(),
            coupling: self.coupling,
        }
    }

    /// Returns how many test cases there are.
    pub(crate) fn cases(&self) -> usize {
        self.cases
    }

    /// Returns the probability that a test case lets a mutant that counts survive.
    pub(crate) fn survival(&self, case: usize, place: usize) -> f64 {
        self.survival_of(case, place, 1)
    }

    /// Returns the probability that so many runs of a test case all let a mutant that counts survive.
    pub(crate) fn survival_of(&self, case: usize, place: usize, times: u32) -> f64 {
        1.0 - self.coupling * (1.0 - self.known(case, place).all_fail(times))
    }

    /// Returns the probability that run `run` of a test case, from 1 on, lets a mutant survive that those before did; 1 if
    /// none does.
    pub(crate) fn survival_of_run(&self, case: usize, place: usize, run: u32) -> f64 {
        let before = if run == 1 { 1.0 } else { self.survival_of(case, place, run - 1) };
        if before > 0.0 { self.survival_of(case, place, run) / before } else { 1.0 }
    }

    /// Returns the expected square of what [`Self::survival_of`] is the expected value of.
    fn squared_survival_of(&self, case: usize, place: usize, times: u32) -> f64 {
        let known = self.known(case, place);
        let missed = 1.0 - self.coupling;
        missed * missed
            + 2.0 * missed * self.coupling * known.all_fail(times)
            + self.coupling * self.coupling * known.all_fail(2 * times)
    }

    /// Returns what is known of the probability that a run lets the mutant survive.
    fn known(&self, case: usize, place: usize) -> Posterior {
        self.survival[case * self.mutants.len() + place]
    }

    /// Returns for each mutant that counts the probability that all of `cases` let it survive.
    pub(crate) fn survivals(&self, cases: &[usize]) -> Vec<f64> {
        let mut survivals = vec![1.0; self.mutants.len()];
        for (case, times) in times(cases) {
            survivals.iter_mut().enumerate().for_each(|(place, left)| *left *= self.survival_of(case, place, times));
        }
        survivals
    }

    /// Returns what a suite is expected to kill, `None` if no mutant counts, or all are killed by every test case. A
    /// test case may be in it several times.
    pub(crate) fn score(&self, cases: &[usize]) -> Option<ExpectedScore> {
        let total = self.total_difficulty()?;
        let (mut killed, mut variance) = (0.0, 0.0);
        let times = times(cases);
        for (place, difficulty) in self.difficulty.iter().enumerate() {
            let (mut survival, mut squared) = (1.0, 1.0);
            for &(case, times) in &times {
                survival *= self.survival_of(case, place, times);
                squared *= self.squared_survival_of(case, place, times);
            }
            let weight = difficulty / total;
            killed += weight * (1.0 - survival);
            variance += weight * weight * (squared - survival * survival).max(0.0);
        }
        Some(ExpectedScore { mean: killed, sd: variance.sqrt() })
    }

    /// Returns the expected share of some mutants that a suite kills, each counted by its difficulty; `None` if all
    /// that count of them are killed by every test case.
    pub(crate) fn score_on(&self, cases: &[usize], of: &BitSet) -> Option<f64> {
        let survivals = self.survivals(cases);
        let (mut killed, mut total) = (0.0, 0.0);
        for place in (0..self.mutants.len()).filter(|&place| of.contains(self.mutants[place])) {
            killed += self.difficulty[place] * (1.0 - survivals[place]);
            total += self.difficulty[place];
        }
        (total > 0.0).then(|| killed / total)
    }

    /// Returns the expected share of some mutants that a suite kills, each counted the same; `None` if none of them
    /// counts.
    pub(crate) fn share(&self, cases: &[usize], of: &BitSet) -> Option<f64> {
        let survivals = self.survivals(cases);
        let places: Vec<usize> = (0..self.mutants.len()).filter(|&place| of.contains(self.mutants[place])).collect();
        let killed: f64 = places.iter().map(|&place| 1.0 - survivals[place]).sum();
        (!places.is_empty()).then(|| killed / places.len() as f64)
    }

    /// Returns the sum of all difficulties, `None` if it is 0.
    pub(crate) fn total_difficulty(&self) -> Option<f64> {
        let total: f64 = self.difficulty.iter().sum();
        (total > 0.0).then_some(total)
    }

    /// Returns the expected scores of random suites of 1 to `size_max` different test cases, `None` without a score.
    /// Cost O(mutants * cases * size_max).
    pub(crate) fn random(&self, size_max: usize) -> Option<Vec<f64>> {
        let total = self.total_difficulty()?;
        let sizes = size_max.min(self.cases);
        let mut scores = vec![0.0; sizes];
        for (place, difficulty) in self.difficulty.iter().enumerate() {
            let survival: Vec<f64> = (0..self.cases).map(|case| self.survival(case, place)).collect();
            for (score, survival) in scores.iter_mut().zip(&missing_of_random(&survival, sizes)[1..]) {
                *score += difficulty / total * (1.0 - survival);
            }
        }
        Some(scores)
    }
}

/// Returns what is known of each test case after its own runs and those of its neighbours.
fn estimate(runs: &[u8], kills: &[u8], neighbours: &Neighbours) -> Vec<Posterior> {
    let total = |counts: &[u8]| counts.iter().map(|&count| u64::from(count)).sum::<u64>() as f64;
    let (all_runs, all_kills) = (total(runs), total(kills));
    if all_kills == 0.0 || all_kills == all_runs {
        return vec![Posterior::certain(all_kills > 0.0); runs.len()];
    }
    let share = all_kills / all_runs;
    let mut best = (f64::NEG_INFINITY, vec![share; runs.len()], STRENGTHS[0]);
    let mut consider = |means: Vec<f64>| {
        for strength in STRENGTHS {
            let likelihood: f64 = means
                .iter()
                .zip(runs.iter().zip(kills))
                .map(|(&mean, (&runs, &kills))| Prior { mean, strength }.likelihood(runs, kills).ln())
                .sum();
            if likelihood > best.0 {
                best = (likelihood, means.clone(), strength);
            }
        }
    };
    consider(vec![share; runs.len()]);
    for near in NEAR {
        let count = (runs.len() / near).min(NEAR_MAX);
        if count < NEAR_MIN {
            break;
        }
        let mean = |case: usize| {
            let near = &neighbours.of(case)[..count.min(neighbours.of(case).len())];
            let sum = |counts: &[u8]| near.iter().map(|&other| f64::from(counts[other as usize])).sum::<f64>();
            // One run of all test cases, so that no probability is ruled out.
            (sum(kills) + share) / (sum(runs) + 1.0)
        };
        consider((0..runs.len()).map(mean).collect());
    }
    let (_, means, strength) = best;
    let known = |(mean, (&runs, &kills)): (f64, (&u8, &u8))| Prior { mean, strength }.after(runs, kills);
    means.into_iter().zip(runs.iter().zip(kills)).map(known).collect()
}

/// Returns the test cases of a suite, each once, with how often it is in it.
fn times(cases: &[usize]) -> Vec<(usize, u32)> {
    let mut times: BTreeMap<usize, u32> = BTreeMap::new();
    cases.iter().for_each(|&case| *times.entry(case).or_default() += 1);
    times.into_iter().collect()
}

/// Returns the mutants that scores count, if some run kills them: all but those that stand for others.
pub(crate) fn counted(classes: &MutantClasses) -> BitSet {
    let mut counted = BitSet::with_capacity(classes.classes.len());
    let counts = |class: MutantClass| !matches!(class, MutantClass::Duplicate | MutantClass::Equivalent);
    counted.extend((0..classes.classes.len()).filter(|&mutant| counts(classes.classes[mutant])));
    counted
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::random::NamedStream;
    use proptest::prelude::*;
    use simutant_synthetic::reseeded;

    pub(crate) fn probabilities(outcomes: &Outcomes) -> KillProbabilities {
        let counted = (0..outcomes.kills.len()).collect();
        KillProbabilities::new(outcomes, outcomes.reseeded.as_ref().expect("there are re-seedings"), &counted)
    }

    /// Probabilities that are known for certain, without a fit.
    pub(crate) fn known(survival: &[Vec<f64>]) -> KillProbabilities {
        let mutants = survival[0].len();
        let difficulty =
            (0..mutants).map(|place| survival.iter().map(|row| row[place]).sum::<f64>() / survival.len() as f64);
        KillProbabilities {
            cases: survival.len(),
            mutants: (0..mutants).collect(),
            difficulty: difficulty.collect(),
            survival: survival
                .iter()
                .flatten()
                .map(|&failure| Posterior { failure, strength: f64::INFINITY })
                .collect(),
            coupling: 1.0,
        }
    }

    fn any_survival(cases: usize) -> impl Strategy<Value = Vec<Vec<f64>>> {
        let value = prop_oneof![Just(0.0), Just(1.0), 0.0..1.0_f64];
        (1..4_usize, 1..=cases).prop_flat_map(move |(mutants, cases)| {
            prop::collection::vec(prop::collection::vec(value.clone(), mutants), cases)
        })
    }

    /// Returns whether so many kills of further runs lie in the middle 95 % of what is believed to come.
    fn foresees(known: Posterior, runs: u32, kills: u32) -> bool {
        if known.strength.is_infinite() {
            return (known.failure == 1.0 && kills == 0) || (known.failure == 0.0 && kills == runs);
        }
        let (of_kill, of_survival) = ((1.0 - known.failure) * known.strength, known.failure * known.strength);
        let (runs, ln) = (f64::from(runs), statrs::function::gamma::ln_gamma);
        let beta = |one: f64, other: f64| ln(one) + ln(other) - ln(one + other);
        let probability = |kills: f64| {
            let ways = ln(runs + 1.0) - ln(kills + 1.0) - ln(runs - kills + 1.0);
            (ways + beta(of_kill + kills, of_survival + runs - kills) - beta(of_kill, of_survival)).exp()
        };
        let below: f64 = (0..kills).map(|kills| probability(f64::from(kills))).sum();
        let at = probability(f64::from(kills));
        below < 0.975 && below + at > 0.025
    }

    /// Probabilities that rise with a parameter, and vary beside it; runs are closed as campaigns close them.
    #[test]
    fn few_runs_foresee_what_many_come_to() {
        const CASES: usize = 400;
        let mut stream = NamedStream::new(7, "a test of few runs");
        let (mut agree, mut all) = (0, 0);
        for (slope, spread) in [(0.0, 0.02), (0.5, 0.2), (1.0, 0.0), (2.0, 0.4), (0.2, 0.6), (1.0, 1.0)] {
            let mut chance = || stream.below(1 << 30) as f64 / f64::from(1 << 30);
            let probability = |case: usize, chance: f64| {
                (slope * (case as f64 / CASES as f64 - 0.4) + spread * (chance - 0.5)).clamp(0.0, 1.0)
            };
            let probabilities: Vec<f64> = (0..CASES).map(|case| probability(case, chance())).collect();
            let (mut runs, mut kills, mut further) = (vec![0_u8; CASES], vec![0_u8; CASES], vec![0_u32; CASES]);
            for (case, &probability) in probabilities.iter().enumerate() {
                while runs[case] < 8 && (runs[case] < 3 || (0 < kills[case] && kills[case] < runs[case])) {
                    runs[case] += 1;
                    kills[case] += u8::from(chance() < probability);
                }
                further[case] = (0..200).map(|_| u32::from(chance() < probability)).sum();
            }
            let inputs: Vec<serde_json::Value> = (0..CASES).map(|case| serde_json::json!({ "loss": case })).collect();
            let neighbours = Neighbours::new(&inputs, &BTreeSet::new(), CASES / 4);
            let known = estimate(&runs, &kills, &neighbours);
            agree += known.iter().zip(&further).filter(|(known, further)| foresees(**known, 200, **further)).count();
            all += CASES;
        }
        assert!(agree as f64 >= 0.93 * all as f64, "{agree} of {all}");
    }

    #[test]
    fn mutants_that_nothing_kills_do_not_count_and_those_that_all_kill_weigh_nothing() {
        let probabilities = probabilities(&reseeded(&[&[0, 0, 0], &[8, 8, 8], &[8, 0, 0]]));
        assert_eq!(probabilities.mutants, [1, 2]);
        assert_eq!(probabilities.difficulty[0], 0.0);
        assert!((probabilities.difficulty[1] - 2.0 / 3.0).abs() < 0.01);
        let score = |cases: &[usize]| probabilities.score(cases).expect("a mutant counts").mean;
        assert!(score(&[0]) > 0.95 && score(&[1]) < 0.05);
    }

    #[test]
    fn nothing_to_kill_is_no_score() {
        assert_eq!(probabilities(&reseeded(&[&[0, 0]])).score(&[0]), None);
        assert_eq!(probabilities(&reseeded(&[&[8, 8]])).score(&[0]), None);
        assert_eq!(probabilities(&reseeded(&[&[8, 8]])).random(2), None);
    }

    #[test]
    fn an_input_that_is_repeated_kills_more_often() {
        let probabilities = known(&[vec![0.5], vec![1.0]]);
        let score = |cases: &[usize]| probabilities.score(cases).expect("a mutant counts").mean;
        assert_eq!([score(&[0]), score(&[0, 0]), score(&[0, 0, 0]), score(&[1, 0])], [0.5, 0.75, 0.875, 0.5]);
    }

    #[test]
    fn what_is_known_of_few_runs_is_less_sure() {
        let mut outcomes = reseeded(&[&[4, 2, 6, 1, 7, 0, 8, 4]]);
        let sure = probabilities(&outcomes).score(&[0]).expect("a mutant counts").sd;
        let reseeded = outcomes.reseeded.as_mut().expect("there are re-seedings");
        (reseeded.runs[0][0], reseeded.kills[0][0]) = (2, 1);
        let unsure = probabilities(&outcomes).score(&[0]).expect("a mutant counts").sd;
        assert!(0.0 < sure && sure < 0.8 * unsure, "{sure} and {unsure}");
    }

    proptest! {
        #[test]
        fn the_closed_form_of_random_suites_is_the_mean_over_all_suites(survival in any_survival(7)) {
            let probabilities = known(&survival);
            let cases = survival.len();
            let Some(found) = probabilities.random(cases) else {
                prop_assert!(probabilities.total_difficulty().is_none());
                return Ok(());
            };
            for size in 1..=cases {
                let suites = (0..1_u32 << cases).filter(|suite| suite.count_ones() as usize == size);
                let scores: Vec<f64> = suites
                    .map(|suite| {
                        let cases: Vec<usize> = (0..cases).filter(|case| suite >> case & 1 == 1).collect();
                        probabilities.score(&cases).expect("there is a score").mean
                    })
                    .collect();
                let mean = scores.iter().sum::<f64>() / scores.len() as f64;
                prop_assert!((mean - found[size - 1]).abs() < 1e-9, "size {}: {} and {}", size, mean, found[size - 1]);
            }
        }

        #[test]
        fn the_expected_score_is_what_simulated_runs_kill(survival in any_survival(5), coupling in 0.1..=1.0_f64, seed: u64) {
            let probabilities = known(&survival).coupled(coupling);
            let Some(total) = probabilities.total_difficulty() else { return Ok(()) };
            let suite: Vec<usize> = (0..survival.len()).chain([0]).collect();
            let expected = probabilities.score(&suite).expect("there is a score").mean;
            const TRIALS: usize = 4000;
            let mut stream = NamedStream::new(seed, "a test of expected scores");
            let mut sum = 0.0;
            for _ in 0..TRIALS {
                for (place, difficulty) in probabilities.difficulty.iter().enumerate() {
                    let mut chance = || stream.below(1 << 30) as f64 / f64::from(1 << 30);
                    let finds: Vec<bool> = survival.iter().map(|_| chance() < coupling).collect();
                    // Each run is made: whether it kills depends on no other.
                    let mut found = |case: &&usize| chance() >= survival[**case][place] && finds[**case];
                    sum += f64::from(u8::from(suite.iter().filter(|case| found(case)).count() > 0)) * difficulty / total;
                }
            }
            // Five standard deviations of the mean of numbers between 0 and 1.
            prop_assert!((sum / TRIALS as f64 - expected).abs() < 2.5 / (TRIALS as f64).sqrt());
        }
    }
}
