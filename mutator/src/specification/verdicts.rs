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
    /// Functions that the compiler had nothing against in the last build: until it has nothing against the others, they
    /// are left as they are written, since most of its time goes into bodies.
    pub(crate) settled: BTreeSet<FunctionId>,
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

    /// Settles those of `functions` that the compiler has said nothing of since `before`, and that have nothing to be
    /// tried. Where it has said something, everything is to be compiled once more.
    pub(crate) fn settle(
        &mut self,
        functions: impl Iterator<Item = FunctionId>,
        before: &Self,
        candidates: &[PlacedCandidate],
    ) {
        let news = self.news(before, candidates);
        let open: BTreeSet<FunctionId> = self.suspected.iter().filter_map(|id| function_of(id, candidates)).collect();
        self.settled.extend(functions.filter(|id| !news.contains(id) && !open.contains(id)));
        self.settled.retain(|id| !news.contains(id) && !open.contains(id));
    }

    /// Returns the functions that the compiler has said something new of.
    fn news(&self, before: &Self, candidates: &[PlacedCandidate]) -> BTreeSet<FunctionId> {
        let rejected = self.rejected.keys().filter(|candidate| !before.rejected.contains_key(candidate));
        let said = rejected.chain(self.incomparable.difference(&before.incomparable));
        let said = said.filter_map(|candidate| function_of(candidate, candidates));
        let is_new =
            |id: &&FunctionId| !before.without_flow.contains_key(id) && !before.uninstrumented.contains_key(id);
        let without = self.without_flow.keys().chain(self.uninstrumented.keys()).filter(is_new).copied();
        said.chain(without).collect()
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
        let news = self.news(before, candidates);
        let function = |candidate: &CandidateId| function_of(candidate, candidates);
        let is_cleared =
            |candidate: &&CandidateId| function(candidate).is_none_or(|function| !news.contains(&function));
        self.cleared.extend(tried.iter().filter(is_cleared));
        self.suspected.retain(|candidate| !tried.contains(candidate));
    }
}

/// Returns the function that a candidate is in.
fn function_of(candidate: &CandidateId, candidates: &[PlacedCandidate]) -> Option<FunctionId> {
    match candidate {
        CandidateId::Function(index) => candidates[*index].function_id(),
        CandidateId::Constant(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutation::Settings;
    use crate::operators::Selection;
    use crate::specification::Specification;
    use crate::syntax::declarations::Declarations;
    use crate::syntax::names::Names;
    use crate::syntax::source::Source;

    fn specification() -> Specification {
        let text = "fn f(a: u32) -> u32 { a + 1 } fn g(a: u32) -> u32 { a + 2 } fn h(a: u32) -> u32 { a + 3 }";
        let source = Source::parse("src/a.rs", text.into()).expect("the test's own source");
        let (declarations, names, selection) = (Declarations::default(), Names::default(), Selection::default());
        let settings = Settings { selection: &selection, declarations: &declarations, names: &names };
        Specification::new("a", "a", vec![source], &settings)
    }

    fn function(index: usize) -> FunctionId {
        FunctionId { file: 0, index }
    }

    /// Returns the candidates of a function.
    fn candidates(specification: &Specification, index: usize) -> Vec<CandidateId> {
        let all = specification.candidates.iter().enumerate();
        let own = all.filter(|(_, placed)| placed.function == Some(index));
        own.map(|(candidate, _)| CandidateId::Function(candidate)).collect()
    }

    #[test]
    fn what_is_tried_is_cleared_unless_something_new_is_said_of_its_function() {
        let specification = specification();
        let all = &specification.candidates;
        let [f, g] = [0, 1].map(|index| candidates(&specification, index));
        let mut verdicts = Verdicts { suspected: f.iter().chain(&g).copied().collect(), ..Verdicts::default() };
        assert_eq!(verdicts.on_trial(all, function(0)).len(), f.len());
        assert!(verdicts.on_trial(all, function(2)).is_empty());
        let (before, tried) = (verdicts.clone(), verdicts.suspected.clone());
        verdicts.rejected.insert(f[0], String::new());
        verdicts.end_trial(&tried, &before, all);
        assert_eq!(verdicts.cleared, g.iter().copied().collect());
        assert!(verdicts.suspected.is_empty());
    }

    #[test]
    fn functions_are_settled_of_which_nothing_new_is_said_and_nothing_is_tried() {
        let specification = specification();
        let all = &specification.candidates;
        let before = Verdicts { settled: [function(0)].into(), ..Verdicts::default() };
        let mut verdicts = before.clone();
        verdicts.rejected.insert(candidates(&specification, 0)[0], String::new());
        verdicts.suspected.insert(candidates(&specification, 1)[0]);
        verdicts.settle((0..3).map(function), &before, all);
        assert_eq!(verdicts.settled, [function(2)].into());
        verdicts.without_flow.insert(function(2), String::new());
        let before = Verdicts { without_flow: BTreeMap::new(), ..verdicts.clone() };
        verdicts.settle([0, 2].map(function).into_iter(), &before, all);
        assert_eq!(verdicts.settled, [function(0)].into());
    }
}
