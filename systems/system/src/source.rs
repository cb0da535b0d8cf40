//! Sources of test cases: how the universe of a study is drawn from a system's input domain.
//!
//! A system says how one test case is drawn ([`System::sample`]), and every source works with that alone: it decides
//! what the draws of a sample come to. The k-th draw is the k-th dimension of the input space, and what it may come to
//! is its range.
//!
//! # Which draws are structured
//!
//! Only parameters are, the others stay random. A draw is a parameter if it asks for a value from a range
//! ([`Random::uniform`], [`choose`](Random::choose), [`unit`](Random::unit), [`chance`](Random::chance),
//! [`exponential`](Random::exponential)) and not for bare [`bits`](Random::bits), which are seeds; if there are fewer
//! than 12 parameters before it; and if at least half of all test cases have so many draws, as a hundred of them show.
//! So of a long list the first entries are structured, and of rare ones none is.
//!
//! Most sources choose a place in the range, between 0 and 1, that the draw takes as it takes random bits: with every
//! range the places in between are as they would be at random. Covering arrays and boundary values choose levels. A
//! draw of at most eight values has a level for each; any other has five, the first value, the last, and three evenly
//! between.
//!
//! A test case that [`System::validate`] refuses is replaced by a random one.

mod adaptive;
mod covering;
mod parameters;
mod rows;
mod sampler;

use std::marker::PhantomData;

use simutant_outcomes::InputSource;
use simutant_random::Random;

use self::parameters::Parameters;
use self::sampler::{Position, sample};
use crate::System;
use crate::system::{case_stream, universe};

/// The universe of a source, prepared, so that each of its test cases is cheap.
#[derive(Debug, Clone)]
pub struct Universe<S> {
    seed: u64,
    plan: Plan,
    system: PhantomData<fn() -> S>,
}

/// What is decided beforehand.
#[derive(Debug, Clone)]
enum Plan {
    /// Nothing.
    Random,
    /// Where the parameters of the first test cases are; those that are not said are random.
    Rows(Vec<Row>),
    /// Which of its candidates each test case is.
    Candidates(Vec<usize>),
}

/// Where the parameters of a test case are, by number; `None` is at random.
type Row = Vec<Option<Position>>;

impl<S: System> Universe<S> {
    /// Prepares the first `size` test cases of a universe.
    ///
    /// Cost: for [`InputSource::Uniform`] nothing, for [`InputSource::Adaptive`] 10 samples and 5,000 comparisons for
    /// each test case, for a covering array what its combinations cost, else little.
    pub fn new(source: InputSource, seed: u64, size: usize) -> Self {
        let parameters = || Parameters::of::<S>(seed);
        let plan = match source {
            InputSource::Uniform => Plan::Random,
            InputSource::LatinHypercube => Plan::Rows(rows::latin_hypercube::<S>(parameters().count(), seed, size)),
            InputSource::Sobol => Plan::Rows(rows::sobol::<S>(parameters().count(), seed, size)),
            InputSource::Covering2 => Plan::Rows(covering::rows::<S>(&parameters(), 2, seed, size)),
            InputSource::Covering3 => Plan::Rows(covering::rows::<S>(&parameters(), 3, seed, size)),
            InputSource::Boundary => Plan::Rows(rows::boundary(parameters().count(), size)),
            InputSource::Adaptive => Plan::Candidates(adaptive::candidates::<S>(parameters().count(), seed, size)),
        };
        Self { seed, plan, system: PhantomData }
    }

    /// Returns test case `index`; beyond the size that was prepared it is a random one.
    pub fn case(&self, index: usize) -> S::TestCase {
        match &self.plan {
            Plan::Random => universe::<S>(self.seed, index),
            Plan::Rows(rows) => {
                let row = rows.get(index).map_or(&[][..], |row| row);
                let case = sample::<S>(&mut case_stream::<S>(self.seed, index), row).case;
                if S::validate(&case).is_ok() { case } else { universe::<S>(self.seed, index) }
            }
            Plan::Candidates(candidates) => match candidates.get(index) {
                Some(&candidate) => S::sample(&mut adaptive::candidate_stream::<S>(self.seed, index, candidate)),
                None => universe::<S>(self.seed, index),
            },
        }
    }
}

/// Returns the stream for what a source draws itself.
fn source_stream<S: System>(seed: u64, purpose: &str) -> Random {
    Random::from_seed(seed).stream(S::STREAM).stream("source").stream(purpose)
}

#[cfg(test)]
mod tests;
