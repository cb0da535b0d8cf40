//! Simutant: components that pause, channels with timeouts, the network.

use std::process::ExitCode;

use simutant_bench::{
    ARRIVAL_RATE, Counter, DROP, LATENCY_MAX_NS, LATENCY_MIN_NS, Outcome, Task, Workload, exponential_ns, timed,
};
use simutant_sim_core::{
    Address, Context, Ended, Latency, LimitReached, Limits, Link, Message, Probability, Simulation, TimedOut,
    VirtualDuration, VirtualTime, fifo,
};

fn main() -> ExitCode {
    simutant_bench::run(|task| {
        Some(match task.workload {
            Workload::Hold => hold(task),
            Workload::Ping => ping(task, Probability::ZERO),
            Workload::PingLossy => ping(task, Probability::new(DROP).expect("it is one")),
            Workload::Mm1 => mm1(task),
        })
    })
}

#[derive(Debug, Clone, Hash)]
struct Ball(u64);

impl Message for Ball {
    fn kind(&self) -> &'static str {
        "BALL"
    }
}

fn hold(task: Task) -> Outcome {
    let units = Counter::default();
    let mut simulation = Simulation::<Ball>::new(task.seed);
    for component in 0..task.n {
        let units = units.clone();
        simulation.add(&component.to_string(), |mut context| async move {
            loop {
                let duration = exponential(&mut context, 1.0);
                context.pause(duration).await;
                units.add(1);
            }
        });
    }
    let (virtual_ns, cpu) = run_until(simulation, task.horizon_ns());
    Outcome { cpu, units: units.get(), timeouts: 0, virtual_ns, stay_ns: None }
}

fn ping(task: Task, drop: Probability) -> Outcome {
    let (units, timeouts) = (Counter::default(), Counter::default());
    let mut simulation = Simulation::new(task.seed);
    let (min, max) = (VirtualDuration::from_nanos(LATENCY_MIN_NS), VirtualDuration::from_nanos(LATENCY_MAX_NS));
    simulation.network(Link { latency: Latency::Uniform { min, max }, drop: drop.into(), ..Link::default() });
    let timeout = VirtualDuration::from_nanos(task.timeout_ns);
    for pair in 0..task.n {
        let names = [format!("{pair} first"), format!("{pair} second")];
        let [first, second] = names.each_ref().map(|name| simulation.address(name, 1));
        for (name, other, role) in [(&names[0], second, Role::First), (&names[1], first, Role::Second)] {
            let (units, timeouts) = (units.clone(), timeouts.clone());
            simulation.add(name, move |context| player(context, other, role, timeout, units, timeouts));
        }
    }
    let (virtual_ns, cpu) = run_until(simulation, task.horizon_ns());
    Outcome { cpu, units: units.get(), timeouts: timeouts.get(), virtual_ns, stay_ns: None }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Throws the ball first, and again if it does not come back.
    First,
    /// Throws it back.
    Second,
}

async fn player(
    context: Context<Ball>,
    other: Address,
    role: Role,
    timeout: VirtualDuration,
    units: Counter,
    timeouts: Counter,
) {
    let mut channel = context.channel_at(1);
    let mut number = 0;
    if role == Role::First {
        channel.send(other, Ball(number));
    }
    loop {
        match channel.recv_timeout(timeout).await {
            Ok(delivery) => {
                units.add(1);
                number = delivery.message.0 + 1;
                channel.send(other, Ball(number));
            }
            Err(TimedOut) => {
                timeouts.add(1);
                if role == Role::First {
                    channel.send(other, Ball(number));
                }
            }
        }
    }
}

fn mm1(task: Task) -> Outcome {
    let customers = task.units;
    let stays_ns = Counter::default();
    let mut simulation = Simulation::<Ball>::new(task.seed);
    simulation.limits(Limits { events: u64::MAX, ..Limits::default() });
    let (sender, mut receiver) = fifo::<VirtualTime>();
    simulation.add("arrivals", |mut context| async move {
        for _ in 0..customers {
            let duration = exponential(&mut context, 1.0 / ARRIVAL_RATE);
            context.pause(duration).await;
            sender.send(context.now());
        }
    });
    let sum = stays_ns.clone();
    let server = simulation.add("server", |mut context| async move {
        for _ in 0..customers {
            let arrived_at = receiver.recv().await.expect("another customer comes");
            let duration = exponential(&mut context, 1.0);
            context.pause(duration).await;
            sum.add(context.now().since(arrived_at).as_nanos());
        }
        customers
    });
    let served = server.returned();
    let (report, cpu) = timed(|| simulation.run());
    assert!(report.ended.passed(), "{}", report.ended);
    let units = *served.get().expect("the server returned");
    let stay_ns = Some(stays_ns.get() as f64 / units as f64);
    Outcome { cpu, units, timeouts: 0, virtual_ns: report.ended_at.as_nanos(), stay_ns }
}

/// Draws an exponentially distributed duration from the component's own stream.
fn exponential(context: &mut Context<Ball>, mean_s: f64) -> VirtualDuration {
    VirtualDuration::from_nanos(exponential_ns(context.random().unit(), mean_s))
}

/// Runs a simulation that has no end of its own, and returns the last instant and the time that it took.
fn run_until(mut simulation: Simulation<Ball>, horizon_ns: u64) -> (u64, std::time::Duration) {
    let horizon = VirtualTime::from_nanos(horizon_ns);
    simulation.limits(Limits { events: u64::MAX, virtual_time: horizon });
    let (report, cpu) = timed(|| simulation.run());
    let Ended::NotTerminated(LimitReached::VirtualTime { limit, .. }) = report.ended else {
        panic!("it ended before its time: {}", report.ended)
    };
    (limit.as_nanos(), cpu)
}
