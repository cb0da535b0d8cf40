//! Against a sorted list, and in cases that tempt a queue to be slow or to grow.

use std::ops::ControlFlow;

use proptest::prelude::*;

use super::*;

/// What the property test does with a queue.
#[derive(Debug, Clone)]
enum Operation {
    /// Schedules so many events, all so long after the last one popped.
    Schedule(u64, usize),
    Pop(usize),
    /// Cancels as many events, from the one that was scheduled as the n-th modulo their number on, pending or not.
    Cancel(usize, usize),
    /// Cancels the next events.
    CancelNext(usize),
    /// Pops the n-th, modulo their number, of the next simultaneous events.
    PopSimultaneous(usize),
}

/// How far ahead events are scheduled: few distinct times, so that equal ones are the rule, or many, or both.
fn delays() -> impl Strategy<Value = BoxedStrategy<u64>> {
    let near = || (0..12_u64).boxed();
    let wide = || (0..4_000_000_000_u64).boxed();
    let any_scale = || (0..u64::BITS, any::<u64>()).prop_map(|(bits, number)| number >> bits).boxed();
    let far_clusters = || (0..3_u64, 0..300_u64).prop_map(|(cluster, near)| cluster * 10_u64.pow(18) + near).boxed();
    let last = || (u64::MAX - 5..=u64::MAX).boxed();
    prop::sample::select(vec![
        near(),
        wide(),
        any_scale(),
        far_clusters(),
        prop_oneof![near(), wide()].boxed(),
        prop_oneof![Just(4_096), near(), 4_000..4_200_u64].boxed(),
        prop_oneof![10 => near(), 5 => any_scale(), 1 => last()].boxed(),
    ])
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    delays().prop_flat_map(|delay| {
        let count = || prop_oneof![20 => 1..3_usize, 3 => 3..40_usize, 1 => 40..200_usize];
        let operation = prop_oneof![
            16 => (delay, count()).prop_map(|(delay, count)| Operation::Schedule(delay, count)),
            8 => count().prop_map(Operation::Pop),
            6 => (any::<usize>(), count()).prop_map(|(first, count)| Operation::Cancel(first, count)),
            1 => count().prop_map(Operation::CancelNext),
            2 => any::<usize>().prop_map(Operation::PopSimultaneous),
        ];
        prop::collection::vec(operation, 0..300)
    })
}

fn time(nanos: u64) -> VirtualTime {
    VirtualTime::from_nanos(nanos)
}

/// A queue beside a reference that is simple enough to be right; the payloads number the events.
struct Checked {
    queue: EventQueue,
    /// (time, number of the event), in the order in which they are to come out.
    sorted: Vec<(u64, u64)>,
    ids: Vec<EventId>,
    now: u64,
}

impl Checked {
    fn new() -> Self {
        Self { queue: EventQueue::new(), sorted: Vec::new(), ids: Vec::new(), now: 0 }
    }

    fn schedule(&mut self, delay: u64) {
        let at = self.now.saturating_add(delay);
        let number = self.ids.len() as u64;
        let after = self.sorted.partition_point(|&(other, _)| other <= at);
        self.sorted.insert(after, (at, number));
        self.ids.push(self.queue.schedule(time(at), number));
    }

    /// Pops an event, if there is one.
    fn pop(&mut self) -> ControlFlow<()> {
        let expect = (!self.sorted.is_empty()).then(|| self.sorted.remove(0));
        let popped = match self.queue.simultaneous.len() {
            0 => self.queue.pop(),
            _ => self.queue.pop_simultaneous(0),
        };
        self.check_popped(popped, expect)
    }

    fn pop_simultaneous(&mut self, index: usize) {
        let count = match self.sorted.first() {
            Some(&(next, _)) => self.sorted.iter().take_while(|&&(at, _)| at == next).count(),
            None => 0,
        };
        assert_eq!(self.queue.simultaneous(), count);
        assert_eq!(self.queue.first_simultaneous(), self.sorted.first().map(|&(_, number)| number));
        assert_eq!(self.queue.pop_simultaneous(count), None);
        if count > 0 {
            let expect = self.sorted.remove(index % count);
            let popped = self.queue.pop_simultaneous(index % count);
            let _ = self.check_popped(popped, Some(expect));
        }
    }

    #[track_caller]
    fn check_popped(&mut self, popped: Option<(VirtualTime, u64)>, expect: Option<(u64, u64)>) -> ControlFlow<()> {
        assert_eq!(popped, expect.map(|(at, number)| (time(at), number)));
        let Some((at, _)) = expect else { return ControlFlow::Break(()) };
        self.now = at;
        ControlFlow::Continue(())
    }

    fn cancel(&mut self, number: usize) {
        let id = self.ids[number];
        let pending = self.sorted.iter().position(|&(_, other)| other == number as u64);
        assert_eq!(self.queue.payload_mut(id).copied(), pending.map(|_| number as u64));
        assert_eq!(self.queue.cancel(id), pending.map(|index| self.sorted.remove(index).1));
        assert_eq!(self.queue.payload_mut(id), None);
        assert_eq!(self.queue.cancel(id), None);
    }

