//! Why a study fails.

use std::path::{Path, PathBuf};

use simutant_analysis::{AnalysisError, ScenarioError, TrialsError};
use simutant_campaign::{CampaignError, ShardError};
use simutant_engine_source::EngineSourceError;
use simutant_harness::{HarnessError, Implementation, TrialLogError};
use simutant_mutator::{JudgementsError, MutatorError, UnknownOperator};

/// Why there is no result of a study.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// It was told to stop. What was done is in its folder, and the same study goes on there.
    #[error("the study was stopped")]
    Stopped,
    /// The package with the system cannot be found or used.
    #[error(transparent)]
    Package(#[from] MutatorError),
    /// There is no package here to look for the system in, and Simutant has no such system itself.
    #[error(
        "no system `{system}`: there is no Cargo.toml in this folder or above; go to the package that has the system, or name \
         its manifest with --manifest-path. Simutant's own: {}",
        known.join(", ")
    )]
    NoPackage {
        /// The name asked for.
        system: String,
        /// The systems that come with Simutant.
        known: Vec<String>,
    },
    /// The engine's source cannot be used: that of the command, or the copy that the package depends on.
    #[error(transparent)]
    Engine(#[from] EngineSourceError),
    /// The engine that a package depends on is gone, or packages of its workspace depend on several.
    #[error(
        "cannot read the package, since the engine that it depends on is missing, or there twice; `simutant init --vendor` puts the command's own into \
         the workspace, for all its packages: {message}"
    )]
    EngineUnreadable {
        /// What cargo says.
        message: String,
    },
    /// A package depends on an engine that is no folder beside a worker.
    #[error(
        "{package}: the dependency `simutant-sim-core` is from a registry or a repository, and a study needs it by its path; \
         `simutant init --vendor` puts the engine's source into the package"
    )]
    EngineOrigin {
        /// The package.
        package: String,
    },
    /// The system does not compile with its mutants.
    #[error("cannot mutate {system}")]
    Instrument {
        /// The system.
        system: String,
        /// What the mutator says.
        source: Box<MutatorError>,
    },
    /// The system does not compile as it is written.
    #[error("cannot build {system} as it is written")]
    BuildPlain {
        /// The system.
        system: String,
        /// What the mutator says.
        source: Box<MutatorError>,
    },
    /// The mutants do not compile as functions of their own.
    #[error("cannot compile the mutants of {system} one by one")]
    CompareMachineCode {
        /// The system.
        system: String,
        /// What the mutator says.
        source: Box<MutatorError>,
    },
    /// The file of judgements cannot be used.
    #[error(transparent)]
    Judgements(#[from] JudgementsError),
    /// The file with the figures of an earlier experiment cannot be used.
    #[error("{}: {reason}", path.display())]
    Reference {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The system does not have the criterion that the suite was asked for.
    #[error("there is no criterion `{criterion}`; there are: {}", known.join(", "))]
    UnknownCriterion {
        /// The criterion asked for.
        criterion: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// Kills by cost are to count, and nothing says what is too costly.
    #[error("kills by cost are to count, and there is no cost oracle")]
    NoCostOracle,
    /// A check of the campaign by itself failed on one pair of a test case and a mutant.
    #[error("a check failed that `{command}` repeats")]
    CheckFailed {
        /// The command that runs the pair.
        command: String,
        /// What failed.
        source: Box<CampaignError>,
    },
    /// The campaign cannot be run, or its journal cannot be used.
    #[error(transparent)]
    Campaign(Box<CampaignError>),
    /// A bundle cannot be written, or results not be merged.
    #[error(transparent)]
    Shard(Box<ShardError>),
    /// The outcomes cannot be analysed.
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
    /// There is no suite of the criteria that were asked for.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A trace is not one of this release.
    #[error("the trace has another form: build the system with this version of Simutant")]
    Trace(#[source] serde_json::Error),
    /// A file or a folder cannot be made, written or removed: the disk may be full, or belong to somebody else.
    #[error("cannot {action} {}", path.display())]
    File {
        /// What was tried: `make`, `write` or `remove`.
        action: &'static str,
        /// The file or the folder.
        path: PathBuf,
        /// What the operating system says.
        source: std::io::Error,
    },
    /// A folder has no finished study.
    #[error("there is no finished study in {}: {reason}", folder.display())]
    NotFinished {
        /// The folder.
        folder: PathBuf,
        /// What is missing or does not fit.
        reason: String,
    },
    /// A folder has no study whose universe a part of an experiment could be of.
    #[error("{} has no study of {system} with seed {seed}", folder.display())]
    NoUniverse {
        /// The folder.
        folder: PathBuf,
        /// The system.
        system: String,
        /// The seed.
        seed: u64,
    },
    /// There is no file with trials of a part of an experiment.
    #[error("{}: there is no such file", .0.display())]
    NoPart(PathBuf),
    /// So many mutants of programs are to be tried, and no implementation names the package with its programs.
    #[error("no implementation that takes part has the table [mutants], which names the package with its programs")]
    NoMutatedPrograms(usize),
    /// The file of an implementation names operators that there are not.
    #[error("`operators`: {0}")]
    Operators(UnknownOperator),
    /// An implementation cannot be tested, or no mutants of it be made.
    #[error("{what} {implementation}")]
    OfImplementation {
        /// What is wrong, in words that its name follows.
        what: &'static str,
        /// Its name.
        implementation: String,
        /// Why.
        source: Box<StudyError>,
    },
    /// Test cases cannot be run on real programs.
    #[error(transparent)]
    Harness(Box<HarnessError>),
    /// A file with trials or results cannot be used.
    #[error(transparent)]
    TrialLog(#[from] TrialLogError),
    /// Trials are not of the outcomes that they are analysed with.
    #[error(transparent)]
    Trials(#[from] TrialsError),
}

impl From<HarnessError> for StudyError {
    fn from(error: HarnessError) -> Self {
        Self::Harness(Box::new(error))
    }
}

impl From<CampaignError> for StudyError {
    fn from(error: CampaignError) -> Self {
        Self::Campaign(Box::new(error))
    }
}

impl From<ShardError> for StudyError {
    fn from(error: ShardError) -> Self {
        match error {
            ShardError::Campaign(error) => error.into(),
            error => Self::Shard(Box::new(error)),
        }
    }
}

impl StudyError {
    pub(crate) fn file(action: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::File { action, path: path.to_owned(), source }
    }

    /// Adds of which implementation something is wrong.
    pub(crate) fn of_implementation(self, what: &'static str, implementation: &Implementation) -> Self {
        Self::OfImplementation { what, implementation: implementation.name.clone(), source: Box::new(self) }
    }

    /// Returns whether an interrupt ended the compiler.
    pub(crate) fn is_interruption(&self) -> bool {
        match self {
            Self::Package(error) => matches!(error, MutatorError::Interrupted),
            Self::Instrument { source, .. }
            | Self::BuildPlain { source, .. }
            | Self::CompareMachineCode { source, .. } => matches!(**source, MutatorError::Interrupted),
            _ => false,
        }
    }
}
