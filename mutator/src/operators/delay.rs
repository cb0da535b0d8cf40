//! DLY, delay replacement: a delay becomes none, one tick longer, twice or half as long, or a time from now becomes a
//! time from the start.
//!
//! A delay is what is added to the time, what is slept, and when an event is put into the future. Source: MXT of ConMAn
//! (Bradbury, Cordy and Dingel, Mutation 2006) and the change of guards and resets by a constant for timed automata
//! (Aichernig, Lorber and Nickovic, TAP 2013); one tick is their boundary mutant. A literal is left to LVR, but for its
//! double and its half.

use simutant_outcomes::{Class, Tier};
use syn::{BinOp, Expr};

use super::operator::{Change, Context, Operator, Place, infection_of};
use super::pieces::{arguments, binary, operand, source};
use crate::syntax::names::Kind;
use crate::syntax::parts::{peeled, range_of};
use crate::syntax::purity::is_pure;
use crate::syntax::types::{bare, is_float, is_integer};

pub(super) const DELAY_REPLACEMENT: Operator = Operator { name: "DLY", tier: Tier::B, class: Class::Time, changes };

fn changes(place: Place<'_>, context: &Context<'_>) -> Vec<Change> {
    let Place::Expression(expression) = place else { return Vec::new() };
    if let Expr::Binary(sum) = expression
        && matches!(sum.op, BinOp::Add(_))
        && context.is_now(&sum.left)
    {
        let mut changes = other_lengths(&sum.right, context, true);
        if has_type_of_time(&sum.left, &sum.right, context) {
            changes.push(Change::at(range_of(expression), vec![source(&sum.right)]));
        }
        return changes;
    }
    let arguments = arguments(expression);
    if context.is_call(Kind::Sleep, expression) && arguments.len() == 1 {
        return other_lengths(arguments[0], context, true);
    }
    if context.is_call(Kind::Schedule, expression) || context.is_call(Kind::Timer, expression) {
        let is_delay = |argument: &&&Expr| context.is_duration(argument);
        return arguments.iter().find(is_delay).map(|delay| other_lengths(delay, context, true)).unwrap_or_default();
    }
    Vec::new()
}

/// Whether a time and a length of time may be of one type here.
fn has_type_of_time(time: &Expr, length: &Expr, context: &Context<'_>) -> bool {
    if matches!(peeled(time), Expr::MethodCall(_)) && !matches!(peeled(length), Expr::Lit(_)) {
        // An engine's own clock; whoever counts in plain numbers says so in the text.
        return context.types.of(length).is_some_and(|ty| is_integer(&ty) || is_float(&ty));
    }
    match (context.types.of(time), context.types.of(length)) {
        (Some(time), Some(length)) => time == length,
        (None, Some(length)) | (Some(length), None) => is_integer(&length) || is_float(&length),
        (None, None) => matches!(peeled(length), Expr::Lit(_)),
    }
}

/// Returns the changes of a length of time to none, to twice and to half of it, and to one tick more.
pub(super) fn other_lengths(length: &Expr, context: &Context<'_>, with_tick: bool) -> Vec<Change> {
    let range = range_of(length);
    let is_literal = matches!(peeled(length), Expr::Lit(_));
    let infection = infection_of(&[length]);
    let mut replacements = Vec::new();
    if is_pure(length) {
        if !is_literal {
            replacements.push(binary(length, "-", length));
        }
        replacements.push(binary(length, "+", length));
    } else {
        let times = |factor: &str| operand(length).into_iter().chain([format!(" * {factor}").into()]).collect();
        replacements.extend([times("0"), times("2")]);
    }
    let ty = context.types.of(length);
    let is_real = ty.as_deref().is_some_and(is_float)
        || matches!(peeled(length), Expr::Lit(literal) if matches!(literal.lit, syn::Lit::Float(_)));
    let half = if is_real { " / 2.0" } else { " / 2" };
    replacements.push(operand(length).into_iter().chain([half.into()]).collect());
    let tick = ty.as_deref().filter(|_| with_tick && !is_literal).and_then(|ty| match bare(ty) {
        name if is_integer(name) => Some("1".to_owned()),
        name if name.ends_with("Duration") => Some(format!("{name}::from_nanos(1)")),
        _ => None,
    });
    if let Some(tick) = tick {
        replacements.push(operand(length).into_iter().chain([format!(" + {tick}").into()]).collect());
    }
    let change = |replacement| Change::new(range.clone(), replacement, infection);
    replacements.into_iter().map(change).collect()
}
