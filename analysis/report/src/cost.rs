//! The cost oracle, as a table and sentences.

use simutant_analysis::{Analysis, CostComparison, CostCriterion, MeanScore, percent, plural};
use simutant_outcomes::CostRole;

use crate::terminal::Rows;
use crate::text::{correlation, list, or_none, points};

/// Says what the oracle changes; first, if its kills count.
pub(crate) fn sentences(cost: &CostComparison, analysis: &Analysis) -> Vec<String> {
    let names = |criteria: &[usize]| {
        list(&criteria.iter().map(|&criterion| analysis.criteria[criterion].name.as_str()).collect::<Vec<_>>())
    };
    let [without, with] = cost.first();
    let first = match without == with {
        _ if without.is_empty() => "no criterion has a score by both".to_owned(),
        true => format!("{} stays first", names(&without)),
        false => format!("first place goes from {} to {}", names(&without), names(&with)),
    };
    let order = match cost.tau {
        Some(tau) => {
            format!("; the orders of the criteria by mean score agree by {} (Kendall's tau-b)", correlation(tau))
        }
        None => String::new(),
    };
    let counts = match cost.role {
        CostRole::Apart => "they count in no other number of this study",
        CostRole::Counted => "they count as kills in all other numbers of this study, and in the choice",
    };
    vec![format!(
        "The cost oracle ({}) kills {} of {} that nothing else kills, and {} in all; {counts}. With it {first}{order}.",
        cost.oracle,
        cost.survivors_killed.len(),
        plural(cost.survivors, "mutant"),
        plural(usize::try_from(cost.pairs).unwrap_or(usize::MAX), "pair"),
    )]
}

/// The criteria, each with its scores without and with.
pub(crate) fn rows(cost: &CostComparison, analysis: &Analysis) -> Rows {
    let has_worth = cost.criteria.iter().any(|criterion| criterion.without.worth.is_some());
    let mut head = vec!["criterion", "without", "with", "difference", "rank", "rank with"];
    if has_worth {
        head.extend(["a minute is worth", "with cost"]);
    }
    let rank = |of: fn(&CostCriterion) -> MeanScore, own: &CostCriterion| {
        let higher = |other: &&CostCriterion| of(other).score > of(own).score;
        (1 + cost.criteria.iter().filter(higher).count()).to_string()
    };
    let row = |criterion: &CostCriterion| {
        let CostCriterion { without, with, .. } = *criterion;
        let mut row = vec![
            analysis.criteria[criterion.criterion].name.clone(),
            percent(without.score),
            percent(with.score),
            points(with.score - without.score),
            rank(|criterion| criterion.without, criterion),
            rank(|criterion| criterion.with, criterion),
        ];
        if has_worth {
            let worth = |score: MeanScore| or_none(score.worth, |worth| format!("{:.1} min random", worth.time));
            row.extend([worth(without), worth(with)]);
        }
        row
    };
    Rows { head: head.into_iter().map(str::to_owned).collect(), rows: cost.criteria.iter().map(row).collect() }
}

/// Says what the scores are.
pub(crate) fn notes(cost: &CostComparison) -> Vec<String> {
    vec![format!(
        "A run that passes is a kill by cost if it needs more or less than the original's run of the same test case, on the same seed, by more \
         than it may ({}). Scores are means over the same suites; the mutants that they count are those that some run kills, without and with kills \
         by cost.",
        cost.oracle,
    )]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::flat;
    use crate::{report, tables};
    use simutant_analysis::{AnalysisOptions, analyse};
    use simutant_outcomes::{Outcomes, Reseeded};
    use simutant_synthetic::two_criteria;

    const KILLS: [&str; 4] = ["kiii", ".dii", ".d..", "...."];
    const BY_COST: [&str; 4] = ["....", ".c..", ".c..", "...."];

    fn analysed(outcomes: &Outcomes) -> Analysis {
        analyse(outcomes, &AnalysisOptions { resamples: 100, ..AnalysisOptions::default() }).expect("sound outcomes")
    }

    #[test]
    fn what_the_oracle_changes_is_said_where_there_is_one() {
        let outcomes = two_criteria(&KILLS, &BY_COST);
        let analysis = analysed(&outcomes);
        let sentence = sentences(analysis.cost.as_ref().expect("there is an oracle"), &analysis).concat();
        let expect = "The cost oracle (events=20%) kills 2 of 3 mutants that nothing else kills, and 2 pairs in all; they count in no other \
                      number of this study. With it first place goes from first-case to second-case; the orders of the criteria by mean score \
                      agree by −1.00 (Kendall's tau-b).";
        assert_eq!(sentence, expect);
        let without = Analysis { cost: None, ..analysis.clone() };
        assert!(
            flat(&tables(&analysis, None)).contains(expect) && !flat(&tables(&without, None)).contains("cost oracle")
        );
        let page = report(&outcomes, &analysis, None);
        assert!(page.contains("<h2>Cost oracle</h2>") && page.contains("<td>66.7 %</td>"));
        assert!(!report(&outcomes, &without, None).contains("Cost oracle"));
    }

    #[test]
    fn kills_by_cost_that_count_are_said_to() {
        let analysis = analysed(&two_criteria(&KILLS, &BY_COST).with_cost_kills());
        assert!(flat(&tables(&analysis, None)).contains("they count as kills in all other numbers"));
    }

    #[test]
    fn what_a_minute_is_worth_is_shown_where_test_cases_were_re_seeded() {
        let mut outcomes = two_criteria(&["ki", "id"], &["..", ".c"]);
        assert!(!tables(&analysed(&outcomes), None).contains("a minute is worth"));
        outcomes.reseeded = Some(Reseeded {
            reseedings: 8,
            chance: vec!["seed".into()],
            runs: vec![vec![8; 2]; 2],
            kills: vec![vec![8, 0], vec![0, 0]],
            covered: vec![vec![vec![8; 2]; 2]; 2],
        });
        outcomes.cost.as_mut().expect("an oracle").reseeded = Some(vec![vec![0, 0], vec![0, 8]]);
        let table = tables(&analysed(&outcomes), None);
        assert!(table.contains("a minute is worth") && table.contains("rank with"));
    }
}
