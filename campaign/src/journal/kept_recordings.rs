//! Recordings that are kept after an edit of the source: they stay where they are, in the numbers of the new source,
//! until the universe has been drawn again and it is known of which test cases they are.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::params;
use serde_json::Value;
use simutant_outcomes::Sites;

use super::{Content, Journal};
use crate::CampaignError;
use crate::cases::Cases;
use crate::edit::Edit;

/// The key of the criteria that the recordings which are kept are of.
const CRITERIA: &str = "kept_criteria";

/// The key of the test cases whose recordings were kept, until a sample of them has been made again.
const ADOPTED: &str = "adopted";

/// Tables that name others go first.
const FORGET: &str = "
    DELETE FROM traced;
    DELETE FROM labels;
    DELETE FROM coverage;
    DELETE FROM recordings;
    DELETE FROM meta WHERE key IN ('kept_criteria', 'adopted');
";

/// One test case is not what it was.
const FORGET_CASE: [&str; 4] = [
    "DELETE FROM traced WHERE test_case = ?1",
    "DELETE FROM coverage WHERE test_case = ?1",
    "DELETE FROM recordings WHERE test_case = ?1",
    "DELETE FROM kept WHERE test_case = ?1",
];

impl Journal {
    /// Forgets what was recorded.
    pub(super) fn forget_recordings(&mut self) -> Result<(), CampaignError> {
        self.labels.clear();
        self.try_sql(|connection| connection.execute_batch(FORGET))
    }

