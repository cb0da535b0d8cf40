//! The open ports of all components, each with its mailbox and who waits for it.

use std::collections::VecDeque;

use crate::message::ComponentId;
use crate::verdict::{Wait, WaitSubject};
use crate::waker::Waiter;
use crate::{Address, VirtualTime};

/// The first of the ports that a channel gets which does not ask for a certain one (RFC 6335, section 6).
pub(crate) const EPHEMERAL_FIRST: u16 = 49_152;

/// Where an open port is in [`Ports`]; the index of a closed port is used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PortIndex(u32);

#[derive(Debug)]
pub(crate) struct Ports {
    /// Open ports, and closed ones that wait to be used again.
    ports: Vec<Port>,
    free: Vec<PortIndex>,
    /// By component.
    open: Vec<OpenPorts>,
}

/// An open port.
#[derive(Debug)]
pub(crate) struct Port {
    /// `None` if the port is closed.
    address: Option<Address>,
    /// What has arrived and was not received, oldest first: indices into the kernel's packets.
    pub(crate) mailbox: VecDeque<u32>,
    /// The most that the mailbox holds.
    pub(crate) mailbox_max: usize,
    /// Addresses that packets of this channel could not reach, oldest first, if it asked to be told.
    pub(crate) unreachable: Option<VecDeque<Address>>,
    /// The receive that waits. There is at most one, since a receive borrows its channel mutably.
    pub(crate) waiter: Option<Waiter>,
    /// When the receive that waits, or that waited last, began to wait.
    pub(crate) waiting_since: VirtualTime,
}

/// The open ports of one component.
#[derive(Debug)]
struct OpenPorts {
    /// Sorted by port number. Most components have one or two, so this is faster than a map.
    by_number: Vec<(u16, PortIndex)>,
    /// Where the search for an unused port begins: numbers come again as late as possible.
    next_ephemeral: u16,
}

impl Port {
    fn closed() -> Self {
        Self {
            address: None,
            mailbox: VecDeque::new(),
            mailbox_max: usize::MAX,
            unreachable: None,
            waiter: None,
            waiting_since: VirtualTime::ZERO,
        }
    }
}

impl Ports {
    pub(crate) fn new() -> Self {
        Self { ports: Vec::new(), free: Vec::new(), open: Vec::new() }
    }

    /// Makes room for one more component, without open ports.
    pub(crate) fn add_component(&mut self) {
        self.open.push(OpenPorts { by_number: Vec::new(), next_ephemeral: EPHEMERAL_FIRST });
    }

    /// Opens a port; `None` if it is open already.
    pub(crate) fn open(&mut self, address: Address) -> Option<PortIndex> {
        let open = &mut self.open[address.component.index()];
        let Err(position) = open.by_number.binary_search_by_key(&address.port, |&(number, _)| number) else {
            return None;
        };
        let index = self.free.pop().unwrap_or_else(|| {
            self.ports.push(Port::closed());
            PortIndex(self.ports.len() as u32 - 1)
        });
        open.by_number.insert(position, (address.port, index));
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
        self.open[address.component.index()].by_number.retain(|&(_, open_index)| open_index != index);
        self.free.push(index);
        std::mem::replace(self.get_mut(index), Port::closed())
    }

    /// Returns where the open port with this address is.
    #[inline]
    pub(crate) fn find(&self, address: Address) -> Option<PortIndex> {
        let by_number = &self.open[address.component.index()].by_number;
        by_number.iter().find(|&&(number, _)| number == address.port).map(|&(_, index)| index)
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
        let by_number = self.open[component.index()].by_number.iter();
        by_number
            .map(|&(port, index)| (port, &self.ports[index.0 as usize]))
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
        assert!(ports.close(address, index).mailbox.is_empty());
        assert_eq!(ports.find(address), None);
        assert_eq!(ports.open(address), Some(index));
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
