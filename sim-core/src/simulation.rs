//! A simulation that is being put together: components, their starts and expectations, the network, checks.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::{self, Debug};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use crate::executor;
use crate::expectation::{AnyResultSlot, ResultSlot, Returned};
use crate::kernel::{Kernel, Shared};
use crate::message::ComponentId;
use crate::trace::Trace;
use crate::{Address, CheckFailure, Context, Limits, Message, Network, Random, Verdict, VirtualTime};

/// A configuration of components and a network, ready to run once.
///
/// It is generic over the message type of the system. See the [crate's page](crate) for a whole program.
pub struct Simulation<M: Message> {
    pub(crate) kernel: Shared<M>,
    pub(crate) components: Vec<Component>,
    pub(crate) limits: Limits,
    pub(crate) checks: Vec<FinalCheck>,
    random: Random,
    ids: BTreeMap<String, ComponentId>,
    /// By [`ComponentId`]: whether the component was added, and not only named.
    is_added: Vec<bool>,
}

/// A component that was added.
pub(crate) struct Component {
    pub(crate) id: ComponentId,
    pub(crate) future: Pin<Box<dyn Future<Output = ()>>>,
    pub(crate) result: Rc<dyn AnyResultSlot>,
    pub(crate) starts_at: VirtualTime,
}

/// A check of the end state.
pub(crate) struct FinalCheck {
    pub(crate) name: String,
    pub(crate) check: Box<dyn FnOnce() -> Result<(), CheckFailure>>,
}

/// What a run leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// How it ended.
    pub verdict: Verdict,
    /// How many events were handled: starts, timers, arrivals, and wakes within an instant.
    pub events: u64,
    /// When the last of them happened.
    pub ended_at: VirtualTime,
    /// A digest of the times, kinds and places of all events in their order. Equal runs have equal digests.
    pub digest: u64,
    /// What happened; `None` unless [`Simulation::record_trace`] asked for it.
    pub trace: Option<Trace>,
}

impl<M: Message> Simulation<M> {
    /// Returns a simulation without components. The seed fixes everything in it that is random.
    pub fn new(seed: u64) -> Self {
        let random = Random::from_seed(seed);
        Self {
            kernel: Rc::new(RefCell::new(Kernel::new(random.stream("network")))),
            components: Vec::new(),
            limits: Limits::default(),
            checks: Vec::new(),
            random,
            ids: BTreeMap::new(),
            is_added: Vec::new(),
        }
    }

    /// Sets how the network treats packets; without this, [`Network::default`].
    ///
    /// # Panics
    /// If [`Network::validate`] refuses it.
    pub fn network(&mut self, network: Network) -> &mut Self {
        if let Err(error) = network.validate() {
            panic!("the network is invalid: {error}");
        }
        self.kernel.borrow_mut().network = network;
        self
    }

    /// Sets how far the run may go; without this, [`Limits::default`].
    pub fn limits(&mut self, limits: Limits) -> &mut Self {
        self.limits = limits;
        self
    }

    /// Lowers the limit on events to `events_max`, if it is above.
    pub fn events_at_most(&mut self, events_max: u64) -> &mut Self {
        self.limits.events = self.limits.events.min(events_max);
        self
    }

    /// Asks for a [`Trace`] in the report. It costs a few texts for each packet; a run without it pays nothing.
    pub fn record_trace(&mut self) -> &mut Self {
        self.kernel.borrow_mut().trace = Some(Trace::new());
        self
    }

    /// Returns the address of a port of a component, which may be added later, or never: then nobody is reached there.
    pub fn address(&mut self, component: &str, port: u16) -> Address {
        Address { component: self.id(component), port }
    }

    /// Adds a component, which starts at the start of the run unless [`Added::starting_at`] says otherwise.
    ///
    /// `body` is called at once, and the future that it returns is polled from the component's start on. Components that
    /// start at the same time do so in the order in which they were added. The name fixes the component's random stream.
    ///
    /// # Panics
    /// If there is a component with this name.
    pub fn add<T, F>(&mut self, name: &str, body: impl FnOnce(Context<M>) -> F) -> Added<'_, M, T>
    where
        F: Future<Output = T> + 'static,
        T: Debug + PartialEq + 'static,
    {
        let id = self.id(name);
        let was_added = std::mem::replace(&mut self.is_added[id.index()], true);
        assert!(!was_added, "there is a component {name} already: give this one another name");
        let random = self.random.stream(&format!("component/{name}"));
        let future = body(Context::new(self.kernel.clone(), id, name, random));
        let result = Rc::new(ResultSlot::new());
        let slot = result.clone();
        let future = Box::pin(async move { slot.fill(future.await) });
        self.components.push(Component { id, future, result: result.clone(), starts_at: VirtualTime::ZERO });
        Added { simulation: self, result }
    }

    /// Adds a check of the end state. Checks run in the order in which they were added, after the components are gone,
    /// if the run was reasonable so far; the first that fails is the verdict.
    pub fn check(&mut self, name: &str, check: impl FnOnce() -> Result<(), CheckFailure> + 'static) -> &mut Self {
        self.checks.push(FinalCheck { name: name.to_owned(), check: Box::new(check) });
        self
    }

    /// Runs until nothing is scheduled, a limit is reached, or a component panics.
    ///
    /// Components that wait for a message when nothing is scheduled are over: servers do. If a value was expected of
    /// such a component, that is a [`Violation`](crate::Violation) which says what it waits for. A panic of a component or
    /// check ends the run, and is reported; as everywhere, the process' panic hook hears of it first.
    pub fn run(self) -> Report {
        executor::run(self)
    }

    fn id(&mut self, name: &str) -> ComponentId {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = self.kernel.borrow_mut().add_component(name);
        self.ids.insert(name.to_owned(), id);
        self.is_added.push(false);
        id
    }
}

impl<M: Message> Debug for Simulation<M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Simulation").field("components", &self.ids).finish_non_exhaustive()
    }
}

/// A component that was just added, for what is particular about it.
pub struct Added<'a, M: Message, T> {
    simulation: &'a mut Simulation<M>,
    result: Rc<ResultSlot<T>>,
}

impl<M: Message, T: Debug + PartialEq + 'static> Added<'_, M, T> {
    /// Sets when the component starts.
    pub fn starting_at(self, time: VirtualTime) -> Self {
        self.simulation.components.last_mut().expect("the component was added").starts_at = time;
        self
    }

    /// Sets what the component must return; not to return is a violation as well.
    pub fn expecting(self, value: T) -> Self {
        self.result.expect(value);
        self
    }

    /// Returns a handle to what the component will have returned, for a final check.
    pub fn returned(self) -> Returned<T> {
        Returned(self.result)
    }
}

impl<M: Message, T> Debug for Added<'_, M, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Added").finish_non_exhaustive()
    }
}
