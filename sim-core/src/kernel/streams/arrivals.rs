//! What the end of a stream does with a segment that arrives.

use super::{DigestKind, Kernel, Outcome};
use crate::connections::{Acknowledgement, Content, EndId, Holder, Segment, SegmentInFlight, State};
use crate::trace::{Action, DropReason, ResetReason};
use crate::{Address, Message};

impl<M: Message> Kernel<M> {
    /// Lets a segment arrive.
    pub(in crate::kernel) fn segment_arrives(&mut self, index: u32) -> Outcome {
        let SegmentInFlight { number, segment } = self.connections.segments.remove(index as usize);
        let (source, destination) = (segment.source, segment.destination);
        let place = (1 << 48) | (u64::from(destination.component.0) << 16) | u64::from(destination.port);
        let reason = if self.network.is_separated(source.component, destination.component) {
            Some(DropReason::Partition)
        } else if self.components.is_down(destination.component) {
            Some(DropReason::Down)
        } else {
            None
        };
        let kind = if reason.is_some() { DigestKind::Dropped } else { DigestKind::Arrival };
        self.add_to_digest(kind, place);
        self.digest.add(number);
        match (reason, segment.to) {
            (Some(reason), _) => self.drop_segment(reason, number, segment),
            (None, None) => self.take_request(number, segment),
            (None, Some(id)) if self.connections.is_live(id) => {
                self.record_segment(Action::Delivered, number, &segment);
                self.take_segment(id, segment);
            }
            (None, Some(_)) => self.refuse(number, segment),
        }
        self.streams_outcome()
    }

    pub(super) fn streams_outcome(&self) -> Outcome {
        if self.connections.left.is_empty() { Outcome::Nothing } else { Outcome::Streams }
    }

    /// Answers a segment for which there is no stream.
    fn refuse(&mut self, number: u64, segment: Segment<M>) {
        self.record_segment(Action::Unreachable, number, &segment);
        if !matches!(segment.content, Content::Rst) {
            self.send_segment(Segment {
                source: segment.destination,
                destination: segment.source,
                from: segment.to,
                to: segment.from,
                content: Content::Rst,
            });
        }
        self.connections.left.messages.extend(segment.into_message());
    }

    /// Takes a `SYN`.
    fn take_request(&mut self, number: u64, segment: Segment<M>) {
        let (Content::Syn { limit }, Some(client)) = (&segment.content, segment.from) else {
            unreachable!("only a request is for no end, and it comes from one")
        };
        let (local, remote, limit) = (segment.destination, segment.source, *limit);
        if let Some(id) = self.connections.of_client(client) {
            self.record_segment(Action::Delivered, number, &segment);
            return match self.connections.end(id).state {
                State::Agreeing => self.agree(id),
                _ => self.acknowledge(id),
            };
        }
        let Some(listener) = self.connections.places.listener_at(local) else {
            return self.refuse(number, segment);
        };
        if listener.pending.len() + listener.agreeing >= listener.backlog_max {
            // As Linux does: the client will ask again.
            return self.drop_segment(DropReason::MailboxFull, number, segment);
        }
        listener.agreeing += 1;
        let settings = listener.settings;
        self.record_segment(Action::Delivered, number, &segment);
        let id = self.connections.add(local, remote, Some(client), settings, self.now);
        self.connections.end(id).outbox.set_limit(limit);
        self.agree(id);
        self.set_handshake_timer(id);
    }

    /// Takes a segment for an end that is not broken.
    fn take_segment(&mut self, id: EndId, segment: Segment<M>) {
        let state = self.connections.end(id).state;
        match (state, segment.content) {
            (State::Agreeing, Content::Rst) => self.remove_end(id),
            (_, Content::Rst) => self.take_reset(id),
            (_, Content::SynAck { limit }) => {
                let server = segment.from.expect("a server's answer comes from its end");
                self.take_agreement(id, server, segment.source, limit);
            }
            // Nobody knows of this end but who has got its request, and that has agreed first.
            (State::Asking { .. }, content) => {
                self.connections.left.messages.extend(Segment { content, ..segment }.into_message());
            }
            (_, content) => {
                if state == State::Agreeing {
                    self.open_server(id);
                }
                self.take_content(id, content);
            }
        }
    }

