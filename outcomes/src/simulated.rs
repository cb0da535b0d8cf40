//! What the simulation gave for the test cases of a suite: an oracle for those who run them elsewhere.

use serde::{Deserialize, Serialize};

use crate::{FORMAT_VERSION, RunEnd, Suite};

/// What the original did on each test case of a suite, as written to `simulated.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SimulatedSuite {
    /// [`FORMAT_VERSION`].
    pub format_version: u32,
    /// The system.
    pub system: String,
    /// The test cases, in the order of the suite.
    pub cases: Vec<SimulatedCase>,
}

/// What the original did on a test case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SimulatedCase {
    /// The test case's name in the suite.
    pub name: String,
    /// How the run ended. A study ends with an error if a test case fails, so that this is a pass, or inconclusive.
    pub verdict: RunEnd,
    /// Virtual time at its end, in nanoseconds.
    pub virtual_time_ns: u64,
    /// Packets that it sent.
    pub messages: u64,
    /// What components returned, in the order in which they did.
    pub returned: Vec<SimulatedValue>,
    /// What components noted for people to read, in order: a system can note its final state there.
    pub notes: Vec<SimulatedValue>,
    /// Whether the run has more events than a trace keeps, so that later values and notes are missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

/// A value that a component gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SimulatedValue {
    /// The component.
    pub component: String,
    /// When, in nanoseconds of virtual time.
    pub at_ns: u64,
    /// The value as `Debug` shows it, or the text of the note.
    pub value: String,
}

impl SimulatedSuite {
    /// Returns what the simulation gave for a suite.
    pub fn new(suite: &Suite, cases: Vec<SimulatedCase>) -> Self {
        Self { format_version: FORMAT_VERSION, system: suite.system.clone(), cases }
    }

    /// Returns whether it is of the test cases of this suite.
    ///
    /// ```
    /// use serde_json::json;
    /// use simutant_outcomes::{SimulatedSuite, Suite, SuiteCase};
    ///
    /// let suite = Suite::of_cases("gbn", "written by hand", 1, [SuiteCase::new("a", json!({}))]);
    /// let simulated = SimulatedSuite::new(&suite, Vec::new());
    /// // The only test case is missing.
    /// assert!(!simulated.is_of(&suite));
    /// assert!(simulated.is_of(&Suite { cases: Vec::new(), ..suite }));
    /// ```
    pub fn is_of(&self, suite: &Suite) -> bool {
        let names = self.cases.iter().map(|case| &case.name);
        self.format_version == FORMAT_VERSION
            && self.system == suite.system
            && names.eq(suite.cases.iter().map(|case| &case.name))
    }
}
