//! How runs end, in the words that people read.

use simutant_sim_core::{CheckFailure, Ended, Limits, Message, Simulation, VirtualDuration, VirtualTime};

#[derive(Debug, Clone, Hash)]
struct Nothing;

impl Message for Nothing {
    fn kind(&self) -> &'static str {
        "NOTHING"
    }
}

#[track_caller]
fn check(configure: impl FnOnce(&mut Simulation<Nothing>), expect: &str) {
    let mut simulation = Simulation::new(1);
    configure(&mut simulation);
    assert_eq!(simulation.run().ended.to_string(), expect);
}

const SECOND: VirtualDuration = VirtualDuration::from_secs(1);

#[test]
fn nothing_to_do_passed() {
    check(|_| {}, "passed");
}

#[test]
fn a_server_that_waits_for_ever_passed() {
    let server = |simulation: &mut Simulation<Nothing>| {
        simulation.add("server", |context| async move {
            context.channel_at(80).recv().await;
        });
    };
    check(server, "passed");
}

#[test]
fn a_wrong_result_fails_the_run_and_the_run_goes_on_to_its_end() {
    let wrong = |simulation: &mut Simulation<Nothing>| {
        simulation.add("adder", |context| async move {
            context.pause(SECOND).await;
            5
        });
        simulation.add("wrong adder", |_| async { 5 }).starting_at(VirtualTime::from_millis(1_500)).expecting(4);
    };
    check(wrong, "failed: wrong adder returned 5 at 1.5 s, but 4 was expected");
    let mut simulation = Simulation::<Nothing>::new(1);
    wrong(&mut simulation);
    simulation.add("other", |context| async move { context.pause(SECOND * 9).await });
    assert_eq!(simulation.run().ended_at, VirtualTime::from_secs(9));
}

#[test]
fn a_missing_result_says_what_its_component_waits_for() {
    check(
        |simulation| {
            let client = simulation.add("client", |context| async move {
                context.pause(SECOND).await;
                context.channel_at(80).recv().await;
            });
            client.expecting(());
            simulation.add("other", |context| async move { context.pause(SECOND * 2).await });
        },
        "failed: client did not return, but () was expected: when nothing was left to happen, at 2 s, it still \
         waited for a message on port 80 (since 1 s)",
    );
    check(
        |simulation| {
            simulation.add("client", |_| std::future::pending::<u8>()).expecting(7);
        },
        "failed: client did not return, but 7 was expected: when nothing was left to happen, at 0 s, it still \
         waited for something that no event brings",
    );
}

#[test]
fn the_first_check_that_fails_ends_the_run() {
    check(
        |simulation| {
            let returned = simulation.add("adder", |_| async { 2 + 2 }).returned();
            simulation.check("the sum is 4", move || {
                if returned.get().as_deref() == Some(&4) { Ok(()) } else { Err(CheckFailure::new("it is not")) }
            });
            simulation.check("the file is whole", || Err(CheckFailure::new("it has 3 bytes of 4")));
            simulation.check("never run", || panic!("a check came before"));
        },
        "failed: check \"the file is whole\" failed: it has 3 bytes of 4",
    );
}

#[test]
fn a_run_without_end_is_ended_by_the_limit_of_events() {
    check(
        |simulation| {
            simulation.limits(Limits { events: 10, ..Limits::default() });
            simulation.add("clock", |context| async move {
                while context.running() {
                    context.pause(SECOND).await;
                }
            });
        },
        "not terminated: the limit of 10 events was used up at 9 s, and more was to happen",
    );
}

#[test]
fn a_task_that_wakes_itself_without_end_is_ended_by_the_limit_of_events() {
    check(
        |simulation| {
            simulation.limits(Limits { events: 10, ..Limits::default() });
            simulation.add("spinner", |_| {
                std::future::poll_fn(|task| {
                    task.waker().wake_by_ref();
                    std::task::Poll::<()>::Pending
                })
            });
        },
        "not terminated: the limit of 10 events was used up at 0 s, and more was to happen",
    );
}

#[test]
fn a_run_of_exactly_as_many_events_as_the_limit_terminates() {
    check(
        |simulation| {
            simulation.limits(Limits { events: 2, ..Limits::default() });
            simulation.add("once", |context| async move { context.pause(SECOND).await });
        },
        "passed",
    );
}

