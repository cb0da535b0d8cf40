//! How an analysis is done.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use simutant_outcomes::{Compiled, Judgement, TestTime, TestTimeSource};

/// The settings of an analysis; [`AnalysisOptions::default`] is what the thesis used, where it used something.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AnalysisOptions {
    /// Where every random draw of the analysis starts.
    pub seed: u64,
    /// How many adequate suites are drawn for each criterion, at least 2: 200 in section 4.2.3.
    pub suites: usize,
    /// The level below which a p-value counts as significant, between 0 and 1.
    pub alpha: f64,
    /// A mutant that more than this share of the universe kills is pathological: 0.5 in section 4.2.1.3.
    pub pathological_above: f64,
    /// How often boosting is repeated for each number of suites, at least 2: 100 in section 4.4.
    pub boosting_repetitions: usize,
    /// The largest number of suites that boosting chooses from, at least 2: 8 in section 4.4.
    pub boosting_suites_max: usize,
    /// The largest size of the random suites that criteria are compared with, in test cases, at least 1.
    pub random_size_max: usize,
    /// How often a suite is expected to be run, `M` of equation 4.1: 10 in section 4.2.
    pub cost_multiplier: u32,
    /// How often suites are drawn again for an interval, at least 100; with 2000 its ends are good to about a fiftieth
    /// of their distance.
    pub resamples: usize,
    /// Mean scores that differ by less than this are the same for all that it matters, between 0 and 1.
    pub same_within: f64,
    /// How likely a test case that kills a mutant finds a fault of its kind in a program, above 0 and at most 1: suites
    /// are built for it. No mutant is a program's fault, so that a suite that kills each mutant once is no good suite.
    pub coupling: f64,
    /// What a test case takes on an implementation, by what its run costs.
    pub test_time: TestTime,
    /// How that is known.
    pub test_time_from: TestTimeSource,
    /// What test cases took on an implementation, in seconds, by their names; goes before the estimate.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub durations: BTreeMap<String, f64>,
    /// What people say of mutants, by identity.
    pub judgements: BTreeMap<String, Judgement>,
    /// What the compiler makes of mutants, by identity: those that it makes the same code of as of the original, or of
    /// each other.
    pub compiled: BTreeMap<String, Compiled>,
}

impl Default for AnalysisOptions {
    fn default() -> Self {
        Self {
            seed: 1,
            suites: 200,
            alpha: 0.05,
            pathological_above: 0.5,
            boosting_repetitions: 100,
            boosting_suites_max: 8,
            random_size_max: 30,
            cost_multiplier: 10,
            resamples: 2000,
            same_within: 0.01,
            coupling: 0.25,
            test_time: TestTime::default(),
            test_time_from: TestTimeSource::default(),
            durations: BTreeMap::new(),
            judgements: BTreeMap::new(),
            compiled: BTreeMap::new(),
        }
    }
}

/// An option that is out of its range.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// A count is too small.
    #[error("option `{field}` is {found}; give at least {least}")]
    TooSmall {
        /// The option.
        field: &'static str,
        /// Its value.
        found: usize,
        /// The least that makes sense.
        least: usize,
    },
    /// The coupling is not a probability above 0.
    #[error("option `coupling` is {0}; give a number above 0 and at most 1")]
    NotACoupling(f64),
    /// What a test case takes is negative, or no number.
    #[error("option `test_time` is {0}; give numbers that are not negative")]
    NotATime(TestTime),
    /// A duration is not above 0.
    #[error("option `durations`: {name} took {found} s; give a number above 0")]
    NotADuration {
        /// The test case.
        name: String,
        /// Its value.
        found: f64,
    },
    /// A share is not between 0 and 1.
    #[error("option `{field}` is {found}; give a number above 0 and below 1")]
    NotAShare {
        /// The option.
        field: &'static str,
        /// Its value.
        found: f64,
    },
}

impl AnalysisOptions {
    /// Checks every field.
    ///
    /// # Errors
    /// [`OptionsError`] for the first field that is out of its range.
    pub fn validate(&self) -> Result<(), OptionsError> {
        for (field, found, least) in [
            ("suites", self.suites, 2),
            ("boosting_repetitions", self.boosting_repetitions, 2),
            ("boosting_suites_max", self.boosting_suites_max, 2),
            ("random_size_max", self.random_size_max, 1),
            ("resamples", self.resamples, 100),
        ] {
            if found < least {
                return Err(OptionsError::TooSmall { field, found, least });
            }
        }
        for (field, found) in
            [("alpha", self.alpha), ("pathological_above", self.pathological_above), ("same_within", self.same_within)]
        {
            if !(found > 0.0 && found < 1.0) {
                return Err(OptionsError::NotAShare { field, found });
            }
        }
        if !(self.coupling > 0.0 && self.coupling <= 1.0) {
            return Err(OptionsError::NotACoupling(self.coupling));
        }
        if !self.test_time.is_valid() {
            return Err(OptionsError::NotATime(self.test_time));
        }
        if let Some((name, &found)) = self.durations.iter().find(|(_, found)| !(found.is_finite() && **found > 0.0)) {
            return Err(OptionsError::NotADuration { name: name.clone(), found });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(change: impl FnOnce(&mut AnalysisOptions), expect: &str) {
        let mut options = AnalysisOptions::default();
        change(&mut options);
        let error = options.validate().expect_err("the option is out of range");
        assert_eq!(error.to_string(), expect);
    }

    #[test]
    fn the_defaults_are_valid() {
        assert_eq!(AnalysisOptions::default().validate(), Ok(()));
    }

    #[test]
    fn an_option_out_of_range_is_named() {
        check(|options| options.suites = 1, "option `suites` is 1; give at least 2");
        check(|options| options.random_size_max = 0, "option `random_size_max` is 0; give at least 1");
        check(|options| options.resamples = 99, "option `resamples` is 99; give at least 100");
        check(|options| options.same_within = 0.0, "option `same_within` is 0; give a number above 0 and below 1");
        check(|options| options.coupling = 0.0, "option `coupling` is 0; give a number above 0 and at most 1");
        check(|options| options.coupling = 1.5, "option `coupling` is 1.5; give a number above 0 and at most 1");
        check(
            |options| options.test_time.start = -1.0,
            "option `test_time` is -1 s + virtual time; give numbers that are not negative",
        );
        check(
            |options| _ = options.durations.insert("gbn-0001".into(), 0.0),
            "option `durations`: gbn-0001 took 0 s; give a number above 0",
        );
        check(|options| options.alpha = 1.0, "option `alpha` is 1; give a number above 0 and below 1");
        check(|options| options.alpha = f64::NAN, "option `alpha` is NaN; give a number above 0 and below 1");
        check(
            |options| options.pathological_above = 0.0,
            "option `pathological_above` is 0; give a number above 0 and below 1",
        );
    }
}
