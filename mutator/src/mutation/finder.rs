//! Finds the places in a function where the operators apply.

use std::collections::BTreeSet;
use std::ops::Range;

use simutant_outcomes::{Class, Tier};
use syn::visit::{self, Visit};
use syn::{Arm, BinOp, Block, Expr, ExprForLoop, Item, Member, Pat, Stmt, Type, UnOp};

use super::candidate::{ArmParts, Candidate, Form, Point};
use super::settle::Found;
use super::tags::tag;
use crate::operators::{self, Change, Context, Infection, Operator, Place, Selection};
use crate::syntax::names::Kind;
use crate::syntax::parts::{binds, diverges, range_of};
use crate::syntax::purity::is_short_circuit;
use crate::syntax::types::is_unsigned_integer;

pub(super) struct Finder<'a> {
    pub(super) context: Context<'a>,
    pub(super) selection: &'a Selection,
    pub(super) found: Vec<Found>,
    /// Where a choice can be made between two expressions of different types: around the chain of calls, or the loop,
    /// that uses them.
    pub(super) around: Option<Point>,
    /// The statement whose expression comes next.
    pub(super) statement: Option<Range<usize>>,
    /// Where expressions begin that are to be unsigned numbers.
    pub(super) unsigned: BTreeSet<usize>,
    /// Whether a `return` here would be that of a closure or an async block.
    pub(super) is_nested: bool,
}

impl<'a> Finder<'a> {
    fn look(&mut self, form: Form, place: Place<'_>) {
        for (index, operator) in operators::ALL.iter().enumerate() {
            let Some(replacements) = self.selection.replacements(operator.name) else { continue };
            let is_unsigned = match place {
                Place::Expression(expression) => self.unsigned.contains(&range_of(expression).start),
                _ => false,
            };
            let context = Context { replacements, is_unsigned, ..self.context };
            for change in (operator.changes)(place, &context) {
                self.add(index, operator, form, place, change);
            }
        }
    }

    fn add(&mut self, index: usize, operator: &'static Operator, form: Form, place: Place<'_>, change: Change) {
        let point = match (&self.around, place) {
            (Some(around), _) if change.is_around => around.clone(),
            (_, Place::Arm(arm, _)) => {
                let (pattern, body) = (range_of(&arm.pat), range_of(&arm.body));
                let parts = ArmParts { pattern_end: pattern.end, body_start: body.start, body_end: body.end };
                Point { arm: Some(parts), ..Point::new(&change.range, form) }
            }
            // A part of a statement is an expression.
            (_, Place::Statement(statement)) if range_of(statement) != change.range => {
                Point::new(&change.range, Form::Expression)
            }
            _ => Point::new(&change.range, form),
        };
        let tag = tag(operator.name, place, &self.context, &change);
        let class = match tag {
            Some("TMR-S") => Class::Time,
            Some("RST") => Class::State,
            _ => operator.class,
        };
        let tier = match operator.tier {
            Tier::B => 0,
            Tier::A => 1,
            Tier::C => 2,
        };
        let rank = (change.stands_in, tier, index);
        let change =
            if point.range() == change.range { change } else { Change { infection: Infection::Reached, ..change } };
        let (operator, tier) = (operator.name, operator.tier);
        self.found
            .push(Found { candidate: Candidate { operator, tier, class, tag, change, point, elsewhere: None }, rank });
    }

    pub(super) fn function(&mut self, body: &Block) {
        self.visit_block(body);
        self.values_of(body);
    }

    fn values_of(&mut self, block: &Block) {
        if let Some(Stmt::Expr(last, None)) = block.stmts.last() {
            self.values(last);
        }
    }

