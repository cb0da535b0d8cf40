//! What faults do to components: crashes and restarts, pauses, wrong clocks, slowness; and which faults are refused.

use std::cell::RefCell;
use std::rc::Rc;

use simutant_sim_core::network::ScheduledPartition;
use simutant_sim_core::trace::{Action, DropReason, DurableState};
use simutant_sim_core::{
    Address, Channel, Clock, ClockFault, Context, Fault, FaultRate, Faults, InvalidConfiguration, Network, Random,
    RandomFaults, ScheduledFault, Simulation, SlowFault, TieOrder, VirtualDuration, VirtualTime, WaitSubject, fifo,
};

use crate::{Number, at_ms, ms};

fn crash(millis: u64) -> ScheduledFault {
    ScheduledFault { at: at_ms(millis), fault: Fault::Crash { component: "patient".to_owned() } }
}

fn restart(millis: u64, durable_state: DurableState) -> ScheduledFault {
    ScheduledFault { at: at_ms(millis), fault: Fault::Restart { component: "patient".to_owned(), durable_state } }
}

fn pause(millis: u64, for_millis: u64) -> ScheduledFault {
    let fault = Fault::Pause { component: "patient".to_owned(), duration: ms(for_millis) };
    ScheduledFault { at: at_ms(millis), fault }
}

fn scheduled(schedule: impl Into<Vec<ScheduledFault>>) -> Faults {
    Faults { schedule: schedule.into(), ..Faults::default() }
}

/// What is said, in order, with the milliseconds of true time at which it is said.
#[derive(Debug, Clone, Default)]
struct Log(Rc<RefCell<Vec<(u64, String)>>>);

impl Log {
    fn say(&self, context: &Context<Number>, text: impl ToString) {
        self.0.borrow_mut().push((context.now().as_nanos() / 1_000_000, text.to_string()));
    }
}

/// Runs `patient` under faults, and checks what it says. Someone sends it numbers over a network that takes a
/// millisecond.
#[track_caller]
fn check<F: Future<Output = ()> + 'static>(
    faults: Faults,
    sent_at_ms: &'static [u64],
    body: impl Fn(Context<Number>, Log) -> F + 'static,
    expect: &[(u64, &str)],
) {
    let mut simulation = Simulation::new(1);
    simulation.faults(faults);
    let log = Log::default();
    let its_log = log.clone();
    let to = simulation.address("patient", 1);
    simulation.add_restartable("patient", move |context| body(context, its_log.clone()));
    simulation.add("sender", move |context| async move {
        let channel = context.channel();
        for (number, &at) in (0..).zip(sent_at_ms) {
            context.pause(at_ms(at).since(context.now())).await;
            channel.send(to, Number(number));
        }
    });
    let ended = simulation.run().ended;
    assert!(ended.passed(), "{ended}");
    let said = log.0.borrow();
    let said: Vec<(u64, &str)> = said.iter().map(|(at, text)| (*at, text.as_str())).collect();
    assert_eq!(said, expect);
}

/// Counts its starts in its durable state, and ticks every ten milliseconds.
async fn counter(context: Context<Number>, log: Log) {
    let starts = context.durable("starts", || 0);
    *starts.change() += 1;
    log.say(&context, format!("start {}", starts.get()));
    for tick in 1..=3 {
        context.pause(ms(10)).await;
        log.say(&context, format!("tick {tick}"));
    }
}

// Crash and restart.

#[test]
fn after_a_crash_nothing_happens_and_a_restart_begins_anew_with_the_durable_state() {
    check(
        scheduled([crash(15), restart(18, DurableState::Kept)]),
        &[],
        counter,
        &[(0, "start 1"), (10, "tick 1"), (18, "start 2"), (28, "tick 1"), (38, "tick 2"), (48, "tick 3")],
    );
    check(scheduled([crash(15)]), &[], counter, &[(0, "start 1"), (10, "tick 1")]);
}

#[test]
fn a_restart_can_lose_the_durable_state() {
    check(
        scheduled([crash(5), restart(5, DurableState::Kept), crash(8), restart(9, DurableState::Lost), crash(11)]),
        &[],
        counter,
        &[(0, "start 1"), (5, "start 2"), (9, "start 1")],
    );
}

