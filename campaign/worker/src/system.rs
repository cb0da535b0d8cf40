//! A system without its types: what the rest of the worker runs.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Mutex;

use serde_json::Value;
use simutant_outcomes::CostBounds;
use simutant_protocol::{
    ChoiceRecording, Choosing, CriterionDescription, Feedback, RunLimits, TRACE_EVENTS_MAX, TraceRecording,
    UniverseSettings,
};
use simutant_sim_core::{Others, Report, VirtualTime};
use simutant_system::{self as definition, InvalidTestCase, System, TraceCriterion};

use crate::{choices, panics, setup};

/// A simulated system of any types; made by [`system`].
#[derive(Debug)]
pub struct ErasedSystem(Box<dyn Erased>);

/// Returns the system `S`, ready for [`main`](crate::main).
pub fn system<S: System>() -> ErasedSystem {
    ErasedSystem(Box::new(Typed::<S> { universe: Mutex::new(None) }))
}

/// A test case that the system does not take.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RefusedCase {
    /// It has not the system's form.
    #[error("this is not a test case of `{system}`: {source}")]
    Form { system: &'static str, source: serde_path_to_error::Error<serde_json::Error> },
    /// A value is out of the input domain.
    #[error("this is not a test case of `{system}`: {reason}")]
    Domain { system: &'static str, reason: InvalidTestCase },
}

impl ErasedSystem {
    pub(crate) fn name(&self) -> &'static str {
        self.0.name()
    }

    pub(crate) fn universe(&self) -> usize {
        self.0.universe()
    }

    pub(crate) fn criteria(&self) -> Vec<CriterionDescription> {
        self.0.criteria()
    }

    /// Returns the names of the criteria that look at traces.
    pub(crate) fn trace_criteria(&self) -> Vec<String> {
        self.0.trace_criteria().iter().map(|criterion| criterion.name.to_owned()).collect()
    }

    /// Returns whether the system has a net that generates test cases.
    pub(crate) fn has_net(&self) -> bool {
        self.0.has_net()
    }

    /// Returns whether its test cases have walks of machines.
    pub(crate) fn has_walks(&self) -> bool {
        self.0.has_walks()
    }

    /// Returns test cases `first .. first + count` of a universe; `None` if the source has not learned what the feedback
    /// takes for known.
    pub(crate) fn draw(
        &self,
        universe: UniverseSettings,
        first: usize,
        count: usize,
        feedback: &Feedback,
    ) -> Option<Vec<Value>> {
        self.0.draw(universe, first, count, feedback)
    }

    /// Returns re-seeding `number` of `case`, test case `index` of the universe of `seed`.
    pub(crate) fn reseed(&self, seed: u64, index: usize, number: u32, case: Value) -> Result<Value, RefusedCase> {
        self.0.reseed(seed, index, number, case)
    }

    /// Returns what runs of `case` may cost at most.
    pub(crate) fn cost_bounds(&self, case: Value) -> Result<CostBounds, RefusedCase> {
        self.0.cost_bounds(case)
    }

    /// Returns `case` in the system's own form, checked.
    pub(crate) fn load(&self, case: Value) -> Result<Box<dyn Case>, RefusedCase> {
        self.0.load(case)
    }
}

/// What is particular about a run.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) trace: TraceRecording,
    pub(crate) choosing: Choosing,
    pub(crate) choices: ChoiceRecording,
}

impl Wanted {
    /// The seed makes all choices, and nothing is kept.
    pub(crate) const PLAIN: Self = Self {
        trace: TraceRecording::Skip,
        choosing: Choosing { others: Others::Seed, latencies: BTreeMap::new(), choices: Vec::new() },
        choices: ChoiceRecording::Skip,
    };
}

/// A test case of a system, ready to run.
pub(crate) trait Case {
    /// Returns the requirements that it covers of each black-box criterion, each in ascending order.
    fn covered(&self) -> Vec<Vec<u32>>;

    /// Returns the criteria that look at the trace of a run.
    fn trace_criteria(&self) -> Vec<TraceCriterion>;

    /// Configures a simulation and runs it within the limits of events and virtual time, and within its own. Panics of
    /// the configuration get through.
    fn run(&self, limits: RunLimits, wanted: &Wanted) -> Report;
}

trait Erased: Debug + Send + Sync {
    fn name(&self) -> &'static str;
    fn universe(&self) -> usize;
    fn criteria(&self) -> Vec<CriterionDescription>;
    fn trace_criteria(&self) -> Vec<TraceCriterion>;
    fn has_net(&self) -> bool;
    fn has_walks(&self) -> bool;
    fn draw(&self, universe: UniverseSettings, first: usize, count: usize, feedback: &Feedback) -> Option<Vec<Value>>;
    fn reseed(&self, seed: u64, index: usize, number: u32, case: Value) -> Result<Value, RefusedCase>;
    fn cost_bounds(&self, case: Value) -> Result<CostBounds, RefusedCase>;
    fn load(&self, case: Value) -> Result<Box<dyn Case>, RefusedCase>;
}

