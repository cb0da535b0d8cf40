//! Messages to many, messages that do not arrive as they were sent, and what a channel can hear of that.

use simutant_sim_core::network::{Effect, Occurrences, Rule};
use simutant_sim_core::trace::{Action, DropReason, Trace};
use simutant_sim_core::{
    Context, Link, Message, Network, PortInUse, Probability, Random, Simulation, TooLarge, Unreachable, VirtualTime,
};

use crate::ms;

/// A text whose size is its length.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Text(String);

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl Message for Text {
    fn kind(&self) -> &'static str {
        "TEXT"
    }

    fn bytes(&self) -> u32 {
        self.0.len() as u32
    }

    /// Upper case is what a checksum does not see.
    fn corrupted(&self, random: &mut Random) -> Option<Self> {
        let mut letters: Vec<char> = self.0.chars().collect();
        let letter = letters.get_mut(random.uniform(0..self.0.len().max(1)))?;
        if !letter.is_ascii_uppercase() {
            return None;
        }
        *letter = '?';
        Some(Self(letters.into_iter().collect()))
    }
}

/// Receives until nothing comes for a second, and returns the texts.
async fn receive_all(context: Context<Text>, port: u16) -> Vec<String> {
    let mut channel = context.channel_at(port);
    let mut texts = Vec::new();
    while let Ok(delivery) = channel.recv_timeout(ms(1_000)).await {
        assert_eq!(delivery.destination, channel.address());
        texts.push(delivery.message.0);
    }
    texts
}

/// Runs a simulation that must pass, and returns its trace.
#[track_caller]
fn run(mut simulation: Simulation<Text>) -> Trace {
    simulation.record_trace();
    let report = simulation.run();
    assert!(report.ended.passed(), "{}", report.ended);
    report.trace.expect("it was asked for")
}

