//! UOI, AOIU and LOI, unary operator insertion: a variable becomes one more or less, negative, or its complement.
//!
//! UOI is Mothra's `x + 1` and `x - 1`, where an index, a length or a time is used; AOIU puts `-`, LOI `!` (Java's `~`)
//! before each variable that the text shows to be a number. Source: Offutt, Lee, Rothermel, Untch and Zapf (TOSEM
//! 1996); muJava's source for AOIU, which leaves out the right operands of `+ - %`.

use simutant_outcomes::{Class, Tier};
use syn::{BinOp, Expr};

use super::operator::{Change, Context, Operator, Place, infection_of};
use super::pieces::operand;
use crate::syntax::declarations::TypeText;
use crate::syntax::names::Kind;
use crate::syntax::parts::{peeled, range_of};
use crate::syntax::types::{is_float, is_integer, is_unsigned_integer};

pub(super) const UNARY_OPERATOR_INSERTION: Operator =
    Operator { name: "UOI", tier: Tier::C, class: Class::General, changes: unary_operator_insertion };

pub(super) const NEGATION_INSERTION: Operator =
    Operator { name: "AOIU", tier: Tier::C, class: Class::General, changes: negation_insertion };

pub(super) const COMPLEMENT_INSERTION: Operator =
    Operator { name: "LOI", tier: Tier::C, class: Class::General, changes: complement_insertion };

fn unary_operator_insertion(place: Place<'_>, context: &Context<'_>) -> Vec<Change> {
    let Place::Expression(expression) = place else { return Vec::new() };
    let used: Vec<&Expr> = match expression {
        Expr::Index(index) => vec![&*index.index],
        Expr::Range(range) => range.start.as_deref().into_iter().chain(range.end.as_deref()).collect(),
        Expr::MethodCall(call) => {
            let is_of_length = matches!(
                call.method.to_string().as_str(),
                "with_capacity" | "reserve" | "truncate" | "take" | "skip" | "nth" | "split_at" | "resize"
            );
            let is_of_time = [Kind::Sleep, Kind::Schedule, Kind::Timer, Kind::Timeout];
            let is_of_time = is_of_time.into_iter().any(|kind| context.is_call(kind, expression));
            if is_of_length || is_of_time { call.args.iter().collect() } else { Vec::new() }
        }
        _ => return Vec::new(),
    };
    let is_number = |used: &&Expr| is_variable(used) && number(used, context).is_none_or(|ty| !is_float(&ty));
    let change = |used: &Expr, text: &str| {
        let changed = operand(used).into_iter().chain([text.to_owned().into()]).collect();
        Change::new(range_of(used), changed, infection_of(&[used]))
    };
    let both = |used: &Expr| [" + 1", " - 1"].map(|text| change(used, text));
    used.into_iter().filter(is_number).flat_map(both).collect()
}

fn negation_insertion(place: Place<'_>, context: &Context<'_>) -> Vec<Change> {
    let Place::Expression(expression) = place else { return Vec::new() };
    match expression {
        Expr::Binary(binary) if matches!(binary.op, BinOp::Add(_) | BinOp::Sub(_) | BinOp::Rem(_)) => {
            inserted(&binary.left, "-", context).into_iter().collect()
        }
        Expr::Binary(binary) if crate::syntax::purity::is_assignment(&binary.op) => {
            inserted(&binary.right, "-", context).into_iter().collect()
        }
        Expr::Binary(binary) if matches!(binary.op, BinOp::Mul(_) | BinOp::Div(_)) => {
            let left = inserted(&binary.left, "-", context);
            left.or_else(|| inserted(&binary.right, "-", context)).into_iter().collect()
        }
        _ => operands(expression).into_iter().filter_map(|used| inserted(used, "-", context)).collect(),
    }
}

fn complement_insertion(place: Place<'_>, context: &Context<'_>) -> Vec<Change> {
    let Place::Expression(expression) = place else { return Vec::new() };
    operands(expression).into_iter().filter_map(|used| inserted(used, "!", context)).collect()
}

/// Returns the expressions that another one uses the values of.
pub(super) fn operands(expression: &Expr) -> Vec<&Expr> {
    match expression {
        Expr::Binary(binary) if crate::syntax::purity::is_assignment(&binary.op) => vec![&*binary.right],
        Expr::Binary(binary) => vec![&*binary.left, &*binary.right],
        Expr::Assign(assign) => vec![&*assign.right],
        Expr::Call(call) => call.args.iter().collect(),
        Expr::MethodCall(call) => call.args.iter().collect(),
        Expr::Index(index) => vec![&*index.index],
        Expr::Range(range) => range.start.as_deref().into_iter().chain(range.end.as_deref()).collect(),
        Expr::Return(inner) => inner.expr.as_deref().into_iter().collect(),
        Expr::Paren(inner) => vec![&*inner.expr],
        Expr::Cast(inner) => vec![&*inner.expr],
        _ => Vec::new(),
    }
}

pub(super) fn is_variable(expression: &Expr) -> bool {
    match expression {
        Expr::Path(path) => path.path.segments.len() == 1 && !path.path.is_ident("self"),
        Expr::Field(_) => true,
        _ => false,
    }
}

/// Returns the type of an expression if that is known to be a number.
pub(super) fn number(expression: &Expr, context: &Context<'_>) -> Option<TypeText> {
    context.types.of(expression).filter(|ty| is_integer(ty) || is_float(ty))
}

fn inserted(used: &Expr, operator: &str, context: &Context<'_>) -> Option<Change> {
    let used = peeled(used);
    let ty = number(used, context).filter(|_| is_variable(used))?;
    let can_be = if operator == "-" { !is_unsigned_integer(&ty) } else { is_integer(&ty) };
    let changed = std::iter::once(operator.into()).chain(operand(used)).collect();
    can_be.then(|| Change::new(range_of(used), changed, infection_of(&[used])))
}
