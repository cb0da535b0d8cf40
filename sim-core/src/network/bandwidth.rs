//! Links that carry only so much: packets wait for those before them.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::InvalidNetwork;
use super::invalid::Field;
use crate::{VirtualDuration, VirtualTime};

/// How much each direction of a link carries.
///
/// A packet takes `bytes * 8 / bits_per_second` to be sent, rounded up to whole nanoseconds, and those that come meanwhile wait
/// in the order in which they came. A packet that the link then loses takes its time all the same; the second copy of a
/// duplicated packet takes none. Messages without a size ([`Message::bytes`](crate::Message::bytes)) wait, but take no time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bandwidth {
    /// Bits a second.
    pub bits_per_second: u64,
    /// How many packets wait at most, besides the one that is being sent; one that finds so many is lost. Without this, there
    /// is no limit.
    #[serde(default)]
    pub queue_packets_max: Option<u32>,
}

impl Bandwidth {
    pub(super) fn validate(&self, field: &Field<'_>) -> Result<(), InvalidNetwork> {
        if self.bits_per_second == 0 { Err(field.child("bits_per_second").refuse(0, "at least 1")) } else { Ok(()) }
    }

    /// Returns how long a packet takes to be sent.
    pub(super) fn sending_time(&self, bytes: u32) -> VirtualDuration {
        const NANOBITS_PER_BYTE: u128 = 8_000_000_000;
        let nanos = (u128::from(bytes) * NANOBITS_PER_BYTE).div_ceil(u128::from(self.bits_per_second));
        VirtualDuration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

/// The packets that a direction of a link sends, or has yet to send.
///
/// On a single link, packets come in the order of their sending, and the next begins when the last has ended. On a path of
/// links a packet that was sent later may reach a link first; it then takes the first time in which the link is idle for long
/// enough, and does not wait for packets that are still on their way to this link.
#[derive(Debug, Clone, Default)]
pub(super) struct Queue {
    /// In the order of their times, which do not overlap.
    sendings: VecDeque<Sending>,
}

#[derive(Debug, Clone, Copy)]
struct Sending {
    reached: VirtualTime,
    begin: VirtualTime,
    end: VirtualTime,
}

impl Queue {
    /// Takes a packet that reaches the link, and returns when it is sent off; `None` if too many wait.
    ///
    /// `now` is the time of the run: no packet reaches the link before.
    pub(super) fn enter(
        &mut self,
        bandwidth: &Bandwidth,
        now: VirtualTime,
        reached: VirtualTime,
        bytes: u32,
    ) -> Option<VirtualTime> {
        while self.sendings.front().is_some_and(|sending| sending.end <= now) {
            self.sendings.pop_front();
        }
        let duration = bandwidth.sending_time(bytes);
        let mut begin = reached;
        let mut index = self.sendings.partition_point(|sending| sending.end <= reached);
        while let Some(sending) = self.sendings.get(index) {
            // Who reached the link before keeps its place, even if this packet would fit in before it.
            if sending.reached > reached && begin + duration <= sending.begin {
                break;
            }
            begin = begin.max(sending.end);
            index += 1;
        }
        let is_waiting = |sending: &&Sending| sending.reached <= reached && sending.begin > reached;
        if let Some(packets_max) = bandwidth.queue_packets_max
            && begin > reached
            && self.sendings.iter().filter(is_waiting).count() >= packets_max as usize
        {
            return None;
        }
        let end = begin + duration;
        self.sendings.insert(index, Sending { reached, begin, end });
        Some(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn micros(micros: u64) -> VirtualTime {
        VirtualTime::from_micros(micros)
    }

    /// One byte takes a microsecond.
    fn bandwidth(queue_packets_max: Option<u32>) -> Bandwidth {
        Bandwidth { bits_per_second: 8_000_000, queue_packets_max }
    }

    #[test]
    fn sending_takes_the_bits_over_the_rate_rounded_up() {
        #[track_caller]
        fn check(bytes: u32, bits_per_second: u64, expect: u64) {
            let bandwidth = Bandwidth { bits_per_second, queue_packets_max: None };
            assert_eq!(bandwidth.sending_time(bytes).as_nanos(), expect);
        }
        check(1_500, 1_000_000_000, 12_000);
        check(1, 3_000_000_000, 3);
        check(1, 8_000_000_001, 1);
        check(0, 1, 0);
        check(u32::MAX, 1, u64::MAX);
        check(u32::MAX, 8, u64::from(u32::MAX) * 1_000_000_000);
    }

    #[test]
    fn packets_wait_for_those_before_them() {
        let mut queue = Queue::default();
        let mut enter = |at, bytes| queue.enter(&bandwidth(None), micros(at), micros(at), bytes);
        assert_eq!(enter(0, 100), Some(micros(100)));
        assert_eq!(enter(0, 50), Some(micros(150)));
        assert_eq!(enter(120, 10), Some(micros(160)));
        assert_eq!(enter(160, 10), Some(micros(170)));
        assert_eq!(enter(500, 10), Some(micros(510)));
    }

    #[test]
    fn a_packet_that_finds_a_full_queue_is_refused() {
        let mut queue = Queue::default();
        let mut enter = |at, bytes| queue.enter(&bandwidth(Some(2)), micros(at), micros(at), bytes);
        assert_eq!(
            [enter(0, 100), enter(1, 100), enter(2, 100)],
            [Some(micros(100)), Some(micros(200)), Some(micros(300))]
        );
        assert_eq!(enter(99, 1), None);
        // The second is being sent, so one waits.
        assert_eq!(enter(100, 100), Some(micros(400)));
        assert_eq!(enter(101, 1), None);

        let mut queue = Queue::default();
        let mut enter = |at, bytes| queue.enter(&bandwidth(Some(0)), micros(at), micros(at), bytes);
        assert_eq!([enter(0, 10), enter(9, 10), enter(10, 10)], [Some(micros(10)), None, Some(micros(20))]);
    }

    #[test]
    fn a_packet_does_not_wait_for_one_that_reaches_the_link_later() {
        let mut queue = Queue::default();
        let mut enter = |now, reached, bytes| queue.enter(&bandwidth(None), micros(now), micros(reached), bytes);
        assert_eq!(enter(0, 1_000, 100), Some(micros(1_100)));
        assert_eq!(enter(1, 1, 100), Some(micros(101)));
        assert_eq!(enter(2, 950, 100), Some(micros(1_200)), "it does not fit in before");
        assert_eq!(enter(3, 900, 50), Some(micros(950)));
        assert_eq!(enter(3, 1_199, 1), Some(micros(1_201)));

        // Nor do they count as waiting.
        let mut queue = Queue::default();
        let mut enter = |now, reached, bytes| queue.enter(&bandwidth(Some(1)), micros(now), micros(reached), bytes);
        assert_eq!([enter(0, 1_000, 100), enter(1, 1_010, 100)], [Some(micros(1_100)), Some(micros(1_200))]);
        assert_eq!(
            [enter(2, 2, 100), enter(3, 3, 100), enter(4, 4, 100)],
            [Some(micros(102)), Some(micros(202)), None]
        );
    }
}
