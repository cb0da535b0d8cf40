//! Programs that others wrote.

use std::path::PathBuf;

/// The exit code of a program that cannot do its part on this machine: `EX_UNAVAILABLE` of BSD's `sysexits.h`.
pub const UNAVAILABLE: u8 = 69;

/// Where daemons are installed that are not meant to be called by hand; most paths of ordinary users lack all of these.
const FOLDERS: [&str; 6] =
    ["/usr/sbin", "/sbin", "/usr/local/sbin", "/usr/lib/frr", "/usr/libexec/frr", "/usr/local/lib/frr"];

/// Returns the path of a program, if it is installed.
pub fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&path).chain(FOLDERS.map(PathBuf::from)).map(|folder| folder.join(program));
    folders.find(|path| path.is_file())
}
