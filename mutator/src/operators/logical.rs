//! LOR, logical operator replacement: one of `& | ^` becomes each of the other two.
//!
//! Source: muJava's LOR. Its operands are integers, sets, or conditions that are both evaluated.

use simutant_outcomes::{Class, Tier};
use syn::{BinOp, Expr};

use super::operator::{Change, Context, Operator, Place, infection_of};
use super::pieces::binary;
use crate::syntax::parts::range_of;

pub(super) const LOGICAL_OPERATOR_REPLACEMENT: Operator =
    Operator { name: "LOR", tier: Tier::A, class: Class::General, changes };

fn changes(place: Place<'_>, _context: &Context<'_>) -> Vec<Change> {
    let Place::Expression(Expr::Binary(expression)) = place else { return Vec::new() };
    let others = match expression.op {
        BinOp::BitAnd(_) => ["|", "^"],
        BinOp::BitOr(_) => ["&", "^"],
        BinOp::BitXor(_) => ["&", "|"],
        _ => return Vec::new(),
    };
    let infection = infection_of(&[&expression.left, &expression.right]);
    let change =
        |other| Change::new(range_of(expression), binary(&expression.left, other, &expression.right), infection);
    others.into_iter().map(change).collect()
}
