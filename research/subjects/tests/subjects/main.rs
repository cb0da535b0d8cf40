//! The subjects: right ones pass, mistakes are found, and what walks cover is what is known of it.

mod choose_test;
mod coordinator;
mod garage_door;
mod list;
mod server_socket;

use simutant_models::{End, Instance, MachineError, Path, Walker};

/// An instance that a subject has made.
type Made = Result<Box<dyn Instance>, MachineError>;

/// Takes walks until one fails; returns it.
fn first_failure(walker: &mut Walker, mut instance: impl FnMut() -> Made, most: u64) -> Option<Path> {
    (0..most).map(|seed| walker.run(made(&mut instance), seed)).find(|path| !path.verdict().passes())
}

/// Returns what failed, in words.
fn summary(path: &Path) -> &str {
    match &path.end {
        End::Failed(finding) => &finding.summary,
        _ => "",
    }
}

fn made(instance: &mut impl FnMut() -> Made) -> Box<dyn Instance> {
    instance().expect("it is a machine")
}

/// Returns the names of a path's transitions.
fn names(walker: &Walker, path: &Path) -> Vec<String> {
    let name = |machine: u32, transition: u32| {
        let machine = walker.coverage().machines().nth(machine as usize).expect("it is known");
        machine.transitions[transition as usize].name.clone()
    };
    path.taken.iter().map(|taken| name(taken.machine, taken.transition)).collect()
}

/// Runs a future that waits for nothing.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    use std::task::{Context, Poll, Waker};
    match std::pin::pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("nothing waits"),
    }
}
