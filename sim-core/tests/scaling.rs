//! What an event costs does not grow with how much there is of everything else: eight times as much takes about eight
//! times as long, not sixty-four times.
//!
//! It is the time that this thread has the processor which is measured, so other work of the machine disturbs little,
//! and the least of several runs counts.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use simutant_sim_core::network::{Bandwidth, Direction, Edge, LinkSetting, Topology};
use simutant_sim_core::{
    Address, Context, Ended, Fault, Faults, Latency, Link, Message, Network, Report, ScheduledFault, Simulation,
    TieOrder, VirtualDuration, VirtualTime,
};

#[derive(Debug, Clone, PartialEq, Hash)]
struct Packet(u32);

impl Message for Packet {
    fn kind(&self) -> &'static str {
        "PACKET"
    }

    fn bytes(&self) -> u32 {
        self.0
    }
}

/// How many times as much there is in the larger run.
const FACTOR: u32 = 8;
/// In proportion to `n log n` it would be about 11, to `n^2` 64.
const RATIO_MAX: f64 = 24.0;
const RUNS: usize = 5;

const SECOND: VirtualDuration = VirtualDuration::from_secs(1);

fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).expect("a second has 1e9 nanoseconds"))
}

/// Returns the least time that a run takes.
fn least_time(simulation: impl Fn(u32) -> Simulation<Packet>, n: u32, runs: usize) -> Duration {
    let times = (0..runs).map(|_| {
        let simulation = simulation(n);
        let start = thread_time();
        let Report { ended, .. } = simulation.run();
        let time = thread_time() - start;
        assert_eq!(ended, Ended::Passed);
        time
    });
    times.min().expect("there is a run")
}

/// Checks that eight times as much takes not much more than eight times as long.
#[track_caller]
fn check(simulation: impl Fn(u32) -> Simulation<Packet>, n: u32) {
    let few = least_time(&simulation, n, RUNS);
    let mut ratio = f64::INFINITY;
    // A run that takes short is short; one that takes long may have been disturbed.
    for _ in 0..RUNS {
        let many = least_time(&simulation, FACTOR * n, 1);
        ratio = ratio.min(many.as_secs_f64() / few.as_secs_f64());
        if ratio < RATIO_MAX {
            return;
        }
    }
    panic!("{n} take {few:?}, and {FACTOR} times as many {ratio:.1} times as long");
}

fn add<F: Future<Output = ()> + 'static>(
    simulation: &mut Simulation<Packet>,
    name: &str,
    body: impl FnOnce(Context<Packet>) -> F,
) {
    simulation.add(name, body).expecting(());
}

fn names(n: u32) -> impl Iterator<Item = String> {
    (0..n).map(|number| number.to_string())
}

#[test]
fn to_join_and_to_leave_a_group() {
    check(
        |n| {
            let mut simulation = Simulation::new(1);
            let group = simulation.group("group");
            add(&mut simulation, "only", move |context| async move {
                let mut channels: Vec<_> = (0..n).map(|_| context.channel()).collect();
                channels.iter_mut().for_each(|channel| channel.join(group));
                channels.drain(..n as usize / 2).for_each(drop);
                channels.iter_mut().for_each(|channel| channel.leave(group));
            });
            simulation
        },
        500,
    );
}

#[test]
fn to_close_a_channel_beside_groups_that_it_did_not_join() {
    check(
        |n| {
            let mut simulation = Simulation::new(1);
            let groups: Vec<_> = names(n).map(|name| simulation.group(&name)).collect();
            add(&mut simulation, "only", move |context| async move {
                let mut joined = context.channel();
                groups.iter().for_each(|&group| joined.join(group));
                (0..n).for_each(|_| drop(context.channel()));
            });
            simulation
        },
        500,
    );
}

/// Each sender sends so many packets over the link from `b` to `c`, where all wait.
fn backlog(senders: &'static [&'static str], packets: u32) -> Simulation<Packet> {
    let mut simulation = Simulation::new(1);
    // A packet takes a microsecond.
    let bandwidth = Bandwidth { bits_per_second: 8_000_000, queue_packets_max: Some(u32::MAX) };
    let link = Link { bandwidth: Some(bandwidth), ..Link::constant(SECOND) };
    simulation.network(Network {
        links: vec![LinkSetting {
            from: Some("b".to_owned()),
            to: Some("c".to_owned()),
            direction: Direction::Both,
            link,
        }],
        topology: Some(Topology::of_edges([Edge::new("a", "b"), Edge::new("b", "c")]).forwarded()),
        ..Network::constant(VirtualDuration::from_millis(1))
    });
    let to = simulation.address("c", 1);
    add(&mut simulation, "c", |_| async {});
    for name in ["a", "b"] {
        let packets = if senders.contains(&name) { packets } else { 0 };
        add(&mut simulation, name, move |context| async move {
            // Who is nearer sends later, and is there earlier.
            if name == "b" {
                context.pause(VirtualDuration::from_micros(500)).await;
            }
            let channel = context.channel();
            (0..packets).for_each(|_| channel.send(to, Packet(1)));
        });
    }
    simulation
}

#[test]
fn packets_that_wait_for_a_link() {
    check(|n| backlog(&["b"], n), 1_000);
}

#[test]
fn packets_that_wait_for_a_link_of_a_path() {
    check(|n| backlog(&["a", "b"], n), 500);
}

