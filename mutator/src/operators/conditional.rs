//! COR, conditional operator replacement: `&&` and `||` become an equivalence or inequality, one operand, or a constant.
//!
//! `&&` becomes `==`, left, right, `false`; `||` becomes `!=`, left, right, `true`. These subsume the exchange of the
//! two operators and the negation of operands and of the whole (Just, Kapfhammer and Schweiggert, ISSRE 2012).

use syn::{BinOp, Expr};

use super::{Change, Operator, Piece, Place, Replacements, binary, infection_of, range_of};

#[derive(Debug)]
pub(super) struct ConditionalOperatorReplacement;

impl Operator for ConditionalOperatorReplacement {
    fn name(&self) -> &'static str {
        "COR"
    }

    fn changes(&self, place: Place<'_>, _replacements: Replacements) -> Vec<Change> {
        let Place::Expression(Expr::Binary(expression)) = place else { return Vec::new() };
        let (relation, constant) = match expression.op {
            BinOp::And(_) => ("==", "false"),
            BinOp::Or(_) => ("!=", "true"),
            _ => return Vec::new(),
        };
        if binds(&expression.left) || binds(&expression.right) {
            return Vec::new();
        }
        // What the right operand does is skipped in the original when the left one decides, but not in every mutant:
        // unless both are free of effects, a mutant counts as infected where it is reached.
        let infection = infection_of(&[&expression.left, &expression.right]);
        [
            binary(&expression.left, relation, &expression.right),
            vec![Piece::Source(range_of(&expression.left))],
            vec![Piece::Source(range_of(&expression.right))],
            vec![constant.into()],
        ]
        .into_iter()
        .map(|replacement| Change::new(range_of(expression), replacement, infection))
        .collect()
    }
}

/// Returns whether a condition contains a `let`, which cannot leave its place.
pub(crate) fn binds(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(binary) => binds(&binary.left) || binds(&binary.right),
        _ => false,
    }
}
