//! How scores are spread over the range from 0 to 1.

/// Returns the share of `values` in each of `bins` equal parts of the range from 0 to 1; the last part holds 1 too.
///
/// All zeros if there are no values.
///
/// # Panics
/// If `bins` is 0 or a value is outside 0 to 1.
pub fn histogram(values: &[f64], bins: usize) -> Vec<f64> {
    let mut shares = vec![0.0; bins];
    for &value in values {
        assert!((0.0..=1.0).contains(&value), "{value} is not a score");
        // The small addition puts quotients that stand for a bound, as 0.15 does, into the part above it.
        let bin = ((value * bins as f64 + 1e-9) as usize).min(bins - 1);
        shares[bin] += 1.0;
    }
    shares.iter_mut().for_each(|share| *share /= values.len().max(1) as f64);
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(values: &[f64], expect: &[f64]) {
        assert_eq!(histogram(values, expect.len()), expect);
    }

    #[test]
    fn the_ends_are_in_the_outer_parts() {
        check(&[0.0, 1.0], &[0.5, 0.0, 0.0, 0.5]);
    }

    #[test]
    fn a_bound_belongs_to_the_part_above() {
        check(&[0.25, 0.5, 0.74, 0.75], &[0.0, 0.25, 0.5, 0.25]);
    }

    #[test]
    fn no_values_are_no_bars() {
        check(&[], &[0.0, 0.0]);
    }
}