    fn take_content(&mut self, id: EndId, content: Content<M>) {
        match content {
            Content::Ack(acknowledgement) => self.take_acknowledgement(id, acknowledgement, true),
            Content::Probe => self.acknowledge(id),
            Content::Data { sequence, message, acknowledgement } => {
                self.take_acknowledgement(id, acknowledgement, false);
                self.take_message(id, sequence, message);
            }
            Content::Fin { sequence, acknowledgement } => {
                self.take_acknowledgement(id, acknowledgement, false);
                let end = self.connections.end(id);
                end.inbox.accept_fin(sequence);
                if end.inbox.is_complete() {
                    let reader = end.reader.take();
                    self.wake(reader);
                }
                self.acknowledge(id);
            }
            Content::Syn { .. } | Content::SynAck { .. } | Content::Rst => unreachable!("it was handled before"),
        }
        self.remove_if_over(id);
    }

    fn take_message(&mut self, id: EndId, sequence: u64, message: M) {
        let end = self.connections.end(id);
        if end.holder == Holder::Nobody && end.inbox.is_new(sequence) {
            // Nobody will ever receive it, and the sender should know.
            self.connections.left.messages.push(message);
            return self.reset(id);
        }
        match end.inbox.accept(sequence, message) {
            Ok(()) if end.inbox.has_unread() || end.inbox.is_complete() => {
                let reader = end.reader.take();
                self.wake(reader);
            }
            Ok(()) => {}
            Err(message) => self.connections.left.messages.push(message),
        }
        self.acknowledge(id);
    }

    fn take_acknowledgement(&mut self, id: EndId, acknowledgement: Acknowledgement, is_alone: bool) {
        let now = self.now;
        let progress = self.connections.take_acknowledgement(id, acknowledgement, is_alone, now);
        let end = self.connections.end(id);
        // What probes ask for is an answer, whatever it says.
        let is_answer = progress.is_new || !end.outbox.is_in_flight();
        if is_answer {
            end.round_trip.progressed();
            progress.round_trip.into_iter().for_each(|round_trip| end.round_trip.measured(round_trip));
            self.stop_timer(id);
        }
        let end = self.connections.end(id);
        if progress.is_oldest_lost
            && let Some(item) = end.outbox.oldest_item()
        {
            self.send_item(id, item);
        }
        let end = self.connections.end(id);
        if end.outbox.has_room() {
            let writer = end.writer.take();
            self.wake(writer);
        }
        self.send_next(id);
    }

    /// Takes a server's answer to a request.
    fn take_agreement(&mut self, id: EndId, server: EndId, source: Address, limit: u64) {
        let now = self.now;
        let end = self.connections.end(id);
        if let State::Asking { since } = end.state {
            end.state = State::Open;
            end.peer = Some(server);
            end.outbox.set_limit(limit);
            if end.tries == 0 {
                end.round_trip.measured(now.since(since));
            }
            let reader = end.reader.take();
            self.wake(reader);
            self.stop_timer(id);
        }
        let end = self.connections.end(id);
        if end.peer == Some(server) {
            // Again, if it was so before: the server has not heard it.
            self.acknowledge(id);
        } else {
            // A request of this end arrived late or twice, and the server takes it for a new one.
            let local = end.local;
            self.send_segment(Segment {
                source: local,
                destination: source,
                from: Some(id),
                to: Some(server),
                content: Content::Rst,
            });
        }
    }

    /// Opens a server's end, since the client's is.
    pub(super) fn open_server(&mut self, id: EndId) {
        let now = self.now;
        self.stop_timer(id);
        let end = self.connections.end(id);
        end.state = State::Open;
        if end.tries == 0 {
            end.round_trip.measured(now.since(end.silent_since));
        }
        let (client, server) = (end.remote, end.local);
        self.record(|kernel| Action::Connected { client: kernel.endpoint(client), server: kernel.endpoint(server) });
        let listener = self.connections.places.listener_at(server).expect("without its listener the end would be gone");
        listener.agreeing -= 1;
        listener.pending.push_back(id);
        let waiter = listener.wait.take();
        self.wake(waiter);
    }

    pub(super) fn take_reset(&mut self, id: EndId) {
        let end = self.connections.end(id);
        // Of a stream that has ended both ways nothing is left that could break.
        if end.inbox.is_complete() && end.outbox.is_complete() && end.holder != Holder::Nobody {
            return;
        }
        self.break_end(id, ResetReason::Peer);
    }
}
