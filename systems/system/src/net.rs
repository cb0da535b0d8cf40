//! Nets as systems: the test cases are those that a net generates, and a simulation is a run of the net.
//!
//! The code of the net is what is mutated. A mutant is a net that lets happen what the original does not, or does not let
//! happen what it should: a test case kills it if its run with the stimuli of the test case shows what is not among the
//! outcomes of the original, or if there is no such run. So a study says which test cases of a net notice which mistake of
//! an implementation that does as the net does, before there is one.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::marker::PhantomData;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use simutant_nets::{Budget, Driven, Event, ExploreError, Net, TestCase};
use simutant_random::Random;
use simutant_sim_core::trace::{Action, TraceEvent};
use simutant_sim_core::{CheckFailure, Message, Simulation};

use crate::criteria::{Requirements, TraceCriterion};
use crate::domain::InvalidTestCase;
use crate::system::{BlackBoxCriterion, System};

/// The greatest number of steps of a run.
const STEPS_MAX: usize = 10_000;

/// The greatest number of markings of the runs with given stimuli.
const MARKINGS_MAX: usize = 1_000_000;

/// A net whose test cases are studied.
pub trait NetModel: 'static {
    /// The name of the system.
    const NAME: &'static str;

    /// The type of what the net depends on, such as how many take part.
    type Arguments: Serialize + DeserializeOwned + Clone + Debug + PartialEq + 'static;

    /// The type of the stimuli.
    type Input: Event + Serialize + DeserializeOwned;

    /// The type of the observations.
    type Output: Event + Serialize + DeserializeOwned;

    /// Returns the arguments that test cases are of, those of small nets first.
    fn arguments() -> Vec<Self::Arguments>;

    /// Returns the net.
    fn net(arguments: &Self::Arguments) -> Net<Self::Input, Self::Output>;
}

/// The system of a net. A package names it as its type: `pub type OrdersNet = NetSystem<Orders>;`.
#[derive(Debug)]
pub struct NetSystem<N>(PhantomData<N>);

/// A test case of a net.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetCase<A, I: Ord, O: Ord> {
    /// What the net depends on.
    pub arguments: A,
    /// The stimuli.
    pub inputs: BTreeSet<I>,
    /// The sets of observations, one of which must be made.
    pub outcomes: BTreeSet<BTreeSet<O>>,
    /// Fixes which of the possible runs is taken.
    pub seed: u64,
}

type Case<N> = NetCase<<N as NetModel>::Arguments, <N as NetModel>::Input, <N as NetModel>::Output>;

type Generated<N> = TestCase<<N as NetModel>::Input, <N as NetModel>::Output>;

/// The message of a system that sends none.
#[derive(Debug, Clone, Hash)]
pub enum NoMessage {}

impl Message for NoMessage {
    fn kind(&self) -> &'static str {
        match *self {}
    }
}

impl<N: NetModel> System for NetSystem<N> {
    const NAME: &'static str = N::NAME;

    const UNIVERSE: usize = 200;

    type TestCase = Case<N>;
    type Message = NoMessage;

    fn sample(random: &mut Random) -> Case<N> {
        let all = N::arguments();
        let arguments = random.choose(&all).expect("a net has arguments").clone();
        let mut net = N::net(&arguments);
        // A run that has no end is none of a test case.
        for _ in 0..100 {
            let simulated = net.simulate(1, random.bits(), STEPS_MAX).unwrap_or_else(|error| panic!("{error}"));
            let Some(TestCase { inputs, .. }) = simulated.cases.into_iter().next() else { continue };
            let Some(outcomes) = outcomes(&mut net, &inputs) else { continue };
            return NetCase { arguments, inputs, outcomes, seed: random.bits() };
        }
        panic!(
            "of 100 runs of the net {} with {arguments:?}, none ends within {STEPS_MAX} steps and has stimuli whose runs come \
             to at most {MARKINGS_MAX} markings: remove these from `NetModel::arguments`",
            net.name()
        )
    }

    fn reseed(case: &Case<N>, random: &mut Random) -> Case<N> {
        NetCase { seed: random.bits(), ..case.clone() }
    }

    fn of_net(seed: u64, count: usize) -> Option<Vec<Case<N>>> {
        let mut random = Random::from_seed(seed).stream(N::NAME).stream("net");
        let mut cases = Vec::new();
        for arguments in N::arguments() {
            if cases.len() == count {
                break;
            }
            let tests = tests::<N>(&arguments, count, random.bits()).unwrap_or_else(|error| panic!("{error}"));
            let case = |TestCase { inputs, outcomes }| {
                let (arguments, seed) = (arguments.clone(), random.bits());
                NetCase { arguments, inputs, outcomes, seed }
            };
            cases.extend(tests.into_iter().take(count - cases.len()).map(case));
        }
        Some(cases)
    }

