//! A simulation that is being put together: components, their starts and expectations, the network, checks.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Debug};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{self, Poll};

use pin_project_lite::pin_project;

use crate::choice::{ChoiceSource, Choices, RecordedChoice};
use crate::executor::{self, BoxedFuture, Change};
use crate::expectation::{AnyResultSlot, ResultSlot, Returned};
use crate::fault::{Fault, Faults};
use crate::kernel::{EVERYONE, Kernel, Shared};
use crate::message::{ComponentId, Group};
use crate::network::{NetworkState, network_seed, some_names};
use crate::trace::Trace;
use crate::verdict::Waiting;
use crate::{
    Address, CheckFailure, Context, InvalidFaults, InvalidNetwork, Limits, Message, Network, Random, Verdict,
    VirtualTime,
};

/// A configuration of components and a network, ready to run once.
///
/// It is generic over the message type of the system. See the [crate's page](crate) for a whole program.
pub struct Simulation<M: Message> {
    kernel: Shared<M>,
    components: Vec<Component<M>>,
    network: Network,
    faults: Faults,
    limits: Limits,
    checks: Vec<FinalCheck>,
    tie_order: TieOrder,
    choices: Choices,
    seed: u64,
    random: Random,
    ids: BTreeMap<String, ComponentId>,
    groups: BTreeMap<String, Group>,
    /// The first name that was given to two components.
    name_twice: Option<String>,
}

/// A simulation whose configuration is valid.
pub(crate) struct Configured<M: Message> {
    pub(crate) kernel: Shared<M>,
    pub(crate) components: Vec<Component<M>>,
    pub(crate) limits: Limits,
    pub(crate) checks: Vec<FinalCheck>,
    pub(crate) changes: Vec<(VirtualTime, Change)>,
    pub(crate) order: Option<Random>,
    pub(crate) choices: Choices,
    pub(crate) random: Random,
}

/// What makes the future of a component, as often as it starts.
pub(crate) type Body<M> = Rc<dyn Fn(Context<M>) -> BoxedFuture>;

/// A component that was added.
pub(crate) struct Component<M: Message> {
    pub(crate) id: ComponentId,
    pub(crate) future: BoxedFuture,
    pub(crate) result: Rc<dyn AnyResultSlot>,
    pub(crate) starts_at: VirtualTime,
    /// `None` if it cannot be restarted.
    pub(crate) body: Option<Body<M>>,
}

/// Which of several events of one instant comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TieOrder {
    /// The one that was scheduled first.
    #[default]
    Scheduling,
    /// Each is equally likely, by the seed: to find out what relies on an order that no network promises. Scheduled faults and
    /// partitions come first all the same.
    Random,
}

