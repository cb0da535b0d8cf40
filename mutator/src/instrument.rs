//! Puts probes and mutants into specification files.
//!
//! Every function gets four bodies, and one test per call decides between them (function-level dispatch: tests at each
//! point cost several times as much while no mutant in the function is active). The first body stays where it was, so
//! the text up to the function's end keeps its lines; the lines of the copies are traced back by a table. Two bodies
//! record: one all that there is, and one that knows of no mutants, for runs that need not know of any or have infected
//! all of the function's.

mod awaits;
mod bodies;
mod coverage;
mod flows;
mod hidden;
mod numbering;
mod points;
pub(crate) mod steps;

use std::collections::BTreeMap;

use simutant_outcomes::{Sites, UninstrumentedFunction};

use crate::build::BuildEvent;
use crate::graph::{Lowered, lower};
use crate::mutation::PlacedCandidate;
use crate::specification::Specification;
use crate::specification::verdicts::Verdicts;
use crate::syntax::parts::inside;
use crate::syntax::source::FunctionId;
use crate::text::edit::{Edit, Output, Owner, Renderer, Variant};
use awaits::AsyncFunctions;
use flows::{Flows, LoweredFunction};
use numbering::Numbering;

pub(crate) use numbering::FunctionPlace;

/// What is put into the functions of a specification.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Probes {
    /// Four bodies for each: clean, mutated, recording, covering.
    #[default]
    All,
    /// Two bodies, clean and mutated, that record and count nothing: for programs that no worker runs. A function
    /// without mutants stays as it is.
    Mutants,
    /// The count of steps, without which no run of a mutant could be ended: to measure what the rest costs.
    Steps,
    /// Nothing, for the same end.
    None,
}

/// What is known of a specification before its functions are written.
struct Plan<'a> {
    verdicts: &'a Verdicts,
    flows: Flows<'a>,
    numbering: Numbering,
}

impl Plan<'_> {
    /// Whether a function chooses between the original and mutants, or has mutants that are tried.
    fn has_choice(&self, id: FunctionId, candidates: &[PlacedCandidate]) -> bool {
        self.numbering.has_mutants(id) || !self.verdicts.on_trial(candidates, id).is_empty()
    }

    /// Returns the place of the next function: the numbers at which its blocks, branches, conditions, pairs and mutants
    /// begin. The function before it is at `before`.
    fn place(&self, id: FunctionId, before: Option<&FunctionPlace>, sites: &Sites) -> FunctionPlace {
        let function = sites.functions.len();
        let end = before.map_or(0, |before| before.mutant + before.mutants);
        FunctionPlace {
            block: sites.blocks.len(),
            branch: sites.branches.len(),
            condition: sites.conditions.len(),
            // Pairs are sorted by the functions that contain their uses.
            pair: self.flows.analysis.pairs.partition_point(|pair| pair.function < function),
            ..self.numbering.place_of(id, end)
        }
    }
}

/// Instrumented files, in the order of the specification's, and what they measure.
#[derive(Debug)]
pub(crate) struct Instrumented {
    pub(crate) outputs: Vec<Output>,
    pub(crate) sites: Sites,
    /// Where each function is that records what it does, and after them all mutants of constants, if there are any.
    pub(crate) places: Vec<FunctionPlace>,
}

/// A type error that keeps a draft, a build that only collects compiler errors, from compiling.
///
/// The compiler still reports the type errors of all other code, and generates no machine code. An error of an earlier
/// phase would hide them.
const DRAFT: &str = "\nconst _: () = { let () = true; };\n";

impl Instrumented {
    /// Returns the event that warns of long code, with its longest function, if all files together exceed `bytes_max`.
    pub(crate) fn if_longer(&self, bytes_max: usize, specification: &Specification) -> Option<BuildEvent> {
        let bytes = self.outputs.iter().map(|output| output.text.len()).sum();
        let functions = self.outputs.iter().enumerate().flat_map(|(file, output)| {
            output.owners.iter().filter_map(move |(range, owner)| match owner {
                Owner::Function(index) => Some((range.len(), FunctionId { file, index: *index })),
                _ => None,
            })
        });
        let (function_bytes, id) = functions.max().filter(|_| bytes > bytes_max)?;
        Some(BuildEvent::Long { bytes, function: specification.function(id).path.clone(), function_bytes })
    }

    /// Appends the [`DRAFT`] error to each file, so that no draft can be taken for a build.
    pub(crate) fn mark_as_draft(&mut self) {
        self.outputs.iter_mut().for_each(|output| output.text.push_str(DRAFT));
    }

    /// Returns whether a range of a file is within its [`DRAFT`] error, which no mutant is to blame for.
    pub(crate) fn is_mark(&self, file: usize, range: &std::ops::Range<usize>) -> bool {
        let text = &self.outputs[file].text;
        text.ends_with(DRAFT) && range.start >= text.len() - DRAFT.len()
    }
}

/// Instruments the files of a specification, again and again while mutants are rejected.
#[derive(Debug)]
pub(crate) struct Instrumenter<'a> {
    specification: &'a Specification,
    probes: Probes,
    /// The functions that probes may measure.
    lowered: BTreeMap<FunctionId, Lowered>,
    async_functions: AsyncFunctions,
}

