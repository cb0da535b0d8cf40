//! Runs that are kept after an edit of the source: a store beside the campaign, until their test cases are finished again.

use rusqlite::params;
use simutant_outcomes::{BitSet, Cause, Execution, MutantNumber, Sites, Verdict};
use simutant_protocol::Limits;

use super::{Content, Journal, cause_number};
use crate::CampaignError;
use crate::edit::Edit;

/// Notes the finished test cases, whose runs take the place of those that are kept.
const NOTE_CASES: &str = "
    INSERT OR REPLACE INTO kept_cases
        SELECT number, input, digest FROM cases
        JOIN recordings ON recordings.test_case = number JOIN units ON units.test_case = number;
    DELETE FROM kept WHERE test_case IN (SELECT test_case FROM units);
";

/// Empties what the source decides but for recordings; tables that name others go first.
const CLEAR: &str = "
    DELETE FROM executions;
    DELETE FROM units;
    DELETE FROM meta WHERE key IN ('criteria', 'trace_criteria', 'limits');
";

/// Returns what keeps the runs that called none of the functions in `changed`, with the numbers and reasons of the new source: those that were kept
/// before, and those of the campaign. A run is written once here: there are hundreds of thousands.
fn renumber_runs(changed: u64) -> String {
    let moved = |table: &str| {
        // The order of the tables is that of the loops, so that runs come in the order of their keys.
        format!(
            "SELECT test_case, renumbered.new AS mutant, verdict, cause, diverged, reworded.new AS reason, events, steps, entered \
             FROM {table} CROSS JOIN renumbered ON renumbered.old = mutant CROSS JOIN reworded ON reworded.old = reason \
             WHERE entered & {} = 0",
            changed.cast_signed(),
        )
    };
    format!(
        "CREATE TEMP TABLE moved AS {}; DELETE FROM kept; INSERT INTO kept SELECT * FROM moved; INSERT INTO kept {}; \
         DROP TABLE moved; DROP TABLE renumbered; DROP TABLE reworded",
        moved("kept"),
        moved("executions"),
    )
}

