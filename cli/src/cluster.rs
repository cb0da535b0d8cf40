//! `simutant study --cluster` and `simutant cluster-script`: the mutants of a study run elsewhere.

use std::time::Duration;

use simutant_analysis::plural;
use simutant_campaign::{Bundle, Existing};
use simutant_cluster::script::{Place, Script};
use simutant_cluster::{
    Capacity, ClusterEnd, ClusterEvent, ClusterFolder, ClusterRun, Scheduler, ShardProgress, Slurm, Waiting,
};
use simutant_study::StudyPlan;

use crate::arguments::{ClusterArguments, ClusterScriptArguments, PlaceArgument, SchedulerArgument};
use crate::exit::{BadInput, Exit};
use crate::interrupt::{self, Interrupts};
use crate::output;
use crate::progress::ProgressPhase;
use crate::stages::Stages;
use crate::study::stopped;

/// Runs the mutants of a study on a cluster. Returns how the command ends, if nothing is left to do for it.
pub(crate) fn run(
    plan: &StudyPlan,
    arguments: &ClusterArguments,
    scheduler: SchedulerArgument,
    interrupts: &Interrupts,
) -> anyhow::Result<Option<Exit>> {
    let out = &plan.campaign.out;
    let SchedulerArgument::Slurm = scheduler;
    let scheduler = Slurm::new();
    // A cluster that is not there is told before anything is built.
    scheduler.capacity()?;
    let folder = ClusterFolder::of(out)?;
    match plan.existing {
        Existing::Continue => folder.save_results(out)?,
        Existing::Delete => folder.begin_anew(&scheduler)?,
    }
    let stages = Stages::new(&plan.system.system);
    let prepared = plan.prepare(&folder.staging_folder(), &|event| stages.show(event), interrupts.flag());
    let Some(bundle) = interrupt::unless(prepared)? else { return Ok(Some(stopped(out))) };
    bundle.add_command()?;
    let bundle = folder.adopt(&bundle)?;
    let run = ClusterRun {
        out,
        bundle: &bundle,
        scheduler: &scheduler,
        shards: arguments.shards,
        jobs: arguments.shard_jobs,
        options: &arguments.cluster_option,
        waiting: if arguments.detach { Waiting::Detach } else { Waiting::ToTheEnd },
    };
    let here = bundle.processor_time().map(|time| time / plan.campaign.jobs.get() as u32);
    let mut shown = Shown { here, units: bundle.units(), phase: None };
    let end = run.run(&mut |event| shown.show(&event), interrupts.flag())?;
    drop(shown);
    Ok(match end {
        ClusterEnd::Complete => None,
        ClusterEnd::Missing(merged) => {
            let missing = plural(merged.missing_cases(), "test case");
            output::tell(&format!("{:>12} {missing} that the cluster did not do run here", "note"));
            None
        }
        ClusterEnd::Detached { job } => {
            output::tell(&format!(
                "{:>12} job {job} goes on; the same command without --detach attaches to it",
                "note"
            ));
            Some(Exit::Success)
        }
        ClusterEnd::Stopped => Some(stopped(out)),
    })
}

/// What is shown while a cluster works.
struct Shown {
    /// How long the mutants would take on this machine.
    here: Option<Duration>,
    /// Test cases with their re-seedings.
    units: usize,
    phase: Option<ProgressPhase>,
}

