//! What `shard`, `merge` and `cluster-script` take, and the options of `study` for clusters.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use simutant_campaign::{Bundle, Shard};

use super::numbers::count;

/// What runs the mutants of a study elsewhere.
#[derive(Debug, Args)]
pub(crate) struct ClusterArguments {
    /// Run the mutants on the cluster that this machine is a login node of. The folder of --out must be on a file system
    /// that all nodes share.
    #[arg(long, value_enum, value_name = "SCHEDULER", conflicts_with = "prepare")]
    pub(crate) cluster: Option<SchedulerArgument>,
    /// The number of shards [default: four for each processor of the cluster, but none of less than five minutes].
    #[arg(long, value_name = "N", requires = "cluster", value_parser = count::<NonZeroU32>)]
    pub(crate) shards: Option<NonZeroU32>,
    /// Workers of each shard, on as many processors.
    #[arg(long, value_name = "N", requires = "cluster", default_value_t = NonZeroU32::MIN, value_parser = count::<NonZeroU32>)]
    pub(crate) shard_jobs: NonZeroU32,
    /// An option for the scheduler, such as --partition=NAME; can be given several times.
    #[arg(long, value_name = "OPTION", requires = "cluster", allow_hyphen_values = true)]
    pub(crate) cluster_option: Vec<String>,
    /// Submit and do not wait: the same command attaches to the job later.
    #[arg(long, requires = "cluster")]
    pub(crate) detach: bool,
}

/// A scheduler that places shards on the nodes of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchedulerArgument {
    /// Slurm: an array of jobs, by sbatch, squeue and scancel.
    Slurm,
}

/// The trials of an experiment on several machines.
#[derive(Debug, Args)]
pub(crate) struct TrialShardArguments {
    /// Try part K of N of the test cases alone, counted from 0, and analyse nothing. The folder of --out must have the
    /// study; nothing is written there but what is compiled.
    #[arg(long, value_name = "K/N", requires = "into")]
    pub(crate) shard: Option<Shard>,
    /// The file for the trials of the part. If it has some, the others are tried.
    #[arg(long, value_name = "FILE", requires = "shard")]
    pub(crate) into: Option<PathBuf>,
    /// Take the trials of parts from the files that --into named. What is missing is tried here.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "shard")]
    pub(crate) trials: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ClusterScriptArguments {
    /// Where the shards are to run.
    #[arg(value_enum, value_name = "PLACE")]
    pub(crate) place: PlaceArgument,
    /// The folder that `study --prepare` wrote.
    pub(crate) bundle: PathBuf,
    /// The number of shards.
    #[arg(long, value_name = "N", default_value_t = NonZeroU32::new(8).expect("it is not 0"), value_parser = count::<NonZeroU32>)]
    pub(crate) shards: NonZeroU32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlaceArgument {
    /// Machines that are reached by ssh, with GNU parallel.
    Parallel,
    /// Kubernetes, as an Indexed Job.
    Kubernetes,
    /// GitHub Actions, as a matrix.
    Github,
    /// HyperQueue, as an array.
    Hyperqueue,
}

/// Reads what a bundle is to be identified by.
fn bundle_id(text: &str) -> Result<String, String> {
    let is_long = text.len() >= Bundle::DIGITS_MIN;
    is_long.then(|| text.to_owned()).ok_or_else(|| format!("give at least {} digits of it", Bundle::DIGITS_MIN))
}

#[derive(Debug, Args)]
pub(crate) struct ShardArguments {
    /// The folder that `study --prepare` wrote.
    pub(crate) bundle: PathBuf,
    /// The shard: number K of N, counted from 0.
    #[arg(value_name = "K/N")]
    pub(crate) shard: Shard,
    /// The file for the result. If it has a part of the same shard, the shard goes on from there.
    #[arg(long, value_name = "FILE")]
    pub(crate) into: PathBuf,
    /// Run only if the bundle has this identity, as `study --prepare` prints it, or at least 16 digits of it.
    #[arg(long, value_name = "ID", value_parser = bundle_id)]
    pub(crate) id: Option<String>,
    /// Write into this file every few seconds how far the shard is, as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) progress: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArguments {
    /// The folder of the study, as `study --prepare` left it.
    #[arg(value_name = "OUT")]
    pub(crate) study: PathBuf,
    /// The results of shards.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Begin the study from this bundle, if OUT has none, as on another machine than the one that prepared it.
    #[arg(long, value_name = "BUNDLE")]
    pub(crate) bundle: Option<PathBuf>,
    /// Keep the runs packed in the journal. A run takes an eighth of the space; its reasons stay text. SQL does not see
    /// packed runs, in the view `executions`.
    #[arg(long)]
    pub(crate) compress: bool,
}
