//! The probes that record which definition each use sees, and which conditions decide.
//!
//! What a run covers whenever it covers something else needs no probe. A use that sees one definition for certain has
//! the mark of what is noted with it: of the block that it begins, of the branch that it decides or of a row that is
//! there for another use. A condition has the mark of the branch that shows it to decide.

use std::collections::{BTreeMap, BTreeSet};

use super::numbers::{Numbers, Place, SettledPair, next};
use super::reaching::{PairSite, VariableKey};
use super::{Action, Analysis, Anchor, EventId, Flow, Wrapped};
use crate::graph::{BlockId, Graph};
use crate::text::edit::{COVERING, Edit};

/// Stands for a place in a row without a pair, and for a pair that the analysis does not list; as in `simutant-probe`.
const NO_PAIR: u32 = u32::MAX - 1;
const UNLISTED: u32 = u32::MAX;
/// Stands for what nothing marks; as in `simutant-probe`.
pub(crate) const NO_MARK: u32 = u32::MAX;

/// Returns the number that a mark stands for, counted from the first pair of its function.
pub(crate) fn pair_from(first: usize, pair: u32) -> u32 {
    if pair == NO_PAIR || pair == UNLISTED { pair } else { pair - first as u32 }
}

/// How many uses of a block are noted early: each costs a store where the block is not come to.
const EARLY_MAX: usize = 3;

/// The marks of a function in the running program, as `Function` in `simutant-probe` has them.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// The first of them ...
    pub(crate) first: usize,
    /// ... and the first of the next function.
    pub(crate) end: usize,
    /// What those of rows stand for.
    pub(crate) pairs: Vec<u32>,
    /// Marks of anything, each with a pair that it stands for as well.
    pub(crate) pairs_with: Vec<(usize, u32)>,
    /// The mark of each condition that is true and of each that is false, if there is one.
    pub(crate) conditions: Vec<Option<usize>>,
    /// The mark of each block that is a requirement.
    pub(crate) blocks: Vec<usize>,
}

/// What is put into the probes of branches.
#[derive(Debug, Default)]
pub(crate) struct OutcomeProbes {
    /// By branch, statements for where it is noted.
    pub(crate) notes: BTreeMap<usize, String>,
    /// By the first of its two branches, what goes around a condition, the operand of `?` or the items of a loop.
    pub(crate) wraps: BTreeMap<usize, Wrap>,
    /// The mark of the first branch.
    pub(crate) first_branch: usize,
    /// By block that is a requirement, the mark that its probe sets; `None` if that of a branch stands for it.
    pub(crate) blocks: Vec<Option<usize>>,
}

/// What goes around an expression with two ways out.
#[derive(Debug, Default)]
pub(crate) struct Wrap {
    /// The uses that are noted with the outcome.
    pub(crate) held: Vec<String>,
    /// Whether it leads to a block without probes.
    pub(crate) is_selection: bool,
    /// What goes before and after a condition of MC/DC.
    pub(crate) decision: (String, String),
}

/// The probes of one function.
#[derive(Debug, Default)]
pub(crate) struct Probes {
    pub(crate) edits: Vec<Edit>,
    pub(crate) outcomes: OutcomeProbes,
    pub(crate) marks: Marks,
}

/// Writes the probes of one function.
struct Writer<'a> {
    analysis: &'a Analysis,
    numbers: &'a Numbers,
    function: usize,
    flow: &'a Flow,
    /// Where p-uses wait for the outcome.
    held: BTreeMap<EventId, Place>,
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

impl Probes {
    /// Returns the probes of a function whose body begins at `start`, with marks from `first_mark` on.
    pub(crate) fn new(
        analysis: &Analysis,
        numbers: &Numbers,
        function: usize,
        (graph, flow): (&Graph, &Flow),
        start: usize,
        first_mark: usize,
    ) -> Self {
        let is_own = |variable: usize| matches!(analysis.variables[variable], VariableKey::Local { function: owner, .. } if owner == function);
        let own: Vec<Place> =
            numbers.places.iter().filter(|(variable, _)| is_own(**variable)).map(|(_, &place)| place).collect();
        let locals = own.iter().filter(|place| matches!(place, Place::Local(_))).count();
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
        Self { edits, outcomes, marks }
    }
}

/// What a column of a row is about, if it is about anything: a use, and the branch that the pairs are for.
type Column = Option<(EventId, Option<usize>)>;

