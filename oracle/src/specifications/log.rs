//! A log: what is appended has an offset, and stays.

use std::fmt::Debug;
use std::hash::Hash;

use serde::{Deserialize, Serialize};

use crate::formats::{Answered, Misfit, Said, Value, Vocabulary};
use crate::{Call, Open, Session, Specification, contradictions};

/// A log, empty at first. Offsets grow; a service that uses some for itself, as Kafka does for the ends of
/// transactions, leaves gaps.
///
/// ```
/// use simutant_oracle::specifications::{Log, log::{Operation, Response}};
/// use simutant_oracle::{Check, Recorder, Session, Time};
///
/// let explains = |records| {
///     let recorder = Recorder::new();
///     for (time, record, offset) in [(0, 'a', 3), (1, 'b', 7)] {
///         let response = Response::Appended { offset: Some(offset) };
///         recorder.observed(Session(1), Operation::Append(record), response, Time::from_nanos(time));
///     }
///     let (read, response) = (Operation::Read { from: 0 }, Response::Records(records));
///     recorder.observed(Session(2), read, response, Time::from_nanos(9));
///     Check::default().run(&recorder.history(), &Log::default()).is_possible()
/// };
/// assert!(explains(vec![(3, 'a'), (7, 'b')]));
/// assert!(!explains(vec![(7, 'b')]), "the record at offset 3 is skipped");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(from = "Vec<V>", bound(deserialize = "V: Deserialize<'de>"))]
pub struct Log<V> {
    /// The records with their offsets.
    records: Vec<(Offset, V)>,
}

/// What clients were told of a record's offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Offset {
    Unknown,
    /// It is below this one, from which on another record was the first.
    Below(u64),
    Is(u64),
}

impl Offset {
    const fn known(self) -> Option<u64> {
        match self {
            Self::Is(offset) => Some(offset),
            Self::Unknown | Self::Below(_) => None,
        }
    }
}

/// An operation on a log.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation<V> {
    /// Appends a record.
    Append(V),
    /// Returns some records from an offset on, as many as the service likes.
    Read {
        /// The offset of the first.
        from: u64,
    },
}

/// An answer of a log.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Response<V> {
    /// The record was appended.
    Appended {
        /// Its offset, if the service says so.
        offset: Option<u64>,
    },
    /// Records with their offsets, one after the other: a part of the log without a hole.
    Records(Vec<(u64, V)>),
}

/// A log of records whose offsets nobody was told.
impl<V> From<Vec<V>> for Log<V> {
    fn from(records: Vec<V>) -> Self {
        Self { records: records.into_iter().map(|record| (Offset::Unknown, record)).collect() }
    }
}

impl<V> Default for Log<V> {
    fn default() -> Self {
        Self { records: Vec::new() }
    }
}

impl<V: Clone + Eq + Hash + Debug> Log<V> {
    /// Learns that the record at a place has an offset, and returns whether it can have it.
    fn learn(&mut self, place: usize, offset: u64) -> bool {
        if let Offset::Is(known) = self.records[place].0 {
            return known == offset;
        }
        // Offsets grow by one at least.
        let goes_on = |(distance, (later, _)): (u64, &(Offset, V))| match *later {
            Offset::Unknown => true,
            Offset::Below(limit) => offset.saturating_add(distance) < limit,
            Offset::Is(later) => offset.saturating_add(distance) <= later,
        };
        let fits = offset >= self.least(place) && (0..).zip(&self.records[place..]).all(goes_on);
        if fits {
            self.records[place].0 = Offset::Is(offset);
        }
        fits
    }

    /// Learns that the record at a place has an offset below another one, and returns whether it can be so.
    fn learn_below(&mut self, place: usize, limit: u64) -> bool {
        let least = self.least(place);
        let (offset, _) = &mut self.records[place];
        match *offset {
            Offset::Is(known) => return known < limit,
            Offset::Below(known) => *offset = Offset::Below(limit.min(known)),
            Offset::Unknown => *offset = Offset::Below(limit),
        }
        least < limit
    }

    /// Returns the least offset that the record at a place can have, for those before it.
    fn least(&self, place: usize) -> u64 {
        let known = |(distance, (offset, _)): (u64, &(Offset, V))| Some(offset.known()?.saturating_add(distance));
        (1..).zip(self.records[..place].iter().rev()).find_map(known).unwrap_or(place as u64)
    }

