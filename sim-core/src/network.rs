//! Networks as values, made of small behaviours: what becomes of packets.
//!
//! A [`Network`] says how links treat packets by chance ([`Link`]), which links differ from the others
//! ([`LinkSetting`]), which components are linked at all ([`Topology`]), who is separated when
//! ([`ScheduledPartition`]), and what happens to particular packets ([`Rule`]). Serde reads and writes it, so a test
//! case can hold one:
//!
//! ```
//! let json = r#"{
//!     "link": {"latency": {"uniform": {"min_ns": 5000000, "max_ns": 20000000}}, "drop": 0.1},
//!     "links": [{"from": "a", "to": "b", "link": {"bandwidth": {"bits_per_second": 1000000}}}],
//!     "partitions": [{"from_ns": 2000000000, "until_ns": 3000000000, "groups": [["a"], ["b", "c"]]}],
//!     "rules": [{"from": "a", "to": "b", "kind": "ACK", "occurrences": {"only": 3}, "effect": "drop"}]
//! }"#;
//! let network = simutant_sim_core::Network::read(&mut serde_json::Deserializer::from_str(json))?;
//! assert_eq!(network.rules.len(), 1);
//! # Ok::<(), simutant_sim_core::InvalidNetwork>(())
//! ```
//!
//! # Order
//!
//! What becomes of a packet is decided when it is sent, in this order. Rules count it. If its ends are separated, it is
//! lost. A rule may drop it, or hold it for a time. If it has no route, it is lost. Then it goes along the links of its
//! route, as [`Link`] says. If its ends are separated when it arrives, it is lost as well.
//!
//! # Chance
//!
//! What is random about a packet is a function of the seed, its source, and how many packets the source sent before.
//! Each misfortune and each duration has draws of its own, so another probability or another link shifts no others:
//! a packet that is lost with some probability is lost with any greater one, and the packets that are not lost take as
//! long as before. Only links that remember, by their queues or their bursts, let packets depend on those before them.

mod bandwidth;
mod directions;
mod draws;
mod fate;
mod fates;
mod invalid;
mod latency;
mod link;
mod loss;
mod partition;
mod plain;
mod routes;
mod rule;
mod state;
#[cfg(test)]
mod tests;
mod topology;

use std::cell::OnceCell;
use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

pub use bandwidth::Bandwidth;
pub use fate::{Arrival, Fate};
pub(crate) use fate::{Decision, Open, PacketInfo};
pub use fates::{Fates, NetworkFates};
pub(crate) use fates::{first_draw, network_seed};
use invalid::Field;
pub use invalid::InvalidNetwork;
pub use latency::Latency;
pub use link::{Direction, Link, LinkSetting, Reorder};
pub use loss::{GilbertElliott, Loss};
pub(crate) use partition::PartitionChange;
pub use partition::ScheduledPartition;
pub use rule::{Effect, Occurrences, Rule};
pub(crate) use state::NetworkState;
pub use topology::{Edge, Forwarding, Shape, Topology};

use crate::message::ComponentId;
use crate::{VirtualDuration, VirtualTime};

/// The largest message that fits into a packet of UDP over IPv4.
const UDP_MESSAGE_BYTES_MAX: u32 = 65_507;

/// The network of a simulation, which decides the fates of packets. See the [module's page](self).
///
/// The default loses and duplicates nothing, and takes one millisecond.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Network {
    /// Every link that `links` does not set.
    pub link: Link,
    /// Links that are not as the others are. Of those that match a packet, the last holds.
    pub links: Vec<LinkSetting>,
    /// Which components are linked; all with all if it is left out.
    pub topology: Option<Topology>,
    /// Partitions, with their times.
    pub partitions: Vec<ScheduledPartition>,
    /// What happens to particular packets. Of those that apply to a packet, the first holds.
    pub rules: Vec<Rule>,
    /// How large a message can be, in bytes; without this, 65 507, as with UDP over IPv4.
    pub message_bytes_max: u32,
}

impl Default for Network {
    fn default() -> Self {
        Self {
            link: Link::default(),
            links: Vec::new(),
            topology: None,
            partitions: Vec::new(),
            rules: Vec::new(),
            message_bytes_max: UDP_MESSAGE_BYTES_MAX,
        }
    }
}

/// One link between all components.
impl From<Link> for Network {
    fn from(link: Link) -> Self {
        Self { link, ..Self::default() }
    }
}

impl Network {
    /// Returns a network without faults in which every packet takes `latency`.
    ///
    /// ```
    /// use simutant_sim_core::{Network, Simulation, VirtualDuration, VirtualTime};
    ///
    /// # #[derive(Debug, Clone, Hash)]
    /// # struct Ping;
    /// # impl simutant_sim_core::Message for Ping {
    /// #     fn kind(&self) -> &'static str { "PING" }
    /// # }
    /// let mut simulation = Simulation::<Ping>::new(1);
    /// simulation.network(Network::constant(VirtualDuration::from_millis(30)));
    /// let server = simulation.address("server", 7);
    /// simulation
    ///     .add("server", |context| async move {
    ///         context.channel_at(7).recv().await;
    ///         context.now()
    ///     })
    ///     .expecting(VirtualTime::from_millis(30));
    /// simulation.add("client", move |context| async move { context.channel().send(server, Ping) });
    /// assert!(simulation.run().ended.passed());
    /// ```
    pub fn constant(latency: VirtualDuration) -> Self {
        Link::constant(latency).into()
    }

