//! What the tests need beside Rust, and how to get it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use cargo_metadata::MetadataCommand;
use serde::Deserialize;

use crate::run;

/// The programs that a package's tests start, each with the package of Debian that has it: `[package.metadata.tests]`
/// of its manifest. A file in no folder of the path is named relative to one of these.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Needs {
    programs: BTreeMap<String, String>,
    /// Programs that run on Linux alone.
    linux: BTreeMap<String, String>,
    /// Programs that only Debian and its derivatives have.
    debian: BTreeMap<String, String>,
}

/// Packages with other names elsewhere: the manager, the name on Debian, and the one there.
const OTHER_NAMES: [(&str, &str, &str); 8] = [
    ("dnf", "bird2", "bird"),
    ("pacman", "bird2", "bird"),
    ("apk", "bird2", "bird"),
    ("dnf", "iproute2", "iproute"),
    ("dnf", "bind9", "bind"),
    ("pacman", "bind9", "bind"),
    ("apk", "bind9", "bind"),
    ("pacman", "pdns-recursor", "powerdns-recursor"),
];

/// Package managers with the arguments that install a package.
const MANAGERS: [(&str, &[&str]); 5] = [
    ("apt-get", &["install", "--yes", "--no-install-recommends"]),
    ("dnf", &["install", "--assumeyes"]),
    ("pacman", &["--sync", "--noconfirm"]),
    ("apk", &["add"]),
    ("brew", &["install"]),
];

/// Debian starts servers when they are installed, and the tests start theirs themselves: what forbids that is there
/// meanwhile.
const INSTALL_UNSTARTED: &str = r#"
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    trap 'rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' > "$policy" && chmod 755 "$policy" || exit
fi
"$0" "$@"
"#;

/// Installs what is missing: programs by the system's package manager, pytest into the folder of the build.
pub(crate) fn install(root: &Path) -> anyhow::Result<()> {
    install_programs(root)?;
    install_pytest(root)
}

/// The exports of suites are run by it.
fn install_pytest(root: &Path) -> anyhow::Result<()> {
    let has_pytest = |python: &Path| {
        let known = Command::new(python).args(["-m", "pytest", "--version"]).output();
        known.is_ok_and(|output| output.status.success())
    };
    // Where the tests look for it.
    let own = crate::target(root).join("python");
    let python = own.join("bin").join("python3");
    if has_pytest(&python) || has_pytest(Path::new("python3")) {
        return Ok(());
    }
    // Debian has what makes such a folder in a package of its own, and one that was begun without it has no pip.
    let mut make = Command::new("python3");
    make.args(["-m", "venv", "--clear"]).arg(&own);
    if run(&mut make).is_err() {
        run(&mut as_root("apt-get", &["install", "--yes", "--no-install-recommends", "python3-venv"]))?;
        run(&mut make)?;
    }
    run(Command::new(python).args(["-m", "pip", "install", "--quiet", "pytest"]))
}

/// Returns what the packages of the workspace need.
fn needs(root: &Path) -> anyhow::Result<Vec<Needs>> {
    let metadata = MetadataCommand::new().manifest_path(root.join("Cargo.toml")).no_deps().exec()?;
    let sections = metadata.packages.iter().filter_map(|package| Some((package, package.metadata.get("tests")?)));
    let needs = sections.map(|(package, section)| {
        Needs::deserialize(section).with_context(|| format!("{}: [package.metadata.tests]", package.manifest_path))
    });
    needs.collect()
}

fn install_programs(root: &Path) -> anyhow::Result<()> {
    let manager = MANAGERS.into_iter().find(|(manager, _)| is_installed(manager));
    let mut missing = BTreeSet::new();
    for needs in needs(root)? {
        let on_linux = needs.linux.into_iter().filter(|_| cfg!(target_os = "linux"));
        let on_debian = needs.debian.into_iter().filter(|_| manager.is_some_and(|(manager, _)| manager == "apt-get"));
        let all = needs.programs.into_iter().chain(on_linux).chain(on_debian);
        missing.extend(all.filter(|(program, _)| !is_installed(program)).map(|(_, package)| package));
    }
    if missing.is_empty() {
        return Ok(());
    }
    let Some((manager, arguments)) = manager else {
        let missing: Vec<String> = missing.into_iter().collect();
        bail!("the tests need {}, and no known package manager is here: install it by hand", missing.join(", "));
    };
    let name = |package: String| {
        let is_meant = |(of, usual, _): &(&str, &str, &str)| *of == manager && *usual == package;
        OTHER_NAMES.into_iter().find(is_meant).map_or(package, |(_, _, other)| other.to_owned())
    };
    let missing = missing.into_iter().map(name);
    // Debian's images come without lists of packages.
    if manager == "apt-get" {
        run(&mut as_root(manager, &["update"]))?;
    }
    if manager == "apt-get" {
        return run(as_root("sh", &["-c", INSTALL_UNSTARTED, manager]).args(arguments).args(missing));
    }
    let mut command = as_root(manager, arguments);
    run(command.args(missing))
}

/// Where servers are, which the paths of users may lack.
const SYSTEM_FOLDERS: [&str; 2] = ["/usr/sbin", "/sbin"];

fn is_installed(program: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path)
            .chain(SYSTEM_FOLDERS.map(PathBuf::from))
            .any(|folder| folder.join(program).is_file())
    })
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