    /// Returns whether records are a part of the log without a hole, from an offset on, and learns their offsets.
    fn has(&mut self, from: u64, read: &[(u64, V)], open: &mut Open<'_>) -> bool {
        let Some((&(first_offset, _), _)) = read.split_first() else { return true };
        if first_offset < from {
            return false;
        }
        let fitting = |place: usize| {
            let mut tried = self.clone();
            let fits = read.iter().zip(place..).all(|((offset, value), place)| {
                tried.records.get(place).is_some_and(|(_, known)| known == value) && tried.learn(place, *offset)
            });
            // Nothing between the offset that was asked for and the first record.
            let is_first = place == 0 || tried.learn_below(place - 1, from);
            (fits && is_first).then_some(tried)
        };
        // Values may be equal, and then several places can be the one that was read.
        let mut fitting: Vec<Self> = (0..self.records.len()).filter_map(fitting).collect();
        match fitting.len() {
            0 => return false,
            1 => {}
            options => fitting.swap(0, open.one_of(options)),
        }
        *self = fitting.swap_remove(0);
        true
    }
}

impl<V: Clone + Eq + Hash + Debug> Specification for Log<V> {
    type Operation = Operation<V>;
    type Response = Response<V>;

    fn step(&mut self, _: Session, operation: &Operation<V>, _: &mut Open<'_>) -> Response<V> {
        match operation {
            Operation::Append(value) => {
                self.records.push((Offset::Unknown, value.clone()));
                Response::Appended { offset: None }
            }
            Operation::Read { from } => {
                let known = |(offset, value): &(Offset, V)| offset.known().map(|offset| (offset, value.clone()));
                Response::Records(self.records.iter().filter_map(known).filter(|(offset, _)| offset >= from).collect())
            }
        }
    }

    /// Learns offsets from what clients were told.
    fn agrees(
        &mut self,
        operation: &Operation<V>,
        _: &Response<V>,
        observed: &Response<V>,
        open: &mut Open<'_>,
    ) -> bool {
        match (operation, observed) {
            (Operation::Append(_), Response::Appended { offset: None }) => true,
            (Operation::Append(_), Response::Appended { offset: Some(offset) }) => {
                self.learn(self.records.len() - 1, *offset)
            }
            (Operation::Read { from }, Response::Records(read)) => self.has(*from, read, open),
            _ => false,
        }
    }

    fn reason(&self, _: Session, _: &Operation<V>, _: &Response<V>, _: &Response<V>) -> Option<String> {
        Some(format!(
            "the log has {} records, the last ones {:?}",
            self.records.len(),
            self.records.iter().rev().take(3).map(|(offset, value)| (offset.known(), value)).collect::<Vec<_>>()
        ))
    }

    fn depends_on_session(_: &Operation<V>) -> bool {
        false
    }

    fn is_same(one: &Operation<V>, other: &Operation<V>) -> bool {
        one == other
    }

    fn contradiction(&self, calls: &[&Call<Operation<V>, Response<V>>]) -> Option<Vec<usize>> {
        contradictions::records(self.records.iter().map(|(_, record)| record), calls)
    }

    fn heap_bytes(&self) -> usize {
        self.records.len() * size_of::<(Offset, V)>()
    }
}

