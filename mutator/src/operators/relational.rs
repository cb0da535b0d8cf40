//! ROR, relational operator replacement: one of `< > <= >= == !=` becomes another, or the relation a constant.
//!
//! The reduced set has the three replacements that subsume the other four under weak mutation (Kaminski, Ammann and
//! Offutt, AST 2011 and JSS 2013). Under strong mutation with loops the subsumption can fail, hence the option for
//! all seven, which is muJava's ROR.

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
        let others: Vec<&str> = match replacements {
            Replacements::Reduced => reduced.to_vec(),
            Replacements::All => {
                RELATIONS.into_iter().filter(|other| *other != operator).chain(["true", "false"]).collect()
            }
        };
        let change = |other: &str| Change {
            range: range_of(expression),
            replacement: if RELATIONS.contains(&other) {
                binary(&expression.left, other, &expression.right)
            } else {
                vec![other.into()]
            },
            infection: infection_of(&[&expression.left, &expression.right]),
        };
        others.into_iter().map(change).collect()
    }
}
