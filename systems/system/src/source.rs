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
//!
//! # Sources that learn
//!
//! A source runs nothing. One that [learns](InputSource::learns) has to be told what its test cases covered
//! ([`Universe::learn`]), in their order and each before the next one is drawn. A campaign does so: it runs each test
//! case on the original as it does in its baseline, and tells the requirements of all criteria that are measured.
//!
//! ```
//! use simutant_system::{Coverage, InputSource, System, Universe};
//!
//! fn draw<S: System>(size: usize, run: impl Fn(&S::TestCase) -> Coverage) -> Vec<S::TestCase> {
//!     let mut universe = Universe::<S>::new(InputSource::Guided, 1, size);
//!     let next = |index| {
//!         let case = universe.case(index);
//!         universe.learn(&run(&case));
//!         case
//!     };
//!     (0..size).map(next).collect()
//! }
//! ```
//!
//! [`InputSource::Guided`] mutates any draw but those of bare bits, however many there are, and draws those of bare
//! bits anew.

//!
//! # Test cases of a net
//!
//! [`InputSource::Net`] takes what [`System::of_net`] returns, which a Petri net of the system generates.
//!
//! # Sources that walk
//!
//! If a machine drives a system's clients, [`InputSource::Walk`], [`InputSource::Bandit`] and [`InputSource::Pairs`]
//! run the original once for each test case, and a strategy decides its [walks](crate::Walk): it sees which transitions
//! are open, and what comes of each.

mod adaptive;
mod covering;
mod guided;
mod parameters;
mod rows;
mod sampler;
mod walks;

use std::marker::PhantomData;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use simutant_outcomes::{Coverage, InputSource};
use simutant_random::Random;

use self::guided::Guided;
use self::parameters::{PARAMETERS_MAX, Parameters};
use self::sampler::{Position, Row, sample};
use self::walks::Steered;
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
    Rows(Vec<Positions>),
    /// The first test cases, as files have them: a test case may be of a type that stays on its thread.
    Given(Vec<Value>),
    /// Which of its candidates each test case is.
    Candidates(Vec<usize>),
    /// Nothing: each test case is decided when the coverage of those before it is known.
    Guided(Guided),
    /// Nothing: each test case is decided when those before it are.
    Steered(Steered),
}

/// Where the parameters of a test case are, by number; `None` is at random.
type Positions = Vec<Option<Position>>;

impl<S: System> Universe<S> {
    /// Prepares the first `size` test cases of a universe.
    ///
    /// Cost: for [`InputSource::Uniform`] nothing, for [`InputSource::Adaptive`] 10 samples and 5,000 comparisons for
    /// each test case, for a covering array what its combinations cost, else little. What [`InputSource::Guided`] costs
    /// are the runs of its test cases; and so it is for those that walk.
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
            InputSource::Guided => Plan::Guided(Guided::new::<S>(seed)),
            InputSource::Walk => Plan::Steered(Steered::weighted(seed)),
            InputSource::Bandit => Plan::Steered(Steered::bandit(seed)),
            InputSource::Pairs => Plan::Steered(Steered::pairs(seed)),
            InputSource::Net => Plan::Given(S::of_net(seed, size).iter().flatten().map(as_value).collect()),
        };
        Self { seed, plan, system: PhantomData }
    }

    /// Returns test case `index`; beyond the size that was prepared it is a random one. So it is for a source that
    /// learns if it has not [learned](Universe::learned) from all test cases before it.
    ///
    /// A source that walks runs the simulation of this test case and of all those before it, once. For a system without
    /// [walks](System::walks) it is the uniform one.
    ///
    /// ```
    /// use std::collections::BTreeSet;
    /// use simutant_system::{Domain, InputSource, System, Universe};
    /// # use simutant_sim_core::{Message, Random, Simulation};
    /// # use simutant_system::{BlackBoxCriterion, InvalidTestCase};
    /// # #[derive(Debug, Clone, Hash)]
    /// # struct Nothing;
    /// # impl Message for Nothing {
    /// #     fn kind(&self) -> &'static str { "NOTHING" }
    /// # }
    /// # struct Dice;
    /// # impl System for Dice {
    /// #     const NAME: &'static str = "dice";
    /// #     type TestCase = (u32, u32);
    /// #     type Message = Nothing;
    /// #     fn sample(random: &mut Random) -> (u32, u32) { ((1..=6).draw(random), (1..=6).draw(random)) }
    /// #     fn validate(_: &(u32, u32)) -> Result<(), InvalidTestCase> { Ok(()) }
    /// #     fn configure(_: &(u32, u32)) -> Simulation<Nothing> { Simulation::new(1) }
    /// #     fn criteria() -> Vec<BlackBoxCriterion<(u32, u32)>> { Vec::new() }
    /// # }
    ///
    /// // The test cases of this system are throws of two dice.
    /// let distinct = |source| {
    ///     let mut universe = Universe::<Dice>::new(source, 1, 36);
    ///     (0..36).map(|index| universe.case(index)).collect::<BTreeSet<(u32, u32)>>().len()
    /// };
    /// // A covering array has each pair once.
    /// assert_eq!(distinct(InputSource::Covering2), 36);
    /// assert!(distinct(InputSource::Uniform) < 36);
    /// ```
    pub fn case(&mut self, index: usize) -> S::TestCase {
        match &mut self.plan {
            Plan::Random => universe::<S>(self.seed, index),
            Plan::Rows(rows) => {
                let row = Row::Numbered(rows.get(index).cloned().unwrap_or_default());
                let case = sample::<S>(&mut case_stream::<S>(self.seed, index), row, PARAMETERS_MAX).case;
                if S::validate(&case).is_ok() { case } else { universe::<S>(self.seed, index) }
            }
            Plan::Given(given) => match given.get(index) {
                Some(case) => S::TestCase::deserialize(case).expect("what was written as a test case is one"),
                None => universe::<S>(self.seed, index),
            },
            Plan::Candidates(candidates) => match candidates.get(index) {
                Some(&candidate) => S::sample(&mut adaptive::candidate_stream::<S>(self.seed, index, candidate)),
                None => universe::<S>(self.seed, index),
            },
            Plan::Guided(guided) => guided.case::<S>(index).unwrap_or_else(|| universe::<S>(self.seed, index)),
            Plan::Steered(steered) => steered.case::<S>(index),
        }
    }

    /// Returns how many test cases the source has learned from.
    pub fn learned(&self) -> usize {
        match &self.plan {
            Plan::Random | Plan::Rows(_) | Plan::Given(_) | Plan::Candidates(_) | Plan::Steered(_) => 0,
            Plan::Guided(guided) => guided.learned(),
        }
    }

    /// Tells what test case number [`learned`](Universe::learned) covered, which decides the next one. A source that
    /// does not learn takes no notice.
    pub fn learn(&mut self, coverage: &Coverage) {
        match &mut self.plan {
            Plan::Random | Plan::Rows(_) | Plan::Given(_) | Plan::Candidates(_) | Plan::Steered(_) => {}
            Plan::Guided(guided) => guided.learn::<S>(coverage),
        }
    }
}

fn as_value(case: &impl Serialize) -> Value {
    serde_json::to_value(case).expect("a test case is plain data with text as keys")
}

/// Returns the stream for what a source draws itself.
fn source_stream<S: System>(seed: u64, purpose: &str) -> Random {
    Random::from_seed(seed).stream(S::STREAM).stream("source").stream(purpose)
}

#[cfg(test)]
mod tests;
