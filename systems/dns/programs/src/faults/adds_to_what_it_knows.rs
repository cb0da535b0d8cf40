//! New records of a set are added to the old ones.
//!
//! A set is a list, and what comes is appended to it. That a set is replaced as a whole (RFC 2181, section 5.4.1) is
//! not seen as long as nothing comes twice. Shows where the addresses of a server come along with a referral, and are
//! then asked for: they are in the answer twice.

use crate::behaviour::Behaviour;
use crate::message::Record;

#[derive(Debug)]
pub(super) struct AddsToWhatItKnows;

impl Behaviour for AddsToWhatItKnows {
    fn kept(&self, known: &[Record], found: Vec<Record>) -> Vec<Record> {
        known.iter().cloned().chain(found).collect()
    }
}
