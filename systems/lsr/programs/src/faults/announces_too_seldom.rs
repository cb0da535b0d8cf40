//! The router tells all others of its links at most every two milliseconds, and forgets what it would have said
//! meanwhile.
//!
//! Link states must not flood the network, and OSPF has a shortest time between two of a router (MinLSInterval). But
//! there the later one is put off, and here it is left out, so nobody hears of the link that came up last. Shows when
//! two neighbours come up one right after the other.

use std::time::Duration;

use crate::behaviour::Behaviour;

const INTERVAL_MIN: Duration = Duration::from_millis(2);

#[derive(Debug)]
pub(super) struct AnnouncesTooSeldom;

impl Behaviour for AnnouncesTooSeldom {
    fn announces(&self, since_last: Option<Duration>) -> bool {
        since_last.is_none_or(|since_last| since_last >= INTERVAL_MIN)
    }
}
