//! One worker after the other: a worker may die of what it is asked, and the next takes its place.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use simutant_outcomes::{Cause, CostBounds, Coverage, Execution, InputSource, MutantNumber};
use simutant_protocol::{
    ChoiceRecording, Choosing, Description, Feedback, Recorded, RunLimits, Simulated, Sizes, TraceRecording,
    UniverseSettings, WorkerAnswer, WorkerRequest,
};

use crate::CampaignError;
use crate::plan::Bounds;
use crate::traced::{Labels, Traced};
use crate::worker::{Death, NoAnswer, Worker};

/// Test cases that are asked for at once: few, since a worker has as long for all of them as for one run, and a system
/// may take its time to draw one.
pub(crate) const DRAW_COUNT: usize = 16;

/// How often a worker may be killed from outside at one run before the campaign gives up.
pub(crate) const KILLS_MAX: u32 = 3;

/// Where workers come from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Workshop<'a> {
    pub(crate) program: &'a Path,
    pub(crate) system: &'a str,
    pub(crate) bounds: Bounds,
}

impl Workshop<'_> {
    /// Starts a worker and hears what it is; again if someone kills it before it says so.
    fn start(self) -> Result<(Worker, Description), CampaignError> {
        let failed = |detail: String| CampaignError::Worker { program: self.program.to_owned(), detail };
        for _ in 0..KILLS_MAX {
            let mut worker = Worker::start(self.program, self.system)?;
            match worker.ask(&WorkerRequest::Describe, self.bounds.hang, || 0) {
                Ok(WorkerAnswer::Description(description)) if description.system == self.system => {
                    return Ok((worker, description));
                }
                Ok(answer) => return Err(worker.unexpected(&answer)),
                Err(NoAnswer::Error(error)) => return Err(error),
                Err(NoAnswer::Hung) => return Err(failed("does not say what it is".to_owned())),
                Err(NoAnswer::Died { death: Death::ByItself(_, how), last_words }) => {
                    return Err(failed(format!("ended before it said what it is: {how}: {last_words}")));
                }
                Err(NoAnswer::Died { death: Death::FromOutside(_), .. }) => {}
            }
        }
        Err(failed(format!("it was killed from outside {KILLS_MAX} times")))
    }
}

/// One worker after the other, for one thread.
#[derive(Debug)]
pub(crate) struct Crew<'a> {
    workshop: Workshop<'a>,
    worker: Option<(Worker, Description)>,
    /// What the worker's numbers of labels stand for.
    labels: Labels,
    /// How many test cases the worker has learned from.
    learned: usize,
}

impl<'a> Crew<'a> {
    /// Returns a crew without a worker yet.
    pub(crate) fn new(workshop: Workshop<'a>) -> Self {
        Self { workshop, worker: None, labels: Labels::default(), learned: 0 }
    }

    /// Returns for how long nothing may be heard of a worker.
    pub(crate) fn patience(&self) -> Duration {
        self.workshop.bounds.hang
    }

    /// Returns what the workers know of their system.
    pub(crate) fn description(&mut self) -> Result<Description, CampaignError> {
        Ok(self.hire()?.1.clone())
    }

    /// Returns test cases `first .. first + count` of the universe, drawn by a source that learned what the test cases
    /// from 0 on covered. A worker is told what is new to it.
    pub(crate) fn draw(
        &mut self,
        universe: UniverseSettings,
        first: usize,
        count: usize,
        learned: &[Coverage],
    ) -> Result<Vec<Value>, CampaignError> {
        let input_source = universe.source;
        if input_source.walks() && !self.description()?.has_walks {
            return Err(CampaignError::NoWalks { system: self.workshop.system.to_owned(), input_source });
        }
        if input_source == InputSource::Net && !self.description()?.has_net {
            return Err(CampaignError::NoNet { system: self.workshop.system.to_owned() });
        }
        let mut known = self.learned.min(learned.len());
        loop {
            let feedback = Feedback { first: known, coverage: learned[known..].to_vec() };
            match self.ask_original(&WorkerRequest::Draw { universe, first, count, feedback })? {
                WorkerAnswer::Cases(cases) if cases.len() == count => {
                    self.learned = learned.len();
                    return Ok(cases);
                }
                // The worker that knew it was killed.
                WorkerAnswer::Unlearned if known > 0 => known = 0,
                answer => return Err(self.unexpected(&answer)),
            }
        }
    }

    /// Returns all test cases of the universe, drawn by a source that does not learn; `drawn` is called with how many
    /// there are so far.
    pub(crate) fn draw_all(
        &mut self,
        universe: UniverseSettings,
        mut drawn: impl FnMut(usize),
    ) -> Result<Vec<Value>, CampaignError> {
        let mut cases = Vec::with_capacity(universe.size);
        while cases.len() < universe.size {
            let count = DRAW_COUNT.min(universe.size - cases.len());
            cases.extend(self.draw(universe, cases.len(), count, &[])?);
            drawn(cases.len());
        }
        Ok(cases)
    }

    /// Returns re-seeding `number` of each of `cases`, of which the first is number `first` of the universe of `seed`.
    pub(crate) fn reseed(
        &mut self,
        seed: u64,
        number: u32,
        first: usize,
        cases: &[Value],
    ) -> Result<Vec<Value>, CampaignError> {
        match self.ask_original(&WorkerRequest::Reseed { seed, number, first, cases: cases.to_vec() })? {
            WorkerAnswer::Cases(reseeded) if reseeded.len() == cases.len() => Ok(reseeded),
            answer => Err(self.unexpected(&answer)),
        }
    }

