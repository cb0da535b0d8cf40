//! The open ports of all components, each with its mailbox and who waits for it.

use std::collections::{BTreeMap, VecDeque};

use crate::ended::{Wait, WaitSubject};
use crate::message::ComponentId;
use crate::waker::Waiter;
use crate::{Address, VirtualTime};

/// The first of the ports that a channel gets which does not ask for a certain one (RFC 6335, section 6).
pub(crate) const EPHEMERAL_FIRST: u16 = 49_152;

/// Among so few ports one is found by looking at each, faster than in a map.
const FEW: usize = 8;

/// Where an open port is in [`Ports`]; the index of a closed port is used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PortIndex(u32);

#[derive(Debug)]
pub(crate) struct Ports {
    /// Open ports, and closed ones that wait to be used again.
    ports: Vec<Port>,
    free: Vec<PortIndex>,
    /// By component.
    open: Vec<OpenPorts>,
    /// The open ports that are not among the few that their components have at hand.
    more: BTreeMap<Address, PortIndex>,
}

/// An open port.
#[derive(Debug)]
pub(crate) struct Port {
    /// `None` if the port is closed.
    address: Option<Address>,
    /// What has arrived and was not received.
    pub(crate) mailbox: Mailbox,
    /// The most that the mailbox holds.
    pub(crate) mailbox_max: usize,
    /// Addresses that packets of this channel could not reach, oldest first, if it asked to be told.
    pub(crate) unreachable: Option<VecDeque<Address>>,
    /// The receive that waits. There is at most one, since a receive borrows its channel mutably.
    pub(crate) waiter: Option<Waiter>,
    /// When the receive that waits, or that waited last, began to wait.
    pub(crate) waiting_since: VirtualTime,
}

/// Packets that have arrived, oldest first: indices into the kernel's packets.
///
/// Mostly someone waits, and one packet is there at a time: it has a place of its own, which costs less than the queue.
#[derive(Debug, Default)]
pub(crate) struct Mailbox {
    /// `None` only if the mailbox is empty.
    first: Option<u32>,
    others: VecDeque<u32>,
}

/// The open ports of one component.
#[derive(Debug)]
struct OpenPorts {
    /// At most [`FEW`], in any order. Most components have one or two ports in all.
    few: Vec<(u16, PortIndex)>,
    /// Where the search for an unused port begins: numbers come again as late as possible.
    next_ephemeral: u16,
}

impl Mailbox {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.others.len()
    }

    #[inline]
    pub(crate) fn push(&mut self, packet: u32) {
        if self.first.is_none() {
            self.first = Some(packet);
        } else {
            self.others.push_back(packet);
        }
    }

    /// Removes the oldest packet.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<u32> {
        let first = self.first.take()?;
        if !self.others.is_empty() {
            self.first = self.others.pop_front();
        }
        Some(first)
    }

    /// Returns the packets, oldest first.
    pub(crate) fn into_packets(self) -> impl Iterator<Item = u32> {
        self.first.into_iter().chain(self.others)
    }
}

impl Port {
    fn closed() -> Self {
        Self {
            address: None,
            mailbox: Mailbox::default(),
            mailbox_max: usize::MAX,
            unreachable: None,
            waiter: None,
            waiting_since: VirtualTime::ZERO,
        }
    }
}

impl Ports {
    pub(crate) fn new() -> Self {
        Self { ports: Vec::new(), free: Vec::new(), open: Vec::new(), more: BTreeMap::new() }
    }

    /// Makes room for one more component, without open ports.
    pub(crate) fn add_component(&mut self) {
        self.open.push(OpenPorts { few: Vec::new(), next_ephemeral: EPHEMERAL_FIRST });
    }

    /// Opens a port; `None` if it is open already.
    pub(crate) fn open(&mut self, address: Address) -> Option<PortIndex> {
        if self.find(address).is_some() {
            return None;
        }
        let index = self.free.pop().unwrap_or_else(|| {
            self.ports.push(Port::closed());
            PortIndex(self.ports.len() as u32 - 1)
        });
        let few = &mut self.open[address.component.index()].few;
        if few.len() < FEW {
            few.push((address.port, index));
        } else {
            self.more.insert(address, index);
        }
        self.ports[index.0 as usize].address = Some(address);
        Some(index)
    }

    /// Opens an unused port from 49,152 on; `None` if all are open.
    pub(crate) fn open_ephemeral(&mut self, component: ComponentId) -> Option<(Address, PortIndex)> {
        let first = self.open[component.index()].next_ephemeral;
        (first..=u16::MAX).chain(EPHEMERAL_FIRST..first).find_map(|port| {
            let address = Address { component, port };
            let index = self.open(address)?;
            self.open[component.index()].next_ephemeral = port.checked_add(1).unwrap_or(EPHEMERAL_FIRST);
            Some((address, index))
        })
    }

    /// Closes a port, and returns what was left at it.
    #[must_use = "a waiter is dropped after the borrow"]
    pub(crate) fn close(&mut self, address: Address, index: PortIndex) -> Port {
        let few = &mut self.open[address.component.index()].few;
        match few.iter().position(|&(number, _)| number == address.port) {
            Some(position) => {
                few.swap_remove(position);
            }
            None => {
                self.more.remove(&address);
            }
        }
        self.free.push(index);
        std::mem::replace(self.get_mut(index), Port::closed())
    }

