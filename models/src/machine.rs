//! Machines: states and transitions, checked before anything runs.

use std::collections::BTreeSet;
use std::fmt;
use std::rc::Rc;

use crate::instance::{Instance, Typed};
use crate::transition::{Action, Done, Expected, NextIf, Transition};

/// A state machine whose instances have a model `M` each: what the actions know and change.
pub struct Machine<M> {
    pub(crate) shape: Rc<Shape>,
    pub(crate) transitions: Vec<Arc<M>>,
    pub(crate) invariants: Vec<Invariant<M>>,
    pub(crate) setup: Option<Rc<dyn Action<M>>>,
    pub(crate) teardown: Option<Rc<dyn Teardown<M>>>,
}

/// The states and transitions of a [`Machine`], without what they do.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// The machine's name: machines of one name are one in coverage.
    pub name: String,
    /// The names of the states; the first one is where an instance begins.
    pub states: Vec<String>,
    /// The transitions, each from one state.
    pub transitions: Vec<TransitionShape>,
    /// The transitions that leave each state.
    pub(crate) leaving: Vec<Vec<u32>>,
}

/// A transition, without what it does.
#[derive(Debug, Clone, PartialEq)]
pub struct TransitionShape {
    /// Its name, which no other one of the machine has: its label, or `FROM -> TO`.
    pub name: String,
    /// The state that it leaves.
    pub origin: u32,
    /// The state that it leads to, mostly.
    pub target: u32,
    /// Other states that it may lead to, each with the name of the exception or `if` and the state.
    pub exceptional: Vec<(String, u32)>,
    /// How often it is taken, relative to others.
    pub weight: f64,
}

/// A transition from one state, with what it does.
pub(crate) struct Arc<M> {
    pub(crate) action: Rc<dyn Action<M>>,
    pub(crate) catches: Vec<Expected>,
    pub(crate) throws: Option<Expected>,
    pub(crate) next_if: Vec<NextIf<M>>,
}

/// What must hold, in words and as a condition.
type Invariant<M> = (String, Rc<dyn Fn(&M) -> bool>);

/// What is done when a walk has ended.
pub(crate) trait Teardown<M> {
    fn tear_down<'a>(&'a self, model: &'a mut M) -> std::pin::Pin<Box<dyn Future<Output = ()> + 'a>>;
}

impl<M, F: for<'a> AsyncFn(&'a mut M)> Teardown<M> for F {
    fn tear_down<'a>(&'a self, model: &'a mut M) -> std::pin::Pin<Box<dyn Future<Output = ()> + 'a>> {
        Box::pin(self(model))
    }
}

/// A mistake in a machine.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MachineError {
    /// There is no state.
    #[error("machine `{machine}` has no states")]
    NoStates {
        /// The machine.
        machine: String,
    },
    /// A state is named twice.
    #[error("machine `{machine}` names the state `{state}` twice")]
    StateTwice {
        /// The machine.
        machine: String,
        /// The state.
        state: String,
    },
    /// A name cannot be told apart from what is around it where a walk is told.
    #[error("machine `{machine}`: the name `{name}` has {part:?} in it, which separates names where walks are told")]
    Name {
        /// The machine.
        machine: String,
        /// The name.
        name: String,
        /// What it must not have.
        part: &'static str,
    },
    /// An arrow cannot be read.
    #[error("machine `{machine}`: `{arrow}` is no transition; write `FROM -> TO`, or `FROM | FROM -> TO`")]
    Arrow {
        /// The machine.
        machine: String,
        /// The arrow.
        arrow: String,
    },
    /// A transition names a state that is not among those of the machine.
    #[error("machine `{machine}`: `{arrow}` names the state `{state}`, which is none of {}", states.join(", "))]
    UnknownState {
        /// The machine.
        machine: String,
        /// The arrow.
        arrow: String,
        /// The state.
        state: String,
        /// The states that there are.
        states: Vec<String>,
    },
    /// Two transitions have one name.
    #[error("machine `{machine}` has two transitions `{name}`; give one of them a label")]
    TransitionTwice {
        /// The machine.
        machine: String,
        /// Their name.
        name: String,
    },
    /// A weight is no number from 0 on.
    #[error("machine `{machine}`: `{name}` has the weight {weight}; it takes numbers from 0 on")]
    Weight {
        /// The machine.
        machine: String,
        /// The transition.
        name: String,
        /// The weight.
        weight: f64,
    },
    /// No transitions lead from the first state to another one.
    #[error("machine `{machine}`: nothing leads from `{initial}` to {}", states.join(", "))]
    Unreachable {
        /// The machine.
        machine: String,
        /// The state in which an instance begins.
        initial: String,
        /// The states that it does not lead to.
        states: Vec<String>,
    },
    /// From some states no walk can end.
    #[error(
        "machine `{machine}`: a walk that is in {} never ends; add a transition to a state that none leaves",
        states.join(", ")
    )]
    NoExit {
        /// The machine.
        machine: String,
        /// These states.
        states: Vec<String>,
    },
}

