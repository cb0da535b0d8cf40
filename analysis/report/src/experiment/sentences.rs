//! What experiments say, in sentences.

use simutant_analysis::{
    Agreement, Analysis, Correlation, CriterionAnalysis, Curve, Experiment, Findings, PATHOLOGICAL_ABOVE, Prediction,
    Reference, Resampled, SelectionCurves, Share, SubjectKind, SuiteUnit, Summary, percent, plural,
};

use super::findings::{of_all, short};
use crate::text::{capitalised, correlation, correlations, level, list, or_none, points, points_interval};

/// What the experiments say.
pub(crate) fn sentences(experiment: &Experiment, analysis: &Analysis, reference: Option<&Reference>) -> Vec<String> {
    let mut sentences: Vec<String> = nothing_sentence(experiment).into_iter().collect();
    for findings in &experiment.findings {
        let subjects = format!("{} {}", findings.subjects.len(), findings.kind);
        let alpha = experiment.options.alpha;
        // What takes the ground from under the rest comes first.
        let rules = findings.choosing_in_time.iter().chain(&findings.choosing);
        let rules = rules.filter_map(|choosing| choosing_sentence(findings, choosing, alpha));
        let (warnings, others): (Vec<_>, Vec<_>) = rules
            .map(Some)
            .chain([size_sentence(findings, alpha)])
            .flatten()
            .partition(|sentence: &Sentence| sentence.is_warning);
        sentences.extend(warnings.into_iter().map(|sentence| sentence.text));
        sentences.extend(seeds_sentence(experiment, findings));
        let gains: Vec<&CriterionAnalysis> =
            findings.criteria.iter().filter(|criterion| gains(criterion, experiment)).collect();
        let names: Vec<&str> = gains.iter().map(|criterion| criterion.name.as_str()).collect();
        if findings.subjects.len() < SUBJECTS_COMPARED {
            sentences.extend(few_sentence(findings));
            continue;
        }
        sentences.push(format!(
            "Experiment 1, on {subjects}: suites of {} find significantly more than random suites of the same size.",
            if names.is_empty() { "no criterion".to_owned() } else { list(&names) }
        ));
        let boosted = findings.criteria.iter().filter_map(|criterion| {
            let step = criterion.boosting.as_ref()?.boosted()?;
            Some(format!("{} with M = {}", criterion.name, step.suites))
        });
        let boosted: Vec<String> = boosted.collect();
        let with_suites = findings.criteria.iter().filter(|criterion| !criterion.suites.is_empty()).count();
        sentences.push(format!(
            "Experiment 2: choosing by score finds significantly more for {} of {} criteria{}.",
            boosted.len(),
            with_suites,
            if boosted.is_empty() { String::new() } else { format!(": {}", boosted.join(", ")) }
        ));
        sentences.extend(operators_sentence(findings));
        sentences.extend(prediction_sentences(findings, reference));
        sentences.extend(others.into_iter().map(|sentence| sentence.text));
        sentences.extend(order_sentence(findings, analysis));
        sentences.extend(few_sentence(findings));
    }
    sentences
}

/// Says that nothing judges suites; `None` if implementations do.
fn nothing_sentence(experiment: &Experiment) -> Option<String> {
    let is_judged = experiment.findings.iter().any(|findings| findings.kind == SubjectKind::Implementations);
    (!is_judged).then(|| {
        format!(
            "No implementation fails on some test cases and on at most {} of them: there is nothing{} to judge suites by.",
            percent(PATHOLOGICAL_ABOVE),
            if experiment.findings.is_empty() { "" } else { " but mutants of an implementation" }
        )
    })
}

/// Says that there are few of those that judge suites, or too few; `None` if there are enough.
fn few_sentence(findings: &Findings) -> Option<String> {
    let count = findings.subjects.len();
    let subjects = capitalised(&format!("{count} {}", findings.kind));
    if count < SUBJECTS_COMPARED {
        return Some(format!(
            "{subjects} {} too few to compare criteria or operators by: that takes {SUBJECTS_COMPARED}, each of which \
             fails on some test cases and on at most {} of them.",
            if count == 1 { "is" } else { "are" },
            percent(PATHOLOGICAL_ABOVE)
        ));
    }
    let moves =
        || format!("{subjects} are few: one of them moves an effectiveness by {}.", percent(1.0 / count as f64));
    (count < SUBJECTS_MIN).then(moves)
}