/// Another name keeps its value, and a value that was begun anew is durable from then on.
#[test]
fn a_durable_value_that_is_begun_anew_is_not_that_of_before_a_crash() {
    check(
        scheduled([crash(5), restart(5, DurableState::Kept), crash(8), restart(9, DurableState::Kept)]),
        &[],
        |context, log| async move {
            let [kept, lost] = [context.durable("kept", || 0), context.durable_anew("lost", || 0)];
            *kept.change() += 1;
            *lost.change() += 1;
            let found = *context.durable("lost", || 7).get();
            log.say(&context, format!("{} {} {found}", kept.get(), lost.get()));
            context.pause(ms(100)).await;
        },
        &[(0, "1 1 1"), (5, "2 1 1"), (9, "3 1 1")],
    );
}

#[test]
fn who_is_up_is_not_restarted_and_who_is_down_does_not_crash_again() {
    check(
        scheduled([restart(5, DurableState::Lost), crash(15), crash(16), restart(17, DurableState::Kept), crash(18)]),
        &[],
        counter,
        &[(0, "start 1"), (10, "tick 1"), (17, "start 2")],
    );
    // Nor does who has returned: there is nothing to begin again.
    check(
        scheduled([crash(35), restart(36, DurableState::Kept)]),
        &[],
        counter,
        &[(0, "start 1"), (10, "tick 1"), (20, "tick 2"), (30, "tick 3")],
    );
}

#[test]
fn who_crashes_before_its_start_begins_when_it_is_restarted() {
    let starts = |schedule: Vec<ScheduledFault>| {
        let mut simulation = Simulation::new(1);
        simulation.faults(scheduled(schedule)).record_trace();
        let log = Log::default();
        let its_log = log.clone();
        simulation.add_restartable("patient", move |context| counter(context, its_log.clone())).starting_at(at_ms(20));
        let report = simulation.run();
        assert!(report.ended.passed(), "{}", report.ended);
        let trace = report.trace.expect("it was asked for");
        let began = |action: &Action| matches!(action, Action::Started { .. } | Action::Restarted { .. });
        let began = trace.iter().filter(|event| began(&event.action)).map(|event| event.at).collect::<Vec<_>>();
        let said = log.0.borrow().iter().map(|(at, _)| *at).collect::<Vec<_>>();
        (began, said)
    };
    assert_eq!(starts(vec![]), (vec![at_ms(20)], vec![20, 30, 40, 50]));
    assert_eq!(starts(vec![crash(5)]), (vec![], vec![]));
    assert_eq!(starts(vec![crash(20)]), (vec![], vec![]), "faults come before starts");
    assert_eq!(starts(vec![crash(5), restart(30, DurableState::Kept)]), (vec![at_ms(30)], vec![30, 40, 50, 60]));
    assert_eq!(starts(vec![crash(5), restart(10, DurableState::Kept)]), (vec![at_ms(10)], vec![10, 20, 30, 40]));
}

#[test]
fn what_arrives_while_a_component_is_down_is_lost_and_so_is_its_mailbox() {
    check(
        scheduled([crash(15), restart(20, DurableState::Kept)]),
        &[5, 10, 17, 30],
        |context, log| async move {
            let mut channel = context.channel_at(1);
            if context.now() == VirtualTime::ZERO {
                channel.recv().await;
                // The second message waits in the mailbox when the crash comes.
                context.pause(ms(100)).await;
            }
            log.say(&context, channel.recv().await.message.0);
        },
        &[(31, "3")],
    );
}

#[test]
fn a_trace_says_why_a_packet_to_a_component_that_is_down_is_lost() {
    let mut simulation = Simulation::<Number>::new(1);
    simulation.faults(scheduled([crash(5)])).record_trace();
    simulation.network(Network::constant(ms(10)));
    let to = simulation.address("patient", 1);
    simulation.add("patient", |context| async move { context.channel_at(1).recv().await });
    simulation.add("sender", move |context| async move { context.channel().send(to, Number(1)) });
    let report = simulation.run();
    let trace = report.trace.expect("it was asked for");
    let lost = trace.iter().find_map(|event| match &event.action {
        Action::Dropped { reason, .. } => Some((event.at, *reason)),
        _ => None,
    });
    assert_eq!(lost, Some((at_ms(10), DropReason::Down)));
    let [waiting] = &report.waiting[..] else { panic!("{:?}", report.waiting) };
    assert_eq!((waiting.component.as_str(), waiting.waits[0].subject.clone()), ("patient", WaitSubject::Restart));
}

