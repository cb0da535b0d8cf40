//! The state of a run that its components share: the clock, what is to happen, ports, the network, the record.
//!
//! Components, channels and futures reach it through a `RefCell` that is never borrowed while code of a component runs.
//! Functions that remove a [`Waiter`] return it, so that the caller can drop it after the borrow: dropping or waking a
//! foreign waker may run code that comes back here.

use std::cell::RefCell;
use std::rc::Rc;

use crate::digest::Digest;
use crate::event_queue::{EventId, EventQueue};
use crate::message::ComponentId;
use crate::network::Fate;
use crate::ports::{PortIndex, Ports};
use crate::trace::{Action, DropReason, Endpoint, Packet, Trace, TraceEvent, Transport};
use crate::waker::{TaskKey, Waiter};
use crate::{Address, Delivery, Message, Network, Random, VirtualDuration, VirtualTime};

/// The kernel as components hold it.
pub(crate) type Shared<M> = Rc<RefCell<Kernel<M>>>;

#[derive(Debug)]
pub(crate) struct Kernel<M> {
    pub(crate) now: VirtualTime,
    /// Whether the run goes on; false before its start and after its end.
    pub(crate) is_running: bool,
    pub(crate) ports: Ports<M>,
    pub(crate) network: Network,
    pub(crate) digest: Digest,
    /// `None` unless the run is to be recorded.
    pub(crate) trace: Option<Trace>,
    queue: EventQueue<Event<M>>,
    network_random: Random,
    /// Names by [`ComponentId`].
    component_names: Vec<String>,
    packets_sent: u64,
}

#[derive(Debug)]
enum Event<M> {
    Start { component: ComponentId, task_key: TaskKey },
    Timer(Waiter),
    Arrival { delivery: Delivery<M>, packet_number: u64 },
}

/// What the digest takes an event for.
#[derive(Debug, Clone, Copy)]
enum DigestKind {
    Start = 1,
    Timer,
    Arrival,
    Unreachable,
    Wake,
}

impl<M: Message> Kernel<M> {
    pub(crate) fn new(network_random: Random) -> Self {
        Self {
            now: VirtualTime::ZERO,
            is_running: false,
            ports: Ports::new(),
            network: Network::default(),
            digest: Digest::EMPTY,
            trace: None,
            queue: EventQueue::new(),
            network_random,
            component_names: Vec::new(),
            packets_sent: 0,
        }
    }

    pub(crate) fn add_component(&mut self, name: &str) -> ComponentId {
        self.ports.add_component();
        self.component_names.push(name.to_owned());
        ComponentId(u32::try_from(self.component_names.len() - 1).expect("a run has fewer than 2^32 components"))
    }

    pub(crate) fn component_name(&self, component: ComponentId) -> &str {
        &self.component_names[component.index()]
    }

    pub(crate) fn schedule_start(&mut self, at: VirtualTime, component: ComponentId, task_key: TaskKey) {
        self.queue.schedule(at, Event::Start { component, task_key });
    }

    pub(crate) fn schedule_timer(&mut self, after: VirtualDuration, waiter: Waiter) -> EventId {
        self.queue.schedule(self.now + after, Event::Timer(waiter))
    }

    /// Stops a timer if it did not fire yet.
    #[must_use = "a waiter is dropped after the borrow"]
    pub(crate) fn cancel_timer(&mut self, timer: EventId) -> Option<Waiter> {
        match self.queue.cancel(timer)? {
            Event::Timer(waiter) => Some(waiter),
            Event::Start { .. } | Event::Arrival { .. } => unreachable!("an id never names another event"),
        }
    }

    /// Sets who is woken by a timer, and returns who was; returns `waiter` as an error if the timer has fired.
    pub(crate) fn replace_timer_waiter(&mut self, timer: EventId, waiter: Waiter) -> Result<Waiter, Waiter> {
        match self.queue.get_mut(timer) {
            Some(Event::Timer(old)) => Ok(std::mem::replace(old, waiter)),
            Some(Event::Start { .. } | Event::Arrival { .. }) => unreachable!("an id never names another event"),
            None => Err(waiter),
        }
    }

    /// Removes the oldest message from the mailbox of a port.
    pub(crate) fn receive(&mut self, port: PortIndex) -> Option<Delivery<M>> {
        self.ports.get_mut(port).mailbox.pop_front()
    }

    /// Sets who is woken by an arrival at a port, and returns who was.
    #[must_use = "a waiter is dropped after the borrow"]
    pub(crate) fn replace_port_waiter(&mut self, port: PortIndex, waiter: Option<Waiter>) -> Option<Waiter> {
        let now = self.now;
        let port = self.ports.get_mut(port);
        if port.waiter.is_none() {
            port.waiting_since = now;
        }
        std::mem::replace(&mut port.waiter, waiter)
    }

