//! The sender gives up after forty timeouts in all, where it should count those since the last progress.
//!
//! A limit on tries is kept in one counter, and nobody resets it when an acknowledgement arrives: with the small files
//! and good networks of a first trial it never gets far. Shows with large files on bad networks.

use crate::gbn::behaviour::{Behaviour, Timeouts};

#[derive(Debug)]
pub(super) struct CountsAllTimeouts;

impl Behaviour for CountsAllTimeouts {
    fn gives_up(&self, timeouts: &Timeouts) -> bool {
        timeouts.in_all >= 40
    }
}
