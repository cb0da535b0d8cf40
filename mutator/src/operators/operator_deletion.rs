//! COD, LOD and AODU, unary operator deletion: `!` goes from a condition, `!` from an integer (Java's `~`), `-` from a
//! number.
//!
//! Source: muJava. COI takes `!` away as well, so COD is there for muJava's set only. `!` stands for both of Java's
//! operators: it is COD's where a condition is expected and LOD's where the text shows an integer.

use simutant_outcomes::{Class, Tier};
use syn::{Expr, UnOp};

use super::operator::{Change, Context, Operator, Place, infection_of};
use super::pieces::source;
use crate::syntax::parts::range_of;
use crate::syntax::types::is_integer;

pub(super) const CONDITIONAL_OPERATOR_DELETION: Operator =
    Operator { name: "COD", tier: Tier::C, class: Class::General, changes: conditional_operator_deletion };

pub(super) const LOGICAL_OPERATOR_DELETION: Operator =
    Operator { name: "LOD", tier: Tier::C, class: Class::General, changes: logical_operator_deletion };

pub(super) const ARITHMETIC_OPERATOR_DELETION: Operator =
    Operator { name: "AODU", tier: Tier::C, class: Class::General, changes: arithmetic_operator_deletion };

fn conditional_operator_deletion(place: Place<'_>, context: &Context<'_>) -> Vec<Change> {
    deleted(place, |operator, operand| matches!(operator, UnOp::Not(_)) && !is_known_integer(operand, context))
}

fn logical_operator_deletion(place: Place<'_>, context: &Context<'_>) -> Vec<Change> {
    deleted(place, |operator, operand| matches!(operator, UnOp::Not(_)) && is_known_integer(operand, context))
}

fn arithmetic_operator_deletion(place: Place<'_>, _context: &Context<'_>) -> Vec<Change> {
    deleted(place, |operator, _| matches!(operator, UnOp::Neg(_)))
}

fn is_known_integer(operand: &Expr, context: &Context<'_>) -> bool {
    context.types.of(operand).is_some_and(|ty| is_integer(&ty))
}

fn deleted(place: Place<'_>, is_deleted: impl Fn(&UnOp, &Expr) -> bool) -> Vec<Change> {
    match place {
        Place::Expression(expression @ Expr::Unary(unary)) if is_deleted(&unary.op, &unary.expr) => {
            vec![Change::new(range_of(expression), vec![source(&*unary.expr)], infection_of(&[&unary.expr]))]
        }
        _ => Vec::new(),
    }
}
