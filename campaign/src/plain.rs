//! The original beside the package as it is written: what the mutator puts in must not change what a simulation does.

use std::path::Path;

use serde_json::Value;
use simutant_outcomes::Execution;
use simutant_protocol::{ChoiceRecording, Choosing, Recorded, Simulated, TraceRecording, WorkerAnswer, WorkerRequest};

use crate::crew::{Crew, Workshop};
use crate::{CampaignError, CampaignPlan};

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
        let of_plain = match simulate(&mut self.plain, self.plan, case, TraceRecording::Skip)? {
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
        Err(CampaignError::NotAsWritten { number, case: case.clone(), difference })
    }

    /// Returns the first event in which two more runs differ, in words; `None` if their traces do not show it.
    fn first_difference(&mut self, case: &Value) -> Result<Option<String>, CampaignError> {
        let mut traces = Vec::with_capacity(2);
        for crew in [&mut self.plain, &mut self.instrumented] {
            let simulated = simulate(crew, self.plan, case, TraceRecording::Keep)?.ok();
            let trace = simulated.and_then(|simulated| simulated.trace);
            let Some(Ok(Value::Array(trace))) = trace.map(|trace| trace.read()) else { return Ok(None) };
            traces.push(trace);
        }
        let [plain, original] = &traces[..] else { return Ok(None) };
        let common = plain.iter().zip(original).take_while(|(plain, original)| plain == original).count();
        let text = |trace: &[Value]| trace.get(common).map_or("the end of the run".to_owned(), Value::to_string);
        Ok((plain != original).then(|| {
            let (plain, original) = (text(plain), text(original));
            format!("from event {common} on: as it is written {plain}, in the instrumented build {original}")
        }))
    }
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
    plan: &CampaignPlan,
    case: &Value,
    trace: TraceRecording,
) -> Result<Result<Simulated, Execution>, CampaignError> {
    let (limits, case) = (plan.bounds.baseline_limits(), case.clone());
    let (choosing, choices) = (Choosing::default(), ChoiceRecording::Skip);
    match crew.ask_attributing(&WorkerRequest::Simulate { case, limits, mutant: None, trace, choosing, choices })? {
        Ok(WorkerAnswer::Simulated(simulated)) => Ok(Ok(simulated)),
        Ok(answer) => Err(crew.unexpected(&answer)),
        Err(execution) => Ok(Err(execution)),
    }
}
