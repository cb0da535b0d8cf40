//! A finished study in its folder.

use std::path::Path;

use simutant_analysis::{Analysis, Reference, Study};
use simutant_campaign::read_outcomes;
use simutant_outcomes::{FORMAT_VERSION, Outcomes, SimulatedSuite, Suite};

use crate::StudyError;

/// The file of the analysis.
pub(crate) const RESULTS: &str = "results.json";

/// The file of the suite.
pub(crate) const SUITE: &str = "suite.json";

/// The file with what the simulation gave for the suite.
pub(crate) const SIMULATED: &str = "simulated.json";

/// The file of a suite that was chosen without a whole study: the suite of a study in the same folder stays.
pub(crate) const SELECTED_SUITE: &str = "selected-suite.json";

/// The file with what an earlier experiment reports about the system.
pub(crate) const REFERENCE: &str = "reference.json";

/// What a finished study found out.
#[derive(Debug)]
pub struct FinishedStudy {
    /// The outcomes of its campaign.
    pub outcomes: Outcomes,
    /// What they say.
    pub analysis: Analysis,
    /// The inputs to run; `None` if there is no suite.
    pub suite: Option<Suite>,
    /// What the simulation gave for the suite; `None` if there is none, or an older release made the study.
    pub simulated: Option<SimulatedSuite>,
    /// What an earlier experiment reports about the system; `None` if nothing is known.
    pub reference: Option<Reference>,
}

impl FinishedStudy {
    /// Reads the study in a folder; nothing is built or run for it.
    ///
    /// # Errors
    /// [`StudyError::NotFinished`] if a file is missing, or the files are not of one study.
    pub fn read(folder: &Path) -> Result<Self, StudyError> {
        let bad = |error: &dyn std::fmt::Display| StudyError::NotFinished {
            folder: folder.to_owned(),
            reason: error.to_string(),
        };
        let read = |name: &str| std::fs::read_to_string(folder.join(name));
        let outcomes = read_outcomes(folder).map_err(|error| bad(&error))?;
        let of_results = |error: &dyn std::fmt::Display| bad(&format!("{RESULTS}: {error}"));
        let text = read(RESULTS).map_err(|error| of_results(&error))?;
        let analysis: Analysis = serde_json::from_str(&text).map_err(|error| of_results(&error))?;
        if analysis.format_version != FORMAT_VERSION {
            return Err(bad(&format!("{RESULTS} is of another release")));
        }
        let of_suite = |error: &dyn std::fmt::Display| bad(&format!("{SUITE}: {error}"));
        let suite = match read(SUITE) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(of_suite(&error)),
            Ok(text) => Some(Suite::parse(&text, &outcomes.system).map_err(|error| of_suite(&error))?),
        };
        Study::new(&outcomes, &analysis, suite.as_ref()).map_err(|error| bad(&error))?;
        let of_reference = |error: &dyn std::fmt::Display| bad(&format!("{REFERENCE}: {error}"));
        let reference = match read(REFERENCE) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(of_reference(&error)),
            Ok(text) => Some(serde_json::from_str(&text).map_err(|error| of_reference(&error))?),
        };
        let of_simulated = |error: &dyn std::fmt::Display| bad(&format!("{SIMULATED}: {error}"));
        let simulated: Option<SimulatedSuite> = match read(SIMULATED) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(of_simulated(&error)),
            Ok(text) => Some(serde_json::from_str(&text).map_err(|error| of_simulated(&error))?),
        };
        // A study that was stopped after it chose its suite has that of the study before.
        let simulated = simulated.filter(|simulated| suite.as_ref().is_some_and(|suite| simulated.is_of(suite)));
        Ok(Self { outcomes, analysis, suite, simulated, reference })
    }

    /// Returns the study as comparisons and exports take it.
    ///
    /// # Panics
    /// If its parts do not belong together: a study that was read or run has none of these.
    pub fn study(&self) -> Study<'_> {
        Study::new(&self.outcomes, &self.analysis, self.suite.as_ref()).expect("its parts are of one study")
    }
}
