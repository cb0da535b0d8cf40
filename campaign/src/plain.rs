//! The package as it is written: its test cases pass and repeat before anything else is built, and what the mutator puts
//! in must not change what a simulation does.

use std::collections::BTreeMap;
use std::num::{NonZeroU8, NonZeroUsize};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use serde_json::Value;
use simutant_outcomes::{Cause, Execution, InputSource, RunEnd};
use simutant_protocol::{ChoiceRecording, Choosing, Recorded, Simulated, TraceRecording, UniverseSettings};

use crate::campaign::universe::{add_reseedings, normalise_given};
use crate::cases::Cases;
use crate::crew::{Crew, Workshop};
use crate::error::Share;
use crate::journal::Rounds;
use crate::{Bounds, CampaignError, CampaignPlan, Phase, Progress, SessionEnd, pool};

/// What is run on the package as it is written, before the instrumented build is made.
#[derive(Debug, Clone, Copy)]
pub struct PlainCheck<'a> {
    /// The worker of the system with nothing put in ([`build_plain`](simutant_mutator::build_plain)).
    pub plain: &'a Path,
    /// The system's name.
    pub system: &'a str,
    /// The seed of the universe.
    pub seed: u64,
    /// How the universe is drawn. A source that learns needs the instrumented build: then test cases are drawn
    /// uniformly.
    pub input_source: InputSource,
    /// How many test cases the universe has; `None` for as many as the system asks for.
    pub cases: Option<NonZeroUsize>,
    /// Test cases that follow those that are drawn.
    pub given: &'a [Value],
    /// How often each of them is run at most, itself included: with its chance drawn anew from the second time on.
    pub reseedings: NonZeroU8,
    /// What bounds a run.
    pub bounds: Bounds,
}

/// How a test case ended on the package as it is written.
enum Ended {
    Passed,
    /// Both runs failed; the first one is told.
    Failed(Value, Execution),
    /// Its two runs differ.
    Differs(String),
}

