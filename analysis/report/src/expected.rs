//! Expected scores as tables and sentences.

use simutant_analysis::{
    Analysis, Expected, ExpectedCriterion, Recommendation, ScoresInTime, duration, percent, plural,
};

use crate::terminal::Rows;
use crate::text::{list, or_none, points};

/// The sizes of suites that are shown.
const SIZES: [usize; 6] = [1, 2, 3, 6, 12, 20];
/// The most rules of thumb that are shown.
const RULES_MAX: usize = 8;

/// A row for each criterion.
pub(crate) fn criteria_rows(expected: &Expected, analysis: &Analysis) -> Rows {
    let head = [
        "criterion",
        "time",
        "a minute is worth",
        "expected score",
        "random in the time",
        "gain",
        "size",
        "an input is worth",
        "random of the size",
        "best suite",
        "dominators",
        "coverage",
    ];
    let row = |of_criterion: &ExpectedCriterion| {
        let criterion = &analysis.criteria[of_criterion.criterion];
        let sd = or_none(of_criterion.score.sd, |sd| format!("{:.1}", 100.0 * sd));
        let best = of_criterion.suites[of_criterion.best];
        vec![
            criterion.name.clone(),
            duration(of_criterion.seconds),
            format!("{:.1} min random", of_criterion.worth.time),
            format!("{} ± {sd}", percent(of_criterion.score.mean)),
            percent(of_criterion.random_same_time),
            points(of_criterion.score.mean - of_criterion.random_same_time),
            or_none(criterion.size, |size| format!("{:.1}", size.mean)),
            format!("{:.1} random", of_criterion.worth.inputs),
            percent(of_criterion.random_same_size),
            format!("{} ± {:.1}", percent(best.mean), 100.0 * best.sd),
            or_none(of_criterion.dominator_score, percent),
            percent(of_criterion.coverage),
        ]
    };
    Rows { head: head.map(str::to_owned).to_vec(), rows: expected.criteria.iter().map(row).collect() }
}

/// A row for each way to choose test cases without drawing adequate suites, by the time that they take.
pub(crate) fn times_rows(in_time: &ScoresInTime) -> Rows {
    let rules = in_time.rules.iter().map(|rule| (rule.name.as_str(), rule.scores.as_slice()));
    Rows {
        head: ["time".to_owned()].into_iter().chain(in_time.seconds.iter().map(|&time| duration(time))).collect(),
        rows: ways_rows([&in_time.built, &in_time.random], rules, |scores| {
            scores.iter().copied().map(percent).collect()
        }),
    }
}

/// A row for each way to choose test cases without drawing adequate suites, by size.
pub(crate) fn baselines_rows(expected: &Expected) -> Rows {
    let sizes: Vec<usize> = SIZES.into_iter().filter(|&size| size <= expected.random.len()).collect();
    let rules = expected.rules.iter().map(|rule| (rule.name.as_str(), rule.scores.as_slice()));
    let cells =
        |scores: &[f64]| sizes.iter().map(|size| or_none(scores.get(size - 1), |score| percent(*score))).collect();
    Rows {
        head: ["inputs".to_owned()].into_iter().chain(sizes.iter().map(usize::to_string)).collect(),
        rows: ways_rows([&expected.greedy_scores, &expected.random], rules, cells),
    }
}

/// A row for built suites, for random ones, and for the best rules of thumb by the area below their scores. `cells` makes
/// those of a row but for its name.
fn ways_rows<'a>(
    [built, random]: [&'a [f64]; 2],
    rules: impl Iterator<Item = (&'a str, &'a [f64])>,
    cells: impl Fn(&[f64]) -> Vec<String>,
) -> Vec<Vec<String>> {
    let mut rules: Vec<(&str, &[f64])> = rules.collect();
    let area = |scores: &[f64]| scores.iter().sum::<f64>();
    rules.sort_by(|one, other| area(other.1).total_cmp(&area(one.1)));
    let ways = [("built", built), ("random", random)].into_iter().chain(rules.into_iter().take(RULES_MAX));
    ways.map(|(name, scores)| [vec![name.to_owned()], cells(scores)].concat()).collect()
}

