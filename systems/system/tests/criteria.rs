//! What the criteria that look at traces ask for, on runs in which everything that happens is known.

use proptest::prelude::*;
use simutant_sim_core::network::{Effect, Occurrences, Rule, ScheduledPartition};
use simutant_sim_core::trace::{Action, Trace, TraceEvent};
use simutant_sim_core::{
    Address, ConnectError, Context, Fault, Faults, Message, Network, Random, ScheduledFault, Simulation,
    VirtualDuration, VirtualTime,
};
use simutant_system::criteria::{self, Requirements, TraceCriterion};

#[derive(Debug, Clone, PartialEq, Hash)]
enum Word {
    Ask(u32),
    Answer(u32),
}

impl Message for Word {
    fn kind(&self) -> &'static str {
        match self {
            Self::Ask(_) => "ASK",
            Self::Answer(_) => "ANSWER",
        }
    }

    fn corrupted(&self, _: &mut Random) -> Option<Self> {
        match self {
            Self::Ask(number) => Some(Self::Ask(number + 100)),
            Self::Answer(_) => None,
        }
    }
}

const fn ms(millis: u64) -> VirtualDuration {
    VirtualDuration::from_millis(millis)
}

fn at_ms(millis: u64) -> VirtualTime {
    VirtualTime::from_millis(millis)
}

/// Returns the place in this file that has this remark.
#[track_caller]
fn place(remark: &str) -> String {
    let remark = format!("// Place: {remark}.");
    let lines = || include_str!("criteria.rs").lines().zip(1..).filter(|(line, _)| line.ends_with(&remark));
    assert_eq!(lines().count(), 1, "{remark}");
    lines().map(|(_, line)| format!("{}:{line}", file!())).collect()
}

/// A network that takes 10 ms, with these rules.
fn network(rules: Vec<Rule>) -> Network {
    Network { rules, ..Network::constant(ms(10)) }
}

fn first(kind: &str, effect: Effect) -> Rule {
    Rule { kind: Some(kind.to_owned()), occurrences: Occurrences::Only(1), ..Rule::of(effect) }
}

fn traced(mut simulation: Simulation<Word>) -> Trace {
    simulation.record_trace();
    let report = simulation.run();
    assert!(report.ended.passed(), "{}", report.ended);
    report.trace.expect("it was asked for")
}

fn criterion(name: &str) -> TraceCriterion {
    let found = criteria::built_in().into_iter().find(|criterion| criterion.name == name);
    found.unwrap_or_else(|| panic!("there is no criterion {name}"))
}

/// Checks which requirements a run covers, in the order of their labels.
#[track_caller]
fn check(name: &str, trace: &[TraceEvent], expect: &[&str]) {
    assert_eq!(criterion(name).covered(trace).labels().collect::<Vec<_>>(), expect);
}

/// Answers for ever.
async fn server(context: Context<Word>) {
    let mut channel = context.channel_at(80);
    loop {
        let delivery = channel.recv().await;
        if let Word::Ask(number) = delivery.message {
            channel.send(delivery.source, Word::Answer(number));
        }
    }
}

/// Asks so often, a millisecond apart, then waits for an answer to each of them for as long as `patience` says.
async fn client(context: Context<Word>, to: Address, count: u32, patience: VirtualDuration) {
    let mut channel = context.channel();
    for number in 0..count {
        channel.send(to, Word::Ask(number));
        context.pause(ms(1)).await;
    }
    for _ in 0..count {
        _ = channel.recv_timeout(patience).await;
    }
}

/// A server and a client that asks `count` times.
fn conversation(rules: Vec<Rule>, count: u32, patience: VirtualDuration) -> Trace {
    let mut simulation = Simulation::new(1);
    simulation.network(network(rules));
    let to = simulation.address("server", 80);
    simulation.add("server", server);
    simulation.add("client-1", move |context| client(context, to, count, patience));
    traced(simulation)
}

