//! A shard: checks of the machine first, then mutants, then one file.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use simutant_outcomes::BitSet;
use tempfile::TempDir;

use super::merge::{settings, take};
use super::result::ShardResult;
use super::{Bundle, Machine, Shard, ShardError};
use crate::campaign::Baseline;
use crate::journal::{Journal, RunForm, pack};
use crate::outcomes::Settings;
use crate::{Campaign, CampaignError, Existing, Progress, SessionEnd};

/// A stop is seen after so long.
const STOP_SEEN: Duration = Duration::from_millis(20);

/// What a shard did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardRun {
    /// Whether all its test cases are done, or the shard was stopped before.
    pub end: SessionEnd,
    /// Its test cases.
    pub cases: usize,
    /// Test cases, re-seedings counted apart, that the file has the runs of.
    pub done: usize,
    /// Test cases that were recorded again, and were the same, before a mutant was run.
    pub checked: u64,
    /// Runs on mutants of this session.
    pub executed: u64,
}

impl Bundle {
    /// Runs a shard with `jobs` workers and writes its result into the file `into`. If that has a result of this shard, the
    /// shard goes on from there. It is written every few minutes ([`Bundle::with_write_interval`]). Once `stop` is set, test cases that
    /// were begun are finished, and the file has what is done.
    ///
    /// What runs is a private copy of the bundle in the folder for temporary files.
    ///
    /// # Errors
    /// [`ShardError::UnfitMachine`] if this machine lacks what the executables need, or the original does something
    /// else here than on the machine that prepared the bundle; others if the bundle is damaged, or a campaign would
    /// end with the error. The file has then what was written before.
    pub fn run_shard(
        &self,
        shard: Shard,
        into: &Path,
        jobs: NonZeroUsize,
        progress: &mut dyn FnMut(Progress),
        stop: &AtomicBool,
    ) -> Result<ShardRun, ShardError> {
        let folder =
            TempDir::with_prefix("simutant-shard-").map_err(|source| ShardError::file(std::env::temp_dir(), source))?;
        self.copy_to(folder.path())?;
        let (plan, plain) = self.plan(folder.path())?;
        let machine = Machine::this();
        let unfit = |detail| ShardError::UnfitMachine { machine: machine.name.clone(), detail };
        if let Some(detail) = self.unfit(jobs, plan.bounds.memory_bytes) {
            return Err(unfit(detail));
        }
        ShardResult::check_place(into)?;
        let (seed, universe) = (plan.seed, plan.universe());
        let scope = shard.cases(seed, universe);
        let mut campaign = Campaign::open(folder.path(), plan, Existing::Continue)?;
        let settings = settings(campaign.journal())?;
        self.take_known((campaign.journal_mut(), &settings), shard, into)?;
        // As after an edit: what is known is held against a sample of itself that is made again.
        campaign.journal_mut().adopt(&scope.ones().collect::<Vec<_>>())?;
        let checked = campaign.run_baseline(&plain, jobs, progress, stop);
        let baseline = checked.map_err(|error| unfit_by(error).map_or_else(ShardError::from, unfit))?;
        let (identity, reasons, units) = (self.identity().clone(), BTreeMap::new(), BTreeMap::new());
        let mut result = ShardResult { identity, shard, machine: machine.clone(), reasons, units };
        loop {
            let end = match &baseline {
                Some(baseline) => self.run_for_a_while(&mut campaign, (baseline, &scope), jobs, progress, stop)?,
                None => SessionEnd::Stopped,
            };
            // Another attempt may have written the file meanwhile, and have more.
            self.take_known((campaign.journal_mut(), &settings), shard, into)?;
            add_done(&mut result, (campaign.journal(), &settings), &scope)?;
            result.write(into)?;
            if end == SessionEnd::Finished || baseline.is_none() || stop.load(Relaxed) {
                let (executed, checked) = campaign.session_counts();
                return Ok(ShardRun { end, cases: scope.count_ones(..), done: result.units.len(), checked, executed });
            }
        }
    }

