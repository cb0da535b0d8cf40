//! ASR, assignment operator replacement: a compound assignment becomes another of its class.
//!
//! Source: muJava's ASRS. Arithmetic ones follow AOR; `&= |= ^=` become the other two; `<<= >>=` each other. ASRS is
//! the same with all four for each arithmetic one, under muJava's name.

use simutant_outcomes::{Class, Tier};
use syn::{BinOp, Expr};

use super::arithmetic::others;
use super::operator::{Change, Context, Operator, Place, Replacements};
use crate::syntax::parts::range_of;
use crate::text::edit::Piece;

pub(super) const ASSIGNMENT_OPERATOR_REPLACEMENT: Operator =
    Operator { name: "ASR", tier: Tier::A, class: Class::General, changes: assignment_operator_replacement };

fn assignment_operator_replacement(place: Place<'_>, context: &Context<'_>) -> Vec<Change> {
    changes(place, context.replacements)
}

/// The operator that muJava calls ASRS.
pub(super) const SHORTCUT_ASSIGNMENT_REPLACEMENT: Operator =
    Operator { name: "ASRS", tier: Tier::C, class: Class::General, changes: shortcut_assignment_replacement };

fn shortcut_assignment_replacement(place: Place<'_>, _context: &Context<'_>) -> Vec<Change> {
    changes(place, Replacements::MuJava)
}

fn changes(place: Place<'_>, replacements: Replacements) -> Vec<Change> {
    let Place::Expression(Expr::Binary(expression)) = place else { return Vec::new() };
    let arithmetic = |operator| others(operator, replacements).unwrap_or_default();
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
