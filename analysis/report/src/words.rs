//! The results of the analysis in plain sentences: every claim with its effect, interval and corrected p-value, and
//! what it does not tell.

use simutant_analysis::{
    Analysis, CriterionAnalysis, Expected, ExpectedCriterion, ExpectedScore, PairTest, Ranking, Recommendation,
    percent, plural, screened, standing_of_suite,
};

use crate::text::{correlation, interval, level, list, named_p, or_none, points};
use crate::{expected, sensitivity};

/// Returns what is recommended, or why nothing is, in sentences; what speaks against it comes first.
pub(crate) fn recommendation_sentences(analysis: &Analysis) -> Vec<String> {
    match &analysis.recommendation {
        Some(recommendation) => recommended(recommendation, analysis),
        None => analysis.sensitivity.iter().filter_map(|found| sensitivity::sentence(found, analysis)).collect(),
    }
}

/// Returns the recommendation as sentences: which criterion and how it stands to the next best and to random
/// suites, which suite and, if mutants count, the limits of all that.
fn recommended(recommendation: &Recommendation, analysis: &Analysis) -> Vec<String> {
    let against = analysis.sensitivity.iter().filter_map(|sensitivity| sensitivity::sentence(sensitivity, analysis));
    let sentences = match analysis.expected.as_ref().zip(recommendation.expected) {
        Some((expected, score)) => expected_sentences(recommendation, analysis, expected, score),
        None => own_seed_sentences(recommendation, analysis),
    };
    against.chain(sentences).collect()
}

/// Says why a minute can be worth more than a random one in suites that score less on average, or the other way round;
/// nothing where both means agree.
fn disagreeing_means(of_criterion: &ExpectedCriterion) -> &'static str {
    if (of_criterion.worth.time > 1.0) == (of_criterion.score.mean > of_criterion.random_same_time) {
        return "";
    }
    " The mean worth and the mean score disagree, since its suites differ: some score far from the mean."
}

/// Sentences about a suite that was chosen for its expected score; what speaks against it comes first.
fn expected_sentences(
    recommendation: &Recommendation,
    analysis: &Analysis,
    expected: &Expected,
    score: ExpectedScore,
) -> Vec<String> {
    let criterion = &analysis.criteria[recommendation.recommended_criterion()];
    let mut sentences = Vec::new();
    let against_rules = expected::against_rules(expected, recommendation);
    if let Some((false, sentence)) = &against_rules {
        sentences.push(sentence.clone());
    }
    if let Some(of_criterion) = expected.of_criterion(recommendation.recommended_criterion()) {
        let standing = match expected.criteria.first() {
            Some(first) if first.criterion != recommendation.recommended_criterion() => format!(
                "A minute of {} is worth {:.1} minutes of random test cases; one of {}, the most of all criteria, {:.1}.",
                criterion.name, of_criterion.worth.time, analysis.criteria[first.criterion].name, first.worth.time
            ),
            _ => format!(
                "A minute of {} is worth the most of all criteria: {:.1} minutes of random test cases.",
                criterion.name, of_criterion.worth.time
            ),
        };
        sentences.push(format!(
            "{standing} Its suites are expected to kill {} of {} on average, each weighted by its difficulty; random suites that take as long, \
             {}.{} By number, an input is worth {:.1} random ones; random suites of the same sizes are expected to kill {}.",
            percent(of_criterion.score.mean),
            plural(expected.mutants, "mutant"),
            percent(of_criterion.random_same_time),
            disagreeing_means(of_criterion),
            of_criterion.worth.inputs,
            percent(of_criterion.random_same_size),
        ));
    }
    let of = &analysis.criteria[recommendation.choice.criterion];
    let is_best =
        expected.of_criterion(recommendation.choice.criterion).map(|of| of.best) == Some(recommendation.choice.suite);
    let suite = match recommendation.instead_of {
        None if is_best => format!("The best of its {} suites", of.suites.len()),
        _ => format!("Suite {} of {}", recommendation.choice.suite + 1, of_suites(recommendation, of)),
    };
    sentences.push(format!(
        "{suite} has {} expected to kill {} ± {:.1}; on the seeds of this universe {} {} of the analysed mutants and {} of the dominator classes.{}",
        if recommendation.size == 1 { "1 input that is".to_owned() } else { format!("{} inputs that are", recommendation.size) },
        percent(score.mean),
        100.0 * score.sd,
        if recommendation.size == 1 { "it kills" } else { "they kill" },
        recommendation.score,
        recommendation.dominator_score,
        dominated(recommendation, analysis),
    ));
    if let Some((true, sentence)) = against_rules {
        sentences.push(sentence);
    }
    sentences.push(format!(
        "Limits: this rests on {} of {}, so other mutants can change the order of the criteria; and a mutant score is not a share of real faults.",
        plural(expected.mutants, "mutant"),
        plural(analysis.ranking.functions, "function"),
    ));
    sentences
}

