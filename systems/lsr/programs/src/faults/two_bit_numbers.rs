//! A router knows doubled messages by their source and the last two bits of their number.
//!
//! UDP may double a datagram, and a copy follows soon after, so two bits seem enough to tell it from a new message. But
//! what was delivered is never forgotten, and the numbers come round. Shows when a router has two messages of one
//! source whose numbers are four apart.

use crate::behaviour::Behaviour;
use crate::packet::Message;

#[derive(Debug)]
pub(super) struct TwoBitNumbers;

impl Behaviour for TwoBitNumbers {
    fn is_doubled(&self, message: &Message, delivered: &[Message]) -> bool {
        let key = |message: &Message| (message.source, message.number % 4);
        delivered.iter().any(|other| key(other) == key(message))
    }
}
