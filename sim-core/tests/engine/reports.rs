//! What a report says of a run that did not end well: who waits for what, and what happened up to a panic.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll, Wake, Waker};

use simutant_sim_core::trace::{Action, TraceEvent};
use simutant_sim_core::{
    Address, Child, Context, Either2, Ended, Fault, Faults, LimitReached, Message, Panic, PanicOrigin, ScheduledFault,
    Simulation, TieOrder, VirtualDuration, VirtualTime, Wait, WaitSubject, Waiting, fifo, select,
};

use crate::ms;

#[derive(Debug, Clone, Copy, Hash)]
struct Fork;

impl Message for Fork {
    fn kind(&self) -> &'static str {
        "FORK"
    }
}

/// Waits for a fork on its left, port 1, and passes it on to the right when it has eaten. Nobody has one.
async fn philosopher(context: Context<Fork>, right: Address, thinks: VirtualDuration) {
    context.pause(thinks).await;
    let mut left = context.channel_at(1);
    left.recv().await;
    left.send(right, Fork);
}

fn wait(port: u16, since_ms: u64) -> Wait {
    Wait { subject: WaitSubject::Message { port }, since: VirtualTime::from_millis(since_ms) }
}

fn waiting(component: &str, waits: Vec<Wait>) -> Waiting {
    Waiting { component: component.to_owned(), waits }
}

#[test]
fn a_deadlock_is_seen_by_who_waits_for_what_since_when() {
    let mut simulation = Simulation::<Fork>::new(1);
    let names = ["plato", "kant", "hume"];
    for (index, name) in names.into_iter().enumerate() {
        let right = simulation.address(names[(index + 1) % 3], 1);
        simulation.add(name, move |context| philosopher(context, right, ms(10 * index as u64)));
    }
    let report = simulation.run();
    assert_eq!(report.ended, Ended::Passed, "nothing was expected of them");
    assert_eq!(
        report.waiting,
        [("plato", 0), ("kant", 10), ("hume", 20)].map(|(name, since)| waiting(name, vec![wait(1, since)]))
    );
}

#[test]
fn all_waits_of_a_component_are_listed_those_of_its_children_too_and_who_returned_is_not() {
    let mut simulation = Simulation::<Fork>::new(1);
    simulation.add("returns", |context| async move { context.pause(ms(50)).await });
    simulation.add("waits", |mut context| async move {
        drop(context.spawn(|context| async move {
            context.pause(ms(5)).await;
            context.channel_at(3).recv().await;
        }));
        let (mut first, mut second) = (context.channel_at(2), context.channel_at(1));
        select([first.recv(), second.recv()]).await;
    });
    simulation.add("waits for nothing that the engine knows", |_| std::future::pending::<()>());
    let report = simulation.run();
    assert_eq!(
        report.waiting,
        [
            waiting("waits", vec![wait(1, 0), wait(2, 0), wait(3, 5)]),
            waiting("waits for nothing that the engine knows", vec![]),
        ]
    );
}

/// Checks what is said of who waits at the end of a simulation, a line for each.
#[track_caller]
fn check_waiting(configure: impl Fn(&mut Simulation<Fork>), expect: &str) {
    for tie_order in [TieOrder::Scheduling, TieOrder::Random] {
        let mut simulation = Simulation::new(1);
        simulation.tie_order(tie_order);
        configure(&mut simulation);
        let report = simulation.run();
        assert_eq!(report.ended, Ended::Passed);
        let lines: Vec<String> = report.waiting.iter().map(ToString::to_string).collect();
        assert_eq!(lines.join("\n"), expect, "{tie_order:?}");
    }
}

#[test]
fn who_waits_for_an_item_of_a_fifo_is_named_with_it() {
    check_waiting(
        |simulation| {
            let (sender, mut receiver) = fifo::<u8>();
            simulation.add("customer", move |context| async move {
                sender.send(1);
                context.pause(ms(4)).await;
                sender.send(2);
                context.channel_at(1).recv().await;
                drop(sender);
            });
            simulation.add("server", move |context| async move {
                while receiver.recv().await.is_some() {
                    context.pause(ms(3)).await;
                }
            });
        },
        "customer waits for a message on port 1 (since 0.004 s)\n\
         server waits for an item of a fifo (since 0.007 s)",
    );
}

