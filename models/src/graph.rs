//! What walks have covered as a graph: of states, or of paths (Wang, Artho, Kristensen and Stolz, 2019: "Visualization
//! and abstractions for execution paths in model-based software testing").
//!
//! [`Graph::of_states`] has a node for each state that walks have been in; [`Graph::of_paths`] lays the paths out beneath
//! each other, from one point on. Internal choices of actions are nodes, too. Four abstractions keep graphs small, and
//! each can be switched off: of these, [`Sharing`](crate::Sharing) has the two that a [`PathTrie`] makes, and
//! [`Abstractions`] the two that a graph makes. Without any they are the full graphs of the authors.
//!
//! A graph is plain data. [`Graph::to_dot`] writes it for Graphviz, and [`Graph::to_svg`] as a picture.

mod build;
mod dot;
mod layout;
mod svg;

use serde::{Deserialize, Serialize};

use crate::coverage::Coverage;
use crate::machine::Shape;
use crate::path::StepResult;
use crate::trie::PathTrie;

/// A graph of what walks have covered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Graph {
    /// Whether its nodes are states or points of paths.
    pub kind: Kind,
    /// The machines, in words.
    pub title: String,
    /// How many tests there were; 0 for a graph that is not of tests.
    pub tests: u64,
    /// The nodes; edges name them by their place.
    pub nodes: Vec<Node>,
    /// The edges.
    pub edges: Vec<Edge>,
}

/// The kind of a graph: the meaning of its nodes, besides choices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// States of machines.
    States,
    /// Points between the transitions of paths.
    Paths,
}

/// A node of a [`Graph`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// A state's name, a point's number, or the number of a chosen option.
    pub label: String,
    /// What a picture shows of it when it is pointed at, if more than the label.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// How often a choice was made; `None` for states and points.
    pub count: Option<u64>,
    /// Whether a machine, or a path, begins here.
    pub is_initial: bool,
    /// How many tests ended here.
    pub ends: u64,
}

/// What a [`Node`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeKind {
    /// A state of a machine.
    State,
    /// A point between two transitions of a path.
    Point,
    /// An option that an action chose.
    Choice,
    /// A transition of a Petri net.
    Transition,
}

/// An edge of a [`Graph`]: a transition, or the part of one that leads to a choice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Edge {
    /// The node that it leaves.
    pub from: usize,
    /// The node that it leads to.
    pub to: usize,
    /// What came of the transition.
    pub style: Style,
    /// Whether the transition changes no state: it leads back to its own, or was not taken.
    pub is_loop: bool,
    /// The transition's name, and for each node of the trie `trc : tpc`: how often a path repeated the transition at
    /// once (1 if it did not), and how many paths did so. If the transition's action chose, `×` and a number: how often
    /// it chose so. Nothing for the part of a transition that leads to a choice.
    pub label: String,
    /// How many paths, or choices, there were.
    pub count: u64,
    /// `ln(100 * count / tests + 1)`.
    pub thickness: f64,
}

/// How an [`Edge`] is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Style {
    /// The transition led to another state: black.
    Success,
    /// It led back to its own state: a black loop.
    SelfLoop,
    /// A precondition did not hold: dotted, blue.
    Backtracked,
    /// The test failed: red, and marked `(f)`. It is drawn to where it would have led.
    Failed,
    /// An exception or a condition led it to a state of its own: dotted, black, and marked `(e)`.
    Exceptional,
    /// The part of a transition that leads to a choice; what came of it is told by the last part.
    Part,
}

/// The abstractions of a [`Graph`]: the edges and choices of different paths that it merges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Abstractions {
    /// Whether a transition with the same result is one edge in all paths. Graphs of paths never do this: what paths
    /// have in common at their beginnings is for the trie to say.
    pub transitions: bool,
    /// What is shown of the choices of actions.
    pub choices: Choices,
}

/// What a [`Graph`] shows of the choices of actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choices {
    /// Nothing.
    Hidden,
    /// A chain of nodes for each sequence of choices.
    Apart,
    /// Sequences that begin alike share nodes, in a graph of states over all results of a transition.
    Merged,
}

