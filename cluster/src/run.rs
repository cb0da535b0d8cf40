//! A study on a cluster: submit what is missing, wait, merge, and try once more without the nodes that are unfit.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};

use simutant_campaign::{Bundle, Merged, RunForm, merge};

use crate::folder::Job;
use crate::scheduler::{cancel, tasks};
use crate::{Array, Capacity, ClusterError, ClusterFolder, Scheduler, ShardProgress, Task, TaskState};

/// Arrays that are submitted at most: the second is for what lost or unfit nodes left.
const ROUNDS_MAX: usize = 2;
/// Exit codes of a shard that another node may not have: unfit, without room, and a command that cannot be run.
const CODES_OF_NODES: [i32; 4] = [4, 5, 126, 127];
/// How often in a row the scheduler may not answer before nobody asks any more.
const FAILURES_MAX: u32 = 6;
/// A shard that was told to stop has written what it has.
const CODE_STOPPED: i32 = 130;
/// How often the folder is looked at, and how often the scheduler is asked.
const LOOK: Duration = Duration::from_secs(1);
const ASK: Duration = Duration::from_secs(10);
/// A shard is to take so long: then the loss of a node costs minutes, and Slurm starts few tasks.
const SHARD: Duration = Duration::from_secs(300);
/// Shards for each processor, if they are not too short then: who is done early takes another one.
const SHARDS_EACH: u32 = 4;
/// A task may take so many times as long as it is expected to.
const TIME_FACTOR: u32 = 3;

/// The part of a study that a cluster does.
#[derive(Debug)]
pub struct ClusterRun<'a> {
    /// The folder of the study.
    pub out: &'a Path,
    /// What was prepared of it, as the folder of the cluster has adopted it ([`ClusterFolder::adopt`]).
    pub bundle: &'a Bundle,
    /// The scheduler.
    pub scheduler: &'a dyn Scheduler,
    /// How many shards; `None` for as many as suit the cluster and the work.
    pub shards: Option<NonZeroU32>,
    /// Workers of each shard.
    pub jobs: NonZeroU32,
    /// Further options of the scheduler.
    pub options: &'a [String],
    /// Whether somebody waits.
    pub waiting: Waiting,
}

/// Whether somebody waits for a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// To the end.
    ToTheEnd,
    /// Not at all: the same call attaches later.
    Detach,
}

/// What happens meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClusterEvent {
    /// What the study takes on the cluster.
    Estimated {
        /// What the cluster has.
        capacity: Capacity,
        /// Shards that it is cut into.
        shards: u32,
        /// How long they take on the processors that are idle; `None` if that is not known.
        there: Option<Duration>,
    },
    /// An array was submitted.
    Submitted {
        /// The scheduler's number of it.
        job: String,
        /// How many shards it has.
        shards: usize,
    },
    /// An array that was submitted earlier goes on.
    Attached {
        /// The scheduler's number of it.
        job: String,
    },
    /// How far it is.
    Progress {
        /// What the shards say.
        progress: ShardProgress,
        /// Tasks that run.
        running: usize,
        /// Tasks that wait.
        waiting: usize,
        /// How often the scheduler has started tasks again.
        restarts: u32,
        /// Why the first of those that wait does, in the scheduler's words.
        reason: Option<String>,
    },
    /// Nodes on which no shard is tried again.
    Excluded {
        /// Their names.
        nodes: Vec<String>,
        /// What a shard said on the first of them.
        detail: String,
    },
    /// What there is was merged.
    Merged(Merged),
    /// The scheduler takes no further array.
    Refused {
        /// The scheduler's words.
        detail: String,
    },
    /// It was told to stop: tasks are being cancelled.
    Cancelling,
    /// The job could not be cancelled, and goes on.
    NotCancelled {
        /// The scheduler's number of it.
        job: String,
        /// Why.
        detail: String,
    },
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClusterEnd {
    /// All test cases are in the journal.
    Complete,
    /// Some are missing, and the cluster does not seem to do them.
    Missing(Merged),
    /// The job goes on without anybody waiting.
    Detached {
        /// The scheduler's number of it.
        job: String,
    },
    /// It was told to stop, and what was done is in the journal.
    Stopped,
}

