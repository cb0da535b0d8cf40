//! Puts probes and mutants into specification files.
//!
//! Every function gets four bodies, and one test per call decides between them (function-level dispatch: tests at each
//! point cost several times as much while no mutant in the function is active). The first body stays where it was, so
//! the text up to the function's end keeps its lines; the lines of the copies are traced back by a table. Two bodies
//! record: one all that there is, and one that knows of no mutants, for runs that need not know of any or have infected
//! all of the function's.

mod numbering;

use std::ops::Range;

use simutant_outcomes::{
    Block, Branch, Condition, Definition, Function, Mutant, MutantNumber, Pair, Sites, UninstrumentedFunction,
};

use crate::awaits::AsyncFunctions;
use crate::constants::Constants;
use crate::dataflow::{self, Analysis, Flow, Numbers, OutcomeProbes};
use crate::edit::{Edit, Output, Owner, Piece, Renderer, Variant, plain_text};
use crate::fingerprint::{Fingerprint, Fingerprints};
use crate::graph::{Graph, Lowered};
use crate::identity::Identities;
use crate::mutation::{self, ArmParts, Candidate, Form, Settings};
use crate::operators::{HIGHER_ORDER, Infection};
use crate::source::{FunctionSource, Source};
use crate::steps;
use crate::verdicts::Verdicts;
use numbering::{Numbering, room};

pub(crate) use numbering::Place;

const MUTATED: &[Variant] = &[Variant::Mutated];
const RECORDING: &[Variant] = &[Variant::Recording];

/// The specification of one system, with everything that may be done to it.
#[derive(Debug)]
pub(crate) struct Specification {
    pub(crate) package: String,
    pub(crate) system: String,
    pub(crate) sources: Vec<Source>,
    /// The candidates in functions, in the order of files, functions and places. The others are numbered after them:
    /// [`Specification::candidate`] has all.
    pub(crate) candidates: Vec<PlacedCandidate>,
    /// The constants, with the candidates that are in their values.
    pub(crate) constants: Constants,
    /// Whether there are mutants of two candidates each.
    makes_pairs: bool,
    async_functions: AsyncFunctions,
}

/// A candidate and the function that it is in.
#[derive(Debug)]
pub(crate) struct PlacedCandidate {
    pub(crate) file: usize,
    /// Index into the file's functions; none of them for a candidate in a constant's value.
    pub(crate) function: usize,
    pub(crate) candidate: Candidate,
    pub(crate) identity: String,
}

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

/// How many marks there are for a function at least.
const MARKS_LEAST: usize = 256;

/// What is known of a specification before its functions are written.
struct Plan<'a> {
    verdicts: &'a Verdicts,
    flows: Flows,
    numbering: Numbering,
}

impl Plan<'_> {
    /// Returns where the function is whose body comes next, after that at `before`.
    fn place(&self, (file, index): (usize, usize), before: Option<&Place>, sites: &Sites) -> Place {
        let function = sites.functions.len();
        let end = before.map_or(0, |before| before.mutant + before.mutants);
        Place {
            block: sites.blocks.len(),
            branch: sites.branches.len(),
            condition: sites.conditions.len(),
            // They are in the order of the functions whose uses they have.
            pair: self.flows.analysis.pairs.partition_point(|pair| pair.function < function),
            ..self.numbering.place_of(file, index, end)
        }
    }
}

/// Instrumented files, in the order of the specification's, and what they measure.
#[derive(Debug)]
pub(crate) struct Instrumented {
    pub(crate) outputs: Vec<Output>,
    pub(crate) sites: Sites,
    /// Where each function is that records what it does, and after them all mutants of constants, if there are any.
    pub(crate) places: Vec<Place>,
}

impl Specification {
    pub(crate) fn new(package: &str, system: &str, sources: Vec<Source>, settings: &Settings<'_>) -> Self {
        let mut candidates = Vec::new();
        let mut identities = Identities::default();
        for (file, source) in sources.iter().enumerate() {
            for (index, function) in source.functions.iter().enumerate() {
                for candidate in mutation::candidates(function, &source.file.text, settings) {
                    let original = &source.file.text[candidate.range().clone()];
                    let replacement = plain_text(&candidate.change.replacement, &source.file.text);
                    let identity = identities.next(&function.path, original, candidate.operator, &replacement);
                    candidates.push(PlacedCandidate { file, function: index, candidate, identity });
                }
            }
        }
        let makes_pairs = settings.selection.definition(HIGHER_ORDER).is_some();
        let async_functions = AsyncFunctions::new(&sources);
        let constants = Constants::new(&sources, settings, &mut identities);
        let (package, system) = (package.into(), system.into());
        Self { package, system, sources, candidates, constants, makes_pairs, async_functions }
    }

    /// Returns a candidate by its index among all, those in constants after those in functions.
    pub(crate) fn candidate(&self, index: usize) -> &PlacedCandidate {
        match index.checked_sub(self.candidates.len()) {
            None => &self.candidates[index],
            Some(index) => &self.constants.candidates()[index],
        }
    }

    /// Returns all candidates, with their indices.
    pub(crate) fn all_candidates(&self) -> impl Iterator<Item = (usize, &PlacedCandidate)> {
        self.candidates.iter().chain(self.constants.candidates()).enumerate()
    }

    fn mutant(&self, index: usize, function: usize) -> Mutant {
        let PlacedCandidate { file, candidate, identity, .. } = self.candidate(index);
        let source = &self.sources[*file];
        Mutant {
            identity: identity.clone(),
            operator: candidate.operator.into(),
            tier: candidate.tier,
            class: candidate.class,
            tag: candidate.tag.map(str::to_owned),
            function,
            span: source.span(*file, candidate.range()),
            original: source.file.text[candidate.range().clone()].into(),
            replacement: plain_text(&candidate.change.replacement, &source.file.text),
            parts: None,
        }
    }

