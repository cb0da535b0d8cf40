//! Child tasks, and waiting for whichever comes first.

use std::cell::RefCell;
use std::rc::Rc;

use simutant_sim_core::{
    Cancelled, Context, Either2, Either3, Fault, Faults, Network, ScheduledFault, Simulation, VirtualTime, fifo, select,
};

use crate::{Number, ms};

/// What is said, in order, with the milliseconds at which it is said.
#[derive(Debug, Clone, Default)]
struct Log(Rc<RefCell<Vec<(u64, String)>>>);

impl Log {
    fn say(&self, context: &Context<Number>, text: impl Into<String>) {
        self.0.borrow_mut().push((context.now().as_nanos() / 1_000_000, text.into()));
    }
}

/// Runs one component with a log, and checks what it says.
#[track_caller]
fn check<F: Future<Output = ()> + 'static>(body: impl FnOnce(Context<Number>, Log) -> F, expect: &[(u64, &str)]) {
    let mut simulation = Simulation::new(1);
    let log = Log::default();
    let its_log = log.clone();
    simulation.add("parent", |context| body(context, its_log)).expecting(());
    let ended = simulation.run().ended;
    assert!(ended.passed(), "{ended}");
    let said = log.0.borrow();
    let said: Vec<(u64, &str)> = said.iter().map(|(at, text)| (*at, text.as_str())).collect();
    assert_eq!(said, expect);
}

#[test]
fn children_begin_at_the_same_instant_when_the_parent_waits_in_the_order_of_spawning() {
    check(
        |mut context, log| async move {
            context.pause(ms(5)).await;
            for name in ["first", "second"] {
                let log = log.clone();
                drop(context.spawn(|context| async move { log.say(&context, name) }));
            }
            log.say(&context, "parent");
            context.pause(ms(1)).await;
            log.say(&context, "parent");
        },
        &[(5, "parent"), (5, "first"), (5, "second"), (6, "parent")],
    );
}

#[test]
fn a_child_is_a_future_of_what_it_returns() {
    check(
        |mut context, log| async move {
            let slow = context.spawn(|context| async move {
                context.pause(ms(20)).await;
                "slow"
            });
            let quick = context.spawn(|_| async { "quick" });
            assert!(!quick.is_over(), "it has not begun");
            log.say(&context, slow.await.expect("nobody cancels it"));
            assert!(quick.is_over());
            log.say(&context, quick.await.expect("nobody cancels it"));
        },
        &[(20, "slow"), (20, "quick")],
    );
}

#[test]
fn a_child_that_is_cancelled_does_nothing_more_and_says_so() {
    check(
        |mut context, log| async move {
            let its_log = log.clone();
            let mut child = context.spawn(|context| async move {
                its_log.say(&context, "begins");
                context.pause(ms(10)).await;
                its_log.say(&context, "never");
            });
            let its_log = log.clone();
            let unborn = context.spawn(|context| async move { its_log.say(&context, "never") });
            unborn.cancel();
            context.pause(ms(5)).await;
            assert_eq!((child.is_over(), unborn.is_over()), (false, true));
            child.cancel();
            child.cancel();
            assert_eq!((&mut child).await, Err(Cancelled));
            assert_eq!(child.await, Err(Cancelled));
            assert_eq!(unborn.await, Err(Cancelled));
            log.say(&context, "ends");
        },
        &[(0, "begins"), (5, "ends")],
    );
}

#[test]
fn to_cancel_a_child_that_returned_keeps_its_result() {
    check(
        |mut context, log| async move {
            let child = context.spawn(|_| async { "result" });
            context.pause(ms(1)).await;
            child.cancel();
            context.pause(ms(1)).await;
            // Another task has its place now.
            let other = context.spawn(|context| async move {
                context.pause(ms(1)).await;
                "other"
            });
            child.cancel();
            log.say(&context, other.await.expect("nobody cancels it"));
            log.say(&context, child.await.expect("it had returned"));
        },
        &[(3, "other"), (3, "result")],
    );
}

#[test]
fn a_child_goes_on_without_its_handle_and_without_the_child_that_spawned_it() {
    check(
        |mut context, log| async move {
            drop(context.spawn(|mut context| async move {
                drop(context.spawn(|context| async move {
                    context.pause(ms(10)).await;
                    log.say(&context, "grandchild");
                }));
            }));
            context.pause(ms(20)).await;
        },
        &[(10, "grandchild")],
    );
}

#[test]
fn children_end_with_the_body_of_their_component() {
    let mut simulation = Simulation::new(1);
    let log = Log::default();
    let its_log = log.clone();
    simulation.add("parent", |mut context| async move {
        drop(context.spawn(|context| async move {
            context.pause(ms(10)).await;
            its_log.say(&context, "never");
        }));
        context.pause(ms(5)).await;
        // This one has not even begun.
        drop(context.spawn(|context| async move { panic!("{} goes on", context.name()) }));
    });
    let report = simulation.run();
    assert!(report.ended.passed(), "{}", report.ended);
    assert_eq!((report.ended_at, log.0.take()), (VirtualTime::from_millis(5), vec![]));
}

