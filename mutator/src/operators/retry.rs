//! RTY, retry replacement: one attempt more or less, none, or no end of them; a wait that does not grow; a count that
//! is not reset.
//!
//! A limit is known by its name: `TRIES`, `max_retries`, `attempt_limit`. A literal is left to LVR. Source: ours, after
//! the faults of retransmission that protocols are tested for; ConMAn's MXC for the count of permits is the nearest
//! (Bradbury, Cordy and Dingel, Mutation 2006).

use simutant_outcomes::{Class, Tier};
use syn::{BinOp, Expr, Lit, Stmt};

use super::operator::{Change, Context, Operator, Place, infection_of};
use super::pieces::{is_reset, last_name, operand, source};
use crate::syntax::names::Kind;
use crate::syntax::parts::{peeled, range_of};
use crate::syntax::types::is_integer;

pub(super) const RETRY_REPLACEMENT: Operator = Operator { name: "RTY", tier: Tier::B, class: Class::Time, changes };

fn changes(place: Place<'_>, context: &Context<'_>) -> Vec<Change> {
    match place {
        Place::Expression(limit @ (Expr::Path(_) | Expr::Field(_))) if is_limit(limit, context) => {
            let range = range_of(limit);
            let change = |replacement| Change::new(range.clone(), replacement, infection_of(&[limit]));
            let with = |text: &str| operand(limit).into_iter().chain([text.to_owned().into()]).collect();
            let mut changes = vec![change(with(" + 1")), change(with(" - 1")), change(vec!["0".into()])];
            if let Some(ty) = context.types.of(limit).filter(|ty| is_integer(ty)) {
                changes.push(change(vec![format!("{ty}::MAX").into()]));
            }
            changes
        }
        Place::Expression(Expr::Binary(product)) => growth(product, context),
        Place::Expression(Expr::MethodCall(product)) => {
            let is_growth = matches!(
                product.method.to_string().as_str(),
                "saturating_mul" | "wrapping_mul" | "mul_f64" | "saturating_pow"
            );
            if is_growth && context.has_word(Kind::Backoff, &product.receiver) {
                vec![Change::at(range_of(product), vec![source(&product.receiver)])]
            } else {
                Vec::new()
            }
        }
        Place::Statement(statement @ Stmt::Expr(Expr::Assign(assign), Some(_))) => {
            let is_count = context.has_word(Kind::Retry, &assign.left) || is_backoff(&assign.left, context);
            if is_count && is_reset_of(assign, context) {
                vec![Change::at(range_of(statement), vec!["".into()])]
            } else {
                Vec::new()
            }
        }
        Place::Statement(statement @ Stmt::Expr(Expr::Binary(growth), Some(_))) => {
            let grows = matches!(growth.op, BinOp::MulAssign(_) | BinOp::ShlAssign(_));
            if grows && context.has_word(Kind::Backoff, &growth.left) {
                vec![Change::at(range_of(statement), vec!["".into()])]
            } else {
                Vec::new()
            }
        }
        _ => Vec::new(),
    }
}

/// Whether a name is that of a limit of attempts: one with a word for a limit, or a constant.
fn is_limit(expression: &Expr, context: &Context<'_>) -> bool {
    let Some(name) = last_name(expression) else { return false };
    let is_constant = !name.chars().any(char::is_lowercase);
    context.names.has_word(Kind::Retry, &name) && (is_constant || context.names.has_word(Kind::Limit, &name))
}

/// Whether a name is that of a wait between attempts, and of nothing else.
fn is_backoff(expression: &Expr, context: &Context<'_>) -> bool {
    let name = last_name(expression);
    name.is_some_and(|name| {
        name.contains("backoff") || (name.contains("rto") && context.names.has_word(Kind::Backoff, &name))
    })
}

fn is_reset_of(assign: &syn::ExprAssign, context: &Context<'_>) -> bool {
    let is_constant = last_name(&assign.right).is_some_and(|name| !name.chars().any(char::is_lowercase));
    let is_initial = is_constant && is_backoff(&assign.left, context);
    is_initial || is_reset(&Expr::Assign(assign.clone()))
}

/// Returns the change of a wait that grows by a factor to one that does not.
fn growth(product: &syn::ExprBinary, context: &Context<'_>) -> Vec<Change> {
    let is_factor = |factor: &Expr| match peeled(factor) {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(literal) => !matches!(literal.base10_digits(), "0" | "1"),
            Lit::Float(_) => true,
            _ => false,
        },
        factor => last_name(factor).is_some_and(|name| name.to_lowercase().contains("factor")),
    };
    let is_product = matches!(product.op, BinOp::Mul(_) | BinOp::Shl(_));
    if is_product && context.has_word(Kind::Backoff, &product.left) && is_factor(&product.right) {
        let infection = infection_of(&[&product.left, &product.right]);
        return vec![Change::new(range_of(product), vec![source(&product.left)], infection)];
    }
    // No end of attempts: the limit is never come to. Where it is a constant of a known type, that is made at the
    // constant.
    let unlimited = match product.op {
        BinOp::Lt(_) | BinOp::Le(_) => (&product.right, "true"),
        BinOp::Gt(_) | BinOp::Ge(_) => (&product.right, "false"),
        _ => return Vec::new(),
    };
    let (limit, constant) = unlimited;
    if is_limit(limit, context) && context.types.of(limit).is_none() {
        let infection = infection_of(&[&product.left, &product.right]);
        return vec![Change::new(range_of(product), vec![constant.into()], infection)];
    }
    Vec::new()
}