impl PlainCheck<'_> {
    /// Runs each test case of the universe twice, and each of its re-seedings once, `jobs` at a time: what is wrong with an
    /// oracle, or with a simulation that depends on more than its test case, is known before the instrumented build is
    /// made. What chance does to a simulation is known as well, since the re-seedings are those of the campaign.
    ///
    /// All test cases are run before one is reported, unless one hangs: then no more are begun.
    ///
    /// # Errors
    /// [`CampaignError::NotDeterministic`] and [`CampaignError::BaselineFailed`], with the number of test cases that
    /// differ or fail, as [`CampaignError::OfReseeding`] if the first is a re-seeding; others if the worker cannot be
    /// used.
    pub fn run(
        &self,
        jobs: NonZeroUsize,
        progress: &mut dyn FnMut(Progress),
        stop: &AtomicBool,
    ) -> Result<SessionEnd, CampaignError> {
        let &Self { plain, system, seed, bounds, .. } = self;
        let crew = || Crew::new(Workshop { program: plain, system, bounds });
        let mut first = crew();
        let (cases, universe) = self.draw(&mut first, progress)?;
        let total = cases.len();
        // A worker belongs to the thread that started it.
        drop(first);
        let numbers: Vec<usize> = (0..total).collect();
        // More than the caller stops it: each test case that hangs takes long.
        let halt = AtomicBool::new(false);
        let work = |crew: &mut Crew<'_>, number: usize| {
            let case = cases.get(number);
            // The campaign runs a test case and its re-seedings again, and compares: the universe is enough here.
            let ended = if number < universe { run_twice(crew, &bounds, case) } else { run_once(crew, &bounds, case) };
            let hangs = matches!(&ended, Ok(Ended::Failed(_, execution)) if execution.cause == Some(Cause::Hang));
            if hangs || stop.load(Relaxed) {
                halt.store(true, Relaxed);
            }
            ended
        };
        let (mut done, mut failed, mut differing) = (0, BTreeMap::new(), BTreeMap::new());
        let seen = |_, _: &Ended| {
            done += 1;
            progress(Progress { phase: Phase::Plain, done, total, executions: 0 });
        };
        let write = |ends: &[(usize, Ended)]| {
            for (number, ended) in ends {
                match ended {
                    Ended::Passed => {}
                    Ended::Failed(case, execution) => _ = failed.insert(*number, (case.clone(), execution.clone())),
                    Ended::Differs(difference) => _ = differing.insert(*number, difference.clone()),
                }
            }
            Ok(())
        };
        let crews = (0..jobs.get().min(total)).map(|_| crew()).collect();
        let end = pool::run(crews, &numbers, &halt, work, seen, write)?;
        let share = |of: usize| Some(Share { of, among: done });
        let (differ, fail) = (share(differing.len()), share(failed.len()));
        if let Some((number, difference)) = differing.pop_first() {
            return Err(CampaignError::NotDeterministic { number, difference, share: differ });
        }
        let Some((number, (case, execution))) = failed.pop_first() else { return Ok(end) };
        let error = CampaignError::BaselineFailed {
            system: system.to_owned(),
            seed,
            number,
            case: Box::new(case.clone()),
            execution: Box::new(execution),
            share: fail,
        };
        Err(error.of_reseeding(universe, &case))
    }

    /// Returns the test cases with their re-seedings, in the order of the campaign, and how many the universe has.
    fn draw(&self, crew: &mut Crew<'_>, progress: &mut dyn FnMut(Progress)) -> Result<(Cases, usize), CampaignError> {
        let &Self { seed, input_source, cases, given, reseedings, .. } = self;
        let size = cases.map_or_else(|| crew.description().map(|known| known.universe), |cases| Ok(cases.get()))?;
        let source = if input_source.learns() { InputSource::Uniform } else { input_source };
        let mut cases = Cases::default();
        cases.extend(crew.draw_all(UniverseSettings { source, seed, size }, |_| {})?);
        cases.extend(normalise_given(crew, seed, size, given)?);
        let universe = cases.len();
        // Whether there are re-seedings is not known yet, and to draw them takes a while.
        progress(Progress { phase: Phase::Plain, done: 0, total: universe, executions: 0 });
        add_reseedings(crew, (seed, universe), reseedings, &mut cases, Rounds::default())?;
        Ok((cases, universe))
    }
}

/// Runs a test case.
fn run_once(crew: &mut Crew<'_>, bounds: &Bounds, case: Value) -> Result<Ended, CampaignError> {
    let run = simulate(crew, bounds, &case, TraceRecording::Skip)?;
    let execution = run.map_or_else(|execution| execution, |simulated| simulated.execution);
    Ok(if execution.verdict == RunEnd::Passed { Ended::Passed } else { Ended::Failed(case, execution) })
}

/// Runs a test case twice.
fn run_twice(crew: &mut Crew<'_>, bounds: &Bounds, case: Value) -> Result<Ended, CampaignError> {
    let mut run = || simulate(crew, bounds, &case, TraceRecording::Skip);
    let first = run()?;
    let execution = first.as_ref().map_or_else(Clone::clone, |simulated| simulated.execution.clone());
    if execution.cause == Some(Cause::Hang) {
        return Ok(Ended::Failed(case, execution));
    }
    let second = run()?;
    let facts = |run: &Result<Simulated, Execution>| match run {
        Ok(run) => facts(&run.execution, run.virtual_time_ns, run.digest),
        Err(execution) => facts(execution, 0, 0),
    };
    let differing = facts(&first).into_iter().zip(facts(&second)).find(|(first, second)| first != second);
    Ok(match differing {
        Some(((fact, first), (_, second))) => {
            let mut difference = format!("the {fact} is {first} in one, {second} in the other");
            let traces = [trace(crew, bounds, &case)?, trace(crew, bounds, &case)?];
            if let Some((event, first, second)) = first_difference(&traces) {
                difference.push_str(&format!("; two more differ from event {event} on: {first} and {second}"));
            }
            Ended::Differs(difference)
        }
        None if execution.verdict == RunEnd::Passed => Ended::Passed,
        None => Ended::Failed(case, execution),
    })
}

