//! How many files a process may have open: a run has dozens for each of its jobs, and the usual limit of 1,024 is meant
//! for programs that wait for files with `select`, as the harness does not. What a shortage looks like is told here,
//! too.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::OnceLock;

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The limits that this process was started with, if they have been raised.
static ORIGINAL: OnceLock<Option<Rlimit>> = OnceLock::new();

/// Raises the limit for this process to what it may be without privileges. Where the system says no, it stays.
pub(crate) fn allow_many_files() {
    ORIGINAL.get_or_init(|| {
        let original = getrlimit(Resource::Nofile);
        let raised = Rlimit { current: original.maximum, ..original };
        (raised != original && setrlimit(Resource::Nofile, raised).is_ok()).then_some(original)
    });
}

/// Lets a program have the limits that this process was started with.
#[expect(
    unsafe_code,
    reason = "code between fork and exec is unsafe by its nature; there is no safe way to ask for this"
)]
pub(super) fn restore(command: &mut Command) {
    if let Some(original) = ORIGINAL.get().copied().flatten() {
        // SAFETY: between fork and exec one system call is made; nothing is allocated and no lock is taken.
        unsafe { command.pre_exec(move || Ok(setrlimit(Resource::Nofile, original)?)) };
    }
}

/// Returns whether the system, or a limit, has no more files or memory to give.
pub fn is_shortage(error: &io::Error) -> bool {
    let short = [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::NOBUFS];
    error.raw_os_error().is_some_and(|number| short.iter().any(|errno| errno.raw_os_error() == number))
}
