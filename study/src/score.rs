//! A suite that nobody here chose, on the mutants of a finished study.

use std::sync::atomic::AtomicBool;

use serde_json::Value;
use simutant_analysis::{AnalysisOptions, Assessment, analyse_with_threads, assess};
use simutant_campaign::{CampaignError, Existing, copy_campaign};
use simutant_outcomes::Outcomes;

use crate::campaigns::UniversePlan;
use crate::event::{Observer, StageEnd, StudyStage, Watch};
use crate::test_times::with_test_time;
use crate::{CampaignSettings, StudyError, SystemRequest};

/// The folder of the campaign, in that of the study.
const FOLDER: &str = "score";

/// Suites that are drawn for each criterion: none of them is looked at.
const SUITES: usize = 2;

/// A suite that joins the universe of a finished study, which stays as it is.
#[derive(Debug, Clone)]
pub struct ScorePlan {
    /// The system.
    pub system: SystemRequest,
    /// The folder of the study, and the number of workers. The seed is that of the study.
    pub campaign: CampaignSettings,
    /// The test cases of the suite, in the system's own form.
    pub suite: Vec<Value>,
}

/// The assessment of a suite.
#[derive(Debug)]
pub struct ScoredSuite {
    /// What the study's test cases and those of the suite, which follow them, did.
    pub outcomes: Outcomes,
    /// What follows for the suite.
    pub assessment: Assessment,
}

impl ScorePlan {
    /// Runs the suite on the original and the mutants, as often as the study runs its test cases. If the
    /// suite raises the limits of runs, those that ended by a limit in the study are run again.
    ///
    /// # Errors
    /// [`StudyError::NotFinished`] if the folder has no finished study, [`StudyError::Stopped`] if `stop` was set, and
    /// those of [`StudyPlan::run`](crate::StudyPlan::run): a test case of the suite that is refused or fails on the
    /// original is one.
    pub fn run(&self, observer: &Observer<'_>, stop: &AtomicBool) -> Result<ScoredSuite, StudyError> {
        let watch = Watch { observer, stop };
        let Self { campaign: settings, system: request, suite } = self;
        let folder = settings.out.join(FOLDER);
        let unfinished =
            |error: &CampaignError| StudyError::NotFinished { folder: settings.out.clone(), reason: error.to_string() };
        let before = copy_campaign(&settings.out, &folder).map_err(|error| unfinished(&error))?;
        let settings = CampaignSettings { seed: before.seed, ..settings.clone() };
        // The study has run on the plain build what it knows.
        let (system, built, plain) = settings.build_both(request, None, watch)?;
        let judgements = system.judgements()?;
        let first = before.cases + before.given.len();
        let universe = UniversePlan {
            input_source: before.input_source,
            cases: before.cases,
            given: before.given.into_iter().chain(suite.iter().cloned()).collect(),
            reseedings: before.reseedings,
        };
        let mut campaign = settings.open(&folder, &built, &universe, Existing::Continue)?;
        settings.run(&mut campaign, (&plain, None), request, watch)?;
        let outcomes = campaign.outcomes()?;
        watch.start(StudyStage::Analyse);
        let options = AnalysisOptions { seed: settings.seed, suites: SUITES, judgements, ..AnalysisOptions::default() };
        let options = with_test_time(options, &settings.out, &system.package)?;
        let analysis = analyse_with_threads(&outcomes, &options, settings.jobs)?;
        let cases: Vec<usize> = (first..outcomes.cases.len()).collect();
        let assessment = assess(&outcomes, &analysis, &cases);
        watch.end(StageEnd::Analysed(&analysis));
        Ok(ScoredSuite { outcomes, assessment })
    }
}
