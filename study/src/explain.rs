//! What one test case shows of one mutant.

use serde::de::DeserializeOwned;
use serde_json::Value;
use simutant_campaign::{Bounds, RunLimits, Simulated, Simulator, TraceRecording, TraceText};
use simutant_mutator::Build;
use simutant_outcomes::{Execution, MutantNumber, quoted};
use simutant_report::{Explanation, Parting};
use simutant_sim_core::{Divergence, trace};
use simutant_traces::diagram::{self, Caption, Outcome};

use crate::{ReplayCommand, StudyError};

/// Runs test cases on the original and on mutants side by side.
#[derive(Debug)]
pub struct Explainer<'a> {
    /// What runs them.
    pub simulator: Simulator<'a>,
    limits: Option<RunLimits>,
    replay: &'a ReplayCommand,
}

impl<'a> Explainer<'a> {
    /// Returns an explainer of the mutants of a build. The `limits` are those of its campaign, so that runs end as they
    /// did there; `replay` says how to run a test case again.
    pub fn new(build: &'a Build, replay: &'a ReplayCommand, limits: Option<RunLimits>) -> Self {
        Self { simulator: Simulator::new(build, Bounds::default()), limits, replay }
    }

    /// Returns what `case` shows of `mutant`; `number` is its place in the universe, if it has one.
    ///
    /// # Errors
    /// [`StudyError::Campaign`] if `case` is not one of the system's, or the worker does not work.
    pub fn explain(
        &mut self,
        mutant: MutantNumber,
        case: Value,
        number: Option<usize>,
    ) -> Result<Explanation, StudyError> {
        let original = self.simulator.simulate(&case, None, TraceRecording::Keep, self.limits)?;
        let mutated = self.simulator.simulate(&case, Some(mutant), TraceRecording::Keep, self.limits)?;
        let traces = trace_of(&original)?.zip(trace_of(&mutated)?);
        let divergence = traces.as_ref().and_then(|(first, second)| Divergence::between_traces(first, second));
        let pictures = traces.as_ref().map(|(first, second)| {
            // Where nothing differs there is no event to show more of than of others.
            let event = divergence.as_ref().map_or(0, |divergence| divergence.event);
            let picture = |trace: &trace::Trace, title: String, execution: &Execution| {
                diagram::excerpt(trace, event, &caption(title, execution))
            };
            let system = &self.replay.system.system;
            [
                picture(first, format!("{system}: original"), &original.execution),
                picture(second, format!("{system}: mutant {mutant}"), &mutated.execution),
            ]
        });
        let diagrams = traces.as_ref().map(|(first, second)| {
            let system = &self.replay.system.system;
            [
                diagram::html(first, &caption(format!("{system}: original"), &original.execution)),
                diagram::html(second, &caption(format!("{system}: mutant {mutant}"), &mutated.execution)),
            ]
        });
        let parting = divergence.map(|Divergence { event, first, second, before }| Parting {
            event,
            before: before.as_ref().map(ToString::to_string),
            original: first.as_ref().map(ToString::to_string),
            mutant: second.as_ref().map(ToString::to_string),
        });
        let replay = self.replay_command(&case, Some(mutant));
        let Simulated { execution, reached, .. } = mutated;
        Ok(Explanation { case, number, execution, reached, parting, pictures, diagrams, replay })
    }

    /// Runs `case` on the original, and returns how that ended, and its trace if it left one.
    pub(crate) fn simulate(&mut self, case: &Value) -> Result<(Simulated, Option<trace::Trace>), StudyError> {
        let simulated = self.simulator.simulate(case, None, TraceRecording::Keep, self.limits)?;
        let trace = trace_of(&simulated)?;
        Ok((simulated, trace))
    }

    /// Returns the command that judges a mutant.
    pub(crate) fn judge_command(&self, identity: &str) -> String {
        self.replay.judge_command(identity)
    }

    /// Returns the command that runs `case` again.
    pub(crate) fn replay_command(&self, case: &Value, mutant: Option<MutantNumber>) -> String {
        self.replay.command(&quoted(&case.to_string()), mutant)
    }
}

/// Returns what stands above the diagram of a run.
pub fn caption(title: String, execution: &Execution) -> Caption {
    let Execution { verdict, reason, .. } = execution;
    Caption {
        title,
        verdict: if reason.is_empty() { verdict.to_string() } else { format!("{verdict}: {reason}") },
        outcome: if verdict.kills() { Outcome::Failed } else { Outcome::Passed },
    }
}

/// Reads the trace that a worker sent, or of each event as much as a `T` needs.
///
/// # Errors
/// [`StudyError::Trace`] if it has another form, as that of another release.
pub fn read_trace<T: DeserializeOwned>(trace: &TraceText) -> Result<T, StudyError> {
    trace.read().map_err(StudyError::Trace)
}

fn trace_of(simulated: &Simulated) -> Result<Option<trace::Trace>, StudyError> {
    simulated.trace.as_ref().map(read_trace).transpose()
}
