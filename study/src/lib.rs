//! A whole study as a library: what `simutant study`, `test` and `experiment` do, without their arguments, progress
//! lines and printing.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let out = folder.path().join("out");
//! use std::sync::atomic::AtomicBool;
//! use simutant_study::{CampaignSettings, StudyEvent, StudyPlan, SystemRequest};
//!
//! // The package that has the system is found in the workspace of the current folder, or in Simutant's own.
//! let campaign = CampaignSettings { seed: 7, ..CampaignSettings::new(&out) };
//! let mut plan = StudyPlan::new(SystemRequest::new("gbn"), campaign);
//! plan.cases = std::num::NonZeroUsize::new(24);
//!
//! let stages = std::sync::Mutex::new(Vec::new());
//! let observer = |event: StudyEvent<'_>| {
//!     if let StudyEvent::Started(stage) = event {
//!         stages.lock().unwrap().push(format!("{stage:?}"));
//!     }
//! };
//! let stop = AtomicBool::new(false); // Set it, for example on Ctrl-C: the same plan goes on later.
//! let study = plan.run(&observer, &stop)?.finished;
//!
//! let suite = study.suite.expect("mutants tell the test cases apart");
//! let built = study.analysis.built_expected.expect("without a number the suite is built for its time");
//! assert!(suite.cases.len() == built.cases.len() && built.seconds < built.universe_seconds);
//! assert!(["suite.json", "results.json", "report.html"].iter().all(|name| out.join(name).exists()));
//! # let stages = stages.into_inner()?;
//! # assert_eq!((stages.first().map(String::as_str), stages.last().map(String::as_str)), (Some("BuildPlain"), Some("Explain")));
//! # Ok(())
//! # }
//! ```
//!
//! # Stages
//!
//! [`StudyPlan::run`] finds the system ([`SystemRequest::find`]), builds it as it is written and runs the universe on
//! that, with its re-seedings ([`simutant_campaign::PlainCheck`]), builds one executable with all its mutants
//! ([`StudiedSystem::build_plain`], [`StudiedSystem::instrument`]), runs the campaign ([`simutant_campaign`]), analyses its outcomes and chooses the suite ([`simutant_analysis`]), and writes the files
//! of the study ([`simutant_report`]) with a page for each mutant and test case that is worth a look. An [`Observer`]
//! hears of each [`StudyStage`].
//!
//! [`FinishedStudy::read`] reads a study back. [`ScenarioPlan`] chooses a suite of given criteria at the least cost,
//! [`ChoicePlan`] another suite of a finished study, [`ScorePlan`] says what a suite of one's own is worth, and [`SourcesPlan`] compares sources of test cases. [`Explainer`] looks at one mutant.
//!
//! [`TestPlan`] runs a suite on a real implementation, and [`ExperimentPlan`] a study's whole universe on several, and
//! on mutants of them: did the mutants of the simulation predict what was found?
//!
//! # What can be relied on
//!
//! - The files depend on the source, the plan, the seed, and what trials in the folder took ([`TestTimes`]) alone: not on
//!   the number of workers, on interruptions, or on load. Only [`CompletedStudy::statistics`] tells of time.
//! - A file is there as a whole or as it was before. A study that was stopped or killed goes on in its folder.
//! - Nothing is printed, no process is ended but workers and compilers that the study started, and no signal is
//!   handled: that is for the program around it.
//!
//! # Where to read on
//!
//! `run.rs` for the study from its plan to its files, `campaigns.rs` for what all plans have in common, `system.rs` for
//! the builds, `pages.rs` for the pages, `testing.rs` and `experiment.rs` for real programs.

mod campaigns;
mod choose;
mod error;
mod event;
mod experiment;
mod explain;
mod files;
mod finished;
mod http;
mod join;
mod net;
mod operators;
mod pages;
mod plan;
mod program;
mod reference;
mod replay;
mod run;
mod scenario;
mod score;
mod simulated;
mod sources;
mod specification;
mod system;
mod test_times;
mod testing;

pub use campaigns::CampaignSettings;
pub use choose::{ChoicePlan, OtherSuite};
pub use error::StudyError;
pub use event::{Observer, StageEnd, StudyEvent, StudyStage};
pub use experiment::{
    BuiltExperiment, CheckedExperiment, CompletedExperiment, ExperimentPlan, TrialEvent, TrialObserver, TrialsEnd,
    TriedPart, Unfit,
};
pub use explain::{Explainer, caption, read_trace};
pub use files::{to_json, write_whole};
pub use finished::FinishedStudy;
pub use http::{PackageHttpService, TestingProgram};
pub use net::{NetProgram, PackageNet};
pub use operators::OperatorTitles;
pub use pages::write_mutant_page;
pub use plan::{CostRequest, MachineCodeCheck, StudyPlan, SuiteChoice};
pub use program::{NamedRequest, ProgramError, ProgramKind};
pub use replay::ReplayCommand;
pub use run::CompletedStudy;
pub use scenario::{ChosenSuite, ScenarioPlan};
pub use score::{ScorePlan, ScoredSuite};
pub use sources::{SourceOutcomes, SourcesPlan};
pub use specification::{JudgingProgram, PackageSpecification};
pub use system::{ReplacementSet, StudiedSystem, SystemRequest, nearest_manifest};
pub use test_times::{TestTimes, with_test_time};
pub use testing::{
    CaseRate, CostlyResult, DatagramCosts, ExpectedFindings, SimulatedCost, TestEvent, TestPlan, TestProgress,
    first_cases, junit, listed_remarks,
};
