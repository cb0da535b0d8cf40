//! What consensus is: values that are decided once, in one order.

use serde::{Deserialize, Serialize};
use simutant_oracle::{Open, Session, Specification};

use crate::protocol::{Decree, Value};

/// What is decided; nothing at first.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Consensus {
    decrees: usize,
    decided: Vec<Value>,
}

impl Consensus {
    /// Returns consensus on so many values, before anything is decided.
    pub fn new(decrees: usize) -> Self {
        Self { decrees, decided: Vec::new() }
    }
}

/// What clients and replicas do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// A client proposes a value, and is told what is decided, from the first decree to that of its value, or all of it if its value
    /// is not among it.
    Propose(Value),
    /// A replica learns what is decided for a decree.
    Learn(Decree),
}

/// Values are decided in the order in which they are proposed, in an order of all proposals and of what replicas learn, until
/// there are enough: so only proposed values are, for each decree only one is, and nothing else is learned.
impl Specification for Consensus {
    type Operation = Operation;
    type Response = Vec<Value>;

    fn step(&mut self, _: Session, operation: &Operation, _: &mut Open<'_>) -> Vec<Value> {
        match *operation {
            Operation::Propose(value) => {
                let place = self.decided.iter().position(|decided| *decided == value).unwrap_or_else(|| {
                    self.decided.push(value);
                    self.decided.truncate(self.decrees);
                    self.decided.len() - 1
                });
                self.decided[..=place].to_vec()
            }
            Operation::Learn(decree) => {
                (1..).zip(&self.decided).filter(|(of, _)| *of == decree).map(|(_, value)| *value).collect()
            }
        }
    }

    fn reason(&self, _: Session, _: &Operation, _: &Vec<Value>, _: &Vec<Value>) -> Option<String> {
        let values: Vec<String> = self.decided.iter().map(Value::to_string).collect();
        Some(match &values[..] {
            [] => "nothing is proposed yet".to_owned(),
            [value] => format!("{value} is decided"),
            values => format!("{} are decided", values.join(", ")),
        })
    }

    fn depends_on_session(_: &Operation) -> bool {
        false
    }
}
