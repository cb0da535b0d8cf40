//! A study on a cluster whose scheduler and nodes fail in ways that no real one can be made to at will. Tasks are processes
//! here.

use std::cell::{Cell, RefCell};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use rustix::process::{Pid, Signal, kill_process_group};
use simutant_campaign::Bundle;
use simutant_cluster::{
    Array, Capacity, ClusterEnd, ClusterError, ClusterEvent, ClusterFolder, ClusterRun, Scheduler, Task, TaskState,
    Waiting,
};

use crate::support::{STUDY, assert_exit, folder, run, text};

const SHARDS: u32 = 3;

/// A cluster of this machine, with what is wrong with it.
#[derive(Debug)]
struct Cluster {
    arrays: RefCell<Vec<Submitted>>,
    /// How a task of the first array ends in place of what it is to do: its number, its exit code and its node.
    ends: Option<(u32, i32, &'static str)>,
    /// Arrays that are taken; later ones are refused.
    arrays_max: usize,
    /// How often tasks are asked for in vain.
    busy: Cell<u32>,
    /// Whether jobs can be cancelled.
    cancels: bool,
}

#[derive(Debug)]
struct Submitted {
    tasks: Vec<u32>,
    excluded: Vec<String>,
    running: Vec<(u32, Child)>,
}

impl Cluster {
    /// Returns one with nothing wrong but how a task of the first array ends, if it is so.
    fn new(ends: Option<(u32, i32, &'static str)>) -> Self {
        Self { arrays: RefCell::default(), ends, arrays_max: usize::MAX, busy: Cell::new(0), cancels: true }
    }

    fn kill(&self, signal: Signal) {
        for (_, child) in self.arrays.borrow().iter().flat_map(|array| &array.running) {
            let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("it was started");
            // One that has ended has no group.
            _ = kill_process_group(group, signal);
        }
    }

    /// Returns the tasks and the excluded nodes of each array.
    fn submitted(&self) -> Vec<(Vec<u32>, Vec<String>)> {
        self.arrays.borrow().iter().map(|array| (array.tasks.clone(), array.excluded.clone())).collect()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.kill(Signal::KILL);
        self.arrays.get_mut().iter_mut().flat_map(|array| &mut array.running).for_each(|(_, child)| {
            _ = child.wait();
        });
    }
}

fn refused(detail: &str) -> ClusterError {
    ClusterError::Refused { command: "sbatch".to_owned(), detail: detail.to_owned() }
}

impl Scheduler for Cluster {
    fn name(&self) -> &'static str {
        "processes"
    }

    fn capacity(&self) -> Result<Capacity, ClusterError> {
        Ok(Capacity { processors: 2, processors_idle: 2, tasks_max: 1000 })
    }

    fn submit(&self, array: &Array<'_>) -> Result<String, ClusterError> {
        let mut arrays = self.arrays.borrow_mut();
        if arrays.len() >= self.arrays_max {
            return Err(refused("no further jobs"));
        }
        let ends = self.ends.filter(|_| arrays.is_empty());
        let mut running = Vec::new();
        for &task in array.tasks {
            if let Some((_, code, node)) = ends.filter(|(number, ..)| *number == task) {
                let write = |name: &str, text: String| {
                    std::fs::write(array.folder.join(name).join(task.to_string()), text).expect("it is ours");
                };
                write("ended", format!("{code} {node}\n"));
                let log = array.folder.join("log").join(format!("{task}.txt"));
                std::fs::write(log, format!("the last words of {task}\n")).expect("it is ours");
                continue;
            }
            let mut command = Command::new("sh");
            command.arg(array.script).args(array.arguments).current_dir(array.folder).process_group(0);
            command.env("SLURM_ARRAY_TASK_ID", task.to_string()).env("SLURMD_NODENAME", "good");
            running.push((task, command.spawn().expect("there is a shell")));
        }
        arrays.push(Submitted { tasks: array.tasks.to_vec(), excluded: array.excluded.to_vec(), running });
        Ok((arrays.len() - 1).to_string())
    }

    fn tasks(&self, job: &str) -> Result<Vec<Task>, ClusterError> {
        if let Some(left) = self.busy.get().checked_sub(1) {
            self.busy.set(left);
            return Err(refused("Socket timed out"));
        }
        let number: usize = job.parse().expect("it is a number of ours");
        let mut arrays = self.arrays.borrow_mut();
        let Some(array) = arrays.get_mut(number) else { return Ok(Vec::new()) };
        array.running.retain_mut(|(_, child)| child.try_wait().expect("it is ours").is_none());
        let task = |number| Task { number, state: TaskState::Running, restarts: 0, reason: None };
        Ok(array.running.iter().map(|(number, _)| task(*number)).collect())
    }

