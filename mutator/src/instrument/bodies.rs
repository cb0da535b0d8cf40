//! The bodies of one function, the declaration of its marks, and what it adds to the sites.

use std::ops::Range;

use simutant_outcomes::{Block, Branch, Function, Sites, UninstrumentedFunction};
use syn::{FnArg, Pat, PatType, ReceiverKind, Signature, Type};

use super::coverage::{Coverage, NO_MARK, pair_from};
use super::numbering::{FunctionPlace, NumberedMutant, room};
use super::points::{Choice, point_edits};
use super::{Instrumenter, Plan, hidden, steps};
use crate::graph::bindings;
use crate::syntax::parts::{inside, range_of};
use crate::syntax::source::{FunctionId, FunctionSource};
use crate::text::edit::{COVERING, CandidateId, Edit, Output, Owner, Renderer, Variant};

/// How many marks there are for a function at least.
const MARKS_LEAST: usize = 256;

/// The bodies of a function with mutants, with the patterns that choose them; that of the first one stands elsewhere.
const FOUR: &[(Variant, &str)] = &[
    (Variant::Clean, ""),
    (Variant::Mutated, " 1 => "),
    (Variant::Recording, " 2 => "),
    (Variant::Covering, " _ => "),
];

/// The bodies of a function without mutants.
const TWO: &[(Variant, &str)] = &[(Variant::Clean, ""), (Variant::Covering, " _ => ")];

/// Returns a statement by which a closure captures the parameters of a function in the order in which that drops them,
/// the last one first: what a closure captures it drops in the order in which it names it.
fn captures_in_drop_order(signature: &Signature) -> String {
    let mut names = Vec::new();
    for parameter in &signature.inputs {
        match parameter {
            FnArg::Receiver(receiver) if !matches!(receiver.kind, ReceiverKind::Reference(..)) => {
                names.push("self".to_owned());
            }
            FnArg::Typed(typed) if is_unnamed(typed) => names.push(name_of_unnamed(typed)),
            FnArg::Typed(typed) if !matches!(*typed.ty, Type::Reference(_)) => {
                let mut found = Vec::new();
                bindings(&typed.pat, &mut found);
                names.extend(found.into_iter().map(|(name, _)| name));
            }
            FnArg::Receiver(_) | FnArg::Typed(_) => {}
        }
    }
    let named: Vec<String> = names.iter().rev().map(|name| format!("&{name}")).collect();
    if named.len() > 1 { format!("let _ = ({}); ", named.join(", ")) } else { String::new() }
}

/// Returns whether a parameter is `_`, and may have something to drop: a closure could not capture it.
fn is_unnamed(parameter: &PatType) -> bool {
    matches!(*parameter.pat, Pat::Wild(_)) && !matches!(*parameter.ty, Type::Reference(_))
}

fn name_of_unnamed(parameter: &PatType) -> String {
    format!("_simutant_{}", range_of(&parameter.pat).start)
}

/// Returns the edits that give the unnamed parameters of a function names.
pub(super) fn naming_edits(signature: &Signature) -> impl Iterator<Item = Edit> {
    signature.inputs.iter().filter_map(|parameter| match parameter {
        FnArg::Typed(typed) if is_unnamed(typed) => {
            Some(Edit::replace(range_of(&typed.pat), Variant::ALL, vec![name_of_unnamed(typed).into()]))
        }
        _ => None,
    })
}

/// Returns the edits without which a function could not have several bodies.
fn hidden_edits(function: &FunctionSource) -> Vec<Edit> {
    if function.hidden.is_some() { hidden::edits(&function.body) } else { Vec::new() }
}

