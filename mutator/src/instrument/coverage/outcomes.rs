//! What is noted when it is known which way a decision goes: the uses in it, and the conditions that decide.

use std::collections::BTreeMap;

use super::Writer;
use super::early::Early;
use super::numbers::{LastDefinition, next};
use crate::graph::{Action, EventId};
use crate::text::edit::{COVERING, Edit};

/// What is put into the probes of branches.
#[derive(Debug, Default)]
pub(super) struct OutcomeProbes {
    /// By branch, statements for where it is noted.
    pub(super) notes: BTreeMap<usize, String>,
    /// By the first of its two branches, what goes around a condition, the operand of `?` or the items of a loop.
    pub(super) wraps: BTreeMap<usize, Wrap>,
    /// The mark of the first branch.
    pub(super) first_branch: usize,
    /// By block that is a requirement, the mark that its probe sets; `None` if that of a branch stands for it.
    pub(super) blocks: Vec<Option<usize>>,
}

/// What goes around an expression with two ways out.
#[derive(Debug, Default)]
pub(super) struct Wrap {
    /// The uses that are noted with the outcome.
    pub(super) held: Vec<String>,
    /// Whether it leads to a block without probes.
    pub(super) is_selection: bool,
    /// What goes before and after a condition of MC/DC.
    pub(super) decision: (String, String),
}

impl Writer<'_> {
    /// Returns the probes that note uses when it is known which way a decision goes; `early` are those that only one
    /// way comes to.
    pub(super) fn outcomes(&mut self, mut early: BTreeMap<usize, Vec<Early>>) -> OutcomeProbes {
        let flow = self.flow;
        let mut outcomes = OutcomeProbes::default();
        for (predicate, branches) in flow.predicates.iter().enumerate() {
            let held: Vec<(EventId, LastDefinition)> =
                self.held.iter().map(|(&event, &place)| (event, place)).collect();
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
                    let mut places: Vec<LastDefinition> = uses.iter().map(|&(_, place, _)| place).collect();
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

    /// Adds the probes of decisions with several conditions, and returns the marks of all conditions; those of their
    /// own follow from `end` on.
    ///
    /// Where no branch tells what decides, two bits for each condition evaluated so far, its value and a one, tell
    /// which they were.
    pub(super) fn decisions(
        &self,
        end: &mut usize,
        outcomes: &mut OutcomeProbes,
        edits: &mut Vec<Edit>,
    ) -> Vec<Option<usize>> {
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
