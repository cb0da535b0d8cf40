//! Another suite of a finished study.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use simutant_analysis::Analysis;
use simutant_outcomes::Suite;

use crate::event::{Observer, StageEnd, StudyStage, Watch};
use crate::finished::SELECTED_SUITE;
use crate::run::{check_criterion, choose};
use crate::test_times::with_test_time;
use crate::{CampaignSettings, FinishedStudy, StudyError, SuiteChoice, SystemRequest, files};

/// A request for another suite of a finished study, which stays as it is. Nothing is run on a mutant.
#[derive(Debug, Clone)]
pub struct ChoicePlan {
    /// The system.
    pub system: SystemRequest,
    /// The folder of the study. The seed is that of the study.
    pub campaign: CampaignSettings,
    /// How the suite is chosen.
    pub choice: SuiteChoice,
}

/// Another suite of a study.
#[derive(Debug)]
pub struct OtherSuite {
    /// The suite.
    pub suite: Suite,
    /// The analysis, as if it had chosen this suite.
    pub analysis: Analysis,
    /// The file that the suite was written to.
    pub path: PathBuf,
}

impl ChoicePlan {
    /// Chooses the suite as the study would, with what trials in its folder took by now, and writes it; `None` if there is
    /// none.
    ///
    /// # Errors
    /// [`StudyError::Stopped`] if `stop` was set, [`StudyError::UnknownCriterion`], and if the system cannot be built or a
    /// file cannot be written.
    pub fn run(
        &self,
        finished: FinishedStudy,
        observer: &Observer<'_>,
        stop: &AtomicBool,
    ) -> Result<Option<OtherSuite>, StudyError> {
        let watch = Watch { observer, stop };
        let Self { campaign: settings, system: request, choice } = self;
        let (system, built, _) = settings.build_both(request, None, watch)?;
        check_criterion(choice, &built)?;
        watch.start(StudyStage::Analyse);
        let FinishedStudy { outcomes, mut analysis, .. } = finished;
        analysis.options = with_test_time(analysis.options.clone(), &settings.out, &system.package)?;
        (analysis.built, analysis.built_expected) = (None, None);
        let suite = choose(choice, (&built, outcomes.seed), &outcomes, &mut analysis)?;
        watch.end(StageEnd::Analysed(&analysis));
        let Some(suite) = suite else { return Ok(None) };
        let path = settings.out.join(SELECTED_SUITE);
        files::write_json(&path, &suite)?;
        Ok(Some(OtherSuite { suite, analysis, path }))
    }
}