    /// Returns whether a candidate that stands in for others of its place is needed, since one of them does not
    /// compile.
    fn is_needed(&self, stand_in: &PlacedCandidate, verdicts: &Verdicts) -> bool {
        verdicts.rejected.keys().map(|index| self.candidate(*index)).any(|rejected| {
            (rejected.file, rejected.function) == (stand_in.file, stand_in.function)
                && rejected.candidate.range() == stand_in.candidate.range()
                && rejected.candidate.operator == stand_in.candidate.operator
        })
    }

    fn no_sites(&self) -> Sites {
        Sites {
            package: self.package.clone(),
            system: self.system.clone(),
            files: self.sources.iter().map(|source| source.file.clone()).collect(),
            ..Sites::default()
        }
    }

    /// Returns the files with `probes`, and with every candidate that has not been rejected if these are all.
    pub(crate) fn instrument(&self, verdicts: &Verdicts, probes: Probes) -> Instrumented {
        let mut sites = self.no_sites();
        let mut outputs = Vec::new();
        let flows = match probes {
            Probes::Mutants => Flows::new(Vec::new()),
            Probes::All | Probes::Steps | Probes::None => self.flows(verdicts),
        };
        let mut numbering = match probes {
            Probes::All | Probes::Mutants => Numbering::new(self, verdicts, &mut sites),
            Probes::Steps | Probes::None => Numbering::default(),
        };
        // Who names a mutant of a real program has the numbers of reports alone.
        if probes == Probes::All && !self.makes_pairs {
            numbering.leave_room(self.instrumented(verdicts).map(|(function, _)| function));
        }
        let plan = Plan { verdicts, flows, numbering };
        let (mut first_mark, mut places) = (0, Vec::new());
        for (file, source) in self.sources.iter().enumerate() {
            let mut output = Output::default();
            let declarations = self.declarations((file, None), &plan);
            let plain = Renderer::new(&source.file.text, &declarations);
            let mut at = 0;
            for (index, function) in source.functions.iter().enumerate() {
                if let Some(reason) = self.obstacle(file, index, verdicts) {
                    let span = source.span(file, &function.range);
                    sites.uninstrumented.push(UninstrumentedFunction { path: function.path.clone(), span, reason });
                    continue;
                }
                let inside = mutation::inside(&function.body);
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
                        let place = plan.place((file, index), places.last(), &sites);
                        self.function((file, index), &plan, (&place, &mut first_mark), &mut sites, &mut output);
                        places.push(place);
                    }
                    Probes::Mutants => self.mutated_function((file, index), &plan, &mut sites, &mut output),
                    Probes::Steps => steps::counted(&function.body, &source.file.text, &mut output),
                    Probes::None => plain.verbatim(inside.clone(), &mut output),
                }
                at = inside.end;
            }
            plain.range(at..source.file.text.len(), Variant::Mutated, &mut output);
            outputs.push(output);
        }
        if probes == Probes::All {
            let end = places.last().map_or(0, |last: &Place| last.mutant + last.mutants);
            places.extend(plan.numbering.place_of_constants(end));
        }
        plan.flows.add_to(&mut sites, &self.sources);
        Instrumented { outputs, sites, places }
    }

    /// Returns why a function runs as it is written, if it does.
    fn obstacle(&self, file: usize, index: usize, verdicts: &Verdicts) -> Option<String> {
        let obstacle = self.sources[file].functions[index].obstacle.map(str::to_owned);
        obstacle.or_else(|| verdicts.uninstrumented.get(&(file, index)).cloned())
    }

    /// Returns all functions, each with its file and index there.
    pub(crate) fn functions(&self) -> impl Iterator<Item = ((usize, usize), &FunctionSource)> {
        self.sources.iter().enumerate().flat_map(|(file, source)| {
            source.functions.iter().enumerate().map(move |(index, function)| ((file, index), function))
        })
    }

    /// Returns the functions that are instrumented, as [`Specification::functions`] does.
    pub(crate) fn instrumented(&self, verdicts: &Verdicts) -> impl Iterator<Item = ((usize, usize), &FunctionSource)> {
        self.functions().filter(|((file, index), _)| self.obstacle(*file, *index, verdicts).is_none())
    }

    /// Returns hashes of the source; `inputs` is one of what is not in the specification files.
    pub(crate) fn fingerprint(&self, inputs: u64, verdicts: &Verdicts) -> Fingerprint {
        let mut fingerprints = Fingerprints::new(inputs, &self.sources);
        for (file, source) in self.sources.iter().enumerate() {
            let of_file = self.instrumented(verdicts).filter(|((other, _), _)| *other == file);
            fingerprints.add(source, &of_file.map(|((_, index), _)| index).collect::<Vec<_>>());
        }
        fingerprints.finish()
    }

    /// Returns the data flow of all functions that are instrumented.
    fn flows(&self, verdicts: &Verdicts) -> Flows {
        let functions = self.instrumented(verdicts).map(|(place, function)| {
            let lowered = Graph::lower(&function.body, &function.flow_signature, &OutcomeProbes::default());
            let (mut graph, mut flow) = (lowered.graph, lowered.flow);
            if verdicts.without_flow.contains_key(&place) {
                graph.edges.iter_mut().for_each(|edge| edge.binding = None);
                flow = Flow::default();
            }
            (place.0, graph, flow)
        });
        Flows::new(functions.collect())
    }

    /// Renders the inside of one function's body, and adds what is in it to the sites.
    fn function(
        &self,
        (file, index): (usize, usize),
        plan: &Plan<'_>,
        (place, first_mark): (&Place, &mut usize),
        sites: &mut Sites,
        output: &mut Output,
    ) {
        let source = &self.sources[file];
        let function = &source.functions[index];
        let (edits, marks) = self.edits((file, index), plan, (place, first_mark), sites);
        let has_mutants = plan.numbering.has_mutants(file, index);
        let renderer = Renderer::new(&source.file.text, &edits);
        let inside = mutation::inside(&function.body);
        let body = |variant, output: &mut Output| renderer.range(inside.clone(), variant, output);
        renderer.owned(Owner::Function(index), output, |output| {
            let returns = function
                .closure
                .as_ref()
                .map(|closure| closure.returns.as_ref().map_or("()", |range| &source.file.text[range.clone()]));
            let (begin, others, end) = match returns {
                Some(returns) => (
                    "match SIMUTANT_FUNCTION.is_clean() { true",
                    format!(
                        " false => ::simutant_probe::aside(move || -> {returns} {{ match SIMUTANT_FUNCTION.body() {{"
                    ),
                    "}})",
                ),
                None => ("match SIMUTANT_FUNCTION.enter() { 0", String::new(), ""),
            };
            output.text.push_str(&format!(" {marks} {begin} => {{"));
            body(Variant::Clean, output);
            output.text.push('}');
            output.text.push_str(&others);
            if has_mutants {
                output.text.push_str(" 1 => {");
                body(Variant::Mutated, output);
                output.text.push('}');
            }
            let recording = |variant, pattern: &str, output: &mut Output| {
                output.text.push_str(pattern);
                renderer.owned(Owner::Recording(index), output, |output| body(variant, output));
                output.text.push('}');
            };
            if has_mutants {
                recording(Variant::Recording, " 2 => {", output);
            }
            recording(Variant::Covering, " _ => {", output);
            output.text.push_str(&format!("{end} }} "));
        });
    }

    /// Renders the inside of one function's body so that it only chooses between the original and its mutants, and adds
    /// the function to the sites.
    fn mutated_function(&self, (file, index): (usize, usize), plan: &Plan<'_>, sites: &mut Sites, output: &mut Output) {
        let source = &self.sources[file];
        let function = &source.functions[index];
        sites.functions.push(Function { path: function.path.clone(), span: source.span(file, &function.range) });
        let inside = mutation::inside(&function.body);
        let edits = self.point_edits((file, index), plan);
        let renderer = Renderer::new(&source.file.text, &edits);
        if !plan.numbering.has_mutants(file, index) {
            renderer.verbatim(inside, output);
            return;
        }
        renderer.owned(Owner::Function(index), output, |output| {
            let own = plan.numbering.of_function(file, index);
            let ranges = std::iter::once(&own).filter(|range| !range.is_empty());
            let constants = plan.numbering.constants_of(file, index);
            let asked: Vec<String> = ranges
                .chain(constants)
                .map(|Range { start, end }| format!("::simutant_probe::is_mutated({start}, {})", end - start))
                .collect();
            output.text.push_str(&format!(" match {} {{ false => {{", asked.join(" || ")));
            renderer.range(inside.clone(), Variant::Clean, output);
            output.text.push_str("} true => {");
            renderer.range(inside, Variant::Mutated, output);
            output.text.push_str("} } ");
        });
    }

    /// Returns the edits that let the points of one function choose between the original and its mutants.
    fn point_edits(&self, (file, index): (usize, usize), plan: &Plan<'_>) -> Vec<Edit> {
        let mut edits = Vec::new();
        let mut point: Vec<Choice<'_>> = Vec::new();
        for &(candidate, ref numbers) in plan.numbering.candidates_of(file, index) {
            let placed = &self.candidates[candidate];
            if point.first().is_some_and(|choice| !choice.is_at(&placed.candidate)) {
                edits.extend(point_edits(&point));
                point.clear();
            }
            point.push(Choice {
                candidate: &placed.candidate,
                index: candidate,
                numbers,
                is_comparable: !plan.verdicts.incomparable.contains(&candidate),
            });
        }
        edits.extend(point_edits(&point));
        // Inside of what else is chosen there.
        let numbered = |constant| plan.numbering.mutants_of_constant(constant);
        edits.extend(self.constants.points(&self.sources, (file, index), self.candidates.len(), &numbered));
        edits.extend(self.declarations((file, Some(index)), plan));
        edits
    }

    /// Returns the edits that declare what constants are in mutants, outside of functions or in one of them.
    fn declarations(&self, place: (usize, Option<usize>), plan: &Plan<'_>) -> Vec<Edit> {
        let numbered = |constant| plan.numbering.mutants_of_constant(constant);
        self.constants.declarations(&self.sources, place, self.candidates.len(), &numbered)
    }

    /// Returns the edits of one function's body with the declaration of its marks, of which `first_mark` is the first,
    /// and adds what they measure and choose between to the sites.
    fn edits(
        &self,
        (file, index): (usize, usize),
        plan: &Plan<'_>,
        (place, first_mark): (&Place, &mut usize),
        sites: &mut Sites,
    ) -> (Vec<Edit>, String) {
        let Plan { verdicts, flows, numbering } = plan;
        let source = &self.sources[file];
        let function = &source.functions[index];
        let number = sites.functions.len();
        if let Some(reason) = verdicts.without_flow.get(&(file, index)) {
            let (path, span) = (function.path.clone(), source.span(file, &function.range));
            sites.without_flow.push(UninstrumentedFunction { path, span, reason: reason.clone() });
        }
        sites.functions.push(Function { path: function.path.clone(), span: source.span(file, &function.range) });

        // Steps first, so that they are outside of what shares their range.
        let mut edits = steps::edits(&function.body);
        // What is put at the start of the body comes first of all there.
        let start = mutation::inside(&function.body).start;
        let dataflow::Probes { edits: of_flow, outcomes, marks } = flows.probes(number, start, *first_mark);
        edits.extend(of_flow);
        let Lowered { graph, edits: probes, .. } = Graph::lower(&function.body, &function.flow_signature, &outcomes);
        edits.extend(probes);
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
        edits.extend(self.point_edits((file, index), plan));
        *first_mark = marks.first + room(marks.end - marks.first, MARKS_LEAST);
        let pair = |pair: u32| dataflow::pair_from(place.pair, pair);
        let pairs: Vec<u32> = marks.pairs.iter().map(|&listed| pair(listed)).collect();
        let pairs_with: Vec<_> = marks.pairs_with.iter().map(|&(mark, listed)| (mark, pair(listed))).collect();
        let conditions: Vec<u32> =
            marks.conditions.iter().map(|mark| mark.map_or(dataflow::NO_MARK, |mark| mark as u32)).collect();
        let (mutants, own) = (numbering.of_function(file, index), numbering.candidates_of(file, index));
        // A static would be compiled with the module's plain functions, and an edit of an async one would have all that
        // puts these in the place of their calls compiled again. A constant is where it is used.
        let constants = match numbering.constants_of(file, index) {
            [] => String::new(),
            ranges => {
                let ranges: Vec<[u32; 2]> = ranges.iter().map(|range| [range.start, range.end - range.start]).collect();
                format!(".with_constants(&{ranges:?})")
            }
        };
        let declaration = format!(
            "const SIMUTANT_FUNCTION: &::simutant_probe::Function = &::simutant_probe::Function::new({number}, [{}, {}], \
             [0, {}], (0, &{conditions:?}), (&{pairs:?}, &{pairs_with:?}), (0, &{:?}), ([{}, {}], [{}, {}])){constants};",
            marks.first,
            marks.end,
            graph.branches.len(),
            marks.blocks,
            mutants.start,
            mutants.len(),
            own.first().map_or(0, |(_, numbers)| numbers[0]),
            own.len(),
        );
        (edits, declaration)
    }
}

