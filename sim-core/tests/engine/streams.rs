//! What streams promise to components.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use proptest::prelude::*;
use simutant_sim_core::network::{Effect, Occurrences, Reorder, Rule, ScheduledPartition};
use simutant_sim_core::trace::{Action, DropReason, DurableState, ResetReason, Transport};
use simutant_sim_core::{
    Address, ChoiceKind, ConnectError, Context, Either2, Ended, Fault, Faults, Latency, Link, Message, Network,
    Probability, RecordedChoice, Replay, Report, ScheduledFault, Simulation, Stream, StreamError, StreamSettings,
    VirtualDuration, VirtualTime, select,
};

use crate::ms;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Number(u32);

impl Message for Number {
    fn kind(&self) -> &'static str {
        "NUMBER"
    }
}

const PORT: u16 = 80;
const BROKEN_BY_PEER: StreamError = StreamError::Reset(ResetReason::Peer);
const TIMED_OUT: StreamError = StreamError::Reset(ResetReason::TimedOut);

fn at_ms(millis: u64) -> VirtualTime {
    VirtualTime::from_millis(millis)
}

/// Returns a simulation with a network that takes 10 ms, and the address of the server.
fn simulation() -> (Simulation<Number>, Address) {
    let mut simulation = Simulation::new(1);
    simulation.network(Network::constant(ms(10))).record_trace();
    let server = simulation.address("server", PORT);
    (simulation, server)
}

#[track_caller]
fn run(simulation: Simulation<Number>) -> Report {
    let report = simulation.run();
    assert!(report.ended.passed(), "{}", report.ended);
    report
}

async fn connect(context: &Context<Number>, server: Address) -> Stream<Number> {
    context.connect(server, ms(5_000)).await.expect("the server listens")
}

async fn accept(context: &Context<Number>) -> Stream<Number> {
    context.listen(PORT).accept().await
}

/// Receives up to the end, or to an error.
async fn drain(stream: &mut Stream<Number>) -> (Vec<u32>, Result<(), StreamError>) {
    let mut numbers = Vec::new();
    loop {
        match stream.recv().await {
            Ok(Some(Number(number))) => numbers.push(number),
            Ok(None) => return (numbers, Ok(())),
            Err(error) => return (numbers, Err(error)),
        }
    }
}

/// Sends until that fails, every 10 ms.
async fn send_until_broken(context: &Context<Number>, stream: &mut Stream<Number>) -> StreamError {
    loop {
        if let Err(error) = stream.send(Number(0)).await {
            return error;
        }
        context.pause(ms(10)).await;
    }
}

fn kinds(report: &Report) -> Vec<String> {
    let trace = report.trace.iter().flatten();
    let sent = trace.filter_map(|event| match &event.action {
        Action::Sent(packet) => Some(packet.kind.clone()),
        _ => None,
    });
    sent.collect()
}

fn count(report: &Report, is_meant: impl Fn(&Action) -> bool) -> usize {
    report.trace.iter().flatten().filter(|event| is_meant(&event.action)).count()
}

fn crash(at: u64) -> ScheduledFault {
    ScheduledFault { at: at_ms(at), fault: Fault::Crash { component: "server".to_owned() } }
}

fn restart(at: u64) -> ScheduledFault {
    let (component, durable_state) = ("server".to_owned(), DurableState::Kept);
    ScheduledFault { at: at_ms(at), fault: Fault::Restart { component, durable_state } }
}

fn partition(from: u64, until: Option<u64>) -> ScheduledPartition {
    ScheduledPartition { from: at_ms(from), until: until.map(at_ms), groups: vec![vec!["server".to_owned()]] }
}

fn drop_of(kind: &str, occurrences: Occurrences) -> Rule {
    let kind = Some(kind.to_owned());
    Rule { from: None, to: None, kind, since: VirtualTime::ZERO, until: None, occurrences, effect: Effect::Drop }
}

