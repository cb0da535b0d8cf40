//! What the kernel writes into the trace of a run.

use super::{EVERYONE, Kernel, PacketInFlight};
use crate::message::ComponentId;
use crate::send_sites::Caller;
use crate::trace::{Action, DropReason, Endpoint, Packet, Trace, TraceEvent, Transport};
use crate::{Address, Message, VirtualTime};

impl<M: Message> Kernel<M> {
    /// Records what `action` returns; it is not called if the run is not recorded.
    #[inline]
    pub(crate) fn record(&mut self, action: impl FnOnce(&Self) -> Action) {
        if self.trace.is_some() {
            self.record_now(action);
        }
    }

    #[cold]
    fn record_now(&mut self, action: impl FnOnce(&Self) -> Action) {
        if self.trace.as_ref().is_some_and(|trace| trace.len() >= self.trace_max) {
            return;
        }
        let action = action(self);
        add_to(&mut self.trace, self.now, action);
    }

    pub(super) fn record_packet(
        &mut self,
        action: impl FnOnce(Packet) -> Action,
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

    #[cold]
    pub(super) fn record_sent(
        &mut self,
        number: u64,
        source: Address,
        destination: Address,
        message: &M,
        caller: Caller,
    ) {
        self.send_sites.add_packet(number, caller);
        self.record_packet(Action::Sent, number, source, destination, message);
    }

    #[cold]
    pub(super) fn record_received(&mut self, packet: u32, caller: Caller) {
        self.record(|kernel| {
            let PacketInFlight { number, delivery, .. } = &kernel.packets[packet as usize];
            Action::Received {
                source: kernel.endpoint(delivery.source),
                destination: kernel.endpoint(delivery.destination),
                kind: delivery.message.kind().to_owned(),
                send_site: kernel.send_sites.of_packet(*number).into(),
                receive_site: caller.into(),
            }
        });
    }

    #[cold]
    pub(super) fn record_drop(
        &mut self,
        reason: DropReason,
        number: u64,
        source: Address,
        destination: Address,
        message: &M,
    ) {
        self.record_packet(|packet| Action::Dropped { packet, reason }, number, source, destination, message);
    }

    #[cold]
    pub(super) fn record_in_flight(&mut self, action: impl FnOnce(Packet) -> Action, packet: u32) {
        self.record(|kernel| {
            let PacketInFlight { number, delivery, .. } = &kernel.packets[packet as usize];
            action(Packet {
                number: *number,
                source: kernel.endpoint(delivery.source),
                destination: kernel.endpoint(delivery.destination),
                transport: Transport::Datagram,
                kind: delivery.message.kind().to_owned(),
                message: format!("{:?}", delivery.message),
                bytes: delivery.message.bytes(),
            })
        });
    }

    pub(crate) fn endpoint(&self, address: Address) -> Endpoint {
        Endpoint { component: self.place_name(address.component), port: address.port }
    }

    /// Returns the name of a component or group.
    pub(crate) fn place_name(&self, component: ComponentId) -> String {
        if component == ComponentId::EVERYONE {
            EVERYONE.to_owned()
        } else if component.is_group() {
            self.groups.name(component).to_owned()
        } else {
            self.components.name(component).to_string()
        }
    }
}

/// Adds an event to a trace. Whoever calls this hands the event over, and so need not know how to drop one.
#[inline(never)]
fn add_to(trace: &mut Option<Trace>, at: VirtualTime, action: Action) {
    trace.get_or_insert_default().push(TraceEvent { at, action });
}
