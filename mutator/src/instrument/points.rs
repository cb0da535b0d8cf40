//! The choice between the original and its mutants at one point, and what the recording body notes of them there.

use std::ops::Range;

use simutant_outcomes::MutantNumber;

use crate::mutation::{ArmParts, Candidate, Form};
use crate::operators::Infection;
use crate::text::edit::{CandidateId, Edit, Owner, Piece, Variant};

const MUTATED: &[Variant] = &[Variant::Mutated];

const RECORDING: &[Variant] = &[Variant::Recording];

/// One of the mutants at a point.
#[derive(Debug)]
pub(super) struct Choice<'a> {
    pub(super) candidate: &'a Candidate,
    /// Its index among the candidates in functions.
    pub(super) index: usize,
    /// Its numbers in this build: its own, then those of the mutants that it is a part of.
    pub(super) numbers: &'a [MutantNumber],
    pub(super) is_comparable: bool,
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
    pub(super) fn is_at(&self, candidate: &Candidate) -> bool {
        self.candidate.point == candidate.point
    }

    fn replacement(&self) -> Piece {
        Piece::Owned(Owner::Mutant(CandidateId::Function(self.index)), self.candidate.pieces())
    }

    fn can_be_compared(&self) -> bool {
        self.is_comparable && self.candidate.change.infection == Infection::Differs
    }
}

/// Returns the edits that let a point choose between the original and its mutants, and that record what they would do.
pub(super) fn point_edits(point: &[Choice<'_>]) -> Vec<Edit> {
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
        Piece::Owned(
            Owner::Mutant(CandidateId::Function(choice.index)),
            vec!["{ ::simutant_probe::hit(); false }".into()],
        ),
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
                comparisons.push(Piece::Owned(Owner::Comparison(CandidateId::Function(choice.index)), comparison));
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
