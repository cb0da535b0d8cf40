//! The state space of a machine whose model can be compared, and whose actions do not wait.

use std::future::Future;
use std::hash::{BuildHasher, Hash};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use simutant_nets::{Budget, Each, Explorable, ExploreError, Rows, StateGraph, explore};
use simutant_random::Probability;

use crate::instance::{Caught, Instance, Typed};
use crate::machine::Machine;
use crate::step::{Asked, Decisions, Step, Stop};

/// The greatest number of options of one choice.
const OPTIONS_MAX: u32 = 10_000;

/// All states that a machine can be in, each with its model: state 0 is where it begins.
#[derive(Debug)]
pub struct MachineSpace<M> {
    space: Space<M>,
    graph: StateGraph,
}

/// A transition that was taken, with what its action chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenArc {
    /// Its name.
    pub transition: String,
    /// The choices, each as the number of the option.
    pub choices: Vec<u32>,
}

/// A transition that fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedArc {
    /// The number of the state in which it is taken.
    pub state: usize,
    /// The transition.
    pub taken: TakenArc,
    /// The assertion or the invariant that does not hold, or the exception, in words.
    pub message: String,
}

impl<M: Clone + Eq + Hash + 'static> Machine<M> {
    /// Returns all states that the machine can be in, over all choices of its actions: so a failure is found, or there is
    /// none.
    ///
    /// An action must be a function of the model and its choices. One that waits, stays, or launches or joins another
    /// machine cannot be explored, and neither can a machine with a setup.
    ///
    /// ```
    /// use simutant_models::{Machine, Step, skip, transition};
    /// use simutant_nets::Budget;
    ///
    /// let fill = transition("on -> on", async |level: &mut u32, step: &mut Step<'_>| {
    ///     step.require(*level < 5)?;
    ///     *level += step.choose(1..=2);
    ///     step.assert(*level != 6, "it does not run over")
    /// });
    /// let tank = Machine::new("tank", ["on", "off"], [fill, skip("on -> off")])?;
    /// let space = tank.explore(0, &Budget::default())?;
    /// // Levels 0 to 5, on and off.
    /// assert_eq!((space.graph().markings(), space.graph().dead().len()), (12, 6));
    /// let [failed] = space.failed() else { panic!("it runs over from 4 or 5") };
    /// assert_eq!((space.state(failed.state), &failed.message[..]), (("on", &4), "it does not run over"));
    /// assert_eq!(space.way_to(failed.state).len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ExploreError::Refused`] if it cannot be explored, and others if the budget runs out.
    pub fn explore(&self, model: M, budget: &Budget) -> Result<MachineSpace<M>, ExploreError> {
        if self.setup.is_some() {
            let message = format!("machine `{}` has a setup; put what it does into the model", self.shape.name);
            return Err(ExploreError::Refused { message });
        }
        let mut space = Space {
            typed: Typed::new(self.clone(), model.clone()),
            states: Vec::new(),
            numbers: HashTable::new(),
            arcs: Vec::new(),
            failed: Vec::new(),
        };
        space.number((0, model))?;
        let (_, graph) = explore(&mut space, budget)?;
        Ok(MachineSpace { space, graph })
    }
}

impl<M: 'static> MachineSpace<M> {
    /// Returns the states as numbers, and the arcs between them.
    pub fn graph(&self) -> &StateGraph {
        &self.graph
    }

    /// Returns the name of a state, and the model.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn state(&self, number: usize) -> (&str, &M) {
        let (state, model) = &self.space.states[number];
        (&self.space.typed.shape().states[*state as usize], model)
    }

    /// Returns the transitions that fail, in the order of the states.
    pub fn failed(&self) -> &[FailedArc] {
        &self.space.failed
    }

    /// Returns a shortest way to a state.
    ///
    /// # Panics
    /// If there is no state of this number.
    pub fn way_to(&self, state: usize) -> Vec<TakenArc> {
        let arcs = self.graph.way_to(state).into_iter();
        arcs.map(|(from, arc)| self.space.named(&self.space.arcs[from][arc])).collect()
    }
}

/// What is explored: a row is the number of a state.
#[derive(Debug)]
struct Space<M> {
    typed: Typed<M>,
    states: Vec<(u32, M)>,
    numbers: HashTable<u32>,
    /// By state, the transitions that were taken, with their choices.
    arcs: Vec<Vec<(u32, Vec<u32>)>>,
    failed: Vec<FailedArc>,
}

/// How a transition ended.
enum Ended {
    /// It leads to a state.
    At(u32),
    /// It is not taken.
    Backtracked,
    Failed(String),
}

impl<M: 'static> Space<M> {
    fn named(&self, (transition, choices): &(u32, Vec<u32>)) -> TakenArc {
        let transition = self.typed.shape().transitions[*transition as usize].name.clone();
        TakenArc { transition, choices: choices.clone() }
    }

    fn refused(&self, transition: u32, why: &str) -> ExploreError {
        let shape = self.typed.shape();
        let transition = &shape.transitions[transition as usize].name;
        ExploreError::Refused { message: format!("machine `{}`: `{transition}` {why}", shape.name) }
    }
}

