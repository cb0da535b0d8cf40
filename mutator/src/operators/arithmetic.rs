//! AOR, arithmetic operator replacement: one of `+ - * / %` becomes another.
//!
//! Source: the class of arithmetic operators of Andrews, Briand and Labiche (ICSE 2005), muJava's AORB. The reduced
//! set has one replacement each, `+` and `-` for one another, `*` and `/` for one another, `*` for `%`: on Rust's checked
//! integers the others mostly panic at once.

use syn::{BinOp, Expr};

use super::{Change, Operator, Place, Replacements, binary, infection_of, range_of};

#[derive(Debug)]
pub(super) struct ArithmeticOperatorReplacement;

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
        Replacements::All => ALL.into_iter().filter(|other| *other != operator).collect(),
    })
}

impl Operator for ArithmeticOperatorReplacement {
    fn name(&self) -> &'static str {
        "AOR"
    }

    fn changes(&self, place: Place<'_>, replacements: Replacements) -> Vec<Change> {
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
}
