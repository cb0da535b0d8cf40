//! Whether the parts of the outcomes fit together, so that the rest can index without asking.

use simutant_outcomes::{CostKills, CostRole, Outcomes, Quota, Reseeded, RunEnd, Span};

/// Parts of [`Outcomes`] that do not fit together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// A list or bit set has another length than what it describes.
    #[error("field `{field}` has {found} entries, and there are {expected} {of}")]
    Length {
        /// The field.
        field: String,
        /// Its length.
        found: usize,
        /// The length that it should have.
        expected: usize,
        /// What it should have one entry for.
        of: &'static str,
    },
    /// A list that the analysis needs is empty.
    #[error("field `{0}` is empty: there is nothing to analyse")]
    Empty(&'static str),
    /// A place is outside its file, or cuts a character in two.
    #[error("field `{field}` points outside the files in `sites.files`")]
    Place {
        /// The field.
        field: String,
    },
    /// A mutant's original code is not what stands at its place.
    #[error("field `sites.mutants[{0}].original` is not the code at its place")]
    Original(usize),
    /// A mutant of higher order names parts that there are not.
    #[error("field `sites.mutants[{0}].parts` names mutants that there are not")]
    Parts(usize),
    /// A mutant is killed by a test case that did not infect it.
    #[error("field `kills[{mutant}]`: test case {case} kills it without infecting it")]
    KilledUninfected {
        /// The mutant's number.
        mutant: usize,
        /// The test case.
        case: usize,
    },
    /// A mutant's run differs from the original's on a test case that did not infect it.
    #[error("field `diverged[{mutant}]`: test case {case} diverges without infecting it")]
    DivergedUninfected {
        /// The mutant's number.
        mutant: usize,
        /// The test case.
        case: usize,
    },
    /// The causes of a mutant's kills do not agree with its verdicts.
    #[error("field `causes[{mutant}]` counts {found} kills that were {verdict}, `verdicts[{mutant}]` has {expected}")]
    Causes {
        /// The mutant's number.
        mutant: usize,
        /// The verdict of the causes.
        verdict: RunEnd,
        /// The kills that the causes count.
        found: u32,
        /// The kills that the verdicts count.
        expected: u32,
    },
    /// The verdicts of a mutant do not agree with its kills.
    #[error("field `verdicts[{mutant}]` counts {found} kills, `kills[{mutant}]` has {expected}")]
    Verdicts {
        /// The mutant's number.
        mutant: usize,
        /// The kills that the verdicts count.
        found: usize,
        /// The kills.
        expected: usize,
    },
    /// A quota asks for what the criterion does not have, or two share a requirement.
    #[error(
        "field `criteria[{criterion}].quotas[{quota}]` goes beyond the requirements, or into an earlier quota, or asks for more than there are"
    )]
    Quota {
        /// The criterion.
        criterion: usize,
        /// The quota.
        quota: usize,
    },
    /// A pair has more kills than runs.
    #[error("field `reseeded.kills[{mutant}][{case}]` is more than there are runs")]
    MoreKills {
        /// The mutant's number.
        mutant: usize,
        /// The test case.
        case: usize,
    },
    /// A kill by cost is one of a pair whose run does not pass, or costs the same, or it is not among the kills
    /// although it counts.
    #[error("field `cost`: test case {case} cannot kill mutant {mutant} by cost")]
    Cost {
        /// The mutant's number.
        mutant: usize,
        /// The test case.
        case: usize,
    },
    /// Two criteria have one name.
    #[error("field `criteria`: the name `{0}` occurs twice")]
    DuplicateCriterion(String),
}

/// Checks that every list is as long as what it describes, and that every place lies in its file.
///
/// Cost O(mutants * cases / 64), as the kills are compared with the infections.
///
/// # Errors
/// [`ShapeError`], which names the first field that does not fit.
pub(crate) fn validate(outcomes: &Outcomes) -> Result<(), ShapeError> {
    if outcomes.cases.is_empty() {
        return Err(ShapeError::Empty("cases"));
    }
    if outcomes.criteria.is_empty() {
        return Err(ShapeError::Empty("criteria"));
    }
    validate_criteria(outcomes)?;
    validate_kills(outcomes)?;
    if let Some(reseeded) = &outcomes.reseeded {
        validate_reseeded(outcomes, reseeded)?;
    }
    if let Some(cost) = &outcomes.cost {
        validate_cost(outcomes, cost)?;
    }
    validate_places(outcomes)
}

