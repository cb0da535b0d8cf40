//! The test cases of a campaign as text: as values, those of a large universe would take gigabytes.

use std::ops::Range;

use serde_json::Value;

/// Test cases in the order of their numbers, each as compact JSON.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cases(Vec<Box<str>>);

impl Cases {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self(Vec::with_capacity(capacity))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    /// Adds a test case that may be no JSON, such as that of a journal.
    pub(crate) fn push_text(&mut self, text: &str) -> serde_json::Result<()> {
        let case: Value = serde_json::from_str(text)?;
        self.extend([case]);
        Ok(())
    }

    pub(crate) fn get(&self, number: usize) -> Value {
        value(&self.0[number])
    }

    pub(crate) fn range(&self, range: Range<usize>) -> Vec<Value> {
        self.0[range].iter().map(|text| value(text)).collect()
    }

    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|text| &**text)
    }

    /// Returns all of them as values, each of which takes the place of its text.
    pub(crate) fn into_values(self) -> impl Iterator<Item = Value> {
        self.0.into_iter().map(|text| value(&text))
    }
}

impl Extend<Value> for Cases {
    fn extend<I: IntoIterator<Item = Value>>(&mut self, cases: I) {
        self.0.extend(cases.into_iter().map(|case| case.to_string().into_boxed_str()));
    }
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).expect("it was read as a value before")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_test_case_is_the_same_afterwards_and_what_is_no_json_is_refused() {
        let drawn = [json!({"z": 0.1, "a": [u64::MAX, i64::MIN, 1e300]}), json!(null), json!("\u{0}\"\n")];
        let mut cases = Cases::default();
        cases.extend(drawn.clone());
        assert_eq!(cases.texts().next(), Some(r#"{"z":0.1,"a":[18446744073709551615,-9223372036854775808,1e+300]}"#));
        assert_eq!((cases.range(0..3), cases.get(2)), (drawn.to_vec(), drawn[2].clone()));
        let refused = ["", "{", "1e999", "[] []"].map(|text| cases.push_text(text).is_err());
        assert_eq!((refused, cases.len()), ([true; 4], 3));
        cases.push_text("[1, 2]").expect("JSON");
        assert_eq!(cases.texts().last(), Some("[1,2]"));
        assert_eq!(cases.into_values().last(), Some(json!([1, 2])));
    }
}
