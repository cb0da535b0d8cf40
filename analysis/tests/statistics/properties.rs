//! What must hold of the statistics for any data.

use proptest::collection::vec;
use proptest::prelude::*;
use simutant_analysis::statistics::*;

/// A few values, of which many are equal.
fn values(counts: std::ops::Range<usize>) -> impl Strategy<Value = Vec<f64>> {
    vec((0..5_u8).prop_map(f64::from), counts)
}

/// Every sum of ranks that `chosen` of `all` can have: by listing the subsets.
fn enumerated(all: &[f64], chosen: usize) -> Vec<f64> {
    let rank = |value: f64| {
        let below = all.iter().filter(|other| **other < value).count() as f64;
        let equal = all.iter().filter(|other| **other == value).count() as f64;
        below + (equal + 1.0) / 2.0
    };
    (0..1_u32 << all.len())
        .filter(|subset| subset.count_ones() as usize == chosen)
        .map(|subset| (0..all.len()).filter(|index| subset >> index & 1 == 1).map(|index| rank(all[index])).sum())
        .collect()
}

fn share(sums: &[f64], is_counted: impl Fn(f64) -> bool) -> f64 {
    sums.iter().filter(|sum| is_counted(**sum)).count() as f64 / sums.len() as f64
}

/// Tests that a monotone map does not change.
fn by_ranks(a: &[f64], b: &[f64]) -> Vec<Option<f64>> {
    let each = [Alternative::Less, Alternative::Greater, Alternative::TwoSided];
    let mut found: Vec<Option<f64>> = each
        .into_iter()
        .flat_map(|alternative| {
            [
                mann_whitney_exact(a, b, alternative).map(|test| test.p),
                mann_whitney_asymptotic(a, b, alternative).map(|test| test.p),
            ]
        })
        .collect();
    found.push(a12(a, b));
    found.push(kruskal_wallis(&[a, b]).map(|test| test.h));
    found
}

