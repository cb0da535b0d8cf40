//! ASR, assignment operator replacement: a compound assignment becomes another of its class.
//!
//! Source: muJava's ASRS. Arithmetic ones follow AOR; `&= |= ^=` become the other two; `<<= >>=` each other.

use syn::{BinOp, Expr};

use super::arithmetic::others;
use super::{Change, Infection, Operator, Piece, Place, Replacements, range_of};

#[derive(Debug)]
pub(super) struct AssignmentOperatorReplacement;

impl Operator for AssignmentOperatorReplacement {
    fn name(&self) -> &'static str {
        "ASR"
    }

    fn changes(&self, place: Place<'_>, replacements: Replacements) -> Vec<Change> {
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
            Change::new(range_of(expression), replacement, Infection::Reached)
        };
        operators.into_iter().map(change).collect()
    }
}