/// Returns what the experiments say of the choice by mutants, and of the criteria, without the names of all of these.
pub(super) fn most_important(experiment: &Experiment, analysis: &Analysis) -> Vec<String> {
    let mut sentences: Vec<String> = nothing_sentence(experiment).into_iter().collect();
    for findings in &experiment.findings {
        let choosing = findings.choosing_in_time.as_ref().or(findings.choosing.as_ref());
        let sentence = choosing.and_then(|choosing| choosing_sentence(findings, choosing, experiment.options.alpha));
        sentences.extend(sentence.map(|sentence| sentence.text));
        sentences.extend(seeds_sentence(experiment, findings));
        sentences.extend(findings.choosing.as_ref().map(|_| correlation_sentence(findings.correlation)));
        if findings.subjects.len() >= SUBJECTS_COMPARED {
            let size = size_sentence(findings, experiment.options.alpha).filter(|sentence| sentence.is_warning);
            sentences.extend(size.map(|sentence| sentence.text));
            sentences.extend(order_sentence(findings, analysis));
        }
        sentences.extend(few_sentence(findings));
    }
    sentences
}

/// A sentence, and whether it says that something as good comes without mutants.
struct Sentence {
    text: String,
    is_warning: bool,
}

/// With fewer implementations than this nothing is said of criteria: what suites find of two programs is 0, a half or
/// all.
const SUBJECTS_COMPARED: usize = 3;

/// With fewer implementations than this a sentence says that they are few: the thesis had eight or more for each
/// system.
const SUBJECTS_MIN: usize = 8;

fn gains(criterion: &CriterionAnalysis, experiment: &Experiment) -> bool {
    criterion.same_size.as_ref().is_some_and(|same_size| same_size.gains(experiment.options.alpha))
}

/// Says of how many predictions the implementations find the same.
fn held<'a>(predictions: impl Iterator<Item = &'a Prediction> + Clone) -> String {
    let share = Share::of(predictions.clone().map(|prediction| prediction.agreement));
    let by_thesis = Share::of(predictions.map(|prediction| prediction.agreement_by_thesis));
    format!(
        "mutants predicted {} as the implementations have them, {} the other way round, and {} are undecided, since one of both or neither says \
         anything significant (by the thesis's own test: {}, {} and {})",
        share.agree, share.differ, share.undecided, by_thesis.agree, by_thesis.differ, by_thesis.undecided,
    )
}

/// Says how kills and failures go together.
pub(super) fn correlation_sentence(found: Correlation) -> String {
    let expected = found.expected.map_or_else(String::new, |expected| {
        format!(
            ", mutants that it is expected to kill by {}, and by {} if each counts by its difficulty",
            correlation(expected),
            or_none(found.by_difficulty, correlation),
        )
    });
    format!(
        "Over test cases, mutants killed on a test case's own seed correlate with the share of these that fail on it by {}{expected}.",
        or_none(found.own_seeds, correlation),
    )
}

/// Says whether the chosen suites find more than those of the best rule of thumb.
fn choosing_sentence(findings: &Findings, choosing: &SelectionCurves, alpha: f64) -> Option<Sentence> {
    let best = choosing.best_rule()?;
    let sizes = match choosing.unit {
        SuiteUnit::TestCases => format!("1 to {} test cases", choosing.chosen.shares.len()),
        SuiteUnit::MeanTimes => format!("the time of 1 to {} mean test cases", choosing.chosen.shares.len()),
    };
    let level = level(alpha);
    let interval = |interval| format!(", {level} interval {}", points_interval(interval));
    let interval = best.chosen_above_interval.map_or_else(String::new, interval);
    let (chosen, random) = (percent(choosing.chosen.area), percent(choosing.random.area));
    let subjects = format!("{} {}", findings.subjects.len(), findings.kind);
    let is_warning = !best.is_beaten();
    let text = if is_warning {
        let is_better = best.chosen_above_interval.map_or(best.chosen_above < 0.0, |interval| interval.upper < 0.0);
        format!(
            "A rule of thumb does {} the suites that mutants choose: on average over {sizes}, those of the rule `{}` \
             find {} of {subjects}, the chosen ones {chosen} ({} points{interval}), random ones {random}. It is the best of {} rules, \
             picked by this result.",
            if is_better { "better than" } else { "as well as" },
            best.name,
            percent(best.area),
            points(choosing.chosen.area - best.area),
            choosing.rules.len(),
        )
    } else {
        format!(
            "The suites that mutants choose find {chosen} of {subjects} on average over {sizes}, {:.1} points more than those \
             of the best of {} rules of thumb, `{}` ({}{interval}); random ones find {random}.",
            100.0 * best.chosen_above,
            choosing.rules.len(),
            best.name,
            percent(best.area),
        )
    };
    Some(Sentence { text: format!("{text} {}", regret_sentence(choosing)), is_warning })
}

