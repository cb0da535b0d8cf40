//! What a worker does to its own process before the first run: private streams, no core files, no life of its own.

use std::fs::File;
use std::io::{self, BufReader};
use std::os::fd::AsFd;

use crate::WorkerError;

/// The two ends of the protocol.
#[derive(Debug)]
pub(crate) struct Streams {
    pub(crate) requests: BufReader<File>,
    pub(crate) answers: File,
}

/// Takes standard input and output away from the system under simulation, and ties the process to its parent.
pub(crate) fn set_up() -> Result<Streams, WorkerError> {
    bind_to_parent().map_err(|source| WorkerError::Io { action: "ask to end with the campaign", source })?;
    no_core_files().map_err(|source| WorkerError::Io { action: "switch core files off", source })?;
    private_streams().map_err(|source| WorkerError::Io { action: "set up standard streams", source })
}

fn private_streams() -> io::Result<Streams> {
    let requests = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let answers = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok(Streams { requests: BufReader::new(requests), answers })
}

/// A worker in the middle of a run does not notice that its input has ended: the kernel kills it when the thread that
/// started it is gone. If the campaign died before this call, the first read finds the end of the input.
#[cfg(target_os = "linux")]
fn bind_to_parent() -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL)).map_err(io::Error::from)
}

/// Elsewhere a worker whose campaign was killed finishes the runs that it was asked for, which are bounded, and ends.
#[cfg(not(target_os = "linux"))]
fn bind_to_parent() -> io::Result<()> {
    Ok(())
}

/// A mutant that aborts is a result, not a reason to fill the disk.
fn no_core_files() -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = Rlimit { current: Some(0), ..getrlimit(Resource::Core) };
    setrlimit(Resource::Core, limit).map_err(io::Error::from)
}
