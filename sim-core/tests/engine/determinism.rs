//! A configuration and a seed fix a run.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, Wake, Waker};

use simutant_sim_core::trace::Action;
use simutant_sim_core::{Address, Context, Latency, Link, Message, Probability, Report, Simulation, VirtualDuration};

#[derive(Debug, Clone, Hash)]
struct Hello(u64);

impl Message for Hello {
    fn kind(&self) -> &'static str {
        "HELLO"
    }
}

const MILLI: VirtualDuration = VirtualDuration::from_millis(1);

/// Sends ten random numbers at random times.
async fn talker(mut context: Context<Hello>, to: Address) {
    let channel = context.channel();
    for _ in 0..10 {
        let wait = MILLI * context.random().uniform(0..20_u64);
        context.pause(wait).await;
        let number = context.random().bits();
        channel.send(to, Hello(number));
    }
}

async fn listener(context: Context<Hello>) -> u64 {
    let mut channel = context.channel_at(1);
    let mut sum = 0_u64;
    while let Ok(delivery) = channel.recv_timeout(MILLI * 100).await {
        sum = sum.wrapping_add(delivery.message.0);
    }
    sum
}

fn simulation(seed: u64) -> Simulation<Hello> {
    let mut simulation = Simulation::new(seed);
    let probability = |value| Probability::new(value).expect("it is one");
    let latency = Latency::Uniform { min: MILLI, max: MILLI * 30 };
    let link = Link { latency, drop: probability(0.2).into(), duplicate: probability(0.2), ..Link::default() };
    simulation.network(link);
    let to = simulation.address("listener", 1);
    for name in ["a", "b", "c"] {
        simulation.add(name, move |context| talker(context, to));
    }
    simulation.add("listener", listener);
    simulation
}

fn recorded(mut simulation: Simulation<Hello>) -> Report {
    simulation.record_trace();
    let report = simulation.run();
    assert!(report.ended.passed(), "{}", report.ended);
    report
}

#[test]
fn equal_seeds_give_equal_runs_and_others_give_others() {
    let report = recorded(simulation(7));
    assert_eq!(recorded(simulation(7)), report);
    assert_ne!(recorded(simulation(8)).digest, report.digest);
    let actions = &report.trace.as_ref().expect("it was asked for");
    let count = |is_meant: fn(&Action) -> bool| actions.iter().filter(|event| is_meant(&event.action)).count();
    let sent = count(|action| matches!(action, Action::Sent(_)));
    let dropped = count(|action| matches!(action, Action::Dropped { .. }));
    let duplicated = count(|action| matches!(action, Action::Duplicated(_)));
    let arrived = count(|action| matches!(action, Action::Delivered(_) | Action::Unreachable(_)));
    assert_eq!(sent, 30);
    assert_eq!(arrived, sent - dropped + duplicated);
    assert!(dropped > 0 && duplicated > 0);
}

#[test]
fn a_trace_changes_nothing_else() {
    let report = simulation(7).run();
    assert_eq!(report.trace, None);
    assert_eq!(report, Report { trace: None, ..recorded(simulation(7)) });
}

#[test]
fn the_digest_of_a_run_never_changes() {
    // If it does, old seeds give new runs: say so in the change log.
    let report = simulation(7).run();
    assert_eq!((report.digest, report.events), (12_533_715_209_745_087_968, 62));
    assert_eq!(report.ended_at.as_nanos(), 233_000_199);
}

#[test]
fn another_component_does_not_shift_the_draws_of_the_others() {
    let numbers = |simulation: Simulation<Hello>| -> Vec<String> {
        let trace = recorded(simulation).trace.expect("it was asked for");
        let of_a = trace.into_iter().filter_map(|event| match event.action {
            Action::Sent(packet) if packet.source.component == "a" => Some(format!("{} {}", event.at, packet.message)),
            _ => None,
        });
        of_a.collect()
    };
    let mut larger = simulation(7);
    let to = larger.address("listener", 1);
    larger.add("z", move |context| talker(context, to));
    assert_eq!(numbers(larger), numbers(simulation(7)));
}