    /// Reads a network, and checks it. Plain deserialization reads the same, but does not check what
    /// [`Network::validate`] does, and its errors do not name the field.
    ///
    /// ```
    /// use simutant_sim_core::Network;
    ///
    /// let read = |json| Network::read(&mut serde_json::Deserializer::from_str(json));
    /// assert!(read(r#"{"link": {"drop": 0.1}}"#).is_ok());
    /// let error = read(r#"{"link": {"latency": {"uniform": {"min_ns": 9, "max_ns": 5}}}}"#).expect_err("9 > 5");
    /// assert!(error.to_string().starts_with("link.latency.uniform.min_ns is 9: it must be"));
    /// ```
    ///
    /// # Errors
    /// [`InvalidNetwork`] names the field, its value and what is allowed.
    pub fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, InvalidNetwork> {
        let network: Self = serde_path_to_error::deserialize(deserializer).map_err(|error| {
            InvalidNetwork::Unreadable { field: error.path().to_string(), reason: error.inner().to_string() }
        })?;
        network.validate()?;
        Ok(network)
    }

    /// Checks what the types of the fields leave open. That components have the names by which they are called is
    /// checked when a simulation runs, for only then they are known.
    ///
    /// ```
    /// use simutant_sim_core::network::{Effect, Network, Occurrences, Rule};
    ///
    /// // Occurrences are counted from 1.
    /// let rule = Rule { occurrences: Occurrences::Only(0), ..Rule::of(Effect::Drop) };
    /// let network = Network { rules: vec![rule], ..Network::default() };
    /// let error = network.validate().expect_err("there is no packet 0");
    /// assert_eq!(error.to_string(), "rules[0].occurrences.only is 0: it must be at least 1");
    /// ```
    ///
    /// # Errors
    /// [`InvalidNetwork`] names the first such field, its value and what is allowed.
    pub fn validate(&self) -> Result<(), InvalidNetwork> {
        self.link.validate()?;
        for (index, setting) in self.links.iter().enumerate() {
            setting.link.validate_at(&Field::root("links").element(index).child("link"))?;
        }
        if let Some(topology) = &self.topology {
            topology.validate(&Field::root("topology"))?;
        }
        for (index, partition) in self.partitions.iter().enumerate() {
            partition.validate(&Field::root("partitions").element(index))?;
        }
        for (index, rule) in self.rules.iter().enumerate() {
            rule.validate(&Field::root("rules").element(index))?;
        }
        Ok(())
    }

    /// Returns when partitions begin and heal, in the order in which that happens; what heals at the time at which
    /// something else begins heals first.
    pub(crate) fn scheduled(&self) -> Vec<(VirtualTime, PartitionChange)> {
        let changes = |(index, partition): (usize, &ScheduledPartition)| {
            let begin = (partition.from, PartitionChange::Begin(index));
            let heal = partition.until.map(|until| (until, PartitionChange::Heal(index)));
            [Some(begin), heal].into_iter().flatten()
        };
        let mut scheduled: Vec<_> = self.partitions.iter().enumerate().flat_map(changes).collect();
        scheduled.sort_unstable();
        scheduled
    }
}

/// The components of a run by their names.
#[derive(Debug)]
struct Names<'a> {
    all: &'a [String],
    /// Made when a name is looked up: most networks name nobody.
    ids: OnceCell<BTreeMap<&'a str, ComponentId>>,
}

impl<'a> Names<'a> {
    fn new(all: &'a [String]) -> Self {
        Self { all, ids: OnceCell::new() }
    }

    fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns the names by their ids.
    fn all(&self) -> &'a [String] {
        self.all
    }

    /// Returns who has this name, which stands in a field.
    fn find(&self, name: &str, field: &Field<'_>) -> Result<ComponentId, InvalidNetwork> {
        let ids = self.ids.get_or_init(|| self.all.iter().map(String::as_str).zip((0..).map(ComponentId)).collect());
        ids.get(name).copied().ok_or_else(|| {
            field.refuse(format_args!("{name:?}"), format_args!("the name of a component: {}", some_names(self.all)))
        })
    }

    fn find_optional(&self, name: Option<&str>, field: &Field<'_>) -> Result<Option<ComponentId>, InvalidNetwork> {
        name.map(|name| self.find(name, field)).transpose()
    }
}

/// Returns the first names of components that there are, for an error.
pub(crate) fn some_names(names: &[String]) -> String {
    const NAMES_MAX: usize = 8;
    let mut added = names.iter().filter(|name| !name.is_empty()).map(String::as_str);
    let first: Vec<&str> = added.by_ref().take(NAMES_MAX).collect();
    let more = added.count();
    let more = if more > 0 { format!(", and {more} others") } else { String::new() };
    format!("one of {}{more}", first.join(", "))
}