#[test]
fn an_expected_value_that_a_crash_prevents_is_a_violation_that_names_the_crash() {
    let mut simulation = Simulation::<Number>::new(1);
    simulation.faults(scheduled([crash(5)]));
    simulation.add("patient", |context| async move { context.pause(ms(10)).await }).expecting(());
    assert_eq!(
        simulation.run().ended.to_string(),
        "failed: patient did not return, but () was expected: when nothing was left to happen, at 0.005 s, it still \
         waited for a restart (since its crash at 0.005 s)"
    );
}

#[test]
fn a_restarted_component_draws_other_numbers_and_always_the_same_ones() {
    let draws = || {
        let mut simulation = Simulation::<Number>::new(1);
        let restarts = [crash(1), restart(2, DurableState::Kept), crash(3), restart(4, DurableState::Kept)];
        simulation.faults(scheduled(restarts));
        let drawn = Rc::new(RefCell::new(Vec::new()));
        let all = drawn.clone();
        simulation.add_restartable("patient", move |mut context| {
            let drawn = drawn.clone();
            async move {
                drawn.borrow_mut().push(context.random().bits());
                context.pause(ms(1_000)).await;
            }
        });
        assert!(simulation.run().ended.passed());
        all.take()
    };
    let drawn = draws();
    assert!(drawn.len() == 3 && drawn[0] != drawn[1] && drawn[1] != drawn[2] && drawn[0] != drawn[2], "{drawn:?}");
    assert_eq!(drawn, draws());
}

#[test]
fn the_destructors_of_a_component_run_at_its_crash() {
    struct Last(Context<Number>, Log);

    impl Drop for Last {
        fn drop(&mut self) {
            self.1.say(&self.0, "dropped");
        }
    }

    check(
        scheduled([crash(5)]),
        &[],
        |context, log| async move {
            let last = Last(context, log);
            last.0.pause(ms(10)).await;
        },
        &[(5, "dropped")],
    );
}

// Pauses.

#[test]
fn a_pause_lets_timers_and_arrivals_wait_in_their_order() {
    let body = |mut context: Context<Number>, log: Log| async move {
        let its_log = log.clone();
        drop(context.spawn(|context| async move {
            context.pause(ms(12)).await;
            its_log.say(&context, "second timer");
        }));
        let its_log = log.clone();
        drop(context.spawn(|context| async move {
            context.pause(ms(11)).await;
            its_log.say(&context, "first timer");
        }));
        let mut channel = context.channel_at(1);
        for _ in 0..3 {
            let number = channel.recv().await.message.0;
            log.say(&context, number);
        }
        context.pause(ms(100)).await;
    };
    let sent = &[10, 13, 40];
    check(scheduled([]), sent, body, &[(11, "first timer"), (11, "0"), (12, "second timer"), (14, "1"), (41, "2")]);
    let paused = scheduled([pause(5, 20)]);
    check(paused, sent, body, &[(25, "first timer"), (25, "0"), (25, "1"), (25, "second timer"), (41, "2")]);
}

#[test]
fn pauses_that_overlap_end_with_the_last_of_them() {
    let body = |context: Context<Number>, log: Log| async move {
        for _ in 0..2 {
            context.pause(ms(10)).await;
            log.say(&context, "tick");
        }
    };
    check(scheduled([pause(5, 20), pause(15, 20)]), &[], body, &[(35, "tick"), (45, "tick")]);
    check(scheduled([pause(5, 20), pause(15, 3)]), &[], body, &[(25, "tick"), (35, "tick")]);
    check(scheduled([pause(5, 0), pause(12, 3)]), &[], body, &[(10, "tick"), (20, "tick")]);
}

#[test]
fn a_component_can_be_paused_at_its_start_and_crash_while_it_is_paused() {
    check(
        scheduled([pause(0, 7), pause(12, 100), crash(14), restart(15, DurableState::Kept)]),
        &[],
        counter,
        &[(7, "start 1"), (15, "start 2"), (25, "tick 1"), (35, "tick 2"), (45, "tick 3")],
    );
}

