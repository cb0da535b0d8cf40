//! `if` and `match`, and the alternatives that they lead to.

use simutant_outcomes::BranchOutcome;
use syn::{Expr, ExprIf, ExprMatch, Pat};

use super::Lowering;
use super::control::{Control, Exit};
use super::shapes::{is_light, probe_before};
use crate::graph::blocks::BlockId;
use crate::graph::decision::DecisionSite;
use crate::graph::events::{Anchor, EventId};
use crate::graph::sites::{ProbeSite, Side};
use crate::syntax::parts::{binds, range_of};

impl Lowering {
    /// Lowers an expression that stands behind `else` or `=>`: a block of statements, or put into one. `bound` is what
    /// patterns bind on the way to it.
    pub(super) fn alternative(
        &mut self,
        expression: &Expr,
        exits: Vec<Exit>,
        noted: &[usize],
        bound: &[EventId],
    ) -> Control {
        if let Expr::Block(inner) = expression
            && inner.label.is_none()
        {
            let start = inner.block.brace_token.span.open().byte_range().end;
            self.note_at(start, noted);
            self.walk.anchor(&Anchor::Insert(start), bound);
            return self.block(&inner.block, Control::On(exits));
        }
        let predicate = self.walk.predicate.take();
        let range = range_of(expression);
        self.sites.push(ProbeSite::Branches(Side::Body(range.clone()), noted.to_vec()));
        self.walk.anchor(&Anchor::Body(range.clone()), bound);
        let block = self.enter(Control::On(exits), range.start..range.start, Anchor::Body(range));
        let flow = self.expression(expression, block);
        self.walk.predicate = predicate;
        flow
    }

    pub(super) fn if_else(&mut self, expression: &ExprIf, block: BlockId) -> Control {
        self.walk.open();
        let decision = self.decision(&expression.cond, block);
        if expression.else_branch.is_none() && is_light(&expression.then_branch) {
            self.walk.flow.light.extend(decision.if_true.iter().filter_map(|exit| exit.branch));
        }
        let start = expression.then_branch.brace_token.span.open().byte_range().end;
        self.note_at(start, &decision.noted_if_true);
        self.walk.anchor(&Anchor::Insert(start), &decision.bound_if_true);
        let mut exits = self.block(&expression.then_branch, Control::On(decision.if_true)).into_exits();
        self.walk.close();
        match &expression.else_branch {
            Some((_, otherwise)) => {
                let flow = self.alternative(otherwise, decision.if_false, &decision.noted_if_false, &[]);
                exits.extend(flow.into_exits());
            }
            None => {
                if !decision.noted_if_false.is_empty() {
                    let otherwise = Side::Else(range_of(expression));
                    self.sites.push(ProbeSite::Branches(otherwise, decision.noted_if_false));
                }
                exits.extend(decision.if_false);
            }
        }
        Control::On(exits)
    }

    pub(super) fn match_arms(&mut self, expression: &ExprMatch, block: BlockId) -> Control {
        if let [only] = &expression.arms[..]
            && !matches!(only.pat, Pat::Guard(_))
        {
            let block = self.operand(&expression.expr, block);
            self.extend(block, range_of(&expression.expr));
            self.walk.open();
            let bound = self.walk.bind(&only.pat);
            let body = range_of(&only.body);
            let anchor = match &*only.body {
                Expr::Block(inner) if inner.label.is_none() => {
                    Anchor::Insert(inner.block.brace_token.span.open().byte_range().end)
                }
                _ => Anchor::Body(body),
            };
            self.bind_in(block, &anchor, &bound);
            self.walk.cursor = Some(anchor);
            let predicate = self.walk.predicate.take();
            let flow = self.expression(&only.body, block);
            self.walk.predicate = predicate;
            self.walk.cursor = Some(Anchor::After(range_of(expression)));
            self.walk.close();
            return flow;
        }
        let (predicate, block) = self.deciding(Vec::new(), |lowering| lowering.operand(&expression.expr, block));
        self.extend(block, range_of(&expression.expr));
        let mut exits = Vec::new();
        let mut passed_on = Vec::new();
        for (index, arm) in expression.arms.iter().enumerate() {
            let branch = self.new_branch(range_of(&arm.pat), BranchOutcome::Arm(index));
            let mut incoming = std::mem::take(&mut passed_on);
            incoming.push(Exit::by(block, branch));
            self.walk.flow.predicates[predicate].push(branch);
            self.walk.open();
            let bound = self.walk.bind(&arm.pat);
            self.bind_on(&mut incoming, &bound);
            let flow = match &arm.pat {
                Pat::Guard(guarded) if !binds(&guarded.guard) => {
                    let range = range_of(&guarded.guard);
                    self.sites.push(ProbeSite::Branches(Side::Operand(range.clone()), vec![branch]));
                    self.walk.flow.decisions.extend(DecisionSite::new(&guarded.guard));
                    self.walk.anchor(&probe_before(&guarded.guard), &bound);
                    let guard = self.new_block(incoming, range, probe_before(&guarded.guard), true);
                    let decision = self.condition(&guarded.guard, guard, false);
                    passed_on = decision.if_false;
                    self.alternative(&arm.body, decision.if_true, &[], &[])
                }
                _ => self.alternative(&arm.body, incoming, &[branch], &bound),
            };
            self.walk.close();
            exits.extend(flow.into_exits());
        }
        exits.extend(passed_on);
        Control::On(exits)
    }
}
