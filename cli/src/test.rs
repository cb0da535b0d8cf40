//! `simutant test`: a suite on a real implementation.

mod costly;
mod log;

use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use simutant_analysis::statistics::{Interval, wilson};
use simutant_analysis::{FittedTestTime, case_name, duration, percent, plural};
use simutant_campaign::{Bounds, Simulator};
use simutant_exports::junit;
use simutant_harness::{
    CaseResult, Implementation, MissingFaults, ResultLog, RunOptions, TestReport, TrialLogError, build_first, run_some,
};
use simutant_oracle::{Impossible, Time};
use simutant_outcomes::{Inconclusive, Suite, SuiteCase, Verdict};
use simutant_study::TestTimes;

use self::costly::Costs;
use crate::arguments::{Common, TestArguments};
use crate::check::text::explained as explanation;
use crate::constants::{self, Compared};
use crate::exit::{BadInput, Exit};
use crate::experiment::repeated;
use crate::progress::ProgressPhase;
use crate::{build, implementations, interrupt, output, simulate};

/// The level of intervals of how likely a test case fails.
const LEVEL: f64 = 0.95;

pub(crate) fn run(arguments: &TestArguments, common: &Common) -> anyhow::Result<Exit> {
    let system = &arguments.system.system;
    costly::check(arguments.cost.as_ref())?;
    let implementation = implementations::find(&arguments.implementation, &arguments.system)?;
    let suite = only(read_suite(arguments, common)?, arguments)?;
    if arguments.cost.is_some() {
        // What is needed in the end is looked for in the beginning.
        build::find(&arguments.system)?;
        if implementation.driver.is_some() {
            let message = "--cost: the datagrams of an implementation with a driver are not counted".to_owned();
            return Err(BadInput(message).into());
        }
    }
    let out = common.out(system);
    let mut options = RunOptions::new(out.join("implementations"));
    options.jobs = common.jobs();
    options.timeout = timeout(arguments.timeout, &implementation, system);
    options.seed = common.seed;
    options.repetitions = arguments.repeat;
    options.time = arguments.time;
    if arguments.until_failure {
        options.failures_max = 0;
    }
    if arguments.pass_without_faults {
        options.missing_faults = MissingFaults::Pass;
    }
    options.keep_directory = arguments.keep.then(|| out.join("kept").join(&implementation.name));
    options.log_directory = Some(out.join("logs").join(&implementation.name));

    let constants = constants::compare(&arguments.system, std::slice::from_ref(&implementation));
    // Some test cases alone are no result of the suite, and have a file of their own.
    let is_whole = arguments.only.is_empty();
    interrupt::end_with(if is_whole {
        "\nstopped; the results so far are kept, and the same command goes on from there"
    } else {
        "\nstopped"
    })?;
    let phase = ProgressPhase::open("building");
    build_first(&implementation, &mut options).with_context(|| format!("cannot test {}", implementation.name))?;
    drop(phase);
    let report = run_rest(&suite, &implementation, &options, is_whole.then_some(&*out), arguments.fresh)?;
    tell_test_time(&suite, &report, &out)?;
    let rates = rates(&report);
    let exit = exit_of(&report);
    let costs =
        arguments.cost.as_ref().map(|oracle| costly::costs((&suite, &report), oracle, arguments)).transpose()?;
    let costs = costs.as_ref();
    let text = if is_repeated(arguments) {
        let results = Repeated { report: &report, repetitions: arguments.repeat.get(), cases: &rates };
        output::json(&Compared { result: &WithCost { results, cost: costs }, constants: &constants })?
    } else {
        output::json(&Compared { result: &WithCost { results: &report, cost: costs }, constants: &constants })?
    };
    let file = if is_whole { "test" } else { "only" };
    output::write(&out.join(format!("{file}-{}.json", implementation.name)), &text)?;
    if let Some(file) = &arguments.junit {
        output::write_named(file, junit(&report, &rates, arguments).to_xml().as_bytes())?;
    }
    let alone = |name: &str| alone(name, &implementation, arguments, common);
    let listed = costs.map(|costs| costs.text(report.results.len(), is_repeated(arguments))).unwrap_or_default();
    let shown_max = if common.verbose { usize::MAX } else { SHOWN_MAX };
    let shown = match (common.json, is_repeated(arguments)) {
        (true, _) => text,
        (false, true) => listed + &summary_of_rates(&rates, &alone, shown_max),
        (false, false) => listed + &summary(&report, &alone, shown_max),
    };
    output::print(&shown)?;
    Ok(exit)
}

