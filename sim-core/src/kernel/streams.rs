//! What the kernel does for streams: the protocol between their ends.

mod arrivals;

use std::task::Poll;

use super::{DigestKind, Kernel, Outcome, PacketNumber};
use crate::connections::{Content, EndId, Holder, INITIAL, Item, ListenerId, Segment, SegmentInFlight, State, doubled};
use crate::digest::hash_of;
use crate::ended::{Wait, WaitSubject};
use crate::event::Event;
use crate::message::ComponentId;
use crate::network::{Arrival, Fate, PacketInfo};
use crate::send_sites::Caller;
use crate::stream::{StreamError, StreamSettings};
use crate::trace::{Action, DropReason, Packet, ResetReason, Transport};
use crate::waker::Waiter;
use crate::{Address, Message, VirtualTime};

impl<M: Message> Kernel<M> {
    // For components.

    /// Begins to ask for a stream; `None` if the component has no unused port.
    pub(crate) fn connect(
        &mut self,
        component: ComponentId,
        remote: Address,
        settings: StreamSettings,
    ) -> Option<EndId> {
        let local = self.connections.places.unused(component)?;
        let id = self.connections.add(local, remote, None, settings, self.now);
        self.connections.places.occupy(id, local);
        self.ask(id);
        Some(id)
    }

    /// Returns the oldest stream that a listener has for its component.
    pub(crate) fn accept(&mut self, id: ListenerId) -> Option<EndId> {
        self.connections.accept(id)
    }

    /// Hands a message to a stream, if it takes one. The message is left where it is if not.
    pub(crate) fn stream_send(
        &mut self,
        id: EndId,
        message: &mut Option<M>,
        caller: Caller,
    ) -> Poll<Result<(), StreamError>> {
        let Some(end) = self.connections.get_mut(id) else {
            return Poll::Ready(Err(StreamError::Reset(ResetReason::Peer)));
        };
        if let State::Broken(reason) = end.state {
            return Poll::Ready(Err(StreamError::Reset(reason)));
        }
        if end.outbox.is_finished() {
            return Poll::Ready(Err(StreamError::Finished));
        }
        if !end.outbox.has_room() {
            return Poll::Pending;
        }
        end.outbox.push(message.take().expect("a message is sent once"));
        if self.trace.is_some() {
            self.send_sites.add_stream_message(id.serial(), caller);
        }
        self.send_next(id);
        Poll::Ready(Ok(()))
    }

    /// Returns the oldest message of a stream, or what there is instead.
    pub(crate) fn stream_receive(&mut self, id: EndId, caller: Caller) -> Poll<Result<Option<M>, StreamError>> {
        let Some(end) = self.connections.get_mut(id) else {
            return Poll::Ready(Err(StreamError::Reset(ResetReason::Peer)));
        };
        let Some(message) = end.inbox.pop() else {
            return match end.state {
                // The end came before whatever broke the stream.
                _ if end.inbox.is_complete() => Poll::Ready(Ok(None)),
                State::Broken(reason) => Poll::Ready(Err(StreamError::Reset(reason))),
                State::Asking { .. } | State::Agreeing | State::Open => Poll::Pending,
            };
        };
        if end.state == State::Open && end.inbox.should_tell() {
            let peer = end.peer;
            self.acknowledge(id);
            peer.into_iter().for_each(|peer| self.keep_timer(peer));
        }
        if self.trace.is_some() {
            self.record_stream_received(id, message.kind(), caller);
        }
        Poll::Ready(Ok(Some(message)))
    }

    #[cold]
    fn record_stream_received(&mut self, id: EndId, kind: &'static str, caller: Caller) {
        let end = self.connections.end(id);
        let (local, remote) = (end.local, end.remote);
        let peer = end.peer.expect("an end that received something knows the other end");
        let sent_at = self.send_sites.next_of_stream(peer.serial(), id.serial());
        self.record(|kernel| Action::Received {
            source: kernel.endpoint(remote),
            destination: kernel.endpoint(local),
            kind: kind.to_owned(),
            send_site: sent_at.into(),
            receive_site: caller.into(),
        });
    }

