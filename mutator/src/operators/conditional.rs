//! COR, conditional operator replacement: `&&` and `||` become an equivalence or inequality, one operand, or a
//! constant.
//!
//! `&&` becomes `==`, left, right, `false`; `||` becomes `!=`, left, right, `true`. These subsume the exchange of the
//! two operators and the negation of operands and of the whole (Just, Kapfhammer and Schweiggert, ISSRE 2012). All of
//! them are these and the exchange; Andrews' set is the exchange; muJava's is the exchange and `^`, which is `!=` of
//! conditions.

use simutant_outcomes::{Class, Tier};
use syn::{BinOp, Expr};

use super::operator::{Change, Context, Operator, Place, Replacements, infection_of};
use super::pieces::binary;
use crate::syntax::parts::{binds, range_of};
use crate::text::edit::Piece;

pub(super) const CONDITIONAL_OPERATOR_REPLACEMENT: Operator =
    Operator { name: "COR", tier: Tier::A, class: Class::General, changes };

fn changes(place: Place<'_>, context: &Context<'_>) -> Vec<Change> {
    let Place::Expression(Expr::Binary(expression)) = place else { return Vec::new() };
    let (relation, constant, other) = match expression.op {
        BinOp::And(_) => ("==", "false", "||"),
        BinOp::Or(_) => ("!=", "true", "&&"),
        _ => return Vec::new(),
    };
    if binds(&expression.left) || binds(&expression.right) {
        return Vec::new();
    }
    // What the right operand does is skipped in the original when the left one decides, but not in every mutant:
    // unless both are free of effects, a mutant counts as infected where it is reached.
    let infection = infection_of(&[&expression.left, &expression.right]);
    let combined = |operator| binary(&expression.left, operator, &expression.right);
    let reduced = [
        combined(relation),
        vec![Piece::Source(range_of(&expression.left))],
        vec![Piece::Source(range_of(&expression.right))],
        vec![constant.into()],
    ];
    let replacements = match context.replacements {
        Replacements::Reduced => reduced.into(),
        Replacements::All => reduced.into_iter().chain([combined(other)]).collect(),
        Replacements::Andrews => vec![combined(other)],
        Replacements::MuJava => vec![combined(other), combined("^")],
    };
    let change = |replacement| Change::new(range_of(expression), replacement, infection);
    replacements.into_iter().map(change).collect()
}
