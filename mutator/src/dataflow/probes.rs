//! The probes that record which definition each use sees, and which conditions decide.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::reaching::{PairSite, VariableKey};
use super::{Action, Analysis, Anchor, EventId, Flow};
use crate::edit::{Edit, Variant};

const RECORDING: &[Variant] = &[Variant::Recording];

/// Stands for a pair that the analysis does not list; as in `simutant-probe`.
const UNLISTED: u32 = u32::MAX;

/// What is put into the probes of branches.
#[derive(Debug, Default)]
pub(crate) struct OutcomeProbes {
    /// By branch, statements for where it is noted.
    pub(crate) notes: BTreeMap<usize, String>,
    /// By the first of its two branches, what goes around a condition, the operand of `?` or the items of a loop.
    wraps: BTreeMap<usize, Wrap>,
}

#[derive(Debug, Default)]
struct Wrap {
    /// The uses that are noted with the outcome.
    held: String,
    /// What goes before and after a condition of MC/DC.
    decision: (String, String),
}

/// The probes of one function.
#[derive(Debug, Default)]
pub(crate) struct Probes {
    pub(crate) edits: Vec<Edit>,
    pub(crate) outcomes: OutcomeProbes,
}

/// How variables are numbered in the running program.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    /// By variable of the specification, its slot among those of its function or its type.
    slots: BTreeMap<usize, usize>,
    /// Types with fields that have slots: a number, and how many.
    types: BTreeMap<String, (usize, usize)>,
    /// By variable of the function and function, that of the specification.
    variables: BTreeMap<VariableKey, usize>,
}

/// The kind of decision that two branches leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrapped {
    Condition,
    Attempt,
    Items,
}

