//! Links: what becomes of a packet between two components.

use serde::{Deserialize, Serialize};

use super::draws::{Draws, Lane};
use super::fate::Passage;
use super::invalid::Field;
use super::{Bandwidth, InvalidNetwork, Latency, Loss};
use crate::{Probability, VirtualDuration};

/// The effects of a link on packets, in this order: they wait for its [bandwidth](Bandwidth) and take time to be sent;
/// some are lost; of the others, some are duplicated; each copy is on its way for its latency and its jitter; some
/// copies are held back for longer, and some are corrupted.
///
/// The default loses, duplicates, holds back and corrupts nothing, and takes one millisecond.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Link {
    /// How long a packet is on its way.
    pub latency: Latency,
    /// How much longer than that: it is added. A constant latency with an exponential jitter is the usual model of a
    /// path with queues that are not simulated.
    pub jitter: Option<Latency>,
    /// Whether a packet is lost.
    pub drop: Loss,
    /// The probability that a packet which is not lost arrives twice.
    pub duplicate: Probability,
    /// Which copies are held back, so that later packets overtake them.
    pub reorder: Option<Reorder>,
    /// The probability that a copy arrives with some of its bits changed.
    pub corrupt: Probability,
    /// How much the link carries; without limit if there is none.
    pub bandwidth: Option<Bandwidth>,
}

/// Which copies of packets are held back, and for how long.
///
/// Links whose latency varies reorder packets without this.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reorder {
    /// The probability that a copy is held back.
    pub probability: Probability,
    /// How much later it arrives than it would have.
    pub hold: Latency,
}

/// A link between some components that is not as the others are.
///
/// Of the settings that match a packet, the last in the list is the one that holds, whole: the others do not add to it.
///
/// ```
/// use simutant_sim_core::network::{Direction, Fate, LinkSetting, NetworkFates};
/// use simutant_sim_core::{Link, Network, VirtualDuration, VirtualTime};
///
/// // An asymmetric line: up is ten times slower than down.
/// let (from, to) = (Some("home".to_owned()), Some("server".to_owned()));
/// let up = Link::constant(VirtualDuration::from_millis(10));
/// let setting = LinkSetting { from, to, direction: Direction::Forward, link: up };
/// let network = Network { links: vec![setting], ..Network::default() };
/// let mut fates = NetworkFates::new(&network, &["home", "server"].map(str::to_owned), 7)?;
/// let mut after_ms = |source, destination| match fates.draw(VirtualTime::ZERO, source, destination, 0) {
///     Fate::Delivered(arrival) => arrival.after.as_nanos() / 1_000_000,
///     lost_or_twice => panic!("{lost_or_twice:?}"),
/// };
/// assert_eq!((after_ms(0, 1), after_ms(1, 0)), (10, 1));
/// # Ok::<(), simutant_sim_core::InvalidNetwork>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSetting {
    /// One end; any component if it is left out.
    #[serde(default)]
    pub from: Option<String>,
    /// The other end; any component if it is left out.
    #[serde(default)]
    pub to: Option<String>,
    /// Which packets it is for.
    #[serde(default)]
    pub direction: Direction,
    /// How the link is.
    pub link: Link,
}

/// A direction of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Packets that go either way. Each way has its own queue and its own bursts.
    #[default]
    Both,
    /// Packets that go from `from` to `to`.
    Forward,
}

impl Link {
    /// Returns a link without faults on which every packet takes `latency`.
    pub fn constant(latency: VirtualDuration) -> Self {
        Self { latency: Latency::Constant(latency), ..Self::default() }
    }

    /// Checks what the types of the fields leave open. Errors begin with `link`, the field of a network.
    ///
    /// # Errors
    /// [`InvalidNetwork`] names the field, its value and what is allowed.
    pub fn validate(&self) -> Result<(), InvalidNetwork> {
        self.validate_at(&Field::root("link"))
    }

    pub(super) fn validate_at(&self, field: &Field<'_>) -> Result<(), InvalidNetwork> {
        self.latency.validate(&field.child("latency"))?;
        if let Some(jitter) = &self.jitter {
            jitter.validate(&field.child("jitter"))?;
        }
        if let Some(reorder) = &self.reorder {
            reorder.hold.validate(&field.child("reorder").child("hold"))?;
        }
        if let Some(bandwidth) = &self.bandwidth {
            bandwidth.validate(&field.child("bandwidth"))?;
        }
        Ok(())
    }

    /// Returns whether what becomes of a packet depends on the packets before it.
    pub(super) fn has_state(&self) -> bool {
        self.drop.has_state() || self.bandwidth.is_some()
    }

    /// Returns what becomes of a copy, given its part of the packet's sequence.
    pub(super) fn passage(&self, draws: Draws) -> Passage {
        let latency = self.latency.draw(draws, Lane::Latency);
        let jitter = self.jitter.as_ref().map_or(VirtualDuration::ZERO, |jitter| jitter.draw(draws, Lane::Jitter));
        let (is_held_back, hold) = match &self.reorder {
            Some(reorder) => {
                let is_held_back = draws.chance(Lane::Reorder, reorder.probability.into());
                (is_held_back, reorder.hold.draw(draws, Lane::Hold))
            }
            None => (false, VirtualDuration::ZERO),
        };
        let is_corrupted = draws.chance(Lane::Corrupt, self.corrupt.into());
        Passage { latency: latency + jitter, is_held_back, hold, is_corrupted }
    }
}
