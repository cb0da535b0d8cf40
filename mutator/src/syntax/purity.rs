//! Which expressions can be evaluated once more without anyone noticing.

use syn::{BinOp, Expr, UnOp};

/// Methods of the standard library that have no effect and are not costly. A type of the specification that gives one
/// of these names to a method with an effect would be judged wrongly; the comparison of the pruned with the full
/// matrix on a sample would show it.
pub(crate) const PURE_METHODS: [&str; 32] = [
    "abs",
    "abs_diff",
    "as_bytes",
    "as_deref",
    "as_ref",
    "as_slice",
    "as_str",
    "contains",
    "contains_key",
    "copied",
    "count_ones",
    "ends_with",
    "first",
    "front",
    "back",
    "get",
    "is_empty",
    "is_err",
    "is_none",
    "is_ok",
    "is_some",
    "last",
    "len",
    "max",
    "min",
    "saturating_add",
    "saturating_sub",
    "starts_with",
    "wrapping_add",
    "wrapping_sub",
    "checked_add",
    "checked_sub",
];

/// Returns whether evaluating `expression` has no effect (it may panic). `false` if that cannot be told from its
/// syntax: calls, most methods, awaits, macros.
pub(crate) fn is_pure(expression: &Expr) -> bool {
    match expression {
        Expr::Path(_) | Expr::Lit(_) => true,
        Expr::Paren(inner) => is_pure(&inner.expr),
        Expr::Group(inner) => is_pure(&inner.expr),
        Expr::Field(inner) => is_pure(&inner.base),
        Expr::Reference(inner) => inner.mutability.is_none() && is_pure(&inner.expr),
        Expr::Cast(inner) => is_pure(&inner.expr),
        Expr::Unary(inner) => matches!(inner.op, UnOp::Not(_) | UnOp::Neg(_) | UnOp::Deref(_)) && is_pure(&inner.expr),
        Expr::Index(inner) => is_pure(&inner.expr) && is_pure(&inner.index),
        Expr::Tuple(inner) => inner.elems.iter().all(is_pure),
        Expr::MethodCall(call) => {
            PURE_METHODS.iter().any(|method| call.method == method)
                && is_pure(&call.receiver)
                && call.args.iter().all(is_pure)
        }
        Expr::Binary(binary) => !is_assignment(&binary.op) && is_pure(&binary.left) && is_pure(&binary.right),
        _ => false,
    }
}

/// Returns whether an operator combines conditions, and evaluates the second one only if the first leaves that open.
pub(crate) fn is_short_circuit(operator: &BinOp) -> bool {
    matches!(operator, BinOp::And(_) | BinOp::Or(_))
}

/// Returns whether an operator compares its operands, or combines conditions.
pub(crate) fn is_relation(operator: &BinOp) -> bool {
    matches!(
        operator,
        BinOp::Lt(_)
            | BinOp::Gt(_)
            | BinOp::Le(_)
            | BinOp::Ge(_)
            | BinOp::Eq(_)
            | BinOp::Ne(_)
            | BinOp::And(_)
            | BinOp::Or(_)
    )
}

/// Returns whether an operator assigns to its left operand.
pub(crate) fn is_assignment(operator: &BinOp) -> bool {
    matches!(
        operator,
        BinOp::AddAssign(_)
            | BinOp::SubAssign(_)
            | BinOp::MulAssign(_)
            | BinOp::DivAssign(_)
            | BinOp::RemAssign(_)
            | BinOp::BitXorAssign(_)
            | BinOp::BitAndAssign(_)
            | BinOp::BitOrAssign(_)
            | BinOp::ShlAssign(_)
            | BinOp::ShrAssign(_)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expect: bool) {
        let expression: Expr = syn::parse_str(source).expect("the test's own source");
        assert_eq!(is_pure(&expression), expect, "{source}");
    }

    #[test]
    fn reading_and_computing_is_pure() {
        for source in ["a + 1", "self.window.size", "queue.len() > 0", "!done && list[i] == 3", "&a", "x as u64"] {
            check(source, true);
        }
    }

    #[test]
    fn what_can_have_an_effect_is_not_pure() {
        for source in ["f()", "queue.pop()", "a += 1", "x.await", "vec![1]", "&mut a", "a[f()]", "b = 1", "x?"] {
            check(source, false);
        }
    }
}
