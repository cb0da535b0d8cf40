//! Runs whose results a campaign already knows, as checks: their results must agree.

use std::collections::BTreeSet;
use std::sync::Arc;

use simutant_outcomes::{Execution, MutantNumber, RunEnd};
use simutant_protocol::MutantExecution;

use crate::journal::{KeptRun, Recording};
use crate::traced::Traced;
use crate::{CampaignError, CampaignPlan};

/// The runs that are made as checks, for each test case of a round.
#[derive(Debug)]
pub(crate) struct Checks {
    /// Mutants that the test case does not infect: the run must be the original's.
    pub(crate) pruned: Vec<Vec<MutantNumber>>,
    /// Runs that are kept after an edit: the run must be what is kept.
    pub(crate) kept: Vec<Vec<KeptRun>>,
}

impl Checks {
    /// Returns the mutants of a test case.
    pub(crate) fn mutants(&self, case: usize) -> impl Iterator<Item = MutantNumber> {
        self.pruned[case].iter().copied().chain(self.kept[case].iter().map(|kept| kept.mutant))
    }

    /// Takes the runs of test case `number` that are checks out of `runs`: they say what was known, and the others are
    /// kept. The first test case of its round is number `first`.
    pub(crate) fn take(
        &self,
        plan: &CampaignPlan,
        number: usize,
        first: usize,
        runs: &mut Vec<MutantExecution>,
    ) -> Result<(), CampaignError> {
        let case = number - first;
        let mut checked = Ok(());
        runs.retain(|run| {
            let is_pruned = self.pruned[case].contains(&run.mutant);
            let kept = self.kept[case].iter().find(|kept| kept.mutant == run.mutant);
            if checked.is_ok() && is_pruned {
                checked = check_pruned(plan, number, run);
            }
            if let (Ok(()), Some(kept)) = (&checked, kept) {
                checked = check_kept(plan, number, kept, run);
            }
            !is_pruned && kept.is_none()
        });
        checked
    }
}

/// Finds out whether a pair that is pruned ended as the original.
fn check_pruned(plan: &CampaignPlan, number: usize, run: &MutantExecution) -> Result<(), CampaignError> {
    let how = match &run.execution {
        execution if execution.verdict != RunEnd::Passed => {
            format!("did not pass ({}): {}", execution.verdict, execution.reason)
        }
        _ if run.diverged => "had other events than the original".to_owned(),
        _ => return Ok(()),
    };
    let (system, change) = (plan.build.sites.system.clone(), change(plan, run.mutant));
    Err(CampaignError::PrunedWrongly { system, seed: plan.seed, number, mutant: run.mutant, change, how })
}

/// Finds out whether a run that is kept would be the same now.
fn check_kept(plan: &CampaignPlan, number: usize, kept: &KeptRun, run: &MutantExecution) -> Result<(), CampaignError> {
    let was = facts(kept.diverged, kept.entered, &kept.execution);
    let is = facts(run.diverged, run.entered, &run.execution);
    let Some(((fact, was), (_, is))) = was.into_iter().zip(is).find(|(was, is)| was != is) else { return Ok(()) };
    Err(CampaignError::KeptWrongly {
        system: plan.build.sites.system.clone(),
        seed: plan.seed,
        number,
        mutant: run.mutant,
        change: change(plan, run.mutant),
        difference: format!("the {fact} was {was}, and is {is}"),
    })
}

/// Returns what is the same whenever a run is made again, each with its name.
pub(crate) fn facts(diverged: bool, entered: u64, execution: &Execution) -> [(&'static str, String); 6] {
    [
        ("verdict", format!("{} {}", execution.verdict, execution.reason).trim_end().to_owned()),
        ("cause", execution.cause.map_or_else(|| "none".to_owned(), |cause| cause.to_string())),
        ("number of events", execution.events.to_string()),
        ("number of steps", execution.steps.to_string()),
        ("divergence from the original", diverged.to_string()),
        ("set of functions that it called", format!("{entered:016x}")),
    ]
}

/// Finds out whether a recording that is kept would be the same now. How much memory a run takes depends a little on
/// what its worker ran before.
pub(crate) fn check_recording(
    plan: &CampaignPlan,
    number: usize,
    (kept, kept_labels): (&Recording, &Traced),
    (new, new_labels): (&Recording, &Traced),
) -> Result<(), CampaignError> {
    let sets = |recording: &Recording| {
        let names = ["blocks", "branches", "definition-use pairs", "conditions"].into_iter();
        let covered = names.chain(std::iter::repeat("requirements of a criterion")).zip(recording.covered.clone());
        let mutants =
            [("mutants reached", recording.reached.clone()), ("mutants infected", recording.infected.clone())];
        covered.chain(mutants)
    };
    let facts = |recording: &Recording| {
        let Recording { events, steps, virtual_time_ns, digest, entered, .. } = recording;
        [
            ("number of events", *events),
            ("number of steps", *steps),
            ("virtual time at the end", *virtual_time_ns),
            ("digest of the events", *digest),
            ("set of functions that it called", *entered),
        ]
    };
    let labels = |labels: &Traced| -> Vec<BTreeSet<Arc<str>>> {
        labels.iter().map(|labels| labels.iter().cloned().collect()).collect()
    };
    let of_facts = facts(kept).into_iter().zip(facts(new)).find(|(was, is)| was != is);
    let of_sets = sets(kept).zip(sets(new)).find(|(was, is)| was != is);
    let difference = match (of_facts, of_sets) {
        (Some(((fact, was), (_, is))), _) => format!("the {fact} was {was}, and is {is}"),
        (None, Some(((what, was), (_, is)))) => {
            format!("it had {} {what}, and has {}, or others", was.count_ones(..), is.count_ones(..))
        }
        (None, None) if labels(kept_labels) != labels(new_labels) => "its trace shows something else".to_owned(),
        (None, None) => return Ok(()),
    };
    let system = plan.build.sites.system.clone();
    Err(CampaignError::RecordingKeptWrongly { system, seed: plan.seed, number, difference })
}

/// Says what a mutant changes.
fn change(plan: &CampaignPlan, mutant: MutantNumber) -> String {
    let sites = &plan.build.sites;
    sites.mutants.get(mutant as usize).map_or_else(String::new, |mutant| {
        let path = |file: usize| sites.files.get(file).map_or("", |file| &file.path);
        let change = |change: &simutant_outcomes::Mutant| {
            format!(
                "{} at {}:{}, where `{}` becomes `{}`",
                change.operator,
                path(change.span.file),
                change.span.line,
                change.original,
                change.replacement
            )
        };
        sites.changes(mutant).into_iter().map(change).collect::<Vec<_>>().join(", and ")
    })
}
