//! A universe that grows: what there is takes the numbers that it has among more test cases.

use rusqlite::params;

use super::Journal;
use crate::CampaignError;

/// The tables with numbers of test cases, and the columns that have them.
const NUMBERED: [(&str, &str); 5] = [
    ("cases", "number"),
    ("recordings", "test_case"),
    ("coverage", "test_case"),
    ("traced", "test_case"),
    ("kept", "test_case"),
];

impl Journal {
    /// Renumbers the re-seedings of `before` test cases as those of `after`, which are more. There are no units.
    pub(crate) fn grow(&mut self, before: usize, after: usize) -> Result<(), CampaignError> {
        self.try_sql(|connection| {
            for (table, column) in NUMBERED {
                // Rows move one after the other, and no two can have one number meanwhile: they go below zero first.
                connection.execute(
                    &format!(
                        "UPDATE {table} SET {column} = -1 - ({column} / ?1 * ?2 + {column} % ?1) WHERE {column} >= ?1"
                    ),
                    params![before as i64, after as i64],
                )?;
                connection.execute(&format!("UPDATE {table} SET {column} = -1 - {column} WHERE {column} < 0"), [])?;
            }
            Ok(())
        })
    }
}