    /// Returns where the open port with this address is.
    #[inline]
    pub(crate) fn find(&self, address: Address) -> Option<PortIndex> {
        let few = &self.open[address.component.index()].few;
        match few.iter().find(|&&(number, _)| number == address.port) {
            Some(&(_, index)) => Some(index),
            None if self.more.is_empty() => None,
            None => self.find_among_many(address),
        }
    }

    #[cold]
    fn find_among_many(&self, address: Address) -> Option<PortIndex> {
        self.more.get(&address).copied()
    }

    /// Returns whether the port that is, or was, there has this address and is open.
    #[inline]
    pub(crate) fn is_at(&self, index: PortIndex, address: Address) -> bool {
        self.ports[index.0 as usize].address == Some(address)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, index: PortIndex) -> &mut Port {
        &mut self.ports[index.0 as usize]
    }

    /// Returns the receives of a component that wait, by port number.
    pub(crate) fn waits(&self, component: ComponentId) -> Vec<Wait> {
        let (first, last) = (Address { component, port: 0 }, Address { component, port: u16::MAX });
        let more = self.more.range(first..=last).map(|(address, &index)| (address.port, index));
        let mut by_number: Vec<(u16, PortIndex)> =
            self.open[component.index()].few.iter().copied().chain(more).collect();
        by_number.sort_unstable();
        by_number
            .into_iter()
            .map(|(port, index)| (port, &self.ports[index.0 as usize]))
            .filter(|(_, port)| port.waiter.is_some())
            .map(|(number, port)| Wait { subject: WaitSubject::Message { port: number }, since: port.waiting_since })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPONENT: ComponentId = ComponentId(0);

    fn ports() -> Ports {
        let mut ports = Ports::new();
        ports.add_component();
        ports
    }

    #[test]
    fn a_port_is_open_once_and_can_be_opened_again_when_closed() {
        let mut ports = ports();
        let address = Address { component: COMPONENT, port: 80 };
        let index = ports.open(address).expect("it is closed");
        assert_eq!(ports.open(address), None);
        assert_eq!(ports.find(address), Some(index));
        assert_eq!(ports.close(address, index).mailbox.len(), 0);
        assert_eq!(ports.find(address), None);
        assert_eq!(ports.open(address), Some(index));
    }

    #[test]
    fn a_mailbox_gives_packets_in_the_order_of_their_arrival() {
        // Every order of ten pushes and pops, against a queue.
        for order in 0..1 << 10 {
            let (mut mailbox, mut queue) = (Mailbox::default(), VecDeque::new());
            for step in 0..10 {
                if order >> step & 1 == 0 {
                    mailbox.push(step);
                    queue.push_back(step);
                } else {
                    assert_eq!(mailbox.pop(), queue.pop_front());
                }
                assert_eq!(mailbox.len(), queue.len());
            }
            assert!(mailbox.into_packets().eq(queue));
        }
    }

    #[test]
    fn a_port_is_found_among_any_number_and_waits_are_by_number() {
        let mut ports = ports();
        ports.add_component();
        let at = |component, port| Address { component, port };
        let other = ports.open(at(ComponentId(1), 7)).expect("it is closed");
        let count = 3 * FEW as u16;
        let opened: Vec<_> = (0..count).rev().map(|port| (port, ports.open(at(COMPONENT, port)))).collect();
        for &(port, index) in &opened {
            assert!(index.is_some(), "{port} was closed");
            assert_eq!(ports.find(at(COMPONENT, port)), index);
            assert_eq!(ports.open(at(COMPONENT, port)), None);
            ports.get_mut(index.expect("it is open")).waiter = Some(Waiter::Foreign(std::task::Waker::noop().clone()));
        }
        // Of those at hand and of the others, every second one.
        for &(port, index) in opened.iter().filter(|(port, _)| port % 2 == 0) {
            drop(ports.close(at(COMPONENT, port), index.expect("it is open")));
            assert_eq!(ports.find(at(COMPONENT, port)), None);
        }
        let waits: Vec<_> = ports.waits(COMPONENT).into_iter().map(|wait| wait.subject).collect();
        let odd = (0..count).filter(|port| port % 2 == 1);
        assert_eq!(waits, odd.map(|port| WaitSubject::Message { port }).collect::<Vec<_>>());
        assert_eq!(ports.find(at(ComponentId(1), 7)), Some(other));
        assert!(ports.open(at(COMPONENT, 0)).is_some());
    }

    #[test]
    fn ephemeral_ports_skip_open_ones_and_come_again_as_late_as_possible() {
        let mut ports = ports();
        ports.open(Address { component: COMPONENT, port: EPHEMERAL_FIRST }).expect("it is closed");
        let (first, first_index) = ports.open_ephemeral(COMPONENT).expect("most are closed");
        assert_eq!(first.port, EPHEMERAL_FIRST + 1);
        drop(ports.close(first, first_index));
        for _ in 0..=u16::MAX - EPHEMERAL_FIRST - 1 {
            ports.open_ephemeral(COMPONENT).expect("some are closed");
        }
        assert_eq!(ports.open_ephemeral(COMPONENT), None);
    }
}
