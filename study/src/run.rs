//! A study from its plan to its files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use serde::Serialize;
use simutant_analysis::{
    Analysis, AnalysisOptions, Checked, MUTANTS, Reference, analyse_with_threads, boosted, build_expected, build_suite,
    suite, suite_of,
};
use simutant_campaign::{Bounds, Bundle, Campaign, Simulator, Statistics, TimeTrial};
use simutant_mutator::{Build, Package};
use simutant_outcomes::{CostOracle, CostRole, Judgement, Outcomes, Suite};
use simutant_report::{Pages, report_with_pages, study_text};

use crate::campaigns::{CheckedUniverse, UniversePlan, universe_size};
use crate::event::{Observer, Phases, StageEnd, StudyStage, Watch};
use crate::finished::{REFERENCE, RESULTS, SIMULATED, SUITE};
use crate::join::join;
use crate::operators::OperatorTitles;
use crate::pages::{write_case_pages, write_mutant_pages};
use crate::plan::{CostRequest, MachineCodeCheck, StudyPlan, SuiteChoice};
use crate::simulated::simulate_suite;
use crate::test_times::with_test_time;
use crate::{Explainer, FinishedStudy, StudiedSystem, StudyError, files};

/// The file of the tables.
const TABLES: &str = "tables.txt";

/// The file of the report.
const REPORT: &str = "report.html";

/// A finished study.
#[derive(Debug)]
pub struct CompletedStudy {
    /// What it found out.
    pub finished: FinishedStudy,
    /// What its campaign cost.
    pub statistics: Statistics,
}

impl StudyPlan {
    /// Runs the study, or what is left of it, and writes its files: `suite.json`, `results.json`, `tables.txt`,
    /// `report.html`, and a page for mutants and test cases that are worth a look.
    ///
    /// `observer` hears of each stage, on several threads. Once `stop` is set, test cases that were begun are finished,
    /// no more are begun, and the same plan goes on from there.
    ///
    /// # Errors
    /// [`StudyError::Stopped`] if `stop` was set; others if the system cannot be built, a test case does not pass on
    /// the original, a check of the study by itself fails, or a file cannot be written.
    pub fn run(&self, observer: &Observer<'_>, stop: &AtomicBool) -> Result<CompletedStudy, StudyError> {
        run(self, Watch { observer, stop })
    }

    /// Does what must come before the runs on mutants, and writes a bundle into `folder` from which other machines can
    /// make these runs ([`Bundle::run_shard`]): builds the system, draws the universe, runs it on the original, and some of it
    /// on mutants for two seconds, to estimate the rest. When the results are merged ([`simutant_campaign::merge`]) into the
    /// folder of the study, [`StudyPlan::run`] goes on from there.
    ///
    /// # Errors
    /// As [`StudyPlan::run`]; and if the folder holds something else, or cannot be written.
    pub fn prepare(&self, folder: &Path, observer: &Observer<'_>, stop: &AtomicBool) -> Result<Bundle, StudyError> {
        let watch = Watch { observer, stop };
        let (system, built, plain) = build(self, watch)?;
        Given::read(self, &system, &built)?;
        let mut campaign = open(self, &built, watch)?;
        let mut phases = Phases::new(watch);
        let jobs = self.campaign.jobs;
        let prepared =
            campaign.prepare(&plain, jobs, (folder, TimeTrial::Run), &mut |progress| phases.show(progress), stop);
        let bundle = watch.unless_stopped(prepared.map_err(StudyError::from))?;
        phases.end();
        bundle.ok_or(StudyError::Stopped)
    }
}