/// Says what each way to choose falls short of the best: at budgets of time of the best rule, which nobody knows beforehand.
fn regret_sentence(choosing: &SelectionCurves) -> String {
    let Some(best_rule) = choosing.best_rule_at_budgets() else {
        let best = choosing.curves().map(|curve| curve.area).fold(0.0, f64::max);
        let regret = |curve: &Curve| format!("{} {:.1}", curve.name, 100.0 * (best - curve.area));
        let mut rules: Vec<&Curve> = choosing.rules.iter().collect();
        rules.sort_by(|one, other| other.area.total_cmp(&one.area));
        let ways = [&choosing.chosen, &choosing.random].into_iter().chain(rules.into_iter().take(3));
        return format!("Points short of the best: {}.", ways.map(regret).collect::<Vec<_>>().join(", "));
    };
    let budgets: Vec<String> = choosing.budgets.iter().map(|budget| of_all(*budget)).collect();
    let budgets: Vec<&str> = budgets.iter().map(String::as_str).collect();
    let regret = |curve: &Curve| {
        let at: Vec<String> = curve.at_budgets.iter().filter_map(|at| Some(short(at.regret?))).collect();
        format!("{} {} (mean {})", curve.name, at.join(", "), or_none(curve.regret(), short))
    };
    let ways = [&choosing.chosen, &choosing.random, best_rule].map(regret);
    format!(
        "Points short of the rule that is best at {} in time: {}; the last is the best rule over these, picked by this result.",
        list(&budgets),
        ways.join("; "),
    )
}

/// Names what was drawn again.
pub(super) fn resampled(resampled: &[Resampled]) -> String {
    let name = |resampled: &Resampled| match resampled {
        Resampled::Implementations => "implementations",
        Resampled::TestCases => "test cases",
        Resampled::Seeds => "seeds",
    };
    list(&resampled.iter().map(name).collect::<Vec<_>>())
}

/// Says whether it depends on the seed if the chosen suites find more than others.
fn seeds_sentence(experiment: &Experiment, findings: &Findings) -> Option<String> {
    let choosing = findings.choosing_in_time.as_ref().or(findings.choosing.as_ref())?;
    if experiment.seeds < 2 {
        let cure = match experiment.repetitions {
            1 => "--repeat 2 runs them with others",
            _ => "repetitions do not draw others, --seed with another --out does",
        };
        return Some(format!(
            "All test cases ran with one seed, so whether it decides which suites find more is not known: {cure}."
        ));
    }
    let beside = |curve: &Curve| {
        let by_seed: Vec<String> = curve.chosen_above_by_seed.iter().map(|above| points(*above)).collect();
        format!("`{}` by {}", curve.name, by_seed.join(", "))
    };
    let best = choosing.best_rule();
    let each = [Some(&choosing.random), best].into_iter().flatten().map(beside);
    let each = each.collect::<Vec<_>>().join(" and ");
    let deciding: Vec<&str> =
        choosing.curves().filter(|curve| curve.seed_decides()).map(|curve| curve.name.as_str()).collect();
    Some(format!(
        "With each of {} seeds alone, the chosen suites find more than {each} points. {}.",
        experiment.seeds,
        match deciding.as_slice() {
            [] => "No seed decides whether they find more than random ones or than those of a rule".to_owned(),
            _ => format!("One seed decides whether they find more than {}", list(&deciding)),
        }
    ))
}

/// Says which operators' mutants choose best alone, and which mislead.
fn operators_sentence(findings: &Findings) -> Option<String> {
    let (best, chosen) = (findings.operators.first()?, &findings.choosing.as_ref()?.chosen);
    let alone = best.alone.as_ref()?;
    let misleading = findings.operators.iter().filter(|of| of.misleads());
    let misleading: Vec<String> =
        misleading.filter_map(|of| Some(format!("{} ({})", of.operator, percent(of.without.as_ref()?.area)))).collect();
    Some(format!(
        "Of {} operators, the mutants of {} alone choose best: their suites find {}, those of all mutants {}. {}.",
        findings.operators.len(),
        best.operator,
        percent(alone.area),
        percent(chosen.area),
        match misleading.as_slice() {
            [] => "No operator misleads: suites find significantly more without the mutants of none".to_owned(),
            _ => format!("Suites find significantly more without the mutants of {}", misleading.join(", ")),
        }
    ))
}

