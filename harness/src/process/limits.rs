//! How many files a process may have open: a run has dozens for each of its jobs, and the usual limit of 1,024 is meant for programs
//! that wait for files with `select`, as the harness does not.

use std::io;
use std::sync::OnceLock;

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The limits that this process was started with, once they have been raised.
static ORIGINAL: OnceLock<Rlimit> = OnceLock::new();

/// Raises the limit for this process to what it may be without privileges. Where the system says no, it stays.
pub(crate) fn allow_many_files() {
    ORIGINAL.get_or_init(|| {
        let original = getrlimit(Resource::Nofile);
        _ = setrlimit(Resource::Nofile, Rlimit { current: original.maximum, ..original });
        original
    });
}

/// Returns the limits that a program under test is to have: those that this process was started with.
pub(super) fn original() -> Rlimit {
    ORIGINAL.get().copied().unwrap_or_else(|| getrlimit(Resource::Nofile))
}

/// Returns whether the system, or a limit, has no more files or memory to give.
pub(crate) fn is_shortage(error: &io::Error) -> bool {
    let short = [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::NOBUFS];
    error.raw_os_error().is_some_and(|number| short.iter().any(|errno| errno.raw_os_error() == number))
}
