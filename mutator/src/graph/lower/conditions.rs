//! Conditions: short circuits, patterns, and what decides between branches.

use std::ops::Range;

use simutant_outcomes::BranchOutcome;
use syn::{BinOp, Expr, UnOp};

use super::Lowering;
use super::control::{Decision, Exit};
use super::shapes::probe_before;
use crate::graph::blocks::BlockId;
use crate::graph::decision::DecisionSite;
use crate::graph::events::{Anchor, Wrapped};
use crate::graph::sites::{ProbeSite, Side};
use crate::syntax::parts::{binds, is_place, range_of};
use crate::syntax::purity::is_short_circuit;

impl Lowering {
    /// Lowers what branches are decided by: its uses are p-uses. Returns the index of the predicate as well, whose
    /// branches may not be known yet.
    pub(super) fn deciding<T>(&mut self, branches: Vec<usize>, lower: impl FnOnce(&mut Self) -> T) -> (usize, T) {
        let predicate = self.walk.new_predicate(branches);
        let around = self.walk.predicate.replace(predicate);
        let lowered = lower(self);
        self.walk.predicate = around;
        (predicate, lowered)
    }

    /// Lowers a condition that is evaluated in `block`. `in_chain`: it is a part of a condition with a `let`.
    pub(super) fn condition(&mut self, condition: &Expr, block: BlockId, in_chain: bool) -> Decision {
        match condition {
            Expr::Paren(inner) => self.condition(&inner.expr, block, in_chain),
            Expr::Unary(inner) if matches!(inner.op, UnOp::Not(_)) => {
                self.extend(block, range_of(condition));
                let decision = self.condition(&inner.expr, block, in_chain);
                Decision {
                    if_true: decision.if_false,
                    if_false: decision.if_true,
                    noted_if_true: decision.noted_if_false,
                    noted_if_false: decision.noted_if_true,
                    ..Decision::default()
                }
            }
            Expr::Binary(inner) if is_short_circuit(&inner.op) => {
                let mut left = self.condition(&inner.left, block, in_chain);
                let is_and = matches!(inner.op, BinOp::And(_));
                let goes_on = std::mem::take(if is_and { &mut left.if_true } else { &mut left.if_false });
                let range = range_of(&inner.right);
                let begins = if let Expr::Let(binding) = &*inner.right {
                    // There is no place before a pattern; a value is handed on, a place is not touched.
                    let scrutinee = range_of(&binding.expr);
                    let can_be_wrapped = !is_place(&binding.expr) && !goes_on.is_empty();
                    let begins = self.new_block(goes_on, range, Anchor::After(scrutinee.clone()), can_be_wrapped);
                    if can_be_wrapped {
                        let before = Anchor::Before(scrutinee);
                        self.walk.anchor(&before, &std::mem::take(&mut left.bound_if_true));
                        self.walk.cursor = Some(before);
                    }
                    begins
                } else {
                    let bound = std::mem::take(&mut left.bound_if_true);
                    self.walk.anchor(&probe_before(&inner.right), &bound);
                    let noted = std::mem::take(&mut left.noted_if_true);
                    if !noted.is_empty() {
                        self.sites.push(ProbeSite::Branches(Side::Operand(range.clone()), noted));
                    }
                    self.new_block(goes_on, range, probe_before(&inner.right), true)
                };
                let mut right = self.condition(&inner.right, begins, in_chain);
                right.if_true.extend(left.if_true);
                right.if_false.extend(left.if_false);
                right.bound_if_true.extend(left.bound_if_true);
                right.noted_if_true.extend(left.noted_if_true);
                right.noted_if_false.extend(left.noted_if_false);
                right
            }
            Expr::Let(binding) => {
                let (predicate, block) = self.deciding(Vec::new(), |lowering| lowering.operand(&binding.expr, block));
                self.extend(block, range_of(condition));
                let range = range_of(condition);
                let matches = self.new_branch(range.clone(), BranchOutcome::True);
                let fails = (!in_chain).then(|| self.new_branch(range.clone(), BranchOutcome::False));
                self.walk.flow.predicates[predicate] = std::iter::once(matches).chain(fails).collect();
                if let Some(fails) = fails {
                    self.decide(&range, matches, fails);
                }
                let bound = self.walk.bind(&binding.pat);
                let mut if_true = vec![Exit::by(block, matches)];
                self.bind_on(&mut if_true, &bound);
                Decision {
                    if_true,
                    if_false: vec![Exit { from: block, branch: fails, binding: None }],
                    bound_if_true: bound,
                    noted_if_true: vec![matches],
                    noted_if_false: fails.into_iter().collect(),
                }
            }
            _ => {
                let range = range_of(condition);
                let holds = self.new_branch(range.clone(), BranchOutcome::True);
                let fails = self.new_branch(range.clone(), BranchOutcome::False);
                self.decide(&range, holds, fails);
                self.wrap_call(Wrapped::Condition, [holds, fails], range);
                let (_, block) = self.deciding(vec![holds, fails], |lowering| lowering.operand(condition, block));
                Decision {
                    if_true: vec![Exit::by(block, holds)],
                    if_false: vec![Exit::by(block, fails)],
                    ..Decision::default()
                }
            }
        }
    }

    /// Notes which branches a condition of a decision takes.
    pub(super) fn decide(&mut self, condition: &Range<usize>, holds: usize, fails: usize) {
        let conditions = self.walk.flow.decisions.iter_mut().flat_map(|decision| &mut decision.conditions);
        conditions.filter(|known| known.range == *condition).for_each(|known| known.branches = Some((holds, fails)));
    }

    /// Lowers the whole condition of an `if` or a `while`.
    pub(super) fn decision(&mut self, condition: &Expr, block: BlockId) -> Decision {
        let in_chain = binds(condition) && !matches!(condition, Expr::Let(_));
        if !in_chain {
            self.walk.flow.decisions.extend(DecisionSite::new(condition));
        }
        let mut decision = self.condition(condition, block, in_chain);
        if in_chain {
            let fails = self.new_branch(range_of(condition), BranchOutcome::False);
            decision.noted_if_false.push(fails);
            for exit in decision.if_false.iter_mut().filter(|exit| exit.branch.is_none()) {
                exit.branch = Some(fails);
            }
        }
        decision
    }
}
