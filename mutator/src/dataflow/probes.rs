//! The probes that record which definition each use sees, and which conditions decide.

use std::collections::{BTreeMap, BTreeSet};

use super::reaching::{PairSite, VariableKey};
use super::{Action, Analysis, Anchor, EventId, Flow, Wrapped};
use crate::edit::{COVERING, Edit};
use crate::graph::{BlockId, Graph};

/// Stands for a place in a row without a pair, and for a pair that the analysis does not list; as in `simutant-probe`.
const NO_PAIR: u32 = u32::MAX - 1;
const UNLISTED: u32 = u32::MAX;

/// Returns the number that a mark stands for, counted from the first pair of its function.
pub(crate) fn pair_from(first: usize, pair: u32) -> u32 {
    if pair == NO_PAIR || pair == UNLISTED { pair } else { pair - first as u32 }
}

/// How many uses of a block are noted early: each costs a store where the block is not come to.
const EARLY_MAX: usize = 3;

/// The running program counts definitions of one variable so far. No person writes so many.
const DEFINITIONS_MAX: usize = u16::MAX as usize;

/// The marks of a function in the running program, as `Function` in `simutant-probe` has them.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// The first of them ...
    pub(crate) first: usize,
    /// ... and the first of the next function.
    pub(crate) end: usize,
    /// What those of pairs stand for.
    pub(crate) pairs: Vec<u32>,
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

/// How variables are numbered in the running program.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    /// By variable of the specification, where its last definition is kept.
    places: BTreeMap<usize, Place>,
    /// Types with fields that have slots: a number, and how many.
    types: BTreeMap<String, (usize, usize)>,
    /// By variable of the function and function, that of the specification.
    variables: BTreeMap<VariableKey, usize>,
}

/// Where the number of a variable's last definition is kept; numbered by kind and function, or type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In a local variable.
    Local(usize),
    /// In a slot of the call, since a closure mentions the variable.
    Slot(usize),
    /// In a slot of the object.
    Field(usize),
    /// In a local variable, from a use in what decides until it is known which way that goes.
    Held(usize),
}

impl Place {
    /// Returns the expression that is the number.
    fn get(self) -> String {
        match self {
            Self::Local(number) => format!("simutant_last{number}"),
            Self::Slot(number) => format!("simutant_slots[{number}].get()"),
            Self::Field(number) => format!("simutant_object[{number}].get()"),
            Self::Held(number) => format!("simutant_held{number}"),
        }
    }

    /// Returns the statement that changes it.
    fn set(self, definition: &str) -> String {
        match self {
            Self::Local(_) | Self::Held(_) => format!(" {} = {definition}; ", self.get()),
            Self::Slot(number) => format!(" simutant_slots[{number}].set({definition}); "),
            Self::Field(number) => format!(" simutant_object[{number}].set({definition}); "),
        }
    }
}

impl Numbers {
    pub(crate) fn new(analysis: &Analysis, flows: &[&Flow]) -> Self {
        let mut numbers = Self::default();
        for (variable, key) in analysis.variables.iter().enumerate() {
            numbers.variables.insert(key.clone(), variable);
        }
        let (mut used, mut shared) = (BTreeSet::new(), BTreeSet::new());
        for (function, flow) in flows.iter().enumerate() {
            for (event, known) in flow.events.iter().enumerate() {
                let Some(variable) = flow.variable_of(event) else { continue };
                let variable = numbers.variable(function, flow, variable);
                if matches!(known.action, Action::Use { .. }) {
                    used.extend(variable);
                }
                if !known.closures.is_empty() {
                    shared.extend(variable);
                }
            }
        }
        let mut counts: BTreeMap<usize, [usize; 2]> = BTreeMap::new();
        for (variable, key) in analysis.variables.iter().enumerate() {
            let definitions = analysis.definitions_of[variable].len();
            // Without a definition or a use there is nothing to record.
            if definitions == 0 || definitions > DEFINITIONS_MAX || !used.contains(&variable) {
                continue;
            }
            let place = match key {
                VariableKey::Local { function, .. } => {
                    let [locals, slots] = counts.entry(*function).or_default();
                    if shared.contains(&variable) { Place::Slot(next(slots)) } else { Place::Local(next(locals)) }
                }
                VariableKey::Field { type_name, .. } => {
                    let number = numbers.types.len();
                    let (_, fields) = numbers.types.entry(type_name.clone()).or_insert((number, 0));
                    Place::Field(next(fields))
                }
            };
            numbers.places.insert(variable, place);
        }
        numbers
    }

