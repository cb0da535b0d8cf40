//! From syntax to a control-flow graph.
//!
//! [`Lowering`] walks a function body in the order of evaluation. A [`Flow`] is where control is: inside a block, or on
//! its way out of several. A block is made only when there is code for it, with edges from all that is on its way.

use std::ops::Range;

use simutant_outcomes::BranchOutcome;
use syn::{BinOp, Block, Expr, ExprForLoop, ExprIf, ExprLoop, ExprMatch, ExprWhile, Label, Lifetime, Pat, Stmt, UnOp};

use super::{BasicBlock, BlockId, BranchSite, Edge, Graph, Lowered};
use crate::dataflow::{Anchor, DecisionSite, EventId, OutcomeProbes, Signature, Walk, Wrap, Wrapped, literal_fields};
use crate::edit::{COVERING, Edit, Piece};
use crate::operators::{binds, range_of};
use crate::purity::is_assignment;

/// Macros after which control does not go on.
const DIVERGING_MACROS: [&str; 4] = ["panic", "unreachable", "todo", "unimplemented"];

pub(super) fn lower(body: &Block, signature: &Signature, outcomes: &OutcomeProbes) -> Lowered {
    let mut lowering = Lowering {
        graph: Graph::default(),
        edits: Vec::new(),
        loops: Vec::new(),
        requirements: 0,
        walk: Walk::new(signature),
        outcomes,
    };
    let start = body.brace_token.span.open().byte_range().end;
    let entry = lowering.new_block(Vec::new(), start..start, Probe::Insert(start), true);
    let parameters = lowering.walk.bind_names(signature.parameters.clone());
    lowering.bind_in(entry, &Anchor::Insert(start), &parameters);
    let end = lowering.block(body, Flow::In(entry));
    lowering.leave(end);
    for block in &mut lowering.graph.blocks {
        if block.range.is_empty() && block.range.start == start {
            block.range = range_of(body);
        }
    }
    Lowered { graph: lowering.graph, flow: lowering.walk.flow, edits: lowering.edits }
}

/// Where control is.
#[derive(Debug)]
enum Flow {
    /// Inside a block that goes on.
    In(BlockId),
    /// On its way out of these; on no way at all where it cannot be.
    On(Vec<Exit>),
}

impl Flow {
    fn into_exits(self) -> Vec<Exit> {
        match self {
            Self::In(block) => vec![Exit::of(block)],
            Self::On(exits) => exits,
        }
    }
}

/// An edge whose target is not known yet.
#[derive(Debug, Clone, Copy)]
struct Exit {
    from: BlockId,
    branch: Option<usize>,
    /// What patterns bind on the way.
    binding: Option<usize>,
}

impl Exit {
    fn of(from: BlockId) -> Self {
        Self { from, branch: None, binding: None }
    }

    fn by(from: BlockId, branch: usize) -> Self {
        Self { from, branch: Some(branch), binding: None }
    }
}

/// Where the probe of a new block goes.
#[derive(Debug, Clone)]
enum Probe {
    /// Before a statement or at the start of a block of statements.
    Insert(usize),
    /// Before an expression whose temporaries live as long as before.
    Before(Range<usize>),
    /// Before an expression that becomes the value of a block: a body, whose temporaries end with it.
    Body(Range<usize>),
    /// After an expression, which is handed on.
    After(Range<usize>),
}

impl Probe {
    /// Returns where the definitions and uses at the beginning of the block are noted.
    fn anchor(&self) -> Anchor {
        match self.clone() {
            Self::Insert(at) => Anchor::Insert(at),
            Self::Before(range) => Anchor::Before(range),
            Self::Body(range) => Anchor::Body(range),
            Self::After(range) => Anchor::After(range),
        }
    }
}

/// What a condition leads to.
#[derive(Debug, Default)]
struct Decision {
    if_true: Vec<Exit>,
    if_false: Vec<Exit>,
    /// What its patterns bind if it holds, and no probe has noted yet.
    bound_if_true: Vec<EventId>,
    /// Branches that no probe at the condition can note: they are noted where the `true` side begins ...
    noted_if_true: Vec<usize>,
    /// ... and where the `false` side begins.
    noted_if_false: Vec<usize>,
}

