//! The oracle: what all servers together have decided, and whether they ever disagreed.

use std::collections::BTreeSet;

use simutant_oracle::{Call, Session};
use simutant_sim_core::{CheckFailure, Simulation};
use simutant_system::Observer;

use crate::messages::{ClusterMessage, Command};

/// All that servers have decided so far, in a run. The servers tell it; it changes nothing of what they do.
///
/// In the history, a server's session has its number; an operation is a place of the log, and the response the command
/// that the server decided there.
#[derive(Debug, Clone)]
pub struct Decisions(Observer<usize, Command>);

impl Decisions {
    /// Returns the decisions of a simulation, none so far.
    pub fn new(simulation: &Simulation<ClusterMessage>) -> Self {
        Self(Observer::new(simulation))
    }

    /// Notes that a server has decided `command` at a place of the log.
    pub fn decided(&self, server: u64, index: usize, command: Command) {
        self.0.observed(Session(server), index, command);
    }

    /// Checks that the servers never disagreed, and decided nothing but `commands`.
    ///
    /// # Errors
    /// What is not so.
    pub fn check(&self, commands: &BTreeSet<Command>) -> Result<(), CheckFailure> {
        let log = self.0.recorder().with(|history| log(history.calls()))?;
        match log.iter().find(|command| !commands.contains(command)) {
            Some(unknown) => Err(CheckFailure::new(format!("{unknown:?} was decided, and nobody asked for it"))),
            None => Ok(()),
        }
    }
}

/// Returns the log, each place as the first server decided it, unless another server disagreed.
fn log(calls: &[Call<usize, Command>]) -> Result<Vec<Command>, CheckFailure> {
    let mut log = Vec::new();
    for call in calls {
        let (Session(server), index) = (call.session, call.operation);
        let Some(&command) = call.end.response() else { continue };
        let disagreement = match log.get(index) {
            Some(known) if *known == command => continue,
            Some(known) => format!("{command:?} at {index}, where another one decided {known:?}"),
            None if index == log.len() => {
                log.push(command);
                continue;
            }
            None => format!("{command:?} at {index}, before anyone decided the places from {}", log.len()),
        };
        return Err(CheckFailure::new(format!("server {server} decided {disagreement}")));
    }
    Ok(log)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(decided: &[(u64, usize, u64)], expect: Option<&str>) {
        let decisions = Decisions(Observer::without_clock());
        for &(server, index, command) in decided {
            decisions.decided(server, index, Command(command));
        }
        let failure = decisions.check(&[Command(1), Command(2)].into()).err();
        assert_eq!(failure.map(|failure| failure.to_string()).as_deref(), expect);
    }

    #[test]
    fn what_was_decided_stays_decided() {
        check(&[(1, 0, 1), (1, 1, 2), (2, 0, 1), (1, 0, 1)], None);
        check(&[(1, 0, 1), (2, 0, 2)], Some("server 2 decided Command(2) at 0, where another one decided Command(1)"));
        check(&[(1, 1, 1)], Some("server 1 decided Command(1) at 1, before anyone decided the places from 0"));
        check(&[(1, 0, 3)], Some("Command(3) was decided, and nobody asked for it"));
    }
}
