//! The arguments of `simutant explore`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use super::check::bytes;
use super::numbers::count;
use crate::trace_files::{NetFile, StateSpaceFile};

#[derive(Debug, Args)]
pub(crate) struct ExploreArguments {
    /// A net that a Cargo.toml names in [package.metadata.simutant.nets], of a package of your own or of Simutant's systems,
    /// such as two-phase-commit; or a file in PNML whose name ends in .pnml.
    #[arg(value_name = "NET")]
    pub(crate) net: String,
    /// What the function that returns the net is given, each as JSON or as a word [default: what the Cargo.toml says].
    #[arg(value_name = "ARGUMENT")]
    pub(crate) arguments: Vec<String>,
    /// The Cargo.toml of the package or workspace that has the net [default: the one of this folder, if it has the net].
    #[arg(long, value_name = "FILE")]
    pub(crate) manifest_path: Option<PathBuf>,
    /// The maximum number of markings [default: any number].
    #[arg(long, value_name = "N", conflicts_with = "simulate", value_parser = count::<NonZeroUsize>)]
    pub(crate) markings: Option<NonZeroUsize>,
    /// The maximum of memory that the state space takes, with a unit: B, KiB, MiB, GiB, kB, MB or GB.
    #[arg(long, value_name = "SIZE", default_value = "1GiB", conflicts_with = "simulate", value_parser = bytes)]
    pub(crate) memory: usize,
    /// Simulate so many runs, for test cases of a net that is too large to be explored. Each step is one of those that are
    /// possible, all equally likely; --seed says which.
    #[arg(long, value_name = "RUNS", value_parser = count::<NonZeroUsize>)]
    pub(crate) simulate: Option<NonZeroUsize>,
    /// With --simulate: the maximum number of steps of a run, which gives no test case if it is longer.
    #[arg(long, value_name = "N", default_value = "10000", requires = "simulate", value_parser = count::<NonZeroUsize>)]
    pub(crate) steps: NonZeroUsize,
    /// Write the test cases, with what may be observed on each. The file's name ends in .json or .xml (data), or in .rs,
    /// .go or .py (tests that run them on your implementation, with the template of an adapter beside).
    #[arg(long, value_name = "FILE")]
    pub(crate) tests: Option<PathBuf>,
    /// With --tests: a table in TOML of your names for events, fields and values, and of how calls are made.
    #[arg(long, value_name = "FILE", requires = "tests")]
    pub(crate) names: Option<PathBuf>,
    /// Draw the state space. The file's name ends in .html (a page, with the net), .svg or .dot (for Graphviz).
    #[arg(long, value_name = "FILE", conflicts_with = "simulate")]
    pub(crate) picture: Option<StateSpaceFile>,
    /// Draw the net. The file's name ends in .svg or .dot.
    #[arg(long, value_name = "FILE", conflicts_with = "simulate")]
    pub(crate) net_picture: Option<NetFile>,
    /// Write the net of a file without its colours, in PNML: a place for each colour, a transition for each binding.
    #[arg(long, value_name = "FILE", conflicts_with = "simulate")]
    pub(crate) unfolded: Option<PathBuf>,
}