fn drops(trace: &Trace) -> Vec<(String, DropReason)> {
    let dropped = trace.iter().filter_map(|event| match &event.action {
        Action::Dropped { packet, reason } => Some((packet.message.clone(), *reason)),
        _ => None,
    });
    dropped.collect()
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

#[test]
fn a_broadcast_reaches_every_other_component_at_that_port() {
    let mut simulation = Simulation::<Text>::new(1);
    for name in ["a", "b"] {
        simulation.add(name, |context| receive_all(context, 1)).expecting(texts(&["hello"]));
    }
    simulation.add("elsewhere", |context| receive_all(context, 2)).expecting(vec![]);
    let sender = simulation.add("sender", |context| async move {
        context.channel().send(context.broadcast(1), "hello");
        receive_all(context, 1).await
    });
    sender.expecting(vec![]);
    let trace = run(simulation);
    assert_eq!(trace.iter().filter(|event| matches!(event.action, Action::Sent(_))).count(), 3);
}

#[test]
fn each_packet_of_a_broadcast_has_a_fate_of_its_own() {
    let mut simulation = Simulation::<Text>::new(1);
    let rule = Rule {
        from: None,
        to: Some("a".to_owned()),
        kind: None,
        since: VirtualTime::ZERO,
        until: None,
        occurrences: Occurrences::Only(1),
        effect: Effect::Drop,
    };
    simulation.network(Network { rules: vec![rule], ..Network::default() });
    simulation.add("a", |context| receive_all(context, 1)).expecting(texts(&["second"]));
    simulation.add("b", |context| receive_all(context, 1)).expecting(texts(&["first", "second"]));
    simulation.add("sender", |context| async move {
        let channel = context.channel();
        channel.send(context.broadcast(1), "first");
        context.pause(ms(10)).await;
        channel.send(context.broadcast(1), "second");
    });
    run(simulation);
}

#[test]
fn a_group_is_who_has_joined_it_and_not_left_it_when_the_message_is_sent() {
    let mut simulation = Simulation::<Text>::new(1);
    let group = simulation.group("group");
    assert_eq!(simulation.group("group"), group);
    assert_ne!(simulation.group("other"), group);
    let other = simulation.group("other");
    simulation
        .add("member", move |context| async move {
            let mut channel = context.channel_at(1);
            channel.join(group);
            channel.join(group);
            let mut received = vec![channel.recv().await.message.0];
            received.push(channel.recv().await.message.0);
            channel.leave(group);
            received.extend(channel.recv_timeout(ms(1_000)).await.map(|delivery| delivery.message.0));
            received
        })
        .expecting(texts(&["1", "2"]));
    simulation
        .add("late member", move |context| async move {
            context.pause(ms(5)).await;
            let mut channel = context.channel_at(1);
            channel.join(group);
            let received = [channel.recv().await.message.0, channel.recv().await.message.0];
            // A closed channel is no member any more.
            drop(channel);
            context.pause(ms(100)).await;
            received
        })
        .expecting(["2".to_owned(), "3".to_owned()]);
    simulation
        .add("member of another", move |context| async move {
            let mut channel = context.channel_at(1);
            channel.join(other);
            channel.recv_timeout(ms(1_000)).await.is_err()
        })
        .expecting(true);
    simulation
        .add("member at another port", move |context| async move {
            let mut channel = context.channel_at(2);
            channel.join(group);
            channel.recv_timeout(ms(1_000)).await.is_err()
        })
        .expecting(true);
    simulation
        .add("sender", move |context| async move {
            // It hears what others send to the group, but not what it sends itself.
            let mut channel = context.channel_at(1);
            channel.join(group);
            for number in 1..=4 {
                channel.send(group.address(1), number.to_string().as_str());
                context.pause(ms(10)).await;
            }
            channel.try_recv()
        })
        .expecting(None);
    let trace = run(simulation);
    let delivered = trace.iter().filter(|event| matches!(event.action, Action::Delivered(_))).count();
    let sent = trace.iter().filter(|event| matches!(event.action, Action::Sent(_))).count();
    assert_eq!((sent, delivered), (4, 4), "to one, to two, to one, to nobody");
}

#[test]
fn a_channel_that_asks_hears_where_nobody_listens() {
    let mut simulation = Simulation::<Text>::new(1);
    simulation.network(Network::constant(ms(10)));
    let (closed, open) = (simulation.address("server", 9), simulation.address("server", 1));
    simulation.add("server", |context| async move { drop(context.channel_at(1).recv().await) });
    let client = simulation.add("client", move |context| async move {
        let mut channel = context.channel();
        // Nobody has asked yet, so this one is never heard of.
        channel.send(closed, "too early");
        context.pause(ms(20)).await;
        channel.send(open, "hello");
        channel.send(closed, "hello");
        let news = channel.recv_or_unreachable().await;
        (news, context.now(), channel.try_recv())
    });
    client.expecting((Err(Unreachable { destination: closed }), VirtualTime::from_millis(30), None));
    let trace = run(simulation);
    assert_eq!(trace.iter().filter(|event| matches!(event.action, Action::Unreachable(_))).count(), 2);
    assert_eq!(Unreachable { destination: closed }.to_string(), "no channel is open at #0:9");
}

#[test]
fn a_channel_that_asks_for_news_still_receives() {
    let mut simulation = Simulation::<Text>::new(1);
    let to = simulation.address("client", 1);
    let client = simulation.add("client", |context| async move {
        let mut channel = context.channel_at(1);
        let delivery = channel.recv_or_unreachable().await;
        delivery.map(|delivery| delivery.message.0)
    });
    client.expecting(Ok("hello".to_owned()));
    simulation.add("sender", move |context| async move { context.channel().send(to, "hello") });
    run(simulation);
}

#[test]
fn a_full_mailbox_loses_what_arrives() {
    let mut simulation = Simulation::<Text>::new(1);
    let to = simulation.address("receiver", 1);
    let receiver = simulation.add("receiver", |context| async move {
        let mut channel = context.channel_at(1);
        channel.set_mailbox_max(2);
        context.pause(ms(50)).await;
        let first = channel.recv().await.message.0;
        context.pause(ms(50)).await;
        let rest = std::iter::from_fn(|| channel.try_recv()).map(|delivery| delivery.message.0);
        std::iter::once(first).chain(rest).collect::<Vec<_>>()
    });
    receiver.expecting(texts(&["1", "2", "4"]));
    simulation.add("sender", move |context| async move {
        let channel = context.channel();
        for number in ["1", "2", "3"] {
            channel.send(to, number);
        }
        context.pause(ms(60)).await;
        channel.send(to, "4");
    });
    assert_eq!(drops(&run(simulation)), [("Text(\"3\")".to_owned(), DropReason::MailboxFull)]);
}

#[test]
fn a_message_that_is_too_large_is_not_sent() {
    let mut simulation = Simulation::<Text>::new(1);
    simulation.network(Network { message_bytes_max: 5, ..Network::default() });
    let to = simulation.address("receiver", 1);
    simulation.add("receiver", |context| receive_all(context, 1)).expecting(texts(&["12345"]));
    simulation.add("sender", move |context| async move {
        let channel = context.channel();
        assert_eq!(channel.try_send(to, "12345"), Ok(()));
        assert_eq!(channel.try_send(to, "123456"), Err(TooLarge { bytes: 6, bytes_max: 5 }));
        channel.send(to, "1234567");
    });
    assert_eq!(
        simulation.run().ended.to_string(),
        "abnormal: sender panicked at 0 s: a message of 7 bytes is too large: the network takes 5"
    );
}

#[test]
fn a_port_that_is_in_use_says_so_and_is_free_again_when_its_channel_is_dropped() {
    let mut simulation = Simulation::<Text>::new(1);
    let owner = simulation.add("owner", |context| async move {
        let first = context.channel_at(80);
        let refused = context.try_channel_at(80).map(|_| ());
        drop(first);
        (refused, context.try_channel_at(80).is_ok())
    });
    owner.expecting((Err(PortInUse { port: 80 }), true));
    simulation.add("other", |context| async move { context.channel_at(80).recv().await });
    run(simulation);
    assert_eq!(PortInUse { port: 80 }.to_string(), "port 80 is in use: drop the other channel first");
}

/// Sends texts over a link that corrupts everything, and returns what arrives, and the trace.
fn corrupted(duplicate: Probability, sent: &'static [&'static str]) -> (Vec<String>, Trace) {
    let mut simulation = Simulation::<Text>::new(1);
    simulation.network(Link { corrupt: Probability::ONE, duplicate, ..Link::default() });
    let to = simulation.address("receiver", 1);
    let received = simulation.add("receiver", |context| receive_all(context, 1)).returned();
    simulation.add("sender", move |context| async move {
        let channel = context.channel();
        sent.iter().for_each(|text| channel.send(to, *text));
    });
    let trace = run(simulation);
    let received = received.get().expect("it returned").clone();
    (received, trace)
}