/// The data flow of a specification.
#[derive(Debug)]
struct Flows {
    /// By the number of the function: its file, its graph, and what happens in it.
    functions: Vec<(usize, Graph, Flow)>,
    analysis: Analysis,
    numbers: Numbers,
}

impl Flows {
    fn new(functions: Vec<(usize, Graph, Flow)>) -> Self {
        let bodies: Vec<_> = functions.iter().map(|(_, graph, flow)| (graph, flow)).collect();
        let analysis = dataflow::analyse(&bodies);
        let numbers = Numbers::new(&analysis, &bodies);
        Self { functions, analysis, numbers }
    }

    fn probes(&self, function: usize, start: usize, first_mark: usize) -> dataflow::Probes {
        let (_, graph, flow) = &self.functions[function];
        dataflow::Probes::new(&self.analysis, &self.numbers, function, (graph, flow), start, first_mark)
    }

    fn add_conditions(&self, function: usize, source: &Source, file: usize, first_branch: usize, sites: &mut Sites) {
        for decision in &self.functions[function].2.decisions {
            let is_alone = decision.conditions.len() == 1;
            for (index, condition) in decision.conditions.iter().enumerate() {
                for value in [true, false] {
                    let branch = condition.branches.map(|(holds, fails)| if value { holds } else { fails });
                    sites.conditions.push(Condition {
                        function,
                        span: source.span(file, &condition.range),
                        value,
                        is_coupled: decision.is_coupled(index),
                        branch: branch.filter(|_| is_alone).map(|branch| first_branch + branch),
                    });
                }
            }
        }
    }

