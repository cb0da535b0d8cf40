//! The response code is about the name that was asked for: there is one, as it is an alias.
//!
//! So it was read until RFC 6604, section 3, said that the last name of the chain counts. Shows with an alias of a name that does not
//! exist.

use crate::dns::behaviour::Behaviour;
use crate::dns::message::{NO_ERROR, Record};

#[derive(Debug)]
pub(super) struct RcodeOfFirstName;

impl Behaviour for RcodeOfFirstName {
    fn rcode(&self, chain: &[Record], last: u8) -> u8 {
        if chain.is_empty() { last } else { NO_ERROR }
    }
}
