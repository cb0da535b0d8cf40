//! Tests of networks as a whole.

mod chance;
mod paths;
mod values;

use super::*;
use crate::Probability;

const MILLI: VirtualDuration = VirtualDuration::from_millis(1);

#[track_caller]
fn probability(value: f64) -> Probability {
    Probability::new(value).expect("a probability")
}

/// A run of a network between the components `a` to `f`, which are called by their letters.
struct Run {
    state: NetworkState,
    next_draw: u64,
    now: VirtualTime,
}

impl Run {
    #[track_caller]
    fn new(network: impl Into<Network>) -> Self {
        let names = ["a", "b", "c", "d", "e", "f"].map(str::to_owned);
        let state = NetworkState::new(&network.into(), &names, 7).expect("the network is valid");
        Self { state, next_draw: 0, now: VirtualTime::ZERO }
    }

    /// Returns the packet of a kind and a size that goes one way, written as `ab`.
    fn packet(&mut self, way: &str, kind: &'static str, bytes: u32) -> PacketInfo {
        let [source, destination] = Self::ends(way);
        let draw = self.next_draw;
        self.next_draw = draw.wrapping_add(1);
        PacketInfo { draw, source, destination, kind, bytes, at: self.now }
    }

    fn ends(way: &str) -> [ComponentId; 2] {
        let &[source, destination] = way.as_bytes() else { panic!("a way has two ends") };
        [source, destination].map(|letter| ComponentId(u32::from(letter - b'a')))
    }

    /// Returns the fate of the next packet.
    fn send(&mut self, way: &str, kind: &'static str, bytes: u32) -> Fate {
        let packet = self.packet(way, kind, bytes);
        self.state.fate(packet)
    }

    /// Returns after how many milliseconds the next packet arrives; `None` if it is lost.
    #[track_caller]
    fn send_millis(&mut self, way: &str) -> Option<u64> {
        match self.send(way, "DAT", 0) {
            Fate::Dropped(_) => None,
            Fate::Delivered(arrival) => Some(arrival.after.as_nanos() / MILLI.as_nanos()),
            Fate::Duplicated(..) => panic!("the packet is duplicated"),
        }
    }

    fn send_many(&mut self, count: usize) -> Vec<Fate> {
        (0..count).map(|_| self.send("ab", "DAT", 100)).collect()
    }
}