/// A configuration that cannot be: nothing of it runs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidConfiguration {
    /// Two components have one name; give one of them another.
    #[error("there are two components called {name}: give one of them another name")]
    NameTwice {
        /// The name.
        name: String,
    },
    /// A component or group has a name that would be mistaken for something else; give it another.
    #[error("the name {name:?} cannot be: {reason}")]
    Name {
        /// The name.
        name: String,
        /// Why not.
        reason: &'static str,
    },
    /// The network cannot be.
    #[error("network: {0}")]
    Network(#[from] InvalidNetwork),
    /// The faults cannot be.
    #[error("faults: {0}")]
    Faults(#[from] InvalidFaults),
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
    /// How many events were handled: starts, timers, arrivals, scheduled faults and partitions, and wakes within an instant.
    pub events: u64,
    /// When the last of them happened.
    pub ended_at: VirtualTime,
    /// A digest of all events in their order, with their times and places, of what messages hold, and of how far the
    /// generators of random numbers came. Equal runs have equal digests.
    pub digest: u64,
    /// Who still waited when nothing was left to happen, in the order in which they were added; empty if the run ended otherwise.
    pub waiting: Vec<Waiting>,
    /// What happened; `None` unless [`Simulation::record_trace`] asked for it.
    pub trace: Option<Trace>,
    /// The choices that were made; `None` unless [`Simulation::record_choices`] asked for them.
    pub choices: Option<Vec<RecordedChoice>>,
}

impl<M: Message> Simulation<M> {
    /// Returns a simulation without components. The seed fixes everything in it that is random.
    pub fn new(seed: u64) -> Self {
        Self {
            kernel: Rc::new(RefCell::new(Kernel::new())),
            components: Vec::new(),
            network: Network::default(),
            faults: Faults::default(),
            limits: Limits::default(),
            checks: Vec::new(),
            tie_order: TieOrder::default(),
            choices: Choices::default(),
            seed,
            random: Random::from_seed(seed),
            ids: BTreeMap::new(),
            groups: BTreeMap::new(),
            name_twice: None,
        }
    }

    /// Sets how the network treats packets; without this, [`Network::default`].
    pub fn network(&mut self, network: impl Into<Network>) -> &mut Self {
        self.network = network.into();
        self
    }

    /// Sets what goes wrong with components; without this, nothing does.
    pub fn faults(&mut self, faults: Faults) -> &mut Self {
        self.faults = faults;
        self
    }

    /// Sets which of simultaneous events comes first; without this, the one that was scheduled first.
    pub fn tie_order(&mut self, tie_order: TieOrder) -> &mut Self {
        self.tie_order = tie_order;
        self
    }

    /// Lets `source` make the choices that the run leaves open; without this, the seed does.
    pub fn choices(&mut self, source: impl ChoiceSource) -> &mut Self {
        self.choices.set_source(Box::new(source));
        self
    }

    /// Asks for the choices that were made in the report.
    pub fn record_choices(&mut self) -> &mut Self {
        self.choices.record();
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

    /// Lowers the limit on virtual time to `last`, if it is later.
    pub fn virtual_time_at_most(&mut self, last: VirtualTime) -> &mut Self {
        self.limits.virtual_time = self.limits.virtual_time.min(last);
        self
    }

    /// Asks for a [`Trace`] in the report. It costs a few texts for each packet; a run without it pays nothing.
    pub fn record_trace(&mut self) -> &mut Self {
        self.kernel.borrow_mut().trace = Some(Trace::new());
        self
    }

    /// Lets a recorded trace have its first events only, at most so many: a run that does not end fills no memory then.
    pub fn trace_at_most(&mut self, events: usize) -> &mut Self {
        self.kernel.borrow_mut().trace_max = events;
        self
    }

    /// Returns the address of a port of a component, which may be added later, or never: then nobody is reached there.
    pub fn address(&mut self, component: &str, port: u16) -> Address {
        Address { component: self.id(component), port }
    }

    /// Returns the multicast group called `name`: channels [join](crate::Channel::join) it, and a message to a port of it goes to all that did.
    pub fn group(&mut self, name: &str) -> Group {
        let kernel = &self.kernel;
        *self.groups.entry(name.to_owned()).or_insert_with(|| Group(kernel.borrow_mut().add_group(name)))
    }

    /// Adds a component, which starts at the start of the run unless [`Added::starting_at`] says otherwise.
    ///
    /// `body` is called at once, and the future that it returns is polled from the component's start on: what `body` does
    /// before its async block is part of the configuration, and nothing can be sent there. Components that
    /// start at the same time do so in the order in which they were added. The name fixes the component's random stream.
    pub fn add<T, F>(&mut self, name: &str, body: impl FnOnce(Context<M>) -> F) -> Added<'_, M, T>
    where
        F: Future<Output = T> + 'static,
        T: Debug + PartialEq + 'static,
    {
        let result = Rc::new(ResultSlot::new());
        let (id, context) = self.new_context(name);
        let future = Box::pin(Filling { future: body(context), slot: result.clone() });
        self.components.push(Component {
            id,
            future,
            result: result.clone(),
            starts_at: VirtualTime::ZERO,
            body: None,
        });
        Added { simulation: self, result }
    }

    /// Adds a component as [`Simulation::add`] does, which can be [restarted](Fault::Restart) after a crash: `body` is called
    /// for each start.
    pub fn add_restartable<T, F>(&mut self, name: &str, body: impl Fn(Context<M>) -> F + 'static) -> Added<'_, M, T>
    where
        F: Future<Output = T> + 'static,
        T: Debug + PartialEq + 'static,
    {
        let result = Rc::new(ResultSlot::new());
        let slot = result.clone();
        let body: Body<M> =
            Rc::new(move |context| Box::pin(Filling { future: body(context), slot: slot.clone() }) as BoxedFuture);
        let (id, context) = self.new_context(name);
        let (future, body) = (body(context), Some(body));
        self.components.push(Component { id, future, result: result.clone(), starts_at: VirtualTime::ZERO, body });
        Added { simulation: self, result }
    }

    fn new_context(&mut self, name: &str) -> (ComponentId, Context<M>) {
        let id = self.id(name);
        let was_added = self.kernel.borrow_mut().components.set_added(id);
        if was_added && self.name_twice.is_none() {
            self.name_twice = Some(name.to_owned());
        }
        let random = self.random.stream(&format!("component/{name}"));
        (id, Context::new(self.kernel.clone(), id, random))
    }

    /// Adds a check of the end state. Checks run in the order in which they were added, after the components are gone,
    /// if the run was reasonable so far; the first that fails is the verdict.
    pub fn check(&mut self, name: &str, check: impl FnOnce() -> Result<(), CheckFailure> + 'static) -> &mut Self {
        self.checks.push(FinalCheck { name: name.to_owned(), check: Box::new(check) });
        self
    }

    /// Checks that the configuration can be run.
    ///
    /// # Errors
    /// [`InvalidConfiguration`] names the field, its value, and what is allowed.
    pub fn validate(&self) -> Result<(), InvalidConfiguration> {
        self.compile().map(|_| ())
    }

    /// Runs until nothing is scheduled, a limit is reached, or a component panics.
    ///
    /// Components that wait for a message when nothing is scheduled are over: servers do. If a value was expected of
    /// such a component, that is a [`Violation`](crate::Violation) which says what it waits for. A panic of a component or
    /// check ends the run, and is reported; as everywhere, the process' panic hook hears of it first.
    ///
    /// # Panics
    /// If [`Simulation::validate`] refuses the configuration: nothing is run then.
    pub fn run(self) -> Report {
        let (network, changes) = match self.compile() {
            Ok(compiled) => compiled,
            Err(error) => panic!("the configuration is invalid: {error}"),
        };
        let Self { kernel, components, limits, checks, faults, mut choices, random, ids, tie_order, .. } = self;
        {
            let mut kernel = kernel.borrow_mut();
            kernel.network = network;
            faults.clocks.iter().for_each(|fault| kernel.components.set_clock(ids[&fault.component], fault.clock));
            let slow = faults.slow.iter();
            slow.for_each(|fault| kernel.components.set_pause_percent(ids[&fault.component], fault.percent));
        }
        if choices.is_active() {
            for name in ids.keys() {
                let seed = random.stream(&format!("component/{name}")).seed();
                choices.name_stream(seed, format!("component {name}"));
            }
        }
        let order = (tie_order == TieOrder::Random).then(|| random.stream("order"));
        executor::run(Configured { kernel, components, limits, checks, changes, order, choices, random })
    }

    /// Returns the network of the run, and what happens by schedule.
    fn compile(&self) -> Result<(NetworkState, Vec<(VirtualTime, Change)>), InvalidConfiguration> {
        if let Some(name) = self.name_twice.clone() {
            return Err(InvalidConfiguration::NameTwice { name });
        }
        for name in self.ids.keys().chain(self.groups.keys()) {
            let reason = if name.is_empty() {
                "it is empty"
            } else if name.contains("->") {
                "\"->\" stands between the two ends of a packet"
            } else if name == EVERYONE {
                "it stands for all components"
            } else if self.ids.contains_key(name) && self.groups.contains_key(name) {
                "a component and a group have it"
            } else {
                continue;
            };
            return Err(InvalidConfiguration::Name { name: name.clone(), reason });
        }
        let names: Vec<String> = self.kernel.borrow().components.added_names().map(str::to_owned).collect();
        let network = NetworkState::new(&self.network, &names, network_seed(self.seed))?;
        self.faults.validate()?;
        for (field, name) in self.faults.names() {
            if !self.ids.get(name).is_some_and(|&id| self.kernel.borrow().components.is_added(id)) {
                let allowed = format!("the name of a component: {}", some_names(&names));
                return Err(InvalidFaults { field, value: format!("{name:?}"), allowed }.into());
            }
        }
        let restartable: BTreeSet<ComponentId> =
            self.components.iter().filter(|component| component.body.is_some()).map(|component| component.id).collect();
        let mut changes = Vec::new();
        for (index, scheduled) in self.faults.schedule.iter().enumerate() {
            let component = self.ids[scheduled.fault.component()];
            if matches!(scheduled.fault, Fault::Restart { .. }) && !restartable.contains(&component) {
                return Err(InvalidFaults {
                    field: format!("schedule[{index}].component"),
                    value: format!("{:?}", scheduled.fault.component()),
                    allowed: "a component that was added by add_restartable, since it is to restart".to_owned(),
                }
                .into());
            }
            changes.push((scheduled.at, Change::Fault(scheduled.fault.clone(), component)));
        }
        for (at, change) in self.network.scheduled() {
            changes.push((at, Change::Partition(change, self.network.partitions[change.index()].groups.clone())));
        }
        Ok((network, changes))
    }

    fn id(&mut self, name: &str) -> ComponentId {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = self.kernel.borrow_mut().add_component(name);
        self.ids.insert(name.to_owned(), id);
        id
    }
}

pin_project! {
    /// Runs a component's body, and keeps what it returns. Written out because an async block would hold the body twice: once
    /// before it is first polled, and once after.
    struct Filling<F: Future> {
        #[pin]
        future: F,
        slot: Rc<ResultSlot<F::Output>>,
    }
}

impl<F: Future> Future for Filling<F> {
    type Output = ();

    #[inline]
    fn poll(self: Pin<&mut Self>, task: &mut task::Context<'_>) -> Poll<()> {
        let this = self.project();
        this.future.poll(task).map(|value| this.slot.fill(value))
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
