//! Why a study on a cluster fails.

use std::path::{Path, PathBuf};

use simutant_campaign::ShardError;

/// An error of a study on a cluster.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// The scheduler's commands are not here.
    #[error(
        "{scheduler} is not here: its command `{command}` cannot be run ({source}); run this on a login node of the cluster"
    )]
    NoScheduler {
        /// The scheduler.
        scheduler: &'static str,
        /// The command.
        command: String,
        /// What the operating system says.
        source: std::io::Error,
    },
    /// The scheduler refused what was asked, or said something else.
    #[error("`{command}`: {detail}")]
    Refused {
        /// The command with its arguments.
        command: String,
        /// What it said.
        detail: String,
    },
    /// A shard ended with an error that another node would not change.
    #[error(
        "shard {shard} ended with exit code {code} on {node}: {detail}; once that is mended, the same command goes on"
    )]
    Shard {
        /// Its number.
        shard: u32,
        /// Its exit code.
        code: i32,
        /// The node.
        node: String,
        /// What it said.
        detail: String,
    },
    /// The results of shards cannot be merged.
    #[error(transparent)]
    Merge(#[from] ShardError),
    /// A file or folder cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system says.
        source: std::io::Error,
    },
}

impl ClusterError {
    pub(crate) fn file(path: &Path, source: std::io::Error) -> Self {
        Self::File { path: path.to_owned(), source }
    }
}
