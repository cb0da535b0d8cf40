//! Runs on the original: what they must be, what the journal keeps of them, and the limits that they give mutants.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use serde_json::Value;
use simutant_outcomes::{RunEnd, Sites};
use simutant_protocol::{Recorded, RunLimits, Sizes};

use super::Campaign;
use crate::cases::Cases;
use crate::checks::check_recording;
use crate::journal::Recording;
use crate::outcomes::Settings;
use crate::plain::Crews;
use crate::traced::Traced;
use crate::{Bounds, CampaignError, CampaignPlan, Phase, Progress, SessionEnd, bits, pool, sample, white_box};

/// A run on a mutant may take so many times the steps, events, virtual time and memory of the run of the original that
/// took most of it (Rutherford, PhD thesis, section 4.2.1, has it for time).
const LIMIT_FACTOR: u64 = 3;
/// A run on a mutant may use so much memory at least, and the limit is a multiple of the second. The measured memory
/// varies by a few kilobytes with what a worker ran before, and outcomes must not.
const MEMORY_BYTES_MIN: u64 = 64 << 20;
const MEMORY_BYTES_UNIT: u64 = 16 << 20;

/// What is known of the original when it has run on all test cases: what mutants need.
#[derive(Debug)]
pub(crate) struct Baseline {
    pub(super) settings: Settings,
    /// Those of the universe, and then those of each re-seeding.
    pub(crate) cases: Cases,
    /// What was recorded on each of them.
    pub(crate) recordings: Vec<Recording>,
}

impl Baseline {
    /// Returns how often each test case is run, itself included.
    pub(crate) fn rounds(&self, plan: &CampaignPlan) -> usize {
        self.cases.len().checked_div(plan.universe()).unwrap_or(1)
    }

    /// Returns the limits of runs on mutants, and of those of re-seedings.
    pub(crate) fn limits(&self, plan: &CampaignPlan) -> [RunLimits; 2] {
        // Those of the universe alone, so that its runs end as they do without re-seedings.
        let limits = limits(&self.recordings[..plan.universe()], &plan.bounds);
        [limits, reseeding_limits(limits, &self.recordings, &plan.bounds)]
    }
}

impl Campaign {
    /// Runs the test cases on the original, as far as that was not done before, and returns what is known of it; `None` if
    /// it was told to stop.
    pub(crate) fn run_baseline(
        &mut self,
        plain: &Path,
        jobs: NonZeroUsize,
        progress: &mut dyn FnMut(Progress),
        stop: &AtomicBool,
    ) -> Result<Option<Baseline>, CampaignError> {
        let Some(cases) = self.draw_universe(progress, stop)? else { return Ok(None) };
        let settings =
            Settings::read(&self.journal)?.ok_or_else(|| self.journal.damaged("the universe has no criteria"))?;
        if stop.load(Relaxed) {
            return Ok(None);
        }
        let recordings = self.record_missing(&cases, (&settings, plain), jobs, progress, stop)?;
        let Some(recordings) = recordings else { return Ok(None) };
        let baseline = Baseline { settings, cases, recordings };
        let [limits, of_reseedings] = baseline.limits(&self.plan);
        self.journal.transaction(|journal| {
            journal.set("limits", &limits)?;
            journal.settle_limits(&limits, &of_reseedings)
        })?;
        Ok(Some(baseline))
    }

