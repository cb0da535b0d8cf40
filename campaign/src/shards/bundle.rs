//! A bundle: a folder with all that a shard needs, and what it is held against before anything of it runs.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::num::{NonZeroU8, NonZeroUsize};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use simutant_mutator::Build;
use simutant_protocol::TargetFeature;

use super::ShardError;
use super::identity::{Identity, hash, hexadecimal};
use super::{machine, mathematics};
use crate::campaign::Baseline;
use crate::campaign::settings::{CASES, GIVEN, INPUT_SOURCE, SOURCE_HASH};
use crate::crew::{Crew, Workshop};
use crate::journal::Journal;
use crate::{Bounds, Campaign, CampaignPlan, Progress};

/// Raised when a bundle has another form.
const FORMAT_VERSION: u32 = 1;

const MANIFEST: &str = "bundle.json";
/// The executable with the mutants, and that of the system as it is written.
const WORKER: &str = "worker";
const PLAIN: &str = "plain";
/// The `simutant` command, which is not needed where there is one.
const COMMAND: &str = "simutant";
/// The journal of the campaign, with its test cases and what was recorded on them.
const JOURNAL: &str = "journal.sqlite";

/// How the name of a file ends that is being written.
const UNFINISHED: &str = ".unfinished";

/// What a shard needs beside its workers and what it reads from the bundle.
const CAMPAIGN_BYTES: u64 = 176 << 20;

/// What `bundle.json` says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Manifest {
    format: u32,
    /// The version of Simutant that wrote it.
    simutant: String,
    system: String,
    /// Test cases of the universe.
    cases: usize,
    identity: Identity,
    /// The SHA-256 of each file.
    files: BTreeMap<String, String>,
    /// What the executables were compiled for.
    target_features: Vec<TargetFeature>,
    /// What they take from the C library of functions of real numbers.
    math_functions: Vec<String>,
    /// The digest of their results on the machine that prepared the bundle.
    math_witness: Option<String>,
    /// How many bytes of memory a worker may use.
    memory_bytes: u64,
    /// How often each test case is run.
    rounds: usize,
    /// How many seconds of one processor the runs on mutants take, as far as a trial shows.
    processor_seconds: Option<f64>,
}

/// A prepared campaign in a folder, from which shards run; it needs no source and no compiler.
#[derive(Debug, Clone)]
pub struct Bundle {
    folder: PathBuf,
    manifest: Manifest,
    /// How often a shard writes what it has.
    pub(super) write_interval: Duration,
}

impl Campaign {
    /// Draws the universe, runs it on the original and writes a bundle of that. The folder must be empty, not there, or a
    /// bundle, which is replaced if it is of another campaign. Only its owner can read it. `None` if it was told to stop.
    ///
    /// With [`TimeTrial::Run`], some test cases run on the mutants for two seconds, to know how long all of them take; their
    /// runs are kept.
    ///
    /// # Errors
    /// As [`Campaign::run`]; and if the folder has something else or cannot be written.
    pub fn prepare(
        &mut self,
        plain: &Path,
        jobs: NonZeroUsize,
        (folder, trial): (&Path, TimeTrial),
        progress: &mut dyn FnMut(Progress),
        stop: &AtomicBool,
    ) -> Result<Option<Bundle>, ShardError> {
        check_replaceable(folder)?;
        let Some(baseline) = self.run_baseline(plain, jobs, progress, stop)? else { return Ok(None) };
        let executables = executables(self.plan(), plain)?;
        let hashes = executables.iter().map(|(name, bytes)| (*name, hash(bytes))).collect();
        let identity = Identity::of(&baseline, self.plan(), &hashes);
        if let Ok(known) = Bundle::open(folder, None)
            && known.is_whole_of(&identity)
        {
            // Shards may be reading it.
            identity.write(self.journal())?;
            return Ok(Some(known));
        }
        let processor_time = match trial {
            TimeTrial::Skip => None,
            TimeTrial::Run => self.try_mutants(&baseline, jobs, progress, stop)?,
        };
        drop(baseline);
        if stop.load(Relaxed) {
            return Ok(None);
        }
        Bundle::write(self, &executables, &hashes, (identity, processor_time), folder).map(Some)
    }

