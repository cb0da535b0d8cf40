//! Choices: a recording replays a run, and one choice that is made otherwise changes nothing else.

use simutant_sim_core::network::{Direction, Edge, LinkSetting, Reorder, Topology};
use simutant_sim_core::trace::{Action, DropReason, Trace};
use simutant_sim_core::{
    Address, Choice, ChoiceKind, ChoiceSource, Context, Latency, Link, Message, Network, Others, Probability, Random,
    RecordedChoice, Replay, Report, Simulation, TieOrder, VirtualTime,
};

use crate::ms;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Number(u64);

impl Message for Number {
    fn kind(&self) -> &'static str {
        "NUMBER"
    }

    fn corrupted(&self, random: &mut Random) -> Option<Self> {
        Some(Self(self.0 ^ (1 << random.uniform(0..64))))
    }
}

const PACKETS: u64 = 20;

fn probability(value: f64) -> Probability {
    Probability::new(value).expect("it is one")
}

/// A link on which everything can happen.
fn wild() -> Link {
    Link {
        latency: Latency::Uniform { min: ms(1), max: ms(30) },
        drop: probability(0.2).into(),
        duplicate: probability(0.3),
        reorder: Some(Reorder { probability: probability(0.3), hold: Latency::Uniform { min: ms(20), max: ms(80) } }),
        corrupt: probability(0.3),
        ..Link::default()
    }
}

/// Sends numbers that it draws, also in a child task.
async fn talker(mut context: Context<Number>, to: Address) {
    let child = context.spawn(move |mut context| async move {
        let number = context.random().bits();
        context.channel().send(to, Number(number));
    });
    let channel = context.channel();
    for _ in 1..PACKETS {
        let number = context.random().bits();
        channel.send(to, Number(number));
        context.pause(ms(10)).await;
    }
    child.await.expect("nobody cancels it");
}

async fn listener(context: Context<Number>) -> Vec<u64> {
    let mut channel = context.channel_at(1);
    let mut numbers = Vec::new();
    while let Ok(delivery) = channel.recv_timeout(ms(1_000)).await {
        numbers.push(delivery.message.0);
    }
    numbers
}

fn simulation(seed: u64, link: Link) -> Simulation<Number> {
    let mut simulation = Simulation::new(seed);
    simulation.network(link).tie_order(TieOrder::Random).record_trace().record_choices();
    let to = simulation.address("listener", 1);
    simulation.add("listener", listener);
    for name in ["a", "b"] {
        simulation.add(name, move |context| talker(context, to));
    }
    simulation
}

fn replayed(seed: u64, link: Link, source: impl ChoiceSource) -> Report {
    let mut simulation = simulation(seed, link);
    simulation.choices(source);
    simulation.run()
}

fn choices(report: &Report) -> &[RecordedChoice] {
    report.choices.as_deref().expect("they were asked for")
}

fn trace(report: &Report) -> &Trace {
    report.trace.as_ref().expect("it was asked for")
}

#[test]
fn recording_changes_nothing() {
    let recorded = simulation(7, wild()).run();
    let mut plain = Simulation::new(7);
    plain.network(wild()).tie_order(TieOrder::Random);
    let to = plain.address("listener", 1);
    plain.add("listener", listener);
    for name in ["a", "b"] {
        plain.add(name, move |context| talker(context, to));
    }
    let plain = plain.run();
    assert_eq!((plain.digest, plain.events, plain.ended_at), (recorded.digest, recorded.events, recorded.ended_at));
    assert_eq!(plain.choices, None);
}

