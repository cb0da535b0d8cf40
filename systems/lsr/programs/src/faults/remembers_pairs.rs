//! The router passes on one message for each source and destination.
//!
//! To end loops, it drops what it has passed on before, and knows that by the source and the destination, without the
//! number. A second message between the same two routers looks like the first. Shows when one pair has several
//! messages, and they go through a third router.

use crate::behaviour::Behaviour;
use crate::packet::Message;

#[derive(Debug)]
pub(super) struct RemembersPairs;

impl Behaviour for RemembersPairs {
    fn is_repetition(&self, message: &Message, passed_on: &[Message]) -> bool {
        let ends = |message: &Message| (message.source, message.destination);
        passed_on.iter().any(|other| ends(other) == ends(message))
    }
}