    /// Gives the recordings that called nothing that has changed the numbers of `sites`, and forgets the others.
    /// `content` is what the journal holds.
    pub(super) fn keep_recordings(
        &mut self,
        content: &Content,
        edit: &Edit,
        sites: &Sites,
    ) -> Result<(), CampaignError> {
        let Some(renumbering) = &edit.renumbering else { return self.forget_recordings() };
        let Some(unknown) = self.reword_labels(edit)? else { return self.forget_recordings() };
        let recordings = self.recordings(content)?;
        let traced = self.rows("SELECT test_case, labels FROM traced", |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?))
        })?;
        let is_unknown = |labels: &[u8]| {
            let (numbers, _) = labels.as_chunks();
            numbers.iter().any(|&number| unknown.contains(&i64::from(u32::from_le_bytes(number))))
        };
        let mut lost: BTreeSet<usize> = traced
            .iter()
            .filter(|(_, labels)| is_unknown(labels))
            .map(|&(case, _)| self.index(case, content.cases))
            .collect::<Result<_, _>>()?;
        let mut kept = Vec::new();
        for (case, recording) in recordings.into_iter().enumerate() {
            let recording =
                recording.filter(|recording| recording.entered & edit.changed == 0 && !lost.contains(&case));
            match recording.and_then(|recording| renumbering.apply(recording, sites)) {
                Some(recording) => kept.push((case, recording)),
                None => _ = lost.insert(case),
            }
        }
        self.try_sql(|connection| {
            connection.execute_batch("DELETE FROM coverage; DELETE FROM recordings")?;
            let mut forget = connection.prepare_cached(FORGET_CASE[0])?;
            lost.iter().try_for_each(|&case| forget.execute([case as i64]).map(drop))
        })?;
        kept.iter().try_for_each(|(case, recording)| self.add_recording(*case, recording))?;
        let criteria = self.criteria()?;
        self.set(CRITERIA, &criteria)
    }

    /// Lets labels name the places after an edit, and returns the numbers of those that cannot, which go; `None` if two
    /// would become one.
    fn reword_labels(&mut self, edit: &Edit) -> Result<Option<BTreeSet<i64>>, CampaignError> {
        self.labels.clear();
        let labels: Vec<(i64, i64, String)> =
            self.rows("SELECT number, criterion, text FROM labels", |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let mut unknown = BTreeSet::new();
        let mut reworded: BTreeMap<(i64, String), i64> = BTreeMap::new();
        for (number, criterion, text) in labels {
            match edit.reworded(&text) {
                None => _ = unknown.insert(number),
                Some(text) => {
                    if reworded.insert((criterion, text), number).is_some() {
                        return Ok(None);
                    }
                }
            }
        }
        self.try_sql(|connection| {
            connection.execute("DELETE FROM labels", [])?;
            let mut insert = connection.prepare("INSERT INTO labels (number, criterion, text) VALUES (?1, ?2, ?3)")?;
            reworded
                .iter()
                .try_for_each(|((criterion, text), number)| insert.execute(params![number, criterion, text]).map(drop))
        })?;
        Ok(Some(unknown))
    }

    /// Returns the criteria that are not of the source's parts, `None` before the universe is drawn.
    fn criteria(&self) -> Result<Option<[Value; 2]>, CampaignError> {
        let criteria = self.get("criteria")?;
        Ok(criteria.zip(self.get("trace_criteria")?).map(|(own, traced)| [own, traced]))
    }

    /// Adds the universe in the place of that of before an edit. Forgets what is kept of test cases that are others
    /// now, and all recordings if the criteria are others. Returns the test cases whose recordings are left.
    pub(crate) fn set_cases(&mut self, cases: &Cases) -> Result<Vec<usize>, CampaignError> {
        let criteria = self.criteria()?;
        if self.get::<Option<[Value; 2]>>(CRITERIA)?.flatten() != criteria {
            self.forget_recordings()?;
        }
        let before: BTreeMap<i64, String> =
            self.rows("SELECT number, input FROM cases", |row| Ok((row.get(0)?, row.get(1)?)))?.into_iter().collect();
        let value = |text: &str| serde_json::from_str::<Value>(text).ok();
        let is_same = |known: &str, input: &str| value(known).is_some_and(|known| Some(known) == value(input));
        self.try_sql(|connection| {
            for (number, input) in (0..).zip(cases.texts()) {
                match before.get(&number) {
                    Some(known) if known == input => continue,
                    // The fields are in another order.
                    Some(known) if is_same(known, input) => {
                        let sql = "UPDATE cases SET input = ?2 WHERE number = ?1";
                        connection.prepare_cached(sql)?.execute(params![number, input])?;
                        continue;
                    }
                    Some(_) => FORGET_CASE
                        .iter()
                        .try_for_each(|sql| connection.prepare_cached(sql)?.execute([number]).map(drop))?,
                    None => {}
                }
                let sql = "INSERT OR REPLACE INTO cases (number, input) VALUES (?1, ?2)";
                connection.prepare_cached(sql)?.execute(params![number, input])?;
            }
            // Before the edit, more of a test case was chance.
            for &number in before.keys().filter(|&&number| number >= cases.len() as i64) {
                for sql in FORGET_CASE.into_iter().chain(["DELETE FROM cases WHERE number = ?1"]) {
                    connection.prepare_cached(sql)?.execute([number])?;
                }
            }
            Ok(())
        })?;
        let adopted = self.rows("SELECT test_case FROM recordings ORDER BY test_case", |row| row.get::<_, i64>(0))?;
        let adopted: Vec<usize> =
            adopted.into_iter().map(|number| self.index(number, cases.len())).collect::<Result<_, _>>()?;
        self.adopt(&adopted)?;
        Ok(adopted)
    }

    /// Notes that the recordings of these test cases were made elsewhere or before an edit: a sample of them is made again
    /// before anything follows from them.
    pub(crate) fn adopt(&self, numbers: &[usize]) -> Result<(), CampaignError> {
        self.set(ADOPTED, &numbers)
    }

    /// Returns the test cases whose recordings were made elsewhere or before an edit, and of which no sample has been
    /// checked yet.
    pub(crate) fn adopted(&self) -> Result<Vec<usize>, CampaignError> {
        Ok(self.get(ADOPTED)?.unwrap_or_default())
    }

    /// Notes that recordings which were kept have been checked.
    pub(crate) fn set_checked(&self) -> Result<(), CampaignError> {
        self.set(ADOPTED, &Vec::<usize>::new())
    }
}
