//! A finished study in its folder.

use std::fmt::Display;
use std::io::ErrorKind;
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

/// The results of a finished study.
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
        let bad =
            |error: &dyn Display| StudyError::NotFinished { folder: folder.to_owned(), reason: error.to_string() };
        let of_file = |name: &str, error: &dyn Display| bad(&format!("{name}: {error}"));
        let outcomes = read_outcomes(folder).map_err(|error| bad(&error))?;
        let text = std::fs::read_to_string(folder.join(RESULTS)).map_err(|error| of_file(RESULTS, &error))?;
        let analysis: Analysis = serde_json::from_str(&text).map_err(|error| of_file(RESULTS, &error))?;
        if analysis.format_version != FORMAT_VERSION {
            return Err(bad(&format!("{RESULTS} is of another release")));
        }
        let read = |name: &str| match std::fs::read_to_string(folder.join(name)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            read => read.map(Some).map_err(|error| of_file(name, &error)),
        };
        let suite = read(SUITE)?.map(|text| Suite::parse(&text, &outcomes.system)).transpose();
        let suite = suite.map_err(|error| of_file(SUITE, &error))?;
        Study::new(&outcomes, &analysis, suite.as_ref()).map_err(|error| bad(&error))?;
        let reference = read(REFERENCE)?.map(|text| serde_json::from_str(&text)).transpose();
        let reference: Option<Reference> = reference.map_err(|error| of_file(REFERENCE, &error))?;
        let simulated = read(SIMULATED)?.map(|text| serde_json::from_str(&text)).transpose();
        let simulated: Option<SimulatedSuite> = simulated.map_err(|error| of_file(SIMULATED, &error))?;
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