    /// Runs some test cases on the mutants, and returns how much processor time all that are left take, as far as that shows.
    fn try_mutants(
        &mut self,
        baseline: &Baseline,
        jobs: NonZeroUsize,
        progress: &mut dyn FnMut(Progress),
        stop: &AtomicBool,
    ) -> Result<Option<Duration>, ShardError> {
        let universe = self.plan().universe();
        let rounds = self.journal().rounds()?.used();
        let halt = AtomicBool::new(false);
        // What comes before the first test case is done is not counted: workers are started.
        let mut first: Option<(usize, Instant)> = None;
        let mut last = (0, Duration::ZERO);
        let mut watched = |known: Progress| {
            let (before, begun) = *first.get_or_insert_with(|| (known.done, Instant::now()));
            last = (known.done, begun.elapsed());
            let is_enough = known.done - before > universe / TRIAL_PART;
            halt.store(is_enough || begun.elapsed() >= TRIAL || stop.load(Relaxed), Relaxed);
            progress(known);
        };
        self.run_mutants(baseline, None, jobs, &mut watched, &halt)?;
        let Some((before, _)) = first else { return Ok(None) };
        let (last, took) = last;
        let done = last - before;
        if done == 0 || last >= universe {
            return Ok(None);
        }
        // Of a pair whose first three runs end alike, there is no fourth.
        let rounds = match rounds {
            0..=3 => rounds as f64,
            rounds => 3.0 + RESEEDED_FURTHER * (rounds - 3) as f64,
        };
        let each = took.mul_f64(jobs.get() as f64 / done as f64);
        Ok(Some(each.mul_f64((universe - last) as f64 * rounds)))
    }
}

/// Whether mutants are run for a moment, to know how long all of them take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeTrial {
    /// Some are, for two seconds.
    Run,
    /// None is: how long they take is not known.
    Skip,
}

/// A machine that is lost takes so much of a shard's work with it.
const WRITE_INTERVAL: Duration = Duration::from_secs(300);
/// A trial takes so long, or one test case of so many.
const TRIAL: Duration = Duration::from_secs(2);
const TRIAL_PART: usize = 20;
/// The share of runs on mutants that is made in rounds after the third, on the systems that come with Simutant.
const RESEEDED_FURTHER: f64 = 0.15;

/// Reads the executables of a campaign.
fn executables(plan: &CampaignPlan, plain: &Path) -> Result<Vec<(&'static str, Vec<u8>)>, ShardError> {
    let read = |(name, path): (&'static str, &Path)| match fs::read(path) {
        Ok(bytes) => Ok((name, bytes)),
        Err(source) => Err(ShardError::file(path, source)),
    };
    [(WORKER, plan.build.worker.as_path()), (PLAIN, plain)].into_iter().map(read).collect()
}

impl Bundle {
    /// How many digits of an identity must be given at least.
    pub const DIGITS_MIN: usize = 16;

    /// Opens the bundle in a folder; what its files hold is checked when a shard runs. `expected` is the beginning of
    /// its identity, of [`Bundle::DIGITS_MIN`] digits at least, or all of it.
    ///
    /// # Errors
    /// If the folder is no bundle, of another release or another identity, or others can write to it.
    pub fn open(folder: &Path, expected: Option<&str>) -> Result<Self, ShardError> {
        let path = folder.join(MANIFEST);
        let damaged = |detail: String| ShardError::NoBundle { path: folder.to_owned(), detail };
        let bytes = fs::read(&path).map_err(|error| damaged(format!("{}: {error}", path.display())))?;
        check_private(folder)?;
        #[derive(Deserialize)]
        struct Version {
            format: u32,
            simutant: String,
        }
        let version: Version = serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
        let expected_version = env!("CARGO_PKG_VERSION");
        if version.format != FORMAT_VERSION || version.simutant != expected_version {
            let (found, expected) = (version.simutant, expected_version.to_owned());
            return Err(ShardError::OtherVersion { path: folder.to_owned(), found, expected });
        }
        let manifest: Manifest = serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
        let bundle = Self { folder: folder.to_owned(), manifest, write_interval: WRITE_INTERVAL };
        if let Some(expected) = expected {
            let found = bundle.id();
            if expected.len() < Self::DIGITS_MIN || !found.starts_with(expected) {
                let (path, expected) = (folder.to_owned(), expected.to_owned());
                return Err(ShardError::OtherBundle { path, found, expected });
            }
        }
        Ok(bundle)
    }