    fn variable(&self, function: usize, flow: &Flow, variable: usize) -> Option<usize> {
        let name = &flow.variables[variable].name;
        let key = match (flow.variables[variable].kind, &flow.receiver) {
            (super::VariableKind::Field, Some(type_name)) => {
                VariableKey::Field { type_name: type_name.clone(), name: name.clone() }
            }
            _ => VariableKey::Local { function, variable },
        };
        self.variables.get(&key).copied()
    }
}

fn next(count: &mut usize) -> usize {
    *count += 1;
    *count - 1
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
    /// The first mark of pairs, and what they stand for.
    first_pair: usize,
    pairs: Vec<u32>,
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
        let first_condition = first_branch + graph.branches.len();
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
            first_pair: first_condition + flow.condition_requirements(),
            pairs: Vec::new(),
        };
        let early = writer.early_uses();
        let mut edits = writer.events();
        let mut outcomes = writer.outcomes(early);
        writer.decisions(first_condition, &mut outcomes, &mut edits);
        edits.insert(0, Edit::insert(start, COVERING, vec![format!(" {}", writer.head()).into()]));
        let mut end = writer.first_pair + writer.pairs.len();
        let mut blocks = Vec::new();
        for block in (0..graph.blocks.len()).filter(|&block| graph.blocks[block].is_entered) {
            let branch = writer.branches_to.get(&block);
            outcomes.blocks.push(branch.is_none().then_some(end));
            blocks.push(branch.map_or(end, |branch| first_branch + branch));
            end += usize::from(branch.is_none());
        }
        outcomes.first_branch = first_branch;
        Self { edits, outcomes, marks: Marks { first: first_mark, end, pairs: writer.pairs, blocks } }
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
        let variable = self.numbers.variable(self.function, self.flow, self.flow.variable_of(event)?)?;
        let place = *self.numbers.places.get(&variable)?;
        self.uses_object |= matches!(place, Place::Field(_));
        Some((variable, place))
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
        }
        rows
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
                let Some((variable, place)) = self.place(event) else { continue };
                early.push(Early { variable, place, event, way: branch - first });
                self.early.insert(event);
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
        (uses.len() <= EARLY_MAX).then_some(uses)
    }

    fn events(&mut self) -> Vec<Edit> {
        let flow = self.flow;
        let mut edits = Vec::new();
        for (anchor, events) in &flow.anchors {
            let rows = self.rows_of(events);
            let text: String = events.iter().filter_map(|&event| self.event(event, &rows)).collect();
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

    /// Adds rows for those of some events that are uses and are noted at once, and returns them.
    fn rows_of(&mut self, events: &[EventId]) -> BTreeMap<EventId, String> {
        let mut noted = Vec::new();
        for &event in events.iter().filter(|event| !self.early.contains(event)).collect::<Vec<_>>() {
            if let (Action::Use { predicate: None, .. }, Some((variable, _))) =
                (self.flow.events[event].action, self.place(event))
            {
                noted.push((variable, [Some((event, None))]));
            }
        }
        let rows = self.rows(&noted);
        noted.iter().filter_map(|(_, [column])| column.map(|(event, _)| event)).zip(rows).collect()
    }

    fn event(&mut self, event: EventId, rows: &BTreeMap<EventId, String>) -> Option<String> {
        match self.flow.events[event].action {
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

    /// Adds the probes of decisions with several conditions.
    ///
    /// While a decision is made, two bits for each condition evaluated so far, its value and a one, tell which they
    /// were.
    fn decisions(&mut self, first_condition: usize, outcomes: &mut OutcomeProbes, edits: &mut Vec<Edit>) {
        let mut mark = first_condition;
        for decision in &self.flow.decisions {
            let first = mark;
            mark += 2 * decision.conditions.len();
            if decision.conditions.len() < 2 {
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
                    .map(|(condition, value)| first + 2 * condition + usize::from(!value));
                let marks: String = covered.map(|mark| format!("::simutant_probe::mark({mark}); ")).collect();
                let &(last, _) = evaluation.values.last().expect("a condition is evaluated first");
                ends.entry(last).or_default().push_str(&format!("{vector} => {{ {marks}}} "));
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
    }
}
