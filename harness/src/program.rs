//! Testbeds in a program of their own: what such a program does, and who asks it.
//!
//! A user's testbed is Rust that the command was not compiled with. So it is a program, which reads one request from
//! standard input and writes responses to standard output, each a line of JSON.

mod asking;
mod serving;

use std::borrow::Cow;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use simutant_outcomes::Suite;

use crate::error::ErrorClass;
use crate::implementation::{ActiveMutant, Implementation};
use crate::report::CaseResult;
use crate::run::RunOptions;

pub use asking::TestbedProgram;
pub use serving::serve;

/// What a program is asked.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Request<'a> {
    /// Which testbeds it has.
    Describe,
    /// To run test cases.
    Run(Box<RunRequest<'a>>),
}

/// Which test cases are run, and how: what [`run_some`](crate::run_some) is given.
#[derive(Debug, Serialize, Deserialize)]
struct RunRequest<'a> {
    suite: Cow<'a, Suite>,
    implementation: Cow<'a, Implementation>,
    /// See [`Implementation::folder`].
    folder: PathBuf,
    /// See [`Implementation::active_mutant`].
    active_mutant: Option<ActiveMutant>,
    options: RunOptions,
    runs: Vec<(usize, u32)>,
}

/// What a program answers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Response {
    /// It has these testbeds.
    Testbeds(Vec<Description>),
    /// A test case was run.
    Result(Box<CaseResult>),
    /// All that was asked for is done.
    Done,
    /// It could not be done.
    Failed {
        /// What kind of error it is.
        class: ErrorClass,
        /// In words.
        message: String,
    },
}

/// What is known of a testbed.
#[derive(Debug, Serialize, Deserialize)]
struct Description {
    system: String,
    implemented_as: String,
    roles: Vec<RoleDescription>,
    timeout_ms: u64,
    jobs_for_each_core: usize,
    #[serde(default)]
    needs_fixture: bool,
    #[serde(default = "yes")]
    redraws: bool,
    #[serde(default)]
    rules: Vec<String>,
}

fn yes() -> bool {
    true
}

/// What is known of a role.
#[derive(Debug, Serialize, Deserialize)]
struct RoleDescription {
    name: String,
    placeholders: Vec<String>,
    listens: bool,
}
