//! How a function starts tasks, so that one more is started as the others are.

use std::ops::Range;

use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprClosure, Item};

use super::pieces::{arguments, call_name, source};
use crate::syntax::names::{Kind, Names};
use crate::syntax::parts::range_of;
use crate::text::edit::Piece;

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

    /// Returns the start of a task with this future.
    pub(super) fn task(&self, future: &Expr) -> Vec<Piece> {
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