    fn validate(case: &Case<N>) -> Result<(), InvalidTestCase> {
        let all = N::arguments();
        if !all.contains(&case.arguments) {
            let allowed = format!("one of {all:?}");
            return Err(InvalidTestCase::new("arguments", format!("{:?}", case.arguments), allowed));
        }
        let outcomes = outcomes(&mut N::net(&case.arguments), &case.inputs).unwrap_or_default();
        if outcomes.is_empty() {
            let allowed = format!("the stimuli of a run that ends, whose runs reach at most {MARKINGS_MAX} markings");
            return Err(InvalidTestCase::new("inputs", format!("{:?}", case.inputs), allowed));
        }
        if case.outcomes != outcomes {
            return Err(InvalidTestCase::new("outcomes", format!("{:?}", case.outcomes), format!("{outcomes:?}")));
        }
        Ok(())
    }

    fn configure(case: &Case<N>) -> Simulation<NoMessage> {
        let mut simulation = Simulation::new(case.seed);
        let NetCase { arguments, inputs, outcomes, seed } = case.clone();
        let driven = simulation.add("net", move |context| async move {
            let driven = N::net(&arguments).drive(&inputs, &mut Random::from_seed(seed), STEPS_MAX);
            if let Ok(Some(Driven { firings, markings, .. })) = &driven {
                for (fired, marking) in firings.iter().zip(markings) {
                    // A value in words may have more than one line.
                    let parts = [&fired.transition, &fired.to_string(), marking];
                    context.note(|| parts.map(|part| part.replace('\n', " ")).join("\n"));
                }
            }
            driven
        });
        let driven = driven.returned();
        simulation.check("what is observed is one of the outcomes", move || match driven.get().as_deref() {
            Some(Ok(Some(driven))) if outcomes.contains(&driven.observed) => Ok(()),
            Some(Ok(Some(Driven { observed, .. }))) => {
                Err(CheckFailure::new(format!("{observed:?} was observed, and one of {outcomes:?} is allowed")))
            }
            Some(Ok(None)) => Err(CheckFailure::new("there is no run with these stimuli")),
            Some(Err(error)) => Err(CheckFailure::new(error.to_string())),
            None => Err(CheckFailure::new("the net did not come to an end")),
        });
        simulation
    }

    fn criteria() -> Vec<BlackBoxCriterion<Case<N>>> {
        Vec::new()
    }

    /// Those of nets alone: nothing is sent, and nothing fails.
    fn trace_criteria() -> Vec<TraceCriterion> {
        nets()
    }
}

/// Returns the test cases of a net: of all paths, or, if it is too large, of so many simulated runs.
fn tests<N: NetModel>(arguments: &N::Arguments, runs: usize, seed: u64) -> Result<Vec<Generated<N>>, ExploreError> {
    match N::net(arguments).explore(&Budget { markings: Some(MARKINGS_MAX), ..Budget::default() }) {
        Ok(mut space) => Ok(space.tests()?.cases),
        Err(ExploreError::Exhausted { .. } | ExploreError::TooMany { .. }) => {
            let mut net = N::net(arguments);
            let simulated = net.simulate(runs, seed, STEPS_MAX)?.cases.into_iter();
            // What a run showed is not all that may be observed.
            let whole = simulated.filter_map(|TestCase { inputs, .. }| {
                let outcomes = outcomes(&mut net, &inputs)?;
                Some(TestCase { inputs, outcomes })
            });
            Ok(whole.collect())
        }
        Err(error) => Err(error),
    }
}

/// Returns all that may be observed of the runs with these stimuli; `None` if they reach too many markings.
///
/// # Panics
/// If the net has a mistake.
fn outcomes<I: Event, O: Event>(net: &mut Net<I, O>, inputs: &BTreeSet<I>) -> Option<BTreeSet<BTreeSet<O>>> {
    match net.outcomes(inputs, MARKINGS_MAX) {
        Ok(outcomes) => Some(outcomes),
        Err(ExploreError::Exhausted { .. } | ExploreError::TooMany { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

/// Returns the criteria of nets: `net-transitions`, `net-bindings` and `net-markings`. A suite must fire what a universe
/// fires, with what it binds, and come to the markings that the universe comes to.
pub fn nets() -> Vec<TraceCriterion> {
    vec![
        TraceCriterion { name: "net-transitions", requirements: |trace, requirements| part(trace, 0, requirements) },
        TraceCriterion { name: "net-bindings", requirements: |trace, requirements| part(trace, 1, requirements) },
        TraceCriterion { name: "net-markings", requirements: |trace, requirements| part(trace, 2, requirements) },
    ]
}

/// Adds one part of each note.
fn part(trace: &[TraceEvent], number: usize, requirements: &mut Requirements) {
    for event in trace {
        if let Action::Noted { text, .. } = &event.action
            && let Some(part) = text.split('\n').nth(number)
        {
            requirements.insert(part);
        }
    }
}
