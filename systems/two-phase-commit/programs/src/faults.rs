//! Mistakes that people make with two-phase commit. `--fault NAME` makes a program behave so.
//!
//! Each passes where nobody crashes and all vote alike; some need a crash at a certain moment to fail.

use super::behaviour::Behaviour;
use super::message::{Decision, Vote};

/// Every fault by its name, sorted.
pub const ALL: [(&str, &dyn Behaviour); 5] = [
    ("applies-again", &AppliesAgain),
    ("decides-by-majority", &DecidesByMajority),
    ("forgets-decisions", &ForgetsDecisions),
    ("silence-is-yes", &SilenceIsYes),
    ("tells-no-voters-only", &TellsNoVotersOnly),
];

/// A worker does what is decided each time that it is told.
///
/// The coordinator sends each decision once, so it seems to need no look at the log. Shows when the coordinator has
/// crashed and tells all again, or when a connection breaks before the acknowledgement has arrived.
#[derive(Debug)]
struct AppliesAgain;

impl Behaviour for AppliesAgain {
    fn does_again(&self) -> bool {
        true
    }
}

/// The coordinator commits if more than half of the workers voted yes.
///
/// That is what replicas of one thing do; here each worker has a part of its own. Shows when few of several vote no.
#[derive(Debug)]
struct DecidesByMajority;

impl Behaviour for DecidesByMajority {
    fn decides(&self, votes: &[Option<Vote>]) -> Decision {
        let yes = votes.iter().filter(|vote| **vote == Some(Vote::Yes)).count();
        if 2 * yes > votes.len() { Decision::Commit } else { Decision::Abort }
    }
}

/// The coordinator writes a decision down when all have acknowledged it.
///
/// The log then has what was done, as other logs have. Shows when the coordinator crashes in between: it finds no
/// decision, and aborts what some have committed.
#[derive(Debug)]
struct ForgetsDecisions;

impl Behaviour for ForgetsDecisions {
    fn writes_before_telling(&self) -> bool {
        false
    }
}

/// The coordinator takes silence for a yes.
///
/// It looks for a no among the votes that it has. Shows when a worker is down for longer than votes are waited for.
#[derive(Debug)]
struct SilenceIsYes;

impl Behaviour for SilenceIsYes {
    fn decides(&self, votes: &[Option<Vote>]) -> Decision {
        if votes.contains(&Some(Vote::No)) { Decision::Abort } else { Decision::Commit }
    }
}

/// The coordinator tells those that voted no of an abort, and nobody else.
///
/// One loop over the votes counts the yeses and answers the noes. Those that voted yes wait for ever, with all that
/// they have locked. Shows where votes are mixed. Seen in: the coordinator in Go that Wang, Kristensen, Meling and
/// Stolz tested (VECoS 2018). As its code reads, their tester does not miss an answer that never comes.
#[derive(Debug)]
struct TellsNoVotersOnly;

impl Behaviour for TellsNoVotersOnly {
    fn tells(&self, decision: Decision, vote: Option<Vote>) -> bool {
        decision == Decision::Commit || vote == Some(Vote::No)
    }
}