    /// Hands a packet to the network.
    pub(crate) fn send(&mut self, source: Address, destination: Address, message: M) {
        let packet_number = self.packets_sent;
        self.packets_sent += 1;
        self.record_packet(Action::Sent, packet_number, source, destination, &message);
        let after = match self.network.fate(&mut self.network_random) {
            Fate::Dropped => {
                let action = |packet| Action::Dropped { packet, reason: DropReason::Loss };
                return self.record_packet(action, packet_number, source, destination, &message);
            }
            Fate::Delivered { after } => after,
            Fate::Duplicated { after, copy_after } => {
                self.record_packet(Action::Duplicated, packet_number, source, destination, &message);
                let copy = Delivery { source, destination, message: message.clone() };
                self.schedule_copy(copy_after, copy, packet_number);
                after
            }
        };
        let delivery = Delivery { source, destination, message };
        self.queue.schedule(self.now + after, Event::Arrival { delivery, packet_number });
    }

    /// Out of line, so that the common case has one place where it writes its event.
    #[cold]
    fn schedule_copy(&mut self, after: VirtualDuration, delivery: Delivery<M>, packet_number: u64) {
        self.queue.schedule(self.now + after, Event::Arrival { delivery, packet_number });
    }

    /// Returns when the next event happens.
    pub(crate) fn next_time(&self) -> Option<VirtualTime> {
        self.queue.next_time()
    }

    /// Lets the next event happen, and returns who is to be polled because of it.
    ///
    /// # Panics
    /// If nothing is scheduled.
    pub(crate) fn handle_next(&mut self) -> Option<Waiter> {
        let (time, event) = self.queue.pop().expect("something is scheduled");
        debug_assert!(time >= self.now, "time went back from {} to {time}", self.now);
        self.now = time;
        match event {
            Event::Start { component, task_key } => {
                self.add_to_digest(DigestKind::Start, task_key.index() as u64);
                self.record(|kernel| Action::Started { component: kernel.component_name(component).to_owned() });
                Some(Waiter::Task(task_key))
            }
            Event::Timer(waiter) => {
                let task = match waiter {
                    Waiter::Task(task_key) => task_key.index() as u64,
                    Waiter::Foreign(_) => u64::from(u32::MAX),
                };
                self.add_to_digest(DigestKind::Timer, task);
                Some(waiter)
            }
            Event::Arrival { delivery, packet_number } => self.arrive(delivery, packet_number),
        }
    }

    fn arrive(&mut self, delivery: Delivery<M>, packet_number: u64) -> Option<Waiter> {
        let Delivery { source, destination, message } = delivery;
        let place = (u64::from(destination.component.0) << 16) | u64::from(destination.port);
        let Some(index) = self.ports.find(destination) else {
            self.add_to_digest(DigestKind::Unreachable, place);
            self.digest.add(packet_number);
            self.record_packet(Action::Unreachable, packet_number, source, destination, &message);
            return None;
        };
        self.add_to_digest(DigestKind::Arrival, place);
        self.digest.add(packet_number);
        self.record_packet(Action::Delivered, packet_number, source, destination, &message);
        let port = self.ports.get_mut(index);
        port.mailbox.push_back(Delivery { source, destination, message });
        port.waiter.take()
    }

    /// Notes that a task is polled because its waker was woken.
    pub(crate) fn note_wake(&mut self, task_key: TaskKey) {
        self.add_to_digest(DigestKind::Wake, task_key.index() as u64);
    }

    fn add_to_digest(&mut self, kind: DigestKind, identity: u64) {
        self.digest.add(self.now.as_nanos());
        self.digest.add(((kind as u64) << 56) | identity);
    }

    /// Records what `action` returns; it is not called if the run is not recorded.
    #[inline]
    pub(crate) fn record(&mut self, action: impl FnOnce(&Self) -> Action) {
        if self.trace.is_some() {
            self.record_now(action);
        }
    }

    #[cold]
    fn record_now(&mut self, action: impl FnOnce(&Self) -> Action) {
        let event = TraceEvent { at: self.now, action: action(self) };
        self.trace.get_or_insert_default().push(event);
    }

    #[inline]
    fn record_packet(
        &mut self,
        action: fn(Packet) -> Action,
        number: u64,
        source: Address,
        destination: Address,
        message: &M,
    ) {
        self.record(|kernel| {
            action(Packet {
                number,
                source: kernel.endpoint(source),
                destination: kernel.endpoint(destination),
                transport: Transport::Datagram,
                kind: message.kind().to_owned(),
                message: format!("{message:?}"),
                bytes: message.bytes(),
            })
        });
    }

    pub(crate) fn endpoint(&self, address: Address) -> Endpoint {
        Endpoint { component: self.component_name(address.component).to_owned(), port: address.port }
    }
}
