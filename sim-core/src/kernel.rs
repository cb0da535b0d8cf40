//! The state of a run that its components share: the clock, what is to happen, ports, packets, the network, the record.
//!
//! Components, channels and futures reach it through a `RefCell` that is never borrowed while code of a component runs.
//! Functions that remove a [`Waiter`] or a message return it, so that the caller can drop it after the borrow: dropping
//! or waking a foreign waker may run code that comes back here.

mod recording;
mod sending;
mod streams;

use std::cell::RefCell;
use std::rc::Rc;
use std::task::Waker;

use slab::Slab;

use crate::child::TaskRequest;
use crate::choice::{self, ChoiceKind};
use crate::components::{Components, WaitPurpose};
use crate::connections::Connections;
use crate::digest::Digest;
use crate::ended::{Wait, WaitSubject};
use crate::endless::EndlessPauses;
use crate::event::Event;
use crate::event_queue::{EventId, EventQueue};
use crate::groups::Groups;
use crate::message::ComponentId;
use crate::network::{NetworkState, first_draw};
use crate::noted_waits::VirtualClock;
use crate::outlined::{Outlined, outline};
use crate::ports::{PortIndex, Ports};
use crate::send_sites::{Caller, SendSites};
use crate::trace::{Action, DropReason, Trace};
use crate::waker::{TaskKey, Waiter};
use crate::{Address, Delivery, Message, Random, VirtualDuration, VirtualTime};

/// What all components are called together.
pub(crate) const EVERYONE: &str = "everyone";

/// The kernel as components hold it.
pub(crate) type Shared<M> = Rc<RefCell<Kernel<M>>>;

#[derive(Debug)]
pub(crate) struct Kernel<M> {
    pub(crate) now: VirtualTime,
    /// Whether the run goes on; false before its start and after its end.
    pub(crate) is_running: bool,
    pub(crate) queue: Outlined<EventQueue>,
    pub(crate) ports: Outlined<Ports>,
    pub(crate) components: Outlined<Components>,
    pub(crate) network: Outlined<NetworkState>,
    pub(crate) digest: Digest,
    /// `None` unless the run is to be recorded.
    pub(crate) trace: Outlined<Option<Trace>>,
    /// How many events of it are kept: the first.
    pub(crate) trace_max: usize,
    /// Of a run that is recorded.
    send_sites: Outlined<SendSites>,
    /// What components ask of the executor about their child tasks.
    pub(crate) task_requests: Outlined<Vec<TaskRequest>>,
    /// Indices of tasks that are gone, to be used again.
    pub(crate) free_tasks: Vec<u32>,
    pub(crate) tasks_len: u32,
    pub(crate) connections: Connections<M>,
    pub(crate) endless_pauses: Outlined<EndlessPauses>,
    /// Packets on their way or in mailboxes.
    packets: Slab<PacketInFlight<M>>,
    foreign_wakers: Outlined<Slab<Waker>>,
    groups: Outlined<Groups>,
    /// Where the members that a message goes to are listed; empty between calls.
    recipients: Vec<Address>,
    pub(crate) packets_sent: u64,
    /// By component: what fixes everything that is random about the next packet that it sends.
    next_draws: Vec<u64>,
}

outline!(
    EventQueue,
    Ports,
    Components,
    NetworkState,
    Option<Trace>,
    SendSites,
    Vec<TaskRequest>,
    EndlessPauses,
    Slab<Waker>,
    Groups
);

/// A packet's number in the run, and the number that fixes everything that is random about it.
#[derive(Debug, Clone, Copy)]
struct PacketNumber {
    in_run: u64,
    draw: u64,
}

#[derive(Debug)]
struct PacketInFlight<M> {
    number: u64,
    /// Of the message: for the digest.
    hash: u64,
    /// Where the destination's port was when the packet was sent: where to look first when it arrives.
    port_hint: Option<PortIndex>,
    delivery: Delivery<M>,
}

/// What the digest takes an event for.
#[derive(Debug, Clone, Copy)]
enum DigestKind {
    Start = 1,
    Timer,
    Arrival,
    Unreachable,
    Wake,
    Change,
    Dropped,
    StreamTimer,
}

/// What handling an event asks of the executor.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// Nothing.
    Nothing,
    /// To poll a task of this run.
    Poll(TaskKey),
    /// To wake someone else's.
    Wake(Waker),
    /// To start a component.
    Start(ComponentId),
    /// To carry out the change with this index.
    Change(u32),
    /// To let a component go on.
    Resume(ComponentId),
    /// To do what is left to do for streams.
    Streams,
}

