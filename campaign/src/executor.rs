//! Runs a test case on many mutants, each of which may end its worker: the end is attributed, and the rest goes on.

use std::fs::{self, File};
use std::io::{Read, Seek};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use serde_json::Value;
use simutant_outcomes::{BitSet, MutantNumber};
use simutant_protocol::{
    HEADER_BYTES, MutantExecution, RunLimits, WorkerAnswer, WorkerRequest, read_runs, runs_length,
};

use crate::CampaignError;
use crate::crew::{Crew, KILLS_MAX, hung_run, lost_run};
use crate::worker::{Death, NoAnswer};

/// A worker that has leaked this much is replaced.
const RETAINED_BYTES_MAX: u64 = 256 << 20;

/// A crew and the file in which its workers leave their runs.
#[derive(Debug)]
pub(crate) struct Executor<'a> {
    pub(crate) crew: Crew<'a>,
    answers: Answers,
}

/// The file in which workers leave their runs. It stays between batches, so that a worker goes on with the memory that
/// it has of it.
#[derive(Debug)]
struct Answers {
    /// No other executor has the same.
    path: PathBuf,
    file: File,
    /// What was read of it; kept for its memory.
    bytes: Vec<u8>,
}

/// A test case of the universe, with what the original did on it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numbered<'a> {
    pub(crate) number: usize,
    pub(crate) case: &'a Value,
    pub(crate) digest: u64,
    pub(crate) reached: &'a BitSet,
}

/// How a batch ended.
#[derive(Debug)]
enum Ended {
    Done,
    Died(Death),
    Hung,
}

impl<'a> Executor<'a> {
    /// Returns an executor that overwrites the file `answers`, and deletes it in the end.
    pub(crate) fn new(crew: Crew<'a>, answers: PathBuf) -> Result<Self, CampaignError> {
        Ok(Self { crew, answers: Answers::create(answers)? })
    }

    /// Runs the test case on each of `mutants`, in this order.
    ///
    /// A mutant that ends its worker has the verdict that the end tells, a mutant that hangs twice has not terminated;
    /// a worker that was killed from outside says nothing, and its run is repeated.
    pub(crate) fn execute(
        &mut self,
        case: Numbered<'_>,
        limits: RunLimits,
        mutants: &[MutantNumber],
    ) -> Result<Vec<MutantExecution>, CampaignError> {
        let Numbered { number, reached, .. } = case;
        let mut runs: Vec<MutantExecution> = Vec::with_capacity(mutants.len());
        // What happened to the run after `runs` so far.
        let mut hung = false;
        let mut kills = 0;
        while runs.len() < mutants.len() {
            // A run that hung is tried by itself, so that its second attempt has the bound for itself.
            let left = &mutants[runs.len()..];
            let batch = if hung { &left[..1] } else { left };
            let (ended, new) = self.execute_batch(case, limits, batch)?;
            for run in &new {
                if run.reached != reached.contains(run.mutant as usize) {
                    return Err(CampaignError::WrongMutant { number, mutant: run.mutant, reached: run.reached });
                }
            }
            if !new.is_empty() {
                (hung, kills) = (false, 0);
            }
            runs.extend(new);
            let Some(&mutant) = mutants.get(runs.len()) else { break };
            // The original has an end.
            let end = |execution| MutantExecution {
                mutant,
                reached: reached.contains(mutant as usize),
                diverged: true,
                // Nobody was left to tell.
                entered: u64::MAX,
                execution,
                spent: None,
            };
            match ended {
                Ended::Done => {}
                Ended::Died(Death::ByItself(cause, how)) => {
                    runs.push(end(lost_run(cause, how)));
                    (hung, kills) = (false, 0);
                }
                Ended::Died(Death::FromOutside(signal)) => {
                    kills += 1;
                    if kills == KILLS_MAX {
                        return Err(CampaignError::WorkerKilled { signal, times: kills, number, mutant });
                    }
                }
                Ended::Hung if hung => {
                    runs.push(end(hung_run()));
                    (hung, kills) = (false, 0);
                }
                Ended::Hung => hung = true,
            }
        }
        Ok(runs)
    }

    /// Runs a part of the mutants in one go; returns the runs that ended, which are the first of `mutants`.
    fn execute_batch(
        &mut self,
        Numbered { case, digest, .. }: Numbered<'_>,
        limits: RunLimits,
        mutants: &[MutantNumber],
    ) -> Result<(Ended, Vec<MutantExecution>), CampaignError> {
        let answers = &mut self.answers;
        answers.clear()?;
        let request = WorkerRequest::Execute {
            case: case.clone(),
            limits,
            digest,
            mutants: mutants.to_vec(),
            answers: answers.path.clone(),
        };
        let patience = self.crew.patience();
        let answer = match self.crew.worker()?.ask(&request, patience, || answers.length()) {
            Ok(WorkerAnswer::Executed { retained_bytes }) => Ok(retained_bytes),
            Ok(answer) => return Err(self.crew.unexpected(&answer)),
            Err(NoAnswer::Error(error)) => return Err(error),
            Err(NoAnswer::Died { death, .. }) => Err(Ended::Died(death)),
            Err(NoAnswer::Hung) => Err(Ended::Hung),
        };
        if answer.as_ref().map_or(true, |&retained_bytes| retained_bytes > RETAINED_BYTES_MAX) {
            self.crew.dismiss();
        }
        let bytes = self.answers.read()?;
        let runs = read_runs(bytes).map_err(|error| self.crew.error(format!("left no runs: {error}")))?;
        let is_expected = |(index, run): &(usize, &MutantExecution)| mutants.get(*index) == Some(&run.mutant);
        if let Some((_, run)) = runs.iter().enumerate().find(|run| !is_expected(run)) {
            return Err(self.crew.error(format!("made a run on mutant {}, which was not its turn", run.mutant)));
        }
        if answer.is_ok() && runs.len() < mutants.len() {
            return Err(self.crew.error(format!("{} runs were asked for, {} were made", mutants.len(), runs.len())));
        }
        Ok((answer.map_or_else(|ended| ended, |_| Ended::Done), runs))
    }
}

impl Answers {
    fn create(path: PathBuf) -> Result<Self, CampaignError> {
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path);
        let file = file.map_err(|source| CampaignError::file(&path, source))?;
        Ok(Self { path, file, bytes: Vec::new() })
    }

    /// Makes what the last worker left nothing, be it that the next one ends before it begins.
    fn clear(&self) -> Result<(), CampaignError> {
        self.file.write_all_at(&[0; HEADER_BYTES], 0).map_err(|source| CampaignError::file(&self.path, source))
    }

    /// Returns how many bytes of runs a worker has left so far; 0 if it has not begun.
    fn length(&self) -> u64 {
        let mut header = [0; HEADER_BYTES];
        self.file.read_exact_at(&mut header, 0).map_or(0, |()| runs_length(header))
    }

    /// Returns what a worker has left, with the header.
    fn read(&mut self) -> Result<&[u8], CampaignError> {
        let length = self.length().saturating_add(HEADER_BYTES as u64);
        let Self { path, file, bytes } = self;
        bytes.clear();
        let read = file.rewind().and_then(|()| file.take(length).read_to_end(bytes));
        read.map_err(|source| CampaignError::file(path.as_path(), source))?;
        Ok(bytes)
    }
}

impl Drop for Executor<'_> {
    fn drop(&mut self) {
        // The worker goes first. If the file stays, the next session deletes it.
        self.crew.dismiss();
        _ = fs::remove_file(&self.answers.path);
    }
}
