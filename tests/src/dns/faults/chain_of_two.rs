//! Two aliases are followed, and no third one.
//!
//! A limit against loops, and one that seemed more than enough: aliases of aliases should not be (RFC 1034, section 3.6.2). The client
//! gets what was found so far. Shows when three aliases lead to each other.

use crate::dns::behaviour::Behaviour;
use crate::dns::message::Record;

#[derive(Debug)]
pub(super) struct ChainOfTwo;

impl Behaviour for ChainOfTwo {
    fn ends_chain(&self, chain: &[Record]) -> bool {
        chain.len() > 2
    }
}
