//! That aliases lead to nothing is remembered of the first name, without the aliases.
//!
//! The second time, the answer is that the name itself has no such records, or is not there. Shows when a question
//! whose answer is an alias of what is not there is asked again.

use crate::behaviour::Behaviour;
use crate::name::Name;

#[derive(Debug)]
pub(super) struct ForgetsAliasesOfNothing;

impl Behaviour for ForgetsAliasesOfNothing {
    fn denied_name<'a>(&self, asked: &'a Name, _canonical: &'a Name) -> &'a Name {
        asked
    }
}
