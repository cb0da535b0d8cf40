//! AW-T, timeout replacement: a wait with a timeout becomes one without, or its timeout none, twice or half as long.
//!
//! `x.recv_timeout(d).await` becomes `Ok(x.recv().await)`, and `timeout(d, f).await` becomes `Ok(f.await)`. Source: MXT
//! of ConMAn (Bradbury, Cordy and Dingel, Mutation 2006) for the argument of a timed wait.

use simutant_outcomes::{Class, Tier};
use syn::Expr;

use super::delay::other_lengths;
use super::operator::{Change, Context, Operator, Place};
use super::pieces::{arguments, call_name, operand, source};
use crate::syntax::names::Kind;
use crate::syntax::parts::range_of;
use crate::text::edit::Piece;

pub(super) const AWAIT_TIMEOUT_REPLACEMENT: Operator =
    Operator { name: "AW-T", tier: Tier::B, class: Class::Async, changes };

fn changes(place: Place<'_>, context: &Context<'_>) -> Vec<Change> {
    match place {
        Place::Expression(waits @ Expr::Await(inner)) if context.is_call(Kind::Timeout, &inner.base) => {
            without(&inner.base).map(|replacement| vec![Change::at(range_of(waits), replacement)]).unwrap_or_default()
        }
        Place::Expression(call) if context.is_call(Kind::Timeout, call) => {
            let arguments = arguments(call);
            let by_name = arguments.iter().find(|argument| context.is_duration(argument));
            let first_of_two = match &arguments[..] {
                [length] => Some(length),
                [length, _] if call_name(call).as_deref() == Some("timeout") => Some(length),
                _ => None,
            };
            by_name.or(first_of_two).map(|length| other_lengths(length, context, true)).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// Returns a wait without its timeout, as what succeeds.
fn without(call: &Expr) -> Option<Vec<Piece>> {
    match call {
        Expr::MethodCall(call) => {
            let name = call.method.to_string();
            let plain = name.strip_suffix("_timeout")?;
            call.args
                .len()
                .eq(&1)
                .then(|| vec!["Ok(".into(), source(&*call.receiver), format!(".{plain}().await)").into()])
        }
        Expr::Call(_) => match arguments(call)[..] {
            [_, future] => {
                Some(std::iter::once("Ok(".into()).chain(operand(future)).chain([".await)".into()]).collect())
            }
            _ => None,
        },
        _ => None,
    }
}
