//! LCK, lock replacement: a lock is given back at once, or later; one waiter is woken instead of all, or all instead of
//! one.
//!
//! A guard that a statement binds is dropped behind it, and a `drop` of a guard does not happen. Source: SHCR, SKCR and
//! RNA of ConMAn (Bradbury, Cordy and Dingel, Mutation 2006). What they do shows only under a scheduler that
//! interleaves.

use simutant_outcomes::{Class, Tier};
use syn::{Expr, Stmt};

use super::operator::{Change, Context, Operator, Place};
use super::pieces::{arguments, call_name, called, effect, last_name, replaced, source};
use crate::syntax::parts::range_of;
use crate::text::edit::Piece;

pub(super) const LOCK_REPLACEMENT: Operator = Operator { name: "LCK", tier: Tier::C, class: Class::Async, changes };

fn changes(place: Place<'_>, _context: &Context<'_>) -> Vec<Change> {
    match place {
        Place::Expression(expression @ Expr::MethodCall(call)) => {
            let others: &[&str] = match call.method.to_string().as_str() {
                "notify_one" => &["notify_waiters", "notify_all"],
                "notify_waiters" | "notify_all" => &["notify_one"],
                _ => &[],
            };
            let whole = range_of(expression);
            let change = |(index, other): (usize, &&str)| {
                let replacement = replaced(&whole, &range_of(&call.method), vec![(*other).to_owned().into()]);
                let change = Change::at(whole.clone(), replacement);
                if index == 0 { change } else { change.standing_in() }
            };
            others.iter().enumerate().map(change).collect()
        }
        Place::Statement(statement) => {
            let Some(call) = effect(statement) else { return Vec::new() };
            let is_guard = |argument: &&Expr| {
                last_name(argument).is_some_and(|name| name.contains("guard") || name.contains("lock"))
            };
            let is_drop = call_name(call).as_deref() == Some("drop") && arguments(call).iter().any(is_guard);
            if is_drop { vec![Change::at(range_of(statement), vec!["".into()])] } else { locked(statement) }
        }
        _ => Vec::new(),
    }
}

/// Returns the change of a statement that uses what a lock protects through the guard that it takes itself: it takes,
/// and gives back, the lock once more before it, so that others come in between.
fn locked(statement: &Stmt) -> Vec<Change> {
    let Stmt::Expr(expression, Some(_)) = statement else { return Vec::new() };
    let Expr::MethodCall(outer) = called(expression) else { return Vec::new() };
    let taken = match &*outer.receiver {
        waits @ Expr::Await(inner) => {
            matches!(&*inner.base, Expr::MethodCall(call) if call.method == "lock").then_some(waits)
        }
        _ => None,
    };
    let Some(taken) = taken else { return Vec::new() };
    let twice: Vec<Piece> = vec!["drop(".into(), source(taken), "); ".into(), source(statement)];
    vec![Change::at(range_of(statement), twice)]
}
