//! AOR, arithmetic operator replacement: one of `+ - * / %` becomes another.
//!
//! Source: the class of arithmetic operators of Andrews, Briand and Labiche (ICSE 2005), muJava's AORB. The reduced set
//! has one replacement each, `+` and `-` for one another, `*` and `/` for one another, `*` for `%`: on Rust's checked
//! integers the others mostly panic at once. AORB is the same with all four, under muJava's name.

use simutant_outcomes::{Class, Tier};
use syn::{BinOp, Expr};

use super::operator::{Change, Context, Operator, Place, Replacements, infection_of};
use super::pieces::binary;
use crate::syntax::parts::range_of;

pub(super) const ARITHMETIC_OPERATOR_REPLACEMENT: Operator =
    Operator { name: "AOR", tier: Tier::A, class: Class::General, changes: arithmetic_operator_replacement };

/// Returns what an arithmetic operator is replaced by, `None` if it is not one.
pub(super) fn others(operator: &str, replacements: Replacements) -> Option<Vec<&'static str>> {
    const ALL: [&str; 5] = ["+", "-", "*", "/", "%"];
    let reduced = match operator {
        "+" => "-",
        "-" => "+",
        "*" => "/",
        "/" | "%" => "*",
        _ => return None,
    };
    Some(match replacements {
        Replacements::Reduced => vec![reduced],
        _ => ALL.into_iter().filter(|other| *other != operator).collect(),
    })
}

fn arithmetic_operator_replacement(place: Place<'_>, context: &Context<'_>) -> Vec<Change> {
    changes(place, context.replacements)
}

/// The operator that muJava calls AORB.
pub(super) const BINARY_ARITHMETIC_REPLACEMENT: Operator =
    Operator { name: "AORB", tier: Tier::C, class: Class::General, changes: binary_arithmetic_replacement };

fn binary_arithmetic_replacement(place: Place<'_>, _context: &Context<'_>) -> Vec<Change> {
    changes(place, Replacements::MuJava)
}

fn changes(place: Place<'_>, replacements: Replacements) -> Vec<Change> {
    let Place::Expression(Expr::Binary(expression)) = place else { return Vec::new() };
    let operator = match expression.op {
        BinOp::Add(_) => "+",
        BinOp::Sub(_) => "-",
        BinOp::Mul(_) => "*",
        BinOp::Div(_) => "/",
        BinOp::Rem(_) => "%",
        _ => return Vec::new(),
    };
    let others = others(operator, replacements).unwrap_or_default();
    let infection = infection_of(&[&expression.left, &expression.right]);
    let change =
        |other| Change::new(range_of(expression), binary(&expression.left, other, &expression.right), infection);
    others.into_iter().map(change).collect()
}