/// Holds no value of `S`, so it can be shared between threads whatever `S` is.
struct Typed<S> {
    /// The last one that was drawn from: to prepare some costs more than to draw from them.
    universe: Mutex<Option<(UniverseSettings, definition::Universe<S>)>>,
}

impl<S: System> Debug for Typed<S> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(S::NAME)
    }
}

impl<S: System> Erased for Typed<S> {
    fn name(&self) -> &'static str {
        S::NAME
    }

    fn universe(&self) -> usize {
        S::UNIVERSE
    }

    fn criteria(&self) -> Vec<CriterionDescription> {
        S::criteria()
            .into_iter()
            .map(|criterion| CriterionDescription {
                name: criterion.name.to_owned(),
                requirements: criterion.requirements,
                quotas: criterion.quotas,
            })
            .collect()
    }

    fn trace_criteria(&self) -> Vec<TraceCriterion> {
        S::trace_criteria()
    }

    fn has_net(&self) -> bool {
        // A net with a mistake says so when test cases are drawn.
        std::panic::catch_unwind(|| S::of_net(0, 0).is_some()).unwrap_or(true)
    }

    fn has_walks(&self) -> bool {
        // A system that cannot be drawn from says so when it is.
        let has_walks = || !S::walks(&mut definition::universe::<S>(0, 0)).is_empty();
        std::panic::catch_unwind(has_walks).unwrap_or(false)
    }

    fn draw(&self, universe: UniverseSettings, first: usize, count: usize, feedback: &Feedback) -> Option<Vec<Value>> {
        let mut prepared = self.universe.lock().unwrap_or_else(|poisoned| {
            // The system panicked while it drew: what was learned until then may be half of it.
            let mut prepared = poisoned.into_inner();
            *prepared = None;
            self.universe.clear_poison();
            prepared
        });
        if prepared.as_ref().is_none_or(|(known, _)| *known != universe) {
            let UniverseSettings { source, seed, size } = universe;
            *prepared = Some((universe, definition::Universe::new(source, seed, size)));
        }
        let (_, cases) = prepared.as_mut().expect("it was just prepared");
        let news = cases.learned().checked_sub(feedback.first)?;
        feedback.coverage.iter().skip(news).for_each(|coverage| cases.learn(coverage));
        let draw = |index| {
            panics::set_drawn(Some(index));
            serde_json::to_value(cases.case(index)).expect("a test case is plain data with text as keys")
        };
        let drawn = (first..first.saturating_add(count)).map(draw).collect();
        panics::set_drawn(None);
        Some(drawn)
    }

    fn reseed(&self, seed: u64, index: usize, number: u32, case: Value) -> Result<Value, RefusedCase> {
        let reseeded = definition::reseeding::<S>(seed, index, number, &typed::<S>(case)?);
        Ok(serde_json::to_value(reseeded).expect("a test case is plain data with text as keys"))
    }

    fn cost_bounds(&self, case: Value) -> Result<CostBounds, RefusedCase> {
        Ok(S::cost_bounds(&typed::<S>(case)?))
    }

    fn load(&self, case: Value) -> Result<Box<dyn Case>, RefusedCase> {
        Ok(Box::new(TypedCase::<S>(typed::<S>(case)?)))
    }
}

/// Returns a test case of the system, checked.
fn typed<S: System>(case: Value) -> Result<S::TestCase, RefusedCase> {
    let case =
        serde_path_to_error::deserialize(case).map_err(|source| RefusedCase::Form { system: S::NAME, source })?;
    S::validate(&case).map_err(|reason| RefusedCase::Domain { system: S::NAME, reason })?;
    Ok(case)
}

struct TypedCase<S: System>(S::TestCase);

impl<S: System> Case for TypedCase<S> {
    fn covered(&self) -> Vec<Vec<u32>> {
        S::criteria()
            .into_iter()
            .map(|criterion| (criterion.covered)(&self.0).into_iter().map(|requirement| requirement as u32).collect())
            .collect()
    }

    fn trace_criteria(&self) -> Vec<TraceCriterion> {
        S::trace_criteria()
    }

    fn run(&self, limits: RunLimits, wanted: &Wanted) -> Report {
        let mut simulation = setup::watched(|| S::configure(&self.0));
        simulation.events_at_most(limits.events).virtual_time_at_most(VirtualTime::from_nanos(limits.virtual_time_ns));
        choices::impose(&mut simulation, &wanted.choosing);
        if wanted.trace == TraceRecording::Keep {
            simulation.record_trace().trace_at_most(TRACE_EVENTS_MAX);
        }
        if wanted.choices == ChoiceRecording::Keep {
            simulation.record_choices();
        }
        simulation.run()
    }
}
