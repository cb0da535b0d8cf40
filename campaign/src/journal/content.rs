//! Reading the journal back: everything is checked, since a file can be damaged in ways that SQLite does not see.

use rusqlite::Row;
use serde_json::Value;
use simutant_outcomes::BitSet;

use super::{Journal, Recording};
use crate::cases::Cases;
use crate::{CampaignError, bits};

/// How many bits the sets of a campaign have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Content {
    /// Test cases of the universe.
    pub(crate) cases: usize,
    /// Mutants.
    pub(crate) mutants: usize,
    /// Requirements of each criterion.
    pub(crate) requirements: Vec<usize>,
}

impl Journal {
    /// Returns the universe: `None` before it is drawn.
    pub(crate) fn cases(&self, expected: usize) -> Result<Option<Cases>, CampaignError> {
        // Before the universe is drawn, there may be the test cases of before an edit.
        if self.get::<Value>("criteria")?.is_none() {
            return Ok(None);
        }
        let rows: Vec<(i64, String)> =
            self.rows("SELECT number, input FROM cases ORDER BY number", |row| Ok((row.get(0)?, row.get(1)?)))?;
        if rows.len() != expected || rows.iter().zip(0..).any(|((number, _), expected)| *number != expected) {
            return Err(self.damaged(format!("{} test cases of {expected}", rows.len())));
        }
        let mut cases = Cases::with_capacity(expected);
        for (number, input) in rows {
            cases.push_text(&input).map_err(|error| self.damaged(format!("test case {number}: {error}")))?;
        }
        Ok(Some(cases))
    }

    /// Returns for each test case what was recorded, `None` where nothing was yet.
    pub(crate) fn recordings(&self, content: &Content) -> Result<Vec<Option<Recording>>, CampaignError> {
        let mut recordings: Vec<Option<Recording>> = vec![None; content.cases];
        let sql = "SELECT test_case, events, steps, virtual_time_ns, digest, memory_bytes, entered, reached, infected, messages, \
                   late_faults FROM recordings";
        self.for_each(sql, |row| {
            let case = self.index(row.get(0)?, content.cases);
            let set = |column| -> rusqlite::Result<_> {
                Ok(bits::from_bytes(&row.get::<_, Vec<u8>>(column)?, content.mutants))
            };
            let (reached, infected) = (set(7)?, set(8)?);
            let numbers = [row.get::<_, i64>(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?];
            let counts = [row.get(9)?, row.get(10)?];
            Ok(self.put_recording(&mut recordings, content, case, (numbers, counts), reached.zip(infected)))
        })?;
        let sql = "SELECT test_case, criterion, covered FROM coverage ORDER BY test_case, criterion";
        self.for_each(sql, |row| {
            let case = self.index(row.get(0)?, content.cases);
            let criterion = self.index(row.get(1)?, content.requirements.len());
            let covered: Vec<u8> = row.get(2)?;
            Ok(case.and_then(|case| {
                let criterion = criterion?;
                let recording =
                    recordings[case].as_mut().ok_or_else(|| self.damaged("coverage without a recording"))?;
                let set = bits::from_bytes(&covered, content.requirements[criterion])
                    .ok_or_else(|| self.damaged(format!("coverage of test case {case}")))?;
                if recording.covered.len() != criterion {
                    return Err(self.damaged(format!("coverage of test case {case} is not complete")));
                }
                recording.covered.push(set);
                Ok(())
            }))
        })?;
        let whole = |recording: &Recording| recording.covered.len() == content.requirements.len();
        if recordings.iter().flatten().all(whole) {
            Ok(recordings)
        } else {
            Err(self.damaged("a recording without its coverage"))
        }
    }

    fn put_recording(
        &self,
        recordings: &mut [Option<Recording>],
        content: &Content,
        case: Result<usize, CampaignError>,
        (numbers, counts): ([i64; 6], [Option<i64>; 2]),
        sets: Option<(BitSet, BitSet)>,
    ) -> Result<(), CampaignError> {
        let case = case?;
        let (reached, infected) = sets.ok_or_else(|| self.damaged(format!("mutants of test case {case}")))?;
        let [events, steps, virtual_time_ns, digest, memory_bytes, entered] = numbers.map(i64::cast_unsigned);
        let [messages, late_faults] = counts.map(|count| count.map(i64::cast_unsigned));
        recordings[case] = Some(Recording {
            events,
            steps,
            virtual_time_ns,
            messages,
            late_faults,
            digest,
            memory_bytes,
            entered,
            reached,
            infected,
            covered: Vec::with_capacity(content.requirements.len()),
        });
        Ok(())
    }

    pub(super) fn rows<T>(
        &self,
        sql: &str,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, CampaignError> {
        self.try_sql(|connection| connection.prepare_cached(sql)?.query_map([], read)?.collect())
    }

    /// Calls `visit` with each row; stops at the first error of either kind.
    pub(super) fn for_each(
        &self,
        sql: &str,
        mut visit: impl FnMut(&Row<'_>) -> rusqlite::Result<Result<(), CampaignError>>,
    ) -> Result<(), CampaignError> {
        self.try_sql(|connection| {
            let mut statement = connection.prepare_cached(sql)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                if let Err(error) = visit(row)? {
                    return Ok(Err(error));
                }
            }
            Ok(Ok(()))
        })?
    }

    pub(super) fn index(&self, number: i64, size: usize) -> Result<usize, CampaignError> {
        usize::try_from(number)
            .ok()
            .filter(|&index| index < size)
            .ok_or_else(|| self.damaged(format!("number {number} is not below {size}")))
    }
}