/// A use that is noted with the condition which leads to it.
#[derive(Debug)]
struct Early {
    variable: usize,
    place: Place,
    event: EventId,
    /// 0 if it is come to when the condition holds, else 1.
    way: usize,
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
        let locals = (0..self.locals).map(Place::Local).chain((0..self.held_locals).map(Place::Held));
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
    fn place(&mut self, event: EventId) -> Option<(usize, Place)> {
        let variable = self.numbers.variable_of(self.function, self.flow, event)?;
        let place = *self.numbers.places.get(&variable)?;
        self.uses_object |= matches!(place, Place::Field(_));
        Some((variable, place))
    }

    /// Finds uses that are noted together and see the same, whatever that is: of one variable, with no definition of it
    /// noted in between.
    fn find_same_uses(&mut self) {
        let flow = self.flow;
        for (_, events) in &flow.anchors {
            let mut first_uses = BTreeMap::new();
            for &event in events {
                match flow.events[event].action {
                    Action::Use { variable, predicate } if self.is_open(event) => {
                        let first = *first_uses.entry((variable, predicate)).or_insert(event);
                        if first != event {
                            self.same_as.insert(event, first);
                        }
                    }
                    Action::Define(defined) => first_uses.retain(|(variable, _), _| *variable != defined),
                    _ => {}
                }
            }
        }
    }

    /// Returns whether it takes the number of the last definition to know what a use sees.
    fn is_open(&self, event: EventId) -> bool {
        let is_use = matches!(self.flow.events[event].action, Action::Use { .. });
        is_use && self.numbers.settled(self.function, event).is_none()
    }

    /// Adds rows of marks for uses that are noted together: for each number that a definition of the variable can have,
    /// 0 included, one for each column, which says what use it is of and for which branch. Returns the expressions of
    /// the rows.
    ///
    /// Rows of one length lie between each other: uses that see definitions of the same number, as most see the first,
    /// have marks side by side.
    fn rows<const COLUMNS: usize>(&mut self, uses: &[(usize, [Column; COLUMNS])]) -> Vec<String> {
        let definitions_of = &self.analysis.definitions_of;
        let length = |variable: usize| definitions_of[variable].len();
        let lengths: BTreeSet<usize> = uses.iter().map(|&(variable, _)| length(variable)).collect();
        let mut rows = vec![String::new(); uses.len()];
        for definitions in lengths {
            let together: Vec<usize> = (0..uses.len()).filter(|&index| length(uses[index].0) == definitions).collect();
            let first = self.first_pair + self.pairs.len();
            let stride = COLUMNS * together.len();
            let mask = (definitions + 1).next_power_of_two() - 1;
            for (place, &index) in together.iter().enumerate() {
                rows[index] = format!("::simutant_probe::Row::new({}, {stride}, {mask})", first + place);
            }
            for definition in 0..=definitions {
                for column in 0..COLUMNS {
                    let marks = together.iter().map(|&index| (uses[index].0, uses[index].1[column]));
                    let pairs: Vec<u32> =
                        marks.map(|(variable, wanted)| self.pair(variable, definition, wanted)).collect();
                    self.pairs.extend(pairs);
                }
            }
            self.pairs_of_same_uses(uses, &together, first);
        }
        rows
    }

    /// Gives the pairs of uses that see what those of these rows see the marks of these.
    fn pairs_of_same_uses<const COLUMNS: usize>(
        &mut self,
        uses: &[(usize, [Column; COLUMNS])],
        together: &[usize],
        first: usize,
    ) {
        for (&same, &noted) in &self.same_as {
            for (place, &index) in together.iter().enumerate() {
                let (variable, columns) = uses[index];
                for (column, wanted) in columns.into_iter().enumerate() {
                    let Some((_, branch)) = wanted.filter(|(event, _)| *event == noted) else { continue };
                    for definition in 1..=self.analysis.definitions_of[variable].len() {
                        let mark = first + (definition * COLUMNS + column) * together.len() + place;
                        let pair = self.pair(variable, definition, Some((same, branch)));
                        if pair != UNLISTED {
                            self.pairs_with.push((With::Mark(mark), pair));
                        }
                    }
                }
            }
        }
    }

    /// Returns the number of the pair of a variable's definition, 0 being none, with a use.
    fn pair(&self, variable: usize, definition: usize, wanted: Column) -> u32 {
        let (Some(index), Some((event, branch))) = (definition.checked_sub(1), wanted) else { return NO_PAIR };
        let definition = self.analysis.definitions_of[variable][index];
        let wanted = PairSite { function: self.function, event, branch, definition };
        self.analysis.pairs.binary_search(&wanted).map_or(UNLISTED, |number| number as u32)
    }

