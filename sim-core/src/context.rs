//! What a component has of the world: its channels, the clock, its random stream.

use std::any::type_name;
use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::rc::Rc;

use crate::child::Child;
use crate::components::WaitPurpose;
use crate::durable::Durable;
use crate::kernel::Shared;
use crate::message::ComponentId;
use crate::pause::Pause;
use crate::trace::Action;
use crate::{Address, Channel, Connect, Listener, Message, PortInUse, Random, VirtualDuration, VirtualTime};

/// A component's handle to the simulation that it is part of.
pub struct Context<M: Message> {
    kernel: Shared<M>,
    name: Rc<str>,
    component: ComponentId,
    /// How many child tasks were spawned from here: each has a random stream of its own.
    children: u32,
    random: Random,
}

impl<M: Message> Context<M> {
    pub(crate) fn new(kernel: Shared<M>, component: ComponentId, random: Random) -> Self {
        let name = kernel.borrow().components.name(component).clone();
        Self { kernel, name, component, children: 0, random }
    }

    /// Returns the component's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the address of a port of this component, whether it is open or not.
    pub fn address(&self, port: u16) -> Address {
        Address { component: self.component, port }
    }

    /// Returns the address of a port of all other components: what is sent there goes to each of them.
    ///
    /// ```
    /// use simutant_sim_core::{Message, Simulation};
    ///
    /// # #[derive(Debug, Clone, Hash)]
    /// # struct Hello;
    /// # impl Message for Hello {
    /// #     fn kind(&self) -> &'static str { "HELLO" }
    /// # }
    /// let mut simulation = Simulation::<Hello>::new(1);
    /// for name in ["a", "b", "c"] {
    ///     simulation
    ///         .add(name, move |context| async move {
    ///             let mut channel = context.channel_at(7);
    ///             channel.send(context.broadcast(7), Hello);
    ///             // Of everybody but itself.
    ///             [channel.recv().await, channel.recv().await].iter().all(|hello| hello.source != channel.address())
    ///         })
    ///         .expecting(true);
    /// }
    /// assert!(simulation.run().ended.passed());
    /// ```
    pub fn broadcast(&self, port: u16) -> Address {
        Address { component: ComponentId::EVERYONE, port }
    }

    /// Opens a channel on an unused port from 49,152 on, as clients do.
    ///
    /// # Panics
    /// If all of these ports of the component are in use.
    pub fn channel(&self) -> Channel<M> {
        let opened = self.kernel.borrow_mut().ports.open_ephemeral(self.component);
        let Some((address, port)) = opened else {
            panic!("{} has no unused port from 49,152 on: drop channels that are not needed", self.name)
        };
        Channel::new(self.kernel.clone(), port, address)
    }

    /// Opens a channel on a port of one's choice, as servers do.
    ///
    /// # Panics
    /// If a channel of this component is open on this port: a mistake of the component, which ends the run.
    pub fn channel_at(&self, port: u16) -> Channel<M> {
        match self.try_channel_at(port) {
            Ok(channel) => channel,
            Err(PortInUse { port }) => panic!("port {port} of {} is in use: drop the other channel first", self.name),
        }
    }

    /// Opens a channel on a port of one's choice, unless one of this component is open there.
    ///
    /// # Errors
    /// [`PortInUse`] if one is.
    pub fn try_channel_at(&self, port: u16) -> Result<Channel<M>, PortInUse> {
        let address = self.address(port);
        let index = self.kernel.borrow_mut().ports.open(address).ok_or(PortInUse { port })?;
        Ok(Channel::new(self.kernel.clone(), index, address))
    }

    /// Listens for streams on a port, as servers do.
    ///
    /// # Panics
    /// If this component listens on the port, or has a stream from there: a mistake of the component, which ends the
    /// run.
    pub fn listen(&self, port: u16) -> Listener<M> {
        match self.try_listen(port) {
            Ok(listener) => listener,
            Err(PortInUse { port }) => {
                panic!("port {port} of {} is in use for streams: drop the other listener first", self.name)
            }
        }
    }

