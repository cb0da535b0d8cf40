//! Finds the places in a function where the operators apply, and settles which of the changes become mutants.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;

use simutant_outcomes::{Class, Tier};
use syn::visit::{self, Visit};
use syn::{Arm, BinOp, Block, Expr, ExprForLoop, Item, Member, Pat, Stmt, Type, UnOp};

use crate::declarations::Declarations;
use crate::edit::{Piece, plain_text};
use crate::graph::diverges;
use crate::names::{Kind, Names};
use crate::operators::{self, Change, Context, Infection, Operator, Place, Spawner, binds, range_of};
use crate::selection::Selection;
use crate::source::FunctionSource;
use crate::types::{Types, is_unsigned_integer};

/// The syntax that a mutation point has to keep. Where two points have the same range, the one that stands first here
/// is outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    /// An arm of a `match`: its pattern does not match in the mutant.
    Arm,
    /// The body of an arm: what is put in its place needs braces.
    ArmBody,
    Statement,
    Block,
    Expression,
    /// A `break` or `continue`, which has no value that could be handed on.
    Jump,
}

/// Where the choice between original and mutant is made.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Point {
    pub(crate) start: usize,
    pub(crate) end: Reverse<usize>,
    pub(crate) form: Form,
    /// For [`Form::Arm`]: its parts.
    pub(crate) arm: Option<ArmParts>,
}

/// The parts of an arm without a guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ArmParts {
    pub(crate) pattern_end: usize,
    pub(crate) body_start: usize,
    pub(crate) body_end: usize,
}

impl Point {
    pub(crate) fn new(range: &Range<usize>, form: Form) -> Self {
        Self { start: range.start, end: Reverse(range.end), form, arm: None }
    }

    pub(crate) fn range(&self) -> Range<usize> {
        self.start..self.end.0
    }
}

/// A mutant that may or may not compile.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) operator: &'static str,
    pub(crate) tier: Tier,
    pub(crate) class: Class,
    pub(crate) tag: Option<&'static str>,
    /// What is changed; the point holds it.
    pub(crate) change: Change,
    pub(crate) point: Point,
}

impl Candidate {
    pub(crate) fn range(&self) -> &Range<usize> {
        &self.change.range
    }

    /// Returns what stands at the point in the mutant.
    pub(crate) fn pieces(&self) -> Vec<Piece> {
        let point = self.point.range();
        if point == self.change.range {
            return self.change.replacement.clone();
        }
        let mut pieces = vec![Piece::Source(point.start..self.change.range.start)];
        pieces.extend(self.change.replacement.iter().cloned());
        pieces.push(Piece::Source(self.change.range.end..point.end));
        pieces
    }

    /// Whether nothing is left of what is changed.
    pub(crate) fn is_deletion(&self) -> bool {
        match &self.change.replacement[..] {
            [] => true,
            [Piece::Text(text)] => matches!(text.as_str(), "" | "{}"),
            _ => false,
        }
    }
}

/// What is asked of the operators, and what they may know of the package.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings<'a> {
    pub(crate) selection: &'a Selection,
    pub(crate) declarations: &'a Declarations,
    pub(crate) names: &'a Names,
}

/// Returns the candidates in a function, in the order of their points; those of one point follow one another. No two of
/// them make the same text but for spaces, and none makes the original's.
pub(crate) fn candidates(function: &FunctionSource, text: &str, settings: &Settings<'_>) -> Vec<Candidate> {
    let Settings { selection, declarations, names } = *settings;
    let self_type = function.self_type.as_deref();
    let types = Types::new(declarations, names, self_type, &function.signature, &function.body, text);
    let mut labels = BlockLabels(BTreeSet::new());
    labels.visit_block(&function.body);
    let spawner = Spawner::of(&function.body, names);
    let context = Context {
        text,
        signature: &function.signature,
        declarations,
        names,
        types: &types,
        is_unsigned: false,
        block_labels: &labels.0,
        spawner: spawner.as_ref(),
        definition: operators::Definition::Reduced,
    };
    let mut finder = Finder {
        context,
        selection,
        found: Vec::new(),
        around: None,
        statement: None,
        unsigned: BTreeSet::new(),
        is_nested: false,
    };
    finder.function(&function.body);
    let mut found = finder.found;
    settle(&mut found, &function.range, text);
    found.sort_by(|left, right| {
        let order = |found: &Found| (found.candidate.point.clone(), found.candidate.change.range.start, found.rank);
        order(left).cmp(&order(right))
    });
    found.into_iter().map(|found| found.candidate).collect()
}

