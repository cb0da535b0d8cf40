use proptest::prelude::*;
use serde_json::json;
use simutant_outcomes::{Origin, Subject};
use simutant_synthetic::{from_kills, subject};

use super::*;
use crate::experiment::probability::Missing;
use crate::random::NamedStream;

fn few_resamples() -> AnalysisOptions {
    AnalysisOptions { resamples: 300, ..AnalysisOptions::default() }
}

/// A universe whose test case `i` has `a = i`.
fn universe(cases: usize) -> Outcomes {
    let mut outcomes = from_kills(&[&"k".repeat(cases)]);
    for (number, case) in outcomes.cases.iter_mut().enumerate() {
        case.case = json!({ "a": number, "seed": 1_000 - number });
    }
    outcomes
}

/// Implementations with these probabilities of passing test cases of [`universe`].
fn choosing(missing: &[&[f64]], orders: &[Vec<usize>]) -> SelectionCurves {
    let outcomes = universe(missing[0].len());
    let missing: Vec<Missing> = missing.iter().map(|missing| missing.to_vec()).collect();
    let observed = Observed::of_missing(&missing);
    SelectionCurves::new(&outcomes, &observed, (orders, None), &few_resamples(), NonZeroUsize::MIN)
        .expect("there are test cases")
}

/// Implementations that fail on these test cases of so many, by repetition.
fn failing(cases: usize, failed: &[Vec<Vec<usize>>]) -> Observed {
    let outcomes = universe(cases);
    let set = |failed: &Vec<usize>| {
        let mut set = simutant_outcomes::BitSet::with_capacity(cases);
        set.extend(failed.iter().copied());
        set
    };
    let subject = |failed: &Vec<Vec<usize>>| Subject {
        failed: set(&failed[0]),
        again: failed[1..].iter().map(set).collect(),
        ..subject("one", Origin::Mistake, &outcomes, 0)
    };
    let subjects: Vec<Subject> = failed.iter().map(subject).collect();
    Observed::new(subjects.iter(), true)
}

fn six_times_four() -> Vec<Missing> {
    (0..6).map(|at| (0..4).map(|case| f64::from((at + case) % 3) / 2.0).collect()).collect()
}

/// The curves of two orders.
fn compared(observed: &Observed, orders: [Vec<usize>; 2], resampled: &[Resampled]) -> [Curve; 2] {
    let ways = orders.map(|order| Way::new("one", vec![order]));
    let measure = Measure::TestCases(SIZE_MAX.min(observed.cases()));
    let curves = curves(&ways, observed, &measure, resampled, (&few_resamples(), NonZeroUsize::MIN));
    curves.try_into().expect("there are two")
}

#[test]
fn shares_are_expected_and_by_size() {
    let found = choosing(&[&[1.0, 0.5, 0.5], &[0.0, 1.0, 1.0]], &[vec![1, 0, 2]]);
    assert_eq!(found.chosen.shares, [0.25, 0.75, 0.875]);
    assert!((found.chosen.area - 1.875 / 3.0).abs() < 1e-15);
    let names: Vec<&str> = found.rules.iter().map(|rule| rule.name.as_str()).collect();
    assert_eq!(names, ["highest a", "lowest a", "boundary", "pairwise"]);
    assert_eq!(found.rules[0].shares, [0.25, 0.375, 0.875]);
    assert_eq!(found.rules[1].shares, [0.5, 0.75, 0.875]);
    // Means of 3, 3 and 1 suites.
    let random = [(0.5 + 0.5 + 1.0) / 6.0, (0.5 + 1.0 + 0.5 + 1.0 + 0.75) / 6.0, 0.875];
    for (found, expect) in found.random.shares.iter().zip(random) {
        assert!((found - expect).abs() < 1e-15, "{found} is not {expect}");
    }
    assert_eq!((found.chosen.interval, found.best_rule().map(|rule| rule.name.as_str())), (None, Some("lowest a")));
    assert!(!found.rules[1].is_beaten() && found.rules[0].is_beaten());
    assert_eq!((found.budgets.len(), found.chosen.at_budgets.len(), found.chosen.regret()), (0, 0, None));
}