impl<M: 'static> Machine<M> {
    /// Returns a machine with these states, of which the first one is where an instance begins, and transitions.
    ///
    /// ```
    /// use simutant_models::{Machine, MachineError, skip};
    ///
    /// let states = ["closed", "open"];
    /// let file = |arrows: &[&str]| Machine::<()>::new("file", states, arrows.iter().map(|arrow| skip(arrow)));
    /// // A walk ends in a state that no transition leaves.
    /// assert!(file(&["closed -> open"]).is_ok());
    /// let endless = file(&["closed -> open", "open -> closed"]).expect_err("no walk ever ends");
    /// assert!(matches!(endless, MachineError::NoExit { states, .. } if states == ["closed", "open"]));
    /// ```
    ///
    /// # Errors
    /// [`MachineError`] if a transition names an unknown state, a state cannot be reached, no end can be reached from a
    /// state, or two transitions have one name.
    pub fn new<'s>(
        name: &str,
        states: impl IntoIterator<Item = &'s str>,
        transitions: impl IntoIterator<Item = Transition<M>>,
    ) -> Result<Self, MachineError> {
        let states: Vec<String> = states.into_iter().map(str::to_owned).collect();
        let mut shape = Shape::new(name, states)?;
        let mut arcs = Vec::new();
        for transition in transitions {
            for described in shape.read(&transition)? {
                shape.transitions.push(described);
                let Transition { action, catches, throws, next_if, .. } = transition.clone();
                arcs.push(Arc { action, catches, throws, next_if });
            }
        }
        shape.check()?;
        shape.leaving = vec![Vec::new(); shape.states.len()];
        for (number, transition) in (0..).zip(&shape.transitions) {
            shape.leaving[transition.origin as usize].push(number);
        }
        Ok(Self { shape: Rc::new(shape), transitions: arcs, invariants: Vec::new(), setup: None, teardown: None })
    }

    /// Checks something after each transition of any instance: the test fails if it does not hold.
    ///
    /// ```
    /// use simutant_models::{Machine, Step, Walker, transition};
    ///
    /// let take = transition("open -> empty", async |stock: &mut i32, step: &mut Step<'_>| {
    ///     *stock -= step.choose(1..=3) as i32;
    ///     Ok(())
    /// });
    /// let shop = Machine::new("shop", ["open", "empty"], [take])?.invariant("there is no debt", |stock| *stock >= 0);
    /// let verdict = Walker::new().run(shop.with(0), 7).verdict();
    /// assert_eq!(verdict.finding().expect("nothing can be taken from nothing").summary, "shop: there is no debt");
    /// # Ok::<(), simutant_models::MachineError>(())
    /// ```
    #[must_use]
    pub fn invariant(mut self, what: &str, holds: impl Fn(&M) -> bool + 'static) -> Self {
        self.invariants.push((what.to_owned(), Rc::new(holds)));
        self
    }

    /// Does something before the first transition of an instance. Its choices are those of the walk, and what it stops
    /// with is a failure.
    #[must_use]
    pub fn setup(
        mut self,
        action: impl for<'a, 'b> AsyncFn(&'a mut M, &'a mut crate::Step<'b>) -> Result<(), crate::Stop> + 'static,
    ) -> Self {
        self.setup = Some(Rc::new(action));
        self
    }

    /// Does something when a walk has ended, however it did.
    ///
    /// ```
    /// use std::{cell::Cell, rc::Rc};
    /// use simutant_models::{Machine, Step, Walker, transition};
    ///
    /// let connections = Rc::new(Cell::new(0));
    /// let opened = connections.clone();
    /// let connect = transition("idle -> connected", async move |_: &mut (), step: &mut Step<'_>| {
    ///     opened.set(opened.get() + 1);
    ///     step.assert(false, "the server answers")
    /// });
    /// let closed = connections.clone();
    /// let client = Machine::new("client", ["idle", "connected"], [connect])?
    ///     .teardown(async move |_: &mut ()| closed.set(closed.get() - 1));
    /// let path = Walker::new().run(client.with(()), 7);
    /// // The test failed, and what it had opened is closed all the same.
    /// assert!(!path.verdict().passes());
    /// assert_eq!(connections.get(), 0);
    /// # Ok::<(), simutant_models::MachineError>(())
    /// ```
    #[must_use]
    pub fn teardown(mut self, action: impl for<'a> AsyncFn(&'a mut M) + 'static) -> Self {
        self.teardown = Some(Rc::new(action));
        self
    }

    /// Returns an instance of the machine, with a model.
    pub fn with(&self, model: M) -> Box<dyn Instance> {
        Box::new(Typed::new(self.clone(), model))
    }

    /// Returns the states and transitions.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }
}

