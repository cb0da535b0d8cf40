//! What changed between two studies, for a terminal.

use simutant_analysis::{
    Change, CriterionDifference, CriterionStanding, Difference, MutantDifference, MutantState, percent, plural,
};

use crate::terminal::{cells, fitting, table, wrapped_lines};
use crate::text::{NONE, or_none};

/// How many mutants, or requirements, of a kind are listed.
const LISTED_MAX: usize = 20;

/// The most characters of code that a row shows.
const CODE_CHARACTERS_MAX: usize = 30;

/// Returns the difference as text without colours, ending in a line break.
pub fn difference_tables(difference: &Difference) -> String {
    let mut text = universes(difference);
    if difference.is_empty() {
        return text + &format!("{}: the two studies do not differ.\n", difference.system);
    }
    if !difference.files.is_empty() {
        text.push_str(&format!("The source differs in {}.\n", difference.files.join(", ")));
    }
    text.push_str(&mutants(difference));
    text.push_str(&criteria(difference));
    text.push_str(&suites(difference));
    wrapped_lines(&text)
}

fn universes(difference: &Difference) -> String {
    if difference.same_universe {
        return String::new();
    }
    let Change { before, after } = difference.cases;
    format!("The studies have different test cases ({before} and {after}), so what differs can come from them alone.\n")
}

fn mutants(difference: &Difference) -> String {
    let mutants = &difference.mutants;
    let mut text = format!(
        "\nMutants: {} before, {} after; the universe killed {}, and kills {}\n",
        mutants.count.before, mutants.count.after, difference.universe_score.before, difference.universe_score.after
    );
    for (what, found) in [
        ("killed before and alive now", &mutants.no_longer_killed),
        ("alive before and killed now", &mutants.newly_killed),
        ("alive in both, of another class", &mutants.other_class),
        ("new", &mutants.new),
        ("gone", &mutants.gone),
    ] {
        text.push_str(&listed_mutants(what, found));
    }
    text
}

fn criteria(difference: &Difference) -> String {
    let mut table = table(["criterion", "covered", "size", "score", "dominators", "new", "gone", "covered +", "−"]);
    for CriterionDifference { name, standing, new, gone, newly_covered, no_longer_covered } in &difference.criteria {
        let arrow = |of: &dyn Fn(CriterionStanding) -> Option<String>| {
            arrow(standing.before.and_then(of), standing.after.and_then(of))
        };
        let mut row = vec![
            name.clone(),
            arrow(&|standing| Some(format!("{}/{}", standing.covered, standing.requirements))),
            arrow(&|standing| standing.size.map(|size| format!("{size:.1}"))),
            arrow(&|standing| standing.score.map(percent)),
            arrow(&|standing| standing.dominator_score.map(percent)),
        ];
        row.extend([new, gone, newly_covered, no_longer_covered].map(|labels| labels.len().to_string()));
        table.add_row(cells(row));
    }
    let mut text =
        format!("\nCriteria: what the universe covers, and the means of their suites\n{}\n", fitting(&table));
    if difference.order.before != difference.order.after {
        let order = |names: &[String]| names.join(", ");
        text.push_str(&format!(
            "Best first, before: {}.\nBest first, after: {}.\n",
            order(&difference.order.before),
            order(&difference.order.after)
        ));
    }
    for criterion in &difference.criteria {
        for (what, labels) in
            [("no longer covered", &criterion.no_longer_covered), ("newly covered", &criterion.newly_covered)]
        {
            for label in labels.iter().take(LISTED_MAX) {
                text.push_str(&format!("{what}: {}: {label}\n", criterion.name));
            }
            text.push_str(&more(labels.len()));
        }
    }
    text
}

