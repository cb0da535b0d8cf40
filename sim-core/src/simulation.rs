//! A simulation that is being put together: components, their starts and expectations, the network, checks.

use std::cell::RefCell;
use std::fmt::{self, Debug};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{self, Poll};

use pin_project_lite::pin_project;

use crate::choice::{ChoiceSource, RecordedChoice};
use crate::ended::Waiting;
use crate::executor::{self, BoxedFuture, Change};
use crate::expectation::{AnyResultSlot, ResultSlot, Returned};
use crate::fault::Faults;
use crate::kernel::{Kernel, Shared};
use crate::message::{ComponentId, Group};
use crate::network::NetworkState;
use crate::outlined::Outlined;
use crate::run_clock::RunClock;
use crate::setup::{CheckTrace, FinalCheck, InvalidConfiguration, Setup, TieOrder};
use crate::trace::{Trace, TraceEvent};
use crate::{Address, CheckFailure, Context, Ended, Limits, Message, Network, VirtualTime};

/// A configuration of components and a network, ready to run once.
///
/// It is generic over the message type of the system. See the [crate's page](crate) for a whole program.
pub struct Simulation<M: Message> {
    kernel: Shared<M>,
    components: Vec<Component<M>>,
    setup: Outlined<Setup>,
}

/// A simulation whose configuration is valid.
pub(crate) struct Configured<M: Message> {
    pub(crate) kernel: Shared<M>,
    pub(crate) components: Vec<Component<M>>,
    pub(crate) setup: Outlined<Setup>,
    pub(crate) changes: Outlined<Vec<(VirtualTime, Change)>>,
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

/// The report of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// How it ended.
    pub ended: Ended,
    /// How many events were handled: starts, timers, arrivals, scheduled faults and partitions, and wakes within an
    /// instant.
    pub events: u64,
    /// When the last of them happened.
    pub ended_at: VirtualTime,
    /// How many packets were sent, whatever became of them; one to a group counts once for each member.
    pub packets_sent: u64,
    /// A digest of all events in their order, with their times and places, of what messages hold, and of how far the
    /// generators of random numbers came. Equal runs have equal digests.
    pub digest: u64,
    /// Components that still waited when no event was left, in the order in which they were added; empty if the run
    /// ended otherwise.
    pub waiting: Vec<Waiting>,
    /// How many scheduled faults and partitions began when every component that returns at all had returned: a test case
    /// whose clients return is over by then.
    pub faults_after_end: u64,
    /// The trace; `None` unless [`Simulation::record_trace`] asked for it.
    pub trace: Option<Trace>,
    /// The choices that were made; `None` unless [`Simulation::record_choices`] asked for them.
    pub choices: Option<Vec<RecordedChoice>>,
}

impl<M: Message> Simulation<M> {
    /// Returns a simulation without components. The seed fixes everything in it that is random.
    pub fn new(seed: u64) -> Self {
        Self { kernel: Rc::new(RefCell::new(Kernel::new())), components: Vec::new(), setup: Setup::new(seed).into() }
    }

    /// Sets how the network treats packets; without this, [`Network::default`].
    pub fn network(&mut self, network: impl Into<Network>) -> &mut Self {
        self.setup.set_network(network.into());
        self
    }

    /// Sets what goes wrong with components; without this, nothing does.
    pub fn faults(&mut self, faults: Faults) -> &mut Self {
        self.setup.set_faults(faults);
        self
    }

    /// Sets which of simultaneous events comes first; without this, the one that was scheduled first.
    ///
    /// ```
    /// use std::collections::BTreeSet;
    /// use simutant_sim_core::{Message, Simulation, TieOrder};
    ///
    /// # #[derive(Debug, Clone, Hash)]
    /// # struct Nothing;
    /// # impl Message for Nothing {
    /// #     fn kind(&self) -> &'static str { "NOTHING" }
    /// # }
    /// let first_to_start = |seed, tie_order| {
    ///     let mut simulation = Simulation::<Nothing>::new(seed);
    ///     simulation.tie_order(tie_order).record_trace();
    ///     for name in ["a", "b"] {
    ///         simulation.add(name, |_| async {});
    ///     }
    ///     simulation.run().trace.expect("it is recorded")[0].to_string()
    /// };
    /// let firsts = |tie_order| (0..20).map(|seed| first_to_start(seed, tie_order)).collect::<BTreeSet<_>>();
    /// assert_eq!(firsts(TieOrder::Scheduling).len(), 1);
    /// assert_eq!(firsts(TieOrder::Random).len(), 2);
    /// ```
    pub fn tie_order(&mut self, tie_order: TieOrder) -> &mut Self {
        self.setup.tie_order = tie_order;
        self
    }

