//! What other choices do to the first place, in words and as a table.

use std::collections::BTreeMap;

use simutant_analysis::{
    Analysis, DECIDING_ROWS_MIN, FirstPlace, Measure, OtherChoice, Recommendation, Sensitivity, Variant, plural,
};

use crate::terminal::Rows;
use crate::text::{correlation, list, or_none};

/// How many variants that change the first place the table has room for.
const SHOWN_MAX: usize = 12;

/// A kind of choice, with a row of its own in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Family {
    Operators,
    Functions,
    Fifths,
    Counts,
    Thresholds,
    Measures,
}

impl Family {
    const ALL: [Self; 6] =
        [Self::Operators, Self::Functions, Self::Fifths, Self::Counts, Self::Thresholds, Self::Measures];

    fn title(self) -> &'static str {
        match self {
            Self::Operators => "without an operator",
            Self::Functions => "without a function",
            Self::Fifths => "without a fifth of the universe",
            Self::Counts => "other counts",
            Self::Thresholds => "other thresholds",
            Self::Measures => "another measure",
        }
    }
}

fn family_of(choice: &OtherChoice) -> Family {
    match choice {
        OtherChoice::WithoutOperator(_) => Family::Operators,
        OtherChoice::WithoutFunction(_) => Family::Functions,
        OtherChoice::WithoutFifth(_) => Family::Fifths,
        OtherChoice::OwnSeeds
        | OtherChoice::Unweighted
        | OtherChoice::ByDifficulty
        | OtherChoice::Dominators
        | OtherChoice::KillRows => Family::Counts,
        OtherChoice::ByScore | OtherChoice::ByWorth => Family::Measures,
        OtherChoice::PathologicalAbove(_) => Family::Thresholds,
    }
}

/// Writes another choice.
fn other_choice(choice: &OtherChoice) -> String {
    match choice {
        OtherChoice::WithoutOperator(name) => format!("without operator {name}"),
        OtherChoice::WithoutFunction(path) => format!("without function {path}"),
        OtherChoice::WithoutFifth(part) => format!("without test cases {part}, {}, …", part + 5),
        OtherChoice::OwnSeeds => "kills on own seeds".to_owned(),
        OtherChoice::Unweighted => "each mutant counts the same".to_owned(),
        OtherChoice::ByDifficulty => "each mutant counts by its difficulty".to_owned(),
        OtherChoice::ByScore => "by mean score".to_owned(),
        OtherChoice::ByWorth => "by what a minute is worth".to_owned(),
        OtherChoice::Dominators => "dominator classes alone".to_owned(),
        OtherChoice::KillRows => "each kill row counts once".to_owned(),
        OtherChoice::PathologicalAbove(share) => format!("without mutants that more than {:.0} % kill", 100.0 * share),
    }
}

/// Writes a difference of values with its unit.
fn difference(measure: Measure, difference: f64) -> String {
    match measure {
        Measure::Score => format!("{:.1} points", 100.0 * difference),
        Measure::Worth => format!("{difference:.2} random minutes"),
    }
}

/// Returns what speaks against the first place, `None` if nothing does: it is the first sentence of the
/// recommendation.
pub(crate) fn sentence(sensitivity: &Sensitivity, analysis: &Analysis) -> Option<String> {
    let name = |criterion: usize| analysis.criteria[criterion].name.as_str();
    let candidates: Vec<&str> = sensitivity.candidates.iter().map(|&criterion| name(criterion)).collect();
    match sensitivity.first_place {
        FirstPlace::Firm => None,
        FirstPlace::FewRows => Some(format!(
            "{}, though {} kills no row more often.",
            lead(sensitivity, analysis),
            name(sensitivity.order[1])
        )),
        FirstPlace::Undecided => Some(format!(
            "No mutant tells {} apart, so no suite of a criterion is recommended: --criterion NAME takes the best one of that criterion.",
            list(&candidates)
        )),
        FirstPlace::Open => Some(format!(
            "Which criterion is best is open between {}: {}. The recommendation is the larger of their best suites that no other dominates, that of {}.",
            list(&candidates),
            reasons(sensitivity, analysis).join("; "),
            analysis.recommendation.as_ref().map_or("none", |found| name(found.recommended_criterion())),
        )),
    }
}

