//! Namespaces that end with the process that asked for them.
//!
//! `unshare` makes a network, mounts and process numbers of their own, and runs this program again in there, as the
//! first process. When that ends, or `unshare` is killed, the kernel ends every process that was started inside, and
//! with the last one go the namespaces with their mounts, networks and devices. Nothing of it has a name outside.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::OspfError;

/// Namespaces of mounts (private ones), networks and processes; whoever is inside dies with who asked.
const UNSHARE: [&str; 6] = ["--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"];

/// Folders that daemons and `ip` write to by names of their own, and that are private inside.
const PRIVATE: [&str; 2] = ["/run", "/var/tmp"];

/// Returns the path of a program.
///
/// # Errors
/// [`OspfError::NotInstalled`], with the package that has it.
pub fn find(program: &'static str, package: &'static str) -> Result<PathBuf, OspfError> {
    simutant_programs::find(program).ok_or(OspfError::NotInstalled { program, package })
}

/// Becomes `unshare`, which runs this program with `arguments` inside.
///
/// # Errors
/// [`OspfError`] if there is no `unshare`, or the system does not let it do its work. Otherwise this does not return.
pub fn enter(arguments: Vec<OsString>) -> Result<std::convert::Infallible, OspfError> {
    let not_started = |error| OspfError::NotStarted("unshare", error);
    let unshare = find("unshare", "util-linux")?;
    // It would end as a program inside can, so it is tried before.
    let tried = Command::new(&unshare).args(UNSHARE).arg("true").output().map_err(not_started)?;
    if !tried.status.success() {
        return Err(OspfError::NoNamespaces(String::from_utf8_lossy(&tried.stderr).trim().to_owned()));
    }
    let this = std::env::current_exe().map_err(not_started)?;
    Err(not_started(Command::new(unshare).args(UNSHARE).arg(this).args(arguments).exec()))
}

/// Makes the folders private that daemons and `ip` write to; to be called inside. The working directory stays what it
/// is, even if it cannot be found by its path any more.
///
/// # Errors
/// [`OspfError`] if they cannot be mounted.
pub fn hide_folders() -> Result<(), OspfError> {
    let mount = find("mount", "mount")?;
    for folder in PRIVATE.into_iter().filter(|folder| Path::new(folder).is_dir()) {
        let mut command = Command::new(&mount);
        command.args(["-t", "tmpfs", "-o", "mode=1777", "tmpfs", folder]);
        let output = command.output().map_err(|error| OspfError::NotStarted("mount", error))?;
        if !output.status.success() {
            let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(OspfError::Network { command: format!("{command:?}"), reason });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_or_its_package_is_named() {
        assert!(find("sh", "dash").expect("it is everywhere").is_absolute());
        let message = find("no-such-program", "no-such-package").expect_err("it is nowhere").to_string();
        assert!(message.contains("`no-such-program` is not installed"), "{message}");
        assert!(message.contains("package no-such-package"), "{message}");
    }
}
