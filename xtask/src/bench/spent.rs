//! What an action costs, in processor time and by the clock.

use std::time::Instant;

use anyhow::Context;
use nix::sys::resource::{Usage, UsageWho, getrusage};

/// What an action cost, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spent {
    /// Processor time of this process.
    pub(super) own: f64,
    /// Processor time of the children that it has waited for.
    pub(super) children: f64,
    /// By the clock.
    pub(super) wall: f64,
}

impl Spent {
    /// Returns the processor time of this process and of its children.
    pub(super) fn processor(self) -> f64 {
        self.own + self.children
    }
}

/// Does `action`, and returns what it comes to and what was spent on it.
pub(super) fn timed<T>(action: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<(T, Spent)> {
    let (begun, own, children) = (Instant::now(), seconds(UsageWho::RUSAGE_SELF)?, seconds(UsageWho::RUSAGE_CHILDREN)?);
    let result = action()?;
    let spent = Spent {
        own: seconds(UsageWho::RUSAGE_SELF)? - own,
        children: seconds(UsageWho::RUSAGE_CHILDREN)? - children,
        wall: begun.elapsed().as_secs_f64(),
    };
    Ok((result, spent))
}

/// Returns what the processor has done so far, in seconds.
fn seconds(who: UsageWho) -> anyhow::Result<f64> {
    let of = |usage: Usage| {
        let time = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
        time(usage.user_time()) + time(usage.system_time())
    };
    getrusage(who).map(of).context("cannot ask for the processor's time")
}