/// Says whether mutants foresee the order of the criteria better than the size of suites alone.
fn size_sentence(findings: &Findings, alpha: f64) -> Option<Sentence> {
    let foreseen = findings.foreseen.as_ref()?;
    let is_warning = !foreseen.mutants_are_better();
    let difference = foreseen.difference_interval.map_or_else(String::new, |interval| {
        format!(
            " (difference {}, {} interval {})",
            correlation(foreseen.by_mutants - foreseen.by_size),
            level(alpha),
            correlations(interval)
        )
    });
    let claim = match (is_warning, foreseen.by_size >= foreseen.by_mutants) {
        (true, true) => {
            "The mean size of suites alone foresees the order of the criteria as well as mutants do, or better"
        }
        (true, false) => {
            "Mutants do not foresee the order of the criteria significantly better than the mean size of suites alone"
        }
        (false, _) => "Mutants foresee the order of the criteria better than the mean size of suites alone",
    };
    let share = |agreement: fn(&Prediction) -> Agreement| {
        let share = Share::of(findings.predictions.iter().map(agreement));
        format!("{} as the implementations have them and {} the other way round", share.agree, share.differ)
    };
    let text = format!(
        "{claim}: Kendall's tau with the order by effectiveness of {} criteria is {} by size and {} by score{difference}; of {} \
         pairs, size has {}, mutants {}.",
        foreseen.criteria,
        correlation(foreseen.by_size),
        correlation(foreseen.by_mutants),
        findings.predictions.len(),
        share(|pair| pair.agreement_by_size),
        share(|pair| pair.agreement),
    );
    Some(Sentence { text, is_warning })
}

/// Says how many predictions held, of all and of those that the thesis made.
fn prediction_sentences(findings: &Findings, reference: Option<&Reference>) -> Vec<String> {
    if findings.predictions.is_empty() {
        return vec!["Experiment 3: there are no two criteria with scores by mutants and by implementations.".into()];
    }
    let is_of_reference = |reference: &Reference, prediction: &&Prediction| {
        [prediction.better, prediction.worse]
            .into_iter()
            .all(|criterion| reference.criterion(&findings.criteria[criterion].name).is_some())
    };
    let mut sentences = vec![format!(
        "Experiment 3: of {} pairs of criteria, {}.",
        findings.predictions.len(),
        held(findings.predictions.iter())
    )];
    let equal: Vec<Agreement> = findings
        .predictions
        .iter()
        .filter(|prediction| prediction.same_size.is_some())
        .map(|prediction| prediction.agreement_same_size)
        .collect();
    let share = Share::of(equal.iter().copied());
    sentences.push(format!(
        "At equal size of suites: of {} that share sizes, mutants predicted {} as the implementations have them, {} the other way round, \
         and {} are not told apart.",
        plural(equal.len(), "pair"),
        share.agree,
        share.differ,
        share.undecided,
    ));
    if let Some(reference) = reference {
        let theirs: Vec<&Prediction> =
            findings.predictions.iter().filter(|prediction| is_of_reference(reference, prediction)).collect();
        sentences.push(format!(
            "Of the {} pairs that the {} has, {}; there, {}.",
            theirs.len(),
            reference.name,
            held(theirs.iter().copied()),
            reference.predicted,
        ));
    }
    sentences
}

/// Says how the criterion that mutants recommend does on the implementations.
fn order_sentence(findings: &Findings, analysis: &Analysis) -> Option<String> {
    let (&by_mutants, &by_effectiveness) = (analysis.ranking.order.first()?, findings.ranking.order.first()?);
    let mean = |index: usize| findings.criteria[index].score.map(|score: Summary| percent(score.mean));
    let (recommended, best) = (&findings.criteria[by_mutants].name, &findings.criteria[by_effectiveness].name);
    let place = findings.ranking.order.iter().position(|&index| index == by_mutants)? + 1;
    Some(if by_mutants == by_effectiveness {
        format!("Mutants put {recommended} first, and so do the implementations (E {}).", mean(by_mutants)?)
    } else {
        format!(
            "Mutants put {recommended} first (E {}, place {place} of {} by the implementations), these put {best} first (E {}){}.",
            mean(by_mutants)?,
            findings.ranking.order.len(),
            mean(by_effectiveness)?,
            match findings.ranking.pair(by_effectiveness, by_mutants) {
                Some(pair) if pair.significant => ", significantly",
                _ => ", not significantly",
            },
        )
    })
}
