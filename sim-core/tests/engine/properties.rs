//! What holds for every program and every schedule of faults: order, separation, and that what is dead stays dead.
//!
//! Programs are drawn at random, always from the same seed. What they do is compared with a plain model, or with what
//! the trace says that had to happen.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use simutant_sim_core::network::ScheduledPartition;
use simutant_sim_core::trace::{Action, DropReason, DurableState, Packet, Trace};
use simutant_sim_core::{
    Address, Child, Context, Fault, Faults, Latency, Link, Message, Network, ScheduledFault, Simulation, TieOrder,
    VirtualDuration, VirtualTime, check_determinism, select,
};

use crate::{at_ms, ms};

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Number(u64);

impl Message for Number {
    fn kind(&self) -> &'static str {
        "NUMBER"
    }
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() }
}

// Order.

/// What a component of the model of order does next.
#[derive(Debug, Clone, Copy)]
enum Move {
    Pause(u64),
    Send,
}

/// What is seen of a run: a component made its move of this number, or the listener got the message of one.
type Seen = (VirtualTime, &'static str, u64);

const LATENCY_MS: u64 = 3;

/// The model: events sorted by time, then by when they were scheduled.
fn order_of_model(programs: &[(u64, Vec<Move>)]) -> Vec<Seen> {
    #[derive(Clone, Copy)]
    enum Event {
        Run { component: usize, position: usize },
        Arrival(u64),
    }
    let mut events = BTreeMap::new();
    let mut scheduled = 0_u64;
    let mut schedule = |events: &mut BTreeMap<_, _>, at_ms: u64, event: Event| {
        events.insert((at_ms, scheduled), event);
        scheduled += 1;
    };
    for (component, (start_ms, _)) in programs.iter().enumerate() {
        schedule(&mut events, *start_ms, Event::Run { component, position: 0 });
    }
    let mut seen = Vec::new();
    while let Some(((now_ms, _), event)) = events.pop_first() {
        let (component, mut position) = match event {
            Event::Run { component, position } => (component, position),
            Event::Arrival(number) => {
                seen.push((at_ms(now_ms), "got", number));
                continue;
            }
        };
        while let Some(&next) = programs[component].1.get(position) {
            let number = (component * 1_000 + position) as u64;
            position += 1;
            seen.push((at_ms(now_ms), "made", number));
            match next {
                Move::Send => schedule(&mut events, now_ms + LATENCY_MS, Event::Arrival(number)),
                Move::Pause(pause_ms) => {
                    schedule(&mut events, now_ms + pause_ms, Event::Run { component, position });
                    break;
                }
            }
        }
    }
    seen
}

fn order_of_engine(programs: &[(u64, Vec<Move>)]) -> Vec<Seen> {
    let seen = Rc::new(RefCell::new(Vec::new()));
    let mut simulation = Simulation::<Number>::new(1);
    simulation.network(Network::constant(ms(LATENCY_MS)));
    let to = simulation.address("listener", 1);
    for (component, (start_ms, moves)) in programs.iter().cloned().enumerate() {
        let seen = seen.clone();
        let body = move |context: Context<Number>| async move {
            let channel = context.channel();
            for (position, next) in moves.into_iter().enumerate() {
                let number = (component * 1_000 + position) as u64;
                seen.borrow_mut().push((context.now(), "made", number));
                match next {
                    Move::Send => channel.send(to, Number(number)),
                    Move::Pause(pause_ms) => context.pause(ms(pause_ms)).await,
                }
            }
        };
        simulation.add(&component.to_string(), body).starting_at(at_ms(start_ms));
    }
    let got = seen.clone();
    // It starts after the others, but opens its channel before anything can arrive.
    simulation.add("listener", move |context| async move {
        let mut channel = context.channel_at(1);
        loop {
            let number = channel.recv().await.message.0;
            got.borrow_mut().push((context.now(), "got", number));
        }
    });
    let report = simulation.run();
    assert!(report.ended.passed(), "{}", report.ended);
    seen.take()
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    prop::collection::vec(prop_oneof![2 => (0..4_u64).prop_map(Move::Pause), 1 => Just(Move::Send)], 0..20)
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn events_happen_by_time_and_those_of_one_time_as_they_were_scheduled(
        programs in prop::collection::vec((0..3_u64, moves()), 0..8),
    ) {
        let seen = order_of_engine(&programs);
        prop_assert!(seen.is_sorted_by_key(|(at, ..)| *at), "time runs back");
        prop_assert_eq!(seen, order_of_model(&programs));
    }
}

// Separation.

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// A partition: from when, for how long, and the number of each component's group; 0 is that of the rest.
type Cut = (u64, u64, [usize; 4]);

fn scheduled_partition(&(from_ms, for_ms, group_of): &Cut) -> ScheduledPartition {
    let members =
        |number| NAMES.into_iter().zip(group_of).filter(move |&(_, of)| of == number).map(|(name, _)| name.to_owned());
    let groups = (1..3).map(|number| members(number).collect()).filter(|group: &Vec<String>| !group.is_empty());
    ScheduledPartition { from: at_ms(from_ms), until: Some(at_ms(from_ms + for_ms)), groups: groups.collect() }
}

fn is_separated(cuts: &[Cut], packet: &Packet, at: VirtualTime) -> bool {
    let index = |name: &str| NAMES.iter().position(|&other| other == name).expect("it is one of them");
    let (source, destination) = (index(&packet.source.component), index(&packet.destination.component));
    let separates = |&&(from_ms, for_ms, group_of): &&Cut| {
        (at_ms(from_ms)..at_ms(from_ms + for_ms)).contains(&at) && group_of[source] != group_of[destination]
    };
    cuts.iter().any(|cut| separates(&cut))
}

/// Runs components that send at these times to these others, under these partitions.
fn trace_of_sends(cuts: &[Cut], sends: &[(u64, usize, usize)], latency: Latency) -> Trace {
    let mut simulation = Simulation::<Number>::new(1);
    let partitions = cuts.iter().map(scheduled_partition).collect();
    simulation.network(Network { link: Link { latency, ..Link::default() }, partitions, ..Network::default() });
    simulation.record_trace();
    let addresses = NAMES.map(|name| simulation.address(name, 1));
    for (index, name) in NAMES.into_iter().enumerate() {
        let mut mine: Vec<_> = sends.iter().filter(|(_, source, _)| *source == index).copied().collect();
        mine.sort_unstable();
        simulation.add(name, move |context| async move {
            let mut channel = context.channel_at(1);
            for (at, _, destination) in mine {
                context.pause(at_ms(at).since(context.now())).await;
                channel.send(addresses[destination], Number(at));
            }
            loop {
                channel.recv().await;
            }
        });
    }
    simulation.run().trace.expect("it was asked for")
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn a_packet_is_lost_exactly_if_a_partition_separates_its_ends_when_it_is_sent_or_when_it_arrives(
        cuts in prop::collection::vec(
            (0..40_u64, 1..20_u64, prop::array::uniform4(0..3_usize)).prop_filter("a group", |cut| cut.2 != [0; 4]),
            1..4,
        ),
        sends in prop::collection::vec((0..60_u64, 0..4_usize, 0..4_usize), 1..60),
        latency in prop_oneof![
            (0..20_u64).prop_map(|latency| Latency::Constant(ms(latency))),
            (0..20_u64).prop_map(|max| Latency::Uniform { min: VirtualDuration::ZERO, max: ms(max) }),
        ],
    ) {
        let trace = trace_of_sends(&cuts, &sends, latency);
        let mut unsettled = BTreeSet::new();
        for event in &trace {
            match &event.action {
                Action::Sent(packet) => {
                    unsettled.insert(packet.number);
                    // What is separated now is lost now.
                    let is_lost_now = trace.iter().any(|other| {
                        let Action::Dropped { packet: lost, .. } = &other.action else { return false };
                        lost.number == packet.number && other.at == event.at
                    });
                    prop_assert!(is_lost_now || !is_separated(&cuts, packet, event.at), "{:?}", event);
                }
                Action::Delivered(packet) => {
                    prop_assert!(unsettled.remove(&packet.number));
                    prop_assert!(!is_separated(&cuts, packet, event.at), "{:?}", event);
                }
                Action::Dropped { packet, reason } => {
                    prop_assert!(unsettled.remove(&packet.number));
                    prop_assert_eq!(*reason, DropReason::Partition);
                    prop_assert!(is_separated(&cuts, packet, event.at), "{:?}", event);
                }
                _ => {}
            }
        }
        prop_assert!(unsettled.is_empty());
    }
}

// What is dead.

/// What a task does next.
#[derive(Debug, Clone)]
enum Step {
    Pause(u64),
    Receive {
        timeout_ms: u64,
    },
    /// Receives unless a pause is over first.
    Race {
        pause_ms: u64,
    },
    Send {
        to: usize,
    },
    Spawn(Vec<Step>),
    /// Cancels the child task that was spawned last of those that are left.
    Cancel,
    /// Waits for it.
    Join,
    /// Lets go of it.
    Forget,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let leaf = prop_oneof![
        3 => (0..60_u64).prop_map(Step::Pause),
        3 => (0..60_u64).prop_map(|timeout_ms| Step::Receive { timeout_ms }),
        2 => (0..60_u64).prop_map(|pause_ms| Step::Race { pause_ms }),
        3 => (0..3_usize).prop_map(|to| Step::Send { to }),
        2 => Just(Step::Cancel),
        1 => Just(Step::Join),
        1 => Just(Step::Forget),
    ];
    let step = leaf.prop_recursive(3, 40, 6, |inner| prop::collection::vec(inner, 1..6).prop_map(Step::Spawn));
    prop::collection::vec(step, 0..10)
}

fn fault() -> impl Strategy<Value = ScheduledFault> {
    let component = (0..3_usize).prop_map(|index| NAMES[index].to_owned());
    let kept = prop_oneof![Just(DurableState::Kept), Just(DurableState::Lost)];
    (0..150_u64, 0..3_u8, 0..40_u64, component, kept).prop_map(|(at, kind, for_ms, component, durable_state)| {
        let fault = match kind {
            0 => Fault::Crash { component },
            1 => Fault::Restart { component, durable_state },
            _ => Fault::Pause { component, duration: ms(for_ms) },
        };
        ScheduledFault { at: at_ms(at), fault }
    })
}

/// What the tasks of a run share.
struct World {
    peers: [Address; 3],
    tasks: Cell<u64>,
}

impl World {
    /// Returns a number that no other task of the run has.
    fn new_task(&self) -> u64 {
        self.tasks.set(self.tasks.get() + 1);
        self.tasks.get()
    }
}

/// Does what a program says. Before each thing, a line of the trace begins with the task's number.
fn run_steps(
    mut context: Context<Number>,
    steps: Vec<Step>,
    task: u64,
    world: Rc<World>,
) -> Pin<Box<dyn Future<Output = ()>>> {
    Box::pin(async move {
        // A child task cannot have the port of the body.
        let mut channel = context.try_channel_at(1).unwrap_or_else(|_| context.channel());
        let mut children: Vec<(u64, Child<()>)> = Vec::new();
        for step in steps {
            context.note(|| format!("{task} does {step:?}"));
            match step {
                Step::Pause(pause_ms) => context.pause(ms(pause_ms)).await,
                Step::Receive { timeout_ms } => {
                    let _message_or_timeout = channel.recv_timeout(ms(timeout_ms)).await;
                }
                Step::Race { pause_ms } => {
                    select((channel.recv(), context.sleep(ms(pause_ms)))).await;
                }
                Step::Send { to } => channel.send(world.peers[to], Number(task)),
                Step::Spawn(steps) => {
                    let (child, world) = (world.new_task(), world.clone());
                    children.push((child, context.spawn(|context| run_steps(context, steps, child, world))));
                }
                Step::Cancel => {
                    if let Some((child, handle)) = children.pop() {
                        context.note(|| format!("{task} cancels {child}"));
                        handle.cancel();
                    }
                }
                Step::Join => {
                    if let Some((_, handle)) = children.pop() {
                        handle.await.expect("nobody cancels it");
                    }
                }
                Step::Forget => drop(children.pop()),
            }
        }
        context.note(|| format!("{task} ends"));
    })
}

fn simulation_of_programs(
    programs: &[(u64, Vec<Step>); 3],
    schedule: &[ScheduledFault],
    tie_order: TieOrder,
) -> Simulation<Number> {
    let mut simulation = Simulation::<Number>::new(1);
    simulation.tie_order(tie_order);
    simulation.network(Network::constant(ms(7)));
    simulation.faults(Faults { schedule: schedule.to_vec(), ..Faults::default() });
    let peers = [0, 1, 2].map(|index| simulation.address(NAMES[index], 1));
    let world = Rc::new(World { peers, tasks: Cell::new(0) });
    for (name, (start_ms, steps)) in NAMES.into_iter().zip(programs.iter().cloned()) {
        let world = world.clone();
        let body = move |context| run_steps(context, steps.clone(), world.new_task(), world.clone());
        simulation.add_restartable(name, body).starting_at(at_ms(start_ms));
    }
    simulation
}

/// What a trace says of a component so far.
#[derive(Debug, Default)]
struct Life {
    state: State,
    is_paused: bool,
    /// Its tasks that have done something.
    tasks: BTreeSet<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    ToStart,
    Up,
    Down,
    Over,
}

/// Checks that only what lives does something.
fn check_lives(trace: &Trace) -> Result<(), TestCaseError> {
    let mut lives: BTreeMap<&str, Life> = NAMES.into_iter().map(|name| (name, Life::default())).collect();
    let mut dead = BTreeSet::new();
    for event in trace {
        let (component, may_be_in, may_be_paused): (_, &[State], _) = match &event.action {
            Action::Started { component } => (component, &[State::ToStart], true),
            Action::Restarted { component, .. } => (component, &[State::Down], false),
            Action::Crashed { component } => (component, &[State::ToStart, State::Up], true),
            Action::Paused { component, .. } => (component, &[State::ToStart, State::Up], true),
            Action::Resumed { component } => (component, &[State::ToStart, State::Up], true),
            Action::Delivered(packet) => (&packet.destination.component, &[State::Up], true),
            Action::Returned { component, .. } | Action::Noted { component, .. } => (component, &[State::Up], false),
            Action::Sent(packet) => (&packet.source.component, &[State::Up], false),
            Action::Received { destination, .. } => (&destination.component, &[State::Up], false),
            Action::TimedOut { channel, .. } => (&channel.component, &[State::Up], false),
            Action::Unreachable(_) | Action::Dropped { .. } => continue,
            other => return Err(TestCaseError::fail(format!("{other:?}"))),
        };
        let life = lives.get_mut(component.as_str()).expect("every component is there");
        prop_assert!(may_be_in.contains(&life.state), "{:?} while {:?}", event, life.state);
        prop_assert!(may_be_paused || !life.is_paused, "{:?} while it is paused", event);
        match &event.action {
            Action::Started { .. } | Action::Restarted { .. } => life.state = State::Up,
            Action::Crashed { .. } => {
                life.state = State::Down;
                life.is_paused = false;
                dead.append(&mut life.tasks);
            }
            Action::Returned { .. } => {
                life.state = State::Over;
                dead.append(&mut life.tasks);
            }
            Action::Paused { .. } => life.is_paused = true,
            Action::Resumed { .. } => life.is_paused = false,
            Action::Noted { text, .. } => {
                let mut words = text.split_whitespace();
                let task: u64 = words.next().and_then(|word| word.parse().ok()).expect("the line begins with a number");
                prop_assert!(!dead.contains(&task), "{:?} is dead", event);
                life.tasks.insert(task);
                if words.next() == Some("cancels") {
                    dead.insert(words.next().and_then(|word| word.parse().ok()).expect("it says whom"));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(1_000))]

    #[test]
    fn nothing_of_a_task_happens_after_a_crash_a_return_or_its_cancellation_nor_during_a_pause(
        programs in prop::array::uniform3((0..30_u64, steps())),
        schedule in prop::collection::vec(fault(), 0..12),
        tie_order in prop_oneof![Just(TieOrder::Scheduling), Just(TieOrder::Random)],
    ) {
        let report = check_determinism(|| simulation_of_programs(&programs, &schedule, tie_order))
            .map_err(|divergence| TestCaseError::fail(divergence.to_string()))?;
        prop_assert!(report.ended.passed(), "{}", report.ended);
        let trace = report.trace.expect("check_determinism asks for it");
        check_lives(&trace)?;
        // Every event but a fault or a start that has no effect leaves a line, so a dead timer would be seen at the
        // end.
        let last_line = trace.last().map(|event| event.at).unwrap_or_default();
        let starts = programs.iter().map(|(start_ms, _)| at_ms(*start_ms));
        let last = schedule.iter().map(|fault| fault.at).chain(starts).fold(last_line, VirtualTime::max);
        prop_assert_eq!(report.ended_at, last);
    }
}
