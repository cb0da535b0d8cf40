//! The decisions of the protocol, each in a function of its own.
//!
//! The functions as they stand here are right. A fault is a [`Behaviour`] that gets one of them wrong.

use super::message::{Decision, Vote};

/// What coordinator and workers decide in each situation. A vote that is `None` is not known: the worker was silent, or
/// the coordinator has crashed since.
pub trait Behaviour: std::fmt::Debug + Sync {
    /// Coordinator: returns the decision, when all have voted or time is over.
    fn decides(&self, votes: &[Option<Vote>]) -> Decision {
        let all_yes = votes.iter().all(|vote| *vote == Some(Vote::Yes));
        if all_yes { Decision::Commit } else { Decision::Abort }
    }

    /// Coordinator: returns whether a decision is written down before anybody is told of it.
    fn writes_before_telling(&self) -> bool {
        true
    }

    /// Coordinator: returns whether a worker that voted so is told of a decision.
    fn tells(&self, _decision: Decision, _vote: Option<Vote>) -> bool {
        true
    }

    /// Worker: returns whether to do what is decided once more when it is told again.
    fn does_again(&self) -> bool {
        false
    }
}

/// The protocol as it should be.
#[derive(Debug)]
pub struct Correct;

impl Behaviour for Correct {}
