//! Expressions, in the order in which their parts are evaluated.

use std::ops::Range;

use simutant_outcomes::BranchOutcome;
use syn::{BinOp, Expr, UnOp};

use super::Lowering;
use super::control::{Control, Exit};
use super::shapes::probe_before;
use crate::graph::blocks::BlockId;
use crate::graph::events::{Anchor, EventId, Wrapped};
use crate::graph::walk::literal_fields;
use crate::syntax::parts::{diverges, range_of};
use crate::syntax::purity::{is_assignment, is_short_circuit};

impl Lowering {
    /// Lowers an expression that an enclosing one takes a value of. Returns the block that control is in afterwards: a
    /// new one, where the ways out of the expression join, if it branches.
    pub(super) fn operand(&mut self, expression: &Expr, block: BlockId) -> BlockId {
        match self.expression(expression, block) {
            Control::In(block) => block,
            flow => {
                let range = range_of(expression);
                self.enter(flow, range.end..range.end, Anchor::After(range))
            }
        }
    }

    /// Lowers operands in their order. Returns the block that control is in after the last.
    pub(super) fn operands<'e>(&mut self, expressions: impl IntoIterator<Item = &'e Expr>, block: BlockId) -> BlockId {
        expressions.into_iter().fold(block, |block, expression| self.operand(expression, block))
    }

    /// Lowers an expression whose evaluation begins in `block`. Returns where control is afterwards: in a block if it
    /// runs straight on, or on the edges out of it if it branches, which the caller joins or directs to its own
    /// targets. There is no such edge if control never comes out.
    ///
    /// One arm for each kind of expression: those with control flow return early, and the others lower their operands
    /// in the order of evaluation.
    pub(super) fn expression(&mut self, expression: &Expr, block: BlockId) -> Control {
        let range = range_of(expression);
        let last = match expression {
            Expr::Paren(inner) => return self.expression(&inner.expr, block),
            Expr::Group(inner) => return self.expression(&inner.expr, block),
            Expr::If(inner) => return self.if_else(inner, block),
            Expr::Match(inner) => return self.match_arms(inner, block),
            Expr::Loop(inner) => return self.endless_loop(inner, Control::In(block)),
            Expr::While(inner) => return self.while_loop(inner, Control::In(block), Anchor::Before(range)),
            Expr::ForLoop(inner) => return self.for_loop(inner, block),
            Expr::Block(inner) => {
                let flow = self.labelled(&inner.block, inner.label.as_ref(), block);
                self.walk.cursor = Some(Anchor::After(range));
                return flow;
            }
            Expr::Unsafe(inner) => {
                let flow = self.block(&inner.block, Control::In(block));
                self.walk.cursor = Some(Anchor::After(range));
                return flow;
            }
            Expr::Binary(inner) if is_short_circuit(&inner.op) => {
                let decision = self.condition(&inner.left, block, false);
                let (goes_on, decided) = match inner.op {
                    BinOp::And(_) => (decision.if_true, decision.if_false),
                    _ => (decision.if_false, decision.if_true),
                };
                let right = range_of(&inner.right);
                let block = self.new_block(goes_on, right.clone(), probe_before(&inner.right), true);
                let mut exits = self.expression(&inner.right, block).into_exits();
                exits.extend(decided);
                return Control::On(exits);
            }
            Expr::Await(inner) => {
                let block = self.operand(&inner.base, block);
                self.extend(block, range.clone());
                self.walk.exchange(block, None, range);
                return Control::On(vec![Exit::of(block)]);
            }
            Expr::Try(inner) => {
                let operand = range_of(&inner.expr);
                let question = inner.question_token.span.byte_range();
                let continues = self.new_branch(question.clone(), BranchOutcome::Continue);
                let returns = self.new_branch(question, BranchOutcome::Return);
                self.wrap_call(Wrapped::Attempt, [continues, returns], operand);
                let (_, block) =
                    self.deciding(vec![continues, returns], |lowering| lowering.operand(&inner.expr, block));
                self.extend(block, range);
                self.connect(vec![Exit::by(block, returns)], None);
                return Control::On(vec![Exit::by(block, continues)]);
            }
            Expr::Return(inner) => {
                let block = self.operands(inner.expr.as_deref(), block);
                self.extend(block, range);
                self.leave(Control::In(block));
                return Control::On(Vec::new());
            }
            Expr::Break(inner) => {
                let block = self.operands(inner.expr.as_deref(), block);
                self.extend(block, range);
                let target = self.target(inner.label.as_ref(), false);
                if let Some(target) = target {
                    self.loops[target].breaks.push(Exit::of(block));
                }
                return Control::On(Vec::new());
            }
            Expr::Continue(inner) => {
                self.extend(block, range);
                let head = self.target(inner.label.as_ref(), true).and_then(|target| self.loops[target].head);
                self.connect(vec![Exit::of(block)], head);
                return Control::On(Vec::new());
            }
            Expr::Closure(closure) => {
                let cursor = self.walk.cursor.clone();
                let calls = self.walk.leave_calls();
                let first = self.graph.blocks.len();
                self.walk.open_closure(block, closure.capture.is_some(), range.clone());
                let mut bound = Vec::new();
                closure.inputs.iter().for_each(|pattern| bound.extend(self.walk.bind(pattern)));
                self.nested(&closure.body, block, &bound);
                self.walk.close_closure(first..self.graph.blocks.len());
                self.walk.enter_calls(calls);
                self.walk.cursor = cursor;
                block
            }
            Expr::Async(inner) => {
                let cursor = self.walk.cursor.clone();
                let calls = self.walk.leave_calls();
                let first = self.graph.blocks.len();
                self.walk.open_closure(block, inner.capture.is_some(), range.clone());
                let exits = Control::In(block).into_exits();
                self.apart(|lowering| lowering.block(&inner.block, Control::On(exits)));
                self.walk.close_closure(first..self.graph.blocks.len());
                self.walk.enter_calls(calls);
                self.walk.cursor = cursor;
                block
            }
            Expr::Macro(inner) => {
                self.extend(block, range.clone());
                self.walk.macro_call(block, &inner.mac, range);
                return if diverges(&inner.mac) { Control::On(Vec::new()) } else { Control::In(block) };
            }
            Expr::Path(inner) => {
                self.walk.name(block, &inner.path, range.clone());
                block
            }
            Expr::Assign(inner) => {
                let block = self.operand(&inner.right, block);
                self.assignee(&inner.left, block, &range)
            }
            Expr::Binary(inner) if is_assignment(&inner.op) => {
                let block = self.operands([&*inner.left, &*inner.right], block);
                self.walk.define_after(block, &inner.left, range.clone());
                block
            }
            Expr::Binary(inner) => self.operands([&*inner.left, &*inner.right], block),
            Expr::Index(inner) => self.operands([&*inner.expr, &*inner.index], block),
            Expr::Range(inner) => self.operands(inner.start.as_deref().into_iter().chain(inner.end.as_deref()), block),
            Expr::Call(inner) => {
                self.walk.open_call();
                let block = self.operands(std::iter::once(&*inner.func).chain(&inner.args), block);
                self.walk.close_call(block, None, &inner.args.iter().collect::<Vec<_>>(), range.clone());
                if let Expr::Path(function) = &*inner.func {
                    let fields = (0..).zip(&inner.args).map(|(index, field)| (index.to_string(), range_of(field)));
                    self.walk.birth(block, &function.path, fields.collect(), range.clone());
                }
                block
            }
            Expr::MethodCall(inner) => {
                self.walk.open_call();
                let block = self.operands(std::iter::once(&*inner.receiver).chain(&inner.args), block);
                let method = inner.method.to_string();
                let arguments: Vec<&Expr> = inner.args.iter().collect();
                self.walk.close_call(block, Some((&inner.receiver, &method)), &arguments, range.clone());
                block
            }
            Expr::Struct(inner) => {
                let fields = inner.fields.iter().map(|field| &field.expr).chain(inner.rest.as_deref());
                let block = self.operands(fields, block);
                self.walk.birth(block, &inner.path, literal_fields(inner), range.clone());
                block
            }
            Expr::Array(inner) => self.operands(&inner.elems, block),
            Expr::Tuple(inner) => self.operands(&inner.elems, block),
            Expr::Unary(inner) => self.operand(&inner.expr, block),
            Expr::Reference(inner) => {
                let block = self.operand(&inner.expr, block);
                if inner.mutability.is_some() {
                    self.walk.borrow(block, &inner.expr);
                }
                block
            }
            Expr::RawAddr(inner) => self.operand(&inner.expr, block),
            Expr::Cast(inner) => self.operand(&inner.expr, block),
            Expr::Field(inner) => match self.walk.own_field(expression) {
                Some(name) => {
                    self.walk.use_field(block, name, range.clone());
                    block
                }
                None => self.operand(&inner.base, block),
            },
            Expr::Repeat(inner) => self.operand(&inner.expr, block),
            _ => block,
        };
        if last == block {
            self.extend(block, range);
        } else {
            // The block began after an operand: what is left of the expression is its own.
            let start = self.graph.blocks[last].range.start.max(range.start);
            self.extend(last, start..range.end);
        }
        Control::In(last)
    }

    /// Lowers the left side of an assignment, of which `whole` is all: what it assigns to is defined, not used.
    pub(super) fn assignee(&mut self, place: &Expr, block: BlockId, whole: &Range<usize>) -> BlockId {
        let assignees = |inner: &mut Self, places: &mut dyn Iterator<Item = &Expr>| {
            places.fold(block, |block, place| inner.assignee(place, block, whole))
        };
        match place {
            Expr::Infer(_) | Expr::Range(_) => block,
            Expr::Tuple(inner) => assignees(self, &mut inner.elems.iter()),
            Expr::Array(inner) => assignees(self, &mut inner.elems.iter()),
            Expr::Call(inner) => assignees(self, &mut inner.args.iter()),
            Expr::Struct(inner) => assignees(self, &mut inner.fields.iter().map(|field| &field.expr)),
            _ => {
                let block = self.inside_of_place(place, block);
                self.walk.define_after(block, place, whole.clone());
                block
            }
        }
    }

    /// Lowers what a place is computed from, but for the variable that it begins with.
    pub(super) fn inside_of_place(&mut self, place: &Expr, block: BlockId) -> BlockId {
        match place {
            Expr::Path(_) => block,
            Expr::Paren(inner) => self.inside_of_place(&inner.expr, block),
            Expr::Field(inner) => self.inside_of_place(&inner.base, block),
            Expr::Unary(inner) if matches!(inner.op, UnOp::Deref(_)) => self.inside_of_place(&inner.expr, block),
            Expr::Index(inner) => {
                let block = self.inside_of_place(&inner.expr, block);
                self.operand(&inner.index, block)
            }
            _ => self.operand(place, block),
        }
    }

    /// Lowers a body that is run apart from the function: its loops and returns are its own.
    pub(super) fn apart(&mut self, body: impl FnOnce(&mut Self) -> Control) {
        let loops = std::mem::take(&mut self.loops);
        let predicate = self.walk.predicate.take();
        let end = body(self);
        self.leave(end);
        self.walk.predicate = predicate;
        self.loops = loops;
    }

    /// Lowers the body of a closure.
    pub(super) fn nested(&mut self, body: &Expr, block: BlockId, bound: &[EventId]) {
        let mut exits = Control::In(block).into_exits();
        self.bind_on(&mut exits, bound);
        self.apart(|lowering| lowering.alternative(body, exits, &[], bound));
    }
}
