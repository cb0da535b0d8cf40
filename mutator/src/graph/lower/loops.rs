//! Loops, labelled blocks, and what jumps out of them.

use simutant_outcomes::BranchOutcome;
use syn::{Block, Expr, ExprForLoop, ExprLoop, ExprWhile, Label, Lifetime};

use super::Lowering;
use super::control::{Control, Exit, Loop};
use super::shapes::{first_condition, name, probe_before};
use crate::graph::blocks::BlockId;
use crate::graph::events::{Anchor, Wrapped};
use crate::graph::sites::{ProbeSite, Side};
use crate::syntax::parts::range_of;

impl Lowering {
    pub(super) fn endless_loop(&mut self, expression: &ExprLoop, flow: Control) -> Control {
        let start = expression.body.brace_token.span.open().byte_range().end;
        let exits = flow.into_exits();
        let is_entered = !exits.is_empty();
        let head = self.new_block(exits, range_of(&expression.loop_token), Anchor::Insert(start), is_entered);
        self.turn(expression.label.as_ref(), head, |lowering| lowering.block(&expression.body, Control::In(head)))
    }

    pub(super) fn while_loop(&mut self, expression: &ExprWhile, flow: Control, start: Anchor) -> Control {
        let exits = flow.into_exits();
        let is_entered = !exits.is_empty();
        // The head is executed whenever the loop is reached: the loop's start stands for it.
        let head = self.new_block(exits, range_of(&expression.cond), start, is_entered);
        // The condition is evaluated each time round.
        let keyword = range_of(&expression.while_token);
        self.walk.cursor = is_entered.then(|| match first_condition(&expression.cond) {
            Expr::Let(_) => Anchor::Insert(keyword.end),
            first => probe_before(first),
        });
        self.walk.open();
        let decision = self.decision(&expression.cond, head);
        let start = expression.body.brace_token.span.open().byte_range().end;
        self.note_at(start, &decision.noted_if_true);
        self.walk.anchor(&Anchor::Insert(start), &decision.bound_if_true);
        if !decision.noted_if_false.is_empty() {
            let otherwise = Side::LoopElse { keyword, range: range_of(expression) };
            self.sites.push(ProbeSite::Branches(otherwise, decision.noted_if_false));
        }
        let body = Control::On(decision.if_true);
        let after = self.turn(expression.label.as_ref(), head, |lowering| lowering.block(&expression.body, body));
        self.walk.close();
        let mut exits = after.into_exits();
        exits.extend(decision.if_false);
        Control::On(exits)
    }

    pub(super) fn for_loop(&mut self, expression: &ExprForLoop, block: BlockId) -> Control {
        let items = range_of(&expression.expr);
        let iterates = self.new_branch(items.clone(), BranchOutcome::Iterate);
        let exhausted = self.new_branch(items.clone(), BranchOutcome::Exhausted);
        self.wrap_call(Wrapped::Items, [iterates, exhausted], items.clone());
        let (_, block) = self.deciding(vec![iterates, exhausted], |lowering| lowering.operand(&expression.expr, block));
        let exits = Control::In(block).into_exits();
        let pattern = range_of(&expression.pat);
        let head = self.new_block(exits, pattern.start..items.end, Anchor::After(items), true);
        self.walk.open();
        let bound = self.walk.bind(&expression.pat);
        let mut exits = vec![Exit::by(head, iterates)];
        self.bind_on(&mut exits, &bound);
        let start = expression.body.brace_token.span.open().byte_range().end;
        self.walk.anchor(&Anchor::Insert(start), &bound);
        let body = Control::On(exits);
        let after = self.turn(expression.label.as_ref(), head, |lowering| lowering.block(&expression.body, body));
        self.walk.close();
        let mut exits = after.into_exits();
        exits.push(Exit::by(head, exhausted));
        Control::On(exits)
    }

    /// Lowers one turn of a loop, and returns what breaks out of it.
    pub(super) fn turn(
        &mut self,
        label: Option<&Label>,
        head: BlockId,
        body: impl FnOnce(&mut Self) -> Control,
    ) -> Control {
        self.loops.push(Loop { label: label.map(name), head: Some(head), breaks: Vec::new() });
        let end = body(self);
        self.connect(end.into_exits(), Some(head));
        let ended = self.loops.pop().expect("it was pushed above");
        Control::On(ended.breaks)
    }

    pub(super) fn labelled(&mut self, block: &Block, label: Option<&Label>, begins: BlockId) -> Control {
        if label.is_none() {
            return self.block(block, Control::In(begins));
        }
        self.loops.push(Loop { label: label.map(name), head: None, breaks: Vec::new() });
        let flow = self.block(block, Control::In(begins));
        let ended = self.loops.pop().expect("it was pushed above");
        if ended.breaks.is_empty() {
            return flow;
        }
        let mut exits = flow.into_exits();
        exits.extend(ended.breaks);
        Control::On(exits)
    }

    /// Returns the index of the loop that a `break` or `continue` is about.
    pub(super) fn target(&self, label: Option<&Lifetime>, is_continue: bool) -> Option<usize> {
        let wanted = label.map(|label| label.ident.to_string());
        self.loops.iter().rposition(|candidate| match &wanted {
            Some(_) => candidate.label == wanted,
            None => candidate.head.is_some() || (!is_continue && candidate.label.is_none()),
        })
    }
}