impl Instrumenter<'_> {
    /// Renders the inside of one function's body, and adds what is in it to the sites.
    pub(super) fn function(
        &self,
        id: FunctionId,
        plan: &Plan<'_>,
        (place, first_mark): (&FunctionPlace, &mut usize),
        sites: &mut Sites,
        output: &mut Output,
    ) {
        let FunctionId { file, index } = id;
        let source = &self.specification.sources[file];
        let function = &source.functions[index];
        let (edits, marks) = self.edits(id, plan, (place, first_mark), sites);
        let has_mutants = plan.numbering.has_mutants(id);
        let renderer = Renderer::new(&source.file.text, &edits);
        let inside = inside(&function.body);
        let trials = plan.verdicts.on_trial(&self.specification.candidates, id);
        let shapes = if has_mutants { FOUR } else { TWO };
        let count = shapes.len() + trials.len();
        let around = |number| self.around(function, number, count, &source.file.text);
        renderer.owned(Owner::Function(index), output, |output| {
            let returns = function
                .closure
                .as_ref()
                .map(|closure| closure.returns.as_ref().map_or("()", |range| &source.file.text[range.clone()]));
            let (begin, others, end) = match returns {
                Some(returns) => (
                    "match SIMUTANT_FUNCTION.is_clean() { true",
                    format!(
                        " false => ::simutant_probe::aside(move || -> {returns} {{ {}match SIMUTANT_FUNCTION.body() {{",
                        captures_in_drop_order(&function.signature)
                    ),
                    "}})",
                ),
                None => ("match SIMUTANT_FUNCTION.enter() { 0", String::new(), ""),
            };
            output.text.push_str(&format!(" {marks} {begin} => "));
            for (number, &(variant, pattern)) in shapes.iter().enumerate() {
                if number == 1 {
                    output.text.push_str(&others);
                    for (trial, &candidate) in (shapes.len() - 1..).zip(&trials) {
                        output.text.push_str(" _ if false => ");
                        self.trial(id, candidate, around(trial), output);
                    }
                }
                output.text.push_str(pattern);
                let (before, after) = around(if number + 1 < shapes.len() { number } else { count - 1 });
                output.text.push_str(&before);
                let body = |output: &mut Output| renderer.range(inside.clone(), variant, output);
                if COVERING.contains(&variant) {
                    renderer.owned(Owner::Recording(index), output, body);
                } else {
                    body(output);
                }
                output.text.push_str(&after);
            }
            output.text.push_str(&format!("{end} }} "));
        });
    }

    /// Returns what stands before and after the body of a function with this number, of `count`.
    fn around(&self, function: &FunctionSource, number: usize, count: usize, text: &str) -> (String, String) {
        match &function.hidden {
            None => ("{".to_owned(), "}".to_owned()),
            Some(hidden) => {
                let (before, after) = hidden::around(hidden, &function.body, number, count, text);
                (format!("{{{before}"), format!("{after}}}"))
            }
        }
    }

    /// Renders the inside of one function's body with one mutant alone, so that the compiler says what it has against
    /// that. Nothing runs it.
    fn trial(&self, id: FunctionId, candidate: usize, around: (String, String), output: &mut Output) {
        let source = &self.specification.sources[id.file];
        let function = &source.functions[id.index];
        let mut edits = steps::edits(&function.body);
        edits.extend(hidden_edits(function));
        edits.extend(self.async_functions.edits(&function.body));
        edits.extend(point_edits(&[Choice {
            candidate: &self.specification.candidates[candidate].candidate,
            index: candidate,
            numbers: &[0],
            is_comparable: false,
        }]));
        let renderer = Renderer::new(&source.file.text, &edits);
        renderer.owned(Owner::Mutant(CandidateId::Function(candidate)), output, |output| {
            output.text.push_str(&around.0);
            renderer.range(inside(&function.body), Variant::Mutated, output);
            output.text.push_str(&around.1);
        });
    }

    /// Renders the inside of one function's body so that it only chooses between the original and its mutants, and adds
    /// the function to the sites.
    pub(super) fn mutated_function(&self, id: FunctionId, plan: &Plan<'_>, sites: &mut Sites, output: &mut Output) {
        let FunctionId { file, index } = id;
        let source = &self.specification.sources[file];
        let function = &source.functions[index];
        sites.functions.push(Function { path: function.path.clone(), span: source.span(file, &function.range) });
        let inside = inside(&function.body);
        let mut edits = hidden_edits(function);
        edits.extend(self.point_edits(id, plan));
        let renderer = Renderer::new(&source.file.text, &edits);
        let trials = plan.verdicts.on_trial(&self.specification.candidates, id);
        if !plan.has_choice(id, &self.specification.candidates) {
            Renderer::new(&source.file.text, []).verbatim(inside, output);
            return;
        }
        let count = 2 + trials.len();
        let around = |number| self.around(function, number, count, &source.file.text);
        renderer.owned(Owner::Function(index), output, |output| {
            let own = plan.numbering.of_function(id);
            let ranges = std::iter::once(&own).filter(|range| !range.is_empty());
            let constants = plan.numbering.constants_of(id);
            let asked: Vec<String> = ranges
                .chain(constants)
                .map(|Range { start, end }| format!("::simutant_probe::is_mutated({start}, {})", end - start))
                .collect();
            let asked = if asked.is_empty() { "false".to_owned() } else { asked.join(" || ") };
            output.text.push_str(&format!(" match {asked} {{ false => "));
            let (before, after) = around(0);
            output.text.push_str(&before);
            renderer.range(inside.clone(), Variant::Clean, output);
            output.text.push_str(&after);
            for (trial, &candidate) in (1..).zip(&trials) {
                output.text.push_str(" _ if false => ");
                self.trial(id, candidate, around(trial), output);
            }
            output.text.push_str(" true => ");
            let (before, after) = around(count - 1);
            output.text.push_str(&before);
            renderer.range(inside, Variant::Mutated, output);
            output.text.push_str(&format!("{after} }} "));
        });
    }

    /// Returns the edits that let the points of one function choose between the original and its mutants.
    fn point_edits(&self, id: FunctionId, plan: &Plan<'_>) -> Vec<Edit> {
        let choices =
            plan.numbering.candidates_of(id).iter().map(|&NumberedMutant { candidate, ref numbers }| Choice {
                candidate: &self.specification.candidates[candidate].candidate,
                index: candidate,
                numbers,
                is_comparable: !plan.verdicts.incomparable.contains(&CandidateId::Function(candidate)),
            });
        let mut edits = point_edits(&choices.collect::<Vec<_>>());
        // Inside of what else is chosen there.
        let numbered = |constant| plan.numbering.mutants_of_constant(constant);
        edits.extend(self.specification.constants.points(&self.specification.sources, id, &numbered));
        edits.extend(self.declarations((id.file, Some(id.index)), plan));
        edits
    }

    /// Returns the edits that declare what constants are in mutants, outside of functions or in one of them.
    pub(super) fn declarations(&self, place: (usize, Option<usize>), plan: &Plan<'_>) -> Vec<Edit> {
        let numbered = |constant| plan.numbering.mutants_of_constant(constant);
        self.specification.constants.declarations(&self.specification.sources, place, &numbered)
    }

    /// Returns the edits of one function's body with the declaration of its marks, of which `first_mark` is the first,
    /// and adds what they measure and choose between to the sites.
    pub(super) fn edits(
        &self,
        id: FunctionId,
        plan: &Plan<'_>,
        (place, first_mark): (&FunctionPlace, &mut usize),
        sites: &mut Sites,
    ) -> (Vec<Edit>, String) {
        let Plan { verdicts, flows, numbering } = plan;
        let FunctionId { file, index } = id;
        let source = &self.specification.sources[file];
        let function = &source.functions[index];
        let number = sites.functions.len();
        if let Some(reason) = verdicts.without_flow.get(&id) {
            let (path, span) = (function.path.clone(), source.span(file, &function.range));
            sites.without_flow.push(UninstrumentedFunction { path, span, reason: reason.clone() });
        }
        sites.functions.push(Function { path: function.path.clone(), span: source.span(file, &function.range) });

        // Steps first, so that they are outside of what shares their range.
        let mut edits = steps::edits(&function.body);
        // What is put at the start of the body comes first of all there.
        let start = inside(&function.body).start;
        let Coverage { edits: probes, marks } = flows.coverage(number, start, *first_mark);
        edits.extend(probes);
        edits.extend(hidden_edits(function));
        let graph = flows.graph(number);
        flows.add_conditions(number, source, file, place.branch, sites);
        sites.blocks.extend(
            graph.requirements().map(|block| Block { function: number, span: source.span(file, &block.range) }),
        );
        sites.branches.extend(graph.branches.iter().map(|branch| Branch {
            function: number,
            span: source.span(file, &branch.range),
            outcome: branch.outcome,
        }));

        // Inside of what data flow and coverage note there: a future that they note something after is in its box by
        // then.
        edits.extend(self.async_functions.edits(&function.body));
        edits.extend(self.point_edits(id, plan));
        *first_mark = marks.first + room(marks.end - marks.first, MARKS_LEAST);
        let pair = |pair: u32| pair_from(place.pair, pair);
        let pairs: Vec<u32> = marks.pairs.iter().map(|&listed| pair(listed)).collect();
        let pairs_with: Vec<_> = marks.pairs_with.iter().map(|&(mark, listed)| (mark, pair(listed))).collect();
        let conditions: Vec<u32> =
            marks.conditions.iter().map(|mark| mark.map_or(NO_MARK, |mark| mark as u32)).collect();
        let (mutants, own) = (numbering.of_function(id), numbering.candidates_of(id));
        // A static would be compiled with the module's plain functions, and an edit of an async one would have all that
        // puts these in the place of their calls compiled again. A constant is where it is used.
        let constants = match numbering.constants_of(id) {
            [] => String::new(),
            ranges => {
                let ranges: Vec<[u32; 2]> = ranges.iter().map(|range| [range.start, range.end - range.start]).collect();
                format!(".with_constants(&{ranges:?})")
            }
        };
        let declaration = format!(
            "const SIMUTANT_FUNCTION: &::simutant_probe::FunctionMarks = &::simutant_probe::FunctionMarks::new({number}, [{}, {}], \
             [0, {}], (0, &{conditions:?}), (&{pairs:?}, &{pairs_with:?}), (0, &{:?}), ([{}, {}], [{}, {}])){constants};",
            marks.first,
            marks.end,
            graph.branches.len(),
            marks.blocks,
            mutants.start,
            mutants.len(),
            own.first().map_or(0, |mutant| mutant.numbers[0]),
            own.len(),
        );
        (edits, declaration)
    }
}
