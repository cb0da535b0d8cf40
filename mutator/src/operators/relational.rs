//! ROR, relational operator replacement: one of `< > <= >= == !=` becomes another, or the relation a constant.
//!
//! The reduced set has the three replacements that subsume the other four under weak mutation (Kaminski, Ammann and
//! Offutt, AST 2011 and JSS 2013). Under strong mutation with loops the subsumption can fail, hence the option for all
//! seven, which is muJava's ROR. Operands without an order have `==` and `!=` only: there the other one and the two
//! constants are made.
//! Where the text shows that an unsigned number is compared with 0, the relations that hold for the same numbers are
//! not made.

use simutant_outcomes::{Class, Tier};
use syn::{BinOp, Expr, Lit};

use super::operator::{Change, Context, Operator, Place, Replacements, infection_of};
use super::pieces::binary;
use crate::syntax::parts::{peeled, range_of};

pub(super) const RELATIONAL_OPERATOR_REPLACEMENT: Operator =
    Operator { name: "ROR", tier: Tier::A, class: Class::General, changes };

const RELATIONS: [&str; 6] = ["<", ">", "<=", ">=", "==", "!="];

fn changes(place: Place<'_>, context: &Context<'_>) -> Vec<Change> {
    let Place::Expression(Expr::Binary(expression)) = place else { return Vec::new() };
    let (operator, reduced) = match expression.op {
        BinOp::Lt(_) => ("<", ["<=", "!=", "false"]),
        BinOp::Gt(_) => (">", [">=", "!=", "false"]),
        BinOp::Le(_) => ("<=", ["<", "==", "true"]),
        BinOp::Ge(_) => (">=", [">", "==", "true"]),
        BinOp::Eq(_) => ("==", ["<=", ">=", "false"]),
        BinOp::Ne(_) => ("!=", ["<", ">", "true"]),
        _ => return Vec::new(),
    };
    let equal = equal_for_unsigned(&expression.left, operator, &expression.right, context);
    let infection = infection_of(&[&expression.left, &expression.right]);
    let change = |other: &str| {
        let is_relation = RELATIONS.contains(&other);
        let replacement =
            if is_relation { binary(&expression.left, other, &expression.right) } else { vec![other.into()] };
        Change::new(range_of(expression), replacement, infection)
    };
    let differs = |other: &&str| Some(*other) != equal;
    match context.replacements {
        Replacements::Reduced => {
            // Where there is no order, the two ordered replacements do not compile, and what they would show is
            // left to the opposite relation and to the other constant.
            let others: &[&str] = match operator {
                "==" => &["!=", "true"],
                "!=" => &["==", "false"],
                _ => &[],
            };
            let stands_in = |other: &&str| Change { stands_in: true, ..change(other) };
            reduced.into_iter().filter(differs).map(change).chain(others.iter().map(stands_in)).collect()
        }
        Replacements::All | Replacements::Andrews | Replacements::MuJava => {
            let others = RELATIONS.into_iter().filter(|other| *other != operator).filter(differs);
            others.chain(["true", "false"]).map(change).collect()
        }
    }
}

/// Returns the relation that holds for the same unsigned numbers, if one side is unsigned and the other one the
/// literal 0.
fn equal_for_unsigned(left: &Expr, operator: &str, right: &Expr, context: &Context<'_>) -> Option<&'static str> {
    let is_zero = |side: &Expr| match peeled(side) {
        Expr::Lit(literal) => matches!(&literal.lit, Lit::Int(literal) if literal.base10_digits() == "0"),
        _ => false,
    };
    if is_zero(right) && context.types.is_unsigned(left) {
        match operator {
            ">" => Some("!="),
            "!=" => Some(">"),
            "==" => Some("<="),
            "<=" => Some("=="),
            _ => None,
        }
    } else if is_zero(left) && context.types.is_unsigned(right) {
        match operator {
            "<" => Some("!="),
            "!=" => Some("<"),
            "==" => Some(">="),
            ">=" => Some("=="),
            _ => None,
        }
    } else {
        None
    }
}
