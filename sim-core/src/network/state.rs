//! The network of a run: a [`Network`] compiled for the components that there are, and what it remembers.

use super::directions::Directions;
use super::draws::{Draws, Lane};
use super::fate::{Arrival, Decision, Fate, Open, PacketInfo, Passage, Possible};
use super::partition::Partitions;
use super::plain::PlainLink;
use super::routes::Routes;
use super::rule::{Effect, Rules};
use super::{InvalidNetwork, Names, Network, PartitionChange};
use crate::message::ComponentId;
use crate::trace::DropReason;
use crate::{Probability, VirtualDuration};

/// The network of a run: the only place where it is decided what becomes of a packet.
#[derive(Debug, Clone)]
pub(crate) struct NetworkState {
    seed: u64,
    message_bytes_max: u32,
    /// What decides as long as nobody is separated, if the network is one link between all, without memory.
    plain: Option<PlainLink>,
    is_partitioned: bool,
    /// `None` before the run begins.
    general: Option<Box<General>>,
}

/// Everything else.
#[derive(Debug, Clone)]
struct General {
    directions: Directions,
    rules: Rules,
    routes: Option<Routes>,
    partitions: Partitions,
}

const NOT_BEGUN: &str =
    "a component sends before the run begins: move what it does into the async block that its body returns";

/// Which copies of a packet are decided about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Copies {
    /// Both, whether there is a second or not.
    Both,
    /// The second only if chance duplicates the packet.
    Needed,
}

impl NetworkState {
    /// Returns the network of a run of these components, given by their ids.
    ///
    /// The seed fixes, with the draw number of a packet, everything that is random about the packet.
    ///
    /// # Errors
    /// [`InvalidNetwork`] if the network is not valid, or names components that there are not.
    pub(crate) fn new(network: &Network, names: &[String], seed: u64) -> Result<Self, InvalidNetwork> {
        network.validate()?;
        let names = Names::new(names);
        let directions = Directions::new(network, &names)?;
        let rules = Rules::new(&network.rules, &names)?;
        let routes = network.topology.as_ref().map(|topology| Routes::new(topology, &names)).transpose()?;
        let partitions = Partitions::new(&network.partitions, &names)?;
        let is_one_link = !directions.are_needed() && network.rules.is_empty() && routes.is_none();
        let plain = if is_one_link { PlainLink::new(&network.link) } else { None };
        let general = Some(Box::new(General { directions, rules, routes, partitions }));
        Ok(Self { seed, message_bytes_max: network.message_bytes_max, plain, is_partitioned: false, general })
    }

    /// Returns the network of a run that has not begun: nothing can be sent.
    pub(crate) fn unconfigured() -> Self {
        Self { seed: 0, message_bytes_max: u32::MAX, plain: None, is_partitioned: false, general: None }
    }

    fn general(&self) -> &General {
        self.general.as_ref().expect(NOT_BEGUN)
    }

    fn general_mut(&mut self) -> &mut General {
        self.general.as_mut().expect(NOT_BEGUN)
    }

    /// Returns the size of the largest message that it takes.
    #[inline]
    pub(crate) fn message_bytes_max(&self) -> u32 {
        self.message_bytes_max
    }

    /// Returns how long a packet takes, if it is quickly found out that nothing else happens to it; if not, ask
    /// [`NetworkState::fate`].
    #[inline]
    pub(crate) fn delay(&self, draw: u64) -> Option<VirtualDuration> {
        match &self.plain {
            Some(plain) if !self.is_partitioned => plain.delay(self.seed, draw),
            _ => None,
        }
    }

    /// Decides what becomes of a packet. Packets must come in the order of their sending.
    #[inline]
    pub(crate) fn fate(&mut self, packet: PacketInfo) -> Fate {
        match &self.plain {
            Some(plain) if !self.is_partitioned => plain.fate(self.seed, packet.draw),
            _ => self.general_fate(packet),
        }
    }

    #[inline(never)]
    fn general_fate(&mut self, packet: PacketInfo) -> Fate {
        // A rule may duplicate what chance does not.
        let general = self.general();
        let which = if general.rules.is_empty() { Copies::Needed } else { Copies::Both };
        let decision = general.decide(Draws::new(self.seed, packet.draw), &packet, which);
        self.apply(packet, decision)
    }

