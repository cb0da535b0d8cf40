//! How the ends of streams behave.

use serde::{Deserialize, Serialize};

use crate::VirtualDuration;

/// Settings of an end of a stream. They are fixed before the stream exists, by
/// [`Connect::settings`](crate::Connect::settings) or [`Listener::set_settings`](crate::Listener::set_settings).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StreamSettings {
    /// How many messages it sends ahead of their acknowledgement, and how many that it has received can wait; 0 counts
    /// as 1.
    pub window_max: u32,
    /// How long it waits for any acknowledgement until it takes the stream for broken.
    #[serde(rename = "give_up_after_ns")]
    pub give_up_after: VirtualDuration,
}

/// 64 messages, and 20 seconds.
impl Default for StreamSettings {
    fn default() -> Self {
        Self { window_max: 64, give_up_after: VirtualDuration::from_secs(20) }
    }
}