impl<'a> Instrumenter<'a> {
    /// Prepares to put `probes` into a specification.
    pub(crate) fn new(specification: &'a Specification, probes: Probes) -> Self {
        let lowered = match probes {
            Probes::Mutants => BTreeMap::new(),
            Probes::All | Probes::Steps | Probes::None => {
                let functions = specification.functions().filter(|(_, function)| function.obstacle.is_none());
                functions.map(|(place, function)| (place, lower(function))).collect()
            }
        };
        let async_functions = AsyncFunctions::new(&specification.sources);
        Self { specification, probes, lowered, async_functions }
    }

    /// Returns the files with the probes, and with every candidate that has not been rejected if these are all.
    pub(crate) fn instrument(&self, verdicts: &Verdicts) -> Instrumented {
        let &Self { specification, probes, .. } = self;
        let mut sites = specification.no_sites();
        let mut outputs = Vec::new();
        let flows = match probes {
            Probes::Mutants => Flows::default(),
            Probes::All | Probes::Steps | Probes::None => self.flows(verdicts),
        };
        let mut numbering = match probes {
            Probes::All | Probes::Mutants => Numbering::new(specification, verdicts, &mut sites),
            Probes::Steps | Probes::None => Numbering::default(),
        };
        // Who names a mutant of a real program has the numbers of reports alone.
        if probes == Probes::All && !specification.makes_pairs {
            numbering.leave_room(specification.instrumented(verdicts).map(|(function, _)| function));
        }
        let plan = Plan { verdicts, flows, numbering };
        let (mut first_mark, mut places) = (0, Vec::new());
        for (file, source) in specification.sources.iter().enumerate() {
            let mut output = Output::default();
            let mut edits = self.declarations((file, None), &plan);
            edits.extend(self.without_const(file, &plan));
            if probes == Probes::All {
                let functions = specification.instrumented(verdicts).filter(|(id, _)| id.file == file);
                let in_closures = functions.filter(|(_, function)| function.closure.is_some());
                edits.extend(in_closures.flat_map(|(_, function)| bodies::naming_edits(&function.signature)));
            }
            let plain = Renderer::new(&source.file.text, &edits);
            let mut at = 0;
            for (index, function) in source.functions.iter().enumerate() {
                let id = FunctionId { file, index };
                if let Some(reason) = specification.obstacle(id, verdicts) {
                    let span = source.span(file, &function.range);
                    let is_left_out = verdicts.left_out.contains_key(&id);
                    let list = if is_left_out { &mut sites.left_out } else { &mut sites.uninstrumented };
                    list.push(UninstrumentedFunction { path: function.path.clone(), span, reason });
                    continue;
                }
                let inside = inside(&function.body);
                if probes == Probes::All
                    && let Some(start) = function.outlined_at
                {
                    plain.range(at..start, Variant::Mutated, &mut output);
                    // A macro may put it where it cannot be.
                    let attribute = |output: &mut Output| output.text.push_str("#[inline(never)] ");
                    plain.owned(Owner::Function(index), &mut output, attribute);
                    at = start;
                }
                plain.range(at..inside.start, Variant::Mutated, &mut output);
                match probes {
                    Probes::All => {
                        let place = plan.place(id, places.last(), &sites);
                        self.function(id, &plan, (&place, &mut first_mark), &mut sites, &mut output);
                        places.push(place);
                    }
                    Probes::Mutants => self.mutated_function(id, &plan, &mut sites, &mut output),
                    Probes::Steps => steps::counted(&function.body, &source.file.text, &mut output),
                    Probes::None => plain.verbatim(inside.clone(), &mut output),
                }
                at = inside.end;
            }
            plain.range(at..source.file.text.len(), Variant::Mutated, &mut output);
            outputs.push(output);
        }
        if probes == Probes::All {
            let end = places.last().map_or(0, |last: &FunctionPlace| last.mutant + last.mutants);
            places.extend(plan.numbering.place_of_constants(end));
        }
        plan.flows.add_to(&mut sites, &specification.sources);
        Instrumented { outputs, sites, places }
    }

    /// Returns the edits that take the word `const` from the functions of a file which call probes.
    fn without_const(&self, file: usize, plan: &Plan<'_>) -> Vec<Edit> {
        let calls_probes = |id: &FunctionId| match self.probes {
            Probes::All | Probes::Steps => true,
            Probes::Mutants => plan.has_choice(*id, &self.specification.candidates),
            Probes::None => false,
        };
        let functions = self.specification.instrumented(plan.verdicts).filter(|(id, _)| id.file == file);
        let ranges =
            functions.filter(|(id, _)| calls_probes(id)).filter_map(|(_, function)| function.constness.clone());
        // In the place of letters stand spaces, so that columns stay.
        ranges.map(|range| Edit::replace(range, Variant::ALL, vec![" ".repeat("const".len()).into()])).collect()
    }

    /// Returns the data flow of all functions that are instrumented.
    fn flows(&self, verdicts: &Verdicts) -> Flows<'_> {
        let functions = self.specification.instrumented(verdicts).map(|(place, _)| {
            let function = LoweredFunction::new(place.file, &self.lowered[&place]);
            if verdicts.without_flow.contains_key(&place) { function.without_flow() } else { function }
        });
        Flows::new(functions.collect())
    }
}

#[cfg(test)]
mod tests;