    /// Returns whether this bundle is whole and is of the same campaign as another one. The bytes of both may differ, since
    /// their journals may hold other runs.
    pub fn serves(&self, other: &Self) -> bool {
        self.is_whole_of(other.identity())
    }

    fn is_whole_of(&self, identity: &Identity) -> bool {
        let is_whole = |name: &&str| self.copy_checked(name, (&self.folder, &mut io::sink())).is_ok();
        self.manifest.identity == *identity && [WORKER, PLAIN, JOURNAL].iter().all(is_whole)
    }

    /// Lets shards write what they have so often, in place of every five minutes.
    #[must_use]
    pub fn with_write_interval(self, write_interval: Duration) -> Self {
        Self { write_interval, ..self }
    }

    /// Puts a copy of the program that calls this into the bundle, which is to be the `simutant` command: then nothing else
    /// is needed where shards run.
    ///
    /// # Errors
    /// If it cannot be copied.
    pub fn add_command(&self) -> Result<PathBuf, ShardError> {
        let path = self.folder.join(COMMAND);
        let program = std::env::current_exe().map_err(|source| ShardError::file(&path, source))?;
        let bytes = fs::read(&program).map_err(|source| ShardError::file(&program, source))?;
        // Shards may be running the one that is there.
        if fs::read(&path).ok().as_ref() != Some(&bytes) {
            write_private(&path, &bytes, 0o700)?;
        }
        Ok(path)
    }

    /// Returns the identity of the bundle, 64 hexadecimal digits: no bundle with another campaign or other files has it.
    pub fn id(&self) -> String {
        let Manifest { identity, files, .. } = &self.manifest;
        hash(&serde_json::to_vec(&(identity, files)).unwrap_or_default())
    }

    /// Returns the folder that it is in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the name of the system.
    pub fn system(&self) -> &str {
        &self.manifest.system
    }

    /// Returns how many test cases the universe has.
    pub fn cases(&self) -> usize {
        self.manifest.cases
    }

    /// Returns how many test cases there are to run, their re-seedings counted apart.
    pub fn units(&self) -> usize {
        self.manifest.cases * self.manifest.rounds
    }

    /// Returns how many bytes of memory a shard needs for each of its workers: what a run may use, and what is read from the
    /// journal.
    pub fn memory_bytes(&self) -> u64 {
        let journal = fs::metadata(self.folder.join(JOURNAL)).map_or(0, |known| known.len());
        // Recordings take more in memory than in the journal.
        self.manifest.memory_bytes + CAMPAIGN_BYTES + 2 * journal
    }

    /// Returns how much processor time the runs on mutants take, as far as a trial showed on the machine that prepared the
    /// bundle.
    pub fn processor_time(&self) -> Option<Duration> {
        self.manifest.processor_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
    }

    pub(super) fn identity(&self) -> &Identity {
        &self.manifest.identity
    }

