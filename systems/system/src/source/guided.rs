//! Coverage-guided test cases: mutations of those that covered something new.
//!
//! The corpus holds the draws of each test case that covered a feature which none before it covered. A test case is
//! random, or has the draws of one of the corpus, its parent, but for a few that are mutated. What chance decides, which
//! are draws of bare bits, is drawn anew.
//!
//! Three of four test cases are drawn in the manner that found more of late: at first random ones do, since each is new
//! in many respects; when they no longer find anything, mutations do.
//!
//! Parents are chosen by a power schedule: the fewer test cases covered the rarest feature of an entry, and the less
//! often it was chosen, the likelier it is. So an entry whose rare feature was chance gives way soon.

use std::collections::BTreeMap;

use simutant_outcomes::Coverage;
use simutant_random::Random;

use super::sampler::{Drawn, Inherited, Position, Row, Sample, sample};
use super::source_stream;
use crate::System;
use crate::system::case_stream;

/// One of so many test cases is drawn in the manner that finds less at the time.
const LESSER_ONE_OF: u32 = 4;
/// Of how many test cases of a manner, more or less, its yield is the mean: older ones fade.
const REMEMBERED: u64 = 8;
/// How many draws are mutated at most; each number is as likely.
const MUTATIONS_MAX: usize = 3;
/// The weight of an entry that was never chosen and whose rarest feature only one test case covered.
const WEIGHT_MAX: u64 = 1 << 32;

/// What was learned, and the test cases that were decided by it.
#[derive(Debug, Clone)]
pub(super) struct Guided {
    seed: u64,
    /// How each test case was drawn whose coverage is known, and the next one.
    cases: Vec<Vec<Drawn>>,
    /// How the last of them was drawn.
    manner: Manner,
    /// By manner, how many features a test case found of late, in units of 1/256.
    yields: [u64; 2],
    corpus: Vec<Entry>,
    /// By feature, its number.
    numbers: BTreeMap<u64, usize>,
    /// By number, how many test cases covered the feature.
    covered: Vec<u64>,
}

/// How a test case is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    Random,
    Mutated,
}

/// A test case that covered something new.
#[derive(Debug, Clone)]
struct Entry {
    /// Its number.
    case: usize,
    /// The numbers of its features.
    features: Vec<usize>,
    /// How often it was chosen as a parent.
    chosen: u64,
}

impl Guided {
    pub(super) fn new<S: System>(seed: u64) -> Self {
        Self {
            seed,
            cases: vec![random_case::<S>(seed, 0).parameters],
            manner: Manner::Random,
            yields: [0; 2],
            corpus: Vec::new(),
            numbers: BTreeMap::new(),
            covered: Vec::new(),
        }
    }

    /// Returns how many test cases it has learned from.
    pub(super) fn learned(&self) -> usize {
        self.cases.len() - 1
    }

    /// Returns a test case, drawn again as it was decided; `None` if it has not been.
    pub(super) fn case<S: System>(&self, index: usize) -> Option<S::TestCase> {
        let position = |drawn: &Drawn| Some(Position::Bits(drawn.bits));
        let row = self.cases.get(index)?.iter().map(position).collect();
        Some(sample::<S>(&mut case_stream::<S>(self.seed, index), Row::Numbered(row), usize::MAX).case)
    }

    /// Learns what the last test case covered, and decides the next one.
    pub(super) fn learn<S: System>(&mut self, coverage: &Coverage) {
        let known = self.covered.len();
        let features = coverage.features().map(|feature| {
            let number = *self.numbers.entry(feature).or_insert(self.covered.len());
            if number == self.covered.len() {
                self.covered.push(0);
            }
            self.covered[number] += 1;
            number
        });
        let features: Vec<usize> = features.collect();
        let found = (self.covered.len() - known) as u64;
        let of_late = &mut self.yields[self.manner as usize];
        *of_late = *of_late / REMEMBERED * (REMEMBERED - 1) + (found << 8) / REMEMBERED;
        if found > 0 {
            self.corpus.push(Entry { case: self.learned(), features, chosen: 0 });
        }
        let next = self.next::<S>();
        self.cases.push(next);
    }

    /// Decides how the next test case is drawn. One that the system refuses is replaced by a random one.
    fn next<S: System>(&mut self) -> Vec<Drawn> {
        let index = self.cases.len();
        let mut decisions = source_stream::<S>(self.seed, &format!("guided/{index}"));
        let [random, mutated] = self.yields;
        let is_lesser = decisions.uniform(0..LESSER_ONE_OF) == 0;
        let is_random = self.corpus.is_empty() || (random > mutated) != is_lesser;
        self.manner = if is_random { Manner::Random } else { Manner::Mutated };
        if is_random {
            return random_case::<S>(self.seed, index).parameters;
        }
        let parent = self.choose(&mut decisions);
        let row = Row::Child(mutations(&self.cases[parent], &mut decisions));
        let child = sample::<S>(&mut case_stream::<S>(self.seed, index), row, usize::MAX);
        if S::validate(&child.case).is_ok() {
            return child.parameters;
        }
        // What the random one finds says nothing for mutations, and this one found nothing.
        let of_mutations = &mut self.yields[Manner::Mutated as usize];
        *of_mutations = *of_mutations / REMEMBERED * (REMEMBERED - 1);
        self.manner = Manner::Random;
        random_case::<S>(self.seed, index).parameters
    }

    /// Returns the number of a test case of the corpus.
    fn choose(&mut self, decisions: &mut Random) -> usize {
        let weight = |entry: &Entry| {
            let rarest = entry.features.iter().map(|&feature| self.covered[feature]).min();
            (WEIGHT_MAX / rarest.unwrap_or(u64::MAX) / (1 + entry.chosen)).max(1)
        };
        let weights: Vec<u64> = self.corpus.iter().map(weight).collect();
        let mut left = decisions.uniform(0..weights.iter().sum());
        let is_chosen = |weight: &u64| {
            let is_chosen = left < *weight;
            left = left.saturating_sub(*weight);
            is_chosen
        };
        let chosen = weights.iter().position(is_chosen).expect("the number is below the sum");
        self.corpus[chosen].chosen += 1;
        self.corpus[chosen].case
    }
}

/// Draws the test case of the uniform source.
fn random_case<S: System>(seed: u64, index: usize) -> Sample<S::TestCase> {
    sample::<S>(&mut case_stream::<S>(seed, index), Row::Numbered(Vec::new()), usize::MAX)
}

/// Returns the draws of a child: those of its parent, but for one to three that are drawn anew, moved to a value near
/// by, or moved to an end of their range.
fn mutations(parent: &[Drawn], decisions: &mut Random) -> Vec<Inherited> {
    let inherit = |drawn: &Drawn| Inherited { draw: drawn.draw, position: Some(Position::Bits(drawn.bits)) };
    let mut child: Vec<Inherited> = parent.iter().map(inherit).collect();
    let mutable: Vec<usize> = (0..parent.len()).filter(|&number| parent[number].has_others()).collect();
    for _ in 0..decisions.uniform(1..=MUTATIONS_MAX) {
        let Some(&number) = decisions.choose(&mutable) else { break };
        child[number].position = match decisions.uniform(0..4) {
            0 | 1 => None,
            2 => Some(Position::Bits(parent[number].neighbour(decisions))),
            _ => Some(Position::Level(decisions.uniform(0..2), 2)),
        };
    }
    child
}