impl<M> Clone for Machine<M> {
    fn clone(&self) -> Self {
        let transitions = self.transitions.iter().map(Arc::clone).collect();
        let (setup, teardown) = (self.setup.clone(), self.teardown.clone());
        Self { shape: self.shape.clone(), transitions, invariants: self.invariants.clone(), setup, teardown }
    }
}

impl<M> fmt::Debug for Machine<M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Machine").field("shape", &self.shape).finish_non_exhaustive()
    }
}

impl Shape {
    fn new(name: &str, states: Vec<String>) -> Result<Self, MachineError> {
        let machine = name.to_owned();
        if states.is_empty() {
            return Err(MachineError::NoStates { machine });
        }
        if let Some(part) = ["\n", ": "].into_iter().find(|part| name.contains(part)) {
            return Err(MachineError::Name { name: machine.clone(), machine, part });
        }
        if let Some(twice) = (1..states.len()).find(|&place| states[..place].contains(&states[place])) {
            return Err(MachineError::StateTwice { machine, state: states[twice].clone() });
        }
        Ok(Self { name: machine, states, transitions: Vec::new(), leaving: Vec::new() })
    }

    /// Returns the transitions that an arrow stands for, one from each of its states.
    fn read<M>(&self, transition: &Transition<M>) -> Result<Vec<TransitionShape>, MachineError> {
        let (machine, arrow) = (self.name.clone(), transition.arrow.clone());
        let state = |state: &str| {
            let state = state.trim();
            let found = self.states.iter().position(|known| known == state);
            let unknown = || MachineError::UnknownState {
                machine: machine.clone(),
                arrow: arrow.clone(),
                state: state.to_owned(),
                states: self.states.clone(),
            };
            found.map(|place| place as u32).ok_or_else(unknown)
        };
        let malformed = || MachineError::Arrow { machine: machine.clone(), arrow: arrow.clone() };
        let (origins, target) = arrow.split_once("->").ok_or_else(malformed)?;
        let target = state(target)?;
        let caught =
            transition.catches.iter().filter_map(|caught| Some((caught.name.to_string(), caught.target.clone()?)));
        let moved = transition.next_if.iter().map(|next| (format!("if {}", next.target), next.target.clone()));
        let exceptional = caught.chain(moved).map(|(name, target)| Ok((name, state(&target)?)));
        let exceptional = exceptional.collect::<Result<Vec<_>, MachineError>>()?;
        let described = origins.split('|').map(|origin| {
            let origin = state(origin)?;
            let of = |state: u32| &self.states[state as usize];
            let name = match &transition.label {
                Some(label) if origins.contains('|') => format!("{label} ({})", of(origin)),
                Some(label) => label.clone(),
                None => format!("{} -> {}", of(origin), of(target)),
            };
            let weight = transition.weight;
            Ok(TransitionShape { name, origin, target, exceptional: exceptional.clone(), weight })
        });
        described.collect()
    }