    /// Lets `source` make the choices that the run leaves open; without this, the seed does.
    ///
    /// ```
    /// use simutant_sim_core::{Choice, ChoiceKind, ChoiceSource, Link, Message, Probability, Simulation};
    ///
    /// # #[derive(Debug, Clone, PartialEq, Hash)]
    /// # struct Ping(u8);
    /// # impl Message for Ping {
    /// #     fn kind(&self) -> &'static str { "PING" }
    /// # }
    /// /// Loses the first packet of each stream, and no other.
    /// struct LoseFirst;
    ///
    /// impl ChoiceSource for LoseFirst {
    ///     fn choose(&mut self, choice: &Choice<'_>) -> u64 {
    ///         if choice.kind == ChoiceKind::Drop { u64::from(choice.index == 0) } else { choice.seeded }
    ///     }
    /// }
    ///
    /// let mut simulation = Simulation::<Ping>::new(1);
    /// simulation.network(Link { drop: Probability::new(0.5)?.into(), ..Link::default() }).choices(LoseFirst);
    /// let server = simulation.address("server", 7);
    /// simulation
    ///     .add("server", |context| async move { context.channel_at(7).recv().await.message })
    ///     .expecting(Ping(2));
    /// simulation.add("client", move |context| async move {
    ///     [1, 2].into_iter().for_each(|number| context.channel().send(server, Ping(number)));
    /// });
    /// assert!(simulation.run().ended.passed());
    /// # Ok::<(), simutant_sim_core::InvalidProbability>(())
    /// ```
    pub fn choices(&mut self, source: impl ChoiceSource) -> &mut Self {
        self.setup.choices.set_source(Box::new(source));
        self
    }

    /// Asks for the choices that were made in the report.
    ///
    /// ```
    /// use simutant_sim_core::{ChoiceKind, Link, Message, Probability, Replay, Report, Simulation};
    ///
    /// # #[derive(Debug, Clone, Hash)]
    /// # struct Ping;
    /// # impl Message for Ping {
    /// #     fn kind(&self) -> &'static str { "PING" }
    /// # }
    /// fn run(seed: u64, replay: Replay) -> Report {
    ///     let mut simulation = Simulation::<Ping>::new(seed);
    ///     let drop = Probability::new(0.5).expect("it is one").into();
    ///     simulation.network(Link { drop, ..Link::default() }).choices(replay).record_choices();
    ///     let server = simulation.address("server", 7);
    ///     simulation.add("client", move |context| async move { context.channel().send(server, Ping) });
    ///     simulation.run()
    /// }
    ///
    /// let recorded = run(1, Replay::default()).choices.expect("they are recorded");
    /// assert_eq!((recorded[0].stream.as_str(), recorded[0].kind), ("network client->server", ChoiceKind::Drop));
    /// // Another seed makes the same run of them.
    /// assert_eq!(run(2, Replay::new(recorded.clone())).choices, Some(recorded));
    /// ```
    pub fn record_choices(&mut self) -> &mut Self {
        self.setup.choices.record();
        self
    }

    /// Sets how far the run may go; without this, [`Limits::default`].
    pub fn limits(&mut self, limits: Limits) -> &mut Self {
        self.setup.limits = limits;
        self
    }

    /// Lowers the limit on events to `events_max`, if it is above.
    pub fn events_at_most(&mut self, events_max: u64) -> &mut Self {
        self.setup.limits.events = self.setup.limits.events.min(events_max);
        self
    }