/// Fits what a test case takes to what those took that passed, keeps it for studies in the folder `out`, and tells it.
fn tell_test_time(suite: &Suite, report: &TestReport, out: &Path) -> anyhow::Result<()> {
    let cost = |result: &CaseResult| suite.cases.iter().find(|case| case.name == result.name)?.cost;
    // What failed may have run into a limit.
    let passed = report.results.iter().filter(|result| result.verdict.passes());
    let trials = passed.filter_map(|result| Some((cost(result)?, result.duration_ms as f64 / 1000.0)));
    if let Some(fitted) = FittedTestTime::fit(&trials.collect::<Vec<_>>()) {
        let name = &report.implementation;
        output::tell(&format!("a test case of {name} takes {fitted}"));
        TestTimes::add(out, [(name.clone(), fitted)])?;
    }
    Ok(())
}

/// Returns how the command ends.
fn exit_of(report: &TestReport) -> Exit {
    if report.failures().next().is_some() {
        Exit::Failed
    } else if report.results.iter().all(|result| result.verdict.passes()) {
        Exit::Success
    } else {
        Exit::Inconclusive
    }
}

fn is_repeated(arguments: &TestArguments) -> bool {
    arguments.repeat.get() > 1
}

/// Runs what an earlier run has no results of, which was killed, or had fewer repetitions. Results are kept in the folder
/// `out`, if any.
fn run_rest(
    suite: &Suite,
    implementation: &Implementation,
    options: &RunOptions,
    out: Option<&Path>,
    fresh: bool,
) -> anyhow::Result<TestReport> {
    let path = out.map(|out| out.join(format!("test-{}.jsonl", implementation.name)));
    let mut log = path.map(|path| ResultLog::open(&path, implementation, options, fresh)).transpose()?;
    let repetitions = options.repetitions.get();
    let all = (0..suite.cases.len()).flat_map(|case| (1..=repetitions).map(move |repetition| (case, repetition)));
    let all: Vec<(usize, u32)> = all.collect();
    let rest = match &mut log {
        Some(log) => log.rest(suite, &all)?,
        None => all.clone(),
    };
    let before = |&(case, repetition): &(usize, u32)| {
        let SuiteCase { name, case, .. } = &suite.cases[case];
        log.as_ref()?.get(name, case, repetition)
    };
    let earlier: Vec<CaseResult> = all.iter().filter_map(before).cloned().collect();

    let count = earlier.len();
    let expected = ExpectedOfRest { suite, repetitions };
    let mut options = options.clone();
    let spent = Duration::from_millis(earlier.iter().map(|result| result.duration_ms).sum());
    options.time = options.time.map(|time| time.saturating_sub(spent));
    let phase = ProgressPhase::counted("testing", (count + rest.len()) as u64);
    let (mut done, mut failed) = (count as u64, earlier.iter().filter(|result| result.verdict.kills()).count());
    let mut broken = None::<TrialLogError>;
    let mut report = run_some(suite, implementation, &options, &rest, &mut |result| {
        done += 1;
        failed += usize::from(result.verdict.kills());
        phase.at(done, format!("{failed} failed"));
        phase.line(&format!("{}{}", line(result, repetitions), expected.after(done)));
        if broken.is_none() {
            broken = log.as_mut().and_then(|log| log.add(result).err());
        }
    })
    .with_context(|| format!("cannot test {}", implementation.name))?;
    broken.map_or(Ok(()), Err)?;
    if let Some(log) = &mut log {
        log.end()?;
    }
    report.results.extend(earlier);
    let place = |name: &str| suite.cases.iter().position(|case| case.name == name);
    report.results.sort_by_cached_key(|result| (place(&result.name), result.repetition));
    let each = repeated(options.repetitions);
    let kept = match count {
        0 => String::new(),
        _ => format!(", {count} of them before (--fresh runs them again)"),
    };
    let cases = plural(suite.cases.len(), "test case");
    let cases = match report.results.len() {
        ran if ran < all.len() => format!("{ran} of {cases}"),
        _ => cases,
    };
    phase.end(&format!("{cases}{each} on {}{kept}{}", implementation.name, expected.left_out(done)));
    Ok(report)
}