impl ClusterRun<'_> {
    /// Runs what is missing of the campaign on the cluster and merges it into the study's journal. Once `stop` is set, tasks
    /// are cancelled, and what they have done is merged. The same call goes on from there, and from an array that is still
    /// in the queue.
    ///
    /// # Errors
    /// [`ClusterError::Shard`] if a shard ends with an error that another node would have, too: the others are cancelled.
    /// Others if the scheduler cannot be used, or results do not belong together.
    pub fn run(&self, observer: &mut dyn FnMut(ClusterEvent), stop: &AtomicBool) -> Result<ClusterEnd, ClusterError> {
        let folder = ClusterFolder::of(self.out)?;
        let shards = self.shards(&folder, observer)?;
        let mut merged = self.merge(&folder)?;
        let mut excluded = BTreeSet::new();
        // A job that has ended while nobody waited has something to say.
        if !merged.missing.is_empty()
            && let Some(job) = folder.job()
            && tasks(self.scheduler, &job.job)?.is_empty()
        {
            check_ends(&folder, shards)?;
            self.exclude(&folder, shards, &mut excluded, observer);
        }
        for round in 0..ROUNDS_MAX {
            if merged.missing.is_empty() {
                return Ok(ClusterEnd::Complete);
            }
            if stop.load(SeqCst) {
                return Ok(ClusterEnd::Stopped);
            }
            let job = match self.job(&folder, (shards, &merged, &excluded), round, observer) {
                // Without the unfit nodes there may be none.
                Err(error @ ClusterError::Refused { .. }) if !excluded.is_empty() => {
                    observer(ClusterEvent::Refused { detail: error.to_string() });
                    break;
                }
                job => job?,
            };
            if self.waiting == Waiting::Detach {
                return Ok(ClusterEnd::Detached { job });
            }
            let is_stopped = self.wait(&folder, (&job, shards), observer, stop)?;
            merged = self.merge(&folder)?;
            observer(ClusterEvent::Merged(merged.clone()));
            if is_stopped {
                return Ok(if merged.missing.is_empty() { ClusterEnd::Complete } else { ClusterEnd::Stopped });
            }
            self.exclude(&folder, shards, &mut excluded, observer);
        }
        Ok(if merged.missing.is_empty() { ClusterEnd::Complete } else { ClusterEnd::Missing(merged) })
    }

    /// Returns how many shards there are: those of an array that goes on, as many as were asked for, or a suitable number. What
    /// another bundle or number of shards left is forgotten.
    fn shards(&self, folder: &ClusterFolder, observer: &mut dyn FnMut(ClusterEvent)) -> Result<u32, ClusterError> {
        let known = folder.job();
        let goes_on = |job: &Job| {
            let is_asked = self.shards.is_none_or(|shards| shards.get() == job.shards);
            is_asked && job.bundle == self.bundle.id() && job.scheduler == self.scheduler.name()
        };
        if let Some(job) = known.as_ref().filter(|job| goes_on(job)) {
            return Ok(job.shards);
        }
        if let Some(job) = known {
            if job.scheduler == self.scheduler.name() {
                cancel(self.scheduler, &job.job)?;
            }
            // Results of this campaign are results, however they were cut; others are refused.
            folder.save_results(self.out)?;
            folder.clear(Some(&self.bundle.id()))?;
        }
        let capacity = self.scheduler.capacity()?;
        let work = self.bundle.processor_time();
        let shards = match self.shards {
            Some(shards) => shards.get(),
            None => shard_count(capacity, self.jobs, self.bundle.cases(), work),
        };
        let at_once = (capacity.processors_idle / self.jobs).clamp(1, shards);
        let there = work.map(|work| work.div_f64(f64::from(at_once * self.jobs.get())));
        observer(ClusterEvent::Estimated { capacity, shards, there });
        Ok(shards)
    }

    /// Returns the job that has what is missing: the one that goes on, or a new one.
    fn job(
        &self,
        folder: &ClusterFolder,
        (shards, merged, excluded): (u32, &Merged, &BTreeSet<String>),
        round: usize,
        observer: &mut dyn FnMut(ClusterEvent),
    ) -> Result<String, ClusterError> {
        if let (0, Some(Job { job, .. })) = (round, folder.job())
            && !tasks(self.scheduler, &job)?.is_empty()
        {
            observer(ClusterEvent::Attached { job: job.clone() });
            return Ok(job);
        }
        let missing = merged.missing.iter().flat_map(Clone::clone);
        let tasks: BTreeSet<u32> = missing.map(|case| (case % shards as usize) as u32).collect();
        let tasks: Vec<u32> = tasks.into_iter().collect();
        tasks.iter().try_for_each(|shard| folder.forget_end(*shard))?;
        let script = folder.write_script()?;
        let each = self.bundle.processor_time().map(|work| work / shards / self.jobs.get());
        let excluded: Vec<String> = excluded.iter().cloned().collect();
        let name = format!("simutant-{}", self.bundle.system());
        let root = folder.root().display().to_string();
        let bundle = self.bundle.folder().display().to_string();
        let array = Array {
            name: &name,
            folder: folder.root(),
            script: &script,
            arguments: &[root, shards.to_string(), bundle, self.bundle.id(), self.jobs.to_string()],
            tasks: &tasks,
            processors: self.jobs,
            memory_bytes: self.bundle.memory_bytes(),
            time: each.map(|each| each * TIME_FACTOR + SHARD),
            excluded: &excluded,
            options: self.options,
        };
        let job = self.scheduler.submit(&array)?;
        let (scheduler, bundle) = (self.scheduler.name().to_owned(), self.bundle.id());
        let noted = folder.set_job(&Job { scheduler, job: job.clone(), bundle, shards });
        if let Err(error) = noted {
            // Nobody would find it again.
            self.scheduler.cancel(&job)?;
            return Err(error);
        }
        observer(ClusterEvent::Submitted { job: job.clone(), shards: tasks.len() });
        Ok(job)
    }

    /// Waits until no task of the job waits or runs, and returns whether it was told to stop.
    fn wait(
        &self,
        folder: &ClusterFolder,
        (job, shards): (&str, u32),
        observer: &mut dyn FnMut(ClusterEvent),
        stop: &AtomicBool,
    ) -> Result<bool, ClusterError> {
        // What has said how it ended has ended.
        let left = |mut tasks: Vec<Task>| {
            tasks.retain(|task| task.state != TaskState::Ending || folder.ended(task.number).is_none());
            tasks
        };
        let mut tasks = left(tasks(self.scheduler, job)?);
        let (mut asked, mut failures) = (Instant::now(), 0);
        while !tasks.is_empty() {
            if stop.load(SeqCst) {
                observer(ClusterEvent::Cancelling);
                if let Err(error) = cancel(self.scheduler, job) {
                    observer(ClusterEvent::NotCancelled { job: job.to_owned(), detail: error.to_string() });
                }
                return Ok(true);
            }
            if let Err(error) = check_ends(folder, shards) {
                cancel(self.scheduler, job)?;
                return Err(error);
            }
            let count = |state| tasks.iter().filter(|task: &&Task| task.state == state).count();
            observer(ClusterEvent::Progress {
                progress: folder.progress(shards),
                running: count(TaskState::Running),
                waiting: count(TaskState::Waiting),
                restarts: tasks.iter().map(|task| task.restarts).sum(),
                reason: tasks.iter().find_map(|task| task.reason.clone()),
            });
            std::thread::sleep(LOOK);
            // A small job is done before somebody would ask again.
            let have_ended = tasks.iter().all(|task| folder.ended(task.number).is_some());
            if have_ended || asked.elapsed() >= ASK {
                asked = Instant::now();
                match self.scheduler.tasks(job) {
                    Ok(known) => (tasks, failures) = (left(known), 0),
                    // It is busy now and then.
                    Err(ClusterError::Refused { .. }) if failures < FAILURES_MAX => failures += 1,
                    Err(error) => return Err(error),
                }
            }
        }
        check_ends(folder, shards)?;
        Ok(false)
    }

    fn merge(&self, folder: &ClusterFolder) -> Result<Merged, ClusterError> {
        Ok(merge(self.out, None, &folder.results()?, RunForm::Text)?)
    }

    /// Adds the nodes on which shards ended that are not done by an error of the node.
    fn exclude(
        &self,
        folder: &ClusterFolder,
        shards: u32,
        excluded: &mut BTreeSet<String>,
        observer: &mut dyn FnMut(ClusterEvent),
    ) {
        let mut detail = None;
        for shard in 0..shards {
            let Some(ended) = folder.ended(shard).filter(|ended| CODES_OF_NODES.contains(&ended.code)) else {
                continue;
            };
            if excluded.insert(ended.node) {
                detail.get_or_insert_with(|| folder.last_words(shard));
            }
        }
        if let Some(detail) = detail {
            observer(ClusterEvent::Excluded { nodes: excluded.iter().cloned().collect(), detail });
        }
    }
}

