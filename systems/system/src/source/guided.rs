//! Coverage-guided test cases: mutations of those that covered something new.
//!
//! The corpus holds the draws of each test case that covered a feature which none before it covered. A test case is
//! random, or has the draws of one of the corpus, its parent, but for a few that are mutated. What chance decides, which
//! are draws of bare bits, is drawn anew.
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

/// One of so many test cases is random, so that what no mutation leads to is found as well.
const RANDOM_ONE_OF: u32 = 4;
/// How many draws are mutated at most; each number is as likely.
const MUTATIONS_MAX: usize = 3;
/// The weight of an entry that was never chosen and whose rarest feature only one test case covered.
const WEIGHT_MAX: u64 = 1 << 32;

/// What was learned, and the test cases that were decided by it.
#[derive(Debug, Clone)]
pub(super) struct Guided<C> {
    seed: u64,
    /// Those whose coverage is known, and the next one.
    cases: Vec<C>,
    /// How the last of them was drawn.
    drawn: Vec<Drawn>,
    corpus: Vec<Entry>,
    /// By feature, its number.
    numbers: BTreeMap<u64, usize>,
    /// By number, how many test cases covered the feature.
    covered: Vec<u64>,
}

/// A test case that covered something new.
#[derive(Debug, Clone)]
struct Entry {
    drawn: Vec<Drawn>,
    /// The numbers of its features.
    features: Vec<usize>,
    /// How often it was chosen as a parent.
    chosen: u64,
}

impl<C: Clone> Guided<C> {
    pub(super) fn new<S: System<TestCase = C>>(seed: u64) -> Self {
        let Sample { case, parameters } = random_case::<S>(seed, 0);
        let (corpus, numbers, covered) = (Vec::new(), BTreeMap::new(), Vec::new());
        Self { seed, cases: vec![case], drawn: parameters, corpus, numbers, covered }
    }

    /// Returns how many test cases it has learned from.
    pub(super) fn learned(&self) -> usize {
        self.cases.len() - 1
    }

    /// Returns a test case that has been decided.
    pub(super) fn case(&self, index: usize) -> Option<&C> {
        self.cases.get(index)
    }

    /// Learns what the last test case covered, and decides the next one.
    pub(super) fn learn<S: System<TestCase = C>>(&mut self, coverage: &Coverage) {
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
        if self.covered.len() > known {
            self.corpus.push(Entry { drawn: std::mem::take(&mut self.drawn), features, chosen: 0 });
        }
        let Sample { case, parameters } = self.next::<S>();
        self.cases.push(case);
        self.drawn = parameters;
    }

    /// Draws the next test case. One that the system refuses is replaced by a random one.
    fn next<S: System<TestCase = C>>(&mut self) -> Sample<C> {
        let index = self.cases.len();
        let mut decisions = source_stream::<S>(self.seed, &format!("guided/{index}"));
        if self.corpus.is_empty() || decisions.uniform(0..RANDOM_ONE_OF) == 0 {
            return random_case::<S>(self.seed, index);
        }
        let parent = self.choose(&mut decisions);
        parent.chosen += 1;
        let row = Row::Child(mutated(&parent.drawn, &mut decisions));
        let child = sample::<S>(&mut case_stream::<S>(self.seed, index), row, usize::MAX);
        if S::validate(&child.case).is_ok() { child } else { random_case::<S>(self.seed, index) }
    }

    fn choose(&mut self, decisions: &mut Random) -> &mut Entry {
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
        &mut self.corpus[chosen]
    }
}

/// Draws the test case of the uniform source.
fn random_case<S: System>(seed: u64, index: usize) -> Sample<S::TestCase> {
    sample::<S>(&mut case_stream::<S>(seed, index), Row::Numbered(Vec::new()), usize::MAX)
}

/// Returns the draws of a child: those of its parent, but for one to three that are drawn anew, moved to a value near
/// by, or moved to an end of their range.
fn mutated(parent: &[Drawn], decisions: &mut Random) -> Vec<Inherited> {
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