    /// Decides what chance has to say about a packet.
    pub(crate) fn decide(&self, packet: &PacketInfo) -> Decision {
        self.general().decide(Draws::new(self.seed, packet.draw), packet, Copies::Both)
    }

    /// Returns what of [`NetworkState::decide`] could have been otherwise.
    pub(crate) fn open(&self, packet: &PacketInfo) -> Open {
        self.general().open(packet)
    }

    /// Returns what becomes of a packet about which chance has decided this.
    pub(crate) fn apply(&mut self, packet: PacketInfo, decision: Decision) -> Fate {
        let draws = Draws::new(self.seed, packet.draw);
        self.general_mut().apply(draws, &packet, decision)
    }

    /// Returns whether a packet between these components is lost because they are separated: to be asked when it
    /// arrives.
    #[inline]
    pub(crate) fn is_separated(&self, source: ComponentId, destination: ComponentId) -> bool {
        self.is_partitioned && self.general().is_separated(source, destination)
    }

    /// Lets a scheduled partition begin or heal. To heal what has not begun, or was healed, does nothing.
    pub(crate) fn change_partition(&mut self, change: PartitionChange) {
        let partitions = &mut self.general_mut().partitions;
        partitions.change(change);
        self.is_partitioned = partitions.is_active();
    }

    /// Returns the seed of the random numbers that say what corruption makes of a copy of a packet: 0 is the packet
    /// itself.
    pub(crate) fn corruption_seed(&self, draw: u64, copy: u64) -> u64 {
        Draws::new(self.seed, draw).of_copy(copy).bits(Lane::Corruption)
    }
}

impl General {
    fn decide(&self, draws: Draws, packet: &PacketInfo, which: Copies) -> Decision {
        let mut lost_on = None;
        let mut is_duplicated = false;
        let mut copies = [Passage::default(); 2];
        self.visit_path(packet, |link_number, source, destination| {
            let draws = draws.on_link(link_number);
            let (link, burst_state) = self.directions.get(source, destination);
            let is_lost = link.drop.is_lost(link.drop.next_state(burst_state, draws), draws);
            if is_lost && lost_on.is_none() {
                lost_on = Some(link_number as u32);
            }
            is_duplicated |= draws.chance(Lane::Duplicate, link.duplicate.into());
            copies[0].extend(link.passage(draws.of_copy(0)));
        });
        if which == Copies::Both || is_duplicated {
            self.visit_path(packet, |link_number, source, destination| {
                let (link, _) = self.directions.get(source, destination);
                copies[1].extend(link.passage(draws.on_link(link_number).of_copy(1)));
            });
        }
        Decision { lost_on, is_duplicated, copies }
    }

    fn open(&self, packet: &PacketInfo) -> Open {
        let mut lossy_link = None;
        let mut can_get_through = true;
        let [mut duplicate, mut reorder, mut corrupt] = [Possible::NO; 3];
        let mut latency = false;
        self.visit_path(packet, |link_number, source, destination| {
            let (link, _) = self.directions.get(source, destination);
            if link.drop.can_lose() && lossy_link.is_none() {
                lossy_link = Some(link_number as u32);
            }
            can_get_through &= link.drop.can_let_through();
            duplicate.extend(link.duplicate);
            corrupt.extend(link.corrupt);
            reorder.extend(link.reorder.as_ref().map_or(Probability::ZERO, |reorder| reorder.probability));
            latency |= !link.latency.is_constant() || link.jitter.as_ref().is_some_and(|jitter| !jitter.is_constant());
        });
        Open {
            lossy_link: lossy_link.filter(|_| can_get_through),
            duplicate: duplicate.is_open(),
            latency,
            reorder: reorder.is_open(),
            corrupt: corrupt.is_open(),
        }
    }

