//! The probes that record which definition each use sees, and which conditions decide.
//!
//! What a run covers whenever it covers something else needs no probe. A use that sees one definition for certain has
//! the mark of what is noted with it: of the block that it begins, of the branch that it decides or of a row that is
//! there for another use. A condition has the mark of the branch that shows it to decide.

mod early;
mod events;
mod numbers;
mod outcomes;
mod rows;
mod sites;

use std::collections::{BTreeMap, BTreeSet};

use crate::dataflow::{Analysis, FunctionFlow, VariableKey};
use crate::graph::{BlockId, EventId, Flow, Graph, ProbeSite};
use crate::text::edit::{COVERING, Edit};
use numbers::LastDefinition;

pub(super) use numbers::Numbers;

/// Stands for a place in a row without a pair, and for a pair that the analysis does not list; as in `simutant-probe`.
const NO_PAIR: u32 = u32::MAX - 1;
const UNLISTED: u32 = u32::MAX;
/// Stands for what nothing marks; as in `simutant-probe`.
pub(super) const NO_MARK: u32 = u32::MAX;

/// Returns the number that a mark stands for, counted from the first pair of its function.
pub(super) fn pair_from(first: usize, pair: u32) -> u32 {
    if pair == NO_PAIR || pair == UNLISTED { pair } else { pair - first as u32 }
}

/// The marks of a function in the running program, as `FunctionMarks` in `simutant-probe` has them.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// The first of them ...
    pub(super) first: usize,
    /// ... and the first of the next function.
    pub(super) end: usize,
    /// What those of rows stand for.
    pub(super) pairs: Vec<u32>,
    /// Marks of anything, each with a pair that it stands for as well.
    pub(super) pairs_with: Vec<(usize, u32)>,
    /// The mark of each condition that is true and of each that is false, if there is one.
    pub(super) conditions: Vec<Option<usize>>,
    /// The mark of each block that is a requirement.
    pub(super) blocks: Vec<usize>,
}

/// The probes of one function that measure coverage.
#[derive(Debug)]
pub(super) struct Coverage {
    pub(super) edits: Vec<Edit>,
    pub(super) marks: Marks,
}

/// What the probes of one function are written from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measured<'a> {
    /// The number of the function.
    pub(super) function: usize,
    pub(super) flow: FunctionFlow<'a>,
    /// Where the probes of its blocks and branches stand.
    pub(super) sites: &'a [ProbeSite],
    /// Where its body begins.
    pub(super) start: usize,
}

/// Writes the probes of one function.
struct Writer<'a> {
    analysis: &'a Analysis,
    numbers: &'a Numbers,
    function: usize,
    flow: &'a Flow,
    /// Where p-uses wait for the outcome.
    held: BTreeMap<EventId, LastDefinition>,
    /// By block, the only branch that leads to it, if nothing else does. Whoever takes it comes to the block's probe,
    /// since destructors are all that can run in between: so the mark of the branch is that of the block.
    branches_to: BTreeMap<BlockId, usize>,
    /// Uses that are noted with the condition that leads to them.
    early: BTreeSet<EventId>,
    uses_object: bool,
    locals: usize,
    slots: usize,
    held_locals: usize,
    /// Uses that see what another one sees, which is noted with them.
    same_as: BTreeMap<EventId, EventId>,
    first_branch: usize,
    /// The first mark of rows, and what they stand for.
    first_pair: usize,
    pairs: Vec<u32>,
    pairs_with: Vec<(With, u32)>,
}

/// What stands for a pair that has no mark of its own.
#[derive(Debug, Clone, Copy)]
enum With {
    Mark(usize),
    Block(BlockId),
}