impl<M: Message> Kernel<M> {
    pub(crate) fn new() -> Self {
        Self {
            now: VirtualTime::ZERO,
            is_running: false,
            queue: EventQueue::new().into(),
            ports: Ports::new().into(),
            components: Outlined::default(),
            network: NetworkState::unconfigured().into(),
            digest: Digest::EMPTY,
            trace: None.into(),
            trace_max: usize::MAX,
            send_sites: Outlined::default(),
            task_requests: Outlined::default(),
            free_tasks: Vec::new(),
            tasks_len: 0,
            connections: Connections::new(),
            endless_pauses: Outlined::default(),
            packets: Slab::new(),
            foreign_wakers: Slab::new().into(),
            groups: Outlined::default(),
            recipients: Vec::new(),
            packets_sent: 0,
            next_draws: Vec::new(),
        }
    }

    pub(crate) fn add_component(&mut self, name: &str) -> ComponentId {
        self.ports.add_component();
        self.next_draws.push(first_draw(name));
        self.components.add(name)
    }

    pub(crate) fn add_group(&mut self, name: &str) -> ComponentId {
        self.groups.add(name)
    }

    #[inline(always)]
    pub(crate) fn schedule(&mut self, at: VirtualTime, event: Event) -> EventId {
        self.queue.schedule(at, event.to_payload())
    }

    /// Takes an index for a new task.
    pub(crate) fn new_task(&mut self) -> TaskKey {
        let index = self.free_tasks.pop().unwrap_or_else(|| {
            self.tasks_len += 1;
            self.tasks_len - 1
        });
        TaskKey::new(index as usize)
    }

    // Timers.

    /// Schedules a timer of a component for when it has waited for `duration` in its own eyes.
    #[inline]
    pub(crate) fn schedule_timer(
        &mut self,
        component: ComponentId,
        duration: VirtualDuration,
        purpose: WaitPurpose,
        waiter: Waiter,
    ) -> EventId {
        let at = self.now + self.components.real_duration(component, duration, purpose);
        self.schedule_timer_at(at, waiter)
    }

    /// Schedules the timer of a pause as [`Kernel::schedule_timer`] does, and remembers it if it does not end.
    #[inline]
    pub(crate) fn schedule_pause(
        &mut self,
        component: ComponentId,
        duration: VirtualDuration,
        purpose: WaitPurpose,
        waiter: Waiter,
    ) -> EventId {
        let at = self.now + self.components.real_duration(component, duration, purpose);
        let timer = self.schedule_timer_at(at, waiter);
        if at == VirtualTime::MAX {
            self.endless_pauses.add(timer, component, self.now);
        }
        timer
    }

    /// Stops the timer of a pause if it did not fire yet.
    #[inline]
    #[must_use = "a waiter is dropped after the borrow"]
    pub(crate) fn cancel_pause(&mut self, timer: EventId) -> Option<Waiter> {
        self.endless_pauses.remove(timer);
        self.cancel_timer(timer)
    }

    #[inline(always)]
    fn schedule_timer_at(&mut self, at: VirtualTime, waiter: Waiter) -> EventId {
        let event = self.timer_event(waiter);
        self.schedule(at, event)
    }

    #[inline]
    fn timer_event(&mut self, waiter: Waiter) -> Event {
        match waiter {
            Waiter::Task(task_key) => Event::Timer(task_key),
            Waiter::Foreign(waker) => Event::ForeignTimer(self.foreign_wakers.insert(waker) as u32),
        }
    }

    #[inline]
    fn take_timer_waiter(&mut self, payload: u64) -> Option<Waiter> {
        match Event::from_payload(payload) {
            Event::Timer(_) => None,
            Event::ForeignTimer(index) => Some(Waiter::Foreign(self.foreign_wakers.remove(index as usize))),
            _ => unreachable!("an id never names another event"),
        }
    }

    /// Stops a timer if it did not fire yet.
    #[inline]
    #[must_use = "a waiter is dropped after the borrow"]
    pub(crate) fn cancel_timer(&mut self, timer: EventId) -> Option<Waiter> {
        let payload = self.queue.cancel(timer)?;
        self.take_timer_waiter(payload)
    }

    /// Returns whether a timer is still to fire.
    #[inline]
    pub(crate) fn is_pending(&mut self, timer: EventId) -> bool {
        self.queue.payload_mut(timer).is_some()
    }

