//! The fixtures: statistics to nine digits, p-values to six.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use simutant_analysis::statistics::*;

/// Reads the cases of one statistic.
fn cases<T: DeserializeOwned>(name: &str) -> Vec<T> {
    let mut all: serde_json::Value =
        serde_json::from_str(include_str!("../fixtures/statistics.json")).expect("the script writes JSON");
    let cases: Vec<T> = serde_json::from_value(all[name].take()).expect("the fields are those of the script");
    assert!(cases.len() >= 2, "{name}: {} cases", cases.len());
    cases
}

/// Compares a statistic, `None` being as good as any value.
#[track_caller]
fn check_value(found: impl Into<Option<f64>>, expected: impl Into<Option<f64>>, case: impl std::fmt::Debug) {
    compare(found.into(), expected.into(), 1e-9, 0.0, case);
}

/// Compares a p-value, relatively: also one that is almost 0, as far as it is above what a number can hold.
#[track_caller]
fn check_p(found: impl Into<Option<f64>>, expected: impl Into<Option<f64>>, case: impl std::fmt::Debug) {
    let found = found.into();
    assert!(found.is_none_or(|p| (0.0..=1.0).contains(&p)), "{found:?} is no probability: {case:?}");
    compare(found, expected.into(), 0.0, 1e-6, case);
}

#[track_caller]
fn compare(found: Option<f64>, expected: Option<f64>, absolute: f64, relative: f64, case: impl std::fmt::Debug) {
    let is_close = match (found, expected) {
        (Some(found), Some(expected)) => {
            let tolerance = absolute * expected.abs().max(1.0) + relative * expected.abs() + f64::MIN_POSITIVE;
            (found - expected).abs() <= tolerance
        }
        (found, expected) => found == expected,
    };
    let case: String = format!("{case:?}").chars().take(500).collect();
    assert!(is_close, "found {found:?}, expected {expected:?}: {case}");
}

/// Declares the fields of a case.
macro_rules! case {
    ($name:ident { $($field:ident: $type:ty),* $(,)? }) => {
        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        struct $name { $($field: $type),* }
    };
}

#[test]
fn summary() {
    case!(Case { values: Vec<f64>, mean: Option<f64>, sd: Option<f64>, median: Option<f64> });
    for case in cases::<Case>("summary") {
        let found = Summary::of(&case.values);
        check_value(found.map(|found| found.mean), case.mean, &case);
        check_value(found.and_then(|found| found.sd), case.sd, &case);
        check_value(found.map(|found| found.median), case.median, &case);
    }
}

#[test]
fn the_test_of_the_thesis() {
    case!(Case { a: Vec<f64>, mean_b: f64, z: Option<f64>, p: Option<f64> });
    for case in cases::<Case>("normal") {
        let found = z_test(&Summary::of(&case.a).expect("there are values"), case.mean_b);
        check_value(found.map(|found| found.z), case.z, &case);
        check_p(found.map(|found| found.p), case.p, &case);
    }
}

#[test]
fn distributions() {
    case!(Case { of: String, x: f64, freedom: Option<f64>, value: f64 });
    for case in cases::<Case>("distributions") {
        let freedom = || case.freedom.expect("the script gives it");
        match case.of.as_str() {
            "upper tail" => check_p(upper_tail(case.x), case.value, &case),
            "normal quantile" => check_value(normal_quantile(case.x), case.value, &case),
            "chi-squared tail" => check_p(chi_squared_tail(case.x, freedom()), case.value, &case),
            "student tail" => check_p(student_tail(case.x, freedom()), case.value, &case),
            other => panic!("the script has {other}, and this test has not"),
        }
    }
}

#[test]
fn mann_whitney_() {
    case!(Case {
        a: Vec<f64>,
        b: Vec<f64>,
        alternative: Alternative,
        u: Option<f64>,
        asymptotic: Option<f64>,
        exact: Option<f64>,
    });
    for case in cases::<Case>("mann_whitney") {
        let asymptotic = mann_whitney_asymptotic(&case.a, &case.b, case.alternative);
        check_value(asymptotic.map(|found| found.u), case.u, &case);
        check_p(asymptotic.map(|found| found.p), case.asymptotic, &case);
        if case.a.len() + case.b.len() <= 40 {
            let exact = mann_whitney_exact(&case.a, &case.b, case.alternative);
            check_value(exact.map(|found| found.u), case.u, &case);
            check_p(exact.map(|found| found.p), case.exact, &case);
            assert_eq!(mann_whitney(&case.a, &case.b, case.alternative), exact);
        } else {
            assert_eq!(mann_whitney(&case.a, &case.b, case.alternative), asymptotic);
        }
    }
}

#[test]
fn effect() {
    case!(Case { a: Vec<f64>, b: Vec<f64>, a12: Option<f64> });
    for case in cases::<Case>("effect") {
        check_value(a12(&case.a, &case.b), case.a12, &case);
    }
}

#[test]
fn kruskal_wallis_() {
    case!(Case { samples: Vec<Vec<f64>>, h: Option<f64>, p: Option<f64> });
    for case in cases::<Case>("kruskal_wallis") {
        let found = kruskal_wallis(&case.samples.iter().map(Vec::as_slice).collect::<Vec<_>>());
        check_value(found.map(|found| found.h), case.h, &case);
        check_p(found.map(|found| found.p), case.p, &case);
    }
}

#[test]
fn friedman_() {
    case!(Case { blocks: Vec<Vec<f64>>, q: Option<f64>, p: Option<f64> });
    for case in cases::<Case>("friedman") {
        let found = friedman(&case.blocks);
        check_value(found.as_ref().map(|found| found.q), case.q, &case);
        check_p(found.as_ref().map(|found| found.p), case.p, &case);
    }
}

