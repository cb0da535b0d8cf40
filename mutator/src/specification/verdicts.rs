//! What the compiler has said of mutants.

use std::collections::{BTreeMap, BTreeSet};

use crate::syntax::source::FunctionId;
use crate::text::edit::CandidateId;

/// What the compiler has said so far.
#[derive(Debug, Default)]
pub(crate) struct Verdicts {
    /// Candidates that do not compile, with the reason.
    pub(crate) rejected: BTreeMap<CandidateId, String>,
    /// Candidates whose comparison with the original's value does not compile: they count as infected where they are
    /// reached.
    pub(crate) incomparable: BTreeSet<CandidateId>,
    /// Functions that do not compile with the probes of data flow, with the reason.
    pub(crate) without_flow: BTreeMap<FunctionId, String>,
    /// Functions that do not compile with probes, with the reason.
    pub(crate) uninstrumented: BTreeMap<FunctionId, String>,
}

impl Verdicts {
    /// Returns how much has been said.
    pub(crate) fn count(&self) -> usize {
        self.rejected.len() + self.incomparable.len() + self.without_flow.len() + self.uninstrumented.len()
    }
}
