//! How far two quantities stand in the same order: Kendall's tau-b (1945), and what is left of it when a third is held
//! fixed.

use serde::{Deserialize, Serialize};

use super::Alternative;

/// The outcome of a test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Kendall {
    /// From -1, one falls whenever the other rises, to 1, both rise together.
    pub tau: f64,
    /// The two-sided p-value that they have nothing to do with each other, by the normal approximation with ties.
    pub p: f64,
}

/// Returns `(C - D) / sqrt((n0 - n1) (n0 - n2))` over the pairs of places: `C` concordant, `D` discordant, `n0` all,
/// `n1` and `n2` with equal values of `x` and of `y`.
///
/// `None` with fewer than two values, or if one of them does not vary. Cost O(n^2).
///
/// # Panics
/// If they have different lengths.
pub fn kendall_tau_b(x: &[f64], y: &[f64]) -> Option<Kendall> {
    assert_eq!(x.len(), y.len(), "values come in pairs");
    let mut difference = 0_i64;
    for (index, (x_here, y_here)) in x.iter().zip(y).enumerate() {
        for (x_there, y_there) in x[..index].iter().zip(y) {
            let sign = |here: &f64, there: &f64| i64::from(here > there) - i64::from(here < there);
            difference += sign(x_here, x_there) * sign(y_here, y_there);
        }
    }
    let count = x.len() as f64;
    let (ties_x, ties_y) = (Ties::of(x), Ties::of(y));
    let all = count * (count - 1.0) / 2.0;
    let (varied_x, varied_y) = (all - ties_x.pairs, all - ties_y.pairs);
    if varied_x <= 0.0 || varied_y <= 0.0 {
        return None;
    }
    let tau = difference as f64 / (varied_x * varied_y).sqrt();
    let mut variance =
        (2.0 * all * (2.0 * count + 5.0) - ties_x.fives - ties_y.fives) / 18.0 + ties_x.pairs * ties_y.pairs / all;
    if count > 2.0 {
        variance += ties_x.triples * ties_y.triples / (18.0 * all * (count - 2.0));
    }
    Some(Kendall {
        tau: tau.clamp(-1.0, 1.0),
        p: Alternative::TwoSided.normal_p(difference as f64, variance.sqrt(), 0.0),
    })
}

/// Returns the correlation of `x` and `y` with `z` held fixed, from the three that they have:
/// `(t_xy - t_xz t_yz) / sqrt((1 - t_xz^2) (1 - t_yz^2))` (Kendall 1942). `None` if `z` decides one of them.
pub fn partial_tau(tau_xy: f64, tau_xz: f64, tau_yz: f64) -> Option<f64> {
    let left = (1.0 - tau_xz * tau_xz) * (1.0 - tau_yz * tau_yz);
    (left > 0.0).then(|| ((tau_xy - tau_xz * tau_yz) / left.sqrt()).clamp(-1.0, 1.0))
}

/// Sums over groups of `t` equal values.
struct Ties {
    /// `t (t - 1) / 2`.
    pairs: f64,
    /// `t (t - 1) (t - 2)`.
    triples: f64,
    /// `t (t - 1) (2 t + 5)`.
    fives: f64,
}

impl Ties {
    fn of(values: &[f64]) -> Self {
        let groups = super::ranks::midranks(values).1;
        let sum = |term: fn(f64) -> f64| groups.iter().map(|&size| term(size as f64)).sum();
        Self {
            pairs: sum(|t| t * (t - 1.0) / 2.0),
            triples: sum(|t| t * (t - 1.0) * (t - 2.0)),
            fives: sum(|t| t * (t - 1.0) * (2.0 * t + 5.0)),
        }
    }
}
