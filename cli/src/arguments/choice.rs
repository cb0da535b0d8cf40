//! How a suite is chosen.

use std::num::NonZeroUsize;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::numbers::{count, duration};
use super::percentage;

#[derive(Debug, Args)]
pub(crate) struct ChoiceArguments {
    /// How the suite is made. A study makes it by default for what it is expected to find; with --reseed 1 or --criterion
    /// as the best of the drawn suites, or greedily under a --budget.
    #[arg(long, value_enum, value_name = "HOW")]
    pub(crate) builder: Option<BuilderArgument>,
    /// The maximum time that all inputs of the suite are expected to take on an implementation, one after the other, for
    /// example 10m; those are chosen that are expected to find most in it.
    #[arg(long, value_name = "DURATION", value_parser = duration, conflicts_with_all = ["inputs", "target", "budget", "criterion"])]
    pub(crate) time: Option<Duration>,
    /// The maximum number of simulated events that all runs of the suite take together.
    #[arg(long, value_name = "EVENTS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) budget: Option<u64>,
    /// The number of inputs that --builder expected chooses.
    #[arg(long, value_name = "N", conflicts_with_all = ["target", "budget"], value_parser = count::<NonZeroUsize>)]
    pub(crate) inputs: Option<NonZeroUsize>,
    /// Let --builder expected reach this percentage of what the universe is expected to find, in the least time.
    #[arg(long, value_name = "PERCENT", value_parser = percentage, conflicts_with = "budget")]
    pub(crate) target: Option<f64>,
}

impl ChoiceArguments {
    /// Returns whether anything was said of how the suite is chosen.
    pub(crate) fn is_given(&self) -> bool {
        let Self { builder, time, budget, inputs, target } = self;
        builder.is_some() || time.is_some() || budget.is_some() || inputs.is_some() || target.is_some()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BuilderArgument {
    /// The best of the adequate suites that are drawn at random: by expected score, or by mutant score with --reseed 1.
    Random,
    /// Each input contributes most after those before it.
    Greedy,
    /// No adequate suite has fewer inputs.
    Minimum,
    /// All inputs of the universe, ordered so that every prefix is a good suite.
    Prioritised,
    /// The suite that is expected to find most, over all seeds; an input can occur several times. It reaches 90 % of what
    /// the universe is expected to find in the least time, or does what --time, --target, --inputs or --budget asks for.
    Expected,
}