    /// Listens for streams on a port, unless it is in use for streams.
    ///
    /// # Errors
    /// [`PortInUse`] if it is.
    pub fn try_listen(&self, port: u16) -> Result<Listener<M>, PortInUse> {
        Listener::open(&self.kernel, self.address(port)).ok_or(PortInUse { port })
    }

    /// Opens a stream, from an unused port from 49,152 on, within `timeout` from the first poll by the component's
    /// clock.
    ///
    /// It asks again after a second if no answer comes, then after two, and so on. Dropping the future before it is
    /// ready takes the request back.
    ///
    /// ```
    /// use simutant_sim_core::{ConnectError, Message, Simulation, VirtualDuration};
    ///
    /// # #[derive(Debug, Clone, Hash)]
    /// # struct Line;
    /// # impl Message for Line {
    /// #     fn kind(&self) -> &'static str { "LINE" }
    /// # }
    /// let mut simulation = Simulation::<Line>::new(1);
    /// let server = simulation.address("server", 80);
    /// // The server is up, and listens at another port.
    /// simulation.add("server", |context| async move { _ = context.listen(8080).accept().await });
    /// simulation
    ///     .add("client", move |context| async move {
    ///         context.connect(server, VirtualDuration::from_secs(5)).await.map(|stream| stream.remote())
    ///     })
    ///     .expecting(Err(ConnectError::Refused));
    /// assert!(simulation.run().ended.passed());
    /// ```
    ///
    /// # Errors
    /// The future returns [`ConnectError`](crate::ConnectError).
    ///
    /// # Panics
    /// The future panics if the address is that of a group, or all of these ports are in use.
    #[track_caller]
    pub fn connect(&self, address: Address, timeout: VirtualDuration) -> Connect<'_, M> {
        Connect::new(&self.kernel, self.component, address, timeout)
    }

    /// Returns what the component's clock shows: the virtual time, unless the [clock is wrong](crate::ClockFault).
    ///
    /// Time passes between polls only: code takes none, except where it awaits.
    pub fn now(&self) -> VirtualTime {
        let kernel = self.kernel.borrow();
        kernel.components.read_clock(self.component, kernel.now)
    }

    /// Lets `duration` pass by the component's clock, counted from the first poll. It stands for work, which a
    /// [slow](crate::SlowFault) component takes longer for.
    ///
    /// With [`VirtualDuration::ZERO`], everything that is scheduled for this instant already happens first.
    #[inline]
    pub fn pause(&self, duration: VirtualDuration) -> Pause<'_, M> {
        Pause::new(&self.kernel, self.component, duration, WaitPurpose::Work)
    }

    /// Does what [`Context::pause`] does, but stands for waiting and not for work: it takes a slow component no longer.
    #[inline]
    pub fn sleep(&self, duration: VirtualDuration) -> Pause<'_, M> {
        Pause::new(&self.kernel, self.component, duration, WaitPurpose::Timeout)
    }

    /// Starts a task beside this one, with a context of its own.
    ///
    /// It first runs when this task waits, at the same instant. Outside of the run (in a body before its async block,
    /// in a destructor at the end) it is cancelled at once. It ends when the component's body returns, or crashes: a
    /// component is as long as its body.
    ///
    /// ```
    /// use simutant_sim_core::{Message, Simulation, VirtualDuration, VirtualTime};
    ///
    /// # #[derive(Debug, Clone, Hash)]
    /// # struct Nothing;
    /// # impl Message for Nothing {
    /// #     fn kind(&self) -> &'static str { "NOTHING" }
    /// # }
    /// let mut simulation = Simulation::<Nothing>::new(1);
    /// simulation
    ///     .add("cook", |mut context| async move {
    ///         let tasks = [3, 5].map(|secs| {
    ///             context.spawn(move |context| async move { context.pause(VirtualDuration::from_secs(secs)).await })
    ///         });
    ///         for task in tasks {
    ///             task.await.expect("nobody cancels it");
    ///         }
    ///         context.now()
    ///     })
    ///     .expecting(VirtualTime::from_secs(5));
    /// assert!(simulation.run().ended.passed());
    /// ```
    pub fn spawn<T, F>(&mut self, body: impl FnOnce(Self) -> F) -> Child<T>
    where
        F: Future<Output = T> + 'static,
        T: 'static,
    {
        let random = self.random.stream(&format!("child/{}", self.children));
        self.children += 1;
        let context = Self {
            kernel: self.kernel.clone(),
            name: self.name.clone(),
            component: self.component,
            children: 0,
            random,
        };
        Child::spawn(&self.kernel, self.component, body(context))
    }

    /// Returns the component's durable value of this name: the one that was there before a crash or, if there is none,
    /// the one that `initial` returns.
    ///
    /// # Panics
    /// If the value of this name is of another type.
    pub fn durable<T: 'static>(&self, name: &str, initial: impl FnOnce() -> T) -> Durable<T> {
        let found = self.kernel.borrow().components.durable(self.component, name);
        if let Some(value) = found {
            return match value.downcast::<RefCell<T>>() {
                Ok(value) => Durable(value),
                Err(_) => panic!("{}: the durable value {name} is no {}", self.name, type_name::<T>()),
            };
        }
        self.durable_anew(name, initial)
    }

    /// Returns a durable value of this name that is what `initial` returns, in the place of one that was there before a
    /// crash: what a component does that has lost its disk.
    pub fn durable_anew<T: 'static>(&self, name: &str, initial: impl FnOnce() -> T) -> Durable<T> {
        let value = Rc::new(RefCell::new(initial()));
        let before = self.kernel.borrow_mut().components.set_durable(self.component, name, value.clone());
        // Values of the model are dropped after the borrow.
        drop(before);
        Durable(value)
    }

    /// Puts a line of text into the trace. `text` is called only if there is one.
    ///
    /// ```
    /// use simutant_sim_core::{Message, Simulation};
    ///
    /// # #[derive(Debug, Clone, Hash)]
    /// # struct Nothing;
    /// # impl Message for Nothing {
    /// #     fn kind(&self) -> &'static str { "NOTHING" }
    /// # }
    /// let mut simulation = Simulation::<Nothing>::new(1);
    /// simulation.record_trace();
    /// simulation.add("server", |context| async move { context.note(|| format!("{} is up", context.name())) });
    /// let trace = simulation.run().trace.expect("it is recorded");
    /// assert_eq!(trace[1].to_string(), r#"at 0 s, server noted "server is up""#);
    /// ```
    pub fn note(&self, text: impl FnOnce() -> String) {
        if self.kernel.borrow().trace.is_some() {
            let action = Action::Noted { component: self.name.to_string(), text: text() };
            self.kernel.borrow_mut().record(|_| action);
        }
    }

    /// Says in which phase of its protocol the component is from now on. It goes into the trace, if there is one, and
    /// changes nothing else; criteria of systems ask for faults in each phase.
    pub fn phase(&self, phase: &str) {
        if self.kernel.borrow().trace.is_some() {
            let action = Action::PhaseBegan { component: self.name.to_string(), phase: phase.to_owned() };
            self.kernel.borrow_mut().record(|_| action);
        }
    }

    /// Returns whether the run goes on: true for all code of a component but its destructors at the end of the run.
    ///
    /// It is the condition of a server's loop (Rutherford, PhD thesis, figure 3.4). The loop ends while it waits.
    pub fn running(&self) -> bool {
        self.kernel.borrow().is_running
    }

    /// Returns the component's own random stream, which depends on the simulation's seed and the component's name.
    /// After a restart it is another one.
    #[inline]
    pub fn random(&mut self) -> &mut Random {
        &mut self.random
    }
}

/// How far the component's generator came goes into the digest of the run.
impl<M: Message> Drop for Context<M> {
    fn drop(&mut self) {
        // A context that is dropped by the kernel's own doing, such as in a message, finds it in use.
        if let Ok(mut kernel) = self.kernel.try_borrow_mut() {
            kernel.digest.add_pair(self.random.seed(), self.random.position());
        }
    }
}

impl<M: Message> fmt::Debug for Context<M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Context").field("name", &self.name).finish_non_exhaustive()
    }
}
