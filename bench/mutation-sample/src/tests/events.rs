//! Tests of the event queue.

use crate::checksum::Random;
use crate::event_queue::EventQueue;

/// Schedules `count` events at random times, and returns the queue with what was scheduled, in order.
fn filled(count: usize, seed: u64) -> (EventQueue<u64>, Vec<(u64, u64)>) {
    let mut random = Random::new(seed);
    let mut queue = EventQueue::default();
    let mut expected = Vec::new();
    for _ in 0..count {
        let delay = random.below(90);
        let number = queue.schedule(delay, delay);
        expected.push((delay, number));
    }
    expected.sort_unstable();
    (queue, expected)
}

pub(super) fn events_come_in_the_order_of_their_times() {
    let (mut queue, expected) = filled(180, 1);
    assert_eq!(queue.len(), 180);
    for (time, _) in expected {
        assert_eq!(queue.pop(), Some(time), "the event that comes next");
        assert_eq!(queue.now(), time, "the time at which it comes");
    }
    assert!(queue.is_empty(), "all have come");
    assert_eq!(queue.pop(), None);
}

pub(super) fn equal_times_come_in_the_order_of_scheduling() {
    let mut queue = EventQueue::default();
    for event in 0..240 {
        assert_eq!(queue.schedule(event % 2, event), event, "the number of an event");
    }
    let came: Vec<u64> = std::iter::from_fn(|| queue.pop()).collect();
    let expected: Vec<u64> = (0..240).step_by(2).chain((1..240).step_by(2)).collect();
    assert_eq!(came, expected);
}

pub(super) fn delays_count_from_the_event_that_came_last() {
    let mut queue = EventQueue::default();
    queue.schedule(3, 0);
    for round in 0..140 {
        assert_eq!(queue.pop(), Some(round));
        assert_eq!(queue.now(), 3 + 7 * round);
        queue.schedule(7, round + 1);
        queue.schedule(100_000, 0);
    }
    assert_eq!(queue.len(), 141);
}

pub(super) fn a_cancelled_event_does_not_come() {
    let (mut queue, mut expected) = filled(150, 2);
    for number in [149, 0, 17, 80, 81] {
        assert!(queue.cancel(number), "event {number} was to come");
        assert!(!queue.cancel(number), "event {number} was taken back");
        expected.retain(|&(_, other)| other != number);
        assert_eq!(queue.len(), expected.len());
    }
    for (time, _) in expected {
        assert_eq!(queue.pop(), Some(time));
    }
    assert_eq!(queue.pop(), None);
}

pub(super) fn the_order_holds_after_every_cancellation() {
    let mut delays = [1, 5, 2, 6, 7, 3, 4, 8, 9];
    for cancelled in 0..36 {
        delays.rotate_right(1);
        let mut queue = EventQueue::default();
        for (number, delay) in (0..).zip(delays) {
            assert_eq!(queue.schedule(delay, delay), number);
        }
        assert!(queue.cancel(cancelled % 9));
        let came: Vec<u64> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(came.len(), 8, "one of {delays:?} was taken back");
        assert!(came.is_sorted(), "one of {delays:?} was taken back: {came:?}");
    }
}

pub(super) fn an_event_that_came_cannot_be_cancelled() {
    let (mut queue, expected) = filled(80, 3);
    for (time, number) in expected {
        assert_eq!(queue.pop(), Some(time));
        assert!(!queue.cancel(number), "event {number} has come");
    }
    assert!(queue.is_empty(), "all have come");
}