#[test]
fn a_recording_has_every_kind_of_choice_and_counts_each_from_zero() {
    use ChoiceKind::{Bits, CopyCorrupt, CopyLatency, CopyReorder, Corrupt, Drop, Duplicate, Latency, Order, Reorder};
    let report = simulation(7, wild()).run();
    let of = |stream: &str, kind: ChoiceKind| -> Vec<u64> {
        let is_meant = |choice: &&RecordedChoice| choice.stream == stream && choice.kind == kind;
        choices(&report).iter().filter(is_meant).map(|choice| choice.index).collect()
    };
    let up_to = |count: u64| (0..count).collect::<Vec<_>>();
    for kind in [Drop, Duplicate, Corrupt, Reorder, Latency] {
        assert_eq!(of("network a->listener", kind), up_to(PACKETS), "{kind:?}");
    }
    let copies = of("network a->listener", CopyLatency).len() as u64;
    assert!(copies > 0 && copies < PACKETS, "{copies}");
    for kind in [CopyCorrupt, CopyReorder, CopyLatency] {
        assert_eq!(of("network a->listener", kind), up_to(copies), "{kind:?}");
    }
    assert_eq!(of("component b", Bits), up_to(PACKETS - 1));
    assert_eq!(of("component b/child/0", Bits), up_to(1));
    let orders = of("order", Order);
    assert_eq!(orders, up_to(orders.len() as u64));
    assert!(!orders.is_empty());
}

#[test]
fn a_recording_replays_to_the_same_trace_under_another_seed() {
    let report = simulation(7, wild()).run();
    let other = simulation(8, wild()).run();
    assert_ne!(trace(&other), trace(&report));
    let again = replayed(8, wild(), Replay::new(choices(&report).to_vec()));
    assert_eq!(trace(&again), trace(&report));
    assert_eq!(again.ended, report.ended);
    assert_eq!(choices(&again), choices(&report));
}

/// Returns the fates of all packets: how often each left and arrived.
fn fates(report: &Report, from: &str) -> Vec<(u64, Vec<VirtualTime>)> {
    let mut fates: Vec<(u64, Vec<VirtualTime>)> = Vec::new();
    for event in trace(report) {
        match &event.action {
            Action::Sent(packet) if packet.source.component == from => fates.push((packet.number, Vec::new())),
            Action::Delivered(packet) if packet.source.component == from => {
                let fate = fates.iter_mut().find(|(number, _)| *number == packet.number);
                fate.expect("it was sent").1.push(event.at);
            }
            _ => {}
        }
    }
    fates
}

#[test]
fn one_choice_that_is_made_otherwise_changes_one_packet() {
    let report = simulation(7, wild()).run();
    let lost = choices(&report).iter().find(|choice| choice.kind == ChoiceKind::Drop && choice.value == 1);
    let lost = lost.expect("some packet is lost").clone();
    let from = lost.stream.strip_prefix("network ").and_then(|rest| rest.strip_suffix("->listener")).expect("its form");
    let other_from = if from == "a" { "b" } else { "a" };

    let arrived = RecordedChoice { value: 0, ..lost.clone() };
    let changed = replayed(7, wild(), Replay::new([arrived]));
    assert_eq!(fates(&changed, other_from), fates(&report, other_from));
    let (before, after) = (fates(&report, from), fates(&changed, from));
    for (index, (before, after)) in (0..).zip(before.iter().zip(&after)) {
        if index == lost.index {
            assert_eq!((before.0, before.1.len()), (after.0, 0));
            assert!(!after.1.is_empty(), "packet {index} arrives");
        } else {
            assert_eq!(before, after, "packet {index}");
        }
    }
    // What was decided about the packet beside its loss was decided all the same.
    assert_eq!(
        choices(&changed).len() - count(&changed, ChoiceKind::Order),
        choices(&report).len() - count(&report, ChoiceKind::Order)
    );
}

fn count(report: &Report, kind: ChoiceKind) -> usize {
    choices(report).iter().filter(|choice| choice.kind == kind).count()
}

