//! The worker process of a campaign: an instrumented simulation behind a line protocol.
//!
//! The mutator copies a package, instruments it and adds a program that is one call of [`main`] with the package's
//! systems. A campaign starts that program, asks it for runs ([`simutant_protocol`]) and survives its death: a mutant
//! may well overflow the stack, use up the memory or abort. What a run may do to its process is bounded here:
//!
//! | a run that | ends by | and is told by |
//! | --- | --- | --- |
//! | takes too many steps | unwinding (the probe's limit) | this crate: not terminated |
//! | takes too many events, or too much virtual time | the engine's limits | this crate: not terminated |
//! | panics | unwinding | this crate: abnormal, with the place of the panic |
//! | recurses without end | the guard page of a stack of [`STACK_BYTES`] | the campaign: abnormal |
//! | allocates without end | unwinding at its next step ([the counting allocator](CountingAllocator)) | this crate: abnormal |
//! | allocates without end, and takes no steps | an allocation that is refused | the campaign: abnormal |
//! | aborts or exits | the end of the process | the campaign: abnormal |
//! | is never set up: `configure` loops | the end of the process (`setup.rs`) | the campaign: not terminated |
//! | loops where no step is counted | the campaign's clock, a kill | the campaign: not terminated |
//!
//! **A run is a function of the test case and the mutant.** Runs follow each other in one process, on one thread, so
//! a system that keeps state outside of its simulation (a `static`, a thread-local) breaks this; each test case is
//! therefore run twice on the original, and the runs are compared.
//!
//! The process owns its standard streams: what a system prints goes to standard error, and its standard input is
//! empty, so that it can neither garble the protocol nor wait for input.

mod answers;
mod blocks;
mod choices;
mod memory;
mod panics;
mod process;
mod run;
mod serve;
mod setup;
mod system;
mod target;
mod traced;

use std::io::Write;
use std::process::ExitCode;

pub use memory::CountingAllocator;
pub use system::{ErasedSystem, system};

/// The stack of the thread that runs simulations. Fixed, so that the depth at which a recursion overflows does not
/// depend on how the worker was started.
pub const STACK_BYTES: usize = 16 << 20;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Why a worker ends early; no run is to blame.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum WorkerError {
    /// The program was started by hand, or for a system that it does not have.
    #[error("give the name of a system as the only argument: {known}; a campaign starts this program, people need not")]
    Usage {
        /// The systems of this program.
        known: String,
    },
    /// The streams could not be set up, read or written.
    #[error("cannot {action}: {source}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// The system's answer.
        source: std::io::Error,
    },
}

/// For each instrumented file the end of its path as it is compiled, the path that reports have, and the line of the
/// original for each of its lines.
pub type LineTable = [(&'static str, &'static str, &'static [u32])];

/// Serves the requests of a campaign until standard input ends: the whole program of a worker.
///
/// The only argument of the process names one of `systems`. Places of panics are given as `lines` says. Returns 0 at
/// the end of the input and 2 if the worker cannot go on, with the reason on standard error.
///
/// # Panics
/// If no thread can be started.
pub fn main(systems: &[ErasedSystem], lines: &'static LineTable) -> ExitCode {
    match run(systems, lines) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to tell if this fails too.
            _ = writeln!(std::io::stderr(), "worker: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(systems: &[ErasedSystem], lines: &'static LineTable) -> Result<(), WorkerError> {
    let argument = std::env::args().nth(1);
    let system = systems.iter().find(|system| Some(system.name()) == argument.as_deref()).ok_or_else(|| {
        WorkerError::Usage { known: systems.iter().map(ErasedSystem::name).collect::<Vec<_>>().join(", ") }
    })?;
    let streams = process::set_up()?;
    panics::listen(lines);
    std::thread::Builder::new()
        .name("watch".to_owned())
        .spawn(setup::watch)
        .map_err(|source| WorkerError::Io { action: "start a thread", source })?;
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .name("simulation".to_owned())
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, || serve::serve(system, streams, lines))
            .expect("a process that just began can start a thread")
            .join()
            .expect("panics of runs are caught, and serving does not panic")
    })
}