fn own_seed_sentences(recommendation: &Recommendation, analysis: &Analysis) -> Vec<String> {
    let criterion = &analysis.criteria[recommendation.recommended_criterion()];
    let Some(score) = criterion.score else {
        return vec![
            format!(
                "No mutant can tell the criteria apart, so {} is only the criterion with the highest dominator score or, failing \
                 that, the smallest suites.",
                criterion.name
            ),
            run(recommendation, analysis),
        ];
    };
    let mut sentences = vec![format!(
        "Choose inputs by {}: its suites kill {} of the {} on average, {}.",
        criterion.name,
        percent(score.mean),
        plural(recommendation.score.of, "analysed mutant"),
        standing(recommendation, analysis),
    )];
    if let Some(pair) = next_best(recommendation.recommended_criterion(), &analysis.ranking) {
        let place = if is_of_first(recommendation, analysis) { "the next best" } else { "the first by mean score" };
        sentences.push(against_next_best(pair, place, analysis));
        sentences.push(at_the_same_size(pair, analysis));
    }
    sentences.extend(against_random(recommendation, analysis));
    sentences.push(run(recommendation, analysis));
    sentences.extend(foreseen(recommendation, analysis));
    sentences.push(format!(
        "Limits: this rests on {} of {} with {}, so other mutants can change the order of the criteria; the suite was chosen \
         for its score, so expect it to score lower on held-out mutants; and a mutant score is not a share of real faults.",
        plural(recommendation.score.of, "analysed mutant"),
        plural(analysis.ranking.functions, "function"),
        plural(analysis.mutants.analysed_rows, "different kill row"),
    ));
    sentences
}

/// How the criterion stands to the others that have scores.
fn standing(recommendation: &Recommendation, analysis: &Analysis) -> String {
    let names = |is_kept: fn(&PairTest) -> bool| -> Vec<&str> {
        let pairs = analysis
            .ranking
            .pairs
            .iter()
            .filter(|pair| pair.better == recommendation.recommended_criterion() && is_kept(pair));
        pairs.map(|pair| analysis.criteria[pair.worse].name.as_str()).collect()
    };
    let others = names(|_| true).len();
    if others == 0 {
        return "and no other criterion has a score".into();
    }
    let (same, undecided) = (names(|pair| pair.same), names(|pair| !pair.significant && !pair.same));
    let mut parts = Vec::new();
    if same.is_empty() && undecided.is_empty() {
        return "on these mutants more than those of every other criterion".into();
    }
    if !undecided.is_empty() {
        parts.push(format!("not significantly more than those of {}", list(&undecided)));
    }
    if !same.is_empty() {
        let margin = percent(analysis.options.same_within).replace(".0 %", " %");
        parts.push(format!("the same within {margin} as those of {}", list(&same)));
    }
    let below = others - same.len() - undecided.len();
    match below {
        0 => parts.join(", and "),
        _ => format!(
            "on these mutants more than those of {below} of {others} other criteria, but {}",
            parts.join(", and ")
        ),
    }
}

