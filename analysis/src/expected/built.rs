//! A suite that is built to be expected to find most faults of the kinds that mutants are of.

use serde::{Deserialize, Serialize};

use crate::absent::AbsentFeature;
use crate::probabilities::ExpectedScore;
use crate::score::percent;
use crate::text::{count, duration, plural};

use super::beside::Beside;

/// What decides a suite.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExpectedBuilder {
    /// So many test cases that are expected to find most.
    Inputs(usize),
    /// What reaches this share of what the whole universe is expected to find, between 0 and 1, in the least time.
    Target(f64),
    /// What is expected to find most in so many seconds of test time.
    Time(f64),
    /// What is expected to find most of all that have so many events in their runs on the original.
    Budget(u64),
}

/// A suite that was built for what it is expected to find. All shares but one are of faults, each of the kind of a
/// mutant and counted by its difficulty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExpectedSuite {
    /// How it was built.
    pub builder: ExpectedBuilder,
    /// Its test cases in an order of which each beginning is good for its time; a test case that occurs again runs
    /// again, with its chance drawn anew.
    pub cases: Vec<usize>,
    /// What all of them take, one after the other, in seconds.
    pub seconds: f64,
    /// What each of them takes, in seconds.
    pub seconds_of_cases: Vec<f64>,
    /// What is expected to be found after each of them.
    pub found_after: Vec<f64>,
    /// The events of its runs on the original.
    pub events: u64,
    /// How likely a test case that kills a mutant finds a fault of its kind.
    pub coupling: f64,
    /// What it is expected to find.
    pub found: ExpectedScore,
    /// What the whole universe is expected to find.
    pub universe: f64,
    /// What the whole universe takes, in seconds.
    pub universe_seconds: f64,
    /// What else finds in the same time.
    pub same_time: Beside,
    /// What else finds with as many inputs.
    pub same_size: Beside,
    /// What it is expected to kill of the mutants themselves.
    pub score: ExpectedScore,
    /// For [`ExpectedBuilder::Target`]: no suite that reaches it takes less than this, in seconds.
    pub seconds_min: Option<f64>,
    /// For [`ExpectedBuilder::Time`] and [`ExpectedBuilder::Budget`]: no suite within it is expected to find more.
    pub found_max: Option<f64>,
    /// What none of its test cases has, though a random suite of its size would.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<AbsentFeature>,
}

impl ExpectedSuite {
    /// Returns how it was built, as its suite says it.
    pub fn chosen(&self) -> String {
        let (size, time) = (plural(self.cases.len(), "input"), duration(self.seconds));
        let within = |limit: String| {
            let most = self
                .found_max
                .map_or_else(String::new, |most| format!("; no suite within it finds more than {}", percent(most)));
            format!("{size} that take {time} {limit} and are expected to find {}{most}", percent(self.found.mean))
        };
        match self.builder {
            ExpectedBuilder::Inputs(_) => format!("{size} that are expected to find most; they take {time}"),
            ExpectedBuilder::Target(share) => format!(
                "{size} that take {time} and are expected to find {} of what the universe does in {}; {}",
                percent(share),
                duration(self.universe_seconds),
                match self.seconds_min {
                    Some(least) if duration(least) != time => format!("no suite in less than {} does", duration(least)),
                    _ => "no suite in less does".into(),
                }
            ),
            ExpectedBuilder::Time(limit) => within(format!("of at most {}", duration(limit))),
            ExpectedBuilder::Budget(budget) => {
                within(format!("with {} of at most {} events", count(self.events), count(budget)))
            }
        }
    }
}
