//! A test suite as a file: the chosen inputs, and why they were chosen.

use serde::{Deserialize, Serialize};

use crate::RunCost;

/// The version that every JSON file and `--json` output of this release carries.
pub const FORMAT_VERSION: u32 = 1;

/// A chosen test suite, as written to `suite.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// [`FORMAT_VERSION`].
    pub format_version: u32,
    /// The system that the test cases are for.
    pub system: String,
    /// The criterion that the suite is adequate for.
    pub criterion: String,
    /// How it was chosen, in words.
    pub chosen: String,
    /// The seed of the study that chose it.
    pub seed: u64,
    /// Its mutant score in that study, `None` if no mutant counted.
    pub mutant_score: Option<f64>,
    /// The share of the dominator mutants that it kills, `None` if there is none.
    pub dominator_score: Option<f64>,
    /// What all of it is expected to take on an implementation, one test case after the other, in seconds; `None` if
    /// nobody estimated it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The test cases, in the order in which they are best run.
    pub cases: Vec<SuiteCase>,
}

/// One test case of a suite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteCase {
    /// A name that is unique in the suite, for example `gbn-0042`: what `--only` takes.
    pub name: String,
    /// The test case, in its system's own form.
    pub case: serde_json::Value,
    /// What its run on the simulation cost; `None` if it was not run with this chance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<RunCost>,
    /// What it is expected to take on an implementation, in seconds; `None` if nobody estimated it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The share of faults that it and all before it are expected to find; `None` if nobody estimated it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<f64>,
}

impl SuiteCase {
    /// Returns a test case of which nobody estimated anything.
    pub fn new(name: impl Into<String>, case: serde_json::Value) -> Self {
        Self { name: name.into(), case, cost: None, seconds: None, found: None }
    }
}

/// Why a suite file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SuiteError {
    /// The text is not JSON, or a field is missing, unknown or of another type.
    #[error("not a suite: {0}; a suite is what `simutant study` writes as suite.json")]
    Malformed(#[from] serde_json::Error),
    /// The file was written by another release.
    #[error(
        "field `format_version` is {found}, this release reads {FORMAT_VERSION}; run the study again to write the suite anew"
    )]
    Version {
        /// The version in the file.
        found: u32,
    },
    /// The suite belongs to another system.
    #[error(
        "field `system` is `{found}`, but the command is for `{expected}`; give the suite of a study of `{expected}`"
    )]
    OtherSystem {
        /// The system in the file.
        found: String,
        /// The system that the command is for.
        expected: String,
    },
    /// Two test cases have one name.
    #[error("field `cases`: the name `{0}` occurs twice; names must be unique, since `--only` takes them")]
    DuplicateName(String),
}

impl Suite {
    /// Returns a suite of test cases that no criterion asked for, such as those that a person wrote; `chosen` says how it
    /// came about.
    ///
    /// ```
    /// use serde_json::json;
    /// use simutant_outcomes::{Suite, SuiteCase};
    ///
    /// let case = SuiteCase::new("gbn-by-hand", json!({"window": 4, "seed": 7}));
    /// let suite = Suite::of_cases("gbn", "written by hand", 1, [case]);
    /// // As a file, it is one that `simutant test` takes.
    /// let text = serde_json::to_string_pretty(&suite)?;
    /// assert_eq!(Suite::parse(&text, "gbn").expect("it is one of gbn"), suite);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn of_cases(
        system: impl Into<String>,
        chosen: impl Into<String>,
        seed: u64,
        cases: impl IntoIterator<Item = SuiteCase>,
    ) -> Self {
        Self {
            format_version: FORMAT_VERSION,
            system: system.into(),
            criterion: "none".into(),
            chosen: chosen.into(),
            seed,
            mutant_score: None,
            dominator_score: None,
            seconds: None,
            cases: cases.into_iter().collect(),
        }
    }

    /// Returns the suite in `text`, checked to be for `system`.
    ///
    /// ```
    /// use serde_json::json;
    /// use simutant_outcomes::{Suite, SuiteCase, SuiteError};
    ///
    /// let cases = [("a", 1), ("b", 2), ("a", 3)].map(|(name, seed)| SuiteCase::new(name, json!({"seed": seed})));
    /// let text = serde_json::to_string(&Suite::of_cases("gbn", "written by hand", 1, cases))?;
    /// assert!(matches!(Suite::parse(&text, "dns"), Err(SuiteError::OtherSystem { found, .. }) if found == "gbn"));
    /// assert!(matches!(Suite::parse(&text, "gbn"), Err(SuiteError::DuplicateName(name)) if name == "a"));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`SuiteError`], which names the field and the cure; the caller adds the file's name.
    pub fn parse(text: &str, system: &str) -> Result<Self, SuiteError> {
        let suite: Self = serde_json::from_str(text)?;
        if suite.format_version != FORMAT_VERSION {
            return Err(SuiteError::Version { found: suite.format_version });
        }
        if suite.system != system {
            return Err(SuiteError::OtherSystem { found: suite.system, expected: system.into() });
        }
        let mut names = std::collections::BTreeSet::new();
        for case in &suite.cases {
            if !names.insert(&case.name) {
                return Err(SuiteError::DuplicateName(case.name.clone()));
            }
        }
        Ok(suite)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suite() -> Suite {
        Suite {
            format_version: FORMAT_VERSION,
            system: "gbn".into(),
            criterion: "IP-2".into(),
            chosen: "highest mutant score of 200 adequate suites".into(),
            seed: 1,
            mutant_score: Some(0.5),
            dominator_score: None,
            seconds: None,
            cases: vec![SuiteCase::new("gbn-0001", serde_json::json!({ "bytes": 1 }))],
        }
    }

    #[track_caller]
    fn check_error(change: impl FnOnce(&mut Suite), expect: &str) {
        let mut suite = suite();
        change(&mut suite);
        let text = serde_json::to_string(&suite).expect("a suite is plain data");
        let message = Suite::parse(&text, "gbn").expect_err("the suite is damaged").to_string();
        assert!(message.contains(expect), "{message}");
    }

    #[test]
    fn a_suite_survives_the_round_trip() {
        let text = serde_json::to_string(&suite()).expect("a suite is plain data");
        assert_eq!(Suite::parse(&text, "gbn").expect("a good suite"), suite());
    }

    #[test]
    fn a_damaged_suite_names_the_field() {
        check_error(|suite| suite.system = "dns".into(), "field `system` is `dns`");
        check_error(|suite| suite.format_version = 99, "field `format_version` is 99");
        check_error(|suite| suite.cases.push(suite.cases[0].clone()), "`gbn-0001` occurs twice");
        let message = Suite::parse("{}", "gbn").expect_err("nothing is there").to_string();
        assert!(message.contains("missing field `format_version`"), "{message}");
    }
}
