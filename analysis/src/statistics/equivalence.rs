//! Whether means are the same within a margin, which a high p-value of a test of difference does not show: two
//! one-sided tests (Schuirmann 1987).
//!
//! For A12 the same is asked of its interval: [`Interval::is_within`](super::Interval::is_within).

use super::{Summary, student_tail};

/// Returns the p-value of the claim that the means of `a` and `b` differ by less than `margin`: the greater of those of
/// the two tests that the difference is above `-margin` and below `margin`, by Welch's t with Satterthwaite's degrees
/// of freedom.
///
/// `None` if a sample has one value, or if neither varies: then nothing says how sure the difference is.
pub fn equivalent_means(a: &Summary, b: &Summary, margin: f64) -> Option<f64> {
    let part = |summary: &Summary| summary.sd.map(|sd| sd.powi(2) / summary.count as f64);
    let (part_a, part_b) = (part(a)?, part(b)?);
    let both = part_a + part_b;
    let freedom = both.powi(2) / (part_a.powi(2) / (a.count - 1) as f64 + part_b.powi(2) / (b.count - 1) as f64);
    (both > 0.0).then(|| within(a.mean - b.mean, both.sqrt(), freedom, margin))
}

fn within(difference: f64, standard_error: f64, freedom: f64, margin: f64) -> f64 {
    let above = student_tail((difference + margin) / standard_error, freedom);
    let below = student_tail((margin - difference) / standard_error, freedom);
    above.max(below)
}
