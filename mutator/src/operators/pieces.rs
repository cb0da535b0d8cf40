//! What operators ask of syntax, and the pieces that they make replacements of.

use std::ops::Range;

use syn::spanned::Spanned;
use syn::{Expr, Member, Stmt};

use crate::syntax::parts::{peeled, range_of};
use crate::text::edit::Piece;

/// Whether an expression puts something back to how it began: a count to 0, a collection to empty, an option to
/// nothing.
pub(crate) fn is_reset(expression: &Expr) -> bool {
    match expression {
        Expr::Assign(assign) => match peeled(&assign.right) {
            Expr::Lit(literal) => match &literal.lit {
                syn::Lit::Int(literal) => literal.base10_digits() == "0",
                syn::Lit::Bool(literal) => !literal.value,
                _ => false,
            },
            Expr::Path(path) => path.path.is_ident("None"),
            value @ Expr::Call(_) => {
                matches!(call_name(value).as_deref(), Some("new" | "default")) && arguments(value).is_empty()
            }
            _ => false,
        },
        Expr::MethodCall(call) => call.args.is_empty() && (call.method == "clear" || call.method == "reset"),
        _ => false,
    }
}

/// Returns the last name in a path, or the name of a field.
pub(crate) fn last_name(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        Expr::Field(field) => match &field.member {
            Member::Named(name) => Some(name.to_string()),
            Member::Unnamed(_) => None,
        },
        Expr::Reference(inner) => last_name(&inner.expr),
        Expr::Unary(inner) => last_name(&inner.expr),
        Expr::Paren(inner) => last_name(&inner.expr),
        Expr::Cast(inner) => last_name(&inner.expr),
        _ => None,
    }
}

/// Returns the name of what is called: a method, or the last one in a path.
pub(super) fn call_name(expression: &Expr) -> Option<String> {
    match expression {
        Expr::MethodCall(call) => Some(call.method.to_string()),
        Expr::Call(call) => last_name(&call.func),
        _ => None,
    }
}

/// Returns the arguments of a call.
pub(super) fn arguments(expression: &Expr) -> Vec<&Expr> {
    match expression {
        Expr::MethodCall(call) => call.args.iter().collect(),
        Expr::Call(call) => call.args.iter().collect(),
        _ => Vec::new(),
    }
}

/// Returns what a statement does for its effect alone: its expression, without what is done with the result.
pub(super) fn effect(statement: &Stmt) -> Option<&Expr> {
    let expression = match statement {
        Stmt::Expr(Expr::Assign(assign), Some(_)) if matches!(&*assign.left, Expr::Infer(_)) => &*assign.right,
        Stmt::Expr(expression, Some(_)) => expression,
        Stmt::Local(local) if matches!(local.pat, syn::Pat::Wild(_)) => match &local.init {
            Some(init) if init.diverge.is_none() => &init.expr,
            _ => return None,
        },
        _ => return None,
    };
    Some(expression)
}

/// Returns the call in an expression that awaits it, or hands its failure on, or both.
pub(super) fn called(expression: &Expr) -> &Expr {
    match expression {
        Expr::Await(inner) => called(&inner.base),
        Expr::Try(inner) => called(&inner.expr),
        Expr::Paren(inner) => called(&inner.expr),
        Expr::MethodCall(call) if call.method == "unwrap" || call.method == "expect" || call.method == "ok" => {
            called(&call.receiver)
        }
        _ => expression,
    }
}

/// Returns the source of a piece of syntax.
pub(super) fn source(syntax: &impl Spanned) -> Piece {
    Piece::Source(range_of(syntax))
}

/// Returns what stands before a part of a whole, a replacement, and what stands behind.
pub(super) fn replaced(whole: &Range<usize>, part: &Range<usize>, replacement: Vec<Piece>) -> Vec<Piece> {
    let mut pieces = vec![Piece::Source(whole.start..part.start)];
    pieces.extend(replacement);
    pieces.push(Piece::Source(part.end..whole.end));
    pieces
}

/// Returns a whole in which two parts that do not overlap stand at each other's place; the first one stands first.
pub(super) fn swapped(whole: &Range<usize>, first: &Range<usize>, second: &Range<usize>) -> Vec<Piece> {
    [whole.start..first.start, second.clone(), first.end..second.start, first.clone(), second.end..whole.end]
        .map(Piece::Source)
        .into()
}

/// Returns the expression as an operand: in parentheses, unless it binds tighter than every operator.
pub(super) fn operand(expression: &Expr) -> Vec<Piece> {
    let source = Piece::Source(range_of(expression));
    let is_atom = matches!(
        expression,
        Expr::Path(_)
            | Expr::Lit(_)
            | Expr::Call(_)
            | Expr::MethodCall(_)
            | Expr::Field(_)
            | Expr::Index(_)
            | Expr::Paren(_)
            | Expr::Await(_)
            | Expr::Try(_)
            | Expr::Macro(_)
            | Expr::Tuple(_)
    );
    if is_atom { vec![source] } else { vec!["(".into(), source, ")".into()] }
}

/// Returns `left operator right`.
pub(super) fn binary(left: &Expr, operator: &str, right: &Expr) -> Vec<Piece> {
    let mut pieces = operand(left);
    pieces.push(format!(" {operator} ").into());
    pieces.extend(operand(right));
    pieces
}