#[test]
fn what_takes_the_same_finds_the_same_in_as_much_time_as_with_as_many() {
    let (outcomes, observed, order) = (universe(4), Observed::of_missing(&six_times_four()), vec![0, 3, 1, 2]);
    let (one, options) = (NonZeroUsize::MIN, few_resamples());
    let by_count = SelectionCurves::new(&outcomes, &observed, (std::slice::from_ref(&order), None), &options, one);
    let in_time = SelectionCurves::in_time(&outcomes, &observed, &order, &options, one);
    let (by_count, mut in_time) = (by_count.expect("there are test cases"), in_time.expect("they took time"));
    assert_eq!(in_time.budgets, [0.1, 0.25, 0.5]);
    // A quarter of the time of four is that of one.
    for curve in in_time.curves() {
        let budgets = [0.4 * curve.shares[0], curve.shares[0], curve.shares[1]];
        for (at, expect) in curve.at_budgets.iter().zip(budgets) {
            assert!((at.share - expect).abs() < 1e-12, "{curve:?}");
        }
    }
    let Curve { chosen_above, chosen_above_interval, .. } = in_time.random;
    assert_eq!(in_time.random.at_budgets.len(), 3);
    assert!(chosen_above_interval.is_some_and(|interval| interval.lower <= chosen_above), "{:?}", in_time.random);
    [&mut in_time.chosen].into_iter().chain(&mut in_time.rules).for_each(|curve| curve.at_budgets.clear());
    assert_eq!((by_count.chosen, by_count.rules), (in_time.chosen, in_time.rules));
    for (exact, drawn) in by_count.random.shares.into_iter().zip(in_time.random.shares) {
        assert!((exact - drawn).abs() < 0.05, "{exact} and {drawn}");
    }
}

#[test]
fn regret_is_to_the_rule_that_is_best_at_the_budget() {
    // `lowest a` finds the first half of the programs at once, `highest a` the others; the choice all with its second.
    let missing: Vec<Missing> = (0..6).map(|at| (0..8).map(|case| f64::from(u8::from(case != at))).collect()).collect();
    let (outcomes, observed) = (universe(8), Observed::of_missing(&missing));
    let order = [0, 1, 2, 3, 4, 5];
    let found = SelectionCurves::in_time(&outcomes, &observed, &order, &few_resamples(), NonZeroUsize::MIN);
    let found = found.expect("they took time");
    let rule = |name: &str| found.rules.iter().find(|rule| rule.name == name).expect("it is there");
    let regrets = |curve: &Curve| curve.at_budgets.iter().filter_map(|at| at.regret).collect::<Vec<_>>();
    assert_eq!((regrets(rule("lowest a")), regrets(&found.chosen)), (vec![0.0; 3], vec![0.0; 3]));
    let highest = regrets(rule("highest a"));
    for (regret, expect) in highest.iter().zip([0.8 / 6.0, 2.0 / 6.0, 2.0 / 6.0]) {
        assert!((regret - expect).abs() < 1e-12, "{highest:?}");
    }
    let mean = rule("highest a").regret().expect("there are budgets");
    assert!((mean - highest.iter().sum::<f64>() / 3.0).abs() < 1e-12);
    assert_eq!(found.best_rule_at_budgets().map(|rule| rule.name.as_str()), Some("lowest a"));
    assert_eq!(found.best_rule_at_budgets().and_then(Curve::regret), Some(0.0));
}

#[test]
fn several_orders_count_by_their_mean() {
    let found = choosing(&[&[0.0, 1.0]], &[vec![0, 1], vec![1, 0]]);
    assert_eq!(found.chosen.shares, [0.5, 1.0]);
    assert_eq!(found.random.shares, found.chosen.shares);
}

#[test]
fn the_difference_is_paired_by_implementation() {
    // What the first order finds varies much between implementations, and is always 0.1 more than what the other does.
    let rows: Vec<Missing> =
        (0..8).map(|number| vec![1.0 - 0.1 * f64::from(number) - 0.1, 1.0 - 0.1 * f64::from(number)]).collect();
    let observed = Observed::of_missing(&rows);
    let [first, other] = compared(&observed, [vec![0], vec![1]], &[Resampled::Implementations]);
    let (own, above) = (first.interval.expect("there are 8"), other.chosen_above_interval.expect("there are 8"));
    assert!(own.upper - own.lower > 0.2, "{own:?}");
    assert!(above.upper - above.lower < own.upper - own.lower, "{above:?}");
    assert_eq!(first.chosen_above_interval, Some(Interval { lower: 0.0, upper: 0.0 }));
}