#[test]
fn each_fault_of_a_message_is_told_with_its_kind() {
    let faults = |rule, patience| conversation(vec![rule], 3, patience);
    check("message-faults", &conversation(Vec::new(), 3, ms(50)), &[]);
    check("message-faults", &faults(first("ASK", Effect::Drop), ms(50)), &["ASK: lost"]);
    check("message-faults", &faults(first("ANSWER", Effect::Duplicate), ms(50)), &["ANSWER: duplicated"]);
    check("message-faults", &faults(first("ASK", Effect::Corrupt), ms(50)), &["ASK: corrupted"]);
    // A checksum tells.
    check("message-faults", &faults(first("ANSWER", Effect::Corrupt), ms(50)), &["ANSWER: lost"]);
    check("message-faults", &faults(first("ASK", Effect::Delay(ms(5))), ms(50)), &["ASK: overtaken"]);
    // The copy of a packet that was duplicated overtakes nobody, and is overtaken by nobody.
    let late = vec![first("ASK", Effect::Duplicate), first("ASK", Effect::Delay(ms(1)))];
    check("message-faults", &conversation(late, 1, ms(50)), &["ASK: duplicated"]);
}

#[test]
fn what_is_on_its_way_when_a_channel_at_either_end_runs_out_of_time_is_late() {
    // The question is sent at 0 ms and arrives at 10 ms, the answer is sent then and arrives at 20 ms.
    let late = |patience| conversation(Vec::new(), 1, patience);
    check("message-faults", &late(ms(5)), &["ASK: late for a timeout"]);
    check("message-faults", &late(ms(20)), &[]);
    // The second wait ends at 27 ms: the first answer has come, and the second is lost with its question.
    let lost = vec![first("ASK", Effect::Drop)];
    check("message-faults", &conversation(lost, 1, ms(5)), &["ASK: lost"]);
    let mut simulation = Simulation::new(1);
    simulation.network(network(Vec::new()));
    let to = simulation.address("server", 80);
    simulation.add("server", server);
    simulation.add("client", move |context| async move {
        let mut channel = context.channel();
        channel.send(to, Word::Ask(0));
        let first = channel.recv_timeout(ms(15)).await;
        assert!(first.is_err(), "the answer comes at 20 ms");
        channel.recv().await;
    });
    check("message-faults", &traced(simulation), &["ANSWER: late for a timeout"]);
}

#[test]
fn a_timeout_is_known_by_its_role_and_its_place() {
    let mut simulation = Simulation::new(1);
    simulation.network(network(Vec::new()));
    let nobody = simulation.address("nobody", 80);
    for name in ["client-1", "client-2"] {
        simulation.add(name, move |context| async move {
            let mut channel = context.channel();
            channel.send(nobody, Word::Ask(0));
            _ = channel.recv_timeout(ms(5)).await; // Place: a receive.
        });
    }
    simulation.add("caller", move |context| async move {
        _ = context.connect(nobody, ms(5)).await; // Place: a request.
    });
    // Whoever is refused is not late.
    simulation.add("refused", move |context| async move {
        let refused = context.connect(context.address(81), ms(5_000)).await;
        assert_eq!(refused.err(), Some(ConnectError::Refused));
    });
    let expect = [format!("caller: {}", place("a request")), format!("client: {}", place("a receive"))];
    check("timeouts", &traced(simulation), &expect.each_ref().map(String::as_str));
}

#[test]
fn a_stream_that_gives_up_is_a_timeout() {
    let mut simulation = Simulation::new(1);
    let cut = ScheduledPartition { from: at_ms(1_000), until: None, groups: vec![vec!["client".to_owned()]] };
    simulation.network(Network { partitions: vec![cut], ..network(Vec::new()) });
    let to = simulation.address("server-7", 80);
    simulation.add("server-7", |context| async move {
        let mut stream = context.listen(80).accept().await;
        while let Ok(Some(_)) = stream.recv().await {}
    });
    simulation.add("client", move |context| async move {
        let mut stream = context.connect(to, ms(500)).await.expect("there is no partition yet");
        context.pause(ms(2_000)).await;
        stream.send(Word::Ask(0)).await.expect("it is open");
        assert!(stream.recv().await.is_err(), "nothing comes through");
    });
    check("timeouts", &traced(simulation), &["client: a stream to server"]);
}

