//! The examples that are crates of their own: formatted, without lints, tested, and studied as their users would.

use std::path::Path;
use std::process::Command;

use crate::run;

/// The examples with a system, by folder and system.
const EXAMPLES: [(&str, &str); 2] = [("two-phase-commit", "two-phase-commit"), ("omnipaxos", "omnipaxos")];

/// Checks format and lints of all examples.
pub(crate) fn check(root: &Path) -> anyhow::Result<()> {
    for (folder, _) in EXAMPLES {
        run(&mut cargo(root, folder, &["fmt", "--check"]))?;
        run(&mut cargo(root, folder, &["clippy", "--all-targets", "--locked", "--", "-D", "warnings"]))?;
    }
    Ok(())
}

/// Tests all examples, and studies each with a few test cases.
pub(crate) fn test(root: &Path) -> anyhow::Result<()> {
    for (folder, system) in EXAMPLES {
        run(&mut cargo(root, folder, &["test", "--locked"]))?;
        let manifest = Path::new("examples").join(folder).join("Cargo.toml");
        let mut study = Command::new("cargo");
        study.args(["run", "--release", "--package", "simutant", "--", "study", system]);
        study.args(["--cases", "40", "--suites", "20", "--fresh", "--manifest-path"]).arg(manifest);
        study.arg("--out").arg(Path::new("target/examples").join(folder));
        run(&mut study)?;
    }
    Ok(())
}

/// Returns a command of cargo in an example's folder.
fn cargo(root: &Path, folder: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.args(arguments).current_dir(root.join("examples").join(folder));
    command
}
