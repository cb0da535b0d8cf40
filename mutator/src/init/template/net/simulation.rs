//! Test cases of a coloured Petri net, studied: its mutants are what an implementation may do
//! instead, and a study says which test cases notice that.
//!
//! This is a template to change. The net is in [`protocol`]: that file is the specification, of
//! which mutants are made. To make it yours, change what a tester does (`Stimulus`) and sees
//! (`Observation`), then the places and the transitions, and then the sizes here.
//!
//! - `simutant explore %NAME%` counts what can happen, and shows what breaks a property.
//! - `simutant explore %NAME% --tests implementations/%NAME%/test_%MODULE%.py` writes the test cases;
//!   in that folder, `python3 -m unittest test_%MODULE%` runs them on the implementation.
//! - `simutant study %NAME% --source net` finds out which of them are worth running.

pub mod protocol;

use simutant_nets::Net;
use simutant_system::{NetModel, NetSystem};

use self::protocol::{Observation, Stimulus, net};

/// The system that is studied.
pub type %TYPE% = NetSystem<Office>;

/// The net of an office, for up to three customers and two seats.
#[derive(Debug)]
pub struct Office;

impl NetModel for Office {
    const NAME: &'static str = "%NAME%";

    /// How many customers and seats there are.
    type Arguments = (u8, u8);
    type Input = Stimulus;
    type Output = Observation;

    fn arguments() -> Vec<(u8, u8)> {
        vec![(1, 1), (2, 1), (3, 1), (3, 2)]
    }

    fn net(&(customers, seats): &(u8, u8)) -> Net<Stimulus, Observation> {
        net(customers, seats)
    }
}
