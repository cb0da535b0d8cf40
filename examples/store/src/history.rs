//! The oracle: what clients saw, and whether a store could have answered that.

use simutant_oracle::specifications::KeyValueStore;
use simutant_oracle::specifications::store::{Operation, Response};
use simutant_oracle::{CallId, Session};
use simutant_sim_core::Simulation;
use simutant_system::Observer;

use crate::messages::StoreMessage;

/// What all clients saw, in a run. The clients tell it; it changes nothing of what they do.
#[derive(Debug, Clone)]
pub struct Calls(Observer<Operation, Response>);

impl Calls {
    /// Returns the calls of a simulation, none so far.
    pub fn new(simulation: &Simulation<StoreMessage>) -> Self {
        Self(Observer::new(simulation))
    }

    /// Notes that a client begins to ask for something.
    pub fn invoke(&self, client: u64, operation: &Operation) -> CallId {
        self.0.invoke(Session(client), operation.clone())
    }

    /// Notes that it was answered.
    ///
    /// # Panics
    /// If it was answered before.
    pub fn returned(&self, call: CallId, response: Response) {
        self.0.returned(call, response).expect("a client takes one answer to a call");
    }

    /// Checks at the end of the run that one store could have answered all of this.
    pub fn check(&self, simulation: &mut Simulation<StoreMessage>) {
        self.0.check(simulation, "clients saw one store", KeyValueStore::default());
    }
}
