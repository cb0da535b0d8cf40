//! Petri nets in PNML.

mod error;
mod net;
mod packed;
mod read;
mod space;
mod term;
mod unfold;
mod write;

pub use error::{ReadError, UnfoldError};
pub use net::{NetKind, PnmlNet};
pub use simutant_nets::{Budget, ExploreError, StateGraph};
pub use space::{Fired, Marking, StateSpace};
pub use unfold::Unfolded;
