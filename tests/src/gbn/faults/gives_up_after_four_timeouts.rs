//! The sender gives up after four timeouts in a row.
//!
//! A few tries look like plenty, as they are for a single request and answer. But a file has hundreds of packets, and
//! each of them may be the unlucky one; and with a small window a lost acknowledgement costs a try as well. Shows with
//! large files on bad networks.

use crate::gbn::behaviour::{Behaviour, Timeouts};

#[derive(Debug)]
pub(super) struct GivesUpAfterFourTimeouts;

impl Behaviour for GivesUpAfterFourTimeouts {
    fn gives_up(&self, timeouts: &Timeouts) -> bool {
        timeouts.in_a_row >= 4
    }
}
