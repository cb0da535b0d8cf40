//! A campaign with its build: what all plans of this crate have in common.

use std::num::{NonZeroU8, NonZeroUsize};
use std::path::{Path, PathBuf};

use serde_json::Value;
use simutant_campaign::{Bounds, Campaign, CampaignError, CampaignPlan, Existing, Pruning, SessionEnd, Simulator};
use simutant_mutator::Build;
use simutant_outcomes::{BitSet, InputSource};

use crate::event::{Phases, Watch};
use crate::{ReplayCommand, StudiedSystem, StudyError, SystemRequest, files};

/// Where a campaign is kept, what it is drawn from, and how many work on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CampaignSettings {
    /// The folder for all that is written.
    pub out: PathBuf,
    /// The number that fixes all that is drawn: test cases, suites, the faults of a network.
    pub seed: u64,
    /// How many worker processes and threads work at a time; results do not depend on it.
    pub jobs: NonZeroUsize,
    /// The `simutant` command as pages and errors are to call it, where they say how to run a test case again.
    pub program: String,
}

impl CampaignSettings {
    /// Returns the settings with seed 1 and a worker for each core.
    pub fn new(out: impl Into<PathBuf>) -> Self {
        let jobs = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        Self { out: out.into(), seed: 1, jobs, program: "simutant".to_owned() }
    }

    /// Returns what repeats runs of `system`.
    pub fn replay(&self, system: &SystemRequest) -> ReplayCommand {
        ReplayCommand { program: self.program.clone(), system: system.clone(), out: self.out.clone() }
    }

    /// Finds the system and builds it with its mutants. What is wrong with the folder is told before anything is
    /// compiled.
    pub(crate) fn instrument(
        &self,
        request: &SystemRequest,
        watch: Watch<'_>,
    ) -> Result<(StudiedSystem, Build), StudyError> {
        let build = || {
            let system = request.find()?;
            files::make_folder(&self.out)?;
            let built = system.instrument(watch.observer)?;
            Ok((system, built))
        };
        watch.unless_stopped(build())
    }

    /// Finds the system and builds what a campaign needs: with its mutants, and as it is written.
    pub(crate) fn build_both(&self, request: &SystemRequest, watch: Watch<'_>) -> Result<(Build, PathBuf), StudyError> {
        let (system, built) = self.instrument(request, watch)?;
        let plain = watch.unless_stopped(system.build_plain(watch.observer))?;
        Ok((built, plain))
    }

    /// Opens a campaign in a folder.
    pub(crate) fn open(
        &self,
        folder: &Path,
        build: &Build,
        universe: &UniversePlan,
        existing: Existing,
    ) -> Result<Campaign, CampaignError> {
        let UniversePlan { input_source, cases, ref given, reseedings } = *universe;
        let plan = CampaignPlan {
            build: build.clone(),
            seed: self.seed,
            input_source,
            cases,
            given: given.clone(),
            reseedings,
            pruning: Pruning::Infected,
            bounds: Bounds::default(),
        };
        Campaign::open(folder, plan, existing)
    }

    /// Runs a campaign to its end, on the test cases of `scope` or on all. `plain` is the system as it is written.
    pub(crate) fn run(
        &self,
        campaign: &mut Campaign,
        (plain, scope): (&Path, Option<&BitSet>),
        request: &SystemRequest,
        watch: Watch<'_>,
    ) -> Result<(), StudyError> {
        let mut phases = Phases::new(watch);
        let mut show = |progress| phases.show(progress);
        let end = match scope {
            Some(scope) => campaign.run_in(plain, scope, self.jobs, &mut show, watch.stop),
            None => campaign.run(plain, self.jobs, &mut show, watch.stop),
        };
        let end = end.map_err(|error| self.with_command(error, request))?;
        phases.end();
        match end {
            SessionEnd::Finished => Ok(()),
            SessionEnd::Stopped => Err(StudyError::Stopped),
        }
    }

    /// Adds the command that runs a pair again to the error of a campaign that is about one.
    fn with_command(&self, source: CampaignError, request: &SystemRequest) -> StudyError {
        match source {
            CampaignError::PrunedWrongly { number, mutant, .. } | CampaignError::KeptWrongly { number, mutant, .. } => {
                let case = format!("{number} --seed {}", self.seed);
                let command = self.replay(request).command(&case, Some(mutant));
                StudyError::CheckFailed { command, source: Box::new(source) }
            }
            source => source.into(),
        }
    }
}

/// The universe of a campaign.
#[derive(Debug, Clone)]
pub(crate) struct UniversePlan {
    pub(crate) input_source: InputSource,
    /// How many test cases are drawn.
    pub(crate) cases: usize,
    /// Test cases that follow these.
    pub(crate) given: Vec<Value>,
    pub(crate) reseedings: NonZeroU8,
}

/// Returns how many test cases were asked for, or else how many the system asks for.
pub(crate) fn universe_size(
    asked: Option<NonZeroUsize>,
    simulator: &mut Simulator<'_>,
) -> Result<usize, CampaignError> {
    asked.map_or_else(|| simulator.universe(), |cases| Ok(cases.get()))
}
