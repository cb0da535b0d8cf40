//! The seven topologies, with the costs of their links and of their shortest paths.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Link, RouterId};

/// An arrangement of routers and links (Rutherford, PhD thesis, figure 4.1).
///
/// The costs are ours, as the thesis's text does not give those of the figure. They make the topologies with more than
/// one path differ in what the shortest one depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Topology {
    /// Two routers with a link.
    #[serde(rename = "duo")]
    Duo,
    /// Three routers in a row.
    #[serde(rename = "3-line")]
    Line3,
    /// Three routers in a circle. One link costs more than the way round.
    #[serde(rename = "3-cycle")]
    Cycle3,
    /// Four routers in a row.
    #[serde(rename = "4-line")]
    Line4,
    /// Router 1 in the middle of three others.
    #[serde(rename = "4-star")]
    Star4,
    /// Four routers in a circle. Between two of them, both ways round cost the same; between the others opposite each
    /// other, they do not.
    #[serde(rename = "4-cycle")]
    Cycle4,
    /// Four routers, each with a link to each other one. Two links cost more than a way round, one costs as much; to
    /// some routers, Dijkstra's algorithm knows longer paths before it finds the shortest one.
    #[serde(rename = "4-mesh")]
    Mesh4,
}

impl Topology {
    /// All topologies, in the order of the thesis.
    pub const ALL: [Self; 7] =
        [Self::Duo, Self::Line3, Self::Cycle3, Self::Line4, Self::Star4, Self::Cycle4, Self::Mesh4];

    /// Returns how many routers there are: their numbers are from 1 to this.
    pub fn router_count(self) -> u8 {
        match self {
            Self::Duo => 2,
            Self::Line3 | Self::Cycle3 => 3,
            Self::Line4 | Self::Star4 | Self::Cycle4 | Self::Mesh4 => 4,
        }
    }

    /// Returns the routers.
    pub fn routers(self) -> impl Iterator<Item = RouterId> {
        (1..=self.router_count()).map(RouterId)
    }

    /// Returns the links: two routers, and what it costs to send a message from one to the other, either way.
    pub fn links(self) -> &'static [(RouterId, RouterId, u32)] {
        const R1: RouterId = RouterId(1);
        const R2: RouterId = RouterId(2);
        const R3: RouterId = RouterId(3);
        const R4: RouterId = RouterId(4);
        match self {
            Self::Duo => &[(R1, R2, 3)],
            Self::Line3 => &[(R1, R2, 2), (R2, R3, 5)],
            Self::Cycle3 => &[(R1, R2, 1), (R2, R3, 2), (R3, R1, 5)],
            Self::Line4 => &[(R1, R2, 3), (R2, R3, 1), (R3, R4, 4)],
            Self::Star4 => &[(R1, R2, 2), (R1, R3, 4), (R1, R4, 1)],
            Self::Cycle4 => &[(R1, R2, 1), (R2, R3, 3), (R3, R4, 2), (R4, R1, 2)],
            Self::Mesh4 => &[(R1, R2, 1), (R1, R3, 3), (R1, R4, 5), (R2, R3, 1), (R2, R4, 2), (R3, R4, 1)],
        }
    }

    /// Returns the links of a router, as it sees them.
    pub fn neighbours(self, router: RouterId) -> impl Iterator<Item = Link> {
        let both_ways = |&(one, other, cost): &(RouterId, RouterId, u32)| [(one, other, cost), (other, one, cost)];
        let of_router = move |(from, to, cost)| (from == router).then_some(Link { to, cost });
        self.links().iter().flat_map(both_ways).filter_map(of_router)
    }

    /// Returns what the shortest path from one router to another costs. The table was made by hand from the picture, so
    /// that the oracle computes nothing that the routers compute.
    pub fn path_cost(self, from: RouterId, to: RouterId) -> u32 {
        let costs: &[&[u32]] = match self {
            Self::Duo => &[&[0, 3], &[3, 0]],
            Self::Line3 => &[&[0, 2, 7], &[2, 0, 5], &[7, 5, 0]],
            Self::Cycle3 => &[&[0, 1, 3], &[1, 0, 2], &[3, 2, 0]],
            Self::Line4 => &[&[0, 3, 4, 8], &[3, 0, 1, 5], &[4, 1, 0, 4], &[8, 5, 4, 0]],
            Self::Star4 => &[&[0, 2, 4, 1], &[2, 0, 6, 3], &[4, 6, 0, 5], &[1, 3, 5, 0]],
            Self::Cycle4 => &[&[0, 1, 4, 2], &[1, 0, 3, 3], &[4, 3, 0, 2], &[2, 3, 2, 0]],
            Self::Mesh4 => &[&[0, 1, 2, 3], &[1, 0, 1, 2], &[2, 1, 0, 1], &[3, 2, 1, 0]],
        };
        let index = |router: RouterId| usize::from(router.0) - 1;
        costs[index(from)][index(to)]
    }
}