fn validate_cost(outcomes: &Outcomes, cost: &CostKills) -> Result<(), ShapeError> {
    let (mutants, cases) = (outcomes.kills.len(), outcomes.cases.len());
    length("cost.kills", cost.kills.len(), mutants, "mutants")?;
    for (mutant, by_cost) in cost.kills.iter().enumerate() {
        length(format!("cost.kills[{mutant}]"), by_cost.len(), cases, "test cases")?;
        let kills = &outcomes.kills[mutant];
        let misplaced = match cost.role {
            CostRole::Apart => by_cost.ones().find(|&case| kills.contains(case)),
            CostRole::Counted => by_cost.ones().find(|&case| !kills.contains(case)),
        };
        if let Some(case) = misplaced.or_else(|| by_cost.ones().find(|&case| !outcomes.diverged[mutant].contains(case)))
        {
            return Err(ShapeError::Cost { mutant, case });
        }
    }
    let Some((reseeded, by_cost)) = outcomes.reseeded.as_ref().zip(cost.reseeded.as_ref()) else {
        let is_alike = outcomes.reseeded.is_none() == cost.reseeded.is_none();
        return if is_alike { Ok(()) } else { Err(ShapeError::Empty("cost.reseeded")) };
    };
    length("cost.reseeded", by_cost.len(), mutants, "mutants")?;
    for (mutant, by_cost) in by_cost.iter().enumerate() {
        length(format!("cost.reseeded[{mutant}]"), by_cost.len(), cases, "test cases")?;
        let passed = |case: usize| match cost.role {
            CostRole::Apart => reseeded.runs[mutant][case] - reseeded.kills[mutant][case],
            CostRole::Counted => reseeded.kills[mutant][case],
        };
        if let Some(case) = (0..cases).find(|&case| by_cost[case] > passed(case)) {
            return Err(ShapeError::Cost { mutant, case });
        }
    }
    Ok(())
}

fn validate_reseeded(outcomes: &Outcomes, reseeded: &Reseeded) -> Result<(), ShapeError> {
    let (mutants, cases) = (outcomes.kills.len(), outcomes.cases.len());
    for (name, counts) in [("runs", &reseeded.runs), ("kills", &reseeded.kills)] {
        length(format!("reseeded.{name}"), counts.len(), mutants, "mutants")?;
        for (mutant, counts) in counts.iter().enumerate() {
            length(format!("reseeded.{name}[{mutant}]"), counts.len(), cases, "test cases")?;
        }
    }
    for (mutant, (runs, kills)) in reseeded.runs.iter().zip(&reseeded.kills).enumerate() {
        if let Some(case) = (0..cases).find(|&case| kills[case] > runs[case]) {
            return Err(ShapeError::MoreKills { mutant, case });
        }
    }
    length("reseeded.covered", reseeded.covered.len(), outcomes.criteria.len(), "criteria")?;
    for (index, (covered, criterion)) in reseeded.covered.iter().zip(&outcomes.criteria).enumerate() {
        length(format!("reseeded.covered[{index}]"), covered.len(), cases, "test cases")?;
        for (case, counts) in covered.iter().enumerate() {
            let field = format!("reseeded.covered[{index}][{case}]");
            length(field, counts.len(), criterion.requirements.len(), "requirements")?;
        }
    }
    Ok(())
}

fn length(field: impl Into<String>, found: usize, expected: usize, of: &'static str) -> Result<(), ShapeError> {
    if found == expected {
        return Ok(());
    }
    Err(ShapeError::Length { field: field.into(), found, expected, of })
}

fn validate_criteria(outcomes: &Outcomes) -> Result<(), ShapeError> {
    for (index, criterion) in outcomes.criteria.iter().enumerate() {
        if outcomes.criteria[..index].iter().any(|other| other.name == criterion.name) {
            return Err(ShapeError::DuplicateCriterion(criterion.name.clone()));
        }
        length(format!("criteria[{index}].covered"), criterion.covered.len(), outcomes.cases.len(), "test cases")?;
        for (case, covered) in criterion.covered.iter().enumerate() {
            let field = || format!("criteria[{index}].covered[{case}]");
            length(field(), covered.len(), criterion.requirements.len(), "requirements")?;
        }
        for (quota, own) in criterion.quotas.iter().enumerate() {
            let range = &own.requirements;
            let is_inside = range.start <= range.end && range.end <= criterion.requirements.len();
            let is_apart =
                |other: &Quota| other.requirements.end <= range.start || range.end <= other.requirements.start;
            let is_alone = criterion.quotas[..quota].iter().all(is_apart);
            if !is_inside || !is_alone || own.covered_min > range.len() {
                return Err(ShapeError::Quota { criterion: index, quota });
            }
        }
        let sites = match criterion.name.as_str() {
            "all-blocks" => Some((outcomes.sites.blocks.len(), "blocks in `sites`")),
            "all-branches" => Some((outcomes.sites.branches.len(), "branches in `sites`")),
            "all-defs" => Some((outcomes.sites.definitions.len(), "definitions in `sites`")),
            "all-uses" => Some((outcomes.sites.pairs.len(), "pairs in `sites`")),
            "mc-dc" => Some((outcomes.sites.conditions.len(), "conditions in `sites`")),
            _ => None,
        };
        if let Some((expected, of)) = sites {
            length(format!("criteria[{index}].requirements"), criterion.requirements.len(), expected, of)?;
        }
    }
    Ok(())
}