    fn perform(&mut self, operation: &Operation) {
        match *operation {
            Operation::Schedule(delay, count) => (0..count).for_each(|_| self.schedule(delay)),
            Operation::Pop(count) => {
                let _ = (0..count).try_for_each(|_| self.pop());
            }
            Operation::Cancel(first, count) if !self.ids.is_empty() => {
                let first = first % self.ids.len();
                (first..self.ids.len().min(first + count)).for_each(|number| self.cancel(number));
            }
            Operation::Cancel(..) => {}
            Operation::CancelNext(count) => {
                for _ in 0..count.min(self.sorted.len()) {
                    self.cancel(self.sorted[0].1 as usize);
                }
            }
            Operation::PopSimultaneous(index) => self.pop_simultaneous(index),
        }
        assert_eq!(self.queue.len(), self.sorted.len());
        self.check_upcoming();
    }

    fn check_upcoming(&self) {
        let simultaneous = { self.queue.simultaneous.iter() }.map(|key| self.queue.slots[slot_of(key)].payload);
        assert!(self.queue.upcoming().count() <= SORTED_MAX);
        let mut known: Vec<u64> = simultaneous.chain(self.queue.upcoming()).collect();
        known.truncate(SORTED_MAX);
        let expect = self.sorted.iter().map(|&(_, number)| number).take(known.len());
        assert!(known.iter().copied().eq(expect));
    }

    /// Checks that the wheel has a key for each event that is not in `sorted`, and few others.
    fn check_structure(&self) {
        let wheel_len = self.queue.wheel.check_and_count();
        let simultaneous = self.queue.simultaneous.len();
        let alive = self.sorted.len() - self.queue.sorted.len() - simultaneous;
        assert_eq!(wheel_len, alive + self.queue.wheel.dead());
        assert!(self.queue.wheel.dead() <= alive + simultaneous + DEAD_MIN);
    }
}

proptest! {
    #[test]
    fn it_does_what_a_sorted_list_does(operations in operations()) {
        let mut checked = Checked::new();
        for (index, operation) in operations.iter().enumerate() {
            checked.perform(operation);
            if index % 8 == 0 {
                checked.check_structure();
            }
        }
        while checked.pop().is_continue() {}
        prop_assert_eq!(checked.queue.len(), 0);
        prop_assert_eq!(checked.queue.wheel.check_and_count(), 0);
    }
}

#[test]
fn many_events_of_equal_time_come_out_in_the_order_of_scheduling() {
    const COUNT: u64 = 100_000;
    let mut queue = EventQueue::new();
    for number in 0..COUNT {
        queue.schedule(time(5), number);
    }
    queue.wheel.moves = 0;
    // Each schedules another one at its own time.
    for number in 0..COUNT {
        assert_eq!(queue.pop(), Some((time(5), number)));
        queue.schedule(time(5), COUNT + number);
    }
    for number in 0..COUNT {
        assert_eq!(queue.pop(), Some((time(5), COUNT + number)));
    }
    assert_eq!(queue.pop(), None);
    assert!(queue.wheel.moves < 2 * COUNT, "{} moves for {COUNT} events", queue.wheel.moves);
}

#[test]
fn of_many_events_of_equal_time_any_comes_out_without_moving_the_others() {
    const COUNT: u64 = 20_000;
    let mut queue = EventQueue::new();
    let ids: Vec<EventId> = (0..COUNT).map(|number| queue.schedule(time(5), number)).collect();
    queue.schedule(time(6), u64::MAX);
    queue.wheel.moves = 0;
    assert_eq!(queue.simultaneous() as u64, COUNT);
    // The last one comes first, schedules another at its own time, and cancels the first that is left.
    for round in 0..COUNT / 2 {
        let count = queue.simultaneous();
        assert_eq!(count as u64, COUNT - round);
        assert_eq!(queue.first_simultaneous(), Some(round));
        let expect = if round == 0 { COUNT - 1 } else { COUNT + round - 1 };
        assert_eq!(queue.pop_simultaneous(count - 1), Some((time(5), expect)));
        queue.schedule(time(5), COUNT + round);
        assert_eq!(queue.cancel(ids[round as usize]), Some(round));
    }
    assert!(queue.wheel.moves < 2 * COUNT, "{} moves for {COUNT} events", queue.wheel.moves);
    for left in (1..=COUNT / 2).rev() {
        assert_eq!(queue.simultaneous() as u64, left);
        assert_eq!(queue.pop_simultaneous(0).map(|(at, _)| at), Some(time(5)));
    }
    assert_eq!((queue.simultaneous(), queue.pop_simultaneous(0)), (1, Some((time(6), u64::MAX))));
    assert_eq!((queue.simultaneous(), queue.pop_simultaneous(0), queue.pop()), (0, None, None));
}

#[test]
fn events_scheduled_in_descending_order_come_out_in_ascending_order() {
    let mut queue = EventQueue::new();
    for nanos in (0..50_000).rev() {
        queue.schedule(time(nanos), nanos);
    }
    assert!((0..50_000).all(|nanos| queue.pop() == Some((time(nanos), nanos))));
}

