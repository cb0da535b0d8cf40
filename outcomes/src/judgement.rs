//! Judgements: what a person found out about a mutant by reading it.

use serde::{Deserialize, Serialize};

/// What a person says of a mutant that nothing kills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judged {
    /// No test case can kill it: it behaves as the original in all that matters.
    Equivalent,
    /// Some test case could kill it; the universe lacks it, or the oracle does not look there.
    Killable,
}

impl std::fmt::Display for Judged {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Equivalent => "equivalent",
            Self::Killable => "killable",
        })
    }
}

/// A judgement with its reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    /// What is said.
    pub judged: Judged,
    /// Why.
    pub reason: String,
}
