//! Runs that are kept after an edit of the source: a store beside the campaign, until their test cases are finished again.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension, params};
use simutant_outcomes::{BitSet, Cause, Execution, MutantNumber, Sites};
use simutant_protocol::Limits;

use super::runs::to_text;
use super::{Content, Journal, StoredRun};
use crate::CampaignError;
use crate::edit::Edit;

/// The runs of finished test cases take the place of those that are kept.
const NOTE_CASES: &str = "
    INSERT OR REPLACE INTO kept (test_case, input, digest, runs)
        SELECT number, input, digest, runs FROM units
        JOIN cases ON cases.number = units.test_case JOIN recordings ON recordings.test_case = number
";

/// Empties what the source decides but for recordings.
const CLEAR: &str = "
    DELETE FROM units;
    DELETE FROM meta WHERE key IN ('criteria', 'trace_criteria', 'limits');
";

/// Forgets the runs of test cases on which the original does something else now, or that are others.
const FORGET_OTHER_CASES: &str = "
    DELETE FROM kept WHERE test_case NOT IN (
        SELECT cases.number FROM cases
        JOIN kept ON kept.test_case = cases.number AND kept.input = cases.input
        JOIN recordings ON recordings.test_case = cases.number AND recordings.digest = kept.digest
    );
";

/// A run that is kept, in the numbers of the new source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeptRun {
    pub(crate) mutant: MutantNumber,
    pub(crate) diverged: bool,
    pub(crate) entered: u64,
    pub(crate) execution: Execution,
}

impl Journal {
    /// Empties the journal for other source, but for the runs that are the same there; without an edit nothing is kept. `content` is what the journal holds,
    /// `None` before the universe was drawn, and `sites` is what comes.
    pub(crate) fn begin_anew(
        &mut self,
        edit: Option<&Edit>,
        content: Option<&Content>,
        sites: &Sites,
    ) -> Result<(), CampaignError> {
        let finished = self.rows("SELECT count(*) FROM units", |row| row.get::<_, i64>(0))?;
        let limits: Option<Limits> = self.get("limits")?;
        if let (true, Some(limits)) = (finished != [0], limits) {
            // What an earlier edit left is under the limits of that time.
            if self.get::<Limits>("kept_limits")? != Some(limits) {
                self.try_sql(|connection| connection.execute_batch("DELETE FROM kept"))?;
            }
            self.try_sql(|connection| connection.execute_batch(NOTE_CASES))?;
            self.set("kept_limits", &limits)?;
        }
        match edit.zip(content) {
            Some((edit, content)) => self.keep_recordings(content, edit, sites)?,
            None => self.forget_recordings()?,
        }
        match edit {
            None => self.try_sql(|connection| connection.execute_batch("DELETE FROM kept"))?,
            Some(edit) => self.renumber(edit)?,
        }
        self.try_sql(|connection| connection.execute_batch(CLEAR))
    }

    /// Gives the runs that called nothing that has changed the numbers and reasons of the new source, and forgets the others.
    fn renumber(&mut self, edit: &Edit) -> Result<(), CampaignError> {
        let mutants: BTreeMap<MutantNumber, MutantNumber> = edit.mutants.iter().copied().collect();
        let mut reasons = BTreeMap::new();
        for (number, text) in self.reasons()? {
            let Some(reworded) = edit.reworded(&text) else { continue };
            reasons.insert(number, if reworded == text { number } else { self.reason_number(&reworded)? });
        }
        self.revise_kept(|_, runs| {
            runs.retain_mut(|run| {
                let Some((&mutant, &reason)) = mutants.get(&run.mutant).zip(reasons.get(&run.reason)) else {
                    return false;
                };
                (run.mutant, run.reason) = (mutant, reason);
                run.entered & edit.changed == 0
            });
            runs.sort_unstable_by_key(|run| run.mutant);
            Ok(())
        })
    }

    /// Lets `revise` change what is kept of each test case; of one without runs nothing is.
    fn revise_kept(
        &self,
        mut revise: impl FnMut(usize, &mut Vec<StoredRun>) -> Result<(), CampaignError>,
    ) -> Result<(), CampaignError> {
        for number in self.rows("SELECT test_case FROM kept", |row| row.get::<_, i64>(0))? {
            let case = self.index(number, usize::MAX)?;
            let Some(before) = self.kept_of(case)? else { continue };
            let mut runs = before.clone();
            revise(case, &mut runs)?;
            self.try_sql(|connection| match &*runs {
                [] => connection.prepare_cached("DELETE FROM kept WHERE test_case = ?1")?.execute([number]).map(drop),
                _ if runs == before => Ok(()),
                runs => {
                    let sql = "UPDATE kept SET runs = ?2 WHERE test_case = ?1";
                    connection.prepare_cached(sql)?.execute(params![number, to_text(runs)]).map(drop)
                }
            })?;
        }
        Ok(())
    }