    /// Looks at the expressions whose values an expression has, one for each way through it.
    fn values(&mut self, expression: &Expr) {
        match expression {
            Expr::If(inner) => {
                let Some((_, otherwise)) = &inner.else_branch else { return };
                self.values_of(&inner.then_branch);
                self.values(otherwise);
            }
            Expr::Match(inner) => inner.arms.iter().for_each(|arm| self.values(&arm.body)),
            Expr::Block(inner) if inner.label.is_none() => self.values_of(&inner.block),
            Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => {}
            Expr::Macro(inner) if diverges(&inner.mac) => {}
            Expr::Loop(_) | Expr::While(_) | Expr::ForLoop(_) | Expr::Block(_) | Expr::Unsafe(_) => {}
            _ => self.look(Form::Expression, Place::Value(expression)),
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

fn is_compound(condition: &Expr) -> bool {
    match condition {
        Expr::Paren(inner) => is_compound(&inner.expr),
        Expr::Binary(_) => true,
        _ => false,
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        if let Stmt::Expr(expression, Some(_)) = statement
            && self.only_tells(expression)
        {
            return;
        }
        self.look(Form::Statement, Place::Statement(statement));
        self.statement = matches!(statement, Stmt::Expr(..)).then(|| range_of(statement));
        visit::visit_stmt(self, statement);
        self.statement = None;
    }

    fn visit_expr(&mut self, expression: &'ast Expr) {
        let statement = self.statement.take();
        let around = self.around.take();
        if is_link(expression) {
            self.around = around.clone().or_else(|| Some(Point::new(&range_of(expression), Form::Expression)));
        }
        self.expression(expression, statement);
        self.around = around;
    }

    fn visit_arm(&mut self, arm: &'ast Arm) {
        let has_no_mutants = self.only_tells(&arm.body);
        if let Pat::Guard(guarded) = &arm.pat {
            if !binds(&guarded.guard) {
                self.look(Form::Expression, Place::Guard(&guarded.guard));
            }
            self.conditions(&guarded.guard);
            self.visit_expr(&guarded.guard);
        }
        match &*arm.body {
            Expr::Block(body) => self.body(&body.block),
            _ if has_no_mutants => {}
            body => self.look(Form::ArmBody, Place::ArmBody(body)),
        }
        if !has_no_mutants {
            self.visit_expr(&arm.body);
        }
    }

    fn visit_field_value(&mut self, field: &'ast syn::FieldValue) {
        // `Point { x }` has no place for anything but a name.
        if field.colon_token.is_some() {
            self.visit_expr(&field.expr);
        }
    }

    fn visit_pat(&mut self, _: &'ast Pat) {}

    fn visit_type(&mut self, _: &'ast Type) {}

    fn visit_generic_argument(&mut self, _: &'ast syn::GenericArgument) {}

    fn visit_item(&mut self, _: &'ast Item) {}

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
}

impl Finder<'_> {
    /// Whether an expression is a call of a method that only tells people what happens.
    fn only_tells(&self, expression: &Expr) -> bool {
        matches!(expression, Expr::MethodCall(call) if self.context.names.is(Kind::Tell, &call.method.to_string()))
    }

    /// Notes which parts of an expression are to be unsigned numbers.
    fn expect(&mut self, expression: &Expr) {
        let types = self.context.types;
        let mut expected: Vec<&Expr> = Vec::new();
        match expression {
            Expr::Binary(inner) if !matches!(inner.op, BinOp::Shl(_) | BinOp::Shr(_)) => {
                if types.is_unsigned(&inner.left) {
                    expected.push(&inner.right);
                }
                if types.is_unsigned(&inner.right) {
                    expected.push(&inner.left);
                }
            }
            Expr::Assign(inner) if types.is_unsigned(&inner.left) => expected.push(&inner.right),
            Expr::Index(inner) => expected.push(&inner.index),
            Expr::Range(inner) => {
                let ends = [inner.start.as_deref(), inner.end.as_deref()];
                if ends.into_iter().flatten().any(|end| types.is_unsigned(end)) {
                    expected.extend(ends.into_iter().flatten());
                }
            }
            Expr::Struct(inner) => {
                let ty = types.of(expression);
                expected.extend(inner.fields.iter().filter_map(|field| {
                    let Member::Named(member) = &field.member else { return None };
                    let ty = self.context.scope.field(ty.as_ref()?, &member.to_string())?;
                    is_unsigned_integer(&ty).then_some(&field.expr)
                }));
            }
            _ => {}
        }
        self.unsigned
            .extend(expected.into_iter().filter(|part| matches!(part, Expr::Lit(_))).map(|part| range_of(part).start));
    }

    fn expression(&mut self, expression: &Expr, statement: Option<Range<usize>>) {
        self.expect(expression);
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
            Expr::ForLoop(inner) => return self.for_loop(inner, expression, statement),
            Expr::Loop(inner) => self.body(&inner.body),
            Expr::Match(inner) => self.arms(&inner.arms),
            Expr::Binary(inner) if is_short_circuit(&inner.op) => self.conditions(expression),
            Expr::Binary(inner) if crate::syntax::purity::is_assignment(&inner.op) => {
                self.look(Form::Expression, Place::Expression(expression));
                self.target(&inner.left);
                return self.visit_expr(&inner.right);
            }
            Expr::Assign(inner) => {
                self.look(Form::Expression, Place::Expression(expression));
                self.target(&inner.left);
                return self.visit_expr(&inner.right);
            }
            Expr::Reference(inner) if inner.mutability.is_some() => return self.target(&inner.expr),
            Expr::Closure(_) | Expr::Async(_) => {
                let before = std::mem::replace(&mut self.is_nested, true);
                self.look(Form::Expression, Place::Expression(expression));
                visit::visit_expr(self, expression);
                self.is_nested = before;
                return;
            }
            Expr::Return(inner) if !self.is_nested => {
                if let Some(value) = &inner.expr {
                    self.values(value);
                }
            }
            Expr::Break(_) | Expr::Continue(_) => self.look(Form::Jump, Place::Jump(expression)),
            // What a macro makes of its tokens is not known, but for the few that are operators of their own.
            Expr::Macro(_) => return self.look(Form::Expression, Place::Expression(expression)),
            // A constant is not computed while the program runs.
            Expr::Const(_) => return,
            Expr::Repeat(inner) => return self.visit_expr(&inner.expr),
            _ => {}
        }
        self.look(Form::Expression, Place::Expression(expression));
        visit::visit_expr(self, expression);
    }

    /// Looks at what is computed on the way to a place that is written to.
    fn target(&mut self, expression: &Expr) {
        match expression {
            Expr::Paren(inner) => self.target(&inner.expr),
            Expr::Field(inner) => self.target(&inner.base),
            Expr::Unary(inner) if matches!(inner.op, UnOp::Deref(_)) => self.target(&inner.expr),
            Expr::Index(inner) => {
                self.target(&inner.expr);
                self.visit_expr(&inner.index);
            }
            Expr::Path(_) | Expr::Infer(_) => {}
            Expr::Tuple(inner) => inner.elems.iter().for_each(|element| self.target(element)),
            _ => self.visit_expr(expression),
        }
    }

    fn for_loop(&mut self, for_loop: &ExprForLoop, expression: &Expr, statement: Option<Range<usize>>) {
        self.body(&for_loop.body);
        let range = range_of(expression);
        // A statement that is a loop has no semicolon, and two expressions in parentheses after one another are a call.
        let point = match statement {
            Some(statement) if statement.start == range.start => Point::new(&statement, Form::Statement),
            _ => Point::new(&range, Form::Expression),
        };
        self.around = Some(point);
        self.look(Form::Expression, Place::Loop(for_loop));
        self.visit_expr(&for_loop.expr);
        self.around = None;
        self.visit_block(&for_loop.body);
    }

    fn arms(&mut self, arms: &[Arm]) {
        let Some((last, others)) = arms.split_last() else { return };
        let takes_all = match &last.pat {
            Pat::Wild(_) => true,
            // A name in capitals is a constant or a variant.
            Pat::Ident(pattern) => {
                pattern.subpat.is_none() && pattern.ident.to_string().starts_with(|letter: char| letter.is_lowercase())
            }
            _ => false,
        };
        for arm in others.iter().filter(|arm| takes_all && !matches!(arm.pat, Pat::Guard(_))) {
            self.look(Form::Arm, Place::Arm(arm, last));
        }
    }
}

/// Whether the value of an expression is made from the value of the one inside it, so that their types go together.
fn is_link(expression: &Expr) -> bool {
    matches!(
        expression,
        Expr::MethodCall(_)
            | Expr::Call(_)
            | Expr::Index(_)
            | Expr::Reference(_)
            | Expr::Paren(_)
            | Expr::Try(_)
            | Expr::Await(_)
            | Expr::Field(_)
            | Expr::Unary(_)
            | Expr::Cast(_)
            | Expr::Range(_)
    )
}
