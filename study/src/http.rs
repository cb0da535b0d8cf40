//! HTTP services of packages, users' and Simutant's own: found in a manifest, and built as programs that test servers.
//!
//! ```toml
//! [package.metadata.simutant.http.notes]
//! type = "Notes"                  # implements `simutant_http_tester::HttpService`
//! initial = "Notes::with_room(3)" # an expression; by default Default::default()
//! ```

use std::path::PathBuf;
use std::process::Stdio;

use simutant_http_tester::testing::{TestingReply, TestingRequest};
use simutant_mutator::{BuildEvent, INITIAL_LINE, Named, TYPE_LINE};

use crate::program::{Found, Program, ProgramError, ProgramKind, find};
use crate::specification::Section;

/// A request for an HTTP service, by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpServiceRequest {
    /// Its name, as the manifest of its package has it.
    pub name: String,
    /// The manifest of the package or workspace that has it; `None` for that of the current folder, or else Simutant's
    /// own.
    pub manifest_path: Option<PathBuf>,
}

/// An HTTP service whose package was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageHttpService(Found<Section>);

/// A program that tests servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestingProgram(Program);

impl HttpServiceRequest {
    /// Finds the package in the workspace of the given manifest, of the current folder, or of Simutant itself.
    ///
    /// # Errors
    /// [`ProgramError`] if there is none, or its section or its dependencies cannot be used.
    pub fn find(&self) -> Result<PackageHttpService, ProgramError> {
        find(ProgramKind::HttpService, &self.name, self.manifest_path.as_deref()).map(PackageHttpService)
    }
}

impl PackageHttpService {
    /// Builds the program that tests servers of the service.
    ///
    /// # Errors
    /// [`ProgramError`] if it does not compile, or a file cannot be written.
    pub fn build(&self, progress: &mut dyn FnMut(BuildEvent)) -> Result<TestingProgram, ProgramError> {
        let Found { library, section: Section { type_path, initial }, .. } = &self.0;
        let main = format!(
            "//! Generated: tests servers of an HTTP service.\n\n\
             #[allow(unused_imports)]\nuse ::{library}::*;\n\n\
             fn specified<S: ::simutant_http_tester::HttpService>() {{}}\n\n\
             fn main() -> ::std::process::ExitCode {{\n    \
             {TYPE_LINE}{type_path};\n    \
             specified::<Judged>();\n    \
             {INITIAL_LINE}{initial};\n    \
             let request = ::std::env::args().nth(1).unwrap_or_default();\n    \
             match ::simutant_http_tester::testing::serve(&initial, &request, &mut ::std::io::stdout().lock()) {{\n        \
             Ok(()) => ::std::process::ExitCode::SUCCESS,\n        \
             Err(_) => ::std::process::ExitCode::FAILURE,\n    \
             }}\n}}\n"
        );
        self.0.build(Named::HttpService { type_path, initial }, &main, progress).map(TestingProgram)
    }
}

impl TestingProgram {
    /// Tests a server.
    ///
    /// # Errors
    /// [`ProgramError::NoAnswer`] if the program panics, or ends otherwise without an answer.
    pub fn ask(&self, request: &TestingRequest) -> Result<TestingReply, ProgramError> {
        self.0.ask(request, Stdio::null())
    }
}
