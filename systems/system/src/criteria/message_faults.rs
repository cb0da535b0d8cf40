//! Each kind of message, and what the network can do to one.

use std::collections::{BTreeMap, BTreeSet};

use super::criterion::Requirements;
use simutant_sim_core::trace::{Action, Endpoint, Packet, TraceEvent};

/// Asks that each kind of message is lost, duplicated, corrupted, overtaken, and late for a timeout.
///
/// A packet is overtaken if one that was sent after it, from the same place to the same place, arrives before it. It is
/// late if a timeout of the channel that sent it, or of the channel that it is for, fires while it is on its way. Of a
/// packet that was duplicated the copy that arrives first counts.
pub fn message_faults(trace: &[TraceEvent], requirements: &mut Requirements) {
    let mut faults: BTreeSet<(&str, &str)> = BTreeSet::new();
    let mut flights = Flights::default();
    for (index, event) in trace.iter().enumerate() {
        match &event.action {
            Action::Sent(packet) => flights.sent(index, packet),
            Action::Dropped { packet, .. } => _ = faults.insert((&packet.kind, "lost")),
            Action::Duplicated(packet) => _ = faults.insert((&packet.kind, "duplicated")),
            Action::Corrupted(packet) => _ = faults.insert((&packet.kind, "corrupted")),
            Action::TimedOut { channel, .. } => _ = flights.last_timeouts.insert(channel, index),
            Action::Delivered(packet) => {
                let Some(Arrival { is_overtaken, is_late }) = flights.delivered(packet) else { continue };
                if is_overtaken {
                    faults.insert((&packet.kind, "overtaken"));
                }
                if is_late {
                    faults.insert((&packet.kind, "late for a timeout"));
                }
            }
            _ => {}
        }
    }
    for (kind, fault) in faults {
        requirements.insert(format!("{kind}: {fault}"));
    }
}

/// Packets on their way.
#[derive(Default)]
struct Flights<'a> {
    /// By number, the event of the sending; those that have arrived are gone.
    sent: BTreeMap<u64, usize>,
    /// By source and destination, the greatest number that has arrived.
    newest: BTreeMap<(&'a Endpoint, &'a Endpoint), u64>,
    /// By channel, the event of its last timeout.
    last_timeouts: BTreeMap<&'a Endpoint, usize>,
}

/// What a label says of an arrival.
struct Arrival {
    is_overtaken: bool,
    is_late: bool,
}

impl<'a> Flights<'a> {
    fn sent(&mut self, index: usize, packet: &Packet) {
        self.sent.insert(packet.number, index);
    }

    /// Lets a packet arrive; `None` if a copy of it has arrived before.
    fn delivered(&mut self, packet: &'a Packet) -> Option<Arrival> {
        let sent = self.sent.remove(&packet.number)?;
        let newest = self.newest.entry((&packet.source, &packet.destination)).or_insert(packet.number);
        let is_overtaken = *newest > packet.number;
        *newest = packet.number.max(*newest);
        let mut timeouts =
            [&packet.source, &packet.destination].into_iter().filter_map(|end| self.last_timeouts.get(end));
        Some(Arrival { is_overtaken, is_late: timeouts.any(|&timeout| timeout > sent) })
    }
}