/// The name that test cases have.
impl fmt::Display for Topology {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Duo => "duo",
            Self::Line3 => "3-line",
            Self::Cycle3 => "3-cycle",
            Self::Line4 => "4-line",
            Self::Star4 => "4-star",
            Self::Cycle4 => "4-cycle",
            Self::Mesh4 => "4-mesh",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Floyd and Warshall's algorithm.
    fn all_path_costs(topology: Topology) -> Vec<Vec<u32>> {
        const FAR: u32 = 1_000;
        let count = usize::from(topology.router_count());
        let mut costs = vec![vec![FAR; count]; count];
        (0..count).for_each(|router| costs[router][router] = 0);
        for &(one, other, cost) in topology.links() {
            let (one, other) = (usize::from(one.0) - 1, usize::from(other.0) - 1);
            (costs[one][other], costs[other][one]) = (cost, cost);
        }
        for over in 0..count {
            for from in 0..count {
                for to in 0..count {
                    costs[from][to] = costs[from][to].min(costs[from][over] + costs[over][to]);
                }
            }
        }
        costs
    }

    #[test]
    fn the_table_has_the_costs_of_the_shortest_paths() {
        for topology in Topology::ALL {
            let costs = all_path_costs(topology);
            for (from, row) in topology.routers().zip(&costs) {
                let table: Vec<u32> = topology.routers().map(|to| topology.path_cost(from, to)).collect();
                assert_eq!(&table, row, "{topology}, from {from}");
            }
        }
    }

    #[test]
    fn a_topology_has_the_links_that_its_name_says() {
        let counts = Topology::ALL.map(|topology| topology.links().len());
        assert_eq!(counts, [1, 2, 3, 3, 3, 4, 6]);
        for topology in Topology::ALL {
            for (index, &(one, other, cost)) in topology.links().iter().enumerate() {
                assert!(cost >= 1 && one != other, "{topology}");
                assert!(topology.routers().any(|router| router == one), "{topology}");
                assert!(topology.routers().any(|router| router == other), "{topology}");
                let same = |&(first, second, _): &(RouterId, RouterId, u32)| {
                    (first, second) == (one, other) || (second, first) == (one, other)
                };
                assert!(!topology.links()[..index].iter().any(same), "{topology} has a link twice");
            }
        }
    }

    #[test]
    fn some_links_are_on_no_shortest_path() {
        let avoided = |topology: Topology| {
            let is_avoided = |&&(one, other, cost): &&(RouterId, RouterId, u32)| topology.path_cost(one, other) < cost;
            topology.links().iter().filter(is_avoided).count()
        };
        assert_eq!(Topology::ALL.map(avoided), [0, 0, 1, 0, 0, 0, 2]);
    }

    #[test]
    fn a_topology_is_shown_as_files_have_it() {
        for topology in Topology::ALL {
            let json = serde_json::to_string(&topology).expect("it is plain data");
            assert_eq!(json, format!("\"{topology}\""));
        }
    }
}
