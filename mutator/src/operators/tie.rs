//! TIE, tie reversal: an order is turned round, so that of two events at one time the last one comes first.
//!
//! A comparison by `cmp` is reversed; the part of a key behind the time that breaks ties, as in
//! `Reverse((time, sequence))`, is complemented, which turns the order of integers round. Shows what depends on the
//! order of simultaneous events. Source: the semantic variants of event order in statecharts (Derezinska and Zaremba),
//! as a change of one place.

use simutant_outcomes::{Class, Tier};
use syn::Expr;

use super::operator::{Change, Context, Operator, Place};
use super::pieces::{last_name, operand, replaced, source};
use crate::syntax::names::Kind;
use crate::syntax::parts::{peeled, range_of};

pub(super) const TIE_REVERSAL: Operator = Operator { name: "TIE", tier: Tier::B, class: Class::Time, changes };

fn changes(place: Place<'_>, context: &Context<'_>) -> Vec<Change> {
    match place {
        Place::Expression(Expr::MethodCall(call)) if call.args.len() == 1 => {
            let reversal = match call.method.to_string().as_str() {
                "cmp" | "total_cmp" => ".reverse()",
                "partial_cmp" => ".map(std::cmp::Ordering::reverse)",
                _ => return Vec::new(),
            };
            vec![Change::at(range_of(call), vec![source(call), reversal.into()])]
        }
        Place::Expression(key @ Expr::Tuple(tuple))
            if tuple.elems.first().is_some_and(|time| is_time(time, context)) =>
        {
            let whole = range_of(key);
            let change = |part: &Expr| {
                let complement = std::iter::once("!".into()).chain(operand(part)).collect();
                Change::at(whole.clone(), replaced(&whole, &range_of(part), complement))
            };
            tuple.elems.iter().skip(1).filter(|part| is_tie(part, context)).map(change).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether the first part of a key is a time: the key is that of an event.
fn is_time(part: &Expr, context: &Context<'_>) -> bool {
    let is_sum = matches!(peeled(part), Expr::Binary(sum) if context.is_now(&sum.left));
    is_sum || context.is_now(part) || context.has_word(Kind::Time, part)
}

/// Whether a part of a key breaks ties behind a time, by its name.
fn is_tie(part: &Expr, context: &Context<'_>) -> bool {
    let is_name = matches!(peeled(part), Expr::Path(_) | Expr::Field(_));
    let ty = context.types.of(part);
    let can_be = ty.is_none_or(|ty| crate::syntax::types::is_integer(&ty));
    is_name && can_be && last_name(part).is_some_and(|name| context.names.has_word(Kind::Tie, &name))
}