/// What the suites bring beyond their size.
fn against_random(recommendation: &Recommendation, analysis: &Analysis) -> Option<String> {
    let criterion = &analysis.criteria[recommendation.recommended_criterion()];
    let same_size = criterion.same_size.as_ref()?;
    let (mean, ends) = (same_size.gain.mean, same_size.gain_interval);
    let (more, less) = screened(&criterion.detection, criterion.suites.len(), analysis.options.alpha);
    Some(format!(
        "Random suites of the same sizes kill {}: its suites gain {} points ({} {} to {}, {}), and kill {} of the {} significantly \
         more often than these, {less} less often.",
        percent(same_size.random_mean),
        points(mean),
        level(analysis.options.alpha),
        points(ends.lower),
        points(ends.upper),
        same_size.gain_p.map_or_else(|| "no difference at all".into(), |p| named_p("Holm p", p)),
        more,
        plural(recommendation.score.of, "analysed mutant"),
    ))
}

fn run(recommendation: &Recommendation, analysis: &Analysis) -> String {
    let criterion = &analysis.criteria[recommendation.choice.criterion];
    format!(
        "Run suite {} of {}, {}: {} that kill{} {} of the analysed mutants and {} of the dominator classes.{}",
        recommendation.choice.suite + 1,
        of_suites(recommendation, criterion),
        standing_of_suite(criterion, recommendation.choice.suite),
        plural(recommendation.size, "input"),
        if recommendation.size == 1 { "s" } else { "" },
        recommendation.score,
        recommendation.dominator_score,
        dominated(recommendation, analysis),
    )
}

/// The suites that the recommended one is among.
fn of_suites(recommendation: &Recommendation, criterion: &CriterionAnalysis) -> String {
    match recommendation.instead_of {
        None => format!("its {}", criterion.suites.len()),
        Some(_) => format!("the {} of {}", criterion.suites.len(), criterion.name),
    }
}

/// Why the recommended suite is not the best one of the recommended criterion; nothing if it is.
fn dominated(recommendation: &Recommendation, analysis: &Analysis) -> String {
    recommendation.instead_of.map_or_else(String::new, |best| {
        let smaller = analysis.criteria[best.criterion].suites[best.suite].cases.len() - recommendation.size;
        format!(
            " It dominates the best suite of {}: {}, it kills no fewer mutants and no fewer dominators, and it is better in one of these.",
            analysis.criteria[best.criterion].name,
            if smaller == 0 { "as large".to_owned() } else { format!("{} smaller", plural(smaller, "input")) },
        )
    })
}

/// Whether choosing a suite by its score pays.
fn foreseen(recommendation: &Recommendation, analysis: &Analysis) -> Option<String> {
    let foresight = analysis.criteria[recommendation.recommended_criterion()].boosting.as_ref()?.foresight;
    let top = foresight.top?;
    Some(format!(
        "On held-out mutants, the top 10 % of its suites beat a random suite of the same size with probability {:.2} ({}), and all \
         of its suites with {:.2}; scores on the choosing and on the held-out mutants correlate at equal size with tau {}.",
        top.beats_random,
        top.p.map_or_else(|| "always equal".into(), |p| named_p("p", p)),
        top.all_beat_random,
        or_none(foresight.correlation_at_size, correlation),
    ))
}

/// Whether its criterion is the first of the study.
fn is_of_first(recommendation: &Recommendation, analysis: &Analysis) -> bool {
    let sensitivity = analysis.sensitivity.as_ref();
    sensitivity.is_none_or(|sensitivity| sensitivity.order[0] == recommendation.recommended_criterion())
}

/// The claim that the criterion is better than the next best one; `None` if no other has a score.
fn next_best(criterion: usize, ranking: &Ranking) -> Option<&PairTest> {
    let next = ranking.order.iter().find(|other| **other != criterion)?;
    ranking.pair(criterion, *next)
}