    /// Records the test cases that are not in the journal, and those that are to be recorded again. Returns what was recorded
    /// on each test case; `None` if it was told to stop.
    fn record_missing(
        &mut self,
        cases: &Cases,
        (settings, plain): (&Settings, &Path),
        jobs: NonZeroUsize,
        progress: &mut dyn FnMut(Progress),
        stop: &AtomicBool,
    ) -> Result<Option<Vec<Recording>>, CampaignError> {
        let Self { plan, journal, session, .. } = self;
        let mut recordings = journal.recordings(&settings.content)?;
        recordings.truncate(cases.len());
        let mut todo = numbers_of_none(&recordings);
        let mut done = cases.len() - todo.len();
        // Some of what is kept after an edit is recorded again, and must be the same.
        let again = sample::kept_recordings(plan.seed, &journal.adopted()?);
        let known = match again.is_empty() {
            true => Vec::new(),
            false => journal.traced(&settings.content, settings.trace_criteria.len())?,
        };
        todo.extend(&again);
        todo.sort_unstable();
        let sites = &plan.build.sites;
        let sizes = Sizes { measured: white_box::measured(sites).to_vec(), mutants: sites.mutants.len() };
        let crews = (0..jobs.get().min(todo.len())).map(|_| Crews::new(plan, plain)).collect();
        let record = |crews: &mut Crews<'_>, number: usize, case: &Value| {
            let (recorded, traced) = crews.instrumented.record(case, sizes.clone())?;
            check_baseline(plan, number, case, &recorded)?;
            crews.compare(number, case, &recorded)?;
            let recording =
                recording(&recorded, settings, sites).filter(|_| traced.len() == settings.trace_criteria.len());
            let error = || crews.instrumented.error(format!("recorded a number out of range on test case {number}"));
            let recording = recording.ok_or_else(error)?;
            if let (Some(kept), true) = (&recordings[number], again.contains(&number)) {
                let known: Traced = known.iter().map(|of_criterion| of_criterion[number].clone()).collect();
                check_recording(plan, number, (kept, &known), (&recording, &traced))?;
            }
            Ok((recording, traced, recorded.pairs_unlisted))
        };
        let universe = plan.universe();
        let work = |crews: &mut Crews<'_>, number: usize| {
            let case = cases.get(number);
            record(crews, number, &case).map_err(|error: CampaignError| error.of_reseeding(universe, &case))
        };
        let seen = |number, (_, _, unlisted): &(_, _, u64)| {
            if again.contains(&number) {
                session.recordings_checked += 1;
                return;
            }
            session.pairs_unlisted += unlisted;
            done += 1;
            progress(Progress { phase: Phase::Baseline, done, total: cases.len(), executions: 0 });
        };
        // What is written is lent by the pool.
        let mut new: Vec<(usize, Recording)> = Vec::new();
        let write = |recorded: &[(usize, (Recording, Traced, u64))]| {
            let is_new = |(number, _): &&(usize, _)| !again.contains(number);
            new.extend(recorded.iter().filter(is_new).map(|(number, (recording, ..))| (*number, recording.clone())));
            journal.transaction(|journal| {
                recorded.iter().filter(is_new).try_for_each(|(number, (recording, traced, _))| {
                    journal.add_recording(*number, recording)?;
                    journal.add_traced(*number, traced)
                })
            })
        };
        let end = pool::run(crews, &todo, stop, work, seen, write)?;
        if end == SessionEnd::Stopped {
            return Ok(None);
        }
        if !again.is_empty() {
            journal.set_checked()?;
        }
        new.into_iter().for_each(|(number, recording)| recordings[number] = Some(recording));
        let all: Option<Vec<Recording>> = recordings.into_iter().collect();
        all.map(Some).ok_or_else(|| journal.damaged("a recording that was adopted is not there"))
    }
}

pub(super) fn check_baseline(
    plan: &CampaignPlan,
    number: usize,
    case: &Value,
    recorded: &Recorded,
) -> Result<(), CampaignError> {
    if recorded.execution.verdict != RunEnd::Passed {
        return Err(CampaignError::BaselineFailed {
            system: plan.build.sites.system.clone(),
            seed: plan.seed,
            number,
            case: Box::new(case.clone()),
            execution: Box::new(recorded.execution.clone()),
            share: None,
        });
    }
    if let Some(difference) = recorded.difference.clone() {
        return Err(CampaignError::NotDeterministic { number, difference, share: None });
    }
    match recorded.choosing_difference.clone() {
        None => Ok(()),
        Some(difference) => Err(CampaignError::NotAsChosen { number, case: Box::new(case.clone()), difference }),
    }
}