impl Numbers {
    pub(crate) fn new(analysis: &Analysis, flows: &[&Flow]) -> Self {
        let mut numbers = Self::default();
        for (variable, key) in analysis.variables.iter().enumerate() {
            numbers.variables.insert(key.clone(), variable);
        }
        let mut used = BTreeSet::new();
        for (function, flow) in flows.iter().enumerate() {
            for event in &flow.events {
                if let Action::Use { variable, .. } = event.action {
                    used.extend(numbers.variable(function, flow, variable));
                }
            }
        }
        let mut locals: BTreeMap<usize, usize> = BTreeMap::new();
        for (variable, key) in analysis.variables.iter().enumerate() {
            // Without a definition or a use there is nothing to record.
            if analysis.definitions_of[variable].is_empty() || !used.contains(&variable) {
                continue;
            }
            let count = match key {
                VariableKey::Local { function, .. } => locals.entry(*function).or_default(),
                VariableKey::Field { type_name, .. } => {
                    let number = numbers.types.len();
                    &mut numbers.types.entry(type_name.clone()).or_insert((number, 0)).1
                }
            };
            numbers.slots.insert(variable, *count);
            *count += 1;
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

/// Writes the probes of one function.
struct Writer<'a> {
    analysis: &'a Analysis,
    numbers: &'a Numbers,
    function: usize,
    flow: &'a Flow,
    /// The slots of p-uses.
    held: BTreeMap<EventId, usize>,
    uses_object: bool,
    slots: usize,
}

impl Probes {
    /// Returns the probes of a function whose body begins at `start`, `first_condition` being the number of its first
    /// requirement of MC/DC.
    pub(crate) fn new(
        analysis: &Analysis,
        numbers: &Numbers,
        function: usize,
        flow: &Flow,
        start: usize,
        first_condition: usize,
    ) -> Self {
        let is_own = |variable: &&usize| matches!(analysis.variables[**variable], VariableKey::Local { function: owner, .. } if owner == function);
        let slots = numbers.slots.keys().filter(is_own).count();
        let mut writer = Writer { analysis, numbers, function, flow, held: BTreeMap::new(), uses_object: false, slots };
        let mut edits = writer.events();
        let mut outcomes = writer.outcomes();
        writer.decisions(first_condition, &mut outcomes);
        let mut head = String::new();
        if writer.slots > 0 {
            let length = writer.slots;
            // What a closure mentions may have to outlive the call; a table on the stack is cheaper.
            if flow.closures.is_empty() {
                write!(head, " let simutant_slots = &[const {{ ::simutant_probe::Slot::new(0) }}; {length}]; ")
            } else {
                write!(head, " let simutant_slots = ::simutant_probe::slots({length}); ")
            }
            .expect("writing to a string");
        }
        if writer.uses_object
            && let Some((number, length)) = flow.receiver.as_ref().and_then(|name| numbers.types.get(name))
        {
            write!(head, " let simutant_object = ::simutant_probe::object({number}, {length}, &raw const *self); ")
                .expect("writing to a string");
        }
        if !head.is_empty() {
            edits.insert(0, Edit::insert(start, RECORDING, vec![head.into()]));
        }
        Self { edits, outcomes }
    }
}

impl Writer<'_> {
    /// Returns the variable of an event in the specification, and the expression that is its slot.
    fn slot(&mut self, event: EventId) -> Option<(usize, String)> {
        let variable = self.numbers.variable(self.function, self.flow, self.flow.variable_of(event)?)?;
        let slot = self.numbers.slots.get(&variable)?;
        if matches!(self.analysis.variables[variable], VariableKey::Field { .. }) {
            self.uses_object = true;
            Some((variable, format!("simutant_object[{slot}]")))
        } else {
            Some((variable, format!("simutant_slots[{slot}]")))
        }
    }

    /// Returns the numbers of the pairs of a use, by definition.
    fn pairs(&self, variable: usize, event: EventId, branch: Option<usize>) -> String {
        let numbers = self.analysis.definitions_of[variable].iter().map(|&definition| {
            let wanted = PairSite { function: self.function, event, branch, definition };
            self.analysis.pairs.binary_search(&wanted).map_or(UNLISTED, |number| number as u32).to_string()
        });
        format!("&[{}]", numbers.collect::<Vec<_>>().join(", "))
    }

    fn events(&mut self) -> Vec<Edit> {
        let flow = self.flow;
        let mut edits = Vec::new();
        for (anchor, events) in &flow.anchors {
            let text: String = events.iter().filter_map(|&event| self.event(event)).collect();
            if text.is_empty() {
                continue;
            }
            edits.push(match anchor.clone() {
                Anchor::Insert(at) => Edit::insert(at, RECORDING, vec![text.into()]),
                Anchor::Before(range) => {
                    Edit::wrap(range, RECORDING, vec![format!("({{{text}}}, ").into()], vec![").1".into()])
                }
                Anchor::After(range) => {
                    Edit::wrap(range, RECORDING, vec!["(".into()], vec![format!(", {{{text}}}).0").into()])
                }
                Anchor::Body(range) => Edit::wrap(range, RECORDING, vec![format!("{{{text}").into()], vec!["}".into()]),
            });
        }
        edits
    }

    fn event(&mut self, event: EventId) -> Option<String> {
        match self.flow.events[event].action {
            Action::Exchange { .. } => None,
            Action::Birth(birth) => {
                let born = &self.flow.births[birth];
                let (number, length) = self.numbers.types.get(&born.type_name)?;
                let mut definitions = vec![0; *length];
                for index in 0..born.fields.len() {
                    let definition = self.analysis.by_birth[&(self.function, birth, index)];
                    let site = &self.analysis.definitions[definition];
                    if let Some(&slot) = self.numbers.slots.get(&site.variable) {
                        definitions[slot] = site.ordinal;
                    }
                }
                Some(format!(" ::simutant_probe::birth({number}, &{definitions:?}); "))
            }
            Action::Define(_) => {
                let (_, slot) = self.slot(event)?;
                let definition = self.analysis.by_event[&(self.function, event)];
                let ordinal = self.analysis.definitions[definition].ordinal;
                Some(format!(" ::simutant_probe::define(&{slot}, {ordinal}); "))
            }
            Action::Use { predicate: None, .. } => {
                let (variable, slot) = self.slot(event)?;
                Some(format!(" ::simutant_probe::used(&{slot}, {}); ", self.pairs(variable, event, None)))
            }
            Action::Use { predicate: Some(_), .. } => {
                let (_, slot) = self.slot(event)?;
                let held = self.slots;
                self.slots += 1;
                self.held.insert(event, held);
                Some(format!(" ::simutant_probe::hold(&{slot}, &simutant_slots[{held}]); "))
            }
        }
    }

    /// Returns the probes that note held uses when it is known which way a decision goes.
    fn outcomes(&mut self) -> OutcomeProbes {
        let flow = self.flow;
        let mut outcomes = OutcomeProbes::default();
        for (predicate, branches) in flow.predicates.iter().enumerate() {
            let mut wrapped = String::new();
            for (&event, &held) in &self.held.clone() {
                let Action::Use { predicate: Some(own), .. } = flow.events[event].action else { continue };
                let Some((variable, _)) = self.slot(event).filter(|_| own == predicate) else { continue };
                for &branch in branches {
                    let pairs = self.pairs(variable, event, Some(branch));
                    let note = outcomes.notes.entry(branch).or_default();
                    note.push_str(&format!(" ::simutant_probe::used(&simutant_slots[{held}], {pairs}); "));
                }
                if let [first, second] = branches[..] {
                    let (first, second) =
                        (self.pairs(variable, event, Some(first)), self.pairs(variable, event, Some(second)));
                    wrapped.push_str(&format!("(&simutant_slots[{held}], {first}, {second}), "));
                }
            }
            if let ([first, _], false) = (&branches[..], wrapped.is_empty()) {
                outcomes.wraps.entry(*first).or_default().held = wrapped;
            }
        }
        outcomes
    }

    /// Adds the probes of decisions with several conditions.
    fn decisions(&mut self, first_condition: usize, outcomes: &mut OutcomeProbes) {
        let mut number = first_condition;
        for decision in &self.flow.decisions {
            let first = number;
            number += 2 * decision.conditions.len();
            if decision.conditions.len() < 2 {
                continue;
            }
            let slot = self.slots;
            self.slots += 1;
            let vectors = decision.evaluations().into_iter().map(|evaluation| {
                let vector = evaluation
                    .values
                    .iter()
                    .fold(0_u32, |vector, &(condition, value)| vector | (2 | u32::from(value)) << (2 * condition));
                let covered = evaluation
                    .values
                    .iter()
                    .filter(|(condition, _)| evaluation.decisive.contains(condition))
                    .map(|(condition, value)| (first + 2 * condition + usize::from(!value)).to_string());
                format!("({vector}, &[{}])", covered.collect::<Vec<_>>().join(", "))
            });
            let vectors = vectors.collect::<Vec<_>>().join(", ");
            for (index, condition) in decision.conditions.iter().enumerate() {
                let Some((holds, _)) = condition.branches else { continue };
                let (if_true, if_false) = (decision.ends(index, true), decision.ends(index, false));
                let mut before = format!("::simutant_probe::condition(&simutant_slots[{slot}], {index}, ");
                let mut after = ")".to_owned();
                if if_true || if_false {
                    before = format!(
                        "::simutant_probe::conclude(&simutant_slots[{slot}], {if_true}, {if_false}, &[{vectors}], {before}"
                    );
                    after.push(')');
                }
                outcomes.wraps.entry(holds).or_default().decision = (before, after);
            }
        }
    }
}

impl OutcomeProbes {
    /// Returns what goes before and after an expression with two ways out, of which `first` is the first.
    pub(crate) fn wrap(&self, first: usize, wrapped: Wrapped) -> (String, String) {
        let Some(Wrap { held, decision }) = self.wraps.get(&first) else { return Default::default() };
        let (mut before, mut after) = decision.clone();
        if !held.is_empty() {
            before.push_str(&match wrapped {
                Wrapped::Condition => format!("::simutant_probe::decided(&[{held}], "),
                Wrapped::Attempt => format!("::simutant_probe::attempted(&[{held}], "),
                Wrapped::Items => format!("::simutant_probe::iterated([{held}], "),
            });
            after.insert(0, ')');
        }
        (before, after)
    }
}
