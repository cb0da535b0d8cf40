//! COI, condition negation: a condition that is no relation is negated, and a negated one is not any more.
//!
//! Source: muJava's COI and COD. Where ROR or COR changes the condition already, their reduced sets subsume the
//! negation, so there is none.

use syn::{Expr, UnOp};

use super::{Change, Infection, Operator, Place, Replacements, operand, range_of};

#[derive(Debug)]
pub(super) struct ConditionNegation;

impl Operator for ConditionNegation {
    fn name(&self) -> &'static str {
        "COI"
    }

    fn changes(&self, place: Place<'_>, _replacements: Replacements) -> Vec<Change> {
        let Place::Condition(condition) = place else { return Vec::new() };
        let replacement = match condition {
            Expr::Lit(_) => return Vec::new(),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => operand(&unary.expr),
            _ => std::iter::once("!".into()).chain(operand(condition)).collect(),
        };
        vec![Change::new(range_of(condition), replacement, Infection::Reached)]
    }
}
