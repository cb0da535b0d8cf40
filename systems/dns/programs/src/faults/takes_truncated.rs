//! Truncated responses are taken as they are.
//!
//! The bit that says that something was left out is not looked at: in trials, everything fitted. Shows with records
//! that are too long for a datagram.

use crate::behaviour::Behaviour;
use crate::message::Message;

#[derive(Debug)]
pub(super) struct TakesTruncated;

impl Behaviour for TakesTruncated {
    fn is_whole(&self, _response: &Message) -> bool {
        true
    }
}
