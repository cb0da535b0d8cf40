//! AW-D, await deletion: what was waited for is not; a task of its own is waited for.
//!
//! `f().await;` makes the future and drops it, so that it never runs; `spawn(f());` becomes `f().await;`. The first is a deletion of the statement
//! where making the future has no effect. Source: RTXC and RJS of ConMAn (Bradbury, Cordy and Dingel, Mutation 2006) for futures.

use simutant_outcomes::{Class, Tier};
use syn::{Expr, Stmt};

use super::{Change, Context, Operator, Place, arguments, effect, operand, range_of, source};
use crate::names::Kind;
use crate::purity::is_pure;

#[derive(Debug)]
pub(super) struct AwaitDeletion;

impl Operator for AwaitDeletion {
    fn name(&self) -> &'static str {
        "AW-D"
    }

    fn tier(&self) -> Tier {
        Tier::B
    }

    fn class(&self) -> Class {
        Class::Async
    }

    fn changes(&self, place: Place<'_>, context: &Context<'_>) -> Vec<Change> {
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
                vec![Change::at(range_of(statement), dropped)]
            }
            spawns @ Expr::Call(_) if context.is_call(Kind::Spawn, spawns) => match arguments(spawns)[..] {
                [task] if !matches!(task, Expr::Closure(_)) => {
                    vec![Change::at(range_of(statement), operand(task).into_iter().chain([".await;".into()]).collect())]
                }
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }
}
