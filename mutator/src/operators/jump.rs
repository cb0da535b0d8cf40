//! BCR, break and continue replacement: `break` becomes `continue`, and `continue` becomes `break`.
//!
//! Source: mutest-rs and Major. A `break` out of a block that is no loop, or with a value, stays.

use simutant_outcomes::{Class, Tier};
use syn::Expr;

use super::operator::{Change, Context, Operator, Place};
use crate::syntax::parts::range_of;
use crate::text::edit::Piece;

pub(super) const BREAK_CONTINUE_REPLACEMENT: Operator =
    Operator { name: "BCR", tier: Tier::A, class: Class::General, changes };

fn changes(place: Place<'_>, context: &Context<'_>) -> Vec<Change> {
    let (other, label) = match place {
        Place::Jump(Expr::Break(jump)) if jump.expr.is_none() => ("continue", &jump.label),
        Place::Jump(Expr::Continue(jump)) => ("break", &jump.label),
        _ => return Vec::new(),
    };
    if label.as_ref().is_some_and(|label| context.block_labels.contains(&label.ident.to_string())) {
        return Vec::new();
    }
    let Place::Jump(jump) = place else { return Vec::new() };
    let mut replacement: Vec<Piece> = vec![other.into()];
    if let Some(label) = label {
        replacement.extend([" ".into(), Piece::Source(range_of(label))]);
    }
    vec![Change::at(range_of(jump), replacement)]
}