/// What the rest of a suite is expected to find.
struct ExpectedOfRest<'a> {
    suite: &'a Suite,
    repetitions: u32,
}

impl ExpectedOfRest<'_> {
    /// Returns what is found after so many test cases, what all find, and what the others take in seconds; `None` if nobody
    /// estimated it.
    fn found(&self, done: u64) -> Option<(f64, f64, f64)> {
        let cases = &self.suite.cases;
        let done = usize::try_from(done).ok().filter(|&done| self.repetitions == 1 && done <= cases.len())?;
        let after = |count: usize| count.checked_sub(1).map_or(Some(0.0), |last| cases[last].found);
        let left = cases[done..].iter().map(|case| case.seconds).sum::<Option<f64>>()?;
        Some((after(done)?, after(cases.len())?, left))
    }

    /// Says how far the test is, as the end of a line.
    fn after(&self, done: u64) -> String {
        match self.found(done) {
            Some((found, of, left)) if of > 0.0 && left > 0.0 => {
                format!("; {:.0} % of what is expected, {} to go", 100.0 * found / of, duration(left))
            }
            _ => String::new(),
        }
    }

    /// Says what is not run.
    fn left_out(&self, done: u64) -> String {
        match self.found(done) {
            Some((found, of, left)) if left > 0.0 => format!(
                "; the others would take {} and are expected to add {:.0} points to {}",
                duration(left),
                100.0 * (of - found),
                percent(found),
            ),
            _ => String::new(),
        }
    }
}

/// Returns the suite that was given, or the first test cases of the universe.
fn read_suite(arguments: &TestArguments, common: &Common) -> anyhow::Result<Suite> {
    let system = &arguments.system.system;
    let Some(path) = &arguments.suite else { return draw(arguments, common) };
    let bad = |error: &dyn std::fmt::Display| BadInput(format!("{}: {error}", path.display()));
    let text = std::fs::read_to_string(path)
        .map_err(|error| bad(&format!("{error}; `simutant study {system}` writes a suite")))?;
    Suite::parse(&text, system).map_err(|error| bad(&error).into())
}

/// Draws the first test cases of the universe from the simulation.
fn draw(arguments: &TestArguments, common: &Common) -> anyhow::Result<Suite> {
    let system = &arguments.system.system;
    let count = arguments.cases.map_or(0, |cases| cases.get());
    let built = build::plain(&build::find(&arguments.system)?)?;
    let mut simulator = Simulator::of_plain(&built, system, Bounds::default());
    // Names do not depend on how many are run, but for universes that are larger than usual.
    let universe = simulator.universe()?.max(count);
    let out = common.out(system);
    let studied = simulate::studied_cases(&out, common)?.unwrap_or_default();
    let mut case = |number: usize| {
        let case = match studied.get(number) {
            Some(case) => case.clone(),
            None => simulator.draw(common.seed, number)?,
        };
        Ok(SuiteCase::new(case_name(system, number, universe), case))
    };
    Ok(Suite::of_cases(
        system,
        format!("the first {count} test cases of the universe"),
        common.seed,
        (0..count).map(&mut case).collect::<anyhow::Result<Vec<_>>>()?,
    ))
}

/// Returns the suite with the test cases alone that were named, if any were.
fn only(mut suite: Suite, arguments: &TestArguments) -> anyhow::Result<Suite> {
    for name in &arguments.only {
        if !suite.cases.iter().any(|case| case.name == *name) {
            let known = suite.cases.iter().map(|case| case.name.as_str()).collect::<Vec<_>>().join(", ");
            let of = arguments.suite.as_ref().map_or_else(|| "--only".into(), |path| path.display().to_string());
            return Err(BadInput(format!("{of}: there is no test case `{name}`; there are: {known}")).into());
        }
    }
    if !arguments.only.is_empty() {
        suite.cases.retain(|case| arguments.only.contains(&case.name));
    }
    Ok(suite)
}

