//! Slurm, by its commands: `sbatch`, `squeue`, `scancel`, `sinfo`, `scontrol`.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use crate::{Array, Capacity, ClusterError, Scheduler, Task, TaskState};

/// Slurm, as the environment of this process knows it.
#[derive(Debug, Clone, Default)]
pub struct Slurm {}

/// Tasks that an array may have where the cluster does not say: Slurm's own default.
const TASKS_MAX: u32 = 1000;

impl Slurm {
    /// Returns Slurm, whose commands are used when something is asked of it.
    pub fn new() -> Self {
        Self::default()
    }
}

/// Runs a command of Slurm's, and returns what it prints.
fn ask(program: &str, arguments: Vec<OsString>) -> Result<String, ClusterError> {
    let words = || {
        let words = arguments.iter().map(|word| word.to_string_lossy().into_owned());
        [program.to_owned()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
    };
    // Ctrl-C in a terminal goes to the whole group: it is for us, and an answer that is cut off would be no answer.
    let output = Command::new(program).args(&arguments).process_group(0).output();
    let output = output.map_err(|source| ClusterError::NoScheduler {
        scheduler: "Slurm",
        command: program.to_owned(),
        source,
    })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let detail = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(ClusterError::Refused { command: words(), detail })
}

fn words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

impl Scheduler for Slurm {
    fn name(&self) -> &'static str {
        "Slurm"
    }

    fn capacity(&self) -> Result<Capacity, ClusterError> {
        let processors = ask("sinfo", words(&["--noheader", "--format=%C"]))?;
        let settings = ask("scontrol", words(&["show", "config"]))?;
        let (processors_idle, processors) = processors_of(&processors);
        Ok(Capacity { processors, processors_idle, tasks_max: tasks_max_of(&settings).unwrap_or(TASKS_MAX) })
    }

    fn submit(&self, array: &Array<'_>) -> Result<String, ClusterError> {
        let names_cluster = |option: &&String| option.starts_with("--clusters") || option.starts_with("-M");
        if let Some(option) = array.options.iter().find(names_cluster) {
            let detail =
                "`squeue` and `scancel` would ask another cluster; set SLURM_CLUSTERS in place of it".to_owned();
            return Err(ClusterError::Refused { command: format!("sbatch {option}"), detail });
        }
        let printed = ask("sbatch", arguments(array))?;
        // With several clusters the name of one follows.
        let job = printed.trim().split(';').next().unwrap_or_default().to_owned();
        match job.is_empty() || !job.bytes().all(|byte| byte.is_ascii_digit()) {
            true => Err(ClusterError::Refused { command: "sbatch".to_owned(), detail: format!("printed `{printed}`") }),
            false => Ok(job),
        }
    }

    fn tasks(&self, job: &str) -> Result<Vec<Task>, ClusterError> {
        let format = "--Format=ArrayTaskID:20,StateCompact:20,RestartCnt:20,Reason:60";
        match ask("squeue", words(&["--noheader", "--array", "--jobs", job, format])) {
            Ok(text) => Ok(tasks_of(&text)),
            // It forgets jobs some minutes after their end.
            Err(ClusterError::Refused { detail, .. }) if detail.contains("Invalid job id") => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    fn cancel(&self, job: &str) -> Result<(), ClusterError> {
        ask("scancel", words(&[job])).map(drop)
    }
}

/// The option of `sbatch` with nodes that run nothing of a job.
const EXCLUDE: &str = "--exclude=";

/// Returns the arguments of `sbatch`; what a person gave comes last, so that it holds.
fn arguments(array: &Array<'_>) -> Vec<OsString> {
    let mut list: Vec<OsString> = words(&["--parsable", "--requeue", "--export=PATH", "--open-mode=append"]);
    let mut log = OsString::from("--output=");
    log.push(array.folder.join("log/slurm.txt"));
    list.push(log);
    let mut add = |text: String| list.push(text.into());
    add(format!("--job-name={}", array.name));
    add(format!("--array={}", ranges(array.tasks)));
    add(format!("--cpus-per-task={}", array.processors));
    add(format!("--mem-per-cpu={}M", array.memory_bytes.div_ceil(1 << 20)));
    if let Some(time) = array.time {
        add(format!("--time={}", minutes(time)));
    }
    // Of two such options the last one would hold alone.
    let (excluded, options): (Vec<_>, Vec<_>) =
        array.options.iter().partition(|option| option.starts_with(EXCLUDE) && !array.excluded.is_empty());
    let excluded =
        array.excluded.iter().map(String::as_str).chain(excluded.iter().map(|option| &option[EXCLUDE.len()..]));
    let excluded = excluded.collect::<Vec<_>>().join(",");
    if !excluded.is_empty() {
        add(format!("{EXCLUDE}{excluded}"));
    }
    let mut folder = OsString::from("--chdir=");
    folder.push(array.folder);
    list.push(folder);
    list.extend(options.into_iter().map(OsString::from));
    list.push(array.script.into());
    list.extend(array.arguments.iter().map(OsString::from));
    list
}

/// Returns a time in whole minutes, one at least: Slurm counts in them.
fn minutes(time: Duration) -> u64 {
    time.as_secs().div_ceil(60).max(1)
}

/// Returns numbers in ascending order as Slurm writes them: `0-3,7`.
fn ranges(numbers: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let text = |&(first, last): &(u32, u32)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    ranges.iter().map(text).collect::<Vec<_>>().join(",")
}

/// Returns the processors that are idle and all of them, from lines `allocated/idle/other/total`, a line for each partition: the
/// largest counts, since partitions share nodes.
fn processors_of(text: &str) -> (u32, u32) {
    let of_line = |line: &str| {
        let counts: Vec<u32> = line.trim().split('/').filter_map(|count| count.parse().ok()).collect();
        matches!(*counts, [_, _, _, _]).then(|| (counts[1], counts[3]))
    };
    text.lines().filter_map(of_line).max_by_key(|(_, all)| *all).unwrap_or((0, 0))
}

/// Returns how many tasks an array may have: its numbers are below `MaxArraySize`.
fn tasks_max_of(settings: &str) -> Option<u32> {
    let line = settings.lines().find_map(|line| line.trim().strip_prefix("MaxArraySize"))?;
    let size: u32 = line.split_once('=')?.1.trim().parse().ok()?;
    Some(size.saturating_sub(1))
}

/// Slurm says "None" of a task that it has not looked at yet.
fn is_reason(state: TaskState, reason: &str) -> bool {
    state == TaskState::Waiting && !reason.is_empty() && reason != "None"
}

fn tasks_of(text: &str) -> Vec<Task> {
    let of_line = |line: &str| {
        let mut fields = line.split_whitespace();
        let number = fields.next()?.parse().ok()?;
        let state = match fields.next()? {
            "PD" | "RQ" | "RH" | "RF" | "SE" => TaskState::Waiting,
            "CG" => TaskState::Ending,
            _ => TaskState::Running,
        };
        let restarts = fields.next().and_then(|count| count.parse().ok()).unwrap_or(0);
        let reason = fields.collect::<Vec<_>>().join(" ");
        Some(Task { number, state, restarts, reason: Some(reason).filter(|reason| is_reason(state, reason)) })
    };
    text.lines().filter_map(of_line).collect()
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;
    use std::path::Path;

    use super::*;

    #[test]
    fn what_slurm_prints_is_read() {
        assert_eq!(processors_of("2/62/0/64\n1/0/3/4\n"), (62, 64));
        assert_eq!(processors_of("sinfo: nothing"), (0, 0));
        let settings = "MailProg                = /bin/mail\nMaxArraySize            = 1001\nMaxDBDMsgs = 20012\n";
        assert_eq!(tasks_max_of(settings), Some(1000));
        let task = |number, state, restarts| Task { number, state, restarts, reason: None };
        let waits = Task { reason: Some("Nodes required are DOWN".to_owned()), ..task(17, TaskState::Waiting, 0) };
        assert_eq!(
            tasks_of(
                "0                   R                   1        None\n17   PD   0   Nodes required are DOWN  \n3 CG 0 None\n"
            ),
            [task(0, TaskState::Running, 1), waits, task(3, TaskState::Ending, 0)]
        );
        assert_eq!(tasks_of(""), []);
    }

    #[test]
    fn an_array_is_submitted_with_what_a_person_gave_last() {
        let array = Array {
            name: "simutant-gbn",
            folder: Path::new("/shared/a folder"),
            script: Path::new("/shared/a folder/array.sh"),
            arguments: &["8".to_owned()],
            tasks: &[0, 1, 2, 5, 7, 8],
            processors: NonZeroU32::new(2).expect("two"),
            memory_bytes: 1200 << 20,
            time: Some(Duration::from_secs(61)),
            excluded: &["n1".to_owned(), "n7".to_owned()],
            options: &["--exclude=n9".to_owned(), "--partition=a;b".to_owned()],
        };
        let arguments: Vec<String> =
            arguments(&array).into_iter().map(|word| word.into_string().expect("text")).collect();
        assert_eq!(
            arguments.join(" "),
            "--parsable --requeue --export=PATH --open-mode=append --output=/shared/a folder/log/slurm.txt --job-name=simutant-gbn --array=0-2,5,7-8 --cpus-per-task=2 \
             --mem-per-cpu=1200M --time=2 --exclude=n1,n7,n9 --chdir=/shared/a folder --partition=a;b /shared/a folder/array.sh 8"
        );
    }
}