    /// Lets what a stream was given be all that it sends.
    pub(crate) fn finish_stream(&mut self, id: EndId) {
        if self.connections.is_live(id) && self.is_running {
            self.connections.end(id).outbox.finish();
            self.send_next(id);
        }
    }

    /// Ends a stream that its component has dropped, as `close` does on Linux: with a reset if something is unread, and
    /// otherwise in the background, when all was sent.
    pub(crate) fn close_stream(&mut self, id: EndId) {
        // A crash removes ends before their handles are dropped.
        let Some(end) = self.connections.get_mut(id) else { return };
        if end.state != State::Open || !self.is_running {
            return self.remove_end(id);
        }
        if end.inbox.has_unread() {
            return self.reset(id);
        }
        end.holder = Holder::Nobody;
        end.outbox.finish();
        self.send_next(id);
        self.remove_if_over(id);
    }

    /// Ends a listener, and resets what nobody has accepted.
    pub(crate) fn close_listener(&mut self, id: ListenerId) {
        let Some(listener) = self.connections.places.remove_listener(id) else { return };
        self.connections.left.listeners.push(listener);
        for end in self.connections.unaccepted(id.address) {
            if self.is_running && self.connections.is_live(end) {
                self.reset(end);
            } else if self.connections.get(end).is_some() {
                self.remove_end(end);
            }
        }
    }

    /// Removes all that a component that crashes has of streams, without a word.
    pub(crate) fn crash_streams(&mut self, component: ComponentId) {
        let ends: Vec<EndId> = self.connections.of_component(component).map(|end| end.id).collect();
        for end in ends {
            // Its other end may have been of the same component, and waited for nothing but this.
            if self.connections.get(end).is_some() {
                self.remove_end(end);
            }
        }
        let listeners: Vec<ListenerId> = self.connections.places.listeners(component).map(|(id, _)| id).collect();
        for id in listeners {
            let listener = self.connections.places.remove_listener(id);
            self.connections.left.listeners.extend(listener);
        }
    }

    /// Lets ends that are told that there is no room ask again: others are separated now.
    pub(crate) fn probe_streams(&mut self) {
        if !self.connections.is_empty() {
            self.connections.ids().into_iter().for_each(|id| self.keep_timer(id));
        }
    }

    /// Returns what a component waits for at streams.
    pub(super) fn stream_waits(&self, component: ComponentId) -> Vec<Wait> {
        let listeners = self.connections.places.listeners(component).filter_map(|(id, listener)| {
            let subject = WaitSubject::Accept { port: id.address.port };
            listener.wait.since().map(|since| Wait { subject, since })
        });
        let ends = self.connections.of_component(component).flat_map(|end| {
            let reader = end.reader.since().map(|since| {
                let remote = self.endpoint(end.remote);
                let subject = match end.state {
                    State::Asking { .. } => WaitSubject::Connect { remote },
                    _ => WaitSubject::StreamMessage { remote },
                };
                Wait { subject, since }
            });
            let room = || WaitSubject::StreamRoom { remote: self.endpoint(end.remote) };
            let writer = end.writer.since().map(|since| Wait { subject: room(), since });
            [reader, writer]
        });
        listeners.chain(ends.flatten()).collect()
    }

    // Sending.

    fn ask(&mut self, id: EndId) {
        let limit = self.connections.end(id).inbox.told_limit();
        self.send_content(id, Content::Syn { limit });
        self.set_handshake_timer(id);
    }

    fn agree(&mut self, id: EndId) {
        let limit = self.connections.end(id).inbox.told_limit();
        self.send_content(id, Content::SynAck { limit });
    }

    /// Schedules that a `SYN` or `SYN-ACK` is sent again: after a second, then two, then four.
    fn set_handshake_timer(&mut self, id: EndId) {
        let at = self.now + doubled(INITIAL, self.connections.end(id).tries);
        self.set_timer_at(id, at);
    }

    fn set_timer_at(&mut self, id: EndId, at: VirtualTime) {
        let timer = self.schedule(at, Event::Stream(id.index()));
        self.connections.end(id).timer = Some(timer);
    }

    fn acknowledge(&mut self, id: EndId) {
        let acknowledgement = self.connections.end(id).inbox.acknowledge();
        self.send_content(id, Content::Ack(acknowledgement));
    }

