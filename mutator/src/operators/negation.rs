//! COI, condition negation: a condition that is no relation is negated, and a negated one is not any more.
//!
//! Source: muJava's COI and COD. Where ROR or COR changes the condition already, their reduced sets subsume the
//! negation, so there is none. Andrews, Briand and Labiche (ICSE 2005) negate the whole decision of an `if` or `while`;
//! muJava's set negates relations and short circuits as well, and leaves `!` to COD.

use simutant_outcomes::{Class, Tier};
use syn::{Expr, UnOp};

use super::operator::{Change, Context, Operator, Place, Replacements};
use super::pieces::operand;
use crate::syntax::parts::{binds, range_of};
use crate::syntax::purity::is_relation;

pub(super) const CONDITION_NEGATION: Operator = Operator { name: "COI", tier: Tier::A, class: Class::General, changes };

fn changes(place: Place<'_>, context: &Context<'_>) -> Vec<Change> {
    let is_mujava = context.replacements == Replacements::MuJava;
    let condition = match (context.replacements, place) {
        (Replacements::Andrews, Place::Decision(condition)) => condition,
        (Replacements::Reduced | Replacements::All | Replacements::MuJava, Place::Condition(condition)) => condition,
        (Replacements::MuJava, Place::Expression(condition @ Expr::Binary(binary))) if is_relation(&binary.op) => {
            condition
        }
        _ => return Vec::new(),
    };
    let replacement = match condition {
        Expr::Lit(_) => return Vec::new(),
        _ if binds(condition) => return Vec::new(),
        Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => {
            if is_mujava {
                return Vec::new();
            }
            operand(&unary.expr)
        }
        _ => std::iter::once("!".into()).chain(operand(condition)).collect(),
    };
    vec![Change::at(range_of(condition), replacement)]
}
