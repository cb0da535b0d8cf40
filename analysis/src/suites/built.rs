//! A suite that was built for a purpose rather than drawn: the fewest inputs, an order of inputs, what a budget allows;
//! and what that costs, judged by held-out mutants. [`build_suite`](crate::build_suite) builds it.

use serde::{Deserialize, Serialize};

use super::minimum::NODES_MAX;
use crate::score::Score;
use crate::suites::SuiteIndex;
use crate::text::{count, plural};

/// The criterion of mutants: its requirements are the dominator mutants, so that an adequate suite kills all that the
/// universe kills.
///
/// It is for building alone: drawn suites of it would be judged by what they were drawn for.
pub const MUTANTS: &str = "mutants";

/// How a suite is built; a budget is the most events that its runs may have together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Builder {
    /// Each test case is the one that brings most after those before it, until the criterion is met; under a budget,
    /// the one that brings most for its events.
    Greedy {
        /// Of events.
        budget: Option<u64>,
    },
    /// A smallest adequate suite, by branch and bound after reduction.
    Minimum,
    /// All test cases in the greedy order, again from the start whenever the criterion is met; under a budget, the
    /// beginning of it.
    Prioritised {
        /// Of events.
        budget: Option<u64>,
    },
}

/// A suite that was built.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BuiltSuite {
    /// How it was built.
    pub builder: Builder,
    /// The name of the criterion that it was built for.
    pub criterion: String,
    /// Its test cases; each beginning of them is good for its size.
    pub cases: Vec<usize>,
    /// The events of its runs on the original.
    pub events: u64,
    /// How many requirements the universe covers, of those in a quota no more than that asks for.
    pub target: usize,
    /// How many of these the suite covers.
    pub covered: usize,
    /// How many of its first test cases are adequate; `None` if all together are not.
    pub adequate: Option<usize>,
    /// For [`Builder::Minimum`]: no adequate suite has fewer test cases than this. It is the suite's size unless the
    /// search ended early.
    pub size_min: Option<usize>,
    /// What it kills of the analysed mutants.
    pub score: Score,
    /// What it kills of the dominator classes.
    pub dominator_score: Score,
    /// What held-out mutants say; `None` if there are none.
    pub judged: Option<JudgedSuite>,
    /// A drawn suite that dominates it: it is adequate for the same criterion or keeps the same budget, is no larger,
    /// kills no fewer mutants and no fewer dominators, and is better in one of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dominated_by: Option<SuiteIndex>,
}

/// A built suite, judged by held-out mutants.
///
/// For a criterion of requirements these are all analysed mutants. For [`MUTANTS`] a suite is built for one half of
/// them in the same way, and the other half judges that.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgedSuite {
    /// How many mutants judge.
    pub judges: usize,
    /// Whether another suite is judged, which was built for the half of the mutants that does not judge.
    pub is_half: bool,
    /// The size of the suite that is judged.
    pub size: usize,
    /// The share of the judges that it kills.
    pub score: f64,
    /// The mean size of adequate suites that are drawn at random.
    pub drawn_size: f64,
    /// The mean share of the judges that these kill.
    pub drawn_score: f64,
    /// The expected share of a random suite of the judged size.
    pub random_score: f64,
    /// For an order of all test cases: how early the judges are killed.
    pub order: Option<Earliness>,
}

/// How early an order of test cases kills mutants: the average percentage of faults detected (APFD, Rothermel et al.
/// 2001), 1 if the first test case killed all.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Earliness {
    /// Of the order.
    pub apfd: f64,
    /// The expected one of a random order, computed: of `n` test cases the first of `k` comes at `(n + 1) / (k + 1)` on
    /// average.
    pub random: f64,
}

impl BuiltSuite {
    /// Returns how it was built, as its suite says it.
    pub fn chosen(&self) -> String {
        let (criterion, size) = (&self.criterion, self.cases.len());
        let covers = match self.adequate {
            Some(_) => {
                format!("covers all {} that the universe covers of {criterion}", plural(self.target, "requirement"))
            }
            None => format!("covers {} of {} of {criterion}", self.covered, plural(self.target, "requirement")),
        };
        let within = |budget: u64| format!("with {} of at most {} events", count(self.events), count(budget));
        match self.builder {
            Builder::Greedy { budget: None } => format!("built greedily; {covers}"),
            Builder::Greedy { budget: Some(budget) } => format!(
                "built greedily for a budget, {}; {covers}{}",
                within(budget),
                if self.adequate.is_some() { "" } else { ", at least 31.6 % of what is possible for that" },
            ),
            Builder::Minimum => match self.size_min {
                Some(least) if least < size => format!(
                    "the smallest that a search of {} nodes found, none has fewer than {least} inputs; {covers}",
                    count(NODES_MAX)
                ),
                _ => format!("none with fewer inputs is adequate; {covers}"),
            },
            Builder::Prioritised { budget } => {
                let what = match budget {
                    Some(budget) => format!("the first test cases, {}", within(budget)),
                    None => "all test cases".into(),
                };
                let adequate = match self.adequate {
                    Some(adequate) => format!("the first {adequate} are adequate for {criterion}"),
                    None => covers,
                };
                format!("{what}, in an order in which each brings most after those before it; {adequate}")
            }
        }
    }
}
