//! Campaigns that differ in the source of their test cases alone.

use std::num::{NonZeroU8, NonZeroUsize};
use std::sync::atomic::AtomicBool;

use simutant_analysis::AnalysisOptions;
use simutant_campaign::{Bounds, CampaignError, Existing, Simulator};
use simutant_outcomes::{InputSource, Outcomes};

use crate::campaigns::UniversePlan;
use crate::event::{Observer, StudyEvent, Watch};
use crate::test_times::with_test_time;
use crate::{CampaignSettings, StudyError, SystemRequest};

/// The folder of the campaigns, in that of the study: each has one of its own, by the source's name.
const FOLDER: &str = "sources";

/// Campaigns on the same mutants, with a universe from each source of test cases.
#[derive(Debug, Clone)]
pub struct SourcesPlan {
    /// The system.
    pub system: SystemRequest,
    /// The folder, the seed and the number of workers.
    pub campaign: CampaignSettings,
    /// Test cases from each source.
    pub cases: NonZeroUsize,
    /// How often each of them runs at most.
    pub reseedings: NonZeroU8,
    /// What becomes of campaigns that are already in the folder.
    pub existing: Existing,
}

/// The outcomes of the campaigns.
#[derive(Debug, Default)]
pub struct SourceOutcomes {
    /// The outcomes, in the order of [`InputSource::ALL`].
    pub outcomes: Vec<Outcomes>,
    /// Sources whose universe has a test case that does not pass on the original, with that error.
    pub failed: Vec<(InputSource, CampaignError)>,
    /// What a test case takes, by trials in the folder or by the manifest.
    pub options: AnalysisOptions,
}

impl SourcesPlan {
    /// Runs the campaigns, or what is left of them.
    ///
    /// # Errors
    /// [`StudyError::Stopped`] if `stop` was set, and those of [`StudyPlan::run`](crate::StudyPlan::run), but for test
    /// cases that do not pass on the original.
    pub fn run(&self, observer: &Observer<'_>, stop: &AtomicBool) -> Result<SourceOutcomes, StudyError> {
        let watch = Watch { observer, stop };
        let Self { campaign: settings, system: request, cases, reseedings, existing } = self;
        // That a source finds test cases which do not pass is a part of what is compared.
        let (system, built, plain) = settings.build_both(request, None, watch)?;
        let options = with_test_time(AnalysisOptions::default(), &settings.out, &system.package)?;
        let mut found = SourceOutcomes { options, ..SourceOutcomes::default() };
        let mut simulator = Simulator::new(&built, Bounds::default());
        let (has_walks, has_net) = (simulator.has_walks()?, simulator.has_net()?);
        drop(simulator);
        let is_there = |source: &InputSource| match source {
            InputSource::Net => has_net,
            source => has_walks || !source.walks(),
        };
        for source in InputSource::ALL.into_iter().filter(is_there) {
            observer(StudyEvent::Source(source));
            let (cases, given) = (cases.get(), Vec::new());
            let universe = UniversePlan { input_source: source, cases, given, reseedings: *reseedings };
            let folder = settings.out.join(FOLDER).join(source.name());
            let mut campaign = settings.open(&folder, &built, &universe, *existing)?;
            match settings.run(&mut campaign, (&plain, None), request, watch) {
                Ok(()) => found.outcomes.push(campaign.outcomes()?),
                Err(StudyError::Campaign(error)) if error.is_failed_baseline() => {
                    found.failed.push((source, *error));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }
}