#[test]
fn children_die_when_their_component_crashes_and_a_restart_begins_without_them() {
    let mut simulation = Simulation::new(1);
    let crash = Fault::Crash { component: "parent".to_owned() };
    let restart = Fault::Restart { component: "parent".to_owned(), durable_state: Default::default() };
    let at = |millis, fault| ScheduledFault { at: VirtualTime::from_millis(millis), fault };
    simulation.faults(Faults { schedule: vec![at(25, crash), at(30, restart)], ..Faults::default() });
    let log = Log::default();
    let its_log = log.clone();
    simulation.add_restartable("parent", move |mut context| {
        let log = its_log.clone();
        async move {
            let child = context.spawn(|context| async move {
                for _ in 0..3 {
                    context.pause(ms(10)).await;
                    log.say(&context, "child");
                }
            });
            child.await
        }
    });
    let ended = simulation.run().ended;
    assert!(ended.passed(), "{ended}");
    let times: Vec<u64> = log.0.borrow().iter().map(|(at, _)| *at).collect();
    assert_eq!(times, [10, 20, 40, 50, 60]);
}

#[test]
fn a_panic_of_a_child_is_one_of_its_component() {
    let mut simulation = Simulation::<Number>::new(1);
    simulation.add("parent", |mut context| async move {
        let child = context.spawn(|context| async move {
            context.pause(ms(3)).await;
            panic!("{} is blown", context.name());
        });
        child.await
    });
    assert_eq!(simulation.run().ended.to_string(), "abnormal: parent panicked at 0.003 s: parent is blown");
}

#[test]
fn each_child_draws_from_a_stream_of_its_own() {
    let draws = |draws_more: bool| {
        let mut simulation = Simulation::<Number>::new(1);
        let draws = simulation.add("parent", move |mut context| async move {
            let first = context.spawn(|mut context| async move { context.random().bits() });
            let second = context.spawn(|mut context| async move {
                // Neither what a sibling draws nor its own children shift the others.
                let own = context.spawn(|mut context| async move { context.random().bits() });
                let own = own.await.expect("nobody cancels it");
                if draws_more { own ^ context.random().bits() } else { own }
            });
            let last = context.spawn(|mut context| async move { context.random().bits() });
            let parent = context.random().bits();
            [first.await, second.await, last.await, Ok(parent)].map(|draw| draw.expect("nobody cancels it"))
        });
        let draws = draws.returned();
        assert!(simulation.run().ended.passed());
        *draws.get().expect("it returned")
    };
    let (with, without) = (draws(true), draws(false));
    assert_eq!([with[0], with[2], with[3]], [without[0], without[2], without[3]]);
    assert_ne!(with[1], without[1]);
    let distinct: std::collections::BTreeSet<u64> = without.into_iter().collect();
    assert_eq!(distinct.len(), 4);
}

#[test]
fn select_waits_for_futures_of_different_types_and_drops_those_that_come_too_late() {
    check(
        |mut context, log| async move {
            let (sender, mut receiver) = fifo();
            let its_log = log.clone();
            drop(context.spawn(|context| async move {
                context.pause(ms(10)).await;
                its_log.say(&context, "sends");
                sender.send(7);
                context.pause(ms(100)).await;
            }));
            let mut channel = context.channel();
            let first = select((channel.recv(), context.pause(ms(5)), receiver.recv())).await;
            assert!(matches!(first, Either3::Second(())), "{first:?}");
            let first = select((receiver.recv(), context.pause(ms(50)))).await;
            assert_eq!(first, Either2::First(Some(7)));
            log.say(&context, "received");
            // Of several that are ready the first counts.
            assert_eq!(select((std::future::ready(1), std::future::ready(2))).await, Either2::First(1));
        },
        &[(10, "sends"), (10, "received")],
    );
}

#[test]
fn a_fifo_gives_what_it_was_given_in_order_and_ends_with_its_last_sender() {
    check(
        |mut context, log| async move {
            let (sender, mut receiver) = fifo();
            let other = sender.clone();
            sender.send(1);
            sender.send(2);
            assert_eq!((receiver.len(), receiver.is_empty()), (2, false));
            drop(sender);
            drop(context.spawn(|context| async move {
                context.pause(ms(7)).await;
                other.send(3);
                context.pause(ms(1)).await;
            }));
            while let Some(item) = receiver.recv().await {
                log.say(&context, item.to_string());
            }
            log.say(&context, "over");
            assert!(receiver.is_empty());
        },
        &[(0, "1"), (0, "2"), (7, "3"), (8, "over")],
    );
}

#[test]
fn a_fifo_between_components_wakes_the_receiver_at_the_same_instant() {
    let mut simulation = Simulation::<Number>::new(1);
    simulation.network(Network::constant(ms(10)));
    let (sender, mut receiver) = fifo();
    simulation
        .add("receiver", |context| async move { (receiver.recv().await, context.now()) })
        .expecting((Some("item"), VirtualTime::from_millis(4)));
    simulation.add("sender", |context| async move {
        context.pause(ms(4)).await;
        sender.send("item");
    });
    let ended = simulation.run().ended;
    assert!(ended.passed(), "{ended}");
}

#[test]
fn a_receive_from_a_fifo_that_was_dropped_is_not_woken() {
    let mut simulation = Simulation::<Number>::new(1);
    let (sender, mut receiver) = fifo::<u8>();
    simulation.add("receiver", |context| async move {
        select((receiver.recv(), context.pause(ms(5)))).await;
        context.pause(ms(100)).await;
        assert_eq!(receiver.len(), 1, "nothing is lost");
    });
    simulation.add("sender", |context| async move {
        context.pause(ms(50)).await;
        sender.send(1);
    });
    let report = simulation.run();
    assert!(report.ended.passed(), "{}", report.ended);
    // Two starts and three pauses; no wake.
    assert_eq!(report.events, 5);
}

#[test]
fn what_is_sent_to_a_receiver_that_is_gone_is_dropped() {
    let (sender, receiver) = fifo::<Rc<()>>();
    let item = Rc::new(());
    sender.send(item.clone());
    drop(receiver);
    sender.send(item.clone());
    assert_eq!(Rc::strong_count(&item), 1);
}
