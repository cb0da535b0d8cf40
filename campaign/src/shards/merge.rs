//! Takes the results of shards into the journal of their campaign.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::error::OtherRun;
use super::identity::Identity;
use super::result::ShardResult;
use super::{Bundle, Machine, ShardError};
use crate::journal::{Journal, RunForm, StoredRun, unpack};
use crate::lock::Lock;
use crate::outcomes::Settings;
use crate::{CampaignError, checks};

/// Ranges of missing test cases that are told in words.
const RANGES_TOLD: usize = 10;

/// What was merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// Test cases whose runs were taken, re-seedings counted apart.
    pub taken: usize,
    /// Those whose runs were known, and are the same: from another shard, or from an earlier merge.
    pub known: usize,
    /// Runs on mutants in all that was taken.
    pub runs: u64,
    /// The machines that the results are of, each once.
    pub machines: Vec<Machine>,
    /// Test cases of the universe in which some runs are missing still, as ranges.
    pub missing: Vec<RangeInclusive<usize>>,
    /// How many test cases the universe has.
    pub cases: usize,
}

impl Merged {
    /// Returns how many test cases are missing.
    pub fn missing_cases(&self) -> usize {
        self.missing.iter().map(|range| range.end() - range.start() + 1).sum()
    }

    /// Returns the test cases that are missing in words, the first ranges of them: `3, 7-9`.
    pub fn missing_in_words(&self) -> String {
        let words = self.missing.iter().take(RANGES_TOLD).map(|range| match range.start() == range.end() {
            true => range.start().to_string(),
            false => format!("{}-{}", range.start(), range.end()),
        });
        let words = words.collect::<Vec<_>>().join(", ");
        if self.missing.len() > RANGES_TOLD { words + ", …" } else { words }
    }
}

/// Takes the results in `files` into the campaign in `directory`, a file as a whole or not at all, in any order and any
/// number of times. If `directory` holds no campaign, it begins as the one of `bundle`. The runs
/// that are taken are written down in `form`.
///
/// # Errors
/// If a file is damaged, of another campaign, or has another run than the journal; what was taken before stays.
pub fn merge(
    directory: &Path,
    bundle: Option<&Bundle>,
    files: &[PathBuf],
    form: RunForm,
) -> Result<Merged, ShardError> {
    let (mut journal, identity, _lock) = open(directory, bundle)?;
    if form == RunForm::Packed && !journal.takes_packed()? {
        return Err(ShardError::NotPackable(directory.to_owned()));
    }
    let mut merged = Merged { taken: 0, known: 0, runs: 0, machines: Vec::new(), missing: Vec::new(), cases: 0 };
    let settings = settings(&journal)?;
    for path in files {
        let result = ShardResult::read(path, settings.content.mutants)?;
        if !merged.machines.contains(&result.machine) {
            merged.machines.push(result.machine.clone());
        }
        let Taken { taken, known, runs } = take(&mut journal, (&identity, &settings), result, (path, directory), form)?;
        merged.taken += taken;
        merged.known += known;
        merged.runs += runs;
    }
    let units = journal.units(&settings.content)?;
    let rounds = journal.rounds()?.used();
    let is_missing = |case: &usize| (0..rounds).any(|round| units[round * settings.cases + case].is_none());
    merged.missing = ranges((0..settings.cases).filter(is_missing));
    merged.cases = settings.cases;
    Ok(merged)
}

