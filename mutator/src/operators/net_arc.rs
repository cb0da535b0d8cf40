//! NAR, net arc replacement: an arc of a coloured Petri net is missing, puts one token more, goes to or comes from another
//! place for tokens of the same type, or tests what it should take; an inhibitor arc is missing.
//!
//! Nets are those of `simutant_nets`: `ready.take()` becomes `ready.keep()` or `other.take()`, `done.put()` becomes
//! `done.put().times(0)`, `done.put().times(2)` or `other.put()`, and `.unless_marked(place)` is left out. Source: the
//! operators for Petri nets of Fabbri, Maldonado, Masiero, Delamaro and Wong (SBES 1995), for nets whose arcs have no
//! weights.

use simutant_outcomes::{Class, Tier};
use syn::{Expr, ExprMethodCall};

use super::operator::{Change, Context, Operator, Place};
use super::pieces::{operand, replaced};
use crate::syntax::parts::{peeled, range_of};

pub(super) const NET_ARC_REPLACEMENT: Operator = Operator { name: "NAR", tier: Tier::B, class: Class::State, changes };

fn changes(place: Place<'_>, context: &Context<'_>) -> Vec<Change> {
    let Place::Expression(expression @ Expr::MethodCall(call)) = place else { return Vec::new() };
    // Methods of these names are those of many types.
    if !context.text.contains("simutant_nets") {
        return Vec::new();
    }
    let whole = range_of(expression);
    let named = |name: &str| Change::at(whole.clone(), replaced(&whole, &range_of(&call.method), vec![name.into()]));
    let times = |count: &str| {
        let mut replacement = operand(expression);
        replacement.push(format!(".times({count})").into());
        Change::at(whole.clone(), replacement)
    };
    let mut changes = match (call.method.to_string().as_str(), call.args.len()) {
        ("take", 0) => vec![named("keep")],
        ("keep", 0) => vec![named("take")],
        ("put" | "put_all", 0) => vec![times("0"), times("2")],
        ("take_all", 0) => Vec::new(),
        ("unless_marked", 1) => return vec![Change::at(whole.clone(), operand(&call.receiver))],
        _ => return Vec::new(),
    };
    changes.extend(
        other_place(call, context)
            .map(|other| Change::at(whole.clone(), replaced(&whole, &range_of(&*call.receiver), vec![other.into()]))),
    );
    changes
}

/// Returns the name of another place for tokens of the same type: the next one in the order of the alphabet.
fn other_place(call: &ExprMethodCall, context: &Context<'_>) -> Option<String> {
    let Expr::Path(path) = peeled(&call.receiver) else { return None };
    let name = path.path.get_ident()?.to_string();
    let ty = context.types.of(&call.receiver)?;
    let mut others = context.types.locals_of(&ty).filter(|other| *other != name);
    let first = others.next()?;
    let next = std::iter::once(first).chain(others).find(|other| **other > *name);
    Some(next.unwrap_or(first).to_owned())
}
