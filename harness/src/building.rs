//! Runs the build command of an implementation, once for all its test cases.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use crate::error::HarnessError;
use crate::implementation::{Implementation, fill_command};
use crate::process::{Care, ChildProcess, Event, Guardian, Input, Start, Watched};
use crate::testbed::Placeholders;
use crate::{RunOptions, programs};

/// Returns the folder below `directory` that an implementation is built into: its own, since what others build may have
/// the same names, but for implementations that the same command builds.
fn build_folder(implementation: &Implementation, directory: &Path) -> PathBuf {
    let Some(command) = &implementation.build else { return directory.to_owned() };
    let mut hasher = DefaultHasher::new();
    (folder_of_build(implementation), command).hash(&mut hasher);
    directory.join(format!("{:016x}", hasher.finish()))
}

/// Returns the folder that the build command runs in.
fn folder_of_build(implementation: &Implementation) -> PathBuf {
    let Implementation { folder, build_in, .. } = implementation;
    build_in.as_ref().map_or_else(|| folder.clone(), |inner| folder.join(inner))
}

/// Runs the build command of `implementation`, if it has one, and notes in the options what it made: runs with these options
/// do not build again, and results of other programs do not count as theirs.
///
/// # Errors
/// If the command cannot be run, fails or takes too long.
pub fn build_first(implementation: &Implementation, options: &mut RunOptions) -> Result<(), HarnessError> {
    if implementation.build.is_none() {
        return Ok(());
    }
    let directory = build_directory(implementation, options)?;
    let file = HarnessError::file("make a folder in", &options.work_directory);
    let folder =
        tempfile::Builder::new().prefix("simutant-build-").tempdir_in(&options.work_directory).map_err(file)?;
    let guardian = Arc::new(Guardian::start(folder.path()).map_err(HarnessError::Guardian)?);
    build(implementation, &directory, options.build_timeout, &guardian)?;
    options.built = Some(programs::built(implementation, &directory));
    Ok(())
}

/// Returns the folder that an implementation is built into, which is made if need be, as an absolute path.
pub(crate) fn build_directory(implementation: &Implementation, options: &RunOptions) -> Result<PathBuf, HarnessError> {
    let directory = build_folder(implementation, &options.build_directory);
    std::fs::create_dir_all(&directory).map_err(HarnessError::file("make the folder", &directory))?;
    directory.canonicalize().map_err(HarnessError::file("find", &directory))
}

/// Builds `implementation` into `build_directory`, an absolute path; does nothing if it has no build command.
pub(crate) fn build(
    implementation: &Implementation,
    build_directory: &Path,
    limit: Duration,
    guardian: &Arc<Guardian>,
) -> Result<(), HarnessError> {
    let Some(command) = &implementation.build else { return Ok(()) };
    let values =
        Placeholders::from([("here", implementation.folder.clone().into()), ("build", build_directory.into())]);
    let filled = fill_command(command, &values);
    let shown = filled.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    let (sender, events) = channel();
    let folder = folder_of_build(implementation);
    let start = Start {
        command: &filled,
        folder: &folder,
        watch: Watched::Nothing,
        input: Input::Nothing,
        environment: &[],
        care: Care::Kernel,
        number: 0,
        events: &sender,
    };
    let mut process = ChildProcess::start(&start, guardian).map_err(|source| HarnessError::BuildNotStarted {
        implementation: implementation.name.clone(),
        program: command[0].clone(),
        source,
    })?;
    match events.recv_timeout(limit) {
        Ok(Event::Exited(_, exit)) if exit.is_success() => Ok(()),
        Ok(Event::Exited(_, exit)) => {
            let (stdout, stderr) = process.kill();
            Err(HarnessError::BuildFailed {
                implementation: implementation.name.clone(),
                command: shown,
                exit,
                output: stdout.text + &stderr.text,
            })
        }
        Ok(Event::Ready(_) | Event::Said(..)) => unreachable!("a build is not watched for a line"),
        Err(_) => Err(HarnessError::BuildTimedOut {
            implementation: implementation.name.clone(),
            command: shown,
            limit_ms: limit.as_millis(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::TESTBEDS;

    #[test]
    fn a_build_runs_in_the_folder_that_is_named() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let here = folder.path();
        std::fs::create_dir_all(here.join("program/source")).expect("room");
        let parse = |fields: &str| {
            let text = format!(
                "name = \"mine\"\nsystem = \"copy\"\ndescription = \"d\"\n{fields}\n[driver]\ncommand = [\"{{build}}/it\"]\n"
            );
            TESTBEDS.parse(&text, Path::new("mine.toml"), here)
        };
        let pwd = "build = [\"sh\", \"-c\", \"pwd -P > {build}/where\"]";
        let guardian = Arc::new(Guardian::start(here).expect("it can be started"));
        for (line, expect) in [("", ""), ("build_in = \"program/source\"", "program/source"), ("build_in = \".\"", "")]
        {
            let implementation = parse(&format!("{pwd}\n{line}")).expect("it is right");
            build(&implementation, here, Duration::from_secs(600), &guardian).expect("it is built");
            let found = std::fs::read_to_string(here.join("where")).expect("it was written");
            assert_eq!(Path::new(found.trim_end()), here.canonicalize().expect("it is there").join(expect));
        }
        let refused = |fields: &str| parse(fields).expect_err("it cannot be").to_string();
        let none = refused(&format!("{pwd}\nbuild_in = \"no/such\""));
        assert_eq!(none, format!("mine.toml: field `build_in`: there is no folder {}", here.join("no/such").display()));
        assert_eq!(refused("build_in = \".\""), "mine.toml: field `build_in`: there is no `build` to run in it");
    }

    #[test]
    fn only_what_the_same_command_builds_shares_a_folder() {
        let implementation = |here: &str, build: &str| {
            let text = format!(
                "name = \"mine\"\nsystem = \"copy\"\ndescription = \"d\"\n{build}\n[driver]\n\
                 command = [\"{{build}}/program\", \"{{case}}\"]\n"
            );
            TESTBEDS.parse(&text, Path::new("mine.toml"), Path::new(here)).expect("it is right")
        };
        let make = |target: &str| format!("build = [\"make\", \"-C\", \"{{here}}/{target}\", \"OUT={{build}}\"]");
        let folder = |here: &str, build: &str| build_folder(&implementation(here, build), Path::new("/out"));
        let right = folder("/a", &make("right"));
        assert_eq!(right.parent(), Some(Path::new("/out")));
        assert_eq!(folder("/a", &make("right")), right);
        assert_ne!(folder("/a", &make("wrong")), right);
        assert_ne!(folder("/b", &make("right")), right);
        assert_eq!(folder("/a", ""), Path::new("/out"));
    }
}