#[test]
fn events_after_the_limit_of_virtual_time_do_not_happen() {
    let limited = |virtual_time| {
        move |simulation: &mut Simulation<Nothing>| {
            simulation.limits(Limits { virtual_time, ..Limits::default() });
            simulation.add("sleeper", |context| async move { context.pause(SECOND * 5).await });
        }
    };
    check(limited(VirtualTime::from_secs(5)), "passed");
    let late = "not terminated: the limit of virtual time, 4 s, was reached, and more was to happen at 5 s";
    check(limited(VirtualTime::from_secs(4)), late);
}

#[test]
fn a_panic_of_a_component_ends_the_run() {
    let mut simulation = Simulation::<Nothing>::new(1);
    simulation.add("fuse", |context| async move {
        context.pause(SECOND).await;
        panic!("{} is blown", context.name());
    });
    simulation.add("other", |context| async move { context.pause(SECOND * 9).await }).expecting(());
    let report = simulation.run();
    assert_eq!(report.ended.to_string(), "abnormal: fuse panicked at 1 s: fuse is blown");
    assert_eq!(report.ended_at, VirtualTime::from_secs(1));
}

#[test]
fn a_payload_that_is_no_text_is_said_to_be_none() {
    check(
        |simulation| {
            simulation.add("fuse", |_| async { std::panic::resume_unwind(Box::new(7_u8)) });
        },
        "abnormal: fuse panicked at 0 s: panicked with a value that is not text",
    );
}

#[test]
fn panics_of_destructors_and_checks_are_abnormal() {
    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("boom");
        }
    }

    check(
        |simulation| {
            simulation.add("returns", |_| async { drop(Bomb) });
        },
        "abnormal: returns panicked at 0 s: boom",
    );
    check(
        |simulation| {
            simulation.add("waits", |_| async {
                let _bomb = Bomb;
                std::future::pending::<()>().await;
            });
        },
        "abnormal: waits panicked at 0 s: boom",
    );
    check(
        |simulation| {
            simulation.check("the check", || panic!("the oracle is broken"));
        },
        "abnormal: check \"the check\" panicked at 0 s: the oracle is broken",
    );
}

#[test]
fn a_check_that_finds_out_nothing_neither_passes_nor_hides_a_failure() {
    let undecided = || Err(CheckFailure::inconclusive("out of budget"));
    check(
        |simulation| {
            simulation.check("first", || Ok(()));
            simulation.check("second", undecided);
            simulation.check("third", || Err(CheckFailure::inconclusive("not asked")));
        },
        "inconclusive: check \"second\" could not decide: out of budget",
    );
    check(
        |simulation| {
            simulation.check("first", undecided);
            simulation.check("second", || Err(CheckFailure::new("it is wrong")));
        },
        "failed: check \"second\" failed: it is wrong",
    );
    check(
        |simulation| {
            simulation.check("first", undecided);
            simulation.add("late", |_| async { 1 }).expecting(2);
        },
        "failed: late returned 1 at 0 s, but 2 was expected",
    );
}

#[test]
fn a_flood_of_messages_is_abnormal_and_not_an_exhausted_memory() {
    let mut simulation = Simulation::<Nothing>::new(1);
    let to = simulation.address("nobody", 1);
    simulation.add("flooder", move |context| async move {
        let channel = context.channel();
        loop {
            channel.send(to, Nothing);
        }
    });
    let ended = simulation.run().ended;
    let Ended::Abnormal(failure) = &ended else { panic!("{ended}") };
    assert!(failure.message.starts_with("2^24 events are pending"), "{ended}");
}

#[test]
fn a_check_of_the_trace_gets_all_of_it_whatever_the_report_has() {
    let simulation = |events_min: usize| {
        let mut simulation = Simulation::<Nothing>::new(1);
        simulation.add("talker", |context| async move {
            for number in 0..5 {
                context.note(|| number.to_string());
            }
        });
        simulation.check_trace("enough happened", move |trace| match trace.len() {
            length if length >= events_min => Ok(()),
            length => Err(CheckFailure::new(format!("{length} events"))),
        });
        simulation
    };
    // It began, made five notes, and returned.
    let verdict = simulation(8).run().ended.to_string();
    assert!(verdict.ends_with("check \"enough happened\" failed: 7 events"), "{verdict}");
    let report = simulation(7).run();
    assert_eq!((report.ended, report.trace), (Ended::Passed, None));
    for is_recorded_first in [true, false] {
        let mut traced = simulation(7);
        if is_recorded_first {
            traced.record_trace().trace_at_most(3);
        } else {
            traced.trace_at_most(3).record_trace();
        }
        let report = traced.run();
        assert_eq!((report.ended, report.trace.map(|trace| trace.len())), (Ended::Passed, Some(3)));
    }
}