#[test]
fn a_stream_opens_in_a_round_trip_carries_messages_both_ways_and_ends() {
    let (mut simulation, server) = simulation();
    let client = |context: Context<Number>| async move {
        let mut stream = connect(&context, server).await;
        let opened_at = context.now();
        stream.send(Number(1)).await.expect("it is open");
        stream.send(Number(2)).await.expect("it is open");
        stream.finish();
        (opened_at, stream.remote() == server, stream.local().port(), drain(&mut stream).await)
    };
    simulation.add("client", client).expecting((at_ms(20), true, 49_152, (vec![3], Ok(()))));
    let serve = |context: Context<Number>| async move {
        let mut stream = accept(&context).await;
        let drained = drain(&mut stream).await;
        stream.send(Number(3)).await.expect("the other direction is open");
        (stream.local() == server, drained)
    };
    simulation.add("server", serve).expecting((true, (vec![1, 2], Ok(()))));
    let report = run(simulation);
    assert_eq!(kinds(&report)[..6], ["SYN", "SYN-ACK", "ACK", "NUMBER", "NUMBER", "FIN"]);
    assert!(!kinds(&report).contains(&"RST".to_owned()));
    assert_eq!(count(&report, |action| matches!(action, Action::Connected { .. })), 1);
    let is_stream =
        |action: &Action| matches!(action, Action::Delivered(packet) if packet.transport == Transport::Stream);
    assert_eq!(count(&report, is_stream), kinds(&report).len());
    assert!(report.ended_at < at_ms(100), "nothing is left to happen: {}", report.ended_at);
}

#[test]
fn an_end_that_finished_still_receives_whichever_finishes_first() {
    for is_client_first in [true, false] {
        let (mut simulation, server) = simulation();
        let talk = |is_first: bool| {
            async move |context: Context<Number>, mut stream: Stream<Number>| {
                if is_first {
                    stream.finish();
                    assert_eq!(stream.send(Number(9)).await, Err(StreamError::Finished));
                    return drain(&mut stream).await;
                }
                assert_eq!(stream.recv().await, Ok(None));
                for number in 0..3 {
                    context.pause(ms(500)).await;
                    stream.send(Number(number)).await.expect("only the other direction has ended");
                }
                (Vec::new(), Ok(()))
            }
        };
        let expect = |is_first| if is_first { vec![0, 1, 2] } else { vec![] };
        let client = async move |context: Context<Number>| {
            let stream = connect(&context, server).await;
            talk(is_client_first)(context, stream).await
        };
        simulation.add("client", client).expecting((expect(is_client_first), Ok(())));
        let serve = async move |context: Context<Number>| {
            let stream = accept(&context).await;
            talk(!is_client_first)(context, stream).await
        };
        simulation.add("server", serve).expecting((expect(!is_client_first), Ok(())));
        run(simulation);
    }
}

#[test]
fn a_port_that_nobody_listens_on_refuses() {
    let (mut simulation, server) = simulation();
    let client = |context: Context<Number>| async move {
        let outcome = context.connect(server, ms(5_000)).await.map(drop);
        (outcome, context.now())
    };
    simulation.add("client", client).expecting((Err(ConnectError::Refused), at_ms(20)));
    // Channels have ports of their own.
    simulation.add("server", |context| async move { context.channel_at(PORT).recv().await.message });
    let report = run(simulation);
    assert_eq!(kinds(&report), ["SYN", "RST"]);
}

#[test]
fn a_connect_without_an_answer_asks_again_with_doubling_timeouts_and_times_out() {
    let (mut simulation, server) = simulation();
    simulation.network(Network { rules: vec![drop_of("SYN", Occurrences::All)], ..Network::constant(ms(10)) });
    let client = |context: Context<Number>| async move {
        let outcome = context.connect(server, ms(7_500)).await.map(drop);
        (outcome, context.now())
    };
    simulation.add("client", client).expecting((Err(ConnectError::TimedOut), at_ms(7_500)));
    let report = run(simulation);
    let sent = report.trace.iter().flatten().filter(|event| matches!(event.action, Action::Sent(_)));
    assert_eq!(sent.map(|event| event.at).collect::<Vec<_>>(), [0, 1_000, 3_000, 7_000].map(at_ms));
    assert_eq!(report.ended_at, at_ms(7_500));
}

