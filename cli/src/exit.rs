//! Exit codes.

use std::io;
use std::process::ExitCode;

use simutant_analysis::MUTANTS;
use simutant_campaign::{CampaignError, ShardError};
use simutant_cluster::ClusterError;
use simutant_engine_source::EngineSourceError;
use simutant_harness::{ErrorClass, HarnessError, ImplementationError, ProxyError, TrialLogError};
use simutant_mutator::{InitError, JudgementsError, MutatorError};
use simutant_oracle::smt::SolverError;
use simutant_outcomes::SuiteError;
use simutant_study::{ProgramError, StudyError};

use crate::output;

/// What `--help` says of exit codes, in lines that a terminal of 80 columns need not break.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
    0  done; all tests passed
    1  a test failed, a history is impossible, a net lacks one of its
       properties, a test case cannot be drawn or fails on the original
       simulation, or a self-check failed
    2  the command line is wrong
    3  a file or a value cannot be used
    4  something could not be built, started or reached, a specification
       ended without an answer, or a machine is unfit for a shard
    5  a file could not be written or read, or the disk is full
    6  a score is below what --score-min or --dominator-score-min asks for
    7  no test failed, and some were inconclusive; or a history is undecided or
       inconclusive; or a net is too large; or test cases of a campaign are
       missing after a merge
  130  interrupted; run the same command again to resume";

/// What `--help` says of the environment.
pub(crate) const ENVIRONMENT: &str = "\
Environment:
  SIMUTANT_ENGINE  the folder of the engine's source, such as a checkout of
                   Simutant, or `bundled` for what the command carries; by
                   default the checkout that the command was built from if it
                   is still there, or else what it carries
  XDG_CACHE_HOME   the folder of caches, by default ~/.cache: what the command
                   carries is unpacked below it";

/// How the command ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All is well.
    Success = 0,
    /// Something was tested and failed.
    Failed = 1,
    /// An input is not usable. (2 is clap's, for the command line.)
    BadInput = 3,
    /// A program, a build or an address is unavailable.
    Unavailable = 4,
    /// Storage is unavailable.
    Storage = 5,
    /// All was done, and a score is below what was asked for.
    BelowMinimum = 6,
    /// No test failed, and at least one was inconclusive; or something is missing still.
    Inconclusive = 7,
    /// The user stopped it.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

/// An input that is wrong, in words that name it and the cure.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct BadInput(pub(crate) String);

/// Returns an error of a study in the words of the command line: with the options that cure it.
pub(crate) fn with_options(error: StudyError) -> anyhow::Error {
    let bad = |message: String| BadInput(message).into();
    match error {
        StudyError::UnknownCriterion { criterion, .. } if criterion == MUTANTS => bad(
            "--criterion mutants: goes with --builder greedy, minimum or prioritised: no suites are drawn for mutants"
                .to_owned(),
        ),
        StudyError::UnknownCriterion { criterion, known } => {
            let meant = output::did_you_mean(&criterion, known.iter().map(String::as_str));
            let known = known.join(", ");
            bad(format!("--criterion {criterion}: there is no such criterion{meant}; there are: {known}"))
        }
        StudyError::NoCostOracle => {
            bad("--count-cost needs a cost oracle: add --cost, for example --cost events=20%".to_owned())
        }
        StudyError::Scenario(error) => bad(error.to_string()),
        StudyError::NoUniverse { .. } => bad(format!("--shard: {error}; run the study first, or copy its folder here")),
        StudyError::NoPart(_) => bad(format!("--trials {error}")),
        StudyError::NoMutatedPrograms(mutants) => {
            bad(format!("--mutants {mutants}: {error}; add it to the file of one, or leave --mutants out"))
        }
        StudyError::NotFinished { .. } => bad(format!("{error}; `simutant study` with --out makes one")),
        StudyError::File { action, path, source } => {
            let cure = match action {
                "write" => "make room, or give another folder with --out",
                _ => "give another folder with --out",
            };
            anyhow::Error::new(source).context(format!("cannot {action} {}; {cure}", path.display()))
        }
        error => error.into(),
    }
}

impl Exit {
    /// Returns the exit code for an error: that of the first cause, from the outermost on, which has one, or else
    /// [`Exit::Unavailable`].
    pub(crate) fn of(error: &anyhow::Error) -> Self {
        error.chain().find_map(Self::of_cause).unwrap_or(Self::Unavailable)
    }

