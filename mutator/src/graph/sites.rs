//! Where the probes of blocks and branches stand, whatever they will be made of.

use std::ops::Range;

use super::events::{Anchor, Wrapped};

/// A place for a probe of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ProbeSite {
    /// Where the next block begins that is a requirement.
    Block(Anchor),
    /// Where branches are noted that no probe around a condition can note.
    Branches(Side, Vec<usize>),
    /// Around what has two ways out.
    Wrap {
        wrapped: Wrapped,
        /// The first of its two branches.
        first: usize,
        range: Range<usize>,
    },
}

/// Where one side of a decision begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Side {
    /// Between statements.
    Insert(usize),
    /// Before an operand or a guard.
    Operand(Range<usize>),
    /// Before an expression that becomes the value of a block.
    Body(Range<usize>),
    /// In the `else` that this `if` does not have.
    Else(Range<usize>),
    /// In the `else` of a `while let`, which has no place for one: it becomes a `loop` with an `if let`.
    LoopElse { keyword: Range<usize>, range: Range<usize> },
}
