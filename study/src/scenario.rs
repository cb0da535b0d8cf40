//! One suite, at the cost that choosing it really has.

use std::num::{NonZeroU8, NonZeroUsize};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use simutant_analysis::{AnalysisOptions, Scenario, scenario};
use simutant_campaign::{Bounds, Campaign, Existing, Simulator, read_universe};
use simutant_outcomes::{BitSet, InputSource, Outcomes};

use crate::campaigns::{CheckedUniverse, UniversePlan, universe_size};
use crate::event::{Observer, StageEnd, StudyStage, Watch};
use crate::finished::SELECTED_SUITE;
use crate::run::check_criteria;
use crate::test_times::with_test_time;
use crate::{CampaignSettings, StudyError, SystemRequest, files};

/// A request for a suite, chosen with as few runs of mutants as possible: see [`scenario`].
#[derive(Debug, Clone)]
pub struct ScenarioPlan {
    /// The system.
    pub system: SystemRequest,
    /// The folder, the seed and the number of workers.
    pub campaign: CampaignSettings,
    /// How many test cases the universe has; `None` for as many as that of the folder, or, where there is none, as the
    /// system asks for.
    pub cases: Option<NonZeroUsize>,
    /// Where they come from.
    pub input_source: InputSource,
    /// The names of the criteria; none stand for all.
    pub criteria: Vec<String>,
    /// Suites that are drawn for each criterion.
    pub suites: NonZeroUsize,
}

/// A suite that was chosen.
#[derive(Debug)]
pub struct ChosenSuite {
    /// The suite, what it was chosen from, and at which cost.
    pub scenario: Scenario,
    /// The file that it was written to.
    pub path: PathBuf,
}

impl ScenarioPlan {
    /// Runs what the choice needs, and writes the suite. A study in the folder goes on from there, and the other way
    /// round.
    ///
    /// # Errors
    /// [`StudyError::Stopped`] if `stop` was set, [`StudyError::UnknownCriterion`] before anything is run,
    /// [`StudyError::Scenario`] if a criterion has no suite, and those of
    /// [`StudyPlan::run`](crate::StudyPlan::run).
    pub fn run(&self, observer: &Observer<'_>, stop: &AtomicBool) -> Result<ChosenSuite, StudyError> {
        let watch = Watch { observer, stop };
        let Self { campaign: settings, system: request, .. } = self;
        let (input_source, existing) = (self.input_source, Existing::Continue);
        // Re-seedings that a study has made stay, and test cases that were given to it; no more are made for a choice by
        // kills on own seeds.
        let known = read_universe(&settings.out);
        let reseedings = known.as_ref().map_or(NonZeroU8::MIN, |known| known.reseedings);
        // A choice makes no finished study an unfinished one.
        let drawn = known.as_ref().and_then(|known| NonZeroUsize::new(known.cases));
        let asked = self.cases.or(drawn);
        let given = known.map(|known| known.given).unwrap_or_default();
        let checked = CheckedUniverse { input_source, cases: asked, given: &given, reseedings, existing };
        let (system, built, plain) = settings.build_both(request, Some(&checked), watch)?;
        check_criteria(&self.criteria, &[], &built)?;
        let cases = universe_size(asked, &mut Simulator::new(&built, Bounds::default()))?;
        let universe = UniversePlan { input_source: self.input_source, cases, given, reseedings };
        let mut campaign = settings.open(&settings.out, &built, &universe, Existing::Continue)?;
        let run =
            |campaign: &mut Campaign, scope: &BitSet| settings.run(campaign, (&plain, Some(scope)), request, watch);

        let nothing = BitSet::with_capacity(cases);
        run(&mut campaign, &nothing)?;
        let mut outcomes = campaign.outcomes_in(&nothing)?;
        let options = AnalysisOptions { seed: settings.seed, ..AnalysisOptions::default() };
        let options = with_test_time(options, &settings.out, &system.package)?;
        let mut found = self.choose(&outcomes, &options)?;
        let scope = found.scope();
        if !scope.is_clear() {
            run(&mut campaign, &scope)?;
            watch.start(StudyStage::ChooseSuite);
            outcomes = campaign.outcomes_in(&scope)?;
            found = self.choose(&outcomes, &options)?;
            watch.end(StageEnd::SuiteChosen { suites: self.suites.get() * found.criteria.len() });
        }
        let path = settings.out.join(SELECTED_SUITE);
        files::write_json(&path, &found.suite(&outcomes))?;
        Ok(ChosenSuite { scenario: found, path })
    }

    fn choose(&self, outcomes: &Outcomes, options: &AnalysisOptions) -> Result<Scenario, StudyError> {
        Ok(scenario(outcomes, &self.criteria, self.suites, options, self.campaign.jobs)?)
    }
}
