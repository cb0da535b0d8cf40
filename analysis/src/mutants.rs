//! Which mutants suites are scored on.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use simutant_outcomes::{BitSet, Compiled, Judged, Outcomes};

use crate::options::AnalysisOptions;

/// What the universe as a whole does to a mutant.
///
/// The thesis (section 4.2.1.3, table 4.2) tells equivalent, pathological and used mutants apart, the first by reading
/// those that nothing killed. Reading cannot be automated: what people found by it is an option
/// ([`AnalysisOptions::judgements`](crate::AnalysisOptions::judgements)), and the other unkilled ones are told apart by
/// how far they get: they may be equivalent, or the universe may lack a test case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MutantClass {
    /// No test case kills it, and none can: a person judged so, or the compiler makes the original's machine code of
    /// it.
    Equivalent,
    /// The compiler makes the same machine code of it as of another mutant, which counts for both.
    Duplicate,
    /// No test case reaches its place.
    NeverReached,
    /// Its place is reached, but its code never has another value or effect there.
    NeverInfected,
    /// Its code has another value or effect, and every run has the events of the original's all the same.
    NeverPropagated,
    /// Its code has another value or effect, and what runs make of it is not known: the engine does not see what happens
    /// inside of the components of this system.
    NotKnown,
    /// Some run has other events than the original's, and no expectation or check ever says so.
    NeverKilled,
    /// More than [`AnalysisOptions::pathological_above`](crate::AnalysisOptions::pathological_above) of the universe
    /// kills it: any suite would, so it cannot tell suites apart.
    Pathological,
    /// Killed, and not by most test cases: mutant scores count these. The thesis's N_u counts more
    /// ([`ClassCounts::used_in_thesis`]).
    Analysed,
}

impl MutantClass {
    /// All classes: first the mutants that scores leave out, then the others by how far they get.
    pub const ALL: [Self; 9] = [
        Self::Equivalent,
        Self::Duplicate,
        Self::NeverReached,
        Self::NeverInfected,
        Self::NeverPropagated,
        Self::NotKnown,
        Self::NeverKilled,
        Self::Pathological,
        Self::Analysed,
    ];

    /// Returns whether some test case kills the mutants of this class. It is not said of duplicates: see the other
    /// mutant.
    pub fn is_killed(self) -> bool {
        matches!(self, Self::Pathological | Self::Analysed)
    }

    /// Returns whether no test case kills the mutants of this class. It is not said of duplicates either.
    pub fn survives(self) -> bool {
        !self.is_killed() && self != Self::Duplicate
    }
}

impl std::fmt::Display for MutantClass {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Equivalent => "equivalent",
            Self::Duplicate => "duplicate",
            Self::NeverReached => "never reached",
            Self::NeverInfected => "never infected",
            Self::NeverPropagated => "never propagated",
            Self::NotKnown => "not known",
            Self::NeverKilled => "never killed",
            Self::Pathological => "pathological",
            Self::Analysed => "analysed",
        })
    }
}

/// The class of each mutant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MutantClasses {
    /// How many there are of each class.
    pub counts: ClassCounts,
    /// How many different rows of the kill matrix the analysed mutants have: mutants with equal rows say the same about
    /// every suite.
    pub analysed_rows: usize,
    /// The class of each mutant, in the order of their numbers.
    pub classes: Vec<MutantClass>,
}

/// How many mutants there are of each class: the columns of table 4.2.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassCounts {
    /// See [`MutantClass::Equivalent`].
    pub equivalent: usize,
    /// See [`MutantClass::Duplicate`].
    #[serde(default)]
    pub duplicate: usize,
    /// See [`MutantClass::NeverReached`].
    pub never_reached: usize,
    /// See [`MutantClass::NeverInfected`].
    pub never_infected: usize,
    /// See [`MutantClass::NeverPropagated`].
    pub never_propagated: usize,
    /// See [`MutantClass::NotKnown`].
    #[serde(default, skip_serializing_if = "is_none")]
    pub not_known: usize,
    /// See [`MutantClass::NeverKilled`].
    pub never_killed: usize,
    /// See [`MutantClass::Pathological`].
    pub pathological: usize,
    /// See [`MutantClass::Analysed`].
    pub analysed: usize,
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

impl ClassCounts {
    /// Returns how many mutants no test case kills: an upper bound on those that are equivalent in truth.
    pub fn unkilled(self) -> usize {
        self.equivalent
            + self.never_reached
            + self.never_infected
            + self.never_propagated
            + self.not_known
            + self.never_killed
    }

    /// Returns how many mutants some test case kills.
    pub fn killed(self) -> usize {
        self.pathological + self.analysed
    }

    /// Returns how many mutants there are.
    pub fn total(self) -> usize {
        self.unkilled() + self.killed() + self.duplicate
    }

