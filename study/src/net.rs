//! Coloured Petri nets of packages, users' and Simutant's own: found in a manifest, and built as programs that explore
//! them.
//!
//! ```toml
//! [package.metadata.simutant.nets.two-phase-commit]
//! net = "net::two_phase_commit"  # a function that returns a `simutant_nets::Net`
//! arguments = [3]                # what it is given where nothing else is asked for
//! ```

use std::process::Stdio;

use serde::Deserialize;
use serde_json::Value;
use simutant_mutator::{BuildEvent, NET_LINE, Named};
use simutant_nets::exploring::{ExploringReply, ExploringRequest};

use crate::program::{Found, NamedRequest, Program, ProgramError, ProgramKind};

/// A net whose package was found.
#[derive(Debug, Clone, PartialEq)]
pub struct PackageNet(Found<Section>);

/// A program that explores a net.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetProgram(Program);

/// `[package.metadata.simutant.nets.NAME]`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    /// The path of the function that returns the net, from the crate's root.
    net: String,
    /// Its arguments.
    #[serde(default)]
    arguments: Vec<Value>,
}

impl PackageNet {
    /// Finds it.
    ///
    /// # Errors
    /// [`ProgramError`] if no package has it, or its section or its dependencies cannot be used.
    pub fn find(request: &NamedRequest) -> Result<Self, ProgramError> {
        request.find(ProgramKind::Net).map(Self)
    }

    /// Returns the arguments that the manifest has for the function.
    pub fn arguments(&self) -> &[Value] {
        &self.0.section.arguments
    }

    /// Builds the program that explores the net.
    ///
    /// # Errors
    /// [`ProgramError`] if it does not compile, or a file cannot be written.
    pub fn build(&self, progress: &mut dyn FnMut(BuildEvent)) -> Result<NetProgram, ProgramError> {
        let Found { library, section: Section { net, .. }, .. } = &self.0;
        let main = format!(
            "//! Generated: explores a net.\n\n\
             #[allow(unused_imports)]\nuse ::{library}::*;\n\n\
             fn main() -> ::std::process::ExitCode {{\n    \
             let request = ::std::env::args().nth(1).unwrap_or_default();\n    \
             {NET_LINE}::simutant_nets::exploring::serve(&{net}, &request, &mut ::std::io::stdout().lock());\n    \
             match served {{\n        \
             Ok(()) => ::std::process::ExitCode::SUCCESS,\n        \
             Err(_) => ::std::process::ExitCode::FAILURE,\n    \
             }}\n}}\n"
        );
        self.0.build(Named::Net { function: net }, &main, progress).map(NetProgram)
    }
}

impl NetProgram {
    /// Asks the program.
    ///
    /// # Errors
    /// [`ProgramError::NoAnswer`] if the program panics, or ends otherwise without an answer.
    pub fn ask(&self, request: &ExploringRequest) -> Result<ExploringReply, ProgramError> {
        self.0.ask(request, Stdio::null())
    }
}
