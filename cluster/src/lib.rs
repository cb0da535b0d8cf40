//! Runs the shards of a prepared study on a cluster, by the scheduler that the cluster has.
//!
//! Placement, queues, limits, heartbeats, the tasks of a lost node and the identity of users are the scheduler's:
//! nothing here listens, opens a connection, or holds a secret. A [`Scheduler`] submits an array of shards, lists those that
//! wait or run, and cancels them; [`Slurm`] is the one that there is. [`ClusterRun::run`] adds what no scheduler can know: which
//! shards are missing, what an error of theirs means, and that their results belong together ([`simutant_campaign::merge`]).
//!
//! Where no scheduler is supported, [`script`] says what to run by hand.
//!
//! # The folder
//!
//! `OUT/cluster` is on a file system that all nodes share, and private to its user.
//!
//! | path | what it is |
//! | --- | --- |
//! | `bundles/ID/` | what a shard needs ([`Bundle`](simutant_campaign::Bundle)), with the command |
//! | `results/K.sqlite` | the result of shard K, or of a part of it: a whole file, or none |
//! | `progress/K.json` | how far shard K is ([`ShardProgress`]) |
//! | `ended/K` | its exit code, and the node that it ran on |
//! | `log/K.txt` | what it said on standard error |
//! | `array.sh` | what each task of the array runs |
//! | `job.json` | the array that was submitted last |
//!
//! The scheduler's word is for people who wait. What is done is what `results/` has.

mod error;
mod folder;
mod run;
mod scheduler;
pub mod script;
mod slurm;

pub use error::ClusterError;
pub use folder::{ClusterFolder, ShardProgress};
pub use run::{ClusterEnd, ClusterEvent, ClusterRun, Waiting};
pub use scheduler::{Array, Capacity, Scheduler, Task, TaskState};
pub use slurm::Slurm;
