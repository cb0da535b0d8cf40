//! `simutant experiment`: the universe of a study on real implementations, and whether mutants predicted what was found.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::Context;
use simutant_analysis::{Options, analyse_with_threads, case_name, experiment, experiment_report, experiment_tables};
use simutant_campaign::{Bounds, Simulator, Trace, read_outcomes};
use simutant_harness::{Implementation, TrialLog, TrialLogError, run_suite};
use simutant_mutator::{Build, read_judgements};
use simutant_outcomes::{BitSet, FORMAT_VERSION, Outcomes, Subject, Suite, SuiteCase, Trials};

use crate::arguments::{Common, ExperimentArguments};
use crate::exit::{BadInput, Exit};
use crate::progress::Phase;
use crate::test::OWN_IMPLEMENTATIONS;
use crate::{build, output};

/// A run on an implementation mostly waits, for packets that were lost.
const JOBS_FOR_EACH_CORE: usize = 4;

/// A universe has at most so many test cases unless said otherwise, since each is run on each implementation in real time: within
/// an hour on two cores, for the implementations of gbn and lsr that come with Simutant.
const CASES_MAX: usize = 2_500;

/// So many test cases tell what an event costs.
const TIMED_CASES: usize = 500;

pub(crate) fn run(arguments: &ExperimentArguments, common: &Common) -> anyhow::Result<Exit> {
    let system = &arguments.system.system;
    let out = common.out(system);
    // What cannot be used is told before anything is run.
    let implementations = implementations(arguments)?;
    let judgements = read_judgements(&build::find(&arguments.system)?.judgements(), system)?;
    let built = build::instrumented(&arguments.system)?;
    let outcomes = match finished(&built, common.seed, &out) {
        Some(outcomes) => outcomes,
        None => {
            let cases = match arguments.cases {
                Some(cases) => cases.get(),
                None => Simulator::new(&built, Bounds::default()).universe()?.min(CASES_MAX),
            };
            if let Some(exit) = study(arguments, cases, common, &out)? {
                return Ok(exit);
            }
            finished(&built, common.seed, &out).context("the study left no outcomes of this source")?
        }
    };

    let universe = universe(&outcomes);
    let mut log = TrialLog::open(&out.join("trials.jsonl"))?;
    let mut subjects = Vec::with_capacity(implementations.len());
    for implementation in &implementations {
        try_all(implementation, &universe, &mut log, arguments, common)?;
        subjects.push(subject(implementation, &universe, &log));
    }
    let simulation_ns_per_event = time_events(&built, &outcomes)?;
    let trials = Trials { system: outcomes.system.clone(), seed: outcomes.seed, subjects, simulation_ns_per_event };

    let phase = Phase::open("analysing");
    let options = Options { seed: common.seed, judgements, ..Options::default() };
    let analysis = analyse_with_threads(&outcomes, &options, common.jobs())?;
    let found = experiment(&outcomes, &analysis, &trials, common.jobs())?;
    phase.end(&format!("{} criteria on {} implementations", analysis.criteria.len(), found.subjects.len()));
    let (json, tables) = (output::json(&found)?, experiment_tables(&found, &analysis));
    output::write(&out.join("experiment.json"), &json)?;
    output::write(&out.join("experiment.txt"), &tables)?;
    output::write(&out.join("experiment.html"), &experiment_report(&found, &analysis))?;
    if common.json {
        output::print(&json)?;
    } else {
        let out = out.display();
        output::print(&format!(
            "{tables}\nwritten to {out}: experiment.html, experiment.txt, experiment.json, trials.jsonl\n"
        ))?;
    }
    Ok(Exit::Success)
}

/// Returns the implementations that were asked for, or all of the system that come with Simutant but those that are there on demand.
fn implementations(arguments: &ExperimentArguments) -> anyhow::Result<Vec<Implementation>> {
    let system = &arguments.system.system;
    let folders = [PathBuf::from(OWN_IMPLEMENTATIONS)];
    if arguments.implementation.is_empty() {
        let mut own = Vec::new();
        for name in Implementation::available(&folders) {
            let implementation = Implementation::find(&name, &folders)?;
            own.extend((implementation.system == *system && !implementation.on_demand).then_some(implementation));
        }
        if own.is_empty() {
            let message = format!(
                "no implementation of {system} comes with Simutant; give yours with --implementation FILE.toml"
            );
            return Err(BadInput(message).into());
        }
        return Ok(own);
    }
    let mut found: Vec<Implementation> = Vec::new();
    for name in &arguments.implementation {
        let implementation = Implementation::find(name, &folders)?;
        if implementation.system != *system {
            let message = format!("--implementation {name}: it is of {}, and not of {system}", implementation.system);
            return Err(BadInput(message).into());
        }
        if found.iter().any(|other| other.name == implementation.name) {
            let message =
                format!("--implementation {name}: another one has the name `{}` as well", implementation.name);
            return Err(BadInput(message).into());
        }
        found.push(implementation);
    }
    Ok(found)
}

