//! `simutant experiment`: the universe of a study on real implementations, and whether mutants predicted what was
//! found.

mod mutants;
mod shards;
mod trying;

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde_json::Value;
use simutant_analysis::{FittedTestTime, analyse_with_threads, case_name, experiment, plural};
use simutant_campaign::{Bounds, Simulator, TraceRecording, read_outcomes_of, read_universe};
use simutant_harness::{Implementation, MissingFaults, RunOptions, TrialLog};
use simutant_mutator::Build;
use simutant_outcomes::{Origin, Outcomes, RunCost, Subject, Suite, SuiteCase, Trials};
use simutant_report::{experiment_report, experiment_summary, experiment_text};
use simutant_study::{CompletedStudy, StudyPlan, TestTimes, with_test_time};

use self::trying::Trying;
use crate::arguments::{Common, ExperimentArguments};
use crate::constants::{self, Compared};
use crate::exit::{BadInput, Exit};
use crate::interrupt::Interrupts;
use crate::progress::ProgressPhase;
use crate::stages::counted;
use crate::study::{complete, stopped, tell_contradictions};
use crate::{build, implementations, output};

/// By default, a universe has at most so many test cases, since each is run on each implementation in real
/// time: within some hours on two cores, for the implementations of gbn and lsr that come with Simutant.
const CASES_MAX: usize = 2_500;

/// The same for a system whose test cases take long.
const SLOW_CASES_MAX: usize = 1_000;

/// So many test cases tell what an event costs.
const TIMED_CASES: usize = 500;

pub(crate) fn run(arguments: &ExperimentArguments, common: &Common) -> anyhow::Result<Exit> {
    let system = &arguments.system.system;
    let out = common.out(system);
    // What cannot be used is told before anything is run.
    let implementations = taking_part(arguments)?;
    let mutated = mutants::find(&implementations, arguments.mutants)?;
    if let (Some(shard), Some(into)) = (arguments.shards.shard, &arguments.shards.into) {
        return shards::run((shard, into), (&implementations, &mutated), arguments, common);
    }
    let given = shards::logs(&arguments.shards.trials)?;
    let constants = constants::compare(&arguments.system, &implementations);
    let found = build::find(&arguments.system)?;
    let (judgements, reference) = (found.judgements()?, found.reference()?);
    let built = build::instrumented(&found)?;
    let outcomes = match finished(&built, common.seed, &out) {
        Some(outcomes) => outcomes,
        None => {
            let cases = match arguments.cases {
                Some(cases) => Some(cases),
                None => {
                    let universe = Simulator::new(&built, Bounds::default()).universe()?;
                    NonZeroUsize::new(universe.min(cases_max(&implementations, system)))
                }
            };
            match study(arguments, cases, common)? {
                Ok(outcomes) => outcomes,
                Err(exit) => return Ok(exit),
            }
        }
    };

    let universe = universe(system, outcomes.seed, outcomes.cases.iter().map(|case| case.case.clone()).collect());
    let mut trying = Trying::new(&universe, TrialLog::open(&out.join("trials.jsonl"))?, arguments.fresh);
    trying.given = given;
    trying.everyone(&implementations, &mutated, arguments, common)?;
    let Trying { subjects, left_out, .. } = trying;
    let simulation_ns_per_event = time_events(&built, &outcomes)?;
    let redraws = implementations.iter().any(|implementation| implementation.redraws(system));
    let (of_system, seed) = (outcomes.system.clone(), outcomes.seed);
    let trials = Trials { system: of_system, seed, redraws, subjects, left_out, simulation_ns_per_event };

    keep_test_times(&outcomes, &trials, &out)?;
    let phase = ProgressPhase::open("analysing");
    let options = simutant_analysis::AnalysisOptions { seed: common.seed, judgements, ..Default::default() };
    let options = with_test_time(options, &out, &found.package)?;
    let analysis = analyse_with_threads(&outcomes, &options, common.jobs())?;
    let found = experiment(&outcomes, &analysis, &trials, &[], common.jobs())?;
    let criteria = counted(analysis.criteria.len(), "criterion", "criteria");
    phase.end(&format!("{criteria} on {}", plural(found.subjects.len(), "implementation")));
    let json = output::json(&Compared { result: &found, constants: &constants })?;
    let text = experiment_text(&found, &analysis, reference.as_ref());
    output::write(&out.join("experiment.json"), &json)?;
    output::write(&out.join("experiment.txt"), &text)?;
    output::write(&out.join("experiment.html"), &experiment_report(&found, &analysis, reference.as_ref()))?;
    if common.json {
        output::print(&json)?;
    } else {
        let shown = if common.verbose { text } else { experiment_summary(&found, &analysis) };
        output::print(&format!(
            "{shown}\nwritten to {}: experiment.html, experiment.txt, experiment.json, trials.jsonl\n{}",
            out.display(),
            output::shows(&out),
        ))?;
    }
    Ok(Exit::Success)
}

/// Fits what a test case takes to what those took that did not fail, and keeps it for studies in the folder `out`.
fn keep_test_times(outcomes: &Outcomes, trials: &Trials, out: &Path) -> anyhow::Result<()> {
    let of_subject = |subject: &Subject| {
        let passed = |case: &usize| !subject.repetitions().any(|failed| failed.contains(*case));
        let trial = |case: usize| (outcomes.cases[case].cost(), subject.durations_ms[case] as f64 / 1000.0);
        let trials: Vec<(RunCost, f64)> = (0..outcomes.cases.len()).filter(passed).map(trial).collect();
        Some((subject.name.clone(), FittedTestTime::fit(&trials)?))
    };
    let programs = trials.subjects.iter().filter(|subject| subject.origin != Origin::Mutant);
    Ok(TestTimes::add(out, programs.filter_map(of_subject))?)
}

