//! The streams of a run, as the kernel keeps them: their ends, listeners, and segments on their way.
//!
//! It is TCP (RFC 9293) with messages in place of bytes: three-way handshake, cumulative acknowledgements, a window,
//! retransmission by [timeout](RoundTrip) and by duplicate acknowledgements, half close, reset. What differs, and why:
//!
//! - An end has a number that no other end of the run has, and segments name the ends that they are for, where TCP has
//!   initial sequence numbers that are unlikely to be taken for others.
//! - There is no congestion control and no delayed acknowledgement.
//! - An end that is told that there is no room asks again only when the answer can have changed: when there is room, or
//!   the other end is gone or separated from it. TCP asks for ever, so that a run with a reader that stopped would
//!   never end.
//! - TIME-WAIT ends when the other end is gone, not after a time. An end whose other end is gone, and which nobody
//!   holds and which has nothing to send, is gone too.

mod inbox;
mod outbox;
mod places;
mod round_trip;
mod segment;

use std::collections::{BTreeMap, BTreeSet};

use slab::Slab;

use self::inbox::Inbox;
pub(crate) use self::outbox::{Item, Outbox, Progress};
pub(crate) use self::places::{ListenerId, ListeningPort, Places};
pub(crate) use self::round_trip::{INITIAL, RoundTrip, doubled};
pub(crate) use self::segment::{Acknowledgement, Content, Segment};
use crate::event_queue::EventId;
use crate::message::ComponentId;
use crate::outlined::{Outlined, outline};
use crate::stream::settings::StreamSettings;
use crate::trace::ResetReason;
use crate::waker::Waiter;
use crate::{Address, VirtualTime};

/// Names an end of a stream, for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EndId {
    index: u32,
    /// Counts the ends of the run.
    serial: u64,
}

outline!(Places, BTreeSet<(ComponentId, u32)>, BTreeSet<(Address, u32)>, BTreeMap<u64, EndId>);

/// The streams of a run.
#[derive(Debug)]
pub(crate) struct Connections<M> {
    pub(crate) places: Outlined<Places>,
    ends: Slab<StreamEnd<M>>,
    /// The ends by their components, and by their indices.
    of_component: Outlined<BTreeSet<(ComponentId, u32)>>,
    /// The ends that nobody has accepted yet, by the addresses of their listeners, and by their indices.
    unaccepted: Outlined<BTreeSet<(Address, u32)>>,
    serials: u64,
    /// Segments on their way.
    pub(crate) segments: Slab<SegmentInFlight<M>>,
    /// The ends of servers by the serials of the ends of their clients.
    by_client: Outlined<BTreeMap<u64, EndId>>,
    pub(crate) left: Deferred<M>,
}

#[derive(Debug)]
pub(crate) struct SegmentInFlight<M> {
    /// The packet's.
    pub(crate) number: u64,
    pub(crate) segment: Segment<M>,
}

/// One end of a stream.
#[derive(Debug)]
pub(crate) struct StreamEnd<M> {
    pub(crate) id: EndId,
    pub(crate) local: Address,
    pub(crate) remote: Address,
    /// The other end, if it is known.
    pub(crate) peer: Option<EndId>,
    pub(crate) holder: Holder,
    pub(crate) state: State,
    pub(crate) outbox: Outbox<M>,
    pub(crate) inbox: Inbox<M>,
    pub(crate) settings: StreamSettings,
    pub(crate) round_trip: RoundTrip,
    /// How often a `SYN` or `SYN-ACK` was sent again.
    pub(crate) tries: u32,
    pub(crate) timer: Option<EventId>,
    /// When the other end was last heard of, or began to be asked.
    pub(crate) silent_since: VirtualTime,
    /// Who waits to connect, or to receive.
    pub(crate) reader: WaitingTask,
    /// Who waits for room to send.
    pub(crate) writer: WaitingTask,
}

/// Who has an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holder {
    /// Nobody has accepted it yet.
    Listener,
    /// A component.
    Component,
    /// It was dropped, and ends by itself.
    Nobody,
}

/// How far an end has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// A client that has asked a server.
    Asking {
        since: VirtualTime,
    },
    /// A server that has agreed.
    Agreeing,
    Open,
    Broken(ResetReason),
}

/// A place for a waiter.
#[derive(Debug)]
pub(crate) struct WaitingTask {
    waiter: Option<Waiter>,
    since: VirtualTime,
}

