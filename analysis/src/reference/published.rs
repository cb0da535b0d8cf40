//! The figures that an experiment published about one system.

use serde::{Deserialize, Serialize};

use crate::conventional::Relation;

/// What an earlier experiment reports about one system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// What tables, sentences and files call the experiment: a word, for example `thesis`.
    pub name: String,
    /// Where the figures stand.
    pub source: String,
    /// How many of the experiment's predictions held, as the end of a sentence.
    pub predicted: String,
    /// Its mutants.
    pub mutants: ReferenceMutants,
    /// The criteria, by rising effectiveness.
    pub criteria: Vec<ReferenceCriterion>,
    /// The claims that hold significantly by mutant score.
    pub claims: Vec<ReferenceClaim>,
    /// What its implementations did; `None` if it had none, or reports nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub implementations: Option<ReferenceImplementations>,
}

/// How many mutants an experiment had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferenceMutants {
    /// All.
    pub all: usize,
    /// Those that are equivalent.
    pub equivalent: usize,
    /// Those that are killed too easily to tell suites apart.
    pub pathological: usize,
    /// The others, which it used.
    pub used: usize,
}

/// What an experiment reports about one criterion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferenceCriterion {
    /// Its name.
    pub name: String,
    /// The share of the requirements that suites aim at, for white-box criteria.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<f64>,
    /// The mean size of a suite, for white-box criteria.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<f64>,
    /// The mean effectiveness of a suite.
    pub effectiveness: f64,
    /// The least number of suites with which boosting is significant; `None` if none is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suites_min: Option<usize>,
    /// The effectiveness with boosting.
    pub boosted: f64,
}

/// The claim that one criterion is better than another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferenceClaim {
    /// The better criterion.
    pub better: String,
    /// The other one.
    pub worse: String,
    /// The p-value by mutant score, as printed.
    pub mutant_p: String,
    /// The p-value by effectiveness on implementations, as printed.
    pub effectiveness_p: String,
}

/// What the implementations of an experiment did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferenceImplementations {
    /// Their failure rates in percent, ascending.
    pub failure_rates: Vec<f64>,
    /// On which inputs they fail, as a sentence without its full stop.
    pub inputs: String,
    /// What it took to run everything.
    pub preparation: ReferencePreparation,
    /// Criteria against random suites.
    pub cost_effectiveness: Vec<ReferenceRelations>,
}

/// Sizes, and times in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferencePreparation {
    /// Test cases of the universe.
    pub cases: usize,
    /// Mutants that are not pathological.
    pub mutants: usize,
    /// Implementations that count.
    pub subjects: usize,
    /// Mean time of a simulation.
    pub simulation_s: f64,
    /// Mean time of a test case on an implementation.
    pub execution_s: f64,
    /// What it took in all.
    pub total_days: f64,
}

/// One criterion against random suites.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferenceRelations {
    /// The criterion.
    pub criterion: String,
    /// The random sizes, ascending; they need not be all between the first and the last.
    pub sizes: Vec<usize>,
    /// `-`, `=` or `+` for each of them: the relation of the cost.
    pub cost: String,
    /// The same of the effectiveness.
    pub effectiveness: String,
}

/// Figures that do not fit together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReferenceError {
    /// The name is used in names of files.
    #[error("`name` is `{0}`: take a word of letters, digits, `-` and `_`")]
    Name(String),
    /// Each mutant is of one class.
    #[error("`mutants`: {all} are not the sum of the others, {sum}")]
    Mutants {
        /// How many there are said to be.
        all: usize,
        /// How many there are of the classes.
        sum: usize,
    },
    /// They are to be in their order.
    #[error("`criteria`: `{0}` has a lower effectiveness than the one before; take them by rising effectiveness")]
    Order(String),
    /// A claim, or a row, is of a criterion that is not among the criteria.
    #[error("`{0}` is not among the `criteria`")]
    UnknownCriterion(String),
    /// A row needs a relation for each size.
    #[error(
        "`cost_effectiveness` of `{0}`: take rising sizes, and one of `-`, `=` and `+` for each of them in both texts"
    )]
    Relations(String),
}

impl Reference {
    /// Returns what is reported about a criterion.
    pub fn criterion(&self, name: &str) -> Option<&ReferenceCriterion> {
        self.criteria.iter().find(|criterion| criterion.name == name)
    }

    /// Returns whether the figures fit together.
    ///
    /// # Errors
    /// [`ReferenceError`] if they do not.
    pub fn validate(&self) -> Result<(), ReferenceError> {
        let is_of_word = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
        if self.name.is_empty() || !self.name.chars().all(is_of_word) {
            return Err(ReferenceError::Name(self.name.clone()));
        }
        let ReferenceMutants { all, equivalent, pathological, used } = self.mutants;
        let sum = equivalent.saturating_add(pathological).saturating_add(used);
        if all != sum {
            return Err(ReferenceError::Mutants { all, sum });
        }
        let falling = self.criteria.windows(2).find(|pair| pair[0].effectiveness > pair[1].effectiveness);
        if let Some(pair) = falling {
            return Err(ReferenceError::Order(pair[1].name.clone()));
        }
        let rows = || self.implementations.iter().flat_map(|there| &there.cost_effectiveness);
        let named = self.claims.iter().flat_map(|claim| [&claim.better, &claim.worse]);
        if let Some(unknown) = named.chain(rows().map(|row| &row.criterion)).find(|name| self.criterion(name).is_none())
        {
            return Err(ReferenceError::UnknownCriterion(unknown.clone()));
        }
        match rows().find(|row| !row.is_sound()) {
            Some(row) => Err(ReferenceError::Relations(row.criterion.clone())),
            None => Ok(()),
        }
    }
}

impl ReferenceRelations {
    /// Returns the relations of cost and effectiveness at a size, if they are reported.
    pub fn at(&self, size: usize) -> Option<[Relation; 2]> {
        let place = self.sizes.iter().position(|&known| known == size)?;
        let relation = |text: &str| match text.as_bytes().get(place)? {
            b'-' => Some(Relation::Worse),
            b'+' => Some(Relation::Better),
            _ => Some(Relation::Equivalent),
        };
        Some([relation(&self.cost)?, relation(&self.effectiveness)?])
    }

    fn is_sound(&self) -> bool {
        let has_each = |text: &str| text.len() == self.sizes.len() && text.chars().all(|sign| "-=+".contains(sign));
        self.sizes.is_sorted_by(|one, other| one < other) && has_each(&self.cost) && has_each(&self.effectiveness)
    }
}