    /// Returns how many mutants the thesis would use (N_u of its table 4.2): all but equivalent and pathological ones. So
    /// mutants that no test case kills are among them, which [`MutantClass::Analysed`] leaves out: they are the same for
    /// every suite. Duplicates count once.
    pub fn used_in_thesis(self) -> usize {
        self.total() - self.equivalent - self.duplicate - self.pathological
    }

    /// Returns how many mutants are of `class`.
    pub fn of(self, class: MutantClass) -> usize {
        match class {
            MutantClass::Equivalent => self.equivalent,
            MutantClass::Duplicate => self.duplicate,
            MutantClass::NeverReached => self.never_reached,
            MutantClass::NeverInfected => self.never_infected,
            MutantClass::NeverPropagated => self.never_propagated,
            MutantClass::NotKnown => self.not_known,
            MutantClass::NeverKilled => self.never_killed,
            MutantClass::Pathological => self.pathological,
            MutantClass::Analysed => self.analysed,
        }
    }

    fn add(&mut self, class: MutantClass) {
        *match class {
            MutantClass::Equivalent => &mut self.equivalent,
            MutantClass::Duplicate => &mut self.duplicate,
            MutantClass::NeverReached => &mut self.never_reached,
            MutantClass::NeverInfected => &mut self.never_infected,
            MutantClass::NeverPropagated => &mut self.never_propagated,
            MutantClass::NotKnown => &mut self.not_known,
            MutantClass::NeverKilled => &mut self.never_killed,
            MutantClass::Pathological => &mut self.pathological,
            MutantClass::Analysed => &mut self.analysed,
        } += 1;
    }
}

impl MutantClasses {
    /// Returns the numbers of the mutants of `class` as a set.
    pub fn of(&self, class: MutantClass) -> BitSet {
        let mut set = BitSet::with_capacity(self.classes.len());
        set.extend((0..).zip(&self.classes).filter(|(_, other)| **other == class).map(|(number, _)| number));
        set
    }
}

/// Returns whether the events of runs do not show what happens in them, as those of a component that has a whole
/// simulation inside.
///
/// No run that came to its end has other events than the original's, be it right or wrong, and that says nothing, since
/// some are wrong, or since all test cases have as many events on the original and do not do the same there. (A run that
/// is cut off always lacks events.)
fn is_opaque(outcomes: &Outcomes) -> bool {
    let mutants = 0..outcomes.kills.len();
    let is_whole = |mutant: &usize| {
        let counts = outcomes.verdicts[*mutant];
        counts.not_terminated == 0 && counts.abnormal == 0 && counts.inconclusive == 0
    };
    let passes_with_other_events = |mutant: usize| !outcomes.diverged[mutant].is_subset(&outcomes.kills[mutant]);
    let mut whole = mutants.clone().filter(is_whole);
    if mutants.clone().any(passes_with_other_events)
        || whole.clone().any(|mutant| !outcomes.diverged[mutant].is_clear())
    {
        return false;
    }
    let varies = |of: fn(&simutant_outcomes::CaseOutcome) -> u64| {
        outcomes.cases.first().is_some_and(|first| outcomes.cases.iter().any(|case| of(case) != of(first)))
    };
    whole.any(|mutant| !outcomes.kills[mutant].is_clear()) || varies(|case| case.steps) && !varies(|case| case.events)
}