#[test]
fn a_message_that_came_during_a_pause_is_received_although_the_timeout_is_over_as_well() {
    check(
        scheduled([pause(5, 20)]),
        &[10],
        |context, log| async move {
            let mut channel = context.channel_at(1);
            let received = channel.recv_timeout(ms(8)).await.map(|delivery| delivery.message);
            log.say(&context, format!("{received:?}"));
        },
        &[(25, "Ok(Number(0))")],
    );
}

#[test]
fn a_task_that_another_cancels_when_both_go_on_after_a_pause_does_nothing_more() {
    check(
        scheduled([pause(5, 20)]),
        &[],
        |mut context, log| async move {
            let its_log = log.clone();
            // Its timer fires during the pause, as that of the body does, but after it.
            let child = context.spawn(|context| async move {
                context.pause(ms(11)).await;
                its_log.say(&context, "never");
            });
            context.pause(ms(10)).await;
            child.cancel();
            log.say(&context, "cancelled");
            context.pause(ms(100)).await;
        },
        &[(25, "cancelled")],
    );
}

// Clocks and slowness.

/// Returns the true milliseconds after which a pause, a timeout and a receive of 100 ms each end, one after the other,
/// and what the component's clock shows at the beginning and at the end.
fn waits(faults: Faults) -> ([u64; 3], [u64; 2]) {
    let mut simulation = Simulation::<Number>::new(1);
    simulation.faults(faults).record_trace();
    let shown = simulation.add("patient", |context| async move {
        let mut channel = context.channel();
        let begin = context.now();
        context.pause(ms(100)).await;
        context.note(String::new);
        context.sleep(ms(100)).await;
        context.note(String::new);
        assert!(channel.recv_timeout(ms(100)).await.is_err());
        context.note(String::new);
        [begin, context.now()].map(|time| time.as_nanos() / 1_000_000)
    });
    let shown = shown.returned();
    let report = simulation.run();
    assert!(report.ended.passed(), "{}", report.ended);
    let trace = report.trace.expect("it was asked for");
    let notes = trace.iter().filter(|event| matches!(event.action, Action::Noted { .. }));
    let ends: Vec<u64> = notes.map(|event| event.at.as_nanos() / 1_000_000).collect();
    let shown = *shown.get().expect("it returned");
    (ends.try_into().expect("there are three"), shown)
}

fn clock(offset_ns: u64, drift_ns_per_s: i64) -> Faults {
    let fault = ClockFault { component: "patient".to_owned(), clock: Clock { offset_ns, drift_ns_per_s } };
    Faults { clocks: vec![fault], ..Faults::default() }
}

#[test]
fn a_clock_that_gains_shows_more_and_makes_every_wait_shorter() {
    assert_eq!(waits(Faults::default()), ([100, 200, 300], [0, 300]));
    assert_eq!(waits(clock(0, 250_000_000)), ([80, 160, 240], [0, 300]));
    assert_eq!(waits(clock(0, -500_000_000)), ([200, 400, 600], [0, 300]));
}

#[test]
fn a_clock_that_is_off_shows_another_time_and_waits_as_long() {
    assert_eq!(waits(clock(7_000_000, 0)), ([100, 200, 300], [7, 307]));
}

#[test]
fn a_slow_component_works_longer_and_times_out_as_soon_as_others() {
    let slow = SlowFault { component: "patient".to_owned(), percent: 250 };
    assert_eq!(waits(Faults { slow: vec![slow], ..Faults::default() }), ([250, 350, 450], [0, 450]));
    let other = SlowFault { component: "other".to_owned(), percent: 250 };
    let mut simulation = Simulation::<Number>::new(1);
    simulation.faults(Faults { slow: vec![other], ..Faults::default() });
    simulation.add("other", |_| async {});
    simulation.add("patient", |context| async move { context.pause(ms(10)).await });
    assert_eq!(simulation.run().ended_at, at_ms(10), "nobody else is slow");
}

// Order.

