//! The journal: a campaign's database, in which every unit of work is whole or not there.
//!
//! # Durability
//!
//! SQLite in write-ahead mode with `synchronous = NORMAL`: a transaction that was committed survives the death of the
//! process at any time, since it is with the operating system by then. If the machine itself loses power, the last
//! transactions may be gone, and the file is still whole: those units are run again. (`FULL` would wait for the disk once
//! per unit, and buy only that.)
//!
//! # Tables
//!
//! See `journal/schema.sql`. Numbers of test cases and mutants are indices; sets are bytes in which bit `i` is bit `i % 8` of
//! byte `i / 8`; verdicts are indices into [`Verdict::ALL`], causes into [`Cause::ALL`] from 1 on; 64-bit numbers that SQLite would take as negative come back as
//! they went in.

mod content;
mod kept;
mod kept_recordings;
mod traced;

pub(crate) use kept::KeptRun;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use rusqlite::{Connection, OptionalExtension, params, params_from_iter};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use simutant_outcomes::{BitSet, Cause, Verdict};
use simutant_protocol::MutantExecution;

pub(crate) use content::Content;

use crate::{CampaignError, bits};

/// The file's name in the campaign's directory.
const FILE: &str = "journal.sqlite";
/// What SQLite's header says of our files: "Simu".
const APPLICATION_ID: i32 = 0x5369_6d75;
/// How much of the file SQLite may keep in memory.
const CACHE_KIB: i64 = 128 << 10;
/// Raised when the meaning of a table changes.
const FORMAT_VERSION: u32 = 4;

/// A campaign's database.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    connection: Connection,
    /// The numbers of the reasons that were written or looked up; never iterated.
    reasons: HashMap<String, i64>,
    /// By criterion, the numbers of the labels that were written or looked up.
    labels: Vec<BTreeMap<Arc<str>, u32>>,
}

/// What the original did on a test case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Recording {
    pub(crate) events: u64,
    pub(crate) steps: u64,
    pub(crate) virtual_time_ns: u64,
    pub(crate) digest: u64,
    pub(crate) memory_bytes: u64,
    /// The functions that it called: number `n` is bit `n % 64`.
    pub(crate) entered: u64,
    pub(crate) reached: BitSet,
    pub(crate) infected: BitSet,
    /// One set for each kind of thing that the probes measure, then one for each of the system's own criteria.
    pub(crate) covered: Vec<BitSet>,
}

impl Journal {
    /// Opens the journal in `directory`, and makes an empty one if there is none.
    pub(crate) fn open(directory: &Path) -> Result<Self, CampaignError> {
        let path = directory.join(FILE);
        let connection = Connection::open(&path).map_err(|source| CampaignError::journal(&path, source))?;
        let journal = Self { path, connection, reasons: HashMap::new(), labels: Vec::new() };
        journal.try_sql(|connection| {
            connection.pragma_update(None, "journal_mode", "WAL")?;
            connection.pragma_update(None, "synchronous", "NORMAL")?;
            // What an edit moves is one transaction: pages that do not fit are written before it ends, and once more after that.
            connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
            connection.pragma_update(None, "temp_store", "MEMORY")?;
            // To look up for each row what it names would take a quarter of the time of its insertion; the tests ask for it once.
            connection.pragma_update(None, "foreign_keys", false)
        })?;
        journal.check()?;
        Ok(journal)
    }

    /// Opens the journal in `directory`, which must be there.
    pub(crate) fn open_existing(directory: &Path) -> Result<Self, CampaignError> {
        let path = directory.join(FILE);
        std::fs::metadata(&path).map_err(|source| CampaignError::file(path, source))?;
        Self::open(directory)
    }

