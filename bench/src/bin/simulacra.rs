//! simulacra: one task a node, messages over the links of a topology.
//!
//! Links between tasks have one latency each, so ping's datagrams take a millisecond, always, and no number is drawn
//! for them. A task's messages are lost by partitions and failed links only: there is no ping-lossy.

use std::cell::RefCell;
use std::process::ExitCode;
use std::rc::Rc;

use simulacra::{Duration, NodeContext, NodeId, TaskSimBuilder, TopologyBuilder};
use simutant_bench::{ARRIVAL_RATE, Counter, Outcome, Random, Task, Workload, timed};

fn main() -> ExitCode {
    simutant_bench::run(|task| match task.workload {
        Workload::Hold => Some(hold(task)),
        Workload::Ping => Some(ping(task)),
        Workload::PingLossy => None,
        Workload::Mm1 => Some(mm1(task)),
    })
}

fn hold(task: Task) -> Outcome {
    let horizon_ns = task.horizon_ns();
    let units = Counter::default();
    let random = Rc::new(RefCell::new(Random::new(task.seed)));
    let topology = TopologyBuilder::new(task.n as usize).build();
    let simulation = TaskSimBuilder::<()>::new(topology, task.seed).build(|context| {
        let (units, random) = (units.clone(), random.clone());
        async move {
            loop {
                let duration = Duration::from_nanos(random.borrow_mut().exponential_ns(1.0));
                context.sleep(duration).await;
                units.add(1);
            }
        }
    });
    let (stats, cpu) = timed(|| simulation.run_until(|time| time.as_nanos() <= horizon_ns));
    Outcome { cpu, units: units.get(), timeouts: 0, virtual_ns: stats.final_time.as_nanos(), stay_ns: None }
}

fn ping(task: Task) -> Outcome {
    let horizon_ns = task.horizon_ns();
    let timeout = Duration::from_nanos(task.timeout_ns);
    let (units, timeouts) = (Counter::default(), Counter::default());
    let mut topology = TopologyBuilder::new(2 * task.n as usize);
    for pair in 0..task.n {
        topology = topology.link(2 * pair, 2 * pair + 1, Duration::from_millis(1));
    }
    let simulation = TaskSimBuilder::<u64>::new(topology.build(), task.seed).build(|context| {
        let (units, timeouts) = (units.clone(), timeouts.clone());
        player(context, timeout, units, timeouts)
    });
    let (stats, cpu) = timed(|| simulation.run_until(|time| time.as_nanos() <= horizon_ns));
    let virtual_ns = stats.final_time.as_nanos();
    Outcome { cpu, units: units.get(), timeouts: timeouts.get(), virtual_ns, stay_ns: None }
}

/// Nodes have numbers, and those of a pair differ in the last bit.
async fn player(context: NodeContext<u64>, timeout: Duration, units: Counter, timeouts: Counter) {
    let other = NodeId(context.id().as_u32() ^ 1);
    if context.id().as_u32().is_multiple_of(2) {
        context.send(other, 0).await;
    }
    loop {
        match context.recv_timeout(timeout).await {
            Some(envelope) => {
                units.add(1);
                context.send(other, envelope.payload + 1).await;
            }
            None => timeouts.add(1),
        }
    }
}

/// The queue is the server's inbox, behind a link that takes no time.
fn mm1(task: Task) -> Outcome {
    let customers = task.units;
    let (served, stays_ns) = (Counter::default(), Counter::default());
    let random = Rc::new(RefCell::new(Random::new(task.seed)));
    let server = NodeId(1);
    let topology = TopologyBuilder::new(2).link(0_u32, server, Duration::ZERO).build();
    let simulation = TaskSimBuilder::<()>::new(topology, task.seed).build(|context| {
        let (served, stays_ns, random) = (served.clone(), stays_ns.clone(), random.clone());
        async move {
            for _ in 0..customers {
                if context.id() == server {
                    let arrived_at = context.recv().await.sent_at;
                    let duration = Duration::from_nanos(random.borrow_mut().exponential_ns(1.0));
                    context.sleep(duration).await;
                    stays_ns.add(context.now().as_nanos() - arrived_at.as_nanos());
                    served.add(1);
                } else {
                    let duration = Duration::from_nanos(random.borrow_mut().exponential_ns(1.0 / ARRIVAL_RATE));
                    context.sleep(duration).await;
                    context.send(server, ()).await;
                }
            }
        }
    });
    let (stats, cpu) = timed(|| simulation.run());
    let stay_ns = Some(stays_ns.get() as f64 / served.get() as f64);
    Outcome { cpu, units: served.get(), timeouts: 0, virtual_ns: stats.final_time.as_nanos(), stay_ns }
}