#[test]
fn a_key_moves_a_few_times_between_its_event_is_scheduled_and_popped() {
    let mut queue = EventQueue::new();
    let mut random = 1_u64;
    let mut delay = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        random >> 34
    };
    for number in 0..20_000 {
        queue.schedule(time(delay()), number);
    }
    queue.wheel.moves = 0;
    for _ in 0..200_000 {
        let (now, number) = queue.pop().expect("an event is scheduled for each that is popped");
        queue.schedule(now + crate::VirtualDuration::from_nanos(delay()), number);
    }
    assert!(queue.wheel.moves < 4 * 200_000, "{} moves for 200,000 events", queue.wheel.moves);
}

#[test]
fn always_the_next_nanosecond_needs_one_slot() {
    let mut queue = EventQueue::new();
    queue.schedule(time(0), 0);
    for nanos in 0..100_000 {
        assert_eq!(queue.pop(), Some((time(nanos), nanos)));
        queue.schedule(time(nanos + 1), nanos + 1);
    }
    assert_eq!((queue.slots.len(), queue.wheel.chunk_count()), (1, 0));
}

/// Arms and cancels timers beside `pending` other events, and checks that memory stays as it was.
#[track_caller]
fn check_cancelled_events_leave_no_trace(pending: u64, deadline: impl Fn(u64) -> u64) {
    let mut queue = EventQueue::new();
    for number in 0..pending {
        queue.schedule(time(2_000_000_000 + number * 1_000_003), number);
    }
    for round in 0..20_000 {
        let id = queue.schedule(time(deadline(round)), round);
        assert_eq!(queue.cancel(id), Some(round));
    }
    assert_eq!((queue.len() as u64, queue.slots.len() as u64), (pending, pending + 1));
    let keys_max = 2 * pending + DEAD_MIN as u64 + 1;
    assert!(queue.wheel.check_and_count() as u64 <= keys_max);
    // Each key may have a chunk of its own, until there are more keys than buckets.
    assert!(queue.wheel.chunk_count() as u64 <= keys_max.min(704 + keys_max / 32));
}

#[test]
fn cancelled_events_leave_no_trace_in_memory() {
    for pending in [0, 3, 70, 2_000] {
        check_cancelled_events_leave_no_trace(pending, |_| 1_000_000);
        check_cancelled_events_leave_no_trace(pending, |round| 1_000_000 + round);
        check_cancelled_events_leave_no_trace(pending, |round| 10_u64.pow(18) + round);
        check_cancelled_events_leave_no_trace(pending, |round| 10_u64.pow(18) - round * 1_000);
    }
}

#[test]
fn a_long_run_of_timers_that_never_fire_stays_flat() {
    let mut queue = EventQueue::new();
    let mut timer = queue.schedule(time(10_000_000_000), 1);
    for number in 0..100 {
        queue.schedule(time(number), 0);
    }
    for _ in 0..30_000 {
        let (now, payload) = queue.pop().expect("messages go on for ever");
        assert_eq!(payload, 0);
        assert_eq!(queue.cancel(timer), Some(1));
        queue.schedule(now + crate::VirtualDuration::from_micros(1), 0);
        timer = queue.schedule(now + crate::VirtualDuration::from_secs(10), 1);
    }
    assert_eq!((queue.len(), queue.slots.len()), (101, 101));
    assert!(queue.wheel.chunk_count() < 300, "{} chunks", queue.wheel.chunk_count());
}

#[test]
fn the_last_instant_can_be_scheduled() {
    let mut queue = EventQueue::new();
    for number in 0..200 {
        queue.schedule(VirtualTime::MAX, number);
        queue.schedule(time(u64::MAX - 1), number);
        queue.schedule(VirtualTime::ZERO, number);
    }
    for at in [VirtualTime::ZERO, time(u64::MAX - 1), VirtualTime::MAX] {
        assert!((0..200).all(|number| queue.pop() == Some((at, number))));
    }
    assert_eq!(queue.pop(), None);
    queue.schedule(VirtualTime::MAX, 1);
    assert_eq!(queue.pop(), Some((VirtualTime::MAX, 1)));
}

#[test]
fn an_identity_names_no_later_event_of_the_same_slot() {
    let mut queue = EventQueue::new();
    let first = queue.schedule(time(1), 1);
    assert_eq!(queue.pop(), Some((time(1), 1)));
    let second = queue.schedule(time(1), 2);
    assert_ne!(first, second);
    assert_eq!((queue.cancel(first), queue.payload_mut(first)), (None, None));
    *queue.payload_mut(second).expect("it is pending") = 3;
    assert_eq!(queue.cancel(second), Some(3));
}

#[test]
#[should_panic = "2^40 events were scheduled"]
fn too_many_events_in_a_run_are_refused() {
    let mut queue = EventQueue::new();
    queue.next_id = !SLOT_MASK;
    queue.schedule(time(1), 1);
}
