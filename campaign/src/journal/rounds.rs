//! How often the test cases of a universe are in the journal: once as they were drawn, then re-seeded, round by round.

use std::collections::BTreeSet;

use rusqlite::params;
use serde::{Deserialize, Serialize};

use super::{IDENTITY, Journal};
use crate::CampaignError;
use crate::cases::Cases;

/// The key under which they are noted.
const KEY: &str = "rounds";

/// The rounds of a campaign.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rounds {
    /// How many the last session asked for.
    pub(crate) asked: usize,
    /// How many are in the journal; the universe is the first one.
    pub(crate) drawn: usize,
    /// What differs between re-seedings of a test case: the paths of fields.
    pub(crate) chance: BTreeSet<String>,
}

/// Before there were re-seedings, there was one round.
impl Default for Rounds {
    fn default() -> Self {
        Self { asked: 1, drawn: 1, chance: BTreeSet::new() }
    }
}

impl Rounds {
    /// Returns how many rounds the campaign has: an earlier session can have drawn more than the last one asked for.
    pub(crate) fn used(&self) -> usize {
        self.asked.min(self.drawn)
    }
}

impl Journal {
    /// Returns the rounds of the campaign.
    pub(crate) fn rounds(&self) -> Result<Rounds, CampaignError> {
        Ok(self.get(KEY)?.unwrap_or_default())
    }

    /// Notes the rounds of the campaign; nothing if they are what an absent note means.
    pub(crate) fn set_rounds(&self, rounds: &Rounds) -> Result<(), CampaignError> {
        if self.rounds()? == *rounds {
            return Ok(());
        }
        // Results of shards are of the rounds that there were.
        self.forget(IDENTITY)?;
        self.set(KEY, rounds)
    }

    /// Adds the test cases from number `first` on.
    pub(crate) fn add_cases(&self, first: usize, cases: &Cases) -> Result<(), CampaignError> {
        self.try_sql(|connection| {
            for (number, case) in cases.texts().enumerate().skip(first) {
                let sql = "INSERT INTO cases (number, input) VALUES (?1, ?2)";
                connection.prepare_cached(sql)?.execute(params![number as i64, case])?;
            }
            Ok(())
        })
    }
}
