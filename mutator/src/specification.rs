//! The specification of one system, with everything that may be done to it.

pub(crate) mod fingerprint;
pub(crate) mod known;
pub(crate) mod skips;
pub(crate) mod verdicts;

use simutant_outcomes::{AmbiguousName, MacroDefinition, Mutant, Sites, SkippedCode, UninstrumentedFunction};

use crate::constants::Constants;
use crate::mutation::{self, Candidate, PlacedCandidate, Settings};
use crate::operators::HIGHER_ORDER;
use crate::specification::fingerprint::{Fingerprint, Fingerprints};
use crate::specification::verdicts::Verdicts;
use crate::syntax::source::{FunctionId, FunctionSource, LeftOutFunction, Source};
use crate::text::edit::{CandidateId, plain_text};
use crate::text::identity::Identities;

/// The specification of one system, with everything that may be done to it.
#[derive(Debug)]
pub(crate) struct Specification {
    pub(crate) package: String,
    pub(crate) system: String,
    pub(crate) sources: Vec<Source>,
    /// The candidates in functions, in the order of files, functions and places. The others are numbered after them:
    /// [`Specification::candidate`] has all.
    pub(crate) candidates: Vec<PlacedCandidate>,
    /// Those in functions that are no mutants, since the code that chooses them would be too long.
    pub(crate) too_long: Vec<PlacedCandidate>,
    /// The constants, with the candidates that are in their values.
    pub(crate) constants: Constants,
    /// Whether there are mutants of two candidates each.
    pub(crate) makes_pairs: bool,
    /// The names that stand for several declarations.
    ambiguous: Vec<AmbiguousName>,
    /// What comments and the manifest leave out.
    skipped: Vec<SkippedCode>,
}

impl Specification {
    pub(crate) fn new(package: &str, system: &str, sources: Vec<Source>, settings: &Settings<'_>) -> Self {
        let (mut candidates, mut too_long, mut ambiguous) = (Vec::new(), Vec::new(), Vec::new());
        let mut identities = Identities::default();
        for (file, source) in sources.iter().enumerate() {
            for (index, function) in source.functions.iter().enumerate() {
                let found = mutation::candidates(source, function, settings);
                ambiguous.extend(found.ambiguous.into_iter().map(|name| AmbiguousName {
                    name,
                    path: function.path.clone(),
                    span: source.span(file, &function.range),
                }));
                let mut place = |candidate: Candidate| {
                    let original = &source.file.text[candidate.range().clone()];
                    let replacement = plain_text(&candidate.change.replacement, &source.file.text);
                    let identity = identities.next(&function.path, original, candidate.operator, &replacement);
                    PlacedCandidate { file, function: Some(index), candidate, identity }
                };
                candidates.extend(found.placed.into_iter().map(&mut place));
                too_long.extend(found.too_long.into_iter().map(place));
            }
        }
        let makes_pairs = settings.selection.replacements(HIGHER_ORDER.name).is_some();
        let constants = Constants::new(&sources, settings, &mut identities);
        let (package, system) = (package.into(), system.into());
        Self { package, system, sources, candidates, too_long, constants, makes_pairs, ambiguous, skipped: Vec::new() }
    }

    /// Returns a candidate.
    pub(crate) fn candidate(&self, id: CandidateId) -> &PlacedCandidate {
        match id {
            CandidateId::Function(index) => &self.candidates[index],
            CandidateId::Constant(index) => &self.constants.candidates()[index],
        }
    }

    /// Returns all candidates, those in constants after those in functions.
    pub(crate) fn all_candidates(&self) -> impl Iterator<Item = (CandidateId, &PlacedCandidate)> {
        let of_functions = self.candidates.iter().enumerate();
        let of_constants = self.constants.candidates().iter().enumerate();
        of_functions
            .map(|(index, placed)| (CandidateId::Function(index), placed))
            .chain(of_constants.map(|(index, placed)| (CandidateId::Constant(index), placed)))
    }