/// Returns the implementations that were asked for, or all of the system but those that are there on demand.
fn taking_part(arguments: &ExperimentArguments) -> anyhow::Result<Vec<Implementation>> {
    let system = &arguments.system.system;
    if arguments.implementation.is_empty() {
        let all = implementations::all(&arguments.system)?;
        if all.is_empty() {
            let note = implementations::left_in_repository(&arguments.system)
                .map(|note| format!(". {note}"))
                .unwrap_or_default();
            let message = format!(
                "no implementation of {system} is in the folder `implementations` of its package; give yours with \
                 --implementation FILE.toml{note}"
            );
            return Err(BadInput(message).into());
        }
        return Ok(all);
    }
    let mut found: Vec<Implementation> = Vec::new();
    for name in &arguments.implementation {
        let implementation = implementations::find(name, &arguments.system)?;
        if !implementation.serves(system) {
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
    read_outcomes_of(built, out).ok().flatten().filter(|outcomes| outcomes.seed == seed)
}

/// Runs the study, or the rest of it; returns its outcomes, or how the command ends if there are none to go on with.
fn study(
    arguments: &ExperimentArguments,
    cases: Option<NonZeroUsize>,
    common: &Common,
) -> anyhow::Result<Result<Outcomes, Exit>> {
    let mut plan = StudyPlan::new(arguments.system.request(), common.campaign(&arguments.system.system));
    plan.cases = cases;
    plan.given = read_universe(&plan.campaign.out).map(|known| known.given).unwrap_or_default();
    let interrupts = Interrupts::listen()?;
    let completed = complete(&plan, &interrupts)?;
    let completed = completed.filter(|_| !interrupts.flag().load(Ordering::SeqCst));
    let Some(CompletedStudy { finished, .. }) = completed else { return Ok(Err(stopped(&plan.campaign.out))) };
    Ok(if tell_contradictions(&finished) { Err(Exit::BadInput) } else { Ok(finished.outcomes) })
}

/// Returns all test cases of a study as a suite.
fn universe(system: &str, seed: u64, cases: Vec<Value>) -> Suite {
    let count = cases.len();
    let case = |(index, case)| SuiteCase::new(case_name(system, index, count), case);
    Suite::of_cases(system, "all test cases of the universe", seed, cases.into_iter().enumerate().map(case))
}

/// Returns how many test cases are tried unless the user says.
fn cases_max(implementations: &[Implementation], system: &str) -> usize {
    let is_slow = |implementation: &Implementation| implementation.timeout(system) > Duration::from_mins(1);
    if implementations.iter().any(is_slow) { SLOW_CASES_MAX } else { CASES_MAX }
}

/// Returns how test cases are run on an implementation.
fn options(implementation: &Implementation, arguments: &ExperimentArguments, common: &Common) -> RunOptions {
    let system = &arguments.system.system;
    let mut options = RunOptions::new(common.out(system).join("implementations"));
    options.jobs = common.jobs_or(implementation.jobs_for_each_core(system));
    options.timeout = crate::test::timeout(arguments.timeout, implementation, system);
    options.seed = common.seed;
    options.repetitions = arguments.repeat;
    // What an implementation fails on is counted, not what it passes; how many trials lack faults is reported.
    options.missing_faults = MissingFaults::Pass;
    options
}

/// Says how often each test case runs, after their number.
pub(crate) fn repeated(repetitions: NonZeroU32) -> String {
    if repetitions.get() == 1 { String::new() } else { format!(", each {repetitions} times,") }
}

/// Measures what an event of the simulation costs, with all that comes with asking for a run.
fn time_events(built: &Build, outcomes: &Outcomes) -> anyhow::Result<u64> {
    let mut simulator = Simulator::new(built, Bounds::default());
    let cases = &outcomes.cases[..outcomes.cases.len().min(TIMED_CASES)];
    let Some(first) = cases.first() else { return Ok(0) };
    // The first request starts the worker.
    simulator.simulate(&first.case, None, TraceRecording::Skip, None)?;
    let started = Instant::now();
    let mut events = 0;
    for case in cases {
        events += simulator.simulate(&case.case, None, TraceRecording::Skip, None)?.execution.events;
    }
    let elapsed = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
    Ok(elapsed / events.max(1))
}

#[cfg(test)]
mod tests {
    use simutant_harness::Testbeds;

    use super::*;

    #[test]
    fn test_cases_that_take_long_are_fewer_and_more_at_a_time() {
        let of = |settings: &str| {
            let text =
                format!("name = 'one'\nsystem = 'any'\ndescription = ''\n[driver]\ncommand = ['true']\n{settings}");
            Testbeds::NONE.parse(&text, Path::new("one.toml"), Path::new("/")).expect("a good file")
        };
        let (fast, slow) = (of(""), of("timeout_s = 90\njobs_for_each_core = 20"));
        assert!(slow.jobs_for_each_core("any") > fast.jobs_for_each_core("any"));
        assert_eq!([cases_max(&[fast], "any"), cases_max(&[slow], "any")], [2_500, 1_000]);
    }
}