fn run(plan: &StudyPlan, watch: Watch<'_>) -> Result<CompletedStudy, StudyError> {
    let StudyPlan { campaign: settings, system: request, .. } = plan;
    let (system, built, plain) = build(plan, watch)?;
    let Given { judgements, reference, cost } = Given::read(plan, &system, &built)?;
    let options = AnalysisOptions { judgements, ..plan.options() };
    let mut options = with_test_time(options, &settings.out, &system.package)?;
    if plan.machine_code == MachineCodeCheck::Compare {
        options.compiled = watch.unless_stopped(system.compare_machine_code(&built, watch.observer))?.found;
    }

    let mut campaign = open(plan, &built, watch)?;
    settings.run(&mut campaign, (&plain, None), request, watch)?;
    campaign.judge_cost(cost.as_ref().map(|(oracle, role)| (oracle, *role)))?;
    let statistics = campaign.statistics()?;
    let outcomes = campaign.outcomes()?;

    watch.start(StudyStage::Analyse);
    let (mut analysis, suite) = analyse(plan, &built, &outcomes, (&options, &statistics))?;
    analysis.comparison = reference.as_ref().map(|there| there.compare(&analysis.criteria, &analysis.ranking));
    watch.end(StageEnd::Analysed(&analysis));
    // Results come first: what is written of an earlier study must not stand beside them.
    files::remove(&settings.out.join(SIMULATED))?;
    let mut finished = FinishedStudy { outcomes, analysis, suite, simulated: None, reference };
    write_results(&settings.out, &finished)?;
    watch.go_on()?;
    if let Some(suite) = &finished.suite {
        let replay = settings.replay(&plan.system);
        let mut explainer = Explainer::new(&built, &replay, campaign.limits()?);
        finished.simulated = Some(simulate_suite(&mut explainer, suite)?);
    }
    write_or_remove(&settings.out.join(SIMULATED), finished.simulated.as_ref())?;
    explain(plan, &built, &campaign, &finished, watch)?;
    Ok(CompletedStudy { finished, statistics })
}

/// What a study is given beside its test cases. What cannot be used is told before anything is run, here or elsewhere.
struct Given {
    judgements: BTreeMap<String, Judgement>,
    reference: Option<Reference>,
    cost: Option<(CostOracle, CostRole)>,
}

impl Given {
    fn read(plan: &StudyPlan, system: &StudiedSystem, built: &Build) -> Result<Self, StudyError> {
        let (judgements, reference) = (system.judgements()?, system.reference()?);
        let cost = cost(plan, &system.package)?;
        check_criterion(&plan.choice, built)?;
        Ok(Self { judgements, reference, cost })
    }
}

/// Opens the campaign of a study.
fn open(plan: &StudyPlan, built: &Build, watch: Watch<'_>) -> Result<Campaign, StudyError> {
    let StudyPlan { campaign: settings, input_source, reseedings, existing, .. } = plan;
    let cases = universe_size(plan.cases, &mut Simulator::new(built, Bounds::default()))?;
    let universe =
        UniversePlan { input_source: *input_source, cases, given: plan.given.clone(), reseedings: *reseedings };
    watch.unless_stopped(settings.open(&settings.out, built, &universe, *existing).map_err(StudyError::from))
}

/// Builds the system, as it is written and with its mutants.
fn build(plan: &StudyPlan, watch: Watch<'_>) -> Result<(StudiedSystem, Build, PathBuf), StudyError> {
    let StudyPlan { input_source, cases, reseedings, existing, ref given, .. } = *plan;
    let checked = CheckedUniverse { input_source, cases, given, reseedings, existing };
    plan.campaign.build_both(&plan.system, Some(&checked), watch)
}

/// Analyses the outcomes, and chooses the suite.
fn analyse(
    plan: &StudyPlan,
    built: &Build,
    outcomes: &Outcomes,
    (options, statistics): (&AnalysisOptions, &Statistics),
) -> Result<(Analysis, Option<Suite>), StudyError> {
    let mut analysis = analyse_with_threads(outcomes, options, plan.campaign.jobs)?;
    let Statistics { cases_compared, pairs_checked, .. } = *statistics;
    analysis.campaign.checked = Some(Checked { cases_compared, pairs_checked });
    let suite = choose(&plan.choice, (built, plan.campaign.seed), outcomes, &mut analysis)?;
    Ok((analysis, suite))
}

/// Chooses the suite, and makes it that of the analysis. `seed` is that of the universe.
pub(crate) fn choose(
    choice: &SuiteChoice,
    (built, seed): (&Build, u64),
    outcomes: &Outcomes,
    analysis: &mut Analysis,
) -> Result<Option<Suite>, StudyError> {
    let suite = match choice {
        SuiteChoice::Expected(builder) if analysis.expected.is_some() => {
            analysis.built_expected = build_expected(outcomes, analysis, *builder);
            let reseed = |case: usize, number| {
                let mut simulator = Simulator::new(built, Bounds::default());
                simulator.reseed(seed, case, number, &outcomes.cases[case].case)
            };
            analysis.built_expected.as_ref().map(|built| built.suite(outcomes, analysis, reseed)).transpose()?
        }
        SuiteChoice::Built { builder, criterion } => {
            analysis.built = build_suite(outcomes, analysis, *builder, criterion.as_deref());
            analysis.built.as_ref().map(|built| built.suite(outcomes, analysis))
        }
        SuiteChoice::Expected(_) | SuiteChoice::Drawn { criterion: None } => suite(outcomes, analysis),
        SuiteChoice::Drawn { criterion: Some(criterion) } => {
            boosted(analysis, criterion).map(|choice| suite_of(outcomes, analysis, choice))
        }
    };
    if let Some(suite) = &suite {
        analysis.choose(outcomes, suite);
    }
    Ok(suite)
}