#[test]
fn every_packet_of_an_opening_may_be_lost_once() {
    for kind in ["SYN", "SYN-ACK", "ACK", "NUMBER", "FIN"] {
        let (mut simulation, server) = simulation();
        let rules = vec![drop_of(kind, Occurrences::Only(1))];
        simulation.network(Network { rules, ..Network::constant(ms(10)) });
        let client = |context: Context<Number>| async move { drain(&mut connect(&context, server).await).await };
        simulation.add("client", client).expecting((vec![1], Ok(())));
        let serve = |context: Context<Number>| async move { accept(&context).await.send(Number(1)).await };
        simulation.add("server", serve).expecting(Ok(()));
        let report = run(simulation);
        assert_eq!(count(&report, |action| matches!(action, Action::Dropped { .. })), 1, "{kind}");
    }
}

#[test]
fn a_full_backlog_lets_clients_ask_again() {
    let (mut simulation, server) = simulation();
    for name in ["a", "b", "c"] {
        let client = |context: Context<Number>| async move { drain(&mut connect(&context, server).await).await.1 };
        simulation.add(name, client).expecting(Ok(()));
    }
    let serve = |context: Context<Number>| async move {
        let mut listener = context.listen(PORT);
        listener.set_backlog_max(2);
        context.pause(ms(500)).await;
        for _ in 0..3 {
            drop(listener.accept().await);
        }
        context.now()
    };
    // The third asks again after a second.
    simulation.add("server", serve).expecting(at_ms(1_030));
    let report = run(simulation);
    let is_overflow = |action: &Action| matches!(action, Action::Dropped { reason: DropReason::MailboxFull, .. });
    assert_eq!(count(&report, is_overflow), 1);
}

#[test]
fn a_port_has_one_listener() {
    let (mut simulation, _) = simulation();
    let serve = |context: Context<Number>| async move {
        let listener = context.listen(PORT);
        let is_refused = context.try_listen(PORT).is_err();
        drop(listener);
        (is_refused, context.try_listen(PORT).is_ok())
    };
    simulation.add("server", serve).expecting((true, true));
    run(simulation);
}

#[test]
fn a_listener_that_is_dropped_resets_what_it_has_not_accepted() {
    let (mut simulation, server) = simulation();
    let client = |context: Context<Number>| async move { connect(&context, server).await.recv().await };
    simulation.add("client", client).expecting(Err(BROKEN_BY_PEER));
    simulation.add("server", |context| async move {
        let _listener = context.listen(PORT);
        context.pause(ms(100)).await;
    });
    let report = run(simulation);
    assert_eq!(count(&report, |action| matches!(action, Action::Reset { reason: ResetReason::Peer, .. })), 1);
}

#[test]
fn a_slow_reader_holds_the_sender_back() {
    let (mut simulation, server) = simulation();
    let window_max = 8;
    let settings = StreamSettings { window_max, ..StreamSettings::default() };
    let sent = Rc::new(Cell::new(0_u32));
    let ahead_max = Rc::new(Cell::new(0_u32));
    let sent_by_client = sent.clone();
    let client = |context: Context<Number>| async move {
        let connect = context.connect(server, ms(5_000)).settings(settings);
        let mut stream = connect.await.expect("the server listens");
        for number in 0..100 {
            stream.send(Number(number)).await.expect("it is open");
            sent_by_client.set(number + 1);
        }
    };
    simulation.add("client", client).expecting(());
    let ahead_max_seen = ahead_max.clone();
    let serve = |context: Context<Number>| async move {
        let mut listener = context.listen(PORT);
        listener.set_settings(settings);
        let mut stream = listener.accept().await;
        let mut received = 0;
        // Much longer than the sender would wait for an acknowledgement.
        context.pause(ms(100_000)).await;
        while let Ok(Some(Number(number))) = stream.recv().await {
            assert_eq!(number, received);
            received += 1;
            ahead_max_seen.set(ahead_max_seen.get().max(sent.get() - received));
            context.pause(ms(1_000)).await;
        }
        received
    };
    simulation.add("server", serve).expecting(100);
    let report = run(simulation);
    // A window at each end, and one message that was received since.
    assert!((window_max..=2 * window_max).contains(&ahead_max.get()), "{}", ahead_max.get());
    assert_eq!(count(&report, |action| matches!(action, Action::Dropped { .. })), 0);
    assert!(!kinds(&report).contains(&"PROBE".to_owned()), "the reader says by itself that there is room");
}