/// Returns the outcomes in `out`, if they are there, and of the source that was built and the universe of `seed`.
fn finished(built: &Build, seed: u64, out: &Path) -> Option<Outcomes> {
    read_outcomes(out).ok().filter(|outcomes| outcomes.sites == built.sites && outcomes.seed == seed)
}

/// Runs the study, or the rest of it; returns how it ended unless it is done.
fn study(arguments: &ExperimentArguments, cases: usize, common: &Common, out: &Path) -> anyhow::Result<Option<Exit>> {
    let mut command = Command::new(std::env::current_exe().context("cannot find the program that runs")?);
    command.arg("study").args(arguments.system.words());
    command.args(["--seed", &common.seed.to_string(), "--jobs", &common.jobs().to_string()]);
    command.args(["--cases", &cases.to_string()]).arg("--out").arg(out);
    let status = command.stdout(Stdio::null()).status().context("cannot start the study")?;
    Ok(match Exit::of_status(status) {
        Exit::Success => None,
        exit => Some(exit),
    })
}

/// Returns all test cases of the study as a suite.
fn universe(outcomes: &Outcomes) -> Suite {
    let count = outcomes.cases.len();
    let case = |(index, case): (usize, &simutant_outcomes::CaseOutcome)| SuiteCase {
        name: case_name(&outcomes.system, index, count),
        case: case.case.clone(),
    };
    Suite {
        format_version: FORMAT_VERSION,
        system: outcomes.system.clone(),
        criterion: "none".into(),
        chosen: "all test cases of the universe".into(),
        seed: outcomes.seed,
        mutant_score: None,
        dominator_score: None,
        cases: outcomes.cases.iter().enumerate().map(case).collect(),
    }
}

/// Runs what was not run yet.
fn try_all(
    implementation: &Implementation,
    universe: &Suite,
    log: &mut TrialLog,
    arguments: &ExperimentArguments,
    common: &Common,
) -> anyhow::Result<()> {
    let name = &implementation.name;
    let mut options = simutant_harness::Options::new(common.out(&universe.system).join("implementations"));
    options.jobs = common.jobs_or(JOBS_FOR_EACH_CORE);
    options.timeout = crate::test::timeout(arguments.timeout, &universe.system);
    options.seed = common.seed;
    log.agree(implementation, &options, arguments.fresh)?;
    let mut rest = universe.clone();
    rest.cases.retain(|case| log.get(name, &case.name, &case.case).is_none());
    let phase = Phase::counted("trying", universe.cases.len() as u64);
    let before = universe.cases.len() - rest.cases.len();
    let (mut done, mut failed, mut broken) = (before as u64, 0, None::<TrialLogError>);
    if !rest.cases.is_empty() {
        run_suite(&rest, implementation, &options, &mut |result| {
            done += 1;
            failed += u64::from(!result.outcome.passed());
            phase.at(done, format!("{name}: {failed} failed"));
            if broken.is_none() {
                broken = log.add(name, result).err();
            }
        })
        .with_context(|| format!("cannot test {name}"))?;
    }
    if let Some(error) = broken {
        return Err(error.into());
    }
    let kept = if before == 0 { String::new() } else { format!(", {before} of them before") };
    phase.end(&format!("{} test cases on {name}{kept}", universe.cases.len()));
    Ok(())
}

/// Returns what is known of an implementation that was tried with the whole universe.
fn subject(implementation: &Implementation, universe: &Suite, log: &TrialLog) -> Subject {
    let mut failed = BitSet::with_capacity(universe.cases.len());
    let mut durations_ms = Vec::with_capacity(universe.cases.len());
    for (index, case) in universe.cases.iter().enumerate() {
        let Some(trial) = log.get(&implementation.name, &case.name, &case.case) else { continue };
        failed.set(index, trial.failed.is_some());
        durations_ms.push(trial.duration_ms);
    }
    Subject { name: implementation.name.clone(), origin: implementation.origin, failed, durations_ms }
}

/// Measures what an event of the simulation costs, with all that comes with asking for a run.
fn time_events(built: &Build, outcomes: &Outcomes) -> anyhow::Result<u64> {
    let mut simulator = Simulator::new(built, Bounds::default());
    let cases = &outcomes.cases[..outcomes.cases.len().min(TIMED_CASES)];
    let Some(first) = cases.first() else { return Ok(0) };
    // The first request starts the worker.
    simulator.simulate(&first.case, None, Trace::Skip, None)?;
    let started = Instant::now();
    let mut events = 0;
    for case in cases {
        events += simulator.simulate(&case.case, None, Trace::Skip, None)?.execution.events;
    }
    let elapsed = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
    Ok(elapsed / events.max(1))
}
