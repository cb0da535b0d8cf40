//! What channels, pauses and the network promise to components.

use std::cell::RefCell;
use std::fmt::Debug;
use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use simutant_sim_core::{
    Context, Ended, Latency, Link, Message, Network, Probability, Report, Simulation, TimedOut, VirtualDuration,
    VirtualTime, select,
};

use crate::ms;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Number(u32);

impl Message for Number {
    fn kind(&self) -> &'static str {
        "NUMBER"
    }
}

fn at_ms(millis: u64) -> VirtualTime {
    VirtualTime::from_millis(millis)
}

/// A network that takes 10 ms, and a component `receiver` with what it must return; `senders` adds the others.
#[track_caller]
fn check<T, F>(
    senders: impl FnOnce(&mut Simulation<Number>),
    receiver: impl FnOnce(Context<Number>) -> F,
    expect: T,
) -> Report
where
    T: Debug + PartialEq + 'static,
    F: Future<Output = T> + 'static,
{
    let mut simulation = Simulation::new(1);
    simulation.network(Network::constant(ms(10)));
    simulation.add("receiver", receiver).expecting(expect);
    senders(&mut simulation);
    let report = simulation.run();
    assert!(report.ended.passed(), "{}", report.ended);
    report
}

/// Adds a component that sends one number at a time.
fn send_at(simulation: &mut Simulation<Number>, port: u16, number: u32, at: VirtualTime) {
    let to = simulation.address("receiver", port);
    let body = |context: Context<Number>| async move { context.channel().send(to, Number(number)) };
    simulation.add(&format!("sender of {number} to {port}"), body).starting_at(at);
}

#[test]
fn messages_are_received_in_the_order_of_arrival_and_equal_arrivals_in_that_of_sending() {
    check(
        |simulation| {
            send_at(simulation, 80, 3, at_ms(5));
            send_at(simulation, 80, 1, at_ms(0));
            send_at(simulation, 80, 2, at_ms(0));
        },
        |context| async move {
            let mut channel = context.channel_at(80);
            context.pause(ms(100)).await;
            [channel.recv().await.message.0, channel.recv().await.message.0, channel.recv().await.message.0]
        },
        [1, 2, 3],
    );
}

#[test]
fn a_delivery_names_both_ends() {
    check(
        |simulation| send_at(simulation, 80, 1, at_ms(0)),
        |context| async move {
            let mut channel = context.channel_at(80);
            let delivery = channel.recv().await;
            let ends = (delivery.destination == channel.address(), delivery.source.port());
            (ends, delivery.destination.is_same_component(context.address(81)), context.now())
        },
        ((true, 49_152), true, at_ms(10)),
    );
}

#[test]
fn a_receive_times_out_when_nothing_comes() {
    let report = check(
        |_| {},
        |context| async move {
            let outcome = context.channel().recv_timeout(ms(30)).await;
            (outcome, context.now())
        },
        (Err(TimedOut), at_ms(30)),
    );
    assert_eq!(report.ended_at, at_ms(30));
}

#[test]
fn a_message_at_the_instant_of_the_timeout_is_in_time_if_it_was_sent_before_the_wait() {
    let receive = |context: Context<Number>| async move {
        let mut channel = context.channel_at(80);
        // The sender sends at 5 ms, so its message arrives at 15 ms.
        context.pause(ms(8)).await;
        channel.recv_timeout(ms(7)).await.map(|delivery| delivery.message)
    };
    check(|simulation| send_at(simulation, 80, 1, at_ms(5)), receive, Ok(Number(1)));
    let receive = |context: Context<Number>| async move {
        let mut channel = context.channel_at(80);
        channel.recv_timeout(ms(15)).await.map(|delivery| delivery.message)
    };
    check(|simulation| send_at(simulation, 80, 1, at_ms(5)), receive, Err(TimedOut));
}

#[test]
fn a_timeout_that_did_not_fire_does_not_move_the_clock() {
    let report = check(
        |simulation| send_at(simulation, 80, 1, at_ms(0)),
        |context| async move {
            let mut channel = context.channel_at(80);
            channel.recv_timeout(VirtualDuration::from_secs(3_600)).await.is_ok()
        },
        true,
    );
    assert_eq!(report.ended_at, at_ms(10));
}

#[test]
fn dropping_a_receive_loses_no_message_and_leaves_no_timer() {
    let report = check(
        |simulation| send_at(simulation, 80, 1, at_ms(0)),
        |context| async move {
            let mut channel = context.channel_at(80);
            {
                let mut recv = pin!(channel.recv_timeout(VirtualDuration::from_secs(3_600)));
                let polled_once = std::future::poll_fn(|task| Poll::Ready(recv.as_mut().poll(task))).await;
                assert!(polled_once.is_pending());
            }
            assert_eq!(channel.try_recv(), None);
            context.pause(ms(11)).await;
            channel.try_recv().map(|delivery| delivery.message)
        },
        Some(Number(1)),
    );
    assert_eq!(report.ended_at, at_ms(11));
}

