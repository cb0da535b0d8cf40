//! Attributes compiler errors to the mutants, comparisons or probes that cause them, and rejects these.

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

/// The code of the error that a constant calls a function which is not `const`.
const NOT_CONST: &str = "E0015";

/// The reason for which a `const` function is not instrumented.
const NEEDED: &str = "a const function that a constant needs cannot call the probes";

/// The codes of errors about the types of results and the traits that these implement.
const ABOUT_TYPES: [&str; 11] =
    ["E0038", "E0225", "E0271", "E0277", "E0282", "E0283", "E0308", "E0599", "E0700", "E0720", "E0746"];

/// Limit, in bytes, of the copies of a function's body that one build tries mutants in: each has a copy of its own.
const TRIED_MAX: usize = 200_000;

/// Suspects the mutants of a function that have not been tried yet, so that the next build compiles each alone; if
/// there are many, as many as one build can try. Returns whether there are any.
///
/// Most errors that show elsewhere are of a deletion: of what gives a variable its value, or of what leaves a loop. So
/// deletions come first, before them those at the lines that the error names.
fn try_alone(
    function: FunctionId,
    is_named: impl Fn(&Range<usize>) -> bool,
    specification: &Specification,
    verdicts: &mut Verdicts,
) -> bool {
    if !verdicts.on_trial(&specification.candidates, function).is_empty() {
        // The build that tries them has not ended: no verdict on them yet.
        return true;
    }
    let is_own = |(_, placed): &(CandidateId, &PlacedCandidate)| placed.function_id() == Some(function);
    let is_open = |(candidate, _): &(CandidateId, &PlacedCandidate)| {
        !verdicts.rejected.contains_key(candidate) && !verdicts.cleared.contains(candidate)
    };
    let open = specification.all_candidates().filter(is_own).filter(is_open);
    let rank = |placed: &PlacedCandidate| (!placed.candidate.is_deletion(), !is_named(placed.candidate.range()));
    let mut open: Vec<((bool, bool), CandidateId)> =
        open.map(|(candidate, placed)| (rank(placed), candidate)).collect();
    open.sort_unstable();
    let length = specification.function(function).range.len().max(1);
    open.truncate((TRIED_MAX / length).max(1));
    let is_any = !open.is_empty();
    verdicts.suspected.extend(open.into_iter().map(|(_, candidate)| candidate));
    is_any
}

/// Returns the functions that have lost their `const`, and that an error is about, by their name: the compiler points
/// to the constant that calls them. If several have the name, they are those with the longest part of the path.
fn needed_in_constants(message: &str, specification: &Specification, verdicts: &Verdicts) -> Vec<FunctionId> {
    let Some(named) = message.split('`').nth(1) else { return Vec::new() };
    let named = without_arguments(named);
    let shared = |path: &str| {
        let parts = path.rsplit("::").zip(named.rsplit("::"));
        parts.take_while(|(own, named)| own == named).count()
    };
    let functions = specification.instrumented(verdicts).filter(|(_, function)| function.constness.is_some());
    let shared: Vec<(usize, FunctionId)> = functions.map(|(id, function)| (shared(&function.path), id)).collect();
    let longest = shared.iter().map(|(count, _)| *count).max().unwrap_or_default();
    shared.into_iter().filter(|(count, _)| *count == longest && longest > 0).map(|(_, id)| id).collect()
}

/// Returns a path without what stands between `<` and `>`, and the `::` before it.
fn without_arguments(path: &str) -> String {
    let (mut found, mut depth) = (String::new(), 0_usize);
    for letter in path.chars() {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => found.push(letter),
            _ => {}
        }
    }
    found.replace("::::", "::")
}