    fn write(
        campaign: &Campaign,
        executables: &[(&'static str, Vec<u8>)],
        hashes: &BTreeMap<&'static str, String>,
        (identity, processor_time): (Identity, Option<Duration>),
        folder: &Path,
    ) -> Result<Self, ShardError> {
        fn file(path: &Path) -> impl FnOnce(io::Error) -> ShardError {
            move |source| ShardError::file(path, source)
        }
        fs::create_dir_all(folder).map_err(file(folder))?;
        fs::set_permissions(folder, Permissions::from_mode(0o700)).map_err(file(folder))?;
        // Without it, what is there is no bundle until all is.
        remove(&folder.join(MANIFEST))?;
        let (plan, journal) = (campaign.plan(), campaign.journal());
        let mut files: BTreeMap<String, String> =
            hashes.iter().map(|(name, hash)| ((*name).to_owned(), hash.clone())).collect();
        let mut math_functions = Vec::new();
        for (name, bytes) in executables {
            write_private(&folder.join(name), bytes, 0o700)?;
            math_functions.extend(mathematics::imported(bytes).unwrap_or_default());
        }
        math_functions.sort_unstable();
        math_functions.dedup();
        identity.write(journal)?;
        Journal::delete(folder)?;
        journal.copy_to(folder)?;
        let path = folder.join(JOURNAL);
        fs::set_permissions(&path, Permissions::from_mode(0o600)).map_err(file(&path))?;
        files.insert(JOURNAL.to_owned(), hash(&fs::read(&path).map_err(file(&path))?));
        let mut crew =
            Crew::new(Workshop { program: &plan.build.worker, system: &plan.build.sites.system, bounds: plan.bounds });
        let manifest = Manifest {
            format: FORMAT_VERSION,
            simutant: env!("CARGO_PKG_VERSION").to_owned(),
            system: plan.build.sites.system.clone(),
            cases: plan.universe(),
            identity,
            files,
            target_features: crew.description()?.target_features,
            math_witness: mathematics::witness(&math_functions),
            math_functions,
            memory_bytes: plan.bounds.memory_bytes,
            rounds: journal.rounds()?.used(),
            processor_seconds: processor_time.map(|time| time.as_secs_f64()),
        };
        write_private(&folder.join(MANIFEST), &serde_json::to_vec_pretty(&manifest).unwrap_or_default(), 0o600)?;
        Self::open(folder, None)
    }

    /// Copies the files into a private folder and makes sure that they are what the manifest says; what runs is the copy.
    pub(super) fn copy_to(&self, folder: &Path) -> Result<(), ShardError> {
        for name in [WORKER, PLAIN, JOURNAL] {
            let mode = if name == JOURNAL { 0o600 } else { 0o700 };
            let path = folder.join(name);
            write_private_by(&path, mode, |file| self.copy_checked(name, (&path, file)))?;
        }
        Ok(())
    }

    /// Copies the journal into a folder that has none.
    pub(super) fn copy_journal_to(&self, folder: &Path) -> Result<(), ShardError> {
        let path = folder.join(JOURNAL);
        write_private_by(&path, 0o644, |file| self.copy_checked(JOURNAL, (&path, file)))
    }

    /// Copies a file of the bundle; an error if it is not what the manifest says. Journals may be large, so it is never in
    /// memory as a whole. `path` is where the copy is, for errors.
    fn copy_checked(&self, name: &str, (path, to): (&Path, &mut dyn Write)) -> Result<(), ShardError> {
        let damaged = |detail| ShardError::NoBundle { path: self.folder.clone(), detail };
        let mut from = fs::File::open(self.folder.join(name)).map_err(|error| damaged(format!("{name}: {error}")))?;
        let (mut digest, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
        loop {
            let count = from.read(&mut buffer).map_err(|error| damaged(format!("{name}: {error}")))?;
            if count == 0 {
                break;
            }
            digest.update(&buffer[..count]);
            to.write_all(&buffer[..count]).map_err(|source| ShardError::file(path, source))?;
        }
        match self.manifest.files.get(name) == Some(&hexadecimal(&digest.finalize())) {
            true => Ok(()),
            false => Err(damaged(format!("{name} is not the file that was prepared"))),
        }
    }

    /// Returns why this machine cannot run `jobs` workers of the bundle, or would not do what the preparing one does,
    /// as far as that can be known before anything runs.
    pub(super) fn unfit(&self, jobs: NonZeroUsize, memory_bytes: u64) -> Option<String> {
        let Manifest { target_features, math_functions, math_witness, .. } = &self.manifest;
        let missing = machine::missing_features(target_features);
        if !missing.is_empty() {
            return Some(format!(
                "its processor lacks {}, for which the executables were compiled",
                missing.join(", ")
            ));
        }
        if let Some(lacks) = machine::lacks_memory(jobs, memory_bytes) {
            return Some(lacks);
        }
        (mathematics::witness(math_functions) != *math_witness).then(|| {
            format!(
                "its C library or processor computes other last bits of {} than the machine that prepared the bundle, and the \
                 system calls them",
                math_functions.join(", ")
            )
        })
    }

    /// Returns the plan of the campaign, whose files have been copied into a folder.
    pub(super) fn plan(&self, folder: &Path) -> Result<(CampaignPlan, PathBuf), ShardError> {
        let journal = Journal::open_existing(folder)?;
        let missing = |key: &str| ShardError::Campaign(journal.damaged(format!("it does not say its {key}")));
        let number = |key: &str| journal.get::<u64>(key)?.ok_or_else(|| missing(key));
        let text = |key: &str| journal.get::<String>(key)?.ok_or_else(|| missing(key));
        let given: Vec<Value> = journal.get(GIVEN)?.unwrap_or_default();
        let hash = u64::from_str_radix(&text(SOURCE_HASH)?, 16).map_err(|_| missing(SOURCE_HASH))?;
        let rounds = journal.rounds()?;
        let plan = CampaignPlan {
            build: Build {
                sites: journal.get("sites")?.ok_or_else(|| missing("sites"))?,
                worker: folder.join(WORKER),
                source_hash: hash,
                fingerprint: journal.get("fingerprint")?.ok_or_else(|| missing("fingerprint"))?,
                operators: text("operators")?,
            },
            seed: number("seed")?,
            input_source: journal.get(INPUT_SOURCE)?.unwrap_or_default(),
            cases: (number(CASES)? as usize).checked_sub(given.len()).ok_or_else(|| missing(CASES))?,
            given,
            reseedings: u8::try_from(rounds.asked).ok().and_then(NonZeroU8::new).ok_or_else(|| missing("rounds"))?,
            pruning: journal.get("pruning")?.ok_or_else(|| missing("pruning"))?,
            bounds: Bounds {
                baseline_steps: number("baseline_steps")?,
                baseline_events: number("baseline_events")?,
                memory_bytes: number("memory_bytes")?,
                hang: Duration::from_nanos(number("hang_ns")?),
            },
        };
        Ok((plan, folder.join(PLAIN)))
    }
}

/// Refuses a folder that has something else than a bundle, or a part of one.
fn check_replaceable(folder: &Path) -> Result<(), ShardError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(|source| ShardError::file(folder, source))?,
    };
    let is_ours = |name: &str| {
        [MANIFEST, WORKER, PLAIN, COMMAND].contains(&name) || name.starts_with(JOURNAL) || name.ends_with(UNFINISHED)
    };
    let is_manifest =
        |bytes: Vec<u8>| serde_json::from_slice::<Value>(&bytes).is_ok_and(|it| it.get("identity").is_some());
    let has_other = entries.flatten().any(|entry| !entry.file_name().to_str().is_some_and(is_ours));
    let is_foreign = fs::read(folder.join(MANIFEST)).is_ok_and(|bytes| !is_manifest(bytes));
    if has_other || is_foreign { Err(ShardError::FolderInUse(folder.to_owned())) } else { Ok(()) }
}

/// Refuses a folder, or a file of it, that others than its owner can write to, or that is somebody else's.
fn check_private(folder: &Path) -> Result<(), ShardError> {
    let own = rustix::process::geteuid().as_raw();
    for name in [None, Some(MANIFEST), Some(WORKER), Some(PLAIN), Some(JOURNAL), Some(COMMAND)] {
        let path = name.map_or_else(|| folder.to_owned(), |name| folder.join(name));
        let known = match fs::metadata(&path) {
            Err(error) if name == Some(COMMAND) && error.kind() == ErrorKind::NotFound => continue,
            known => known.map_err(|source| ShardError::file(&path, source))?,
        };
        if known.mode() & 0o022 != 0 || ![0, own].contains(&known.uid()) {
            return Err(ShardError::Writable(path));
        }
    }
    Ok(())
}

/// Writes a file of a bundle with these rights, whatever the umask: it is there as a whole, or as it was before.
fn write_private(path: &Path, bytes: &[u8], mode: u32) -> Result<(), ShardError> {
    write_private_by(path, mode, |file| file.write_all(bytes).map_err(|source| ShardError::file(path, source)))
}

/// The same of a file whose content `write` writes.
fn write_private_by(
    path: &Path,
    mode: u32,
    write: impl FnOnce(&mut fs::File) -> Result<(), ShardError>,
) -> Result<(), ShardError> {
    let failed = |source| ShardError::file(path, source);
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(UNFINISHED);
    let unfinished = PathBuf::from(unfinished);
    let mut file = fs::File::create(&unfinished).map_err(failed)?;
    if let Err(error) = write(&mut file) {
        remove(&unfinished)?;
        return Err(error);
    }
    file.set_permissions(Permissions::from_mode(mode)).and_then(|()| file.sync_all()).map_err(failed)?;
    // A program cannot be started as long as somebody has it open to write.
    drop(file);
    fs::rename(&unfinished, path).map_err(failed)
}

fn remove(path: &Path) -> Result<(), ShardError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != ErrorKind::NotFound => Err(ShardError::file(path, source)),
        _ => Ok(()),
    }
}
