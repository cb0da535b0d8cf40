//! Requests in, answers out, until the input ends.

use std::io::{BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use serde_json::Value;
use simutant_outcomes::MutantNumber;
use simutant_protocol::{Description, MutantExecution, Recorded, RunLimits, WorkerAnswer, WorkerRequest, to_line};

use crate::answers::Answers;
use crate::process::Streams;
use crate::run::{self, Subject};
use crate::system::{Case, ErasedSystem, RefusedCase, Wanted};
use crate::traced::Traced;
use crate::{LineTable, WorkerError, memory, panics, target};

/// Why a request is answered by [`WorkerAnswer::Failed`], [`WorkerAnswer::Undrawn`] or [`WorkerAnswer::Refused`].
#[derive(Debug, thiserror::Error)]
enum RequestError {
    #[error("the request is not of this release's protocol: {0}; build the worker anew")]
    Protocol(#[from] serde_json::Error),
    #[error(transparent)]
    Case(#[from] RefusedCase),
    /// Runs catch their own panics: this one came from what is called around them.
    #[error(
        "a panic at {place}, outside of any run, in checking or configuring a test case, or in a criterion: {message}; \
         fix the system"
    )]
    Panic { place: String, message: String },
    #[error("sample panicked at {place} (test case {number}): {message}")]
    Undrawn { place: String, number: usize, message: String },
    #[error("{path}: {source}")]
    Answers { path: PathBuf, source: std::io::Error },
}

/// Answers every line of `streams.requests`.
pub(crate) fn serve(system: &ErasedSystem, streams: Streams, lines: &'static LineTable) -> Result<(), WorkerError> {
    let Streams { mut requests, mut answers } = streams;
    let memory_at_start = memory::used_bytes();
    let mut traced = Traced::new(lines);
    let mut runs = None;
    let mut line = String::new();
    loop {
        line.clear();
        let length =
            requests.read_line(&mut line).map_err(|source| WorkerError::Io { action: "read a request", source })?;
        if length == 0 {
            return Ok(());
        }
        panics::forget();
        let answer = catch_unwind(AssertUnwindSafe(|| answer(system, &line, &mut traced, &mut runs, memory_at_start)))
            .unwrap_or_else(|payload| {
                let place = panics::last_place().unwrap_or_default();
                let message = run::message_of(&*payload).to_owned();
                Err(match panics::drawn() {
                    Some(number) => RequestError::Undrawn { place, number, message },
                    None => RequestError::Panic { place, message },
                })
            })
            .unwrap_or_else(|error| match error {
                RequestError::Case(refused) => WorkerAnswer::Refused { message: refused.to_string() },
                error @ RequestError::Undrawn { .. } => WorkerAnswer::Undrawn { message: error.to_string() },
                error => WorkerAnswer::Failed { message: error.to_string() },
            });
        answers.write_all(&to_line(&answer)).map_err(|source| WorkerError::Io { action: "write an answer", source })?;
    }
}

fn answer(
    system: &ErasedSystem,
    line: &str,
    traced: &mut Traced,
    runs: &mut Option<Answers>,
    memory_at_start: usize,
) -> Result<WorkerAnswer, RequestError> {
    Ok(match serde_json::from_str(line)? {
        WorkerRequest::Describe => {
            let (universe, criteria, trace_criteria) = (system.universe(), system.criteria(), system.trace_criteria());
            WorkerAnswer::Description(Description {
                system: system.name().to_owned(),
                universe,
                criteria,
                trace_criteria,
                has_walks: system.has_walks(),
                has_net: system.has_net(),
                target_features: target::features(),
            })
        }
        WorkerRequest::Draw { universe, first, count, feedback } => {
            system.draw(universe, first, count, &feedback).map_or(WorkerAnswer::Unlearned, WorkerAnswer::Cases)
        }
        WorkerRequest::Reseed { seed, number, first, cases } => {
            let reseed = |(index, case)| system.reseed(seed, index, number, case);
            WorkerAnswer::Cases((first..).zip(cases).map(reseed).collect::<Result<_, _>>()?)
        }
        WorkerRequest::BoundCosts { cases } => {
            WorkerAnswer::CostBounds(cases.into_iter().map(|case| system.cost_bounds(case)).collect::<Result<_, _>>()?)
        }
        WorkerRequest::Record { case, limits, sizes } => {
            let (case, entered) = load(system, case)?;
            let recorded = run::record(&*case, limits, &sizes, traced);
            WorkerAnswer::Recorded(Box::new(Recorded { entered: recorded.entered | entered, ..recorded }))
        }
        WorkerRequest::Execute { case, limits, digest, mutants, answers } => {
            let (case, entered) = load(system, case)?;
            execute(&*case, entered, limits, digest, &mutants, (&answers, runs))?;
            WorkerAnswer::Executed { retained_bytes: memory::used_bytes().saturating_sub(memory_at_start) as u64 }
        }
        WorkerRequest::Simulate { case, limits, mutant, trace, choosing, choices } => {
            let subject = mutant.map_or(Subject::Original, Subject::Mutant);
            let wanted = Wanted { trace, choosing, choices };
            WorkerAnswer::Simulated(run::simulate(&*system.load(case)?, limits, subject, &wanted, traced))
        }
    })
}

/// Reads a test case, and returns the functions as well that this called: it is a part of every run on the test case.
fn load(system: &ErasedSystem, case: Value) -> Result<(Box<dyn Case>, u64), RefusedCase> {
    simutant_probe::take_entered();
    let case = system.load(case)?;
    Ok((case, simutant_probe::take_entered()))
}

fn execute(
    case: &dyn Case,
    entered: u64,
    limits: RunLimits,
    digest: u64,
    mutants: &[MutantNumber],
    (path, kept): (&Path, &mut Option<Answers>),
) -> Result<(), RequestError> {
    let failed = |source| RequestError::Answers { path: path.to_owned(), source };
    let mut answers = Answers::begin(kept.take(), path).map_err(failed)?;
    for &mutant in mutants {
        let ran = run::run(case, limits, Subject::Mutant(mutant), &Wanted::PLAIN);
        let diverged = ran.digest() != Some(digest);
        let (reached, entered) = (ran.mutant_reached, entered | ran.entered);
        let spent = ran.spent().filter(|_| diverged && !ran.execution.verdict.kills());
        let execution = MutantExecution { mutant, reached, diverged, entered, execution: ran.execution, spent };
        answers.push(&execution).map_err(failed)?;
    }
    *kept = Some(answers);
    Ok(())
}