    /// Finds blocks that would have no probes if the uses in them were noted with the condition that leads to them:
    /// then the compiler may do without a branch, as it does in the original. Returns by the first branch of the
    /// condition how these uses are noted, if there are any.
    fn early_uses(&mut self) -> BTreeMap<usize, Vec<Early>> {
        let mut early: BTreeMap<usize, Vec<Early>> = BTreeMap::new();
        for (block, branch) in self.branches_to.clone() {
            let wrapped = self.flow.wrapped.range(..=branch).next_back();
            let Some((&first, Wrapped::Condition)) = wrapped.filter(|(first, _)| branch - **first < 2) else {
                continue;
            };
            if !self.flow.light.contains(&branch) {
                continue;
            }
            let Some(uses) = self.only_uses_at_the_start_of(block) else { continue };
            let early = early.entry(first).or_default();
            for event in uses {
                self.early.insert(event);
                if self.same_as.contains_key(&event) {
                    continue;
                }
                let Some((variable, place)) = self.place(event) else { continue };
                early.push(Early { variable, place, event, way: branch - first });
            }
        }
        early
    }

    /// Returns the uses in a block if nothing else there needs a store: they stand where the block's probe does, and
    /// the definitions that they see are in local variables, as are those that the block makes.
    fn only_uses_at_the_start_of(&mut self, block: BlockId) -> Option<Vec<EventId>> {
        let flow = self.flow;
        let start = flow.starts.get(&block)?;
        let at_start = flow.anchors.iter().filter(|(anchor, _)| anchor == start).flat_map(|(_, events)| events);
        let at_start: BTreeSet<EventId> = at_start.copied().collect();
        let mut uses = Vec::new();
        let mut is_defined = false;
        for &event in flow.blocks.get(block).map_or(&[][..], Vec::as_slice) {
            let place = self.place(event).map(|(_, place)| place);
            match (&flow.events[event].action, place) {
                // At the start, the block's mark stands for it; a p-use has that of a branch.
                (Action::Use { predicate, .. }, _) if !self.is_open(event) => {
                    if predicate.is_none() && !at_start.contains(&event) {
                        return None;
                    }
                }
                (Action::Define(_), Some(Place::Local(_)) | None) => is_defined = true,
                (Action::Use { .. }, None) => {}
                (Action::Use { predicate: None, .. }, Some(Place::Local(_)))
                    if at_start.contains(&event) && !is_defined =>
                {
                    uses.push(event);
                }
                _ => return None,
            }
        }
        let stores = uses.iter().filter(|event| !self.same_as.contains_key(event)).count();
        (stores <= EARLY_MAX).then_some(uses)
    }

    fn events(&mut self) -> Vec<Edit> {
        let flow = self.flow;
        let mut edits = Vec::new();
        for (anchor, events) in &flow.anchors {
            let (rows, first_row) = self.rows_of(events);
            let own_mark = self.settled(anchor, events, first_row);
            let own_mark = own_mark.map(|mark| format!(" ::simutant_probe::mark({mark}); "));
            let noted = events.iter().filter_map(|&event| self.event(event, &rows));
            let text: String = own_mark.into_iter().chain(noted).collect();
            if text.is_empty() {
                continue;
            }
            edits.push(match anchor.clone() {
                Anchor::Insert(at) => Edit::insert(at, COVERING, vec![text.into()]),
                Anchor::Before(range) => {
                    Edit::wrap(range, COVERING, vec![format!("({{{text}}}, ").into()], vec![").1".into()])
                }
                Anchor::After(range) => {
                    Edit::wrap(range, COVERING, vec!["(".into()], vec![format!(", {{{text}}}).0").into()])
                }
                Anchor::Body(range) => Edit::wrap(range, COVERING, vec![format!("{{{text}").into()], vec!["}".into()]),
            });
        }
        edits
    }