fn reasons(sensitivity: &Sensitivity, analysis: &Analysis) -> Vec<String> {
    let name = |criterion: usize| analysis.criteria[criterion].name.as_str();
    let best = sensitivity.order[0];
    let mut reasons = disagreements(sensitivity, analysis);
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    changed(sensitivity).for_each(|variant| *counts.entry(variant.first).or_default() += 1);
    let count = changed(sensitivity).count();
    if count > 0 {
        let regret = sensitivity.like_study().map(|variant| variant.regret).fold(0.0, f64::max);
        let recommended = analysis.recommendation.as_ref().map_or(best, Recommendation::recommended_criterion);
        let mut counts: Vec<(usize, usize)> = counts.into_iter().collect();
        counts.sort_by_key(|&(criterion, count)| (std::cmp::Reverse(count), criterion));
        let counts: Vec<String> =
            counts.into_iter().map(|(criterion, count)| format!("{} in {count}", name(criterion))).collect();
        reasons.push(format!(
            "under {count} of {} that the study varied, another criterion than {} comes first ({}), and {} is at most {} below the first",
            plural(sensitivity.like_study().count(), "choice"),
            name(best),
            counts.join(", "),
            name(recommended),
            difference(sensitivity.measure, regret),
        ));
    }
    if sensitivity.deciding_rows.is_some() {
        reasons.push(lead(sensitivity, analysis).replacen("The", "the", 1));
    }
    if count == 0 {
        let others = 1.0 - sensitivity.first_in_resamples[0];
        if others >= analysis.options.alpha {
            reasons.push(format!(
                "in {:.0} % of resamples of the kill rows, another criterion than {} comes first",
                100.0 * others,
                name(best)
            ));
        }
    }
    reasons
}

/// Says where dominator mutants, and kill rows that count once, put another criterion first than mutants do.
fn disagreements(sensitivity: &Sensitivity, analysis: &Analysis) -> Vec<String> {
    let name = |criterion: usize| analysis.criteria[criterion].name.as_str();
    let first = |choice: OtherChoice| {
        let variant = sensitivity.like_study().find(|variant| variant.choice == choice)?;
        (variant.first != sensitivity.order[0]).then(|| name(variant.first))
    };
    let best = name(sensitivity.order[0]);
    let dominators = first(OtherChoice::Dominators).map(|other| {
        format!("mutants and dominator mutants disagree, {best} being first by mutants and {other} by dominators")
    });
    let rows = first(OtherChoice::KillRows)
        .map(|other| format!("{best} is first by mutants that share kill rows, {other} if each kill row counts once"));
    dominators.into_iter().chain(rows).collect()
}

/// What the lead of the first over the second rests on.
fn lead(sensitivity: &Sensitivity, analysis: &Analysis) -> String {
    let [best, second] =
        [sensitivity.order[0], sensitivity.order[1]].map(|criterion| analysis.criteria[criterion].name.as_str());
    let rows = plural(sensitivity.rows, "different kill row");
    match sensitivity.deciding_rows {
        Some(0) => format!("{best} and {second} are equal on average"),
        Some(deciding) => format!("The lead of {best} over {second} rests on {deciding} of {rows}"),
        None => format!("The lead of {best} over {second} rests on {DECIDING_ROWS_MIN} or more of {rows}"),
    }
}

/// The variants in which another criterion comes first, by what the study goes by.
fn changed(sensitivity: &Sensitivity) -> impl Iterator<Item = &Variant> {
    sensitivity.like_study().filter(|variant| variant.first != sensitivity.order[0])
}