#[test]
fn news_of_room_that_is_lost_is_asked_for() {
    let (mut simulation, server) = simulation();
    // All acknowledgements around the time at which the server begins to receive.
    let rule = Rule { since: at_ms(900), until: Some(at_ms(1_500)), ..drop_of("ACK", Occurrences::All) };
    simulation.network(Network { rules: vec![rule], ..Network::constant(ms(10)) });
    let settings = StreamSettings { window_max: 2, ..StreamSettings::default() };
    let client = |context: Context<Number>| async move {
        let mut stream = connect(&context, server).await;
        for number in 0..10 {
            stream.send(Number(number)).await.expect("it is open");
        }
    };
    simulation.add("client", client).expecting(());
    let serve = |context: Context<Number>| async move {
        let mut listener = context.listen(PORT);
        listener.set_settings(settings);
        let mut stream = listener.accept().await;
        context.pause(ms(1_000)).await;
        drain(&mut stream).await
    };
    simulation.add("server", serve).expecting(((0..10).collect(), Ok(())));
    assert!(kinds(&run(simulation)).contains(&"PROBE".to_owned()));
}

#[test]
fn a_sender_without_room_finds_out_that_the_other_end_has_crashed() {
    for (faults, error) in [(vec![crash(1_000)], TIMED_OUT), (vec![crash(1_000), restart(1_001)], BROKEN_BY_PEER)] {
        let (mut simulation, server) = simulation();
        simulation.faults(Faults { schedule: faults, ..Faults::default() });
        let client = |context: Context<Number>| async move {
            let settings = StreamSettings { window_max: 1, ..StreamSettings::default() };
            let connect = context.connect(server, ms(5_000)).settings(settings);
            let mut stream = connect.await.expect("the server listens");
            loop {
                if let Err(error) = stream.send(Number(0)).await {
                    return error;
                }
            }
        };
        simulation.add("client", client).expecting(error);
        simulation.add_restartable("server", |context| async move {
            let mut listener = context.listen(PORT);
            let _stream = listener.accept().await;
            listener.accept().await;
        });
        run(simulation);
    }
}

#[test]
fn who_sends_to_a_component_that_was_restarted_is_reset() {
    let (mut simulation, server) = simulation();
    simulation.faults(Faults { schedule: vec![crash(1_000), restart(2_000)], ..Faults::default() });
    let client = |context: Context<Number>| async move {
        let mut stream = connect(&context, server).await;
        let error = send_until_broken(&context, &mut stream).await;
        let again = connect(&context, server).await;
        (error, again.remote() == server)
    };
    simulation.add("client", client).expecting((BROKEN_BY_PEER, true));
    simulation.add_restartable("server", |context| async move {
        let mut stream = accept(&context).await;
        drain(&mut stream).await.1
    });
    let report = run(simulation);
    assert_eq!(count(&report, |action| matches!(action, Action::Reset { reason: ResetReason::Peer, .. })), 1);
}

#[test]
fn a_crash_says_nothing() {
    let (mut simulation, server) = simulation();
    simulation.faults(Faults { schedule: vec![crash(1_000)], ..Faults::default() });
    let client = |context: Context<Number>| async move { connect(&context, server).await.recv().await };
    simulation.add("client", client);
    simulation.add("server", |context| async move { accept(&context).await.recv().await });
    let report = run(simulation);
    assert_eq!(kinds(&report), ["SYN", "SYN-ACK", "ACK"]);
    let waits = &report.waiting[0].waits;
    assert_eq!(waits.len(), 1);
    assert_eq!(waits[0].to_string(), "a message on the stream from server:80 (since 0.02 s)");
}

#[test]
fn waits_for_streams_are_named() {
    let (mut simulation, server) = simulation();
    simulation.add("client", |context| async move {
        let mut stream = connect(&context, server).await;
        loop {
            stream.send(Number(0)).await.expect("it is open");
        }
    });
    simulation.add("server", |context| async move {
        let mut listener = context.listen(PORT);
        let _stream = listener.accept().await;
        listener.accept().await;
    });
    let report = run(simulation);
    let waits: Vec<String> =
        report.waiting.iter().flat_map(|waiting| &waiting.waits).map(ToString::to_string).collect();
    assert_eq!(waits, ["room on the stream to server:80 (since 0.04 s)", "a stream to port 80 (since 0.03 s)"]);
}