impl Vocabulary for Log<Value> {
    const NAME: &'static str = "a log";
    const OPERATIONS: &'static [&'static str] = &["append", "send", "read", "poll"];

    fn operation(asked: &Said<'_>) -> Result<Operation<Value>, Misfit> {
        match asked.name {
            "append" | "send" => asked.element().map(Operation::Append),
            "read" | "poll" => match asked.value.integer().map(u64::try_from) {
                Some(Ok(from)) => Ok(Operation::Read { from }),
                _ => Err(Misfit::Value { cure: "give the offset that is read from" }),
            },
            _ => Err(Misfit::Name),
        }
    }

    fn response(operation: &Operation<Value>, answer: &Answered<'_>) -> Result<Response<Value>, Misfit> {
        const RECORDS: Misfit = Misfit::Value { cure: "answer with `[[offset record] …]`" };
        let record = |value: &Value| {
            let (offset, value) = value.pair()?;
            Some((u64::try_from(offset.integer()?).ok()?, value.element()?))
        };
        match operation {
            Operation::Append(_) if answer.says_nothing() => Ok(Response::Appended { offset: None }),
            Operation::Append(appended) => match record(answer.value) {
                Some((offset, value)) if value == *appended => Ok(Response::Appended { offset: Some(offset) }),
                _ => Err(Misfit::Value { cure: "answer with `nil`, the record, or `[offset record]`" }),
            },
            Operation::Read { .. } => {
                let Value::List(records) = answer.value else { return Err(RECORDS) };
                let records = records.iter().map(record).collect::<Option<_>>();
                records.map(Response::Records).ok_or(RECORDS)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Call, Check, End, History, Time};

    /// Returns whether a log can have been asked and have answered this, one call after the other.
    fn is_possible(calls: &[(Operation<u8>, Response<u8>)]) -> bool {
        let call = |(number, (operation, response)): (u64, &(Operation<u8>, Response<u8>))| {
            let at = |event: u64| Time::from_nanos(2 * number + event).into();
            let end = End::Returned { at: at(1), response: response.clone() };
            Call::new(Session(1), operation.clone(), at(0), end)
        };
        let history = History::from_calls((0..).zip(calls).map(call).collect()).expect("calls end later");
        Check::default().run(&history, &Log::default()).is_possible()
    }

    /// Returns whether some offsets of the records explain all answers, by trying all that are as small as this.
    fn is_explained(calls: &[(Operation<u8>, Response<u8>)], offsets: &mut Vec<u64>, appended: usize) -> bool {
        const OFFSETS: u64 = 12;
        if offsets.len() < appended {
            let least = offsets.last().map_or(0, |last| last + 1);
            return (least..OFFSETS).any(|offset| {
                offsets.push(offset);
                let is_explained = is_explained(calls, offsets, appended);
                offsets.pop();
                is_explained
            });
        }
        let mut records: Vec<(u64, u8)> = Vec::new();
        calls.iter().all(|call| match call {
            (Operation::Append(value), Response::Appended { offset }) => {
                records.push((offsets[records.len()], *value));
                offset.is_none_or(|offset| records.last().is_some_and(|record| record.0 == offset))
            }
            (Operation::Read { from }, Response::Records(read)) => {
                let first = records.partition_point(|(offset, _)| offset < from);
                records[first..].starts_with(read)
            }
            _ => false,
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3000) })]

        #[test]
        fn a_log_answers_what_some_offsets_explain(
            steps in prop::collection::vec((0..2_u8, 0..2_u64, 0..7_u64, 0..3_usize, 0..9_u8), 1..8),
        ) {
            let mut records: Vec<(u64, u8)> = Vec::new();
            let mut calls = Vec::new();
            for (value, gap, from, length, kind) in steps {
                calls.push(if kind < 4 && records.len() < 4 {
                    let offset = records.last().map_or(0, |(last, _)| last + 1) + gap;
                    records.push((offset, value));
                    (Operation::Append(value), Response::Appended { offset: (kind == 0).then_some(offset) })
                } else {
                    let first = records.partition_point(|&(offset, _)| offset < from);
                    let mut read: Vec<(u64, u8)> = records[first..].iter().copied().take(length).collect();
                    if let (8, Some(one)) = (kind, read.last_mut()) {
                        one.0 += 1;
                    }
                    (Operation::Read { from }, Response::Records(read))
                });
            }
            let appended = records.len();
            prop_assert_eq!(is_possible(&calls), is_explained(&calls, &mut Vec::new(), appended), "{:?}", calls);
        }
    }

    #[test]
    fn a_read_of_one_of_equal_records_says_not_which() {
        let append = || (Operation::Append(0), Response::Appended { offset: None });
        let read = |from, read: &[(u64, u8)]| (Operation::Read { from }, Response::Records(read.to_vec()));
        assert!(is_possible(&[append(), append(), read(5, &[(5, 0)]), read(0, &[(3, 0), (5, 0)])]));
        // Had the first record the offset 4, it would have been read from 4 on.
        assert!(!is_possible(&[append(), append(), read(4, &[(5, 0)]), read(0, &[(4, 0), (5, 0)])]));
    }
}