    /// Adds definitions and pairs, when all functions have their branches.
    fn add_to(&self, sites: &mut Sites, sources: &[Source]) {
        let mut first_branches = vec![0; self.functions.len()];
        for (number, branch) in sites.branches.iter().enumerate().rev() {
            first_branches[branch.function] = number;
        }
        let span = |function: usize, range: &Range<usize>| {
            let file = self.functions[function].0;
            sources[file].span(file, range)
        };
        let mut listed = std::collections::BTreeMap::new();
        for pair in &self.analysis.pairs {
            let site = &self.analysis.definitions[pair.definition];
            let definition = *listed.entry(pair.definition).or_insert_with(|| {
                let span = span(site.function, &site.range);
                sites.definitions.push(Definition { function: site.function, variable: site.name.clone(), span });
                sites.definitions.len() - 1
            });
            let event = &self.functions[pair.function].2.events[pair.event];
            sites.pairs.push(Pair {
                definition,
                function: pair.function,
                span: span(pair.function, &event.range),
                branch: pair.branch.map(|branch| first_branches[pair.function] + branch),
            });
        }
    }
}

/// One of the mutants at a point.
#[derive(Debug)]
struct Choice<'a> {
    candidate: &'a Candidate,
    /// Its index among all candidates.
    index: usize,
    /// Its numbers in this build: its own, then those of the mutants that it is a part of.
    numbers: &'a [MutantNumber],
    is_comparable: bool,
}

