//! Statements and blocks of them.

use simutant_outcomes::BranchOutcome;
use syn::{Block, Expr, Stmt};

use super::Lowering;
use super::control::{Control, Exit};
use crate::graph::events::Anchor;
use crate::syntax::parts::{diverges, range_of};

impl Lowering {
    pub(super) fn block(&mut self, block: &Block, mut flow: Control) -> Control {
        // Whatever the block's value decides, its statements do not.
        let predicate = self.walk.predicate.take();
        self.walk.open();
        let begins = Anchor::Insert(block.brace_token.span.open().byte_range().end);
        for (index, statement) in block.stmts.iter().enumerate() {
            // What comes first is noted with the block that begins there.
            let cursor = match flow {
                Control::In(known) if index == 0 && self.walk.flow.starts.get(&known) == Some(&begins) => {
                    begins.clone()
                }
                _ => Anchor::Insert(range_of(statement).start),
            };
            flow = self.statement(statement, flow, cursor);
        }
        self.walk.close();
        self.walk.predicate = predicate;
        flow
    }

    /// Lowers a statement whose first events are noted at `cursor`.
    pub(super) fn statement(&mut self, statement: &Stmt, flow: Control, cursor: Anchor) -> Control {
        let range = range_of(statement);
        let start = Anchor::Insert(range.start);
        self.walk.cursor = Some(cursor);
        match statement {
            Stmt::Item(_) => flow,
            Stmt::Macro(statement) => {
                let block = self.enter(flow, range.clone(), start);
                self.walk.macro_call(block, &statement.mac, range);
                if diverges(&statement.mac) { Control::On(Vec::new()) } else { Control::In(block) }
            }
            Stmt::Expr(Expr::Loop(expression), _) => self.endless_loop(expression, flow),
            Stmt::Expr(Expr::While(expression), _) => self.while_loop(expression, flow, start),
            Stmt::Expr(expression, _) => {
                let block = self.enter(flow, range.start..range.start, start);
                let end = self.expression(expression, block);
                self.cover_if_whole(block, &end, range);
                end
            }
            Stmt::Local(local) => {
                let block = self.enter(flow, range.start..range.start, start);
                let after = Anchor::Insert(range.end);
                let Some(init) = &local.init else {
                    // Declared, and defined by an assignment.
                    self.walk.bind(&local.pat);
                    self.extend(block, range);
                    return Control::In(block);
                };
                let Some((_, otherwise)) = &init.diverge else {
                    let mut end = self.expression(&init.expr, block);
                    self.cover_if_whole(block, &end, range);
                    let bound = self.walk.bind(&local.pat);
                    match &mut end {
                        Control::In(block) => self.bind_in(*block, &after, &bound),
                        Control::On(exits) => {
                            self.bind_on(exits, &bound);
                            self.walk.anchor(&after, &bound);
                        }
                    }
                    return end;
                };
                let pattern = range_of(&local.pat);
                let (predicate, block) = self.deciding(Vec::new(), |lowering| lowering.operand(&init.expr, block));
                let matches = self.new_branch(pattern.clone(), BranchOutcome::True);
                let fails = self.new_branch(pattern, BranchOutcome::False);
                self.walk.flow.predicates[predicate] = vec![matches, fails];
                self.note_at(range.end, &[matches]);
                let exits = vec![Exit::by(block, fails)];
                let end = self.alternative(otherwise, exits, &[fails], &[]);
                self.leave(end);
                let bound = self.walk.bind(&local.pat);
                let mut exits = vec![Exit::by(block, matches)];
                self.bind_on(&mut exits, &bound);
                self.walk.anchor(&after, &bound);
                Control::On(exits)
            }
        }
    }
}
