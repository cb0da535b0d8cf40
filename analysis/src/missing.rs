//! What suites find of something that fails with a probability: expected values in closed form.
//!
//! A test case finds a faulty implementation with a probability `p`, estimated from repetitions. Repetitions of
//! different test cases are independent runs, so a suite finds it with the probability `1 - prod(1 - p)` over its test
//! cases. With probabilities of 0 and 1 alone that is whether one of them fails.

/// Returns the probability that none of the `suite`'s test cases finds it, each of which misses it with its
/// probability in `missing`.
pub(crate) fn missing_of_suite(missing: &[f64], suite: &[usize]) -> f64 {
    suite.iter().map(|&case| missing[case]).product()
}

/// Returns for each size from 0 to `size_max` the probability that none of that many test cases finds it, which are
/// drawn at random without replacement: the mean of `prod q` over all suites of the size, `q` being `missing`.
///
/// That is `e_n(q) / C(N, n)` with the elementary symmetric polynomial `e_n`, by the recurrence over the first `i`
/// test cases `E_n(i) = E_n(i - 1) (1 - n / i) + q_i E_(n-1)(i - 1) n / i`: a mean of two values from 0 to 1 with
/// weights from 0 to 1, so that nothing overflows and nothing cancels. Cost O(N size_max).
///
/// # Panics
/// If `size_max` is more than there are test cases.
pub(crate) fn missing_of_random(missing: &[f64], size_max: usize) -> Vec<f64> {
    assert!(size_max <= missing.len(), "{size_max} test cases cannot be drawn from {}", missing.len());
    let mut means = vec![0.0; size_max + 1];
    means[0] = 1.0;
    for (index, q) in missing.iter().enumerate() {
        let count = index + 1;
        // Downwards, so that each size still finds what the smaller one was without this test case.
        for size in (1..=size_max.min(count)).rev() {
            let with = size as f64 / count as f64;
            means[size] = means[size] * (1.0 - with) + q * means[size - 1] * with;
        }
    }
    means
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::baseline::RandomBaseline;

    proptest! {
        #[test]
        fn random_suites_are_the_mean_of_all_suites(missing in prop::collection::vec(prop_oneof![Just(0.0), Just(1.0), 0.0..1.0_f64], 0..10)) {
            let found = missing_of_random(&missing, missing.len());
            for (size, found) in found.iter().enumerate() {
                let of_suite = |suite: u32| {
                    let cases: Vec<usize> = (0..missing.len()).filter(|case| suite >> case & 1 == 1).collect();
                    missing_of_suite(&missing, &cases)
                };
                let suites = (0..1_u32 << missing.len()).filter(|suite| suite.count_ones() as usize == size);
                let (sum, count) = suites.fold((0.0, 0), |(sum, count), suite| (sum + of_suite(suite), count + 1));
                prop_assert!((found - sum / f64::from(count)).abs() < 1e-12, "size {size}: {found}, not {sum} / {count}");
            }
        }

        #[test]
        fn of_certain_failures_it_is_hypergeometric(fails in prop::collection::vec(prop::bool::weighted(0.1), 1..400)) {
            let missing: Vec<f64> = fails.iter().map(|fails| if *fails { 0.0 } else { 1.0 }).collect();
            let failing = fails.iter().filter(|fails| **fails).count();
            for (size, found) in missing_of_random(&missing, missing.len()).into_iter().enumerate() {
                let expected = RandomBaseline::survival(missing.len(), failing, size);
                prop_assert!((found - expected).abs() < 1e-12, "size {size}: {found}, not {expected}");
            }
        }
    }
}
