//! What the running program keeps of variables: the number of the last definition, where a use may see several.

use std::collections::{BTreeMap, BTreeSet};

use crate::dataflow::{Analysis, FunctionFlow, PairSite, VariableKey, certain_uses, dominates, variable_key};
use crate::graph::{Action, EventId, Flow, VariableKind};

/// The running program counts definitions of one variable so far. No person writes so many.
const DEFINITIONS_MAX: usize = u16::MAX as usize;

/// How variables are numbered in the running program.
#[derive(Debug, Default)]
pub(in crate::instrument) struct Numbers {
    /// By variable of the specification, where its last definition is kept.
    pub(super) places: BTreeMap<usize, LastDefinition>,
    /// Types with fields that have slots: a number, and how many.
    pub(super) types: BTreeMap<String, (usize, usize)>,
    /// By function and use, for those uses which see one definition for certain: nobody needs its number.
    settled: BTreeMap<(usize, EventId), Vec<SettledPair>>,
    /// By variable of the function and function, that of the specification.
    variables: BTreeMap<VariableKey, usize>,
}

/// Where the number of a variable's last definition is kept; numbered by kind and function, or type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LastDefinition {
    /// In a local variable.
    Local(usize),
    /// In a slot of the call, since a closure mentions the variable.
    Slot(usize),
    /// In a slot of the object.
    Field(usize),
    /// In a local variable, from a use in what decides until it is known which way that goes.
    Held(usize),
}

impl LastDefinition {
    /// Returns the expression that is the number.
    pub(super) fn get(self) -> String {
        match self {
            Self::Local(number) => format!("simutant_last{number}"),
            Self::Slot(number) => format!("simutant_slots[{number}].get()"),
            Self::Field(number) => format!("simutant_object[{number}].get()"),
            Self::Held(number) => format!("simutant_held{number}"),
        }
    }

    /// Returns the statement that changes it.
    pub(super) fn set(self, definition: &str) -> String {
        match self {
            Self::Local(_) | Self::Held(_) => format!(" {} = {definition}; ", self.get()),
            Self::Slot(number) => format!(" simutant_slots[{number}].set({definition}); "),
            Self::Field(number) => format!(" simutant_object[{number}].set({definition}); "),
        }
    }
}

/// A pair that is covered whenever its use is reached.
#[derive(Debug, Clone, Copy)]
pub(super) struct SettledPair {
    /// If it is that of a p-use, the branch of the function that must be taken then.
    pub(super) branch: Option<usize>,
    /// An index into [`Analysis::pairs`].
    pub(super) pair: usize,
}

impl Numbers {
    pub(in crate::instrument) fn new(analysis: &Analysis, functions: &[FunctionFlow<'_>]) -> Self {
        let mut numbers = Self::default();
        for (variable, key) in analysis.variables.iter().enumerate() {
            numbers.variables.insert(key.clone(), variable);
        }
        let mut shared = BTreeSet::new();
        for (function, FunctionFlow { flow, .. }) in functions.iter().enumerate() {
            for (event, known) in flow.events.iter().enumerate() {
                if !known.closures.is_empty() {
                    shared.extend(numbers.variable_of(function, flow, event));
                }
            }
        }
        let mut used = BTreeSet::new();
        for (function, &of_function) in functions.iter().enumerate() {
            let flow = of_function.flow;
            let followed = followed_variables(flow);
            let certain = certain_uses(analysis, function, of_function, |variable| followed.contains(&variable));
            for (event, definition) in certain {
                if let Some(pairs) = settled(analysis, function, of_function, event, definition) {
                    numbers.settled.insert((function, event), pairs);
                }
            }
            for event in 0..flow.events.len() {
                let is_use = matches!(flow.events[event].action, Action::Use { .. });
                if is_use && !numbers.settled.contains_key(&(function, event)) {
                    used.extend(numbers.variable_of(function, flow, event));
                }
            }
        }
        let mut counts: BTreeMap<usize, [usize; 2]> = BTreeMap::new();
        for (variable, key) in analysis.variables.iter().enumerate() {
            let definitions = analysis.definitions_of[variable].len();
            // Without a definition or a use that may see several there is nothing to keep.
            if definitions == 0 || definitions > DEFINITIONS_MAX || !used.contains(&variable) {
                continue;
            }
            let place = match key {
                VariableKey::Local { function, .. } => {
                    let [locals, slots] = counts.entry(*function).or_default();
                    if shared.contains(&variable) {
                        LastDefinition::Slot(next(slots))
                    } else {
                        LastDefinition::Local(next(locals))
                    }
                }
                VariableKey::Field { type_name, .. } => {
                    let number = numbers.types.len();
                    let (_, fields) = numbers.types.entry(type_name.clone()).or_insert((number, 0));
                    LastDefinition::Field(next(fields))
                }
            };
            numbers.places.insert(variable, place);
        }
        numbers
    }

    /// Returns the variable of the specification that an event is about.
    pub(super) fn variable_of(&self, function: usize, flow: &Flow, event: EventId) -> Option<usize> {
        self.variables.get(&variable_key(function, flow, flow.variable_of(event)?)).copied()
    }

    /// Returns the pairs of a use, if they are covered whenever it is reached.
    pub(super) fn settled(&self, function: usize, event: EventId) -> Option<&[SettledPair]> {
        self.settled.get(&(function, event)).map(Vec::as_slice)
    }
}

/// Returns the variables that nothing defines but what the graph shows: one body alone mentions them, the function's or
/// that of a closure, or there is one definition, so that it does not matter when a closure is called.
fn followed_variables(flow: &Flow) -> BTreeSet<usize> {
    let mut bodies: BTreeMap<usize, BTreeSet<&[usize]>> = BTreeMap::new();
    let mut definitions: BTreeMap<usize, usize> = BTreeMap::new();
    for (event, known) in flow.events.iter().enumerate() {
        if let Some(variable) = flow.variable_of(event) {
            bodies.entry(variable).or_default().insert(&known.closures);
            *definitions.entry(variable).or_default() += usize::from(matches!(known.action, Action::Define(_)));
        }
    }
    let is_local = |variable: usize| matches!(flow.variables[variable].kind, VariableKind::Local { .. });
    let is_followed = |variable: &usize| bodies[variable].len() == 1 || definitions[variable] == 1;
    bodies.keys().copied().filter(|&variable| is_local(variable) && is_followed(&variable)).collect()
}

/// Returns the pairs of a use that sees this definition for certain; `None` if there can be others.
fn settled(
    analysis: &Analysis,
    function: usize,
    FunctionFlow { graph, flow }: FunctionFlow<'_>,
    event: EventId,
    definition: usize,
) -> Option<Vec<SettledPair>> {
    let Action::Use { predicate, .. } = flow.events[event].action else { return None };
    let branches = match predicate {
        None => vec![None],
        Some(predicate) => flow.predicates[predicate].iter().copied().map(Some).collect(),
    };
    let block = flow.blocks.iter().position(|events| events.contains(&event))?;
    // Whoever takes the branch must have come to the use.
    let mut edges = graph.edges.iter().filter(|edge| edge.branch.is_some() && branches.contains(&edge.branch));
    if !edges.all(|edge| edge.from == block || dominates(graph, block, edge.from)) {
        return None;
    }
    let pair = |branch: Option<usize>| {
        let wanted = PairSite { function, event, branch, definition };
        Some(SettledPair { branch, pair: analysis.pairs.binary_search(&wanted).ok()? })
    };
    branches.into_iter().map(pair).collect()
}

pub(super) fn next(count: &mut usize) -> usize {
    *count += 1;
    *count - 1
}
