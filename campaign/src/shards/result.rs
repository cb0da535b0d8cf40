//! The result of a shard: a database of its own, read with care, since it comes from elsewhere.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use rusqlite::{Connection, OpenFlags, params};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use super::identity::{Identity, hexadecimal};
use super::{Machine, Shard, ShardError};
use crate::journal::{deflated, inflated, unpack};

/// What SQLite's header says of these files: "Sims".
const APPLICATION_ID: i32 = 0x5369_6d73;
/// Raised when the meaning of a table changes.
const FORMAT_VERSION: u32 = 2;
const SCHEMA: &str = include_str!("result.sql");
/// The reasons of a shard are no longer than this.
const REASONS_BYTES_MAX: u64 = 1 << 30;

/// What a shard came to.
#[derive(Debug)]
pub(super) struct ShardResult {
    pub(super) identity: Identity,
    pub(super) shard: Shard,
    pub(super) machine: Machine,
    /// The reasons by their numbers.
    pub(super) reasons: BTreeMap<i64, String>,
    /// By the numbers of test cases and re-seedings, their runs, packed: a shard may have ten million.
    pub(super) units: BTreeMap<usize, Vec<u8>>,
}

impl ShardResult {
    /// Makes sure that the file can be written, before anything is done for it.
    pub(super) fn check_place(path: &Path) -> Result<(), ShardError> {
        let failed = |source| ShardError::file(path, source);
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(folder).and_then(|()| NamedTempFile::new_in(folder)).map(drop).map_err(failed)
    }

    /// Writes the file, which is there as a whole or as it was before, and which its owner alone can read.
    pub(super) fn write(&self, path: &Path) -> Result<(), ShardError> {
        let failed = |source| ShardError::file(path, source);
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(failed)?;
        // SQLite wants locks, which a folder that machines share may not have.
        let here = NamedTempFile::new().map_err(failed)?;
        self.fill(here.path()).map_err(|source| crate::CampaignError::journal(path, source))?;
        let mut file = NamedTempFile::new_in(folder).map_err(failed)?;
        io::copy(&mut here.reopen().map_err(failed)?, &mut file).map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        file.persist(path).map(drop).map_err(|error| failed(error.error))
    }

    fn fill(&self, path: &Path) -> rusqlite::Result<()> {
        let mut connection = Connection::open(path)?;
        // The file is private until it is whole, and its name is given to it then.
        connection.pragma_update(None, "journal_mode", "MEMORY")?;
        let transaction = connection.transaction()?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.execute_batch(SCHEMA)?;
        let mut digest = Sha256::new();
        let reasons = deflated(json(&self.reasons).as_bytes());
        digest.update(&reasons);
        transaction.execute("INSERT INTO reasons VALUES (?1)", [reasons])?;
        {
            let mut insert = transaction.prepare("INSERT INTO units VALUES (?1, ?2)")?;
            for (number, runs) in &self.units {
                add_unit(&mut digest, *number, runs);
                insert.execute(params![*number as i64, runs])?;
            }
        }
        let set =
            |key: &str, value: String| transaction.execute("INSERT INTO meta VALUES (?1, ?2)", [key, &value]).map(drop);
        set("format", json(&FORMAT_VERSION))?;
        set("identity", json(&self.identity))?;
        set("shard", json(&self.shard.to_string()))?;
        set("machine", json(&self.machine))?;
        set("digest", json(&hexadecimal(&digest.finalize())))?;
        transaction.commit()
    }

    /// Reads a file that may be anything, for a campaign with so many mutants. One that cannot be read is no damaged one:
    /// another attempt may read it.
    pub(super) fn read(path: &Path, mutants: usize) -> Result<Self, ShardError> {
        let no_result = |detail: String| ShardError::NoResult { path: path.to_owned(), detail };
        let failed = |source| ShardError::file(path, source);
        let mut here = NamedTempFile::new().map_err(failed)?;
        io::copy(&mut fs::File::open(path).map_err(failed)?, &mut here).map_err(failed)?;
        Reader::open(here.path()).map_err(|error| no_result(error.to_string()))?.read(mutants, &no_result)
    }
}

/// Reads a result.
struct Reader {
    connection: Connection,
}

