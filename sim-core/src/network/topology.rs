//! Topologies: which components have a link between them, and what it costs.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::InvalidNetwork;
use super::invalid::Field;
use crate::{Probability, Random};

/// The links between components.
///
/// A packet between components without a link goes along a path, or is lost, as [`Forwarding`] says. A component always
/// reaches itself. Components that are not part of the topology reach no others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Topology {
    /// How the components are linked.
    pub shape: Shape,
    /// The components that are, in an order that the shape gives a meaning to. If it is left out: all of the
    /// simulation, in the order in which it first heard of them. With a shape of edges it is left out, for they name
    /// their components.
    #[serde(default)]
    pub components: Option<Vec<String>>,
    /// Who finds the way of a packet between components without a link.
    #[serde(default)]
    pub forwarding: Forwarding,
}

/// The shape of the links between components. Links have cost 1 by default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Shape {
    /// Each with every other.
    Full,
    /// Each with the next.
    Line,
    /// Each with the next, and the last with the first.
    Ring,
    /// The first with every other.
    Star,
    /// A grid, filled row by row: each with its neighbours left, right, above and below. The last row may be short.
    Mesh {
        /// How many components a row has.
        columns: u32,
    },
    /// A random graph in which everyone reaches everyone: a spanning tree in which each component, in a random order,
    /// is linked with a random one before it, and each other pair independently with a probability (Erdos and Renyi's
    /// model G(n, p), with the tree added).
    Random {
        /// The probability of a link between two components that the tree leaves apart.
        edge_probability: Probability,
        /// Costs are from 1 to this, each equally likely.
        #[serde(default = "one")]
        cost_max: u32,
        /// Fixes the graph, whatever the seed of the simulation is.
        seed: u64,
    },
    /// These.
    Edges(Vec<Edge>),
}

/// A link between two components, for both directions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edge {
    /// The components.
    pub ends: [String; 2],
    /// What it costs to go this way.
    #[serde(default = "one")]
    pub cost: u32,
}

fn one() -> u32 {
    1
}

/// The part that routes a packet between components without a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Forwarding {
    /// The components themselves: the network loses it.
    #[default]
    None,
    /// The network: it goes along the path that costs the least, of such the one with the fewest links, and of such, at
    /// each component, to the neighbour that the simulation heard of first. Each link of the path does to it what it
    /// does to packets: it is lost if one loses it, arrives twice if one duplicates it, and each copy takes the
    /// latencies of all.
    Cheapest,
}

impl Edge {
    /// Returns a link of cost 1.
    pub fn new(one_end: &str, other_end: &str) -> Self {
        Self { ends: [one_end.to_owned(), other_end.to_owned()], cost: 1 }
    }
}

impl From<Shape> for Topology {
    fn from(shape: Shape) -> Self {
        Self { shape, components: None, forwarding: Forwarding::None }
    }
}

impl Topology {
    /// Returns the topology of these edges.
    pub fn of_edges(edges: impl IntoIterator<Item = Edge>) -> Self {
        Shape::Edges(edges.into_iter().collect()).into()
    }

    /// Returns the same topology with the network in charge of the ways.
    ///
    /// ```
    /// use simutant_sim_core::network::{Arrival, Edge, Fate, NetworkFates, Topology};
    /// use simutant_sim_core::{Network, VirtualDuration, VirtualTime};
    ///
    /// let line = Topology::of_edges([Edge::new("a", "b"), Edge::new("b", "c")]);
    /// let names = ["a", "b", "c"].map(str::to_owned);
    /// let fate = |topology| {
    ///     let network = Network { topology: Some(topology), ..Network::default() };
    ///     NetworkFates::new(&network, &names, 7).map(|mut fates| fates.draw(VirtualTime::ZERO, 0, 2, 0))
    /// };
    /// assert!(matches!(fate(line.clone())?, Fate::Dropped(_)));
    /// // Along two links of a millisecond each.
    /// let after = VirtualDuration::from_millis(2);
    /// assert_eq!(fate(line.forwarded())?, Fate::Delivered(Arrival { after, is_corrupted: false }));
    /// # Ok::<(), simutant_sim_core::InvalidNetwork>(())
    /// ```
    pub fn forwarded(self) -> Self {
        Self { forwarding: Forwarding::Cheapest, ..self }
    }

