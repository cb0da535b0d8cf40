//! What a study is to do.

use std::collections::BTreeMap;
use std::num::{NonZeroU8, NonZeroUsize};

use simutant_analysis::{AnalysisOptions, Builder, ExpectedBuilder};
use simutant_campaign::Existing;
use simutant_outcomes::{CostOracle, CostRole, InputSource};

use crate::{CampaignSettings, SystemRequest};

/// The plan of a study. [`StudyPlan::new`] fills in what `simutant study` does without options.
#[derive(Debug, Clone)]
pub struct StudyPlan {
    /// The system.
    pub system: SystemRequest,
    /// The folder, the seed and the number of workers.
    pub campaign: CampaignSettings,
    /// How many test cases the universe has; `None` for as many as the system asks for.
    pub cases: Option<NonZeroUsize>,
    /// Test cases that follow these in the universe, in the system's own form.
    pub given: Vec<serde_json::Value>,
    /// Where they come from.
    pub input_source: InputSource,
    /// How often each of them runs at most, with its chance drawn anew from the second time on. With 1, nothing is
    /// known of probabilities.
    pub reseedings: NonZeroU8,
    /// What becomes of a study that is already in the folder.
    pub existing: Existing,
    /// Whether mutants are left out that have the machine code of the original, or of each other.
    pub machine_code: MachineCodeCheck,
    /// How many adequate suites are drawn for each criterion, at least 2.
    pub suites: usize,
    /// How the suite is chosen.
    pub choice: SuiteChoice,
    /// What test cases took on an implementation, in seconds, by their names; goes before what is estimated.
    pub durations: BTreeMap<String, f64>,
    /// What is too costly.
    pub cost: CostRequest,
    /// Whether kills by cost count.
    pub cost_role: CostRole,
    /// How many mutants have a page of their own at most, and how many test cases.
    pub pages: usize,
}

/// Whether a study looks at the machine code of mutants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MachineCodeCheck {
    /// It does not.
    #[default]
    Ignore,
    /// Each mutant is compiled as a function of its own, and those that the compiler makes the same code of are left
    /// out of the scores.
    Compare,
}

/// The method by which a study chooses its suite.
#[derive(Debug, Clone, PartialEq)]
pub enum SuiteChoice {
    /// It builds the suite that is expected to find most. Without re-seedings, as [`SuiteChoice::Drawn`] without a
    /// criterion.
    Expected(ExpectedBuilder),
    /// It takes the best of the suites that are drawn at random: of a criterion, or of all.
    Drawn {
        /// The criterion's name.
        criterion: Option<String>,
    },
    /// It builds a suite that is adequate for a criterion, or for the best one.
    Built {
        /// How.
        builder: Builder,
        /// The criterion's name, or [`MUTANTS`](simutant_analysis::MUTANTS).
        criterion: Option<String>,
    },
}

/// The cost oracle of a study.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CostRequest {
    /// That of the system's manifest, or none.
    #[default]
    OfManifest,
    /// None.
    Without,
    /// This one.
    Oracle(CostOracle),
}

impl StudyPlan {
    /// Adequate suites that are drawn for each criterion, unless the plan says otherwise.
    pub const SUITES: usize = 200;

    /// Pages of mutants, and of test cases, unless the plan says otherwise.
    pub const PAGES: usize = 100;

    /// Runs of each test case, unless the plan says otherwise.
    pub const RESEEDINGS: NonZeroU8 = NonZeroU8::new(8).expect("it is not 0");

    /// The share of what the universe is expected to find that the suite is expected to find, unless the plan says
    /// otherwise.
    pub const TARGET: f64 = 0.9;

    /// Returns the plan of a study of `system`: as many test cases as the system asks for, each run up to 8 times, and a
    /// suite that is expected to find 90 % of what all find in the least time.
    pub fn new(system: SystemRequest, campaign: CampaignSettings) -> Self {
        Self {
            system,
            campaign,
            cases: None,
            given: Vec::new(),
            input_source: InputSource::Uniform,
            reseedings: Self::RESEEDINGS,
            existing: Existing::Continue,
            machine_code: MachineCodeCheck::Ignore,
            suites: Self::SUITES,
            choice: SuiteChoice::Expected(ExpectedBuilder::Target(Self::TARGET)),
            durations: BTreeMap::new(),
            cost: CostRequest::OfManifest,
            cost_role: CostRole::Apart,
            pages: Self::PAGES,
        }
    }

    /// Returns how the outcomes are analysed, beside what is known of mutants.
    pub(crate) fn options(&self) -> AnalysisOptions {
        let (durations, suites) = (self.durations.clone(), self.suites);
        AnalysisOptions { seed: self.campaign.seed, suites, durations, ..AnalysisOptions::default() }
    }
}

impl SuiteChoice {
    /// Returns the criterion that the suite is to be of, if one was named.
    pub fn criterion(&self) -> Option<&str> {
        match self {
            Self::Expected(_) => None,
            Self::Drawn { criterion } | Self::Built { criterion, .. } => criterion.as_deref(),
        }
    }

    /// Returns how the suite is built for a criterion; `None` if it is not.
    pub(crate) fn builder(&self) -> Option<Builder> {
        match self {
            Self::Built { builder, .. } => Some(*builder),
            Self::Expected(_) | Self::Drawn { .. } => None,
        }
    }
}
