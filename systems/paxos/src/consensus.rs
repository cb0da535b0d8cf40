//! What consensus is: a value that is decided once.

use serde::{Deserialize, Serialize};
use simutant_oracle::{Open, Session, Specification};

/// What is decided; nothing at first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Consensus(pub Option<u32>);

/// What clients and replicas do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// A client proposes a value, and is told what is decided.
    Propose(u32),
    /// A replica learns what is decided.
    Learn,
}

/// The first value that is proposed is decided, in an order of all proposals and of what replicas learn: so only a proposed
/// value is, only one is, and nothing else is learned.
impl Specification for Consensus {
    type Operation = Operation;
    type Response = Option<u32>;

    fn step(&mut self, _: Session, operation: &Operation, _: &mut Open<'_>) -> Option<u32> {
        if let Operation::Propose(value) = operation {
            self.0.get_or_insert(*value);
        }
        self.0
    }

    fn reason(&self, _: Session, _: &Operation, _: &Option<u32>, _: &Option<u32>) -> Option<String> {
        Some(self.0.map_or_else(|| "nothing is proposed yet".to_owned(), |value| format!("{value} is decided")))
    }

    fn depends_on_session(_: &Operation) -> bool {
        false
    }
}
