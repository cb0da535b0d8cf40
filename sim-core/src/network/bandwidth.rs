//! Links that carry only so much: packets wait for those before them.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;

use serde::{Deserialize, Serialize};

use super::InvalidNetwork;
use super::invalid::Field;
use crate::{VirtualDuration, VirtualTime};

/// The bandwidth of each direction of a link, and its queue.
///
/// A packet takes `bytes * 8 / bits_per_second` to be sent, rounded up to whole nanoseconds, and those that come
/// meanwhile wait in the order in which they came. A packet that the link then loses takes its time all the same; the
/// second copy of a duplicated packet takes none. Messages without a size ([`Message::bytes`](crate::Message::bytes))
/// wait, but take no time.
///
/// ```
/// use simutant_sim_core::network::{Bandwidth, Fate, Fates};
/// use simutant_sim_core::{Link, VirtualDuration, VirtualTime};
///
/// // A packet of 1,000 bytes takes a millisecond to be sent, and one more can wait meanwhile.
/// let bandwidth = Some(Bandwidth { bits_per_second: 8_000_000, queue_packets_max: Some(1) });
/// let link = Link { bandwidth, ..Link::constant(VirtualDuration::from_millis(10)) };
/// let mut fates = Fates::new(&link, 7, "client")?;
/// let mut after_ms = || match fates.draw(VirtualTime::ZERO, 1_000) {
///     Fate::Delivered(arrival) => Some(arrival.after.as_nanos() / 1_000_000),
///     _ => None,
/// };
/// assert_eq!([after_ms(), after_ms(), after_ms()], [Some(11), Some(12), None]);
/// # Ok::<(), simutant_sim_core::InvalidNetwork>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bandwidth {
    /// Bits a second.
    pub bits_per_second: u64,
    /// How many packets wait at most, besides the one that is being sent; one that finds so many is lost. Without this,
    /// there is no limit.
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
/// On a single link, packets come in the order of their sending, and the next begins when the last has ended: constant
/// time, amortized. On a path of links a packet that was sent later may reach a link first; it then takes the first
/// time in which the link is idle for long enough, and does not wait for packets that are still on their way to this
/// link. That takes logarithmic time, a move of memory, and a step for each time in which the link is idle for not long
/// enough. Only packets that take no time, and reach the link out of order, look at all packets there.
#[derive(Debug, Clone, Default)]
pub(super) struct Queue {
    /// In the order of their times, which do not overlap.
    sendings: VecDeque<Sending>,
    /// When each packet of `sendings`, and some that were sent off, reached the link, ascending. Empty if any number
    /// may wait.
    reached: VecDeque<VirtualTime>,
    /// How many of `reached` were sent off.
    reached_and_gone: usize,
    /// When the last packet to reach the link does so.
    reached_last: VirtualTime,
    /// From when to when the link is busy without a break, by the beginning. A packet that takes no time is there too.
    busy: BTreeMap<VirtualTime, VirtualTime>,
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
        self.forget_before(now);
        let duration = bandwidth.sending_time(bytes);
        let (index, begin) = if reached >= self.reached_last {
            // Everyone else was here before.
            (self.sendings.len(), self.sendings.back().map_or(reached, |last| last.end.max(reached)))
        } else if duration == VirtualDuration::ZERO {
            self.place_without_duration(reached)
        } else {
            let begin = self.first_idle(reached, duration);
            (self.sendings.partition_point(|sending| sending.begin < begin + duration), begin)
        };
        if let Some(packets_max) = bandwidth.queue_packets_max {
            if begin > reached && self.waiting(reached) >= packets_max as usize {
                return None;
            }
            self.note_reached(reached);
        }
        let end = begin + duration;
        self.sendings.insert(index, Sending { reached, begin, end });
        self.reached_last = self.reached_last.max(reached);
        self.occupy(begin, end);
        Some(end)
    }

    /// Forgets the packets that were sent off.
    fn forget_before(&mut self, now: VirtualTime) {
        while self.sendings.front().is_some_and(|sending| sending.end <= now) {
            self.sendings.pop_front();
            self.reached_and_gone += usize::from(!self.reached.is_empty());
        }
        while self.busy.first_key_value().is_some_and(|(_, &end)| end <= now) {
            self.busy.pop_first();
        }
        // Who is gone had reached the link by now, and so had everyone from the first on whom this removes.
        while self.reached_and_gone > 0 && self.reached.front().is_some_and(|&reached| reached <= now) {
            self.reached.pop_front();
            self.reached_and_gone -= 1;
        }
    }

    fn note_reached(&mut self, reached: VirtualTime) {
        if reached >= self.reached_last {
            self.reached.push_back(reached);
        } else {
            self.reached.insert(self.reached.partition_point(|&other| other <= reached), reached);
        }
    }

    /// Returns how many packets have reached the link at this time, which is not past, and are not being sent yet.
    fn waiting(&self, at: VirtualTime) -> usize {
        let have_reached = if at >= self.reached_last {
            self.sendings.len()
        } else {
            self.reached.partition_point(|&reached| reached <= at) - self.reached_and_gone
        };
        let has_begun = |sending: &Sending| sending.begin <= at;
        // On a single link it is the first of them that is being sent.
        let have_begun = match self.sendings.get(1) {
            Some(second) if has_begun(second) => self.sendings.partition_point(has_begun),
            Some(_) | None => usize::from(self.sendings.front().is_some_and(has_begun)),
        };
        have_reached - have_begun
    }

    /// Returns the first time from `reached` on at which the link is idle for a duration, which is not zero.
    ///
    /// Nobody who reached the link before is overtaken: who waits there does so because the link is busy all the while.
    fn first_idle(&self, reached: VirtualTime, duration: VirtualDuration) -> VirtualTime {
        let is_busy = self.busy.range(..=reached).next_back().map(|(_, &end)| end);
        let mut begin = is_busy.map_or(reached, |end| end.max(reached));
        for (&next, &end) in self.busy.range((Bound::Excluded(reached), Bound::Unbounded)) {
            if begin + duration <= next {
                break;
            }
            begin = end;
        }
        begin
    }

    /// Returns before which sending, and when, a packet comes that takes no time: before the first that reaches the
    /// link later.
    fn place_without_duration(&self, reached: VirtualTime) -> (usize, VirtualTime) {
        let first = self.sendings.partition_point(|sending| sending.end <= reached);
        let before = self.sendings.range(first..).take_while(|sending| sending.reached <= reached).count();
        let last = before.checked_sub(1).map(|before| self.sendings[first + before].end);
        (first + before, last.unwrap_or(reached))
    }

    /// Notes that the link is busy from `begin` to `end`, at which time it was idle.
    fn occupy(&mut self, mut begin: VirtualTime, mut end: VirtualTime) {
        if let Some((&begin_before, &end_before)) = self.busy.range(..=begin).next_back() {
            if end_before >= end {
                // Without duration, between two others.
                return;
            }
            if end_before == begin {
                begin = begin_before;
            }
        }
        if let Some(end_after) = self.busy.remove(&end) {
            end = end_after;
        }
        self.busy.insert(begin, end);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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

    /// A queue that is simple enough to be right: every packet looks at every other.
    #[derive(Default)]
    struct Reference {
        sendings: Vec<Sending>,
    }

    impl Reference {
        fn enter(&mut self, bandwidth: &Bandwidth, now: u64, reached: u64, bytes: u32) -> Option<VirtualTime> {
            let (now, reached, duration) = (micros(now), micros(reached), bandwidth.sending_time(bytes));
            self.sendings.retain(|sending| sending.end > now);
            let mut begin = reached;
            let mut index = self.sendings.iter().take_while(|sending| sending.end <= reached).count();
            while let Some(sending) = self.sendings.get(index) {
                // Who reached the link before keeps its place, even if this packet would fit in before it.
                if sending.reached > reached && begin + duration <= sending.begin {
                    break;
                }
                begin = begin.max(sending.end);
                index += 1;
            }
            let is_waiting = |sending: &&Sending| sending.reached <= reached && sending.begin > reached;
            let waiting = self.sendings.iter().filter(is_waiting).count();
            if begin > reached && bandwidth.queue_packets_max.is_some_and(|packets_max| waiting >= packets_max as usize)
            {
                return None;
            }
            let end = begin + duration;
            self.sendings.insert(index, Sending { reached, begin, end });
            Some(end)
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]
        #[test]
        fn it_does_what_a_list_of_all_packets_does(
            queue_packets_max in prop::sample::select(vec![None, Some(0), Some(1), Some(2), Some(5), Some(20)]),
            ahead_max in prop::sample::select(vec![1_u64, 20, 200, 1_000]),
            bytes_max in prop::sample::select(vec![2_u32, 10, 60]),
            packets in prop::collection::vec((0..12_u64, any::<u64>(), any::<u32>()), 0..80),
        ) {
            let bandwidth = bandwidth(queue_packets_max);
            let (mut queue, mut reference, mut now) = (Queue::default(), Reference::default(), 0);
            for (step, ahead, bytes) in packets {
                now += step;
                let (reached, bytes) = (now + ahead % ahead_max, bytes % bytes_max);
                let sent = queue.enter(&bandwidth, micros(now), micros(reached), bytes);
                prop_assert_eq!(sent, reference.enter(&bandwidth, now, reached, bytes));
            }
        }
    }
}