#[test]
fn what_is_not_open_is_not_asked() {
    #[track_caller]
    fn check(link: Link, kinds: &[ChoiceKind]) {
        let report = simulation(7, link).run();
        let mut found: Vec<ChoiceKind> = choices(&report).iter().map(|choice| choice.kind).collect();
        found.sort_unstable();
        found.dedup();
        found.retain(|kind| !matches!(kind, ChoiceKind::Bits | ChoiceKind::Order));
        assert_eq!(found, kinds);
    }
    let half = probability(0.5);
    check(Link::default(), &[]);
    check(Link { drop: Probability::ONE.into(), ..Link::default() }, &[]);
    check(Link { drop: half.into(), ..Link::default() }, &[ChoiceKind::Drop]);
    check(Link { duplicate: half, ..Link::default() }, &[ChoiceKind::Duplicate]);
    check(Link { duplicate: Probability::ONE, ..Link::default() }, &[]);
    check(
        Link { duplicate: Probability::ONE, corrupt: half, ..Link::default() },
        &[ChoiceKind::Corrupt, ChoiceKind::CopyCorrupt, ChoiceKind::Corruption],
    );
    let latency = Latency::Uniform { min: ms(1), max: ms(2) };
    check(Link { latency, ..Link::default() }, &[ChoiceKind::Latency]);
    check(Link { jitter: Some(Latency::Constant(ms(1))), ..Link::default() }, &[]);
    let bursts = |good_to_bad, drop_bad| {
        let bursts = serde_json::json!({"good_to_bad": good_to_bad, "bad_to_good": 0.5, "drop_bad": drop_bad});
        serde_json::from_value(serde_json::json!({ "gilbert_elliott": bursts })).expect("a loss")
    };
    check(Link { drop: bursts(0.1, 1.0), ..Link::default() }, &[ChoiceKind::Drop]);
    check(Link { drop: bursts(0.0, 1.0), ..Link::default() }, &[]);
    check(Link { drop: bursts(0.1, 0.0), ..Link::default() }, &[]);
}

#[test]
fn a_loss_cannot_be_imposed_on_a_link_that_loses_nothing() {
    let lost = RecordedChoice { stream: "network a->listener".to_owned(), index: 3, kind: ChoiceKind::Drop, value: 1 };
    let dropped = |link: Link| {
        let report = replayed(7, link, Replay::new([lost.clone()]).others(Others::Simplest));
        let is_loss = |action: &Action| matches!(action, Action::Dropped { reason: DropReason::Loss, .. });
        trace(&report).iter().filter(|event| is_loss(&event.action)).count()
    };
    assert_eq!(dropped(Link::default()), 0);
    assert_eq!(dropped(Link { drop: probability(0.9).into(), ..Link::default() }), 1);
    assert_eq!(dropped(Link { drop: Probability::ONE.into(), ..Link::default() }), 2 * PACKETS as usize);
}

#[test]
fn a_loss_is_imposed_on_the_first_link_of_a_path_that_loses_anything() {
    let network = |drop: f64| -> Network {
        let topology = Topology::of_edges([Edge::new("a", "middle"), Edge::new("middle", "listener")]).forwarded();
        let link = Link { drop: probability(drop).into(), ..Link::default() };
        let (from, to) = (Some("middle".to_owned()), Some("listener".to_owned()));
        let lossy = LinkSetting { from, to, direction: Direction::Both, link };
        Network { links: vec![lossy], topology: Some(topology), ..Network::default() }
    };
    let delivered = |drop, value| {
        let mut simulation = Simulation::new(7);
        simulation.network(network(drop));
        simulation.record_trace().record_choices();
        let lost = RecordedChoice { stream: "network a->listener".to_owned(), index: 0, kind: ChoiceKind::Drop, value };
        simulation.choices(Replay::new([lost]));
        let to = simulation.address("listener", 1);
        simulation.add("a", move |context| async move { context.channel().send(to, Number(1)) });
        simulation.add("middle", |_| async {});
        simulation.add("listener", listener);
        let report = simulation.run();
        (count(&report, ChoiceKind::Drop), fates(&report, "a")[0].1.len())
    };
    assert_eq!(delivered(0.5, 0), (1, 1));
    assert_eq!(delivered(0.5, 1), (1, 0));
    assert_eq!(delivered(0.0, 1), (0, 1));
    assert_eq!(delivered(1.0, 0), (0, 0));
}

