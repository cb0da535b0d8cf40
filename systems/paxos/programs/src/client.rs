//! The client's program: one proposal, and a log of when it began and ended.

use std::io::{self, Write};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use simutant_programs::quorum::{Configuration, majority};
use simutant_programs::{Addresses, Log, ProgramError};

use super::message::{Reply, Request, Value, join};

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
        Ok(values) => log.add_now(format_args!("return 1 {}", join(&values)))?,
        Err(_) => log.add_now("fail 1")?,
    }
    Ok(())
}

/// The quorum function of decisions: returns the log that a majority has told.
fn decided(replies: &[Reply], replicas: usize) -> Option<Vec<Value>> {
    let log = |reply: &Reply| if let Reply::Decided(log) = reply { Some(log.clone()) } else { None };
    let logs: Vec<_> = replies.iter().filter_map(log).collect();
    let count = |log: &Vec<Value>| logs.iter().filter(|other| *other == log).count();
    logs.iter().find(|log| count(log) >= majority(replicas)).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_majority_tells_what_is_decided() {
        let told = |logs: &[&[Value]]| logs.iter().map(|log| Reply::Decided(log.to_vec())).collect::<Vec<_>>();
        let [seven, eight, both]: [&[Value]; 3] = [&[7], &[8], &[7, 8]];
        for (logs, replicas, expect) in [
            (&[seven][..], 1, Some(seven)),
            (&[seven], 2, None),
            (&[seven, eight], 3, None),
            (&[seven, eight, eight], 3, Some(eight)),
            (&[seven, both, both], 3, Some(both)),
            (&[seven; 2], 4, None),
        ] {
            assert_eq!(decided(&told(logs), replicas).as_deref(), expect, "{logs:?} of {replicas}");
        }
        assert_eq!(decided(&[const { Reply::Committed }; 3], 3), None);
    }
}
