//! `simutant test`: a suite on a real implementation.

mod costly;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use serde::Serialize;
use simutant_analysis::case_name;
use simutant_analysis::statistics::{Interval, wilson};
use simutant_campaign::{Bounds, Simulator};
use simutant_exports::junit;
use simutant_harness::{
    CaseResult, Implementation, Options, ResultLog, SideOutput, TestOutcome, TestReport, TrialLogError, run_some,
};
use simutant_outcomes::{FORMAT_VERSION, Suite, SuiteCase};

use self::costly::Costs;
use crate::arguments::{Common, TestArguments};
use crate::constants::{self, Compared};
use crate::exit::{BadInput, Exit};
use crate::experiment::{kept, repeated};
use crate::progress::Phase;
use crate::{build, output, simulate};

/// The implementations that come with Simutant.
pub(crate) const OWN_IMPLEMENTATIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/implementations");

/// The level of intervals of how likely a test case fails.
const LEVEL: f64 = 0.95;

pub(crate) fn run(arguments: &TestArguments, common: &Common) -> anyhow::Result<Exit> {
    let system = &arguments.system.system;
    costly::check(arguments.cost.as_ref())?;
    let implementation = Implementation::find(&arguments.implementation, &[PathBuf::from(OWN_IMPLEMENTATIONS)])?;
    let suite = only(read_suite(arguments, common)?, arguments)?;
    let out = common.out(system);
    let mut options = Options::new(out.join("implementations"));
    options.jobs = common.jobs();
    options.timeout = timeout(arguments.timeout, system);
    options.seed = common.seed;
    options.repetitions = arguments.repeat;

    let constants = constants::compare(&arguments.system, std::slice::from_ref(&implementation));
    // Some test cases alone are no result of the suite.
    let is_whole = arguments.only.is_empty();
    let report = run_rest(&suite, &implementation, &options, is_whole.then_some(&*out), arguments.fresh)?;
    let rates = rates(&report);
    let failures = report.failures().count();
    let costs =
        arguments.cost.as_ref().map(|oracle| costly::costs((&suite, &report), oracle, arguments)).transpose()?;
    let costs = costs.as_ref();
    let text = if is_repeated(arguments) {
        let results = Repeated { report: &report, repetitions: arguments.repeat.get(), cases: &rates };
        output::json(&Compared { result: &WithCost { results, cost: costs }, constants: &constants })?
    } else {
        output::json(&Compared { result: &WithCost { results: &report, cost: costs }, constants: &constants })?
    };
    if is_whole {
        output::write(&out.join(format!("test-{}.json", implementation.name)), &text)?;
    }
    if let Some(file) = &arguments.junit {
        output::write_named(file, junit(&report, &rates, arguments).to_xml().as_bytes())?;
    }
    let listed = costs.map(|costs| costs.text(report.results.len(), is_repeated(arguments))).unwrap_or_default();
    let shown = match (common.json, is_repeated(arguments)) {
        (true, _) => text,
        (false, true) => listed + &summary_of_rates(&rates, arguments, common),
        (false, false) => listed + &summary(&report, arguments, common),
    };
    output::print(&shown)?;
    Ok(if failures == 0 { Exit::Success } else { Exit::Failed })
}

fn is_repeated(arguments: &TestArguments) -> bool {
    arguments.repeat.get() > 1
}

