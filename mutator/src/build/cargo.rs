//! Runs cargo in a generated workspace, and reads what it says.

use std::ffi::OsString;
use std::io::BufReader;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use cargo_metadata::diagnostic::{Diagnostic, DiagnosticLevel};
use cargo_metadata::{Artifact, Message};

use super::request::BuildEvent;
use super::workspace::Workspace;
use crate::error::MutatorError;

/// Lets lints pass.
const CAP_LINTS: &str = "--cap-lints=allow";

/// The number of the signal that Ctrl-C sends, on every Unix.
const INTERRUPT: i32 = 2;

/// What came of compiling.
pub(super) enum Compiled<T> {
    Product(T),
    Errors(Vec<Diagnostic>),
}

/// What cargo did.
pub(super) struct Run {
    pub(super) artifacts: Vec<Artifact>,
    pub(super) errors: Vec<Diagnostic>,
    /// The conditions that build scripts add, with cargo's name of the package.
    pub(super) conditions: Vec<(String, Vec<String>)>,
    pub(super) succeeds: bool,
    /// What it wrote for a person.
    pub(super) complaints: String,
}

impl Workspace {
    /// Runs cargo in the workspace.
    pub(super) fn run(&self, command: &mut Command, progress: &mut dyn FnMut(BuildEvent)) -> Result<Run, MutatorError> {
        let run = run(command.current_dir(&self.root).env("CARGO_TARGET_DIR", &self.target_directory), progress)?;
        for (package, added) in &run.conditions {
            let member = self.copies.iter().position(|copy| package.contains(&format!("{}#", copy.display())));
            if let Some(member) = member {
                self.conditions.borrow_mut().insert(member, added.clone());
            }
        }
        Ok(run)
    }

    /// Returns what `find` finds among the artifacts, if cargo made all of them, or else what the compiler has against
    /// the source.
    pub(super) fn product<T>(
        &self,
        run: Run,
        find: impl FnOnce(Vec<Artifact>) -> Option<T>,
    ) -> Result<Compiled<T>, MutatorError> {
        match find(run.artifacts) {
            Some(product) if run.succeeds => Ok(Compiled::Product(product)),
            _ if run.errors.is_empty() => {
                Err(MutatorError::Cargo { directory: self.root.clone(), message: run.complaints })
            }
            _ => Ok(Compiled::Errors(run.errors)),
        }
    }

    pub(super) fn does_not_compile(&self, errors: &[Diagnostic]) -> MutatorError {
        MutatorError::DoesNotCompile { directory: self.root.clone(), message: rendered(errors) }
    }
}

/// Returns the first errors as the compiler shows them.
pub(super) fn rendered(errors: &[Diagnostic]) -> String {
    let rendered = |error: &Diagnostic| error.rendered.clone().unwrap_or_else(|| error.message.clone());
    errors.iter().take(3).map(rendered).collect::<Vec<_>>().join("\n")
}

/// Runs cargo.
///
/// # Errors
/// [`MutatorError::NoCargo`] if it cannot be started or listened to, [`MutatorError::Interrupted`] if an interrupt ended
/// it.
pub(super) fn run(command: &mut Command, progress: &mut dyn FnMut(BuildEvent)) -> Result<Run, MutatorError> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(MutatorError::NoCargo)?;
    let mut stderr = child.stderr.take().expect("it is piped");
    let complaints = std::thread::spawn(move || {
        let mut text = String::new();
        // What is not text cannot be shown; the exit status still tells.
        let _ = std::io::Read::read_to_string(&mut stderr, &mut text);
        text
    });
    let stdout = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut errors = Vec::new();
    let (mut artifacts, mut conditions) = (Vec::new(), Vec::new());
    for message in Message::parse_stream(stdout) {
        match message.map_err(MutatorError::NoCargo)? {
            Message::CompilerMessage(message) if message.message.level == DiagnosticLevel::Error => {
                errors.push(message.message);
            }
            Message::CompilerArtifact(artifact) => {
                if !artifact.fresh {
                    progress(BuildEvent::Compiled { name: artifact.target.name.clone() });
                }
                artifacts.push(artifact);
            }
            Message::BuildScriptExecuted(script) => conditions.push((script.package_id.repr, script.cfgs)),
            _ => {}
        }
    }
    let status = child.wait().map_err(MutatorError::NoCargo)?;
    if status.signal() == Some(INTERRUPT) {
        return Err(MutatorError::Interrupted);
    }
    let complaints = complaints.join().unwrap_or_default();
    Ok(Run { artifacts, errors, conditions, succeeds: status.success(), complaints })
}

/// Returns the cargo that this was started by, or the one that is found.
pub(super) fn cargo_program() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Returns a command of cargo that compiles as the instrumented build does, and tells what it does.
pub(super) fn cargo(command: &str) -> Command {
    let mut cargo = Command::new(cargo_program());
    cargo.args([command, "--release", "--message-format=json"]);
    // Mutants look odd on purpose: no lint may reject what compiles. What the user says to the compiler stays.
    match (std::env::var("CARGO_ENCODED_RUSTFLAGS"), std::env::var("RUSTFLAGS")) {
        (Ok(flags), _) => cargo.env("CARGO_ENCODED_RUSTFLAGS", format!("{flags}\u{1f}{CAP_LINTS}")),
        (_, Ok(flags)) => cargo.env("RUSTFLAGS", format!("{flags} {CAP_LINTS}")),
        _ => cargo.args(["--config", &format!("build.rustflags=[{CAP_LINTS:?}]")]),
    };
    cargo
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_that_ends_the_compiler_is_told_from_a_failure() {
        let run_script = |script: &str| run(Command::new("sh").args(["-c", script]), &mut |_| {});
        assert!(matches!(run_script("kill -INT $$; sleep 60"), Err(MutatorError::Interrupted)));
        for failure in ["kill -KILL $$; sleep 60", "exit 101"] {
            let failed = run_script(failure).unwrap_or_else(|error| panic!("{failure}: {error}"));
            assert!(!failed.succeeds, "{failure}");
        }
        assert!(run_script("exit 0").expect("it ends by itself").succeeds);
    }
}
