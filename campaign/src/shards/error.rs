//! Why a bundle, a shard or a merge fails.

use std::path::PathBuf;

use simutant_outcomes::MutantNumber;

use crate::CampaignError;

/// An error of a bundle, a shard or a merge.
#[derive(Debug, thiserror::Error)]
pub enum ShardError {
    /// An error of the campaign itself.
    #[error(transparent)]
    Campaign(#[from] CampaignError),
    /// A file or folder cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system says.
        source: std::io::Error,
    },
    /// The folder for a bundle has something else in it.
    #[error("{0} holds files that are not of a bundle; give a folder that is empty or not there yet")]
    FolderInUse(PathBuf),
    /// A journal of an earlier release has no room for packed runs.
    #[error("{0}: its journal is of an earlier release and has no compressed runs; merge without compression")]
    NotPackable(PathBuf),
    /// A folder is no bundle, or is damaged.
    #[error("{path} is no bundle, or is damaged ({detail}); `simutant study SYSTEM --prepare` makes one")]
    NoBundle {
        /// The folder.
        path: PathBuf,
        /// What was found.
        detail: String,
    },
    /// Somebody else could have put programs into the bundle.
    #[error(
        "{0}: others own it or may write to it, and a shard runs programs from there; take that right away: chmod -R go-w"
    )]
    Writable(PathBuf),
    /// The bundle is another one than was asked for.
    #[error(
        "{path} is bundle {found}, and not {expected}, which was asked for; give the folder of that one, or its identity"
    )]
    OtherBundle {
        /// The folder.
        path: PathBuf,
        /// Its identity.
        found: String,
        /// What was asked for.
        expected: String,
    },
    /// A bundle was written by another release.
    #[error("{path} was prepared by version {found} of Simutant, and this is version {expected}: use the same one")]
    OtherVersion {
        /// The folder.
        path: PathBuf,
        /// The version that wrote it.
        found: String,
        /// This one.
        expected: String,
    },
    /// A machine cannot run the shard, or would not do what the preparing machine does.
    #[error("this machine ({machine}) cannot run the shard: {detail}; nothing was written")]
    UnfitMachine {
        /// Its name.
        machine: String,
        /// Why.
        detail: String,
    },
    /// A file is not the result of a shard, or is damaged.
    #[error("{path} is not the result of a shard, or is damaged ({detail}); run the shard again")]
    NoResult {
        /// The file.
        path: PathBuf,
        /// What was found.
        detail: String,
    },
    /// The file has the result of another shard.
    #[error("{path} has the result of shard {found}, and this is shard {expected}: give another file with --into")]
    OtherShard {
        /// The file.
        path: PathBuf,
        /// The shard that it has the result of.
        found: String,
        /// The one that runs.
        expected: String,
    },
    /// A result is of another campaign than the one that it is merged into.
    #[error("{path} is of another campaign: its {fact} is {found}, and that of {directory} is {expected}")]
    OtherCampaign {
        /// The file.
        path: PathBuf,
        /// The folder of the campaign.
        directory: PathBuf,
        /// What differs first.
        fact: String,
        /// Its value in the file.
        found: String,
        /// Its value in the campaign.
        expected: String,
    },
    /// A campaign was never prepared, or is not any more what it was then.
    #[error(
        "{0} holds no campaign that was prepared, or its source, its number of test cases or of re-seedings has changed since; \
         `simutant study SYSTEM --prepare` prepares it, and `simutant merge --bundle` begins it from a bundle"
    )]
    NotPrepared(PathBuf),
    /// Two runs of one test case on one mutant differ.
    #[error(transparent)]
    Differs(Box<OtherRun>),
}

/// A run that is another one than the journal has.
#[derive(Debug, thiserror::Error)]
#[error(
    "{path}, of machine {machine}: test case {number}{reseeding} on mutant {mutant} is another run than the journal's: {difference}; \
     one of the two machines is wrong, or the simulation depends on more than its test case; nothing of the file was taken. \
     `simutant simulate {system} --seed {seed} --mutant {mutant} --case '{case}'`, with the study's operators and constants, \
     runs the pair again"
)]
pub struct OtherRun {
    /// The file.
    pub path: PathBuf,
    /// The machine that wrote it.
    pub machine: String,
    /// The system.
    pub system: String,
    /// The seed of the universe.
    pub seed: u64,
    /// The number of the test case in the universe.
    pub number: usize,
    /// Which re-seeding of it, in words; empty for the test case itself.
    pub reseeding: String,
    /// The test case or its re-seeding.
    pub case: serde_json::Value,
    /// The mutant.
    pub mutant: MutantNumber,
    /// In what the runs differ.
    pub difference: String,
}

impl ShardError {
    /// Names the file, and tells a full disk from other trouble.
    pub(super) fn file(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        match CampaignError::file(path, source) {
            CampaignError::File { path, source } => Self::File { path, source },
            other => Self::Campaign(other),
        }
    }
}
