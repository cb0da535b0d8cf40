//! From syntax to a control-flow graph.
//!
//! [`Lowering`] walks a function body in the order of evaluation. A [`Control`] is where control is: inside a block, or
//! on its way out of several. A block is made only when there is code for it, with edges from all that is on its way.

mod blocks;
mod branching;
mod conditions;
mod control;
mod expressions;
mod loops;
mod shapes;
mod statements;

use super::bindings::Signature;
use super::blocks::Graph;
use super::events::{Anchor, Flow};
use super::sites::ProbeSite;
use super::walk::Walk;
use crate::syntax::parts::range_of;
use crate::syntax::source::FunctionSource;
use control::{Control, Loop};

/// A function as a graph, with all that may be measured of it.
#[derive(Debug)]
pub(crate) struct Lowered {
    pub(crate) graph: Graph,
    /// The definitions and uses in its blocks.
    pub(crate) flow: Flow,
    /// Where the probes of its blocks and branches stand, in the order in which they were found.
    pub(crate) sites: Vec<ProbeSite>,
}

/// Returns the graph of a function, with what happens in it.
pub(crate) fn lower(function: &FunctionSource) -> Lowered {
    let signature = Signature::new(&function.signature, function.self_type.as_deref());
    let body = &function.body;
    let mut lowering =
        Lowering { graph: Graph::default(), sites: Vec::new(), loops: Vec::new(), walk: Walk::new(&signature) };
    let start = body.brace_token.span.open().byte_range().end;
    let entry = lowering.new_block(Vec::new(), start..start, Anchor::Insert(start), true);
    let parameters = lowering.walk.bind_names(signature.parameters);
    lowering.bind_in(entry, &Anchor::Insert(start), &parameters);
    let end = lowering.block(body, Control::In(entry));
    lowering.leave(end);
    for block in &mut lowering.graph.blocks {
        if block.range.is_empty() && block.range.start == start {
            block.range = range_of(body);
        }
    }
    Lowered { graph: lowering.graph, flow: lowering.walk.flow, sites: lowering.sites }
}

#[derive(Debug)]
struct Lowering {
    graph: Graph,
    sites: Vec<ProbeSite>,
    loops: Vec<Loop>,
    walk: Walk,
}