#[test]
fn a_wait_goes_on_although_its_task_is_polled_for_something_else() {
    check_waiting(
        |simulation| {
            let (sender, mut receiver) = fifo::<u8>();
            simulation.add("keeper", move |_| async move {
                std::future::pending::<()>().await;
                drop(sender);
            });
            simulation.add("server", move |context| async move {
                context.pause(ms(2)).await;
                let mut item = receiver.recv();
                // Each is asked again when the pause is over.
                for _ in 0..3 {
                    let either = select((&mut item, context.pause(ms(1)))).await;
                    assert!(matches!(either, Either2::Second(())));
                }
                item.await;
            });
        },
        "keeper waits for something that no event brings\n\
         server waits for an item of a fifo (since 0.002 s)",
    );
}

#[test]
fn who_waits_for_a_child_task_is_named_with_it_and_with_what_that_waits_for() {
    check_waiting(
        |simulation| {
            simulation.add("parent", |mut context| async move {
                context.pause(ms(1)).await;
                let child = context.spawn(|context| async move {
                    context.pause(ms(5)).await;
                    context.channel_at(7).recv().await;
                });
                child.await
            });
        },
        "parent waits for a message on port 7 (since 0.006 s), and for its child task (since 0.001 s)",
    );
}

/// Waits for a child task that does not end, for a millisecond in some way, and then for a message. `wait` returns the
/// handle if it is to be kept.
async fn parent<F: Future<Output = Option<Child<()>>>>(
    mut context: Context<Fork>,
    wait: impl Fn(Child<()>, Context<Fork>) -> F,
) {
    let child = context.spawn(|context| async move { context.sleep(VirtualDuration::MAX).await });
    let mut channel = context.channel_at(7);
    let _kept = wait(child, context).await;
    channel.recv().await;
}

#[test]
fn who_does_not_ask_for_its_child_task_any_more_does_not_wait_for_it() {
    #[track_caller]
    fn check<F: Future<Output = Option<Child<()>>> + 'static>(
        wait: impl Fn(Child<()>, Context<Fork>) -> F + Copy + 'static,
    ) {
        check_waiting(
            |simulation| drop(simulation.add("parent", move |context| parent(context, wait))),
            "parent waits for a message on port 7 (since 0.001 s), and for the end of time (since 0 s)",
        );
    }
    check(|child, context| async move {
        select((child, context.pause(ms(1)))).await;
        None
    });
    // Handles that are kept, and asked before and after the pause that ends the wait.
    check(|mut child, context| async move {
        select((&mut child, context.pause(ms(1)))).await;
        Some(child)
    });
    check(|mut child, context| async move {
        select((context.pause(ms(1)), &mut child)).await;
        Some(child)
    });
}

/// A future that is polled with a waker of its own, as those are that `FuturesUnordered` holds.
struct WithOwnWaker<F>(Pin<Box<F>>);

impl<F: Future> Future for WithOwnWaker<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, task: &mut task::Context<'_>) -> Poll<F::Output> {
        struct Outer(Waker);

        impl Wake for Outer {
            fn wake(self: Arc<Self>) {
                self.0.wake_by_ref();
            }
        }

        let waker = Waker::from(Arc::new(Outer(task.waker().clone())));
        self.get_mut().0.as_mut().poll(&mut task::Context::from_waker(&waker))
    }
}

