//! SOR, shift operator replacement: `<<` and `>>` become one another.
//!
//! Source: muJava's SOR. Java's `>>>` is Rust's `>>` on unsigned integers.

use syn::{BinOp, Expr};

use super::{Change, Context, Operator, Place, binary, infection_of, range_of};

#[derive(Debug)]
pub(super) struct ShiftOperatorReplacement;

impl Operator for ShiftOperatorReplacement {
    fn name(&self) -> &'static str {
        "SOR"
    }

    fn changes(&self, place: Place<'_>, _context: &Context<'_>) -> Vec<Change> {
        let Place::Expression(Expr::Binary(expression)) = place else { return Vec::new() };
        let other = match expression.op {
            BinOp::Shl(_) => ">>",
            BinOp::Shr(_) => "<<",
            _ => return Vec::new(),
        };
        let infection = infection_of(&[&expression.left, &expression.right]);
        vec![Change::new(range_of(expression), binary(&expression.left, other, &expression.right), infection)]
    }
}
