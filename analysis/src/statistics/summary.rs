//! What a sample looks like.

use serde::{Deserialize, Serialize};

/// What a sample looks like, in the unit of its values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// How many values there are, at least 1.
    pub count: usize,
    /// Their mean.
    pub mean: f64,
    /// The sample standard deviation (divisor `count - 1`), `None` for one value; exactly 0 if all values are equal.
    pub sd: Option<f64>,
    /// The least value.
    pub min: f64,
    /// The middle value, or the mean of the two in the middle.
    pub median: f64,
    /// The greatest value.
    pub max: f64,
}

impl Summary {
    /// Returns the summary of `values`, `None` if there are none.
    pub fn of(values: &[f64]) -> Option<Self> {
        let count = values.len();
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        // Equal values are treated apart, since rounding would give them a deviation that a test divides by.
        let mean = if min == max { min } else { sorted.iter().sum::<f64>() / count as f64 };
        let sd = (count > 1).then(|| {
            let squares: f64 = sorted.iter().map(|value| (value - mean).powi(2)).sum();
            (squares / (count - 1) as f64).sqrt()
        });
        let median = f64::midpoint(sorted[(count - 1) / 2], sorted[count / 2]);
        Some(Self { count, mean, sd, min, median, max })
    }

    /// Returns `mean ± standard error`'s second part, `None` if the values do not vary or there is only one.
    pub fn standard_error(&self) -> Option<f64> {
        self.sd.filter(|sd| *sd > 0.0).map(|sd| sd / (self.count as f64).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_no_deviation() {
        let summary = Summary::of(&[0.1; 200]).expect("there are values");
        assert_eq!((summary.mean, summary.sd), (0.1, Some(0.0)));
        assert_eq!(summary.standard_error(), None);
        assert_eq!(Summary::of(&[0.3]).expect("there is a value").sd, None);
        assert_eq!(Summary::of(&[]), None);
    }
}
