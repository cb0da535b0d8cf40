//! `simutant test`: a suite on a real implementation.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use simutant_exports::junit;
use simutant_harness::{CaseResult, Implementation, Options, SideOutput, TestOutcome, TestReport, run_suite};
use simutant_outcomes::Suite;

use crate::arguments::{Common, TestArguments};
use crate::exit::{BadInput, Exit};
use crate::output;
use crate::progress::Phase;

/// The implementations that come with Simutant.
pub(crate) const OWN_IMPLEMENTATIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/implementations");

pub(crate) fn run(arguments: &TestArguments, common: &Common) -> anyhow::Result<Exit> {
    let suite = read_suite(arguments)?;
    let implementation = Implementation::find(&arguments.implementation, &[PathBuf::from(OWN_IMPLEMENTATIONS)])?;
    let out = common.out(&arguments.system);
    let mut options = Options::new(out.join("implementations"));
    options.jobs = common.jobs();
    options.timeout = timeout(arguments.timeout, &arguments.system);
    options.seed = common.seed;

    let phase = Phase::counted("testing", suite.cases.len() as u64);
    let (mut done, mut failed) = (0, 0);
    let report = run_suite(&suite, &implementation, &options, &mut |result| {
        done += 1;
        failed += u64::from(!result.outcome.passed());
        phase.at(done, format!("{failed} failed"));
        phase.line(&line(result));
    })
    .with_context(|| format!("cannot test {}", implementation.name))?;
    phase.end(&format!("{} test cases on {}", report.results.len(), implementation.name));

    let failures = report.failures().count();
    let text = output::json(&report)?;
    // Some test cases alone are no result of the suite.
    if arguments.only.is_empty() {
        output::write(&out.join(format!("test-{}.json", implementation.name)), &text)?;
    }
    if let Some(file) = &arguments.junit {
        output::write_named(file, junit(&report).to_xml().as_bytes())?;
    }
    output::print(&if common.json { text } else { summary(&report, arguments, common) })?;
    Ok(if failures == 0 { Exit::Success } else { Exit::Failed })
}

fn read_suite(arguments: &TestArguments) -> anyhow::Result<Suite> {
    let path = &arguments.suite;
    let bad = |error: &dyn std::fmt::Display| BadInput(format!("{}: {error}", path.display()));
    let text = std::fs::read_to_string(path)
        .map_err(|error| bad(&format!("{error}; `simutant study {}` writes a suite", arguments.system)))?;
    let mut suite = Suite::parse(&text, &arguments.system).map_err(|error| bad(&error))?;
    for name in &arguments.only {
        if !suite.cases.iter().any(|case| case.name == *name) {
            let known = suite.cases.iter().map(|case| case.name.as_str()).collect::<Vec<_>>().join(", ");
            return Err(bad(&format!("there is no test case `{name}`; there are: {known}")).into());
        }
    }
    if !arguments.only.is_empty() {
        suite.cases.retain(|case| arguments.only.contains(&case.name));
    }
    Ok(suite)
}

/// Returns the report as JUnit XML has it: a suite with a test for each test case.
fn junit(report: &TestReport) -> junit::Report {
    let test = |result: &CaseResult| {
        let (end, output) = match &result.outcome {
            TestOutcome::Passed => (junit::End::Passed, String::new()),
            TestOutcome::Failed { reason, outputs } => {
                let kind = serde_json::to_value(reason).ok().and_then(|reason| match reason {
                    serde_json::Value::String(kind) => Some(kind),
                    reason => reason.as_object()?.keys().next().cloned(),
                });
                let end = junit::End::Failed {
                    kind: kind.unwrap_or_default(),
                    message: reason.to_string(),
                    text: format!("input: {}", result.case),
                };
                (end, printed(outputs).collect())
            }
        };
        junit::TestCase {
            name: result.name.clone(),
            class: format!("{}.{}", report.system, report.implementation),
            duration_ms: Some(result.duration_ms),
            end,
            output,
        }
    };
    let suite = junit::TestSuite {
        name: format!("{} on {}", report.system, report.implementation),
        properties: vec![("seed".to_owned(), report.seed.to_string())],
        cases: report.results.iter().map(test).collect(),
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

fn line(result: &CaseResult) -> String {
    match &result.outcome {
        TestOutcome::Passed => format!("{:>12} {} in {} ms", "passed", result.name, result.duration_ms),
        TestOutcome::Failed { reason, .. } => format!("{:>12} {}: {reason}", "FAILED", result.name),
    }
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
    format!(
        "{} test {} --suite {} --implementation {} --seed {} --timeout {} --out {} --only {name}",
        program(),
        arguments.system,
        quoted(&arguments.suite),
        quoted(Path::new(&arguments.implementation)),
        common.seed,
        timeout(arguments.timeout, &arguments.system).as_secs(),
        quoted(&common.out(&arguments.system)),
    )
}

/// Returns after what time a test case has failed: as the user says, or else as the system has it.
pub(crate) fn timeout(seconds: Option<u64>, system: &str) -> Duration {
    let of_system = || simutant_harness::timeout(system).unwrap_or(Options::new("").timeout);
    seconds.map_or_else(of_system, Duration::from_secs)
}

/// Returns how this program is called: by its path where that is how it was started.
pub(crate) fn program() -> String {
    std::env::args().next().unwrap_or_else(|| "simutant".into())
}