/// Forgets the runs of test cases on which the original does something else now, or that are others.
const FORGET_OTHER_CASES: &str = "
    DELETE FROM kept WHERE test_case NOT IN (
        SELECT cases.number FROM cases
        JOIN kept_cases ON kept_cases.number = cases.number AND kept_cases.input = cases.input
        JOIN recordings ON recordings.test_case = cases.number AND recordings.digest = kept_cases.digest
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
        } else {
            self.try_sql(|connection| connection.execute_batch("DELETE FROM executions"))?;
        }
        match edit.zip(content) {
            Some((edit, content)) => self.keep_recordings(content, edit, sites)?,
            None => self.forget_recordings()?,
        }
        match edit {
            None => self.try_sql(|connection| connection.execute_batch("DELETE FROM kept; DELETE FROM kept_cases"))?,
            Some(edit) => self.renumber(edit)?,
        }
        self.try_sql(|connection| connection.execute_batch(CLEAR))
    }

    fn renumber(&mut self, edit: &Edit) -> Result<(), CampaignError> {
        self.try_sql(|connection| {
            connection.execute_batch(
                "CREATE TEMP TABLE renumbered (old INTEGER PRIMARY KEY, new INTEGER NOT NULL); \
                 CREATE TEMP TABLE reworded (old INTEGER PRIMARY KEY, new INTEGER NOT NULL)",
            )?;
            let mut insert = connection.prepare("INSERT INTO renumbered (old, new) VALUES (?1, ?2)")?;
            edit.mutants.iter().try_for_each(|numbers| insert.execute(*numbers).map(|_| ()))
        })?;
        let reasons: Vec<(i64, String)> =
            self.rows("SELECT number, text FROM reasons", |row| Ok((row.get(0)?, row.get(1)?)))?;
        for (old, text) in reasons {
            let Some(reworded) = edit.reworded(&text) else { continue };
            let new = if reworded == text { old } else { self.reason_number(&reworded)? };
            self.try_sql(|connection| {
                connection.prepare_cached("INSERT INTO reworded (old, new) VALUES (?1, ?2)")?.execute([old, new])
            })?;
        }
        self.try_sql(|connection| connection.execute_batch(&renumber_runs(edit.changed)))
    }

    /// Forgets what is kept but would be another run now, when all test cases have been recorded and `limits` are
    /// known; returns for each test case the mutants whose runs are left. `selected` are those that it is to run on.
    pub(crate) fn settle_kept(
        &mut self,
        limits: &Limits,
        selected: &[Vec<MutantNumber>],
    ) -> Result<Vec<BitSet>, CampaignError> {
        if let Some(before) = self.get::<Limits>("kept_limits")?
            && before != *limits
        {
            self.forget_limited(&before, limits)?;
        }
        self.set("kept_limits", limits)?;
        self.try_sql(|connection| connection.execute_batch(FORGET_OTHER_CASES))?;
        let kept: Vec<(i64, MutantNumber)> =
            self.rows("SELECT test_case, mutant FROM kept", |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut left = vec![BitSet::new(); selected.len()];
        for (case, mutant) in kept {
            let case = self.index(case, selected.len())?;
            if selected[case].binary_search(&mutant).is_ok() {
                left[case].grow_and_insert(mutant as usize);
            } else {
                self.try_sql(|connection| {
                    let sql = "DELETE FROM kept WHERE test_case = ?1 AND mutant = ?2";
                    connection.prepare_cached(sql)?.execute(params![case as i64, mutant])
                })?;
            }
        }
        Ok(left)
    }

    /// Forgets the runs that may end in another way under other limits.
    fn forget_limited(&self, before: &Limits, now: &Limits) -> Result<(), CampaignError> {
        // How much of these a run took is not in the journal.
        let is_unknown = now.virtual_time_ns < before.virtual_time_ns
            || now.memory_bytes < before.memory_bytes
            || now.memory_bytes_max < before.memory_bytes_max;
        let ended =
            [Cause::Steps, Cause::Events, Cause::VirtualTime, Cause::Memory].map(|cause| cause_number(Some(cause)));
        let bound = |limit: u64| i64::try_from(limit).unwrap_or(i64::MAX);
        self.try_sql(|connection| {
            if is_unknown {
                return connection.execute("DELETE FROM kept", []);
            }
            let sql = "DELETE FROM kept WHERE cause IN (?1, ?2, ?3, ?4) OR steps >= ?5 OR events >= ?6";
            let [steps, events, virtual_time, memory] = ended;
            connection.execute(sql, params![steps, events, virtual_time, memory, bound(now.steps), bound(now.events)])
        })?;
        Ok(())
    }

    /// Returns the runs of these mutants, which are kept.
    pub(crate) fn kept_runs(&self, mutants: &[Vec<MutantNumber>]) -> Result<Vec<Vec<KeptRun>>, CampaignError> {
        let of_case = |(case, mutants): (usize, &Vec<MutantNumber>)| {
            mutants.iter().map(|&mutant| self.kept_run(case, mutant)).collect()
        };
        mutants.iter().enumerate().map(of_case).collect()
    }

    fn kept_run(&self, case: usize, mutant: MutantNumber) -> Result<KeptRun, CampaignError> {
        let sql = "SELECT cause, diverged, text, events, steps, entered FROM kept \
                   JOIN reasons ON reasons.number = kept.reason WHERE test_case = ?1 AND mutant = ?2";
        let (cause, diverged, reason, [events, steps, entered]) = self.try_sql(|connection| {
            connection.prepare_cached(sql)?.query_row(params![case as i64, mutant], |row| {
                let numbers = [row.get::<_, i64>(3)?, row.get(4)?, row.get(5)?].map(i64::cast_unsigned);
                Ok((row.get::<_, i64>(0)?, row.get::<_, bool>(1)?, row.get::<_, String>(2)?, numbers))
            })
        })?;
        let cause = self.index(cause, Cause::ALL.len() + 1)?.checked_sub(1).map(|index| Cause::ALL[index]);
        let verdict = cause.map_or(Verdict::Reasonable, Cause::verdict);
        Ok(KeptRun { mutant, diverged, entered, execution: Execution { verdict, cause, reason, events, steps } })
    }

    /// Makes the runs of a test case that are kept a part of the campaign again, and returns how many they are.
    pub(super) fn take_kept(&self, case: usize) -> Result<usize, CampaignError> {
        self.try_sql(|connection| {
            let sql = "INSERT INTO executions SELECT * FROM kept WHERE test_case = ?1";
            let count = connection.prepare_cached(sql)?.execute([case as i64])?;
            connection.prepare_cached("DELETE FROM kept WHERE test_case = ?1")?.execute([case as i64])?;
            Ok(count)
        })
    }
}
