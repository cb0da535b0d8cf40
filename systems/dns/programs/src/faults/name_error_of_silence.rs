//! If nobody answers four queries, there is no such name.
//!
//! That nothing was found is one case, whatever the reason is. A client that hears it looks no further, and may
//! remember it. Shows where four exchanges in a row are lost.

use crate::behaviour::Behaviour;
use crate::message::NAME_ERROR;

#[derive(Debug)]
pub(super) struct NameErrorOfSilence;

impl Behaviour for NameErrorOfSilence {
    fn tries(&self) -> u32 {
        4
    }

    fn rcode_of_silence(&self) -> u8 {
        NAME_ERROR
    }
}