/// Returns a row for each kind of choice, and one for each choice that changes the first place.
pub(crate) fn rows(sensitivity: &Sensitivity, analysis: &Analysis) -> Rows {
    let name = |criterion: usize| analysis.criteria[criterion].name.as_str();
    let regret_of = |variant: &Variant| difference(variant.measure, variant.regret);
    let of_family = |family: Family| {
        let variants = || sensitivity.variants.iter().filter(move |variant| family_of(&variant.choice) == family);
        let count = variants().count();
        let first_of_study = sensitivity.order[0];
        let taus = variants().filter_map(|variant| variant.tau);
        let share = |variant: &Variant| variant.regret / (variant.values.iter().copied().fold(0.0, f64::max));
        let worst = variants().max_by(|one, other| share(one).total_cmp(&share(other)))?;
        let changed = variants().filter(|variant| variant.first != first_of_study).count();
        let first = match changed {
            0 => name(first_of_study).to_owned(),
            1 if count == 1 => name(worst.first).to_owned(),
            _ => format!("another in {changed} of {count}"),
        };
        let bound = |text: String, is_exact: bool, or: &str| if is_exact { text } else { format!("{text} {or}") };
        let tau = or_none(taus.reduce(f64::min), |tau| bound(correlation(tau), count == 1 || tau == 1.0, "or more"));
        let regret = bound(regret_of(worst), count == 1 || worst.regret == 0.0, "or less");
        Some(vec![family.title().to_owned(), count.to_string(), first, tau, regret])
    };
    let of_variant = |variant: &Variant| {
        vec![
            other_choice(&variant.choice),
            String::new(),
            name(variant.first).to_owned(),
            or_none(variant.tau, correlation),
            regret_of(variant),
        ]
    };
    let mut table: Vec<Vec<String>> = Family::ALL.into_iter().filter_map(of_family).collect();
    table.extend(changed(sensitivity).take(SHOWN_MAX).map(of_variant));
    Rows { head: ["other choice", "of them", "first", "tau-b", "regret"].map(str::to_owned).to_vec(), rows: table }
}