/// How often a test case failed.
#[derive(Debug, Serialize)]
struct Rate<'a> {
    /// Its name.
    name: &'a str,
    /// In how many repetitions it failed.
    failed: usize,
    /// How many there were that were not inconclusive.
    of: usize,
    /// In how many repetitions nothing was found out.
    #[serde(skip_serializing_if = "is_zero")]
    inconclusive: usize,
    /// What the probability of failing lies in, at the level of 95 % (Wilson); `None` if nothing was found out.
    interval: Option<Interval>,
    #[serde(skip)]
    results: &'a [CaseResult],
}

/// What is written of several repetitions.
#[derive(Debug, Serialize)]
struct Repeated<'a> {
    #[serde(flatten)]
    report: &'a TestReport,
    repetitions: u32,
    cases: &'a [Rate<'a>],
}

/// What is written, with what is costly if that was asked for.
#[derive(Debug, Serialize)]
struct WithCost<'a, T> {
    #[serde(flatten)]
    results: T,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<&'a Costs<'a>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Returns how often each test case failed, in the order of the suite.
fn rates(report: &TestReport) -> Vec<Rate<'_>> {
    let rate = |results: &'_ [CaseResult]| {
        let count = |is: fn(&Verdict) -> bool| results.iter().filter(|result| is(&result.verdict)).count();
        let (failed, passed) = (count(Verdict::kills), count(Verdict::passes));
        (failed, failed + passed, results.len() - failed - passed)
    };
    report
        .results
        .chunk_by(|one, other| one.name == other.name)
        .map(|results| {
            let (failed, of, inconclusive) = rate(results);
            Rate { name: &results[0].name, failed, of, inconclusive, interval: wilson(failed, of, LEVEL), results }
        })
        .collect()
}

impl<'a> Rate<'a> {
    /// Returns whether it passed each time.
    fn passes(&self) -> bool {
        self.failed == 0 && self.inconclusive == 0
    }

    /// Returns the results that failed.
    fn failures(&self) -> impl Iterator<Item = &'a CaseResult> {
        self.results.iter().filter(|result| result.verdict.kills())
    }

    /// Returns why nothing was found out in some repetition.
    fn doubt(&self) -> Option<&'a str> {
        self.results.iter().find_map(|result| match &result.verdict {
            Verdict::Inconclusive(Inconclusive { reason }) => Some(reason.as_str()),
            Verdict::Pass | Verdict::Fail(_) => None,
        })
    }

    /// Returns what was wrong, each with the number of repetitions in which it was, the first ones first.
    fn reasons(&self) -> Vec<(String, usize)> {
        let mut reasons: Vec<(String, usize)> = Vec::new();
        for result in self.failures() {
            let Some(reason) = result.verdict.finding().map(ToString::to_string) else { continue };
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, count)) => *count += 1,
                None => reasons.push((reason, 1)),
            }
        }
        reasons
    }
}

impl std::fmt::Display for Rate<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { failed, of, interval, inconclusive, .. } = self;
        write!(formatter, "failed {failed} of {of} times")?;
        if let Some(Interval { lower, upper, .. }) = interval {
            let [lower, upper] = [lower, upper].map(|end| 100.0 * end);
            write!(formatter, " (95 % interval {lower:.1} % to {upper:.1} %)")?;
        }
        if *inconclusive > 0 { write!(formatter, ", {inconclusive} inconclusive") } else { Ok(()) }
    }
}

/// Returns the report as JUnit XML has it: a suite with a test for each test case.
fn junit(report: &TestReport, rates: &[Rate<'_>], arguments: &TestArguments) -> junit::JunitReport {
    let test = |rate: &Rate<'_>| {
        let result = rate.failures().next().unwrap_or(&rate.results[0]);
        let (end, output) = match &result.verdict {
            Verdict::Pass => match rate.doubt() {
                Some(reason) => (junit::JunitEnd::Inconclusive(reason.to_owned()), String::new()),
                None => (junit::JunitEnd::Passed, String::new()),
            },
            Verdict::Fail(finding) => {
                let mut message = finding.to_string();
                if is_repeated(arguments) {
                    message = format!("{rate}, first in repetition {}: {message}", result.repetition);
                }
                let (kind, text) = (finding.kind.clone(), format!("input: {}", result.case));
                (junit::JunitEnd::Failed { kind, message, text }, log::printed(result))
            }
            Verdict::Inconclusive(Inconclusive { reason }) => {
                (junit::JunitEnd::Inconclusive(reason.clone()), log::printed(result))
            }
        };
        junit::JunitTest {
            name: result.name.clone(),
            class: format!("{}.{}", report.system, report.implementation),
            duration_ms: Some(rate.results.iter().map(|result| result.duration_ms).sum()),
            end,
            output: output + &noted(rate.results),
        }
    };
    let mut properties = vec![("seed".to_owned(), report.seed.to_string())];
    if is_repeated(arguments) {
        properties.push(("repetitions".to_owned(), arguments.repeat.to_string()));
    }
    let suite = junit::TestSuite {
        name: format!("{} on {}", report.system, report.implementation),
        properties,
        cases: rates.iter().map(test).collect(),
    };
    junit::JunitReport { name: report.system.clone(), suites: vec![suite] }
}