    /// Returns what is kept of a test case.
    fn kept_of(&self, case: usize) -> Result<Option<Vec<StoredRun>>, CampaignError> {
        let text: Option<String> = self.try_sql(|connection| {
            let sql = "SELECT runs FROM kept WHERE test_case = ?1";
            connection.prepare_cached(sql)?.query_row([case as i64], |row| row.get(0)).optional()
        })?;
        text.map(|text| self.runs(case, &text)).transpose()
    }

    /// Forgets what is kept but would be another run now, when all test cases have been recorded and `limits` are
    /// known; returns for each test case the mutants whose runs are left. `selected` are those that it is to run on.
    pub(crate) fn settle_kept(
        &mut self,
        limits: &Limits,
        selected: &[Vec<MutantNumber>],
    ) -> Result<Vec<BitSet>, CampaignError> {
        let is_limited = match self.get::<Limits>("kept_limits")? {
            Some(before) if before != *limits => may_be_limited(&before, limits),
            _ => Box::new(|_: &StoredRun| false),
        };
        self.set("kept_limits", limits)?;
        self.try_sql(|connection| connection.execute_batch(FORGET_OTHER_CASES))?;
        let mut left = vec![BitSet::new(); selected.len()];
        self.revise_kept(|case, runs| {
            let selected =
                selected.get(case).ok_or_else(|| self.damaged(format!("runs of test case {case} are kept")))?;
            runs.retain(|run| !is_limited(run) && selected.binary_search(&run.mutant).is_ok());
            runs.iter().for_each(|run| left[case].grow_and_insert(run.mutant as usize));
            Ok(())
        })?;
        Ok(left)
    }

    /// Returns the runs of these mutants, which are kept.
    pub(crate) fn kept_runs(&self, mutants: &[Vec<MutantNumber>]) -> Result<Vec<Vec<KeptRun>>, CampaignError> {
        let reasons = self.reasons()?;
        let of_case = |(case, mutants): (usize, &Vec<MutantNumber>)| {
            if mutants.is_empty() {
                return Ok(Vec::new());
            }
            let mut runs = self.kept_of(case)?.unwrap_or_default();
            runs.retain(|run| mutants.contains(&run.mutant));
            runs.iter().map(|run| self.kept_run(run, &reasons)).collect()
        };
        mutants.iter().enumerate().map(of_case).collect()
    }

    fn kept_run(&self, run: &StoredRun, reasons: &BTreeMap<i64, String>) -> Result<KeptRun, CampaignError> {
        let &StoredRun { mutant, cause, diverged, reason, events, steps, entered } = run;
        let reason = reasons.get(&reason).ok_or_else(|| self.damaged("a run without a reason"))?.clone();
        let execution = Execution { verdict: run.verdict(), cause, reason, events, steps };
        Ok(KeptRun { mutant, diverged, entered, execution })
    }

    /// Returns the runs of a test case that are kept, to be a part of the campaign again, and keeps them no more.
    pub(super) fn take_kept(&self, case: usize) -> Result<Vec<StoredRun>, CampaignError> {
        let runs = self.kept_of(case)?.unwrap_or_default();
        self.try_sql(|connection| {
            connection.prepare_cached("DELETE FROM kept WHERE test_case = ?1")?.execute([case as i64])
        })?;
        Ok(runs)
    }
}

/// Returns which runs may end in another way under other limits.
fn may_be_limited(before: &Limits, now: &Limits) -> Box<dyn Fn(&StoredRun) -> bool> {
    // How much of these a run took is not in the journal.
    let is_unknown = now.virtual_time_ns < before.virtual_time_ns
        || now.memory_bytes < before.memory_bytes
        || now.memory_bytes_max < before.memory_bytes_max;
    let Limits { steps, events, .. } = *now;
    Box::new(move |run| {
        let was_ended = matches!(run.cause, Some(Cause::Steps | Cause::Events | Cause::VirtualTime | Cause::Memory));
        is_unknown || was_ended || run.steps >= steps || run.events >= events
    })
}