/// The workers of one thread: those of the instrumented build, and those of the plain one.
#[derive(Debug)]
pub(crate) struct Crews<'a> {
    pub(crate) instrumented: Crew<'a>,
    plain: Crew<'a>,
    plan: &'a CampaignPlan,
}

impl<'a> Crews<'a> {
    /// Returns crews without workers yet.
    pub(crate) fn new(plan: &'a CampaignPlan, plain: &'a Path) -> Self {
        let crew = |program| Crew::new(Workshop { program, system: &plan.build.sites.system, bounds: plan.bounds });
        Self { instrumented: crew(&plan.build.worker), plain: crew(plain), plan }
    }

    /// Runs a test case on the plain build; its run must be the one of the original in the instrumented build that was
    /// recorded.
    pub(crate) fn compare(&mut self, number: usize, case: &Value, recorded: &Recorded) -> Result<(), CampaignError> {
        let of_original = facts(&recorded.execution, recorded.virtual_time_ns, recorded.digest);
        let of_plain = match simulate(&mut self.plain, &self.plan.bounds, case, TraceRecording::Skip)? {
            Ok(plain) => facts(&plain.execution, plain.virtual_time_ns, plain.digest),
            Err(execution) => facts(&execution, 0, 0),
        };
        let Some(((fact, original), (_, plain))) =
            of_original.into_iter().zip(of_plain).find(|(original, plain)| original != plain)
        else {
            return Ok(());
        };
        let mut difference =
            format!("the {fact} is {plain} as it is written, and {original} in the instrumented build");
        if let Some(event) = self.first_difference(case)? {
            difference.push_str("; ");
            difference.push_str(&event);
        }
        Err(CampaignError::NotAsWritten { number, case: Box::new(case.clone()), difference })
    }

    /// Returns the first event in which two more runs differ, in words; `None` if their traces do not show it.
    fn first_difference(&mut self, case: &Value) -> Result<Option<String>, CampaignError> {
        let bounds = &self.plan.bounds;
        let traces = [trace(&mut self.plain, bounds, case)?, trace(&mut self.instrumented, bounds, case)?];
        Ok(first_difference(&traces).map(|(event, plain, original)| {
            format!("from event {event} on: as it is written {plain}, in the instrumented build {original}")
        }))
    }
}

/// Returns the events of one more run; `None` if it keeps none.
fn trace(crew: &mut Crew<'_>, bounds: &Bounds, case: &Value) -> Result<Option<Vec<Value>>, CampaignError> {
    let simulated = simulate(crew, bounds, case, TraceRecording::Keep)?.ok();
    let trace = simulated.and_then(|simulated| simulated.trace);
    Ok(match trace.map(|trace| trace.read()) {
        Some(Ok(Value::Array(trace))) => Some(trace),
        _ => None,
    })
}

/// Returns from which event on two runs differ, and that event of each; `None` if their traces do not show it.
fn first_difference(traces: &[Option<Vec<Value>>; 2]) -> Option<(usize, String, String)> {
    let [Some(first), Some(second)] = traces else { return None };
    let common = first.iter().zip(second).take_while(|(first, second)| first == second).count();
    let text = |trace: &[Value]| trace.get(common).map_or("the end of the run".to_owned(), Value::to_string);
    (first != second).then(|| (common, text(first), text(second)))
}

/// Returns what must be equal, each with its name. Steps are not: nothing counts them in the plain build.
fn facts(execution: &Execution, virtual_time_ns: u64, digest: u64) -> [(&'static str, String); 4] {
    [
        ("verdict", format!("{} {}", execution.verdict, execution.reason).trim_end().to_owned()),
        ("number of events", execution.events.to_string()),
        ("virtual time at the end", format!("{virtual_time_ns} ns")),
        ("digest of the events", format!("{digest:016x}")),
    ]
}

/// Runs the original of a build; a run that ends or hangs its process gives an execution that says so.
fn simulate(
    crew: &mut Crew<'_>,
    bounds: &Bounds,
    case: &Value,
    trace: TraceRecording,
) -> Result<Result<Simulated, Execution>, CampaignError> {
    crew.simulate(case, None, bounds.baseline_limits(), &Choosing::default(), (trace, ChoiceRecording::Skip))
}