/// Takes the results in `files` into the campaign in `directory`, but for files that are damaged or of another campaign.
///
/// # Errors
/// If a file cannot be read or has another run than the journal, or the journal cannot be written.
pub fn merge_usable(directory: &Path, files: &[PathBuf]) -> Result<(), ShardError> {
    let (mut journal, identity, _lock) = match open(directory, None) {
        Err(ShardError::NotPrepared(_)) => return Ok(()),
        opened => opened?,
    };
    let settings = settings(&journal)?;
    for path in files {
        let taken = ShardResult::read(path, settings.content.mutants)
            .and_then(|result| take(&mut journal, (&identity, &settings), result, (path, directory), RunForm::Text));
        match taken {
            Ok(_) | Err(ShardError::NoResult { .. } | ShardError::OtherCampaign { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Opens the journal of a prepared campaign, which begins as that of `bundle` if there is none.
fn open(directory: &Path, bundle: Option<&Bundle>) -> Result<(Journal, Identity, Lock), ShardError> {
    let is_there = Journal::exists(directory);
    if bundle.is_none() && !is_there {
        return Err(ShardError::NotPrepared(directory.to_owned()));
    }
    std::fs::create_dir_all(directory).map_err(|source| ShardError::file(directory, source))?;
    let lock = Lock::take(directory)?;
    if let Some(bundle) = bundle.filter(|_| !is_there) {
        bundle.copy_journal_to(directory)?;
    }
    let journal = Journal::open_existing(directory)?;
    let identity = Identity::read(&journal)?.ok_or_else(|| ShardError::NotPrepared(directory.to_owned()))?;
    Ok((journal, identity, lock))
}

/// What was taken of one file.
pub(super) struct Taken {
    taken: usize,
    known: usize,
    runs: u64,
}

/// Takes what a journal lacks of a result, and holds the rest against what it has. `path` and `directory` are for errors.
pub(super) fn take(
    journal: &mut Journal,
    (identity, settings): (&Identity, &Settings),
    result: ShardResult,
    (path, directory): (&Path, &Path),
    form: RunForm,
) -> Result<Taken, ShardError> {
    if let Some((fact, expected, found)) = identity.difference(&result.identity) {
        let (path, directory) = (path.to_owned(), directory.to_owned());
        return Err(ShardError::OtherCampaign { path, directory, fact, found, expected });
    }
    let known_reasons = journal.reasons()?;
    let no_result = |detail: String| ShardError::NoResult { path: path.to_owned(), detail };
    let unpacked = |packed: &[u8]| unpack(packed, settings.content.mutants).expect("so it was when it was read");
    let mut new = Vec::new();
    let mut known = 0;
    for (&number, packed) in &result.units {
        if number >= settings.content.cases {
            return Err(no_result(format!("there is no test case with the number {number}")));
        }
        match journal.runs_of(number)? {
            None => new.push((number, packed)),
            Some(here) => match difference((&here, &known_reasons), (&unpacked(packed), &result.reasons)) {
                None => known += 1,
                Some((mutant, difference)) => {
                    let reseeding = match number / settings.cases.max(1) {
                        0 => String::new(),
                        round => format!(", re-seeding {round},"),
                    };
                    let cases = journal.cases(settings.content.cases)?;
                    return Err(ShardError::Differs(Box::new(OtherRun {
                        case: cases.map_or(Value::Null, |cases| cases.get(number)),
                        path: path.to_owned(),
                        machine: result.machine.name,
                        system: settings.system.clone(),
                        seed: settings.seed,
                        number: number % settings.cases.max(1),
                        reseeding,
                        mutant,
                        difference,
                    })));
                }
            },
        }
    }
    let taken = new.len();
    let mut count = 0;
    journal.transaction(|journal| {
        for (number, packed) in new {
            let mut runs = unpacked(packed);
            for run in &mut runs {
                run.reason = journal.reason_number(&result.reasons[&run.reason])?;
            }
            count += runs.len() as u64;
            journal.add_finished(number, &runs, form)?;
        }
        Ok(())
    })?;
    Ok(Taken { taken, known, runs: count })
}

pub(super) fn settings(journal: &Journal) -> Result<Settings, CampaignError> {
    Settings::read(journal)?.ok_or_else(|| journal.damaged("the universe is not drawn"))
}

/// Runs with the reasons that they name by number.
type WithReasons<'a> = (&'a [StoredRun], &'a BTreeMap<i64, String>);

/// Returns the first mutant on which two runs of one test case differ, and in what; `None` if all are the same.
fn difference(here: WithReasons<'_>, there: WithReasons<'_>) -> Option<(u32, String)> {
    let by_mutant = |(runs, _): WithReasons<'_>| -> BTreeMap<u32, StoredRun> {
        runs.iter().map(|run| (run.mutant, *run)).collect()
    };
    let (first, second) = (by_mutant(here), by_mutant(there));
    let mutants: BTreeSet<u32> = first.keys().chain(second.keys()).copied().collect();
    mutants.into_iter().find_map(|mutant| match (first.get(&mutant), second.get(&mutant)) {
        (Some(first), Some(second)) => {
            let differs = facts(first, here.1).zip(facts(second, there.1)).find(|(was, is)| was != is);
            differs.map(|((fact, was), (_, is))| (mutant, format!("the {fact} is {was} here, and {is} there")))
        }
        (Some(_), None) => Some((mutant, "the run is not there".to_owned())),
        (None, _) => Some((mutant, "the run is not here".to_owned())),
    })
}

/// Returns what must be the same, each with its name.
fn facts(run: &StoredRun, reasons: &BTreeMap<i64, String>) -> impl Iterator<Item = (&'static str, String)> {
    let reason = reasons.get(&run.reason).cloned().unwrap_or_default();
    let execution = run.execution(reason);
    checks::facts(run.diverged, run.entered, &execution).into_iter().chain([("cost", format!("{:?}", run.spent))])
}

/// Returns numbers in ascending order as ranges.
fn ranges(numbers: impl Iterator<Item = usize>) -> Vec<RangeInclusive<usize>> {
    let mut ranges: Vec<RangeInclusive<usize>> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some(last) if last.end() + 1 == number => *last = *last.start()..=number,
            _ => ranges.push(number..=number),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told_as_ranges() {
        let missing = ranges([0, 1, 2, 5, 7, 8].into_iter());
        let merged = Merged { taken: 0, known: 0, runs: 0, machines: Vec::new(), missing, cases: 9 };
        assert_eq!((merged.missing_in_words().as_str(), merged.missing_cases()), ("0-2, 5, 7-8", 6));
        assert_eq!(ranges(std::iter::empty()), []);
    }

    #[test]
    fn any_difference_of_two_runs_is_told() {
        let run = StoredRun {
            mutant: 3,
            cause: None,
            diverged: false,
            reason: 1,
            events: 2,
            steps: 3,
            entered: 4,
            spent: None,
        };
        let reasons = |text: &str| BTreeMap::from([(1, text.to_owned()), (2, text.to_owned())]);
        let told = |other: StoredRun, text: &str| {
            difference((&[run], &reasons("why")), (&[other], &reasons(text))).map(|(_, difference)| difference)
        };
        assert_eq!(told(run, "why"), None);
        assert_eq!(told(StoredRun { reason: 2, ..run }, "why"), None, "numbers of reasons are each file's own");
        assert_eq!(told(run, "other").as_deref(), Some("the verdict is passed why here, and passed other there"));
        for other in [
            StoredRun { diverged: true, ..run },
            StoredRun { events: 0, ..run },
            StoredRun { steps: 0, ..run },
            StoredRun { entered: 0, ..run },
            StoredRun { mutant: 4, ..run },
            StoredRun { cause: Some(simutant_outcomes::Cause::Panic), ..run },
            StoredRun { spent: Some(simutant_protocol::Spent { messages: 0, virtual_time_ns: 0 }), ..run },
        ] {
            assert!(told(other, "why").is_some(), "{other:?}");
        }
    }
}
