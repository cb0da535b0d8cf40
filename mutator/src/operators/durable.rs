//! DUR, durable value loss: a component forgets after a crash what it has on its disk.
//!
//! `context.durable(name, initial)` becomes `context.durable_anew(name, initial)`, which finds nothing. It shows only on
//! test cases in which a component crashes after it has written, and comes back. Source: the crash vulnerabilities of
//! distributed stores in Alagappan et al., OSDI 2016.

use simutant_outcomes::{Class, Tier};
use syn::Expr;

use super::operator::{Change, Context, Operator, Place};
use crate::syntax::parts::range_of;
use crate::text::edit::Piece;

pub(super) const DURABLE_VALUE_LOSS: Operator = Operator { name: "DUR", tier: Tier::B, class: Class::State, changes };

fn changes(place: Place<'_>, _: &Context<'_>) -> Vec<Change> {
    match place {
        Place::Expression(expression @ Expr::MethodCall(call)) if call.method == "durable" && call.args.len() == 2 => {
            let (all, name) = (range_of(expression), call.method.span().byte_range());
            let (before, after) = (all.start..name.start, name.end..all.end);
            vec![Change::at(all, vec![Piece::Source(before), "durable_anew".into(), Piece::Source(after)])]
        }
        _ => Vec::new(),
    }
}
