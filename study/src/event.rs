//! What a study tells while it goes on, and how it is stopped.

use std::sync::atomic::{AtomicBool, Ordering};

use simutant_analysis::Analysis;
use simutant_campaign::{Phase, Progress};
use simutant_mutator::{Build, BuildEvent, Equivalence};
use simutant_outcomes::InputSource;

use crate::StudyError;

/// Hears what a study does, as it happens.
///
/// It may be called on several threads.
pub type Observer<'a> = dyn Fn(StudyEvent<'_>) + Sync + 'a;

/// Something that happens in a study.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum StudyEvent<'a> {
    /// A stage begins. It ends with [`StudyEvent::Ended`], or with an error of the study.
    Started(StudyStage),
    /// The compiler gets on with a stage.
    Compiler(StudyStage, BuildEvent),
    /// The campaign gets on with the stage [`StudyStage::Campaign`] of this phase.
    Progress(Progress),
    /// A stage is done.
    Ended(StageEnd<'a>),
    /// A campaign begins whose universe is of this source: see [`SourcesPlan`](crate::SourcesPlan).
    Source(InputSource),
}

/// A stage of a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StudyStage {
    /// Builds the system with all its mutants.
    Instrument,
    /// Builds the system as it is written.
    BuildPlain,
    /// Compares the machine code of mutants.
    CompareMachineCode,
    /// Runs a phase of the campaign.
    Campaign(Phase),
    /// Analyses the outcomes, and chooses the suite.
    Analyse,
    /// Chooses the suite of a [`ScenarioPlan`](crate::ScenarioPlan).
    ChooseSuite,
    /// Writes the pages of mutants and test cases.
    Explain,
}

/// The result of a stage.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum StageEnd<'a> {
    /// Of [`StudyStage::Instrument`].
    Instrumented(&'a Build),
    /// Of [`StudyStage::BuildPlain`].
    PlainBuilt,
    /// Of [`StudyStage::CompareMachineCode`].
    MachineCodeCompared(&'a Equivalence),
    /// Of [`StudyStage::Campaign`], which may have been stopped.
    Campaign(Progress),
    /// Of [`StudyStage::Analyse`].
    Analysed(&'a Analysis),
    /// Of [`StudyStage::ChooseSuite`].
    SuiteChosen {
        /// How many suites it was chosen from.
        suites: usize,
    },
    /// Of [`StudyStage::Explain`].
    Explained {
        /// Mutants that have a page.
        mutants: usize,
        /// Test cases that have a page.
        cases: usize,
    },
}

impl StageEnd<'_> {
    /// Returns the stage that ended.
    pub fn stage(&self) -> StudyStage {
        match self {
            Self::Instrumented(_) => StudyStage::Instrument,
            Self::PlainBuilt => StudyStage::BuildPlain,
            Self::MachineCodeCompared(_) => StudyStage::CompareMachineCode,
            Self::Campaign(progress) => StudyStage::Campaign(progress.phase),
            Self::Analysed(_) => StudyStage::Analyse,
            Self::SuiteChosen { .. } => StudyStage::ChooseSuite,
            Self::Explained { .. } => StudyStage::Explain,
        }
    }
}

/// Does a stage in which the compiler works.
pub(crate) fn compiling<T>(
    stage: StudyStage,
    observer: &Observer<'_>,
    compile: impl FnOnce(&mut dyn FnMut(BuildEvent)) -> T,
) -> T {
    observer(StudyEvent::Started(stage));
    compile(&mut |event| observer(StudyEvent::Compiler(stage, event)))
}

/// Who hears of a study, and who stops it.
#[derive(Clone, Copy)]
pub(crate) struct Watch<'a> {
    pub(crate) observer: &'a Observer<'a>,
    pub(crate) stop: &'a AtomicBool,
}

