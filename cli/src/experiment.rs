//! `simutant experiment`: the universe of a study on real implementations, and whether mutants predicted what was found.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use simutant_analysis::{Options, analyse_with_threads, case_name, experiment, experiment_report, experiment_tables};
use simutant_campaign::{Bounds, Simulator, Trace, read_outcomes};
use simutant_harness::{HarnessError, Implementation, Trial, TrialLog, TrialLogError, run_suite};
use simutant_mutator::{Build, read_judgements};
use simutant_outcomes::{BitSet, FORMAT_VERSION, LeftOut, Origin, Outcomes, Subject, Suite, SuiteCase, Trials};

use crate::arguments::{Common, ExperimentArguments};
use crate::exit::{BadInput, Exit};
use crate::progress::Phase;
use crate::test::OWN_IMPLEMENTATIONS;
use crate::{build, output};

/// A universe has at most so many test cases unless said otherwise, since each is run on each implementation in real time: within
/// an hour on two cores, for the implementations of gbn and lsr that come with Simutant.
const CASES_MAX: usize = 2_500;

/// The same for a system whose test cases take long.
const SLOW_CASES_MAX: usize = 1_000;

/// A test case takes long that takes so much, in milliseconds.
const SLOW_MS: u64 = 1_000;

/// Who takes part by default is tried with the first test cases alone to see whether the others are worth their time.
const PILOT: usize = 100;

/// More of these fail on one in 100 at most of the implementations that fail on 20 % of all, above which none counts.
const PILOT_FAILED_MAX: usize = 30;

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
                None => Simulator::new(&built, Bounds::default()).universe()?.min(cases_max(system)),
            };
            if let Some(exit) = study(arguments, cases, common, &out)? {
                return Ok(exit);
            }
            finished(&built, common.seed, &out).context("the study left no outcomes of this source")?
        }
    };

    let universe = universe(&outcomes);
    let mut log = TrialLog::open(&out.join("trials.jsonl"))?;
    let (mut subjects, mut left_out) = (Vec::with_capacity(implementations.len()), Vec::new());
    for implementation in &implementations {
        match try_all(implementation, &universe, &mut log, arguments, common)? {
            None => subjects.push(subject(implementation, &universe, &log)),
            Some(why) => left_out.push(LeftOut { name: implementation.name.clone(), why }),
        }
    }
    let simulation_ns_per_event = time_events(&built, &outcomes)?;
    let trials =
        Trials { system: outcomes.system.clone(), seed: outcomes.seed, subjects, left_out, simulation_ns_per_event };

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

/// Returns how many test cases are tried unless the user says.
fn cases_max(system: &str) -> usize {
    let is_slow = simutant_harness::timeout(system).is_some_and(|timeout| timeout > Duration::from_mins(1));
    if is_slow { SLOW_CASES_MAX } else { CASES_MAX }
}

/// Runs what was not run yet; returns why the implementation is left out, if it is. One that was asked for never is.
fn try_all(
    implementation: &Implementation,
    universe: &Suite,
    log: &mut TrialLog,
    arguments: &ExperimentArguments,
    common: &Common,
) -> anyhow::Result<Option<String>> {
    let options = options(universe, arguments, common);
    log.agree(implementation, &options, arguments.fresh)?;
    let name = &implementation.name;
    let may_leave_out = arguments.implementation.is_empty();
    let phase = Phase::counted("trying", universe.cases.len() as u64);
    let before = known(name, &universe.cases, log).count();
    let pilot = if may_leave_out { universe.cases.len().min(PILOT) } else { 0 };
    for count in [pilot, universe.cases.len()] {
        match try_first(count, implementation, universe, log, (&options, &phase)) {
            Ok(()) => {}
            Err(error) if may_leave_out && is_of_implementation(&error) => {
                let why = error.to_string();
                let why = why.lines().next().unwrap_or_default().trim_end_matches('.').to_owned();
                phase.end(&format!("{name}, left out ({why})"));
                return Ok(Some(why));
            }
            Err(error) => return Err(error.context(format!("cannot test {name}"))),
        }
        if count == pilot
            && pilot < universe.cases.len()
            && let Some(why) = no_worth(implementation, &universe.cases[..pilot], log)
        {
            phase.end(&format!("{name}, left out ({why})"));
            return Ok(Some(why));
        }
    }
    let kept = if before == 0 { String::new() } else { format!(", {before} of them before") };
    phase.end(&format!("{} test cases on {name}{kept}", universe.cases.len()));
    Ok(None)
}

/// Returns how test cases are run.
fn options(universe: &Suite, arguments: &ExperimentArguments, common: &Common) -> simutant_harness::Options {
    let system = &universe.system;
    let mut options = simutant_harness::Options::new(common.out(system).join("implementations"));
    options.jobs = common.jobs_or(simutant_harness::jobs_for_each_core(system).unwrap_or(1));
    options.timeout = crate::test::timeout(arguments.timeout, system);
    options.seed = common.seed;
    options
}