fn suites(difference: &Difference) -> String {
    let suite = &difference.suite;
    let score = |score: Option<f64>| or_none(score, percent);
    let side = |criterion: &Option<String>, size, mutant_score, dominator_score| match criterion {
        Some(criterion) => format!(
            "{} by {criterion}, mutants {}, dominators {}",
            plural(size, "input"),
            score(mutant_score),
            score(dominator_score)
        ),
        None => "none".to_owned(),
    };
    let first = match &difference.first {
        Change { before: Some(before), after: Some(after) } if before == after => {
            format!("First of the criteria: {before}, in both\n")
        }
        Change { before, after } => {
            let name = |name: &Option<String>| name.clone().unwrap_or_else(|| "none".to_owned());
            format!("First of the criteria before: {}, after: {}\n", name(before), name(after))
        }
    };
    let mut text = format!(
        "\n{first}Suite before: {}\nSuite after: {}\n",
        side(&suite.criterion.before, suite.size.before, suite.mutant_score.before, suite.dominator_score.before),
        side(&suite.criterion.after, suite.size.after, suite.mutant_score.after, suite.dominator_score.after),
    );
    for (whose, other, score) in [("before", "after", suite.in_other.before), ("after", "before", suite.in_other.after)]
    {
        if let Some(score) = score {
            text.push_str(&format!("The suite {whose} kills {score} of the mutants {other}\n"));
        }
    }
    for (what, names) in [("New in it", &suite.new), ("Gone from it", &suite.gone)] {
        if !names.is_empty() {
            text.push_str(&format!("{what}: {}\n", names.join(", ")));
        }
    }
    text
}

fn listed_mutants(what: &str, mutants: &[MutantDifference]) -> String {
    if mutants.is_empty() {
        return String::new();
    }
    let mut table = table(["identity", "operator", "place", "change", "before", "after", "kills"]);
    for mutant in mutants.iter().take(LISTED_MAX) {
        let MutantDifference { identity, operator, place, original, replacement, before, after, is_rejected } = mutant;
        let class = |state: &Option<MutantState>| match state {
            Some(state) => state.class.to_string(),
            None if *is_rejected => "does not compile".to_owned(),
            None => NONE.to_owned(),
        };
        let kills = |state: &Option<MutantState>| state.map(|state| state.kills.to_string());
        table.add_row(cells([
            identity.clone(),
            operator.clone(),
            place.clone(),
            format!("{} → {}", code(original), code(replacement)),
            class(before),
            class(after),
            arrow(kills(before), kills(after)),
        ]));
    }
    format!("\n{}, {what}\n{}\n{}", plural(mutants.len(), "mutant"), fitting(&table), more(mutants.len()))
}

fn more(count: usize) -> String {
    if count <= LISTED_MAX {
        return String::new();
    }
    format!("{} more: --json has all.\n", count - LISTED_MAX)
}

/// Code on one line, cut where it is long.
fn code(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(CODE_CHARACTERS_MAX) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None if words.is_empty() => "nothing".to_owned(),
        None => words,
    }
}

/// What was and what is, or one of them if they are the same.
fn arrow(before: Option<String>, after: Option<String>) -> String {
    if before == after {
        return or_none(after, |after| after);
    }
    format!("{} → {}", or_none(before, |before| before), or_none(after, |after| after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use simutant_analysis::{AnalysisOptions, Study, analyse, suite};
    use simutant_outcomes::Outcomes;
    use simutant_synthetic::synthetic;

    fn text(before: &Outcomes, after: &Outcomes) -> String {
        let options = AnalysisOptions { suites: 20, resamples: 100, ..AnalysisOptions::default() };
        let analysed = [before, after].map(|outcomes| analyse(outcomes, &options).expect("sound outcomes"));
        let suites = [suite(before, &analysed[0]), suite(after, &analysed[1])];
        let before = Study::new(before, &analysed[0], suites[0].as_ref()).expect("they belong together");
        let after = Study::new(after, &analysed[1], suites[1].as_ref()).expect("they belong together");
        difference_tables(&Difference::between(&before, &after).expect("one system"))
    }

    #[test]
    fn a_study_does_not_differ_from_itself() {
        let outcomes = synthetic(40, 2);
        let system = &outcomes.system;
        assert_eq!(text(&outcomes, &outcomes), format!("{system}: the two studies do not differ.\n"));
    }

    #[test]
    fn a_difference_is_shown_as_tables() {
        insta::assert_snapshot!(text(&synthetic(40, 2), &synthetic(60, 3)));
    }
}