    /// Returns what runs of each of `cases` may cost at most.
    pub(crate) fn cost_bounds(&mut self, cases: &[Value]) -> Result<Vec<CostBounds>, CampaignError> {
        match self.ask_original(&WorkerRequest::BoundCosts { cases: cases.to_vec() })? {
            WorkerAnswer::CostBounds(bounds) if bounds.len() == cases.len() => Ok(bounds),
            answer => Err(self.unexpected(&answer)),
        }
    }

    /// Runs the original, recorded, and returns the labels as well that it covers of each criterion that looks at
    /// traces. A worker that dies or hangs in it is a verdict as well.
    pub(crate) fn record(&mut self, case: &Value, sizes: Sizes) -> Result<(Recorded, Traced), CampaignError> {
        let limits = self.workshop.bounds.baseline_limits();
        let request = WorkerRequest::Record { case: case.clone(), limits, sizes };
        match self.ask_attributing(&request)? {
            Ok(WorkerAnswer::Recorded(mut recorded)) => {
                let traced = self.labels.read(std::mem::take(&mut recorded.traced));
                let traced = traced.ok_or_else(|| self.error("named a label that it had not said".to_owned()))?;
                Ok((*recorded, traced))
            }
            Ok(answer) => Err(self.unexpected(&answer)),
            Err(execution) => {
                let recorded = Recorded {
                    execution,
                    virtual_time_ns: 0,
                    messages: 0,
                    late_faults: 0,
                    digest: 0,
                    memory_bytes: 0,
                    measured: Vec::new(),
                    pairs_unlisted: 0,
                    reached: Vec::new(),
                    infected: Vec::new(),
                    entered: u64::MAX,
                    covered: Vec::new(),
                    traced: Vec::new(),
                    difference: None,
                    choosing_difference: None,
                };
                Ok((recorded, Traced::new()))
            }
        }
    }

    /// Runs a test case once, on the original or on a mutant, with the choices that are imposed on it. A run that ends or
    /// hangs its process gives an execution that says so.
    pub(crate) fn simulate(
        &mut self,
        case: &Value,
        mutant: Option<MutantNumber>,
        limits: RunLimits,
        choosing: &Choosing,
        (trace, choices): (TraceRecording, ChoiceRecording),
    ) -> Result<Result<Simulated, Execution>, CampaignError> {
        let (case, choosing) = (case.clone(), choosing.clone());
        match self.ask_attributing(&WorkerRequest::Simulate { case, limits, mutant, trace, choosing, choices })? {
            Ok(WorkerAnswer::Simulated(simulated)) => Ok(Ok(simulated)),
            Ok(answer) => Err(self.unexpected(&answer)),
            Err(execution) => Ok(Err(execution)),
        }
    }

    /// Asks for something that ends in one answer; a worker that ends or hangs instead gives an execution that says so.
    fn ask_attributing(&mut self, request: &WorkerRequest) -> Result<Result<WorkerAnswer, Execution>, CampaignError> {
        // A recording is three runs, and the bound is for one.
        let runs = if matches!(request, WorkerRequest::Record { .. }) { 3 } else { 1 };
        let patience = self.patience() * runs;
        let mut hung = false;
        for _ in 0..KILLS_MAX {
            match self.worker()?.ask(request, patience, || 0) {
                Ok(answer) => return Ok(Ok(answer)),
                Err(NoAnswer::Error(error)) => return Err(error),
                Err(NoAnswer::Died { death: Death::ByItself(cause, how), .. }) => {
                    self.dismiss();
                    return Ok(Err(lost_run(cause, how)));
                }
                Err(NoAnswer::Died { death: Death::FromOutside(_), .. }) => self.dismiss(),
                Err(NoAnswer::Hung) => {
                    self.dismiss();
                    if hung {
                        return Ok(Err(hung_run()));
                    }
                    hung = true;
                }
            }
        }
        Err(self.error(format!("it was killed from outside {KILLS_MAX} times")))
    }

    fn ask_original(&mut self, request: &WorkerRequest) -> Result<WorkerAnswer, CampaignError> {
        self.ask_attributing(request)?.map_err(|execution| self.error(execution.reason))
    }

    /// Lets the worker go; the next request is for a new one.
    pub(crate) fn dismiss(&mut self) {
        self.worker = None;
    }

    /// Returns the worker, which is hired if there is none.
    pub(crate) fn worker(&mut self) -> Result<&mut Worker, CampaignError> {
        Ok(&mut self.hire()?.0)
    }

    fn hire(&mut self) -> Result<&mut (Worker, Description), CampaignError> {
        if self.worker.is_none() {
            self.worker = Some(self.workshop.start()?);
            self.labels = Labels::default();
            self.learned = 0;
        }
        Ok(self.worker.as_mut().expect("it was hired if it was missing"))
    }

    /// Returns an error that says that this is not the answer to what was asked.
    pub(crate) fn unexpected(&self, answer: &WorkerAnswer) -> CampaignError {
        self.error(format!("gave an answer that was not asked for: {answer:?}"))
    }

    /// Returns an error of the worker program.
    pub(crate) fn error(&self, detail: String) -> CampaignError {
        CampaignError::Worker { program: self.workshop.program.to_owned(), detail }
    }
}

/// What is known of a run that ended its process; its events and steps went with it.
pub(crate) fn lost_run(cause: Cause, reason: String) -> Execution {
    Execution { verdict: cause.verdict(), cause: Some(cause), reason, events: 0, steps: 0 }
}

/// What is known of a run that had to be killed twice.
pub(crate) fn hung_run() -> Execution {
    lost_run(Cause::Hang, "hung: it came to no limit and to no end".to_owned())
}