    /// Sends what can be sent for the first time.
    fn send_next(&mut self, id: EndId) {
        let now = self.now;
        while let Some(item) = self.connections.end(id).outbox.next_item(now) {
            self.send_item(id, item);
        }
        self.keep_timer(id);
    }

    fn send_item(&mut self, id: EndId, item: Item<M>) {
        let acknowledgement = self.connections.end(id).inbox.acknowledge();
        let content = match item {
            Item::Message(sequence, message) => Content::Data { sequence, message, acknowledgement },
            Item::End(sequence) => Content::Fin { sequence, acknowledgement },
        };
        self.send_content(id, content);
    }

    fn send_content(&mut self, id: EndId, content: Content<M>) {
        let end = self.connections.end(id);
        let (source, destination, to) = (end.local, end.remote, end.peer);
        self.send_segment(Segment { source, destination, from: Some(id), to, content });
    }

    /// Tells the other end that there is no such stream, and lets it be true.
    fn reset(&mut self, id: EndId) {
        self.send_content(id, Content::Rst);
        self.remove_end(id);
    }

    /// Hands a segment to the network, which treats it as any packet.
    fn send_segment(&mut self, segment: Segment<M>) {
        let PacketNumber { in_run: number, draw } = self.number_packet(segment.source.component);
        self.digest.add_pair(number, hash_of(&segment));
        self.record_segment(Action::Sent, number, &segment);
        let packet = PacketInfo {
            draw,
            source: segment.source.component,
            destination: segment.destination.component,
            kind: segment.kind(),
            bytes: segment.bytes(),
            at: self.now,
        };
        match self.fate(packet) {
            Fate::Delivered(arrival) => self.send_segment_copy(number, arrival, segment),
            Fate::Dropped(reason) => self.drop_segment(reason, number, segment),
            Fate::Duplicated(first, second) => {
                self.record_segment(Action::Duplicated, number, &segment);
                self.send_segment_copy(number, first, segment.clone());
                self.send_segment_copy(number, second, segment);
            }
        }
    }

    fn send_segment_copy(&mut self, number: u64, arrival: Arrival, segment: Segment<M>) {
        if arrival.is_corrupted {
            // All segments have checksums, whatever the message makes of changed bits.
            return self.drop_segment(DropReason::Checksum, number, segment);
        }
        let index = self.connections.segments.insert(SegmentInFlight { number, segment });
        self.schedule(self.now + arrival.after, Event::Segment(index as u32));
    }

    fn drop_segment(&mut self, reason: DropReason, number: u64, segment: Segment<M>) {
        self.record_segment(|packet| Action::Dropped { packet, reason }, number, &segment);
        self.connections.left.messages.extend(segment.into_message());
    }

    fn record_segment(&mut self, action: impl FnOnce(Packet) -> Action, number: u64, segment: &Segment<M>) {
        self.record(|kernel| {
            action(Packet {
                number,
                source: kernel.endpoint(segment.source),
                destination: kernel.endpoint(segment.destination),
                transport: Transport::Stream,
                kind: segment.kind().to_owned(),
                message: segment.message().map_or_else(String::new, |message| format!("{message:?}")),
                bytes: segment.bytes(),
            })
        });
    }

    // Timers.

    /// Lets an end have a timer exactly if it waits for something that may not come by itself.
    fn keep_timer(&mut self, id: EndId) {
        let Some(end) = self.connections.get(id) else { return };
        if end.state != State::Open {
            return;
        }
        let (is_needed, timer) = (end.outbox.is_in_flight() || self.must_probe(id), end.timer);
        if !is_needed {
            self.stop_timer(id);
        } else if timer.is_none() {
            self.connections.end(id).silent_since = self.now;
            self.set_timer(id);
        }
    }

    /// Returns whether an end has no room at the other end, as far as it knows, and the other end would not say the
    /// same again.
    fn must_probe(&self, id: EndId) -> bool {
        let Some(end) = self.connections.get(id).filter(|end| end.outbox.is_blocked()) else { return false };
        let peer = end.peer.filter(|&peer| self.connections.is_live(peer)).and_then(|peer| self.connections.get(peer));
        let (local, remote) = (end.local.component, end.remote.component);
        peer.is_none_or(|peer| peer.inbox.told_limit() > end.outbox.limit())
            || self.network.is_separated(local, remote)
            || self.network.is_separated(remote, local)
    }

