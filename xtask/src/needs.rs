//! What the tests need beside Rust, and how to get it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::bail;

use crate::run;

/// Programs, with the packages that have them on Debian, Fedora, Arch, Alpine and macOS.
const NEEDS: [(&str, &str); 5] = [
    // The example of an implementation in another language.
    ("python3", "python3"),
    // Reports are opened.
    ("chromium", "chromium"),
    // A resolver under test, and the servers that it asks.
    ("unbound", "unbound"),
    ("nsd", "nsd"),
    // A solver that the oracle's search is compared with.
    ("z3", "z3"),
];

/// Programs that only Linux has or has a use for, with the packages that have them on Debian.
const NEEDS_ON_LINUX: [(&str, &str); 6] = [
    // Routers under test, and the networks that they route in. (FRRouting's daemons are on no path: its shell stands
    // for them.)
    ("bird", "bird2"),
    ("vtysh", "frr"),
    ("ip", "iproute2"),
    // Further resolvers under test.
    ("named", "bind9"),
    ("kresd", "knot-resolver"),
    ("pdns_recursor", "pdns-recursor"),
];

/// Programs under test that only Debian has, and those who take their packages from it.
const NEEDS_ON_DEBIAN: [(&str, &str); 7] = [
    ("dnscache", "dnscache"),
    // A server under test, which has no program on the path.
    ("../share/java/zookeeper.jar", "zookeeper"),
    // A cluster on loopback.
    ("munged", "munge"),
    ("slurmctld", "slurmctld"),
    ("slurmd", "slurmd"),
    ("sbatch", "slurm-client"),
    // What starts shards elsewhere.
    ("parallel", "parallel"),
];

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
    install_programs()?;
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

fn install_programs() -> anyhow::Result<()> {
    let manager = MANAGERS.into_iter().find(|(manager, _)| is_installed(manager));
    let on_linux = NEEDS_ON_LINUX.into_iter().filter(|_| cfg!(target_os = "linux"));
    let on_debian = NEEDS_ON_DEBIAN.into_iter().filter(|_| manager.is_some_and(|(manager, _)| manager == "apt-get"));
    let missing = NEEDS.into_iter().chain(on_linux).chain(on_debian).filter(|(program, _)| !is_installed(program));
    let missing: Vec<&str> = missing.map(|(_, package)| package).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let Some((manager, arguments)) = manager else {
        bail!("the tests need {}, and no known package manager is here: install it by hand", missing.join(", "));
    };
    let name = |package| {
        let is_meant = |(of, usual, _): &(&str, &str, &str)| *of == manager && *usual == package;
        OTHER_NAMES.into_iter().find(is_meant).map_or(package, |(_, _, other)| other)
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
