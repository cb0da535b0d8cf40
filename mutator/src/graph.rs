//! Control-flow graphs of functions, and the probes that measure their blocks and branches.
//!
//! A graph is made from syntax alone: short circuits, `match` arms and guards, `?`, loops with labels, early exits and
//! await points end basic blocks. Joins without code of their own are left out, so every block has code that a report
//! can show. The requirements of all-blocks are the blocks; those of all-branches are the edges that leave a decision
//! (Frankl and Weyuker, IEEE TSE 1988). The body of a closure or `async` block is a part of its function's graph,
//! entered from the block that makes it.
//!
//! Departures, each because the syntax leaves no place for a probe: in a condition that chains several `let`s, the
//! failures of the single patterns are one branch, that of the whole chain; code after a `return`, `break` or
//! `continue` in the same block is not a requirement.

mod lower;

use std::ops::Range;

use simutant_outcomes::BranchOutcome;

use crate::dataflow::{Flow, OutcomeProbes, Signature};
use crate::syntax::source::FunctionSource;
use crate::text::edit::Edit;

/// A block of a [`Graph`], by its index.
pub(crate) type BlockId = usize;

/// The control-flow graph of one function.
#[derive(Debug, Default)]
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
    /// What patterns bind on the way, as an index into [`Flow::bindings`](crate::dataflow::Flow::bindings).
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

/// A graph with the edits that measure it.
#[derive(Debug)]
pub(crate) struct Lowered {
    pub(crate) graph: Graph,
    /// The definitions and uses in its blocks.
    pub(crate) flow: Flow,
    /// Probes for the recording bodies.
    pub(crate) edits: Vec<Edit>,
}

impl Graph {
    /// Returns the graph of a function. `outcomes` says which marks its probes set, and is put into those of
    /// branches; what it is made of does not depend on it.
    pub(crate) fn lower(function: &FunctionSource, outcomes: &OutcomeProbes) -> Lowered {
        let signature = Signature::new(&function.signature, function.self_type.as_deref());
        lower::lower(&function.body, &signature, outcomes)
    }

    /// Returns the blocks that are requirements.
    pub(crate) fn requirements(&self) -> impl Iterator<Item = &BasicBlock> {
        self.blocks.iter().filter(|block| block.is_entered)
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use crate::test_support::requirements;

    #[test]
    fn a_join_without_code_is_no_block() {
        assert_snapshot!(requirements("fn f() { while a { if b { c(); } } }"));
    }

    #[test]
    fn short_circuits_are_decisions() {
        assert_snapshot!(requirements("fn f() { if a && !(b || c) { d(); } else if e { g() } let h = a || b; }"));
    }

    #[test]
    fn arms_guards_and_patterns_are_decisions() {
        assert_snapshot!(requirements(
            "fn f() { match a { X => b(), Y if c => {} _ => { d(); e() } } if let Some(g) = h { i() } match j { k => l } }"
        ));
    }

    #[test]
    fn loops_have_heads_and_ways_out() {
        assert_snapshot!(requirements(
            "fn f() { 'a: loop { for b in c { if d { continue 'a; } if e { break; } g() } if h { break; } } while let Some(i) = j() { k() } }"
        ));
    }

    #[test]
    fn question_marks_awaits_and_early_returns_end_blocks() {
        assert_snapshot!(requirements(
            "async fn f() { let a = b()?; c(d().await, e); let Some(g) = h else { return 1; }; if i { return 2; } j(); return 3; k() }"
        ));
    }

    #[test]
    fn closures_and_chains_of_patterns() {
        assert_snapshot!(requirements(
            "fn f() { a.map(|b| b + 1); if let Some(c) = d && e && let Some(g) = h() { i } else { j } }"
        ));
    }
}
