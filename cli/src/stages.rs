//! A line for each stage of a study.

use std::sync::{Mutex, MutexGuard, PoisonError};

use simutant_analysis::plural;
use simutant_campaign::Progress;
use simutant_mutator::{BuildEvent, Equivalence};
use simutant_outcomes::{Compiled, Sites, UninstrumentedFunction};
use simutant_study::{StageEnd, StudyEvent, StudyStage};

use crate::output;
use crate::progress::ProgressPhase;

/// Shows the stages of a study of one system; those that are not done are gone when it is dropped.
#[derive(Debug)]
pub(crate) struct Stages {
    system: String,
    /// The stages that go on.
    shown: Mutex<Vec<Shown>>,
}

#[derive(Debug)]
struct Shown {
    stage: StudyStage,
    phase: ProgressPhase,
    compiler: CompilerMessage,
}

impl Stages {
    pub(crate) fn new(system: &str) -> Self {
        Self { system: system.to_owned(), shown: Mutex::default() }
    }

    /// Shows what happens in the study.
    pub(crate) fn show(&self, event: StudyEvent<'_>) {
        match event {
            // A campaign tells at once how much there is to do.
            StudyEvent::Started(StudyStage::Campaign(_)) => {}
            StudyEvent::Started(stage @ (StudyStage::Instrument | StudyStage::BuildPlain)) => {
                self.start(stage, ProgressPhase::build());
            }
            StudyEvent::Started(stage) => self.start(stage, ProgressPhase::open(name(stage))),
            StudyEvent::Compiler(stage, event) => self.compiler(stage, event),
            StudyEvent::Progress(progress) => self.progress(&progress),
            StudyEvent::Ended(end) => self.end(&end),
            StudyEvent::Source(source) => output::tell(&format!("{:>12} {source}", "source")),
            _ => {}
        }
    }

    fn shown(&self) -> MutexGuard<'_, Vec<Shown>> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(&self, stage: StudyStage, phase: ProgressPhase) {
        let compiler = match stage {
            StudyStage::BuildPlain => CompilerMessage::new(as_written(&self.system)),
            _ => CompilerMessage::new(&self.system),
        };
        self.shown().push(Shown { stage, phase, compiler });
    }

    fn compiler(&self, stage: StudyStage, event: BuildEvent) {
        let mut shown = self.shown();
        let Some(Shown { phase, compiler, .. }) = shown.iter_mut().find(|shown| shown.stage == stage) else { return };
        match (stage, event) {
            (StudyStage::BuildPlain | StudyStage::Instrument, event) => compiler.show(phase, event),
            (StudyStage::CompareMachineCode, BuildEvent::Compiling { mutants, .. }) => {
                phase.message(format!("the machine code of {}", plural(mutants, "mutant")));
            }
            _ => {}
        }
    }

    fn progress(&self, progress: &Progress) {
        let stage = StudyStage::Campaign(progress.phase);
        if !self.shown().iter().any(|shown| shown.stage == stage) {
            self.start(stage, ProgressPhase::counted(name(stage), progress.total as u64));
        }
        let shown = self.shown();
        let message = format!("test cases, {} on mutants", plural(progress.executions as usize, "run"));
        let of_stage = shown.iter().filter(|shown| shown.stage == stage);
        of_stage.for_each(|shown| {
            shown.phase.total(progress.total as u64);
            shown.phase.at(progress.done as u64, message.clone());
        });
    }

    fn end(&self, end: &StageEnd<'_>) {
        let mut shown = self.shown();
        let Some(place) = shown.iter().position(|shown| shown.stage == end.stage()) else { return };
        let ended = shown.swap_remove(place);
        drop(shown);
        ended.phase.end(&summary(&self.system, end));
        if let StageEnd::Instrumented(build) = end {
            note_uninstrumented(&build.sites);
            note("has no definition-use pairs", &build.sites.without_flow);
            note_without_mutants(&build.sites);
        }
    }
}

