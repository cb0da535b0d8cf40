//! Rows of marks: which definition each use sees, where it may be one of several.

use std::collections::{BTreeMap, BTreeSet};

use super::{NO_PAIR, UNLISTED, With, Writer};
use crate::dataflow::PairSite;
use crate::graph::{Action, EventId};

/// What a column of a row is about, if it is about anything: a use, and the branch that the pairs are for.
pub(super) type Column = Option<(EventId, Option<usize>)>;

impl Writer<'_> {
    /// Finds uses that are noted together and see the same, whatever that is: of one variable, with no definition of it
    /// noted in between.
    pub(super) fn find_same_uses(&mut self) {
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
    pub(super) fn is_open(&self, event: EventId) -> bool {
        let is_use = matches!(self.flow.events[event].action, Action::Use { .. });
        is_use && self.numbers.settled(self.function, event).is_none()
    }

    /// Adds rows of marks for uses that are noted together: for each number that a definition of the variable can have,
    /// 0 included, one for each column, which says what use it is of and for which branch. Returns the expressions of
    /// the rows.
    ///
    /// Rows of one length lie between each other: uses that see definitions of the same number, as most see the first,
    /// have marks side by side.
    pub(super) fn rows<const COLUMNS: usize>(&mut self, uses: &[(usize, [Column; COLUMNS])]) -> Vec<String> {
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
    pub(super) fn pairs_of_same_uses<const COLUMNS: usize>(
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
    pub(super) fn pair(&self, variable: usize, definition: usize, wanted: Column) -> u32 {
        let (Some(index), Some((event, branch))) = (definition.checked_sub(1), wanted) else { return NO_PAIR };
        let definition = self.analysis.definitions_of[variable][index];
        let wanted = PairSite { function: self.function, event, branch, definition };
        self.analysis.pairs.binary_search(&wanted).map_or(UNLISTED, |number| number as u32)
    }

    /// Adds rows for those of some events that are uses and are noted at once, and returns them; with the marks of the
    /// first of them, one of which is set when the events are noted.
    pub(super) fn rows_of(&mut self, events: &[EventId]) -> (BTreeMap<EventId, String>, Option<Vec<usize>>) {
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
}
