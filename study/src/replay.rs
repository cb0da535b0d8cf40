//! The command that repeats a run: every page and every failed check ends in it.

use std::path::PathBuf;

use simutant_outcomes::MutantNumber;

use crate::SystemRequest;
use crate::shell::quoted;

/// The command that runs a test case of a study again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayCommand {
    /// The `simutant` command, as it is called.
    pub program: String,
    /// The system.
    pub system: SystemRequest,
    /// The folder of the study.
    pub out: PathBuf,
}

impl ReplayCommand {
    /// Returns the command that runs a test case on a mutant, or on the original; `case` is as a shell takes it.
    pub fn command(&self, case: &str, mutant: Option<MutantNumber>) -> String {
        let out = quoted(&self.out.display().to_string());
        let program = quoted(&self.program);
        let mutant = mutant.map_or_else(String::new, |mutant| format!(" --mutant {mutant}"));
        format!("{program} simulate {} --case {case}{mutant} --out {out}", self.system.command_line())
    }
}
