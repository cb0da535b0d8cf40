//! In the steady state neither a message nor a timer costs an allocation.
//!
//! A global allocator counts, so these tests have a binary of their own. They count by thread, since tests run side by
//! side. A component takes the count after a warm-up and again after a hundred thousand events more, all in one run.

#![expect(unsafe_code, reason = "an allocator cannot be written without")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::rc::Rc;

use simutant_sim_core::{
    Address, Context, Either2, Latency, Limits, Link, Message, Network, Probability, Simulation, VirtualDuration, fifo,
    select,
};

/// Counts, and lets the system's allocator do the rest.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    /// Bytes that were allocated and not freed.
    static LIVE_BYTES: Cell<i64> = const { Cell::new(0) };
}

fn note(allocations: u64, bytes: i64) {
    // A thread that ends may allocate when its locals are gone.
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + allocations));
    let _ = LIVE_BYTES.try_with(|live| live.set(live.get() + bytes));
}

// SAFETY: every call goes to the system's allocator unchanged; counting allocates nothing, as the counters are plain
// numbers with constant initial values.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(1, layout.size() as i64);
        // SAFETY: the caller keeps to the same contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        note(0, -(layout.size() as i64));
        // SAFETY: the caller keeps to the same contract.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(1, size as i64 - layout.size() as i64);
        // SAFETY: the caller keeps to the same contract.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How many events pass before the count begins, and how many are counted.
const WARM_UP: u64 = 50_000;
const COUNTED: u64 = 100_000;
const MILLI: VirtualDuration = VirtualDuration::from_millis(1);

#[derive(Debug, Clone, Copy, Hash)]
struct Ball(u64);

impl Message for Ball {
    fn kind(&self) -> &'static str {
        "BALL"
    }
}

/// What a stretch of a run allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Usage {
    allocations: u64,
    live_bytes: i64,
}

impl Usage {
    fn now() -> Self {
        Self { allocations: ALLOCATIONS.get(), live_bytes: LIVE_BYTES.get() }
    }

    fn since(self, earlier: Self) -> Self {
        Self { allocations: self.allocations - earlier.allocations, live_bytes: self.live_bytes - earlier.live_bytes }
    }
}

/// Takes the count when enough has happened, and once more later. Components that share it call it for each thing that
/// happens to them.
#[derive(Debug, Clone, Default)]
struct Meter(Rc<Cell<(u64, Usage, Option<Usage>)>>);

impl Meter {
    fn tick(&self) {
        let (ticks, mut start, mut used) = self.0.get();
        if ticks == WARM_UP {
            start = Usage::now();
        }
        if ticks == WARM_UP + COUNTED {
            used = Some(Usage::now().since(start));
        }
        self.0.set((ticks + 1, start, used));
    }

    fn is_over(&self) -> bool {
        self.0.get().2.is_some()
    }

    /// Runs a simulation, and returns what the counted stretch of it allocated.
    #[track_caller]
    fn measure(&self, mut simulation: Simulation<Ball>) -> Usage {
        simulation.limits(Limits { events: 10 * (WARM_UP + COUNTED), ..Limits::default() });
        let report = simulation.run();
        assert!(report.ended.passed(), "{}", report.ended);
        assert!(report.events >= WARM_UP + COUNTED, "{} events", report.events);
        self.0.get().2.expect("the run went on until the count was over")
    }
}

/// Plays a ball to and fro, each receive under a timeout that is rarely reached; a ball that is lost is served again.
async fn player(context: Context<Ball>, other: Address, timeout: VirtualDuration, meter: Meter) {
    let mut channel = context.channel_at(1);
    channel.send(other, Ball(0));
    while !meter.is_over() {
        let ball = match channel.recv_timeout(timeout).await {
            Ok(delivery) => delivery.message,
            Err(_) => Ball(0),
        };
        meter.tick();
        channel.send(other, Ball(ball.0 + 1));
    }
}

fn ping(network: impl Into<Network>, timeout: VirtualDuration) -> Usage {
    let meter = Meter::default();
    let mut simulation = Simulation::new(1);
    simulation.network(network);
    let (first, second) = (simulation.address("first", 1), simulation.address("second", 1));
    let meters = (meter.clone(), meter.clone());
    simulation.add("first", move |context| player(context, second, timeout, meters.0));
    simulation.add("second", move |context| player(context, first, timeout, meters.1));
    meter.measure(simulation)
}

fn varying() -> Link {
    Link { latency: Latency::Uniform { min: MILLI, max: MILLI * 3 }, ..Link::default() }
}

#[test]
fn the_allocator_counts() {
    let before = Usage::now();
    let kept = Box::new([0_u8; 64]);
    drop(vec![1_u64]);
    assert_eq!(Usage::now().since(before), Usage { allocations: 2, live_bytes: 64 });
    drop(kept);
    assert_eq!(Usage::now().since(before).live_bytes, 0);
}