#[test]
fn a_wait_behind_another_waker_is_that_of_the_task_that_polls() {
    check_waiting(
        |simulation| {
            let (sender, mut receiver) = fifo::<u8>();
            simulation.add("server", move |mut context| async move {
                context.pause(ms(2)).await;
                let child = context.spawn(|_| std::future::pending::<()>());
                let both = (WithOwnWaker(Box::pin(receiver.recv())), WithOwnWaker(Box::pin(child)));
                select((select(both), WithOwnWaker(Box::pin(context.sleep(VirtualDuration::MAX))))).await;
                drop(sender);
            });
        },
        "server waits for an item of a fifo (since 0.002 s), and for its child task (since 0.002 s), and for the end of \
         time (since 0.002 s)",
    );
}

#[test]
fn a_pause_fault_that_does_not_end_is_what_its_component_waits_for() {
    check_waiting(
        |simulation| {
            let pause = |at, duration| ScheduledFault {
                at: VirtualTime::from_millis(at),
                fault: Fault::Pause { component: "paused".to_owned(), duration },
            };
            // The second is longer than the first, which would end before.
            let schedule = vec![pause(3, ms(4)), pause(5, VirtualDuration::MAX)];
            simulation.faults(Faults { schedule, ..Faults::default() });
            let to = simulation.address("paused", 1);
            simulation.add("paused", |context| async move {
                let (mut first, mut second) = (context.channel_at(1), context.channel_at(2));
                select([first.recv(), second.recv()]).await;
            });
            simulation.add("sender", move |context| async move {
                context.pause(ms(8)).await;
                context.channel().send(to, Fork);
            });
        },
        "paused waits for the end of its pause (since 0.003 s), and for a message on port 2 (since 0 s)",
    );
}

#[test]
fn a_component_that_never_starts_waits_for_its_start() {
    check_waiting(
        |simulation| {
            simulation.add("late", |_| async {}).starting_at(VirtualTime::MAX);
            simulation.add("early", |_| async {}).starting_at(VirtualTime::from_millis(9));
        },
        "late waits for its start at the end of time (since 0 s)",
    );
}

#[test]
fn a_sleep_for_ever_is_named_while_it_lasts() {
    check_waiting(
        |simulation| {
            for (name, begins) in [("first", 2), ("second", 1)] {
                simulation.add(name, move |context| async move {
                    for _ in 0..3 {
                        let either = select((context.sleep(VirtualDuration::MAX), context.pause(ms(begins)))).await;
                        assert!(matches!(either, Either2::Second(())), "it was given up");
                    }
                    context.pause(VirtualDuration::MAX).await;
                });
            }
            simulation.add("gives up", |context| async move {
                let mut channel = context.channel_at(1);
                select((context.sleep(VirtualDuration::MAX), context.pause(ms(5)))).await;
                channel.recv_timeout(VirtualDuration::MAX).await.is_ok()
            });
            simulation.add("returns", |context| async move {
                select((context.sleep(VirtualDuration::MAX), context.pause(ms(1)))).await;
            });
        },
        "first waits for the end of time (since 0.006 s)\n\
         second waits for the end of time (since 0.003 s)\n\
         gives up waits for a message on port 1 (since 0.005 s)",
    );
}

#[test]
fn waits_are_those_of_the_run_that_they_are_in() {
    check_waiting(
        |simulation| {
            let (sender, mut receiver) = fifo::<u8>();
            let (outer_sender, mut outer_receiver) = fifo::<u8>();
            simulation.add("waits too", move |context| async move {
                outer_receiver.recv().await;
                context.channel_at(5).recv().await;
            });
            simulation.add("runs another", move |context| async move {
                context.pause(ms(2)).await;
                check_waiting(
                    |inner| {
                        let (sender, mut receiver) = fifo::<u8>();
                        let outer_sender = outer_sender.clone();
                        inner.add("inner", move |context| async move {
                            context.pause(ms(1)).await;
                            outer_sender.send(1);
                            receiver.recv().await;
                            drop(sender);
                        });
                    },
                    "inner waits for an item of a fifo (since 0.001 s)",
                );
                receiver.recv().await;
                drop(sender);
            });
        },
        "waits too waits for a message on port 5 (since 0.002 s)\n\
         runs another waits for an item of a fifo (since 0.002 s)",
    );
}