/// Builds a program, and shows what the compiler is at.
pub(crate) fn built<P, E>(what: &str, build: impl FnOnce(&mut dyn FnMut(BuildEvent)) -> Result<P, E>) -> Result<P, E> {
    let phase = ProgressPhase::build();
    let mut message = CompilerMessage::new(what);
    let program = build(&mut |event| message.show(&phase, event))?;
    phase.end(what);
    Ok(program)
}

/// What the compiler is at.
#[derive(Debug)]
pub(crate) struct CompilerMessage {
    /// What is compiled; as soon as it is known with how many mutants, that.
    what: String,
}

impl CompilerMessage {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into() }
    }

    pub(crate) fn show(&mut self, phase: &ProgressPhase, event: BuildEvent) {
        match event {
            BuildEvent::Compiling { mutants, rejected, .. } => {
                self.what = format!("{}, {rejected} rejected by the compiler so far", plural(mutants, "mutant"));
                phase.message(self.what.clone());
            }
            BuildEvent::Long { bytes, function, function_bytes } => {
                let mebibytes = |bytes: usize| format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20));
                let mut told = format!("the instrumented code is {}", mebibytes(bytes));
                let mut cure = "`--operators` chooses fewer operators".to_owned();
                // Nothing is to be gained by leaving out what is a small part.
                if 4 * function_bytes > bytes {
                    told.push_str(&format!(", of which {} are in {function}", mebibytes(function_bytes)));
                    cure.push_str(", and a comment `// simutant: skip: REASON` above a function leaves it out");
                }
                output::tell(&format!("{:>12} {told}; compiling it may take minutes. {cure}", "note"));
            }
            BuildEvent::Running { packages } => {
                phase.compiles();
                // Between two of them there is nothing new to say.
                if let Some(packages) = listed(&packages) {
                    phase.message(format!("{}: {packages}", self.what));
                }
            }
            _ => {}
        }
    }
}

/// Returns the first few packages that are compiled, and how many there are besides; `None` if there is none.
fn listed(packages: &[String]) -> Option<String> {
    let (shown, others) = packages.split_at(packages.len().min(3));
    let others = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
    (!shown.is_empty()).then(|| format!("{}{others}", shown.join(", ")))
}

fn as_written(system: &str) -> String {
    format!("{system} as it is written")
}

fn name(stage: StudyStage) -> &'static str {
    use simutant_campaign::Phase::{Baseline, Mutants, Plain, Universe};
    match stage {
        StudyStage::Instrument | StudyStage::BuildPlain => "building",
        StudyStage::CompareMachineCode => "comparing",
        StudyStage::Campaign(Universe) => "drawing",
        StudyStage::Campaign(Plain) => "checking",
        StudyStage::Campaign(Baseline) => "recording",
        StudyStage::Campaign(Mutants) => "mutating",
        StudyStage::Analyse => "analysing",
        StudyStage::ChooseSuite => "choosing",
        StudyStage::Explain => "explaining",
        _ => "studying",
    }
}

/// Says what was done.
fn summary(system: &str, end: &StageEnd<'_>) -> String {
    match end {
        StageEnd::Instrumented(build) => {
            let Sites { blocks, branches, pairs, .. } = &build.sites;
            let branches = counted(branches.len(), "branch", "branches");
            let (blocks, pairs) = (plural(blocks.len(), "block"), plural(pairs.len(), "definition-use pair"));
            let mutants = with_mutants(system, &build.sites);
            format!("{mutants}, {blocks}, {branches}, {pairs}")
        }
        StageEnd::PlainBuilt => as_written(system),
        StageEnd::MachineCodeCompared(Equivalence { found, compared }) => {
            let equivalent = found.values().filter(|compiled| **compiled == Compiled::Equivalent).count();
            format!(
                "of {} with machine code of their own, {equivalent} have that of the original, {} that of another mutant",
                plural(*compared, "mutant"),
                found.len() - equivalent,
            )
        }
        StageEnd::Campaign(Progress { phase, done, executions, .. }) => {
            let (cases, runs) = (plural(*done, "test case"), plural(*executions as usize, "run"));
            match phase {
                simutant_campaign::Phase::Plain => format!("{cases} on {}", as_written(system)),
                simutant_campaign::Phase::Universe => cases,
                simutant_campaign::Phase::Baseline => format!("{cases} on the original"),
                simutant_campaign::Phase::Mutants => format!("{cases} on the mutants, {runs}"),
            }
        }
        StageEnd::Analysed(analysis) => {
            let criteria = counted(analysis.criteria.len(), "criterion", "criteria");
            format!("{criteria} with {} each", plural(analysis.options.suites, "suite"))
        }
        StageEnd::SuiteChosen { suites } => format!("one of {}", plural(*suites, "suite")),
        StageEnd::Explained { mutants, cases } => {
            format!("{} and {} on pages of their own", plural(*mutants, "mutant"), plural(*cases, "test case"))
        }
        _ => String::new(),
    }
}