    /// Lowers the limit on virtual time to `last`, if it is later.
    ///
    /// ```
    /// use simutant_sim_core::{Ended, LimitReached, Message, Simulation, VirtualDuration, VirtualTime};
    ///
    /// # #[derive(Debug, Clone, Hash)]
    /// # struct Nothing;
    /// # impl Message for Nothing {
    /// #     fn kind(&self) -> &'static str { "NOTHING" }
    /// # }
    /// let mut simulation = Simulation::<Nothing>::new(1);
    /// simulation.virtual_time_at_most(VirtualTime::from_secs(60));
    /// simulation.add("ticker", |context| async move {
    ///     while context.running() {
    ///         context.sleep(VirtualDuration::from_secs(7)).await;
    ///     }
    /// });
    /// let (limit, next) = (VirtualTime::from_secs(60), VirtualTime::from_secs(63));
    /// assert_eq!(simulation.run().ended, Ended::NotTerminated(LimitReached::VirtualTime { limit, next }));
    /// ```
    pub fn virtual_time_at_most(&mut self, last: VirtualTime) -> &mut Self {
        self.setup.limits.virtual_time = self.setup.limits.virtual_time.min(last);
        self
    }

    /// Asks for a [`Trace`] in the report. It costs a few texts for each packet; a run without it pays nothing.
    pub fn record_trace(&mut self) -> &mut Self {
        self.setup.reports_trace = true;
        self.kernel.borrow_mut().trace.get_or_insert_default();
        self
    }

    /// Lets a recorded trace have its first events only, at most so many: a run that does not end fills no memory then.
    /// [Checks of the trace](Simulation::check_trace) get all of it.
    pub fn trace_at_most(&mut self, events: usize) -> &mut Self {
        self.kernel.borrow_mut().trace_max = events;
        self
    }

    /// Returns the address of a port of a component, which may be added later, or never: then packets to it are
    /// unreachable.
    pub fn address(&mut self, component: &str, port: u16) -> Address {
        Address { component: self.id(component), port }
    }

    /// Returns the multicast group called `name`: channels [join](crate::Channel::join) it, and a message to a port of
    /// it goes to all that did.
    ///
    /// ```
    /// use simutant_sim_core::{Message, Simulation};
    ///
    /// # #[derive(Debug, Clone, PartialEq, Hash)]
    /// # struct News(u8);
    /// # impl Message for News {
    /// #     fn kind(&self) -> &'static str { "NEWS" }
    /// # }
    /// let mut simulation = Simulation::<News>::new(1);
    /// let readers = simulation.group("readers");
    /// for name in ["a", "b"] {
    ///     simulation
    ///         .add(name, move |context| async move {
    ///             let mut channel = context.channel_at(7);
    ///             channel.join(readers);
    ///             channel.recv().await.message
    ///         })
    ///         .expecting(News(5));
    /// }
    /// simulation.add("press", move |context| async move { context.channel().send(readers.address(7), News(5)) });
    /// let report = simulation.run();
    /// assert!(report.ended.passed());
    /// assert_eq!(report.packets_sent, 2);
    /// ```
    pub fn group(&mut self, name: &str) -> Group {
        if let Some(group) = self.setup.group(name) {
            return group;
        }
        let group = Group(self.kernel.borrow_mut().add_group(name));
        self.setup.name_group(name, group);
        group
    }

    /// Adds a component, which starts at the start of the run unless [`Added::starting_at`] says otherwise.
    ///
    /// `body` is called at once, and the future that it returns is polled from the component's start on: what `body`
    /// does before its async block is part of the configuration, and nothing can be sent there. Components that start
    /// at the same time do so in the order in which they were added. The name fixes the component's random stream.
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