#[test]
fn a_partition_that_heals_soon_is_survived_and_one_that_lasts_breaks_both_ends() {
    for (until, expect) in [(Some(10_000), Ok(())), (None, Err(TIMED_OUT))] {
        let (mut simulation, server) = simulation();
        simulation.network(Network { partitions: vec![partition(500, until)], ..Network::constant(ms(10)) });
        let talk = async |context: Context<Number>, mut stream: Stream<Number>| {
            for number in 0..100 {
                stream.send(Number(number)).await?;
                context.pause(ms(10)).await;
            }
            stream.finish();
            let (numbers, end) = drain(&mut stream).await;
            assert!(end.is_err() || numbers.len() == 100);
            end
        };
        let client = async move |context: Context<Number>| {
            let stream = connect(&context, server).await;
            talk(context, stream).await
        };
        simulation.add("client", client).expecting(expect);
        let serve = async move |context: Context<Number>| {
            let stream = accept(&context).await;
            talk(context, stream).await
        };
        simulation.add("server", serve).expecting(expect);
        let report = run(simulation);
        let resets = count(&report, |action| matches!(action, Action::Reset { .. }));
        assert_eq!(resets, if expect.is_ok() { 0 } else { 2 });
    }
}

#[test]
fn a_paused_component_still_acknowledges() {
    let (mut simulation, server) = simulation();
    let fault = Fault::Pause { component: "server".to_owned(), duration: ms(60_000) };
    let schedule = vec![ScheduledFault { at: at_ms(100), fault }];
    simulation.faults(Faults { schedule, ..Faults::default() });
    let client = |context: Context<Number>| async move {
        let mut stream = connect(&context, server).await;
        context.pause(ms(200)).await;
        for number in 0..10 {
            stream.send(Number(number)).await.expect("it is open");
        }
        stream.finish();
        stream.recv().await
    };
    simulation.add("client", client).expecting(Ok(None));
    let serve = |context: Context<Number>| async move { (drain(&mut accept(&context).await).await, context.now()) };
    simulation.add("server", serve).expecting((((0..10).collect(), Ok(())), at_ms(60_100)));
    let report = run(simulation);
    assert_eq!(kinds(&report).iter().filter(|kind| *kind == "NUMBER").count(), 10, "nothing was sent twice");
}

#[test]
fn a_stream_that_is_dropped_with_something_unread_is_reset_and_otherwise_sends_what_it_has() {
    for (reads, expect) in [(1, (vec![7], Ok(()))), (0, (vec![], Err(BROKEN_BY_PEER)))] {
        let (mut simulation, server) = simulation();
        let client = |context: Context<Number>| async move {
            let mut stream = connect(&context, server).await;
            stream.send(Number(1)).await.expect("it is open");
            drain(&mut stream).await
        };
        simulation.add("client", client).expecting(expect);
        simulation.add("server", move |context| async move {
            let mut stream = accept(&context).await;
            context.pause(ms(100)).await;
            for _ in 0..reads {
                stream.recv().await.expect("it is open");
                stream.send(Number(7)).await.expect("it is open");
            }
        });
        run(simulation);
    }
}

#[test]
fn who_sends_to_a_stream_that_was_dropped_is_reset() {
    let (mut simulation, server) = simulation();
    let client = |context: Context<Number>| async move {
        let mut stream = connect(&context, server).await;
        assert_eq!(stream.recv().await, Ok(None));
        // The end was told, so it stays what is received.
        (send_until_broken(&context, &mut stream).await, stream.recv().await)
    };
    simulation.add("client", client).expecting((BROKEN_BY_PEER, Ok(None)));
    simulation.add("server", |context| async move { drop(accept(&context).await) });
    run(simulation);
}

#[test]
fn futures_that_are_dropped_lose_nothing() {
    let (mut simulation, server) = simulation();
    let client = |context: Context<Number>| async move {
        let mut stream = connect(&context, server).await;
        for number in 0..20 {
            stream.send(Number(number)).await.expect("it is open");
            context.pause(ms(35)).await;
        }
    };
    simulation.add("client", client).expecting(());
    let serve = |context: Context<Number>| async move {
        let mut listener = context.listen(PORT);
        let mut stream = loop {
            if let Either2::First(stream) = select((listener.accept(), context.pause(ms(7)))).await {
                break stream;
            }
        };
        let mut numbers = Vec::new();
        loop {
            match select((stream.recv(), context.pause(ms(10)))).await {
                Either2::First(Ok(Some(Number(number)))) => numbers.push(number),
                Either2::First(end) => return (numbers, end),
                Either2::Second(()) => {}
            }
        }
    };
    simulation.add("server", serve).expecting(((0..20).collect(), Ok(None)));
    run(simulation);
}