impl Default for Abstractions {
    /// All of them.
    fn default() -> Self {
        Self { transitions: true, choices: Choices::Merged }
    }
}

impl Abstractions {
    /// None: with a trie that shares nothing, what full graphs have.
    pub const NONE: Self = Self { transitions: false, choices: Choices::Apart };
}

/// Which part of the paths is drawn: the transitions that this holds for, and what follows each in the trie. What is
/// `None` holds for all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// The machine and the transition.
    pub transition: Option<(u32, u32)>,
    /// Its result.
    pub result: Option<StepResult>,
    /// Its place in the path, repetitions not counted; the first transition is at 1.
    pub level: Option<usize>,
    /// The machine and the transition that come before it.
    pub parent: Option<(u32, u32)>,
}

/// The size of a [`Graph`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphMetrics {
    /// The nodes, choices included.
    pub nodes: usize,
    /// The edges.
    pub edges: usize,
    /// The edges of transitions that failed.
    pub failed: usize,
    /// The edges of transitions that change no state.
    pub loops: usize,
}

impl Graph {
    /// Returns the graph of the states that walks have been in.
    ///
    /// ```
    /// use simutant_models::{Abstractions, Graph, Machine, Walker, skip};
    ///
    /// let door = Machine::new("door", ["open", "shut", "locked"], [skip("open -> shut"), skip("shut -> locked")])?;
    /// let mut walker = Walker::new();
    /// (0..10).for_each(|seed| _ = walker.run(door.with(()), seed));
    /// let graph = Graph::of_states(walker.coverage(), Abstractions::default());
    /// assert_eq!((graph.metrics().nodes, graph.metrics().edges, graph.edges[0].count), (3, 2, 10));
    /// assert!(graph.to_dot().starts_with("digraph"));
    /// # Ok::<(), simutant_models::MachineError>(())
    /// ```
    pub fn of_states(coverage: &Coverage, abstractions: Abstractions) -> Self {
        let machines: Vec<&Shape> = coverage.machines().collect();
        Self::new(Kind::States, coverage.paths(), &machines, abstractions, &Selection::default())
    }

    /// Returns the graph of the paths of walks: all begin in one point, and where they differ they go to points of
    /// their own. As many points are final ones as there are distinct paths, except that a path that begins another
    /// one, or that ends with a loop, ends where others go on. With a trie in which only the same paths share nodes
    /// ([`Prefixes::SamePaths`](crate::Prefixes::SamePaths)), each has a line of its own.
    pub fn of_paths(coverage: &Coverage, abstractions: Abstractions) -> Self {
        let machines: Vec<&Shape> = coverage.machines().collect();
        Self::new(Kind::Paths, coverage.paths(), &machines, abstractions, &Selection::default())
    }

    /// Returns a graph of a trie, whose transitions are those of the machines, or of a part of it.
    pub fn new(
        kind: Kind,
        trie: &PathTrie,
        machines: &[&Shape],
        abstractions: Abstractions,
        selection: &Selection,
    ) -> Self {
        build::graph(kind, trie, machines, abstractions, selection)
    }

    /// Returns how large the graph is.
    pub fn metrics(&self) -> GraphMetrics {
        let count = |is_it: fn(&Edge) -> bool| self.edges.iter().filter(|edge| is_it(edge)).count();
        GraphMetrics {
            nodes: self.nodes.len(),
            edges: self.edges.len(),
            failed: count(|edge| edge.style == Style::Failed),
            loops: count(|edge| edge.is_loop),
        }
    }

    /// Returns the graph in the language of Graphviz.
    pub fn to_dot(&self) -> String {
        dot::write(self)
    }

    /// Returns the graph as a picture in SVG, which needs no other program and follows the reader's colour scheme.
    pub fn to_svg(&self) -> String {
        svg::write(self)
    }
}

impl Selection {
    /// Returns whether it selects everything.
    fn is_all(&self) -> bool {
        *self == Self::default()
    }
}
