//! What the tests need beside Rust, and how to get it.

use std::path::Path;
use std::process::Command;

use anyhow::bail;

use crate::run;

/// Programs, with the packages that have them on Debian, Fedora, Arch, Alpine and macOS.
const NEEDS: [(&str, &str); 2] = [
    // The example of an implementation in another language.
    ("python3", "python3"),
    // Reports are opened.
    ("chromium", "chromium"),
];

/// Package managers with the arguments that install a package.
const MANAGERS: [(&str, &[&str]); 5] = [
    ("apt-get", &["install", "--yes", "--no-install-recommends"]),
    ("dnf", &["install", "--assumeyes"]),
    ("pacman", &["--sync", "--noconfirm"]),
    ("apk", &["add"]),
    ("brew", &["install"]),
];

/// Installs what is missing, by the system's package manager.
pub(crate) fn install() -> anyhow::Result<()> {
    let missing: Vec<&str> =
        NEEDS.into_iter().filter(|(program, _)| !is_installed(program)).map(|(_, package)| package).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let Some((manager, arguments)) = MANAGERS.into_iter().find(|(manager, _)| is_installed(manager)) else {
        bail!("the tests need {}, and no known package manager is here: install it by hand", missing.join(", "));
    };
    // Debian's images come without lists of packages.
    if manager == "apt-get" {
        run(&mut as_root(manager, &["update"]))?;
    }
    let mut command = as_root(manager, arguments);
    run(command.args(missing))
}

fn is_installed(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}

fn as_root(program: &str, arguments: &[&str]) -> Command {
    let is_root =
        std::fs::metadata("/proc/self").is_ok_and(|metadata| std::os::unix::fs::MetadataExt::uid(&metadata) == 0);
    let mut command = if is_root || program == "brew" || !Path::new("/usr/bin/sudo").exists() {
        Command::new(program)
    } else {
        let mut command = Command::new("sudo");
        command.arg(program);
        command
    };
    command.args(arguments);
    command
}