fn against_next_best(pair: &PairTest, place: &str, analysis: &Analysis) -> String {
    let (own, next) = (&analysis.criteria[pair.better].name, &analysis.criteria[pair.worse].name);
    let mut evidence = evidence(pair.effect, pair.effect_interval.map(interval), pair.rank_sum_p, analysis);
    if let Some(over_functions) = pair.effect_interval_over_functions {
        evidence.push_str(&format!("; {} if functions with other mutants were drawn too", interval(over_functions)));
    }
    if pair.significant {
        return format!("Suites of {own} score higher than those of {next}, {place} ({evidence}).");
    }
    if pair.same {
        let how = pair.equivalent_p.map_or_else(|| "no score varies".into(), |p| named_p("equivalence p", p));
        return format!(
            "Suites of {own} and of {next}, {place}, score the same for practical purposes ({evidence}; {how})."
        );
    }
    if pair.effect < 0.5 && pair.rank_sum_p.is_some_and(|p| p < analysis.options.alpha) {
        return format!(
            "Suites of {own} score higher on average than those of {next}, {place}, but more often lower than higher ({evidence}): \
             which is better depends on the measure."
        );
    }
    format!("Suites of {own} do not score significantly higher than those of {next}, {place} ({evidence}).")
}

fn at_the_same_size(pair: &PairTest, analysis: &Analysis) -> String {
    let (own, next) = (&analysis.criteria[pair.better].name, &analysis.criteria[pair.worse].name);
    let Some(test) = pair.same_size else {
        return format!(
            "{own} and {next} cannot be compared at the same size: no size is shared, or no score there varies."
        );
    };
    let evidence = evidence(test.effect, test.interval.map(interval), Some(test.p), analysis);
    let finding = match (test.p < analysis.options.alpha, test.effect > 0.5) {
        (true, true) => "they score higher, too",
        (true, false) => "they score lower",
        (false, _) => "they do not differ significantly",
    };
    let finding = if !pair.significant { finding.trim_end_matches(", too") } else { finding };
    format!(
        "At the same size (at the {} that both have, with {} and {} suites) {finding} ({evidence}).",
        plural(test.sizes, "size"),
        test.suites_better,
        test.suites_worse,
    )
}

/// Effect, interval and corrected p-value, as they stand in brackets.
fn evidence(effect: f64, ends: Option<String>, p: Option<f64>, analysis: &Analysis) -> String {
    let mut parts = vec![format!("A12 {effect:.2}")];
    parts.extend(ends.map(|ends| format!("{} {ends}", level(analysis.options.alpha))));
    parts.push(p.map_or_else(|| "all scores equal".into(), |p| named_p("Holm p", p)));
    parts.join(", ")
}

/// Returns what the tests of all criteria together say, in sentences; none with fewer than two criteria.
pub(crate) fn ranking_sentences(ranking: &Ranking, analysis: &Analysis) -> Vec<String> {
    if ranking.order.len() < 2 {
        return Vec::new();
    }
    let mut sentences = vec![match ranking.all {
        None => format!("All suites of all {} criteria score the same.", ranking.order.len()),
        Some(test) => format!(
            "All {} criteria together {} (Kruskal-Wallis H {:.1}, {}, {}){}.",
            ranking.order.len(),
            if test.p < analysis.options.alpha { "differ" } else { "do not differ significantly" },
            test.h,
            plural(test.freedom, "degree") + " of freedom",
            named_p("p", test.p),
            if test.p < analysis.options.alpha { "" } else { ": no claim about a pair holds" },
        ),
    }];
    sentences.extend(by_mutant_sentence(ranking, analysis));
    sentences
}

fn by_mutant_sentence(ranking: &Ranking, analysis: &Analysis) -> Option<String> {
    let by_mutant = ranking.by_mutant.as_ref()?;
    let rank_of = |criterion: usize| {
        let place = by_mutant.criteria.iter().position(|other| *other == criterion);
        by_mutant.test.mean_ranks[place.expect("every criterion with a score has a mean rank")]
    };
    let best = *ranking.order.first()?;
    let is_below = |other: &&usize| rank_of(best) - rank_of(**other) > by_mutant.critical_difference;
    Some(format!(
        "Mutant by mutant ({}) they {} (Friedman Q {:.1}, {}); mean ranks differ significantly from {:.2} on (Nemenyi), and that of {}, \
         {:.2}, is as much above {} of the others.",
        plural(by_mutant.blocks, "different kill row"),
        if by_mutant.test.p < analysis.options.alpha { "differ" } else { "do not differ significantly" },
        by_mutant.test.q,
        named_p("p", by_mutant.test.p),
        by_mutant.critical_difference,
        analysis.criteria[best].name,
        rank_of(best),
        ranking.order.iter().filter(is_below).count(),
    ))
}