/// A candidate, and how telling the name of its operator is.
struct Found {
    candidate: Candidate,
    /// Less is more telling.
    rank: (bool, u8, usize),
}

/// Leaves out what is made already, under a more telling name.
fn settle(found: &mut Vec<Found>, function: &Range<usize>, text: &str) {
    found.sort_by_key(|found| found.rank);
    let original = Squeezed::new(text, function);
    let mut seen = BTreeSet::new();
    found.retain(|found| {
        let replacement = plain_text(&found.candidate.change.replacement, text);
        original.difference(found.candidate.range(), &replacement).is_some_and(|difference| seen.insert(difference))
    });
    let negated: Vec<Range<usize>> = found
        .iter()
        .filter(|found| found.candidate.operator == "COI")
        .map(|found| found.candidate.range().clone())
        .collect();
    found.retain(|found| {
        let range = found.candidate.range();
        let is_condition = |condition: &Range<usize>| {
            condition.end == range.end && condition.start <= range.start && {
                text[condition.start..range.start].chars().all(|letter| letter == '!' || letter.is_whitespace())
            }
        };
        !(found.candidate.change.is_negation && negated.iter().any(is_condition))
    });
}

/// A function's text without what formatting changes.
struct Squeezed {
    letters: Vec<u8>,
    /// For each byte of the text, from the function's start to one past its end: how many letters come before it.
    offsets: Vec<usize>,
    start: usize,
}

/// Where two texts begin to differ, how much of the first one does, and what the second one has there: the same for
/// each way to write the same change.
type Difference = (usize, usize, Vec<u8>);

impl Squeezed {
    fn new(text: &str, function: &Range<usize>) -> Self {
        let mut squeezed = Self { letters: Vec::new(), offsets: Vec::new(), start: function.start };
        let bytes = &text.as_bytes()[function.clone()];
        for (at, byte) in bytes.iter().enumerate() {
            if !byte.is_ascii_whitespace() {
                // Words do not grow together.
                let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
                let is_after_space = at > 0 && bytes[at - 1].is_ascii_whitespace();
                if is_after_space && is_word(byte) && squeezed.letters.last().is_some_and(is_word) {
                    squeezed.letters.push(b' ');
                }
                squeezed.offsets.push(squeezed.letters.len());
                squeezed.letters.push(*byte);
            } else {
                squeezed.offsets.push(squeezed.letters.len());
            }
        }
        squeezed.offsets.push(squeezed.letters.len());
        squeezed
    }

    /// Returns how the function differs in which `replacement` stands at `range`; `None` if it does not.
    fn difference(&self, range: &Range<usize>, replacement: &str) -> Option<Difference> {
        let start = self.offsets[range.start - self.start];
        let end = self.offsets[range.end - self.start];
        let new = Self::new(replacement, &(0..replacement.len())).letters;
        let length = self.letters.len() + new.len() - (end - start);
        // The letter at an offset of the changed text.
        let changed = |at: usize| match at.checked_sub(start) {
            None => self.letters[at],
            Some(inside) => new.get(inside).copied().unwrap_or_else(|| self.letters[at + end - start - new.len()]),
        };
        let shorter = length.min(self.letters.len());
        let same_before = (start..shorter).take_while(|&at| changed(at) == self.letters[at]).count() + start;
        let is_same_from_end = |back: &usize| changed(length - 1 - back) == self.letters[self.letters.len() - 1 - back];
        let same_after = (0..shorter - same_before).take_while(is_same_from_end).count();
        let middle: Vec<u8> = (same_before..length - same_after).map(changed).collect();
        let taken = self.letters.len() - same_after - same_before;
        (taken > 0 || !middle.is_empty()).then_some((same_before, taken, middle))
    }
}

