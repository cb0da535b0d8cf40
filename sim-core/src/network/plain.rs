//! The fast way: one link between all components that remembers nothing and loses, duplicates or delays packets at
//! most.

use super::draws::{Chance, Draws, Lane};
use super::fate::{Arrival, Fate};
use super::{Latency, Link, Loss};
use crate::trace::DropReason;
use crate::{Probability, VirtualDuration};

/// A link that decides at once, as the general way does.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlainLink {
    drop: Chance,
    duplicate: Chance,
    latency_min: VirtualDuration,
    latency_max: VirtualDuration,
}

impl PlainLink {
    /// Returns the link, if it does no more than such a link does.
    pub(super) fn new(link: &Link) -> Option<Self> {
        let Loss::Independent(drop) = link.drop else { return None };
        let (latency_min, latency_max) = match link.latency {
            Latency::Constant(latency) => (latency, latency),
            Latency::Uniform { min, max } => (min, max),
            _ => return None,
        };
        let is_plain = link.jitter.is_none()
            && link.reorder.is_none()
            && link.corrupt == Probability::ZERO
            && link.bandwidth.is_none();
        is_plain.then(|| Self { drop: drop.into(), duplicate: link.duplicate.into(), latency_min, latency_max })
    }

    #[inline]
    pub(super) fn fate(&self, seed: u64, draw: u64) -> Fate {
        let draws = Draws::new(seed, draw);
        if draws.chance(Lane::Drop, self.drop) {
            return Fate::Dropped(DropReason::Loss);
        }
        let arrival = |copy| Arrival { after: self.latency(draws.of_copy(copy)), is_corrupted: false };
        if draws.chance(Lane::Duplicate, self.duplicate) {
            return Fate::Duplicated(arrival(0), arrival(1));
        }
        Fate::Delivered(arrival(0))
    }

    /// Returns how long a packet takes that is neither lost nor duplicated.
    #[inline(always)]
    pub(super) fn delay(&self, seed: u64, draw: u64) -> Option<VirtualDuration> {
        let draws = Draws::new(seed, draw);
        let is_ordinary = !draws.chance(Lane::Drop, self.drop) && !draws.chance(Lane::Duplicate, self.duplicate);
        is_ordinary.then(|| self.latency(draws))
    }

    #[inline]
    fn latency(&self, draws: Draws) -> VirtualDuration {
        // Without the test, the answer is the same, but takes longer.
        if self.latency_min == self.latency_max {
            return self.latency_min;
        }
        draws.duration(Lane::Latency, self.latency_min, self.latency_max)
    }
}