#[test]
fn the_studentized_range() {
    case!(Case { count: usize, p: f64, quantile: f64 });
    for case in cases::<Case>("studentized_range") {
        check_value(studentized_range_quantile(case.count, case.p), case.quantile, &case);
    }
    // Demšar (2006), table 5: 2.343 for three classifiers, 3.164 for ten; divided by the square root of 2 as there.
    for (count, quantile) in [(3, 2.343), (10, 3.164)] {
        let found = studentized_range_quantile(count, 0.95) / 2_f64.sqrt();
        assert!((found - quantile).abs() < 1e-3, "{count}: {found}");
    }
    let difference = nemenyi_difference(4, 14, 0.05).expect("there are blocks");
    assert!((difference - 1.25).abs() < 5e-3, "the example of Demšar's section 3.2.2: {difference}");
}

#[test]
fn t_test_() {
    case!(Case { values: Vec<f64>, known: f64, t: Option<f64>, p: Option<f64> });
    for case in cases::<Case>("t_test") {
        let found = Summary::of(&case.values).and_then(|values| t_test(&values, case.known));
        check_value(found.map(|found| found.t), case.t, &case);
        check_p(found.map(|found| found.p), case.p, &case);
    }
}

#[test]
fn corrections() {
    case!(Case { p_values: Vec<f64>, holm: Vec<f64>, benjamini_hochberg: Vec<f64> });
    for case in cases::<Case>("corrections") {
        for (found, expected) in
            [(holm(&case.p_values), &case.holm), (benjamini_hochberg(&case.p_values), &case.benjamini_hochberg)]
        {
            assert_eq!(found.len(), expected.len());
            found.iter().zip(expected).for_each(|(found, expected)| check_p(*found, *expected, &case));
        }
    }
}

#[test]
fn equivalence() {
    case!(Case { a: Vec<f64>, b: Vec<f64>, margin: f64, means: Option<f64> });
    for case in cases::<Case>("equivalence") {
        let summary = |values: &[f64]| Summary::of(values).expect("there are values");
        check_p(equivalent_means(&summary(&case.a), &summary(&case.b), case.margin), case.means, &case);
    }
}

#[test]
fn wilson_() {
    case!(Case { successes: usize, of: usize, level: f64, lower: Option<f64>, upper: Option<f64> });
    for case in cases::<Case>("wilson") {
        let found = wilson(case.successes, case.of, case.level);
        check_value(found.map(|found| found.lower), case.lower, &case);
        check_value(found.map(|found| found.upper), case.upper, &case);
    }
}

#[test]
fn binomial() {
    case!(Case { successes: usize, of: usize, probability: f64, alternative: Alternative, p: f64 });
    for case in cases::<Case>("binomial") {
        check_p(binomial_test(case.successes, case.of, case.probability, case.alternative), case.p, &case);
    }
}

#[test]
fn fisher() {
    case!(Case { table: [[usize; 2]; 2], alternative: Alternative, odds_ratio: Option<f64>, p: f64 });
    for case in cases::<Case>("fisher") {
        let found = fisher_exact(case.table, case.alternative);
        check_value(found.odds_ratio, case.odds_ratio, &case);
        check_p(found.p, case.p, &case);
    }
}

#[test]
fn kendall() {
    case!(Case { x: Vec<f64>, y: Vec<f64>, tau: Option<f64>, p: Option<f64> });
    for case in cases::<Case>("kendall") {
        let found = kendall_tau_b(&case.x, &case.y);
        check_value(found.map(|found| found.tau), case.tau, &case);
        check_p(found.map(|found| found.p), case.p, &case);
    }
}

#[test]
fn partial_tau_() {
    case!(Case { x: Vec<f64>, y: Vec<f64>, z: Vec<f64>, tau: f64 });
    for case in cases::<Case>("partial_tau") {
        let tau = |one: &[f64], other: &[f64]| kendall_tau_b(one, other).expect("they vary").tau;
        let found = partial_tau(tau(&case.x, &case.y), tau(&case.x, &case.z), tau(&case.y, &case.z));
        check_value(found, case.tau, &case);
    }
    assert_eq!(partial_tau(0.3, 1.0, 0.3), None, "the third quantity decides the first");
}

#[test]
fn van_elteren_() {
    case!(Values { a: Vec<f64>, b: Vec<f64> });
    case!(Case { strata: Vec<Values>, z: Option<f64>, p: Option<f64>, effect: Option<f64> });
    for case in cases::<Case>("van_elteren") {
        let strata: Vec<Stratum> =
            case.strata.iter().map(|stratum| Stratum { a: stratum.a.clone(), b: stratum.b.clone() }).collect();
        let found = van_elteren_asymptotic(&strata);
        check_value(found.map(|found| found.z), case.z, &case);
        check_p(found.map(|found| found.p), case.p, &case);
        check_value(found.map(|found| found.effect), case.effect, &case);
    }
}

#[test]
fn intervals() {
    case!(Case {
        estimate: f64,
        replicates: Vec<f64>,
        jackknife: Vec<Vec<f64>>,
        level: f64,
        percentile: [f64; 2],
        bca: [f64; 2],
    });
    for case in cases::<Case>("intervals") {
        let found = percentile(&case.replicates, case.level).expect("there are replicates");
        check_value(found.lower, case.percentile[0], &case);
        check_value(found.upper, case.percentile[1], &case);
        let found = bca(case.estimate, &case.replicates, &case.jackknife, case.level).expect("it is defined");
        check_value(found.lower, case.bca[0], &case);
        check_value(found.upper, case.bca[1], &case);
    }
}
