//! Routes: the links that a packet goes along, if the network knows which components are linked.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::invalid::Field;
use super::topology::{Forwarding, Topology};
use super::{InvalidNetwork, Names};
use crate::message::ComponentId;

/// The links between the components of a run.
#[derive(Debug, Clone)]
pub(super) struct Routes {
    forwarding: Forwarding,
    /// By component: its neighbours with the costs of the links, ascending.
    neighbours: Vec<Vec<(ComponentId, u32)>>,
    /// By destination: where each component sends what is to go there; found when the first packet goes there.
    next: Vec<OnceCell<Vec<Option<ComponentId>>>>,
}

impl Routes {
    pub(super) fn new(topology: &Topology, names: &Names<'_>) -> Result<Self, InvalidNetwork> {
        let field = Field::root("topology");
        let components_field = field.child("components");
        for (index, name) in topology.components.iter().flatten().enumerate() {
            names.find(name, &components_field.element(index))?;
        }
        // Only edges that are listed can have unknown ends: those of other shapes were made of known components.
        let shape_field = field.child("shape");
        let edges_field = shape_field.child("edges");
        let mut neighbours = vec![Vec::new(); names.len()];
        for (index, edge) in topology.edges(names.all()).iter().enumerate() {
            let edge_field = edges_field.element(index);
            let ends_field = edge_field.child("ends");
            let one = names.find(&edge.ends[0], &ends_field.element(0))?;
            let other = names.find(&edge.ends[1], &ends_field.element(1))?;
            neighbours[one.index()].push((other, edge.cost));
            neighbours[other.index()].push((one, edge.cost));
        }
        neighbours.iter_mut().for_each(|list| list.sort_unstable());
        let next = vec![OnceCell::new(); names.len()];
        Ok(Self { forwarding: topology.forwarding, neighbours, next })
    }

    /// Returns where a component sends a packet for another one; `None` if there is no way.
    pub(super) fn next(&self, component: ComponentId, destination: ComponentId) -> Option<ComponentId> {
        match self.forwarding {
            Forwarding::None => {
                let neighbours = &self.neighbours[component.index()];
                neighbours.binary_search_by_key(&destination, |(neighbour, _)| *neighbour).ok()?;
                Some(destination)
            }
            Forwarding::Cheapest => {
                self.next[destination.index()].get_or_init(|| self.towards(destination))[component.index()]
            }
        }
    }

    /// Returns where each component sends what is to go to the destination, by Dijkstra's algorithm from there.
    fn towards(&self, destination: ComponentId) -> Vec<Option<ComponentId>> {
        /// What a path is compared by: its cost, then how many links it has.
        type Length = (u64, u32);
        let mut lengths: Vec<Option<Length>> = vec![None; self.neighbours.len()];
        let mut next = vec![None; self.neighbours.len()];
        // Of paths of one length, the one through the neighbour that was heard of first comes first.
        let mut open = BinaryHeap::from([Reverse(((0, 0), destination, destination))]);
        while let Some(Reverse(((cost, links), through, component))) = open.pop() {
            if lengths[component.index()].is_some() {
                continue;
            }
            lengths[component.index()] = Some((cost, links));
            next[component.index()] = Some(through);
            for &(neighbour, link_cost) in &self.neighbours[component.index()] {
                if lengths[neighbour.index()].is_none() {
                    open.push(Reverse(((cost + u64::from(link_cost), links + 1), component, neighbour)));
                }
            }
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Edge;

    fn routes(edges: &[(&str, u32)], forwarding: Forwarding) -> (Routes, Vec<String>) {
        let names: Vec<String> = ["a", "b", "c", "d", "e", "f"].map(str::to_owned).to_vec();
        let edge = |(ends, cost): &(&str, u32)| Edge { cost: *cost, ..Edge::new(&ends[..1], &ends[1..]) };
        let topology = Topology { forwarding, ..Topology::of_edges(edges.iter().map(edge)) };
        (Routes::new(&topology, &Names::new(&names)).expect("its components are known"), names)
    }

    /// Checks the path that packets take, written as `abc`; empty if there is none.
    #[track_caller]
    fn check(edges: &[(&str, u32)], forwarding: Forwarding, ends: &str, expect: &str) {
        let (routes, names) = routes(edges, forwarding);
        let find = |name: &str| Names::new(&names).find(name, &Field::root("test")).expect("it is known");
        let (mut at, destination) = (find(&ends[..1]), find(&ends[1..]));
        let mut path = ends[..1].to_owned();
        while at != destination {
            let Some(next) = routes.next(at, destination) else {
                path.clear();
                break;
            };
            at = next;
            path.push_str(&names[at.index()]);
        }
        assert_eq!(path, expect);
    }

    #[test]
    fn packets_go_along_the_cheapest_path() {
        let edges = [("ab", 1), ("bc", 1), ("cd", 1), ("ad", 5), ("de", 1)];
        check(&edges, Forwarding::Cheapest, "ad", "abcd");
        check(&edges, Forwarding::Cheapest, "da", "dcba");
        check(&edges, Forwarding::Cheapest, "ae", "abcde");
        check(&edges, Forwarding::Cheapest, "af", "");
        check(&[("ab", u32::MAX), ("bc", u32::MAX)], Forwarding::Cheapest, "ac", "abc");
    }

    #[test]
    fn of_equal_costs_the_fewest_links_then_the_first_neighbour() {
        check(&[("ab", 1), ("bd", 1), ("ad", 2)], Forwarding::Cheapest, "ad", "ad");
        check(&[("ac", 1), ("cd", 1), ("ab", 1), ("bd", 1)], Forwarding::Cheapest, "ad", "abd");
        check(&[("ac", 2), ("cd", 1), ("ab", 1), ("bd", 2)], Forwarding::Cheapest, "ad", "abd");
        // Both paths cost 3, but this one has fewer links.
        check(&[("ab", 1), ("be", 1), ("ef", 1), ("ac", 2), ("cf", 1)], Forwarding::Cheapest, "af", "acf");
    }

    #[test]
    fn without_forwarding_only_neighbours_are_reached() {
        let edges = [("ab", 1), ("bc", 1)];
        check(&edges, Forwarding::None, "ab", "ab");
        check(&edges, Forwarding::None, "cb", "cb");
        check(&edges, Forwarding::None, "ac", "");
    }
}
