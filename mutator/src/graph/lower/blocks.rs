//! Blocks, edges and branches, and the probes that note them.

use std::ops::Range;

use simutant_outcomes::BranchOutcome;

use super::Lowering;
use super::control::{Control, Exit};
use crate::graph::blocks::{BasicBlock, BlockId, BranchSite, Edge};
use crate::graph::events::{Anchor, EventId, Wrapped};
use crate::graph::sites::{ProbeSite, Side};

impl Lowering {
    pub(super) fn new_block(
        &mut self,
        exits: Vec<Exit>,
        range: Range<usize>,
        anchor: Anchor,
        is_entered: bool,
    ) -> BlockId {
        let block = self.graph.blocks.len();
        self.graph.blocks.push(BasicBlock { range, is_entered });
        self.connect(exits, Some(block));
        self.walk.cursor = is_entered.then(|| anchor.clone());
        if is_entered {
            self.walk.flow.starts.insert(block, anchor.clone());
            self.sites.push(ProbeSite::Block(anchor));
        }
        block
    }

    pub(super) fn connect(&mut self, exits: Vec<Exit>, to: Option<BlockId>) {
        self.graph.edges.extend(exits.into_iter().map(|Exit { from, branch, binding }| Edge {
            from,
            to,
            branch,
            binding,
        }));
    }

    /// Control leaves the function.
    pub(super) fn leave(&mut self, flow: Control) {
        self.connect(flow.into_exits(), None);
    }

    /// Returns the block that code at `range` belongs to, made if control is not in one.
    pub(super) fn enter(&mut self, flow: Control, range: Range<usize>, anchor: Anchor) -> BlockId {
        match flow {
            Control::In(block) => {
                self.extend(block, range);
                block
            }
            Control::On(exits) => {
                let is_entered = !exits.is_empty();
                self.new_block(exits, range, anchor, is_entered)
            }
        }
    }

    pub(super) fn extend(&mut self, block: BlockId, range: Range<usize>) {
        let known = &mut self.graph.blocks[block].range;
        *known = if known.start == known.end { range } else { known.start.min(range.start)..known.end.max(range.end) };
    }

    /// A statement that is in one block as a whole is shown as a whole.
    pub(super) fn cover_if_whole(&mut self, block: BlockId, end: &Control, range: Range<usize>) {
        if matches!(end, Control::In(last) if *last == block) {
            self.extend(block, range);
        }
    }

    pub(super) fn new_branch(&mut self, range: Range<usize>, outcome: BranchOutcome) -> usize {
        self.graph.branches.push(BranchSite { range, outcome });
        self.graph.branches.len() - 1
    }

    /// Notes branches at the start of a block of statements.
    pub(super) fn note_at(&mut self, at: usize, branches: &[usize]) {
        if !branches.is_empty() {
            self.sites.push(ProbeSite::Branches(Side::Insert(at), branches.to_vec()));
        }
    }

    pub(super) fn wrap_call(&mut self, wrapped: Wrapped, branches: [usize; 2], range: Range<usize>) {
        self.walk.flow.wrapped.insert(branches[0], wrapped);
        self.sites.push(ProbeSite::Wrap { wrapped, first: branches[0], range });
    }

    /// Definitions that are made in a block.
    pub(super) fn bind_in(&mut self, block: BlockId, anchor: &Anchor, events: &[EventId]) {
        events.iter().for_each(|&event| self.walk.place(block, event));
        self.walk.anchor(anchor, events);
    }

    /// Definitions that are made on the way.
    pub(super) fn bind_on(&mut self, exits: &mut [Exit], events: &[EventId]) {
        for exit in exits {
            exit.binding = self.walk.bound(exit.binding, events);
        }
    }
}
