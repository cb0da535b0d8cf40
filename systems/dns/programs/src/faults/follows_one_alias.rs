//! One alias is followed, and no second one.
//!
//! Aliases of aliases should not be (RFC 1034, section 3.6.2), and so it was thought that they are not. The client gets
//! what was found so far. Shows where an alias leads to another one.

use crate::behaviour::Behaviour;
use crate::message::Record;

#[derive(Debug)]
pub(super) struct FollowsOneAlias;

impl Behaviour for FollowsOneAlias {
    fn ends_chain(&self, chain: &[Record]) -> bool {
        chain.len() > 1
    }
}
