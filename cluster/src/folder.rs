//! The folder that a study and its shards share.

use std::fs::{self, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use simutant_campaign::{Bundle, merge_usable};

use crate::scheduler::cancel;
use crate::{ClusterError, Scheduler};

/// What each task of an array runs. Its arguments are the folder, the number of shards, the bundle and its identity, and the
/// number of workers; the scheduler gives the number of the shard. A node that does not have the folder, or cannot start
/// the command, is unfit (exit code 4). A signal is for the command, which writes what it has; the shell waits for it.
const SCRIPT: &str = r#"#!/bin/sh
trap : TERM INT
k=${SLURM_ARRAY_TASK_ID:?}
cd -- "$1" || exit 4
if "$3/simutant" --version > /dev/null 2> "log/$k.txt"; then
    "$3/simutant" shard "$3" "$k/$2" --into "results/$k.sqlite" --id "$4" --jobs "$5" --progress "progress/$k.json" \
        > /dev/null 2> "log/$k.txt" &
    shard=$!
    wait "$shard"
    code=$?
    if kill -0 "$shard" 2> /dev/null; then wait "$shard"; code=$?; fi
else
    code=4
fi
echo "$code ${SLURMD_NODENAME:-$(hostname)}" > "ended/.$k.$$"
mv "ended/.$k.$$" "ended/$k"
exit "$code"
"#;

/// So many digits of a bundle's identity are the name of its folder.
const BUNDLE_DIGITS: usize = 16;

/// How far a shard is, as it says itself every few seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardProgress {
    /// Test cases that are done, re-seedings counted apart.
    pub done: usize,
    /// Test cases in all.
    pub total: usize,
    /// Runs on mutants so far.
    pub executed: u64,
}

impl ShardProgress {
    /// Writes it: readers see the whole file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), ClusterError> {
        write_json(path, self)
    }
}

/// The folder that a study on a cluster and its shards share.
#[derive(Debug, Clone)]
pub struct ClusterFolder {
    root: PathBuf,
}

/// The array that was submitted last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) scheduler: String,
    /// The scheduler's number of it.
    pub(crate) job: String,
    /// The identity of the bundle that its tasks run.
    pub(crate) bundle: String,
    /// How many shards there are.
    pub(crate) shards: u32,
}

/// How a shard ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) node: String,
}