/// What is to be done when the kernel is not borrowed any more.
#[derive(Debug)]
pub(crate) struct Deferred<M> {
    /// To be woken.
    pub(crate) waiters: Vec<Waiter>,
    /// To be dropped.
    pub(crate) messages: Vec<M>,
    /// To be dropped.
    pub(crate) ends: Vec<StreamEnd<M>>,
    /// To be dropped.
    pub(crate) listeners: Vec<ListeningPort>,
}

impl<M> Deferred<M> {
    const NOTHING: Self = Self { waiters: Vec::new(), messages: Vec::new(), ends: Vec::new(), listeners: Vec::new() };

    pub(crate) fn is_empty(&self) -> bool {
        let Self { waiters, messages, ends, listeners } = self;
        waiters.is_empty() && messages.is_empty() && ends.is_empty() && listeners.is_empty()
    }

    /// Drops what is to be dropped.
    pub(crate) fn drop_all(&mut self) {
        self.messages.clear();
        self.ends.clear();
        self.listeners.clear();
    }
}

impl WaitingTask {
    pub(crate) const NOBODY: Self = Self { waiter: None, since: VirtualTime::ZERO };

    /// Sets who waits, and returns who did.
    #[must_use = "a waiter is dropped after the borrow"]
    pub(crate) fn replace(&mut self, waiter: Option<Waiter>, now: VirtualTime) -> Option<Waiter> {
        if self.waiter.is_none() {
            self.since = now;
        }
        std::mem::replace(&mut self.waiter, waiter)
    }

    pub(crate) fn take(&mut self) -> Option<Waiter> {
        self.waiter.take()
    }

    /// Returns since when someone waits, if anybody does.
    pub(crate) fn since(&self) -> Option<VirtualTime> {
        self.waiter.is_some().then_some(self.since)
    }
}

impl<M: Clone> Connections<M> {
    pub(crate) fn new() -> Self {
        Self {
            places: Outlined::default(),
            ends: Slab::new(),
            of_component: Outlined::default(),
            unaccepted: Outlined::default(),
            serials: 0,
            segments: Slab::new(),
            by_client: Outlined::default(),
            left: Deferred::NOTHING,
        }
    }

    /// Takes away what is to be done when the kernel is not borrowed any more.
    pub(crate) fn take_left(&mut self) -> Deferred<M> {
        std::mem::replace(&mut self.left, Deferred::NOTHING)
    }

    /// Gives back the memory of what was done, so that none is allocated for each message.
    pub(crate) fn give_room_back(&mut self, left: Deferred<M>) {
        assert!(left.is_empty(), "everything was done");
        if self.left.is_empty() {
            self.left = left;
        }
    }

    /// Adds an end of a client, or of a server if there is an end of the client.
    pub(crate) fn add(
        &mut self,
        local: Address,
        remote: Address,
        peer: Option<EndId>,
        settings: StreamSettings,
        now: VirtualTime,
    ) -> EndId {
        let id = EndId { index: self.ends.vacant_key() as u32, serial: self.serials };
        self.serials += 1;
        let window_max = u64::from(settings.window_max.max(1));
        let (holder, state) = match peer {
            Some(_) => (Holder::Listener, State::Agreeing),
            None => (Holder::Component, State::Asking { since: now }),
        };
        if let Some(client) = peer {
            self.by_client.insert(client.serial, id);
            self.unaccepted.insert((local, id.index));
        }
        self.of_component.insert((local.component, id.index));
        self.ends.insert(StreamEnd {
            id,
            local,
            remote,
            peer,
            holder,
            state,
            outbox: Outbox::new(window_max),
            inbox: Inbox::new(window_max),
            settings,
            round_trip: RoundTrip::UNKNOWN,
            tries: 0,
            timer: None,
            silent_since: now,
            reader: WaitingTask::NOBODY,
            writer: WaitingTask::NOBODY,
        });
        id
    }

    pub(crate) fn get(&self, id: EndId) -> Option<&StreamEnd<M>> {
        self.ends.get(id.index as usize).filter(|end| end.id == id)
    }

    pub(crate) fn get_mut(&mut self, id: EndId) -> Option<&mut StreamEnd<M>> {
        self.ends.get_mut(id.index as usize).filter(|end| end.id == id)
    }

    /// Returns an end that is there for sure.
    pub(crate) fn end(&mut self, id: EndId) -> &mut StreamEnd<M> {
        self.get_mut(id).expect("an end that is being handled is there")
    }

    /// Returns the end that a timer is for.
    pub(crate) fn id_of_timer(&self, index: u32) -> EndId {
        self.ends[index as usize].id
    }

    /// Returns whether there is such an end, and it is not broken.
    pub(crate) fn is_live(&self, id: EndId) -> bool {
        self.get(id).is_some_and(|end| !matches!(end.state, State::Broken(_)))
    }

