//! What replicas store.

use std::collections::BTreeMap;

use simutant_oracle::specifications::Text;
use simutant_oracle::specifications::store::{Operation, Response};

/// What a replica is primary with. Later ones are larger, and no two replicas have the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ballot {
    /// How many elections there were.
    pub election: u64,
    /// The replica, from 1.
    pub replica: usize,
}

impl Ballot {
    /// Returns the next ballot of a replica.
    pub fn next(self, replica: usize) -> Self {
        Self { election: self.election + 1, replica }
    }
}

/// What clients have stored, and what they were answered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct State {
    /// Who changed it last, and how many changes there were by then: the later of two states is the larger one.
    pub version: (Ballot, u64),
    /// The values by key.
    pub values: BTreeMap<Text, Text>,
    /// The last request of each client that changed something, and its answer.
    pub answered: BTreeMap<u64, (u64, Response)>,
}

impl State {
    /// Returns the value of a key.
    pub fn get(&self, key: &Text) -> Response {
        Response::Value(self.values.get(key).cloned())
    }

    /// Returns the state after a client's request to change something, by a primary.
    pub fn after(&self, ballot: Ballot, client: u64, request: u64, operation: &Operation) -> Self {
        let mut state = self.clone();
        state.version = (ballot, self.version.1 + 1);
        match operation {
            Operation::Put { key, value } => {
                state.values.insert(key.clone(), value.clone());
            }
            Operation::Append { key, value } => {
                let before = self.values.get(key).map_or("", Text::as_str);
                state.values.insert(key.clone(), Text::from(before).with(value.as_str()));
            }
            other => panic!("{other:?} is nothing that clients ask for"),
        }
        state.answered.insert(client, (request, Response::Done));
        state
    }
}
