//! turmoil: tokio's own runtime with its clock paused, one a host, driven in ticks.
//!
//! Ticks are a millisecond, as is the default, where messages travel: they are delivered at the start of a tick. Hold
//! and mm1 are tasks of one host, and send nothing, so a tick is a second there; the clock is tokio's, whose timers are
//! of whole milliseconds.
//!
//! The latency is drawn from the same range but not uniformly: turmoil has a curve of its own.

use std::cell::RefCell;
use std::net::Ipv4Addr;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

use simutant_bench::{ARRIVAL_RATE, Counter, LATENCY_MAX_NS, LATENCY_MIN_NS, Outcome, Random, Task, Workload, timed};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};
use turmoil::net::UdpSocket;
use turmoil::{Builder, Sim};

const PORT: u16 = 1;

fn main() -> ExitCode {
    simutant_bench::run(|task| match task.workload {
        Workload::Hold => Some(hold(task)),
        Workload::Ping => Some(ping(task)),
        // A lost datagram breaks its link here, for as long as it takes to repair it: loss is not independent.
        Workload::PingLossy => None,
        Workload::Mm1 => Some(mm1(task)),
    })
}

fn simulation<'a>(task: Task, tick: Duration) -> Sim<'a> {
    Builder::new()
        .rng_seed(task.seed)
        .tick_duration(tick)
        .simulation_duration(Duration::MAX)
        .min_message_latency(Duration::from_nanos(LATENCY_MIN_NS))
        .max_message_latency(Duration::from_nanos(LATENCY_MAX_NS))
        .build()
}

/// Runs to the end of the tick in which `horizon` lies, and returns the last instant and the time that it took.
fn run_until(mut simulation: Sim<'_>, horizon: Duration) -> (u64, Duration) {
    let ((), cpu) = timed(|| {
        while simulation.elapsed() < horizon {
            simulation.step().expect("no host fails");
        }
    });
    (simulation.elapsed().as_nanos() as u64, cpu)
}

fn hold(task: Task) -> Outcome {
    let horizon = Duration::from_nanos(task.horizon_ns());
    let units = Counter::default();
    let random = Rc::new(RefCell::new(Random::new(task.seed)));
    let mut simulation = simulation(task, Duration::from_secs(1));
    let counter = units.clone();
    simulation.client("host", async move {
        for _ in 0..task.n {
            let (units, random) = (counter.clone(), random.clone());
            tokio::task::spawn_local(async move {
                loop {
                    let duration = Duration::from_nanos(random.borrow_mut().exponential_ns(1.0));
                    sleep(duration).await;
                    units.add(1);
                }
            });
        }
        std::future::pending().await
    });
    let (virtual_ns, cpu) = run_until(simulation, horizon);
    Outcome { cpu, units: units.get(), timeouts: 0, virtual_ns, stay_ns: None }
}

fn ping(task: Task) -> Outcome {
    let horizon = Duration::from_nanos(task.horizon_ns());
    let limit = Duration::from_nanos(task.timeout_ns);
    let (units, timeouts) = (Counter::default(), Counter::default());
    let mut simulation = simulation(task, Duration::from_millis(1));
    for player in 0..2 * task.n {
        let (units, timeouts) = (units.clone(), timeouts.clone());
        simulation.host(player.to_string(), move || play(player, limit, units.clone(), timeouts.clone()));
    }
    let (virtual_ns, cpu) = run_until(simulation, horizon);
    Outcome { cpu, units: units.get(), timeouts: timeouts.get(), virtual_ns, stay_ns: None }
}

/// Players have numbers, and those of a pair differ in the last bit.
async fn play(player: u32, limit: Duration, units: Counter, timeouts: Counter) -> turmoil::Result {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, PORT)).await?;
    let other = (turmoil::lookup((player ^ 1).to_string()), PORT);
    if player.is_multiple_of(2) {
        socket.send_to(&0_u64.to_le_bytes(), other).await?;
    }
    let mut buffer = [0; 8];
    loop {
        match timeout(limit, socket.recv_from(&mut buffer)).await {
            Ok(received) => {
                received?;
                units.add(1);
                let number = u64::from_le_bytes(buffer) + 1;
                socket.send_to(&number.to_le_bytes(), other).await?;
            }
            Err(_) => timeouts.add(1),
        }
    }
}

fn mm1(task: Task) -> Outcome {
    let customers = task.units;
    let (served, stays_ns) = (Counter::default(), Counter::default());
    let random = Rc::new(RefCell::new(Random::new(task.seed)));
    let mut simulation = simulation(task, Duration::from_secs(1));
    let (counter, sum) = (served.clone(), stays_ns.clone());
    simulation.client("host", async move {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let shared = random.clone();
        tokio::task::spawn_local(async move {
            for _ in 0..customers {
                let duration = Duration::from_nanos(shared.borrow_mut().exponential_ns(1.0 / ARRIVAL_RATE));
                sleep(duration).await;
                sender.send(Instant::now()).expect("the server waits");
            }
        });
        while let Some(arrived_at) = receiver.recv().await {
            let duration = Duration::from_nanos(random.borrow_mut().exponential_ns(1.0));
            sleep(duration).await;
            sum.add(arrived_at.elapsed().as_nanos() as u64);
            counter.add(1);
        }
        Ok(())
    });
    let (result, cpu) = timed(|| simulation.run());
    result.expect("no host fails");
    let virtual_ns = simulation.elapsed().as_nanos() as u64;
    let stay_ns = Some(stays_ns.get() as f64 / served.get() as f64);
    Outcome { cpu, units: served.get(), timeouts: 0, virtual_ns, stay_ns }
}
