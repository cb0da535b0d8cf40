//! nexosim: models whose inputs schedule events on themselves and send to other models, on one thread.
//!
//! Inputs do not wait, so components are state machines. The network is the sender's: a datagram is an event that a
//! player schedules on itself for when it arrives, and then hands over.

use std::collections::VecDeque;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use nexosim::model::{Context, Model, schedulable};
use nexosim::ports::Output;
use nexosim::simulation::{EventKey, Mailbox, SimInit, Simulation};
use nexosim::time::MonotonicTime;
use serde::{Deserialize, Serialize};
use simutant_bench::{ARRIVAL_RATE, DROP, Outcome, Random, Task, Workload, timed};

/// Models are serializable and hold no reference to anything that is shared, so the counts are here.
static UNITS: Count = Count(AtomicU64::new(0));
static TIMEOUTS: Count = Count(AtomicU64::new(0));
static STAYS_NS: Count = Count(AtomicU64::new(0));

struct Count(AtomicU64);

impl Count {
    /// Adds on the only thread.
    fn add(&self, count: u64) {
        self.0.store(self.get() + count, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

fn main() -> ExitCode {
    simutant_bench::run(|task| {
        Some(match task.workload {
            Workload::Hold => hold(task),
            Workload::Ping | Workload::PingLossy => ping(task),
            Workload::Mm1 => mm1(task),
        })
    })
}

fn virtual_ns(simulation: &Simulation) -> u64 {
    simulation.time().duration_since(MonotonicTime::EPOCH).as_nanos() as u64
}

/// No component of hold or ping ever has two messages, and smaller mailboxes take less memory and time.
fn small_mailbox<M: Model>() -> Mailbox<M> {
    Mailbox::with_capacity(1)
}

/// Wakes up, and schedules the next time.
#[derive(Serialize, Deserialize)]
struct Sleeper {
    random: Random,
}

#[Model]
impl Sleeper {
    #[nexosim(init)]
    async fn init(&mut self, context: &Context<Self>) {
        self.sleep(context);
    }

    #[nexosim(schedulable)]
    fn wake(&mut self, _: (), context: &Context<Self>) {
        UNITS.add(1);
        self.sleep(context);
    }

    fn sleep(&mut self, context: &Context<Self>) {
        let duration = Duration::from_nanos(self.random.exponential_ns(1.0).max(1));
        context.schedule_event(duration, schedulable!(Self::wake), ()).expect("it is in the future");
    }
}

fn hold(task: Task) -> Outcome {
    let mut bench = SimInit::with_num_threads(1);
    for component in 0..task.n {
        let sleeper = Sleeper { random: Random::stream(task.seed, component.into()) };
        bench = bench.add_model(sleeper, small_mailbox(), &component.to_string());
    }
    let (simulation, cpu) = timed(|| {
        let mut simulation = bench.init(MonotonicTime::EPOCH).expect("it starts");
        simulation.step_until(Duration::from_nanos(task.horizon_ns())).expect("it runs");
        simulation
    });
    Outcome { cpu, units: UNITS.get(), timeouts: 0, virtual_ns: virtual_ns(&simulation), stay_ns: None }
}

/// Throws the ball back; the first of a pair throws it first, and again after a timeout.
#[derive(Serialize, Deserialize)]
struct Player {
    random: Random,
    is_first: bool,
    drop: f64,
    timeout: Duration,
    number: u64,
    timer: Option<EventKey>,
    other: Output<u64>,
}

#[Model]
impl Player {
    #[nexosim(init)]
    async fn init(&mut self, context: &Context<Self>) {
        if self.is_first {
            self.throw(context);
        }
        self.wait(context);
    }

    fn receive(&mut self, number: u64, context: &Context<Self>) {
        if let Some(timer) = self.timer.take() {
            timer.cancel();
        }
        UNITS.add(1);
        self.number = number + 1;
        self.throw(context);
        self.wait(context);
    }

    #[nexosim(schedulable)]
    async fn arrive(&mut self, number: u64) {
        self.other.send(number).await;
    }

    #[nexosim(schedulable)]
    fn time_out(&mut self, _: (), context: &Context<Self>) {
        TIMEOUTS.add(1);
        if self.is_first {
            self.throw(context);
        }
        self.wait(context);
    }

    fn throw(&mut self, context: &Context<Self>) {
        if self.drop > 0.0 && self.random.unit() < self.drop {
            return;
        }
        let latency = Duration::from_nanos(self.random.latency_ns());
        context.schedule_event(latency, schedulable!(Self::arrive), self.number).expect("it is in the future");
    }

    fn wait(&mut self, context: &Context<Self>) {
        let timer = context.schedule_keyed_event(self.timeout, schedulable!(Self::time_out), ());
        self.timer = Some(timer.expect("it is in the future"));
    }
}

fn ping(task: Task) -> Outcome {
    let mut bench = SimInit::with_num_threads(1);
    let drop = if task.workload == Workload::PingLossy { DROP } else { 0.0 };
    for pair in 0..u64::from(task.n) {
        let mut players = [true, false].map(|is_first| Player {
            random: Random::stream(task.seed, 2 * pair + u64::from(is_first)),
            is_first,
            drop,
            timeout: Duration::from_nanos(task.timeout_ns),
            number: 0,
            timer: None,
            other: Output::default(),
        });
        let mailboxes = [small_mailbox(), small_mailbox()];
        players[0].other.connect(Player::receive, &mailboxes[1]);
        players[1].other.connect(Player::receive, &mailboxes[0]);
        for (player, mailbox) in players.into_iter().zip(mailboxes) {
            let name = format!("{pair} {}", player.is_first);
            bench = bench.add_model(player, mailbox, &name);
        }
    }
    let (simulation, cpu) = timed(|| {
        let mut simulation = bench.init(MonotonicTime::EPOCH).expect("it starts");
        simulation.step_until(Duration::from_nanos(task.horizon_ns())).expect("it runs");
        simulation
    });
    let virtual_ns = virtual_ns(&simulation);
    Outcome { cpu, units: UNITS.get(), timeouts: TIMEOUTS.get(), virtual_ns, stay_ns: None }
}

/// Sends customers for as long as there are any.
#[derive(Serialize, Deserialize)]
struct Arrivals {
    random: Random,
    left: u64,
    server: Output<MonotonicTime>,
}

#[Model]
impl Arrivals {
    #[nexosim(init)]
    async fn init(&mut self, context: &Context<Self>) {
        self.schedule(context);
    }

    #[nexosim(schedulable)]
    async fn arrive(&mut self, _: (), context: &Context<Self>) {
        self.left -= 1;
        self.server.send(context.time()).await;
        if self.left > 0 {
            self.schedule(context);
        }
    }

    fn schedule(&mut self, context: &Context<Self>) {
        let duration = Duration::from_nanos(self.random.exponential_ns(1.0 / ARRIVAL_RATE).max(1));
        context.schedule_event(duration, schedulable!(Self::arrive), ()).expect("it is in the future");
    }
}

/// Serves customers, who are represented by when they came.
#[derive(Serialize, Deserialize)]
struct Server {
    random: Random,
    queue: VecDeque<MonotonicTime>,
}

#[Model]
impl Server {
    fn enter(&mut self, arrived_at: MonotonicTime, context: &Context<Self>) {
        self.queue.push_back(arrived_at);
        if self.queue.len() == 1 {
            self.serve(context);
        }
    }

    #[nexosim(schedulable)]
    fn leave(&mut self, _: (), context: &Context<Self>) {
        let arrived_at = self.queue.pop_front().expect("who leaves has entered");
        STAYS_NS.add(context.time().duration_since(arrived_at).as_nanos() as u64);
        UNITS.add(1);
        if !self.queue.is_empty() {
            self.serve(context);
        }
    }

    fn serve(&mut self, context: &Context<Self>) {
        let duration = Duration::from_nanos(self.random.exponential_ns(1.0).max(1));
        context.schedule_event(duration, schedulable!(Self::leave), ()).expect("it is in the future");
    }
}

fn mm1(task: Task) -> Outcome {
    let server = Server { random: Random::stream(task.seed, 1), queue: VecDeque::new() };
    let mailbox = Mailbox::new();
    let mut arrivals = Arrivals { random: Random::stream(task.seed, 0), left: task.units, server: Output::default() };
    arrivals.server.connect(Server::enter, &mailbox);
    let bench = SimInit::with_num_threads(1)
        .add_model(arrivals, Mailbox::new(), "arrivals")
        .add_model(server, mailbox, "server");
    let (simulation, cpu) = timed(|| {
        let mut simulation = bench.init(MonotonicTime::EPOCH).expect("it starts");
        simulation.run().expect("it runs");
        simulation
    });
    let units = UNITS.get();
    let stay_ns = Some(STAYS_NS.get() as f64 / units as f64);
    Outcome { cpu, units, timeouts: 0, virtual_ns: virtual_ns(&simulation), stay_ns }
}