/// Says what the scores are.
pub(crate) fn notes(expected: &Expected) -> Vec<String> {
    vec![format!(
        "A minute is worth so many minutes of random test cases as are expected to score what a minute of the suites does, an input so \
         many random ones; criteria are in the order of minutes, since longer suites score more whatever is in them. Random suites take as \
         long on average, or are of the same size; gain: over those that take as long. Expected score: the share of {} that a suite kills on average when {} of its test cases is drawn anew, each mutant counted by its \
         difficulty, which is the probability that a random test case lets it survive; known from up to {} runs of each pair. After ±, of \
         criteria the standard deviation over suites, of one suite that of the estimate. Dominators, coverage: the expected shares of the \
         dominator classes that suites kill, and of the requirements that they cover when their chance is drawn anew.",
        plural(expected.mutants, "mutant"),
        list(&expected.chance.iter().map(String::as_str).collect::<Vec<_>>()),
        expected.reseedings,
    )]
}

/// Says whether the recommended suite does better than rules of thumb: first, if it does not.
pub(crate) fn against_rules(expected: &Expected, recommendation: &Recommendation) -> Option<(bool, String)> {
    let suite = expected.of_criterion(recommendation.choice.criterion)?.suites.get(recommendation.choice.suite)?;
    let in_time = recommendation.same_time.as_ref()?;
    let (rule, score) = in_time.best_rule()?;
    let last = |scores: &[f64]| or_none(scores.last(), |score| percent(*score));
    let is_better = suite.mean > score;
    let size = recommendation.size;
    let by_number = expected.best_rule(size).map_or_else(String::new, |(rule, score)| {
        let random = or_none(expected.random.get(size - 1), |score| percent(*score));
        let [one, random_one] = if size == 1 { ["input", "a random one"] } else { ["inputs", "random ones"] };
        format!(
            " With {size} {one}, the best rule, {}, kills {}, and {random_one} {random}.",
            rule.name,
            percent(score)
        )
    });
    let sentence = match is_better {
        true => format!(
            "No rule of thumb does as well on mutants in the same time: the best one, {}, is expected to kill {}, the suite {}, random inputs \
             {}.{by_number}",
            rule.name,
            percent(score),
            percent(suite.mean),
            last(&in_time.random),
        ),
        false => format!(
            "A rule of thumb does as well as the {} criterion: in the same time inputs by {} are expected to kill {}, the best suite of that {}; \
             inputs that are built for it (--builder expected), {}.{by_number}",
            if expected.criteria[0].criterion == recommendation.recommended_criterion() {
                "best"
            } else {
                "recommended"
            },
            rule.name,
            percent(score),
            percent(suite.mean),
            last(&in_time.built),
        ),
    };
    Some((is_better, sentence))
}

#[cfg(test)]
mod tests {
    use crate::words::recommendation_sentences;
    use crate::{report, tables};
    use simutant_analysis::{AnalysisOptions, analyse};
    use simutant_outcomes::Outcomes;
    use simutant_synthetic::reseeded;

    /// A parameter that says it all, and one that says nothing.
    #[test]
    fn a_rule_of_thumb_that_does_as_well_is_said_first() {
        let mut outcomes = reseeded(&[&[0, 0, 1, 8], &[0, 1, 2, 8], &[0, 0, 3, 7]]);
        for (number, case) in outcomes.cases.iter_mut().enumerate() {
            case.case = serde_json::json!({ "loss": number, "length": 5 * number % 4, "seed": 9 - number });
        }
        let options = AnalysisOptions { resamples: 100, ..AnalysisOptions::default() };
        let analysis = analyse(&outcomes, &options).expect("sound outcomes");
        // Every suite has all test cases, and so has every rule of that size.
        let sentences = recommendation_sentences(&analysis);
        assert!(
            sentences[0].starts_with("A rule of thumb does as well as the best criterion: in the same time inputs by "),
            "{sentences:?}"
        );
        assert!(tables(&analysis, None).contains("\n highest loss"));
        let page = report(&outcomes, &analysis, None);
        assert!(page.contains("<h2>Expected scores</h2>") && page.contains("<th scope=\"row\">highest loss</th>"));
        let without = Outcomes { reseeded: None, ..outcomes };
        let analysis = analyse(&without, &options).expect("sound outcomes");
        assert!(!report(&without, &analysis, None).contains("Expected scores"), "there are none");
    }
}
