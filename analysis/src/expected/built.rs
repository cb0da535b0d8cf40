//! A suite that is built to be expected to find most faults of the kinds that mutants are of.

use serde::{Deserialize, Serialize};

use crate::absent::AbsentFeature;
use crate::probabilities::ExpectedScore;
use crate::recommendation::SuiteIndex;
use crate::score::percent;
use crate::text::{count, plural};

/// The size of a suite, or what decides it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExpectedBuilder {
    /// So many test cases, each the one that adds most to those before it.
    Inputs(usize),
    /// As few as reach this share of what the whole universe is expected to find, between 0 and 1.
    Target(f64),
    /// As many as have so many events in their runs on the original, each the one that adds most for its events.
    Budget(u64),
}

/// A suite that was built for what it is expected to find. All shares but one are of faults, each of the kind of a
/// mutant and counted by its difficulty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExpectedSuite {
    /// How it was built.
    pub builder: ExpectedBuilder,
    /// Its test cases; a test case that occurs again runs again, with its chance drawn anew.
    pub cases: Vec<usize>,
    /// The events of its runs on the original.
    pub events: u64,
    /// How likely a test case that kills a mutant finds a fault of its kind.
    pub coupling: f64,
    /// What it is expected to find.
    pub found: ExpectedScore,
    /// What the whole universe is expected to find.
    pub universe: f64,
    /// What a random suite of its size is expected to find.
    pub random: f64,
    /// The rule of thumb that does best at its size, with what is expected of it.
    pub rule: Option<(String, f64)>,
    /// What it is expected to kill of the mutants themselves.
    pub score: ExpectedScore,
    /// For [`ExpectedBuilder::Target`]: no suite that reaches it has fewer test cases than this.
    pub size_min: Option<usize>,
    /// What none of its test cases has, though a random suite of its size would.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<AbsentFeature>,
    /// A drawn suite that dominates it and finds no less: it is no larger, is expected to kill no fewer mutants and no
    /// fewer dominators, and is better in one of these. Such a suite is the one to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dominated_by: Option<SuiteIndex>,
}

impl ExpectedSuite {
    /// Returns how it was built, as its suite says it.
    pub fn chosen(&self) -> String {
        let size = plural(self.cases.len(), "input");
        match self.builder {
            ExpectedBuilder::Inputs(_) => {
                format!("{size}, each the one that is expected to add most to those before it")
            }
            ExpectedBuilder::Target(share) => format!(
                "{size} that are expected to find {} of what the universe does; {}",
                percent(share),
                match self.size_min {
                    Some(least) if least < self.cases.len() => format!("no suite with fewer than {least} does"),
                    _ => "no suite with fewer does".into(),
                }
            ),
            ExpectedBuilder::Budget(budget) => {
                format!("{size} with {} of at most {} events", count(self.events), count(budget))
            }
        }
    }
}