#[test]
fn faults_of_one_instant_keep_their_order_and_come_first_whatever_order_other_events_have() {
    for seed in 0..50 {
        let mut simulation = Simulation::<Number>::new(seed);
        simulation.tie_order(TieOrder::Random).record_trace();
        simulation.faults(scheduled([crash(10), restart(10, DurableState::Kept), pause(10, 5)]));
        simulation.add_restartable("patient", |context| async move { context.pause(ms(10)).await });
        for other in ["other", "another"] {
            simulation.add(other, |context| async move { context.pause(ms(10)).await });
        }
        let trace = simulation.run().trace.expect("it was asked for");
        let of_instant: Vec<_> =
            trace.iter().filter(|event| event.at == at_ms(10)).map(|event| &event.action).collect();
        assert!(
            matches!(of_instant[..3], [Action::Crashed { .. }, Action::Restarted { .. }, Action::Paused { .. }]),
            "seed {seed}: {of_instant:?}"
        );
    }
}

// What is refused.

#[track_caller]
fn check_refused(faults: Faults, expect: &str) {
    let mut simulation = Simulation::<Number>::new(1);
    simulation.faults(faults);
    simulation.add("patient", |_| async {});
    simulation.address("nobody", 1);
    assert_eq!(simulation.validate().expect_err("it cannot be").to_string(), expect);
    let payload = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| simulation.run())).expect_err("it panics");
    let message = payload.downcast_ref::<String>().expect("it is a text");
    assert_eq!(*message, format!("the configuration is invalid: {expect}"));
}

#[test]
fn faults_that_cannot_be_are_refused_by_field() {
    let strange = ScheduledFault { at: at_ms(1), fault: Fault::Crash { component: "stranger".to_owned() } };
    check_refused(
        scheduled([crash(1), strange]),
        "faults: schedule[1].component is \"stranger\": it must be the name of a component: one of patient",
    );
    check_refused(
        scheduled([crash(1), restart(2, DurableState::Kept)]),
        "faults: schedule[1].component is \"patient\": it must be a component that was added by add_restartable, since it \
         is to restart",
    );
    let slow = |component: &str, percent| SlowFault { component: component.to_owned(), percent };
    check_refused(
        Faults { slow: vec![slow("patient", 100), slow("patient", 99)], ..Faults::default() },
        "faults: slow[1].percent is 99: it must be 100 or more",
    );
    check_refused(
        Faults { slow: vec![slow("stranger", 100)], ..Faults::default() },
        "faults: slow[0].component is \"stranger\": it must be the name of a component: one of patient",
    );
    let drift = "it must be above -1000000000, with which the clock stands still, and at most 1000000000000";
    for refused in [-1_000_000_000, i64::MIN, 1_000_000_000_001, i64::MAX] {
        check_refused(clock(0, refused), &format!("faults: clocks[0].drift_ns_per_s is {refused}: {drift}"));
    }
}

#[test]
fn a_component_that_is_only_named_cannot_have_faults() {
    let mut simulation = Simulation::<Number>::new(1);
    simulation.faults(scheduled([crash(1)]));
    simulation.address("patient", 1);
    assert!(matches!(simulation.validate(), Err(InvalidConfiguration::Faults(_))));
    simulation.add("patient", |_| async {});
    assert_eq!(simulation.validate(), Ok(()));
}

#[test]
fn two_components_cannot_have_one_name() {
    let mut simulation = Simulation::<Number>::new(1);
    simulation.add("twin", |_| async {});
    simulation.add("other", |_| async {});
    simulation.add_restartable("twin", |_| async {});
    let error = simulation.validate().expect_err("it cannot be");
    assert_eq!(error, InvalidConfiguration::NameTwice { name: "twin".to_owned() });
    assert_eq!(error.to_string(), "there are two components called twin: give one of them another name");
}

