//! Runs that are kept after an edit of the source: a store beside the campaign, until their test cases are finished
//! again.

use std::collections::HashMap;
use std::ops::Range;

use rusqlite::types::{Value, ValueRef};
use rusqlite::{OptionalExtension, params};
use simutant_outcomes::{BitSet, Cause, Execution, MutantNumber, Sites};
use simutant_protocol::RunLimits;

use super::runs::to_text;
use super::{Content, Journal, StoredRun};
use crate::CampaignError;
use crate::edit::Edit;

/// Empties what the source decides but for recordings and test cases.
const CLEAR: &str = "
    DELETE FROM units;
    DELETE FROM meta WHERE key IN ('criteria', 'trace_criteria', 'limits', 'rounds', 'cost', 'identity');
";

/// Forgets the runs of test cases on which the original does something else now.
const FORGET_OTHERS: &str = "
    DELETE FROM kept
        WHERE digest IS NOT (SELECT digest FROM recordings WHERE recordings.test_case = kept.test_case)
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
    /// Empties the journal for other source, but for the runs that are the same there; without an edit nothing is kept.
    /// The test cases stay until the universe is drawn again, to be held against those of then. `content` is what the
    /// journal holds, `None` before the universe was drawn, and `sites` is what comes.
    pub(crate) fn begin_anew(
        &mut self,
        edit: Option<&Edit>,
        content: Option<&Content>,
        sites: &Sites,
    ) -> Result<(), CampaignError> {
        match edit {
            None => self.try_sql(|connection| connection.execute_batch("DELETE FROM kept"))?,
            Some(edit) => self.keep_runs(edit)?,
        }
        match edit.zip(content) {
            Some((edit, content)) => self.keep_recordings(content, edit, sites)?,
            None => self.forget_recordings()?,
        }
        self.try_sql(|connection| connection.execute_batch(CLEAR))
    }

    /// Keeps the runs that called nothing that has changed, of those that are kept and of those of finished test cases,
    /// under the numbers and with the reasons of the new source.
    fn keep_runs(&mut self, edit: &Edit) -> Result<(), CampaignError> {
        let renumbered = self.renumbered(edit)?;
        let finished = self.rows("SELECT test_case FROM units", |row| row.get::<_, i64>(0))?;
        self.revise_kept(0..usize::MAX, |_, runs| {
            renumbered.apply(runs);
            Ok(())
        })?;
        for number in finished {
            let select = "SELECT digest, runs FROM units JOIN recordings USING (test_case) WHERE test_case = ?1";
            let row: Option<(i64, Value)> = self.try_sql(|connection| {
                let mut select = connection.prepare_cached(select)?;
                select.query_row([number], |row| Ok((row.get(0)?, row.get(1)?))).optional()
            })?;
            let (digest, column) = row.ok_or_else(|| self.damaged(format!("runs of test case {number} alone")))?;
            let mut runs = self.runs(self.index(number, usize::MAX)?, (&column).into())?;
            renumbered.apply(&mut runs);
            if !runs.is_empty() {
                let insert = "INSERT INTO kept (test_case, digest, runs) VALUES (?1, ?2, ?3)";
                let row = params![number, digest, to_text(&runs)];
                self.try_sql(|connection| connection.prepare_cached(insert)?.execute(row).map(drop))?;
            }
        }
        Ok(())
    }

    fn renumbered(&mut self, edit: &Edit) -> Result<Renumbered, CampaignError> {
        let mut reasons = HashMap::new();
        for (number, text) in self.reasons()? {
            let Some(reworded) = edit.reworded(&text) else { continue };
            reasons.insert(number, if reworded == text { number } else { self.reason_number(&reworded)? });
        }
        Ok(Renumbered { changed: edit.changed, mutants: edit.mutants.iter().copied().collect(), reasons })
    }

    /// Lets `revise` change what is kept of each test case of `range`; of one without runs nothing is.
    fn revise_kept(
        &self,
        range: Range<usize>,
        mut revise: impl FnMut(usize, &mut Vec<StoredRun>) -> Result<(), CampaignError>,
    ) -> Result<(), CampaignError> {
        for number in self.rows("SELECT test_case FROM kept", |row| row.get::<_, i64>(0))? {
            let case = self.index(number, usize::MAX)?;
            if !range.contains(&case) {
                continue;
            }
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
        text.map(|text| self.runs(case, ValueRef::Text(text.as_bytes()))).transpose()
    }

    /// Forgets what is kept but would be another run now, when all test cases have been recorded and `limits` are
    /// those of re-seeded runs are known.
    pub(crate) fn settle_limits(&mut self, limits: &RunLimits, of_reseedings: &RunLimits) -> Result<(), CampaignError> {
        let mut changed = Vec::new();
        // Re-seeded runs had the same limits once.
        let same: Option<RunLimits> = self.get("kept_limits")?;
        for (key, now) in [("kept_limits", limits), ("kept_reseeding_limits", of_reseedings)] {
            if let Some(before) = self.get(key)?.or(same).filter(|before| before != now) {
                changed.push(may_be_limited(&before, now));
            }
            self.set(key, now)?;
        }
        let is_limited = |run: &StoredRun| changed.iter().any(|is_limited| is_limited(run));
        self.try_sql(|connection| connection.execute_batch(FORGET_OTHERS))?;
        self.revise_kept(0..usize::MAX, |_, runs| {
            runs.retain(|run| !is_limited(run));
            Ok(())
        })
    }

    /// Forgets what is kept of the test cases of a round but is not to be run; returns for each the mutants whose runs are
    /// left. `is_selected` says whether one of them, counted from the first, is to run on a mutant.
    pub(crate) fn settle_kept(
        &mut self,
        round: Range<usize>,
        is_selected: impl Fn(usize, MutantNumber) -> bool,
    ) -> Result<Vec<BitSet>, CampaignError> {
        let (first, cases) = (round.start, round.len());
        let mut left = vec![BitSet::new(); cases];
        self.revise_kept(round, |number, runs| {
            let case = number - first;
            runs.retain(|run| is_selected(case, run.mutant));
            runs.iter().for_each(|run| left[case].grow_and_insert(run.mutant as usize));
            Ok(())
        })?;
        Ok(left)
    }

    /// Returns the runs of these mutants, which are kept, of each test case from number `first` on.
    pub(crate) fn kept_runs(
        &self,
        first: usize,
        mutants: &[Vec<MutantNumber>],
    ) -> Result<Vec<Vec<KeptRun>>, CampaignError> {
        let of_case = |(case, mutants): (usize, &Vec<MutantNumber>)| {
            if mutants.is_empty() {
                return Ok(Vec::new());
            }
            let mut runs = self.kept_of(case)?.unwrap_or_default();
            runs.retain(|run| mutants.contains(&run.mutant));
            runs.iter().map(|run| self.kept_run(run)).collect()
        };
        (first..).zip(mutants).map(of_case).collect()
    }

    fn kept_run(&self, run: &StoredRun) -> Result<KeptRun, CampaignError> {
        let &StoredRun { mutant, diverged, reason, entered, .. } = run;
        let text: Option<String> = self.try_sql(|connection| {
            let sql = "SELECT text FROM reasons WHERE number = ?1";
            connection.prepare_cached(sql)?.query_row([reason], |row| row.get(0)).optional()
        })?;
        let reason = text.ok_or_else(|| self.damaged("a run without a reason"))?;
        Ok(KeptRun { mutant, diverged, entered, execution: run.execution(reason) })
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

/// What runs are called after an edit; the maps are never iterated.
struct Renumbered {
    /// The functions that have changed.
    changed: u64,
    mutants: HashMap<MutantNumber, MutantNumber>,
    reasons: HashMap<i64, i64>,
}

impl Renumbered {
    /// Leaves the runs that called nothing that has changed, under their new numbers.
    fn apply(&self, runs: &mut Vec<StoredRun>) {
        runs.retain_mut(|run| {
            if run.entered & self.changed != 0 {
                return false;
            }
            let new = self.mutants.get(&run.mutant).zip(self.reasons.get(&run.reason));
            new.is_some_and(|(&mutant, &reason)| {
                (run.mutant, run.reason) = (mutant, reason);
                true
            })
        });
        runs.sort_unstable_by_key(|run| run.mutant);
    }
}

/// Returns which runs may end in another way under other limits.
fn may_be_limited(before: &RunLimits, now: &RunLimits) -> Box<dyn Fn(&StoredRun) -> bool> {
    // How much of these a run took is not in the journal.
    let is_unknown = now.virtual_time_ns < before.virtual_time_ns
        || now.memory_bytes < before.memory_bytes
        || now.memory_bytes_max < before.memory_bytes_max;
    let RunLimits { steps, events, .. } = *now;
    Box::new(move |run| {
        let was_ended = matches!(run.cause, Some(Cause::Steps | Cause::Events | Cause::VirtualTime | Cause::Memory));
        is_unknown || was_ended || run.steps >= steps || run.events >= events
    })
}
