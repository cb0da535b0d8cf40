//! How sure a share is: the interval of Wilson (1927).

use super::{Interval, normal_quantile};

/// Returns the interval of a probability of which `successes` of `of` trials are known, at `level`: `(p + z^2 / 2n ± z
/// sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n)`. It stays between 0 and 1, and has a width for 0 of n too.
///
/// `None` for no trials.
///
/// # Panics
/// If there are more successes than trials.
pub fn wilson(successes: usize, of: usize, level: f64) -> Option<Interval> {
    assert!(successes <= of, "{successes} successes in {of} trials");
    if of == 0 {
        return None;
    }
    let (count, share) = (of as f64, successes as f64 / of as f64);
    let z = normal_quantile(f64::midpoint(1.0, level));
    let centre = share + z * z / (2.0 * count);
    let half = z * (share * (1.0 - share) / count + z * z / (4.0 * count * count)).sqrt();
    let scale = 1.0 + z * z / count;
    // The ends are exact there, and rounding shall not take them beyond.
    let lower = if successes == 0 { 0.0 } else { (centre - half) / scale };
    let upper = if successes == of { 1.0 } else { (centre + half) / scale };
    Some(Interval { lower, upper })
}
