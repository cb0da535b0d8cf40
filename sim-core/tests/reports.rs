//! What a report says of a run that did not end well: who waits for what, and what happened up to a panic.

use simutant_sim_core::trace::{Action, TraceEvent};
use simutant_sim_core::{
    Address, Context, Failure, Message, Origin, Simulation, Verdict, VirtualDuration, VirtualTime, Wait, WaitSubject,
    Waiting, select,
};

#[derive(Debug, Clone, Copy, Hash)]
struct Fork;

impl Message for Fork {
    fn kind(&self) -> &'static str {
        "FORK"
    }
}

const fn ms(millis: u64) -> VirtualDuration {
    VirtualDuration::from_millis(millis)
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
    assert_eq!(report.verdict, Verdict::Reasonable, "nothing was expected of them");
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
    assert!(matches!(report.verdict, Verdict::NotTerminated(_)), "{}", report.verdict);
    assert_eq!(report.waiting, []);
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
    let origin = Origin::Component("server".to_owned());
    assert_eq!(report.verdict, Verdict::Abnormal(Failure { origin, at, message: message.clone() }));
    let trace = report.trace.expect("it was asked for");
    let failed = TraceEvent { at, action: Action::Failed { component: "server".to_owned(), message } };
    assert_eq!(trace.last(), Some(&failed));
    let before = &trace[trace.len() - 2];
    assert!(matches!(&before.action, Action::Delivered(packet) if packet.kind == "FORK"), "{before:?}");
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
    assert_eq!(report.verdict.to_string(), "abnormal: fuse panicked at 0 s: first");
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
