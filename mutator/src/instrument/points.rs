//! The choice between the original and its mutants at one point, and what the recording body notes of them there.

use std::collections::BTreeMap;
use std::ops::Range;

use simutant_outcomes::MutantNumber;

use crate::mutation::{ArmParts, Candidate, Form, Operation, Point};
use crate::operators::Infection;
use crate::text::edit::{CandidateId, Edit, Owner, Piece, Variant};

/// How many bytes of source are evaluated once more to see whether a mutant of them infects. In a chain of operations,
/// each mutant has all operands before it.
const COMPARED_MAX: usize = 512;

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

    /// Returns the arm that is taken in its runs.
    fn arm(&self, first: MutantNumber) -> Vec<Piece> {
        let Candidate { point, elsewhere, .. } = self.candidate;
        let mut pieces = Vec::new();
        match elsewhere {
            // It is noted before the operands are evaluated, as the recording body does.
            Some(Point { operation: Some(operation), .. }) => {
                let value = |piece: Piece| match piece {
                    Piece::Source(range) if range.start == point.start => LEFT.into(),
                    Piece::Source(_) if operation.shares_right => RIGHT.into(),
                    piece => piece,
                };
                pieces.extend(self.candidate.pieces().into_iter().map(value));
            }
            None => {
                pieces.push("::simutant_probe::hit(); ".into());
                if point.form == Form::Block {
                    // The body of a loop takes its step inside: without it, the loop would go round uncounted.
                    pieces.push("::simutant_probe::tick(); ".into());
                }
                pieces.extend(self.candidate.pieces());
            }
            Some(choice) => {
                let (open, close) = if point.form == Form::Statement { ("{", "}") } else { ("(", ")") };
                let (whole, part) = (choice.range(), point.range());
                pieces.push(Piece::Source(whole.start..part.start));
                pieces.push(format!("::simutant_probe::reached!{open}").into());
                pieces.extend(self.candidate.pieces());
                pieces.push(close.into());
                pieces.push(Piece::Source(part.end..whole.end));
            }
        }
        vec![
            format!(" {} => {{ ", self.pattern(first)).into(),
            Piece::Owned(Owner::Mutant(CandidateId::Function(self.index)), pieces),
            " }".into(),
        ]
    }

    fn can_be_compared(&self) -> bool {
        let of_piece = |piece: &Piece| if let Piece::Source(range) = piece { range.len() } else { 0 };
        self.is_comparable
            && self.candidate.change.infection == Infection::Differs
            && self.candidate.change.replacement.iter().map(of_piece).sum::<usize>() <= COMPARED_MAX
    }
}

/// Returns the edits that let a function choose between the original and its mutants, and that record what they would
/// do; the mutants of a point follow one another.
pub(super) fn point_edits(choices: &[Choice<'_>]) -> Vec<Edit> {
    let mut by_choice: BTreeMap<&Point, Vec<&Choice<'_>>> = BTreeMap::new();
    for choice in choices {
        by_choice.entry(choice.candidate.choice()).or_default().push(choice);
    }
    let choosing = by_choice.into_iter().flat_map(|(point, choices)| match point.arm {
        Some(arm) => arm_edits(choices[0], arm),
        None => match point.operation {
            Some(operation) => operation_edits(point, operation, &choices),
            None => vec![choosing_edit(point, &choices)],
        },
    });
    let points = choices.chunk_by(|one, other| one.candidate.point == other.candidate.point);
    let recording = points.filter(|point| point[0].candidate.point.arm.is_none()).map(recording_edit);
    choosing.chain(recording).collect()
}

/// The values of the operands of an operation.
const LEFT: &str = "simutant_left";
const RIGHT: &str = "simutant_right";

/// Returns the edits that evaluate the operands of an operation, of which a `match` keeps the temporaries, and then
/// choose what their values are combined by.
fn operation_edits(point: &Point, operation: Operation, choices: &[&Choice<'_>]) -> Vec<Edit> {
    let first = choices[0].number();
    let offsets: Vec<u32> = choices.iter().flat_map(|choice| choice.offsets(first)).collect();
    let hit = format!("(match (::simutant_probe::hit_among({first}, &{offsets:?}), ");
    let choose = format!("{}(", original_arm(choices));
    let mut arms: Vec<Piece> = vec!["),".into()];
    arms.extend(choices.iter().flat_map(|choice| choice.arm(first)));
    arms.push(" } })".into());
    let Range { start, end } = point.range();
    let Operation { left_end, right_start, shares_right } = operation;
    if shares_right {
        let mut after = vec![
            format!(") {{ ((), {LEFT}, {RIGHT}) => {choose}{LEFT}").into(),
            Piece::Source(left_end..right_start),
            RIGHT.into(),
        ];
        after.append(&mut arms);
        let between = Edit::replace(left_end..right_start, MUTATED, vec![", ".into()]);
        vec![Edit::wrap(start..end, MUTATED, vec![hit.into()], after), between]
    } else {
        let left = vec![format!(") {{ ((), {LEFT}) => {choose}{LEFT}").into()];
        vec![
            Edit::wrap(start..end, MUTATED, vec![hit.into()], arms),
            Edit::wrap(start..left_end, MUTATED, Vec::new(), left),
        ]
    }
}

/// Returns the edit that chooses between the original and mutants at one place.
fn choosing_edit(point: &Point, choices: &[&Choice<'_>]) -> Edit {
    let first = choices[0].number();
    let (open, close) = match point.form {
        Form::Expression | Form::Jump => ("(", ")"),
        Form::Statement => ("", ""),
        Form::Block | Form::ArmBody | Form::Arm => ("{", "}"),
    };
    let is_value = matches!(point.form, Form::Expression | Form::Jump);
    // The original stands first, so that the compiler blames the mutants where types differ.
    let start = format!("{open}{}{}", original_arm(choices), if is_value { "(" } else { "{" });
    let mut end: Vec<Piece> = vec![if is_value { ")," } else { "}" }.into()];
    end.extend(choices.iter().flat_map(|choice| choice.arm(first)));
    end.push(format!(" }}{close}").into());
    Edit::wrap(point.range(), MUTATED, vec![start.into()], end)
}

/// Returns the beginning of a choice, up to what is evaluated where none of the mutants is active.
fn original_arm(choices: &[&Choice<'_>]) -> String {
    format!("match ::simutant_probe::active().wrapping_sub({}) {{ {} => ", choices[0].number(), others(choices))
}

/// Returns the pattern of the offsets that belong to none of the mutants.
fn others(choices: &[&Choice<'_>]) -> String {
    let first = choices[0].number();
    let mut taken: Vec<u32> = choices.iter().flat_map(|choice| choice.offsets(first)).collect();
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
        format!(" if {}true, {} => ", original_arm(&[choice]), choice.pattern(choice.number()),).into(),
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

fn recording_edit(point: &[Choice<'_>]) -> Edit {
    let Point { form, .. } = point[0].candidate.point;
    let range = point[0].candidate.point.range();
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