fn validate_kills(outcomes: &Outcomes) -> Result<(), ShapeError> {
    let mutants = outcomes.sites.mutants.len();
    for (case, outcome) in outcomes.cases.iter().enumerate() {
        length(format!("cases[{case}].reached"), outcome.reached.len(), mutants, "mutants")?;
        length(format!("cases[{case}].infected"), outcome.infected.len(), mutants, "mutants")?;
    }
    length("kills", outcomes.kills.len(), mutants, "mutants")?;
    length("verdicts", outcomes.verdicts.len(), mutants, "mutants")?;
    length("reasons", outcomes.reasons.len(), mutants, "mutants")?;
    length("causes", outcomes.causes.len(), mutants, "mutants")?;
    length("diverged", outcomes.diverged.len(), mutants, "mutants")?;
    for (mutant, kills) in outcomes.kills.iter().enumerate() {
        length(format!("kills[{mutant}]"), kills.len(), outcomes.cases.len(), "test cases")?;
        let uninfected = |case: &usize| !outcomes.cases[*case].infected.contains(mutant);
        if let Some(case) = kills.ones().find(uninfected) {
            return Err(ShapeError::KilledUninfected { mutant, case });
        }
        let (found, expected) = (outcomes.verdicts[mutant].kills() as usize, kills.count_ones(..));
        if found != expected {
            return Err(ShapeError::Verdicts { mutant, found, expected });
        }
        let diverged = &outcomes.diverged[mutant];
        length(format!("diverged[{mutant}]"), diverged.len(), outcomes.cases.len(), "test cases")?;
        if let Some(case) = diverged.ones().find(uninfected) {
            return Err(ShapeError::DivergedUninfected { mutant, case });
        }
        for verdict in RunEnd::ALL.into_iter().filter(|verdict| verdict.kills()) {
            let causes = outcomes.causes[mutant].iter().filter(|(cause, _)| cause.verdict() == verdict);
            let (found, expected) = (causes.map(|(_, count)| count).sum(), outcomes.verdicts[mutant].of(verdict));
            if found != expected {
                return Err(ShapeError::Causes { mutant, verdict, found, expected });
            }
        }
    }
    Ok(())
}

