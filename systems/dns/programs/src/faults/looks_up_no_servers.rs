//! Servers are asked only if their addresses came along with their names.
//!
//! Those within the zone that they serve must, or nobody would find them; so in most trials they do. If there is nobody
//! to ask, there is nothing to answer either: the client gets a response without records. Shows where all servers of a
//! zone have their names in others that the server above it knows nothing of.

use crate::behaviour::Behaviour;
use crate::message::NO_ERROR;

#[derive(Debug)]
pub(super) struct LooksUpNoServers;

impl Behaviour for LooksUpNoServers {
    fn looks_up_servers(&self) -> bool {
        false
    }

    fn rcode_of_failure(&self) -> u8 {
        NO_ERROR
    }
}
