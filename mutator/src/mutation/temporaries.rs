//! Where the choice between the original and a mutant can be made without ending a temporary early.
//!
//! A choice is a `match`, and the arms of a `match` drop their temporaries. Around an expression whose temporaries live
//! on, it would release guards and borrows before the statement ends, in each run of the body that chooses. So the
//! choice moves outwards, to what ends those temporaries in the original: a statement, an arm, a condition, a tail.
//! Source: the Rust Reference, "Destructors", "Temporary scopes" and "Temporary lifetime extension". The arms of a
//! `match` that initializes a variable extend the lives of their temporaries as the initializer itself does.

use std::collections::HashMap;
use std::ops::Range;

use cargo_metadata::Edition;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{BinOp, Block, Expr, ExprBinary as Binary, Item, Pat, Stmt, UnOp};

use super::candidate::{Candidate, Form, Operation, Point};
use crate::syntax::parts::{binds, inside, is_place, peeled, range_of};
use crate::syntax::purity::{is_assignment, is_relation, is_short_circuit};
use crate::text::edit::{Piece, plain_text};

/// The temporaries of one function's body.
pub(super) struct Temporaries {
    edition: Edition,
    expressions: HashMap<Range<usize>, Place>,
    /// What ends the temporaries of the expression that comes next.
    scope: Point,
}

/// What is known of an expression.
struct Place {
    /// What ends its temporaries.
    scope: Point,
    /// Whether it makes any that outlive it.
    outlive: bool,
    /// Whether it is a condition of several that ends temporaries of its parts: another operator would not.
    ends_others: bool,
    /// The operation that it is, if its operands can be evaluated before a choice, and should.
    operation: Option<Operation>,
}

impl Temporaries {
    pub(super) fn new(body: &Block, edition: Edition) -> Self {
        let scope = Point::new(&inside(body), Form::Statement);
        let mut temporaries = Self { edition, expressions: HashMap::new(), scope };
        temporaries.body(body);
        temporaries
    }

    /// Returns where the choice of a candidate has to be made, if that is not at its point.
    pub(super) fn choice(&self, candidate: &Candidate, text: &str) -> Option<Point> {
        let point = &candidate.point;
        // What else can be changed ends its temporaries itself.
        if !matches!(point.form, Form::Expression | Form::Statement) {
            return None;
        }
        let Place { scope, outlive, ends_others, operation } = self.expressions.get(&point.range())?;
        if let Some(operation) = operation.as_ref().filter(|operation| combines(candidate, operation)) {
            return Some(Point { operation: Some(*operation), ..point.clone() });
        }
        let ends_them = scope.range() == point.range();
        let moves = !ends_them && (*outlive || self.replacement_outlives(candidate, *ends_others, text));
        moves.then(|| scope.clone())
    }

    /// Whether what stands at the point in a mutant has temporaries that outlive it.
    fn replacement_outlives(&self, candidate: &Candidate, ends_others: bool, text: &str) -> bool {
        let pieces = candidate.pieces();
        // Parts of the original that only operators and names are put between have no temporaries that it has not.
        let is_plain = |piece: &Piece| match piece {
            Piece::Text(text) => [" & ", " && ", " * "].contains(&&**text) || !text.contains(['&', '*', '.', '[', '{']),
            Piece::Source(_) => true,
            Piece::Owned(..) => false,
        };
        if !ends_others && pieces.iter().all(is_plain) {
            return false;
        }
        let replacement = plain_text(&pieces, text);
        syn::parse_str::<Expr>(&replacement).is_ok_and(|replacement| outlives(&replacement, self.edition))
    }

    fn within(&mut self, scope: Point, expression: &Expr) {
        let before = std::mem::replace(&mut self.scope, scope);
        self.visit_expr(expression);
        self.scope = before;
    }

    /// Looks at an expression that ends its temporaries itself.
    fn alone(&mut self, expression: &Expr) {
        self.within(Point::new(&range_of(expression), Form::Expression), expression);
    }

    /// Returns the scope that is a whole expression.
    fn whole(&self, expression: &Expr) -> Point {
        let range = range_of(expression);
        if self.scope.range() == range { self.scope.clone() } else { Point::new(&range, Form::Expression) }
    }

