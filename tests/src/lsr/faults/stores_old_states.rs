//! The router stores every link state that comes in, also an older one than it has.
//!
//! The sequence number keeps old news from being passed on, which would never end; that it also says what to believe is easily
//! missed, since link states come in the order in which they are sent, as long as nothing overtakes them. Shows when
//! something does.

use crate::lsr::behaviour::Behaviour;

#[derive(Debug)]
pub(super) struct StoresOldStates;

impl Behaviour for StoresOldStates {
    fn stores(&self, _sequence: u32, _known: Option<u32>) -> bool {
        true
    }
}
