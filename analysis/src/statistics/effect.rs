//! How often a value of one sample is higher than one of another.

use super::ranks::Ranks;

/// Returns the probability that a value of `a` is higher than one of `b`, equal ones counting half: the effect size of
/// Vargha and Delaney (2000), `U / (n1 n2)`, 0.5 for no effect; 0.56, 0.64 and 0.71 are called small, medium and large.
/// `None` if one of them is empty.
///
/// Cost O(n log n).
pub fn a12(a: &[f64], b: &[f64]) -> Option<f64> {
    let ranks = Ranks::of(a, b)?;
    Some(ranks.u / (a.len() as f64 * b.len() as f64))
}

/// Returns [`a12`] without each of the values of `a`, and without each of those of `b`: what [`bca`](super::bca) asks
/// for. `None` if one of them has fewer than two.
///
/// Cost O(n log n).
pub fn a12_jackknife(a: &[f64], b: &[f64]) -> Option<[Vec<f64>; 2]> {
    if a.len() < 2 || b.len() < 2 {
        return None;
    }
    let u = Ranks::of(a, b)?.u;
    let without = |own: &[f64], other: &[f64], counts: fn(below: f64, equal: f64, other: f64) -> f64| -> Vec<f64> {
        let mut sorted = other.to_vec();
        sorted.sort_by(f64::total_cmp);
        let pairs = (own.len() - 1) as f64 * other.len() as f64;
        own.iter()
            .map(|value| {
                let below = sorted.partition_point(|other| other < value);
                let equal = sorted.partition_point(|other| other <= value) - below;
                (u - counts(below as f64, equal as f64, sorted.len() as f64)) / pairs
            })
            .collect()
    };
    Some([
        without(a, b, |below, equal, _| below + 0.5 * equal),
        without(b, a, |below, equal, others| others - below - 0.5 * equal),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_effect_of_nothing_is_none_and_of_equals_a_half() {
        assert_eq!(a12(&[], &[1.0]), None);
        assert_eq!(a12(&[0.5; 3], &[0.5; 9]), Some(0.5));
        assert_eq!(a12(&[1.0, 2.0], &[0.5]), Some(1.0));
    }

    #[test]
    fn the_jackknife_leaves_each_value_out() {
        let (a, b) = ([3.0, 1.0, 2.0, 2.0], [2.0, 0.5, 4.0]);
        let found = a12_jackknife(&a, &b).expect("there are enough");
        let without = |values: &[f64], index: usize| [&values[..index], &values[index + 1..]].concat();
        for (index, found) in found[0].iter().enumerate() {
            assert!((found - a12(&without(&a, index), &b).expect("values")).abs() < 1e-15);
        }
        for (index, found) in found[1].iter().enumerate() {
            assert!((found - a12(&a, &without(&b, index)).expect("values")).abs() < 1e-15);
        }
        assert_eq!(a12_jackknife(&[1.0], &b), None);
    }
}
