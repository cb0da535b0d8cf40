//! The paths of walks as a trie, with the counts of repeated transitions and of choices (Wang, Artho, Kristensen and
//! Stolz, 2019: "Visualization and abstractions for execution paths in model-based software testing").

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use crate::choices::ChoiceTries;
use crate::path::{StepResult, Taken};
use crate::rank::Rank;

/// Paths that begin alike share nodes; a transition that is repeated at once stays in one node.
#[derive(Debug, Clone)]
pub struct PathTrie {
    /// The first one is the root.
    nodes: Vec<TrieNode>,
    choices: ChoiceTries,
    edges: BTreeMap<Key, usize>,
    basis: Rank,
    /// The first node of each path, where only the same paths share nodes.
    paths: BTreeMap<Vec<Key>, usize>,
    sharing: Sharing,
    tests: u64,
}

/// The sharing of nodes between the paths of a [`PathTrie`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sharing {
    /// Which paths share nodes.
    pub prefixes: Prefixes,
    /// Whether a transition that is repeated at once stays in one node.
    pub repetitions: bool,
}

/// Which paths of a [`PathTrie`] share nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Prefixes {
    /// None.
    Apart,
    /// Those that are the same throughout, up to repetitions if these are shared: each distinct path has nodes of its own.
    /// The authors' graphs of paths are as large as those of such tries.
    SamePaths,
    /// All that begin alike, as far as they do.
    Shared,
}

/// What a node stands for: machine, transition, result.
pub(crate) type Key = (u32, u32, StepResult);

/// A transition in the paths that begin alike.
#[derive(Debug, Clone, Default)]
pub struct TrieNode {
    /// The machine, the transition and its result; nothing for the root.
    pub key: Option<(u32, u32, StepResult)>,
    /// For each number of repetitions in a path (1 if there was none), in ascending order, how many paths had it.
    pub repetitions: Vec<(u32, u64)>,
    /// How many paths ended here.
    pub ends: u64,
    /// The nodes that follow.
    pub children: Vec<usize>,
    /// The first choices of the transition's action.
    first_choice: Option<NonZeroU32>,
}

/// A choice that an action made, after the same choices before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// The number of the chosen option.
    pub option: u32,
    /// The choice before it, as its place among the choices of the node; `None` for the first one of an action.
    pub parent: Option<usize>,
    /// How often it was made.
    pub count: u64,
    /// How often it was the last one of the action.
    pub ends: u64,
}

/// Measures of the paths of a [`PathTrie`] that differ in more than repetitions. A transition that is repeated at once
/// counts once in a length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathMetrics {
    /// How many paths there are that differ in more than repetitions: the ends in the trie. The authors call them
    /// linearly independent.
    pub distinct: usize,
    /// How many paths are linearly independent (McCabe, 1976), as vectors of how often they have each transition with
    /// each result.
    pub basis: usize,
    /// The length of the longest one, in transitions, those that backtracked included.
    pub longest: usize,
    /// That of the shortest one.
    pub shortest: usize,
    /// The mean length: each distinct path counts once, however many tests took it.
    pub mean: f64,
    /// The standard deviation of lengths.
    pub deviation: f64,
}

impl Default for Sharing {
    /// All that can be.
    fn default() -> Self {
        Self { prefixes: Prefixes::Shared, repetitions: true }
    }
}

impl Default for PathTrie {
    fn default() -> Self {
        Self::sharing(Sharing::default())
    }
}

impl TrieNode {
    /// Returns how many paths have the node.
    pub fn paths(&self) -> u64 {
        self.repetitions.iter().map(|(_, paths)| paths).sum()
    }

    /// Returns how often the transition was tried here, repetitions included.
    pub fn tried(&self) -> u64 {
        self.repetitions.iter().map(|&(repeated, paths)| u64::from(repeated) * paths).sum()
    }
}

impl TrieNode {
    /// Counts a path with this number of repetitions; returns whether it is the first one.
    fn repeat(&mut self, repeated: u32) -> bool {
        let place = self.repetitions.partition_point(|&(known, _)| known < repeated);
        match self.repetitions.get_mut(place).filter(|(known, _)| *known == repeated) {
            Some((_, paths)) => {
                *paths += 1;
                false
            }
            None => {
                // Most nodes of a big trie have one.
                self.repetitions.reserve_exact(1);
                self.repetitions.insert(place, (repeated, 1));
                true
            }
        }
    }
}