    /// Sets who is woken by a timer that is still to fire, and returns who was, if that must be dropped.
    #[must_use = "a waiter is dropped after the borrow"]
    pub(crate) fn replace_timer_waiter(&mut self, timer: EventId, waiter: Waiter) -> Option<Waiter> {
        let old = *self.queue.payload_mut(timer)?;
        let new = self.timer_event(waiter).to_payload();
        if let Some(payload) = self.queue.payload_mut(timer) {
            *payload = new;
        }
        self.take_timer_waiter(old)
    }

    // Receiving.

    /// Removes the oldest message from the mailbox of a port, for the code at `caller`.
    #[inline]
    pub(crate) fn receive(&mut self, port: PortIndex, caller: Caller) -> Option<Delivery<M>> {
        let packet = self.ports.get_mut(port).mailbox.pop()?;
        if self.trace.is_some() {
            self.record_received(packet, caller);
        }
        Some(self.packets.remove(packet as usize).delivery)
    }

    /// Sets who is woken by an arrival at a port, and returns who was.
    #[inline]
    #[must_use = "a waiter is dropped after the borrow"]
    pub(crate) fn replace_port_waiter(&mut self, port: PortIndex, waiter: Option<Waiter>) -> Option<Waiter> {
        let now = self.now;
        let port = self.ports.get_mut(port);
        if port.waiter.is_none() {
            port.waiting_since = now;
        }
        std::mem::replace(&mut port.waiter, waiter)
    }

    /// Closes a port, and returns what is to be dropped after the borrow.
    pub(crate) fn close(&mut self, address: Address, port: PortIndex) -> (Vec<Delivery<M>>, Option<Waiter>) {
        self.groups.leave_all(address, port);
        let closed = self.ports.close(address, port);
        let unread = closed.mailbox.into_packets().map(|packet| self.packets.remove(packet as usize).delivery);
        (unread.collect(), closed.waiter)
    }

    /// Lets a channel hear what is sent to a group, or not any more.
    pub(crate) fn set_member(&mut self, group: ComponentId, address: Address, port: PortIndex, is_member: bool) {
        if is_member {
            self.groups.join(group, address, port);
        } else {
            self.groups.leave(group, address, port);
        }
    }

    // Events.

    /// Lets an event happen, and returns what is to be done because of it.
    #[inline(always)]
    pub(crate) fn handle(&mut self, time: VirtualTime, payload: u64) -> Outcome {
        debug_assert!(time >= self.now, "time went back from {} to {time}", self.now);
        self.now = time;
        match Event::from_payload(payload) {
            Event::Timer(task_key) => {
                self.add_to_digest(DigestKind::Timer, task_key.index() as u64);
                Outcome::Poll(task_key)
            }
            Event::Arrival(packet) => self.arrive(packet),
            other => self.handle_rare(other),
        }
    }

    #[cold]
    fn handle_rare(&mut self, event: Event) -> Outcome {
        match event {
            Event::ForeignTimer(index) => {
                self.add_to_digest(DigestKind::Timer, u64::from(u32::MAX));
                Outcome::Wake(self.foreign_wakers.remove(index as usize))
            }
            Event::Start(component) => {
                self.add_to_digest(DigestKind::Start, u64::from(component.0));
                Outcome::Start(component)
            }
            Event::Change(index) => {
                self.add_to_digest(DigestKind::Change, u64::from(index));
                Outcome::Change(index)
            }
            Event::Resume(component) => {
                self.add_to_digest(DigestKind::Change, u64::from(component.0) | (1 << 32));
                Outcome::Resume(component)
            }
            Event::Stream(index) => self.stream_timer(index),
            Event::Segment(index) => self.segment_arrives(index),
            Event::Timer(_) | Event::Arrival(_) => unreachable!("{event:?} is handled elsewhere"),
        }
    }

    #[inline(always)]
    fn arrive(&mut self, packet: u32) -> Outcome {
        let PacketInFlight { number, hash, port_hint, delivery } = &self.packets[packet as usize];
        let (source, destination) = (delivery.source, delivery.destination);
        let contents = number.rotate_left(32) ^ hash ^ (u64::from(source.component.0) << 40);
        let place = (u64::from(destination.component.0) << 16) | u64::from(destination.port);
        let is_separated = self.network.is_separated(source.component, destination.component);
        let port = port_hint.filter(|&port| self.ports.is_at(port, destination));
        let (Some(port), false) = (port.or_else(|| self.ports.find(destination)), is_separated) else {
            return self.lose(packet, place, is_separated);
        };
        self.add_to_digest(DigestKind::Arrival, place ^ contents);
        let port = self.ports.get_mut(port);
        if port.mailbox.len() >= port.mailbox_max {
            return self.drop_arrived(packet, DropReason::MailboxFull);
        }
        port.mailbox.push(packet);
        let waiter = port.waiter.take();
        if self.trace.is_some() {
            self.record_in_flight(Action::Delivered, packet);
        }
        match waiter {
            Some(Waiter::Task(task_key)) => Outcome::Poll(task_key),
            Some(Waiter::Foreign(waker)) => Outcome::Wake(waker),
            None => Outcome::Nothing,
        }
    }