#[test]
fn one_lucky_input_does_not_show_that_a_choice_is_better() {
    // It fails three programs of four; each of them also fails on a test case of its own, which no order has early.
    let failed: Vec<Vec<Vec<usize>>> = (0..16)
        .map(|number| if number % 4 == 3 { vec![vec![24 + number]] } else { vec![vec![0, 24 + number]] })
        .collect();
    let observed = failing(40, &failed);
    let orders = || [(0..40).collect::<Vec<_>>(), (1..40).chain([0]).collect()];
    let above = |resampled: &[Resampled]| {
        let [_, other] = compared(&observed, orders(), resampled);
        assert!((other.chosen_above - 0.75).abs() < 1e-12, "{other:?}");
        other.chosen_above_interval.expect("there are 16")
    };
    let alone = above(&[Resampled::Implementations]);
    assert!(alone.lower > 0.4, "{alone:?}");
    let both = above(&observed.resampled());
    assert!(both.lower <= 0.0 && both.upper >= 0.75, "{both:?}");
}

#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    const EXPERIMENTS: usize = 60;
    let held = |with_test_cases: bool| {
        let holds = |number: usize| {
            // What is lucky for one program is for most, so ten programs say little more than one does.
            let mut stream = NamedStream::numbered(1, "experiments", number as u64);
            let luck: Vec<usize> = (0..120).map(|_| stream.below(1000)).collect();
            let fails = |stream: &mut NamedStream| {
                (0..120).filter(|&case: &usize| luck[case] + stream.below(300) >= 1180).collect::<Vec<_>>()
            };
            let failed: Vec<Vec<Vec<usize>>> = (0..10).map(|_| vec![fails(&mut stream)]).collect();
            let observed = failing(120, &failed);
            let resampled = observed.resampled();
            let resampled = if with_test_cases { &resampled[..] } else { &resampled[..1] };
            // No order knows anything, so the true difference is 0.
            let orders = [(0..120).collect(), (60..120).chain(0..60).collect()];
            let [_, other] = compared(&observed, orders, resampled);
            let interval = other.chosen_above_interval.expect("there are ten");
            interval.lower <= 0.0 && interval.upper >= 0.0
        };
        (0..EXPERIMENTS).filter(|&number| holds(number)).count()
    };
    let (alone, all) = (held(false), held(true));
    assert!(alone < EXPERIMENTS * 7 / 10, "{alone} of {EXPERIMENTS}");
    assert!(all >= EXPERIMENTS * 9 / 10, "{all} of {EXPERIMENTS}");
}

#[test]
fn a_seed_decides_if_the_sign_changes_with_it() {
    // With the first seed the first test case fails all, with the second the second; the third finds less than both.
    let failed = vec![vec![vec![0], vec![1]]; 6];
    let observed = failing(3, &failed);
    let [_, other] = compared(&observed, [vec![0, 2, 1], vec![1, 2, 0]], &observed.resampled());
    let third = 2.0 / 3.0;
    assert!(
        (other.chosen_above_by_seed[0] - third).abs() < 1e-12 && (other.chosen_above_by_seed[1] + third).abs() < 1e-12
    );
    assert!(other.seed_decides() && other.chosen_above.abs() < 1e-12, "{other:?}");
    let [_, last] = compared(&observed, [vec![0, 1, 2], vec![2, 0, 1]], &observed.resampled());
    assert!(last.chosen_above_by_seed.iter().all(|above| *above > 0.0) && !last.seed_decides(), "{last:?}");
    let one = failing(3, &vec![vec![vec![0]]; 6]);
    assert!(compared(&one, [vec![0], vec![1]], &one.resampled())[1].chosen_above_by_seed.is_empty());
}

