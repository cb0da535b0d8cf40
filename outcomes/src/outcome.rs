//! What a campaign leaves: what each test case covers, and which mutants it kills.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{BitSet, Cause, CostKills, InputSource, MutantNumber, RunCost, Sites};

/// How a simulated run ended: the four ends of Rutherford's thesis, section 3.2, and an inconclusive one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunEnd {
    /// The run ended by itself, and every expectation and check held.
    #[serde(alias = "reasonable")]
    Passed,
    /// The run ended by itself, with a result that breaks an expectation or a check.
    #[serde(alias = "unreasonable")]
    Failed,
    /// The run used up its steps, events or virtual time, or a process of it hung.
    NotTerminated,
    /// A panic, a stack overflow, an abort, or memory used up.
    Abnormal,
    /// The run ended by itself, and the oracle could not find out whether its result is right: neither a kill nor a
    /// pass.
    Inconclusive,
}

impl RunEnd {
    /// All ends: first those of the thesis, in its order.
    pub const ALL: [Self; 5] = [Self::Passed, Self::Failed, Self::NotTerminated, Self::Abnormal, Self::Inconclusive];

    /// Returns whether a run that ended so kills the mutant it ran on.
    pub fn kills(self) -> bool {
        match self {
            Self::Passed | Self::Inconclusive => false,
            Self::Failed | Self::NotTerminated | Self::Abnormal => true,
        }
    }
}

impl std::fmt::Display for RunEnd {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::NotTerminated => "not terminated",
            Self::Abnormal => "abnormal",
            Self::Inconclusive => "inconclusive",
        })
    }
}

/// One run of one test case on the original or on one mutant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Execution {
    /// How it ended.
    pub verdict: RunEnd,
    /// What ended it so; `None` if [`RunEnd::Passed`].
    pub cause: Option<Cause>,
    /// Why, in words; empty if [`RunEnd::Passed`].
    pub reason: String,
    /// Events that the engine handled.
    pub events: u64,
    /// Steps that the instrumented code took: loop iterations and calls; 0 of the package as it is written, in which
    /// nothing counts them.
    pub steps: u64,
}

/// How many test cases ended in which way on one mutant; pairs that were pruned are [`RunEnd::Passed`].
///
/// ```
/// use simutant_outcomes::{RunEnd, VerdictCounts};
///
/// let mut counts = VerdictCounts::default();
/// for end in [RunEnd::Passed, RunEnd::Failed, RunEnd::Abnormal, RunEnd::Inconclusive] {
///     counts.add(end);
/// }
/// // Neither what passed nor what is not known.
/// assert_eq!(counts.kills(), 2);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerdictCounts {
    /// Passed, as the original.
    #[serde(alias = "reasonable")]
    pub passed: u32,
    /// Failed the oracle.
    #[serde(alias = "unreasonable")]
    pub failed: u32,
    /// Did not end.
    pub not_terminated: u32,
    /// Ended by a panic or a crash.
    pub abnormal: u32,
    /// Ended without anything found out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub inconclusive: u32,
}

/// Returns whether a count is zero, for serde: files leave out such counts where they are new.
pub fn is_zero<N: Default + PartialEq>(count: &N) -> bool {
    *count == N::default()
}

impl VerdictCounts {
    /// Counts one more.
    pub fn add(&mut self, verdict: RunEnd) {
        match verdict {
            RunEnd::Passed => self.passed += 1,
            RunEnd::Failed => self.failed += 1,
            RunEnd::NotTerminated => self.not_terminated += 1,
            RunEnd::Abnormal => self.abnormal += 1,
            RunEnd::Inconclusive => self.inconclusive += 1,
        }
    }

    /// Returns how many ended with `verdict`.
    pub fn of(self, verdict: RunEnd) -> u32 {
        match verdict {
            RunEnd::Passed => self.passed,
            RunEnd::Failed => self.failed,
            RunEnd::NotTerminated => self.not_terminated,
            RunEnd::Abnormal => self.abnormal,
            RunEnd::Inconclusive => self.inconclusive,
        }
    }

    /// Returns how many of them kill.
    pub fn kills(self) -> u32 {
        self.failed + self.not_terminated + self.abnormal
    }
}