    /// Runs a campaign on the test cases of `scope` until what it has is to be written, or it is told to stop.
    fn run_for_a_while(
        &self,
        campaign: &mut Campaign,
        (baseline, scope): (&Baseline, &BitSet),
        jobs: NonZeroUsize,
        progress: &mut dyn FnMut(Progress),
        stop: &AtomicBool,
    ) -> Result<SessionEnd, CampaignError> {
        let (begun, halt, has_ended) = (Instant::now(), AtomicBool::new(stop.load(Relaxed)), AtomicBool::new(false));
        let mut watched = |known: Progress| {
            progress(known);
            // After a test case at least, so that it goes on.
            halt.fetch_or(begun.elapsed() >= self.write_interval, Relaxed);
        };
        thread::scope(|threads| {
            // Nobody begins another test case, which may take longer than there is time.
            threads.spawn(|| {
                while !has_ended.load(Relaxed) {
                    halt.fetch_or(stop.load(Relaxed), Relaxed);
                    thread::sleep(STOP_SEEN);
                }
            });
            let end = campaign.run_mutants(baseline, Some(scope), jobs, &mut watched, &halt);
            has_ended.store(true, Relaxed);
            end
        })
    }

    /// Takes what the file of the result has of this shard; one that is damaged is written anew.
    fn take_known(
        &self,
        (journal, settings): (&mut Journal, &Settings),
        shard: Shard,
        into: &Path,
    ) -> Result<(), ShardError> {
        if !into.exists() {
            return Ok(());
        }
        let known = match ShardResult::read(into, settings.content.mutants) {
            Err(ShardError::NoResult { .. }) => return Ok(()),
            known => known?,
        };
        if known.shard != shard {
            let (found, expected) = (known.shard.to_string(), shard.to_string());
            return Err(ShardError::OtherShard { path: into.to_owned(), found, expected });
        }
        take(journal, (self.identity(), settings), known, (into, self.folder()), RunForm::Text).map(drop)
    }
}

/// Adds the runs of the test cases of `scope` that were done since it was called last, and the reasons that they name.
fn add_done(
    result: &mut ShardResult,
    (journal, settings): (&Journal, &Settings),
    scope: &BitSet,
) -> Result<(), CampaignError> {
    let is_done = journal.units(&settings.content)?;
    let texts = journal.reasons()?;
    for number in
        (0..is_done.len()).filter(|&number| is_done[number].is_some() && scope.contains(number % settings.cases))
    {
        if result.units.contains_key(&number) {
            continue;
        }
        let Some(runs) = journal.runs_of(number)? else { continue };
        for run in &runs {
            if let (Entry::Vacant(place), Some(text)) = (result.reasons.entry(run.reason), texts.get(&run.reason)) {
                place.insert(text.clone());
            }
        }
        result.units.insert(number, pack(&runs));
    }
    Ok(())
}

/// Returns in words how the original did something else than on the preparing machine; the error, if it is about
/// something else.
fn unfit_by(error: CampaignError) -> Result<String, CampaignError> {
    let of = |number: usize, how: String| {
        format!(
            "test case {number} on the original does not do what it did on the machine that prepared the bundle: {how}"
        )
    };
    match error {
        CampaignError::RecordingKeptWrongly { number, difference, .. } => Ok(of(number, difference)),
        CampaignError::NotDeterministic { number, difference, .. } => Ok(of(number, difference)),
        CampaignError::BaselineFailed { number, execution, .. } => {
            Ok(of(number, format!("{} {}", execution.verdict, execution.reason).trim_end().to_owned()))
        }
        CampaignError::NotAsChosen { number, difference, .. }
        | CampaignError::NotAsWritten { number, difference, .. } => Ok(of(number, difference)),
        CampaignError::Worker { detail, .. } => Ok(format!("its workers cannot be used: {detail}")),
        CampaignError::OfReseeding { error, .. } => unfit_by(*error),
        error => Err(error),
    }
}
