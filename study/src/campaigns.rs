//! A campaign with its build: what all plans of this crate have in common.

use std::num::{NonZeroU8, NonZeroUsize};
use std::path::{Path, PathBuf};

use serde_json::Value;
use simutant_campaign::{
    Bounds, Campaign, CampaignError, CampaignPlan, Existing, PlainCheck, Pruning, SessionEnd, Simulator, read_cases,
};
use simutant_mutator::Build;
use simutant_outcomes::{BitSet, InputSource};

use crate::event::{Phases, Watch};
use crate::{ReplayCommand, StudiedSystem, StudyError, SystemRequest, files};

/// Settings of a campaign: its folder, its seed and the number of its workers.
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

    /// Returns the test cases of the study in the folder, if there is one, and of this seed.
    ///
    /// # Errors
    /// If its journal cannot be read.
    pub fn studied_cases(&self) -> Result<Option<Vec<Value>>, CampaignError> {
        read_cases(&self.out, self.seed)
    }

    /// Finds the system and builds what a campaign needs: as it is written, and with its mutants. What is wrong with the
    /// folder is told before anything is compiled.
    ///
    /// With a universe, its test cases and their re-seedings are run on the plain build first, so that an oracle that is
    /// wrong is not told at the end of the instrumented build.
    pub(crate) fn build_both(
        &self,
        request: &SystemRequest,
        checked: Option<&CheckedUniverse<'_>>,
        watch: Watch<'_>,
    ) -> Result<(StudiedSystem, Build, PathBuf), StudyError> {
        let find = || {
            let system = request.find()?;
            files::make_folder(&self.out)?;
            Ok(system)
        };
        let system = watch.unless_stopped(find())?;
        let plain = watch.unless_stopped(system.build_plain(watch.observer))?;
        watch.go_on()?;
        if let Some(universe) = checked {
            self.check_plain((&plain, &system.request.system), universe, watch)?;
        }
        let built = watch.unless_stopped(system.instrument(watch.observer))?;
        Ok((system, built, plain))
    }

    /// Runs the universe with its re-seedings on the plain build, unless that was done for this folder and this executable.
    fn check_plain(
        &self,
        (plain, system): (&Path, &str),
        universe: &CheckedUniverse<'_>,
        watch: Watch<'_>,
    ) -> Result<(), StudyError> {
        let CheckedUniverse { input_source, cases, given, reseedings, existing } = *universe;
        let size = cases.map_or_else(|| "all".to_owned(), |cases| cases.to_string());
        let given_as_text: String = given.iter().map(|case| format!("+{case}")).collect();
        let (seed, source, out) = (self.seed, input_source.name(), self.out.display());
        let note = format!("{seed} {source} {size}{given_as_text} {reseedings} {out}");
        // The name of the executable has a hash of it; both are removed when nobody has asked for them in a while.
        let mut noted = plain.to_owned().into_os_string();
        noted.push(CHECKED_SUFFIX);
        let noted = PathBuf::from(noted);
        let known = std::fs::read_to_string(&noted).unwrap_or_default();
        if known.lines().any(|line| line == note) && existing == Existing::Continue {
            return Ok(());
        }
        let bounds = Bounds::default();
        let check = PlainCheck { plain, system, seed, input_source, cases, given, reseedings, bounds };
        let mut phases = Phases::new(watch);
        let end = check.run(self.jobs, &mut |progress| phases.show(progress), watch.stop);
        let end = watch.unless_stopped(end.map_err(StudyError::from))?;
        phases.end();
        match end {
            SessionEnd::Finished => files::write(&noted, &format!("{known}{note}\n")),
            SessionEnd::Stopped => Err(StudyError::Stopped),
        }
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

/// How the name of the file beside a plain build ends that says which universes passed on it, for which folders.
const CHECKED_SUFFIX: &str = "-checked";

/// The universe that is run on the plain build before the instrumented one is made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CheckedUniverse<'a> {
    pub(crate) input_source: InputSource,
    /// As many as the system asks for, unless it is said.
    pub(crate) cases: Option<NonZeroUsize>,
    /// Test cases that follow these.
    pub(crate) given: &'a [Value],
    pub(crate) reseedings: NonZeroU8,
    /// Whether what is known of an earlier check holds.
    pub(crate) existing: Existing,
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