/// What the original did on one test case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseOutcome {
    /// The test case, in its system's own form.
    pub case: serde_json::Value,
    /// Events that the engine handled.
    pub events: u64,
    /// Steps that the instrumented code took.
    pub steps: u64,
    /// Virtual time at the end of the run, in nanoseconds.
    pub virtual_time_ns: u64,
    /// Messages that it sent; 0 if a release recorded it that did not count them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub messages: u64,
    /// Faults of the test case that begin when every component that returns has returned.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub late_faults: u64,
    /// Mutants whose place the run reached.
    pub reached: BitSet,
    /// Mutants that the run infected: only these can be killed by the test case.
    pub infected: BitSet,
}

impl CaseOutcome {
    /// Returns what the run cost.
    pub fn cost(&self) -> RunCost {
        RunCost { events: self.events, messages: self.messages, virtual_time_ns: self.virtual_time_ns }
    }
}

/// Where a criterion looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CriterionKind {
    /// At the code of the simulation.
    WhiteBox,
    /// At the test case alone.
    BlackBox,
    /// At what happens in a run of the simulation, whatever its code.
    Trace,
}

/// An adequacy criterion with its requirements, and which test case covers which of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Criterion {
    /// Its name, for example `all-branches` or `IP-1`.
    pub name: String,
    /// Where it looks.
    pub kind: CriterionKind,
    /// A label for each requirement.
    pub requirements: Vec<String>,
    /// Requirements that a suite need not cover all of; none of them is in two quotas.
    #[serde(default)]
    pub quotas: Vec<Quota>,
    /// `covered[case]` has a bit for each requirement that the test case covers; shape `cases x requirements`.
    pub covered: Vec<BitSet>,
}

/// Requirements of a criterion of which a number is enough, whichever they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quota {
    /// Their indices.
    pub requirements: std::ops::Range<usize>,
    /// How many of them a suite covers at least.
    pub covered_min: usize,
}

impl Criterion {
    /// Returns how many requirements count as covered where `covered` are: all of them, but of those in a quota no more
    /// than it asks for.
    ///
    /// ```
    /// use simutant_outcomes::{BitSet, Criterion, CriterionKind, Quota};
    ///
    /// // Of four random losses, two are enough.
    /// let criterion = Criterion {
    ///     name: "losses".to_owned(),
    ///     kind: CriterionKind::BlackBox,
    ///     requirements: ["none", "a", "b", "c", "d"].map(str::to_owned).to_vec(),
    ///     quotas: vec![Quota { requirements: 1..5, covered_min: 2 }],
    ///     covered: Vec::new(),
    /// };
    /// let covered = |requirements: &[usize]| {
    ///     let mut set = BitSet::with_capacity(5);
    ///     set.extend(requirements.iter().copied());
    ///     criterion.progress(&set)
    /// };
    /// assert_eq!((covered(&[1]), covered(&[1, 3]), covered(&[1, 2, 3, 4]), covered(&[0, 1, 2])), (1, 2, 2, 3));
    /// ```
    ///
    /// # Panics
    /// If the set is shorter than the requirements.
    pub fn progress(&self, covered: &BitSet) -> usize {
        let beyond = |quota: &Quota| covered.count_ones(quota.requirements.clone()).saturating_sub(quota.covered_min);
        covered.count_ones(..) - self.quotas.iter().map(beyond).sum::<usize>()
    }
}

/// How often a reason was given for a verdict on one mutant; reasons that differ in numbers only are one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReasonCount {
    /// The verdict.
    pub verdict: RunEnd,
    /// What ended the runs.
    pub cause: Cause,
    /// The reason, in words, with the numbers of the first test case.
    pub reason: String,
    /// How many test cases.
    pub count: u32,
    /// The first of them.
    pub first_case: usize,
}