#[test]
fn a_corrupted_message_is_found_out_by_its_checksum_or_arrives_as_the_message_says() {
    let (received, trace) = corrupted(Probability::ZERO, &["lower", "X"]);
    assert_eq!(received, ["?"]);
    assert_eq!(drops(&trace), [("Text(\"lower\")".to_owned(), DropReason::Checksum)]);
    let changed = trace.iter().filter_map(|event| match &event.action {
        Action::Corrupted(packet) => Some(packet.message.as_str()),
        _ => None,
    });
    assert_eq!(changed.collect::<Vec<_>>(), ["Text(\"?\")"]);
}

#[test]
fn each_copy_of_a_duplicated_message_is_corrupted_by_itself() {
    let (received, _) = corrupted(Probability::ONE, &["ABCDEFGHIJKLMNOPQRSTUVWXYZ"; 5]);
    assert!(received.len() == 10 && received.iter().all(|text| text.matches('?').count() == 1), "{received:?}");
    let distinct: std::collections::BTreeSet<&String> = received.iter().collect();
    assert!(distinct.len() > 5, "{distinct:?}");
}

#[test]
fn an_address_shows_its_component_and_its_port() {
    let mut simulation = Simulation::<Text>::new(1);
    let (first, second) = (simulation.address("first", 7), simulation.address("second", 8));
    assert_eq!([first.to_string(), second.to_string()], ["#0:7", "#1:8"]);
    assert_eq!((second.port(), first.is_same_component(second)), (8, false));
    assert!(simulation.address("first", 9).is_same_component(first));
}