    /// Adds a component as [`Simulation::add`] does, which can be [restarted](crate::Fault::Restart) after a crash:
    /// `body` is called for each start.
    ///
    /// ```
    /// use simutant_sim_core::{Fault, Faults, Message, ScheduledFault, Simulation, VirtualDuration, VirtualTime};
    ///
    /// # #[derive(Debug, Clone, Hash)]
    /// # struct Nothing;
    /// # impl Message for Nothing {
    /// #     fn kind(&self) -> &'static str { "NOTHING" }
    /// # }
    /// let mut simulation = Simulation::<Nothing>::new(1);
    /// simulation
    ///     .add_restartable("store", |context| async move {
    ///         let starts = context.durable("starts", || 0);
    ///         *starts.change() += 1;
    ///         context.pause(VirtualDuration::from_secs(10)).await;
    ///         *starts.get()
    ///     })
    ///     .expecting(2);
    /// let component = "store".to_owned();
    /// let restart = Fault::Restart { component: component.clone(), durable_state: Default::default() };
    /// let faults = [(3, Fault::Crash { component }), (4, restart)];
    /// let schedule = faults.map(|(secs, fault)| ScheduledFault { at: VirtualTime::from_secs(secs), fault });
    /// simulation.faults(Faults { schedule: schedule.to_vec(), ..Faults::default() });
    /// let report = simulation.run();
    /// assert!(report.ended.passed());
    /// assert_eq!(report.ended_at, VirtualTime::from_secs(14));
    /// ```
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
        if was_added {
            self.setup.note_name_twice(name);
        }
        (id, Context::new(self.kernel.clone(), id, self.setup.component_random(name)))
    }

    /// Returns the virtual time of the run, for what observes it: the recorder of a history, a check of the end state.
    pub fn clock(&self) -> RunClock {
        let kernel = self.kernel.clone();
        RunClock::new(move || kernel.borrow().now)
    }

    /// Adds a check of the end state. Checks run in the order in which they were added, after the components are gone,
    /// if the run passes so far; it fails by the first check that fails.
    ///
    /// ```
    /// use simutant_sim_core::{CheckFailure, Message, Simulation};
    ///
    /// # #[derive(Debug, Clone, Hash)]
    /// # struct Nothing;
    /// # impl Message for Nothing {
    /// #     fn kind(&self) -> &'static str { "NOTHING" }
    /// # }
    /// let mut simulation = Simulation::<Nothing>::new(1);
    /// let votes = ["a", "b"].map(|name| simulation.add(name, move |_| async move { name }).returned());
    /// simulation.check("all votes are equal", move || {
    ///     let [first, second] = votes.map(|vote| vote.get().map(|vote| *vote));
    ///     if first == second { Ok(()) } else { Err(CheckFailure::new(format!("{first:?} is not {second:?}"))) }
    /// });
    /// let ended = simulation.run().ended.to_string();
    /// assert!(ended.starts_with("failed: ") && ended.ends_with(r#"Some("a") is not Some("b")"#));
    /// ```
    pub fn check(&mut self, name: &str, check: impl FnOnce() -> Result<(), CheckFailure> + 'static) -> &mut Self {
        self.add_check(name, Box::new(|_| check()))
    }

    /// Adds a check of everything that happened: of an invariant such as "never two leaders", which no end state shows.
    /// It is a [check](Simulation::check) as others are, and gets the whole [trace](crate::trace) of the run.
    ///
    /// Cost: each run of the simulation is recorded, a few strings for each packet.
    ///
    /// ```
    /// use simutant_sim_core::trace::Action;
    /// use simutant_sim_core::{CheckFailure, Message, Simulation};
    ///
    /// # #[derive(Debug, Clone, Hash)]
    /// # struct Vote;
    /// # impl Message for Vote {
    /// #     fn kind(&self) -> &'static str { "VOTE" }
    /// # }
    /// let mut simulation = Simulation::<Vote>::new(1);
    /// for name in ["a", "b"] {
    ///     simulation.add(name, |context| async move { context.phase("leader") });
    /// }
    /// simulation.check_trace("there is one leader at most", |trace| {
    ///     let leads = |action: &Action| matches!(action, Action::PhaseBegan { phase, .. } if phase == "leader");
    ///     match trace.iter().filter(|event| leads(&event.action)).count() {
    ///         0 | 1 => Ok(()),
    ///         leaders => Err(CheckFailure::new(format!("there were {leaders}"))),
    ///     }
    /// });
    /// assert!(simulation.run().ended.to_string().ends_with("failed: there were 2"));
    /// ```
    pub fn check_trace(
        &mut self,
        name: &str,
        check: impl FnOnce(&[TraceEvent]) -> Result<(), CheckFailure> + 'static,
    ) -> &mut Self {
        self.setup.checks_trace = true;
        self.kernel.borrow_mut().trace.get_or_insert_default();
        self.add_check(name, Box::new(check))
    }

    fn add_check(&mut self, name: &str, check: CheckTrace) -> &mut Self {
        self.setup.checks.push(FinalCheck { name: name.to_owned(), check });
        self
    }

    /// Checks that the configuration can be run.
    ///
    /// ```
    /// use simutant_sim_core::{Fault, Faults, Message, ScheduledFault, Simulation, VirtualTime};
    ///
    /// # #[derive(Debug, Clone, Hash)]
    /// # struct Nothing;
    /// # impl Message for Nothing {
    /// #     fn kind(&self) -> &'static str { "NOTHING" }
    /// # }
    /// let mut simulation = Simulation::<Nothing>::new(1);
    /// simulation.add("server", |_| async {});
    /// let fault = Fault::Crash { component: "sever".to_owned() };
    /// let schedule = vec![ScheduledFault { at: VirtualTime::from_secs(1), fault }];
    /// simulation.faults(Faults { schedule, ..Faults::default() });
    /// let error = simulation.validate().expect_err("the name has a typo");
    /// assert!(error.to_string().starts_with(r#"faults: schedule[0].component is "sever""#));
    /// ```
    ///
    /// # Errors
    /// [`InvalidConfiguration`] names the field, its value, and what is allowed.
    pub fn validate(&self) -> Result<(), InvalidConfiguration> {
        self.compile().map(|_| ())
    }

    /// Runs until nothing is scheduled, a limit is reached, or a component panics.
    ///
    /// Components that wait for a message when nothing is scheduled are over: servers do. If a value was expected of
    /// such a component, that is a [`Violation`](crate::Violation) which says what it waits for. A panic of a component
    /// or check ends the run, and is reported; as everywhere, the process' panic hook hears of it first.
    ///
    /// ```
    /// use simutant_sim_core::{Ended, Message, Simulation, Violation};
    ///
    /// # #[derive(Debug, Clone, Hash)]
    /// # struct Ping;
    /// # impl Message for Ping {
    /// #     fn kind(&self) -> &'static str { "PING" }
    /// # }
    /// let mut simulation = Simulation::<Ping>::new(1);
    /// // Nobody sends anything to the server.
    /// simulation
    ///     .add("server", |context| async move { context.channel_at(7).recv().await.message.kind() })
    ///     .expecting("PING");
    /// let report = simulation.run();
    /// assert!(matches!(report.ended, Ended::Failed(Violation::NoResult { component, .. }) if component == "server"));
    /// assert_eq!(report.waiting[0].component, "server");
    /// ```
    ///
    /// # Panics
    /// If [`Simulation::validate`] refuses the configuration: nothing is run then.
    pub fn run(self) -> Report {
        let (network, changes) = match self.compile() {
            Ok(compiled) => compiled,
            Err(error) => panic!("the configuration is invalid: {error}"),
        };
        let Self { kernel, components, setup } = self;
        *kernel.borrow_mut().network = network;
        setup.set_speeds(&mut kernel.borrow_mut().components);
        executor::run(Configured { kernel, components, setup, changes: changes.into() })
    }

    /// Returns the network of the run, and what happens by schedule.
    fn compile(&self) -> Result<(NetworkState, Vec<(VirtualTime, Change)>), InvalidConfiguration> {
        let restartable = self.components.iter().filter(|component| component.body.is_some());
        self.setup.compile(&self.kernel.borrow().components, &restartable.map(|component| component.id).collect())
    }

    fn id(&mut self, name: &str) -> ComponentId {
        if let Some(id) = self.setup.id(name) {
            return id;
        }
        let id = self.kernel.borrow_mut().add_component(name);
        self.setup.name_component(name, id);
        id
    }
}

pin_project! {
    /// Runs a component's body, and keeps what it returns. Written out because an async block would hold the body
    /// twice: once before it is first polled, and once after.
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
        formatter.debug_struct("Simulation").field("components", self.setup.ids()).finish_non_exhaustive()
    }
}

/// A component that was just added, for what is particular about it.
pub struct Added<'a, M: Message, T> {
    simulation: &'a mut Simulation<M>,
    result: Rc<ResultSlot<T>>,
}

impl<M: Message, T: Debug + PartialEq + 'static> Added<'_, M, T> {
    /// Sets when the component starts.
    ///
    /// ```
    /// use simutant_sim_core::{Message, Simulation, VirtualTime};
    ///
    /// # #[derive(Debug, Clone, Hash)]
    /// # struct Nothing;
    /// # impl Message for Nothing {
    /// #     fn kind(&self) -> &'static str { "NOTHING" }
    /// # }
    /// let mut simulation = Simulation::<Nothing>::new(1);
    /// let noon = VirtualTime::from_secs(12 * 60 * 60);
    /// simulation.add("late", |context| async move { context.now() }).starting_at(noon).expecting(noon);
    /// assert!(simulation.run().ended.passed());
    /// ```
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
