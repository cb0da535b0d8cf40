//! What the compiler has said of mutants, and how it is kept between builds.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::instrument::Specification;

/// What the compiler has said so far.
#[derive(Debug, Default)]
pub(crate) struct Verdicts {
    /// Candidates that do not compile, with the reason.
    pub(crate) rejected: BTreeMap<usize, String>,
    /// Candidates whose value cannot be compared with the original's: they count as infected where they are reached.
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

/// [`Verdicts`] on one state of the source, by names that do not depend on how candidates are numbered.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct KnownVerdicts {
    /// A hash of the source that they are about.
    source: u64,
    rejected: BTreeMap<String, String>,
    incomparable: BTreeSet<String>,
    #[serde(default)]
    without_flow: BTreeMap<String, String>,
    uninstrumented: BTreeMap<String, String>,
}

impl KnownVerdicts {
    pub(crate) fn new(verdicts: &Verdicts, specification: &Specification, source: u64) -> Self {
        let identity = |candidate: &usize| specification.candidates[*candidate].identity.clone();
        let path = |(file, function): &(usize, usize)| specification.sources[*file].functions[*function].path.clone();
        let named = |(candidate, reason): (&usize, &String)| (identity(candidate), reason.clone());
        Self {
            source,
            rejected: verdicts.rejected.iter().map(named).collect(),
            incomparable: verdicts.incomparable.iter().map(identity).collect(),
            without_flow: verdicts.without_flow.iter().map(|(at, reason)| (path(at), reason.clone())).collect(),
            uninstrumented: verdicts.uninstrumented.iter().map(|(at, reason)| (path(at), reason.clone())).collect(),
        }
    }

    /// Returns the verdicts, unless they are about another state of the source.
    pub(crate) fn verdicts(&self, specification: &Specification, source: u64) -> Option<Verdicts> {
        if self.source != source {
            return None;
        }
        let mut verdicts = Verdicts::default();
        for (candidate, placed) in specification.candidates.iter().enumerate() {
            if let Some(reason) = self.rejected.get(&placed.identity) {
                verdicts.rejected.insert(candidate, reason.clone());
            }
            if self.incomparable.contains(&placed.identity) {
                verdicts.incomparable.insert(candidate);
            }
        }
        for (file, source) in specification.sources.iter().enumerate() {
            for (index, function) in source.functions.iter().enumerate() {
                if let Some(reason) = self.without_flow.get(&function.path) {
                    verdicts.without_flow.insert((file, index), reason.clone());
                }
                if let Some(reason) = self.uninstrumented.get(&function.path) {
                    verdicts.uninstrumented.insert((file, index), reason.clone());
                }
            }
        }
        Some(verdicts)
    }
}
