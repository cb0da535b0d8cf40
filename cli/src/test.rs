//! `simutant test`: a suite on a real implementation.

mod log;
mod progress;
mod summary;

use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use simutant_campaign::Existing;
use simutant_harness::{MissingFaults, TestReport};
use simutant_outcomes::{CostMeasure, CostOracle, Suite};
use simutant_study::{CaseRate, DatagramCosts, TestPlan, first_cases, junit};

use self::progress::TestLines;
use self::summary::Summary;
pub(crate) use self::summary::commands;
use crate::arguments::{Common, TestArguments};
use crate::constants::{self, Compared};
use crate::exit::{BadInput, Exit};
use crate::stages::Stages;
use crate::{build, implementations, interrupt, output};

pub(crate) fn run(arguments: &TestArguments, common: &Common) -> anyhow::Result<Exit> {
    let out = common.out(&arguments.system.system);
    check_cost(arguments.cost.as_ref())?;
    let plan = plan(arguments, common, &out)?;
    let TestPlan { suite, implementation, .. } = &plan;
    let constants = constants::compare(&arguments.system, std::slice::from_ref(implementation));
    // Some test cases alone are no result of the suite, and have a file of their own.
    let (file, stopped) = match plan.log {
        Some(_) => ("test", "\nstopped; the results so far are kept, and the same command goes on from there"),
        None => ("only", "\nstopped"),
    };
    interrupt::end_with(stopped)?;
    let mut lines = TestLines::new(&plan);
    let report = plan.run(&mut |event| lines.show(event))?;
    let rates = CaseRate::of_report(&report);
    let cost = match &arguments.cost {
        Some(oracle) => Some(costs((suite, &report), oracle, arguments)?),
        None => None,
    };
    let cost = cost.as_ref();
    let repeated = (arguments.repeat.get() > 1).then_some(arguments.repeat.get());
    let results = Results { report: &report, repetitions: repeated, cases: repeated.map(|_| &*rates), cost };
    let text = output::json(&Compared { result: &results, constants: &constants })?;
    output::write(&out.join(format!("{file}-{}.json", implementation.name)), &text)?;
    if let Some(file) = &arguments.junit {
        output::write_named(file, junit(&report, arguments.repeat.get()).to_xml().as_bytes())?;
    }
    let alone = alone(&plan, arguments, &out);
    let (is_repeated, waived) = (repeated.is_some(), &implementation.waive);
    let summary = Summary { report: &report, rates: &rates, is_repeated, cost, waived, alone: &alone };
    output::print(&if common.json { text } else { summary.text(common.verbose) })?;
    Ok(exit_of(&report))
}

/// Returns what is run, and how.
fn plan(arguments: &TestArguments, common: &Common, out: &Path) -> anyhow::Result<TestPlan> {
    let mut implementation = implementations::find(&arguments.implementation, &arguments.system)?;
    for rule in &arguments.waive {
        implementation
            .waive_rule(rule, "by --waive", Path::new("--waive"))
            .map_err(|error| BadInput(error.to_string()))?;
    }
    let suite = only(read_suite(arguments, common)?, arguments)?;
    if arguments.cost.is_some() {
        // What is needed in the end is looked for in the beginning.
        build::find(&arguments.system)?;
        if implementation.driver.is_some() {
            let message = "--cost: the datagrams of an implementation with a driver are not counted".to_owned();
            return Err(BadInput(message).into());
        }
    }
    let mut plan = TestPlan::new(suite, implementation, out);
    let options = &mut plan.options;
    options.jobs = common.jobs();
    options.timeout = arguments.timeout.map_or(options.timeout, Duration::from_secs);
    options.seed = common.seed;
    options.repetitions = arguments.repeat;
    options.time = arguments.time;
    if arguments.until_failure {
        options.failures_max = 0;
    }
    if arguments.pass_without_faults {
        options.missing_faults = MissingFaults::Pass;
    }
    options.keep_directory = arguments.keep.then(|| out.join("kept").join(&plan.implementation.name));
    if !arguments.only.is_empty() {
        plan.log = None;
    }
    if arguments.fresh {
        plan.existing = Existing::Delete;
    }
    Ok(plan)
}

