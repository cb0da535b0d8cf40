//! madsim: tokio's interface on a simulated runtime, built with `--cfg madsim`.
//!
//! No sleep is shorter than a millisecond, and a send sleeps a little before the network's latency begins, which is one
//! of whole milliseconds too: a datagram takes about 3 ms here.

use std::process::ExitCode;

fn main() -> ExitCode {
    simutant_bench::run(models::model)
}

#[cfg(not(madsim))]
mod models {
    use simutant_bench::{Outcome, Task};

    pub(crate) fn model(_: Task) -> Option<Outcome> {
        panic!("without --cfg madsim this is no simulation")
    }
}

#[cfg(madsim)]
mod models {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    use madsim::net::Endpoint;
    use madsim::runtime::Runtime;
    use madsim::time::{Instant, sleep, timeout};
    use madsim::{Config, task};
    use simutant_bench::{ARRIVAL_RATE, DROP, LATENCY_MAX_NS, LATENCY_MIN_NS, Outcome, Random, Task, Workload, timed};
    use tokio::sync::mpsc;

    const TAG: u64 = 1;

    pub(crate) fn model(task: Task) -> Option<Outcome> {
        Some(match task.workload {
            Workload::Hold => hold(task),
            Workload::Ping => ping(task, 0.0),
            Workload::PingLossy => ping(task, DROP),
            Workload::Mm1 => mm1(task),
        })
    }

    /// Counts on one thread, with the type that `Send` futures ask for.
    #[derive(Clone, Default)]
    struct Count(Arc<AtomicU64>);

    impl Count {
        fn add(&self, count: u64) {
            self.0.store(self.get() + count, Ordering::Relaxed);
        }

        fn get(&self) -> u64 {
            self.0.load(Ordering::Relaxed)
        }
    }

    /// Tasks are `Send`, so each has a stream of its own instead of a lock.
    fn hold(task: Task) -> Outcome {
        let horizon = Duration::from_nanos(task.horizon_ns());
        let units = Count::default();
        let runtime = Runtime::with_seed_and_config(task.seed, Config::default());
        let (elapsed, cpu) = timed(|| {
            runtime.block_on(async {
                let start = Instant::now();
                for component in 0..task.n {
                    let units = units.clone();
                    let mut random = Random::stream(task.seed, component.into());
                    task::spawn(async move {
                        loop {
                            sleep(Duration::from_nanos(random.exponential_ns(1.0))).await;
                            units.add(1);
                        }
                    });
                }
                sleep(horizon).await;
                start.elapsed()
            })
        });
        Outcome { cpu, units: units.get(), timeouts: 0, virtual_ns: elapsed.as_nanos() as u64, stay_ns: None }
    }

    fn ping(task: Task, drop: f64) -> Outcome {
        let horizon = Duration::from_nanos(task.horizon_ns());
        let limit = Duration::from_nanos(task.timeout_ns);
        let (units, timeouts) = (Count::default(), Count::default());
        let mut config = Config::default();
        config.net.packet_loss_rate = drop;
        config.net.send_latency = Duration::from_nanos(LATENCY_MIN_NS)..Duration::from_nanos(LATENCY_MAX_NS + 1);
        let runtime = Runtime::with_seed_and_config(task.seed, config);
        let (elapsed, cpu) = timed(|| {
            for player in 0..2 * task.n {
                let node = runtime.create_node().ip(address(player).into()).build();
                node.spawn(play(player, limit, units.clone(), timeouts.clone()));
            }
            runtime.block_on(async {
                let start = Instant::now();
                sleep(horizon).await;
                start.elapsed()
            })
        });
        let virtual_ns = elapsed.as_nanos() as u64;
        Outcome { cpu, units: units.get(), timeouts: timeouts.get(), virtual_ns, stay_ns: None }
    }

    fn address(player: u32) -> std::net::Ipv4Addr {
        std::net::Ipv4Addr::from_bits(0x0A00_0001 + player)
    }

    /// Players have numbers, and those of a pair differ in the last bit.
    async fn play(player: u32, limit: Duration, units: Count, timeouts: Count) {
        let is_first = player.is_multiple_of(2);
        let endpoint = Endpoint::bind((address(player), 1)).await.expect("the port is free");
        let other = std::net::SocketAddr::from((address(player ^ 1), 1));
        let mut number = 0_u64;
        if is_first {
            endpoint.send_to(other, TAG, &number.to_le_bytes()).await.expect("it is sent");
        }
        let mut buffer = [0; 8];
        loop {
            match timeout(limit, endpoint.recv_from(TAG, &mut buffer)).await {
                Ok(received) => {
                    received.expect("it is received");
                    units.add(1);
                    number = u64::from_le_bytes(buffer) + 1;
                }
                Err(_) => {
                    timeouts.add(1);
                    if !is_first {
                        continue;
                    }
                }
            }
            endpoint.send_to(other, TAG, &number.to_le_bytes()).await.expect("it is sent");
        }
    }

    fn mm1(task: Task) -> Outcome {
        let customers = task.units;
        let (served, stays_ns) = (Count::default(), Count::default());
        let runtime = Runtime::with_seed_and_config(task.seed, Config::default());
        let (elapsed, cpu) = timed(|| {
            runtime.block_on(async {
                let start = Instant::now();
                let (sender, mut receiver) = mpsc::unbounded_channel();
                let mut random = Random::stream(task.seed, 0);
                task::spawn(async move {
                    for _ in 0..customers {
                        sleep(Duration::from_nanos(random.exponential_ns(1.0 / ARRIVAL_RATE))).await;
                        sender.send(Instant::now()).expect("the server waits");
                    }
                });
                let mut random = Random::stream(task.seed, 1);
                while let Some(arrived_at) = receiver.recv().await {
                    sleep(Duration::from_nanos(random.exponential_ns(1.0))).await;
                    stays_ns.add(arrived_at.elapsed().as_nanos() as u64);
                    served.add(1);
                }
                start.elapsed()
            })
        });
        let stay_ns = Some(stays_ns.get() as f64 / served.get() as f64);
        Outcome { cpu, units: served.get(), timeouts: 0, virtual_ns: elapsed.as_nanos() as u64, stay_ns }
    }
}