    /// Adds rows for those of some events that are uses and are noted at once, and returns them; with the marks of the
    /// first of them, one of which is set when the events are noted.
    fn rows_of(&mut self, events: &[EventId]) -> (BTreeMap<EventId, String>, Option<Vec<usize>>) {
        let mut noted = Vec::new();
        for &event in events {
            if self.early.contains(&event) || self.same_as.contains_key(&event) || !self.is_open(event) {
                continue;
            }
            if let (Action::Use { predicate: None, .. }, Some((variable, _))) =
                (self.flow.events[event].action, self.place(event))
            {
                noted.push((variable, [Some((event, None))]));
            }
        }
        let first = self.first_pair + self.pairs.len();
        let rows = self.rows(&noted);
        // Rows of the fewest definitions come first, one mark of each side by side.
        let lengths = noted.iter().map(|(variable, _)| self.analysis.definitions_of[*variable].len());
        let first_row = lengths.clone().min().map(|least| {
            let stride = lengths.filter(|length| *length == least).count();
            (0..=least).map(|definition| first + definition * stride).collect()
        });
        let rows = noted.iter().filter_map(|(_, [column])| column.map(|(event, _)| event)).zip(rows).collect();
        (rows, first_row)
    }

    /// Gives the pairs of uses that are noted at an anchor, and see one definition for certain, the mark of something
    /// else; p-uses those of their branches. Returns a mark of their own if there is nothing else.
    fn settled(&mut self, anchor: &Anchor, events: &[EventId], first_row: Option<Vec<usize>>) -> Option<usize> {
        let (flow, numbers) = (self.flow, self.numbers);
        let settled = events.iter().filter_map(|&event| numbers.settled(self.function, event)).flatten();
        let mut here = Vec::new();
        for &SettledPair { branch, pair } in settled {
            match branch {
                Some(branch) => self.pairs_with.push((With::Mark(self.first_branch + branch), pair as u32)),
                None => here.push(pair as u32),
            }
        }
        let (&first, others) = here.split_first()?;
        let block = flow.starts.iter().find(|(_, start)| *start == anchor);
        let mut all_with = |with: With, pairs: &[u32]| self.pairs_with.extend(pairs.iter().map(|&pair| (with, pair)));
        match (block, first_row) {
            (Some((&block, _)), _) => all_with(With::Block(block), &here),
            (None, Some(marks)) => marks.into_iter().for_each(|mark| all_with(With::Mark(mark), &here)),
            (None, None) => {
                let mark = self.first_pair + self.pairs.len();
                all_with(With::Mark(mark), others);
                self.pairs.push(first);
                return Some(mark);
            }
        }
        None
    }

    /// Returns the statement that notes an event, if it needs one.
    fn event(&mut self, event: EventId, rows: &BTreeMap<EventId, String>) -> Option<String> {
        match self.flow.events[event].action {
            Action::Use { .. } if !self.is_open(event) || self.same_as.contains_key(&event) => None,
            Action::Exchange { .. } => None,
            Action::Birth(birth) => {
                let born = &self.flow.births[birth];
                let (number, length) = self.numbers.types.get(&born.type_name)?;
                let mut definitions = vec![0; *length];
                for index in 0..born.fields.len() {
                    let definition = self.analysis.by_birth[&(self.function, birth, index)];
                    let site = &self.analysis.definitions[definition];
                    if let Some(&Place::Field(field)) = self.numbers.places.get(&site.variable) {
                        definitions[field] = site.ordinal;
                    }
                }
                Some(format!(" ::simutant_probe::birth({number}, &{definitions:?}); "))
            }
            Action::Define(_) => {
                let (_, place) = self.place(event)?;
                let definition = self.analysis.by_event[&(self.function, event)];
                Some(place.set(&self.analysis.definitions[definition].ordinal.to_string()))
            }
            Action::Use { predicate: None, .. } => {
                let (_, place) = self.place(event)?;
                Some(format!(" ::simutant_probe::used({}, {}); ", place.get(), rows.get(&event)?))
            }
            Action::Use { predicate: Some(_), .. } => {
                let (_, place) = self.place(event)?;
                // What a closure mentions may have to outlive the call.
                let held = if self.flow.events[event].closures.is_empty() {
                    Place::Held(next(&mut self.held_locals))
                } else {
                    Place::Slot(next(&mut self.slots))
                };
                self.held.insert(event, held);
                Some(held.set(&place.get()))
            }
        }
    }