/// Writes what was found out, as programs and as people read it.
fn write_results(out: &Path, finished: &FinishedStudy) -> Result<(), StudyError> {
    files::write_json(&out.join(RESULTS), &finished.analysis)?;
    let FinishedStudy { analysis, reference, .. } = finished;
    files::write(&out.join(TABLES), &study_text(analysis, reference.as_ref()))?;
    write_or_remove(&out.join(REFERENCE), finished.reference.as_ref())?;
    write_or_remove(&out.join(SUITE), finished.suite.as_ref())
}

/// Writes a result, or removes that of an earlier study where this one has none.
fn write_or_remove(path: &Path, value: Option<&impl Serialize>) -> Result<(), StudyError> {
    match value {
        Some(value) => files::write_json(path, value),
        None => files::remove(path),
    }
}

/// Writes the pages of mutants and of test cases, and the report, which links them.
fn explain(
    plan: &StudyPlan,
    built: &Build,
    campaign: &Campaign,
    finished: &FinishedStudy,
    watch: Watch<'_>,
) -> Result<(), StudyError> {
    let StudyPlan { campaign: settings, pages: pages_max, .. } = plan;
    let FinishedStudy { outcomes, analysis, reference, .. } = finished;
    watch.start(StudyStage::Explain);
    let limits = campaign.limits()?;
    let replay = settings.replay(&plan.system).for_others();
    let titles = OperatorTitles::new();
    let explainer = || Explainer::new(built, &replay, limits);
    let mutants =
        || write_mutant_pages(&mut explainer(), outcomes, analysis, ((&settings.out, *pages_max), titles.operators()));
    let cases = || write_case_pages(&mut explainer(), outcomes, analysis, (&settings.out, *pages_max));
    let (mutants, cases) = match settings.jobs.get() {
        1 => (mutants()?, cases()?),
        _ => {
            let (mutants, cases) = join(mutants, cases);
            (mutants?, cases?)
        }
    };
    watch.end(StageEnd::Explained { mutants: mutants.len(), cases: cases.len() });
    watch.go_on()?;
    let linked = Pages { mutants: &mutants, cases: &cases, operators: titles.operators() };
    files::write(&settings.out.join(REPORT), &report_with_pages(outcomes, analysis, reference.as_ref(), linked))
}

/// Returns the cost oracle, and whether its kills count.
fn cost(plan: &StudyPlan, package: &Package) -> Result<Option<(CostOracle, CostRole)>, StudyError> {
    let oracle = match &plan.cost {
        CostRequest::OfManifest => package.cost(),
        CostRequest::Without => None,
        CostRequest::Oracle(oracle) => Some(oracle),
    };
    match (oracle, plan.cost_role) {
        (None, CostRole::Counted) => Err(StudyError::NoCostOracle),
        (oracle, role) => Ok(oracle.map(|oracle| (oracle.clone(), role))),
    }
}

/// Refuses a criterion of a choice that the system does not have.
pub(crate) fn check_criterion(choice: &SuiteChoice, built: &Build) -> Result<(), StudyError> {
    let asked: Vec<String> = choice.criterion().map(str::to_owned).into_iter().collect();
    let others: &[&str] = if choice.builder().is_some() { &[MUTANTS] } else { &[] };
    check_criteria(&asked, others, built)
}

/// Refuses criteria that are neither of the system nor among `others`.
pub(crate) fn check_criteria(asked: &[String], others: &[&str], built: &Build) -> Result<(), StudyError> {
    if asked.is_empty() {
        return Ok(());
    }
    let mut known = Simulator::new(built, Bounds::default()).criteria()?;
    known.extend(others.iter().map(|&name| name.to_owned()));
    match asked.iter().find(|criterion| !known.contains(criterion)) {
        None => Ok(()),
        Some(criterion) => Err(StudyError::UnknownCriterion { criterion: criterion.clone(), known }),
    }
}