impl Reader {
    fn open(path: &Path) -> rusqlite::Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.pragma_update(None, "trusted_schema", false)?;
        connection.pragma_update(None, "cell_size_check", true)?;
        Ok(Self { connection })
    }

    fn read(&self, mutants: usize, no_result: &dyn Fn(String) -> ShardError) -> Result<ShardResult, ShardError> {
        let in_sql = |error: rusqlite::Error| no_result(error.to_string());
        self.check_file().map_err(in_sql)?.map_err(no_result)?;
        let get = |key: &str| self.meta(key).map_err(in_sql);
        fn parse<T: DeserializeOwned>(
            key: &str,
            text: &str,
            no_result: &dyn Fn(String) -> ShardError,
        ) -> Result<T, ShardError> {
            serde_json::from_str(text).map_err(|error| no_result(format!("{key}: {error}")))
        }
        let format: u32 = parse("format", &get("format")?, no_result)?;
        if format != FORMAT_VERSION {
            return Err(no_result(format!("its format is {format}, that of this version is {FORMAT_VERSION}")));
        }
        if schema(&self.connection).map_err(in_sql)? != schema_of_ours().map_err(in_sql)? {
            return Err(no_result("it has other tables".to_owned()));
        }
        let shard: String = parse("shard", &get("shard")?, no_result)?;
        let mut digest = Sha256::new();
        let packed: Vec<u8> =
            self.connection.query_row("SELECT texts FROM reasons", [], |row| row.get(0)).map_err(in_sql)?;
        digest.update(&packed);
        let reasons = inflated(&packed, REASONS_BYTES_MAX).and_then(|texts| serde_json::from_slice(&texts).ok());
        let reasons: BTreeMap<i64, String> =
            reasons.ok_or_else(|| no_result("its reasons cannot be read".to_owned()))?;
        let mut units = BTreeMap::new();
        for (number, bytes) in self.units().map_err(in_sql)? {
            let of_unit = |detail: &str| no_result(format!("runs of number {number}: {detail}"));
            let number = usize::try_from(number).map_err(|_| of_unit("there is no such test case"))?;
            add_unit(&mut digest, number, &bytes);
            let runs = unpack(&bytes, mutants).map_err(|error| of_unit(&error))?;
            if let Some(run) = runs.iter().find(|run| !reasons.contains_key(&run.reason)) {
                return Err(of_unit(&format!("that of mutant {} has no reason", run.mutant)));
            }
            units.insert(number, bytes);
        }
        if parse::<String>("digest", &get("digest")?, no_result)? != hexadecimal(&digest.finalize()) {
            return Err(no_result("its digest is another one".to_owned()));
        }
        Ok(ShardResult {
            identity: parse("identity", &get("identity")?, no_result)?,
            shard: shard.parse().map_err(|_| no_result(format!("there is no shard {shard}")))?,
            machine: parse("machine", &get("machine")?, no_result)?,
            reasons,
            units,
        })
    }

    /// Finds out whether the file is whole, and a result of a shard of some release.
    fn check_file(&self) -> rusqlite::Result<Result<(), String>> {
        let application: i32 = self.connection.query_row("PRAGMA application_id", [], |row| row.get(0))?;
        if application != APPLICATION_ID {
            return Ok(Err("a database of another program".to_owned()));
        }
        let state: String = self.connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        Ok(if state == "ok" { Ok(()) } else { Err(state) })
    }

    fn meta(&self, key: &str) -> rusqlite::Result<String> {
        self.connection.query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0))
    }

    fn units(&self) -> rusqlite::Result<Vec<(i64, Vec<u8>)>> {
        let mut select = self.connection.prepare("SELECT test_case, runs FROM units ORDER BY test_case")?;
        select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    }
}

/// Returns the tables that a result has.
fn schema_of_ours() -> rusqlite::Result<Vec<Option<String>>> {
    let ours = Connection::open_in_memory()?;
    ours.execute_batch(SCHEMA)?;
    schema(&ours)
}

fn schema(connection: &Connection) -> rusqlite::Result<Vec<Option<String>>> {
    let mut select = connection.prepare("SELECT sql FROM sqlite_schema ORDER BY name")?;
    select.query_map([], |row| row.get(0))?.collect()
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("what is noted is plain data")
}

fn add_unit(digest: &mut Sha256, number: usize, packed: &[u8]) {
    digest.update((number as u64).to_le_bytes());
    digest.update((packed.len() as u64).to_le_bytes());
    digest.update(packed);
}
