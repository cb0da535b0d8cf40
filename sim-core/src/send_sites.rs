//! Where the code is that sent what is received: kept for runs that are recorded, and for no others.

use std::collections::BTreeMap;
use std::panic::Location;

/// A call in the source of a component.
pub(crate) type Caller = &'static Location<'static>;

/// Where messages were sent.
#[derive(Debug, Default)]
pub(crate) struct SendSites {
    /// By the number of the packet; `None` for those that only a stream itself sees.
    packets: Vec<Option<Caller>>,
    /// By the serial number of the end that sent them, the messages of a stream in their order.
    streams: BTreeMap<u64, Vec<Caller>>,
    /// By the serial number of the end that received them, how many messages of a stream were received.
    received: BTreeMap<u64, usize>,
}

impl SendSites {
    /// Notes where a packet was sent.
    pub(crate) fn add_packet(&mut self, number: u64, caller: Caller) {
        let index = number as usize;
        if self.packets.len() <= index {
            self.packets.resize(index + 1, None);
        }
        self.packets[index] = Some(caller);
    }

    /// Returns where a packet was sent. Copies of it have its number.
    pub(crate) fn of_packet(&self, number: u64) -> Caller {
        self.packets[number as usize].expect("every datagram was noted when it was sent")
    }

    /// Notes where the next message of a stream was sent.
    pub(crate) fn add_stream_message(&mut self, sender: u64, caller: Caller) {
        self.streams.entry(sender).or_default().push(caller);
    }

    /// Returns where the next message of a stream that is received was sent: they come in the order of sending, and
    /// once.
    pub(crate) fn next_of_stream(&mut self, sender: u64, receiver: u64) -> Caller {
        let received = self.received.entry(receiver).or_default();
        *received += 1;
        self.streams[&sender][*received - 1]
    }
}