impl Shown {
    fn show(&mut self, event: &ClusterEvent) {
        let tell = |line: &str| output::tell(&format!("{:>12} {line}", "cluster"));
        match event {
            ClusterEvent::Estimated { capacity, shards, there } => tell(&self.estimate(*capacity, *shards, *there)),
            ClusterEvent::Submitted { job, shards } => {
                tell(&format!("job {job} with {}", plural(*shards, "shard")));
            }
            ClusterEvent::Attached { job } => tell(&format!("attached to job {job}")),
            ClusterEvent::Progress { progress, running, waiting, restarts, reason } => {
                let ShardProgress { done, executed, .. } = *progress;
                let units = self.units as u64;
                let phase = self.phase.get_or_insert_with(|| ProgressPhase::counted("mutating", units));
                let again = if *restarts == 0 { String::new() } else { format!(", {restarts} started again") };
                let runs = plural(executed as usize, "run");
                let why = reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
                phase.at(
                    (done as u64).min(units),
                    format!("test cases, {runs}; {running} running, {waiting} waiting{why}{again}"),
                );
            }
            ClusterEvent::Excluded { nodes, detail } => {
                tell(&format!("no shard is tried again on {}: {detail}", nodes.join(", ")));
            }
            ClusterEvent::Merged(merged) => {
                self.phase = None;
                let names: Vec<&str> = merged.machines.iter().map(|machine| machine.name.as_str()).collect();
                let missing = match merged.missing_cases() {
                    0 => String::new(),
                    missing => format!(", {missing} of {} are missing", merged.cases),
                };
                tell(&format!(
                    "{} from {}, {} known already and the same{missing}; re-seedings are counted apart",
                    plural(merged.taken, "test case"),
                    names.join(", "),
                    merged.known,
                ));
            }
            ClusterEvent::Refused { detail } => tell(&format!("takes no further array: {detail}")),
            ClusterEvent::NotCancelled { job, detail } => {
                tell(&format!("job {job} could not be cancelled, and goes on: {detail}"));
            }
            ClusterEvent::Cancelling => {
                self.phase = None;
                tell("cancelling the job; what its tasks have done is kept");
            }
            _ => {}
        }
    }

    /// Says how long the mutants take here and there.
    fn estimate(&self, capacity: Capacity, shards: u32, there: Option<Duration>) -> String {
        let Capacity { processors, processors_idle, .. } = capacity;
        let cluster =
            format!("{processors_idle} of {processors} processors are idle; {}", plural(shards as usize, "shard"));
        match (self.here, there) {
            (Some(here), Some(there)) => {
                let pays =
                    if there.as_secs() + STARTS >= here.as_secs() { "; this study does not pay there" } else { "" };
                format!("{cluster}; about {} here, about {} there if they stay idle{pays}", words(here), words(there))
            }
            _ => cluster,
        }
    }
}

/// Seconds that a queue and the start of shards take at least.
const STARTS: u64 = 5;

/// Says a time as people do.
pub(crate) fn words(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..=99 => format!("{} s", seconds.max(1)),
        seconds @ 100..=7199 => format!("{} min", (seconds + 30) / 60),
        seconds => format!("{:.1} h", seconds as f64 / 3600.0),
    }
}

/// Jobs that a matrix may have.
const GITHUB_JOBS_MAX: u32 = 256;

/// Prints what to run elsewhere.
pub(crate) fn script(arguments: &ClusterScriptArguments) -> anyhow::Result<Exit> {
    let ClusterScriptArguments { place, bundle: folder, shards } = arguments;
    let bundle = Bundle::open(folder, None)?;
    let place = match place {
        PlaceArgument::Parallel => Place::Parallel,
        PlaceArgument::Kubernetes => Place::Kubernetes,
        PlaceArgument::Github => Place::Github,
        PlaceArgument::Hyperqueue => Place::HyperQueue,
    };
    let absolute = std::path::absolute(folder)?.display().to_string();
    let (quoted, id) = (output::quoted(&absolute), bundle.id());
    if place == Place::Github && shards.get() > GITHUB_JOBS_MAX {
        let message = format!("--shards {shards}: a matrix of GitHub Actions has {GITHUB_JOBS_MAX} jobs at most");
        return Err(BadInput(message).into());
    }
    let memory_bytes = bundle.memory_bytes();
    let script = Script { bundle: &quoted, system: bundle.system(), id: &id, shards: *shards, memory_bytes };
    output::print(&script.text(place))?;
    Ok(Exit::Success)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_as_people_do() {
        let told = [0, 1, 99, 100, 540, 7_199, 7_200, 36_000].map(|seconds| words(Duration::from_secs(seconds)));
        assert_eq!(told, ["1 s", "1 s", "99 s", "2 min", "9 min", "120 min", "2.0 h", "10.0 h"]);
    }
}
