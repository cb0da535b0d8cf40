//! The age of records counts from when they were used last.
//!
//! That is how a cache knows what to throw away first, and one field served for both. What is asked for often never
//! grows old. Shows when records are asked for again and again, for some seconds, within their time.

use crate::behaviour::Behaviour;

#[derive(Debug)]
pub(super) struct NewWhenUsed;

impl Behaviour for NewWhenUsed {
    fn is_new_when_used(&self) -> bool {
        true
    }
}
