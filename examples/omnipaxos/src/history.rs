//! The oracle: what all servers together have decided, and whether they ever disagreed.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use simutant_sim_core::CheckFailure;

use crate::messages::Command;

/// All that servers have decided so far, in a run. The servers tell it; it changes nothing of what they do.
#[derive(Debug, Clone, Default)]
pub struct History(Rc<RefCell<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    /// The log, as whoever came first to each place decided it.
    log: Vec<Command>,
    /// The first disagreement.
    disagreement: Option<String>,
}

impl History {
    /// Notes that a server has decided `command` at a place of the log.
    pub fn decided(&self, server: u64, index: usize, command: Command) {
        let mut inner = self.0.borrow_mut();
        let known = inner.log.get(index).copied();
        let disagreement = match known {
            Some(known) if known == command => return,
            Some(known) => format!("{command:?} at {index}, where another one decided {known:?}"),
            None if index == inner.log.len() => {
                inner.log.push(command);
                return;
            }
            None => format!("{command:?} at {index}, before anyone decided the places from {}", inner.log.len()),
        };
        inner.disagreement.get_or_insert(format!("server {server} decided {disagreement}"));
    }

    /// Checks that the servers never disagreed, and decided nothing but `commands`.
    ///
    /// # Errors
    /// What is not so.
    pub fn check(&self, commands: &BTreeSet<Command>) -> Result<(), CheckFailure> {
        let inner = self.0.borrow();
        if let Some(disagreement) = &inner.disagreement {
            return Err(CheckFailure::new(disagreement.clone()));
        }
        match inner.log.iter().find(|command| !commands.contains(command)) {
            Some(unknown) => Err(CheckFailure::new(format!("{unknown:?} was decided, and nobody asked for it"))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(decided: &[(u64, usize, u64)], expect: Option<&str>) {
        let history = History::default();
        for &(server, index, command) in decided {
            history.decided(server, index, Command(command));
        }
        let failure = history.check(&[Command(1), Command(2)].into()).err();
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