impl<M: Clone + Eq + Hash + 'static> Space<M> {
    fn number(&mut self, state: (u32, M)) -> Result<u32, ExploreError> {
        let Self { states, numbers, .. } = self;
        let hasher = FixedState::with_seed(1);
        let is_it = |&number: &u32| states[number as usize] == state;
        let hash = |&number: &u32| hasher.hash_one(&states[number as usize]);
        let entry = numbers.entry(hasher.hash_one(&state), is_it, hash);
        match entry {
            hashbrown::hash_table::Entry::Occupied(known) => Ok(*known.get()),
            hashbrown::hash_table::Entry::Vacant(vacant) => {
                let too_many = |_| ExploreError::TooMany { what: "states".to_owned() };
                let number = u32::try_from(states.len()).map_err(too_many)?;
                vacant.insert(number);
                states.push(state);
                Ok(number)
            }
        }
    }

    /// Takes a transition with choices that begin so, the first option after these. Returns how it ended, what it chose,
    /// and how many options there were for each choice.
    fn take(&mut self, transition: u32, chosen: &[u32]) -> Result<(Ended, Vec<u32>, Vec<u32>), ExploreError> {
        let mut options = Vec::new();
        let half = Probability::new(0.5).expect("it is a probability");
        let decisions = Decisions::Listed(chosen.iter(), &mut options);
        let mut step = Step::new(decisions, half, Duration::ZERO, 1);
        let polled = {
            let action = pin!(self.typed.act(transition, &mut step));
            action.poll(&mut Context::from_waker(Waker::noop()))
        };
        let Asked { choices, launched, joined, stay, .. } = std::mem::take(&mut step.asked);
        drop(step);
        let Poll::Ready(result) = polled else { return Err(self.refused(transition, "waits")) };
        if !launched.is_empty() || !joined.is_empty() || stay > Duration::ZERO {
            return Err(
                self.refused(transition, "launches, joins or stays; only one machine without a clock is explored")
            );
        }
        if options.iter().any(|&count| count > OPTIONS_MAX) {
            let why = format!("chooses from more than {OPTIONS_MAX} options; let it choose from those that matter");
            return Err(self.refused(transition, &why));
        }
        let described = &self.typed.shape().transitions[transition as usize];
        let exceptional = |number: u32| described.exceptional[number as usize].1;
        let ended = match result {
            Err(Stop::Backtrack) => Ended::Backtracked,
            Err(Stop::Failed(message)) => Ended::Failed(message),
            Err(Stop::Exception(exception)) => match self.typed.catch(transition, &exception) {
                Caught::Leads(number) => Ended::At(exceptional(number)),
                Caught::Thrown => Ended::At(described.target),
                Caught::Unexpected => Ended::Failed(exception.to_string()),
            },
            Ok(()) => match (self.typed.thrown(transition), self.typed.next_if(transition)) {
                (Some(name), _) => Ended::Failed(format!("{name} did not occur")),
                (None, Some(number)) => Ended::At(exceptional(number)),
                (None, None) => Ended::At(described.target),
            },
        };
        let ended = match (ended, self.typed.violated()) {
            (Ended::At(_), Some(what)) => Ended::Failed(what.to_owned()),
            (ended, _) => ended,
        };
        Ok((ended, choices, options))
    }
}

impl<M: Clone + Eq + Hash + 'static> Explorable for Space<M> {
    type Cell = u32;

    fn initial(&self) -> Vec<u32> {
        vec![0]
    }

    fn successors(&mut self, row: &[u32], each: &mut Each<'_, u32>) -> Result<(), ExploreError> {
        let (state, model) = self.states[row[0] as usize].clone();
        let mut arcs = Vec::new();
        for transition in self.typed.shape().leaving[state as usize].clone() {
            let mut chosen: Vec<u32> = Vec::new();
            loop {
                self.typed.model = model.clone();
                let (ended, choices, options) = self.take(transition, &chosen)?;
                let taken = (transition, choices);
                match ended {
                    Ended::Backtracked => {}
                    Ended::Failed(message) => {
                        let (state, taken) = (row[0] as usize, self.named(&taken));
                        self.failed.push(FailedArc { state, taken, message });
                    }
                    Ended::At(target) => {
                        let number = self.number((target, self.typed.model.clone()))?;
                        each(&[number])?;
                        arcs.push(taken.clone());
                    }
                }
                // The last choice that has an option left has the next one, and those after it begin anew.
                chosen = taken.1;
                let left = (0..chosen.len()).rev().find(|&place| chosen[place] + 1 < options[place]);
                let Some(place) = left else { break };
                chosen.truncate(place + 1);
                chosen[place] += 1;
            }
        }
        self.arcs.push(arcs);
        Ok(())
    }

    fn bytes(&self) -> usize {
        let arcs = self.arcs.iter().map(|arcs| arcs.capacity() * size_of::<(u32, Vec<u32>)>()).sum::<usize>();
        self.states.capacity() * size_of::<(u32, M)>() + self.numbers.capacity() * 6 + arcs
    }

    fn grows(&self, _: &Rows<u32>) -> String {
        format!("the machine `{}` has more and more states with other models", self.typed.shape().name)
    }
}
