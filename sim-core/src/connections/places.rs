//! The ports of streams: a space of their own, beside that of channels, as TCP ports are beside those of UDP.

use std::collections::{BTreeMap, VecDeque};

use super::{EndId, WaitingTask};
use crate::Address;
use crate::message::ComponentId;
use crate::ports::EPHEMERAL_FIRST;
use crate::stream::settings::StreamSettings;

/// What uses a port.
#[derive(Debug)]
enum Use {
    Listener(ListeningPort),
    /// An end that has connected from here.
    Client(EndId),
}

/// Who listens at a port.
#[derive(Debug)]
pub(crate) struct ListeningPort {
    serial: u64,
    /// Ends that nobody has accepted yet, and which are open or broken, oldest first.
    pub(crate) pending: VecDeque<EndId>,
    /// How many ends there are that wait for their clients to confirm them.
    pub(crate) agreeing: usize,
    pub(crate) backlog_max: usize,
    pub(crate) settings: StreamSettings,
    pub(crate) wait: WaitingTask,
}

/// Names a listener, for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ListenerId {
    pub(crate) address: Address,
    serial: u64,
}

/// The ports of streams of all components.
#[derive(Debug, Default)]
pub(crate) struct Places {
    uses: BTreeMap<Address, Use>,
    /// Where the search for an unused port begins, for components that have searched: numbers come again as late as
    /// possible.
    next_ephemeral: BTreeMap<ComponentId, u16>,
    serials: u64,
}

impl Places {
    /// Lets someone listen at a port; `None` if it is in use.
    pub(crate) fn listen(&mut self, address: Address, backlog_max: usize) -> Option<ListenerId> {
        if self.uses.contains_key(&address) {
            return None;
        }
        let serial = self.serials;
        self.serials += 1;
        let listener = ListeningPort {
            serial,
            pending: VecDeque::new(),
            agreeing: 0,
            backlog_max,
            settings: StreamSettings::default(),
            wait: WaitingTask::NOBODY,
        };
        self.uses.insert(address, Use::Listener(listener));
        Some(ListenerId { address, serial })
    }

    /// Returns who listens at an address.
    pub(crate) fn listener_at(&mut self, address: Address) -> Option<&mut ListeningPort> {
        match self.uses.get_mut(&address) {
            Some(Use::Listener(listener)) => Some(listener),
            Some(Use::Client(_)) | None => None,
        }
    }

    /// Returns a listener, if it is still there.
    pub(crate) fn listener(&mut self, id: ListenerId) -> Option<&mut ListeningPort> {
        self.listener_at(id.address).filter(|listener| listener.serial == id.serial)
    }

    /// Removes a listener, if it is still there.
    pub(crate) fn remove_listener(&mut self, id: ListenerId) -> Option<ListeningPort> {
        self.listener(id)?;
        match self.uses.remove(&id.address) {
            Some(Use::Listener(listener)) => Some(listener),
            Some(Use::Client(_)) | None => unreachable!("it was there"),
        }
    }

    /// Returns an unused port from 49,152 on; `None` if all are in use.
    pub(crate) fn unused(&mut self, component: ComponentId) -> Option<Address> {
        let first = self.next_ephemeral.get(&component).copied().unwrap_or(EPHEMERAL_FIRST);
        let mut addresses = (first..=u16::MAX).chain(EPHEMERAL_FIRST..first).map(|port| Address { component, port });
        let address = addresses.find(|address| !self.uses.contains_key(address))?;
        self.next_ephemeral.insert(component, address.port.checked_add(1).unwrap_or(EPHEMERAL_FIRST));
        Some(address)
    }

    /// Lets an end of a client use a port.
    pub(crate) fn occupy(&mut self, id: EndId, address: Address) {
        self.uses.insert(address, Use::Client(id));
    }

    /// Ends the use of a port by this end, if it is one.
    pub(crate) fn release(&mut self, id: EndId, address: Address) {
        if matches!(self.uses.get(&address), Some(Use::Client(client)) if *client == id) {
            self.uses.remove(&address);
        }
    }

    /// Returns how many ports are in use by clients.
    #[cfg(test)]
    pub(super) fn clients(&self) -> usize {
        self.uses.values().filter(|used| matches!(used, Use::Client(_))).count()
    }

    /// Returns the listeners of a component, with their ports.
    pub(crate) fn listeners(&self, component: ComponentId) -> impl Iterator<Item = (ListenerId, &ListeningPort)> {
        let (first, last) = (Address { component, port: 0 }, Address { component, port: u16::MAX });
        self.uses.range(first..=last).filter_map(|(&address, used)| match used {
            Use::Listener(listener) => Some((ListenerId { address, serial: listener.serial }, listener)),
            Use::Client(_) => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPONENT: ComponentId = ComponentId(0);

    #[test]
    fn a_port_has_one_listener_and_a_late_handle_does_not_reach_the_next() {
        let mut places = Places::default();
        let address = Address { component: COMPONENT, port: 80 };
        let first = places.listen(address, 1).expect("it is unused");
        assert_eq!(places.listen(address, 1), None);
        assert!(places.remove_listener(first).is_some());
        let second = places.listen(address, 1).expect("it is unused again");
        assert!(places.remove_listener(first).is_none());
        assert!(places.listener(second).is_some());
    }

    #[test]
    fn unused_ports_come_again_as_late_as_possible() {
        let mut places = Places::default();
        places.listen(Address { component: COMPONENT, port: EPHEMERAL_FIRST }, 1).expect("it is unused");
        assert_eq!(places.unused(COMPONENT).map(Address::port), Some(EPHEMERAL_FIRST + 1));
        assert_eq!(places.unused(COMPONENT).map(Address::port), Some(EPHEMERAL_FIRST + 2));
    }
}