/// Timers that fire at once, each of which sets another one for the same instant.
fn simultaneous(n: u32) -> Simulation<Packet> {
    let mut simulation = Simulation::new(1);
    for name in names(n) {
        add(&mut simulation, &name, |context| async move {
            context.pause(SECOND).await;
            context.pause(VirtualDuration::ZERO).await;
        });
    }
    simulation
}

#[test]
fn simultaneous_events_in_a_random_order() {
    check(
        |n| {
            let mut simulation = simultaneous(n);
            simulation.tie_order(TieOrder::Random);
            simulation
        },
        500,
    );
}

#[test]
fn simultaneous_events_whose_order_is_recorded() {
    check(
        |n| {
            let mut simulation = simultaneous(n);
            simulation.record_choices();
            simulation
        },
        500,
    );
}

/// A server that has a stream to each of many clients.
fn clients(n: u32) -> Simulation<Packet> {
    let mut simulation = Simulation::new(1);
    let server = simulation.address("server", 1);
    for name in names(n) {
        simulation.add(&name, move |context| async move {
            let mut stream = context.connect(server, SECOND).await.expect("the server listens");
            // Nothing ever comes.
            stream.recv().await
        });
    }
    simulation.add("server", move |context| async move {
        let mut listener = context.listen(1);
        listener.set_backlog_max(usize::MAX);
        let mut streams = Vec::new();
        loop {
            streams.push(listener.accept().await);
        }
    });
    simulation
}

#[test]
fn what_is_waited_for_at_streams() {
    check(clients, 300);
}

#[test]
fn components_with_streams_that_crash() {
    check(
        |n| {
            let mut simulation = clients(n);
            let crash =
                |component| ScheduledFault { at: VirtualTime::ZERO + SECOND, fault: Fault::Crash { component } };
            simulation.faults(Faults { schedule: names(n).map(crash).collect(), ..Faults::default() });
            simulation
        },
        300,
    );
}

#[test]
fn listeners_that_close_beside_many_streams() {
    check(
        |n| {
            let mut simulation = clients(n);
            let idle = |context: Context<Packet>| async move { context.pause(SECOND).await };
            add(&mut simulation, "idle", idle);
            let server = simulation.address("listeners", 1);
            for name in names(n) {
                simulation.add(&format!("second {name}"), move |context| async move {
                    let mut stream = context.connect(server, SECOND).await.expect("someone listens");
                    stream.recv().await
                });
            }
            simulation.add("listeners", move |context| async move {
                let mut listener = context.listen(1);
                listener.set_backlog_max(usize::MAX);
                let mut streams = Vec::new();
                for port in 0..n {
                    streams.push(listener.accept().await);
                    drop(context.listen(2 + port as u16));
                }
                std::future::pending::<()>().await;
            });
            simulation
        },
        100,
    );
}

#[test]
fn tasks_of_a_component_that_is_paused() {
    check(
        |n| {
            let mut simulation = Simulation::new(1);
            add(&mut simulation, "only", move |mut context| async move {
                let sleep = |context: Context<Packet>| async move { context.pause(SECOND).await };
                let children: Vec<_> = (0..n).map(|_| context.spawn(sleep)).collect();
                for child in children {
                    child.await.expect("nobody cancels it");
                }
            });
            let fault = Fault::Pause { component: "only".to_owned(), duration: SECOND + SECOND };
            let pause = ScheduledFault { at: VirtualTime::from_millis(1), fault };
            simulation.faults(Faults { schedule: vec![pause], ..Faults::default() });
            simulation
        },
        2_000,
    );
}

#[test]
fn the_ports_of_one_component() {
    check(
        |n| {
            let mut simulation = Simulation::new(1);
            add(&mut simulation, "only", move |context| async move {
                let mut channels: Vec<_> = (1..=n as u16).rev().map(|port| context.channel_at(port)).collect();
                for port in 1..=n as u16 {
                    channels[0].send(context.address(port), Packet(0));
                }
                for channel in &mut channels {
                    channel.recv().await;
                }
                channels.into_iter().for_each(drop);
            });
            simulation
        },
        1_000,
    );
}

/// One component sends to all others, the last first.
fn fan_out(n: u32, links: Vec<LinkSetting>, link: Link) -> Simulation<Packet> {
    let mut simulation = Simulation::new(1);
    simulation.network(Network { link, links, ..Network::default() });
    let others: Vec<Address> = names(n).map(|name| simulation.address(&name, 1)).collect();
    for name in names(n) {
        add(&mut simulation, &name, |_| async {});
    }
    add(&mut simulation, "only", move |context| async move {
        let channel = context.channel();
        others.iter().rev().for_each(|&other| channel.send(other, Packet(1)));
    });
    simulation
}

#[test]
fn destinations_of_one_source() {
    let bandwidth = Bandwidth { bits_per_second: 1_000_000_000, queue_packets_max: None };
    let link = || Link { bandwidth: Some(bandwidth), ..Link::default() };
    check(|n| fan_out(n, Vec::new(), link()), 4_000);
}

#[test]
fn links_that_are_set_one_by_one() {
    let setting = |to| LinkSetting {
        from: Some("only".to_owned()),
        to: Some(to),
        direction: Direction::Both,
        link: Link { latency: Latency::Constant(SECOND), ..Link::default() },
    };
    check(|n| fan_out(n, names(n).map(setting).collect(), Link::default()), 500);
}
