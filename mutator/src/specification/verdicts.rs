//! What the compiler has said of mutants.

use std::collections::{BTreeMap, BTreeSet};

/// What the compiler has said so far.
#[derive(Debug, Default)]
pub(crate) struct Verdicts {
    /// Candidates that do not compile, with the reason.
    pub(crate) rejected: BTreeMap<usize, String>,
    /// Candidates whose comparison with the original's value does not compile: they count as infected where they are
    /// reached.
    pub(crate) incomparable: BTreeSet<usize>,
    /// Functions, as (file, function), that do not compile with the probes of data flow, with the reason.
    pub(crate) without_flow: BTreeMap<(usize, usize), String>,
    /// Functions, as (file, function), that do not compile with probes, with the reason.
    pub(crate) uninstrumented: BTreeMap<(usize, usize), String>,
}

impl Verdicts {
    /// Returns how much has been said.
    pub(crate) fn count(&self) -> usize {
        self.rejected.len() + self.incomparable.len() + self.without_flow.len() + self.uninstrumented.len()
    }
}
