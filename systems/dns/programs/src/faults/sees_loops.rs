//! Names that aliases were followed to are noted, so that a loop ends, and the notes are kept for the next question.
//!
//! What was followed once looks like a loop the second time, and the client gets the alias alone. Shows when two
//! questions lead over one alias.

use crate::behaviour::Behaviour;
use crate::message::Record;
use crate::name::Name;

#[derive(Debug)]
pub(super) struct SeesLoops;

impl Behaviour for SeesLoops {
    fn is_loop(&self, name: &Name, chain: &[Record], followed: &[Name]) -> bool {
        followed.contains(name) || chain.iter().any(|alias| alias.name == *name)
    }
}
