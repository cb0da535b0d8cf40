//! A suite that was chosen at the cost of the choice, as a table and sentences.

use simutant_analysis::{Cost, Ranking, Scenario, Score, Summary, count, percent, plural};

use crate::terminal::{Sections, cells, table, wrapped};
use crate::text::{or_none, share_summary};

/// Returns a table of the criteria and sentences on the choice and its cost: plain text, ending in a line break.
pub fn scenario_text(scenario: &Scenario) -> String {
    let mut sections = Sections::new(format!(
        "System {}, universe seed {}, {} test cases\n",
        scenario.system,
        scenario.universe_seed,
        count(scenario.cases as u64)
    ));
    let mut rows = table(["criterion", "feasible", "size", "considered", "score", "best"]);
    for criterion in &scenario.criteria {
        let mean = |summary: Option<Summary>| or_none(summary, |summary| format!("{:.1}", summary.mean));
        rows.add_row(cells([
            criterion.name.clone(),
            format!("{}/{}", criterion.feasible(), criterion.requirements),
            mean(criterion.size),
            mean(criterion.considered),
            or_none(criterion.score, |score| share_summary(&score)),
            or_none(criterion.score, |score| percent(score.max)),
        ]));
    }
    let suites = scenario.criteria.iter().map(|criterion| criterion.suites.len()).max().unwrap_or_default();
    sections.add(&format!("{} of each criterion", plural(suites, "suite")), rows, &[]);
    let mut text = sections.text();
    text.push('\n');
    for sentence in sentences(scenario) {
        text.push_str(&wrapped(&sentence));
        text.push('\n');
    }
    text
}

fn sentences(scenario: &Scenario) -> Vec<String> {
    let criterion = &scenario.criteria[scenario.choice.criterion];
    let chosen = &criterion.suites[scenario.choice.suite];
    let inputs = plural(chosen.cases.len(), "input");
    let mut sentences = vec![match scenario.mutants {
        None => format!("Run one suite that is adequate for {}: {inputs}.", criterion.name),
        Some(of) => format!(
            "Run suite {} of the {} for {}: {inputs} that kill{} {}.",
            scenario.choice.suite + 1,
            criterion.suites.len(),
            criterion.name,
            if chosen.cases.len() == 1 { "s" } else { "" },
            Score { killed: chosen.killed, of }
        ),
    }];
    sentences.extend(scenario.instead_of.map(|best| {
        let of_best = &scenario.criteria[best.criterion];
        let suite = &of_best.suites[best.suite];
        let killed = match scenario.mutants {
            Some(of) => format!(" and kills {}", Score { killed: suite.killed, of }),
            None => String::new(),
        };
        format!(
            "It dominates suite {} for {}, the best of the best criterion, which has {}{killed}.",
            best.suite + 1,
            of_best.name,
            plural(suite.cases.len(), "input"),
        )
    }));
    sentences.extend(scenario.ranking.as_ref().and_then(|ranking| order_sentence(scenario, ranking)));
    let Cost { multiplier, .. } = scenario.cost;
    sentences.push(format!(
        "It cost {} simulations of candidates ({} events) and {} runs on mutants ({}); run {multiplier} times, the suite costs {} more: in \
         all C = {}.",
        count(scenario.cost.candidates as u64),
        count(scenario.cost.candidate_events),
        count(scenario.cost.mutant_runs),
        count(scenario.cost.mutant_events),
        count(u64::from(multiplier) * scenario.cost.execution_events),
        count(scenario.cost.total as u64),
    ));
    sentences.push(format!(
        "A random suite of {inputs} costs {} on average, and for C one could run {}: an event of the simulation counts as \
         much as one of the implementation, which is dearer.",
        count(scenario.cost.random_same_size.mean as u64),
        if scenario.cost.random_size < scenario.cases {
            format!("{} random inputs", count(scenario.cost.random_size as u64))
        } else {
            format!("all {} inputs of the universe", count(scenario.cases as u64))
        },
    ));
    sentences.push(match scenario.mutants {
        None => "Limits: no mutant was run, so nothing says how many faults the suite finds; --boost 5 takes the best of five suites by \
                 mutant score."
            .into(),
        Some(0) => "Limits: no mutant tells one suite from another, so the choice among them is arbitrary.".into(),
        Some(mutants) => format!(
            "Limits: scores are of the {} that these suites kill, and not all of them, so they stand for no others; `study` \
             tells more.",
            plural(mutants, "mutant")
        ),
    });
    sentences
}

/// Says which criteria the chosen one is significantly better than.
fn order_sentence(scenario: &Scenario, ranking: &Ranking) -> Option<String> {
    let best = scenario.best_criterion();
    let others: Vec<usize> = ranking.order.iter().copied().filter(|&other| other != best).collect();
    if others.is_empty() {
        return None;
    }
    let is_better = |&&other: &&usize| ranking.pair(best, other).is_some_and(|pair| pair.significant);
    let worse = others.iter().filter(is_better).count();
    Some(format!(
        "Suites of {} score highest on average, significantly higher than those of {} of {} (Mann-Whitney, Holm).",
        scenario.criteria[best].name,
        if worse == 0 { "none".to_owned() } else { worse.to_string() },
        if others.len() == 1 {
            "the one other criterion".to_owned()
        } else {
            format!("the {} other criteria", others.len())
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use simutant_analysis::AnalysisOptions;
    use simutant_synthetic::synthetic;
    use std::num::NonZeroUsize;

    fn text(names: &[&str], suites: usize) -> String {
        let names: Vec<String> = names.iter().map(|&name| name.into()).collect();
        let suites = NonZeroUsize::new(suites).expect("not 0");
        let options = AnalysisOptions { resamples: 200, ..AnalysisOptions::default() };
        let found = simutant_analysis::scenario(&synthetic(200, 1), &names, suites, &options, NonZeroUsize::MIN);
        scenario_text(&found.expect("there are suites"))
    }

    #[test]
    fn a_suite_that_dominates_the_best_one_says_so() {
        let found = |seed| {
            let options = AnalysisOptions { resamples: 200, ..AnalysisOptions::default() };
            let suites = NonZeroUsize::new(6).expect("not 0");
            simutant_analysis::scenario(&synthetic(60, seed), &[], suites, &options, NonZeroUsize::MIN)
        };
        let of_seed = |seed| found(seed).expect("there are suites");
        let (replaced, kept): (Vec<Scenario>, Vec<Scenario>) =
            (1..20).map(of_seed).partition(|found| found.instead_of.is_some());
        let says = |found: &Scenario| scenario_text(found).contains("It dominates suite ");
        assert!(!replaced.is_empty() && replaced.iter().all(says) && !kept.iter().any(says));
    }

    #[test]
    fn what_the_choice_does_not_tell_is_said() {
        let one = text(&["all-branches"], 1);
        assert!(one.contains("no mutant was run"), "{one}");
        let several = text(&["all-branches"], 8);
        assert!(several.contains("they stand for no others") && !several.contains("score highest"), "{several}");
        let all = text(&[], 20);
        assert!(all.contains("score highest on average"), "{all}");
    }
}