#[test]
fn faults_are_json_and_back_and_a_field_that_there_is_not_is_refused() {
    let faults = Faults {
        clocks: clock(5, 50_000).clocks,
        ..scheduled([crash(1), restart(2, DurableState::Lost), pause(3, 4)])
    };
    let json = serde_json::to_string(&faults).expect("it is plain data");
    assert_eq!(serde_json::from_str::<Faults>(&json).expect("it was just written"), faults);
    let read = |json| serde_json::from_str::<Faults>(json);
    let crash_at_7 = read(r#"{"schedule": [{"at_ns": 7, "fault": "crash", "component": "a"}]}"#).expect("it is one");
    assert_eq!(
        (crash_at_7.schedule[0].at.as_nanos(), crash_at_7.schedule[0].fault.to_string()),
        (7, "a crashes".to_owned())
    );
    for wrong in [
        r#"{"scedule": []}"#,
        r#"{"schedule": [{"at_ns": 7, "fault": "crash", "component": "a", "for_ns": 7}]}"#,
        r#"{"schedule": [{"at_ns": 7, "fault": "explode", "component": "a"}]}"#,
        r#"{"slow": [{"component": "a", "percent": 100, "per": 7}]}"#,
        r#"{"clocks": [{"component": "a", "drift": 7}]}"#,
    ] {
        read(wrong).expect_err(wrong);
    }
}

// Random faults.

const COMPONENTS: [&str; 3] = ["a", "b", "c"];

fn rates() -> RandomFaults {
    let rate = |interval, duration| Some(FaultRate { interval_mean: ms(interval), duration_mean: ms(duration) });
    RandomFaults {
        until: at_ms(1_000_000),
        crash: rate(900, 100),
        durable_state: DurableState::Lost,
        pause: rate(450, 50),
        partition: rate(1_500, 500),
    }
}

fn of<'a>(faults: &'a Faults, name: &'a str, is_kind: fn(&Fault) -> bool) -> impl Iterator<Item = &'a ScheduledFault> {
    faults.schedule.iter().filter(move |scheduled| is_kind(&scheduled.fault) && scheduled.fault.component() == name)
}

#[test]
fn random_faults_are_sorted_and_every_crash_has_its_restart() {
    let random_faults = rates();
    let (faults, partitions) = random_faults.draw(&Random::from_seed(1), &COMPONENTS);
    assert!(faults.schedule.is_sorted_by_key(|scheduled| scheduled.at));
    for name in COMPONENTS {
        let mut changes = of(&faults, name, |fault| !matches!(fault, Fault::Pause { .. }));
        while let Some(crash) = changes.next() {
            assert!(matches!(crash.fault, Fault::Crash { .. }) && crash.at <= random_faults.until, "{crash:?}");
            let restart = changes.next().expect("every crash has one");
            assert!(matches!(restart.fault, Fault::Restart { durable_state: DurableState::Lost, .. }), "{restart:?}");
        }
    }
    assert!(
        partitions.is_sorted_by(|one, other| one.until.is_some_and(|until| until <= other.from)),
        "they do not overlap"
    );
    for partition in &partitions {
        let mut members: Vec<&str> = partition.groups.iter().flatten().map(String::as_str).collect();
        members.sort_unstable();
        assert_eq!(
            (partition.groups.len(), members),
            (2, COMPONENTS.to_vec()),
            "everyone is on a side, and none is empty"
        );
        assert!(partition.groups.iter().all(|group| !group.is_empty()));
    }
}

#[test]
fn random_faults_come_as_often_and_last_as_long_as_their_rates_say() {
    /// Checks the count of a renewal process, and the mean of what is exponentially distributed: four standard
    /// deviations.
    #[track_caller]
    fn check_rate(rate: Option<FaultRate>, until: VirtualTime, durations: &[VirtualDuration]) {
        let FaultRate { interval_mean, duration_mean } = rate.expect("it was given");
        let (interval, duration) = (interval_mean.as_nanos() as f64, duration_mean.as_nanos() as f64);
        let (cycle, variance) = (interval + duration, interval * interval + duration * duration);
        let expect = until.as_nanos() as f64 / cycle;
        let deviation = (until.as_nanos() as f64 * variance / cycle.powi(3)).sqrt();
        let count = durations.len() as f64;
        assert!((count - expect).abs() < 4.0 * deviation, "{count} faults, where {expect} are expected");
        let mean = durations.iter().map(|each| each.as_nanos() as f64).sum::<f64>() / count;
        assert!((mean - duration).abs() < 4.0 * duration / count.sqrt(), "{mean} ns, where {duration} ns are expected");
    }
    let random_faults = rates();
    let (faults, partitions) = random_faults.draw(&Random::from_seed(2), &COMPONENTS);
    for name in COMPONENTS {
        let pauses: Vec<_> = of(&faults, name, |fault| matches!(fault, Fault::Pause { .. })).collect();
        let durations = pauses.iter().map(|scheduled| match scheduled.fault {
            Fault::Pause { duration, .. } => duration,
            _ => unreachable!("the others were left out"),
        });
        check_rate(random_faults.pause, random_faults.until, &durations.collect::<Vec<_>>());
        let changes: Vec<_> = of(&faults, name, |fault| !matches!(fault, Fault::Pause { .. })).collect();
        let durations: Vec<_> = changes.chunks(2).map(|pair| pair[1].at.since(pair[0].at)).collect();
        check_rate(random_faults.crash, random_faults.until, &durations);
    }
    let durations = partitions.iter().map(|each| each.until.expect("it heals").since(each.from)).collect::<Vec<_>>();
    check_rate(random_faults.partition, random_faults.until, &durations);
}

#[test]
fn each_component_draws_its_faults_from_a_stream_of_its_own() {
    let random = Random::from_seed(3);
    let (all, _) = rates().draw(&random, &COMPONENTS);
    let (alone, partitions) = rates().draw(&random, &["b"]);
    assert!(of(&all, "b", |_| true).eq(&alone.schedule));
    assert!(partitions.is_empty(), "one component has nobody to be separated from");
    let (without_pauses, _) = RandomFaults { pause: None, ..rates() }.draw(&random, &COMPONENTS);
    let is_crash: fn(&Fault) -> bool = |fault| matches!(fault, Fault::Crash { .. });
    assert!(of(&all, "a", is_crash).eq(of(&without_pauses, "a", is_crash)));
    let times = |name, is_kind| of(&all, name, is_kind).map(|scheduled| scheduled.at).collect::<Vec<_>>();
    assert_ne!(times("a", is_crash), times("b", is_crash));
    let is_pause: fn(&Fault) -> bool = |fault| matches!(fault, Fault::Pause { .. });
    assert_ne!(times("a", is_pause), times("b", is_pause));
    assert_ne!(rates().draw(&Random::from_seed(4), &COMPONENTS).0, all);
}

#[test]
fn random_faults_can_be_run_even_if_they_last_no_time() {
    let instant = Some(FaultRate { interval_mean: ms(10), duration_mean: VirtualDuration::ZERO });
    let random_faults = RandomFaults {
        until: at_ms(1_000),
        crash: instant,
        pause: instant,
        partition: instant,
        ..RandomFaults::default()
    };
    let (faults, partitions) = random_faults.draw(&Random::from_seed(5), &COMPONENTS);
    let mut simulation = Simulation::<Number>::new(1);
    simulation.network(Network { partitions, ..Network::default() });
    simulation.faults(faults);
    for name in COMPONENTS {
        simulation.add_restartable(name, |context| async move { context.pause(ms(20)).await }).expecting(());
    }
    let ended = simulation.run().ended;
    assert!(ended.passed(), "{ended}");
}

#[test]
#[should_panic(expected = "the random faults are invalid: crash.mean_interval_ns is 0: it must be at least 1")]
fn random_faults_without_an_interval_are_refused() {
    let rate = FaultRate { interval_mean: VirtualDuration::ZERO, duration_mean: ms(1) };
    let random_faults = RandomFaults { until: at_ms(1), crash: Some(rate), ..RandomFaults::default() };
    random_faults.draw(&Random::from_seed(1), &COMPONENTS);
}

#[test]
fn what_destructors_of_a_crash_send_goes_nowhere() {
    struct Farewell(Channel<Number>, Address);

    impl Drop for Farewell {
        fn drop(&mut self) {
            self.0.send(self.1, Number(7));
        }
    }

    let mut simulation = Simulation::<Number>::new(1);
    simulation.record_trace().faults(scheduled([crash(5)]));
    let to = simulation.address("listener", 1);
    simulation.add("patient", move |context| async move {
        let _farewell = Farewell(context.channel(), to);
        context.pause(ms(100)).await;
    });
    simulation.add("listener", |context| async move { context.channel_at(1).recv_timeout(ms(50)).await.is_ok() });
    let trace = simulation.run().trace.expect("it was asked for");
    assert!(!trace.iter().any(|event| matches!(event.action, Action::Sent(_))), "{trace:?}");
}

#[test]
fn a_paused_component_is_not_woken_by_others_either() {
    let mut simulation = Simulation::<Number>::new(1);
    simulation.faults(scheduled([pause(5, 100)]));
    let (sender, mut receiver) = fifo::<()>();
    let woken = simulation.add("patient", move |context| async move {
        receiver.recv().await;
        context.now()
    });
    woken.expecting(at_ms(105));
    simulation.add("waker", move |context| async move {
        context.pause(ms(20)).await;
        sender.send(());
        // Held, so that its end is not what wakes.
        context.pause(ms(500)).await;
    });
    let ended = simulation.run().ended;
    assert!(ended.passed(), "{ended}");
}

#[test]
fn a_partition_of_a_component_that_is_only_named_is_refused() {
    let mut simulation = Simulation::<Number>::new(1);
    let groups = vec![vec!["sevrer".to_owned()]];
    let partitions = vec![ScheduledPartition { from: at_ms(1), until: None, groups }];
    simulation.network(Network { partitions, ..Network::default() });
    simulation.add("server", |_| async {});
    simulation.address("sevrer", 80);
    let error = simulation.validate().expect_err("nobody of this name was added").to_string();
    assert!(error.starts_with("network: partitions[0].groups[0][0] is \"sevrer\""), "{error}");
    assert!(error.ends_with("the name of a component: one of server"), "{error}");
}

#[test]
fn names_that_stand_for_something_else_are_refused() {
    for (name, reason) in [("", "it is empty"), ("everyone", "it stands for all"), ("a->b", "stands between")] {
        let mut simulation = Simulation::<Number>::new(1);
        simulation.add(name, |_| async {});
        let error = simulation.validate().expect_err("the name cannot be").to_string();
        assert!(error.contains(reason), "{error}");
    }
    let mut simulation = Simulation::<Number>::new(1);
    simulation.add("both", |_| async {});
    simulation.group("both");
    assert!(matches!(simulation.validate(), Err(InvalidConfiguration::Name { .. })));
}

#[test]
fn what_a_component_sends_before_the_run_is_a_mistake_that_is_told() {
    let mut simulation = Simulation::<Number>::new(1);
    let to = simulation.address("nobody", 1);
    let configure = std::panic::AssertUnwindSafe(|| {
        simulation.add("hasty", |context| {
            context.channel().send(to, Number(1));
            async {}
        });
    });
    let payload = std::panic::catch_unwind(configure).expect_err("it panics");
    let message = payload
        .downcast_ref::<&str>()
        .map_or_else(|| format!("{:?}", payload.downcast_ref::<String>()), ToString::to_string);
    assert!(message.contains("a component sends before the run begins"), "{message}");
}

#[test]
fn faults_that_come_when_all_have_returned_that_return_are_counted() {
    let late = |schedule: Vec<ScheduledFault>, partitions: Vec<ScheduledPartition>, client_returns: bool| {
        let mut simulation = Simulation::<Number>::new(1);
        simulation.faults(scheduled(schedule));
        simulation.network(Network { partitions, ..Network::default() });
        simulation.add_restartable("patient", |context| async move {
            context.pause(ms(1_000_000)).await;
            std::future::pending::<()>().await;
        });
        simulation.add("client", move |context| async move {
            context.pause(ms(100)).await;
            if !client_returns {
                std::future::pending::<()>().await;
            }
        });
        simulation.run().faults_after_end
    };
    let partition = |begin: u64| {
        let groups = vec![vec!["patient".to_owned()], vec!["client".to_owned()]];
        ScheduledPartition { from: at_ms(begin), until: Some(at_ms(begin + 500)), groups }
    };
    let kept = DurableState::Kept;
    assert_eq!(late(vec![crash(50), restart(150, kept)], vec![partition(60)], true), 0, "they begin before");
    assert_eq!(late(vec![crash(100)], Vec::new(), true), 0, "it is not after the end");
    assert_eq!(late(vec![crash(101), restart(150, kept), pause(160, 10)], vec![partition(200)], true), 3);
    assert_eq!(late(vec![crash(101)], vec![partition(200)], false), 0, "nobody returns, so there is no end");
}
