//! How small a candidate is.

use serde_json::{Number, Value};
use simutant_sim_core::Others;

use super::Candidate;
use super::moves::{by_name, is_seed};

/// What is smaller of two candidates: the fields say it in this order.
#[derive(Debug, Clone, PartialEq, PartialOrd)]
pub(super) struct Measure {
    is_seeded: bool,
    has_seeded_latencies: bool,
    choices: usize,
    length: usize,
    numbers: Vec<Magnitude>,
    /// Of the choices.
    indices: Vec<u64>,
    seeds: Vec<Magnitude>,
}

/// The distance of a number from 0: as a real number, and exactly if it is an integer.
type Magnitude = (f64, u64);

impl Measure {
    pub(super) fn of(candidate: &Candidate) -> Self {
        let mut measure = Self {
            is_seeded: candidate.choosing.others == Others::Seed,
            has_seeded_latencies: candidate.choosing.latencies.is_empty(),
            choices: candidate.choosing.choices.len(),
            length: 0,
            numbers: Vec::new(),
            indices: candidate.choosing.choices.iter().map(|choice| choice.index).collect(),
            seeds: Vec::new(),
        };
        measure.add(None, &candidate.case);
        measure
    }

    /// Adds a value that stands in a field, or elsewhere.
    fn add(&mut self, field: Option<&str>, value: &Value) {
        match value {
            Value::Number(number) if is_seed(field) => self.seeds.push(magnitude(number)),
            Value::Number(number) => {
                self.length += length(number);
                self.numbers.push(magnitude(number));
            }
            Value::Null | Value::Bool(false) => self.length += 1,
            Value::Bool(true) => self.length += 2,
            Value::String(text) => self.length += 2 + text.len(),
            Value::Array(elements) => {
                self.length += 2 + elements.len();
                elements.iter().for_each(|element| self.add(None, element));
            }
            Value::Object(entries) => {
                self.length += 2;
                for (key, value) in by_name(entries) {
                    self.length += 4 + key.len();
                    self.add(Some(key), value);
                }
            }
        }
    }
}

fn magnitude(number: &Number) -> Magnitude {
    let integer = number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs));
    (number.as_f64().unwrap_or(f64::INFINITY).abs(), integer.unwrap_or(0))
}

/// Returns how many digits, points and signs a number has: as many as an integer if it is one.
fn length(number: &Number) -> usize {
    match number.as_f64() {
        Some(value) if number.is_f64() => value.to_string().len(),
        _ => number.to_string().len(),
    }
}
