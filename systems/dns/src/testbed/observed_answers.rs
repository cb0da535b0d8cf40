//! Answers of servers that a resolver has seen, and when.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::Record;
use domain::base::Message;
use simutant_harness::MessageListener;

use super::message::all_records;

/// The records in responses that came through to the resolver, with the times of these.
#[derive(Debug, Default)]
pub(super) struct ObservedAnswers(Mutex<Vec<(Record, Instant)>>);

impl ObservedAnswers {
    /// Returns when the resolver last saw a record before `end`, whatever time to live it had; `None` if it
    /// never was.
    pub(super) fn last_before(&self, record: &Record, end: Instant) -> Option<Instant> {
        let observed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |(other, moment): &&(Record, Instant)| *moment <= end && is_same(other, record);
        // Streams may be heard in another order.
        observed.iter().filter(is_it).map(|(_, moment)| *moment).max()
    }

    /// Notes that the resolver sees records.
    pub(super) fn note(&self, records: Vec<Record>, moment: Instant) {
        let records = records.into_iter().map(|record| (record, moment));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(records);
    }
}

impl MessageListener for ObservedAnswers {
    fn hear(&self, message: &[u8]) {
        let moment = Instant::now();
        if let Ok(message) = Message::from_slice(message) {
            self.note(all_records(message), moment);
        }
    }
}

/// Returns whether two records are one, whatever times they have to live.
pub(super) fn is_same(one: &Record, other: &Record) -> bool {
    one.name == other.name && one.data == other.data
}
