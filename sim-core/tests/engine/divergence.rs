//! The double run finds what makes a simulation depend on more than its configuration and its seed.

#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "what makes runs differ is what these tests are about"
)]

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime};

use simutant_sim_core::trace::{Action, TraceEvent};
use simutant_sim_core::{
    CheckFailure, Context, Divergence, Message, Simulation, VirtualDuration, VirtualTime, check_determinism,
};

#[derive(Debug, Clone, Hash)]
struct Number(u64);

impl Message for Number {
    fn kind(&self) -> &'static str {
        "NUMBER"
    }
}

const MILLI: VirtualDuration = VirtualDuration::from_millis(1);

/// Runs twice a component with a leak beside a sound one, which also sends something before and after.
fn check<F: Future<Output = ()> + 'static>(leaky: impl Fn(Context<Number>) -> F) -> Result<(), Box<Divergence>> {
    let configure = || {
        let mut simulation = Simulation::new(1);
        simulation.add("leaky", &leaky);
        let to = simulation.address("nobody", 1);
        simulation.add("sound", move |mut context| async move {
            let channel = context.channel();
            for _ in 0..5 {
                let number = context.random().bits();
                channel.send(to, Number(number));
                context.pause(MILLI * 3).await;
            }
        });
        simulation
    };
    check_determinism(configure).map(|report| assert!(report.ended.passed(), "{}", report.ended))
}

/// Returns the text of an action that a component noted or sent.
fn said(action: &Action) -> &str {
    match action {
        Action::Noted { text, .. } => text,
        Action::Sent(packet) => &packet.message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_sound_simulation_runs_twice_the_same() {
    assert_eq!(check(|context| async move { context.pause(MILLI).await }), Ok(()));
}

#[test]
fn a_global_counter_is_found_at_the_event_where_it_first_shows() {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let divergence = check(|context| async move {
        let count = COUNTER.fetch_add(1, Ordering::Relaxed);
        context.note(|| "not here".to_owned());
        context.pause(MILLI).await;
        context.note(|| format!("run {count}"));
    });
    let divergence = divergence.expect_err("the counter goes on");
    let (first, second) = (divergence.first.as_ref().expect("it noted"), divergence.second.as_ref().expect("it noted"));
    assert_eq!([said(&first.action), said(&second.action)], ["run 0", "run 1"]);
    // Before it come two starts, a note, and a packet that is sent.
    assert_eq!((divergence.event, first.at.as_nanos()), (4, 1_000_000), "{divergence}");
    let text = divergence.to_string();
    assert!(
        text.starts_with("two runs differ from event 4 on: ") && text.contains("run 0") && text.contains("run 1"),
        "{text}"
    );
    assert!(text.contains("; before that, at 0 s, packet 0 from "), "{text}");
}

#[test]
fn a_clock_of_the_machine_is_found() {
    let divergence = check(|context| async move {
        // The nanoseconds of the day: two runs have the same only if no time passes between them.
        let nanos = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("it is after 1970").as_nanos();
        let begin = Instant::now();
        while begin.elapsed().as_micros() < 10 {}
        context.pause(VirtualDuration::from_nanos((nanos % 1_000_000_000) as u64)).await;
        context.note(|| "done".to_owned());
    });
    let divergence = divergence.expect_err("the clock goes on");
    let is_of_leaky =
        |event: &TraceEvent| matches!(&event.action, Action::Noted { component, .. } if component == "leaky");
    assert!([&divergence.first, &divergence.second].into_iter().flatten().any(is_of_leaky), "{divergence}");
}

#[test]
fn iteration_over_a_hash_map_is_found() {
    let divergence = check(|context| async move {
        let map: HashMap<u64, ()> = (0..50).map(|number| (number, ())).collect();
        let channel = context.channel();
        for number in map.into_keys() {
            channel.send(context.address(1), Number(number));
        }
    });
    let divergence = divergence.expect_err("each map has an order of its own");
    let [first, second] =
        [&divergence.first, &divergence.second].map(|event| said(&event.as_ref().expect("it sent").action));
    assert_ne!(first, second);
}

#[test]
fn one_draw_too_many_is_found_although_nothing_else_differs() {
    thread_local! {
        static RUNS: Cell<u64> = const { Cell::new(0) };
    }
    let divergence = check(|mut context| async move {
        RUNS.set(RUNS.get() + 1);
        for _ in 0..RUNS.get() {
            context.random().bits();
        }
    });
    let divergence = divergence.expect_err("the second run draws once more");
    assert_eq!((&divergence.first, &divergence.second), (&None, &None));
    assert!(divergence.to_string().contains("the same trace"), "{divergence}");
}

#[test]
fn a_run_that_is_over_sooner_is_found() {
    thread_local! {
        static RUNS: Cell<u64> = const { Cell::new(0) };
    }
    let divergence = check(|context| async move {
        RUNS.set(RUNS.get() + 1);
        if RUNS.get() == 2 {
            context.pause(MILLI * 100).await;
            context.note(|| "late".to_owned());
        }
    });
    let divergence = divergence.expect_err("the second run is longer");
    assert!(divergence.to_string().contains("leaky returned ()"), "{divergence}");
}

#[test]
fn another_end_is_found_although_the_traces_are_the_same() {
    thread_local! {
        static RUNS: Cell<u64> = const { Cell::new(0) };
    }
    let configure = || {
        let mut simulation = Simulation::<Number>::new(1);
        simulation.check("the first run only", || {
            RUNS.set(RUNS.get() + 1);
            if RUNS.get() == 1 { Ok(()) } else { Err(CheckFailure::new("it is another")) }
        });
        simulation
    };
    let divergence = check_determinism(configure).expect_err("the ends differ");
    assert!(divergence.to_string().contains("end differently"), "{divergence}");
}

/// Two messages that look the same, but are not.
#[derive(Clone, Hash)]
struct Secret(u64);

impl std::fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Secret")
    }
}

