//! HTTP services of packages, users' and Simutant's own: found in a manifest, and built as programs that test servers.
//!
//! ```toml
//! [package.metadata.simutant.http.notes]
//! type = "Notes"                  # implements `simutant_http_tester::HttpService`
//! initial = "Notes::with_room(3)" # an expression; by default Default::default()
//! ```

use std::sync::atomic::AtomicBool;

use simutant_http_tester::testing::{TestingReply, TestingRequest};
use simutant_mutator::{BuildEvent, INITIAL_LINE, Named, TYPE_LINE};

use crate::program::{Found, NamedRequest, Program, ProgramError, ProgramKind};
use crate::specification::Section;

/// An HTTP service whose package was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageHttpService(Found<Section>);

/// A program that tests servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestingProgram(Program);

impl PackageHttpService {
    /// Finds it.
    ///
    /// # Errors
    /// [`ProgramError`] if no package has it, or its section or its dependencies cannot be used.
    pub fn find(request: &NamedRequest) -> Result<Self, ProgramError> {
        request.find(ProgramKind::HttpService).map(Self)
    }

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
             let from = ::std::io::BufReader::new(::std::io::stdin());\n    \
             match ::simutant_http_tester::testing::serve(&initial, from, &mut ::std::io::stdout().lock()) {{\n        \
             Ok(()) => ::std::process::ExitCode::SUCCESS,\n        \
             Err(_) => ::std::process::ExitCode::FAILURE,\n    \
             }}\n}}\n"
        );
        self.0.build(Named::HttpService { type_path, initial }, &main, progress).map(TestingProgram)
    }
}

impl TestingProgram {
    /// Tests a server, until `stop` is set: then the answer says what was found so far.
    ///
    /// # Errors
    /// [`ProgramError::NoAnswer`] if the program panics, or ends otherwise without an answer.
    pub fn ask(&self, request: &TestingRequest, stop: &AtomicBool) -> Result<TestingReply, ProgramError> {
        self.0.ask_until(request, stop)
    }
}
