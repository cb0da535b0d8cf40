//! The fates of packets without a simulation.

use super::fate::{Fate, PacketInfo};
use super::state::NetworkState;
use super::{InvalidNetwork, Link, Network};
use crate::message::ComponentId;
use crate::{Random, VirtualTime};

/// What becomes of packets on a link, for those who do to real packets what a simulated network does.
///
/// ```
/// use simutant_sim_core::network::{Fate, Fates};
/// use simutant_sim_core::{Link, Probability, VirtualTime};
///
/// let link = Link { drop: Probability::ONE.into(), ..Link::default() };
/// let mut fates = Fates::new(&link, 7, "client")?;
/// assert!(matches!(fates.draw(VirtualTime::ZERO, 100), Fate::Dropped(_)));
/// # Ok::<(), simutant_sim_core::InvalidNetwork>(())
/// ```
#[derive(Debug, Clone)]
pub struct Fates {
    state: NetworkState,
    next_draw: u64,
}

impl Fates {
    /// Returns the fates that the packets of the component `source` meet in a simulation with this seed, in the order
    /// of their sending, if all of them go one direction of such a link.
    ///
    /// # Errors
    /// [`InvalidNetwork`] if the link is not [valid](Link::validate).
    pub fn new(link: &Link, simulation_seed: u64, source: &str) -> Result<Self, InvalidNetwork> {
        let names = ["source", "destination"].map(str::to_owned);
        let state = NetworkState::new(&Network::from(link.clone()), &names, network_seed(simulation_seed))?;
        Ok(Self { state, next_draw: first_draw(source) })
    }

    /// Returns the fate of the next packet, which is sent at a time that is not before the last one's. Only a link of
    /// limited bandwidth needs to know the time and the size.
    #[inline]
    pub fn draw(&mut self, at: VirtualTime, bytes: u32) -> Fate {
        let (source, destination) = (ComponentId(0), ComponentId(1));
        let packet = PacketInfo { draw: self.next_draw, source, destination, kind: "", bytes, at };
        self.next_draw = self.next_draw.wrapping_add(1);
        self.state.fate(packet)
    }
}

/// Returns what fixes everything that is random about the first packet of a component, with the network's seed. The
/// next packets have the next numbers: so what happens to packets of one component does not depend on the others.
pub(crate) fn first_draw(source: &str) -> u64 {
    Random::from_seed(0).stream(source).seed()
}

/// Returns the seed that a simulation gives its network.
pub(crate) fn network_seed(simulation_seed: u64) -> u64 {
    Random::from_seed(simulation_seed).stream("network").bits()
}
