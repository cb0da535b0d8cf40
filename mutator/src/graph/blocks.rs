//! Basic blocks, the edges between them, and the ways out of decisions.

use std::ops::Range;

use simutant_outcomes::BranchOutcome;

/// A block of a [`Graph`], by its index.
pub(crate) type BlockId = usize;

/// The control-flow graph of one function.
#[derive(Debug, Clone, Default)]
pub(crate) struct Graph {
    /// The basic blocks; the first is the entry.
    pub(crate) blocks: Vec<BasicBlock>,
    /// The edges, in the order in which they were found.
    pub(crate) edges: Vec<Edge>,
    /// The ways out of decisions.
    pub(crate) branches: Vec<BranchSite>,
}

/// Code that is executed from its first to its last byte, or not at all (unless it panics).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BasicBlock {
    /// The code, from its first to its last byte.
    pub(crate) range: Range<usize>,
    /// Whether control can come here, as far as syntax tells, so that the block is a requirement.
    pub(crate) is_entered: bool,
}

/// Control that can pass from one block to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Edge {
    /// Where it comes from.
    pub(crate) from: BlockId,
    /// Where it goes to, `None` if it leaves the function.
    pub(crate) to: Option<BlockId>,
    /// The branch that it is, as an index into [`Graph::branches`], if `from` ends in a decision.
    pub(crate) branch: Option<usize>,
    /// What patterns bind on the way, as an index into [`Flow::bindings`](super::events::Flow::bindings).
    pub(crate) binding: Option<usize>,
}

/// One way out of a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BranchSite {
    /// The code that decides.
    pub(crate) range: Range<usize>,
    /// Which way.
    pub(crate) outcome: BranchOutcome,
}

impl Graph {
    /// Returns the blocks that are requirements.
    pub(crate) fn requirements(&self) -> impl Iterator<Item = &BasicBlock> {
        self.blocks.iter().filter(|block| block.is_entered)
    }
}
