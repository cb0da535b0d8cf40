//! What the kernel does with a packet that is sent: the network decides its fate, and it is scheduled to arrive or not.

use super::{Kernel, PacketInFlight, PacketNumber};
use crate::choice::{self, ChoiceKind, Choices};
use crate::digest::hash_of;
use crate::event::Event;
use crate::message::ComponentId;
use crate::network::{Arrival, Decision, Fate, Open, PacketInfo};
use crate::send_sites::Caller;
use crate::trace::{Action, DropReason};
use crate::{Address, Delivery, Message, Random, VirtualDuration};

impl<M: Message> Kernel<M> {
    /// Hands a packet of the code at `caller` to the network, and returns what is to be dropped after the borrow.
    #[inline]
    #[must_use = "a message is dropped after the borrow"]
    pub(crate) fn send(&mut self, source: Address, destination: Address, message: M, caller: Caller) -> Option<M> {
        if self.components.any_is_down() && self.components.is_down(source.component) {
            // Destructors of a component that has crashed have no network.
            return Some(message);
        }
        if destination.component.is_group() {
            return self.send_to_group(source, destination, message, caller);
        }
        self.send_to_one(source, destination, message, caller)
    }

    #[cold]
    fn send_to_group(&mut self, source: Address, destination: Address, message: M, caller: Caller) -> Option<M> {
        let port = destination.port;
        if destination.component == ComponentId::EVERYONE {
            for component in (0..self.components.len() as u32).map(ComponentId) {
                if component != source.component && self.components.is_added(component) {
                    self.send_to_member(source, Address { component, port }, &message, caller);
                }
            }
        } else {
            let mut recipients = std::mem::take(&mut self.recipients);
            recipients.extend(self.groups.members(destination.component, port).filter(|&member| member != source));
            for member in recipients.drain(..) {
                self.send_to_member(source, member, &message, caller);
            }
            self.recipients = recipients;
        }
        Some(message)
    }

    fn send_to_member(&mut self, source: Address, destination: Address, message: &M, caller: Caller) {
        // Lost messages are dropped here: that runs the model's code only if a message has a destructor of its own.
        drop(self.send_to_one(source, destination, message.clone(), caller));
    }

    #[inline]
    pub(super) fn number_packet(&mut self, source: ComponentId) -> PacketNumber {
        let in_run = self.packets_sent;
        self.packets_sent += 1;
        let next_draw = &mut self.next_draws[source.index()];
        let draw = *next_draw;
        *next_draw = draw.wrapping_add(1);
        PacketNumber { in_run, draw }
    }

    #[inline(always)]
    fn send_to_one(&mut self, source: Address, destination: Address, message: M, caller: Caller) -> Option<M> {
        let number = self.number_packet(source.component);
        let hash = hash_of(&message);
        if self.trace.is_some() {
            self.record_sent(number.in_run, source, destination, &message, caller);
        }
        if let (Some(after), false) = (self.network.delay(number.draw), choice::is_active()) {
            self.schedule_arrival(after, number.in_run, hash, Delivery { source, destination, message });
            return None;
        }
        self.send_by_fate(number, hash, Delivery { source, destination, message })
    }

    /// Hands a packet to the network to which something may happen.
    #[cold]
    fn send_by_fate(&mut self, number: PacketNumber, hash: u64, delivery: Delivery<M>) -> Option<M> {
        let Delivery { source, destination, message } = delivery;
        let PacketNumber { in_run: number, draw } = number;
        let packet = PacketInfo {
            draw,
            source: source.component,
            destination: destination.component,
            kind: message.kind(),
            bytes: message.bytes(),
            at: self.now,
        };
        match self.fate(packet) {
            Fate::Delivered(Arrival { after, is_corrupted: false }) => {
                self.schedule_arrival(after, number, hash, Delivery { source, destination, message });
                None
            }
            Fate::Dropped(reason) => {
                self.digest.add_pair(number, hash);
                self.record_drop(reason, number, source, destination, &message);
                Some(message)
            }
            Fate::Delivered(arrival) => {
                self.send_copy(draw, 0, arrival, number, hash, Delivery { source, destination, message });
                None
            }
            Fate::Duplicated(first, second) => {
                self.record_packet(Action::Duplicated, number, source, destination, &message);
                let copy = message.clone();
                self.send_copy(draw, 0, first, number, hash, Delivery { source, destination, message });
                self.send_copy(draw, 1, second, number, hash, Delivery { source, destination, message: copy });
                None
            }
        }
    }

