//! Whether two shares differ: Fisher's exact test (1934).

use serde::{Deserialize, Serialize};
use statrs::function::factorial::ln_binomial;

use super::Alternative;
use super::binomial::ROUNDING;

/// The outcome of a test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Fisher {
    /// The sample odds ratio, `a d / (b c)`; `None` if that is divided by 0.
    pub odds_ratio: Option<f64>,
    /// The p-value.
    pub p: f64,
}

/// Tests `[[a, b], [c, d]]`, in which `a` of `a + b` succeeded in one group and `c` of `c + d` in the other, by the
/// hypergeometric distribution of `a` given the margins. [`Alternative::Greater`] is that the first group succeeds more
/// often. A two-sided p-value adds up all tables that are no more probable than the one found. 1 if a margin is 0.
///
/// Cost O(smallest margin).
pub fn fisher_exact([[a, b], [c, d]]: [[usize; 2]; 2], alternative: Alternative) -> Fisher {
    let (first, successes, all) = (a + b, a + c, a + b + c + d);
    let least = (first + successes).saturating_sub(all);
    let most = first.min(successes);
    let whole = ln_binomial(all as u64, successes as u64);
    let mass = |count: usize| -> f64 {
        let ways =
            ln_binomial(first as u64, count as u64) + ln_binomial((all - first) as u64, (successes - count) as u64);
        (ways - whole).exp()
    };
    let p: f64 = match alternative {
        Alternative::Less => (least..=a).map(mass).sum(),
        Alternative::Greater => (a..=most).map(mass).sum(),
        Alternative::TwoSided => {
            let found = mass(a) * ROUNDING;
            (least..=most).map(mass).filter(|mass| *mass <= found).sum()
        }
    };
    let odds_ratio = (b > 0 && c > 0).then(|| (a as f64 / b as f64) * (d as f64 / c as f64));
    Fisher { odds_ratio, p: p.min(1.0) }
}