/// Adds components that start at the same time and say so; returns what they said.
fn order_of_starts(source: impl ChoiceSource) -> Vec<u32> {
    let said = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let mut simulation = Simulation::<Number>::new(7);
    for number in 0..4_u32 {
        let said = said.clone();
        simulation.add(&format!("c{number}"), move |_| async move { said.borrow_mut().push(number) });
    }
    simulation.choices(source);
    simulation.run();
    said.take()
}

#[test]
fn the_order_of_simultaneous_events_can_be_chosen() {
    /// Takes the last of the simultaneous events, whatever the seed says.
    struct Last;

    impl ChoiceSource for Last {
        fn choose(&mut self, choice: &Choice<'_>) -> u64 {
            assert_eq!((choice.stream, choice.kind, choice.seeded), ("order", ChoiceKind::Order, 0));
            choice.options.expect("there are not 2^64 events") - 1
        }
    }

    let at = |index, value| RecordedChoice { stream: "order".to_owned(), index, kind: ChoiceKind::Order, value };
    assert_eq!(order_of_starts(Replay::default()), [0, 1, 2, 3]);
    assert_eq!(order_of_starts(Last), [3, 2, 1, 0]);
    assert_eq!(order_of_starts(Replay::new([at(1, 2)])), [0, 3, 1, 2]);
    // A value that is too great is taken modulo the number of events: 4 of 3 is 1.
    assert_eq!(order_of_starts(Replay::new([at(1, 4)])), [0, 2, 1, 3]);
}

#[test]
fn what_a_component_draws_can_be_chosen_and_another_draws_what_it_did() {
    let drawn = |report: &Report, from: &str| -> Vec<String> {
        let sent = trace(report).iter().filter_map(|event| match &event.action {
            Action::Sent(packet) if packet.source.component == from => Some(packet.message.clone()),
            _ => None,
        });
        sent.collect()
    };
    let report = simulation(7, Link::default()).run();
    let third = RecordedChoice { stream: "component a".to_owned(), index: 2, kind: ChoiceKind::Bits, value: 42 };
    let changed = replayed(7, Link::default(), Replay::new([third]));
    let (before, after) = (drawn(&report, "a"), drawn(&changed, "a"));
    let differ: Vec<&String> =
        before.iter().zip(&after).filter(|(before, after)| before != after).map(|pair| pair.1).collect();
    assert_eq!(differ, ["Number(42)"]);
    assert_eq!(drawn(&changed, "b"), drawn(&report, "b"));
}

#[test]
fn the_simplest_run_has_no_faults() {
    let report = replayed(7, wild(), Replay::default().others(Others::Simplest));
    assert!(
        choices(&report).iter().all(|choice| choice.kind.simplest().is_none_or(|simplest| choice.value == simplest))
    );
    let is_fault =
        |action: &Action| matches!(action, Action::Dropped { .. } | Action::Duplicated(_) | Action::Corrupted(_));
    assert!(!trace(&report).iter().any(|event| is_fault(&event.action)));
    // Latencies are still the seed's.
    let latencies = |report: &Report| {
        let latencies = choices(report).iter().filter(|choice| choice.kind == ChoiceKind::Latency);
        let mut latencies: Vec<_> = latencies.map(|choice| (&choice.stream, choice.index, choice.value)).collect();
        latencies.sort();
        latencies.into_iter().map(|(stream, index, value)| (stream.clone(), index, value)).collect::<Vec<_>>()
    };
    assert_eq!(latencies(&report), latencies(&simulation(7, wild()).run()));
}

