//! The examples that are crates of their own: formatted, without lints, tested, and studied as their users would.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::bail;

use crate::run;

/// The examples with a system, by folder, which has the system's name.
const EXAMPLES: [&str; 3] = ["omnipaxos", "store", "tickets"];

/// The real implementations of an example's system, and whether they pass the inputs that a study chooses.
const IMPLEMENTATIONS: [(&str, &str, bool); 2] =
    [("tickets", "tickets-python", true), ("tickets", "tickets-sells-again", false)];

/// The exit code of `test` if a test case failed.
const FAILED: i32 = 1;

/// Checks format and lints of all examples.
pub(crate) fn check(root: &Path) -> anyhow::Result<()> {
    for folder in EXAMPLES {
        run(&mut cargo(root, folder, &["fmt", "--check"]))?;
        run(&mut cargo(root, folder, &["clippy", "--all-targets", "--locked", "--", "-D", "warnings"]))?;
    }
    Ok(())
}

/// Tests all examples, studies each with a few test cases, and runs the chosen inputs on real implementations.
pub(crate) fn test(root: &Path) -> anyhow::Result<()> {
    let program = crate::simutant(root)?;
    for folder in EXAMPLES {
        run(&mut cargo(root, folder, &["test", "--locked"]))?;
        run(simutant(root, &program, "study", folder).args(["--cases", "40", "--suites", "20", "--fresh"]))?;
    }
    for (folder, implementation, passes) in IMPLEMENTATIONS {
        let suite = out(folder).join("suite.json");
        let mut test = simutant(root, &program, "test", folder);
        test.args(["--jobs", "8", "--fresh", "--implementation", implementation, "--suite"]).arg(suite);
        if passes {
            run(&mut test)?;
        } else if test.status()?.code() != Some(FAILED) {
            bail!("{implementation} has a mistake, and no test case fails");
        }
    }
    Ok(())
}

/// Returns a command of Simutant on the system of an example.
fn simutant(root: &Path, program: &Path, command: &str, folder: &str) -> Command {
    let manifest = Path::new("examples").join(folder).join("Cargo.toml");
    let mut simutant = Command::new(program);
    simutant.args([command, folder, "--manifest-path"]).arg(manifest).arg("--out").arg(out(folder));
    simutant.env("CARGO_TARGET_DIR", crate::target(root));
    simutant
}

/// Returns where results on an example are written.
fn out(folder: &str) -> PathBuf {
    Path::new("target/examples").join(folder)
}

/// Returns a command of cargo in an example's folder. What the examples have in common is compiled once: they share the
/// workspace's target folder, and have its debug information.
fn cargo(root: &Path, folder: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.args(arguments).current_dir(root.join("examples").join(folder));
    command.env("CARGO_TARGET_DIR", crate::target(root)).env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only");
    command
}