/// Returns the class of each mutant.
pub(crate) fn classify(outcomes: &Outcomes, options: &AnalysisOptions) -> MutantClasses {
    let mutants = outcomes.sites.mutants.len();
    let mut reached = BitSet::with_capacity(mutants);
    let mut infected = BitSet::with_capacity(mutants);
    for case in &outcomes.cases {
        reached.union_with(&case.reached);
        infected.union_with(&case.infected);
    }
    let is_opaque = is_opaque(outcomes);
    let killed_max = options.pathological_above * outcomes.cases.len() as f64;
    let is_judged_equivalent = |mutant: usize| {
        let judgement = options.judgements.get(&outcomes.sites.mutants[mutant].identity);
        judgement.is_some_and(|judgement| judgement.judged == Judged::Equivalent)
    };
    let compiled = |mutant: usize| options.compiled.get(&outcomes.sites.mutants[mutant].identity);
    let classes: Vec<MutantClass> = (0..mutants)
        .map(|mutant| match outcomes.kills[mutant].count_ones(..) {
            _ if matches!(compiled(mutant), Some(Compiled::Duplicate(_))) => MutantClass::Duplicate,
            0 if compiled(mutant).is_some() => MutantClass::Equivalent,
            0 if is_judged_equivalent(mutant) && outcomes.killing_cases(mutant).is_clear() => MutantClass::Equivalent,
            0 if !reached.contains(mutant) => MutantClass::NeverReached,
            0 if !infected.contains(mutant) => MutantClass::NeverInfected,
            0 if outcomes.diverged[mutant].is_clear() && is_opaque => MutantClass::NotKnown,
            0 if outcomes.diverged[mutant].is_clear() => MutantClass::NeverPropagated,
            0 => MutantClass::NeverKilled,
            kills if kills as f64 > killed_max => MutantClass::Pathological,
            _ => MutantClass::Analysed,
        })
        .collect();
    let mut counts = ClassCounts::default();
    classes.iter().for_each(|class| counts.add(*class));
    let analysed = outcomes.kills.iter().zip(&classes).filter(|(_, class)| **class == MutantClass::Analysed);
    let analysed_rows = analysed.map(|(row, _)| row.as_slice()).collect::<BTreeSet<_>>().len();
    MutantClasses { counts, analysed_rows, classes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simutant_synthetic::from_kills;

    #[track_caller]
    fn check(row: &str, expect: MutantClass) {
        let classes = classify(&from_kills(&[row]), &AnalysisOptions::default());
        assert_eq!(classes.classes, [expect]);
        assert_eq!(classes.counts.of(expect), 1);
        assert_eq!(classes.counts.total(), 1);
    }

    #[test]
    fn a_mutant_is_classed_by_how_far_it_gets() {
        check("....", MutantClass::NeverReached);
        check(".r..", MutantClass::NeverInfected);
        check(".ri.", MutantClass::NeverPropagated);
        check(".di.", MutantClass::NeverKilled);
        check(".rik", MutantClass::Analysed);
        check("kkki", MutantClass::Pathological);
    }

    /// Events do not show wrong results, nor what test cases do differently.
    #[test]
    fn where_events_show_nothing_it_is_not_known_whether_a_mutant_propagates() {
        let class_of_first = |outcomes: &Outcomes| classify(outcomes, &AnalysisOptions::default()).classes[0];
        let mut outcomes = from_kills(&[".ii.", "k...", ".k.."]);
        assert_eq!(class_of_first(&outcomes), MutantClass::NeverPropagated);
        outcomes.diverged.iter_mut().for_each(|cases| cases.clear());
        assert_eq!(class_of_first(&outcomes), MutantClass::NotKnown);
        let counts = classify(&outcomes, &AnalysisOptions::default()).counts;
        assert_eq!((counts.not_known, counts.unkilled(), counts.total()), (1, 1, 3));
        // One run whose events differ shows that events tell something.
        outcomes.diverged[2].insert(1);
        assert_eq!(class_of_first(&outcomes), MutantClass::NeverPropagated);
        outcomes.diverged[2].clear();
        // A run that crashed lacks events whatever they show.
        outcomes.diverged[1].insert(0);
        outcomes.verdicts[1] = simutant_outcomes::VerdictCounts { passed: 3, abnormal: 1, ..Default::default() };
        assert_eq!(class_of_first(&outcomes), MutantClass::NotKnown);
        // Nothing is killed: the test cases themselves tell.
        let mut outcomes = from_kills(&[".ii."]);
        assert_eq!(class_of_first(&outcomes), MutantClass::NeverPropagated);
        outcomes.cases[1].steps += 5;
        assert_eq!(class_of_first(&outcomes), MutantClass::NotKnown);
        outcomes.cases[1].events += 5;
        assert_eq!(class_of_first(&outcomes), MutantClass::NeverPropagated);
    }

    #[test]
    fn what_the_compiler_says_comes_first() {
        let identity = |mutant: usize| format!("{mutant:016x}");
        let compiled = [(identity(0), Compiled::Equivalent), (identity(2), Compiled::Duplicate(identity(1)))];
        let options = AnalysisOptions { compiled: compiled.into(), ..AnalysisOptions::default() };
        let classes = classify(&from_kills(&[".ri.", "k...", "k..."]), &options);
        assert_eq!(classes.classes, [MutantClass::Equivalent, MutantClass::Analysed, MutantClass::Duplicate]);
        assert_eq!((classes.counts.total(), classes.counts.killed(), classes.counts.unkilled()), (3, 1, 1));
    }

    #[test]
    fn the_thesis_uses_mutants_that_nothing_kills_unless_they_are_equivalent() {
        let identity = |mutant: usize| format!("{mutant:016x}");
        let compiled = [(identity(0), Compiled::Equivalent), (identity(4), Compiled::Duplicate(identity(3)))];
        let options = AnalysisOptions { compiled: compiled.into(), ..AnalysisOptions::default() };
        let classes = classify(&from_kills(&["....", "....", ".ri.", "k...", "k...", "kkkk"]), &options);
        assert_eq!((classes.counts.analysed, classes.counts.used_in_thesis()), (1, 3));
    }

    #[test]
    fn equal_rows_of_analysed_mutants_count_once() {
        let classes = classify(&from_kills(&["k...", "k...", ".k..", "kkk.", "...."]), &AnalysisOptions::default());
        assert_eq!((classes.counts.analysed, classes.analysed_rows), (3, 2));
    }

    #[test]
    fn exactly_half_is_not_pathological() {
        check("kk..", MutantClass::Analysed);
    }
}
