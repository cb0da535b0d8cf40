//! Lines about the trials of an experiment.

use std::num::NonZeroU32;

use simutant_analysis::plural;
use simutant_harness::VoidTrials;
use simutant_study::{TrialEvent, TrialsEnd};

use super::repeated;
use crate::output;
use crate::progress::ProgressPhase;
use crate::stages::{self, CompilerMessage};

/// Shows what is tried; what is not done is gone when it is dropped.
pub(super) struct TrialProgress {
    repetitions: NonZeroU32,
    /// What goes on: a build, trials or the analysis.
    phase: Option<ProgressPhase>,
    compiler: CompilerMessage,
}

impl TrialProgress {
    pub(super) fn new(repetitions: NonZeroU32) -> Self {
        Self { repetitions, phase: None, compiler: CompilerMessage::new("") }
    }

    pub(super) fn show(&mut self, event: TrialEvent<'_>) {
        match event {
            TrialEvent::Building(name) => {
                self.compiler = CompilerMessage::new(programs_of(name));
                self.phase = Some(ProgressPhase::build());
            }
            TrialEvent::Compiler(event) => {
                if let Some(phase) = &self.phase {
                    self.compiler.show(phase, event);
                }
            }
            TrialEvent::Built(name, sites) => {
                self.end(&stages::with_mutants(&programs_of(name), sites));
                stages::note_uninstrumented(sites);
                stages::note_without_mutants(sites);
            }
            TrialEvent::Dropped(name, VoidTrials { trials, fact }) => {
                let trials = plural(trials, "trial");
                output::tell(&format!(
                    "{:>12} {trials} of {name} from before: its {fact} is another one now",
                    "dropped"
                ));
            }
            TrialEvent::Taken(name, trials) => {
                output::tell(&format!("{:>12} {} of {name} from --trials", "taken", plural(trials, "trial")));
            }
            TrialEvent::Started(trials) => self.phase = Some(ProgressPhase::counted("trying", trials as u64)),
            TrialEvent::Tried { implementation, done, failed } => {
                if let Some(phase) = &self.phase {
                    phase.at(done as u64, format!("{implementation}: {failed} failed"));
                }
            }
            TrialEvent::Ended(name, end) => self.end_trials(name, end),
            TrialEvent::Analysing => self.phase = Some(ProgressPhase::open("analysing")),
            _ => {}
        }
    }

    fn end_trials(&mut self, name: &str, end: TrialsEnd<'_>) {
        match end {
            TrialsEnd::TakesPart { cases, before, noted, first_note } => {
                let (cases, each) = (plural(cases, "test case"), repeated(self.repetitions));
                let kept = if before == 0 { String::new() } else { format!(", {before} of them before") };
                let noted = first_note
                    .map(|first| format!("; {noted} of its trials have notes, the first one: {first}"))
                    .unwrap_or_default();
                self.end(&format!("{cases}{each} on {name}{kept}{noted}"));
            }
            TrialsEnd::LeftOut { why } => {
                let line = format!("{name}, left out ({why})");
                match self.phase {
                    Some(_) => self.end(&line),
                    None => output::tell(&format!("{:>12} {line}", "trying")),
                }
            }
            TrialsEnd::Unmutated { cases, failed } => {
                self.end(&format!("{} on {name}, {failed} failed", plural(cases, "test case")));
            }
            _ => self.phase = None,
        }
    }

    /// Ends what goes on with a line that says what was done.
    pub(super) fn end(&mut self, summary: &str) {
        if let Some(phase) = self.phase.take() {
            phase.end(summary);
        }
    }
}

fn programs_of(implementation: &str) -> String {
    format!("the programs of {implementation}")
}
