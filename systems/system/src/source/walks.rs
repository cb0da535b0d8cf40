//! Test cases whose walks a strategy decides.
//!
//! The strategy sees the walk while the original takes it: which transitions are open, and what comes of those it
//! chooses. What it decided is then the script of the test case. All else of a test case is random, and so is how many
//! steps its walks have.

use std::cell::RefCell;
use std::rc::Rc;

use simutant_models::{Bandit, CoverageGuided, Script, Strategy, Weighted};

use super::source_stream;
use crate::System;
use crate::system::universe;

/// A strategy and what it decided so far.
#[derive(Debug, Clone)]
pub(super) struct Steered {
    seed: u64,
    strategy: Kind,
    /// By test case, the script of each of its walks.
    decided: Vec<Vec<Script>>,
}

#[derive(Debug, Clone)]
enum Kind {
    Weighted(Weighted),
    Bandit(Bandit),
    Pairs(CoverageGuided),
}

impl Steered {
    pub(super) fn weighted(seed: u64) -> Self {
        Self::new(seed, Kind::Weighted(Weighted))
    }

    pub(super) fn bandit(seed: u64) -> Self {
        Self::new(seed, Kind::Bandit(Bandit::default()))
    }

    pub(super) fn pairs(seed: u64) -> Self {
        Self::new(seed, Kind::Pairs(CoverageGuided::default()))
    }

    fn new(seed: u64, strategy: Kind) -> Self {
        Self { seed, strategy, decided: Vec::new() }
    }

    /// Returns a test case. Those before it are decided first.
    pub(super) fn case<S: System>(&mut self, index: usize) -> S::TestCase {
        while self.decided.len() <= index {
            let scripts = self.decide::<S>(self.decided.len());
            self.decided.push(scripts);
        }
        let mut case = universe::<S>(self.seed, index);
        for (walk, script) in S::walks(&mut case).into_iter().zip(&self.decided[index]) {
            *walk = script.clone().into();
        }
        if S::validate(&case).is_ok() { case } else { universe::<S>(self.seed, index) }
    }

    /// Runs a test case whose walks the strategy decides.
    fn decide<S: System>(&mut self, index: usize) -> Vec<Script> {
        match &mut self.strategy {
            Kind::Weighted(weighted) => decide::<S, _>(weighted, self.seed, index),
            Kind::Bandit(bandit) => decide::<S, _>(bandit, self.seed, index),
            Kind::Pairs(pairs) => decide::<S, _>(pairs, self.seed, index),
        }
    }
}

fn decide<S: System, T: Strategy + Default + 'static>(strategy: &mut T, seed: u64, index: usize) -> Vec<Script> {
    let shared = Rc::new(RefCell::new(std::mem::take(strategy)));
    let mut case = universe::<S>(seed, index);
    for (number, walk) in S::walks(&mut case).into_iter().enumerate() {
        let mut random = source_stream::<S>(seed, &format!("walk/{index}/{number}"));
        walk.steer(shared.clone(), random.bits());
    }
    if S::walks(&mut case).is_empty() {
        return Vec::new();
    }
    // How it ends does not matter here: the original is run again on each test case, and judged then.
    drop(S::configure(&case).run());
    *strategy = std::mem::take(&mut *shared.borrow_mut());
    S::walks(&mut case).into_iter().map(|walk| walk.decided().unwrap_or_default()).collect()
}
