//! Runs cargo in a generated workspace, and reads what it says.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;

use cargo_metadata::diagnostic::{Diagnostic, DiagnosticLevel};
use cargo_metadata::{Artifact, Message, TargetKind};

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
    // The lines for a person say what begins, whatever they are set to look like; the messages say what is done.
    command.envs([
        ("CARGO_TERM_QUIET", "false"),
        ("CARGO_TERM_VERBOSE", "false"),
        ("CARGO_TERM_COLOR", "never"),
        ("CARGO_TERM_PROGRESS_WHEN", "never"),
    ]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(MutatorError::NoCargo)?;
    let (stdout, stderr) = (child.stdout.take().expect("it is piped"), child.stderr.take().expect("it is piped"));
    let (said, hears) = channel();
    let of_messages = said.clone();
    // Nobody listens any more after an error.
    std::thread::spawn(move || {
        let messages = Message::parse_stream(BufReader::new(stdout)).map(|message| Said::Message(Box::new(message)));
        messages.map(|message| of_messages.send(message)).take_while(Result::is_ok).for_each(drop);
    });
    std::thread::spawn(move || {
        let lines = BufReader::new(stderr).split(b'\n').map_while(Result::ok);
        let lines = lines.map(|line| Said::Line(String::from_utf8_lossy(&line).into_owned()));
        lines.map(|line| said.send(line)).take_while(Result::is_ok).for_each(drop);
    });
    let (mut running, mut complaints) = (Running::default(), String::new());
    let (mut errors, mut artifacts, mut conditions) = (Vec::new(), Vec::new(), Vec::new());
    for said in hears {
        match said {
            Said::Line(line) => {
                if running.begin(&line) {
                    progress(running.event());
                }
                complaints.push_str(&line);
                complaints.push('\n');
            }
            Said::Message(message) => match (*message).map_err(MutatorError::NoCargo)? {
                Message::CompilerMessage(message) if message.message.level == DiagnosticLevel::Error => {
                    errors.push(message.message);
                }
                Message::CompilerArtifact(artifact) => {
                    if running.end(&artifact) {
                        progress(running.event());
                    }
                    artifacts.push(artifact);
                }
                Message::BuildScriptExecuted(script) => conditions.push((script.package_id.repr, script.cfgs)),
                _ => {}
            },
        }
    }
    let status = child.wait().map_err(MutatorError::NoCargo)?;
    if status.signal() == Some(INTERRUPT) {
        return Err(MutatorError::Interrupted);
    }
    Ok(Run { artifacts, errors, conditions, succeeds: status.success(), complaints })
}

/// What cargo says.
enum Said {
    /// To programs.
    Message(Box<io::Result<Message>>),
    /// To people.
    Line(String),
}

/// The packages that are being compiled, in the order in which they began.
#[derive(Debug, Default)]
struct Running(Vec<String>);

impl Running {
    /// Takes in a line for people; returns whether it says that a package begins.
    fn begin(&mut self, line: &str) -> bool {
        let mut words = line.split_whitespace();
        match (words.next(), words.next(), words.next()) {
            (Some("Compiling" | "Checking"), Some(package), Some(version)) if version.starts_with('v') => {
                self.0.push(package.to_owned());
                true
            }
            _ => false,
        }
    }

    /// Takes in what is done; returns whether a package is.
    fn end(&mut self, artifact: &Artifact) -> bool {
        // After its build script comes the package itself.
        if artifact.target.kind.contains(&TargetKind::CustomBuild) {
            return false;
        }
        let name = package_name(&artifact.package_id.repr);
        let before = self.0.len();
        self.0.retain(|package| package != name);
        self.0.len() < before
    }

    fn event(&self) -> BuildEvent {
        BuildEvent::Running { packages: self.0.clone() }
    }
}

/// Returns the name in cargo's identity of a package: `…#NAME@VERSION`, or `…/NAME#VERSION`.
fn package_name(identity: &str) -> &str {
    let (place, rest) = identity.rsplit_once('#').unwrap_or(("", identity));
    match rest.split_once('@') {
        Some((name, _)) => name,
        None => place.rsplit('/').next().unwrap_or(place),
    }
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
    fn the_packages_that_are_being_compiled_are_named_while_they_are() {
        let artifact = |package: &str, kind: &str| -> Artifact {
            let target = serde_json::json!({
                "kind": [kind], "crate_types": ["lib"], "name": "x", "src_path": "/x.rs", "edition": "2021", "doctest": true,
                "test": true,
            });
            let profile = serde_json::json!({
                "opt_level": "0", "debuginfo": 0, "debug_assertions": true, "overflow_checks": true, "test": false,
            });
            let artifact = serde_json::json!({
                "package_id": package, "manifest_path": "/Cargo.toml", "target": target, "profile": profile,
                "features": [], "filenames": [], "executable": null, "fresh": false,
            });
            serde_json::from_value(artifact).expect("it is one of cargo's")
        };
        let mut running = Running::default();
        let serde = "registry+https://github.com/rust-lang/crates.io-index#serde@1.0.0";
        assert!(!running.begin("    Updating crates.io index"));
        assert!(running.begin("   Compiling serde v1.0.0") && running.begin("   Compiling gbn v0.1.0 (/home/a b/gbn)"));
        assert!(!running.end(&artifact(serde, "custom-build")), "the package itself is still to come");
        assert_eq!(running.0, ["serde", "gbn"]);
        assert!(running.end(&artifact(serde, "lib")) && !running.end(&artifact(serde, "lib")));
        assert!(running.begin("    Checking simutant-check v0.0.0 (/x)") && !running.begin("    Finished release"));
        assert!(running.end(&artifact("path+file:///home/a%20b/gbn#0.1.0", "lib")));
        assert_eq!(running.0, ["simutant-check"]);
        assert!(running.end(&artifact("path+file:///x/simutant-check-7#simutant-check@0.0.0", "bin")));
        assert_eq!(running.0, [""; 0]);
    }

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
