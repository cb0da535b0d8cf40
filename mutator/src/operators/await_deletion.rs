//! AW-D, await deletion: what was waited for is not; a task of its own is waited for; what was waited for is a task of
//! its own.
//!
//! `f().await;` makes the future and drops it, so that it never runs; `spawn(f());` becomes `f().await;`, and in a
//! function that starts tasks, `f().await;` becomes one, in the way that the function starts the first of them. The
//! first is a deletion of the statement where making the future has no effect. Source: RTXC and RJS of ConMAn
//! (Bradbury, Cordy and Dingel, Mutation 2006) for futures.

use simutant_outcomes::{Class, Tier};
use syn::{Expr, Stmt};

use super::operator::{Change, Context, Operator, Place};
use super::pieces::{arguments, effect, operand, source};
use crate::syntax::names::Kind;
use crate::syntax::parts::range_of;
use crate::syntax::purity::is_pure;

pub(super) const AWAIT_DELETION: Operator = Operator { name: "AW-D", tier: Tier::B, class: Class::Async, changes };

fn changes(place: Place<'_>, context: &Context<'_>) -> Vec<Change> {
    let Place::Statement(statement @ Stmt::Expr(_, Some(_))) = place else { return Vec::new() };
    let Some(expression) = effect(statement) else { return Vec::new() };
    match expression {
        Expr::Await(waits) => {
            let is_plain = match &*waits.base {
                Expr::MethodCall(call) => is_pure(&call.receiver) && call.args.iter().all(is_pure),
                call @ Expr::Call(_) => arguments(call).into_iter().all(is_pure),
                base => is_pure(base),
            };
            let dropped = if is_plain { vec!["".into()] } else { vec![source(&*waits.base), ";".into()] };
            let deleted = Change::at(range_of(statement), dropped);
            // A task that is there already is started once more to no other effect than that it is not waited for.
            let is_task = matches!(*waits.base, Expr::Path(_)) || context.is_call(Kind::Spawn, &waits.base);
            let spawner = context.spawner.filter(|_| !is_task);
            let spawned = spawner.map(|spawner| Change::at(range_of(statement), spawner.task(&waits.base)));
            [deleted].into_iter().chain(spawned).collect()
        }
        spawns @ (Expr::Call(_) | Expr::MethodCall(_)) if context.is_call(Kind::Spawn, spawns) => {
            match arguments(spawns)[..] {
                [task] if !matches!(task, Expr::Closure(_)) => {
                    vec![Change::at(range_of(statement), operand(task).into_iter().chain([".await;".into()]).collect())]
                }
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}
