//! `simutant simulate`: one test case, looked at.

use std::path::Path;

use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use simutant_campaign::shrink::Candidate;
use simutant_campaign::{
    Bounds, ChoiceRecording, Simulated, Simulator, TRACE_EVENTS_MAX, TraceRecording, TraceText,
    read_case as read_case_of_study, read_limits,
};
use simutant_mutator::Build;
use simutant_outcomes::{Execution, RunEnd};
use simutant_sim_core::trace::TraceEvent;
use simutant_study::{StudiedSystem, caption, read_trace};

use crate::arguments::{Common, SimulateArguments};
use crate::exit::{BadInput, Exit};
use crate::{build, given, output, shrink, trace_files};

#[derive(Debug, Serialize)]
pub(crate) struct Run<'a> {
    pub(crate) system: &'a str,
    pub(crate) case: &'a Value,
    pub(crate) mutant: Option<u32>,
    #[serde(flatten)]
    pub(crate) simulated: &'a Simulated,
}

pub(crate) fn run(arguments: &SimulateArguments, common: &Common) -> anyhow::Result<Exit> {
    let system = &arguments.system.system;
    let out = common.out(system);
    let found = build::find(&arguments.system)?;
    let built = arguments.mutant.map(|number| build_with(number, &found)).transpose()?;
    let plain;
    let mut simulator = match &built {
        Some(built) => Simulator::new(built, Bounds::default()),
        // The original is the package as it is written, which takes a fraction of the time to build.
        None => {
            plain = build::plain(&found)?;
            Simulator::of_plain(&plain, system, Bounds::default())
        }
    };
    let case = read_case(&arguments.case, (common, &out), &mut simulator)?;
    let choosing = shrink::read_choices(arguments)?;
    // A mutant ends here as it did in the study.
    let limits = read_limits(&out)?;
    if arguments.shrink {
        return shrink::run(Candidate { case, choosing }, arguments, common, built.as_ref(), (simulator, limits));
    }
    let has_files = !(arguments.diagram.is_empty() && arguments.trace_file.is_empty());
    let trace = if arguments.trace || has_files { TraceRecording::Keep } else { TraceRecording::Skip };
    let kept = (trace, ChoiceRecording::Skip);
    let mut simulated = simulator.simulate_choosing(&case, arguments.mutant, &choosing, kept, limits)?;
    let events = simulated.trace.as_ref().map(read_trace::<Vec<IgnoredAny>>).transpose()?;
    if events.is_some_and(|events| events.len() >= TRACE_EVENTS_MAX) {
        output::tell(&format!("the trace has the first {TRACE_EVENTS_MAX} events of the run, and no others"));
    }
    if has_files {
        write_files(arguments, &case, &simulated)?;
    }
    if !arguments.trace {
        simulated.trace = None;
    }

    let run = Run { system, case: &case, mutant: arguments.mutant, simulated: &simulated };
    output::print(&if common.json { output::json(&output::Versioned::new(run))? } else { text(&run, built.as_ref()) })?;
    Ok(match simulated.execution.verdict {
        RunEnd::Passed => Exit::Success,
        RunEnd::Inconclusive => Exit::Inconclusive,
        RunEnd::Failed | RunEnd::NotTerminated | RunEnd::Abnormal => Exit::Failed,
    })
}

fn write_files(arguments: &SimulateArguments, case: &Value, simulated: &Simulated) -> anyhow::Result<()> {
    let Some(trace) = &simulated.trace else {
        output::tell("no diagram and no file of the trace: the run ended its process");
        return Ok(());
    };
    let trace = read_trace(trace)?;
    let system = &arguments.system.system;
    let subject = arguments.mutant.map_or_else(|| system.clone(), |number| format!("{system}, mutant {number}"));
    let caption = caption(format!("{subject}: {case}"), &simulated.execution);
    for file in &arguments.diagram {
        trace_files::write_diagram(file, &trace, &caption)?;
    }
    for file in &arguments.trace_file {
        trace_files::write_trace(file, &trace)?;
    }
    Ok(())
}

/// Builds the system with all its mutants, among which this one must be.
fn build_with(mutant: u32, system: &StudiedSystem) -> anyhow::Result<Build> {
    let built = build::instrumented(system)?;
    let count = built.sites.mutants.len();
    if mutant as usize >= count {
        let message = format!("--mutant {mutant}: there are {count} mutants, from 0 on; `mutants` lists them");
        return Err(BadInput(message).into());
    }
    Ok(built)
}

/// Returns the test case that is given by its number in the universe, as JSON, or as a file with JSON.
///
/// The universe is that of the study in `out`, however that was drawn, if it is of this seed and has the number; else
/// the one that is drawn uniformly.
pub(crate) fn read_case(
    given: &str,
    (common, out): (&Common, &Path),
    simulator: &mut Simulator<'_>,
) -> anyhow::Result<Value> {
    let given = given.trim();
    if let Ok(number) = given.parse::<usize>() {
        let studied = read_case_of_study(out, common.seed, number)?;
        return studied.map_or_else(|| Ok(simulator.draw(common.seed, number)?), Ok);
    }
    let (text, name) = given::json_or_file("--case", given, "not a number, ")?;
    Ok(serde_json::from_str(&text).map_err(|error| BadInput(format!("{name}: not JSON: {error}")))?)
}

/// Returns what is printed of a run: on a mutant, of this build; or on the package as it is written, which counts no
/// steps.
pub(crate) fn text(run: &Run<'_>, built: Option<&Build>) -> String {
    let Simulated { execution, virtual_time_ns, waiting, trace, .. } = run.simulated;
    let Execution { verdict, cause, reason, events, steps } = execution;
    let mut text = String::new();
    if let Some(Ok(events)) = trace.as_ref().map(TraceText::read::<Vec<TraceEvent>>) {
        events.iter().for_each(|event| text.push_str(&format!("{event}\n")));
    }
    text.push_str(&format!("test case: {}\n", run.case));
    if let (Some(number), Some(Build { sites, .. })) = (run.mutant, built) {
        let mutant = &sites.mutants[number as usize];
        text.push_str(&format!("mutant {number}, {}:\n", mutant.operator));
        text.push_str(&output::coloured(&sites.diff(mutant, 2)));
        if !run.simulated.reached {
            text.push_str("the run does not reach it\n");
        }
    }
    text.push_str(&format!("verdict: {verdict}"));
    if let Some(cause) = cause {
        text.push_str(&format!(" ({cause})"));
    }
    if !reason.is_empty() {
        text.push_str(&format!(": {reason}"));
    }
    let seconds = *virtual_time_ns as f64 / 1e9;
    let steps = built.map(|_| format!(", {steps} steps")).unwrap_or_default();
    text.push_str(&format!("\n{events} events{steps}, {seconds:.3} s of virtual time\n"));
    if *verdict != RunEnd::Passed {
        // On a run that went well these are servers.
        waiting.iter().for_each(|waiting| text.push_str(&format!("at the end, {waiting}\n")));
    }
    text
}
