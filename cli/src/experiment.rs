//! `simutant experiment`: the universe of a study on real implementations, and whether mutants predicted what was
//! found.

mod progress;

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde::Serialize;
use simutant_analysis::plural;
use simutant_campaign::{Existing, Shard};
use simutant_harness::Implementation;
use simutant_outcomes::Outcomes;
use simutant_report::{experiment_report, experiment_summary, experiment_text};
use simutant_study::{
    CheckedExperiment, CompletedExperiment, CompletedStudy, ExperimentPlan, StudyPlan, TriedPart, Unfit,
};

use self::progress::TrialProgress;
use crate::arguments::{Common, ExperimentArguments};
use crate::constants::{self, Compared};
use crate::exit::{BadInput, Exit, with_options};
use crate::interrupt::Interrupts;
use crate::stages::{Stages, counted};
use crate::study::{complete, stopped, tell_contradictions};
use crate::{implementations, output};

pub(crate) fn run(arguments: &ExperimentArguments, common: &Common) -> anyhow::Result<Exit> {
    let system = &arguments.system.system;
    let out = common.out(system);
    // What cannot be used is told before anything is run.
    let plan = plan(arguments, common)?;
    let checked = plan.check().map_err(with_options)?;
    if let (Some(shard), Some(into)) = (arguments.shards.shard, &arguments.shards.into) {
        return run_part(&checked, (shard, into), (system, plan.repetitions), common);
    }
    let constants = constants::compare(&arguments.system, &plan.implementations);
    let stages = Stages::new(system);
    let built = checked.build(&|event| stages.show(event))?;
    let outcomes = match built.outcomes() {
        Some(outcomes) => outcomes,
        None => match study(&built.study()?)? {
            Ok(outcomes) => outcomes,
            Err(exit) => return Ok(exit),
        },
    };
    let mut progress = TrialProgress::new(plan.repetitions);
    let completed = built.run(outcomes, &mut |event| progress.show(event))?;
    let CompletedExperiment { found, analysis, reference } = &completed;
    let criteria = counted(analysis.criteria.len(), "criterion", "criteria");
    progress.end(&format!("{criteria} on {}", plural(found.subjects.len(), "implementation")));
    let json = output::json(&Compared { result: found, constants: &constants })?;
    let text = experiment_text(found, analysis, reference.as_ref());
    output::write(&out.join("experiment.json"), &json)?;
    output::write(&out.join("experiment.txt"), &text)?;
    output::write(&out.join("experiment.html"), &experiment_report(found, analysis, reference.as_ref()))?;
    if common.json {
        output::print(&json)?;
    } else {
        let shown = if common.verbose { text } else { experiment_summary(found, analysis) };
        output::print(&format!(
            "{shown}\nwritten to {}: experiment.html, experiment.txt, experiment.json, trials.jsonl\n{}",
            out.display(),
            output::shows(&out),
        ))?;
    }
    Ok(Exit::Success)
}

/// Returns what the experiment is to do.
fn plan(arguments: &ExperimentArguments, common: &Common) -> anyhow::Result<ExperimentPlan> {
    let implementations = taking_part(arguments)?;
    let system = &arguments.system;
    Ok(ExperimentPlan {
        cases: arguments.cases,
        unfit: if arguments.implementation.is_empty() { Unfit::LeaveOut } else { Unfit::TakePart },
        jobs: common.jobs,
        timeout: arguments.timeout.map(Duration::from_secs),
        repetitions: arguments.repeat,
        existing: if arguments.fresh { Existing::Delete } else { Existing::Continue },
        mutants: arguments.mutants,
        parts: arguments.shards.trials.clone(),
        ..ExperimentPlan::new(system.request(), common.campaign(&system.system), implementations)
    })
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

/// Runs the study, or the rest of it; returns its outcomes, or how the command ends if there are none to go on with.
fn study(plan: &StudyPlan) -> anyhow::Result<Result<Outcomes, Exit>> {
    let interrupts = Interrupts::listen()?;
    let completed = complete(plan, &interrupts)?;
    let completed = completed.filter(|_| !interrupts.flag().load(Ordering::SeqCst));
    let Some(CompletedStudy { finished, .. }) = completed else { return Ok(Err(stopped(&plan.campaign.out))) };
    Ok(if tell_contradictions(&finished) { Err(Exit::BadInput) } else { Ok(finished.outcomes) })
}

/// What `--json` prints of a part.
#[derive(Debug, Serialize)]
struct Part<'a> {
    system: &'a str,
    shard: String,
    #[serde(flatten)]
    tried: &'a TriedPart,
}

/// Tries a part of the universe of a study, and analyses nothing.
fn run_part(
    checked: &CheckedExperiment<'_>,
    (shard, into): (Shard, &Path),
    (system, repetitions): (&str, NonZeroU32),
    common: &Common,
) -> anyhow::Result<Exit> {
    let mut progress = TrialProgress::new(repetitions);
    let tried = checked.run_part(shard, into, &mut |event| progress.show(event)).map_err(with_options)?;
    let TriedPart { cases, implementations, left_out } = &tried;
    output::print(&if common.json {
        output::json(&output::Versioned::new(Part { system, shard: shard.to_string(), tried: &tried }))?
    } else {
        let left_out: String =
            left_out.iter().map(|left_out| format!("left out here: {} ({})\n", left_out.name, left_out.why)).collect();
        format!(
            "part {shard} of the trials with {system}: {} on {}\n{left_out}written to {}\nnext: this command with --trials and the \
             files of all parts in the place of --shard and --into\n",
            plural(*cases, "test case"),
            plural(implementations.len(), "implementation"),
            into.display(),
        )
    })?;
    Ok(Exit::Success)
}

/// Says how often each test case runs, after their number.
pub(crate) fn repeated(repetitions: NonZeroU32) -> String {
    if repetitions.get() == 1 { String::new() } else { format!(", each {repetitions} times,") }
}