/// Returns a count with the noun that it counts, whose plural has an ending of its own.
pub(crate) fn counted(count: usize, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

pub(crate) fn with_mutants(what: &str, sites: &Sites) -> String {
    let mut left_out = format!("{} more rejected by the compiler", sites.rejected.len());
    if !sites.skipped.is_empty() {
        left_out.push_str(&format!(", {} skipped", sites.mutants_skipped()));
    }
    if !sites.ambiguous.is_empty() {
        left_out.push_str(&format!(", {}", plural(sites.ambiguous.len(), "ambiguous name")));
    }
    match sites.uninstrumented.len() + sites.left_out.len() {
        0 => {}
        functions => left_out.push_str(&format!(", {} without mutants", plural(functions, "function"))),
    }
    if !sites.macros.is_empty() {
        left_out.push_str(&format!(", {} without mutants", plural(sites.macros.len(), "macro")));
    }
    format!("{what} with {} ({left_out})", plural(sites.mutants.len(), "mutant"))
}

/// Tells which functions have no probes, and how many are not compiled.
pub(crate) fn note_uninstrumented(sites: &Sites) {
    note("runs as it is written", &sites.uninstrumented);
    if !sites.left_out.is_empty() {
        let functions = counted(sites.left_out.len(), "function is", "functions are");
        output::tell(&format!("{:>12} {functions} not compiled: `mutants {}` says why", "note", sites.system));
    }
}

/// Tells how many constants and macros have no mutants, and which skips leave nothing out: what they were about may be
/// gone.
pub(crate) fn note_without_mutants(sites: &Sites) {
    if !sites.unmutated.is_empty() {
        let constants = counted(sites.unmutated.len(), "constant has", "constants have");
        output::tell(&format!("{:>12} {constants} no mutants: `mutants {}` says why", "note", sites.system));
    }
    if !sites.macros.is_empty() {
        let macros = counted(sites.macros.len(), "macro of `macro_rules!` has", "macros of `macro_rules!` have");
        output::tell(&format!("{:>12} {macros} no mutants: `mutants {}` lists what has none", "note", sites.system));
    }
    for skipped in sites.skipped.iter().filter(|skipped| skipped.mutants == 0) {
        let place = format!("{}:{}", sites.files[skipped.span.file].path, skipped.span.line);
        output::tell(&format!("{:>12} the skip at {place} leaves no mutant out: {}", "note", skipped.reason));
    }
}

/// Tells what is otherwise with functions.
fn note(what: &str, functions: &[UninstrumentedFunction]) {
    for function in functions {
        output::tell(&format!("{:>12} {} {what}: {}", "note", function.path, function.reason));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packages_that_began_first_are_named() {
        let packages: Vec<String> = ["syn", "serde", "gbn", "libc", "tar"].map(String::from).into();
        let of_first = |count: usize| listed(&packages[..count]);
        assert_eq!(
            [0, 1, 3, 5].map(of_first),
            [None, Some("syn"), Some("syn, serde, gbn"), Some("syn, serde, gbn and 2 more")]
                .map(|text| text.map(String::from))
        );
    }
}