impl Coverage {
    /// Returns the probes of a function, with marks from `first_mark` on.
    pub(super) fn new(analysis: &Analysis, numbers: &Numbers, measured: Measured<'_>, first_mark: usize) -> Self {
        let Measured { function, flow: FunctionFlow { graph, flow }, sites, start } = measured;
        let is_own = |variable: usize| matches!(analysis.variables[variable], VariableKey::Local { function: owner, .. } if owner == function);
        let own: Vec<LastDefinition> =
            numbers.places.iter().filter(|(variable, _)| is_own(**variable)).map(|(_, &place)| place).collect();
        let locals = own.iter().filter(|place| matches!(place, LastDefinition::Local(_))).count();
        let slots = own.len() - locals;
        let first_branch = first_mark + 1;
        let mut writer = Writer {
            analysis,
            numbers,
            function,
            flow,
            held: BTreeMap::new(),
            branches_to: branches_to(graph),
            early: BTreeSet::new(),
            uses_object: false,
            locals,
            slots,
            held_locals: 0,
            same_as: BTreeMap::new(),
            first_branch,
            first_pair: first_branch + graph.branches.len(),
            pairs: Vec::new(),
            pairs_with: Vec::new(),
        };
        writer.find_same_uses();
        let early = writer.early_uses();
        let mut edits = writer.events();
        let mut outcomes = writer.outcomes(early);
        let mut end = writer.first_pair + writer.pairs.len();
        let conditions = writer.decisions(&mut end, &mut outcomes, &mut edits);
        edits.insert(0, Edit::insert(start, COVERING, vec![format!(" {}", writer.head()).into()]));
        let mut marks_of_blocks = BTreeMap::new();
        for block in (0..graph.blocks.len()).filter(|&block| graph.blocks[block].is_entered) {
            let branch = writer.branches_to.get(&block);
            outcomes.blocks.push(branch.is_none().then_some(end));
            marks_of_blocks.insert(block, branch.map_or(end, |branch| first_branch + branch));
            end += usize::from(branch.is_none());
        }
        outcomes.first_branch = first_branch;
        let mark = |with| match with {
            With::Mark(mark) => mark,
            With::Block(block) => marks_of_blocks[&block],
        };
        let pairs_with = writer.pairs_with.into_iter().map(|(with, pair)| (mark(with), pair)).collect();
        let blocks = marks_of_blocks.into_values().collect();
        let marks = Marks { first: first_mark, end, pairs: writer.pairs, pairs_with, conditions, blocks };
        edits.extend(sites::edits(sites, &outcomes));
        Self { edits, marks }
    }
}

/// Returns, by block, the only branch that leads to it, if nothing else does.
fn branches_to(graph: &Graph) -> BTreeMap<BlockId, usize> {
    let mut edges_to: BTreeMap<BlockId, Vec<Option<usize>>> = BTreeMap::new();
    for edge in &graph.edges {
        edges_to.entry(edge.to.unwrap_or(BlockId::MAX)).or_default().push(edge.branch);
    }
    let only = |(block, branches): (BlockId, Vec<Option<usize>>)| match branches[..] {
        [Some(branch)] => Some((block, branch)),
        _ => None,
    };
    edges_to.into_iter().filter_map(only).collect()
}

impl Writer<'_> {
    /// Returns the statements that declare what the probes mention.
    fn head(&self) -> String {
        let locals = (0..self.locals).map(LastDefinition::Local).chain((0..self.held_locals).map(LastDefinition::Held));
        let mut head: String = locals.map(|place| format!(" let mut {} = 0_u16; ", place.get())).collect();
        if self.slots > 0 {
            head.push_str(&format!(" let simutant_slots = ::simutant_probe::slots::<{}>(); ", self.slots));
        }
        let known = self.flow.receiver.as_ref().and_then(|name| self.numbers.types.get(name));
        if let (true, Some((number, length))) = (self.uses_object, known) {
            head.push_str(&format!(
                " let simutant_object = ::simutant_probe::object::<_, {length}>({number}, &raw const *self); "
            ));
        }
        head
    }

    /// Returns the variable of an event in the specification, and where its last definition is kept.
    fn place(&mut self, event: EventId) -> Option<(usize, LastDefinition)> {
        let variable = self.numbers.variable_of(self.function, self.flow, event)?;
        let place = *self.numbers.places.get(&variable)?;
        self.uses_object |= matches!(place, LastDefinition::Field(_));
        Some((variable, place))
    }
}
