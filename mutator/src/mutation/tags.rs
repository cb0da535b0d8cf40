//! The faults that mutants of tier A amount to.

use syn::{Expr, Stmt};

use crate::operators::{self, Change, Context, Place};
use crate::syntax::names::Kind;
use crate::text::edit::Piece;

/// Returns the name of the fault that a mutant of tier A amounts to.
pub(super) fn tag(operator: &str, place: Place<'_>, context: &Context<'_>, change: &Change) -> Option<&'static str> {
    match (operator, place) {
        ("ROR", Place::Expression(Expr::Binary(relation))) if is_constant(change) => {
            let names = [&relation.left, &relation.right].map(|side| operators::last_name(side));
            let [Some(left), Some(right)] = names else { return None };
            let is_stamp = |name: &str| context.names.has_word(Kind::Generation, name);
            (left == right && is_stamp(&left)).then_some("TMR-S")
        }
        ("SDL", Place::Statement(Stmt::Expr(expression, _))) => operators::is_reset(expression).then_some("RST"),
        _ => None,
    }
}

fn is_constant(change: &Change) -> bool {
    matches!(&change.replacement[..], [Piece::Text(text)] if text == "true" || text == "false")
}