proptest! {
    #[test]
    fn the_exact_rank_test_is_the_enumeration(a in values(1..6), b in values(1..4)) {
        let all = [a.clone(), b.clone()].concat();
        let rank_sum = |test: MannWhitney| test.u + (a.len() * (a.len() + 1)) as f64 / 2.0;
        let sums = enumerated(&all, a.len());
        match mann_whitney_exact(&a, &b, Alternative::Greater) {
            None => prop_assert!(all.iter().all(|value| *value == all[0])),
            Some(test) => {
                let at_least = share(&sums, |sum| sum >= rank_sum(test));
                let at_most = share(&sums, |sum| sum <= rank_sum(test));
                prop_assert!((test.p - at_least).abs() < 1e-12);
                let less = mann_whitney_exact(&a, &b, Alternative::Less).expect("it is defined");
                prop_assert!((less.p - at_most).abs() < 1e-12);
                let both = mann_whitney_exact(&a, &b, Alternative::TwoSided).expect("it is defined");
                prop_assert!((both.p - (2.0 * at_most.min(at_least)).min(1.0)).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn a_monotone_map_changes_no_test_of_ranks(a in values(0..9), b in values(0..9)) {
        let map = |values: &[f64]| -> Vec<f64> { values.iter().map(|value| value.exp() - 7.0).collect() };
        prop_assert_eq!(by_ranks(&a, &b), by_ranks(&map(&a), &map(&b)));
    }

    #[test]
    fn the_second_sample_sees_the_mirror_image(a in values(1..9), b in values(1..9)) {
        let close = |one: Option<f64>, other: Option<f64>| match (one, other) {
            (Some(one), Some(other)) => (one - other).abs() < 1e-12,
            (one, other) => one == other,
        };
        prop_assert!(close(a12(&a, &b), a12(&b, &a).map(|effect| 1.0 - effect)));
        for (one, other) in
            [(Alternative::Less, Alternative::Greater), (Alternative::TwoSided, Alternative::TwoSided)]
        {
            let exact = |a: &[f64], b: &[f64], alternative| mann_whitney_exact(a, b, alternative).map(|test| test.p);
            prop_assert!(close(exact(&a, &b, one), exact(&b, &a, other)));
            let asymptotic =
                |a: &[f64], b: &[f64], alternative| mann_whitney_asymptotic(a, b, alternative).map(|test| test.p);
            prop_assert!(close(asymptotic(&a, &b, one), asymptotic(&b, &a, other)));
        }
    }

    /// Two samples: Kruskal and Wallis's H is the square of Mann and Whitney's z, without the correction for
    /// continuity.
    #[test]
    fn several_samples_of_which_there_are_two_are_two_samples(a in values(2..9), b in values(2..9)) {
        let whole = van_elteren_asymptotic(&[Stratum { a: a.clone(), b: b.clone() }]);
        let several = kruskal_wallis(&[&a, &b]);
        prop_assert_eq!(whole.is_some(), several.is_some());
        if let (Some(whole), Some(several)) = (whole, several) {
            prop_assert!((whole.z.powi(2) - several.h).abs() < 1e-9, "{:?} {:?}", whole, several);
            prop_assert!((whole.p - several.p).abs() < 1e-9);
            prop_assert!((whole.effect - a12(&a, &b).expect("values")).abs() < 1e-12);
        }
    }

    #[test]
    fn a_table_is_the_same_on_its_side(a in 0..9_usize, b in 0..9_usize, c in 0..9_usize, d in 0..9_usize) {
        let table = [[a, b], [c, d]];
        let one_sided =
            [Alternative::Less, Alternative::Greater].map(|alternative| fisher_exact(table, alternative).p);
        prop_assert!(one_sided[0] + one_sided[1] >= 1.0 - 1e-9, "what was found counts on both sides");
        let transposed = fisher_exact([[a, c], [b, d]], Alternative::TwoSided).p;
        prop_assert!((fisher_exact(table, Alternative::TwoSided).p - transposed).abs() < 1e-9);
    }

    #[test]
    fn corrections_keep_the_order_and_never_lower_a_p_value(p_values in vec(0.0..1.0_f64, 0..20)) {
        for corrected in [holm(&p_values), benjamini_hochberg(&p_values)] {
            for (one, other) in p_values.iter().zip(&corrected) {
                prop_assert!(other >= one && *other <= 1.0);
            }
            for one in 0..p_values.len() {
                for other in 0..p_values.len() {
                    prop_assert!(p_values[one] > p_values[other] || corrected[one] <= corrected[other]);
                }
            }
        }
        for (strict, lenient) in holm(&p_values).iter().zip(benjamini_hochberg(&p_values)) {
            prop_assert!(*strict >= lenient - 1e-12);
        }
    }

    #[test]
    fn a_share_is_in_its_interval(of in 1..200_usize, part in 0.0..=1.0_f64) {
        let successes = (part * of as f64) as usize;
        let interval = wilson(successes, of, 0.95).expect("there are trials");
        let share = successes as f64 / of as f64;
        prop_assert!(0.0 <= interval.lower && interval.lower <= share && share <= interval.upper && interval.upper <= 1.0);
        prop_assert!(interval.upper - interval.lower > 0.0);
    }

    #[test]
    fn tau_is_symmetric_and_changes_its_sign(pairs in vec((0..4_u8, 0..4_u8), 0..12)) {
        let (x, y): (Vec<f64>, Vec<f64>) = pairs.into_iter().map(|(x, y)| (f64::from(x), f64::from(y))).unzip();
        let found = kendall_tau_b(&x, &y);
        prop_assert_eq!(found, kendall_tau_b(&y, &x));
        let negative: Vec<f64> = y.iter().map(|value| -value).collect();
        let opposite = kendall_tau_b(&x, &negative);
        prop_assert_eq!(found.map(|found| found.tau), opposite.map(|found| -found.tau));
        prop_assert!(found.is_none_or(|found| (-1.0..=1.0).contains(&found.tau)));
    }

    #[test]
    fn an_interval_has_its_ends_in_order_and_within_the_replicates(
        a in values(2..12), b in values(2..12), replicates in vec(0.0..1.0_f64, 1..60), level in 0.5..0.99_f64,
    ) {
        let estimate = a12(&a, &b).expect("values");
        let jackknife = a12_jackknife(&a, &b).expect("values");
        for interval in [percentile(&replicates, level), bca(estimate, &replicates, &jackknife, level)].into_iter().flatten() {
            prop_assert!(interval.lower <= interval.upper, "{:?}", interval);
            let least = replicates.iter().copied().fold(f64::INFINITY, f64::min);
            let most = replicates.iter().copied().fold(0.0, f64::max);
            prop_assert!(interval.lower >= least && interval.upper <= most);
        }
    }
}
