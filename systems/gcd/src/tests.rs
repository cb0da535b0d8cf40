//! Tests of the whole system.

use simutant_sim_core::trace::Action;
use simutant_sim_core::{Probability, VirtualDuration, VirtualTime};
use simutant_system::testing::check_reseeding;
use simutant_system::universe;

use super::configuration::{LATENCY_MAX, NUMBER_MAX, greatest_common_divisor};
use super::*;

/// Runs a case that must pass, and returns when each of its clients returned.
#[track_caller]
fn run(case: &TestCase) -> Vec<VirtualTime> {
    assert_eq!(Gcd::validate(case), Ok(()));
    let mut simulation = Gcd::configure(case);
    simulation.record_trace();
    let report = simulation.run();
    assert!(report.ended.passed(), "{case:?}: {}", report.ended);
    let trace = report.trace.expect("it was asked for");
    trace.iter().filter(|event| matches!(event.action, Action::Returned { .. })).map(|event| event.at).collect()
}

#[test]
fn two_thousand_sampled_cases_pass() {
    for index in 0..2_000 {
        run(&universe::<Gcd>(42, index));
    }
}

#[test]
fn without_loss_every_pair_of_numbers_is_answered_on_the_slowest_network() {
    for (a, b) in (1..=NUMBER_MAX).flat_map(|a| (1..=NUMBER_MAX).map(move |b| (a, b))) {
        let requests = vec![ClientRequest { a, b, start: VirtualTime::ZERO }];
        let duplicate = Probability::new(0.2).expect("it is one");
        run(&TestCase { requests, latency: LATENCY_MAX, duplicate, ..TestCase::cache_test() });
    }
}

#[test]
fn remembered_results_need_no_computation() {
    // 3 and 5 take four subtractions of 0.1 s, 2 and 4 take two; both ways through the network take 0.2 s.
    let millis = |millis: &[u64]| millis.iter().map(|&millis| VirtualTime::from_millis(millis)).collect::<Vec<_>>();
    assert_eq!(run(&TestCase::client_pair_a()), millis(&[600, 5_400]));
    assert_eq!(run(&TestCase::client_pair_b()), millis(&[600, 5_200]));
    assert_eq!(run(&TestCase::client_pair_c()), millis(&[600, 5_200]));
    assert_eq!(run(&TestCase::cache_test()), millis(&[600, 5_200, 10_400]));
}

#[test]
fn the_result_that_was_not_used_for_the_longest_time_is_forgotten() {
    // (1, 2) is asked for twice, so when (2, 4) comes, (4, 6) makes room for it in a cache of two; (1, 2) is still
    // known.
    let numbers = [(1, 2), (4, 6), (1, 2), (2, 4), (1, 2), (4, 6)];
    let starts = (0..).map(|index| VirtualTime::from_secs(5 * index));
    let requests: Vec<ClientRequest> =
        numbers.into_iter().zip(starts).map(|((a, b), start)| ClientRequest { a, b, start }).collect();
    let returned = run(&TestCase { requests: requests.clone(), cache_size: 2, ..TestCase::cache_test() });
    let took: Vec<VirtualDuration> = returned.iter().zip(&requests).map(|(&at, request)| at - request.start).collect();
    let known = VirtualDuration::from_millis(200);
    assert_eq!(took.iter().map(|&took| took == known).collect::<Vec<_>>(), [false, false, true, false, true, false]);
}

#[test]
fn a_network_that_loses_everything_leaves_clients_without_answers() {
    let case = TestCase { drop: Probability::ONE, ..TestCase::client_pair_a() };
    assert_eq!(Gcd::validate(&case).expect_err("it is outside").to_string(), "drop is 1: it must be from 0 to 0.2");
    let report = Gcd::configure(&case).run();
    assert!(report.ended.passed(), "{}", report.ended);
    assert_eq!(report.ended_at, VirtualTime::from_millis(6_500));
}

#[test]
fn the_oracle_is_right() {
    for (a, b) in (1..=NUMBER_MAX).flat_map(|a| (1..=NUMBER_MAX).map(move |b| (a, b))) {
        let greatest = (1..=NUMBER_MAX).rev().find(|divisor| a % divisor == 0 && b % divisor == 0);
        assert_eq!(greatest_common_divisor(a, b), greatest.expect("1 divides both"));
    }
}

#[test]
fn test_cases_outside_the_domain_are_refused_by_name() {
    #[track_caller]
    fn check(change: impl FnOnce(&mut TestCase), expect: &str) {
        let mut case = TestCase::cache_test();
        change(&mut case);
        assert_eq!(Gcd::validate(&case).expect_err("it is outside").to_string(), expect);
    }
    check(|case| case.requests.clear(), "requests is a list of 0: it must be a list of 1 to 6");
    check(|case| case.requests[2].a = 9, "requests[2].a is 9: it must be from 1 to 8");
    check(|case| case.requests[0].b = 0, "requests[0].b is 0: it must be from 1 to 8");
    let too_early = "requests[1].start_ns is 1000000000: it must be at least 2000000000, in nanoseconds";
    check(|case| case.requests[1].start = VirtualTime::from_secs(1), too_early);
    check(|case| case.cache_size = 0, "cache_size is 0: it must be from 1 to 10");
    let too_slow = "latency_ns is 1000000000: it must be from 0 to 200000000, in nanoseconds";
    check(|case| case.latency = VirtualDuration::from_secs(1), too_slow);
}

#[test]
fn a_test_case_is_json_and_back() {
    let case = universe::<Gcd>(42, 7);
    let json = serde_json::to_string(&case).expect("it is plain data");
    assert_eq!(serde_json::from_str::<TestCase>(&json).expect("it was just written"), case);
}

#[test]
fn its_chance_is_its_seed() {
    check_reseeding::<Gcd>(|case| case.seed = 0);
}
