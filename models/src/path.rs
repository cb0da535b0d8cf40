//! What a walk has done.

use serde::{Deserialize, Serialize};
use simutant_outcomes::{Finding, Inconclusive, Verdict};

/// An instance of a machine in a walk: the first one is 0, and launched ones are numbered as they are launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct InstanceId(pub u32);

/// The path of a walk: a test case, and its end. [`Walker::replay`](crate::Walker::replay) takes it again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Path {
    /// The seed of the walk.
    pub seed: u64,
    /// The transitions in their order, also those that were tried and not taken.
    pub taken: Vec<Taken>,
    /// How it ended.
    pub end: End,
}

/// A transition that a walk tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// Whose transition it is.
    pub instance: InstanceId,
    /// The instance's machine, as [`Coverage::machines`](crate::Coverage::machines) numbers them.
    pub machine: u32,
    /// The transition, as [`Shape::transitions`](crate::Shape::transitions) numbers them.
    pub transition: u32,
    /// The choices of the action, each as the number of the chosen option.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<u32>,
    /// How many instances the action launched.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub launched: u32,
    /// What came of it.
    pub result: StepResult,
    /// The state that the instance is in afterwards.
    pub state: u32,
}

/// The result of a transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepResult {
    /// It was taken.
    Succeeded,
    /// A precondition did not hold, so it was not taken.
    Backtracked,
    /// It was taken, and led to a state of its own: by an expected exception, the one of this number, or by a condition,
    /// numbered after the exceptions.
    Exceptional(u32),
    /// The test failed.
    Failed,
}

/// How a walk ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// All instances are in states that no transition leaves.
    Finished,
    /// No transition can be taken, and some instance is in a state that transitions leave: their preconditions do not
    /// hold, or a limit keeps it from states that it has been in, or it waits for one of these.
    Stuck,
    /// Chance or the limit of transitions ended it.
    Cut,
    /// An assertion, an invariant or an exception.
    Failed(Finding),
    /// A replay asked for what cannot be done: the transition at this place of the path.
    Diverged(usize),
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Path {
    /// Returns the verdict: that a walk ends early is no failure.
    pub fn verdict(&self) -> Verdict {
        match &self.end {
            End::Finished | End::Stuck | End::Cut => Verdict::Pass,
            End::Failed(finding) => Verdict::Fail(finding.clone()),
            End::Diverged(place) => Verdict::Inconclusive(Inconclusive {
                reason: format!("transition {place} of the path cannot be taken"),
            }),
        }
    }
}
