//! `simutant shard`: a part of a study that was prepared.

use std::time::{Duration, Instant};

use serde::Serialize;
use simutant_analysis::plural;
use simutant_campaign::{Bundle, Progress, SessionEnd, ShardRun};
use simutant_cluster::ShardProgress;

use crate::arguments::{Common, ShardArguments};
use crate::exit::Exit;
use crate::interrupt::Interrupts;
use crate::output;
use crate::progress::ProgressPhase;

/// How often a shard says in a file how far it is.
const NOTED: Duration = Duration::from_secs(5);

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Result<'a> {
    system: &'a str,
    shard: String,
    /// Test cases of the shard.
    cases: usize,
    /// Test cases, re-seedings counted apart, in the file.
    done: usize,
    is_complete: bool,
    /// Test cases that were recorded again, and were the same, before a mutant was run.
    checked: u64,
    /// Runs on mutants in this session.
    executed: u64,
}

pub(crate) fn run(arguments: &ShardArguments, common: &Common) -> anyhow::Result<Exit> {
    let ShardArguments { bundle, shard, into, id, progress: noted } = arguments;
    let bundle = Bundle::open(bundle, id.as_deref())?;
    let interrupts = Interrupts::listen()?;
    let mut phase = None;
    let mut written: Option<Instant> = None;
    let mut show = |progress: Progress| {
        let Progress { done, total, executions: executed, .. } = progress;
        if let Some(file) = noted
            && (done == total || written.is_none_or(|written| written.elapsed() >= NOTED))
        {
            // A shard does not fail for what only people look at.
            _ = ShardProgress { done, total, executed }.write(file);
            written = Some(Instant::now());
        }
        let phase = phase.get_or_insert_with(|| ProgressPhase::counted("mutating", progress.total as u64));
        let message = format!("test cases, {} on mutants", plural(progress.executions as usize, "run"));
        phase.at(progress.done as u64, message);
    };
    let run = bundle.run_shard(*shard, into, common.jobs(), &mut show, interrupts.flag())?;
    drop(phase);
    let ShardRun { end, cases, done, checked, executed } = run;
    let is_complete = end == SessionEnd::Finished;
    let system = bundle.system();
    if common.json {
        let shard = shard.to_string();
        output::print(&output::json(&Result { system, shard, cases, done, is_complete, checked, executed })?)?;
    } else {
        let state = if is_complete { "complete" } else { "stopped; the same command resumes it" };
        output::print(&format!(
            "shard {shard} of {system}: {}, {} on mutants in this session; recorded again, with the same end: {checked}\n\
             written to {}: {state}\n",
            plural(cases, "test case"),
            plural(executed as usize, "run"),
            into.display(),
        ))?;
    }
    Ok(if is_complete { Exit::Success } else { Exit::Interrupted })
}
