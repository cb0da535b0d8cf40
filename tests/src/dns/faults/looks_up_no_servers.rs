//! Servers are asked only if their addresses came along with their names.
//!
//! Those within the zone that they serve must, or nobody would find them; so in most trials they do. Shows where all servers of a zone
//! have their names in others that the server above it knows nothing of; and only if no packet is lost, as a resolver may give up
//! otherwise.

use crate::dns::behaviour::Behaviour;

#[derive(Debug)]
pub(super) struct LooksUpNoServers;

impl Behaviour for LooksUpNoServers {
    fn looks_up_servers(&self) -> bool {
        false
    }
}