    /// Returns the end that a server has for this end of a client.
    pub(crate) fn of_client(&self, client: EndId) -> Option<EndId> {
        self.by_client.get(&client.serial).copied()
    }

    pub(crate) fn forget_client(&mut self, client: EndId) {
        self.by_client.remove(&client.serial);
    }

    /// Removes an end, and returns its timer, which is to be cancelled, and the other end.
    pub(crate) fn remove(&mut self, id: EndId) -> (Option<EventId>, Option<EndId>) {
        let mut end = self.ends.remove(id.index as usize);
        assert_eq!(end.id, id, "an end is removed once");
        self.of_component.remove(&(end.local.component, id.index));
        if end.holder == Holder::Listener {
            self.unaccepted.remove(&(end.local, id.index));
        }
        if let Some(client) = end.peer.filter(|client| self.of_client(*client) == Some(id)) {
            self.forget_client(client);
        }
        self.places.release(id, end.local);
        let (timer, peer) = (end.timer.take(), end.peer);
        self.left.ends.push(end);
        (timer, peer)
    }

    /// Lets an end take an acknowledgement in.
    pub(crate) fn take_acknowledgement(
        &mut self,
        id: EndId,
        acknowledgement: Acknowledgement,
        is_alone: bool,
        now: VirtualTime,
    ) -> Progress {
        let end = &mut self.ends[id.index as usize];
        end.outbox.acknowledge(acknowledgement, is_alone, now, &mut self.left.messages)
    }

    /// Breaks an end, and returns who is to be woken and the other end.
    pub(crate) fn break_end(&mut self, id: EndId, reason: ResetReason) -> ([Option<Waiter>; 2], Option<EndId>) {
        let end = &mut self.ends[id.index as usize];
        end.state = State::Broken(reason);
        end.outbox.clear(&mut self.left.messages);
        let (waiters, peer) = ([end.reader.take(), end.writer.take()], end.peer);
        if let Some(client) = peer.filter(|client| self.of_client(*client) == Some(id)) {
            self.forget_client(client);
        }
        (waiters, peer)
    }

    /// Returns whether an end that nobody holds can go: nothing that may still arrive needs it.
    pub(crate) fn is_over(&self, end: &StreamEnd<M>) -> bool {
        let is_done = |end: &StreamEnd<M>| end.holder == Holder::Nobody && end.outbox.is_complete();
        let peer = end.peer.filter(|&peer| self.is_live(peer)).and_then(|peer| self.get(peer));
        let is_peer_over = peer.is_none_or(|peer| is_done(peer) && peer.inbox.is_complete() && end.inbox.is_complete());
        is_done(end) && is_peer_over
    }

    /// Gives the oldest end that a listener has to its component, if there is one.
    pub(crate) fn accept(&mut self, listener: ListenerId) -> Option<EndId> {
        let id = self.places.listener(listener)?.pending.pop_front()?;
        self.end(id).holder = Holder::Component;
        self.unaccepted.remove(&(listener.address, id.index));
        Some(id)
    }

    /// Returns all ends.
    pub(crate) fn ids(&self) -> Vec<EndId> {
        self.ends.iter().map(|(_, end)| end.id).collect()
    }

    /// Returns the ends of a component.
    pub(crate) fn of_component(&self, component: ComponentId) -> impl Iterator<Item = &StreamEnd<M>> {
        let all = (component, 0)..=(component, u32::MAX);
        self.of_component.range(all).map(|&(_, index)| &self.ends[index as usize])
    }

    /// Returns the ends that nobody has accepted from the listener at an address.
    pub(crate) fn unaccepted(&self, address: Address) -> Vec<EndId> {
        let indices = self.unaccepted.range((address, 0)..=(address, u32::MAX)).map(|&(_, index)| index);
        indices.map(|index| self.ends[index as usize].id).collect()
    }

    /// Returns how many ends there are, segments, ends that belong to an end of a client, and ports in use by clients.
    #[cfg(test)]
    pub(crate) fn counts(&self) -> [usize; 4] {
        assert_eq!(self.of_component.len(), self.ends.len());
        let unaccepted = self.ends.iter().filter(|(_, end)| end.holder == Holder::Listener).count();
        assert_eq!(self.unaccepted.len(), unaccepted);
        [self.ends.len(), self.segments.len(), self.by_client.len(), self.places.clients()]
    }

    /// Returns whether there are no ends.
    pub(crate) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

impl EndId {
    pub(crate) fn index(self) -> u32 {
        self.index
    }

    pub(crate) fn serial(self) -> u64 {
        self.serial
    }
}