impl ClusterFolder {
    /// Returns the folder of the study in `out`, which is made if it is not there; only its owner can read it.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn of(out: &Path) -> Result<Self, ClusterError> {
        let out = std::path::absolute(out).map_err(|source| ClusterError::file(out, source))?;
        let folder = Self { root: out.join("cluster") };
        for name in ["", "bundles", "results", "progress", "ended", "log"] {
            let path = folder.root.join(name);
            fs::create_dir_all(&path).map_err(|source| ClusterError::file(&path, source))?;
        }
        let private = fs::set_permissions(&folder.root, Permissions::from_mode(0o700));
        private.map_err(|source| ClusterError::file(&folder.root, source))?;
        Ok(folder)
    }

    /// Returns where a bundle is written; shards run none from there.
    pub fn staging_folder(&self) -> PathBuf {
        self.root.join("bundles").join("new")
    }

    /// Gives a bundle that was written the folder that its shards run it from. If the array that was submitted last runs one of
    /// the same campaign, that one stays in its place, since shards may be running it.
    ///
    /// # Errors
    /// If the folder cannot be read or written.
    pub fn adopt(&self, bundle: &Bundle) -> Result<Bundle, ClusterError> {
        let (id, from) = (bundle.id(), bundle.folder());
        let known = self.job().and_then(|job| Bundle::open(&self.bundle_of(&job.bundle), Some(&job.bundle)).ok());
        if let Some(known) = known.filter(|known| known.serves(bundle)) {
            fs::remove_dir_all(from).map_err(|source| ClusterError::file(from, source))?;
            return Ok(known);
        }
        let to = self.bundle_of(&id);
        remove_folder(&to)?;
        fs::rename(from, &to).map_err(|source| ClusterError::file(&to, source))?;
        Ok(Bundle::open(&to, Some(&id))?)
    }

    fn bundle_of(&self, id: &str) -> PathBuf {
        self.root.join("bundles").join(id.get(..BUNDLE_DIGITS).unwrap_or(id))
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Writes the script of the array, and returns its path.
    pub(crate) fn write_script(&self) -> Result<PathBuf, ClusterError> {
        let path = self.root.join("array.sh");
        write(&path, SCRIPT.as_bytes())?;
        Ok(path)
    }

    pub(crate) fn job(&self) -> Option<Job> {
        read_json(&self.root.join("job.json"))
    }

    pub(crate) fn set_job(&self, job: &Job) -> Result<(), ClusterError> {
        write_json(&self.root.join("job.json"), job)
    }

    /// Returns the results that are there.
    pub(crate) fn results(&self) -> Result<Vec<PathBuf>, ClusterError> {
        let folder = self.root.join("results");
        let entries = fs::read_dir(&folder).map_err(|source| ClusterError::file(&folder, source))?;
        let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        files.retain(|path| path.extension().is_some_and(|extension| extension == "sqlite"));
        files.sort_unstable();
        Ok(files)
    }

    /// Takes the results that are there into the study, as long as they are of it: after an edit, or with more test cases,
    /// they would be no more. Those of another study, and damaged ones, are left.
    ///
    /// # Errors
    /// If a result cannot be read, or the study not be written: then nothing may be forgotten yet.
    pub fn save_results(&self, out: &Path) -> Result<(), ClusterError> {
        Ok(merge_usable(out, &self.results()?)?)
    }

    /// Cancels the job that was submitted last, if it has not ended, and forgets its results.
    ///
    /// # Errors
    /// If the scheduler cannot be used, or the folder not be written.
    pub fn begin_anew(&self, scheduler: &dyn Scheduler) -> Result<(), ClusterError> {
        if let Some(job) = self.job().filter(|job| job.scheduler == scheduler.name()) {
            cancel(scheduler, &job.job)?;
        }
        self.clear(None)
    }

    /// Forgets what shards of another bundle or another number of shards left, and bundles with another identity than
    /// `id`.
    pub(crate) fn clear(&self, id: Option<&str>) -> Result<(), ClusterError> {
        let bundles = self.root.join("bundles");
        let kept = id.map(|id| self.bundle_of(id));
        let entries = fs::read_dir(&bundles).map_err(|source| ClusterError::file(&bundles, source))?;
        for entry in entries.flatten().filter(|entry| Some(entry.path()) != kept) {
            remove_folder(&entry.path())?;
        }
        for name in ["results", "progress", "ended", "log"] {
            let path = self.root.join(name);
            fs::remove_dir_all(&path)
                .and_then(|()| fs::create_dir(&path))
                .map_err(|source| ClusterError::file(&path, source))?;
        }
        remove(&self.root.join("job.json"))
    }

    /// Returns how far the shards are, all together.
    pub(crate) fn progress(&self, shards: u32) -> ShardProgress {
        let known = (0..shards)
            .filter_map(|shard| read_json::<ShardProgress>(&self.root.join("progress").join(format!("{shard}.json"))));
        known.fold(ShardProgress::default(), |sum, shard| ShardProgress {
            done: sum.done + shard.done,
            total: sum.total + shard.total,
            executed: sum.executed + shard.executed,
        })
    }

    /// Returns how a shard ended; `None` if it has not, or was ended in a hurry.
    pub(crate) fn ended(&self, shard: u32) -> Option<Ended> {
        let text = fs::read_to_string(self.root.join("ended").join(shard.to_string())).ok()?;
        let (code, node) = text.trim().split_once(' ')?;
        Some(Ended { code: code.parse().ok()?, node: node.to_owned() })
    }

    /// Forgets how a shard ended, before it begins again.
    pub(crate) fn forget_end(&self, shard: u32) -> Result<(), ClusterError> {
        remove(&self.root.join("ended").join(shard.to_string()))
    }

    /// Returns what a shard said last.
    pub(crate) fn last_words(&self, shard: u32) -> String {
        let text = fs::read_to_string(self.root.join("log").join(format!("{shard}.txt"))).unwrap_or_default();
        let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
        last.trim().to_owned()
    }
}

fn remove_folder(path: &Path) -> Result<(), ClusterError> {
    match fs::remove_dir_all(path) {
        Err(source) if source.kind() != ErrorKind::NotFound => Err(ClusterError::file(path, source)),
        _ => Ok(()),
    }
}

fn remove(path: &Path) -> Result<(), ClusterError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != ErrorKind::NotFound => Err(ClusterError::file(path, source)),
        _ => Ok(()),
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), ClusterError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let written = tempfile::NamedTempFile::new_in(folder).and_then(|mut file| {
        file.write_all(bytes)?;
        file.persist(path).map_err(|error| error.error)
    });
    written.map(drop).map_err(|source| ClusterError::file(path, source))
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<(), ClusterError> {
    write(path, &serde_json::to_vec(value).expect("it is plain data"))
}

/// Returns `None` for a file that is not there, or not what it should be.
fn read_json<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}
