//! The peers that are Python packages.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::run;

/// Installs what `bench/requirements.txt` lists into an environment of its own.
pub(super) fn install_python(bench: &Path, target: &Path) -> anyhow::Result<()> {
    let python = python(target);
    if !python.exists() {
        run(Command::new("python3").args(["-m", "venv"]).arg(target.join("python")))?;
    }
    let mut command = Command::new(python);
    let quiet = command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]);
    // What pip says is no result.
    run(quiet.arg(bench.join("requirements.txt")).stdout(Stdio::null()))
}

/// Returns the Python of this environment.
pub(super) fn python(target: &Path) -> PathBuf {
    target.join("python/bin/python")
}
