//! Finds the places in a function body where the operators apply.

use std::collections::BTreeSet;
use std::ops::Range;

use syn::visit::{self, Visit};
use syn::{Arm, BinOp, Block, Expr, Item, Pat, Stmt, Type, UnOp};

use crate::edit::plain_text;
use crate::operators::{self, Change, Place, Replacements, binds, range_of};

/// The syntax that a mutation point has to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Expression,
    Statement,
    Block,
    /// The body of an arm: what is put in its place needs braces.
    ArmBody,
}

/// A mutant that may or may not compile.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) operator: &'static str,
    pub(crate) form: Form,
    pub(crate) change: Change,
}

impl Candidate {
    pub(crate) fn range(&self) -> &Range<usize> {
        &self.change.range
    }
}

/// Returns the candidates in a body, in the order of their places; those of one place follow one another.
pub(crate) fn candidates(body: &Block, source: &str, replacements: Replacements) -> Vec<Candidate> {
    let mut finder = Finder { replacements, found: Vec::new() };
    finder.visit_block(body);
    let mut found = finder.found;
    found.sort_by_key(|candidate| (candidate.range().start, std::cmp::Reverse(candidate.range().end)));
    let mut seen = BTreeSet::new();
    found.retain(|candidate| {
        let Range { start, end } = *candidate.range();
        let replacement = plain_text(&candidate.change.replacement, source);
        replacement != source[start..end] && seen.insert((start, end, replacement))
    });
    found
}

struct Finder {
    replacements: Replacements,
    found: Vec<Candidate>,
}

impl Finder {
    fn look(&mut self, form: Form, place: Place<'_>) {
        for operator in operators::all() {
            let changes = operator.changes(place, self.replacements);
            self.found.extend(changes.into_iter().map(|change| Candidate { operator: operator.name(), form, change }));
        }
    }

    /// Looks at the parts of a condition that are neither relations nor made of other conditions.
    fn conditions(&mut self, condition: &Expr) {
        match condition {
            Expr::Paren(inner) => self.conditions(&inner.expr),
            Expr::Binary(inner) if is_short_circuit(&inner.op) => {
                self.conditions(&inner.left);
                self.conditions(&inner.right);
            }
            Expr::Unary(inner) if matches!(inner.op, UnOp::Not(_)) && is_compound(&inner.expr) => {
                self.conditions(&inner.expr);
            }
            Expr::Binary(_) | Expr::Let(_) => {}
            _ => self.look(Form::Expression, Place::Condition(condition)),
        }
    }

    fn decision(&mut self, condition: &Expr) {
        self.conditions(condition);
        if !binds(condition) {
            self.look(Form::Expression, Place::Decision(condition));
        }
    }

    fn body(&mut self, block: &Block) {
        self.look(Form::Block, Place::Body(block));
    }
}

fn is_short_circuit(operator: &BinOp) -> bool {
    matches!(operator, BinOp::And(_) | BinOp::Or(_))
}

fn is_compound(condition: &Expr) -> bool {
    match condition {
        Expr::Paren(inner) => is_compound(&inner.expr),
        Expr::Binary(_) => true,
        _ => false,
    }
}

impl<'ast> Visit<'ast> for Finder {
    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        self.look(Form::Statement, Place::Statement(statement));
        visit::visit_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'ast Expr) {
        match expression {
            Expr::If(inner) => {
                self.decision(&inner.cond);
                self.body(&inner.then_branch);
                if let Some((_, otherwise)) = &inner.else_branch
                    && let Expr::Block(otherwise) = &**otherwise
                {
                    self.body(&otherwise.block);
                }
            }
            Expr::While(inner) => {
                self.decision(&inner.cond);
                self.body(&inner.body);
            }
            Expr::ForLoop(inner) => self.body(&inner.body),
            Expr::Loop(inner) => self.body(&inner.body),
            Expr::Binary(inner) if is_short_circuit(&inner.op) => self.conditions(expression),
            // A constant is not computed while the program runs; what a macro makes of its tokens is not known.
            Expr::Const(_) | Expr::Macro(_) => return,
            Expr::Repeat(inner) => return self.visit_expr(&inner.expr),
            _ => {}
        }
        self.look(Form::Expression, Place::Expression(expression));
        visit::visit_expr(self, expression);
    }

    fn visit_arm(&mut self, arm: &'ast Arm) {
        if let Pat::Guard(guarded) = &arm.pat {
            self.conditions(&guarded.guard);
            self.visit_expr(&guarded.guard);
        }
        match &*arm.body {
            Expr::Block(body) => self.body(&body.block),
            body => self.look(Form::ArmBody, Place::ArmBody(body)),
        }
        self.visit_expr(&arm.body);
    }

    fn visit_pat(&mut self, _: &'ast Pat) {}

    fn visit_type(&mut self, _: &'ast Type) {}

    fn visit_generic_argument(&mut self, _: &'ast syn::GenericArgument) {}

    fn visit_item(&mut self, _: &'ast Item) {}

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
}

/// Returns the body's range without its braces.
pub(crate) fn inside(body: &Block) -> Range<usize> {
    let range = range_of(body);
    range.start + 1..range.end - 1
}