/// All that a campaign found out, in the order of cases and of mutants: independent of the order of execution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcomes {
    /// The system.
    pub system: String,
    /// The seed that the universe was drawn from.
    pub seed: u64,
    /// The source that it was drawn by.
    #[serde(default)]
    pub input_source: InputSource,
    /// The source, its requirements and its mutants.
    pub sites: Sites,
    /// One entry per test case of the universe.
    pub cases: Vec<CaseOutcome>,
    /// The criteria: those of the code, from `all-blocks` on, then the system's black-box criteria in its own order,
    /// then those that look at traces, whose requirements are what the universe covers, in the order of their labels.
    pub criteria: Vec<Criterion>,
    /// The names of criteria that look at traces and are not among these, since no test case covers anything of them.
    #[serde(default)]
    pub left_out: Vec<String>,
    /// `kills[mutant]` has a bit for each test case that kills it; shape `mutants x cases`.
    pub kills: Vec<BitSet>,
    /// `verdicts[mutant]` counts the ends of the runs over all test cases.
    pub verdicts: Vec<VerdictCounts>,
    /// `causes[mutant]` counts what ended the runs that kill it.
    pub causes: Vec<BTreeMap<Cause, u32>>,
    /// `diverged[mutant]` has a bit for each test case on which the mutant's run had other events than the original's,
    /// in another order or at other times, whatever the verdict; shape `mutants x cases`.
    pub diverged: Vec<BitSet>,
    /// `reasons[mutant]`: why it was killed, most frequent first, at most [`Outcomes::REASONS_MAX`], and one more
    /// where kills by cost count.
    pub reasons: Vec<Vec<ReasonCount>>,
    /// What re-seedings of the test cases did; `None` if each was run once. Nothing else in here depends on them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reseeded: Option<Reseeded>,
    /// What the cost oracle kills; `None` if none was asked for. The kills above have these among them only if
    /// [`CostKills::role`] says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<CostKills>,
}

/// What test cases did when they were run several times, each time but the first with their chance drawn anew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reseeded {
    /// How often each test case was run on the original, once with its own chance.
    pub reseedings: u32,
    /// What is chance in a test case: the paths of the fields that differ between its re-seedings, for example `seed`.
    pub chance: Vec<String>,
    /// `runs[mutant][case]`: of how many re-seedings it is known whether they kill the mutant. Those that do not infect
    /// it do not; of those that do, all are run if they differ, and only the first few if they end alike.
    pub runs: Vec<Vec<u8>>,
    /// `kills[mutant][case]`: how many of these kill the mutant.
    pub kills: Vec<Vec<u8>>,
    /// `covered[criterion][case][requirement]`: how many re-seedings cover the requirement.
    pub covered: Vec<Vec<Vec<u8>>>,
}

impl Outcomes {
    /// How many different reasons are kept for a mutant.
    pub const REASONS_MAX: usize = 8;

    /// Returns how many (mutant, test case) pairs there are.
    pub fn pairs(&self) -> u64 {
        self.cases.len() as u64 * self.sites.mutants.len() as u64
    }

    /// Returns how many pairs were infected, which is how many were executed.
    pub fn pairs_infected(&self) -> u64 {
        self.cases.iter().map(|case| case.infected.count_ones(..) as u64).sum()
    }

    /// Returns the test cases that kill a mutant, with their own chance or drawn anew.
    pub fn killing_cases(&self, mutant: usize) -> BitSet {
        let mut cases = self.kills[mutant].clone();
        let reseeded = self.reseeded.iter().flat_map(|reseeded| reseeded.kills[mutant].iter().enumerate());
        cases.extend(reseeded.filter(|(_, kills)| **kills > 0).map(|(case, _)| case));
        cases
    }

    /// Returns the numbers of the mutants that at least one test case kills.
    pub fn killed_mutants(&self) -> Vec<MutantNumber> {
        (0..).zip(&self.kills).filter(|(_, kills)| !kills.is_clear()).map(|(number, _)| number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_earlier_releases_are_read() {
        let ends: Vec<RunEnd> = serde_json::from_str(r#"["reasonable", "unreasonable"]"#).expect("their old names");
        assert_eq!(ends, [RunEnd::Passed, RunEnd::Failed]);
        let counts = r#"{"reasonable": 1, "unreasonable": 2, "not_terminated": 3, "abnormal": 4}"#;
        let counts: VerdictCounts = serde_json::from_str(counts).expect("their old names");
        assert_eq!(RunEnd::ALL.map(|end| counts.of(end)), [1, 2, 3, 4, 0]);
    }
}
