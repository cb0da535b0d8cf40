//! What is asked of a scheduler.

use std::fmt::Debug;
use std::num::NonZeroU32;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::ClusterError;

/// What places processes on the nodes of a cluster.
pub trait Scheduler: Debug {
    /// Returns what the scheduler is called.
    fn name(&self) -> &'static str;

    /// Returns what the cluster has.
    ///
    /// # Errors
    /// If the scheduler cannot be asked.
    fn capacity(&self) -> Result<Capacity, ClusterError>;

    /// Submits an array of tasks, and returns the number of the job.
    ///
    /// # Errors
    /// If the scheduler refuses it or cannot be asked.
    fn submit(&self, array: &Array<'_>) -> Result<String, ClusterError>;

    /// Returns the tasks of a job that have not ended; none if the scheduler knows the job no more.
    ///
    /// # Errors
    /// If the scheduler cannot be asked.
    fn tasks(&self, job: &str) -> Result<Vec<Task>, ClusterError>;

    /// Cancels all tasks of a job: each is told, and has some seconds to write what it has.
    ///
    /// # Errors
    /// If the scheduler cannot be asked.
    fn cancel(&self, job: &str) -> Result<(), ClusterError>;
}

/// What a cluster has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    /// Processors in all.
    pub processors: u32,
    /// Processors that nobody uses at the moment.
    pub processors_idle: u32,
    /// Tasks that an array may have.
    pub tasks_max: u32,
}

/// An array of tasks, each of which runs a program with its own number.
#[derive(Debug)]
pub struct Array<'a> {
    /// What people see in the queue.
    pub name: &'a str,
    /// The folder that tasks begin in.
    pub folder: &'a Path,
    /// The shell script that each of them runs.
    pub script: &'a Path,
    /// What the script is given.
    pub arguments: &'a [String],
    /// The numbers of the tasks.
    pub tasks: &'a [u32],
    /// Processors of each task.
    pub processors: NonZeroU32,
    /// Memory for each processor.
    pub memory_bytes: u64,
    /// How long a task may take; `None` for as long as the cluster allows.
    pub time: Option<Duration>,
    /// Nodes that no task is to run on.
    pub excluded: &'a [String],
    /// Further options of the scheduler, as a person gave them.
    pub options: &'a [String],
}

/// A task that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Its number in the array.
    pub number: u32,
    /// What it does.
    pub state: TaskState,
    /// How often the scheduler has started it again, as after the loss of a node.
    pub restarts: u32,
    /// Why it waits, in the scheduler's words.
    pub reason: Option<String>,
}

/// What a task does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskState {
    /// It waits for a node.
    Waiting,
    /// It runs.
    Running,
    /// It has ended, or was cancelled, and its node has not said so yet; on a node that is lost this may last.
    Ending,
}

/// How long cancelled tasks may take to end before nobody waits for them any more, and how often they are asked for.
const CANCEL: Duration = Duration::from_secs(90);
const ASK: Duration = Duration::from_secs(1);
/// How often a scheduler is asked that does not answer, as a busy one does now and then.
const TRIES: u32 = 5;

/// Returns the tasks of a job that have not ended, from a scheduler that may be busy.
pub(crate) fn tasks(scheduler: &dyn Scheduler, job: &str) -> Result<Vec<Task>, ClusterError> {
    let mut tries = 1;
    loop {
        match scheduler.tasks(job) {
            Err(ClusterError::Refused { .. }) if tries < TRIES => tries += 1,
            answer => return answer,
        }
        std::thread::sleep(ASK);
    }
}

/// Cancels a job whose tasks wait or run, and waits for their end.
pub(crate) fn cancel(scheduler: &dyn Scheduler, job: &str) -> Result<(), ClusterError> {
    if tasks(scheduler, job)?.is_empty() {
        return Ok(());
    }
    scheduler.cancel(job)?;
    let begun = Instant::now();
    while begun.elapsed() < CANCEL && !tasks(scheduler, job)?.is_empty() {
        std::thread::sleep(ASK);
    }
    Ok(())
}