    /// Returns the probes that note uses when it is known which way a decision goes; `early` are those that only one
    /// way comes to.
    fn outcomes(&mut self, mut early: BTreeMap<usize, Vec<Early>>) -> OutcomeProbes {
        let flow = self.flow;
        let mut outcomes = OutcomeProbes::default();
        for (predicate, branches) in flow.predicates.iter().enumerate() {
            let held: Vec<(EventId, Place)> = self.held.iter().map(|(&event, &place)| (event, place)).collect();
            let mut uses = Vec::new();
            for (event, held) in held {
                let Action::Use { predicate: Some(own), .. } = flow.events[event].action else { continue };
                uses.extend(
                    self.place(event).filter(|_| own == predicate).map(|(variable, _)| (variable, held, event)),
                );
            }
            match branches[..] {
                [first, second] if flow.wrapped.contains_key(&first) => {
                    let both = |event| [first, second].map(|branch| Some((event, Some(branch))));
                    let mut noted: Vec<_> = uses.iter().map(|&(variable, _, event)| (variable, both(event))).collect();
                    let mut places: Vec<Place> = uses.iter().map(|&(_, place, _)| place).collect();
                    let early = early.remove(&first);
                    let is_selection = early.is_some();
                    for Early { variable, place, event, way } in early.into_iter().flatten() {
                        noted.push((variable, [0, 1].map(|column| (column == way).then_some((event, None)))));
                        places.push(place);
                    }
                    let rows = self.rows(&noted);
                    let held =
                        places.iter().zip(rows).map(|(place, row)| format!("({}, {row})", place.get())).collect();
                    outcomes.wraps.insert(first, Wrap { held, is_selection, ..Wrap::default() });
                }
                _ => {
                    for &branch in branches {
                        let noted: Vec<_> = uses
                            .iter()
                            .map(|&(variable, _, event)| (variable, [Some((event, Some(branch)))]))
                            .collect();
                        let rows = self.rows(&noted);
                        let notes = uses
                            .iter()
                            .zip(rows)
                            .map(|((_, held, _), row)| format!(" ::simutant_probe::used({}, {row}); ", held.get()));
                        outcomes.notes.entry(branch).or_default().extend(notes);
                    }
                }
            }
        }
        debug_assert!(early.is_empty(), "every condition has a predicate");
        outcomes
    }

    /// Adds the probes of decisions with several conditions, and returns the marks of all conditions; those of their own
    /// follow from `end` on.
    ///
    /// Where no branch tells what decides, two bits for each condition evaluated so far, its value and a one, tell which
    /// they were.
    fn decisions(&self, end: &mut usize, outcomes: &mut OutcomeProbes, edits: &mut Vec<Edit>) -> Vec<Option<usize>> {
        let mut marks = Vec::new();
        for decision in &self.flow.decisions {
            let first = marks.len();
            if decision.conditions.len() < 2 {
                marks.extend(vec![None; 2 * decision.conditions.len()]);
                continue;
            }
            let branches = decision.decisive_branches();
            marks.extend(
                branches
                    .iter()
                    .map(|branch| Some(branch.map_or_else(|| next(end), |branch| self.first_branch + branch))),
            );
            if branches.iter().all(Option::is_some) {
                continue;
            }
            let vector = vec![" { let mut simutant_vector = 0_u32; ".into()];
            edits.push(Edit::wrap(decision.range.clone(), COVERING, vector, vec![" } ".into()]));
            let mut ends: BTreeMap<usize, String> = BTreeMap::new();
            for evaluation in decision.evaluations() {
                let vector = evaluation
                    .values
                    .iter()
                    .fold(0_u32, |vector, &(condition, value)| vector | (2 | u32::from(value)) << (2 * condition));
                let covered = evaluation
                    .values
                    .iter()
                    .filter(|(condition, _)| evaluation.decisive.contains(condition))
                    .map(|(condition, value)| 2 * condition + usize::from(!value))
                    .filter(|requirement| branches[*requirement].is_none())
                    .filter_map(|requirement| marks[first + requirement]);
                let covered: String = covered.map(|mark| format!("::simutant_probe::mark({mark}); ")).collect();
                let &(last, _) = evaluation.values.last().expect("a condition is evaluated first");
                if !covered.is_empty() {
                    ends.entry(last).or_default().push_str(&format!("{vector} => {{ {covered}}} "));
                }
            }
            for (index, condition) in decision.conditions.iter().enumerate() {
                let Some((holds, _)) = condition.branches else { continue };
                let arms = ends.get(&index).map(|arms| format!("match simutant_vector {{ {arms}_ => {{}} }} "));
                let after = format!(
                    ") {{ simutant_condition => {{ simutant_vector |= (2 | u32::from(simutant_condition)) << {}; {}simutant_condition }} }}",
                    2 * index,
                    arms.unwrap_or_default(),
                );
                outcomes.wraps.entry(holds).or_default().decision =
                    ("match ::simutant_probe::holds(".to_owned(), after);
            }
        }
        marks
    }
}