#[test]
fn a_leak_from_outside_is_seen_in_the_digest() {
    thread_local! {
        static LEAK: Cell<u64> = const { Cell::new(0) };
    }
    let leaky = || {
        let mut simulation = simulation(7);
        simulation.add("leaky", |context| async move {
            let runs = LEAK.replace(LEAK.get() + 1);
            context.pause(MILLI * runs).await;
        });
        simulation.run().digest
    };
    assert_ne!(leaky(), leaky());
}

#[test]
fn a_trace_is_json_and_back() {
    let trace = recorded(simulation(7)).trace.expect("it was asked for");
    let json = serde_json::to_value(&trace).expect("it is plain data");
    assert_eq!(json[0], serde_json::json!({ "at_ns": 0, "action": "started", "component": "a" }));
    let sent = json.as_array().expect("it is a list").iter().find(|event| event["action"] == "sent");
    let sent = sent.expect("something was sent");
    assert_eq!(sent["kind"], "HELLO");
    assert_eq!(sent["destination"], serde_json::json!({ "component": "listener", "port": 1 }));
    assert_eq!(serde_json::from_value::<simutant_sim_core::trace::Trace>(json).expect("it was just written"), trace);
}

/// Polls a future with a waker of its own, as `FuturesUnordered` and most executors do.
struct Foreign<F>(Pin<Box<F>>);

struct Forward(Waker);

impl Wake for Forward {
    fn wake(self: Arc<Self>) {
        self.0.wake_by_ref();
    }
}

impl<F: Future> Future for Foreign<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<F::Output> {
        let waker = Waker::from(Arc::new(Forward(task.waker().clone())));
        self.0.as_mut().poll(&mut TaskContext::from_waker(&waker))
    }
}

#[test]
fn foreign_wakers_make_no_difference_to_what_components_see() {
    let results = |is_foreign: bool| {
        let mut simulation = Simulation::new(7);
        let to = simulation.address("listener", 1);
        simulation.add("talker", move |context| talker(context, to));
        let sum = match is_foreign {
            true => simulation.add("listener", |context| Foreign(Box::pin(listener(context)))).returned(),
            false => simulation.add("listener", listener).returned(),
        };
        let report = simulation.run();
        assert!(report.ended.passed(), "{}", report.ended);
        (*sum.get().expect("it returned"), report.ended_at)
    };
    assert_eq!(results(true), results(false));
}

#[test]
fn a_run_inside_a_component_is_a_world_of_its_own() {
    let inner = simulation(3).run();
    let mut outer = simulation(7);
    let nested = outer.add("nested", |context| async move {
        context.pause(MILLI).await;
        simulation(3).run()
    });
    nested.expecting(inner);
    let ended = outer.run().ended;
    assert!(ended.passed(), "{ended}");
}

#[test]
fn a_wake_that_comes_during_an_inner_run_is_heard_after_it() {
    let mut simulation = Simulation::<Hello>::new(1);
    let outcome = simulation.add("outer", |_| async {
        let mut polls = 0;
        std::future::poll_fn(move |task| {
            polls += 1;
            if polls == 2 {
                return Poll::Ready(polls);
            }
            let waker = task.waker().clone();
            let mut inner = Simulation::<Hello>::new(2);
            inner.add("inner", |context| async move {
                waker.wake();
                context.pause(MILLI).await;
            });
            assert!(inner.run().ended.passed());
            Poll::Pending
        })
        .await
    });
    outcome.expecting(2);
    let ended = simulation.run().ended;
    assert!(ended.passed(), "{ended}");
}

#[test]
fn the_digest_sees_who_sent_a_message_and_what_was_returned() {
    let digest = |sender: &'static str, result: u8| {
        let mut simulation = Simulation::<Hello>::new(1);
        let to = simulation.address("listener", 1);
        for name in ["a", "b"] {
            simulation.add(name, move |context| async move {
                let channel = context.channel();
                if name == sender {
                    channel.send(to, Hello(1));
                }
                result
            });
        }
        simulation.add("listener", |context| async move {
            context.channel_at(1).recv().await;
        });
        simulation.run().digest
    };
    assert_eq!(digest("a", 1), digest("a", 1));
    assert_ne!(digest("a", 1), digest("b", 1));
    assert_ne!(digest("a", 1), digest("a", 2));
}
