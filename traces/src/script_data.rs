//! Data for the scripts of pages.

use std::collections::HashMap;

use serde::{Serialize, Serializer};

use crate::text::lines;

/// The largest whole number up to which JavaScript's numbers are exact.
const EXACT_MAX: u64 = (1 << 53) - 1;

/// Returns data as JSON that can stand inside of a `script` element: without `<`, nothing ends that.
pub(crate) fn json(data: &impl Serialize) -> String {
    serde_json::to_string(data).expect("it is plain data with text as keys").replace('<', "\\u003c")
}

/// A whole number, as text if JavaScript's numbers cannot hold it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exact(pub(crate) u64);

impl Serialize for Exact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 <= EXACT_MAX { serializer.serialize_u64(self.0) } else { serializer.collect_str(&self.0) }
    }
}

/// Texts, each once.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    pub(crate) texts: Vec<String>,
    /// Looked up, and never iterated.
    indices: HashMap<String, usize>,
}

impl Texts {
    pub(crate) fn index(&mut self, text: &str) -> usize {
        if let Some(index) = self.indices.get(text) {
            return *index;
        }
        self.texts.push(lines(text));
        self.indices.insert(text.to_owned(), self.texts.len() - 1);
        self.texts.len() - 1
    }
}

/// Returns an index, or -1 for none.
pub(crate) fn or_none(index: Option<usize>) -> isize {
    index.map_or(-1, |index| isize::try_from(index).expect("indices are of things in memory"))
}