#[test]
fn a_dropped_pause_leaves_no_timer() {
    let report = check(
        |_| {},
        |context| async move {
            let mut pause = Box::pin(context.pause(VirtualDuration::from_secs(3_600)));
            assert!(std::future::poll_fn(|task| Poll::Ready(pause.as_mut().poll(task))).await.is_pending());
        },
        (),
    );
    assert_eq!((report.ended_at, report.events), (VirtualTime::ZERO, 1));
}

#[test]
fn a_pause_of_no_time_lets_what_is_scheduled_for_this_instant_happen() {
    let order = Rc::new(RefCell::new(Vec::new()));
    let body = |name: &'static str| {
        let order = order.clone();
        move |context: Context<Number>| async move {
            order.borrow_mut().push(name);
            context.pause(VirtualDuration::ZERO).await;
            order.borrow_mut().push(name);
        }
    };
    let mut simulation = Simulation::new(1);
    simulation.add("a", body("a"));
    simulation.add("b", body("b"));
    assert!(simulation.run().ended.passed());
    assert_eq!(*order.borrow(), ["a", "b", "a", "b"]);
}

#[test]
fn select_receives_from_whichever_channel_has_a_message_and_the_first_if_several_have() {
    check(
        |simulation| {
            send_at(simulation, 81, 1, at_ms(0));
            send_at(simulation, 80, 2, at_ms(20));
            send_at(simulation, 81, 3, at_ms(20));
        },
        |context| async move {
            let (mut first, mut second) = (context.channel_at(80), context.channel_at(81));
            let mut received = Vec::new();
            for _ in 0..2 {
                let (index, delivery) = select([first.recv(), second.recv()]).await;
                received.push((index, delivery.message.0));
            }
            context.pause(ms(100)).await;
            let (index, delivery) = select([first.recv(), second.recv()]).await;
            received.push((index, delivery.message.0));
            received
        },
        vec![(1, 1), (0, 2), (1, 3)],
    );
}

#[test]
fn a_closed_port_loses_what_arrives_and_can_be_opened_again() {
    check(
        |simulation| {
            send_at(simulation, 80, 1, at_ms(0));
            send_at(simulation, 80, 2, at_ms(20));
        },
        |context| async move {
            drop(context.channel_at(80));
            context.pause(ms(15)).await;
            let mut channel = context.channel_at(80);
            (channel.try_recv(), channel.recv().await.message)
        },
        (None, Number(2)),
    );
}

#[test]
fn a_port_cannot_be_opened_twice() {
    let mut simulation = Simulation::<Number>::new(1);
    simulation.add("server", |context| async move {
        let _first = context.channel_at(80);
        context.channel_at(80);
    });
    let Ended::Abnormal(failure) = simulation.run().ended else { panic!("it panics") };
    assert_eq!(failure.message, "port 80 of server is in use: drop the other channel first");
}

#[test]
fn a_duplicate_arrives_with_a_latency_of_its_own() {
    let mut simulation = Simulation::new(1);
    let latency = Latency::Uniform { min: ms(10), max: ms(20) };
    simulation.network(Link { latency, duplicate: Probability::ONE, ..Link::default() });
    let arrivals = simulation.add("receiver", |context| async move {
        let mut channel = context.channel_at(80);
        let mut arrivals = Vec::new();
        while channel.recv_timeout(ms(100)).await.is_ok() {
            arrivals.push(context.now());
        }
        arrivals
    });
    let arrivals = arrivals.returned();
    send_at(&mut simulation, 80, 1, at_ms(0));
    assert!(simulation.run().ended.passed());
    let arrivals = arrivals.get().expect("it returned");
    assert!(arrivals.len() == 2 && arrivals[0] < arrivals[1], "{arrivals:?}");
    assert!(arrivals.iter().all(|arrival| (at_ms(10)..=at_ms(20)).contains(arrival)), "{arrivals:?}");
}

#[test]
fn a_component_is_running_until_the_run_is_over() {
    struct Watch(Context<Number>, Rc<RefCell<Vec<bool>>>);

    impl Drop for Watch {
        fn drop(&mut self) {
            self.1.borrow_mut().push(self.0.running());
        }
    }

    let seen = Rc::new(RefCell::new(Vec::new()));
    let mut simulation = Simulation::new(1);
    let returns = seen.clone();
    simulation.add("returns", |context| async move { drop(Watch(context, returns)) });
    let waits = seen.clone();
    simulation.add("waits", |context| async move {
        let mut channel = context.channel();
        let _watch = Watch(context, waits);
        channel.recv().await;
    });
    assert!(simulation.run().ended.passed());
    assert_eq!(*seen.borrow(), [true, false]);
}
