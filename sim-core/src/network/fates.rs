//! The fates of packets without a simulation.

use super::fate::{Fate, PacketInfo};
use super::state::NetworkState;
use super::{InvalidNetwork, Link, Network, PartitionChange};
use crate::message::ComponentId;
use crate::{Random, VirtualTime};

/// The fates of packets on a link, for harnesses that treat real packets as a simulated network would.
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

/// The fates of packets between all components of a network, for harnesses that treat real packets as a simulated
/// network would.
///
/// ```
/// use simutant_sim_core::network::{Fate, NetworkFates, ScheduledPartition};
/// use simutant_sim_core::{Network, VirtualTime};
///
/// let names = ["a", "b", "c"].map(str::to_owned);
/// let (from, until) = (VirtualTime::from_millis(10), Some(VirtualTime::from_millis(20)));
/// let partition = ScheduledPartition { from, until, groups: vec![vec!["a".into()]] };
/// let mut fates = NetworkFates::new(&Network { partitions: vec![partition], ..Network::default() }, &names, 7)?;
/// let mut is_lost = |at, destination| matches!(fates.draw(VirtualTime::from_millis(at), 0, destination, 1), Fate::Dropped(_));
/// assert_eq!([is_lost(9, 1), is_lost(10, 1), is_lost(20, 1)], [false, true, false]);
/// # Ok::<(), simutant_sim_core::InvalidNetwork>(())
/// ```
#[derive(Debug, Clone)]
pub struct NetworkFates {
    state: NetworkState,
    /// Partitions that have not begun or healed yet, the next one last.
    scheduled: Vec<(VirtualTime, PartitionChange)>,
    /// By component.
    next_draws: Vec<u64>,
}

impl NetworkFates {
    /// Returns the fates that packets meet in a simulation with this seed and these components, which are known by
    /// their places in `names` from then on.
    ///
    /// # Errors
    /// [`InvalidNetwork`] if the network is not [valid](Network::validate), or names a component that is not there.
    pub fn new(network: &Network, names: &[String], simulation_seed: u64) -> Result<Self, InvalidNetwork> {
        let state = NetworkState::new(network, names, network_seed(simulation_seed))?;
        let mut scheduled = network.scheduled();
        scheduled.reverse();
        Ok(Self { state, scheduled, next_draws: names.iter().map(|name| first_draw(name)).collect() })
    }

    /// Returns the fate of the next packet of `source`, which is sent at a time that is not before those asked for
    /// earlier. The network does not know its kind: rules about a kind do not apply to it.
    pub fn draw(&mut self, at: VirtualTime, source: usize, destination: usize, bytes: u32) -> Fate {
        self.pass(at);
        let draw = self.next_draws[source];
        self.next_draws[source] = draw.wrapping_add(1);
        let (source, destination) = (ComponentId(source as u32), ComponentId(destination as u32));
        self.state.fate(PacketInfo { draw, source, destination, kind: "", bytes, at })
    }

    /// Returns whether a partition separates two components at a time that is not before those asked for earlier: then
    /// a packet that arrives is lost.
    ///
    /// ```
    /// use simutant_sim_core::network::{NetworkFates, ScheduledPartition};
    /// use simutant_sim_core::{Network, VirtualTime};
    ///
    /// let names = ["a", "b", "c"].map(str::to_owned);
    /// let groups = vec![vec!["a".to_owned()]];
    /// let partition = ScheduledPartition { from: VirtualTime::from_secs(2), until: None, groups };
    /// let mut fates = NetworkFates::new(&Network { partitions: vec![partition], ..Network::default() }, &names, 7)?;
    /// assert!(!fates.is_separated(VirtualTime::from_secs(1), 0, 1));
    /// assert!(fates.is_separated(VirtualTime::from_secs(2), 0, 1));
    /// // Those that are in no group stay together.
    /// assert!(!fates.is_separated(VirtualTime::from_secs(2), 1, 2));
    /// # Ok::<(), simutant_sim_core::InvalidNetwork>(())
    /// ```
    pub fn is_separated(&mut self, at: VirtualTime, source: usize, destination: usize) -> bool {
        self.pass(at);
        self.state.is_separated(ComponentId(source as u32), ComponentId(destination as u32))
    }

    /// Lets partitions begin and heal until `at`.
    fn pass(&mut self, at: VirtualTime) {
        while let Some((_, change)) = self.scheduled.pop_if(|(moment, _)| *moment <= at) {
            self.state.change_partition(change);
        }
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
