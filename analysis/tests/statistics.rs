//! Every statistic agrees with SciPy, statsmodels or the definition, as `fixtures/statistics.py` computed them, and has
//! the properties that follow from what it asks.

#[path = "statistics/fixtures.rs"]
mod fixtures;
#[path = "statistics/properties.rs"]
mod properties;
