//! What the compiler has said of mutants.

use std::collections::{BTreeMap, BTreeSet};

use crate::mutation::PlacedCandidate;
use crate::syntax::source::FunctionId;
use crate::text::edit::CandidateId;

/// What the compiler has said so far.
#[derive(Debug, Clone, Default)]
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
    /// Functions that are not compiled, since a condition does not hold of which only the build script knows; with the
    /// reason.
    pub(crate) left_out: BTreeMap<FunctionId, String>,
    /// Candidates one of which may be to blame for an error elsewhere in their function. In the next build each is
    /// tried alone, in a body of its own.
    pub(crate) suspected: BTreeSet<CandidateId>,
    /// Candidates that compiled when they were tried.
    pub(crate) cleared: BTreeSet<CandidateId>,
}

impl Verdicts {
    /// Returns how much has been said.
    pub(crate) fn count(&self) -> usize {
        let functions = self.without_flow.len() + self.uninstrumented.len() + self.left_out.len();
        self.rejected.len() + self.incomparable.len() + functions
    }

    /// Returns which candidates of a function are tried in this build, by their indices; `candidates` are all of
    /// functions, in their order.
    pub(crate) fn on_trial(&self, candidates: &[PlacedCandidate], function: FunctionId) -> Vec<usize> {
        if self.suspected.is_empty() {
            return Vec::new();
        }
        let start = candidates.partition_point(|placed| placed.function_id() < Some(function));
        let own = candidates[start..].iter().take_while(|placed| placed.function_id() == Some(function));
        let own = (start..).zip(own).map(|(candidate, _)| candidate);
        own.filter(|candidate| self.suspected.contains(&CandidateId::Function(*candidate))).collect()
    }

    /// Ends the trial of `tried`, after what the compiler said since `before`: those of functions that it has said nothing
    /// new of are cleared. What it has against one mutant may hide what it has against others of the same function, which
    /// may come under suspicion again.
    pub(crate) fn end_trial(&mut self, tried: &BTreeSet<CandidateId>, before: &Self, candidates: &[PlacedCandidate]) {
        let function = |candidate: &CandidateId| match candidate {
            CandidateId::Function(index) => candidates[*index].function_id(),
            CandidateId::Constant(_) => None,
        };
        let rejected = self.rejected.keys().filter(|candidate| !before.rejected.contains_key(candidate));
        let news = rejected.chain(self.incomparable.difference(&before.incomparable)).filter_map(function);
        let without = self.without_flow.keys().filter(|id| !before.without_flow.contains_key(id)).copied();
        let news: BTreeSet<FunctionId> = news.chain(without).collect();
        let is_cleared =
            |candidate: &&CandidateId| function(candidate).is_none_or(|function| !news.contains(&function));
        self.cleared.extend(tried.iter().filter(is_cleared));
        self.suspected.retain(|candidate| !tried.contains(candidate));
    }
}
