//! Multicast groups: which channels joined which, in the order of joining.

use std::collections::BTreeMap;

use crate::Address;
use crate::message::ComponentId;
use crate::ports::PortIndex;

/// The groups of a run. To join, to leave and to close a port take logarithmic time for each group concerned.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    /// By group.
    names: Vec<String>,
    /// The channels that joined, by group, port number and turn: who hears a message is found in the order of joining.
    members: BTreeMap<(ComponentId, u16, u64), Address>,
    /// When each channel joined each of its groups: its turn. By the channel's port, so that a port that closes finds
    /// its groups.
    turns: BTreeMap<(PortIndex, ComponentId), u64>,
    /// How often a channel has joined a group.
    joined: u64,
}

impl Groups {
    /// Adds a group without members.
    pub(crate) fn add(&mut self, name: &str) -> ComponentId {
        self.names.push(name.to_owned());
        ComponentId(ComponentId::COUNT_MAX + self.names.len() as u32 - 1)
    }

    pub(crate) fn name(&self, group: ComponentId) -> &str {
        &self.names[(group.0 - ComponentId::COUNT_MAX) as usize]
    }

    /// Makes a channel the last member of a group, also if it was a member before.
    pub(crate) fn join(&mut self, group: ComponentId, address: Address, port: PortIndex) {
        self.leave(group, address, port);
        self.members.insert((group, address.port, self.joined), address);
        self.turns.insert((port, group), self.joined);
        self.joined += 1;
    }

    /// Ends a channel's membership, if it is a member.
    pub(crate) fn leave(&mut self, group: ComponentId, address: Address, port: PortIndex) {
        if let Some(turn) = self.turns.remove(&(port, group)) {
            self.members.remove(&(group, address.port, turn));
        }
    }

    /// Ends all memberships of a channel.
    #[inline]
    pub(crate) fn leave_all(&mut self, address: Address, port: PortIndex) {
        if !self.turns.is_empty() {
            self.leave_each(address, port);
        }
    }

    #[cold]
    fn leave_each(&mut self, address: Address, port: PortIndex) {
        let all = (port, ComponentId(0))..=(port, ComponentId(u32::MAX));
        while let Some((&(_, group), _)) = self.turns.range(all.clone()).next() {
            self.leave(group, address, port);
        }
    }

    /// Returns the members of a group with this port number, in the order of joining.
    pub(crate) fn members(&self, group: ComponentId, port: u16) -> impl Iterator<Item = Address> {
        self.members.range((group, port, 0)..=(group, port, u64::MAX)).map(|(_, &member)| member)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::Ports;

    #[test]
    fn members_stand_in_the_order_of_joining_and_a_closed_port_is_in_no_group() {
        let mut ports = Ports::new();
        let mut channel = |component: u32, port| {
            ports.add_component();
            let address = Address { component: ComponentId(component), port };
            (address, ports.open(address).expect("it is closed"))
        };
        let [a, b, c, other_port] = [channel(0, 1), channel(1, 1), channel(2, 1), channel(3, 2)];
        let mut groups = Groups::default();
        let [one, two] = ["one", "two"].map(|name| groups.add(name));
        assert_eq!([groups.name(one), groups.name(two)], ["one", "two"]);
        for (address, port) in [c, other_port, a, b] {
            groups.join(one, address, port);
            groups.join(two, address, port);
        }
        let members = |groups: &Groups, group, port| groups.members(group, port).collect::<Vec<_>>();
        assert_eq!(members(&groups, one, 1), [c.0, a.0, b.0]);
        assert_eq!(members(&groups, one, 2), [other_port.0]);
        // Who joins again is the last.
        groups.join(one, c.0, c.1);
        assert_eq!(members(&groups, one, 1), [a.0, b.0, c.0]);
        groups.leave(one, b.0, b.1);
        groups.leave(one, b.0, b.1);
        assert_eq!((members(&groups, one, 1), members(&groups, two, 1)), (vec![a.0, c.0], vec![c.0, a.0, b.0]));
        groups.leave_all(a.0, a.1);
        assert_eq!((members(&groups, one, 1), members(&groups, two, 1)), (vec![c.0], vec![c.0, b.0]));
        for (address, port) in [b, c, other_port] {
            groups.leave_all(address, port);
        }
        assert!(groups.members.is_empty());
        assert!(groups.turns.is_empty());
    }
}
