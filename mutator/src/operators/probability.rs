//! PRB, probability replacement: what happens by chance never or always happens, or as often as it did not; a
//! distribution gets twice the parameter; random numbers come from another stream.
//!
//! The draw is made in every case, so that what is drawn later stays the same. Source: ours; simulation models are
//! wrong in their parameters most often, and no tool surveyed changes them.

use simutant_outcomes::{Class, Tier};
use syn::{Expr, ExprLit, Lit};

use super::operator::{Change, Context, Operator, Place};
use super::pieces::{arguments, binary, operand, replaced};
use crate::syntax::names::Kind;
use crate::syntax::parts::{peeled, range_of};
use crate::syntax::purity::is_pure;

pub(super) const PROBABILITY_REPLACEMENT: Operator =
    Operator { name: "PRB", tier: Tier::B, class: Class::Random, changes };

fn changes(place: Place<'_>, context: &Context<'_>) -> Vec<Change> {
    let Place::Expression(call @ (Expr::MethodCall(_) | Expr::Call(_))) = place else { return Vec::new() };
    let whole = range_of(call);
    let arguments = arguments(call);
    if context.is_call(Kind::Chance, call) && !arguments.is_empty() {
        let with = |text: &str| operand(call).into_iter().chain([text.to_owned().into()]).collect();
        let opposite = std::iter::once("!".into()).chain(operand(call)).collect();
        let never = Change::at(whole.clone(), with(" && false"));
        let always = Change::at(whole.clone(), with(" || true"));
        let opposite = Change { is_negation: true, ..Change::at(whole, opposite) };
        return vec![never, always, opposite];
    }
    if context.is_call(Kind::Distribution, call) {
        let doubled = arguments.into_iter().filter(|argument| is_pure(argument)).map(|argument| {
            let sum = binary(argument, "+", argument);
            Change::at(whole.clone(), replaced(&whole, &range_of(argument), sum))
        });
        return doubled.collect();
    }
    if context.is_call(Kind::Stream, call)
        && let [argument] = arguments[..]
    {
        let other = match peeled(argument) {
            Expr::Lit(ExprLit { lit: Lit::Str(name), .. }) => vec![format!("{:?}", name.value() + "'").into()],
            Expr::Lit(_) => return Vec::new(),
            Expr::Closure(_) | Expr::Async(_) | Expr::Block(_) | Expr::Reference(_) => return Vec::new(),
            seed => operand(seed).into_iter().chain([" ^ 1".into()]).collect(),
        };
        return vec![Change::at(whole.clone(), replaced(&whole, &range_of(argument), other))];
    }
    Vec::new()
}
