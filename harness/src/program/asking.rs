//! Who asks a program with testbeds.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use serde_json::Value;
use simutant_outcomes::Suite;

use super::{Description, Request, Response, RunRequest};
use crate::error::HarnessError;
use crate::implementation::Implementation;
use crate::report::CaseResult;
use crate::run::RunOptions;
use crate::testbed::{Environment, InvalidCase, Role, Setup, Testbed, Testbeds};

/// The exit code of a Rust program that panicked.
const PANICKED: i32 = 101;

/// A program whose `main` is [`serve`](crate::serve).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestbedProgram {
    path: PathBuf,
}

impl TestbedProgram {
    /// Returns the program at `path`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Asks the program for its testbeds. They live as long as this process.
    ///
    /// # Errors
    /// [`HarnessError::ProgramNotStarted`] if it cannot be started, [`HarnessError::ProgramPanicked`] or
    /// [`HarnessError::BrokenProgram`] if it does not answer as such programs do.
    pub fn testbeds(&self) -> Result<Testbeds, HarnessError> {
        let mut testbeds = None;
        let exit = self.ask(&Request::Describe, &mut |response| match response {
            Response::Testbeds(descriptions) => testbeds = Some(descriptions),
            Response::Result(_) | Response::Done | Response::Failed { .. } => {}
        })?;
        let descriptions = testbeds.ok_or_else(|| self.ended(exit, "it named no testbeds"))?;
        let testbeds = descriptions.into_iter().map(|description| -> &'static dyn Testbed {
            Box::leak(Box::new(Described::new(description, self.clone())))
        });
        Ok(Testbeds::new(Box::leak(testbeds.collect::<Box<[_]>>())))
    }

    /// Runs test cases as [`run_some`](crate::run_some) does.
    pub(crate) fn run(
        &self,
        suite: &Suite,
        implementation: &Implementation,
        options: &RunOptions,
        runs: &[(usize, u32)],
        on_result: &mut dyn FnMut(&CaseResult),
    ) -> Result<Vec<CaseResult>, HarnessError> {
        let request = Request::Run(Box::new(RunRequest {
            suite: Cow::Borrowed(suite),
            implementation: Cow::Borrowed(implementation),
            folder: implementation.folder.clone(),
            active_mutant: implementation.active_mutant,
            options: options.clone(),
            runs: runs.to_vec(),
        }));
        let (mut results, mut end) = (Vec::new(), None);
        let exit = self.ask(&request, &mut |response| match response {
            Response::Result(result) => {
                on_result(&result);
                results.push(*result);
            }
            Response::Testbeds(_) => {}
            response @ (Response::Done | Response::Failed { .. }) => end = Some(response),
        })?;
        match end {
            Some(Response::Failed { class, message }) => Err(HarnessError::Program { class, message }),
            Some(_) => {
                let place = |result: &CaseResult| {
                    (suite.cases.iter().position(|case| case.name == result.name), result.repetition)
                };
                results.sort_by_cached_key(place);
                Ok(results)
            }
            None => Err(self.ended(exit, "it ended before all test cases were run")),
        }
    }

    /// Gives the program a request, and each response to `on_response`. Returns how it ended.
    fn ask(&self, request: &Request<'_>, on_response: &mut dyn FnMut(Response)) -> Result<ExitStatus, HarnessError> {
        let failed = |error: io::Error| self.broken(&error.to_string());
        let mut child = Command::new(&self.path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|why| HarnessError::ProgramNotStarted { path: self.path.clone(), why })?;
        let answered = self.talk(&mut child, request, on_response);
        if answered.is_err() {
            // It may never end.
            _ = child.kill();
        }
        // Its input ends only now: that is when the program ends, too.
        drop(child.stdin.take());
        let ended = child.wait().map_err(failed);
        answered.and(ended)
    }

    fn talk(
        &self,
        child: &mut Child,
        request: &Request<'_>,
        on_response: &mut dyn FnMut(Response),
    ) -> Result<(), HarnessError> {
        let mut line = serde_json::to_string(request).expect("requests are plain data");
        line.push('\n');
        let stdin = child.stdin.as_mut().expect("standard input is piped");
        stdin.write_all(line.as_bytes()).map_err(|error| self.broken(&error.to_string()))?;
        drop(line);
        let stdout: ChildStdout = child.stdout.take().expect("standard output is piped");
        for line in BufReader::new(stdout).lines() {
            let line = line.map_err(|error| self.broken(&error.to_string()))?;
            let response = serde_json::from_str(&line)
                .map_err(|error| self.broken(&format!("it printed `{line}`, which is no response: {error}")))?;
            on_response(response);
        }
        Ok(())
    }

    /// Returns why it ended before it had answered: it panicked, or did `what`.
    fn ended(&self, exit: ExitStatus, what: &str) -> HarnessError {
        match exit.code() {
            Some(PANICKED) => HarnessError::ProgramPanicked { path: self.path.clone() },
            _ => self.broken(what),
        }
    }

    fn broken(&self, what: &str) -> HarnessError {
        HarnessError::BrokenProgram { path: self.path.clone(), what: what.to_owned() }
    }
}

/// A testbed of the program.
struct Described {
    description: Description,
    roles: Vec<Role>,
    program: TestbedProgram,
}

impl Described {
    fn new(description: Description, program: TestbedProgram) -> Self {
        let kept = |text: &String| -> &'static str { Box::leak(text.clone().into_boxed_str()) };
        let role = |role: &super::RoleDescription| Role {
            name: kept(&role.name),
            placeholders: Box::leak(role.placeholders.iter().map(kept).collect::<Box<[_]>>()),
            listens: role.listens,
        };
        Self { roles: description.roles.iter().map(role).collect(), description, program }
    }
}

impl Testbed for Described {
    fn system(&self) -> &str {
        &self.description.system
    }

    fn implemented_as(&self) -> &str {
        &self.description.implemented_as
    }

    fn roles(&self) -> &[Role] {
        &self.roles
    }

    fn timeout(&self) -> Duration {
        Duration::from_millis(self.description.timeout_ms)
    }

    fn jobs_for_each_core(&self) -> usize {
        self.description.jobs_for_each_core
    }

    fn needs_fixture(&self) -> bool {
        self.description.needs_fixture
    }

    fn redraws(&self) -> bool {
        self.description.redraws
    }

    fn rules(&self) -> Vec<&str> {
        self.description.rules.iter().map(String::as_str).collect()
    }

    fn program(&self) -> Option<&Path> {
        Some(self.program.path())
    }

    /// The program checks.
    fn check(&self, _case: &Value) -> Result<(), InvalidCase> {
        Ok(())
    }

    fn set_up(&self, _setup: &Setup<'_>) -> Result<Box<dyn Environment>, HarnessError> {
        unreachable!("the program sets up its own test cases")
    }
}
