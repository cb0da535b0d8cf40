//! Specifications of packages, users' and Simutant's own: found in a manifest, and built as programs that judge
//! histories.
//!
//! ```toml
//! [package.metadata.simutant.specifications.tickets]
//! type = "Tickets"                # implements `simutant_oracle::Specification`
//! initial = "Tickets::from(100)"  # an expression; by default Default::default()
//! ```

use std::path::Path;
use std::process::Stdio;

use serde::Deserialize;
use simutant_mutator::{BuildEvent, INITIAL_LINE, Named, TYPE_LINE};
use simutant_oracle::judging::{JudgingReply, JudgingRequest};

use crate::program::{Found, NamedRequest, Program, ProgramError, ProgramKind};

/// A specification whose package was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageSpecification(Found<Section>);

/// A program that judges histories by a specification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgingProgram(Program);

/// `[package.metadata.simutant.specifications.NAME]`, and `http.NAME`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Section {
    /// The path of the type that implements `Specification`, from the crate's root.
    #[serde(rename = "type")]
    pub(crate) type_path: String,
    /// An expression for the state that the service begins in.
    #[serde(default = "by_default")]
    pub(crate) initial: String,
}

fn by_default() -> String {
    "::std::default::Default::default()".to_owned()
}

impl PackageSpecification {
    /// Finds it.
    ///
    /// # Errors
    /// [`ProgramError`] if no package has it, or its section or its dependencies cannot be used.
    pub fn find(request: &NamedRequest) -> Result<Self, ProgramError> {
        request.find(ProgramKind::Specification).map(Self)
    }

    /// Builds the program that judges histories by the specification.
    ///
    /// # Errors
    /// [`ProgramError`] if it does not compile, or a file cannot be written.
    pub fn build(&self, progress: &mut dyn FnMut(BuildEvent)) -> Result<JudgingProgram, ProgramError> {
        let Section { type_path, initial } = &self.0.section;
        self.0.build(Named::Specification { type_path, initial }, &self.main(), progress).map(JudgingProgram)
    }

    fn main(&self) -> String {
        let Found { library, section: Section { type_path, initial }, .. } = &self.0;
        format!(
            "//! Generated: judges histories by a specification.\n\n\
             #[allow(unused_imports)]\nuse ::{library}::*;\n\
             #[allow(unused_imports)]\nuse ::simutant_oracle::judging::JsonLinesAlone as _;\n\n\
             fn specified<S: ::simutant_oracle::Specification>() {{}}\n\n\
             fn main() -> ::std::process::ExitCode {{\n    \
             {TYPE_LINE}{type_path};\n    \
             specified::<Judged>();\n    \
             let begun = ::std::time::Instant::now();\n    \
             {INITIAL_LINE}{initial};\n    \
             let reading = ::simutant_oracle::judging::Formats::<Judged>::default().reading();\n    \
             let request = ::std::env::args().nth(1).unwrap_or_default();\n    \
             let watch = ::simutant_oracle::judging::Watch {{ elapsed: &|| begun.elapsed(), is_stopped: &|| false }};\n    \
             let (mut from, mut to) = (::std::io::stdin().lock(), ::std::io::stdout().lock());\n    \
             match ::simutant_oracle::judging::serve(&reading, &initial, &request, &mut from, &mut to, watch) {{\n        \
             Ok(()) => ::std::process::ExitCode::SUCCESS,\n        \
             Err(_) => ::std::process::ExitCode::FAILURE,\n    \
             }}\n}}\n"
        )
    }
}

impl JudgingProgram {
    /// Returns the executable.
    pub fn executable(&self) -> &Path {
        &self.0.executable
    }

    /// Judges the history in a file, or what else the standard input of the program is to be.
    ///
    /// # Errors
    /// [`ProgramError::NoAnswer`] if the program panics, or ends otherwise without an answer.
    pub fn judge(&self, request: &JudgingRequest, from: Stdio) -> Result<JudgingReply, ProgramError> {
        self.0.ask(request, from)
    }
}
