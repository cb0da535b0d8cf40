//! The numbers of mutants.
//!
//! Generated code asks once per call whether the active mutant is one of the function's, by one range of numbers. So
//! the mutants of a function have consecutive numbers, and a mutant of two functions lies between their own ones, in
//! the ranges of both:
//!
//! ```text
//! f's own | pairs of f and g | g's own | pairs of g and h | h's own | constants' own
//! ```
//!
//! A constant may be used in any functions. Its mutants have numbers after those of all functions, and each function
//! that uses it knows them as a range of its own.
//!
//! Where there are no pairs, generated code has other numbers than reports: those of a function leave [room] for more,
//! so that an edit of the function seldom changes the code of others. With or without pairs, what a function covers is
//! counted from 0 in each. The running program knows where each function [is](FunctionPlace) in reports.

use std::collections::BTreeMap;
use std::ops::Range;

use simutant_outcomes::{Class, Mutant, MutantNumber, RejectedMutant, Sites, Tier, UnmutatedConstant};

use crate::constants::NumberedCandidate;
use crate::operators::{HIGHER_ORDER, partner};
use crate::specification::Specification;
use crate::specification::verdicts::Verdicts;
use crate::syntax::source::FunctionId;
use crate::text::edit::CandidateId;

/// Which mutants each function has.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    /// By function.
    functions: BTreeMap<FunctionId, Numbered>,
    /// The mutants of constants, by constant: the candidate of each, and its number in generated code. The numbers of
    /// all follow each other, after those of functions.
    constants: BTreeMap<usize, Vec<NumberedCandidate>>,
    /// By function: the numbers of the mutants of the constants that it uses.
    constants_of: BTreeMap<FunctionId, Vec<Range<MutantNumber>>>,
    /// Whether the numbers of generated code are not those of reports.
    has_room: bool,
}

/// Where a function begins in the numbers of reports, and its mutants in those of generated code: as `Place` in
/// `simutant-probe` has it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct FunctionPlace {
    pub(crate) block: usize,
    pub(crate) branch: usize,
    pub(crate) condition: usize,
    pub(crate) pair: usize,
    pub(crate) mutant: MutantNumber,
    pub(crate) mutants: MutantNumber,
    pub(crate) code: MutantNumber,
}

/// Returns how many numbers are for a function that needs `count` of them: a few more do not change that, most of the
/// time. Most functions have `least`.
///
/// It depends on nothing but the count, so that equal source becomes equal code, whatever was there before.
pub(super) fn room(count: usize, least: usize) -> usize {
    (count + least / 4).next_power_of_two().max(least)
}

/// Why a candidate is left out although the compiler was not asked.
const TOO_LONG: &str = "a choice there would end temporaries early, and the code around them is too long to be copied";

/// How many numbers there are for the mutants of a function at least.
const MUTANTS_LEAST: usize = 64;

/// The mutants of one function.
#[derive(Debug, Default)]
struct Numbered {
    /// In generated code: its own, and those that it shares with its neighbours.
    range: Range<MutantNumber>,
    /// Its candidates in their order, each with its own number in generated code, and then those of the pairs that it
    /// is in.
    candidates: Vec<NumberedMutant>,
}

/// A candidate in a function that is not rejected.
#[derive(Debug)]
pub(super) struct NumberedMutant {
    /// Its index among the candidates in functions.
    pub(super) candidate: usize,
    /// Its own number, and then those of the pairs that it is in.
    pub(super) numbers: Vec<MutantNumber>,
}

impl Numbering {
    /// Numbers the candidates that are not rejected, and adds mutants and rejected mutants to the sites.
    pub(super) fn new(specification: &Specification, verdicts: &Verdicts, sites: &mut Sites) -> Self {
        let mut numbering = Self::default();
        let mut before: Option<FunctionId> = None;
        for (function, (place, _)) in specification.instrumented(verdicts).enumerate() {
            let accepted = accepted(specification, place, function, verdicts, sites);
            if accepted.is_empty() {
                continue;
            }
            let mut pairs = Vec::new();
            if let Some(before) = before.filter(|_| specification.makes_pairs) {
                pairs = numbering.pairs(before, &accepted, sites);
            }
            let first_pair = sites.mutants.len() - pairs.len();
            let mut candidates = Vec::new();
            for (candidate, mutant) in accepted {
                candidates.push(NumberedMutant { candidate, numbers: vec![sites.mutants.len() as MutantNumber] });
                sites.mutants.push(mutant);
            }
            for (pair, (first, second)) in (first_pair..).zip(pairs) {
                sites.mutants[pair].parts = Some([first, candidates[second].numbers[0]]);
                candidates[second].numbers.push(pair as MutantNumber);
            }
            let range = first_pair as MutantNumber..sites.mutants.len() as MutantNumber;
            numbering.functions.insert(place, Numbered { range, candidates });
            before = Some(place);
        }
        numbering.number_constants(specification, verdicts, sites);
        numbering.find_constants(specification, verdicts);
        numbering
    }

