//! `simutant simulate --shrink`: the smallest test case that fails in the same way, and the command that runs it.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use simutant_campaign::shrink::{Candidate, Failure, Ran, ShrinkEnd, Shrunk, shrink};
use simutant_campaign::{CampaignError, ChoiceRecording, Choosing, RunLimits, Simulated, Simulator, TraceRecording};
use simutant_mutator::Build;
use simutant_outcomes::FORMAT_VERSION;
use simutant_sim_core::{ChoiceKind, RecordedChoice};

use crate::arguments::{Common, SimulateArguments};
use crate::exit::{BadInput, Exit};
use crate::output::{self, quoted};
use crate::progress::ProgressPhase;
use crate::simulate;

/// The most choices that are told one by one.
const CHOICES_TOLD_MAX: usize = 20;

/// A file with choices.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChoicesFile {
    format_version: u32,
    /// What the choices were made for: the streams of another system have other names.
    system: String,
    /// The choices.
    imposed: Choosing,
}

#[derive(Debug, Serialize)]
struct Printed<'a> {
    #[serde(flatten)]
    run: simulate::Run<'a>,
    imposed: &'a Choosing,
    candidates_tried: u64,
    is_minimal: bool,
    command: String,
}

/// Returns the choices that are imposed on the run: those of `--choices`.
pub(crate) fn read_choices(arguments: &SimulateArguments) -> anyhow::Result<Choosing> {
    let Some(path) = &arguments.choices else { return Ok(Choosing::default()) };
    let bad = |error: &dyn std::fmt::Display| BadInput(format!("--choices {}: {error}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| bad(&error))?;
    let ChoicesFile { format_version, system, imposed } = serde_json::from_str(&text).map_err(|error| bad(&error))?;
    if format_version != FORMAT_VERSION {
        let message = format!("format_version is {format_version}: this release reads {FORMAT_VERSION}; shrink again");
        return Err(bad(&message).into());
    }
    if system != arguments.system.system {
        let message = format!("these choices are for {system}, not for {}", arguments.system.system);
        return Err(bad(&message).into());
    }
    Ok(imposed)
}

/// Shrinks `start`, which was given on the command line, and prints what is left of it.
pub(crate) fn run(
    start: Candidate,
    arguments: &SimulateArguments,
    common: &Common,
    built: Option<&Build>,
    (mut simulator, limits): (Simulator<'_>, Option<RunLimits>),
) -> anyhow::Result<Exit> {
    let mutant = arguments.mutant;
    let mut simulate = |candidate: &Candidate, mutant, trace, choices| {
        simulator.simulate_choosing(&candidate.case, mutant, &candidate.choosing, (trace, choices), limits)
    };
    let failure_of = |simulated: &Simulated| Failure::of(&simulated.execution);

    let Some(failure) = failure_of(&simulate(&start, mutant, TraceRecording::Skip, ChoiceRecording::Skip)?) else {
        return Err(BadInput("--shrink: the test case does not fail; give one that does".to_owned()).into());
    };
    // Of a mutant, only what the mutation is to blame for is of interest.
    let must_pass =
        mutant.is_some() && failure_of(&simulate(&start, None, TraceRecording::Skip, ChoiceRecording::Skip)?).is_none();

    let phase = ProgressPhase::counted("shrinking", arguments.shrink_runs);
    let mut tried = 0;
    let shrunk = shrink(start, &failure, arguments.shrink_runs, |candidate, choices| {
        tried += 1;
        phase.at(tried, format!("candidates at most: {}", candidate.case));
        let simulated = match simulate(candidate, mutant, TraceRecording::Skip, choices) {
            Err(CampaignError::CaseRefused { .. }) => return Ok(Ran::Refused),
            simulated => simulated?,
        };
        Ok::<_, CampaignError>(match failure_of(&simulated) {
            None => Ran::Passed,
            Some(found) if must_pass && found == failure => {
                match failure_of(&simulate(candidate, None, TraceRecording::Skip, ChoiceRecording::Skip)?) {
                    None => Ran::Failed { failure: found, choices: simulated.choices },
                    Some(_) => Ran::Passed,
                }
            }
            Some(failure) => Ran::Failed { failure, choices: simulated.choices },
        })
    })?;
    phase.end(&format!("{} candidates, of which {} were steps on the way", shrunk.runs, shrunk.steps));

    let trace = if arguments.trace { TraceRecording::Keep } else { TraceRecording::Skip };
    let mut simulated = simulate(&shrunk.candidate, mutant, trace, ChoiceRecording::Keep)?;
    let made = simulated.choices.take();
    let command = command(&shrunk.candidate, arguments, common)?;
    let run =
        simulate::Run { system: &arguments.system.system, case: &shrunk.candidate.case, mutant, simulated: &simulated };
    let text = if common.json {
        let is_minimal = shrunk.end == ShrinkEnd::Minimal;
        let (imposed, candidates_tried) = (&shrunk.candidate.choosing, shrunk.runs);
        output::json(&output::Versioned::new(Printed { run, imposed, candidates_tried, is_minimal, command }))?
    } else {
        format!("{}{}again: {command}\n", simulate::text(&run, built), left(&shrunk, made.as_deref()))
    };
    output::print(&text)?;
    Ok(Exit::Failed)
}

/// Says what is left of the faults of the network, and whether there might be less.
fn left(shrunk: &Shrunk, made: Option<&[RecordedChoice]>) -> String {
    let count = |kind, what: &str| {
        let of_kind = || made.unwrap_or_default().iter().filter(|choice| choice.kind == kind);
        let faults = of_kind().filter(|choice| choice.value != 0).count();
        // Any simultaneous events could have come in another order: that is of interest only where they do.
        let is_told = if kind == ChoiceKind::Order { faults > 0 } else { of_kind().count() > 0 };
        is_told.then(|| format!("{faults} of {} {what}", of_kind().count()))
    };
    let counts = [
        (ChoiceKind::Drop, "packets dropped"),
        (ChoiceKind::Duplicate, "packets duplicated"),
        (ChoiceKind::Corrupt, "packets corrupted"),
        (ChoiceKind::Reorder, "packets held back"),
        (ChoiceKind::CopyCorrupt, "copies corrupted"),
        (ChoiceKind::CopyReorder, "copies held back"),
        (ChoiceKind::Order, "simultaneous events out of the order of scheduling"),
    ];
    let counts: Vec<String> = counts.into_iter().filter_map(|(kind, what)| count(kind, what)).collect();
    let mut text = match (made, counts.is_empty()) {
        (None, _) => "faults left: not known, for the run ended its process\n".to_owned(),
        (Some(_), true) => "faults left: none, and the network can make none\n".to_owned(),
        (Some(_), false) => format!("faults left: {}\n", counts.join(", ")),
    };
    let imposed = &shrunk.candidate.choosing.choices;
    for (stream, nanos) in &shrunk.candidate.choosing.latencies {
        text.push_str(&format!("  {stream}: packets take {nanos} ns, unless another time stands here\n"));
    }
    imposed.iter().take(CHOICES_TOLD_MAX).for_each(|choice| text.push_str(&format!("  {}\n", told(choice))));
    if imposed.len() > CHOICES_TOLD_MAX {
        text.push_str(&format!("  and {} more\n", imposed.len() - CHOICES_TOLD_MAX));
    }
    if shrunk.end == ShrinkEnd::RunsUsedUp {
        text.push_str("it may get smaller yet: --shrink-runs was used up\n");
    }
    text
}

fn told(choice: &RecordedChoice) -> String {
    let RecordedChoice { stream, index, kind, value } = choice;
    let what = match kind {
        ChoiceKind::Drop => format!("packet {index} is lost"),
        ChoiceKind::Duplicate => format!("packet {index} arrives twice"),
        ChoiceKind::Corrupt => format!("packet {index} is corrupted"),
        ChoiceKind::Reorder => format!("packet {index} is held back"),
        ChoiceKind::Latency => format!("packet {index} takes {value} ns"),
        ChoiceKind::CopyCorrupt => format!("copy {index} is corrupted"),
        ChoiceKind::CopyReorder => format!("copy {index} is held back"),
        ChoiceKind::CopyLatency => format!("copy {index} takes {value} ns"),
        ChoiceKind::Hold => format!("packet {index} is held back for {value} ns"),
        ChoiceKind::CopyHold => format!("copy {index} is held back for {value} ns"),
        ChoiceKind::Corruption => format!("corruption {index} is that of seed {value}"),
        ChoiceKind::Order => format!("event {value} comes next where, for time {index}, several could"),
        ChoiceKind::Bits => format!("draw {index} is {value}"),
    };
    format!("{stream}: {what}")
}

/// Returns eight digits that differ for different texts, as a rule: so that a file is never replaced by another, and a
/// command that was printed before goes on to mean what it meant (FNV-1a).
fn fingerprint(text: &str) -> String {
    let hash = text.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{hash:08x}")
}

/// Returns the command that runs the candidate, and writes the files that it needs.
fn command(candidate: &Candidate, arguments: &SimulateArguments, common: &Common) -> anyhow::Result<String> {
    let out = common.out(&arguments.system.system);
    let of_path = |path: &Path| quoted(&path.display().to_string());
    let case = match &candidate.case {
        Value::Object(_) | Value::Array(_) | Value::String(_) => quoted(&candidate.case.to_string()),
        // On the command line, this would not be taken for JSON.
        other => {
            let text = output::json(other)?;
            let path = out.join(format!("shrunk-case-{}.json", fingerprint(&text)));
            output::write(&path, &text)?;
            of_path(&path)
        }
    };
    let mut text = format!("{} simulate {} --case {case}", quoted(&output::program()), arguments.system.command_line());
    if let Some(mutant) = arguments.mutant {
        text.push_str(&format!(" --mutant {mutant}"));
    }
    if candidate.choosing != Choosing::default() {
        let (system, imposed) = (arguments.system.system.clone(), candidate.choosing.clone());
        let file = output::json(&ChoicesFile { format_version: FORMAT_VERSION, system, imposed })?;
        let path = out.join(format!("shrunk-choices-{}.json", fingerprint(&file)));
        output::write(&path, &file)?;
        text.push_str(&format!(" --choices {}", of_path(&path)));
    }
    text.push_str(&format!(" --out {}", of_path(&out)));
    Ok(text)
}
