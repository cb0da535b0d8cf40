//! A suite that grows, and what each test case would add to it.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::probabilities::KillProbabilities;

/// A suite that grows, with what is left to be killed.
#[derive(Debug, Clone)]
pub(super) struct Growing<'a> {
    probabilities: &'a KillProbabilities,
    pub(super) cases: Vec<usize>,
    /// By test case, how often it is in the suite.
    times: Vec<u32>,
    /// By mutant that counts, its difficulty times the probability that it survives the suite.
    left: Vec<f64>,
}

impl<'a> Growing<'a> {
    pub(super) fn new(probabilities: &'a KillProbabilities) -> Self {
        let (times, left) = (vec![0; probabilities.cases()], probabilities.difficulty.clone());
        Self { probabilities, cases: Vec::new(), times, left }
    }

    /// Returns the suite of these test cases.
    pub(super) fn of(probabilities: &'a KillProbabilities, cases: impl IntoIterator<Item = usize>) -> Self {
        let mut growing = Self::new(probabilities);
        cases.into_iter().for_each(|case| growing.take(case));
        growing
    }

    /// Returns what a test case adds to the expected score, in units of difficulty.
    pub(super) fn gain(&self, case: usize) -> f64 {
        self.left.iter().enumerate().map(|(place, left)| left * (1.0 - self.survival_after(case, place))).sum()
    }

    /// Returns what is left to be killed, in units of difficulty.
    pub(super) fn left(&self) -> f64 {
        self.left.iter().sum()
    }

    /// Returns the probability that one more run of a test case lets a mutant survive that those in the suite do.
    fn survival_after(&self, case: usize, place: usize) -> f64 {
        self.probabilities.survival_of_run(case, place, self.times[case] + 1)
    }

    pub(super) fn take(&mut self, case: usize) {
        for place in 0..self.left.len() {
            self.left[place] *= self.survival_after(case, place);
        }
        self.times[case] += 1;
        self.cases.push(case);
    }
}

/// What a test case added when the suite had `size` test cases.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Known {
    /// What it added for each unit of its price.
    rate: f64,
    gain: f64,
    case: usize,
    size: usize,
}

impl Eq for Known {}

impl PartialOrd for Known {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Known {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |known: &Self| (Reverse(known.case), known.size);
        self.rate.total_cmp(&other.rate).then_with(|| key(self).cmp(&key(other)))
    }
}

/// Test cases that are taken greedily, one after the other: each the one that adds most for its price, of equals the
/// first. One can be taken again. It ends where nothing is left to be killed.
///
/// Cost O(cases * mutants) for each at worst; gains are looked up lazily (Minoux 1978), as they only shrink: the
/// expected score is monotone and submodular over multisets.
#[derive(Debug, Clone)]
pub(super) struct Greedily<'a> {
    pub(super) growing: Growing<'a>,
    prices: &'a [f64],
    queue: BinaryHeap<Known>,
}

impl<'a> Greedily<'a> {
    /// Goes on from a suite, with some test cases at these prices: one for each test case of the universe.
    pub(super) fn new(growing: Growing<'a>, prices: &'a [f64], candidates: impl Iterator<Item = usize>) -> Self {
        let mut greedily = Self { growing, prices, queue: BinaryHeap::new() };
        greedily.queue = candidates.map(|case| greedily.look_up(case)).collect();
        greedily
    }

    fn look_up(&self, case: usize) -> Known {
        let gain = self.growing.gain(case);
        Known { rate: gain / self.prices[case], gain, case, size: self.growing.cases.len() }
    }

    /// Takes the next test case of those that fit, and returns it, if there is one; what does not fit once is left out
    /// from then on.
    pub(super) fn take_next(&mut self, fits: impl Fn(usize) -> bool) -> Option<usize> {
        while let Some(known) = self.queue.pop() {
            if !fits(known.case) || known.gain <= 0.0 {
                continue;
            }
            if known.size < self.growing.cases.len() {
                self.queue.push(self.look_up(known.case));
                continue;
            }
            self.growing.take(known.case);
            self.queue.push(self.look_up(known.case));
            return Some(known.case);
        }
        None
    }

    /// Returns the test cases that may add so much, with their prices below a limit.
    pub(super) fn may_add(&self, gain: f64, below: f64) -> impl Iterator<Item = usize> {
        let may = move |known: &&Known| known.gain >= gain && self.prices[known.case] < below;
        self.queue.iter().filter(may).map(|known| known.case)
    }
}
