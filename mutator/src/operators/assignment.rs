//! ASR, assignment operator replacement: a compound assignment becomes another of its class.
//!
//! Source: muJava's ASRS. Arithmetic ones follow AOR; `&= |= ^=` become the other two; `<<= >>=` each other. ASRS is
//! the same with all four for each arithmetic one, under muJava's name.

use simutant_outcomes::Tier;
use syn::{BinOp, Expr};

use super::arithmetic::others;
use super::{Change, Context, Definition, Operator, Piece, Place, range_of};

#[derive(Debug)]
pub(super) struct AssignmentOperatorReplacement;

impl Operator for AssignmentOperatorReplacement {
    fn name(&self) -> &'static str {
        "ASR"
    }

    fn changes(&self, place: Place<'_>, context: &Context<'_>) -> Vec<Change> {
        changes(place, context.definition)
    }
}

/// The operator that muJava calls ASRS.
#[derive(Debug)]
pub(super) struct ShortcutAssignmentReplacement;

impl Operator for ShortcutAssignmentReplacement {
    fn name(&self) -> &'static str {
        "ASRS"
    }

    fn tier(&self) -> Tier {
        Tier::C
    }

    fn changes(&self, place: Place<'_>, _context: &Context<'_>) -> Vec<Change> {
        changes(place, Definition::MuJava)
    }
}

fn changes(place: Place<'_>, definition: Definition) -> Vec<Change> {
    let Place::Expression(Expr::Binary(expression)) = place else { return Vec::new() };
    let arithmetic = |operator| others(operator, definition).unwrap_or_default();
    let operators = match expression.op {
        BinOp::AddAssign(_) => arithmetic("+"),
        BinOp::SubAssign(_) => arithmetic("-"),
        BinOp::MulAssign(_) => arithmetic("*"),
        BinOp::DivAssign(_) => arithmetic("/"),
        BinOp::RemAssign(_) => arithmetic("%"),
        BinOp::BitAndAssign(_) => vec!["|", "^"],
        BinOp::BitOrAssign(_) => vec!["&", "^"],
        BinOp::BitXorAssign(_) => vec!["&", "|"],
        BinOp::ShlAssign(_) => vec![">>"],
        BinOp::ShrAssign(_) => vec!["<<"],
        _ => return Vec::new(),
    };
    let change = |operator| {
        let replacement = vec![
            Piece::Source(range_of(&expression.left)),
            format!(" {operator}= ").into(),
            Piece::Source(range_of(&expression.right)),
        ];
        Change::at(range_of(expression), replacement)
    };
    operators.into_iter().map(change).collect()
}
