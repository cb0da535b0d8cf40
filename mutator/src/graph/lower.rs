//! From syntax to a control-flow graph.
//!
//! [`Lowering`] walks a function body in the order of evaluation. A [`Flow`] is where control is: inside a block, or on
//! its way out of several. A block is made only when there is code for it, with edges from all that is on its way.

mod blocks;
mod branching;
mod conditions;
mod control;
mod expressions;
mod loops;
mod shapes;
mod statements;

use syn::Block;

use super::{Graph, Lowered};
use crate::dataflow::{Anchor, OutcomeProbes, Signature, Walk};
use crate::syntax::parts::range_of;
use crate::text::edit::Edit;
use control::{Flow, Loop, Probe};

pub(super) fn lower(body: &Block, signature: &Signature, outcomes: &OutcomeProbes) -> Lowered {
    let mut lowering = Lowering {
        graph: Graph::default(),
        edits: Vec::new(),
        loops: Vec::new(),
        requirements: 0,
        walk: Walk::new(signature),
        outcomes,
    };
    let start = body.brace_token.span.open().byte_range().end;
    let entry = lowering.new_block(Vec::new(), start..start, Probe::Insert(start), true);
    let parameters = lowering.walk.bind_names(signature.parameters.clone());
    lowering.bind_in(entry, &Anchor::Insert(start), &parameters);
    let end = lowering.block(body, Flow::In(entry));
    lowering.leave(end);
    for block in &mut lowering.graph.blocks {
        if block.range.is_empty() && block.range.start == start {
            block.range = range_of(body);
        }
    }
    Lowered { graph: lowering.graph, flow: lowering.walk.flow, edits: lowering.edits }
}

#[derive(Debug)]
struct Lowering<'a> {
    graph: Graph,
    edits: Vec<Edit>,
    loops: Vec<Loop>,
    /// How many blocks are requirements so far.
    requirements: usize,
    walk: Walk,
    /// What is put into the probes of branches.
    outcomes: &'a OutcomeProbes,
}