#[test]
fn messages_and_timeouts_that_do_not_fire_cost_no_allocation() {
    assert_eq!(ping(varying(), MILLI * 10), Usage::default());
}

#[test]
fn timers_that_are_cancelled_long_before_they_fire_leave_nothing_behind() {
    assert_eq!(ping(varying(), VirtualDuration::from_secs(10)), Usage::default());
}

#[test]
fn timeouts_that_fire_cost_no_allocation() {
    let drop = Probability::new(0.3).expect("it is one").into();
    assert_eq!(ping(Link { drop, ..varying() }, MILLI * 10), Usage::default());
}

#[test]
fn packets_that_are_duplicated_cost_no_allocation() {
    let meter = Meter::default();
    let mut simulation = Simulation::new(1);
    simulation.network(Link { duplicate: Probability::ONE, ..varying() });
    let to = simulation.address("listener", 1);
    simulation.add("listener", |context| async move {
        let mut channel = context.channel_at(1);
        loop {
            channel.recv().await;
        }
    });
    let ticks = meter.clone();
    simulation.add("talker", move |context| async move {
        let channel = context.channel();
        while !ticks.is_over() {
            channel.send(to, Ball(0));
            context.pause(MILLI).await;
            ticks.tick();
        }
    });
    assert_eq!(meter.measure(simulation), Usage::default());
}

#[test]
fn pauses_cost_no_allocation() {
    let meter = Meter::default();
    let mut simulation = Simulation::new(1);
    for component in 0..1_000 {
        let meter = meter.clone();
        simulation.add(&component.to_string(), |mut context| async move {
            while !meter.is_over() {
                let wait = MILLI * context.random().uniform(1..1_000_u64);
                context.pause(wait).await;
                meter.tick();
            }
        });
    }
    assert_eq!(meter.measure(simulation), Usage::default());
}

#[test]
fn select_costs_no_allocation() {
    let meter = Meter::default();
    let mut simulation = Simulation::new(1);
    let to = simulation.address("receiver", 1);
    let ticks = meter.clone();
    simulation.add("receiver", |context| async move {
        let (mut first, mut second) = (context.channel_at(1), context.channel_at(2));
        let mut paused = 0;
        while !ticks.is_over() {
            match select((select([first.recv(), second.recv()]), context.pause(MILLI * 3))).await {
                Either2::First(_) => {}
                Either2::Second(()) => paused += 1,
            }
            ticks.tick();
        }
        assert!(paused > COUNTED / 100, "{paused} of the pauses came first");
    });
    let ticks = meter.clone();
    simulation.add("sender", move |mut context| async move {
        let channel = context.channel();
        while !ticks.is_over() {
            channel.send(to, Ball(0));
            let wait = MILLI * context.random().uniform(1..6_u64);
            context.pause(wait).await;
        }
    });
    assert_eq!(meter.measure(simulation), Usage::default());
}

#[test]
fn waits_without_end_that_are_given_up_cost_no_allocation() {
    let meter = Meter::default();
    let mut simulation = Simulation::new(1);
    let ticks = meter.clone();
    let (sender, mut receiver) = fifo::<Ball>();
    simulation.add("impatient", move |mut context| async move {
        let mut child = context.spawn(|_| std::future::pending::<()>());
        while !ticks.is_over() {
            let endless = (receiver.recv(), &mut child, context.sleep(VirtualDuration::MAX));
            select((select(endless), context.pause(MILLI))).await;
            ticks.tick();
        }
        drop(sender);
    });
    assert_eq!(meter.measure(simulation), Usage::default());
}

#[test]
fn a_fifo_costs_no_allocation() {
    let meter = Meter::default();
    let mut simulation = Simulation::new(1);
    let (sender, mut receiver) = fifo();
    let ticks = meter.clone();
    simulation.add("sender", move |context| async move {
        while !ticks.is_over() {
            sender.send(Ball(1));
            sender.send(Ball(2));
            context.pause(MILLI).await;
        }
    });
    let ticks = meter.clone();
    simulation.add("receiver", move |_| async move {
        while receiver.recv().await.is_some() {
            ticks.tick();
        }
    });
    assert_eq!(meter.measure(simulation), Usage::default());
}

#[test]
fn child_tasks_cost_the_same_few_allocations_each_and_leave_nothing_behind() {
    let meter = Meter::default();
    let mut simulation = Simulation::new(1);
    let ticks = meter.clone();
    simulation.add("parent", move |mut context| async move {
        while !ticks.is_over() {
            let child = context.spawn(|context| async move { context.pause(MILLI).await });
            child.await.expect("nobody cancels it");
            ticks.tick();
        }
    });
    let Usage { allocations, live_bytes } = meter.measure(simulation);
    assert_eq!((allocations % COUNTED, live_bytes), (0, 0), "{allocations} allocations");
    assert!((1..=8).contains(&(allocations / COUNTED)), "{allocations} allocations");
}
