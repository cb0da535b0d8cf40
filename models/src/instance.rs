//! Instances of machines, of whatever model.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use crate::machine::{Machine, Shape};
use crate::step::{Exception, Step, Stop};
use crate::transition::Done;

/// An instance of a [`Machine`]: its model, and what is done with it. [`Machine::with`] makes one.
pub trait Instance: fmt::Debug {
    /// Returns the machine's states and transitions.
    fn shape(&self) -> &Rc<Shape>;

    /// Does what comes before the first transition.
    #[doc(hidden)]
    fn set_up<'a>(&'a mut self, step: &'a mut Step<'_>) -> Done<'a>;

    /// Does what a transition does.
    #[doc(hidden)]
    fn act<'a>(&'a mut self, transition: u32, step: &'a mut Step<'_>) -> Done<'a>;

    /// Says what an exception is to a transition that it came from.
    #[doc(hidden)]
    fn catch(&self, transition: u32, exception: &Exception) -> Caught;

    /// Returns the exception that a transition has to end with.
    #[doc(hidden)]
    fn thrown(&self, transition: u32) -> Option<&str>;

    /// Returns which condition after a transition holds, and leads to another state.
    #[doc(hidden)]
    fn next_if(&self, transition: u32) -> Option<u32>;

    /// Returns an invariant that does not hold.
    #[doc(hidden)]
    fn violated(&self) -> Option<&str>;

    /// Does what comes after the walk.
    #[doc(hidden)]
    fn tear_down(&mut self) -> Pin<Box<dyn Future<Output = ()> + '_>>;
}

/// What an exception is to a transition.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caught {
    /// It leads to the state of the exceptional transition of this number.
    Leads(u32),
    /// It had to occur.
    Thrown,
    /// It was not expected.
    Unexpected,
}

/// An instance with a model of a known type.
pub(crate) struct Typed<M> {
    machine: Machine<M>,
    pub(crate) model: M,
}

impl<M: 'static> Typed<M> {
    pub(crate) fn new(machine: Machine<M>, model: M) -> Self {
        Self { machine, model }
    }
}

impl<M> fmt::Debug for Typed<M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Instance").field("machine", &self.machine.shape.name).finish_non_exhaustive()
    }
}

impl<M: 'static> Instance for Typed<M> {
    fn shape(&self) -> &Rc<Shape> {
        &self.machine.shape
    }

    fn set_up<'a>(&'a mut self, step: &'a mut Step<'_>) -> Done<'a> {
        match &self.machine.setup {
            Some(setup) => setup.act(&mut self.model, step),
            None => Box::pin(std::future::ready(Ok::<(), Stop>(()))),
        }
    }

    fn act<'a>(&'a mut self, transition: u32, step: &'a mut Step<'_>) -> Done<'a> {
        self.machine.transitions[transition as usize].act(&mut self.model, step)
    }

    fn catch(&self, transition: u32, exception: &Exception) -> Caught {
        let arc = &self.machine.transitions[transition as usize];
        if arc.throws.as_ref().is_some_and(|thrown| (thrown.is_it)(exception)) {
            return Caught::Thrown;
        }
        let caught = arc.catches.iter().position(|caught| (caught.is_it)(exception));
        caught.map_or(Caught::Unexpected, |place| Caught::Leads(place as u32))
    }

    fn thrown(&self, transition: u32) -> Option<&str> {
        self.machine.transitions[transition as usize].throws.as_ref().map(|thrown| &*thrown.name)
    }

    fn next_if(&self, transition: u32) -> Option<u32> {
        let arc = &self.machine.transitions[transition as usize];
        let place = arc.next_if.iter().position(|next| (next.condition)(&self.model))?;
        Some((arc.catches.len() + place) as u32)
    }

    fn violated(&self) -> Option<&str> {
        let violated = self.machine.invariants.iter().find(|(_, holds)| !holds(&self.model));
        violated.map(|(what, _)| what.as_str())
    }

    fn tear_down(&mut self) -> Pin<Box<dyn Future<Output = ()> + '_>> {
        match &self.machine.teardown {
            Some(teardown) => teardown.tear_down(&mut self.model),
            None => Box::pin(std::future::ready(())),
        }
    }
}
