//! `simutant study`: from a simulation to the inputs that are worth running.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use simutant_analysis::{
    Analysis, Builder, Checked, ExpectedBuilder, MUTANTS, Options, Pages, Score, analyse_with_threads, boosted,
    build_expected, build_suite, report_with_pages, suite, suite_of, suite_scores, tables,
};
use simutant_campaign::{
    Bounds, Campaign, CampaignError, End, Existing, Plan, Progress, Pruning, Simulator, Statistics,
};
use simutant_mutator::{Package, read_judgements};
use simutant_outcomes::{BitSet, CostOracle, CostRole, Outcomes, Suite};

use crate::arguments::{BuilderArgument, Common, CostArgument, StudyArguments, SystemArguments};
use crate::beside::beside;
use crate::exit::{BadInput, Exit};
use crate::explain::{Runner, write_case_pages, write_pages};
use crate::progress::Phase;
use crate::{build, interrupt, output, simulate};

/// What share of the expected score of the universe suite.json has by default.
const TARGET: f64 = 0.9;

pub(crate) fn run(arguments: &StudyArguments, common: &Common) -> anyhow::Result<Exit> {
    let system = &arguments.system.system;
    let out = common.out(system);
    let builder = builder(arguments)?;
    check_sizes(arguments)?;
    let interrupted = interrupt::flag()?;
    let built = interrupt::unless(&interrupted, build::mutated(&arguments.system, &out))?;
    let Some((package, built)) = built else { return Ok(stopped(&out)) };
    // A file that cannot be used is told before anything is run.
    let judgements = read_judgements(&package.judgements(), system)?;
    let compiled = match arguments.compiler_equivalence {
        true => build::compiled(&arguments.system, &package, &built),
        false => Ok(BTreeMap::new()),
    };
    let Some(compiled) = interrupt::unless(&interrupted, compiled)? else { return Ok(stopped(&out)) };
    let cost = cost(arguments, &package)?;
    let mut simulator = Simulator::new(&built, Bounds::default());
    if let Some(criterion) = &arguments.criterion {
        let mut known = simulator.criteria()?;
        known.extend(builder.map(|_| MUTANTS.to_owned()));
        check_criterion(criterion, &known)?;
    }
    let cases = match arguments.universe.cases {
        Some(cases) => cases.get(),
        None => simulator.universe()?,
    };
    drop(simulator);

    let (seed, pruning, bounds) = (common.seed, Pruning::Infected, Bounds::default());
    let (input_source, reseedings) = (arguments.universe.source, arguments.reseedings.count());
    let plan = Plan { build: built.clone(), seed, input_source, cases, reseedings, pruning, bounds };
    let existing = if arguments.fresh { Existing::Delete } else { Existing::Continue };
    let draw = || {
        let mut campaign = Campaign::open(&out, plan, existing)?;
        let mut lines = Lines::default();
        campaign.draw(&mut |progress| lines.show(progress))?;
        lines.end();
        Ok(campaign)
    };
    let opened = build::plain_and(&arguments.system, &package, draw);
    let Some((plain, mut campaign)) = interrupt::unless(&interrupted, opened)? else { return Ok(stopped(&out)) };
    let ended = run_campaign(&mut campaign, (&plain, None), common, &interrupted);
    if ended.map_err(|error| with_command(error, &arguments.system, common))? == End::Stopped {
        return Ok(stopped(&out));
    }
    campaign.judge_cost(cost.as_ref().map(|(oracle, role)| (oracle, *role)))?;
    let statistics = campaign.statistics()?;
    let outcomes = campaign.outcomes()?;

    let phase = Phase::open("analysing");
    let options =
        Options { seed: common.seed, suites: arguments.suites as usize, judgements, compiled, ..Options::default() };
    let mut analysis = analyse_with_threads(&outcomes, &options, common.jobs())?;
    let Statistics { cases_compared, pairs_checked, .. } = statistics;
    analysis.campaign.checked = Some(Checked { cases_compared, pairs_checked });
    let criterion = arguments.criterion.as_deref();
    analysis.built = builder.and_then(|builder| build_suite(&outcomes, &analysis, builder, criterion));
    let chosen = match builder {
        None if is_expected(arguments) && analysis.expected.is_some() => {
            let (system_build, built) = (&built, build_expected(&outcomes, &analysis, expected_builder(arguments)));
            let reseed = |case: usize, number| {
                let case_value = &outcomes.cases[case].case;
                Simulator::new(system_build, Bounds::default()).reseed(seed, case, number, case_value)
            };
            let suite = built.as_ref().map(|built| built.suite(&outcomes, &analysis, reseed)).transpose()?;
            analysis.built_expected = built;
            suite
        }
        Some(_) => analysis.built.as_ref().map(|built| built.suite(&outcomes, &analysis)),
        None => choose(&outcomes, &analysis, criterion),
    };
    phase.end(&format!("{} criteria with {} suites each", analysis.criteria.len(), options.suites));

    let results = output::json(&analysis)?;
    let tables = tables(&analysis);
    output::write(&out.join("results.json"), &results)?;
    output::write(&out.join("tables.txt"), &tables)?;
    let suite = out.join("suite.json");
    match &chosen {
        Some(chosen) => output::write(&suite, &output::json(chosen)?)?,
        // That of an earlier analysis would not be this one's.
        None if suite.exists() => std::fs::remove_file(&suite)?,
        None => {}
    }
    if interrupted.load(Ordering::SeqCst) {
        return Ok(stopped(&out));
    }
    let phase = Phase::open("explaining");
    let limits = campaign.limits()?;
    let runner = || Runner::new(&built, &arguments.system, common, limits);
    let pages = || write_pages(&mut runner(), &outcomes, &analysis, (&out, arguments.pages));
    let cases = || write_case_pages(&mut runner(), &outcomes, &analysis, (&out, arguments.pages));
    let (pages, cases) = match common.jobs().get() {
        1 => (pages()?, cases()?),
        _ => {
            let (pages, cases) = beside(pages, cases);
            (pages?, cases?)
        }
    };
    phase.end(&format!("{} mutants and {} test cases on pages of their own", pages.len(), cases.len()));
    if interrupted.load(Ordering::SeqCst) {
        return Ok(stopped(&out));
    }
    let linked = Pages { mutants: &pages, cases: &cases };
    output::write(&out.join("report.html"), &report_with_pages(&outcomes, &analysis, linked))?;
    if common.json {
        output::print(&results)?;
    } else {
        let written = written(&out, chosen.as_ref(), &analysis);
        output::print(&format!("{tables}\n{}\n{written}", spent(&statistics)))?;
    }
    for wrong in &analysis.contradictions {
        output::tell(&wrong.sentence(system, outcomes.cases.len()));
    }
    let too_low = below_minimum(arguments, &outcomes, &analysis, chosen.as_ref());
    too_low.iter().for_each(|sentence| output::tell(sentence));
    Ok(match (analysis.contradictions.is_empty(), too_low.is_empty()) {
        (false, _) => Exit::BadInput,
        (_, false) => Exit::BelowMinimum,
        _ => Exit::Success,
    })
}