#[test]
fn a_connect_that_is_dropped_takes_the_request_back() {
    let (mut simulation, server) = simulation();
    let client = |context: Context<Number>| async move {
        let attempt = select((context.connect(server, ms(5_000)), context.pause(ms(15)))).await;
        matches!(attempt, Either2::Second(()))
    };
    simulation.add("client", client).expecting(true);
    simulation.add("server", |context| async move { drop(accept(&context).await) });
    let report = run(simulation);
    assert_eq!(kinds(&report), ["SYN", "SYN-ACK", "RST"]);
    assert_eq!(report.ended_at, at_ms(30));
    assert_eq!(report.waiting.len(), 1, "the server has nothing to accept");
}

#[test]
fn halves_serve_two_tasks_and_the_sender_that_is_dropped_finishes() {
    let (mut simulation, server) = simulation();
    let client = |mut context: Context<Number>| async move {
        let (mut sender, mut receiver) = connect(&context, server).await.split();
        let sending = context.spawn(|context| async move {
            for number in 0..100 {
                sender.send(Number(number)).await.expect("it is open");
                context.pause(ms(1)).await;
            }
        });
        let mut echoed = 0;
        while let Ok(Some(Number(number))) = receiver.recv().await {
            assert_eq!(number, echoed);
            echoed += 1;
        }
        (echoed, sending.is_over())
    };
    simulation.add("client", client).expecting((100, true));
    let serve = |context: Context<Number>| async move {
        let mut stream = accept(&context).await;
        while let Ok(Some(number)) = stream.recv().await {
            stream.send(number).await.expect("it is open");
        }
    };
    simulation.add("server", serve).expecting(());
    run(simulation);
}

#[test]
fn a_component_can_have_a_stream_to_itself() {
    let (mut simulation, server) = simulation();
    let body = |context: Context<Number>| async move {
        let mut listener = context.listen(PORT);
        let mut client = connect(&context, server).await;
        let mut stream = listener.accept().await;
        client.send(Number(1)).await.expect("it is open");
        client.finish();
        drain(&mut stream).await
    };
    simulation.add("server", body).expecting((vec![1], Ok(())));
    run(simulation);
}

#[test]
fn corrupted_segments_are_discarded_and_sent_again() {
    let (mut simulation, server) = simulation();
    let corrupt = Probability::new(0.3).expect("it is one");
    simulation.network(Link { corrupt, ..Link::constant(ms(10)) });
    let client = |context: Context<Number>| async move {
        let mut stream = connect(&context, server).await;
        for number in 0..50 {
            stream.send(Number(number)).await.expect("it is open");
        }
    };
    simulation.add("client", client).expecting(());
    let serve = |context: Context<Number>| async move { drain(&mut accept(&context).await).await };
    simulation.add("server", serve).expecting(((0..50).collect(), Ok(())));
    let report = run(simulation);
    assert!(count(&report, |action| matches!(action, Action::Dropped { reason: DropReason::Checksum, .. })) > 10);
}

#[test]
fn segments_are_chosen_about_as_all_packets_are() {
    let (mut simulation, server) = simulation();
    let rarely = Probability::new(0.000_001).expect("it is one");
    simulation.network(Link { drop: rarely.into(), ..Link::constant(ms(10)) });
    let lost =
        RecordedChoice { stream: "network client->server".to_owned(), index: 0, kind: ChoiceKind::Drop, value: 1 };
    simulation.choices(Replay::new([lost]));
    let client = |context: Context<Number>| async move {
        connect(&context, server).await;
        context.now()
    };
    simulation.add("client", client).expecting(at_ms(1_020));
    simulation.add("server", |context| async move { drop(accept(&context).await) });
    run(simulation);
}

#[test]
fn a_group_cannot_be_connected_to() {
    let (mut simulation, _) = simulation();
    let client = |context: Context<Number>| async move {
        let _ = context.connect(context.broadcast(PORT), ms(1)).await;
    };
    simulation.add("client", client);
    assert!(matches!(simulation.run().ended, Ended::Abnormal(_)));
}

