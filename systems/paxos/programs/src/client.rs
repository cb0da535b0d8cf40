//! The client's program: one proposal, and a log of when it began and ended.

use std::io::{self, Write};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use simutant_programs::quorum::{Configuration, majority};
use simutant_programs::{Addresses, Log};

use super::error::ProgramError;
use super::message::{Reply, Request, Value};

/// What a client is to do.
#[derive(Debug, Clone)]
pub struct Proposal {
    /// Where it reaches the replicas.
    pub replicas: Addresses,
    /// The value that it proposes.
    pub value: Value,
    /// How long it waits before it proposes.
    pub delay: Duration,
    /// How long it waits for an answer then.
    pub timeout: Duration,
    /// The file of the log.
    pub log: PathBuf,
}

/// Prints `ready`, proposes a value when it is time, and waits until a majority of the replicas has told what is decided.
///
/// # Errors
/// [`ProgramError`] if the log or standard output does not work. A proposal that nobody answers is no error.
pub fn propose(proposal: &Proposal) -> Result<(), ProgramError> {
    let (mut log, _) = Log::open(&proposal.log, false)?;
    let Addresses(replicas) = &proposal.replicas;
    let mut configuration = Configuration::open(replicas);
    let mut output = io::stdout();
    output.write_all(b"ready\n").and_then(|()| output.flush()).map_err(ProgramError::Output)?;
    thread::sleep(proposal.delay);
    log.add_now(format_args!("invoke 1 propose {}", proposal.value))?;
    let deadline = Instant::now() + proposal.timeout;
    let decided = |replies: &[Reply]| decided(replies, replicas.len());
    match configuration.call(&Request::Propose(proposal.value).to_string(), deadline, decided) {
        Ok(value) => log.add_now(format_args!("return 1 {value}"))?,
        Err(_) => log.add_now("fail 1")?,
    }
    Ok(())
}

/// The quorum function of decisions: returns the value that a majority has told.
fn decided(replies: &[Reply], replicas: usize) -> Option<Value> {
    let value = |reply: &Reply| if let Reply::Decided(value) = reply { Some(*value) } else { None };
    let count = |value: &Value| replies.iter().filter(|reply| **reply == Reply::Decided(*value)).count();
    replies.iter().filter_map(value).find(|value| count(value) >= majority(replicas))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_majority_tells_what_is_decided() {
        let told = |values: &[Value]| values.iter().map(|value| Reply::Decided(*value)).collect::<Vec<_>>();
        for (values, replicas, expect) in
            [(&[7][..], 1, Some(7)), (&[7], 2, None), (&[7, 8], 3, None), (&[7, 8, 8], 3, Some(8)), (&[7; 2], 4, None)]
        {
            assert_eq!(decided(&told(values), replicas), expect, "{values:?} of {replicas}");
        }
        assert_eq!(decided(&[Reply::Committed; 3], 3), None);
    }
}
