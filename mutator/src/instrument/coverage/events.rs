//! The statements that note definitions and uses where they happen.

use std::collections::BTreeMap;

use super::numbers::{LastDefinition, SettledPair, next};
use super::{With, Writer};
use crate::graph::{Action, Anchor, EventId};
use crate::text::edit::{COVERING, Edit};

impl Writer<'_> {
    pub(super) fn events(&mut self) -> Vec<Edit> {
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

    /// Gives the pairs of uses that are noted at an anchor, and see one definition for certain, the mark of something
    /// else; p-uses those of their branches. Returns a mark of their own if there is nothing else.
    pub(super) fn settled(
        &mut self,
        anchor: &Anchor,
        events: &[EventId],
        first_row: Option<Vec<usize>>,
    ) -> Option<usize> {
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
    pub(super) fn event(&mut self, event: EventId, rows: &BTreeMap<EventId, String>) -> Option<String> {
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
                    if let Some(&LastDefinition::Field(field)) = self.numbers.places.get(&site.variable) {
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
                    LastDefinition::Held(next(&mut self.held_locals))
                } else {
                    LastDefinition::Slot(next(&mut self.slots))
                };
                self.held.insert(event, held);
                Some(held.set(&place.get()))
            }
        }
    }
}