#[test]
fn a_run_that_ends_otherwise_says_nothing_of_waits() {
    let mut simulation = Simulation::<Fork>::new(1);
    simulation.add("waits", |context| async move { context.channel_at(1).recv().await.source });
    simulation.add("goes on", |context| async move {
        loop {
            context.pause(ms(1)).await;
        }
    });
    simulation.events_at_most(10);
    let report = simulation.run();
    assert!(matches!(report.ended, Ended::NotTerminated(_)), "{}", report.ended);
    assert_eq!(report.waiting, []);
}

#[test]
fn a_limit_of_virtual_time_can_be_lowered_and_not_raised() {
    let run = |limits: [u64; 2]| {
        let mut simulation = Simulation::<Fork>::new(1);
        simulation.add("sleeps", |context| async move { context.pause(ms(10)).await });
        for limit in limits {
            simulation.virtual_time_at_most(VirtualTime::from_millis(limit));
        }
        simulation.run().ended
    };
    assert!(run([10, 20]).passed());
    for limits in [[9, 20], [20, 9]] {
        let ended = run(limits);
        assert!(matches!(ended, Ended::NotTerminated(LimitReached::VirtualTime { .. })), "{ended}");
    }
}

#[test]
fn the_report_of_a_panic_has_its_component_its_time_and_the_trace_up_to_it() {
    let mut simulation = Simulation::<Fork>::new(1);
    simulation.record_trace();
    let to = simulation.address("server", 1);
    simulation.add("server", |context| async move {
        let delivery = context.channel_at(1).recv().await;
        panic!("{} sent a fork", delivery.source);
    });
    simulation.add("client", move |context| async move {
        context.pause(ms(4)).await;
        context.channel().send(to, Fork);
        context.pause(ms(4)).await;
        context.note(|| "never".to_owned());
    });
    let report = simulation.run();
    let message = "#1:49152 sent a fork".to_owned();
    let at = VirtualTime::from_millis(5);
    let origin = PanicOrigin::Component("server".to_owned());
    assert_eq!(report.ended, Ended::Abnormal(Panic { origin, at, message: message.clone() }));
    let trace = report.trace.expect("it was asked for");
    let failed = TraceEvent { at, action: Action::Failed { component: "server".to_owned(), message } };
    assert_eq!(trace.last(), Some(&failed));
    let before = &trace[trace.len() - 2];
    assert!(matches!(&before.action, Action::Received { kind, .. } if kind == "FORK"), "{before:?}");
    assert_eq!(report.ended_at, at);
}

#[test]
fn a_panic_of_a_destructor_after_another_panic_is_not_the_one_that_is_reported() {
    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("second");
        }
    }

    let mut simulation = Simulation::<Fork>::new(1);
    simulation.record_trace();
    simulation.add("bystander", |_| async {
        let _bomb = Bomb;
        std::future::pending::<()>().await;
    });
    simulation.add("fuse", |_| async { panic!("first") });
    let report = simulation.run();
    assert_eq!(report.ended.to_string(), "abnormal: fuse panicked at 0 s: first");
    let failures = report.trace.expect("it was asked for");
    let last = failures.last().map(|event| &event.action);
    assert!(matches!(last, Some(Action::Failed { message, .. }) if message == "first"), "{last:?}");
}

#[test]
fn a_trace_has_at_most_as_many_events_as_were_asked_for_and_they_are_the_first() {
    let trace = |events_max| {
        let mut simulation = Simulation::<Fork>::new(1);
        simulation.record_trace().trace_at_most(events_max);
        simulation.add("noter", |context| async move {
            for number in 0..10 {
                context.note(|| format!("{number}"));
            }
        });
        simulation.run().trace.expect("it was asked for")
    };
    let whole = trace(usize::MAX);
    assert_eq!(whole.len(), 12);
    assert_eq!(trace(5), whole[..5]);
    assert_eq!(trace(0), []);
}