/// Returns what the table shows, and how often each criterion is first when mutants are drawn again.
pub(crate) fn notes(sensitivity: &Sensitivity, analysis: &Analysis) -> Vec<String> {
    let name = |criterion: usize| analysis.criteria[criterion].name.as_str();
    let recommended = analysis.recommendation.as_ref();
    let recommended = recommended.map_or(name(sensitivity.order[0]), |found| name(found.recommended_criterion()));
    let mut notes = vec![format!(
        "Tau-b: the order of all criteria against that of the study. Regret: how much less {} {recommended} has there than the first. Rows of \
         single choices are those that change the first place; all are in results.json.",
        match sensitivity.measure {
            Measure::Score => "mean score",
            Measure::Worth => "worth of a minute",
        }
    )];
    let more = changed(sensitivity).count().saturating_sub(SHOWN_MAX);
    if more > 0 {
        notes.push(format!("{more} more choices change the first place."));
    }
    let shares = sensitivity.order.iter().zip(&sensitivity.first_in_resamples);
    let mut shares: Vec<(usize, f64)> = shares.map(|(&criterion, &share)| (criterion, share)).collect();
    shares.sort_by(|one, other| other.1.total_cmp(&one.1));
    let shares: Vec<String> = shares
        .into_iter()
        .filter(|(_, share)| *share >= 0.005)
        .map(|(criterion, share)| format!("{} in {:.0} %", name(criterion), 100.0 * share))
        .collect();
    notes.push(format!(
        "First in {} resamples of the kill rows: {}. {}.",
        sensitivity.resamples,
        shares.join(", "),
        lead(sensitivity, analysis),
    ));
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::recommendation_sentences;
    use crate::{report, tables};
    use simutant_analysis::{AnalysisOptions, analyse};
    use simutant_synthetic::{TaggedMutants, asks_for, on_own_seeds, row_of_ten};

    #[track_caller]
    fn check(
        mutants: TaggedMutants,
        criteria: [&[usize]; 2],
        expect: FirstPlace,
        recommended: Option<&str>,
        parts: &[&str],
    ) {
        let criteria = criteria.map(asks_for).to_vec();
        let outcomes = on_own_seeds(&mutants, &criteria);
        let options = AnalysisOptions {
            suites: 6,
            resamples: 100,
            boosting_repetitions: 2,
            boosting_suites_max: 2,
            ..AnalysisOptions::default()
        };
        let analysis = analyse(&outcomes, &options).expect("sound outcomes");
        let found = analysis.sensitivity.as_ref().expect("there are two criteria");
        assert_eq!(found.first_place, expect, "{found:?}");
        let chosen = analysis.recommendation.as_ref().map(|recommendation| recommendation.criterion.as_str());
        assert_eq!(chosen, recommended, "{found:?}");
        let sentences = recommendation_sentences(&analysis);
        parts.iter().for_each(|part| assert!(sentences[0].contains(part), "{part}: {}", sentences[0]));
        assert_eq!(sentences[0].starts_with("Which criterion is best is open"), expect == FirstPlace::Open);
        assert_eq!(sentence(found, &analysis).is_none(), expect == FirstPlace::Firm);
        for shown in [tables(&analysis, None), report(&outcomes, &analysis, None)] {
            assert!(crate::terminal::flat(&shown).contains(&sentences[0]), "{}", sentences[0]);
            assert_eq!(
                shown.contains("dominator classes alone") || shown.contains("other counts"),
                found.rows > 0,
                "{shown}"
            );
        }
    }

    /// Rows that `a` kills with test cases 0 and 1.
    const OF_A: [&[usize]; 8] = [&[0], &[1], &[0, 1], &[0, 2], &[0, 3], &[0, 4], &[1, 2], &[1, 3]];

    #[test]
    fn a_first_place_that_nothing_changes_is_firm() {
        let mutants = OF_A.iter().enumerate().map(|(tag, killing)| row_of_ten(killing, tag)).collect();
        check(mutants, [&[0, 1], &[6, 7, 8, 9]], FirstPlace::Firm, Some("a"), &["Choose inputs by a: "]);
    }

    #[test]
    fn the_larger_suite_is_recommended_where_the_first_place_changes() {
        let of_a = OF_A.iter().map(|killing| row_of_ten(killing, 0));
        let of_b: [&[usize]; 5] = [&[6], &[7], &[8], &[9], &[6, 7]];
        let mutants: TaggedMutants = of_a.chain(of_b.iter().map(|killing| row_of_ten(killing, 4))).collect();
        let parts = [
            "open between a and b: mutants and dominator mutants disagree, a being first by mutants and b by dominators; under 5 of 13 choices that the study varied, another criterion than a comes first (b in 5), and b is at most ",
            "the lead of a over b rests on 3 of 13 different kill rows",
            "that of b.",
        ];
        check(mutants.clone(), [&[0, 1], &[6, 7, 8, 9]], FirstPlace::Open, Some("b"), &parts);
        // Of equally large suites, that of the first.
        let of_same_size: [&[usize]; 2] = [&[0, 1, 3, 4], &[6, 7, 8, 9]];
        check(mutants, of_same_size, FirstPlace::Open, Some("a"), &["that of a."]);
    }

    #[test]
    fn few_rows_leave_the_first_place_open() {
        let mut mutants: TaggedMutants = OF_A[..3].iter().map(|killing| row_of_ten(killing, 0)).collect();
        let parts = ["The lead of a over b rests on 3 of 3 different kill rows, though b kills no row more often."];
        check(mutants.clone(), [&[0, 1], &[6, 7, 8, 9]], FirstPlace::FewRows, Some("a"), &parts);
        mutants.push(row_of_ten(&[6], 0));
        let parts = ["open between a and b: the lead of a over b rests on 2 of 4 different kill rows", "that of a."];
        check(mutants, [&[0, 1], &[6, 7, 8, 9]], FirstPlace::Open, Some("a"), &parts);
    }

    #[test]
    fn a_first_place_that_resamples_change_is_open() {
        let of_a: [&[usize]; 9] = [&[0, 1], &[0, 2], &[0, 3], &[0, 4], &[0, 5], &[1, 2], &[1, 3], &[1, 4], &[1, 5]];
        let of_b: [&[usize]; 4] = [&[6, 7], &[8, 9], &[6, 8], &[7, 9]];
        let mutants = of_a.iter().chain(&of_b).enumerate().map(|(tag, killing)| row_of_ten(killing, tag)).collect();
        let parts = [
            "open between a and b: in ",
            " % of resamples of the kill rows, another criterion than a comes first. The",
            "that of a.",
        ];
        check(mutants, [&[0, 1], &[6, 7, 8, 9]], FirstPlace::Open, Some("a"), &parts);
    }

    #[test]
    fn no_mutant_that_tells_criteria_apart_is_no_recommendation() {
        let said = ["No mutant tells a and b apart, so no suite of a criterion is recommended"];
        check(vec![row_of_ten(&[0], 0)], [&[1, 2], &[6, 7]], FirstPlace::Undecided, None, &said);
        // No mutant counts: all test cases kill it.
        let all: Vec<usize> = (0..10).collect();
        check(vec![row_of_ten(&all, 0)], [&[1, 2], &[6, 7]], FirstPlace::Undecided, None, &said);
    }
}