impl Watch<'_> {
    pub(crate) fn start(&self, stage: StudyStage) {
        (self.observer)(StudyEvent::Started(stage));
    }

    pub(crate) fn end(&self, end: StageEnd<'_>) {
        (self.observer)(StudyEvent::Ended(end));
    }

    /// Returns [`StudyError::Stopped`] if the study was told to stop.
    pub(crate) fn go_on(&self) -> Result<(), StudyError> {
        if self.stop.load(Ordering::SeqCst) { Err(StudyError::Stopped) } else { Ok(()) }
    }

    /// Returns [`StudyError::Stopped`] for what failed after the study was told to stop, and for a compiler that was
    /// interrupted: Ctrl-C in a terminal ends both, and the compiler may be the first.
    pub(crate) fn unless_stopped<T>(&self, result: Result<T, StudyError>) -> Result<T, StudyError> {
        result.map_err(|error| match self.go_on() {
            Ok(()) if !error.is_interruption() => error,
            _ => StudyError::Stopped,
        })
    }
}

/// The phases of a campaign as stages: each starts when it first tells something, and ends when the next one does.
pub(crate) struct Phases<'a> {
    watch: Watch<'a>,
    last: Option<Progress>,
}

impl<'a> Phases<'a> {
    pub(crate) fn new(watch: Watch<'a>) -> Self {
        Self { watch, last: None }
    }

    pub(crate) fn show(&mut self, progress: Progress) {
        if self.last.is_none_or(|last| last.phase != progress.phase) {
            self.end();
            self.watch.start(StudyStage::Campaign(progress.phase));
        }
        self.last = Some(progress);
        (self.watch.observer)(StudyEvent::Progress(progress));
    }

    pub(crate) fn end(&mut self) {
        if let Some(last) = self.last.take() {
            self.watch.end(StageEnd::Campaign(last));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use simutant_mutator::MutatorError;

    use super::*;

    #[test]
    fn each_phase_of_a_campaign_starts_and_ends_once() {
        let heard = Mutex::new(Vec::new());
        let observer = |event: StudyEvent<'_>| {
            let line = match event {
                StudyEvent::Started(StudyStage::Campaign(phase)) => format!("start {phase:?}"),
                StudyEvent::Progress(progress) => format!("{}", progress.done),
                StudyEvent::Ended(end) => format!("end {:?}", end.stage()),
                other => format!("{other:?}"),
            };
            heard.lock().expect("nobody panics").push(line);
        };
        let stop = AtomicBool::new(false);
        let mut phases = Phases::new(Watch { observer: &observer, stop: &stop });
        let progress = |phase, done| Progress { phase, done, total: 2, executions: 0 };
        phases.end();
        phases.show(progress(Phase::Universe, 2));
        phases.show(progress(Phase::Mutants, 1));
        phases.show(progress(Phase::Mutants, 2));
        phases.end();
        phases.end();
        let heard = heard.into_inner().expect("nobody panics");
        let [universe, mutants] = ["end Campaign(Universe)", "end Campaign(Mutants)"];
        assert_eq!(heard, ["start Universe", "2", universe, "start Mutants", "1", "2", mutants]);
    }

    #[test]
    fn what_fails_is_an_error_until_the_study_is_told_to_stop() {
        let stop = AtomicBool::new(false);
        let watch = Watch { observer: &|_| {}, stop: &stop };
        let failed = || watch.unless_stopped::<()>(Err(StudyError::NoCostOracle));
        assert!(matches!(failed(), Err(StudyError::NoCostOracle)));
        let interrupted = StudyError::Package(MutatorError::Interrupted);
        assert!(matches!(watch.unless_stopped::<()>(Err(interrupted)), Err(StudyError::Stopped)));
        assert!(watch.go_on().is_ok());
        stop.store(true, Ordering::SeqCst);
        assert!(matches!(failed(), Err(StudyError::Stopped)));
        assert!(matches!(watch.go_on(), Err(StudyError::Stopped)));
        assert!(matches!(watch.unless_stopped(Ok(7)), Ok(7)), "what is done is done");
    }
}
