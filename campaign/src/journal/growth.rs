//! A universe that grows: what there is takes the numbers that it has among more test cases.

use rusqlite::params;
use serde_json::Value;

use super::Journal;
use crate::campaign::settings::{CASES, GIVEN};
use crate::{CampaignError, CampaignPlan};

/// The tables with numbers of test cases, and the columns that have them: those that name others first.
const NUMBERED: [(&str, &str); 5] = [
    ("traced", "test_case"),
    ("coverage", "test_case"),
    ("recordings", "test_case"),
    ("kept", "test_case"),
    ("cases", "number"),
];

/// How many test cases a universe has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UniverseSize {
    /// Those that are drawn.
    pub(crate) drawn: usize,
    /// Those that follow, which are given.
    given: usize,
}

impl UniverseSize {
    /// Returns that of a plan.
    pub(crate) fn of(plan: &CampaignPlan) -> Self {
        Self { drawn: plan.cases, given: plan.given.len() }
    }

    /// Returns that of a journal, which has settings.
    pub(crate) fn read(journal: &Journal) -> Result<Self, CampaignError> {
        let given = journal.get::<Vec<Value>>(GIVEN)?.unwrap_or_default().len();
        let all: Option<usize> = journal.get(CASES)?;
        let drawn = all.and_then(|all| all.checked_sub(given));
        let drawn = drawn.ok_or_else(|| journal.damaged("the settings do not say how many test cases there are"))?;
        Ok(Self { drawn, given })
    }

    fn all(self) -> usize {
        self.drawn + self.given
    }
}

impl Journal {
    /// Gives test cases and their re-seedings the numbers that they have in a universe of another size, of which no
    /// fewer are drawn; those that are given and no more there go. There are no units.
    pub(crate) fn resize(&mut self, before: UniverseSize, after: UniverseSize) -> Result<(), CampaignError> {
        let [drawn, shift, all_before, all_after] =
            [before.drawn, after.drawn - before.drawn, before.all(), after.all()].map(|size| size as i64);
        if all_before == 0 {
            return Ok(());
        }
        self.try_sql(|connection| {
            for (table, number) in NUMBERED {
                // What is given comes after what is drawn.
                let place = format!("({number} % ?1 + iif({number} % ?1 < ?2, 0, ?3))");
                let delete = format!("DELETE FROM {table} WHERE {place} >= ?4");
                connection.execute(&delete, params![all_before, drawn, shift, all_after])?;
                // Rows move one after the other, and no two can have one number meanwhile: they go below zero first.
                let renumber = format!("UPDATE {table} SET {number} = -1 - ({number} / ?1 * ?4 + {place})");
                connection.execute(&renumber, params![all_before, drawn, shift, all_after])?;
                connection.execute(&format!("UPDATE {table} SET {number} = -1 - {number}"), [])?;
            }
            Ok(())
        })
    }
}