    fn apply(&mut self, draws: Draws, packet: &PacketInfo, decision: Decision) -> Fate {
        // Rules count what is sent, whatever becomes of it.
        let effect = self.rules.apply(packet);
        if self.is_separated(packet.source, packet.destination) {
            return Fate::Dropped(DropReason::Partition);
        }
        let held = match effect {
            Some(Effect::Drop) => return Fate::Dropped(DropReason::Rule),
            Some(Effect::Delay(delay)) => delay,
            Some(Effect::HoldUntil(until)) => until.since(packet.at),
            Some(Effect::Duplicate | Effect::Corrupt) | None => VirtualDuration::ZERO,
        };
        if self.next_on_path(packet.source, packet.destination).is_none() {
            return Fate::Dropped(DropReason::NoRoute);
        }
        let queued = if self.directions.are_needed() {
            match self.pass(draws, packet, held, &decision) {
                Ok(queued) => queued,
                Err(reason) => return Fate::Dropped(reason),
            }
        } else {
            VirtualDuration::ZERO
        };
        if decision.lost_on.is_some() {
            return Fate::Dropped(DropReason::Loss);
        }
        let [first, second] = decision.copies.map(|copy| {
            let is_corrupted = copy.is_corrupted || effect == Some(Effect::Corrupt);
            Arrival { after: held + queued + copy.duration(), is_corrupted }
        });
        if decision.is_duplicated || effect == Some(Effect::Duplicate) {
            return Fate::Duplicated(first, second);
        }
        Fate::Delivered(first)
    }

    /// Lets a packet pass the links of its path, up to the one that loses it, and returns how long it waits and is
    /// being sent on all of them together.
    ///
    /// How long it is on its way in all is decided, and the seed says how much of that each link takes. If the decision
    /// is not the seed's, the first link takes the difference, so that the packet reaches all others that much later or
    /// earlier; if that is more than the first link can be shortened by, the next ones are shortened too.
    fn pass(
        &mut self,
        draws: Draws,
        packet: &PacketInfo,
        held: VirtualDuration,
        decision: &Decision,
    ) -> Result<VirtualDuration, DropReason> {
        let begin = packet.at + held;
        let mut reached = begin;
        let [mut queued, mut seeded] = [VirtualDuration::ZERO; 2];
        let mut difference = None;
        let mut source = packet.source;
        for link_number in 0.. {
            let Some(destination) = self.next_on_path(source, packet.destination) else { break };
            let draws_on_link = draws.on_link(link_number);
            let (link, memory) = self.directions.reach(source, destination);
            if let Some(bandwidth) = &link.bandwidth {
                let sent = memory.queue.enter(bandwidth, packet.at, reached, packet.bytes);
                let sent = sent.ok_or(DropReason::QueueFull)?;
                queued += sent - reached;
            }
            memory.burst_state = link.drop.next_state(memory.burst_state, draws_on_link);
            if decision.lost_on == Some(link_number as u32) || destination == packet.destination {
                break;
            }
            seeded += link.passage(draws_on_link).duration();
            // Only now, since most paths have one link.
            let (longer, shorter) = *difference.get_or_insert_with(|| {
                let (decided, seeded) = (decision.copies[0].duration(), self.seeded_duration(draws, packet));
                (decided - seeded, seeded - decided)
            });
            reached = begin + queued + (seeded + longer - shorter);
            source = destination;
        }
        Ok(queued)
    }

    /// Returns how long the seed says that a packet is on its way on all links of its path together.
    fn seeded_duration(&self, draws: Draws, packet: &PacketInfo) -> VirtualDuration {
        let mut duration = VirtualDuration::ZERO;
        self.visit_path(packet, |link_number, source, destination| {
            let (link, _) = self.directions.get(source, destination);
            duration += link.passage(draws.on_link(link_number)).duration();
        });
        duration
    }

    /// Calls `visit` for each link of a packet's path: its number on the path, and its ends. Not at all without a path.
    fn visit_path(&self, packet: &PacketInfo, mut visit: impl FnMut(u64, ComponentId, ComponentId)) {
        let mut source = packet.source;
        for link_number in 0.. {
            let Some(next) = self.next_on_path(source, packet.destination) else { return };
            visit(link_number, source, next);
            if next == packet.destination {
                return;
            }
            source = next;
        }
    }

    /// Returns where a packet goes from a component; `None` if there is no way. A component has a link to itself.
    fn next_on_path(&self, component: ComponentId, destination: ComponentId) -> Option<ComponentId> {
        match &self.routes {
            Some(routes) if component != destination => routes.next(component, destination),
            Some(_) | None => Some(destination),
        }
    }

    fn is_separated(&self, source: ComponentId, destination: ComponentId) -> bool {
        if !self.partitions.is_active() {
            return false;
        }
        let mut at = source;
        while at != destination {
            // Without a way, it is the ends that count.
            let next = self.next_on_path(at, destination).unwrap_or(destination);
            if self.partitions.is_separated(at, next) {
                return true;
            }
            at = next;
        }
        false
    }
}