#[test]
fn any_number_of_threads_gives_the_same() {
    let (outcomes, observed) = (universe(4), failing(4, &vec![vec![vec![0, 2], vec![1]]; 6]));
    let with = |threads| {
        let threads = NonZeroUsize::new(threads).expect("not 0");
        let order = vec![0, 3, 1, 2];
        let in_time = SelectionCurves::in_time(&outcomes, &observed, &order, &few_resamples(), threads);
        (SelectionCurves::new(&outcomes, &observed, (&[order], None), &few_resamples(), threads), in_time)
    };
    assert_eq!(with(1), with(3));
}

/// Programs by test cases, which pass with these probabilities.
fn observations(programs: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Missing>> {
    (1..9_usize).prop_flat_map(move |cases| {
        let passes = prop_oneof![3 => Just(1.0), 1 => Just(0.0), 1 => 0.0..1.0_f64];
        prop::collection::vec(prop::collection::vec(passes, cases), programs.clone())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn an_interval_holds_its_number(missing in observations(5..10)) {
        let observed = Observed::of_missing(&missing);
        let order: Vec<usize> = (0..observed.cases()).collect();
        let back = order.iter().rev().copied().collect();
        for curve in compared(&observed, [order, back], &observed.resampled()) {
            for (number, interval) in [(curve.area, curve.interval), (curve.chosen_above, curve.chosen_above_interval)] {
                let interval = interval.expect("there are five programs or more");
                prop_assert!(interval.lower <= number + 1e-9 && number <= interval.upper + 1e-9, "{number}: {interval:?}");
                prop_assert!((-1.0..=1.0).contains(&interval.lower) && interval.upper <= 1.0);
            }
        }
    }

    #[test]
    fn with_programs_alone_it_is_the_percentile_bootstrap(missing in observations(5..10)) {
        let observed = Observed::of_missing(&missing);
        let order: Vec<usize> = (0..observed.cases()).collect();
        let back: Vec<usize> = order.iter().rev().copied().collect();
        let [_, other] = compared(&observed, [order.clone(), back.clone()], &[Resampled::Implementations]);
        // By hand: the same programs drawn for both.
        let area = |order: &[usize], program: usize| {
            let missed = order.iter().scan(1.0, |missed, &case| { *missed *= missing[program][case]; Some(*missed) });
            1.0 - missed.sum::<f64>() / order.len() as f64
        };
        let above: Vec<f64> = (0..missing.len()).map(|program| area(&order, program) - area(&back, program)).collect();
        let options = few_resamples();
        let replicate = |number: usize| {
            let mut stream = NamedStream::numbered(options.seed, "implementations drawn again", number as u64);
            (0..above.len()).map(|_| above[stream.below(above.len())]).sum::<f64>() / above.len() as f64
        };
        let replicates: Vec<f64> = (0..options.resamples).map(replicate).collect();
        let known = percentile(&replicates, 1.0 - options.alpha).expect("there are resamples");
        let found = other.chosen_above_interval.expect("there are five programs or more");
        // The mean of the resamples is the number, but for how many were drawn.
        let drift = other.chosen_above - replicates.iter().sum::<f64>() / replicates.len() as f64;
        prop_assert!((found.lower - known.lower - drift.min(0.0)).abs() < 1e-9, "{found:?} and {known:?}");
        prop_assert!((found.upper - known.upper - drift.max(0.0)).abs() < 1e-9, "{found:?} and {known:?}");
        prop_assert!(drift.abs() < 0.12, "{drift}");
    }

    #[test]
    fn one_input_is_drawn_as_it_is(passes in prop::collection::vec(0.0..1.0_f64, 5..10)) {
        let missing: Vec<Missing> = passes.iter().map(|passes| vec![*passes]).collect();
        let observed = Observed::of_missing(&missing);
        let orders = || [vec![0], Vec::new()];
        let of = |resampled: &[Resampled]| compared(&observed, orders(), resampled);
        prop_assert_eq!(of(&[Resampled::Implementations]), of(&observed.resampled()));
    }

    #[test]
    fn few_programs_say_nothing_of_others(missing in observations(1..5)) {
        let observed = Observed::of_missing(&missing);
        let curves = compared(&observed, [vec![0], Vec::new()], &observed.resampled());
        prop_assert!(curves.iter().all(|curve| curve.interval.is_none() && curve.chosen_above_interval.is_none()));
    }
}
