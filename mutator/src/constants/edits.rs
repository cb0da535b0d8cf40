//! What is generated for mutants of constants: one more constant for each, and the choice between them at each use.

use std::ops::Range;

use super::names::UsedAs;
use super::{Constant, ConstantUse, Constants, NumberedCandidate};
use crate::operators::Change;
use crate::syntax::constants::{ConstantHome, ConstantSource, is_plain};
use crate::syntax::parts::range_of;
use crate::syntax::source::{FunctionId, Source};
use crate::text::edit::{CandidateId, Edit, Owner, Piece, Variant, plain_text};

impl Constants {
    /// Returns the name that constant `number` has in a mutant of constant `base`.
    fn name(&self, sources: &[Source], number: usize, base: usize, candidate: usize) -> String {
        let name = |number: usize| {
            let Constant { file, index, .. } = self.constants[number];
            &sources[file].constants[index].name
        };
        // Numbered by itself, so that what the compiler rejects changes no other's name.
        let ordinal = candidate - self.constants[base].candidates.start;
        if number == base {
            format!("{}_SIMUTANT_{ordinal}", name(number))
        } else {
            format!("{}_SIMUTANT_{}_{ordinal}", name(number), name(base))
        }
    }

    /// Returns the edits that declare what constants are in mutants: in a file outside of functions, or in one function
    /// of it. `numbered` has the mutants of a constant.
    pub(crate) fn declarations<'n>(
        &self,
        sources: &[Source],
        (file, function): (usize, Option<usize>),
        numbered: &dyn Fn(usize) -> &'n [NumberedCandidate],
    ) -> Vec<Edit> {
        let mut edits = Vec::new();
        for (number, constant) in self.constants.iter().enumerate().filter(|(_, constant)| constant.file == file) {
            let source = &sources[file].constants[constant.index];
            let of_function = match source.home {
                ConstantHome::Block(function, _) => Some(function),
                ConstantHome::Module(_) | ConstantHome::Type(..) => None,
                ConstantHome::Trait => continue,
            };
            if of_function != function {
                continue;
            }
            let mut pieces = Vec::new();
            for &base in &constant.bases {
                for &NumberedCandidate { candidate, .. } in numbered(base) {
                    let pieces_of_one = self.declaration(sources, (number, source), base, candidate);
                    pieces.push(Piece::Owned(Owner::Mutant(CandidateId::Constant(candidate)), pieces_of_one));
                }
            }
            edits.push(Edit::insert(source.range.end - 1, &[Variant::Mutated], pieces));
        }
        edits
    }

    /// Returns the declaration of constant `number` in a mutant of `base`.
    fn declaration(
        &self,
        sources: &[Source],
        (number, source): (usize, &ConstantSource),
        base: usize,
        candidate: usize,
    ) -> Vec<Piece> {
        // Before the semicolon of the constant itself, which ends the last of them.
        let mut pieces: Vec<Piece> = vec!["; ".into()];
        for range in source.conditions.iter().chain(&source.visibility) {
            pieces.extend([Piece::Source(range.clone()), " ".into()]);
        }
        pieces.push(format!("const {}: ", self.name(sources, number, base, candidate)).into());
        pieces.extend([Piece::Source(source.ty.clone()), " = ".into()]);
        let mut changes: Vec<(Range<usize>, String)> = Vec::new();
        if number == base {
            let Change { range, replacement, .. } = &self.candidates[candidate].candidate.change;
            changes.push((range.clone(), plain_text(replacement, "")));
        }
        for (named, last) in &self.constants[number].names {
            let is_changed = self.constants[*named].bases.contains(&base);
            if is_changed && !changes.iter().any(|(range, _)| range.start <= last.start && last.end <= range.end) {
                changes.push((last.clone(), self.name(sources, *named, base, candidate)));
            }
        }
        changes.sort_by_key(|(range, _)| range.start);
        let value = range_of(&source.value);
        let mut at = value.start;
        for (range, other) in changes {
            pieces.extend([Piece::Source(at..range.start), other.into()]);
            at = range.end;
        }
        pieces.push(Piece::Source(at..value.end));
        pieces
    }

    /// Returns the edits that let the uses of constants in a function choose between the original and its mutants, and
    /// that note where these are reached; arguments as for [`Constants::declarations`].
    pub(crate) fn points<'n>(
        &self,
        sources: &[Source],
        function: FunctionId,
        numbered: &dyn Fn(usize) -> &'n [NumberedCandidate],
    ) -> Vec<Edit> {
        let mut edits = Vec::new();
        for ConstantUse { constant, named } in self.uses.get(&function).into_iter().flatten() {
            let of_file = &self.constants[*constant];
            let source = &sources[of_file.file].constants[of_file.index];
            for &base in &of_file.bases {
                let mutants = numbered(base);
                let Some(&NumberedCandidate { number: first, .. }) = mutants.first() else { continue };
                let is_place = match named.is_used_as {
                    UsedAs::Value => false,
                    UsedAs::Part => !is_plain(&source.ty_text),
                    UsedAs::Place => true,
                };
                let (place, reference) = if is_place { ("*", "&") } else { ("", "") };
                let path: Piece = Piece::Source(named.range.start..named.last.start);
                let before = format!(
                    "({place}match ::simutant_probe::active().wrapping_sub({first}) {{ {}.. => {reference}(",
                    mutants.len(),
                );
                let mut after: Vec<Piece> = vec!["),".into()];
                for (offset, &NumberedCandidate { candidate, .. }) in mutants.iter().enumerate() {
                    let name = self.name(sources, *constant, base, candidate);
                    after.push(format!(" {offset} => {{ ::simutant_probe::hit(); {reference}").into());
                    after.push(Piece::Owned(
                        Owner::Mutant(CandidateId::Constant(candidate)),
                        vec![path.clone(), name.into()],
                    ));
                    after.push(" }".into());
                }
                after.push(" })".into());
                edits.push(Edit::wrap(named.range.clone(), &[Variant::Mutated], vec![before.into()], after));
                let notes: Vec<String> = mutants
                    .chunks(64)
                    .map(|part| {
                        let certain = u64::MAX >> (64 - part.len());
                        format!("::simutant_probe::point({}, {}, {certain:#x})", part[0].number, part.len())
                    })
                    .collect();
                let before = format!("({place}({}, {reference}", notes.join(", "));
                let after = format!(").{})", notes.len());
                edits.push(Edit::wrap(
                    named.range.clone(),
                    &[Variant::Recording],
                    vec![before.into()],
                    vec![after.into()],
                ));
            }
        }
        edits
    }
}