fn validate_places(outcomes: &Outcomes) -> Result<(), ShapeError> {
    let sites = &outcomes.sites;
    let place = |field: &str, index: usize, span: Span| {
        let lies_inside = sites.files.get(span.file).is_some_and(|file| file.text.get(span.start..span.end).is_some());
        if lies_inside && span.line >= 1 && span.line <= span.line_end {
            return Ok(());
        }
        Err(ShapeError::Place { field: format!("sites.{field}[{index}].span") })
    };
    for (index, function) in sites.functions.iter().enumerate() {
        place("functions", index, function.span)?;
    }
    for (index, block) in sites.blocks.iter().enumerate() {
        place("blocks", index, block.span)?;
    }
    for (index, branch) in sites.branches.iter().enumerate() {
        place("branches", index, branch.span)?;
    }
    for (index, definition) in sites.definitions.iter().enumerate() {
        place("definitions", index, definition.span)?;
    }
    for (index, pair) in sites.pairs.iter().enumerate() {
        place("pairs", index, pair.span)?;
        if pair.definition >= sites.definitions.len() {
            return Err(ShapeError::Place { field: format!("sites.pairs[{index}].definition") });
        }
        if pair.branch.is_some_and(|branch| branch >= sites.branches.len()) {
            return Err(ShapeError::Place { field: format!("sites.pairs[{index}].branch") });
        }
    }
    for (index, condition) in sites.conditions.iter().enumerate() {
        place("conditions", index, condition.span)?;
    }
    for (index, function) in sites.uninstrumented.iter().enumerate() {
        place("uninstrumented", index, function.span)?;
    }
    for (index, function) in sites.left_out.iter().enumerate() {
        place("left_out", index, function.span)?;
    }
    for (index, constant) in sites.unmutated.iter().enumerate() {
        place("unmutated", index, constant.span)?;
    }
    for (index, definition) in sites.macros.iter().enumerate() {
        place("macros", index, definition.span)?;
    }
    for (index, name) in sites.ambiguous.iter().enumerate() {
        place("ambiguous", index, name.span)?;
    }
    for (index, skipped) in sites.skipped.iter().enumerate() {
        place("skipped", index, skipped.span)?;
    }
    for (index, rejected) in sites.rejected.iter().enumerate() {
        place("rejected", index, rejected.mutant.span)?;
    }
    for (index, mutant) in sites.mutants.iter().enumerate() {
        place("mutants", index, mutant.span)?;
        let span = mutant.span;
        if sites.files[span.file].text[span.start..span.end] != mutant.original {
            return Err(ShapeError::Original(index));
        }
        if mutant.function >= sites.functions.len() {
            return Err(ShapeError::Place { field: format!("sites.mutants[{index}].function") });
        }
        if mutant.parts.iter().flatten().any(|&part| part as usize >= sites.mutants.len()) {
            return Err(ShapeError::Parts(index));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use simutant_synthetic::synthetic;

    #[track_caller]
    fn check(change: impl FnOnce(&mut Outcomes), expect: &str) {
        let mut outcomes = synthetic(20, 1);
        change(&mut outcomes);
        let message = validate(&outcomes).expect_err("the outcomes are damaged").to_string();
        assert!(message.contains(expect), "{message}");
    }

    #[test]
    fn sound_outcomes_pass() {
        assert_eq!(validate(&synthetic(20, 1)), Ok(()));
    }

    #[test]
    fn the_first_field_that_does_not_fit_is_named() {
        check(|outcomes| outcomes.cases.clear(), "field `cases` is empty");
        check(|outcomes| outcomes.criteria.clear(), "field `criteria` is empty");
        check(|outcomes| drop(outcomes.kills.pop()), "field `kills` has");
        check(|outcomes| outcomes.kills[3].grow(99), "field `kills[3]` has 99 entries, and there are 20 test cases");
        check(
            |outcomes| {
                outcomes.cases[2].infected.clear();
                outcomes.diverged.iter_mut().for_each(|diverged| diverged.clear());
            },
            "test case 2 kills it without infecting it",
        );
        check(|outcomes| outcomes.verdicts[1].abnormal += 1, "field `verdicts[1]` counts");
        let killed = |outcomes: &Outcomes| outcomes.causes.iter().position(|causes| !causes.is_empty());
        check(
            |outcomes| {
                let killed = killed(outcomes).expect("some are killed");
                outcomes.causes[killed].clear();
            },
            "` counts 0 kills that were ",
        );
        check(|outcomes| outcomes.diverged[0].grow(99), "field `diverged[0]` has 99 entries");
        check(
            |outcomes| {
                outcomes.cases[2].infected.clear();
                outcomes.kills.iter_mut().for_each(|kills| kills.clear());
                outcomes.verdicts.iter_mut().for_each(|verdicts| *verdicts = Default::default());
                outcomes.causes.iter_mut().for_each(|causes| causes.clear());
            },
            "test case 2 diverges without infecting it",
        );
        check(|outcomes| outcomes.criteria[1].covered[4].grow(999), "field `criteria[1].covered[4]` has 999 entries");
        let quota = |requirements, covered_min| Quota { requirements, covered_min };
        check(|outcomes| outcomes.criteria[0].quotas.push(quota(0..999, 1)), "`criteria[0].quotas[0]` goes beyond");
        check(|outcomes| outcomes.criteria[0].quotas.push(quota(0..2, 3)), "`criteria[0].quotas[0]` goes beyond");
        let overlapping = [quota(0..2, 1), quota(1..3, 1)];
        check(|outcomes| outcomes.criteria[0].quotas.extend(overlapping), "`criteria[0].quotas[1]` goes beyond");
        check(|outcomes| outcomes.sites.blocks[0].span.end = 1 << 40, "field `sites.blocks[0].span` points outside");
        check(|outcomes| outcomes.sites.mutants[5].parts = Some([0, 9_999]), "field `sites.mutants[5].parts` names");
        check(|outcomes| outcomes.sites.mutants[5].original.push('x'), "field `sites.mutants[5].original` is not");
        check(|outcomes| outcomes.criteria[1].name = "all-blocks".into(), "the name `all-blocks` occurs twice");
    }
}
