//! Finds out which mutants, comparisons or probes an error of the compiler is about, and rejects them.

use std::ops::Range;

use cargo_metadata::diagnostic::{Diagnostic, DiagnosticSpan};

use super::workspace::Workspace;
use crate::instrument::Instrumented;
use crate::mutation::PlacedCandidate;
use crate::specification::Specification;
use crate::specification::verdicts::Verdicts;
use crate::syntax::source::FunctionId;
use crate::text::edit::{CandidateId, Owner};

/// A mutant that may be to blame for an error elsewhere in its function.
struct Suspect {
    candidate: CandidateId,
    is_deletion: bool,
    /// Whether it is in the value of a constant that the function uses.
    is_of_constant: bool,
    /// Whether it is at a line that the error names.
    is_there: bool,
}

impl Workspace {
    /// Finds out what an error is about, and rejects that.
    pub(super) fn blame(
        &self,
        error: &Diagnostic,
        instrumented: &Instrumented,
        specification: &Specification,
        verdicts: &mut Verdicts,
    ) {
        let spans = |is_primary: bool| {
            let children = error.children.iter().flat_map(|child| &child.spans);
            error.spans.iter().chain(children).filter(move |span| span.is_primary == is_primary)
        };
        let (mut function, mut point, mut recording) = (None, None, None);
        // Of a value that is used after it was moved, the move is to blame, and that is a secondary place.
        let is_moved = error.code.as_ref().is_some_and(|code| code.code == "E0382");
        for span in spans(!is_moved).chain(spans(is_moved)) {
            let Some((file, range)) = self.range_of(span, instrumented) else { continue };
            let owners = &instrumented.outputs[file].owners;
            // Inner ranges come first.
            for (_, owner) in owners.iter().filter(|(owned, _)| owned.start <= range.start && range.end <= owned.end) {
                match *owner {
                    Owner::Mutant(candidate) => {
                        verdicts.rejected.insert(candidate, error.message.clone());
                        return;
                    }
                    Owner::Comparison(candidate) => {
                        verdicts.incomparable.insert(candidate);
                        return;
                    }
                    // One of them may be named elsewhere in the error.
                    Owner::Comparisons(first, last) => {
                        point = point.or(Some(first..=last));
                        break;
                    }
                    Owner::Recording(index) => recording = recording.or(Some(FunctionId { file, index })),
                    Owner::Function(index) => function = function.or(Some(FunctionId { file, index })),
                }
            }
        }
        if let Some(point) = point {
            verdicts.incomparable.extend(point.map(CandidateId::Function));
            return;
        }
        // Without mutants and comparisons, the probes of data flow are what can be done without.
        if recording.is_some_and(|place| verdicts.without_flow.insert(place, error.message.clone()).is_none()) {
            return;
        }
        let Some(function) = function else { return };
        // The error shows elsewhere in the function. What is most often to blame goes first, and the rest only if the
        // error stays: mutants of constants at the lines that it names, deletions there, other mutants there, deletions
        // elsewhere, everything, the probes.
        let lines: Vec<usize> =
            spans(true).chain(spans(false)).flat_map(|span| self.original_lines(span, instrumented)).collect();
        let is_at = |range: &Range<usize>| {
            let span = specification.sources[function.file].span(function.file, range);
            lines.iter().any(|line| (span.line..=span.line_end).contains(line))
        };
        let is_left = |(candidate, _): &(CandidateId, &PlacedCandidate)| !verdicts.rejected.contains_key(candidate);
        let left: Vec<Suspect> = specification
            .all_candidates()
            .filter(is_left)
            .filter_map(|(candidate, placed)| {
                let is_deletion = placed.candidate.is_deletion();
                if let CandidateId::Constant(number) = candidate {
                    let uses = specification.constants.places_of(number, function);
                    let is_there = uses.iter().any(is_at);
                    return (!uses.is_empty()).then_some(Suspect {
                        candidate,
                        is_deletion,
                        is_of_constant: true,
                        is_there,
                    });
                }
                let is_own = placed.function_id() == Some(function);
                let suspect = |is_there| Suspect { candidate, is_deletion, is_of_constant: false, is_there };
                is_own.then(|| suspect(is_at(placed.candidate.range())))
            })
            .collect();
        let groups: [fn(&&Suspect) -> bool; 5] = [
            |suspect| suspect.is_of_constant && suspect.is_there,
            |suspect| suspect.is_deletion && suspect.is_there,
            |suspect| suspect.is_there,
            |suspect| suspect.is_deletion,
            |_| true,
        ];
        let blamed = groups.into_iter().map(|group| left.iter().filter(group).collect::<Vec<_>>());
        match blamed.into_iter().find(|blamed| !blamed.is_empty()) {
            Some(blamed) => {
                let reason = format!("not told apart from others: {}", error.message);
                verdicts.rejected.extend(blamed.iter().map(|suspect| (suspect.candidate, reason.clone())));
            }
            None => _ = verdicts.uninstrumented.insert(function, error.message.clone()),
        }
    }

    /// Returns the lines of the original that a span of the compiler stands for.
    fn original_lines(&self, span: &DiagnosticSpan, instrumented: &Instrumented) -> Vec<usize> {
        let Some((file, _)) = self.range_of(span, instrumented) else { return Vec::new() };
        let lines = instrumented.outputs[file].original_lines();
        (span.line_start..=span.line_end).filter_map(|line| Some(*lines.get(line.checked_sub(1)?)? as usize)).collect()
    }

    /// Returns the instrumented file and the bytes that a span of the compiler points to.
    pub(super) fn range_of(&self, span: &DiagnosticSpan, instrumented: &Instrumented) -> Option<(usize, Range<usize>)> {
        let mut span = span;
        // An error in a macro's expansion belongs to the place where the macro is called.
        while let Some(expansion) = &span.expansion {
            span = &expansion.span;
        }
        let path = self.root.join(&span.file_name);
        let file = self.files.iter().position(|file| *file == path)?;
        debug_assert!(file < instrumented.outputs.len(), "every file of the workspace is instrumented");
        Some((file, span.byte_start as usize..span.byte_end as usize))
    }
}
