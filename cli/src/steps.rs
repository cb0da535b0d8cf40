//! A line for each step of a study.

use std::sync::{Mutex, MutexGuard, PoisonError};

use simutant_campaign::Progress;
use simutant_mutator::{BuildEvent, Equivalence};
use simutant_outcomes::{Compiled, Sites, UninstrumentedFunction};
use simutant_study::{StepEnd, StudyEvent, StudyStep};

use crate::output;
use crate::progress::Phase;

/// Shows the steps of a study of one system; those that are not done are gone when it is dropped.
#[derive(Debug)]
pub(crate) struct Steps {
    system: String,
    /// The steps that go on.
    shown: Mutex<Vec<Shown>>,
}

#[derive(Debug)]
struct Shown {
    step: StudyStep,
    phase: Phase,
    compiler: CompilerMessage,
}

impl Steps {
    pub(crate) fn new(system: &str) -> Self {
        Self { system: system.to_owned(), shown: Mutex::default() }
    }

    /// Shows what happens in the study.
    pub(crate) fn show(&self, event: StudyEvent<'_>) {
        match event {
            // A campaign tells at once how much there is to do.
            StudyEvent::Started(StudyStep::Campaign(_)) => {}
            StudyEvent::Started(step) => self.start(step, Phase::open(name(step))),
            StudyEvent::Compiler(step, event) => self.compiler(step, event),
            StudyEvent::Progress(progress) => self.progress(&progress),
            StudyEvent::Ended(end) => self.end(&end),
            StudyEvent::Source(source) => output::tell(&format!("{:>12} {source}", "source")),
            _ => {}
        }
    }

    fn shown(&self) -> MutexGuard<'_, Vec<Shown>> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(&self, step: StudyStep, phase: Phase) {
        self.shown().push(Shown { step, phase, compiler: CompilerMessage::default() });
    }

    fn compiler(&self, step: StudyStep, event: BuildEvent) {
        let mut shown = self.shown();
        let Some(Shown { phase, compiler, .. }) = shown.iter_mut().find(|shown| shown.step == step) else { return };
        match (step, event) {
            (StudyStep::BuildPlain, BuildEvent::Compiled { name }) => {
                phase.message(format!("{} as it is written: {name}", self.system));
            }
            (StudyStep::CompareMachineCode, BuildEvent::Compiling { mutants, .. }) => {
                phase.message(format!("the machine code of {mutants} mutants"));
            }
            (StudyStep::Instrument, event) => compiler.show(phase, event),
            _ => {}
        }
    }

    fn progress(&self, progress: &Progress) {
        let step = StudyStep::Campaign(progress.phase);
        if !self.shown().iter().any(|shown| shown.step == step) {
            self.start(step, Phase::counted(name(step), progress.total as u64));
        }
        let shown = self.shown();
        let message = format!("test cases, {} runs on mutants", progress.executions);
        let of_step = shown.iter().filter(|shown| shown.step == step);
        of_step.for_each(|shown| shown.phase.at(progress.done as u64, message.clone()));
    }

    fn end(&self, end: &StepEnd<'_>) {
        let mut shown = self.shown();
        let Some(place) = shown.iter().position(|shown| shown.step == end.step()) else { return };
        let ended = shown.swap_remove(place);
        drop(shown);
        ended.phase.end(&summary(&self.system, end));
        if let StepEnd::Instrumented(build) = end {
            note_uninstrumented(&build.sites);
            note("has no definition-use pairs", &build.sites.without_flow);
            note_constants(&build.sites);
        }
    }
}

/// What the compiler is at, while it finds out which mutants it rejects.
#[derive(Debug, Default)]
pub(crate) struct CompilerMessage {
    round: String,
}

impl CompilerMessage {
    pub(crate) fn show(&mut self, phase: &Phase, event: BuildEvent) {
        match event {
            BuildEvent::Compiling { mutants, rejected, .. } => {
                self.round = format!("{mutants} mutants, {rejected} rejected by the compiler so far");
                phase.message(self.round.clone());
            }
            BuildEvent::Compiled { name } => phase.message(format!("{}: {name}", self.round)),
            _ => {}
        }
    }
}

fn name(step: StudyStep) -> &'static str {
    use simutant_campaign::Phase::{Baseline, Mutants, Universe};
    match step {
        StudyStep::Instrument | StudyStep::BuildPlain => "compiling",
        StudyStep::CompareMachineCode => "comparing",
        StudyStep::Campaign(Universe) => "drawing",
        StudyStep::Campaign(Baseline) => "recording",
        StudyStep::Campaign(Mutants) => "mutating",
        StudyStep::Analyse => "analysing",
        StudyStep::ChooseSuite => "choosing",
        StudyStep::Explain => "explaining",
        _ => "studying",
    }
}

/// Says what was done.
fn summary(system: &str, end: &StepEnd<'_>) -> String {
    match end {
        StepEnd::Instrumented(build) => {
            let Sites { blocks, branches, pairs, .. } = &build.sites;
            let (blocks, branches, pairs) = (blocks.len(), branches.len(), pairs.len());
            let mutants = with_mutants(system, &build.sites);
            format!("{mutants}, {blocks} blocks, {branches} branches, {pairs} definition-use pairs")
        }
        StepEnd::PlainBuilt => format!("{system} as it is written"),
        StepEnd::MachineCodeCompared(Equivalence { found, compared }) => {
            let equivalent = found.values().filter(|compiled| **compiled == Compiled::Equivalent).count();
            format!(
                "of {compared} mutants with machine code of their own, {equivalent} have that of the original, {} that of another mutant",
                found.len() - equivalent,
            )
        }
        StepEnd::Campaign(Progress { phase, done, executions, .. }) => match phase {
            simutant_campaign::Phase::Universe => format!("{done} test cases"),
            simutant_campaign::Phase::Baseline => format!("{done} test cases on the original"),
            simutant_campaign::Phase::Mutants => format!("{done} test cases on the mutants, {executions} runs"),
        },
        StepEnd::Analysed(analysis) => {
            format!("{} criteria with {} suites each", analysis.criteria.len(), analysis.options.suites)
        }
        StepEnd::SuiteChosen { suites } => format!("one of {suites} suites"),
        StepEnd::Explained { mutants, cases } => {
            format!("{mutants} mutants and {cases} test cases on pages of their own")
        }
        _ => String::new(),
    }
}

pub(crate) fn with_mutants(what: &str, sites: &Sites) -> String {
    format!("{what} with {} mutants ({} more rejected by the compiler)", sites.mutants.len(), sites.rejected.len())
}

/// Tells which functions have no probes.
pub(crate) fn note_uninstrumented(sites: &Sites) {
    note("runs as it is written", &sites.uninstrumented);
}

/// Tells how many constants have no mutants.
pub(crate) fn note_constants(sites: &Sites) {
    if !sites.unmutated.is_empty() {
        let number = sites.unmutated.len();
        let constants = if number == 1 { "constant has" } else { "constants have" };
        output::tell(&format!("{:>12} {number} {constants} no mutants: `mutants {}` says why", "note", sites.system));
    }
}

/// Tells what is otherwise with functions.
fn note(what: &str, functions: &[UninstrumentedFunction]) {
    for function in functions {
        output::tell(&format!("{:>12} {} {what}: {}", "note", function.path, function.reason));
    }
}
