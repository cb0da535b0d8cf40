//! ROR, relational operator replacement: one of `< > <= >= == !=` becomes another, or the relation a constant.
//!
//! The reduced set has the three replacements that subsume the other four under weak mutation (Kaminski, Ammann and
//! Offutt, AST 2011 and JSS 2013). Under strong mutation with loops the subsumption can fail, hence the option for
//! all seven, which is muJava's ROR. Operands without an order have `==` and `!=` only: there the two constants are made.

use syn::{BinOp, Expr};

use super::{Change, Operator, Place, Replacements, binary, infection_of, range_of};

#[derive(Debug)]
pub(super) struct RelationalOperatorReplacement;

const RELATIONS: [&str; 6] = ["<", ">", "<=", ">=", "==", "!="];

impl Operator for RelationalOperatorReplacement {
    fn name(&self) -> &'static str {
        "ROR"
    }

    fn changes(&self, place: Place<'_>, replacements: Replacements) -> Vec<Change> {
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
        let infection = infection_of(&[&expression.left, &expression.right]);
        let change = |other: &str| {
            let is_relation = RELATIONS.contains(&other);
            let replacement =
                if is_relation { binary(&expression.left, other, &expression.right) } else { vec![other.into()] };
            Change::new(range_of(expression), replacement, infection)
        };
        match replacements {
            Replacements::Reduced => {
                // Where there is no order, the two ordered replacements do not compile, and what they would show is
                // left to the other constant.
                let other_constant = match operator {
                    "==" => Some("true"),
                    "!=" => Some("false"),
                    _ => None,
                };
                let stands_in = |constant| Change { stands_in: true, ..change(constant) };
                reduced.into_iter().map(change).chain(other_constant.map(stands_in)).collect()
            }
            Replacements::All => {
                let others = RELATIONS.into_iter().filter(|other| *other != operator);
                others.chain(["true", "false"]).map(change).collect()
            }
        }
    }
}