    /// Numbers the mutants of the constants that an instrumented function uses, and adds them to the sites; those that
    /// have none are added there, too.
    fn number_constants(&mut self, specification: &Specification, verdicts: &Verdicts, sites: &mut Sites) {
        let Specification { sources, constants, .. } = specification;
        let functions = specification.instrumented(verdicts).enumerate();
        let mut users: BTreeMap<usize, usize> = BTreeMap::new();
        for (number, (function, _)) in functions {
            for constant in constants.used_in(function) {
                users.entry(constant).or_insert(number);
            }
        }
        for (constant, (file, source, candidates)) in constants.all(sources).enumerate() {
            let user = users.get(&constant);
            if let Some(reason) = constants.reason(sources, constant, user.is_some()) {
                let (path, span) = (source.path.clone(), sources[file].span(file, &source.range));
                sites.unmutated.push(UnmutatedConstant { path, span, reason: reason.to_owned() });
            }
            let Some(&user) = user else { continue };
            let mut accepted = Vec::new();
            for candidate in candidates {
                let id = CandidateId::Constant(candidate);
                let mutant = specification.mutant(id, user);
                match verdicts.rejected.get(&id) {
                    Some(reason) => sites.rejected.push(RejectedMutant { mutant, reason: reason.clone() }),
                    None => {
                        accepted.push(NumberedCandidate { candidate, number: sites.mutants.len() as MutantNumber });
                        sites.mutants.push(mutant);
                    }
                }
            }
            if !accepted.is_empty() {
                self.constants.insert(constant, accepted);
            }
        }
    }

    /// Notes which numbers each function is to know.
    fn find_constants(&mut self, specification: &Specification, verdicts: &Verdicts) {
        self.constants_of.clear();
        for (function, _) in specification.instrumented(verdicts) {
            let mut ranges: Vec<Range<MutantNumber>> = Vec::new();
            for constant in specification.constants.used_in(function) {
                let mutants = self.mutants_of_constant(constant);
                let Some(&NumberedCandidate { number: first, .. }) = mutants.first() else { continue };
                let end = first + mutants.len() as MutantNumber;
                match ranges.last_mut() {
                    Some(last) if last.end == first => last.end = end,
                    _ => ranges.push(first..end),
                }
            }
            if !ranges.is_empty() {
                self.constants_of.insert(function, ranges);
            }
        }
    }

    /// Leaves room in generated code after the mutants of each of these functions: all that are instrumented, since
    /// those without mutants may have some after an edit. There must be no pairs, which lie between two functions.
    pub(super) fn leave_room(&mut self, functions: impl Iterator<Item = FunctionId>) {
        self.has_room = true;
        let mut free = 0;
        for function in functions {
            let Numbered { range, candidates } = self.functions.entry(function).or_default();
            let count = range.len();
            let numbers = candidates.iter_mut().flat_map(|candidate| &mut candidate.numbers);
            numbers.for_each(|number| *number = *number - range.start + free);
            *range = free..free + count as MutantNumber;
            free += room(count, MUTANTS_LEAST) as MutantNumber;
        }
        let first = self.first_of_constants().unwrap_or_default();
        let moved = |number: &mut MutantNumber| *number = *number - first + free;
        self.constants.values_mut().flatten().for_each(|mutant| moved(&mut mutant.number));
        for range in self.constants_of.values_mut().flatten() {
            moved(&mut range.start);
            moved(&mut range.end);
        }
    }

    /// Returns the number in generated code of the first mutant of a constant.
    fn first_of_constants(&self) -> Option<MutantNumber> {
        Some(self.constants.values().next()?.first()?.number)
    }

    /// Returns where the mutants of constants are, of which the first one is `mutant` in reports.
    pub(super) fn place_of_constants(&self, mutant: MutantNumber) -> Option<FunctionPlace> {
        let mutants = self.constants.values().map(Vec::len).sum::<usize>() as MutantNumber;
        Some(FunctionPlace { mutant, mutants, code: self.first_of_constants()?, ..FunctionPlace::default() })
    }