#[test]
fn all_latencies_of_a_stream_but_one_can_be_set() {
    let slow =
        RecordedChoice { stream: "network a->listener".to_owned(), index: 3, kind: ChoiceKind::Latency, value: 9 };
    let source = Replay::new([slow]).latencies([("network a->listener".to_owned(), 5)].into());
    let report = replayed(7, wild(), source);
    let latencies = |report: &Report, stream: &str| -> Vec<u64> {
        let is_meant = |choice: &&RecordedChoice| {
            choice.stream == stream && matches!(choice.kind, ChoiceKind::Latency | ChoiceKind::CopyLatency)
        };
        choices(report).iter().filter(is_meant).map(|choice| choice.value).collect()
    };
    let mut of_a = latencies(&report, "network a->listener");
    of_a.sort_unstable();
    assert_eq!((of_a.pop(), of_a.iter().all(|&latency| latency == 5)), (Some(9), true));
    let of_b = latencies(&report, "network b->listener");
    assert!(of_b.iter().all(|&latency| latency >= ms(1).as_nanos()), "{of_b:?}");
}

#[test]
fn a_run_inside_a_run_has_choices_of_its_own() {
    let inner = |seed| simulation(seed, wild()).run();
    let expect = inner(3);
    let mut outer = Simulation::<Number>::new(7);
    outer.record_choices();
    outer.add("outer", move |mut context| async move {
        let before = context.random().bits();
        let report = inner(3);
        let after = context.random().bits();
        (before, report.choices.map_or(0, |choices| choices.len()), after)
    });
    let report = outer.run();
    let streams: Vec<(&str, u64)> =
        choices(&report).iter().map(|choice| (choice.stream.as_str(), choice.index)).collect();
    assert_eq!(streams, [("component outer", 0), ("component outer", 1)]);
    assert_eq!(inner(3), expect);

    // And one that nobody chooses for is not asked, though the run around it is.
    let mut outer = Simulation::<Number>::new(7);
    outer.record_choices();
    let plain = |seed| {
        let mut simulation = Simulation::<Number>::new(seed);
        simulation.add("a", |mut context| async move { context.random().bits() });
        simulation.run()
    };
    outer.add("a", move |mut context| async move {
        assert_eq!(plain(7).choices, None);
        context.random().bits()
    });
    assert_eq!(choices(&outer.run()).len(), 1);
}

/// Decides by random numbers of its own.
struct Explorer(Random);

impl ChoiceSource for Explorer {
    fn choose(&mut self, choice: &Choice<'_>) -> u64 {
        match choice.options {
            Some(options) => self.0.uniform(0..options),
            None => self.0.bits(),
        }
    }
}

#[test]
fn a_source_may_draw_random_numbers() {
    let run = |seed| {
        let mut simulation = simulation(7, wild());
        simulation.choices(Explorer(Random::from_seed(seed))).record_choices();
        simulation.run()
    };
    let report = run(1);
    assert!(report.ended.passed(), "{}", report.ended);
    assert_eq!(run(1), report);
    assert_ne!(run(2).choices, report.choices);
}

#[test]
fn draws_of_derived_streams_are_choices_too() {
    let simulation = |seed| {
        let mut simulation = Simulation::<Number>::new(seed);
        let drawer = |context: Context<Number>| async move {
            let mut context = context;
            let mut arrivals = context.random().stream("arrivals");
            let wait = ms(arrivals.uniform(1..1_000_u64));
            context.pause(wait).await;
        };
        simulation.add("drawer", drawer);
        simulation
    };
    let mut first = simulation(1);
    first.record_choices();
    let report = first.run();
    let recorded = report.choices.clone().expect("they were asked for");
    assert_eq!(recorded[0].stream, "component drawer/arrivals");
    let mut second = simulation(2);
    second.choices(Replay::new(recorded));
    assert_eq!(second.run().ended_at, report.ended_at);
}