    fn cancel(&self, _job: &str) -> Result<(), ClusterError> {
        if !self.cancels {
            return Err(refused("Access denied"));
        }
        self.kill(Signal::TERM);
        Ok(())
    }
}

/// A study that was prepared.
struct Prepared {
    out: PathBuf,
    bundle: Bundle,
}

impl Prepared {
    /// Takes a copy of a study whose bundle is where it was written.
    fn copy(original: &Path, out: PathBuf) -> Self {
        let copied = Command::new("cp").arg("-a").arg(original).arg(&out).status().expect("there is cp");
        assert!(copied.success());
        let folder = ClusterFolder::of(&out).expect("it can be made");
        let bundle = Bundle::open(&folder.staging_folder(), None).expect("it was written");
        let bundle = folder.adopt(&bundle).expect("it can be moved");
        Self { out, bundle }
    }

    /// Runs it, and returns what happened, progress left out. It is told to stop when something was submitted, if it is to.
    fn run(&self, cluster: &Cluster, is_to_stop: bool) -> (Result<ClusterEnd, ClusterError>, Vec<ClusterEvent>) {
        let run = ClusterRun {
            out: &self.out,
            bundle: &self.bundle,
            scheduler: cluster,
            shards: Some(SHARDS.try_into().expect("it is not 0")),
            jobs: 1.try_into().expect("it is not 0"),
            options: &[],
            waiting: Waiting::ToTheEnd,
        };
        let stop = AtomicBool::new(false);
        let mut events = Vec::new();
        let mut observe = |event: ClusterEvent| {
            stop.fetch_or(is_to_stop && matches!(event, ClusterEvent::Submitted { .. }), SeqCst);
            if !matches!(event, ClusterEvent::Progress { .. }) {
                events.push(event);
            }
        };
        let end = run.run(&mut observe, &stop);
        (end, events)
    }
}

#[test]
fn a_cluster_that_fails_is_reported_and_the_same_call_goes_on() {
    let folder = folder();
    let original = folder.path().join("original");
    let bundle = text(&ClusterFolder::of(&original).expect("it can be made").staging_folder());
    assert_exit(&run(&[&STUDY[..], &["--prepare", &bundle]].concat(), &original), 0);
    let copy = |name: &str| Prepared::copy(&original, folder.path().join(name));

    // A node that is unfit runs nothing of the second array. A scheduler that is busy now and then is asked again.
    let cluster = Cluster::new(Some((1, 4, "bad")));
    cluster.busy.set(3);
    let (end, events) = copy("unfit").run(&cluster, false);
    assert_eq!(end.expect("it goes on"), ClusterEnd::Complete, "{events:?}");
    let detail = "the last words of 1".to_owned();
    assert!(events.contains(&ClusterEvent::Excluded { nodes: vec!["bad".to_owned()], detail }), "{events:?}");
    assert_eq!(cluster.submitted(), [(vec![0, 1, 2], vec![]), (vec![1], vec!["bad".to_owned()])]);

    // Without that node there is no room: what is missing is told with the reason.
    let mut cluster = Cluster::new(Some((1, 4, "bad")));
    cluster.arrays_max = 1;
    let (end, events) = copy("refused").run(&cluster, false);
    let Ok(ClusterEnd::Missing(merged)) = end else { panic!("{end:?}") };
    assert!(merged.missing_cases() > 0);
    assert!(events.contains(&ClusterEvent::Refused { detail: "`sbatch`: no further jobs".to_owned() }), "{events:?}");

    // An error of a shard ends it, and is told once: then it may be mended.
    let prepared = copy("error");
    let cluster = Cluster::new(Some((2, 101, "good")));
    let (end, _) = prepared.run(&cluster, false);
    let error = end.expect_err("a shard failed").to_string();
    assert!(error.starts_with("shard 2 ended with exit code 101 on good: the last words of 2; "), "{error}");
    assert_eq!(cluster.tasks("0").expect("it is not busy"), [], "the others are cancelled");
    let (end, _) = prepared.run(&cluster, false);
    assert_eq!(end.expect("it is mended"), ClusterEnd::Complete);

    // Who stops it learns that the job goes on; what was done is kept.
    let mut cluster = Cluster::new(None);
    cluster.cancels = false;
    let prepared = copy("stopped");
    let (end, events) = prepared.run(&cluster, true);
    assert_eq!(end.expect("it stops"), ClusterEnd::Stopped);
    let detail = "`sbatch`: Access denied".to_owned();
    assert!(events.contains(&ClusterEvent::NotCancelled { job: "0".to_owned(), detail }), "{events:?}");
    assert!(events.iter().any(|event| matches!(event, ClusterEvent::Merged(_))), "{events:?}");

    // Results that cannot be read are kept, whatever was asked for; other shards would replace them.
    let results = prepared.out.join("cluster/results");
    std::fs::create_dir_all(results.join("0.sqlite")).expect("it is ours");
    let error = ClusterFolder::of(&prepared.out).and_then(|folder| folder.save_results(&prepared.out));
    assert!(error.is_err_and(|error| error.to_string().contains("0.sqlite")), "a folder is no result");
}
