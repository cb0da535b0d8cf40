//! The line that a model prints.

use serde::Deserialize;

/// What a run did and cost.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Outcome {
    /// User and system time of the loop.
    pub(super) cpu_ns: u64,
    /// Wake-ups, deliveries or customers.
    pub(super) units: u64,
    pub(super) timeouts: u64,
    /// Where the virtual clock stood at the end.
    pub(super) virtual_s: f64,
    /// How long a customer stayed on average, if there were customers.
    pub(super) stay_s: Option<f64>,
    /// The most memory that the process had.
    pub(super) rss_bytes: Option<u64>,
}

impl Outcome {
    pub(super) fn ns_per_unit(&self) -> f64 {
        self.cpu_ns as f64 / self.units as f64
    }
}
