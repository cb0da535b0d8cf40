//! What a router knows of the network: the link state of each router that it has heard of.

use std::collections::BTreeMap;

use super::packet::{LinkState, LinkTo, RouterNumber};

/// The link states, by their origins.
#[derive(Debug, Clone, Default)]
pub struct Network {
    states: BTreeMap<RouterNumber, LinkState>,
}

impl Network {
    /// Returns the sequence number of what is known of a router.
    pub fn sequence(&self, origin: RouterNumber) -> Option<u32> {
        self.states.get(&origin).map(|state| state.sequence)
    }

    /// Puts a link state in the place of what was known of its origin.
    pub fn store(&mut self, state: LinkState) {
        self.states.insert(state.origin, state);
    }

    /// Returns all that is known, in the order of the routers' numbers.
    pub fn states(&self) -> impl Iterator<Item = &LinkState> {
        self.states.values()
    }

    /// Returns the links from a router to others that tell of a link back.
    pub fn links(&self, from: RouterNumber) -> impl Iterator<Item = LinkTo> {
        let told = |origin| self.states.get(&origin).map_or(&[][..], |state| &state.links);
        let leads_back = move |link: &LinkTo| told(link.to).iter().any(|back| back.to == from);
        told(from).iter().copied().filter(leads_back)
    }

    /// Returns a network of these links, each of which both ends tell of.
    #[cfg(test)]
    pub(super) fn of(links: &[(RouterNumber, RouterNumber, u16)]) -> Self {
        let mut network = Self::default();
        for &(one, other, cost) in links {
            for (origin, to) in [(one, other), (other, one)] {
                let empty = || LinkState { origin, sequence: 1, links: Vec::new() };
                network.states.entry(origin).or_insert_with(empty).links.push(LinkTo { to, cost });
            }
        }
        network
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_counts_if_both_ends_tell_of_it() {
        let mut network = Network::default();
        network.store(LinkState { origin: 1, sequence: 1, links: vec![LinkTo { to: 2, cost: 3 }] });
        assert_eq!(network.links(1).count(), 0);
        network.store(LinkState { origin: 2, sequence: 1, links: Vec::new() });
        assert_eq!(network.links(1).count(), 0);
        network.store(LinkState { origin: 2, sequence: 2, links: vec![LinkTo { to: 1, cost: 3 }] });
        assert_eq!(network.links(1).collect::<Vec<_>>(), [LinkTo { to: 2, cost: 3 }]);
        assert_eq!((network.sequence(2), network.sequence(3)), (Some(2), None));
        assert_eq!(network.links(3).count(), 0);
    }
}
