//! AW-D, await deletion: what was waited for is not; a task of its own is waited for; what was waited for is a task of its own.
//!
//! `f().await;` makes the future and drops it, so that it never runs; `spawn(f());` becomes `f().await;`, and in a function that starts tasks, `f().await;`
//! becomes one, in the way that the function starts the first of them. The first is a deletion of the statement
//! where making the future has no effect. Source: RTXC and RJS of ConMAn (Bradbury, Cordy and Dingel, Mutation 2006) for futures.

use simutant_outcomes::{Class, Tier};
use syn::visit::{self, Visit};
use syn::{Block, Expr, Stmt};

use super::{Change, Context, Operator, Place, arguments, call_name, effect, operand, range_of, source};
use crate::names::{Kind, Names};
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
                let deleted = Change::at(range_of(statement), dropped);
                let spawned = context.spawner.map(|spawner| {
                    Change::at(
                        range_of(statement),
                        vec![spawner.before.as_str().into(), source(&*waits.base), ");".into()],
                    )
                });
                [deleted].into_iter().chain(spawned).collect()
            }
            spawns @ (Expr::Call(_) | Expr::MethodCall(_)) if context.is_call(Kind::Spawn, spawns) => {
                match arguments(spawns)[..] {
                    [task] if !matches!(task, Expr::Closure(_)) => {
                        vec![Change::at(
                            range_of(statement),
                            operand(task).into_iter().chain([".await;".into()]).collect(),
                        )]
                    }
                    _ => Vec::new(),
                }
            }
            _ => Vec::new(),
        }
    }
}

/// How a function starts a task.
#[derive(Debug)]
pub(crate) struct Spawner {
    /// What stands before the task: `tokio::spawn(`, or `context.spawn(move |_| `.
    before: String,
}

impl Spawner {
    /// Returns how the first task is started in a body, if any is.
    pub(crate) fn of(body: &Block, text: &str, names: &Names) -> Option<Self> {
        let mut finder = SpawnFinder { text, names, found: None };
        finder.visit_block(body);
        finder.found
    }
}

struct SpawnFinder<'a> {
    text: &'a str,
    names: &'a Names,
    found: Option<Spawner>,
}

impl<'ast> Visit<'ast> for SpawnFinder<'_> {
    fn visit_expr(&mut self, expression: &'ast Expr) {
        let is_spawn = call_name(expression).is_some_and(|name| self.names.is(Kind::Spawn, &name));
        if let (true, None, [task]) = (is_spawn, &self.found, &arguments(expression)[..]) {
            let called = &self.text[range_of(expression).start..range_of(task).start];
            // What a closure is given is the new task's, and the future has what it needs.
            let closure = match task {
                Expr::Closure(closure) if closure.inputs.is_empty() => "move || ",
                Expr::Closure(_) => "move |_| ",
                _ => "",
            };
            self.found = Some(Spawner { before: format!("{called}{closure}") });
        }
        visit::visit_expr(self, expression);
    }
}