    /// Lets a packet arrive where nobody takes it.
    #[cold]
    fn lose(&mut self, packet: u32, place: u64, is_separated: bool) -> Outcome {
        let PacketInFlight { number, hash, delivery, .. } = &self.packets[packet as usize];
        let (number, hash, source, destination) = (*number, *hash, delivery.source, delivery.destination);
        self.digest.add_pair(number, hash);
        if is_separated || self.components.is_down(destination.component) {
            self.add_to_digest(DigestKind::Dropped, place);
            return self.drop_arrived(packet, if is_separated { DropReason::Partition } else { DropReason::Down });
        }
        self.add_to_digest(DigestKind::Unreachable, place);
        self.record_in_flight(Action::Unreachable, packet);
        self.packets.remove(packet as usize);
        // The news travels back without delay: that it is late or lost too is what timeouts are for.
        let Some(port) = self.ports.find(source) else { return Outcome::Nothing };
        let port = self.ports.get_mut(port);
        let Some(unreachable) = &mut port.unreachable else { return Outcome::Nothing };
        // What is known already is no news.
        if !unreachable.contains(&destination) {
            unreachable.push_back(destination);
        }
        match port.waiter.take() {
            Some(Waiter::Task(task_key)) => Outcome::Poll(task_key),
            Some(Waiter::Foreign(waker)) => Outcome::Wake(waker),
            None => Outcome::Nothing,
        }
    }

    #[cold]
    fn drop_arrived(&mut self, packet: u32, reason: DropReason) -> Outcome {
        self.record_in_flight(|packet| Action::Dropped { packet, reason }, packet);
        self.packets.remove(packet as usize);
        Outcome::Nothing
    }

    /// Notes that a task is polled because its waker was woken.
    pub(crate) fn note_wake(&mut self, task_key: TaskKey) {
        self.add_to_digest(DigestKind::Wake, task_key.index() as u64);
    }

    #[inline]
    fn add_to_digest(&mut self, kind: DigestKind, identity: u64) {
        self.digest.add_pair(self.now.as_nanos(), ((kind as u64) << 56) ^ identity);
    }

    /// Removes one of the next events: which one, if there are several of one instant, the source of choices or the
    /// random order decides. Changes of the configuration come first in any order: they are no events of the model.
    #[cold]
    pub(crate) fn pop_chosen(&mut self, order: &mut Option<Random>) -> Option<(VirtualTime, u64)> {
        let count = self.queue.simultaneous();
        // They were scheduled before anything else, so that if there are any, the next event is one.
        let is_change = |payload| matches!(Event::from_payload(payload), Event::Change(_));
        if count < 2 || self.queue.first_simultaneous().is_some_and(is_change) {
            return self.queue.pop_simultaneous(0);
        }
        let seeded = order.as_mut().map_or(0, |random| random.uniform(0..count as u64));
        let index = match choice::is_active() {
            true => choice::with(|choices| choices.choose("order", ChoiceKind::Order, Some(count as u64), seeded)),
            false => seeded,
        };
        self.queue.pop_simultaneous(index as usize)
    }

    /// Returns what a component waits for, as far as the kernel knows it.
    pub(crate) fn waits(&self, component: ComponentId) -> Vec<Wait> {
        if let Some(since) = self.components.down_since(component) {
            return vec![Wait { subject: WaitSubject::Restart, since }];
        }
        let resume = self.components.paused_since(component).map(|since| Wait { subject: WaitSubject::Resume, since });
        let mut waits: Vec<Wait> = resume.into_iter().collect();
        waits.append(&mut self.ports.waits(component));
        waits.append(&mut self.stream_waits(component));
        waits
    }
}

impl<M: Message> VirtualClock for RefCell<Kernel<M>> {
    fn now(&self) -> VirtualTime {
        self.borrow().now
    }
}
