//! Networks in simulations: partitions, rules, corruption, and networks that cannot be.

use simutant_sim_core::network::{Effect, Occurrences, Rule, ScheduledPartition};
use simutant_sim_core::trace::{Action, DropReason};
use simutant_sim_core::{Link, Message, Network, Probability, Random, Simulation, VirtualDuration, VirtualTime};

const MILLI: VirtualDuration = VirtualDuration::from_millis(1);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Datum {
    /// Its receiver finds out if it is corrupted.
    Checked(u32),
    Unchecked(u32),
}

impl Message for Datum {
    fn kind(&self) -> &'static str {
        match self {
            Self::Checked(_) => "CHECKED",
            Self::Unchecked(_) => "UNCHECKED",
        }
    }

    fn corrupted(&self, random: &mut Random) -> Option<Self> {
        match self {
            Self::Checked(_) => None,
            Self::Unchecked(number) => Some(Self::Unchecked(number ^ (1 << random.uniform(16..32_u32)))),
        }
    }
}

/// Runs a sender of ten messages, one each millisecond. Returns what arrives, and why packets are lost.
fn run(network: impl Into<Network>, datum: fn(u32) -> Datum) -> (Vec<Datum>, Vec<DropReason>) {
    let mut simulation = Simulation::new(3);
    simulation.network(network);
    simulation.record_trace();
    let to = simulation.address("receiver", 1);
    simulation.add("sender", async move |context| {
        let channel = context.channel();
        for number in 0..10 {
            channel.send(to, datum(number));
            context.pause(MILLI).await;
        }
    });
    let received = simulation.add("receiver", async move |context| {
        let mut channel = context.channel_at(1);
        let mut received = Vec::new();
        while let Ok(delivery) = channel.recv_timeout(MILLI * 5_000).await {
            received.push(delivery.message);
        }
        received
    });
    let received = received.returned();
    let lost = |action| match action {
        Action::Dropped { reason, .. } => Some(reason),
        _ => None,
    };
    let trace = simulation.run().trace.expect("it was asked for");
    let received = received.get().expect("the receiver stops when nothing comes any more").clone();
    (received, trace.into_iter().filter_map(|event| lost(event.action)).collect())
}

/// Returns a network with a latency of half a second that cuts the receiver off for a time.
fn partitioned(from_micros: u64, until_micros: Option<u64>) -> Network {
    let partition = ScheduledPartition {
        from: VirtualTime::from_micros(from_micros),
        until: until_micros.map(VirtualTime::from_micros),
        groups: vec![vec!["receiver".to_owned()]],
    };
    Network { partitions: vec![partition], ..Network::constant(MILLI * 500) }
}

fn numbers(numbers: impl IntoIterator<Item = u32>) -> Vec<Datum> {
    numbers.into_iter().map(Datum::Checked).collect()
}

#[test]
fn a_partition_loses_what_is_sent_meanwhile() {
    let (received, lost) = run(partitioned(1_500, Some(4_500)), Datum::Checked);
    assert_eq!(received, numbers([0, 1, 5, 6, 7, 8, 9]));
    assert_eq!(lost, [DropReason::Partition; 3]);
}

#[test]
fn a_partition_loses_what_arrives_meanwhile() {
    let (received, lost) = run(partitioned(501_500, Some(504_500)), Datum::Checked);
    assert_eq!(received, numbers([0, 1, 5, 6, 7, 8, 9]));
    assert_eq!(lost, [DropReason::Partition; 3]);
}

#[test]
fn what_is_sent_before_a_partition_and_arrives_after_it_is_not_lost() {
    let (received, lost) = run(partitioned(100_000, Some(200_000)), Datum::Checked);
    assert_eq!(received, numbers(0..10));
    assert_eq!(lost, []);
}

#[test]
fn a_partition_that_never_heals_lasts() {
    let (received, lost) = run(partitioned(502_500, None), Datum::Checked);
    assert_eq!(received, numbers(0..3));
    assert_eq!(lost, [DropReason::Partition; 7]);
}

#[test]
fn a_rule_names_the_kind_of_messages() {
    let rule = Rule { occurrences: Occurrences::Only(4), kind: Some("CHECKED".to_owned()), ..Rule::of(Effect::Drop) };
    let network = Network { rules: vec![rule], ..Network::default() };
    assert_eq!(run(network.clone(), Datum::Checked), (numbers((0..10).filter(|n| *n != 3)), vec![DropReason::Rule]));
    assert_eq!(run(network, Datum::Unchecked).0.len(), 10);
}

#[test]
fn a_corrupted_message_is_found_out_or_arrives_changed() {
    let link = Link { corrupt: Probability::ONE, ..Link::default() };
    assert_eq!(run(link.clone(), Datum::Checked), (vec![], vec![DropReason::Checksum; 10]));
    let (received, lost) = run(link, Datum::Unchecked);
    assert_eq!(lost, []);
    assert_eq!(received.len(), 10);
    for (number, datum) in (0..).zip(received) {
        let Datum::Unchecked(changed) = datum else { panic!("it is of another kind") };
        assert_eq!((changed ^ number).count_ones(), 1);
    }
}

#[test]
#[should_panic(expected = "partitions[0].groups[0][0] is \"nobody\": it must be the name of a component")]
fn a_network_that_names_nobody_is_refused_before_the_run() {
    let groups = vec![vec!["nobody".to_owned()]];
    let partition = ScheduledPartition { from: VirtualTime::ZERO, until: None, groups };
    run(Network { partitions: vec![partition], ..Network::default() }, Datum::Checked);
}
