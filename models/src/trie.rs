//! The paths of walks as a trie, with the counts of repeated transitions (Wang, Artho, Kristensen and Stolz, 2019:
//! "Visualization and abstractions for execution paths in model-based software testing").

use std::collections::BTreeMap;

use crate::path::{StepResult, Taken};
use crate::rank::Rank;

/// Paths that begin alike share nodes; a transition that is repeated at once stays in one node.
#[derive(Debug, Clone)]
pub struct PathTrie {
    /// The first one is the root.
    nodes: Vec<TrieNode>,
    edges: BTreeMap<Key, usize>,
    basis: Rank,
    lengths: Lengths,
}

/// What a node stands for: machine, transition, result.
type Key = (u32, u32, StepResult);

/// A transition in the paths that begin alike.
#[derive(Debug, Clone, Default)]
pub struct TrieNode {
    /// The machine, the transition and its result; nothing for the root.
    pub key: Option<(u32, u32, StepResult)>,
    /// For each number of repetitions in a path (1 if there was none), how many paths had it.
    pub repetitions: BTreeMap<u32, u64>,
    /// How many paths ended here.
    pub ends: u64,
    /// The nodes that follow.
    pub children: Vec<usize>,
}

/// Measures of the paths of a [`PathTrie`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathMetrics {
    /// How many paths there are that differ in more than repetitions: the ends in the trie. The authors call them
    /// linearly independent.
    pub distinct: usize,
    /// How many paths are linearly independent (McCabe, 1976), as vectors of how often they have each transition with
    /// each result.
    pub basis: usize,
    /// The length of the longest path, in transitions, those that backtracked included.
    pub longest: usize,
    /// That of the shortest one.
    pub shortest: usize,
    /// The mean length.
    pub mean: f64,
    /// The standard deviation of lengths.
    pub deviation: f64,
}

/// Lengths of paths so far.
#[derive(Debug, Clone, Copy, Default)]
struct Lengths {
    count: u64,
    sum: f64,
    squares: f64,
    longest: usize,
    shortest: usize,
}

impl Default for PathTrie {
    fn default() -> Self {
        let lengths = Lengths { shortest: usize::MAX, ..Lengths::default() };
        Self { nodes: vec![TrieNode::default()], edges: BTreeMap::new(), basis: Rank::default(), lengths }
    }
}

impl PathTrie {
    /// Adds a path.
    pub fn add(&mut self, path: &[Taken]) {
        let (mut at, mut is_new) = (0, false);
        let mut rest = path;
        while let Some(first) = rest.first() {
            let key = key(first);
            let repeated = rest.iter().take_while(|taken| self::key(taken) == key).count();
            rest = &rest[repeated..];
            at = self.child(at, key, &mut is_new);
            let count = self.nodes[at].repetitions.entry(repeated as u32).or_insert(0);
            is_new |= *count == 0;
            *count += 1;
        }
        self.nodes[at].ends += 1;
        self.lengths.add(path.len());
        // The counts of all others are known.
        if is_new {
            let mut vector = vec![0; self.edges.len()];
            for taken in path {
                let next = self.edges.len();
                let edge = *self.edges.entry(key(taken)).or_insert(next);
                vector.resize(vector.len().max(edge + 1), 0);
                vector[edge] += 1;
            }
            self.basis.add(vector);
        }
    }

    fn child(&mut self, at: usize, key: Key, is_new: &mut bool) -> usize {
        let children = &self.nodes[at].children;
        if let Some(&known) = children.iter().find(|&&child| self.nodes[child].key == Some(key)) {
            return known;
        }
        *is_new = true;
        self.nodes.push(TrieNode { key: Some(key), ..TrieNode::default() });
        let child = self.nodes.len() - 1;
        self.nodes[at].children.push(child);
        child
    }

    /// Returns the nodes; the first one is the root.
    pub fn nodes(&self) -> &[TrieNode] {
        &self.nodes
    }

    /// Returns measures of the paths; `None` if there is none.
    pub fn metrics(&self) -> Option<PathMetrics> {
        let Lengths { count, sum, squares, longest, shortest } = self.lengths;
        let mean = if count > 0 { sum / count as f64 } else { return None };
        let variance = (squares / count as f64 - mean * mean).max(0.0);
        Some(PathMetrics {
            distinct: self.nodes.iter().filter(|node| node.ends > 0).count(),
            basis: self.basis.count(),
            longest,
            shortest,
            mean,
            deviation: variance.sqrt(),
        })
    }
}

impl Lengths {
    fn add(&mut self, length: usize) {
        self.count += 1;
        self.sum += length as f64;
        self.squares += (length * length) as f64;
        self.longest = self.longest.max(length);
        self.shortest = self.shortest.min(length);
    }
}

fn key(taken: &Taken) -> Key {
    (taken.machine, taken.transition, taken.result)
}