fn line(result: &CaseResult, repetitions: u32) -> String {
    let CaseResult { name, repetition, duration_ms, .. } = result;
    let which = if repetitions == 1 { String::new() } else { format!(", repetition {repetition} of {repetitions}") };
    let mut line = match &result.verdict {
        Verdict::Pass if repetitions == 1 => format!("{:>12} {name} in {duration_ms} ms", "passed"),
        Verdict::Pass => format!("{:>12} {name}{which}, in {duration_ms} ms", "passed"),
        Verdict::Fail(finding) => format!("{:>12} {name}{which}: {finding}", "FAILED"),
        Verdict::Inconclusive(inconclusive) => format!("{:>12} {name}{which}: {inconclusive}", "inconclusive"),
    };
    result.remarks().for_each(|remark| line.push_str(&format!("; {remark}")));
    line
}

/// How many test cases that did not pass are shown with what their programs printed.
const SHOWN_MAX: usize = 3;

/// What stands for the kind of finding where nothing was found out.
const INCONCLUSIVE: &str = "inconclusive";

/// Results that did not pass: those that are shown, the first of each kind before others of the same, and how many others
/// there are of each kind.
struct NotPassed<T> {
    shown: Vec<T>,
    others: Vec<(String, usize)>,
    /// How many lines of what programs printed there is room for, for each that is shown.
    lines_max: usize,
}

impl<T> NotPassed<T> {
    fn new<'a>(all: Vec<T>, result: impl Fn(&T) -> &'a CaseResult, shown_max: usize) -> Self {
        let kind = |one: &T| match &result(one).verdict {
            Verdict::Fail(finding) => finding.kind.clone(),
            Verdict::Pass | Verdict::Inconclusive(_) => INCONCLUSIVE.to_owned(),
        };
        let kinds: Vec<String> = all.iter().map(kind).collect();
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by_key(|&place| (kinds[..place].contains(&kinds[place]), kinds[place] == INCONCLUSIVE));
        order.truncate(shown_max);
        let mut others: Vec<(String, usize)> = Vec::new();
        for place in (0..all.len()).filter(|place| !order.contains(place)) {
            match others.iter_mut().find(|(kind, _)| *kind == kinds[place]) {
                Some((_, count)) => *count += 1,
                None => others.push((kinds[place].clone(), 1)),
            }
        }
        // Where all were asked for, there is room for all.
        let sharing = if shown_max == usize::MAX { 1 } else { order.len().max(1) };
        let shown = all.into_iter().enumerate().filter(|(place, _)| order.contains(place)).map(|(_, one)| one);
        Self { shown: shown.collect(), others, lines_max: log::LINES_MAX / sharing }
    }

    /// Says how many others there are; nothing if all are shown.
    fn rest(&self) -> String {
        if self.others.is_empty() {
            return String::new();
        }
        let kinds: Vec<String> = self.others.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        format!("others that did not pass, by kind: {}; --verbose shows them\n\n", kinds.join(", "))
    }
}

/// Whether a result is told by itself: what lacks faults is noted below, and running it alone would not help.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "filters give a reference")]
fn is_told(result: &&CaseResult) -> bool {
    !result.verdict.passes() && !result.passes_without_faults()
}