impl Workspace {
    /// Rejects what an error is most likely about.
    ///
    /// Each piece of generated code has an owner. A mutant whose code contains a span of the error is rejected; failing
    /// that, comparisons are left out, or a function's probes of data flow. An error that only a function owns may be
    /// caused anywhere in that function. Then its mutants are compiled alone, each in a body of its own. If the error
    /// remains, groups of mutants are rejected, one in each round, the most suspicious first; at last the function is
    /// left without instrumentation.
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
        if error.code.as_ref().is_some_and(|code| code.code == NOT_CONST) {
            let needed = needed_in_constants(&error.message, specification, verdicts);
            if !needed.is_empty() {
                verdicts.uninstrumented.extend(needed.into_iter().map(|function| (function, NEEDED.to_owned())));
                return;
            }
        }
        let (mut function, mut point, mut recording) = (None, None, None);
        // For a use of a moved value (E0382) the move is to blame, and the compiler gives that as a secondary span.
        let is_moved = error.code.as_ref().is_some_and(|code| code.code == "E0382");
        for span in spans(!is_moved).chain(spans(is_moved)) {
            let Some((file, range)) = self.range_of(span, instrumented) else { continue };
            if instrumented.is_mark(file, &range) {
                return;
            }
            let owners = &instrumented.outputs[file].owners;
            // Owners are sorted from inner ranges to outer ones.
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
                    // Another span may name one of these mutants: that would be more precise.
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
        // No mutant or comparison is to blame. The probes of data flow are next, since a function can do without them.
        if recording.is_some_and(|place| verdicts.without_flow.insert(place, error.message.clone()).is_none()) {
            return;
        }
        let Some(function) = function else { return };
        let code = error.code.as_ref().map(|code| code.code.as_str());
        if specification.function(function).hidden.is_some() && code.is_none_or(|code| ABOUT_TYPES.contains(&code)) {
            let reason = format!("its bodies would return different types: {}", error.message);
            verdicts.uninstrumented.insert(function, reason);
            return;
        }
        let lines: Vec<usize> =
            spans(true).chain(spans(false)).flat_map(|span| self.original_lines(span, instrumented)).collect();
        let is_at = |range: &Range<usize>| {
            let span = specification.sources[function.file].span(function.file, range);
            lines.iter().any(|line| (span.line..=span.line_end).contains(line))
        };
        if try_alone(function, is_at, specification, verdicts) {
            return;
        }
        // The error shows elsewhere in the function, and no mutant has it alone. What is most often to blame goes first,
        // and the rest only if the error stays: mutants of constants at the lines that it names, deletions there, other
        // mutants there, deletions elsewhere, everything, the probes.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutation::Settings;
    use crate::operators::Selection;
    use crate::syntax::declarations::Declarations;
    use crate::syntax::names::Names;
    use crate::syntax::source::Source;

    #[track_caller]
    fn check(message: &str, expect: &[&str]) {
        let text = "impl<T> A<T> { const fn new() {} const fn old() {} } impl B { const fn new() {} fn a() {} } const fn free() {}";
        let source = Source::parse("src/m.rs", text.into()).expect("the test's own source");
        let (declarations, names, selection) = (Declarations::default(), Names::default(), Selection::default());
        let settings = Settings { selection: &selection, declarations: &declarations, names: &names };
        let specification = Specification::new("a", "a", vec![source], &settings);
        let needed = needed_in_constants(message, &specification, &Verdicts::default());
        let paths: Vec<&str> = needed.iter().map(|id| specification.function(*id).path.as_str()).collect();
        assert_eq!(paths, expect);
    }

    #[test]
    fn what_a_constant_needs_is_known_by_its_name() {
        check("cannot call non-const function `free` in constants", &["m::free"]);
        check("cannot call non-const associated function `m::A::<Vec<u8>>::new` in statics", &["m::A::new"]);
        check("cannot call non-const method `B::new` in constants", &["m::B::new"]);
        check("cannot call non-const method `C::new` in constants", &["m::A::new", "m::B::new"]);
        check("cannot call non-const function `B::a` in constants", &[]);
        check("cannot call it", &[]);
    }
}