    /// Returns the links between the components of a simulation, given in the order in which it first heard of them.
    /// Each pair of components is in it once at most.
    ///
    /// ```
    /// use simutant_sim_core::network::{Edge, Shape, Topology};
    ///
    /// let mut edges = Topology::from(Shape::Mesh { columns: 2 }).edges(&["a", "b", "c"]);
    /// edges.sort();
    /// // The last row is short.
    /// assert_eq!(edges, [Edge::new("a", "b"), Edge::new("a", "c")]);
    /// ```
    pub fn edges<N: AsRef<str>>(&self, names: &[N]) -> Vec<Edge> {
        if let Shape::Edges(edges) = &self.shape {
            return edges.clone();
        }
        let names: Vec<&str> = match &self.components {
            Some(components) => components.iter().map(String::as_str).collect(),
            None => names.iter().map(AsRef::as_ref).collect(),
        };
        let edge = |(one, other, cost): (usize, usize, u32)| Edge { cost, ..Edge::new(names[one], names[other]) };
        self.shape.pairs(names.len()).into_iter().map(edge).collect()
    }

    pub(super) fn validate(&self, field: &Field<'_>) -> Result<(), InvalidNetwork> {
        let shape_field = field.child("shape");
        match &self.shape {
            Shape::Mesh { columns: 0 } => {
                return Err(shape_field.child("mesh").child("columns").refuse(0, "at least 1"));
            }
            Shape::Random { cost_max: 0, .. } => {
                return Err(shape_field.child("random").child("cost_max").refuse(0, "at least 1"));
            }
            Shape::Edges(edges) => validate_edges(edges, &shape_field.child("edges"))?,
            Shape::Full | Shape::Line | Shape::Ring | Shape::Star | Shape::Mesh { .. } | Shape::Random { .. } => {}
        }
        let components_field = field.child("components");
        if let (Shape::Edges(_), Some(components)) = (&self.shape, &self.components) {
            return Err(
                components_field.refuse(format_args!("{components:?}"), "left out, for edges name their components")
            );
        }
        let mut seen = BTreeSet::new();
        for (index, name) in self.components.iter().flatten().enumerate() {
            if !seen.insert(name) {
                return Err(components_field.element(index).refuse(format_args!("{name:?}"), "in the list once"));
            }
        }
        Ok(())
    }
}

fn validate_edges(edges: &[Edge], field: &Field<'_>) -> Result<(), InvalidNetwork> {
    let mut seen = BTreeSet::new();
    for (index, edge) in edges.iter().enumerate() {
        let field = field.element(index);
        let [one, other] = &edge.ends;
        let ends = format!("[{one:?}, {other:?}]");
        if one == other {
            return Err(field.child("ends").refuse(ends, "two components"));
        }
        if !seen.insert(if one < other { (one, other) } else { (other, one) }) {
            return Err(field.child("ends").refuse(ends, "in the list once, for either direction"));
        }
        if edge.cost == 0 {
            return Err(field.child("cost").refuse(0, "at least 1"));
        }
    }
    Ok(())
}

impl Shape {
    /// Returns the links between the components that are numbered from 0 to `count`, with their costs.
    fn pairs(&self, count: usize) -> Vec<(usize, usize, u32)> {
        let unit = |(one, other)| (one, other, 1);
        let line = (1..count).map(|other| (other - 1, other));
        match self {
            Self::Full => (0..count).flat_map(|one| (one + 1..count).map(move |other| (one, other, 1))).collect(),
            Self::Line => line.map(unit).collect(),
            // Of two components, the second link of the ring would be the first once more.
            Self::Ring => line.chain((count > 2).then(|| (count - 1, 0))).map(unit).collect(),
            Self::Star => (1..count).map(|other| (0, other, 1)).collect(),
            Self::Mesh { columns } => {
                let columns = *columns as usize;
                let right = |one: usize| (!(one + 1).is_multiple_of(columns)).then_some(one + 1);
                let neighbours = |one| right(one).into_iter().chain([one + columns]);
                let of_one = |one| neighbours(one).filter(|other| *other < count).map(move |other| (one, other, 1));
                (0..count).flat_map(of_one).collect()
            }
            Self::Random { edge_probability, cost_max, seed } => {
                let random = Random::from_seed(*seed);
                random_pairs(&random, count, *edge_probability, *cost_max)
            }
            Self::Edges(_) => unreachable!("its components have names"),
        }
    }
}