impl Message for Secret {
    fn kind(&self) -> &'static str {
        "SECRET"
    }
}

#[test]
fn the_digest_sees_what_messages_hold_and_how_far_streams_have_come() {
    let digest = |content: u64, draws: u32| {
        let mut simulation = Simulation::<Secret>::new(1);
        let to = simulation.address("receiver", 1);
        simulation.add("receiver", |context| async move { context.channel_at(1).recv().await.message.0 });
        simulation.add("sender", move |mut context| async move {
            context.channel().send(to, Secret(content));
            // The draws of a child count too.
            let child = context.spawn(move |mut context| async move {
                for _ in 0..draws {
                    context.random().bits();
                }
            });
            child.await.expect("nobody cancels it");
        });
        let report = simulation.run();
        assert!(report.ended.passed(), "{}", report.ended);
        (report.digest, report.events, report.ended_at)
    };
    let of_seven = digest(7, 1);
    assert_eq!(digest(7, 1), of_seven);
    for (content, draws) in [(8, 1), (7, 2), (7, 0)] {
        let other = digest(content, draws);
        assert_eq!((other.1, other.2), (of_seven.1, of_seven.2));
        assert_ne!(other.0, of_seven.0, "{content}, {draws} draws");
    }
}

#[test]
fn traces_of_different_runs_part_at_the_first_event_that_differs() {
    let noted = |texts: &[&str]| -> Vec<TraceEvent> {
        let action = |text: &&str| Action::Noted { component: "a".to_owned(), text: (*text).to_owned() };
        texts.iter().map(|text| TraceEvent { at: VirtualTime::ZERO, action: action(text) }).collect()
    };
    let check = |first: &[&str], second: &[&str], event: usize| {
        let (first, second) = (noted(first), noted(second));
        let divergence = Divergence::between_traces(&first, &second).expect("they differ");
        assert_eq!(divergence.event, event);
        assert_eq!((divergence.first.as_ref(), divergence.second.as_ref()), (first.get(event), second.get(event)));
        assert_eq!(divergence.before.as_ref(), event.checked_sub(1).map(|before| &first[before]));
    };
    check(&["x", "y"], &["x", "z"], 1);
    check(&["x"], &["y"], 0);
    check(&["x", "y"], &["x"], 1);
    assert_eq!(Divergence::between_traces(&noted(&["x"]), &noted(&["x"])), None);
}
