//! The journal: a campaign's database, in which every unit of work is whole or not there.
//!
//! # Durability
//!
//! SQLite in write-ahead mode with `synchronous = NORMAL`: a transaction that was committed survives the death of the
//! process at any time, since it is with the operating system by then. If the machine itself loses power, the last
//! transactions may be gone, and the file is still whole: those units are run again. (`FULL` would wait for the disk
//! once per transaction, and buy only that.) Units that finish within fifty milliseconds are one transaction, so that a
//! kill of the process costs these, the few that wait to be written, and the ones that run.
//!
//! # Tables
//!
//! See `journal/schema.sql`, and `journal/views.sql` for what people ask. Numbers of test cases and mutants are indices;
//! sets are bytes in which bit `i` is bit `i % 8` of byte `i / 8`; 64-bit numbers that SQLite would take as negative come back as they went in.

mod content;
mod growth;
mod kept;
mod kept_recordings;
mod packed;
mod rounds;
mod runs;
mod shards;
mod traced;

pub(crate) use kept::KeptRun;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, params};
use serde::Serialize;
use serde::de::DeserializeOwned;
use simutant_outcomes::BitSet;

pub(crate) use content::Content;
pub(crate) use growth::UniverseSize;
pub(crate) use packed::{deflated, inflated, pack, unpack};
pub(crate) use rounds::Rounds;
pub use runs::RunForm;
pub(crate) use runs::StoredRun;

use crate::{CampaignError, bits};

/// The file's name in the campaign's directory.
const FILE: &str = "journal.sqlite";
/// What SQLite's header says of our files: "Simu".
const APPLICATION_ID: i32 = 0x5369_6d75;
/// How much of the file SQLite may keep in memory.
const CACHE_KIB: i64 = 16 << 10;
/// Raised when the meaning of a table changes.
const FORMAT_VERSION: u32 = 6;
/// The key of what makes a prepared campaign the one that it is.
pub(crate) const IDENTITY: &str = "identity";
/// What shows people the runs in words.
const VIEWS: &str = include_str!("journal/views.sql");

/// A campaign's database.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    connection: Connection,
    /// The numbers of all reasons, `None` before one was asked for; never iterated.
    reason_numbers: Option<HashMap<String, i64>>,
    /// By criterion, the numbers of the labels that were written or looked up.
    labels: Vec<BTreeMap<Arc<str>, u32>>,
}

/// What the original did on a test case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Recording {
    pub(crate) events: u64,
    pub(crate) steps: u64,
    pub(crate) virtual_time_ns: u64,
    /// Packets that it sent; `None` in a journal of before they were counted.
    pub(crate) messages: Option<u64>,
    /// Faults of the test case that come after its end; `None` in a journal of before they were counted.
    pub(crate) late_faults: Option<u64>,
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
        let journal = Self { path, connection, reason_numbers: None, labels: Vec::new() };
        journal.try_sql(|connection| {
            connection.pragma_update(None, "journal_mode", "WAL")?;
            connection.pragma_update(None, "synchronous", "NORMAL")?;
            // What an edit moves is one transaction, which need not fit: its pages are few, and SQLite walks through
            // its table of them whenever a transaction ends in which it has moved some.
            connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
            connection.pragma_update(None, "temp_store", "MEMORY")?;
            // To look up for each row what it names would take a quarter of the time of its insertion; the tests ask
            // for it once.
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

    /// Opens the journal in `directory`; `None` if there is none.
    pub(crate) fn find(directory: &Path) -> Result<Option<Self>, CampaignError> {
        if directory.join(FILE).exists() { Self::open(directory).map(Some) } else { Ok(None) }
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

    /// Copies the journal into a folder that has none.
    pub(crate) fn copy_to(&self, directory: &Path) -> Result<(), CampaignError> {
        let path = directory.join(FILE);
        self.try_sql(|connection| connection.execute("VACUUM INTO ?1", [path.to_string_lossy()]))?;
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
                    transaction.execute_batch(VIEWS)?;
                    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
                    transaction.commit()
                })?;
                self.set("format_version", &FORMAT_VERSION)
            }
            (APPLICATION_ID, _) => match self.get("format_version")? {
                // The process died between the two transactions above.
                None => self.set("format_version", &FORMAT_VERSION),
                Some(FORMAT_VERSION) => {
                    self.add_columns()?;
                    self.renew_views()
                }
                Some(found) => {
                    Err(CampaignError::OtherFormat { path: self.path.clone(), found, expected: FORMAT_VERSION })
                }
            },
            _ => Err(self.damaged("a database of another program")),
        }
    }

    /// Adds the columns of messages and late faults to a journal of before they were counted.
    fn add_columns(&self) -> Result<(), CampaignError> {
        self.try_sql(|connection| {
            ["messages", "late_faults"].into_iter().try_for_each(|column| {
                let sql = "SELECT count(*) FROM pragma_table_info('recordings') WHERE name = ?1";
                match connection.query_row(sql, [column], |row| row.get::<_, i64>(0))? {
                    0 => connection.execute_batch(&format!("ALTER TABLE recordings ADD COLUMN {column} INTEGER")),
                    _ => Ok(()),
                }
            })
        })
    }

    /// Gives a journal of an earlier release the views of this one.
    fn renew_views(&self) -> Result<(), CampaignError> {
        self.try_sql(|connection| {
            let sql = "SELECT sql FROM sqlite_schema WHERE type = 'view' AND name = 'executions'";
            let known: Option<String> = connection.query_row(sql, [], |row| row.get(0)).optional()?;
            match known {
                Some(known) if VIEWS.contains(&known) => Ok(()),
                _ => connection.execute_batch(&format!("BEGIN; DROP VIEW IF EXISTS executions; {VIEWS}; COMMIT")),
            }
        })
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

    /// Forgets what is noted under `key`, if anything is.
    pub(crate) fn forget(&self, key: &str) -> Result<(), CampaignError> {
        self.try_sql(|connection| connection.execute("DELETE FROM meta WHERE key = ?1", [key]))?;
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
            // The error that is returned tells more than one of the rollback could; reasons and labels that are gone
            // with it must be looked up again. After some errors SQLite has rolled back by itself.
            self.reason_numbers = None;
            self.labels.clear();
            _ = self.connection.execute_batch("ROLLBACK");
        }
        result
    }

    /// Adds what the original did on a test case.
    pub(crate) fn add_recording(&self, case: usize, recording: &Recording) -> Result<(), CampaignError> {
        self.try_sql(|connection| {
            connection
                .prepare_cached(
                    "INSERT INTO recordings \
                     (test_case, events, steps, virtual_time_ns, digest, memory_bytes, entered, reached, infected, messages, \
                     late_faults) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
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
                    recording.messages.map(u64::cast_signed),
                    recording.late_faults.map(u64::cast_signed),
                ])?;
            let mut insert = connection
                .prepare_cached("INSERT INTO coverage (test_case, criterion, covered) VALUES (?1, ?2, ?3)")?;
            for (criterion, covered) in recording.covered.iter().enumerate() {
                insert.execute(params![case as i64, criterion as i64, bits::to_bytes(covered)])?;
            }
            Ok(())
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