/// Runs what an earlier run, which was killed, has no results of. Results are kept in the folder `out`, if any.
fn run_rest(
    suite: &Suite,
    implementation: &Implementation,
    options: &Options,
    out: Option<&Path>,
    fresh: bool,
) -> anyhow::Result<TestReport> {
    let path = out.map(|out| out.join(format!("test-{}.jsonl", implementation.name)));
    let mut log = path.map(|path| ResultLog::open(&path, implementation, options, fresh)).transpose()?;
    let repetitions = options.repetitions.get();
    let all = (0..suite.cases.len()).flat_map(|case| (1..=repetitions).map(move |repetition| (case, repetition)));
    let before = |&(case, repetition): &(usize, u32)| {
        let SuiteCase { name, case } = &suite.cases[case];
        log.as_ref()?.get(name, case, repetition)
    };
    let earlier: Vec<CaseResult> = all.clone().filter_map(|run| before(&run)).cloned().collect();
    let rest: Vec<(usize, u32)> = all.filter(|run| before(run).is_none()).collect();

    let count = earlier.len();
    let phase = Phase::counted("testing", (count + rest.len()) as u64);
    let (mut done, mut failed) = (count as u64, earlier.iter().filter(|result| !result.outcome.passed()).count());
    let mut broken = None::<TrialLogError>;
    let mut report = run_some(suite, implementation, options, &rest, &mut |result| {
        done += 1;
        failed += usize::from(!result.outcome.passed());
        phase.at(done, format!("{failed} failed"));
        phase.line(&line(result, repetitions));
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
    let (each, kept) = (repeated(options.repetitions), kept(count));
    phase.end(&format!("{} test cases{each} on {}{kept}", suite.cases.len(), implementation.name));
    Ok(report)
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
    let built = build::instrumented(&build::find(&arguments.system)?)?;
    let mut simulator = Simulator::new(&built, Bounds::default());
    // Names do not depend on how many are run, but for universes that are larger than usual.
    let universe = simulator.universe()?.max(count);
    let out = common.out(system);
    let mut case = |number: usize| {
        let case = simulate::read_case(&number.to_string(), (common, &out), &mut simulator)?;
        Ok(SuiteCase { name: case_name(system, number, universe), case })
    };
    Ok(Suite {
        format_version: FORMAT_VERSION,
        system: system.clone(),
        criterion: "none".into(),
        chosen: format!("the first {count} test cases of the universe"),
        seed: common.seed,
        mutant_score: None,
        dominator_score: None,
        cases: (0..count).map(&mut case).collect::<anyhow::Result<_>>()?,
    })
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
    /// How many there were.
    of: usize,
    /// What the probability of failing lies in, at the level of 95 % (Wilson).
    interval: Interval,
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

/// Returns how often each test case failed, in the order of the suite.
fn rates(report: &TestReport) -> Vec<Rate<'_>> {
    let rate = |results: &'_ [CaseResult]| {
        let failed = results.iter().filter(|result| !result.outcome.passed()).count();
        (failed, wilson(failed, results.len(), LEVEL).expect("each has a result at least"))
    };
    report
        .results
        .chunk_by(|one, other| one.name == other.name)
        .map(|results| {
            let (failed, interval) = rate(results);
            Rate { name: &results[0].name, failed, of: results.len(), interval, results }
        })
        .collect()
}

impl<'a> Rate<'a> {
    /// Returns the results that failed.
    fn failures(&self) -> impl Iterator<Item = &'a CaseResult> {
        self.results.iter().filter(|result| !result.outcome.passed())
    }

    /// Returns what was wrong, each with the number of repetitions in which it was, the first ones first.
    fn reasons(&self) -> Vec<(String, usize)> {
        let mut reasons: Vec<(String, usize)> = Vec::new();
        for result in self.failures() {
            let TestOutcome::Failed { reason, .. } = &result.outcome else { continue };
            let reason = reason.to_string();
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
        let Self { failed, of, interval, .. } = self;
        let [lower, upper] = [interval.lower, interval.upper].map(|end| 100.0 * end);
        write!(formatter, "failed {failed} of {of} times (95 % interval {lower:.1} % to {upper:.1} %)")
    }
}

/// Returns the report as JUnit XML has it: a suite with a test for each test case.
fn junit(report: &TestReport, rates: &[Rate<'_>], arguments: &TestArguments) -> junit::Report {
    let test = |rate: &Rate<'_>| {
        let result = rate.failures().next().unwrap_or(&rate.results[0]);
        let (end, output) = match &result.outcome {
            TestOutcome::Passed => (junit::End::Passed, String::new()),
            TestOutcome::Failed { reason, outputs } => {
                let kind = serde_json::to_value(reason).ok().and_then(|reason| match reason {
                    serde_json::Value::String(kind) => Some(kind),
                    reason => reason.as_object()?.keys().next().cloned(),
                });
                let mut message = reason.to_string();
                if is_repeated(arguments) {
                    message = format!("{rate}, first in repetition {}: {message}", result.repetition);
                }
                let text = format!("input: {}", result.case);
                (junit::End::Failed { kind: kind.unwrap_or_default(), message, text }, printed(outputs).collect())
            }
        };
        junit::TestCase {
            name: result.name.clone(),
            class: format!("{}.{}", report.system, report.implementation),
            duration_ms: Some(rate.results.iter().map(|result| result.duration_ms).sum()),
            end,
            output,
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
    junit::Report { name: report.system.clone(), suites: vec![suite] }
}

/// The ends of what the sides printed, each line with its side.
fn printed(outputs: &[SideOutput]) -> impl Iterator<Item = String> {
    outputs.iter().flat_map(|output| {
        [("stdout", &output.stdout), ("stderr", &output.stderr)].into_iter().flat_map(move |(name, tail)| {
            tail.text.lines().map(move |line| format!("{} {name}: {line}\n", output.side))
        })
    })
}

fn line(result: &CaseResult, repetitions: u32) -> String {
    let CaseResult { name, repetition, duration_ms, .. } = result;
    let which = if repetitions == 1 { String::new() } else { format!(", repetition {repetition} of {repetitions}") };
    match &result.outcome {
        TestOutcome::Passed if repetitions == 1 => format!("{:>12} {name} in {duration_ms} ms", "passed"),
        TestOutcome::Passed => format!("{:>12} {name}{which}, in {duration_ms} ms", "passed"),
        TestOutcome::Failed { reason, .. } => format!("{:>12} {name}{which}: {reason}", "FAILED"),
    }
}

/// Tells of each test case that failed how often it did.
fn summary_of_rates(rates: &[Rate<'_>], arguments: &TestArguments, common: &Common) -> String {
    let mut text = String::new();
    for rate in rates {
        let Some(CaseResult { outcome: TestOutcome::Failed { outputs, .. }, repetition, case, .. }) =
            rate.failures().next()
        else {
            continue;
        };
        text.push_str(&format!("FAILED {}: {rate}\n", rate.name));
        for (reason, count) in rate.reasons() {
            let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
            text.push_str(&format!("  {times}: {reason}\n"));
        }
        text.push_str(&format!("  input: {case}\n"));
        printed(outputs).for_each(|line| text.push_str(&format!("  repetition {repetition}, {line}")));
        text.push_str(&format!("  alone: {}\n\n", alone(rate.name, arguments, common)));
    }
    let count = |is_counted: fn(&Rate<'_>) -> bool| rates.iter().filter(|rate| is_counted(rate)).count();
    text.push_str(&format!(
        "{} passed {} times, {} failed sometimes, {} always\n",
        count(|rate| rate.failed == 0),
        arguments.repeat,
        count(|rate| 0 < rate.failed && rate.failed < rate.of),
        count(|rate| rate.failed == rate.of),
    ));
    text
}

fn summary(report: &TestReport, arguments: &TestArguments, common: &Common) -> String {
    let mut text = String::new();
    for result in report.failures() {
        let TestOutcome::Failed { reason, outputs } = &result.outcome else { continue };
        text.push_str(&format!("FAILED {}: {reason}\n  input: {}\n", result.name, result.case));
        printed(outputs).for_each(|line| text.push_str(&format!("  {line}")));
        text.push_str(&format!("  alone: {}\n\n", alone(&result.name, arguments, common)));
    }
    let failed = report.failures().count();
    text.push_str(&format!("{} passed, {failed} failed\n", report.results.len() - failed));
    text
}

/// Returns the command that runs one test case by itself.
fn alone(name: &str, arguments: &TestArguments, common: &Common) -> String {
    let quoted = |path: &Path| output::quoted(&path.display().to_string());
    let system = &arguments.system.system;
    let inputs = match (&arguments.suite, arguments.cases) {
        (Some(suite), _) => format!("--suite {}", quoted(suite)),
        (None, cases) => format!("--cases {}", cases.map_or(0, |cases| cases.get())),
    };
    let repeat = if is_repeated(arguments) { format!(" --repeat {}", arguments.repeat) } else { String::new() };
    format!(
        "{} test {} {inputs} --implementation {} --seed {} --timeout {} --out {}{repeat} --only {name}",
        output::program(),
        arguments.system.command_line(),
        quoted(Path::new(&arguments.implementation)),
        common.seed,
        timeout(arguments.timeout, system).as_secs(),
        quoted(&common.out(system)),
    )
}

/// Returns after what time a test case has failed: as the user says, or else as the system has it.
pub(crate) fn timeout(seconds: Option<u64>, system: &str) -> Duration {
    let of_system = || simutant_harness::timeout(system).unwrap_or(Options::new("").timeout);
    seconds.map_or_else(of_system, Duration::from_secs)
}
