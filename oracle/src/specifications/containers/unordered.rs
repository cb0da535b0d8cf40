//! A queue that keeps no order.

use std::fmt::Debug;
use std::hash::Hash;

use serde::Deserialize;

use super::{Operation, Response};
use crate::distinct::Contents;
use crate::{Answer, Call, Footprint, Open, Region, Session, Specification};

/// A queue that keeps no order, as one with several servers: a take returns any value that is there. A value that comes
/// out more often than it was put is impossible.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(from = "Vec<V>", bound(deserialize = "V: Ord + Deserialize<'de>"))]
pub struct UnorderedQueue<V>(
    /// In their order.
    Vec<V>,
);

impl<V: Ord> From<Vec<V>> for UnorderedQueue<V> {
    fn from(mut values: Vec<V>) -> Self {
        values.sort();
        Self(values)
    }
}

impl<V> Default for UnorderedQueue<V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<V: Clone + Ord + Hash + Debug> Specification for UnorderedQueue<V> {
    type Operation = Operation<V>;
    type Response = Response<V>;

    fn step(&mut self, _: Session, operation: &Operation<V>, open: &mut Open<'_>) -> Response<V> {
        match operation {
            Operation::Put(value) => {
                let place = self.0.partition_point(|other| other <= value);
                self.0.insert(place, value.clone());
                Response::Done
            }
            Operation::Take if self.0.is_empty() => Response::Value(None),
            Operation::Take => {
                // Of equal values it does not matter which one is taken.
                let firsts: Vec<usize> =
                    (0..self.0.len()).filter(|&place| place == 0 || self.0[place] != self.0[place - 1]).collect();
                Response::Value(Some(self.0.remove(firsts[open.one_of(firsts.len())])))
            }
        }
    }

    fn reason(&self, _: Session, operation: &Operation<V>, _: &Response<V>, observed: &Response<V>) -> Option<String> {
        match (operation, observed) {
            (Operation::Take, _) if self.0.is_empty() => Some("it is empty".to_owned()),
            (Operation::Take, Response::Value(Some(value))) => Some(format!("{value:?} is not in it")),
            (Operation::Take, _) => Some("it is not empty".to_owned()),
            (Operation::Put(_), _) => None,
        }
    }

    fn footprint(operation: &Operation<V>, response: Option<&Response<V>>) -> Footprint {
        match (operation, response) {
            (Operation::Put(value), _) | (Operation::Take, Some(Response::Value(Some(value)))) => {
                Footprint::writes(Region::of(value))
            }
            (Operation::Take, Some(Response::Value(None))) => Footprint::reads_everything(),
            (Operation::Take, _) => Footprint::everything(),
        }
    }

    fn depends_on_session(_: &Operation<V>) -> bool {
        false
    }

    fn is_same(one: &Operation<V>, other: &Operation<V>) -> bool {
        one == other
    }

    fn grows(operation: &Operation<V>) -> bool {
        matches!(operation, Operation::Put(_))
    }

    fn may_grow_into(&self, _: &Operation<V>, observed: &Response<V>) -> bool {
        *observed != Response::Value(None) || self.0.is_empty()
    }

    fn heap_bytes(&self) -> usize {
        self.0.len() * size_of::<V>()
    }

    /// Where no value is put twice. Where it is unknown what a take took, the search may have to decide.
    fn fast_path(&self, calls: &[&Call<Operation<V>, Response<V>>]) -> Option<Answer> {
        Contents::new(self.0.iter(), calls)?.unordered_queue()
    }
}