    /// Returns the mutants of a constant that are not rejected, with their numbers, which follow each other.
    pub(super) fn mutants_of_constant(&self, constant: usize) -> &[NumberedCandidate] {
        self.constants.get(&constant).map(|mutants| &mutants[..]).unwrap_or_default()
    }

    /// Returns the numbers of the mutants of constants with which a function runs its mutated body.
    pub(super) fn constants_of(&self, function: FunctionId) -> &[Range<MutantNumber>] {
        self.constants_of.get(&function).map(|ranges| &ranges[..]).unwrap_or_default()
    }

    /// Whether a function has a body that chooses between the original and mutants.
    pub(super) fn has_mutants(&self, function: FunctionId) -> bool {
        !self.of_function(function).is_empty() || !self.constants_of(function).is_empty()
    }

    /// Returns where a function's mutants are that no function before it has a part of; in reports, the last of these
    /// ends before `end`.
    pub(super) fn place_of(&self, function: FunctionId, end: MutantNumber) -> FunctionPlace {
        let range = self.of_function(function);
        let (mutant, code) = if self.has_room {
            (end, range.start)
        } else {
            let first = range.start.max(end);
            (first, first)
        };
        FunctionPlace { mutant, mutants: range.end.saturating_sub(code), code, ..FunctionPlace::default() }
    }

    /// Adds the pairs of a function's mutants with `accepted`, those of the next one; returns for each pair the number
    /// of the first and the index of the second.
    fn pairs(
        &mut self,
        before: FunctionId,
        accepted: &[(usize, Mutant)],
        sites: &mut Sites,
    ) -> Vec<(MutantNumber, usize)> {
        let numbered = self.functions.get_mut(&before).expect("it has mutants");
        let mut pairs = Vec::new();
        for NumberedMutant { numbers, .. } in &mut numbered.candidates {
            let first = &sites.mutants[numbers[0] as usize];
            let others = accepted.iter().map(|(_, mutant)| mutant.identity.as_str());
            let Some((second, identity)) = partner(&first.identity, others) else { continue };
            let pair = Mutant {
                identity,
                operator: HIGHER_ORDER.name.into(),
                tier: Tier::C,
                class: Class::General,
                tag: None,
                ..first.clone()
            };
            pairs.push((numbers[0], second));
            numbers.push(sites.mutants.len() as MutantNumber);
            sites.mutants.push(pair);
        }
        numbered.range.end = sites.mutants.len() as MutantNumber;
        pairs
    }

    /// Returns the numbers with which a function runs its mutated body.
    pub(super) fn of_function(&self, function: FunctionId) -> Range<MutantNumber> {
        self.functions.get(&function).map(|numbered| numbered.range.clone()).unwrap_or_default()
    }

    /// Returns a function's candidates that are not rejected, each with its numbers.
    pub(super) fn candidates_of(&self, function: FunctionId) -> &[NumberedMutant] {
        self.functions.get(&function).map(|numbered| &numbered.candidates[..]).unwrap_or_default()
    }
}

/// Returns the candidates of a function that stand, and adds the others to the sites.
fn accepted(
    specification: &Specification,
    place: FunctionId,
    function: usize,
    verdicts: &Verdicts,
    sites: &mut Sites,
) -> Vec<(usize, Mutant)> {
    let mut accepted = Vec::new();
    let too_long = specification.too_long.iter().filter(|placed| placed.function_id() == Some(place));
    sites.rejected.extend(too_long.map(|placed| RejectedMutant {
        mutant: specification.mutant_of(placed, function),
        reason: TOO_LONG.to_owned(),
    }));
    let all = &specification.candidates;
    // Candidates are in the order of files and functions.
    let start = all.partition_point(|placed| placed.function_id() < Some(place));
    for (candidate, placed) in (start..).zip(&all[start..]) {
        if placed.function_id() != Some(place) {
            break;
        }
        if placed.candidate.change.stands_in && !specification.is_needed(placed, verdicts) {
            continue;
        }
        let id = CandidateId::Function(candidate);
        if verdicts.suspected.contains(&id) {
            continue;
        }
        let mutant = specification.mutant(id, function);
        match verdicts.rejected.get(&id) {
            Some(reason) => sites.rejected.push(RejectedMutant { mutant, reason: reason.clone() }),
            None => accepted.push((candidate, mutant)),
        }
    }
    accepted
}