/// What is written.
#[derive(Debug, Serialize)]
struct Results<'a> {
    #[serde(flatten)]
    report: &'a TestReport,
    /// Of several repetitions.
    #[serde(skip_serializing_if = "Option::is_none")]
    repetitions: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cases: Option<&'a [CaseRate<'a>]>,
    /// If that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<&'a DatagramCosts<'a>>,
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

/// Checks that the oracle can judge programs.
fn check_cost(oracle: Option<&CostOracle>) -> Result<(), BadInput> {
    let other = oracle.and_then(|oracle| oracle.measures().find(|measure| *measure != CostMeasure::Messages));
    match other {
        Some(measure) => Err(BadInput(format!(
            "--cost {measure}: programs are judged by datagrams alone, since their events and their time are not those of a \
             simulation; give --cost messages=P%"
        ))),
        None => Ok(()),
    }
}

/// Finds what is costly in the results of a suite.
fn costs<'a>(
    results: (&'a Suite, &'a TestReport),
    oracle: &CostOracle,
    arguments: &TestArguments,
) -> anyhow::Result<DatagramCosts<'a>> {
    let percent = oracle.percent.get(&CostMeasure::Messages).copied().unwrap_or_default();
    let stages = Stages::new(&arguments.system.system);
    Ok(DatagramCosts::find(&arguments.system.request(), results, percent, &|event| stages.show(event))?)
}

/// Returns the suite that was given, or the first test cases of the universe.
fn read_suite(arguments: &TestArguments, common: &Common) -> anyhow::Result<Suite> {
    let system = &arguments.system.system;
    let Some(path) = &arguments.suite else {
        let (count, stages) = (arguments.cases.get(), Stages::new(system));
        let (request, campaign) = (arguments.system.request(), common.campaign(system));
        return Ok(first_cases(&request, &campaign, count, &|event| stages.show(event))?);
    };
    let bad = |error: &dyn std::fmt::Display| BadInput(format!("{}: {error}", path.display()));
    let text = std::fs::read_to_string(path)
        .map_err(|error| bad(&format!("{error}; `simutant study {system}` writes a suite")))?;
    Suite::parse(&text, system).map_err(|error| bad(&error).into())
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

/// Returns the command that runs one test case by itself, without the name of that.
fn alone(plan: &TestPlan, arguments: &TestArguments, out: &Path) -> String {
    let quoted = |path: &Path| output::quoted(&path.display().to_string());
    let inputs = match &arguments.suite {
        Some(suite) => format!("--suite {}", quoted(suite)),
        None => format!("--cases {}", arguments.cases),
    };
    let waived: String = arguments.waive.iter().map(|rule| format!(" --waive {rule}")).collect();
    let repeat = match arguments.repeat.get() {
        1 => String::new(),
        repetitions => format!(" --repeat {repetitions}"),
    };
    let pass = if arguments.pass_without_faults { " --pass-without-faults" } else { "" };
    format!(
        "{} test {} {inputs} --implementation {} --seed {} --timeout {} --out {}{repeat}{pass}{waived} --only",
        output::program(),
        arguments.system.command_line(),
        quoted(Path::new(&arguments.implementation)),
        plan.options.seed,
        plan.options.timeout.as_secs(),
        quoted(out),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_judged_by_messages_alone() {
        let check =
            |text: &str| check_cost(Some(&text.parse().expect("it is an oracle"))).err().map(|error| error.to_string());
        assert_eq!(check("messages=20%"), None);
        let error = check("messages=20%,time=20%").expect("time is none of theirs");
        assert!(error.contains("--cost time") && error.contains("give --cost messages=P%"), "{error}");
    }
}