/// Returns the error of the first shard that ended with one that another node would have, too. The ends of such shards are
/// forgotten: what was mended since is tried again.
fn check_ends(folder: &ClusterFolder, shards: u32) -> Result<(), ClusterError> {
    let of_shard = |shard: u32| folder.ended(shard).map(|ended| (shard, ended));
    let is_error = |code: i32| code != 0 && code != CODE_STOPPED && !CODES_OF_NODES.contains(&code) && code < 126;
    let failed: Vec<_> = (0..shards).filter_map(of_shard).filter(|(_, ended)| is_error(ended.code)).collect();
    failed.iter().try_for_each(|(shard, _)| folder.forget_end(*shard))?;
    match failed.into_iter().next() {
        None => Ok(()),
        Some((shard, ended)) => {
            Err(ClusterError::Shard { shard, code: ended.code, node: ended.node, detail: folder.last_words(shard) })
        }
    }
}

/// Returns how many shards suit a cluster: some for each processor, but none that is done in less than minutes, and
/// no more than there are test cases, or than an array may have.
fn shard_count(capacity: Capacity, jobs: NonZeroU32, cases: usize, work: Option<Duration>) -> u32 {
    let slots = (capacity.processors / jobs).max(1);
    let long = |work: Duration| (work.as_secs_f64() / f64::from(jobs.get()) / SHARD.as_secs_f64()).ceil() as u32;
    let long = work.map_or(u32::MAX, long);
    let cases = u32::try_from(cases).unwrap_or(u32::MAX);
    (SHARDS_EACH * slots).min(long).min(cases).min(capacity.tasks_max).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_shards_goes_with_the_cluster_and_with_the_work() {
        let capacity = Capacity { processors: 64, processors_idle: 10, tasks_max: 1000 };
        let count = |jobs, cases, seconds: Option<u64>| {
            let jobs = NonZeroU32::new(jobs).expect("one at least");
            shard_count(capacity, jobs, cases, seconds.map(Duration::from_secs))
        };
        assert_eq!(count(1, 100_000, Some(1_000_000)), 256);
        assert_eq!(count(4, 100_000, Some(1_000_000)), 64);
        assert_eq!(count(4, 100_000, Some(12_000)), 10, "of five minutes each, on four processors");
        assert_eq!(count(1, 100_000, Some(3_000)), 10, "of five minutes each");
        assert_eq!(count(1, 100_000, Some(11)), 1);
        assert_eq!(count(1, 7, None), 7);
        assert_eq!(count(128, 100_000, None), 4);
        let large = Capacity { processors: 10_000, ..capacity };
        assert_eq!(shard_count(large, NonZeroU32::MIN, 100_000, None), 1000, "as an array may have");
    }
}