/// Every pair draws its chance and its cost whether it needs them or not, so that what is linked with some probability
/// is also linked, at the same cost, with any greater one.
fn random_pairs(random: &Random, count: usize, probability: Probability, cost_max: u32) -> Vec<(usize, usize, u32)> {
    let mut tree_random = random.stream("tree");
    let mut order: Vec<usize> = (0..count).collect();
    tree_random.shuffle(&mut order);
    let mut tree = BTreeSet::new();
    for (index, &one) in order.iter().enumerate().skip(1) {
        let other = order[tree_random.uniform(0..index)];
        tree.insert((one.min(other), one.max(other)));
    }
    let (mut edge_random, mut cost_random) = (random.stream("edges"), random.stream("costs"));
    let mut pairs = Vec::new();
    for one in 0..count {
        for other in one + 1..count {
            let is_linked = edge_random.chance(probability);
            let cost = cost_random.uniform(1..=cost_max);
            if is_linked || tree.contains(&(one, other)) {
                pairs.push((one, other, cost));
            }
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

    /// Checks the links of a shape of the first `count` components, written as `ab bc`.
    #[track_caller]
    fn check(shape: Shape, count: usize, expect: &str) {
        let edges = Topology::from(shape).edges(&NAMES[..count]);
        assert!(edges.iter().all(|edge| edge.cost == 1), "{edges:?}");
        let shown: Vec<String> = edges.iter().map(|edge| edge.ends.concat()).collect();
        assert_eq!(shown.join(" "), expect);
    }

    #[test]
    fn shapes_have_their_links() {
        check(Shape::Full, 4, "ab ac ad bc bd cd");
        check(Shape::Line, 4, "ab bc cd");
        check(Shape::Ring, 4, "ab bc cd da");
        check(Shape::Ring, 2, "ab");
        check(Shape::Star, 4, "ab ac ad");
        check(Shape::Mesh { columns: 2 }, 5, "ab ac bd cd ce");
        check(Shape::Mesh { columns: 1 }, 3, "ab bc");
        check(Shape::Mesh { columns: 9 }, 3, "ab bc");
        check(Shape::Edges(vec![Edge::new("d", "b")]), 0, "db");
        for shape in [Shape::Full, Shape::Line, Shape::Ring, Shape::Star, Shape::Mesh { columns: 2 }] {
            check(shape.clone(), 0, "");
            check(shape, 1, "");
        }
    }

    #[test]
    fn a_topology_of_some_components_leaves_the_others_out() {
        let components = Some(["e", "c", "a"].map(str::to_owned).to_vec());
        let topology = Topology { components, ..Shape::Star.into() };
        assert_eq!(topology.edges(&NAMES), [Edge::new("e", "c"), Edge::new("e", "a")]);
    }

    fn random(count: usize, probability: f64, cost_max: u32, seed: u64) -> Vec<Edge> {
        let edge_probability = Probability::new(probability).expect("a probability");
        let names: Vec<String> = (0..count).map(|number| number.to_string()).collect();
        Topology::from(Shape::Random { edge_probability, cost_max, seed }).edges(&names)
    }

    #[test]
    fn a_random_graph_is_connected_and_of_the_expected_size() {
        for seed in 0..20 {
            let edges = random(40, 0.1, 9, seed);
            let mut reached = BTreeSet::from(["0"]);
            let is_open = |edge: &&Edge, reached: &BTreeSet<&str>| {
                reached.contains(edge.ends[0].as_str()) != reached.contains(edge.ends[1].as_str())
            };
            while let Some(edge) = edges.iter().find(|edge| is_open(edge, &reached)) {
                reached.extend(edge.ends.each_ref().map(String::as_str));
            }
            assert_eq!(reached.len(), 40, "seed {seed}");
            assert!(edges.iter().all(|edge| (1..=9).contains(&edge.cost)));
            // 39 links of the tree, and each of the other 741 pairs with a probability of 0.1: four standard
            // deviations.
            assert!((edges.len() as f64 - 113.1).abs() < 4.0 * (741.0 * 0.09_f64).sqrt(), "{}", edges.len());
        }
        assert_ne!(random(40, 0.1, 9, 1), random(40, 0.1, 9, 2));
        assert_eq!(random(40, 0.0, 1, 3).len(), 39);
        assert_eq!(random(40, 1.0, 1, 3).len(), 780);
        let (few, many) = (random(30, 0.1, 9, 4), random(30, 0.3, 9, 4));
        assert!(few.iter().all(|edge| many.contains(edge)));
    }
}