#[derive(Debug)]
struct Loop {
    label: Option<String>,
    /// Where `continue` goes; `None` for a labelled block.
    head: Option<BlockId>,
    breaks: Vec<Exit>,
}

#[derive(Debug)]
struct Lowering<'a> {
    graph: Graph,
    edits: Vec<Edit>,
    loops: Vec<Loop>,
    /// How many blocks are requirements so far.
    requirements: usize,
    walk: Walk,
    /// What is put into the probes of branches.
    outcomes: &'a OutcomeProbes,
}

impl Lowering<'_> {
    fn new_block(&mut self, exits: Vec<Exit>, range: Range<usize>, probe: Probe, is_entered: bool) -> BlockId {
        let block = self.graph.blocks.len();
        self.graph.blocks.push(BasicBlock { range, is_entered });
        self.connect(exits, Some(block));
        self.walk.cursor = is_entered.then(|| probe.anchor());
        if is_entered {
            self.walk.flow.starts.insert(block, probe.anchor());
            let number = self.requirements;
            self.requirements += 1;
            let Some(&Some(number)) = self.outcomes.blocks.get(number) else { return block };
            self.edits.push(match probe {
                Probe::Insert(at) => {
                    Edit::insert(at, COVERING, vec![format!(" ::simutant_probe::mark({number}); ").into()])
                }
                Probe::Before(range) => Edit::wrap(
                    range,
                    COVERING,
                    vec![format!("(::simutant_probe::mark({number}), ").into()],
                    vec![").1".into()],
                ),
                Probe::Body(range) => Edit::wrap(
                    range,
                    COVERING,
                    vec![format!("{{ ::simutant_probe::mark({number}); ").into()],
                    vec![" }".into()],
                ),
                Probe::After(range) => Edit::wrap(
                    range,
                    COVERING,
                    vec![format!("::simutant_probe::pass({number}, ").into()],
                    vec![")".into()],
                ),
            });
        }
        block
    }

    fn connect(&mut self, exits: Vec<Exit>, to: Option<BlockId>) {
        self.graph.edges.extend(exits.into_iter().map(|Exit { from, branch, binding }| Edge {
            from,
            to,
            branch,
            binding,
        }));
    }

    /// Control leaves the function.
    fn leave(&mut self, flow: Flow) {
        self.connect(flow.into_exits(), None);
    }

    /// Returns the block that code at `range` belongs to, made if control is not in one.
    fn enter(&mut self, flow: Flow, range: Range<usize>, probe: Probe) -> BlockId {
        match flow {
            Flow::In(block) => {
                self.extend(block, range);
                block
            }
            Flow::On(exits) => {
                let is_entered = !exits.is_empty();
                self.new_block(exits, range, probe, is_entered)
            }
        }
    }

    fn extend(&mut self, block: BlockId, range: Range<usize>) {
        let known = &mut self.graph.blocks[block].range;
        *known = if known.start == known.end { range } else { known.start.min(range.start)..known.end.max(range.end) };
    }

    fn new_branch(&mut self, range: Range<usize>, outcome: BranchOutcome) -> usize {
        self.graph.branches.push(BranchSite { range, outcome });
        self.graph.branches.len() - 1
    }

    /// Notes branches at the start of a block of statements.
    fn note_at(&mut self, at: usize, branches: &[usize]) {
        if !branches.is_empty() {
            let text = self.noting(branches);
            self.edits.push(Edit::insert(at, COVERING, vec![text]));
        }
    }

    fn noting(&self, branches: &[usize]) -> Piece {
        let mut text = String::new();
        for branch in branches {
            text.push_str(&format!(" ::simutant_probe::mark({}); ", self.outcomes.first_branch + branch));
            text.push_str(self.outcomes.notes.get(branch).map_or("", String::as_str));
        }
        text.into()
    }

    fn block(&mut self, block: &Block, mut flow: Flow) -> Flow {
        // Whatever the block's value decides, its statements do not.
        let predicate = self.walk.predicate.take();
        self.walk.open();
        let begins = Anchor::Insert(block.brace_token.span.open().byte_range().end);
        for (index, statement) in block.stmts.iter().enumerate() {
            // What comes first is noted with the block that begins there.
            let cursor = match flow {
                Flow::In(known) if index == 0 && self.walk.flow.starts.get(&known) == Some(&begins) => begins.clone(),
                _ => Anchor::Insert(range_of(statement).start),
            };
            flow = self.statement(statement, flow, cursor);
        }
        self.walk.close();
        self.walk.predicate = predicate;
        flow
    }

    /// Definitions that are made in a block.
    fn bind_in(&mut self, block: BlockId, anchor: &Anchor, events: &[EventId]) {
        events.iter().for_each(|&event| self.walk.place(block, event));
        self.walk.anchor(anchor, events);
    }

    /// Definitions that are made on the way.
    fn bind_on(&mut self, exits: &mut [Exit], events: &[EventId]) {
        for exit in exits {
            exit.binding = self.walk.bound(exit.binding, events);
        }
    }

    /// Lowers what branches are decided by: its uses are p-uses. Returns the index of the predicate as well, whose
    /// branches may not be known yet.
    fn deciding<T>(&mut self, branches: Vec<usize>, lower: impl FnOnce(&mut Self) -> T) -> (usize, T) {
        let predicate = self.walk.new_predicate(branches);
        let around = self.walk.predicate.replace(predicate);
        let lowered = lower(self);
        self.walk.predicate = around;
        (predicate, lowered)
    }

    /// Lowers a statement whose first events are noted at `cursor`.
    fn statement(&mut self, statement: &Stmt, flow: Flow, cursor: Anchor) -> Flow {
        let range = range_of(statement);
        let start = Probe::Insert(range.start);
        self.walk.cursor = Some(cursor);
        match statement {
            Stmt::Item(_) => flow,
            Stmt::Macro(statement) => {
                let block = self.enter(flow, range.clone(), start);
                self.walk.macro_call(block, &statement.mac, range);
                if diverges(&statement.mac) { Flow::On(Vec::new()) } else { Flow::In(block) }
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
                    return Flow::In(block);
                };
                let Some((_, otherwise)) = &init.diverge else {
                    let mut end = self.expression(&init.expr, block);
                    self.cover_if_whole(block, &end, range);
                    let bound = self.walk.bind(&local.pat);
                    match &mut end {
                        Flow::In(block) => self.bind_in(*block, &after, &bound),
                        Flow::On(exits) => {
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
                Flow::On(exits)
            }
        }
    }

    /// A statement that is in one block as a whole is shown as a whole.
    fn cover_if_whole(&mut self, block: BlockId, end: &Flow, range: Range<usize>) {
        if matches!(end, Flow::In(last) if *last == block) {
            self.extend(block, range);
        }
    }

    /// Lowers an expression whose value is used by more code: control is in a block when it has been evaluated.
    fn operand(&mut self, expression: &Expr, block: BlockId) -> BlockId {
        match self.expression(expression, block) {
            Flow::In(block) => block,
            flow => {
                let range = range_of(expression);
                self.enter(flow, range.end..range.end, Probe::After(range))
            }
        }
    }

    fn operands<'e>(&mut self, expressions: impl IntoIterator<Item = &'e Expr>, block: BlockId) -> BlockId {
        expressions.into_iter().fold(block, |block, expression| self.operand(expression, block))
    }

    /// Lowers what is evaluated in `block`, and returns where control is afterwards.
    fn expression(&mut self, expression: &Expr, block: BlockId) -> Flow {
        let range = range_of(expression);
        let last = match expression {
            Expr::Paren(inner) => return self.expression(&inner.expr, block),
            Expr::Group(inner) => return self.expression(&inner.expr, block),
            Expr::If(inner) => return self.if_else(inner, block),
            Expr::Match(inner) => return self.match_arms(inner, block),
            Expr::Loop(inner) => return self.endless_loop(inner, Flow::In(block)),
            Expr::While(inner) => return self.while_loop(inner, Flow::In(block), Probe::Before(range)),
            Expr::ForLoop(inner) => return self.for_loop(inner, block),
            Expr::Block(inner) => {
                let flow = self.labelled(&inner.block, inner.label.as_ref(), block);
                self.walk.cursor = Some(Anchor::After(range));
                return flow;
            }
            Expr::Unsafe(inner) => {
                let flow = self.block(&inner.block, Flow::In(block));
                self.walk.cursor = Some(Anchor::After(range));
                return flow;
            }
            Expr::Binary(inner) if matches!(inner.op, BinOp::And(_) | BinOp::Or(_)) => {
                let decision = self.condition(&inner.left, block, false);
                let (goes_on, decided) = match inner.op {
                    BinOp::And(_) => (decision.if_true, decision.if_false),
                    _ => (decision.if_false, decision.if_true),
                };
                let right = range_of(&inner.right);
                let block = self.new_block(goes_on, right.clone(), probe_before(&inner.right), true);
                let mut exits = self.expression(&inner.right, block).into_exits();
                exits.extend(decided);
                return Flow::On(exits);
            }
            Expr::Await(inner) => {
                let block = self.operand(&inner.base, block);
                self.extend(block, range.clone());
                self.walk.exchange(block, None, range);
                return Flow::On(vec![Exit::of(block)]);
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
                return Flow::On(vec![Exit::by(block, continues)]);
            }
            Expr::Return(inner) => {
                let block = self.operands(inner.expr.as_deref(), block);
                self.extend(block, range);
                self.leave(Flow::In(block));
                return Flow::On(Vec::new());
            }
            Expr::Break(inner) => {
                let block = self.operands(inner.expr.as_deref(), block);
                self.extend(block, range);
                let target = self.target(inner.label.as_ref(), false);
                if let Some(target) = target {
                    self.loops[target].breaks.push(Exit::of(block));
                }
                return Flow::On(Vec::new());
            }
            Expr::Continue(inner) => {
                self.extend(block, range);
                let head = self.target(inner.label.as_ref(), true).and_then(|target| self.loops[target].head);
                self.connect(vec![Exit::of(block)], head);
                return Flow::On(Vec::new());
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
                let exits = Flow::In(block).into_exits();
                self.apart(|lowering| lowering.block(&inner.block, Flow::On(exits)));
                self.walk.close_closure(first..self.graph.blocks.len());
                self.walk.enter_calls(calls);
                self.walk.cursor = cursor;
                block
            }
            Expr::Macro(inner) => {
                self.extend(block, range.clone());
                self.walk.macro_call(block, &inner.mac, range);
                return if diverges(&inner.mac) { Flow::On(Vec::new()) } else { Flow::In(block) };
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
        Flow::In(last)
    }

    /// Lowers the left side of an assignment, of which `whole` is all: what it assigns to is defined, not used.
    fn assignee(&mut self, place: &Expr, block: BlockId, whole: &Range<usize>) -> BlockId {
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
    fn inside_of_place(&mut self, place: &Expr, block: BlockId) -> BlockId {
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

    fn wrap_call(&mut self, wrapped: Wrapped, branches: [usize; 2], range: Range<usize>) {
        self.walk.flow.wrapped.insert(branches[0], wrapped);
        let first = self.outcomes.first_branch + branches[0];
        let none = Wrap::default();
        let Wrap { held, is_selection, decision: (before, after) } =
            self.outcomes.wraps.get(&branches[0]).unwrap_or(&none);
        let (count, held) = (held.len(), held.join(", "));
        let (before, after) = match wrapped {
            Wrapped::Condition => {
                let function = if *is_selection { "select" } else { "branch" };
                (format!("::simutant_probe::{function}({before}"), format!("{after}, {first}, [{held}])"))
            }
            Wrapped::Attempt => ("::simutant_probe::question(".to_owned(), format!(", {first}, [{held}])")),
            Wrapped::Items => (format!("::simutant_probe::iterate::<{first}, {count}, _>("), format!(", [{held}])")),
        };
        self.edits.push(Edit::wrap(range, COVERING, vec![before.into()], vec![after.into()]));
    }

    /// Lowers a condition that is evaluated in `block`. `in_chain`: it is a part of a condition with a `let`.
    fn condition(&mut self, condition: &Expr, block: BlockId, in_chain: bool) -> Decision {
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
            Expr::Binary(inner) if matches!(inner.op, BinOp::And(_) | BinOp::Or(_)) => {
                let mut left = self.condition(&inner.left, block, in_chain);
                let is_and = matches!(inner.op, BinOp::And(_));
                let goes_on = std::mem::take(if is_and { &mut left.if_true } else { &mut left.if_false });
                let range = range_of(&inner.right);
                let begins = if let Expr::Let(binding) = &*inner.right {
                    // There is no place before a pattern; a value is handed on, a place is not touched.
                    let scrutinee = range_of(&binding.expr);
                    let can_be_wrapped = !is_place(&binding.expr) && !goes_on.is_empty();
                    let begins = self.new_block(goes_on, range, Probe::After(scrutinee.clone()), can_be_wrapped);
                    if can_be_wrapped {
                        let before = Anchor::Before(scrutinee);
                        self.walk.anchor(&before, &std::mem::take(&mut left.bound_if_true));
                        self.walk.cursor = Some(before);
                    }
                    begins
                } else {
                    let bound = std::mem::take(&mut left.bound_if_true);
                    self.walk.anchor(&probe_before(&inner.right).anchor(), &bound);
                    let noted = std::mem::take(&mut left.noted_if_true);
                    if !noted.is_empty() {
                        let before = vec!["({".into(), self.noting(&noted)];
                        self.edits.push(Edit::wrap(range.clone(), COVERING, before, vec!["})".into()]));
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
    fn decide(&mut self, condition: &Range<usize>, holds: usize, fails: usize) {
        let conditions = self.walk.flow.decisions.iter_mut().flat_map(|decision| &mut decision.conditions);
        conditions.filter(|known| known.range == *condition).for_each(|known| known.branches = Some((holds, fails)));
    }

    /// Lowers the whole condition of an `if` or a `while`.
    fn decision(&mut self, condition: &Expr, block: BlockId) -> Decision {
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

    /// Lowers an expression that stands behind `else` or `=>`: a block of statements, or put into one. `bound` is what
    /// patterns bind on the way to it.
    fn alternative(&mut self, expression: &Expr, exits: Vec<Exit>, noted: &[usize], bound: &[EventId]) -> Flow {
        if let Expr::Block(inner) = expression
            && inner.label.is_none()
        {
            let start = inner.block.brace_token.span.open().byte_range().end;
            self.note_at(start, noted);
            self.walk.anchor(&Anchor::Insert(start), bound);
            return self.block(&inner.block, Flow::On(exits));
        }
        let predicate = self.walk.predicate.take();
        let range = range_of(expression);
        let before = vec!["{".into(), self.noting(noted)];
        self.edits.push(Edit::wrap(range.clone(), COVERING, before, vec!["}".into()]));
        self.walk.anchor(&Anchor::Body(range.clone()), bound);
        let block = self.enter(Flow::On(exits), range.start..range.start, Probe::Body(range));
        let flow = self.expression(expression, block);
        self.walk.predicate = predicate;
        flow
    }

    fn if_else(&mut self, expression: &ExprIf, block: BlockId) -> Flow {
        self.walk.open();
        let decision = self.decision(&expression.cond, block);
        if expression.else_branch.is_none() && is_light(&expression.then_branch) {
            self.walk.flow.light.extend(decision.if_true.iter().filter_map(|exit| exit.branch));
        }
        let start = expression.then_branch.brace_token.span.open().byte_range().end;
        self.note_at(start, &decision.noted_if_true);
        self.walk.anchor(&Anchor::Insert(start), &decision.bound_if_true);
        let mut exits = self.block(&expression.then_branch, Flow::On(decision.if_true)).into_exits();
        self.walk.close();
        match &expression.else_branch {
            Some((_, otherwise)) => {
                let flow = self.alternative(otherwise, decision.if_false, &decision.noted_if_false, &[]);
                exits.extend(flow.into_exits());
            }
            None => {
                if !decision.noted_if_false.is_empty() {
                    let otherwise = vec![" else {".into(), self.noting(&decision.noted_if_false), "}".into()];
                    self.edits.push(Edit::wrap(range_of(expression), COVERING, Vec::new(), otherwise));
                }
                exits.extend(decision.if_false);
            }
        }
        Flow::On(exits)
    }

    fn match_arms(&mut self, expression: &ExprMatch, block: BlockId) -> Flow {
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
                    let before = vec!["({".into(), self.noting(&[branch])];
                    self.edits.push(Edit::wrap(range.clone(), COVERING, before, vec!["})".into()]));
                    self.walk.flow.decisions.extend(DecisionSite::new(&guarded.guard));
                    self.walk.anchor(&probe_before(&guarded.guard).anchor(), &bound);
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
        Flow::On(exits)
    }

    fn endless_loop(&mut self, expression: &ExprLoop, flow: Flow) -> Flow {
        let start = expression.body.brace_token.span.open().byte_range().end;
        let exits = flow.into_exits();
        let is_entered = !exits.is_empty();
        let head = self.new_block(exits, range_of(&expression.loop_token), Probe::Insert(start), is_entered);
        self.turn(expression.label.as_ref(), head, |lowering| lowering.block(&expression.body, Flow::In(head)))
    }

    fn while_loop(&mut self, expression: &ExprWhile, flow: Flow, start: Probe) -> Flow {
        let exits = flow.into_exits();
        let is_entered = !exits.is_empty();
        // The head is executed whenever the loop is come to: the loop's start stands for it.
        let head = self.new_block(exits, range_of(&expression.cond), start, is_entered);
        // The condition is evaluated each time round.
        let keyword = range_of(&expression.while_token);
        self.walk.cursor = is_entered.then(|| match first_condition(&expression.cond) {
            Expr::Let(_) => Anchor::Insert(keyword.end),
            first => probe_before(first).anchor(),
        });
        self.walk.open();
        let decision = self.decision(&expression.cond, head);
        let start = expression.body.brace_token.span.open().byte_range().end;
        self.note_at(start, &decision.noted_if_true);
        self.walk.anchor(&Anchor::Insert(start), &decision.bound_if_true);
        if !decision.noted_if_false.is_empty() {
            // A `while let` has no place for what happens when the pattern fails: it becomes a `loop` with an `if let`.
            self.edits.push(Edit::replace(keyword.clone(), COVERING, vec!["loop {".into()]));
            self.edits.push(Edit::insert(keyword.end, COVERING, vec![" if".into()]));
            let otherwise = vec![" else {".into(), self.noting(&decision.noted_if_false), "break; } }".into()];
            self.edits.push(Edit::wrap(range_of(expression), COVERING, Vec::new(), otherwise));
        }
        let body = Flow::On(decision.if_true);
        let after = self.turn(expression.label.as_ref(), head, |lowering| lowering.block(&expression.body, body));
        self.walk.close();
        let mut exits = after.into_exits();
        exits.extend(decision.if_false);
        Flow::On(exits)
    }

    fn for_loop(&mut self, expression: &ExprForLoop, block: BlockId) -> Flow {
        let items = range_of(&expression.expr);
        let iterates = self.new_branch(items.clone(), BranchOutcome::Iterate);
        let exhausted = self.new_branch(items.clone(), BranchOutcome::Exhausted);
        self.wrap_call(Wrapped::Items, [iterates, exhausted], items.clone());
        let (_, block) = self.deciding(vec![iterates, exhausted], |lowering| lowering.operand(&expression.expr, block));
        let exits = Flow::In(block).into_exits();
        let pattern = range_of(&expression.pat);
        let head = self.new_block(exits, pattern.start..items.end, Probe::After(items), true);
        self.walk.open();
        let bound = self.walk.bind(&expression.pat);
        let mut exits = vec![Exit::by(head, iterates)];
        self.bind_on(&mut exits, &bound);
        let start = expression.body.brace_token.span.open().byte_range().end;
        self.walk.anchor(&Anchor::Insert(start), &bound);
        let body = Flow::On(exits);
        let after = self.turn(expression.label.as_ref(), head, |lowering| lowering.block(&expression.body, body));
        self.walk.close();
        let mut exits = after.into_exits();
        exits.push(Exit::by(head, exhausted));
        Flow::On(exits)
    }

    /// Lowers one turn of a loop, and returns what breaks out of it.
    fn turn(&mut self, label: Option<&Label>, head: BlockId, body: impl FnOnce(&mut Self) -> Flow) -> Flow {
        self.loops.push(Loop { label: label.map(name), head: Some(head), breaks: Vec::new() });
        let end = body(self);
        self.connect(end.into_exits(), Some(head));
        let ended = self.loops.pop().expect("it was pushed above");
        Flow::On(ended.breaks)
    }

    fn labelled(&mut self, block: &Block, label: Option<&Label>, begins: BlockId) -> Flow {
        if label.is_none() {
            return self.block(block, Flow::In(begins));
        }
        self.loops.push(Loop { label: label.map(name), head: None, breaks: Vec::new() });
        let flow = self.block(block, Flow::In(begins));
        let ended = self.loops.pop().expect("it was pushed above");
        if ended.breaks.is_empty() {
            return flow;
        }
        let mut exits = flow.into_exits();
        exits.extend(ended.breaks);
        Flow::On(exits)
    }

    /// Returns the index of the loop that a `break` or `continue` is about.
    fn target(&self, label: Option<&Lifetime>, is_continue: bool) -> Option<usize> {
        let wanted = label.map(|label| label.ident.to_string());
        self.loops.iter().rposition(|candidate| match &wanted {
            Some(_) => candidate.label == wanted,
            None => candidate.head.is_some() || (!is_continue && candidate.label.is_none()),
        })
    }

    /// Lowers a body that is run apart from the function: its loops and returns are its own.
    fn apart(&mut self, body: impl FnOnce(&mut Self) -> Flow) {
        let loops = std::mem::take(&mut self.loops);
        let predicate = self.walk.predicate.take();
        let end = body(self);
        self.leave(end);
        self.walk.predicate = predicate;
        self.loops = loops;
    }

    /// Lowers the body of a closure.
    fn nested(&mut self, body: &Expr, block: BlockId, bound: &[EventId]) {
        let mut exits = Flow::In(block).into_exits();
        self.bind_on(&mut exits, bound);
        self.apart(|lowering| lowering.alternative(body, exits, &[], bound));
    }
}

/// Returns the condition that is evaluated first.
fn first_condition(condition: &Expr) -> &Expr {
    match condition {
        Expr::Paren(inner) => first_condition(&inner.expr),
        Expr::Unary(inner) if matches!(inner.op, UnOp::Not(_)) => first_condition(&inner.expr),
        Expr::Binary(inner) if matches!(inner.op, BinOp::And(_) | BinOp::Or(_)) => first_condition(&inner.left),
        _ => condition,
    }
}

/// Returns the probe before an operand or a guard.
fn probe_before(expression: &Expr) -> Probe {
    let range = range_of(expression);
    // A field of a tuple has no type if it has no value.
    let diverges = matches!(expression, Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) | Expr::Macro(_));
    if diverges { Probe::Body(range) } else { Probe::Before(range) }
}

fn name(label: &Label) -> String {
    label.name.ident.to_string()
}

pub(crate) fn diverges(mac: &syn::Macro) -> bool {
    mac.path.segments.last().is_some_and(|segment| DIVERGING_MACROS.iter().any(|name| segment.ident == name))
}

/// Returns whether all that a block does is to assign to variables what cannot fail.
fn is_light(block: &Block) -> bool {
    fn is_bitwise(op: &BinOp) -> bool {
        use BinOp::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign};
        matches!(op, BitAnd(_) | BitAndAssign(_) | BitOr(_) | BitOrAssign(_) | BitXor(_) | BitXorAssign(_))
    }
    fn is_value(expression: &Expr) -> bool {
        match expression {
            Expr::Path(_) | Expr::Lit(_) => true,
            Expr::Paren(inner) => is_value(&inner.expr),
            Expr::Unary(inner) => matches!(inner.op, UnOp::Not(_)) && is_value(&inner.expr),
            Expr::Binary(inner) => is_bitwise(&inner.op) && is_value(&inner.left) && is_value(&inner.right),
            _ => false,
        }
    }
    block.stmts.iter().all(|statement| match statement {
        Stmt::Expr(Expr::Assign(inner), _) => matches!(*inner.left, Expr::Path(_)) && is_value(&inner.right),
        Stmt::Expr(Expr::Binary(inner), _) => {
            is_bitwise(&inner.op) && matches!(*inner.left, Expr::Path(_)) && is_value(&inner.right)
        }
        _ => false,
    })
}

/// Returns whether an expression names a place, so that handing its value on would move out of it.
fn is_place(expression: &Expr) -> bool {
    match expression {
        Expr::Path(_) | Expr::Field(_) | Expr::Index(_) => true,
        Expr::Unary(inner) => matches!(inner.op, UnOp::Deref(_)),
        Expr::Paren(inner) => is_place(&inner.expr),
        _ => false,
    }
}
