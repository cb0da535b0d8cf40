//! What an earlier experiment reports about a system: a file that the system's manifest names.

use simutant_analysis::Reference;

use crate::{StudiedSystem, StudyError};

impl StudiedSystem {
    /// Returns what an earlier experiment reports about the system; `None` if the manifest names no file.
    ///
    /// # Errors
    /// [`StudyError::Reference`] if the file cannot be read, or its figures do not fit together.
    pub fn reference(&self) -> Result<Option<Reference>, StudyError> {
        let Some(path) = self.package.reference() else { return Ok(None) };
        let refuse = |error: &dyn std::fmt::Display| StudyError::Reference {
            path: path.clone(),
            reason: error.to_string().trim_end().to_owned(),
        };
        let text = std::fs::read_to_string(&path).map_err(|error| refuse(&error))?;
        let reference: Reference = toml::from_str(&text).map_err(|error| refuse(&error))?;
        reference.validate().map_err(|error| refuse(&error))?;
        Ok(Some(reference))
    }
}

#[cfg(test)]
mod tests {
    use crate::SystemRequest;

    fn names(system: &str) -> Option<Vec<String>> {
        let found = SystemRequest::new(system).find().expect("one of our own");
        let reference = found.reference().expect("its figures fit together")?;
        Some(reference.criteria.into_iter().map(|criterion| criterion.name).collect())
    }

    #[test]
    fn the_systems_of_the_thesis_have_its_figures_and_others_none() {
        let of = |names: [&str; 5]| Some(names.map(str::to_owned).to_vec());
        assert_eq!(names("gbn-thesis"), of(["all-blocks", "all-branches", "IP-1", "all-uses", "IP-2"]));
        assert_eq!(names("lsr"), of(["all-blocks", "all-uses", "all-branches", "Quartet", "Pair-50"]));
        assert_eq!(names("dns"), of(["All-resource-types", "TypicalUsage", "all-uses", "all-blocks", "all-branches"]));
        assert_eq!(names("gbn"), None);
    }
}