impl Choice<'_> {
    /// Returns its own number.
    fn number(&self) -> MutantNumber {
        self.numbers[0]
    }

    /// Returns how far its numbers are from the first one of the point, as generated code computes it.
    fn offsets(&self, first: MutantNumber) -> impl Iterator<Item = u32> {
        self.numbers.iter().map(move |number| number.wrapping_sub(first))
    }

    /// Returns the pattern of its offsets.
    fn pattern(&self, first: MutantNumber) -> String {
        self.offsets(first).map(|offset| offset.to_string()).collect::<Vec<_>>().join(" | ")
    }

    /// Whether a candidate belongs to the same point.
    fn is_at(&self, candidate: &Candidate) -> bool {
        self.candidate.point == candidate.point
    }

    fn replacement(&self) -> Piece {
        Piece::Owned(Owner::Mutant(self.index), self.candidate.pieces())
    }

    fn can_be_compared(&self) -> bool {
        self.is_comparable && self.candidate.change.infection == Infection::Differs
    }
}

/// Returns the edits that let a point choose between the original and its mutants, and that record what they would do.
fn point_edits(point: &[Choice<'_>]) -> Vec<Edit> {
    let Some(first) = point.first() else { return Vec::new() };
    let range = first.candidate.point.range();
    let form = first.candidate.point.form;
    if let Some(arm) = first.candidate.point.arm {
        return arm_edits(first, arm);
    }
    let (open, close) = match form {
        Form::Expression | Form::Jump => ("(", ")"),
        Form::Statement => ("", ""),
        Form::Block | Form::ArmBody | Form::Arm => ("{", "}"),
    };
    let is_value = matches!(form, Form::Expression | Form::Jump);
    // The original stands first, so that the compiler blames the mutants where types differ.
    let start = format!(
        "{open}match ::simutant_probe::active().wrapping_sub({}) {{ {} => {}",
        first.number(),
        others(point),
        if is_value { "(" } else { "{" },
    );
    let mut end: Vec<Piece> = vec![if is_value { ")," } else { "}" }.into()];
    for choice in point {
        end.push(format!(" {} => {{ ::simutant_probe::hit(); ", choice.pattern(first.number())).into());
        if form == Form::Block {
            // The body of a loop takes its step inside: without it, the loop would go round uncounted.
            end.push("::simutant_probe::tick(); ".into());
        }
        end.push(choice.replacement());
        end.push(" }".into());
    }
    end.push(format!(" }}{close}").into());
    vec![Edit::wrap(range.clone(), MUTATED, vec![start.into()], end), recording_edit(point, range, form)]
}

/// Returns the pattern of the offsets that belong to no mutant of the point.
fn others(point: &[Choice<'_>]) -> String {
    let first = point[0].number();
    let mut taken: Vec<u32> = point.iter().flat_map(|choice| choice.offsets(first)).collect();
    taken.sort_unstable();
    let mut gaps = Vec::new();
    let mut next = Some(0);
    for offset in taken {
        if let Some(start) = next.filter(|start| *start < offset) {
            gaps.push(format!("{start}..{offset}"));
        }
        next = offset.checked_add(1);
    }
    gaps.extend(next.map(|start| format!("{start}..")));
    gaps.join(" | ")
}

/// Returns the edits that let an arm not match in its mutant: a guard that holds in all others.
fn arm_edits(choice: &Choice<'_>, arm: ArmParts) -> Vec<Edit> {
    let guard = vec![
        format!(
            " if match ::simutant_probe::active().wrapping_sub({}) {{ {} => true, {} => ",
            choice.number(),
            others(std::slice::from_ref(choice)),
            choice.pattern(choice.number()),
        )
        .into(),
        Piece::Owned(Owner::Mutant(choice.index), vec!["{ ::simutant_probe::hit(); false }".into()]),
        " }".into(),
    ];
    let infect = format!("{{ ::simutant_probe::infect({}); ", choice.number());
    vec![
        Edit::insert(arm.pattern_end, MUTATED, guard),
        Edit::wrap(arm.body_start..arm.body_end, RECORDING, vec![infect.into()], vec![" }".into()]),
    ]
}

/// How many mutants a probe notes at once.
const NOTED_MAX: usize = 64;

/// Returns calls that note that the point is reached, and that the mutants infect which cannot be compared.
fn notes(point: &[Choice<'_>]) -> Vec<String> {
    let note = |part: &[Choice<'_>]| {
        let bits = part.iter().enumerate().filter(|(_, choice)| !choice.can_be_compared());
        let certain: u64 = bits.map(|(index, _)| 1 << index).sum();
        format!("::simutant_probe::point({}, {}, {certain:#x})", part[0].number(), part.len())
    };
    point.chunks(NOTED_MAX).map(note).collect()
}

fn recording_edit(point: &[Choice<'_>], range: Range<usize>, form: Form) -> Edit {
    let notes = notes(point);
    match form {
        Form::Statement => Edit::insert(range.start, RECORDING, vec![format!(" {}; ", notes.join("; ")).into()]),
        Form::Block => Edit::insert(range.start + 1, RECORDING, vec![format!(" {}; ", notes.join("; ")).into()]),
        // A jump has no value that a tuple could hold.
        Form::Jump => {
            let before = format!("({{ {}; ", notes.join("; "));
            Edit::wrap(range, RECORDING, vec![before.into()], vec![" })".into()])
        }
        Form::ArmBody | Form::Arm => {
            let before = format!("{{ {}; ", notes.join("; "));
            Edit::wrap(range, RECORDING, vec![before.into()], vec![" }".into()])
        }
        Form::Expression if !point.iter().any(Choice::can_be_compared) => {
            // A tuple, not a block: what is only there for the statement must not be dropped before its end.
            let (before, after) = (format!("({}, ", notes.join(", ")), format!(").{}", notes.len()));
            Edit::wrap(range, RECORDING, vec![before.into()], vec![after.into()])
        }
        Form::Expression => {
            let compared: Vec<&Choice<'_>> = point.iter().filter(|choice| choice.can_be_compared()).collect();
            let numbers: Vec<MutantNumber> = compared.iter().map(|choice| choice.number()).collect();
            let before = format!("({}, match (::simutant_probe::Evaluation(&{numbers:?}), ", notes.join(", "));
            let mut comparisons: Vec<Piece> = vec![
                format!(
                    "::simutant_probe::Original(&simutant_value).compare(&{numbers:?}, \
                     &mut |simutant_mutant| match simutant_mutant {{ "
                )
                .into(),
            ];
            for (index, choice) in compared.iter().enumerate() {
                let is_last = index + 1 == compared.len();
                let pattern = if is_last { "_".to_owned() } else { choice.number().to_string() };
                let mut comparison = vec![format!("{pattern} => (").into()];
                comparison.extend(choice.candidate.change.replacement.iter().cloned());
                comparison.push("), ".into());
                comparisons.push(Piece::Owned(Owner::Comparison(choice.index), comparison));
            }
            comparisons.push("})".into());
            let (first, last) = (compared[0].index, compared[compared.len() - 1].index);
            let after = vec![
                format!(
                    ") {{ (simutant_evaluation, simutant_value) => {{ simutant_evaluation.end(); \
                     if ::simutant_probe::is_open({}) {{ \
                     use ::simutant_probe::CompareOther as _; ",
                    numbers[0]
                )
                .into(),
                Piece::Owned(Owner::Comparisons(first, last), comparisons),
                format!(" }} simutant_value }} }}).{}", notes.len()).into(),
            ];
            Edit::wrap(range, RECORDING, vec![before.into()], after)
        }
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::declarations::Declarations;
    use crate::names::Names;
    use crate::selection::Selection;

    /// Returns the body of the first function in `text`, as `variant` has it.
    fn rendered(text: &str, variant: Variant) -> String {
        rendered_with(text, variant, &Verdicts::default())
    }

    fn rendered_with(text: &str, variant: Variant, verdicts: &Verdicts) -> String {
        let source = Source::parse("src/a.rs", text.into()).expect("the test's own source");
        let settings = Settings {
            selection: &Selection::default(),
            declarations: &Declarations::default(),
            names: &Names::default(),
        };
        let specification = Specification::new("a", "a", vec![source], &settings);
        let flows = specification.flows(verdicts);
        let mut sites = specification.no_sites();
        let numbering = Numbering::new(&specification, verdicts, &mut sites);
        let plan = Plan { verdicts, flows, numbering };
        let (edits, _) = specification.edits((0, 0), &plan, (&Place::default(), &mut 0), &mut sites);
        let mut output = Output::default();
        let inside = mutation::inside(&specification.sources[0].functions[0].body);
        Renderer::new(text, &edits).range(inside, variant, &mut output);
        output.text
    }

    /// Instruments files with these texts, and makes pairs of mutants if asked to.
    fn instrumented(texts: &[&str], makes_pairs: bool) -> Instrumented {
        let sources = texts.iter().enumerate().map(|(file, text)| {
            Source::parse(&format!("src/{file}.rs"), (*text).into()).expect("the test's own source")
        });
        let selection = Selection::parse(if makes_pairs { "AOR,ROR,HOM" } else { "AOR,ROR" }).expect("known operators");
        let settings =
            Settings { selection: &selection, declarations: &Declarations::default(), names: &Names::default() };
        let specification = Specification::new("a", "a", sources.collect(), &settings);
        let instrumented = specification.instrument(&Verdicts::default(), Probes::All);
        check_places(&instrumented);
        instrumented
    }

    #[test]
    fn what_waits_for_an_async_function_has_none_of_it() {
        let text = "/// A.\npub async fn a(x: &mut u8) -> u8 { let mut y = *x; while y < 9 { a(&mut y).await; } y }";
        let Output { text: output, owners, .. } = &instrumented(&[text], false).outputs[0];
        assert!(owners.contains(&(0..17, Owner::Function(0))), "{owners:?}");
        assert!(output.starts_with("#[inline(never)] /// A.\npub async fn a("), "{output}");
        assert!(!output.contains("static "), "{output}");
        // Its future is in a box before anything that may panic would have to drop it.
        assert!(output.contains("(::simutant_probe::apart(a(&mut y)), {"), "{output}");
    }

    /// Checks that what reports number is where the running program thinks.
    #[track_caller]
    fn check_places(Instrumented { sites, places, .. }: &Instrumented) {
        assert_eq!(places.len(), sites.functions.len());
        let (mut mutants, mut codes) = (0, 0);
        for (function, place) in places.iter().enumerate() {
            let before = |functions: &mut dyn Iterator<Item = usize>| functions.filter(|&of| of < function).count();
            assert_eq!(place.block, before(&mut sites.blocks.iter().map(|block| block.function)));
            assert_eq!(place.branch, before(&mut sites.branches.iter().map(|branch| branch.function)));
            assert_eq!(place.condition, before(&mut sites.conditions.iter().map(|condition| condition.function)));
            assert_eq!(place.pair, before(&mut sites.pairs.iter().map(|pair| pair.function)));
            assert_eq!(place.mutant, mutants);
            assert!(place.mutants == 0 || place.code >= codes, "{places:?}");
            mutants += place.mutants;
            codes = codes.max(place.code + place.mutants);
        }
        assert_eq!(mutants as usize, sites.mutants.len());
    }

    /// Checks that functions ask for the mutants that are said to be theirs, which are no others'.
    #[track_caller]
    fn check_ranges(Instrumented { outputs, places, .. }: &Instrumented) {
        let text: String = outputs.iter().map(|output| &*output.text).collect();
        for Place { mutants, code, .. } in places {
            assert!(text.contains(&format!(", ([{code}, {mutants}], [")), "{code}, {mutants}: {text}");
        }
    }

    #[test]
    fn an_edit_leaves_the_code_of_other_functions_alone() {
        let (first, other) = ("fn f(a: u32) -> u32 { a + 1 }", "fn g(b: u32) -> u32 { if b > 2 { b * 3 } else { b } }");
        let edited = "fn f(a: u32) -> u32 { let mut sum = a; while sum < 9 && a > 1 { sum += a; } sum + 1 }";
        let (before, after) = (instrumented(&[first, other], false), instrumented(&[edited, other], false));
        check_ranges(&before);
        check_ranges(&after);
        assert_eq!(before.outputs[1].text, after.outputs[1].text);
        assert_ne!(before.outputs[0].text, after.outputs[0].text);
        let [before, after] = [before, after].map(|instrumented| instrumented.places[1]);
        for (before, after) in [
            (before.block, after.block),
            (before.branch, after.branch),
            (before.condition, after.condition),
            (before.pair, after.pair),
            (before.mutant as usize, after.mutant as usize),
        ] {
            assert!(before < after, "{before} {after}");
        }
        assert_eq!((before.mutants, before.code), (after.mutants, after.code));
    }

    #[test]
    fn a_function_may_have_no_mutants_or_no_room() {
        let many = format!("fn h(a: u32) -> u32 {{ {} }}", "a + 1; ".repeat(100) + "a");
        let texts = ["fn f() {}", &*many, "fn g(b: u32) -> u32 { b + 2 }"];
        let instrumented = instrumented(&texts, false);
        check_ranges(&instrumented);
        let places = instrumented.places;
        assert_eq!(places[0].mutants, 0);
        assert!(places[1].mutants > 64 && places[2].code >= places[1].code + places[1].mutants, "{places:?}");
    }

    #[test]
    fn where_there_are_pairs_generated_code_has_the_numbers_of_reports() {
        let texts = ["fn f(a: u32) -> u32 { a + 1 }", "fn e() {}", "fn g(b: u32) -> u32 { b + 2 }"];
        let Instrumented { sites, places, .. } = instrumented(&texts, true);
        assert!(sites.mutants.iter().any(|mutant| mutant.parts.is_some()));
        assert!(places.iter().all(|place| place.mutants == 0 || place.code == place.mutant), "{places:?}");
    }

    const SAMPLE: &str = "fn f(a: u32, list: &[u32]) -> u32 {
    let mut sum = 0;
    for item in list {
        if a < *item && sum > 2 {
            sum += g(*item)?;
            h();
        }
    }
    sum - 3
}";

    const ARMS_AND_RANGES: &str = "fn f(a: u32) -> u32 {
    for i in 0..a {
        match i {
            0 => continue,
            1 => { g(); }
            n if n > 3 => h(),
            _ => break,
        }
    }
    (1..=a).map(|x| x + i).sum()
}";

    #[test]
    fn arms_jumps_and_ranges_are_chosen_where_their_types_allow_it() {
        assert_snapshot!(rendered(ARMS_AND_RANGES, Variant::Clean));
        assert_snapshot!(rendered(ARMS_AND_RANGES, Variant::Mutated));
        assert_snapshot!(rendered(ARMS_AND_RANGES, Variant::Recording));
    }

    #[test]
    fn a_pair_is_chosen_in_both_functions_and_lies_in_both_ranges() {
        let text = "fn f(a: u32) -> u32 { a << 1 } fn g() {} fn h(a: u32) -> u32 { a >> 2 & a } fn i(a: u32) -> u32 { a << 3 }";
        let source = Source::parse("src/a.rs", text.into()).expect("the test's own source");
        let selection = Selection::parse("SOR,LOR,HOM").expect("known operators");
        let (declarations, names) = Default::default();
        let settings = Settings { selection: &selection, declarations: &declarations, names: &names };
        let specification = Specification::new("a", "a", vec![source], &settings);
        let instrumented = specification.instrument(&Verdicts::default(), Probes::All);
        let text = &instrumented.outputs[0].text;
        let parts: Vec<_> = instrumented.sites.mutants.iter().map(|mutant| (&*mutant.operator, mutant.parts)).collect();
        // f's own, a pair of f and h, three of h's own, three pairs of h and i, i's own.
        assert_eq!(parts[..3], [("SOR", None), ("HOM", Some([0, 2])), ("LOR", None)]);
        assert_eq!(parts[5..], [("HOM", Some([2, 8])), ("HOM", Some([3, 8])), ("HOM", Some([4, 8])), ("SOR", None)]);
        for range in ["([0, 2], [0, 1])", "([0, 0], [0, 0])", "([1, 7], [2, 3])", "([5, 4], [8, 1])"] {
            assert!(text.contains(range), "{range} in {text}");
        }
        let points: Vec<&str> = text
            .match_indices("match ::simutant_probe::active()")
            .map(|(at, _)| {
                let point = &text[at..];
                &point[..point.find("hit()").expect("a mutant")]
            })
            .collect();
        assert_snapshot!(points.join("\n"));
        let both = instrumented.sites.diff(&instrumented.sites.mutants[1], 0);
        assert_eq!(both.matches("\n+").count(), 2 * 2, "{both}");
    }

    #[test]
    fn a_constant_is_chosen_at_its_uses_in_all_functions_and_lies_after_all_ranges() {
        let text = "const A: u32 = 2; fn f(a: u32) -> u32 { a + A } const B: u32 = A + 3; fn g() -> &'static u32 { &B }
fn h(a: u32) -> u32 { a - 1 } fn i() -> u32 { const C: u32 = 1; C } fn j(a: u32) { assert!(a < A) }";
        for (operators, ranges) in [
            ("CVR", [(0, 0, "[[320, 3]]"), (64, 0, "[[320, 7]]"), (128, 0, ""), (192, 0, "[[327, 2]]"), (256, 0, "")]),
            (
                "AOR,CVR",
                [(0, 1, "[[320, 3]]"), (64, 0, "[[320, 7]]"), (128, 1, ""), (192, 0, "[[327, 2]]"), (256, 0, "")],
            ),
            ("AOR,CVR,HOM", [(0, 2, "[[3, 3]]"), (0, 0, "[[3, 7]]"), (1, 2, ""), (0, 0, "[[10, 2]]"), (0, 0, "")]),
        ] {
            let source = Source::parse("src/a.rs", text.into()).expect("the test's own source");
            let selection = Selection::parse(operators).expect("known operators");
            let (declarations, names) = Default::default();
            let settings = Settings { selection: &selection, declarations: &declarations, names: &names };
            let specification = Specification::new("a", "a", vec![source], &settings);
            let Instrumented { outputs, sites, places } = specification.instrument(&Verdicts::default(), Probes::All);
            let output = &outputs[0].text;
            let functions: Vec<&str> = output.split("::simutant_probe::Function::new(").skip(1).collect();
            for (function, (first, count, constants)) in functions.iter().zip(ranges) {
                let asked = &function[..function.find(';').expect("a declaration")];
                assert!(asked.contains(&format!("([{first}, {count}], [")), "{operators}: {asked}");
                let expect = if constants.is_empty() { ")" } else { &format!(").with_constants(&{constants})") };
                assert!(asked.ends_with(&format!(")){expect}")[1..]), "{operators}: {asked}, {expect}");
            }
            let of_constants = sites.mutants.iter().filter(|mutant| mutant.operator == "CVR").count();
            assert_eq!(of_constants, 3 + 4 + 2);
            assert!(sites.mutants[sites.mutants.len() - of_constants..].iter().all(|mutant| mutant.operator == "CVR"));
            let last = places.last().expect("that of constants");
            assert_eq!((last.mutant as usize, last.mutants), (sites.mutants.len() - of_constants, 9));
            if operators == "CVR" {
                let cut = output.find("fn h").expect("it is there");
                assert_snapshot!(&output[..cut]);
            }
        }
    }

    #[test]
    fn programs_ask_for_the_constants_that_a_function_uses() {
        let text =
            "const A: bool = true; fn f() -> bool { A } fn g(a: u32) -> u32 { if A { a + 1 } else { 0 } } fn h() {}";
        let source = Source::parse("src/a.rs", text.into()).expect("the test's own source");
        let selection = Selection::parse("AOR,CVR").expect("known operators");
        let (declarations, names) = Default::default();
        let settings = Settings { selection: &selection, declarations: &declarations, names: &names };
        let specification = Specification::new("a", "a", vec![source], &settings);
        let instrumented = specification.instrument(&Verdicts::default(), Probes::Mutants);
        assert_snapshot!(instrumented.outputs[0].text);
        let plain = specification.instrument(&Verdicts::default(), Probes::None);
        assert_eq!(plain.outputs[0].text, text);
    }

    #[test]
    fn the_clean_body_counts_steps() {
        assert_snapshot!(rendered(SAMPLE, Variant::Clean));
    }

    #[test]
    fn the_mutated_body_chooses_at_each_point() {
        assert_snapshot!(rendered(SAMPLE, Variant::Mutated));
    }

    #[test]
    fn the_covering_body_notes_coverage_alone() {
        assert_snapshot!(rendered(SAMPLE, Variant::Covering));
    }

    #[test]
    fn uses_that_see_the_same_share_a_row_and_some_decisions_need_a_vector() {
        let text = "fn f(a: u32, b: bool, c: bool) -> u32 {
    let mut n = a;
    while n < 9 && n > 2 || b && c {
        n += n * n;
        if n == n + a { g(n, n, h(n)); }
    }
    [1].iter().map(|d| { let e = d + a; e + d }).sum()
}";
        assert_snapshot!(rendered(text, Variant::Covering));
    }

    #[test]
    fn what_a_way_leaves_out_and_what_is_defined_in_between_is_noted_for_itself() {
        let text = "impl S { fn f(&mut self, a: bool, b: bool) {
    if g(a && b) { h(); }
    let t = (self.n, self.n, &mut self.n, self.n);
    i(t);
} }";
        assert_snapshot!(rendered(text, Variant::Covering));
    }

    #[test]
    fn a_body_without_data_flow_notes_blocks_and_branches() {
        let text = "fn f(a: Option<u32>) -> u32 { match a { Some(b) if b > 1 => b, _ => 0 } }";
        let verdicts = Verdicts { without_flow: [((0, 0), "an error".to_owned())].into(), ..Verdicts::default() };
        assert_snapshot!(rendered_with(text, Variant::Covering, &verdicts));
    }

    #[test]
    fn the_recording_body_notes_coverage_and_infection() {
        assert_snapshot!(rendered(SAMPLE, Variant::Recording));
    }
}
