//! A program that explores a net of a package: what it is asked, and what it answers.
//!
//! `simutant explore` builds a program whose `main` calls [`serve`]. Both sides speak JSON; the request is the program's
//! only argument, and the answer the last line of its standard output.

use std::collections::BTreeSet;
use std::io;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cases::{Event, Paths, Tests};
use crate::drawing::{Drawing, Structure};
use crate::explorer::{Budget, ExploreError};
use crate::graph::StateGraph;
use crate::net::Net;
use crate::property::{Checked, Witness};
use crate::space::StateSpace;

/// A question about a net.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExploringRequest {
    /// The arguments of the function that returns the net.
    pub arguments: Vec<Value>,
    /// The greatest number of markings.
    pub markings: Option<usize>,
    /// The greatest number of bytes.
    pub bytes: Option<usize>,
    /// What is asked for.
    pub task: Task,
}

/// What a program does with a net.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// Explores it.
    Explore {
        /// Whether test cases are made, too.
        tests: bool,
        /// The greatest number of markings of a state space that is drawn.
        drawn: usize,
    },
    /// Simulates runs, and makes test cases of them.
    Simulate {
        /// The number of runs.
        runs: usize,
        /// The seed of what they choose.
        seed: u64,
        /// The greatest number of steps of a run.
        steps: usize,
    },
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExploringReply {
    /// The net was explored.
    Explored(Box<Explored>),
    /// Runs of it were simulated.
    Simulated(NamedTests),
    /// An argument is missing, is one too many, or is of another type.
    Arguments {
        /// The mistake, in words.
        message: String,
    },
    /// The net has a mistake.
    Mistake {
        /// The mistake, in words.
        message: String,
    },
    /// The budget ran out.
    Exhausted {
        /// What grows, in words.
        message: String,
    },
    /// Something does not fit into 32 bits.
    TooLarge {
        /// What that is, in words.
        message: String,
    },
}

/// What was found out about a net.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Explored {
    /// The name of the net.
    pub net: String,
    /// The number of markings that it can reach.
    pub markings: usize,
    /// The number of arcs between them.
    pub arcs: usize,
    /// The number of markings in which no transition is enabled.
    pub dead: usize,
    /// The number of home markings, which can be reached from every marking.
    pub home: usize,
    /// The number of strongly connected components.
    pub components: usize,
    /// A dead marking that is nearest to the initial one.
    pub nearest_dead: Option<Witness>,
    /// By place.
    pub places: Vec<PlaceFound>,
    /// By transition.
    pub transitions: Vec<TransitionFound>,
    /// The properties of the net.
    pub properties: Vec<Checked>,
    /// The tests, if they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<NamedTests>,
    /// The state space, if it is small enough to be drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drawing: Option<Drawing>,
    /// The net.
    pub structure: Structure,
}

impl Explored {
    /// Returns what can be counted in the graph of a state space.
    pub fn counted(graph: &StateGraph, structure: Structure) -> Self {
        let (components, home) = graph.components_and_home();
        Self {
            net: structure.net.clone(),
            markings: graph.markings(),
            arcs: graph.arcs(),
            dead: graph.dead().len(),
            home: home.len(),
            components,
            nearest_dead: None,
            places: Vec::new(),
            transitions: Vec::new(),
            properties: Vec::new(),
            tests: None,
            drawing: None,
            structure,
        }
    }
}

/// What was found out about a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlaceFound {
    /// Its name.
    pub name: String,
    /// The least number of tokens in it.
    pub least: u64,
    /// The greatest number of tokens in it.
    pub most: u64,
}

/// What was found out about a transition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransitionFound {
    /// Its name.
    pub name: String,
    /// The number of arcs on which it fires.
    pub arcs: usize,
}

/// Tests of a net whose events are values with names, for those who do not know their types.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NamedTests {
    /// The name of the net.
    pub net: String,
    /// The arguments of the function that returned it.
    pub arguments: Vec<Value>,
    /// Of which runs they have the outcomes.
    pub paths: Paths,
    /// The number of cycles, or of runs, without an end: [`Tests::endless`].
    pub endless: usize,
    /// A stimulus and an observation that come twice in a run, and count once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeated: Vec<Value>,
    /// The test cases.
    pub cases: Vec<NamedCase>,
}

/// A test case whose events are values with names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NamedCase {
    /// The stimuli.
    pub inputs: Vec<Value>,
    /// The sets of observations, one of which must be made.
    pub outcomes: Vec<Vec<Value>>,
}

impl NamedTests {
    /// Names the events of tests, as serde writes them.
    ///
    /// # Errors
    /// Those of serde, if an event is no value.
    pub fn new<I: Event + Serialize, O: Event + Serialize>(
        net: &str,
        arguments: &[Value],
        tests: &Tests<I, O>,
    ) -> Result<Self, serde_json::Error> {
        let mut cases = Vec::with_capacity(tests.cases.len());
        for case in &tests.cases {
            let inputs = case.inputs.iter().map(serde_json::to_value).collect::<Result<_, _>>()?;
            let outcome = |outcome: &BTreeSet<O>| outcome.iter().map(serde_json::to_value).collect();
            cases.push(NamedCase { inputs, outcomes: case.outcomes.iter().map(outcome).collect::<Result<_, _>>()? });
        }
        let (input, output) = (tests.repeated_input.iter(), tests.repeated_output.iter());
        let repeated = input.map(serde_json::to_value).chain(output.map(serde_json::to_value));
        let repeated = repeated.collect::<Result<_, _>>()?;
        let (net, arguments) = (net.to_owned(), arguments.to_vec());
        Ok(Self { net, arguments, paths: tests.paths, endless: tests.endless, repeated, cases })
    }
}