    #[inline(always)]
    fn schedule_arrival(&mut self, after: VirtualDuration, number: u64, hash: u64, delivery: Delivery<M>) {
        let port_hint = self.ports.find(delivery.destination);
        let index = self.packets.insert(PacketInFlight { number, hash, port_hint, delivery });
        self.schedule(self.now + after, Event::Arrival(index as u32));
    }

    /// Sends one copy of a packet, which may be corrupted.
    #[cold]
    fn send_copy(&mut self, draw: u64, copy: u64, arrival: Arrival, number: u64, hash: u64, delivery: Delivery<M>) {
        let Delivery { source, destination, message } = delivery;
        if !arrival.is_corrupted {
            return self.schedule_arrival(arrival.after, number, hash, Delivery { source, destination, message });
        }
        let mut seed = self.network.corruption_seed(draw, copy);
        if choice::is_active() {
            let stream = self.network_stream(source.component, destination.component);
            seed = choice::with(|choices| choices.choose(&stream, ChoiceKind::Corruption, None, seed));
        }
        match message.corrupted(&mut Random::from_seed(seed)) {
            Some(message) => {
                self.record_packet(Action::Corrupted, number, source, destination, &message);
                self.schedule_arrival(
                    arrival.after,
                    number,
                    hash_of(&message),
                    Delivery { source, destination, message },
                );
            }
            None => {
                self.digest.add_pair(number, hash);
                self.record_drop(DropReason::Checksum, number, source, destination, &message);
            }
        }
    }

    /// Returns the name of the choices about packets from one component to another.
    pub(super) fn network_stream(&self, source: ComponentId, destination: ComponentId) -> String {
        format!("network {}->{}", self.components.name(source), self.components.name(destination))
    }

    /// Returns what becomes of a packet, whoever decides it.
    pub(super) fn fate(&mut self, packet: PacketInfo) -> Fate {
        if choice::is_active() { self.choose_fate(packet) } else { self.network.fate(packet) }
    }

    /// Lets the source of choices decide what the network leaves to chance.
    #[cold]
    fn choose_fate(&mut self, packet: PacketInfo) -> Fate {
        let stream = self.network_stream(packet.source, packet.destination);
        let seeded = self.network.decide(&packet);
        let open = self.network.open(&packet);
        let decision = choice::with(|choices| choose_decision(choices, &stream, open, seeded));
        self.network.apply(packet, decision)
    }
}

/// Asks the source of choices about everything that chance has decided about a packet, and could have decided
/// otherwise.
fn choose_decision(choices: &mut Choices, stream: &str, open: Open, mut decision: Decision) -> Decision {
    if let Some(link_number) = open.lossy_link {
        let is_lost = choices.yes_or_no(stream, ChoiceKind::Drop, decision.lost_on.is_some());
        decision.lost_on = if is_lost { decision.lost_on.or(Some(link_number)) } else { None };
    }
    if open.duplicate {
        decision.is_duplicated = choices.yes_or_no(stream, ChoiceKind::Duplicate, decision.is_duplicated);
    }
    let kinds = [
        (ChoiceKind::Latency, ChoiceKind::Reorder, ChoiceKind::Hold, ChoiceKind::Corrupt),
        (ChoiceKind::CopyLatency, ChoiceKind::CopyReorder, ChoiceKind::CopyHold, ChoiceKind::CopyCorrupt),
    ];
    let copies = if decision.is_duplicated { 2 } else { 1 };
    for (copy, (latency, reorder, hold, corrupt)) in decision.copies.iter_mut().zip(kinds).take(copies) {
        if open.latency {
            copy.latency = VirtualDuration::from_nanos(choices.choose(stream, latency, None, copy.latency.as_nanos()));
        }
        if open.reorder {
            copy.is_held_back = choices.yes_or_no(stream, reorder, copy.is_held_back);
        }
        if copy.is_held_back {
            copy.hold = VirtualDuration::from_nanos(choices.choose(stream, hold, None, copy.hold.as_nanos()));
        }
        if open.corrupt {
            copy.is_corrupted = choices.yes_or_no(stream, corrupt, copy.is_corrupted);
        }
    }
    decision
}
