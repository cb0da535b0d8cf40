//! What a journal gives and takes when its campaign runs in shards.

use std::path::Path;

use rusqlite::OptionalExtension;

use super::{FILE, Journal, StoredRun};
use crate::CampaignError;

impl Journal {
    /// Returns whether a directory has a journal.
    pub(crate) fn exists(directory: &Path) -> bool {
        directory.join(FILE).exists()
    }

    /// Returns the runs of a test case or re-seeding; `None` if it was not run on its mutants.
    pub(crate) fn runs_of(&self, number: usize) -> Result<Option<Vec<StoredRun>>, CampaignError> {
        let text: Option<String> = self.try_sql(|connection| {
            let sql = "SELECT runs FROM units WHERE test_case = ?1";
            connection.prepare_cached(sql)?.query_row([number as i64], |row| row.get(0)).optional()
        })?;
        text.map(|text| self.runs(number, &text)).transpose()
    }

    /// Adds all runs of a test case or re-seeding, whose reasons are in the journal. What was kept of it has no use any
    /// more.
    pub(crate) fn add_finished(&self, number: usize, runs: &[StoredRun]) -> Result<(), CampaignError> {
        self.take_kept(number)?;
        self.add_unit(number, runs)
    }
}