/// Returns the cost oracle that is asked for, by the command line or else by the system's manifest, and whether its kills
/// count.
fn cost(arguments: &StudyArguments, package: &Package) -> Result<Option<(CostOracle, CostRole)>, BadInput> {
    let oracle = match &arguments.cost {
        Some(CostArgument(oracle)) => oracle.as_ref(),
        None => package.cost(),
    };
    match (oracle, arguments.count_cost) {
        (None, true) => {
            Err(BadInput("--count-cost needs a cost oracle: add --cost, for example --cost events=20%".to_owned()))
        }
        (None, false) => Ok(None),
        (Some(oracle), counts) => Ok(Some((oracle.clone(), if counts { CostRole::Counted } else { CostRole::Apart }))),
    }
}

/// Says of each score that is lower than was asked for what it is; a score that there is not is too low.
fn below_minimum(
    arguments: &StudyArguments,
    outcomes: &Outcomes,
    analysis: &Analysis,
    chosen: Option<&Suite>,
) -> Vec<String> {
    let scores = chosen.map(|suite| suite_scores(outcomes, analysis, suite));
    let asked = [
        ("mutants", "--score-min", arguments.score_min, scores.map(|scores| scores.mutants.upper())),
        (
            "dominator mutants",
            "--dominator-score-min",
            arguments.dominator_score_min,
            scores.map(|scores| scores.dominators),
        ),
    ];
    let sentence = |(what, option, minimum, score): (&str, &str, Option<f64>, Option<Score>)| {
        let minimum = minimum?;
        match score {
            Some(score) if score.is_at_least(minimum) => None,
            Some(score) => {
                Some(format!("SCORE TOO LOW: of the {what} suite.json kills {score}; {option} asks for {minimum} %"))
            }
            None => Some(format!("SCORE TOO LOW: there is no suite; {option} asks for {minimum} %")),
        }
    };
    asked.into_iter().filter_map(sentence).collect()
}