/// What is random about a run of the property test.
#[derive(Debug, Clone)]
struct Case {
    seed: u64,
    drop: f64,
    duplicate: f64,
    reorder: f64,
    latency_max: u64,
    window_max: u32,
    client: Script,
    server: Script,
    disturbance: Disturbance,
}

/// What an end does.
#[derive(Debug, Clone, Copy)]
struct Script {
    sends: u32,
    /// Before each message, at most.
    send_pause: u64,
    recv_pause: u64,
    /// After so many messages it receives no more.
    recv_max: Option<u32>,
}

#[derive(Debug, Clone, Copy)]
enum Disturbance {
    None,
    Crash { at: u64, restart_after: Option<u64> },
    Partition { from: u64, lasts: Option<u64> },
}

fn scripts() -> impl Strategy<Value = Script> {
    let recv_max = prop_oneof![3 => Just(None), 1 => (0..40_u32).prop_map(Some)];
    (0..60_u32, 0..40_u64, 0..40_u64, recv_max).prop_map(|(sends, send_pause, recv_pause, recv_max)| Script {
        sends,
        send_pause,
        recv_pause,
        recv_max,
    })
}

fn disturbances() -> impl Strategy<Value = Disturbance> {
    let times = || 0..3_000_u64;
    prop_oneof![
        2 => Just(Disturbance::None),
        1 => (times(), proptest::option::of(times()))
            .prop_map(|(at, restart_after)| Disturbance::Crash { at, restart_after }),
        1 => (times(), proptest::option::of(1..60_000_u64))
            .prop_map(|(from, lasts)| Disturbance::Partition { from, lasts }),
    ]
}

fn cases() -> impl Strategy<Value = Case> {
    let link = (0.0..0.4, 0.0..0.3, 0.0..0.3, 1..200_u64);
    (any::<u64>(), link, 1..20_u32, scripts(), scripts(), disturbances()).prop_map(
        |(seed, (drop, duplicate, reorder, latency_max), window_max, client, server, disturbance)| Case {
            seed,
            drop,
            duplicate,
            reorder,
            latency_max,
            window_max,
            client,
            server,
            disturbance,
        },
    )
}

/// What an end did.
#[derive(Debug, Clone, Default, PartialEq)]
struct Done {
    /// How many messages the stream took.
    sent: u32,
    received: Vec<u32>,
    /// How receiving ended, if it did.
    end: Option<Result<(), StreamError>>,
}

type Record = Rc<RefCell<Done>>;

/// Sends and receives side by side, as the script says.
async fn talk(mut context: Context<Number>, stream: Stream<Number>, script: Script, record: Record) {
    let (mut sender, mut receiver) = stream.split();
    let record_of_sending = record.clone();
    let sending = context.spawn(move |mut context: Context<Number>| async move {
        for number in 0..script.sends {
            let pause = context.random().uniform(0..=script.send_pause);
            context.pause(ms(pause)).await;
            if sender.send(Number(number)).await.is_err() {
                return;
            }
            record_of_sending.borrow_mut().sent += 1;
        }
    });
    for count in 0.. {
        if script.recv_max == Some(count) {
            break;
        }
        match receiver.recv().await {
            Ok(Some(Number(number))) => record.borrow_mut().received.push(number),
            Ok(None) => {
                record.borrow_mut().end = Some(Ok(()));
                break;
            }
            Err(error) => {
                record.borrow_mut().end = Some(Err(error));
                return;
            }
        }
        let pause = context.random().uniform(0..=script.recv_pause);
        context.pause(ms(pause)).await;
    }
    if script.recv_max.is_none() {
        // What it has to send is sent before the stream is dropped.
        sending.await.expect("nobody cancels it");
    }
}

