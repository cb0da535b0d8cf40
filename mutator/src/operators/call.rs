//! CALL, call replacement: a method of the standard library becomes its counterpart.
//!
//! The least for the greatest, the first for the last, one end of a queue for the other, overflow that wraps for
//! overflow that saturates. Source: the method swaps of Stryker and the naked receivers of PIT, for the types that
//! simulations are made of. Where a condition is negated already, the opposite question is not asked as well.

use simutant_outcomes::{Class, Tier};
use syn::Expr;

use super::operator::{Change, Context, Infection, Operator, Place, infection_of};
use super::pieces::{last_name, replaced};
use crate::syntax::parts::range_of;

pub(super) const CALL_REPLACEMENT: Operator = Operator { name: "CALL", tier: Tier::B, class: Class::General, changes };

const PAIRS: [(&str, &str); 20] = [
    ("min", "max"),
    ("min_by_key", "max_by_key"),
    ("min_by", "max_by"),
    ("first", "last"),
    ("first_mut", "last_mut"),
    ("pop_first", "pop_last"),
    ("first_key_value", "last_key_value"),
    ("front", "back"),
    ("front_mut", "back_mut"),
    ("push_front", "push_back"),
    ("pop_front", "pop_back"),
    ("is_some", "is_none"),
    ("is_ok", "is_err"),
    ("is_some_and", "is_none_or"),
    ("any", "all"),
    ("wrapping_add", "wrapping_sub"),
    ("saturating_add", "saturating_sub"),
    ("checked_add", "checked_sub"),
    ("rotate_left", "rotate_right"),
    ("take_while", "skip_while"),
];

/// Overflow that goes elsewhere: in one direction only, since the other two seldom differ before something else is
/// wrong.
const ONE_WAY: [(&str, &str); 3] =
    [("saturating_sub", "wrapping_sub"), ("saturating_mul", "wrapping_mul"), ("saturating_add", "wrapping_add")];

fn changes(place: Place<'_>, _context: &Context<'_>) -> Vec<Change> {
    match place {
        Place::Expression(expression @ Expr::MethodCall(call)) => {
            let operands: Vec<&Expr> = std::iter::once(&*call.receiver).chain(&call.args).collect();
            let whole = range_of(expression);
            let change = |other: &'static str| {
                let is_negation = matches!(other, "is_some" | "is_none" | "is_ok" | "is_err");
                // An iterator is used up by the question, and two of these make one of another type.
                let infection = if is_negation || other == "min" || other == "max" {
                    infection_of(&operands)
                } else {
                    Infection::Reached
                };
                let replacement = replaced(&whole, &range_of(&call.method), vec![other.into()]);
                let change = Change::new(whole.clone(), replacement, infection);
                let change = Change { is_negation, ..change };
                if other.ends_with("_while") { change.around() } else { change }
            };
            others(&call.method.to_string()).map(change).collect()
        }
        // `u32::min(a, b)`
        Place::Expression(expression @ Expr::Call(call)) if call.args.len() == 2 => {
            let Expr::Path(path) = &*call.func else { return Vec::new() };
            let Some(last) = path.path.segments.last() else { return Vec::new() };
            let name = last_name(&call.func).unwrap_or_default();
            if !matches!(name.as_str(), "min" | "max") {
                return Vec::new();
            }
            let operands: Vec<&Expr> = call.args.iter().collect();
            let whole = range_of(expression);
            let change = |other: &'static str| {
                let replacement = replaced(&whole, &range_of(&last.ident), vec![other.into()]);
                Change::new(whole.clone(), replacement, infection_of(&operands))
            };
            others(&name).map(change).collect()
        }
        _ => Vec::new(),
    }
}

fn others(name: &str) -> impl Iterator<Item = &'static str> {
    let both = PAIRS.into_iter().flat_map(|(one, other)| [(one, other), (other, one)]);
    both.chain(ONE_WAY).filter(move |(one, _)| *one == name).map(|(_, other)| other)
}