pub(crate) fn stopped(out: &Path) -> Exit {
    output::tell(&format!("stopped; what is done is in {}: run the same again to go on", out.display()));
    Exit::Interrupted
}

/// Puts the command that runs a pair again before the error of a campaign that is about one.
pub(crate) fn with_command(error: CampaignError, system: &SystemArguments, common: &Common) -> anyhow::Error {
    let (CampaignError::PrunedWrongly { number, mutant, .. } | CampaignError::KeptWrongly { number, mutant, .. }) =
        error
    else {
        return error.into();
    };
    let case = format!("{number} --seed {}", common.seed);
    let command = simulate::command_line(system, common, &case, Some(mutant));
    anyhow::Error::new(error).context(format!("a check failed that `{command}` repeats"))
}

/// Runs a campaign, on the test cases of `scope` or on all, with a line for each phase. `plain` is the system as it is
/// written.
pub(crate) fn run_campaign(
    campaign: &mut Campaign,
    (plain, scope): (&Path, Option<&BitSet>),
    common: &Common,
    interrupted: &AtomicBool,
) -> Result<End, CampaignError> {
    let mut lines = Lines::default();
    let mut show = |progress| lines.show(progress);
    let jobs = common.jobs();
    let end = match scope {
        Some(scope) => campaign.run_in(plain, scope, jobs, &mut show, interrupted)?,
        None => campaign.run(plain, jobs, &mut show, interrupted)?,
    };
    lines.end();
    Ok(end)
}

/// A line for each phase of a campaign; the last one ends with [`Lines::end`], or without a word.
#[derive(Debug, Default)]
struct Lines(Option<(simutant_campaign::Phase, Phase, Progress)>);

impl Lines {
    fn show(&mut self, progress: Progress) {
        if self.0.as_ref().is_none_or(|(known, ..)| *known != progress.phase) {
            self.end();
            self.0 = Some((progress.phase, Phase::counted(name(progress.phase), progress.total as u64), progress));
        }
        if let Some((_, bar, last)) = &mut self.0 {
            *last = progress;
            bar.at(progress.done as u64, format!("test cases, {} runs on mutants", progress.executions));
        }
    }

    fn end(&mut self) {
        if let Some((_, bar, last)) = self.0.take() {
            bar.end(&done(&last));
        }
    }
}

fn name(phase: simutant_campaign::Phase) -> &'static str {
    match phase {
        simutant_campaign::Phase::Universe => "drawing",
        simutant_campaign::Phase::Baseline => "recording",
        simutant_campaign::Phase::Mutants => "mutating",
    }
}

fn done(progress: &Progress) -> String {
    match progress.phase {
        simutant_campaign::Phase::Universe => format!("{} test cases", progress.done),
        simutant_campaign::Phase::Baseline => format!("{} test cases on the original", progress.done),
        simutant_campaign::Phase::Mutants => {
            format!("{} test cases on the mutants, {} runs", progress.done, progress.executions)
        }
    }
}

fn check_criterion(criterion: &str, known: &[String]) -> Result<(), BadInput> {
    if known.iter().any(|name| name == criterion) {
        return Ok(());
    }
    if criterion == MUTANTS {
        let message =
            "--criterion mutants: goes with --builder greedy, minimum or prioritised: no suites are drawn for mutants";
        return Err(BadInput(message.to_owned()));
    }
    let known = known.join(", ");
    Err(BadInput(format!("--criterion {criterion}: there is no such criterion; there are: {known}")))
}

/// Returns how the suite is built, `None` if it is one of those that are drawn.
fn builder(arguments: &StudyArguments) -> Result<Option<Builder>, BadInput> {
    let budget = arguments.budget;
    let by_default = if budget.is_some() { BuilderArgument::Greedy } else { BuilderArgument::Random };
    Ok(match arguments.builder.unwrap_or(by_default) {
        BuilderArgument::Random | BuilderArgument::Minimum if budget.is_some() => {
            let message = "--budget goes with --builder greedy or prioritised: a suite that is drawn, or as small as can be, keeps no budget";
            return Err(BadInput(message.to_owned()));
        }
        BuilderArgument::Random | BuilderArgument::Expected => None,
        BuilderArgument::Greedy => Some(Builder::Greedy { budget }),
        BuilderArgument::Minimum => Some(Builder::Minimum),
        BuilderArgument::Prioritised => Some(Builder::Prioritised { budget }),
    })
}

