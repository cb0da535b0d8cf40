//! AW-D, await deletion: what was waited for is not; a task of its own is waited for; what was waited for is a task of
//! its own.
//!
//! `f().await;` makes the future and drops it, so that it never runs; `spawn(f());` becomes `f().await;`, and in a
//! function that starts tasks, `f().await;` becomes one, in the way that the function starts the first of them. The
//! first is a deletion of the statement where making the future has no effect. Source: RTXC and RJS of ConMAn
//! (Bradbury, Cordy and Dingel, Mutation 2006) for futures.

use std::ops::Range;

use simutant_outcomes::{Class, Tier};
use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprClosure, Item, Stmt};

use super::{Change, Context, Operator, Place, arguments, call_name, effect, operand, range_of, source};
use crate::syntax::names::{Kind, Names};
use crate::syntax::purity::is_pure;
use crate::text::edit::Piece;

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

/// How a function starts a task.
#[derive(Debug)]
pub(crate) struct Spawner {
    /// What stands before the task, as `tokio::spawn(` or `context.spawn(`.
    called: Range<usize>,
    /// Whether the task is what a closure makes of a context of its own.
    is_made: bool,
}

impl Spawner {
    /// Returns how the first task is started in a body, if any is; what closures and inner functions do is theirs.
    pub(crate) fn of(body: &Block, names: &Names) -> Option<Self> {
        let mut finder = SpawnFinder { names, found: None };
        finder.visit_block(body);
        finder.found
    }

    fn task(&self, future: &Expr) -> Vec<Piece> {
        // The future has what it needs, and the original the context.
        let made = if self.is_made { "move |_| " } else { "" };
        vec![Piece::Source(self.called.clone()), made.into(), source(future), ");".into()]
    }
}

struct SpawnFinder<'a> {
    names: &'a Names,
    found: Option<Spawner>,
}

impl<'ast> Visit<'ast> for SpawnFinder<'_> {
    fn visit_expr(&mut self, expression: &'ast Expr) {
        let is_spawn = call_name(expression).is_some_and(|name| self.names.is(Kind::Spawn, &name));
        if let (true, None, [task]) = (is_spawn, &self.found, &arguments(expression)[..]) {
            let is_made = match task {
                Expr::Closure(closure) if closure.inputs.len() == 1 => Some(true),
                // A thread, or what waits for itself: no future.
                Expr::Closure(_) => None,
                _ => Some(false),
            };
            let called = range_of(expression).start..range_of(task).start;
            self.found = is_made.map(|is_made| Spawner { called, is_made });
        }
        visit::visit_expr(self, expression);
    }

    fn visit_expr_closure(&mut self, _: &'ast ExprClosure) {}

    fn visit_item(&mut self, _: &'ast Item) {}
}
