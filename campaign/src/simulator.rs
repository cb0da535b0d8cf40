//! Single runs, for a person who wants to see what a test case does.

use std::path::Path;

use serde_json::Value;
use simutant_mutator::Build;
use simutant_outcomes::{InputSource, MutantNumber};
use simutant_protocol::{ChoiceRecording, Choosing, RunLimits, Simulated, TraceRecording, UniverseSettings};

use crate::crew::{Crew, Workshop};
use crate::plan::Bounds;
use crate::{CampaignError, white_box};

/// Runs single test cases of a system, on the original or on a mutant, in a worker process.
#[derive(Debug)]
pub struct Simulator<'a> {
    crew: Crew<'a>,
    bounds: Bounds,
    /// The names of the criteria of the code.
    white_box: Vec<&'static str>,
}

impl<'a> Simulator<'a> {
    /// Returns a simulator of the system that was built. The worker starts with the first request.
    pub fn new(build: &'a Build, bounds: Bounds) -> Self {
        let workshop = Workshop { program: &build.worker, system: &build.sites.system, bounds };
        let white_box = white_box::of(&build.sites).map(|(criterion, _)| criterion.name).collect();
        Self { crew: Crew::new(workshop), bounds, white_box }
    }

    /// Returns a simulator of the system as it is written: `program` is its worker with nothing put in
    /// ([`build_plain`](simutant_mutator::build_plain)), which has no mutants and no criteria of the code.
    pub fn of_plain(program: &'a Path, system: &'a str, bounds: Bounds) -> Self {
        Self { crew: Crew::new(Workshop { program, system, bounds }), bounds, white_box: Vec::new() }
    }

    /// Returns how many test cases the system's universe has, unless the user says otherwise.
    ///
    /// # Errors
    /// If the worker does not work.
    pub fn universe(&mut self) -> Result<usize, CampaignError> {
        Ok(self.crew.description()?.universe)
    }

    /// Returns whether machines drive the system's clients, so that there are sources that walk.
    ///
    /// # Errors
    /// If the worker does not work.
    pub fn has_walks(&mut self) -> Result<bool, CampaignError> {
        Ok(self.crew.description()?.has_walks)
    }

    /// Returns whether the system has a net that generates test cases.
    ///
    /// # Errors
    /// If the worker does not work.
    pub fn has_net(&mut self) -> Result<bool, CampaignError> {
        Ok(self.crew.description()?.has_net)
    }

    /// Returns the names of the criteria that outcomes will have, in their order.
    ///
    /// # Errors
    /// If the worker does not work.
    pub fn criteria(&mut self) -> Result<Vec<String>, CampaignError> {
        let description = self.crew.description()?;
        let own = description.criteria.into_iter().map(|criterion| criterion.name);
        let white_box = self.white_box.iter().map(|name| (*name).to_owned());
        Ok(white_box.chain(own).chain(description.trace_criteria).collect())
    }

    /// Returns test case `number` of the universe that is drawn uniformly from `seed`.
    ///
    /// # Errors
    /// If the worker does not work.
    pub fn draw(&mut self, seed: u64, number: usize) -> Result<Value, CampaignError> {
        let universe = UniverseSettings { source: InputSource::Uniform, seed, size: number + 1 };
        Ok(self.crew.draw(universe, number, 1, &[])?.swap_remove(0))
    }

    /// Returns re-seeding `reseeding` of `case`, test case `number` of a universe of `seed`: what transfers to a real
    /// program is the same, and its chance is drawn anew.
    ///
    /// # Errors
    /// [`CampaignError::CaseRefused`] if `case` is not one of the system's; others if the worker does not work.
    pub fn reseed(&mut self, seed: u64, number: usize, reseeding: u32, case: &Value) -> Result<Value, CampaignError> {
        Ok(self.crew.reseed(seed, reseeding, number, std::slice::from_ref(case))?.swap_remove(0))
    }

    /// Runs `case` on `mutant`, or on the original.
    ///
    /// `limits` are those of a campaign ([`Campaign::limits`](crate::Campaign::limits)), so that the verdict is the
    /// same as there; without, the bounds of original runs hold. A run that ends or hangs its process has no trace.
    ///
    /// # Errors
    /// [`CampaignError::CaseRefused`] if `case` is not one of the system's; others if the worker does not work.
    pub fn simulate(
        &mut self,
        case: &Value,
        mutant: Option<MutantNumber>,
        trace: TraceRecording,
        limits: Option<RunLimits>,
    ) -> Result<Simulated, CampaignError> {
        self.simulate_choosing(case, mutant, &Choosing::default(), (trace, ChoiceRecording::Skip), limits)
    }

    /// Runs as [`Simulator::simulate`] does, with choices that are imposed on the run, and keeps those that were made
    /// if `choices` says so. A run that ends or hangs its process leaves none.
    ///
    /// # Errors
    /// Those of [`Simulator::simulate`].
    pub fn simulate_choosing(
        &mut self,
        case: &Value,
        mutant: Option<MutantNumber>,
        choosing: &Choosing,
        recording: (TraceRecording, ChoiceRecording),
        limits: Option<RunLimits>,
    ) -> Result<Simulated, CampaignError> {
        let limits = limits.unwrap_or_else(|| self.bounds.baseline_limits());
        let simulated = self.crew.simulate(case, mutant, limits, choosing, recording)?;
        Ok(simulated.unwrap_or_else(|execution| Simulated {
            execution,
            virtual_time_ns: 0,
            messages: 0,
            digest: 0,
            reached: mutant.is_some(),
            waiting: Vec::new(),
            trace: None,
            choices: None,
        }))
    }
}