    fn check(&self) -> Result<(), MachineError> {
        let machine = || self.name.clone();
        let mut names = BTreeSet::new();
        for TransitionShape { name, weight, .. } in &self.transitions {
            if let Some(part) = ["\n", " => "].into_iter().find(|part| name.contains(part)) {
                return Err(MachineError::Name { machine: machine(), name: name.clone(), part });
            }
            if !names.insert(name) {
                return Err(MachineError::TransitionTwice { machine: machine(), name: name.clone() });
            }
            if !(weight.is_finite() && *weight >= 0.0) {
                return Err(MachineError::Weight { machine: machine(), name: name.clone(), weight: *weight });
            }
        }
        let missing = |reached: &BTreeSet<u32>| -> Vec<String> {
            let states = (0..).zip(&self.states).filter(|(number, _)| !reached.contains(number));
            states.map(|(_, state)| state.clone()).collect()
        };
        let unreachable = missing(&self.closure([0].into(), |transition, reached| {
            let leads = reached.contains(&transition.origin);
            if leads { transition.targets().collect() } else { Vec::new() }
        }));
        if !unreachable.is_empty() {
            let initial = self.states[0].clone();
            return Err(MachineError::Unreachable { machine: machine(), initial, states: unreachable });
        }
        let left: BTreeSet<u32> = self.transitions.iter().map(|transition| transition.origin).collect();
        let ends = (0..self.states.len() as u32).filter(|state| !left.contains(state)).collect();
        let endless = missing(&self.closure(ends, |transition, reached| {
            let leads = transition.targets().any(|target| reached.contains(&target));
            if leads { vec![transition.origin] } else { Vec::new() }
        }));
        if endless.is_empty() { Ok(()) } else { Err(MachineError::NoExit { machine: machine(), states: endless }) }
    }

    /// Returns the states that `add` adds to some, until it adds no more.
    fn closure(
        &self,
        mut reached: BTreeSet<u32>,
        add: impl Fn(&TransitionShape, &BTreeSet<u32>) -> Vec<u32>,
    ) -> BTreeSet<u32> {
        loop {
            let before = reached.len();
            for transition in &self.transitions {
                reached.extend(add(transition, &reached));
            }
            if reached.len() == before {
                return reached;
            }
        }
    }

    /// Returns whether no transition leaves a state.
    pub fn is_final(&self, state: u32) -> bool {
        self.leaving.get(state as usize).is_none_or(Vec::is_empty)
    }
}

impl TransitionShape {
    /// Returns the states that it may lead to.
    pub fn targets(&self) -> impl Iterator<Item = u32> {
        std::iter::once(self.target).chain(self.exceptional.iter().map(|&(_, target)| target))
    }
}

impl<M> Arc<M> {
    fn clone(&self) -> Self {
        Self {
            action: self.action.clone(),
            catches: self.catches.clone(),
            throws: self.throws.clone(),
            next_if: self.next_if.clone(),
        }
    }

    pub(crate) fn act<'a>(&'a self, model: &'a mut M, step: &'a mut crate::Step<'_>) -> Done<'a> {
        self.action.act(model, step)
    }
}
