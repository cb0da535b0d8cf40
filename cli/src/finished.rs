//! What a finished study left in its folder, read back.

use std::path::Path;

use simutant_analysis::{Analysis, Study};
use simutant_campaign::read_outcomes;
use simutant_outcomes::{FORMAT_VERSION, Outcomes, Suite};

use crate::exit::BadInput;

/// A finished study.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) outcomes: Outcomes,
    pub(crate) analysis: Analysis,
    pub(crate) suite: Option<Suite>,
}

impl Finished {
    /// Reads the study in a folder; nothing is built or run for it.
    pub(crate) fn read(folder: &Path) -> Result<Self, BadInput> {
        let bad = |error: &dyn std::fmt::Display| {
            let folder = folder.display();
            BadInput(format!("there is no finished study in {folder}: {error}; `simutant study` with --out makes one"))
        };
        let read = |name: &str| std::fs::read_to_string(folder.join(name));
        let outcomes = read_outcomes(folder).map_err(|error| bad(&error))?;
        let text = read("results.json").map_err(|error| bad(&format!("results.json: {error}")))?;
        let analysis: Analysis = serde_json::from_str(&text).map_err(|error| bad(&format!("results.json: {error}")))?;
        if analysis.format_version != FORMAT_VERSION {
            return Err(bad(&"results.json is of another release"));
        }
        let suite = match read("suite.json") {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            text => {
                let text = text.map_err(|error| bad(&format!("suite.json: {error}")))?;
                Some(Suite::parse(&text, &outcomes.system).map_err(|error| bad(&format!("suite.json: {error}")))?)
            }
        };
        let finished = Self { outcomes, analysis, suite };
        finished.checked().map_err(|error| bad(&error))?;
        Ok(finished)
    }

    /// Returns the study.
    pub(crate) fn study(&self) -> Study<'_> {
        self.checked().expect("it was checked when it was read")
    }

    fn checked(&self) -> Result<Study<'_>, simutant_analysis::StudyError> {
        Study::new(&self.outcomes, &self.analysis, self.suite.as_ref())
    }
}