/// Returns what a worker recorded in the form of the journal; `None` if it names what there is not.
pub(super) fn recording(recorded: &Recorded, settings: &Settings, sites: &Sites) -> Option<Recording> {
    let content = &settings.content;
    let sets: Vec<&Vec<u32>> = recorded.measured.iter().chain(&recorded.covered).collect();
    if sets.len() != content.requirements.len() {
        return None;
    }
    // The probes know nothing of mutants of higher order, and note their parts.
    let with_pairs = |numbers| {
        let mut mutants = bits::from_numbers(numbers, content.mutants)?;
        sites.add_pairs(&mut mutants);
        Some(mutants)
    };
    Some(Recording {
        events: recorded.execution.events,
        steps: recorded.execution.steps,
        virtual_time_ns: recorded.virtual_time_ns,
        messages: Some(recorded.messages),
        late_faults: Some(recorded.late_faults),
        digest: recorded.digest,
        memory_bytes: recorded.memory_bytes,
        entered: recorded.entered,
        reached: with_pairs(&recorded.reached)?,
        infected: with_pairs(&recorded.infected)?,
        covered: sets
            .into_iter()
            .zip(&content.requirements)
            .map(|(set, &size)| bits::from_numbers(set, size))
            .collect::<Option<_>>()?,
    })
}

fn limits(recordings: &[Recording], bounds: &Bounds) -> RunLimits {
    let allowed = |of: fn(&Recording) -> u64| {
        let most = recordings.iter().map(of).max().unwrap_or(0);
        most.saturating_mul(LIMIT_FACTOR)
    };
    let memory_bytes = allowed(|recording| recording.memory_bytes).max(MEMORY_BYTES_MIN);
    let virtual_time_ns = match allowed(|recording| recording.virtual_time_ns) {
        // Nothing in the original takes time, so no time is long.
        0 => u64::MAX,
        virtual_time_ns => virtual_time_ns,
    };
    RunLimits {
        steps: allowed(|recording| recording.steps),
        events: allowed(|recording| recording.events),
        virtual_time_ns,
        memory_bytes: memory_bytes.next_multiple_of(MEMORY_BYTES_UNIT).min(bounds.memory_bytes),
        memory_bytes_max: bounds.memory_bytes,
    }
}

/// Returns the limits of re-seeded runs: those of the universe, unless a re-seeding of the original comes near to one of
/// them. Chance may make a run much longer than any of the universe, such as by a timeout that is seldom reached.
fn reseeding_limits(universe: RunLimits, recordings: &[Recording], bounds: &Bounds) -> RunLimits {
    let is_near = |took: u64, limit: u64| took > limit / 2;
    let comes_near = |recording: &Recording| {
        is_near(recording.steps, universe.steps)
            || is_near(recording.events, universe.events)
            || is_near(recording.virtual_time_ns, universe.virtual_time_ns)
            || is_near(recording.memory_bytes, universe.memory_bytes)
    };
    if recordings.iter().any(comes_near) { limits(recordings, bounds) } else { universe }
}

fn numbers_of_none<T>(items: &[Option<T>]) -> Vec<usize> {
    (0..items.len()).filter(|&number| items[number].is_none()).collect()
}

#[cfg(test)]
mod tests {
    use simutant_outcomes::BitSet;

    use super::*;

    fn recording(virtual_time_ns: u64) -> Recording {
        Recording {
            events: 10,
            steps: 10,
            virtual_time_ns,
            messages: None,
            digest: 0,
            memory_bytes: 0,
            entered: Default::default(),
            reached: BitSet::new(),
            infected: BitSet::new(),
            covered: Vec::new(),
            late_faults: Default::default(),
        }
    }

    #[test]
    fn a_reseeding_that_takes_much_longer_has_limits_of_its_own() {
        let bounds = Bounds::default();
        let universe = limits(&[recording(100), recording(20)], &bounds);
        assert_eq!(universe.virtual_time_ns, 300);
        let with = |virtual_time_ns| {
            let all = [100, 20, 5, virtual_time_ns].map(recording);
            reseeding_limits(universe, &all, &bounds).virtual_time_ns
        };
        assert_eq!([150, 151, 4_000].map(with), [300, 453, 12_000]);
    }
}
