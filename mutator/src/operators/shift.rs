//! SOR, shift operator replacement: `<<` and `>>` become one another.
//!
//! Source: muJava's SOR. Java's `>>>` is Rust's `>>` on unsigned integers.

use simutant_outcomes::{Class, Tier};
use syn::{BinOp, Expr};

use super::operator::{Change, Context, Operator, Place, infection_of};
use super::pieces::binary;
use crate::syntax::parts::range_of;

pub(super) const SHIFT_OPERATOR_REPLACEMENT: Operator =
    Operator { name: "SOR", tier: Tier::A, class: Class::General, changes };

fn changes(place: Place<'_>, _context: &Context<'_>) -> Vec<Change> {
    let Place::Expression(Expr::Binary(expression)) = place else { return Vec::new() };
    let other = match expression.op {
        BinOp::Shl(_) => ">>",
        BinOp::Shr(_) => "<<",
        _ => return Vec::new(),
    };
    let infection = infection_of(&[&expression.left, &expression.right]);
    vec![Change::new(range_of(expression), binary(&expression.left, other, &expression.right), infection)]
}