/// The arguments of a function that returns a net, as values of any types.
#[derive(Debug)]
pub struct GivenArguments<'a> {
    values: std::slice::Iter<'a, Value>,
    taken: usize,
    mistake: Option<String>,
}

impl<'a> GivenArguments<'a> {
    /// Returns the next argument; where it is missing or of another type, the mistake is noted, and there is none.
    pub fn argument<T: DeserializeOwned>(&mut self) -> Option<T> {
        self.taken += 1;
        let Some(value) = self.values.next() else {
            self.mistake.get_or_insert(format!("argument {} is missing", self.taken));
            return None;
        };
        match T::deserialize(value) {
            Ok(value) => Some(value),
            Err(error) => {
                self.mistake.get_or_insert(format!("argument {} is {value}: {error}", self.taken));
                None
            }
        }
    }
}

/// A function that returns a net, of up to four arguments that serde can read.
pub trait MakesNet<I, O, Arguments> {
    /// Calls it; `None` if an argument is not usable.
    fn make(&self, arguments: &mut GivenArguments<'_>) -> Option<Net<I, O>>;
}

macro_rules! makes_net {
    ($($value:ident: $argument:ident),*) => {
        impl<I, O, Function: Fn($($argument),*) -> Net<I, O>, $($argument: DeserializeOwned),*>
            MakesNet<I, O, ($($argument,)*)> for Function
        {
            fn make(&self, _arguments: &mut GivenArguments<'_>) -> Option<Net<I, O>> {
                $(let $value = _arguments.argument::<$argument>()?;)*
                Some(self($($value),*))
            }
        }
    };
}

makes_net!();
makes_net!(one: A);
makes_net!(one: A, other: B);
makes_net!(one: A, other: B, third: C);
makes_net!(one: A, other: B, third: C, fourth: D);

/// Answers a request about the net that a function returns, and writes the answer.
///
/// # Errors
/// If the request cannot be read, or the answer cannot be written.
pub fn serve<I, O, Arguments>(
    make: &impl MakesNet<I, O, Arguments>,
    request: &str,
    to: &mut dyn io::Write,
) -> io::Result<()>
where
    I: Event + Serialize,
    O: Event + Serialize,
{
    let request: ExploringRequest = serde_json::from_str(request)?;
    let reply = answer(make, &request)?;
    serde_json::to_writer(&mut *to, &reply)?;
    to.write_all(b"\n")
}

fn answer<I, O, Arguments>(
    make: &impl MakesNet<I, O, Arguments>,
    request: &ExploringRequest,
) -> Result<ExploringReply, serde_json::Error>
where
    I: Event + Serialize,
    O: Event + Serialize,
{
    let mut arguments = GivenArguments { values: request.arguments.iter(), taken: 0, mistake: None };
    let Some(mut net) = make.make(&mut arguments) else {
        return Ok(ExploringReply::Arguments { message: arguments.mistake.unwrap_or_default() });
    };
    if arguments.values.next().is_some() {
        let (takes, given) = (arguments.taken, request.arguments.len());
        return Ok(ExploringReply::Arguments {
            message: format!("{given} arguments were given, and it takes {takes}"),
        });
    }
    let name = net.name().to_owned();
    let named = |tests: &Tests<I, O>| NamedTests::new(&name, &request.arguments, tests);
    match request.task {
        Task::Explore { tests, drawn } => {
            let budget = Budget { markings: request.markings, bytes: request.bytes };
            let explored = net.explore(&budget).and_then(|mut space| {
                let tests = tests.then(|| space.tests()).transpose()?;
                Ok((tests, space))
            });
            let (tests, mut space) = match explored {
                Ok(explored) => explored,
                Err(error) => return Ok(refusal(&error)),
            };
            let tests = tests.map(|tests| named(&tests)).transpose()?;
            Ok(ExploringReply::Explored(Box::new(Explored { tests, ..space.explored(drawn) })))
        }
        Task::Simulate { runs, seed, steps } => match net.simulate(runs, seed, steps) {
            Ok(tests) => Ok(ExploringReply::Simulated(named(&tests)?)),
            Err(error) => Ok(refusal(&error)),
        },
    }
}

/// Returns the reply that says why there is no state space, or no tests.
pub fn refusal(error: &ExploreError) -> ExploringReply {
    let message = error.to_string();
    match error {
        ExploreError::Net(_) | ExploreError::Refused { .. } => ExploringReply::Mistake { message },
        ExploreError::Exhausted { .. } => ExploringReply::Exhausted { message },
        ExploreError::TooMany { .. } => ExploringReply::TooLarge { message },
    }
}

impl<I: 'static, O: 'static> StateSpace<I, O> {
    /// Returns what was found out, with the state space to draw if it has no more markings than `drawn`.
    fn explored(&mut self, drawn: usize) -> Explored {
        let properties = self.check();
        let dead = self.graph().dead();
        let nearest_dead = dead.first().map(|&marking| self.witness(marking, &[]));
        let markings = self.graph().markings();
        let mut arcs = vec![0; self.net().core.transitions.len()];
        for marking in 0..markings {
            self.fired_at(marking).iter().for_each(|&(transition, _)| arcs[transition] += 1);
        }
        let core = &self.net().core;
        let transitions = core.transitions.iter().zip(arcs);
        let transitions = transitions.map(|(it, arcs)| TransitionFound { name: it.name.clone(), arcs }).collect();
        let places = core.places.iter().enumerate().map(|(number, place)| {
            let (least, most) = self.bounds_of(number);
            PlaceFound { name: place.name.clone(), least, most }
        });
        let places = places.collect();
        let drawing = (markings <= drawn).then(|| self.drawing());
        let counted = Explored::counted(self.graph(), self.net().structure());
        Explored { nearest_dead, places, transitions, properties, drawing, ..counted }
    }
}