/// Tells of test cases that failed, or of which nothing was found out, how often.
fn summary_of_rates(rates: &[Rate<'_>], alone: &dyn Fn(&str) -> String, shown_max: usize) -> String {
    let mut text = String::new();
    let not_passed = rates.iter().filter_map(|rate| {
        let first = rate.failures().next().or_else(|| rate.results.iter().find(is_told))?;
        Some((rate, first))
    });
    let not_passed = NotPassed::new(not_passed.collect(), |(_, first)| first, shown_max);
    for &(rate, shown) in &not_passed.shown {
        let word = if rate.failed > 0 { "FAILED" } else { "INCONCLUSIVE" };
        text.push_str(&format!("{word} {}: {rate}\n", rate.name));
        for (reason, count) in rate.reasons() {
            let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
            text.push_str(&format!("  {times}: {reason}\n"));
        }
        if let Some(reason) = rate.doubt() {
            text.push_str(&format!("  inconclusive: {reason}\n"));
        }
        text.push_str(&input(&shown.case));
        text.push_str(&explained(shown));
        text.push_str(&kept(shown));
        let margin = format!("  repetition {}, ", shown.repetition);
        text.push_str(&log::shown(shown, &margin, not_passed.lines_max));
        text.push_str(&format!("  alone: {}\n\n", alone(rate.name)));
    }
    text.push_str(&not_passed.rest());
    let count = |is_counted: fn(&Rate<'_>) -> bool| rates.iter().filter(|rate| is_counted(rate)).count();
    text.push_str(&format!(
        "{} passed {} times{}, {} failed sometimes, {} always",
        count(|rate| rate.passes()),
        rates.iter().map(|rate| rate.results.len()).max().unwrap_or_default(),
        ended_early(count(|rate| rate.passes() && rate.results.iter().any(CaseResult::passes_before_fault))),
        count(|rate| 0 < rate.failed && rate.failed < rate.of),
        count(|rate| 0 < rate.of && rate.failed == rate.of),
    ));
    let lacks_faults = |rate: &Rate<'_>| rate.results.iter().any(CaseResult::passes_without_faults);
    text.push_str(&inconclusive(count(|rate| rate.inconclusive > 0), count(lacks_faults)));
    text + &rates.iter().map(|rate| noted(rate.results)).collect::<String>()
}

fn summary(report: &TestReport, alone: &dyn Fn(&str) -> String, shown_max: usize) -> String {
    let mut text = String::new();
    let not_passed = NotPassed::new(report.results.iter().filter(is_told).collect(), |result| result, shown_max);
    for result in &not_passed.shown {
        match &result.verdict {
            Verdict::Pass => {}
            Verdict::Fail(finding) => text.push_str(&format!("FAILED {}: {finding}\n", result.name)),
            Verdict::Inconclusive(inconclusive) => {
                text.push_str(&format!("INCONCLUSIVE {}: {inconclusive}\n", result.name));
            }
        }
        text.push_str(&input(&result.case));
        text.push_str(&explained(result));
        text.push_str(&kept(result));
        text.push_str(&log::shown(result, "  ", not_passed.lines_max));
        text.push_str(&format!("  alone: {}\n\n", alone(&result.name)));
    }
    text.push_str(&not_passed.rest());
    let count = |is: fn(&Verdict) -> bool| report.results.iter().filter(|result| is(&result.verdict)).count();
    let (passed, failed) = (count(Verdict::passes), count(Verdict::kills));
    let early = report.results.iter().filter(|result| result.passes_before_fault()).count();
    text.push_str(&format!("{passed} passed{}, {failed} failed", ended_early(early)));
    let without_faults = report.results.iter().filter(|result| result.passes_without_faults()).count();
    text.push_str(&inconclusive(report.results.len() - passed - failed, without_faults));
    text + &noted(&report.results)
}

/// How many characters of a test case are shown: the decisions of a walk are a page of numbers.
const INPUT_SHOWN_MAX: usize = 400;

/// Returns the line with a test case.
fn input(case: &Value) -> String {
    let text = case.to_string();
    match text.char_indices().nth(INPUT_SHOWN_MAX) {
        Some((end, _)) => format!("  input: {} … (--json has all of it)\n", &text[..end]),
        None => format!("  input: {text}\n"),
    }
}

/// Says why a history is impossible, if the finding is one of the oracle's.
fn explained(result: &CaseResult) -> String {
    let impossible = result.verdict.finding().and_then(|finding| Impossible::deserialize(&finding.detail).ok());
    impossible.map(|impossible| explanation(&impossible, Time::ZERO, None)).unwrap_or_default()
}

/// Returns the line that says where the private folder of a test case is, if it was kept.
fn kept(result: &CaseResult) -> String {
    result.folder.as_ref().map(|folder| format!("  folder: {}\n", folder.display())).unwrap_or_default()
}

/// How many notes are shown after a summary: each stands in the line of its test case, too.
const NOTES_SHOWN_MAX: usize = 10;

/// Names what is remarked of results, such as faults that were not injected.
fn noted(results: &[CaseResult]) -> String {
    let lines =
        || results.iter().flat_map(|result| result.remarks().map(|remark| format!("{}: {remark}\n", result.name)));
    let mut text: String = lines().take(NOTES_SHOWN_MAX).collect();
    let more = lines().count().saturating_sub(NOTES_SHOWN_MAX);
    if more > 0 {
        text.push_str(&format!("and {more} more notes\n"));
    }
    text
}

/// Says how many of the test cases that passed had ended before one of their faults was due, if any had: such a pass shows
/// nothing of that fault.
fn ended_early(count: usize) -> String {
    match count {
        0 => String::new(),
        _ => format!(" ({count} of them ended before a fault was due)"),
    }
}

/// Ends a summary with the number of test cases of which nothing was found out, if there are any, and how many of them
/// lack faults that could not be injected.
fn inconclusive(count: usize, without_faults: usize) -> String {
    match (count, without_faults) {
        (0, _) => "\n".into(),
        (_, 0) => format!(", {count} inconclusive\n"),
        _ => format!(
            ", {count} inconclusive ({without_faults} because faults could not be injected; --pass-without-faults counts \
             these as passed)\n"
        ),
    }
}

/// Returns the command that runs one test case by itself.
fn alone(name: &str, implementation: &Implementation, arguments: &TestArguments, common: &Common) -> String {
    let quoted = |path: &Path| output::quoted(&path.display().to_string());
    let system = &arguments.system.system;
    let inputs = match (&arguments.suite, arguments.cases) {
        (Some(suite), _) => format!("--suite {}", quoted(suite)),
        (None, cases) => format!("--cases {}", cases.map_or(0, |cases| cases.get())),
    };
    let mut repeat = if is_repeated(arguments) { format!(" --repeat {}", arguments.repeat) } else { String::new() };
    if arguments.pass_without_faults {
        repeat.push_str(" --pass-without-faults");
    }
    format!(
        "{} test {} {inputs} --implementation {} --seed {} --timeout {} --out {}{repeat} --only {name}",
        output::program(),
        arguments.system.command_line(),
        quoted(Path::new(&arguments.implementation)),
        common.seed,
        timeout(arguments.timeout, implementation, system).as_secs(),
        quoted(&common.out(system)),
    )
}

/// Returns after what time a test case has failed: as the user says, or else as the implementation has it.
pub(crate) fn timeout(seconds: Option<u64>, implementation: &Implementation, system: &str) -> Duration {
    seconds.map_or_else(|| implementation.timeout(system), Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use simutant_outcomes::Finding;

    use super::*;

    #[test]
    fn of_many_failures_the_first_of_each_kind_are_shown_and_the_others_counted() {
        let failed = |kind: &&str| CaseResult {
            verdict: Verdict::Fail(Finding::wrong_result(*kind, "a summary")),
            ..log::tests::failed(&[])
        };
        let kinds = |all: &[&str], shown_max: usize| {
            let all: Vec<CaseResult> = all.iter().map(failed).collect();
            let NotPassed { shown, others, .. } = NotPassed::new(all.iter().collect(), |result| result, shown_max);
            let kind = |result: &&CaseResult| result.verdict.finding().map(|finding| finding.kind.clone());
            (shown.iter().filter_map(kind).collect::<Vec<_>>(), others)
        };
        let (shown, others) = kinds(&["a", "a", "a", "b", "a", "b"], 3);
        assert_eq!(shown, ["a", "a", "b"], "in their order");
        assert_eq!(others, [("a".to_owned(), 2), ("b".to_owned(), 1)]);
        assert_eq!(kinds(&["a", "a"], usize::MAX), (vec!["a".to_owned(); 2], Vec::new()));
    }
}
