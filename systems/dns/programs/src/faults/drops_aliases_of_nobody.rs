//! If aliases lead to a name that does not exist, the answer leaves them out.
//!
//! "There is no such name" seems to say it all; but it is said of the last name, and without the aliases the client
//! takes it for the first (RFC 2308, section 2.1). Shows with an alias of a name that does not exist.

use crate::behaviour::Behaviour;
use crate::message::{NAME_ERROR, Record};

#[derive(Debug)]
pub(super) struct DropsAliasesOfNobody;

impl Behaviour for DropsAliasesOfNobody {
    fn shows_alias(&self, _alias: &Record, rcode: u8) -> bool {
        rcode != NAME_ERROR
    }
}
