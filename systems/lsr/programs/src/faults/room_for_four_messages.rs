//! The router has room for four messages, and drops the fifth.
//!
//! An array was long enough for every trial. Shows when one router is the destination of more than half of the messages
//! of a large test case.

use crate::behaviour::Behaviour;

#[derive(Debug)]
pub(super) struct RoomForFourMessages;

impl Behaviour for RoomForFourMessages {
    fn room(&self) -> usize {
        4
    }
}
