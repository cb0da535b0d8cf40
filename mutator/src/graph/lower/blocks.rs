//! Blocks, edges and branches, and the probes that note them.

use std::ops::Range;

use simutant_outcomes::BranchOutcome;

use super::Lowering;
use super::control::{Exit, Flow, Probe};
use crate::dataflow::{Anchor, EventId, Wrap, Wrapped};
use crate::graph::{BasicBlock, BlockId, BranchSite, Edge};
use crate::text::edit::{COVERING, Edit, Piece};

impl Lowering<'_> {
    pub(super) fn new_block(
        &mut self,
        exits: Vec<Exit>,
        range: Range<usize>,
        probe: Probe,
        is_entered: bool,
    ) -> BlockId {
        let block = self.graph.blocks.len();
        self.graph.blocks.push(BasicBlock { range, is_entered });
        self.connect(exits, Some(block));
        self.walk.cursor = is_entered.then(|| probe.anchor());
        if is_entered {
            self.walk.flow.starts.insert(block, probe.anchor());
            let number = self.requirements;
            self.requirements += 1;
            let Some(&Some(number)) = self.outcomes.blocks.get(number) else { return block };
            self.edits.push(match probe {
                Probe::Insert(at) => {
                    Edit::insert(at, COVERING, vec![format!(" ::simutant_probe::mark({number}); ").into()])
                }
                Probe::Before(range) => Edit::wrap(
                    range,
                    COVERING,
                    vec![format!("(::simutant_probe::mark({number}), ").into()],
                    vec![").1".into()],
                ),
                Probe::Body(range) => Edit::wrap(
                    range,
                    COVERING,
                    vec![format!("{{ ::simutant_probe::mark({number}); ").into()],
                    vec![" }".into()],
                ),
                Probe::After(range) => Edit::wrap(
                    range,
                    COVERING,
                    vec![format!("::simutant_probe::pass({number}, ").into()],
                    vec![")".into()],
                ),
            });
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
    pub(super) fn leave(&mut self, flow: Flow) {
        self.connect(flow.into_exits(), None);
    }

    /// Returns the block that code at `range` belongs to, made if control is not in one.
    pub(super) fn enter(&mut self, flow: Flow, range: Range<usize>, probe: Probe) -> BlockId {
        match flow {
            Flow::In(block) => {
                self.extend(block, range);
                block
            }
            Flow::On(exits) => {
                let is_entered = !exits.is_empty();
                self.new_block(exits, range, probe, is_entered)
            }
        }
    }

    pub(super) fn extend(&mut self, block: BlockId, range: Range<usize>) {
        let known = &mut self.graph.blocks[block].range;
        *known = if known.start == known.end { range } else { known.start.min(range.start)..known.end.max(range.end) };
    }

    /// A statement that is in one block as a whole is shown as a whole.
    pub(super) fn cover_if_whole(&mut self, block: BlockId, end: &Flow, range: Range<usize>) {
        if matches!(end, Flow::In(last) if *last == block) {
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
            let text = self.noting(branches);
            self.edits.push(Edit::insert(at, COVERING, vec![text]));
        }
    }

    pub(super) fn noting(&self, branches: &[usize]) -> Piece {
        let mut text = String::new();
        for branch in branches {
            text.push_str(&format!(" ::simutant_probe::mark({}); ", self.outcomes.first_branch + branch));
            text.push_str(self.outcomes.notes.get(branch).map_or("", String::as_str));
        }
        text.into()
    }

    pub(super) fn wrap_call(&mut self, wrapped: Wrapped, branches: [usize; 2], range: Range<usize>) {
        self.walk.flow.wrapped.insert(branches[0], wrapped);
        let first = self.outcomes.first_branch + branches[0];
        let none = Wrap::default();
        let Wrap { held, is_selection, decision: (before, after) } =
            self.outcomes.wraps.get(&branches[0]).unwrap_or(&none);
        let (count, held) = (held.len(), held.join(", "));
        let (before, after) = match wrapped {
            Wrapped::Condition => {
                let function = if *is_selection { "select" } else { "branch" };
                (format!("::simutant_probe::{function}({before}"), format!("{after}, {first}, [{held}])"))
            }
            Wrapped::Attempt => ("::simutant_probe::question(".to_owned(), format!(", {first}, [{held}])")),
            Wrapped::Items => (format!("::simutant_probe::iterate::<{first}, {count}, _>("), format!(", [{held}])")),
        };
        self.edits.push(Edit::wrap(range, COVERING, vec![before.into()], vec![after.into()]));
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
