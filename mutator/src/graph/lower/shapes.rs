//! What the shape of a piece of syntax says of its control flow.

use syn::{BinOp, Block, Expr, Label, Stmt, UnOp};

use crate::graph::events::Anchor;
use crate::syntax::parts::range_of;
use crate::syntax::purity::is_short_circuit;

/// Returns the condition that is evaluated first.
pub(super) fn first_condition(condition: &Expr) -> &Expr {
    match condition {
        Expr::Paren(inner) => first_condition(&inner.expr),
        Expr::Unary(inner) if matches!(inner.op, UnOp::Not(_)) => first_condition(&inner.expr),
        Expr::Binary(inner) if is_short_circuit(&inner.op) => first_condition(&inner.left),
        _ => condition,
    }
}

/// Returns the probe before an operand or a guard.
pub(super) fn probe_before(expression: &Expr) -> Anchor {
    let range = range_of(expression);
    // A field of a tuple has no type if it has no value.
    let diverges = matches!(expression, Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) | Expr::Macro(_));
    if diverges { Anchor::Body(range) } else { Anchor::Before(range) }
}

pub(super) fn name(label: &Label) -> String {
    label.name.ident.to_string()
}

/// Returns whether all that a block does is to assign to variables what cannot fail.
pub(super) fn is_light(block: &Block) -> bool {
    fn is_bitwise(op: &BinOp) -> bool {
        use BinOp::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign};
        matches!(op, BitAnd(_) | BitAndAssign(_) | BitOr(_) | BitOrAssign(_) | BitXor(_) | BitXorAssign(_))
    }
    fn is_value(expression: &Expr) -> bool {
        match expression {
            Expr::Path(_) | Expr::Lit(_) => true,
            Expr::Paren(inner) => is_value(&inner.expr),
            Expr::Unary(inner) => matches!(inner.op, UnOp::Not(_)) && is_value(&inner.expr),
            Expr::Binary(inner) => is_bitwise(&inner.op) && is_value(&inner.left) && is_value(&inner.right),
            _ => false,
        }
    }
    block.stmts.iter().all(|statement| match statement {
        Stmt::Expr(Expr::Assign(inner), _) => matches!(*inner.left, Expr::Path(_)) && is_value(&inner.right),
        Stmt::Expr(Expr::Binary(inner), _) => {
            is_bitwise(&inner.op) && matches!(*inner.left, Expr::Path(_)) && is_value(&inner.right)
        }
        _ => false,
    })
}
