//! What a system must give so that its test cases can run on real programs.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde_json::Value;
use simutant_sim_core::InvalidTestCase;

use crate::dns::DnsHarness;
use crate::error::HarnessError;
use crate::gbn::{GBN, GBN_LAST_ACK, GBN_THESIS};
use crate::implementation::{Side, Values};
use crate::lsr::{LsrHarness, LsrNetworkHarness};
use crate::proxy::{Activity, ProxyCounts};
use crate::report::FailureReason;

/// The part that a side plays in a system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Role {
    /// The side's name.
    pub(crate) side: &'static str,
    /// The placeholders that its command may use, beside those that every command may use.
    pub(crate) placeholders: &'static [&'static str],
    /// Whether it is given a UDP port to bind.
    pub(crate) listens: bool,
}

/// One program that plays a side. A test case may ask for several of them, as for a router each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Player {
    /// What reports call it: the side, with a number if there may be several.
    pub(crate) name: String,
    /// What the placeholders of the side's role stand for.
    pub(crate) values: Values,
    /// The UDP port that it is to bind, if the role listens.
    pub(crate) port: Option<u16>,
    /// How long after the first moment of its side it is started.
    pub(crate) start: Duration,
}

/// Maps the test cases of one system to real programs on a real network.
pub(crate) trait SystemHarness: Sync {
    /// Returns the system's name.
    fn system(&self) -> &'static str;

    /// Returns the system that programs implement on which these test cases run: the system itself, or another one with
    /// the same inputs.
    fn implemented_as(&self) -> &'static str {
        self.system()
    }

    /// Returns the sides that an implementation has.
    fn roles(&self) -> &'static [Role];

    /// Returns the role of a side.
    fn role(&self, side: &str) -> Option<&'static Role> {
        self.roles().iter().find(|role| role.side == side)
    }

    /// Returns after what time a test case has failed, unless told otherwise.
    fn timeout(&self) -> Duration {
        Duration::from_secs(30)
    }

    /// Returns how many test cases run at once for each core unless told otherwise: they mostly wait, for packets that
    /// were lost.
    fn jobs_for_each_core(&self) -> usize {
        4
    }

    /// Returns how long a test case takes, as far as it says so itself.
    fn duration(&self, _case: &Value) -> Duration {
        Duration::ZERO
    }

    /// Checks that `case` is a test case of the system; otherwise says which field is wrong, and how.
    fn check(&self, case: &Value) -> Result<(), InvalidCase>;

    /// Returns a network and the files that the test case needs, in the empty folder `folder`.
    ///
    /// `seed` changes what the test case leaves open. `case` has passed [`SystemHarness::check`].
    fn set_up(&self, case: &Value, seed: u64, folder: &Path) -> Result<Box<dyn Scene>, HarnessError>;
}

/// A test case's network and files, in place and ready for the programs.
pub(crate) trait Scene {
    /// Returns the sides that the scene brings along: programs that are assumed right, and that are started before
    /// those of the implementation. There are none unless a scene says otherwise.
    fn company(&self) -> &[Side] {
        &[]
    }

    /// Returns variables of the environment of these, beside those of the harness.
    fn company_environment(&self) -> &[(&str, &str)] {
        &[]
    }

    /// Returns the programs that play a side, in the order in which they are started; the test case may need none.
    fn players(&self, side: &str) -> Vec<Player>;

    /// Waits until what the programs have caused so far has come to its end, at most until `deadline`.
    ///
    /// This is asked for before each side but the first is started, and before programs that do not end by themselves
    /// are told to. `is_active` tells whether one of them is at work, as far as that can be seen. Nothing is waited for
    /// unless a scene says otherwise.
    fn settle(&self, _deadline: Instant, _is_active: &dyn Fn() -> bool) {}

    /// Returns who talks to the programs when all have been started, if that is the scene itself.
    fn client(&self) -> Option<&dyn Client> {
        None
    }

    /// Returns what the network has done so far.
    ///
    /// # Errors
    /// Why the network does not work any more: then whatever the programs did says nothing about them.
    fn network(&self) -> Result<ProxyCounts, HarnessError>;

    /// Returns what the network has heard of the programs so far; `None` if they have a network of their own.
    fn activity(&self) -> Option<Activity> {
        None
    }

    /// Returns what is wrong with what the programs left, after all have ended as they should.
    fn judge(&self) -> Result<Option<FailureReason>, HarnessError>;
}

/// Who talks to programs from within the harness.
pub(crate) trait Client: Sync {
    /// Talks to the programs, at most until `deadline`, and stops early if `is_cut` becomes true, as somebody ended
    /// badly.
    ///
    /// Returns who had not come to an end at the deadline.
    fn run(&self, deadline: Instant, is_cut: &AtomicBool) -> Vec<String>;
}

/// Why a value is not a test case of the system.
#[derive(Debug, thiserror::Error)]
pub enum InvalidCase {
    /// A field is missing, unknown or of another type.
    #[error("{0}")]
    Malformed(#[from] serde_json::Error),
    /// A field is outside the system's input domain.
    #[error("field {0}")]
    OutsideDomain(#[from] InvalidTestCase),
}

/// Harnesses of one system stand side by side, the usual one first.
const HARNESSES: [&dyn SystemHarness; 6] =
    [&GBN, &GBN_LAST_ACK, &GBN_THESIS, &LsrHarness, &LsrNetworkHarness, &DnsHarness];

/// Returns the harnesses of a system, one for each way in which an implementation may be cut into sides; there are none
/// if the system is not known.
pub(crate) fn harnesses_for(system: &str) -> impl Iterator<Item = &'static dyn SystemHarness> {
    HARNESSES.into_iter().filter(move |harness| harness.system() == system)
}

/// Returns after what time a test case of a system has failed unless told otherwise; `None` if it has no harness.
pub fn timeout(system: &str) -> Option<Duration> {
    harnesses_for(system).next().map(SystemHarness::timeout)
}

/// Returns how many test cases of a system run at once for each core unless told otherwise; `None` if it has no
/// harness.
pub fn jobs_for_each_core(system: &str) -> Option<usize> {
    harnesses_for(system).next().map(SystemHarness::jobs_for_each_core)
}

/// Returns the names of the systems that have a harness.
pub fn systems() -> impl Iterator<Item = &'static str> {
    let mut systems: Vec<_> = HARNESSES.into_iter().map(SystemHarness::system).collect();
    systems.dedup();
    systems.into_iter()
}