/// Returns the claims that a short table has room for: each criterion against the next in the order, and the
/// criterion of the recommendation against all that it is not significantly better than.
pub(crate) fn short(ranking: &Ranking, recommended: Option<usize>) -> Vec<&PairTest> {
    let neighbours = ranking.order.windows(2).filter_map(|pair| ranking.pair(pair[0], pair[1]));
    let mut short: Vec<&PairTest> = neighbours.collect();
    let open = ranking.pairs.iter().filter(|pair| Some(pair.better) == recommended && !pair.significant);
    let open: Vec<&PairTest> = open
        .filter(|pair| !short.iter().any(|known| (known.better, known.worse) == (pair.better, pair.worse)))
        .collect();
    short.extend(open);
    short
}

/// Returns what criteria are ordered by, and suites are boosted by.
pub(crate) fn score_name(analysis: &Analysis) -> &'static str {
    if analysis.expected.is_some() { "expected score" } else { "mutant score" }
}

/// Returns a sentence about the criteria that are left out, if there are any.
pub(crate) fn left_out_sentence(analysis: &Analysis) -> Option<String> {
    let names = analysis.left_out.join(", ");
    (!names.is_empty()).then(|| format!("Left out, since no test case covers anything of it: {names}."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use simutant_analysis::{AnalysisOptions, Score, SuiteIndex, Summary, Worth, analyse};
    use simutant_outcomes::Outcomes;
    use simutant_synthetic::{from_kills, synthetic};

    fn sentences(outcomes: &Outcomes) -> Vec<String> {
        let analysis = analyse(outcomes, &AnalysisOptions::default()).expect("sound outcomes");
        recommended(analysis.recommendation.as_ref().expect("there are suites"), &analysis)
    }

    #[test]
    fn claims_come_with_effect_interval_and_corrected_p() {
        let found = sentences(&synthetic(120, 1));
        assert!(found[0].ends_with("on these mutants more than those of every other criterion."), "{}", found[0]);
        for part in
            ["Suites of IP-2 score higher than those of IP-1, the next best (A12 0.", ", 95 % 0.", "Holm p < 0.001"]
        {
            assert!(found[1].contains(part), "{part}: {}", found[1]);
        }
        assert!(found[2].starts_with("At the same size (at the "), "{}", found[2]);
        assert!(found[3].starts_with("Random suites of the same sizes kill 7"), "{}", found[3]);
        assert!(found.last().is_some_and(|last| last.starts_with("Limits: ")), "{found:?}");
    }

    #[test]
    fn means_that_disagree_are_told() {
        let with = |time, mean| {
            let score = Summary { count: 2, mean, sd: Some(0.3), min: 0.2, median: mean, max: 0.9 };
            ExpectedCriterion {
                criterion: 0,
                suites: Vec::new(),
                suites_on_dominators: Vec::new(),
                suites_by_row: Vec::new(),
                score,
                seconds: 2.0,
                random_same_time: 0.7,
                random_same_size: 0.5,
                worth: Worth { time, inputs: 1.0 },
                dominator_score: None,
                coverage: 1.0,
                best: 0,
            }
        };
        assert!(disagreeing_means(&with(1.7, 0.6)).contains("disagree"));
        assert!(disagreeing_means(&with(0.8, 0.8)).contains("disagree"));
        assert_eq!([disagreeing_means(&with(1.7, 0.8)), disagreeing_means(&with(0.8, 0.6))], ["", ""]);
    }

    /// Two criteria that ask for the same.
    #[test]
    fn criteria_that_are_alike_are_the_same_or_undecided() {
        let mut outcomes = synthetic(120, 1);
        let mut twin = outcomes.criteria[3].clone();
        twin.name = "IP-2-again".into();
        outcomes.criteria.push(twin);
        let found = sentences(&outcomes);
        assert!(found[0].starts_with("Which criterion is best is open between IP-2-again and IP-2: "), "{}", found[0]);
        assert!(found[1].contains("more than those of 3 of 4 other criteria, but"), "{}", found[1]);
        assert!(!found[2].contains("score higher than"), "{}", found[2]);
    }

    #[test]
    fn one_criterion_one_suite_and_one_score_are_sentences() {
        // One criterion; every suite is the whole universe, so that all scores and sizes are equal.
        let found = sentences(&from_kills(&["k..", "k..", ".k.", ".k."]));
        assert!(found[0].ends_with("and no other criterion has a score."), "{}", found[0]);
        assert!(found[1].contains("gain +0.0 points (95 % +0.0 to +0.0, no difference at all)"), "{}", found[1]);
        // No mutant.
        let found = sentences(&from_kills(&["....", "kkkk"]));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("No mutant can tell"), "{}", found[0]);
        // One mutant.
        let found = sentences(&from_kills(&["k..."]));
        assert!(found[0].contains("kill 100.0 % of the 1 analysed mutant on average"), "{}", found[0]);
        // Two criteria of which every suite scores the same.
        let mut outcomes = from_kills(&["k..", "k..", ".k.", ".k."]);
        let mut twin = outcomes.criteria[0].clone();
        twin.name = "twin".into();
        outcomes.criteria.push(twin);
        let analysis = analyse(&outcomes, &AnalysisOptions::default()).expect("sound outcomes");
        assert_eq!(analysis.recommendation, None);
        assert_eq!(
            recommendation_sentences(&analysis),
            [
                "No mutant tells every-case and twin apart, so no suite of a criterion is recommended: --criterion NAME takes the best one of \
              that criterion."
            ]
        );
        // What is said of a criterion that is as good as another.
        let chosen = Recommendation {
            choice: SuiteIndex { criterion: 0, suite: 0 },
            criterion: "every-case".into(),
            size: 4,
            score: Score { killed: 4, of: 4 },
            dominator_score: Score { killed: 2, of: 2 },
            expected: None,
            same_time: None,
            instead_of: None,
        };
        let found = own_seed_sentences(&chosen, &analysis);
        assert!(found[0].ends_with("the same within 1 % as those of twin."), "{}", found[0]);
        assert!(found[1].contains("(A12 0.50, 95 % 0.50 to 0.50, all scores equal; no score varies)"), "{}", found[1]);
        assert!(found[2].contains("cannot be compared at the same size"), "{}", found[2]);
        assert_eq!(ranking_sentences(&analysis.ranking, &analysis), ["All suites of all 2 criteria score the same."]);
    }

    #[test]
    fn the_short_list_has_neighbours_and_what_the_recommendation_leaves_open() {
        let mut outcomes = synthetic(120, 1);
        let mut twin = outcomes.criteria[3].clone();
        twin.name = "IP-2-again".into();
        outcomes.criteria.push(twin);
        let analysis = analyse(&outcomes, &AnalysisOptions::default()).expect("sound outcomes");
        let recommended = analysis.recommendation.as_ref().map(Recommendation::recommended_criterion);
        let short = short(&analysis.ranking, recommended);
        let is_open = |pair: &&PairTest| Some(pair.better) == recommended && !pair.significant;
        assert!(short.len() >= 4 && short[4..].iter().all(is_open), "four neighbours of five, and what is open");
        assert!(analysis.ranking.pairs.len() == 20 && !short[0].significant);
        assert!(
            ranking_sentences(&analysis.ranking, &analysis)[0]
                .starts_with("All 5 criteria together differ (Kruskal-Wallis H ")
        );
    }

    #[test]
    fn the_caveat_counts_mutants_and_different_rows() {
        let found = sentences(&from_kills(&["k...", "k...", ".k.."]));
        let caveat = found.last().expect("there are sentences");
        assert!(
            caveat.contains("this rests on 3 analysed mutants of 1 function with 2 different kill rows"),
            "{caveat}"
        );
        assert_eq!(sentences(&from_kills(&["....", "kkkk"])).len(), 2, "no mutant counts");
    }
}