/// Returns whether the suite is built for its expected score: by default, if there are re-seedings and no criterion is
/// asked for.
fn is_expected(arguments: &StudyArguments) -> bool {
    arguments.builder.unwrap_or_else(|| {
        let is_reseeded = arguments.reseedings.count().get() > 1;
        match is_reseeded && arguments.criterion.is_none() {
            true => BuilderArgument::Expected,
            false => BuilderArgument::Random,
        }
    }) == BuilderArgument::Expected
}

/// Refuses sizes of suites that go with another builder.
fn check_sizes(arguments: &StudyArguments) -> Result<(), BadInput> {
    let is_expected = is_expected(arguments);
    if is_expected && arguments.criterion.is_some() {
        return Err(BadInput("--builder expected builds for mutants: it takes no --criterion".to_owned()));
    }
    if is_expected && arguments.reseedings.count().get() == 1 {
        return Err(BadInput("--builder expected needs --reseed 2 or more: one run tells no probability".to_owned()));
    }
    if !is_expected && (arguments.inputs.is_some() || arguments.target.is_some()) {
        return Err(BadInput("--inputs and --target go with --builder expected".to_owned()));
    }
    Ok(())
}

/// Returns how large the suite with the highest expected score is to be.
fn expected_builder(arguments: &StudyArguments) -> ExpectedBuilder {
    match (arguments.budget, arguments.target, arguments.inputs) {
        (Some(budget), ..) => ExpectedBuilder::Budget(budget),
        (_, Some(percent), _) => ExpectedBuilder::Target(percent / 100.0),
        (_, _, Some(inputs)) => ExpectedBuilder::Inputs(inputs.get()),
        _ => ExpectedBuilder::Target(TARGET),
    }
}

/// Returns the suite to run: of the criterion that was asked for, or of the best.
fn choose(outcomes: &Outcomes, analysis: &Analysis, criterion: Option<&str>) -> Option<Suite> {
    match criterion {
        Some(criterion) => boosted(analysis, criterion).map(|choice| suite_of(outcomes, analysis, choice)),
        None => suite(outcomes, analysis),
    }
}

/// Says what the study did, and how fast.
fn spent(statistics: &Statistics) -> String {
    let rate = match statistics.executions_per_second_and_worker() {
        Some(rate) => format!(
            "{} in this session at {rate:.0} per second and worker, {:.0} per second in all",
            statistics.session_executed,
            rate * statistics.session_jobs as f64
        ),
        None => "none in this session".to_owned(),
    };
    let kept = match statistics.session_kept {
        0 => String::new(),
        kept => format!(
            "\nkept {kept} of {} runs from before the edit, since they called nothing that it changed; {} of them were made again and are the same",
            statistics.pairs_executed + statistics.reseeded_executed,
            statistics.session_kept_checked,
        ),
    };
    let kept = match statistics.session_recordings_kept {
        0 => kept,
        recordings => format!(
            "{kept}\nrecorded {} test cases anew and kept what was recorded of {recordings}; {} of these were recorded again and are the same",
            statistics.cases_compared - recordings,
            statistics.session_recordings_checked,
        ),
    };
    let share = |part: u64| 100.0 * part as f64 / statistics.pairs.max(1) as f64;
    let reseeded = match statistics.reseeded_executed {
        0 => String::new(),
        count => format!(", re-seeded {count} runs"),
    };
    let unlisted = match statistics.session_pairs_unlisted {
        0 => String::new(),
        count => format!(
            "\nwarning: {count} times a use saw a definition that the mutator does not list for it; all-defs, all-p-uses and all-uses are not exact"
        ),
    };
    format!(
        "pairs of a test case and a mutant: {}, pruned {} ({:.1} %), executed {} ({:.1} %){reseeded}: {rate}{kept}{unlisted}",
        statistics.pairs,
        statistics.pairs_pruned,
        share(statistics.pairs_pruned),
        statistics.pairs_executed,
        share(statistics.pairs_executed),
    )
}

/// Says what was written, and what to do with it.
fn written(out: &Path, chosen: Option<&Suite>, analysis: &Analysis) -> String {
    let (out, system) = (out.display(), &analysis.system);
    let mut text = format!("written to {out}: report.html, mutants/, cases/, tables.txt, results.json, journal.sqlite");
    match chosen {
        Some(suite) => text.push_str(&format!(
            ", suite.json\nnext: {} test {system} --suite {out}/suite.json --implementation NAME runs its {} inputs\n",
            crate::test::program(),
            suite.cases.len(),
        )),
        None if analysis.is_undecided() => {
            text.push_str("; no suite, since no mutant tells the criteria apart: --criterion NAME takes one\n");
        }
        None => text.push_str("; no suite, since the criterion has no requirement that a test case covers\n"),
    }
    text
}
