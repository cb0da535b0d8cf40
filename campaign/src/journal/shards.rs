//! What a journal gives and takes when its campaign runs in shards.

use std::path::Path;

use rusqlite::OptionalExtension;
use rusqlite::types::Value;

use super::{FILE, Journal, RunForm, StoredRun};
use crate::CampaignError;

impl Journal {
    /// Returns whether a directory has a journal.
    pub(crate) fn exists(directory: &Path) -> bool {
        directory.join(FILE).exists()
    }

    /// Returns whether the journal can hold packed runs: those of earlier releases have text alone.
    pub(crate) fn takes_packed(&self) -> Result<bool, CampaignError> {
        let sql = "SELECT type FROM pragma_table_info('units') WHERE name = 'runs'";
        let found: String = self.try_sql(|connection| connection.query_row(sql, [], |row| row.get(0)))?;
        Ok(found == "ANY")
    }

    /// Returns the runs of a test case or re-seeding; `None` if it was not run on its mutants.
    pub(crate) fn runs_of(&self, number: usize) -> Result<Option<Vec<StoredRun>>, CampaignError> {
        let column: Option<Value> = self.try_sql(|connection| {
            let sql = "SELECT runs FROM units WHERE test_case = ?1";
            connection.prepare_cached(sql)?.query_row([number as i64], |row| row.get(0)).optional()
        })?;
        column.map(|column| self.runs(number, (&column).into())).transpose()
    }

    /// Adds all runs of a test case or re-seeding, whose reasons are in the journal. What was kept of it has no use any
    /// more.
    pub(crate) fn add_finished(&self, number: usize, runs: &[StoredRun], form: RunForm) -> Result<(), CampaignError> {
        self.take_kept(number)?;
        self.add_unit(number, runs, form)
    }
}