    /// Returns the exit code of one cause, by its type; `None` if the type says too little, so that the next cause
    /// decides.
    fn of_cause(cause: &(dyn std::error::Error + 'static)) -> Option<Self> {
        if cause.is::<BadInput>() || cause.is::<SuiteError>() || cause.is::<ImplementationError>() {
            return Some(Self::BadInput);
        }
        if let Some(error) = cause.downcast_ref::<StudyError>() {
            return match error {
                StudyError::Stopped => Some(Self::Interrupted),
                StudyError::Package(error) => Self::of_cause(error),
                StudyError::Engine(error) => Self::of_cause(error),
                StudyError::EngineOrigin { .. }
                | StudyError::EngineUnreadable { .. }
                | StudyError::NoPackage { .. }
                | StudyError::Operators(_) => Some(Self::BadInput),
                StudyError::Instrument { source, .. }
                | StudyError::BuildPlain { source, .. }
                | StudyError::CompareMachineCode { source, .. } => Self::of_cause(source.as_ref()),
                StudyError::OfImplementation { source, .. } => Self::of_cause(source.as_ref()),
                StudyError::Harness(error) => Self::of_cause(error.as_ref()),
                StudyError::TrialLog(error) => Self::of_cause(error),
                StudyError::Judgements(error) => Self::of_cause(error),
                StudyError::Campaign(error) => Self::of_cause(error.as_ref()),
                StudyError::Shard(error) => Self::of_cause(error.as_ref()),
                StudyError::CheckFailed { source, .. } => Self::of_cause(source.as_ref()),
                // The others have a cause that says more.
                _ => None,
            };
        }
        if let Some(error) = cause.downcast_ref::<ClusterError>() {
            return match error {
                ClusterError::Merge(error) => Self::of_cause(error),
                ClusterError::Shard { code: 1, .. } => Some(Self::Failed),
                ClusterError::Shard { code: 3, .. } => Some(Self::BadInput),
                ClusterError::File { .. } => Some(Self::Storage),
                _ => Some(Self::Unavailable),
            };
        }
        if let Some(error) = cause.downcast_ref::<ShardError>() {
            return match error {
                ShardError::Campaign(error) => Self::of_cause(error),
                ShardError::File { .. } => Some(Self::Storage),
                ShardError::UnfitMachine { .. } => Some(Self::Unavailable),
                ShardError::Differs(_) => Some(Self::Failed),
                _ => Some(Self::BadInput),
            };
        }
        if let Some(error) = cause.downcast_ref::<CampaignError>() {
            return Some(match error {
                CampaignError::OfReseeding { error, .. } => return Self::of_cause(error.as_ref()),
                CampaignError::BaselineFailed { .. }
                | CampaignError::SamplePanicked { .. }
                | CampaignError::NotDeterministic { .. }
                | CampaignError::NotAsChosen { .. }
                | CampaignError::NotAsWritten { .. }
                | CampaignError::PrunedWrongly { .. }
                | CampaignError::KeptWrongly { .. }
                | CampaignError::RecordingKeptWrongly { .. }
                | CampaignError::CostStatedWrongly { .. } => Self::Failed,
                CampaignError::OtherCampaign { .. }
                | CampaignError::OtherFormat { .. }
                | CampaignError::CaseRefused { .. }
                | CampaignError::CostUnknown
                | CampaignError::NoWalks { .. }
                | CampaignError::NoNet { .. }
                | CampaignError::Damaged { .. } => Self::BadInput,
                CampaignError::DiskFull { .. } | CampaignError::Journal { .. } | CampaignError::File { .. } => {
                    Self::Storage
                }
                _ => Self::Unavailable,
            });
        }
        if let Some(error) = cause.downcast_ref::<MutatorError>() {
            return Some(match error {
                MutatorError::Interrupted => Self::Interrupted,
                MutatorError::Io { .. } => Self::Storage,
                MutatorError::DoesNotCompile { .. } | MutatorError::NoCargo(_) | MutatorError::Cargo { .. } => {
                    Self::Unavailable
                }
                _ => Self::BadInput,
            });
        }
        if let Some(error) = cause.downcast_ref::<EngineSourceError>() {
            return Some(match error {
                EngineSourceError::Io { .. } => Self::Storage,
                EngineSourceError::NoCache => Self::Unavailable,
                _ => Self::BadInput,
            });
        }
        let is_storage = |is_io| if is_io { Self::Storage } else { Self::BadInput };
        if let Some(error) = cause.downcast_ref::<InitError>() {
            return Some(is_storage(matches!(error, InitError::Io { .. })));
        }
        if let Some(error) = cause.downcast_ref::<JudgementsError>() {
            return Some(is_storage(matches!(error, JudgementsError::Io { .. })));
        }
        if let Some(error) = cause.downcast_ref::<HarnessError>() {
            return Some(match error.class() {
                ErrorClass::BadInput => Self::BadInput,
                ErrorClass::Storage => Self::Storage,
                ErrorClass::Implementation | ErrorClass::Unavailable => Self::Unavailable,
            });
        }
        if let Some(error) = cause.downcast_ref::<TrialLogError>() {
            return Some(match error {
                TrialLogError::Malformed { .. } | TrialLogError::OtherTerms { .. } => Self::BadInput,
                TrialLogError::File { .. } => Self::Storage,
                _ => Self::Unavailable,
            });
        }
        if let Some(error) = cause.downcast_ref::<ProgramError>() {
            return Some(match error {
                ProgramError::Build { source, .. } => return Self::of_cause(source.as_ref()),
                ProgramError::Engine(error) => return Self::of_cause(error),
                ProgramError::NoCargo(..) | ProgramError::NoAnswer { .. } => Self::Unavailable,
                _ => Self::BadInput,
            });
        }
        if cause.is::<ProxyError>() || cause.is::<SolverError>() {
            return Some(Self::Unavailable);
        }
        cause.is::<io::Error>().then_some(Self::Storage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_terminal_breaks_a_line_of_the_lists_below_the_help() {
        // clap would begin the rest at the left.
        assert!(EXIT_CODES.lines().chain(ENVIRONMENT.lines()).all(|line| line.len() <= 80));
    }

    #[test]
    fn a_panic_in_drawing_a_test_case_is_a_failure_of_the_system() {
        let panicked = || CampaignError::SamplePanicked { message: "sample panicked".into() };
        assert_eq!(Exit::of(&panicked().into()), Exit::Failed);
        assert_eq!(Exit::of(&StudyError::from(panicked()).into()), Exit::Failed);
        let error = Box::new(panicked());
        let reseeded = CampaignError::OfReseeding { reseeding: 1, case: Box::default(), error };
        assert_eq!(Exit::of(&StudyError::from(reseeded).into()), Exit::Failed);
    }
}
