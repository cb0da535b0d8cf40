//! A log: what is appended has an offset, and stays.

use std::fmt::Debug;
use std::hash::Hash;

use serde::{Deserialize, Serialize};

use crate::formats::{Answer, Misfit, Said, Value, Vocabulary};
use crate::{Open, Session, Specification};

/// A log, empty at first. Offsets grow; a service that uses some for itself, as Kafka does for the ends of
/// transactions, leaves gaps.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(from = "Vec<V>", bound(deserialize = "V: Deserialize<'de>"))]
pub struct Log<V> {
    /// The records with their offsets, which are known once a client was told.
    records: Vec<(Option<u64>, V)>,
}

/// What a client asks of a log.
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

/// What a log answers.
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
        Self { records: records.into_iter().map(|record| (None, record)).collect() }
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
        // Offsets grow by one at least, so there is room for the records between two that are known.
        let room = |known: &(usize, u64)| known.1.abs_diff(offset) >= known.0.abs_diff(place) as u64;
        let known = |(place, (offset, _)): (usize, &(Option<u64>, V))| offset.map(|offset| (place, offset));
        let before = self.records[..place].iter().enumerate().rev().find_map(known);
        let after = self.records.iter().enumerate().skip(place + 1).find_map(known);
        let fits = before.as_ref().map_or(offset >= place as u64, |before| before.1 < offset && room(before))
            && after.as_ref().is_none_or(|after| offset < after.1 && room(after));
        match self.records[place].0 {
            Some(known) => known == offset,
            None if fits => {
                self.records[place].0 = Some(offset);
                true
            }
            None => false,
        }
    }

    /// Returns whether records are a part of the log without a hole, from an offset on, and learns their offsets.
    fn has(&mut self, from: u64, read: &[(u64, V)]) -> bool {
        let Some(((first_offset, first), _)) = read.split_first() else { return true };
        // Values may be equal, so the place of the first is the one that the rest fits behind.
        let places: Vec<usize> = (0..self.records.len()).filter(|&place| self.records[place].1 == *first).collect();
        *first_offset >= from
            && places.into_iter().any(|place| {
                let mut tried = self.clone();
                let fits = read.iter().zip(place..).all(|((offset, value), place)| {
                    tried.records.get(place).is_some_and(|(_, known)| known == value) && tried.learn(place, *offset)
                });
                // Nothing between the offset that was asked for and the first record.
                let is_first = place == 0 || tried.records[place - 1].0.is_none_or(|before| before < from);
                if fits && is_first {
                    *self = tried;
                }
                fits && is_first
            })
    }
}

impl<V: Clone + Eq + Hash + Debug> Specification for Log<V> {
    type Operation = Operation<V>;
    type Response = Response<V>;

    fn step(&mut self, _: Session, operation: &Operation<V>, _: &mut Open<'_>) -> Response<V> {
        match operation {
            Operation::Append(value) => {
                self.records.push((None, value.clone()));
                Response::Appended { offset: None }
            }
            Operation::Read { from } => {
                let known = |(offset, value): &(Option<u64>, V)| offset.map(|offset| (offset, value.clone()));
                Response::Records(self.records.iter().filter_map(known).filter(|(offset, _)| offset >= from).collect())
            }
        }
    }

    /// Learns offsets from what clients were told.
    fn agrees(&mut self, operation: &Operation<V>, _: &Response<V>, observed: &Response<V>, _: &mut Open<'_>) -> bool {
        match (operation, observed) {
            (Operation::Append(_), Response::Appended { offset: None }) => true,
            (Operation::Append(_), Response::Appended { offset: Some(offset) }) => {
                self.learn(self.records.len() - 1, *offset)
            }
            (Operation::Read { from }, Response::Records(read)) => self.has(*from, read),
            _ => false,
        }
    }

    fn reason(&self, _: Session, _: &Operation<V>, _: &Response<V>, _: &Response<V>) -> Option<String> {
        Some(format!(
            "the log has {} records, the last ones {:?}",
            self.records.len(),
            self.records.iter().rev().take(3)
        ))
    }

    fn depends_on_session(_: &Operation<V>) -> bool {
        false
    }

    fn is_same(one: &Operation<V>, other: &Operation<V>) -> bool {
        one == other
    }

    fn heap_bytes(&self) -> usize {
        self.records.len() * size_of::<(Option<u64>, V)>()
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

    fn response(operation: &Operation<Value>, answer: &Answer<'_>) -> Result<Response<Value>, Misfit> {
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
