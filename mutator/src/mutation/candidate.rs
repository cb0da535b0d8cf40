//! A change that may become a mutant, and the point where the choice between it and the original is made.

use std::cmp::Reverse;
use std::ops::Range;

use simutant_outcomes::{Class, Tier};

use crate::operators::Change;
use crate::syntax::source::FunctionId;
use crate::text::edit::Piece;

/// The syntax that a mutation point has to keep. Where two points have the same range, the one that stands first here
/// is outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    /// An arm of a `match`: its pattern does not match in the mutant.
    Arm,
    /// The body of an arm: what is put in its place needs braces.
    ArmBody,
    Statement,
    Block,
    Expression,
    /// A `break` or `continue`, which has no value that could be handed on.
    Jump,
}

/// Where the choice between original and mutant is made.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Point {
    pub(crate) start: usize,
    pub(crate) end: Reverse<usize>,
    pub(crate) form: Form,
    /// For [`Form::Arm`]: its parts.
    pub(crate) arm: Option<ArmParts>,
    /// For an operation whose operands are evaluated before the choice, since its mutants combine their values: where
    /// they are. A choice among other mutants of it is outside.
    pub(crate) operation: Option<Operation>,
}

/// The operands of a binary operation, which stand at its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Operation {
    pub(crate) left_end: usize,
    pub(crate) right_start: usize,
    /// Whether the right operand is evaluated before the choice, and not only the left one.
    pub(crate) shares_right: bool,
}

/// The parts of an arm without a guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ArmParts {
    pub(crate) pattern_end: usize,
    pub(crate) body_start: usize,
    pub(crate) body_end: usize,
}

impl Point {
    pub(crate) fn new(range: &Range<usize>, form: Form) -> Self {
        Self { start: range.start, end: Reverse(range.end), form, arm: None, operation: None }
    }

    pub(crate) fn range(&self) -> Range<usize> {
        self.start..self.end.0
    }
}

/// A mutant that may or may not compile.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) operator: &'static str,
    pub(crate) tier: Tier,
    pub(crate) class: Class,
    pub(crate) tag: Option<&'static str>,
    /// What is changed; the point holds it.
    pub(crate) change: Change,
    pub(crate) point: Point,
    /// Where the choice is made, if that is not at the point.
    pub(crate) elsewhere: Option<Point>,
}

impl Candidate {
    pub(crate) fn range(&self) -> &Range<usize> {
        &self.change.range
    }

    /// Returns where the choice between original and mutant is made.
    pub(crate) fn choice(&self) -> &Point {
        self.elsewhere.as_ref().unwrap_or(&self.point)
    }

    /// Returns how many bytes of source are copied for its choice alone.
    pub(crate) fn copied_bytes(&self) -> usize {
        self.elsewhere.as_ref().filter(|choice| choice.operation.is_none()).map_or(0, |choice| choice.range().len())
    }

    /// Returns what stands at the point in the mutant.
    pub(crate) fn pieces(&self) -> Vec<Piece> {
        let point = self.point.range();
        if point == self.change.range {
            return self.change.replacement.clone();
        }
        let mut pieces = vec![Piece::Source(point.start..self.change.range.start)];
        pieces.extend(self.change.replacement.iter().cloned());
        pieces.push(Piece::Source(self.change.range.end..point.end));
        pieces
    }

    /// Whether nothing is left of what is changed.
    pub(crate) fn is_deletion(&self) -> bool {
        match &self.change.replacement[..] {
            [] => true,
            [Piece::Text(text)] => matches!(text.as_str(), "" | "{}"),
            _ => false,
        }
    }
}

/// A candidate, and the function or the constant that it is in.
#[derive(Debug)]
pub(crate) struct PlacedCandidate {
    pub(crate) file: usize,
    /// Index into the file's functions; `None` for a candidate in a constant's value.
    pub(crate) function: Option<usize>,
    pub(crate) candidate: Candidate,
    pub(crate) identity: String,
}

impl PlacedCandidate {
    /// Returns the function that it is in, if it is in one.
    pub(crate) fn function_id(&self) -> Option<FunctionId> {
        Some(FunctionId { file: self.file, index: self.function? })
    }
}