#[track_caller]
fn check_pairs(trace: &[TraceEvent], expect: &[(&str, &str, &str)]) {
    let pair =
        |&(kind, send, receive): &(&str, &str, &str)| format!("{kind} from {} to {}", place(send), place(receive));
    let mut labels: Vec<String> = expect.iter().map(pair).collect();
    labels.sort_unstable();
    check("send-receive-pairs", trace, &labels.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn a_pair_is_where_a_message_was_sent_and_where_it_was_received() {
    let mut simulation = Simulation::new(1);
    simulation.network(network(vec![first("ANSWER", Effect::Duplicate)]));
    let to = simulation.address("server", 80);
    simulation.add("server", |context| async move {
        let mut channel = context.channel_at(80);
        let ask = channel.recv().await; // Place: of the first question.
        channel.send(ask.source, Word::Answer(0)); // Place: the first answer.
        let ask = channel.recv_or_unreachable().await.expect("it was reached"); // Place: of the second question.
        channel.send(ask.source, Word::Answer(1)); // Place: the second answer.
    });
    simulation.add("client", move |context| async move {
        let mut channel = context.channel();
        channel.send(to, Word::Ask(0)); // Place: the first question.
        context.pause(ms(5)).await;
        channel.try_send(to, Word::Ask(1)).expect("it is small"); // Place: the second question.
        for _ in 0..2 {
            // Both copies of the first answer come before the second.
            channel.recv_timeout(ms(100)).await.expect("it comes"); // Place: of the first answer.
        }
        context.pause(ms(100)).await;
        assert!(channel.try_recv().is_some()); // Place: of the second answer.
        assert!(channel.try_recv().is_none(), "that was all");
    });
    let expect = [
        ("ASK", "the first question", "of the first question"),
        ("ASK", "the second question", "of the second question"),
        ("ANSWER", "the first answer", "of the first answer"),
        ("ANSWER", "the second answer", "of the second answer"),
    ];
    check_pairs(&traced(simulation), &expect);
}

#[test]
fn what_nobody_takes_is_in_no_pair() {
    let mut simulation = Simulation::new(1);
    simulation.network(network(Vec::new()));
    let to = simulation.address("server", 80);
    simulation.add("server", |context| async move {
        let _channel = context.channel_at(80);
        context.pause(ms(100)).await;
    });
    simulation.add("client", move |context| async move { context.channel().send(to, Word::Ask(0)) });
    let trace = traced(simulation);
    assert!(trace.iter().any(|event| matches!(event.action, Action::Delivered(_))));
    check("send-receive-pairs", &trace, &[]);
    check("interleavings", &trace, &[]);
}

#[test]
fn the_place_of_a_send_to_many_is_one() {
    let mut simulation = Simulation::new(1);
    simulation.network(network(Vec::new()));
    for name in ["server-1", "server-2"] {
        simulation.add(name, |context| async move {
            context.channel_at(80).recv().await; // Place: one of many.
        });
    }
    simulation.add("client", |context| async move {
        context.channel().send(context.broadcast(80), Word::Ask(0)); // Place: to all.
    });
    check_pairs(&traced(simulation), &[("ASK", "to all", "one of many")]);
}

#[test]
fn pairs_of_streams_are_those_of_the_messages_whatever_is_sent_again() {
    let run = |rules: Vec<Rule>| {
        let mut simulation = Simulation::new(1);
        simulation.network(network(rules));
        let to = simulation.address("server", 80);
        simulation.add("server", |context| async move {
            let mut stream = context.listen(80).accept().await;
            assert_eq!(stream.recv().await, Ok(Some(Word::Ask(0)))); // Place: of the first in a stream.
            let (mut sender, mut receiver) = stream.split();
            let second = receiver.recv().await; // Place: of the second in a stream.
            assert_eq!(second, Ok(Some(Word::Ask(1))));
            sender.send(Word::Answer(0)).await.expect("it is open"); // Place: the answer in a stream.
        });
        simulation.add("client", move |context| async move {
            let mut stream = context.connect(to, ms(60_000)).await.expect("the server listens");
            stream.send(Word::Ask(0)).await.expect("it is open"); // Place: the first in a stream.
            stream.send(Word::Ask(1)).await.expect("it is open"); // Place: the second in a stream.
            assert_eq!(stream.recv().await, Ok(Some(Word::Answer(0)))); // Place: of the answer in a stream.
        });
        traced(simulation)
    };
    let expect = [
        ("ASK", "the first in a stream", "of the first in a stream"),
        ("ASK", "the second in a stream", "of the second in a stream"),
        ("ANSWER", "the answer in a stream", "of the answer in a stream"),
    ];
    check_pairs(&run(Vec::new()), &expect);
    for kind in ["ASK", "ANSWER", "ACK", "SYN-ACK"] {
        for effect in [Effect::Drop, Effect::Duplicate, Effect::Delay(ms(700))] {
            check_pairs(&run(vec![first(kind, effect)]), &expect);
        }
    }
}

#[test]
fn interleavings_are_told_by_role_kinds_and_whether_the_sender_changes() {
    let mut simulation = Simulation::new(1);
    simulation.network(network(Vec::new()));
    let to = simulation.address("server-1", 80);
    simulation.add_restartable("server-1", |context| async move {
        let mut channel = context.channel_at(80);
        loop {
            channel.recv().await;
        }
    });
    let restart = [
        ScheduledFault { at: at_ms(100), fault: Fault::Crash { component: "server-1".to_owned() } },
        ScheduledFault {
            at: at_ms(100),
            fault: Fault::Restart { component: "server-1".to_owned(), durable_state: Default::default() },
        },
    ];
    simulation.faults(Faults { schedule: restart.to_vec(), ..Faults::default() });
    // A question of each at 0 ms, an answer of the second at 1 ms and one at 200 ms: after the restart nothing came
    // before it.
    for (name, starts_at) in [("client-1", 0), ("client-2", 0)] {
        let is_second = name == "client-2";
        simulation
            .add(name, move |context| async move {
                let channel = context.channel();
                channel.send(to, Word::Ask(0));
                if is_second {
                    context.pause(ms(1)).await;
                    channel.send(to, Word::Answer(0));
                    context.pause(ms(199)).await;
                    channel.send(to, Word::Answer(1));
                }
            })
            .starting_at(at_ms(starts_at));
    }
    let expect = ["server: ASK, then ANSWER from the same component", "server: ASK, then ASK from another component"];
    check("interleavings", &traced(simulation), &expect);
}

/// A server that crashes at 100 ms and begins again at 200 ms, pauses from 300 ms to 400 ms, and is cut off at 450 ms;
/// and what is sent to it at these times is lost.
fn troubled(says: Option<&'static str>, ask_at_ms: &'static [u64]) -> Trace {
    let server = || "server-1".to_owned();
    let mut simulation = Simulation::new(1);
    let groups = vec![vec![server()], vec!["client".to_owned()]];
    let cut = ScheduledPartition { from: at_ms(450), until: None, groups };
    simulation.network(Network { partitions: vec![cut], ..network(vec![first("ASK", Effect::Drop)]) });
    let fault = |at, fault| ScheduledFault { at: at_ms(at), fault };
    let schedule = vec![
        fault(100, Fault::Crash { component: server() }),
        fault(200, Fault::Restart { component: server(), durable_state: Default::default() }),
        fault(300, Fault::Pause { component: server(), duration: ms(100) }),
    ];
    simulation.faults(Faults { schedule, ..Faults::default() });
    let to = simulation.address("server-1", 80);
    simulation.add_restartable("server-1", move |context| async move {
        let mut channel = context.channel_at(80);
        if let Some(phase) = says {
            context.phase(phase);
        }
        loop {
            channel.recv().await;
        }
    });
    simulation.add("client", move |context| async move {
        let channel = context.channel();
        for &at in ask_at_ms {
            context.pause(at_ms(at).since(context.now())).await;
            channel.send(to, Word::Ask(0));
        }
        context.pause(ms(1_000)).await;
    });
    traced(simulation)
}

#[test]
fn a_fault_is_told_with_the_phase_in_which_it_meets_a_role() {
    let expect = [
        "client, before its first message: packet from it lost by a rule",
        "client, before its first message: partition",
        "server, after a restart: partition",
        "server, after a restart: pause",
        "server, before its first message: crash",
        "server, before its first message: packet to it lost by a rule",
        "server, while it is down: restart",
    ];
    check("faults-in-phases", &troubled(None, &[5]), &expect);
    // A packet that arrives ends the first phase; one that comes to a component that is down is lost.
    let expect = [
        "client, before its first message: packet from it lost at a component that is down",
        "client, before its first message: packet from it lost by a rule",
        "client, before its first message: partition",
        "server, after a restart: partition",
        "server, after a restart: pause",
        "server, after its first message: crash",
        "server, before its first message: packet to it lost by a rule",
        "server, while it is down: packet to it lost at a component that is down",
        "server, while it is down: restart",
    ];
    check("faults-in-phases", &troubled(None, &[5, 6, 150]), &expect);
}

#[test]
fn what_a_component_says_is_its_phase() {
    let expect = [
        "client, before its first message: packet from it lost by a rule",
        "client, before its first message: partition",
        "server, leading: crash",
        "server, leading: packet to it lost by a rule",
        "server, leading: partition",
        "server, leading: pause",
        "server, while it is down: restart",
    ];
    check("faults-in-phases", &troubled(Some("leading"), &[5]), &expect);
}

#[test]
fn a_phase_that_nobody_records_changes_nothing() {
    let run = |says: bool| {
        let mut simulation = Simulation::<Word>::new(1);
        simulation.add("server", move |context| async move {
            if says {
                context.phase("leading");
            }
        });
        simulation.run()
    };
    assert_eq!(run(true), run(false));
}

#[test]
fn a_criterion_of_ones_own_is_a_name_and_a_function() {
    fn sizes(trace: &[TraceEvent], requirements: &mut Requirements) {
        let sent = trace.iter().filter(|event| matches!(event.action, Action::Sent(_))).count();
        requirements.insert(if sent > 4 { "much is sent" } else { "little is sent" });
    }
    let criterion = TraceCriterion { name: "sizes", requirements: sizes };
    let covered = |count| criterion.covered(&conversation(Vec::new(), count, ms(50)));
    assert_eq!(covered(1).labels().collect::<Vec<_>>(), ["little is sent"]);
    assert_eq!((covered(3).labels().collect::<Vec<_>>(), covered(3).len()), (vec!["much is sent"], 1));
    assert!(Requirements::default().is_empty());
}

proptest! {
    #[test]
    fn requirements_name_nothing_that_differs_from_run_to_run(seed in any::<u64>(), names in 0..1_000_u32) {
        // The same conversation of components with other numbers, at other times, from other ports.
        let run = |number: u32, offset: u64, ports: usize| {
            let mut simulation = Simulation::new(seed);
            simulation.network(network(vec![first("ASK", Effect::Drop), first("ANSWER", Effect::Duplicate)]));
            let server_name = format!("server-{number}");
            let to = simulation.address(&server_name, 80);
            simulation.add(&server_name, server).starting_at(at_ms(offset));
            simulation
                .add(&format!("client-{number}"), move |context| async move {
                    let _others: Vec<_> = (0..ports).map(|_| context.channel()).collect();
                    client(context, to, 3, ms(9)).await;
                })
                .starting_at(at_ms(offset));
            traced(simulation)
        };
        let (here, there) = (run(1, 0, 0), run(names, u64::from(names), 3));
        for criterion in criteria::built_in() {
            let covered = criterion.covered(&here);
            prop_assert_eq!(&covered, &criterion.covered(&there), "{}", criterion.name);
            prop_assert!(!covered.is_empty(), "{}", criterion.name);
        }
    }
}