/// Runs those of the first `count` test cases that were not run yet.
fn try_first(
    count: usize,
    implementation: &Implementation,
    universe: &Suite,
    log: &mut TrialLog,
    (options, phase): (&simutant_harness::Options, &Phase),
) -> anyhow::Result<()> {
    let name = &implementation.name;
    let mut rest = Suite { cases: universe.cases[..count].to_vec(), ..universe.clone() };
    rest.cases.retain(|case| log.get(name, &case.name, &case.case).is_none());
    if rest.cases.is_empty() {
        return Ok(());
    }
    let mut done = known(name, &universe.cases, log).count() as u64;
    let mut failed = known(name, &universe.cases, log).filter(|trial| trial.failed.is_some()).count();
    let mut broken = None::<TrialLogError>;
    run_suite(&rest, implementation, options, &mut |result| {
        done += 1;
        failed += usize::from(!result.outcome.passed());
        phase.at(done, format!("{name}: {failed} failed"));
        if broken.is_none() {
            broken = log.add(name, result).err();
        }
    })?;
    broken.map_or(Ok(()), |error| Err(error.into()))
}

/// Returns the trials of an implementation with test cases.
fn known<'a>(implementation: &'a str, cases: &'a [SuiteCase], log: &'a TrialLog) -> impl Iterator<Item = &'a Trial> {
    cases.iter().filter_map(move |case| log.get(implementation, &case.name, &case.case))
}

/// Returns whether the implementation is what is missing, and others may be there.
fn is_of_implementation(error: &anyhow::Error) -> bool {
    use HarnessError::{BuildFailed, BuildNotStarted, BuildTimedOut, SideNotStarted, SideUnavailable};
    let error = error.downcast_ref::<HarnessError>();
    error.is_some_and(|error| {
        matches!(
            error,
            BuildFailed { .. }
                | BuildNotStarted { .. }
                | BuildTimedOut { .. }
                | SideNotStarted { .. }
                | SideUnavailable { .. }
        )
    })
}

/// Returns why an implementation is not worth more time, by what it did with the first test cases, if it is not.
fn no_worth(implementation: &Implementation, cases: &[SuiteCase], log: &TrialLog) -> Option<String> {
    let failed = known(&implementation.name, cases, log).filter(|trial| trial.failed.is_some()).count();
    let total_ms: u64 = known(&implementation.name, cases, log).map(|trial| trial.duration_ms).sum();
    let tried = cases.len();
    if failed > PILOT_FAILED_MAX {
        return Some(format!("{failed} of the first {tried} test cases fail, too many for it to count"));
    }
    // What is known to be faulty may fail as seldom as it likes.
    let is_right = failed == 0 && implementation.origin == Origin::Release;
    (is_right && total_ms > SLOW_MS * tried as u64)
        .then(|| format!("none of the first {tried} test cases fails, and the others would take long"))
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

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use serde_json::json;
    use simutant_harness::{CaseResult, FailureReason, ProxyCounts, TestOutcome};

    use super::*;

    /// Checks whether an implementation is left out of which `failed` of 100 test cases failed, in so much time each.
    #[track_caller]
    fn check(origin: &str, failed: usize, duration_ms: u64, expect: Option<&str>) {
        let text = format!(
            "name = 'one'\nsystem = 'gbn'\ndescription = ''\norigin = '{origin}'\n[[side]]\nname = 'receiver'\ncommand = ['true']\n\
             [[side]]\nname = 'sender'\ncommand = ['true']"
        );
        let implementation = Implementation::parse(&text, Path::new("one.toml"), Path::new("/")).expect("a good file");
        let folder = tempfile::tempdir().expect("a folder");
        let mut log = TrialLog::open(&folder.path().join("trials.jsonl")).expect("room");
        let cases = (0..100).map(|index| SuiteCase { name: index.to_string(), case: json!({}) });
        let cases: Vec<SuiteCase> = cases.collect();
        for (index, SuiteCase { name, case }) in cases.iter().enumerate() {
            let failure = || TestOutcome::Failed { reason: FailureReason::NoOutput, outputs: Vec::new() };
            let outcome = if index < failed { failure() } else { TestOutcome::Passed };
            let network = ProxyCounts::default();
            let result = CaseResult { name: name.clone(), case: case.clone(), outcome, network, duration_ms };
            log.add("one", &result).expect("room");
        }
        assert_eq!(no_worth(&implementation, &cases, &log).as_deref(), expect);
    }

    #[test]
    fn what_fails_too_often_or_never_is_not_worth_more_time() {
        check("release", 30, 9_000, None);
        check("release", 31, 9_000, Some("31 of the first 100 test cases fail, too many for it to count"));
        check("mistake", 31, 10, Some("31 of the first 100 test cases fail, too many for it to count"));
        let right = "none of the first 100 test cases fails, and the others would take long";
        check("release", 0, 9_000, Some(right));
        check("release", 0, 10, None);
        check("mistake", 0, 9_000, None);
        check("release", 1, 9_000, None);
    }

    #[test]
    fn what_is_missing_of_one_implementation_is_no_reason_to_leave_all() {
        let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
        let one = HarnessError::SideNotStarted {
            implementation: "one".into(),
            side: "resolver".into(),
            program: "one".into(),
            source: missing,
        };
        assert!(is_of_implementation(&one.into()));
        let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
        let all = HarnessError::CompanyNotStarted { system: "dns".into(), program: "nsd".into(), source: missing };
        assert!(!is_of_implementation(&all.into()));
    }

    #[test]
    fn test_cases_that_take_long_are_fewer_and_more_at_a_time() {
        assert_eq!([cases_max("gbn"), cases_max("lsr"), cases_max("dns")], [2_500, 2_500, 1_000]);
        let jobs = |system| simutant_harness::jobs_for_each_core(system).and_then(NonZeroUsize::new);
        assert!(jobs("dns") > jobs("gbn") && jobs("gbn").is_some());
    }
}