    /// Looks at a block that ends all of its temporaries.
    fn body(&mut self, block: &Block) {
        // Before 2024 the temporaries of a tail outlive the variables of its block.
        let has_variables = block.stmts.iter().any(|statement| matches!(statement, Stmt::Local(_)));
        let whole = Point::new(&inside(block), Form::Statement);
        self.statements(block, (self.edition < Edition::E2024 && has_variables).then_some(whole));
    }

    /// Looks at a block that is a part of an expression.
    fn inner(&mut self, block: &Block) {
        let of_tail = (self.edition < Edition::E2024).then(|| self.scope.clone());
        self.statements(block, of_tail);
    }

    /// Looks at the statements of a block, with what ends the temporaries of its tail if that does not do so itself.
    fn statements(&mut self, block: &Block, of_tail: Option<Point>) {
        for (index, statement) in block.stmts.iter().enumerate() {
            let range = range_of(statement);
            let is_last = index + 1 == block.stmts.len();
            match statement {
                Stmt::Local(local) => {
                    let Some(init) = &local.init else { continue };
                    self.alone(&init.expr);
                    if let Some((_, otherwise)) = &init.diverge {
                        self.alone(otherwise);
                    }
                }
                Stmt::Expr(expression, Some(_)) => self.alone(expression),
                Stmt::Expr(expression, None) if is_last => match &of_tail {
                    Some(scope) => self.within(scope.clone(), expression),
                    None => self.alone(expression),
                },
                // It has no semicolon: in parentheses, it would be called by what is in parentheses behind it.
                Stmt::Expr(expression, None) => self.within(Point::new(&range, Form::Statement), expression),
                Stmt::Macro(_) if is_last => {
                    if let Some(scope) = &of_tail {
                        let place = Place { scope: scope.clone(), outlive: true, ends_others: false, operation: None };
                        self.expressions.insert(range, place);
                    }
                }
                Stmt::Macro(_) | Stmt::Item(_) => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Temporaries {
    fn visit_expr(&mut self, expression: &'ast Expr) {
        let outlive = outlives(expression, self.edition);
        let place = || Place {
            scope: self.scope.clone(),
            outlive,
            ends_others: ends_others(expression, self.edition),
            operation: operation(expression, self.edition),
        };
        self.expressions.entry(range_of(expression)).or_insert_with(place);
        match expression {
            Expr::Binary(inner) if is_short_circuit(&inner.op) => {
                for operand in [&*inner.left, &*inner.right] {
                    if binds(operand) { self.visit_expr(operand) } else { self.alone(operand) }
                }
            }
            Expr::If(inner) => {
                if !binds(&inner.cond) {
                    self.alone(&inner.cond);
                } else if self.edition < Edition::E2024 {
                    self.visit_expr(&inner.cond);
                } else {
                    self.within(self.whole(expression), &inner.cond);
                }
                self.body(&inner.then_branch);
                match inner.else_branch.as_ref().map(|(_, otherwise)| &**otherwise) {
                    Some(Expr::Block(otherwise)) => self.body(&otherwise.block),
                    // Behind `else` there are braces.
                    Some(otherwise) => self.within(Point::new(&range_of(otherwise), Form::ArmBody), otherwise),
                    None => {}
                }
            }
            Expr::While(inner) => {
                if binds(&inner.cond) {
                    self.within(self.whole(expression), &inner.cond);
                } else {
                    self.alone(&inner.cond);
                }
                self.body(&inner.body);
            }
            Expr::ForLoop(inner) => {
                self.visit_expr(&inner.expr);
                self.body(&inner.body);
            }
            Expr::Loop(inner) => self.body(&inner.body),
            Expr::Match(inner) => {
                self.visit_expr(&inner.expr);
                for arm in &inner.arms {
                    if let Pat::Guard(guarded) = &arm.pat {
                        if binds(&guarded.guard) { self.visit_expr(&guarded.guard) } else { self.alone(&guarded.guard) }
                    }
                    match &*arm.body {
                        Expr::Block(body) if body.label.is_none() => self.body(&body.block),
                        body => self.within(Point::new(&range_of(body), Form::ArmBody), body),
                    }
                }
            }
            Expr::Closure(inner) => match &*inner.body {
                Expr::Block(body) if body.label.is_none() => self.body(&body.block),
                body => self.alone(body),
            },
            Expr::Async(inner) => self.body(&inner.block),
            Expr::Block(inner) => self.inner(&inner.block),
            Expr::Unsafe(inner) => self.inner(&inner.block),
            Expr::Const(_) => {}
            _ => visit::visit_expr(self, expression),
        }
    }

    fn visit_block(&mut self, block: &'ast Block) {
        self.body(block);
    }

    fn visit_item(&mut self, _: &'ast Item) {}

    fn visit_pat(&mut self, _: &'ast Pat) {}

    fn visit_type(&mut self, _: &'ast syn::Type) {}
}

/// Returns the operands of an operation that moves their values: those that have temporaries are evaluated before a
/// choice, and so is the left one if it is an operation itself. In a chain of operations each mutant would have a copy of
/// all operands before it, otherwise.
fn operation(expression: &Expr, edition: Edition) -> Option<Operation> {
    let Expr::Binary(Binary { left, op, right, .. }) = expression else { return None };
    let is_chain = |is_kind: fn(&BinOp) -> bool| matches!(peeled(left), Expr::Binary(left) if is_kind(&left.op));
    let (shares_left, shares_right) = if is_arithmetic(op) {
        let shares_right = outlives(right, edition);
        (is_chain(is_arithmetic) || shares_right || outlives(left, edition), shares_right)
    } else {
        (
            is_short_circuit(op)
                && is_chain(is_short_circuit)
                && !binds(expression)
                && !ends_others(expression, edition),
            false,
        )
    };
    let (left_end, right_start) = (range_of(left).end, range_of(right).start);
    shares_left.then_some(Operation { left_end, right_start, shares_right })
}

fn is_arithmetic(operator: &BinOp) -> bool {
    !is_relation(operator) && !is_assignment(operator)
}

/// Whether an expression combines conditions, and ends temporaries of them.
fn ends_others(expression: &Expr, edition: Edition) -> bool {
    let Expr::Binary(binary) = expression else { return false };
    let of = |operand: &Expr| outlives(operand, edition) || ends_others(peeled(operand), edition);
    is_short_circuit(&binary.op) && (of(&binary.left) || of(&binary.right))
}

/// Whether a mutant of an operation does nothing but combine the values of its operands in another way.
fn combines(candidate: &Candidate, operation: &Operation) -> bool {
    let point = candidate.point.range();
    let (left, right) = (point.start..operation.left_end, operation.right_start..point.end);
    let (mut lefts, mut rights) = (0, 0);
    for piece in candidate.pieces() {
        match piece {
            Piece::Source(range) if range == left => lefts += 1,
            Piece::Source(range) if range == right => rights += 1,
            Piece::Text(text) if !text.contains(|letter: char| letter.is_alphanumeric()) => {}
            _ => return false,
        }
    }
    lefts == 1 && (rights == 1 || rights == 0 && !operation.shares_right)
}

/// Whether evaluating an expression leaves temporaries behind that may have something to do when they are dropped: each
/// value that is used as a place and not known to be a number, a truth value or a reference.
fn outlives(expression: &Expr, edition: Edition) -> bool {
    let any = |expression: &Expr| outlives(expression, edition);
    let used_as_place = |expression: &Expr| {
        let is_value = !is_place(expression) || is_constant(expression);
        outlives(expression, edition) || is_value && !is_idle(expression)
    };
    match expression {
        Expr::MethodCall(call) => used_as_place(&call.receiver) || call.args.iter().any(any),
        Expr::Reference(inner) => used_as_place(&inner.expr),
        Expr::RawAddr(inner) => used_as_place(&inner.expr),
        Expr::Field(inner) => used_as_place(&inner.base),
        Expr::Index(inner) => used_as_place(&inner.expr) || any(&inner.index),
        Expr::Unary(inner) if matches!(inner.op, UnOp::Deref(_)) => used_as_place(&inner.expr),
        Expr::Unary(inner) => any(&inner.expr),
        Expr::Binary(inner) if is_short_circuit(&inner.op) => false,
        Expr::Binary(inner) if is_relation(&inner.op) => used_as_place(&inner.left) || used_as_place(&inner.right),
        Expr::Binary(inner) => any(&inner.left) || any(&inner.right),
        Expr::Assign(inner) => any(&inner.left) || any(&inner.right),
        // A function that is named leaves nothing behind.
        Expr::Call(call) => {
            !matches!(*call.func, Expr::Path(_)) && used_as_place(&call.func) || call.args.iter().any(any)
        }
        Expr::Await(inner) => any(&inner.base),
        Expr::Try(inner) => any(&inner.expr),
        Expr::Paren(inner) => any(&inner.expr),
        Expr::Group(inner) => any(&inner.expr),
        Expr::Cast(inner) => any(&inner.expr),
        Expr::Range(inner) => inner.start.iter().chain(&inner.end).any(|end| any(end)),
        Expr::Tuple(inner) => inner.elems.iter().any(any),
        Expr::Array(inner) => inner.elems.iter().any(any),
        Expr::Repeat(inner) => any(&inner.expr),
        Expr::Struct(inner) => {
            inner.fields.iter().any(|field| any(&field.expr)) || inner.rest.as_deref().is_some_and(used_as_place)
        }
        Expr::If(inner) => edition < Edition::E2024 && bound(&inner.cond).into_iter().any(used_as_place),
        Expr::Match(inner) => used_as_place(&inner.expr),
        Expr::ForLoop(inner) => any(&inner.expr),
        Expr::Block(inner) => edition < Edition::E2024 && tail(&inner.block).is_some_and(any),
        Expr::Unsafe(inner) => edition < Edition::E2024 && tail(&inner.block).is_some_and(any),
        Expr::Macro(inner) => macro_outlives(&inner.mac),
        Expr::Lit(_) | Expr::Path(_) | Expr::Infer(_) | Expr::Closure(_) | Expr::Async(_) | Expr::Const(_) => false,
        // What ends its temporaries itself, and what never has a value.
        Expr::While(_) | Expr::Loop(_) | Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => false,
        _ => true,
    }
}

/// Returns the last expression of a block, if that is its value.
fn tail(block: &Block) -> Option<&Expr> {
    match block.stmts.last() {
        Some(Stmt::Expr(expression, None)) => Some(expression),
        _ => None,
    }
}

/// Returns what the `let`s of a condition look at.
fn bound(condition: &Expr) -> Vec<&Expr> {
    match condition {
        Expr::Let(inner) => vec![&inner.expr],
        Expr::Binary(inner) => [bound(&inner.left), bound(&inner.right)].concat(),
        _ => Vec::new(),
    }
}

/// Whether an expression is a path to what looks like a constant, a variant or a type, which is a value.
fn is_constant(expression: &Expr) -> bool {
    let Expr::Path(path) = peeled(expression) else { return false };
    path.path.segments.last().is_some_and(|segment| segment.ident.to_string().starts_with(char::is_uppercase))
}

/// Whether a value has nothing to do when it is dropped.
fn is_idle(expression: &Expr) -> bool {
    match peeled(expression) {
        Expr::Lit(_) | Expr::Cast(_) | Expr::Closure(_) | Expr::Reference(_) | Expr::RawAddr(_) => true,
        Expr::Unary(inner) => is_idle(&inner.expr),
        Expr::Binary(inner) => is_relation(&inner.op) || is_idle(&inner.left) && is_idle(&inner.right),
        Expr::Range(inner) => inner.start.iter().chain(&inner.end).all(|end| is_idle(end)),
        Expr::Tuple(inner) => inner.elems.iter().all(is_idle),
        Expr::Array(inner) => inner.elems.iter().all(is_idle),
        _ => false,
    }
}

/// Macros of the standard library that drop the temporaries of their arguments before they return.
const CLOSED_MACROS: [&str; 12] = [
    "assert",
    "debug_assert",
    "eprint",
    "eprintln",
    "format",
    "panic",
    "print",
    "println",
    "todo",
    "unimplemented",
    "unreachable",
    "stringify",
];

/// Macros of the standard library whose temporaries are those of the expressions in them.
const OPEN_MACROS: [&str; 2] = ["matches", "vec"];

fn macro_outlives(mac: &syn::Macro) -> bool {
    let Some(name) = mac.path.segments.last().map(|segment| segment.ident.to_string()) else { return true };
    if CLOSED_MACROS.contains(&&*name) {
        return false;
    }
    !OPEN_MACROS.contains(&&*name) || calls(mac.tokens.clone())
}

/// Whether tokens may call something.
fn calls(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => group.delimiter() != Delimiter::Bracket || calls(group.stream()),
        TokenTree::Punct(punct) => matches!(punct.as_char(), '!' | '&'),
        _ => false,
    })
}
