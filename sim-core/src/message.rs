//! Messages, and the addresses that they travel between.

use std::fmt;
use std::hash::Hash;

use crate::Random;

/// A message, which components send to each other: plain immutable data.
///
/// A system has one message type, as a rule an enum with a struct for each kind. The digest of a run takes a message's
/// hash in, so equal messages have equal hashes in every run: what has no order, such as a hash map, has no place in
/// one.
pub trait Message: Clone + fmt::Debug + Hash + 'static {
    /// Returns the short name of this kind of message, for example `DAT`: traces show it, rules of the network name it.
    fn kind(&self) -> &'static str;

    /// Returns the message's size on the wire, in bytes. Links of limited bandwidth take time for it, and a network may
    /// refuse messages that are too large. Without this, messages have no size.
    fn bytes(&self) -> u32 {
        0
    }

    /// Returns what a receiver makes of this message when the network has changed some of its bits, or `None` if a
    /// checksum finds that out and the packet is discarded. Without this, it always does.
    ///
    /// ```
    /// use simutant_sim_core::{Link, Message, Probability, Random, Simulation};
    ///
    /// #[derive(Debug, Clone, PartialEq, Hash)]
    /// struct Data(u8);
    ///
    /// impl Message for Data {
    ///     fn kind(&self) -> &'static str { "DATA" }
    ///     // There is no checksum: one bit is another one.
    ///     fn corrupted(&self, random: &mut Random) -> Option<Self> { Some(Self(self.0 ^ 1 << random.uniform(0..8))) }
    /// }
    ///
    /// let mut simulation = Simulation::<Data>::new(1);
    /// simulation.network(Link { corrupt: Probability::ONE, ..Link::default() });
    /// let server = simulation.address("server", 7);
    /// simulation
    ///     .add("server", |context| async move { context.channel_at(7).recv().await.message.0.count_ones() })
    ///     .expecting(1);
    /// simulation.add("client", move |context| async move { context.channel().send(server, Data(0)) });
    /// assert!(simulation.run().ended.passed());
    /// ```
    fn corrupted(&self, random: &mut Random) -> Option<Self> {
        _ = random;
        None
    }
}

/// A port of a component, as a socket address is a port of a host.
///
/// It is made by [`Simulation::address`](crate::Simulation::address), and belongs to that simulation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    pub(crate) component: ComponentId,
    pub(crate) port: u16,
}

impl Address {
    /// Returns the port.
    pub fn port(self) -> u16 {
        self.port
    }

    /// Returns whether both are ports of one component.
    pub fn is_same_component(self, other: Self) -> bool {
        self.component == other.component
    }
}

/// The component's number, in the order in which the simulation heard of its components, and the port: `#0:1234`.
impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "#{}:{}", self.component.0, self.port)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// A multicast group, made by [`Simulation::group`](crate::Simulation::group), and belonging to that simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Group(pub(crate) ComponentId);

impl Group {
    /// Returns the address of a port of all members.
    pub fn address(self, port: u16) -> Address {
        Address { component: self.0, port }
    }
}

/// A message that has arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery<M> {
    /// The channel that sent it: where an answer goes.
    pub source: Address,
    /// The channel that it arrived at.
    pub destination: Address,
    /// The message.
    pub message: M,
}

/// A component's number: its index among the names that the simulation knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ComponentId(pub(crate) u32);

impl ComponentId {
    /// How many components there can be. Numbers from here on are groups.
    pub(crate) const COUNT_MAX: u32 = 1 << 31;

    /// All components but the sender.
    pub(crate) const EVERYONE: Self = Self(u32::MAX);

    #[inline]
    pub(crate) fn is_group(self) -> bool {
        self.0 >= Self::COUNT_MAX
    }

    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}