struct Finder<'a> {
    context: Context<'a>,
    selection: &'a Selection,
    found: Vec<Found>,
    /// Where a choice can be made between two expressions of different types: around the chain of calls, or the loop,
    /// that uses them.
    around: Option<Point>,
    /// The statement whose expression comes next.
    statement: Option<Range<usize>>,
    /// Where expressions begin that are to be unsigned numbers.
    unsigned: BTreeSet<usize>,
    /// Whether a `return` here would be that of a closure or an async block.
    is_nested: bool,
}

impl<'a> Finder<'a> {
    fn look(&mut self, form: Form, place: Place<'_>) {
        for (index, operator) in operators::all().iter().enumerate() {
            let Some(definition) = self.selection.definition(operator.name()) else { continue };
            let is_unsigned = match place {
                Place::Expression(expression) => self.unsigned.contains(&range_of(expression).start),
                _ => false,
            };
            let context = Context { definition, is_unsigned, ..self.context };
            for change in operator.changes(place, &context) {
                self.add(index, *operator, form, place, change);
            }
        }
    }

    fn add(&mut self, index: usize, operator: &'static dyn Operator, form: Form, place: Place<'_>, change: Change) {
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
        let tag = tag(operator.name(), place, &self.context, &change);
        let class = match tag {
            Some("TMR-S") => Class::Time,
            Some("RST") => Class::State,
            _ => operator.class(),
        };
        let tier = match operator.tier() {
            Tier::B => 0,
            Tier::A => 1,
            Tier::C => 2,
        };
        let rank = (change.stands_in, tier, index);
        let change =
            if point.range() == change.range { change } else { Change { infection: Infection::Reached, ..change } };
        let (operator, tier) = (operator.name(), operator.tier());
        self.found.push(Found { candidate: Candidate { operator, tier, class, tag, change, point }, rank });
    }

    fn function(&mut self, body: &Block) {
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
                let name = types.of(expression).unwrap_or_default();
                expected.extend(inner.fields.iter().filter_map(|field| {
                    let Member::Named(member) = &field.member else { return None };
                    let ty = self.context.declarations.field(&name, &member.to_string())?;
                    is_unsigned_integer(ty).then_some(&field.expr)
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
            Expr::Binary(inner) if crate::purity::is_assignment(&inner.op) => {
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

/// Returns the name of the fault that a mutant of tier A amounts to.
fn tag(operator: &str, place: Place<'_>, context: &Context<'_>, change: &Change) -> Option<&'static str> {
    match (operator, place) {
        ("ROR", Place::Expression(Expr::Binary(relation))) if is_constant(change) => {
            let names = [&relation.left, &relation.right].map(|side| operators::last_name(side));
            let [Some(left), Some(right)] = names else { return None };
            let is_stamp = |name: &str| context.names.has_word(Kind::Generation, name);
            (left == right && is_stamp(&left)).then_some("TMR-S")
        }
        ("SDL", Place::Statement(Stmt::Expr(expression, _))) => operators::is_reset(expression).then_some("RST"),
        _ => None,
    }
}

fn is_constant(change: &Change) -> bool {
    matches!(&change.replacement[..], [Piece::Text(text)] if text == "true" || text == "false")
}

struct BlockLabels(BTreeSet<String>);

impl<'ast> Visit<'ast> for BlockLabels {
    fn visit_expr_block(&mut self, block: &'ast syn::ExprBlock) {
        if let Some(label) = &block.label {
            self.0.insert(label.name.ident.to_string());
        }
        visit::visit_expr_block(self, block);
    }
}

/// Returns the body's range without its braces.
pub(crate) fn inside(body: &Block) -> Range<usize> {
    let range = range_of(body);
    range.start + 1..range.end - 1
}

#[cfg(test)]
mod tests;