impl PathTrie {
    /// Returns a trie without paths, which will share what `sharing` says. With nothing, every path has nodes of
    /// its own, and so has every repetition: graphs of it are full ones.
    pub fn sharing(sharing: Sharing) -> Self {
        let (nodes, choices) = (vec![TrieNode::default()], ChoiceTries::default());
        let (edges, paths) = (BTreeMap::new(), BTreeMap::new());
        Self { nodes, choices, edges, basis: Rank::default(), paths, sharing, tests: 0 }
    }

    /// Adds a path.
    pub fn add(&mut self, path: &[Taken]) {
        let (mut at, mut is_new) = (0, false);
        let mut rest = path;
        let same = (self.sharing.prefixes == Prefixes::SamePaths).then(|| self.runs(path));
        let begun = same.as_ref().and_then(|runs| self.paths.get(runs).copied());
        while let Some(first) = rest.first() {
            let key = key(first);
            let repeated = self.repeated(rest);
            let (run, after) = rest.split_at(repeated);
            rest = after;
            at = self.child(at, key, begun, &mut is_new);
            is_new |= self.nodes[at].repeat(repeated as u32);
            let first = &mut self.nodes[at].first_choice;
            run.iter().for_each(|taken| self.choices.add(first, &taken.choices));
        }
        self.nodes[at].ends += 1;
        self.tests += 1;
        if let (Some(runs), Some(&last)) = (same, self.nodes[0].children.last()) {
            self.paths.entry(runs).or_insert(last);
        }
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

    /// Returns how often a path begins with the same transition.
    fn repeated(&self, path: &[Taken]) -> usize {
        let repeated = path.iter().take_while(|taken| key(taken) == key(&path[0])).count();
        if self.sharing.repetitions { repeated } else { repeated.min(1) }
    }

    /// Returns what tells a path from others.
    fn runs(&self, path: &[Taken]) -> Vec<Key> {
        let mut keys: Vec<Key> = path.iter().map(key).collect();
        if self.sharing.repetitions {
            keys.dedup();
        }
        keys
    }

    /// Returns the node of a transition after `at`; `first` is that of the same path, if there is one.
    fn child(&mut self, at: usize, key: Key, first: Option<usize>, is_new: &mut bool) -> usize {
        let children = &self.nodes[at].children;
        let known = match self.sharing.prefixes {
            Prefixes::Apart => None,
            Prefixes::SamePaths if at == 0 => first,
            Prefixes::SamePaths => children.first().copied(),
            Prefixes::Shared => children.iter().copied().find(|&child| self.nodes[child].key == Some(key)),
        };
        if let Some(known) = known {
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

    /// Returns the choices of the actions of a node, in the order of their options, each after the one before it.
    pub fn choices(&self, node: &TrieNode) -> Vec<Choice> {
        self.choices.of(node.first_choice)
    }

    /// Returns how many paths were added.
    pub fn tests(&self) -> u64 {
        self.tests
    }

    /// Returns measures of the paths; `None` if there is none.
    ///
    /// ```
    /// use simutant_models::{Machine, Walker, skip};
    ///
    /// let ring = Machine::new("ring", ["on", "off"], [skip("on -> on"), skip("on -> off")])?;
    /// let mut walker = Walker::new();
    /// (0..50).for_each(|seed| _ = walker.run(ring.with(()), seed));
    /// let metrics = walker.coverage().paths().metrics().expect("there are paths");
    /// // However often a walk stays on, that is one transition of the path: it stays, or it does not.
    /// assert_eq!((metrics.distinct, metrics.shortest, metrics.longest), (2, 1, 2));
    /// # Ok::<(), simutant_models::MachineError>(())
    /// ```
    pub fn metrics(&self) -> Option<PathMetrics> {
        let mut lengths = Vec::new();
        let mut open = vec![(0, 0)];
        while let Some((node, depth)) = open.pop() {
            let TrieNode { ends, children, .. } = &self.nodes[node];
            lengths.extend((*ends > 0).then_some(depth));
            open.extend(children.iter().map(|&child| (child, depth + 1)));
        }
        let count = lengths.len() as f64;
        let mean = lengths.iter().sum::<usize>() as f64 / count;
        let variance = lengths.iter().map(|&length| (length as f64 - mean).powi(2)).sum::<f64>() / count;
        Some(PathMetrics {
            distinct: lengths.len(),
            basis: self.basis.count(),
            longest: *lengths.iter().max()?,
            shortest: *lengths.iter().min()?,
            mean,
            deviation: variance.sqrt(),
        })
    }
}

fn key(taken: &Taken) -> Key {
    (taken.machine, taken.transition, taken.result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::InstanceId;

    fn taken(transition: u32, choices: &[u32]) -> Taken {
        let (instance, result) = (InstanceId(0), StepResult::Succeeded);
        Taken { instance, machine: 0, transition, choices: choices.to_vec(), launched: 0, result, state: 0 }
    }

    fn trie(sharing: Sharing) -> PathTrie {
        // a -> b, b -> b, b -> c, c -> d, b -> e, as in the paper's example.
        let [ab, bb, bc, cd, be] = [0, 1, 2, 3, 4].map(|transition| taken(transition, &[]));
        let mut trie = PathTrie::sharing(sharing);
        trie.add(&[ab.clone(), bb.clone(), bc.clone(), cd.clone()]);
        trie.add(&[ab.clone(), bb.clone(), bb.clone(), bc, cd]);
        trie.add(&[ab, bb.clone(), bb, be]);
        trie
    }

    #[test]
    fn repetitions_are_counted_by_path() {
        let trie = trie(Sharing::default());
        assert_eq!(trie.nodes().len(), 6);
        let repeated = &trie.nodes()[2];
        assert_eq!(repeated.repetitions, [(1, 1), (2, 2)]);
        assert_eq!((repeated.paths(), repeated.tried()), (3, 5));
        let PathMetrics { distinct, basis, longest, shortest, mean, deviation } = trie.metrics().expect("has paths");
        assert_eq!((distinct, basis, longest, shortest, mean, deviation), (2, 3, 4, 3, 3.5, 0.5));
    }

    #[test]
    fn a_trie_that_shares_less_has_more_nodes() {
        let nodes = |prefixes, repetitions| trie(Sharing { prefixes, repetitions }).nodes().len() - 1;
        let all = [Prefixes::Apart, Prefixes::SamePaths, Prefixes::Shared];
        assert_eq!(all.map(|prefixes| nodes(prefixes, true)), [11, 7, 5]);
        assert_eq!(all.map(|prefixes| nodes(prefixes, false)), [13, 13, 8]);
    }

    #[test]
    fn the_same_paths_share_nodes_with_their_counts() {
        let trie = trie(Sharing { prefixes: Prefixes::SamePaths, repetitions: true });
        let root = &trie.nodes()[0];
        let counts: Vec<_> = root.children.iter().map(|&child| trie.nodes()[child].paths()).collect();
        assert_eq!(counts, [2, 1]);
        assert_eq!(trie.metrics().map(|metrics| metrics.distinct), Some(2));
    }

    #[test]
    fn a_path_that_begins_another_one_counts() {
        let mut trie = PathTrie::default();
        assert_eq!(trie.metrics(), None);
        trie.add(&[taken(0, &[])]);
        trie.add(&[taken(0, &[]), taken(1, &[])]);
        trie.add(&[taken(0, &[])]);
        let metrics = trie.metrics().expect("there are paths");
        assert_eq!((metrics.distinct, metrics.longest, metrics.shortest, metrics.mean), (2, 2, 1, 1.5));
    }

    #[test]
    fn choices_that_begin_alike_are_counted_together() {
        let mut trie = PathTrie::default();
        trie.add(&[taken(0, &[0, 1]), taken(0, &[0])]);
        trie.add(&[taken(0, &[0, 2])]);
        trie.add(&[taken(0, &[1])]);
        trie.add(&[taken(0, &[])]);
        let choice = |option, parent, count, ends| Choice { option, parent, count, ends };
        assert_eq!(
            trie.choices(&trie.nodes()[1]),
            [choice(0, None, 3, 1), choice(1, Some(0), 1, 1), choice(2, Some(0), 1, 1), choice(1, None, 1, 1),]
        );
        assert_eq!(trie.nodes()[1].tried(), 5);
    }
}