fn play(case: &Case) -> (Report, Record, Record) {
    let mut simulation = Simulation::new(case.seed);
    simulation.record_trace();
    let probability = |value| Probability::new(value).expect("it is one");
    let hold = Latency::Uniform { min: ms(1), max: ms(300) };
    let link = Link {
        latency: Latency::Uniform { min: ms(1), max: ms(case.latency_max) },
        drop: probability(case.drop).into(),
        duplicate: probability(case.duplicate),
        reorder: Some(Reorder { probability: probability(case.reorder), hold }),
        ..Link::default()
    };
    let mut network = Network::from(link);
    match case.disturbance {
        Disturbance::None => {}
        Disturbance::Crash { at, restart_after } => {
            let restart = restart_after.map(|after| restart(at + after));
            let schedule = [crash(at)].into_iter().chain(restart).collect();
            simulation.faults(Faults { schedule, ..Faults::default() });
        }
        Disturbance::Partition { from, lasts } => {
            network.partitions.push(partition(from, lasts.map(|lasts| from + lasts)));
        }
    }
    simulation.network(network);
    // An undisturbed stream must never be given up; a disturbed one may be at any time.
    let give_up_after = match case.disturbance {
        Disturbance::None => VirtualDuration::from_secs(10_000_000),
        _ => VirtualDuration::from_secs(20),
    };
    let settings = StreamSettings { window_max: case.window_max, give_up_after };
    let address = simulation.address("server", PORT);
    let (of_client, of_server) = (Record::default(), Record::default());
    let (script, record) = (case.client, of_client.clone());
    simulation.add("client", move |context| async move {
        let connect = context.connect(address, give_up_after).settings(settings);
        if let Ok(stream) = connect.await {
            talk(context, stream, script, record).await;
        }
    });
    let (script, record) = (case.server, of_server.clone());
    simulation.add_restartable("server", move |context| {
        let record = record.clone();
        async move {
            let mut listener = context.listen(PORT);
            listener.set_settings(settings);
            let stream = listener.accept().await;
            talk(context, stream, script, record).await;
        }
    });
    (simulation.run(), of_client, of_server)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_received_is_a_prefix_of_what_was_sent_and_all_of_it_if_nothing_is_in_the_way(case in cases()) {
        let (report, of_client, of_server) = play(&case);
        // It ends because nothing is left to happen, and not at a limit.
        prop_assert_eq!(&report.ended, &Ended::Passed);
        let is_in_the_way = case.client.recv_max.or(case.server.recv_max).is_some()
            || !matches!(case.disturbance, Disturbance::None);
        for (receiver, sender, sends) in
            [(&of_client, &of_server, case.server.sends), (&of_server, &of_client, case.client.sends)]
        {
            let (Done { received, end, .. }, sent) = (&*receiver.borrow(), sender.borrow().sent);
            let is_prefix = received.iter().copied().eq(0..received.len() as u32) && received.len() as u32 <= sent;
            prop_assert!(is_prefix, "{received:?} of {sent}");
            if *end == Some(Ok(())) {
                prop_assert!(received.len() as u32 == sent, "an end comes after everything: {received:?} of {sent}");
            }
            if !is_in_the_way {
                prop_assert_eq!((*end, sent), (Some(Ok(())), sends));
            }
        }
        if !is_in_the_way {
            prop_assert_eq!(report.waiting.len(), 0);
        }
    }

    #[test]
    fn equal_seeds_give_equal_streams(case in cases()) {
        let (first, of_client, _) = play(&case);
        let (second, of_client_again, _) = play(&case);
        prop_assert_eq!(first, second);
        prop_assert_eq!(of_client, of_client_again);
    }
}

#[test]
fn a_child_that_is_cancelled_by_who_hears_of_a_reset_first_does_not_hear_of_it() {
    let (mut simulation, server) = simulation();
    simulation.record_trace();
    simulation.add("server", |context| async move {
        let stream = accept(&context).await;
        context.pause(ms(1_000)).await;
        drop(stream);
    });
    simulation.add("client", move |mut context| async move {
        let settings = StreamSettings { window_max: 1, ..StreamSettings::default() };
        let stream = context.connect(server, ms(5_000)).settings(settings).await.expect("somebody listens");
        let (mut sender, mut receiver) = stream.split();
        let child = context.spawn(move |context| async move {
            while sender.send(Number(1)).await.is_ok() {}
            context.note(|| "the child goes on".to_owned());
        });
        receiver.recv().await.expect_err("the other end drops what it has not read");
        child.cancel();
        context.pause(ms(10)).await;
    });
    let report = run(simulation);
    assert!(count(&report, |action| matches!(action, Action::Reset { .. })) > 0);
    assert_eq!(count(&report, |action| matches!(action, Action::Noted { .. })), 0);
}
