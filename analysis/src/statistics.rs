//! The statistics that the analysis rests on; each file holds one idea, with its formula, its source and its units.
//!
//! What is not defined is `None`, never NaN: a sample without values, values that do not vary where something is
//! divided by their variation. P-values are between 0 and 1, effects and shares too, and all sums of ranks are exact.
//! Distributions are those of `statrs`. `tests/fixtures/statistics.py` computes the same with SciPy and statsmodels, or
//! by enumeration where these have nothing, and `tests/statistics.rs` compares.
//!
//! What to use for what follows Arcuri and Briand (2014): ranks rather than means, every p-value shown, an effect size
//! with its interval beside it, corrections for the number of tests.

mod benjamini_hochberg;
mod beta_binomial;
mod binomial;
mod bootstrap;
mod distributions;
mod effect;
mod effects_bootstrap;
mod equivalence;
mod fisher;
mod friedman;
mod holm;
mod kendall;
mod kruskal_wallis;
mod mann_whitney;
mod normal;
mod ranks;
mod student;
mod summary;
mod van_elteren;
mod wilson;

pub use crate::random::NamedStream;
pub use benjamini_hochberg::benjamini_hochberg;
pub use beta_binomial::{Posterior, Prior};
pub use binomial::binomial_test;
pub use bootstrap::{Bootstrap, Interval, bca, percentile};
pub use distributions::{Alternative, Method, chi_squared_tail, normal_quantile, student_tail, upper_tail};
pub use effect::{a12, a12_jackknife};
pub use effects_bootstrap::{PairReplicates, Unit, effects_of_clusters, effects_of_units};
pub use equivalence::equivalent_means;
pub use fisher::{Fisher, fisher_exact};
pub use friedman::{Friedman, friedman, nemenyi_difference, studentized_range_quantile};
pub use holm::holm;
pub use kendall::{Kendall, kendall_tau_b, partial_tau};
pub use kruskal_wallis::{KruskalWallis, kruskal_wallis};
pub use mann_whitney::{MannWhitney, mann_whitney, mann_whitney_asymptotic, mann_whitney_exact};
pub use normal::{ZTest, z_test};
pub use student::{TTest, t_test};
pub use summary::Summary;
pub use van_elteren::{Stratum, VanElteren, van_elteren, van_elteren_asymptotic};
pub use wilson::wilson;