    /// Deletes the journal in `directory`, if there is one.
    pub(crate) fn delete(directory: &Path) -> Result<(), CampaignError> {
        // The main file goes last: without it the others mean nothing, with it they are a part of it.
        for suffix in ["-wal", "-shm", ""] {
            let path = directory.join(format!("{FILE}{suffix}"));
            match std::fs::remove_file(&path) {
                Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                    return Err(CampaignError::file(path, source));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Finds out whether the file is a journal of this release and whole; makes the tables if it is new.
    fn check(&self) -> Result<(), CampaignError> {
        let state: String =
            self.try_sql(|connection| connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)))?;
        if state != "ok" {
            return Err(self.damaged(state));
        }
        let (application, tables): (i32, i64) = self.try_sql(|connection| {
            let application = connection.query_row("PRAGMA application_id", [], |row| row.get(0))?;
            Ok((application, connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?))
        })?;
        match (application, tables) {
            (0, 0) => {
                self.try_sql(|connection| {
                    let transaction = connection.unchecked_transaction()?;
                    transaction.execute_batch(include_str!("journal/schema.sql"))?;
                    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
                    transaction.commit()
                })?;
                self.set("format_version", &FORMAT_VERSION)
            }
            (APPLICATION_ID, _) => match self.get("format_version")? {
                // The process died between the two transactions above.
                None => self.set("format_version", &FORMAT_VERSION),
                Some(FORMAT_VERSION) => Ok(()),
                Some(found) => Err(CampaignError::OtherCampaign {
                    directory: self.path.clone(),
                    field: "format_version",
                    found: found.to_string(),
                    expected: FORMAT_VERSION.to_string(),
                }),
            },
            _ => Err(self.damaged("a database of another program")),
        }
    }

    /// Returns what is noted under `key`.
    pub(crate) fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, CampaignError> {
        let text: Option<String> = self.try_sql(|connection| {
            connection.query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0)).optional()
        })?;
        text.map(|text| serde_json::from_str(&text).map_err(|error| self.damaged(format!("meta `{key}`: {error}"))))
            .transpose()
    }

    /// Notes `value` under `key`.
    pub(crate) fn set<T: Serialize>(&self, key: &str, value: &T) -> Result<(), CampaignError> {
        let text = serde_json::to_string(value).expect("what is noted is plain data");
        self.try_sql(|connection| {
            connection.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)", [key, &text])
        })?;
        Ok(())
    }

    /// Does `action` in one transaction: all of it or nothing.
    pub(crate) fn transaction<T>(
        &mut self,
        action: impl FnOnce(&mut Self) -> Result<T, CampaignError>,
    ) -> Result<T, CampaignError> {
        self.try_sql(|connection| connection.execute_batch("BEGIN IMMEDIATE"))?;
        let result = action(self).and_then(|value| {
            self.try_sql(|connection| connection.execute_batch("COMMIT"))?;
            Ok(value)
        });
        if result.is_err() {
            // The error that is returned tells more than one of the rollback could; reasons and labels that are gone with it
            // must be looked up again. After some errors SQLite has rolled back by itself.
            self.reasons.clear();
            self.labels.clear();
            _ = self.connection.execute_batch("ROLLBACK");
        }
        result
    }

    /// Adds the universe.
    pub(crate) fn add_cases(&self, cases: &[Value]) -> Result<(), CampaignError> {
        self.try_sql(|connection| {
            let mut insert = connection.prepare_cached("INSERT INTO cases (number, input) VALUES (?1, ?2)")?;
            for (number, case) in (0_i64..).zip(cases) {
                insert.execute(params![number, case.to_string()])?;
            }
            Ok(())
        })
    }

    /// Adds what the original did on a test case.
    pub(crate) fn add_recording(&self, case: usize, recording: &Recording) -> Result<(), CampaignError> {
        self.try_sql(|connection| {
            connection
                .prepare_cached(
                    "INSERT INTO recordings \
                     (test_case, events, steps, virtual_time_ns, digest, memory_bytes, entered, reached, infected) \
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                )?
                .execute(params![
                    case as i64,
                    recording.events.cast_signed(),
                    recording.steps.cast_signed(),
                    recording.virtual_time_ns.cast_signed(),
                    recording.digest.cast_signed(),
                    recording.memory_bytes.cast_signed(),
                    recording.entered.cast_signed(),
                    bits::to_bytes(&recording.reached),
                    bits::to_bytes(&recording.infected),
                ])?;
            let mut insert = connection
                .prepare_cached("INSERT INTO coverage (test_case, criterion, covered) VALUES (?1, ?2, ?3)")?;
            for (criterion, covered) in recording.covered.iter().enumerate() {
                insert.execute(params![case as i64, criterion as i64, bits::to_bytes(covered)])?;
            }
            Ok(())
        })
    }

    /// Adds runs of a test case on mutants, which with those that are kept finish the test case.
    pub(crate) fn add_executions(&mut self, case: usize, runs: &[MutantExecution]) -> Result<(), CampaignError> {
        let kept = self.take_kept(case)?;
        let mut reasons = Vec::with_capacity(runs.len());
        for run in runs {
            let text = &run.execution.reason;
            let number = match self.reasons.get(text) {
                Some(&number) => number,
                None => {
                    let number = self.reason_number(text)?;
                    self.reasons.insert(text.clone(), number);
                    number
                }
            };
            reasons.push(number);
        }
        self.try_sql(|connection| {
            let rows: Vec<_> =
                runs.iter().zip(&reasons).map(|(run, &reason)| execution_row(case, run, reason)).collect();
            // A statement for many rows takes less than one for each.
            let (many, few) = rows.as_chunks::<ROWS>();
            let mut insert = connection.prepare_cached(&INSERT_ROWS)?;
            many.iter().try_for_each(|rows| insert.execute(params_from_iter(rows.as_flattened())).map(drop))?;
            let mut insert = connection.prepare_cached(&INSERT_ROW)?;
            few.iter().try_for_each(|row| insert.execute(params_from_iter(row)).map(drop))?;
            connection
                .prepare_cached("INSERT INTO units (test_case, executions) VALUES (?1, ?2)")?
                .execute(params![case as i64, (runs.len() + kept) as i64])?;
            Ok(())
        })
    }

    fn reason_number(&self, text: &str) -> Result<i64, CampaignError> {
        self.try_sql(|connection| {
            connection.prepare_cached("INSERT OR IGNORE INTO reasons (text) VALUES (?1)")?.execute([text])?;
            connection.prepare_cached("SELECT number FROM reasons WHERE text = ?1")?.query_row([text], |row| row.get(0))
        })
    }

    /// Returns an error that says that the file is damaged.
    pub(crate) fn damaged(&self, detail: impl Into<String>) -> CampaignError {
        CampaignError::Damaged { path: self.path.clone(), detail: detail.into() }
    }

    fn try_sql<T>(&self, action: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, CampaignError> {
        action(&self.connection).map_err(|source| CampaignError::journal(&self.path, source))
    }
}

/// How many runs are added in one statement.
const ROWS: usize = 50;
static INSERT_ROWS: LazyLock<String> = LazyLock::new(|| insert_executions(ROWS));
static INSERT_ROW: LazyLock<String> = LazyLock::new(|| insert_executions(1));

/// Returns the statement that adds so many runs.
fn insert_executions(rows: usize) -> String {
    let rows = vec!["(?, ?, ?, ?, ?, ?, ?, ?, ?)"; rows].join(", ");
    format!(
        "INSERT INTO executions (test_case, mutant, verdict, cause, diverged, reason, events, steps, entered) VALUES {rows}"
    )
}

/// Returns a run as a row of the table, in the order of [`insert_executions`].
fn execution_row(case: usize, run: &MutantExecution, reason: i64) -> [i64; 9] {
    let MutantExecution { mutant, diverged, entered, execution, .. } = run;
    [
        case as i64,
        i64::from(*mutant),
        verdict_number(execution.verdict),
        cause_number(execution.cause),
        i64::from(*diverged),
        reason,
        execution.events.cast_signed(),
        execution.steps.cast_signed(),
        entered.cast_signed(),
    ]
}

/// Returns 0 for none.
fn cause_number(cause: Option<Cause>) -> i64 {
    let index = Cause::ALL.iter().position(|&known| Some(known) == cause);
    index.map_or(0, |index| index as i64 + 1)
}

fn verdict_number(verdict: Verdict) -> i64 {
    match verdict {
        Verdict::Reasonable => 0,
        Verdict::Unreasonable => 1,
        Verdict::NotTerminated => 2,
        Verdict::Abnormal => 3,
    }
}