    /// Returns a candidate as a mutant, which reports list with the function of this number.
    pub(crate) fn mutant(&self, id: CandidateId, function: usize) -> Mutant {
        self.mutant_of(self.candidate(id), function)
    }

    /// As [`Specification::mutant`].
    pub(crate) fn mutant_of(&self, placed: &PlacedCandidate, function: usize) -> Mutant {
        let PlacedCandidate { file, candidate, identity, .. } = placed;
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
    pub(crate) fn is_needed(&self, stand_in: &PlacedCandidate, verdicts: &Verdicts) -> bool {
        verdicts.rejected.keys().map(|id| self.candidate(*id)).any(|rejected| {
            rejected.function_id() == stand_in.function_id()
                && rejected.candidate.range() == stand_in.candidate.range()
                && rejected.candidate.operator == stand_in.candidate.operator
        })
    }

    pub(crate) fn no_sites(&self) -> Sites {
        Sites {
            package: self.package.clone(),
            system: self.system.clone(),
            files: self.sources.iter().map(|source| source.file.clone()).collect(),
            left_out: self.left_out(),
            macros: self.macros(),
            ambiguous: self.ambiguous.clone(),
            skipped: self.skipped.clone(),
            ..Sites::default()
        }
    }

    /// Returns the functions that are certain not to be compiled.
    fn left_out(&self) -> Vec<UninstrumentedFunction> {
        let sources = self.sources.iter().enumerate();
        let functions = sources.flat_map(|(file, source)| {
            source.left_out.iter().map(move |LeftOutFunction { path, range, reason }| UninstrumentedFunction {
                path: path.clone(),
                span: source.span(file, range),
                reason: reason.clone(),
            })
        });
        functions.collect()
    }

    fn macros(&self) -> Vec<MacroDefinition> {
        let of_source = |(file, source): (usize, &Source)| {
            let definitions = source.macros.iter();
            let definitions =
                definitions.map(|(path, range)| MacroDefinition { path: path.clone(), span: source.span(file, range) });
            definitions.collect::<Vec<_>>()
        };
        self.sources.iter().enumerate().flat_map(of_source).collect()
    }

    /// Returns why a function runs as it is written, if it does.
    pub(crate) fn obstacle(&self, id: FunctionId, verdicts: &Verdicts) -> Option<String> {
        let obstacle = self.function(id).obstacle.map(str::to_owned);
        let said = || verdicts.left_out.get(&id).or_else(|| verdicts.uninstrumented.get(&id)).cloned();
        obstacle.or_else(said).or_else(|| verdicts.settled.contains(&id).then(|| "nothing is left to ask".to_owned()))
    }

    /// Returns a function.
    pub(crate) fn function(&self, FunctionId { file, index }: FunctionId) -> &FunctionSource {
        &self.sources[file].functions[index]
    }

    /// Returns all functions, in the order of files and places.
    pub(crate) fn functions(&self) -> impl Iterator<Item = (FunctionId, &FunctionSource)> {
        self.sources.iter().enumerate().flat_map(|(file, source)| {
            source.functions.iter().enumerate().map(move |(index, function)| (FunctionId { file, index }, function))
        })
    }

    /// Returns the functions that are instrumented, as [`Specification::functions`] does.
    pub(crate) fn instrumented(&self, verdicts: &Verdicts) -> impl Iterator<Item = (FunctionId, &FunctionSource)> {
        self.functions().filter(|(id, _)| self.obstacle(*id, verdicts).is_none())
    }

    /// Returns hashes of the source; `inputs` is one of what is not in the specification files.
    pub(crate) fn fingerprint(&self, inputs: u64, verdicts: &Verdicts) -> Fingerprint {
        let mut fingerprints = Fingerprints::new(inputs, &self.sources);
        for (file, source) in self.sources.iter().enumerate() {
            let of_file = self.instrumented(verdicts).filter(|(id, _)| id.file == file);
            fingerprints.add(source, &of_file.map(|(id, _)| id.index).collect::<Vec<_>>());
        }
        fingerprints.finish()
    }
}