    fn set_timer(&mut self, id: EndId) {
        let now = self.now;
        let end = self.connections.end(id);
        let at = (now + end.round_trip.timeout()).min(end.silent_since + end.settings.give_up_after);
        self.set_timer_at(id, at.max(now));
    }

    fn stop_timer(&mut self, id: EndId) {
        if let Some(timer) = self.connections.end(id).timer.take() {
            self.queue.cancel(timer);
        }
    }

    /// Lets a timer of a stream fire.
    pub(super) fn stream_timer(&mut self, index: u32) -> Outcome {
        self.add_to_digest(DigestKind::StreamTimer, u64::from(index));
        let id = self.connections.id_of_timer(index);
        let now = self.now;
        let end = self.connections.end(id);
        end.timer = None;
        let has_given_up = now.since(end.silent_since) >= end.settings.give_up_after;
        match end.state {
            // It is the component that gives up.
            State::Asking { .. } => {
                end.tries += 1;
                self.ask(id);
            }
            State::Agreeing if has_given_up => self.remove_end(id),
            State::Agreeing => {
                end.tries += 1;
                self.agree(id);
                self.set_handshake_timer(id);
            }
            State::Open if has_given_up => self.break_end(id, ResetReason::TimedOut),
            State::Open => self.send_again(id),
            State::Broken(_) => unreachable!("a broken end has no timer"),
        }
        self.streams_outcome()
    }

    /// Sends the oldest of what is not acknowledged again, or a probe: nothing came in time.
    fn send_again(&mut self, id: EndId) {
        let end = self.connections.end(id);
        end.round_trip.back_off();
        end.outbox.lose_all();
        match end.outbox.oldest_item() {
            Some(item) => self.send_item(id, item),
            None if self.must_probe(id) => self.send_content(id, Content::Probe),
            None => return,
        }
        self.set_timer(id);
    }

    // Ends.

    /// Breaks an end: it sends nothing more, and its component learns of it.
    fn break_end(&mut self, id: EndId, reason: ResetReason) {
        self.stop_timer(id);
        let was_asking = matches!(self.connections.end(id).state, State::Asking { .. });
        if self.connections.end(id).holder == Holder::Nobody {
            return self.remove_end(id);
        }
        let (waiters, peer) = self.connections.break_end(id, reason);
        waiters.into_iter().for_each(|waiter| self.wake(waiter));
        let end = self.connections.end(id);
        let (local, remote) = (end.local, end.remote);
        if !was_asking {
            self.record(|kernel| Action::Reset {
                local: kernel.endpoint(local),
                remote: kernel.endpoint(remote),
                reason,
            });
        }
        self.note_end_of_peer(peer);
    }

    fn remove_if_over(&mut self, id: EndId) {
        if self.connections.get(id).is_some_and(|end| self.connections.is_over(end)) {
            self.remove_end(id);
        }
    }

    /// Removes an end without telling the other.
    fn remove_end(&mut self, id: EndId) {
        let end = self.connections.end(id);
        if end.state == State::Agreeing {
            let server = end.local;
            if let Some(listener) = self.connections.places.listener_at(server) {
                listener.agreeing -= 1;
            }
        }
        let (timer, peer) = self.connections.remove(id);
        timer.into_iter().for_each(|timer| {
            self.queue.cancel(timer);
        });
        self.note_end_of_peer(peer);
    }

    /// Lets an end whose other end is gone go as well, if it only waited for that, or find out, if it would ask.
    fn note_end_of_peer(&mut self, peer: Option<EndId>) {
        if let Some(peer) = peer {
            self.remove_if_over(peer);
            self.keep_timer(peer);
        }
    }

    fn wake(&mut self, waiter: Option<Waiter>) {
        let waiters = &mut self.connections.left.waiters;
        match (&waiter, waiters.last()) {
            // One task may wait to send and to receive.
            (Some(Waiter::Task(task_key)), Some(Waiter::Task(last))) if task_key == last => {}
            _ => waiters.extend(waiter),
        }
    }
}
