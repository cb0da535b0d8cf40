//! What experiments 1 to 3 found, as tables: tables 4.7 to 4.17 of the thesis.

use comfy_table::Table;
use simutant_analysis::{
    Agreement, CriterionAnalysis, Curve, Experiment, Findings, Foreseen, Interval, Prediction, Reference, Relation,
    Score, SelectionCurves, Share, histogram, percent,
};

use crate::reference;
use crate::tables::sizes_shown;
use crate::terminal::{Rows, cells, table};
use crate::text::{
    NONE, correlation, correlations, level, named_p, or_none, p_value, percents, points, points_interval,
    same_size_cells, share_summary,
};

/// Into how many parts the range of an effectiveness is cut: figures 4.3 to 4.5.
const BINS: usize = 10;

pub(super) fn effectiveness(experiment: &Experiment, findings: &Findings, reference: Option<&Reference>) -> Table {
    let level = level(experiment.options.alpha);
    let mut head = vec!["criterion", "target", "size", "E", "random", "gain", &level, "p (Holm)"];
    let there = reference::columns(reference, ["target", "size", "E"]);
    head.extend(there.iter().map(String::as_str));
    let mut table = table(head);
    for criterion in &findings.criteria {
        let target = Score { killed: criterion.feasible(), of: criterion.requirements };
        let mut row = vec![
            criterion.name.clone(),
            or_none(target.value(), percent),
            or_none(criterion.size, |size| format!("{:.1}", size.mean)),
            or_none(criterion.score, |score| share_summary(&score)),
        ];
        row.extend(same_size_cells(criterion.same_size.as_ref()));
        if let Some(reference) = reference {
            let there = reference.criterion(&criterion.name);
            row.push(or_none(there.and_then(|there| there.target), percent));
            row.push(or_none(there.and_then(|there| there.size), |size| format!("{size:.1}")));
            row.push(or_none(there, |there| percent(there.effectiveness)));
        }
        table.add_row(cells(row));
    }
    table
}

/// Figure 4.2: the points of the criteria, and the line of random suites at the same size.
pub(super) fn size_against_effectiveness(findings: &Findings) -> Table {
    let mut table = table(["criterion", "mean size", "E", "random", "above"]);
    let points_of = findings.criteria.iter().filter_map(|criterion| {
        let (size, score) = (criterion.size?.mean, criterion.score?.mean);
        Some((criterion, size, score, random_at(findings, size)))
    });
    let mut points_of: Vec<_> = points_of.collect();
    points_of.sort_by(|one, other| one.1.total_cmp(&other.1));
    for (criterion, size, score, random) in points_of {
        table.add_row(cells([
            criterion.name.clone(),
            format!("{size:.1}"),
            percent(score),
            or_none(random, percent),
            or_none(random, |random| points(score - random)),
        ]));
    }
    table
}

/// What random suites of a size are expected to find, between two sizes by interpolation; `None` beyond the sizes that
/// are known.
fn random_at(findings: &Findings, size: f64) -> Option<f64> {
    let random = &findings.cost_effectiveness.random;
    let score = |size: usize| match size {
        0 => Some(0.0),
        _ => Some(random.iter().find(|random| random.size == size)?.score?.mean),
    };
    let (below, above) = (score(size.floor() as usize)?, score(size.ceil() as usize)?);
    Some(below + (above - below) * size.fract())
}

/// The sizes of which the table of choices has a column.
const SIZES_SHOWN: [usize; 7] = [1, 2, 3, 5, 10, 15, 20];

pub(super) fn choices(choosing: &SelectionCurves, alpha: f64) -> Table {
    let sizes = || SIZES_SHOWN.into_iter().filter(|size| *size <= choosing.chosen.shares.len());
    let level = level(alpha);
    let mut head = vec!["chosen by".to_owned()];
    head.extend(sizes().map(|size| size.to_string()));
    head.extend(choosing.budgets.iter().map(|budget| of_all(*budget)));
    head.extend(["area".into(), level.clone(), "gain".into(), level]);
    let mut table = table(head);
    for curve in choosing.curves() {
        let mut row = vec![curve.name.clone()];
        row.extend(sizes().map(|size| percent(curve.shares[size - 1])));
        row.extend(curve.at_budgets.iter().map(|at| percent(at.share)));
        row.extend([percent(curve.area), or_none(curve.interval, percents)]);
        if std::ptr::eq(curve, &choosing.chosen) {
            row.extend([NONE.into(), NONE.into()]);
        } else {
            row.extend([points(curve.chosen_above), or_none(curve.chosen_above_interval, points_interval)]);
        }
        table.add_row(cells(row));
    }
    table
}

/// Names a share of the time of the whole universe.
pub(super) fn of_all(budget: f64) -> String {
    format!("1/{:.0} of all", 1.0 / budget)
}

pub(crate) const BUDGETS_NOTE: &str = "Gain: points that the chosen suites find more within a share of the time that all test cases take. Regret: points short \
                             of the rule that is best at that share, which the result picks; the chosen suites have a negative one \
                             where they find more.";

/// What the chosen suites find more at each budget, and what each way to choose falls short of the best rule.
pub(crate) fn budgets(choosing: &SelectionCurves, alpha: f64) -> Rows {
    let level = level(alpha);
    let mut head = vec!["chosen by".to_owned()];
    for budget in &choosing.budgets {
        head.extend([format!("gain, {}", of_all(*budget)), level.clone()]);
    }
    head.extend(choosing.budgets.iter().map(|budget| format!("regret, {}", of_all(*budget))));
    head.push("mean regret".into());
    let mut rows = Vec::new();
    let mut add = |name: String, curve: &Curve| {
        let mut row = vec![name];
        for at in &curve.at_budgets {
            row.extend(match std::ptr::eq(curve, &choosing.chosen) {
                true => [NONE.into(), NONE.into()],
                false => [points(at.chosen_above), or_none(at.chosen_above_interval, points_interval)],
            });
        }
        let regrets = curve.at_budgets.iter().map(|at| at.regret).chain([curve.regret()]);
        row.extend(regrets.map(|regret| or_none(regret, short)));
        rows.push(row);
    };
    choosing.curves().for_each(|curve| add(curve.name.clone(), curve));
    if let Some(best) = choosing.best_rule_at_budgets() {
        add(format!("best rule, picked by the result: {}", best.name), best);
    }
    Rows { head, rows }
}

/// Writes points without a sign unless they are negative.
pub(super) fn short(regret: f64) -> String {
    points(regret).trim_start_matches('+').to_owned()
}

pub(super) const OPERATORS_NOTE: &str = "Areas as above. Gain: points that suites find more without its mutants than with all; the intervals are of each \
                               operator by itself. Correlation: over test cases, of what its mutants' difficulties expect with failures.";

pub(super) fn operators(findings: &Findings, alpha: f64) -> Table {
    let level = level(alpha);
    let mut table = table(["operator", "mutants", "alone", &level, "without", "gain", &level, "correlation"]);
    for of in &findings.operators {
        let (alone, without) = (of.alone.as_ref(), of.without.as_ref());
        let gain = without.and_then(|curve| curve.chosen_above_interval);
        table.add_row(cells([
            of.operator.clone(),
            of.mutants.to_string(),
            or_none(alone, |curve| percent(curve.area)),
            or_none(alone.and_then(|curve| curve.interval), percents),
            or_none(without, |curve| percent(curve.area)),
            or_none(without, |curve| points(-curve.chosen_above)),
            or_none(gain.map(|Interval { lower, upper }| Interval { lower: -upper, upper: -lower }), points_interval),
            or_none(of.correlation, correlation),
        ]));
    }
    table
}

pub(super) fn foreseen(findings: &Findings, alpha: f64) -> Table {
    let level = level(alpha);
    let mut table = table(["foreseen by", "tau", &level, "pairs as foreseen", "opposite", "not told apart"]);
    let tau =
        |value: fn(&Foreseen) -> f64| or_none(findings.foreseen.as_ref(), |foreseen| correlation(value(foreseen)));
    let interval_of =
        |value: fn(&Foreseen) -> Option<Interval>| or_none(findings.foreseen.as_ref().and_then(value), correlations);
    let none = || NONE.to_owned();
    let mut row = |name: &str, tau: String, interval: String, agreement: Option<fn(&Prediction) -> Agreement>| {
        let share = agreement.map(|agreement| Share::of(findings.predictions.iter().map(agreement)));
        let counts = share.map(|share| [share.agree, share.differ, share.undecided].map(|count| count.to_string()));
        table.add_row(cells(
            [name.to_owned(), tau, interval].into_iter().chain(counts.unwrap_or([(); 3].map(|()| none()))),
        ));
    };
    row("mean score", tau(|of| of.by_mutants), interval_of(|of| of.by_mutants_interval), Some(|pair| pair.agreement));
    row("mean mutant score on own seeds", tau(|of| of.by_own_seeds), none(), None);
    row(
        "mean size of suites",
        tau(|of| of.by_size),
        interval_of(|of| of.by_size_interval),
        Some(|pair| pair.agreement_by_size),
    );
    row("score at equal size", none(), none(), Some(|pair| pair.agreement_same_size));
    table
}

pub(super) fn cost_effectiveness(findings: &Findings, reference: Option<&Reference>) -> Table {
    let there = reference.and_then(reference::implementations);
    let sizes = sizes_shown(&findings.criteria, &findings.cost_effectiveness);
    let random = &findings.cost_effectiveness.random;
    let mut head = vec!["random size".to_owned(), String::new()];
    head.extend(sizes.iter().map(|&index| random[index].size.to_string()));
    let mut table = table(head);
    for row in &findings.cost_effectiveness.criteria {
        let name = &findings.criteria[row.criterion].name;
        let mut line = |name: &str, letter: &str, relation: &dyn Fn(usize) -> Option<Relation>| {
            let mut row = vec![name.to_owned(), letter.to_owned()];
            row.extend(sizes.iter().map(|&index| or_none(relation(index), |relation| relation.to_string())));
            table.add_row(cells(row));
        };
        line(name, "C", &|index| row.cost.get(index).copied());
        line("", "E", &|index| row.score.get(index).copied());
        let row = there.and_then(|(experiment, there)| {
            Some((experiment, there.cost_effectiveness.iter().find(|row| row.criterion == *name)?))
        });
        if let Some((experiment, there)) = row {
            line(&format!("  {experiment}"), "C", &|index| Some(there.at(random[index].size)?[0]));
            line("", "E", &|index| Some(there.at(random[index].size)?[1]));
        }
    }
    table
}

pub(super) fn distributions(findings: &Findings) -> Table {
    let mut head = vec!["criterion".to_owned()];
    head.extend((0..BINS).map(|bin| format!("{} %", 100 * bin / BINS)));
    let mut table = table(head);
    for (criterion, scores) in findings.criteria.iter().zip(&findings.expected).filter(|(_, scores)| !scores.is_empty())
    {
        let mut row = vec![criterion.name.clone()];
        row.extend(histogram(scores, BINS).iter().map(|share| format!("{:.0} %", 100.0 * share)));
        table.add_row(cells(row));
    }
    table
}

pub(super) fn found(experiment: &Experiment, findings: &Findings) -> Table {
    let criteria: Vec<&CriterionAnalysis> =
        findings.criteria.iter().filter(|criterion| !criterion.suites.is_empty()).collect();
    let mut head = vec!["implementation".to_owned()];
    head.extend(criteria.iter().map(|criterion| criterion.name.clone()));
    let mut table = table(head);
    for (place, &subject) in findings.subjects.iter().enumerate() {
        let mut row = vec![experiment.subjects[subject].name.clone()];
        row.extend(criteria.iter().map(|criterion| {
            let suites = criterion.suites.len();
            let detection = &criterion.detection[place];
            let mark = match detection.is_more_often(suites, experiment.options.alpha) {
                Some(true) => " +",
                Some(false) => " -",
                None => "  ",
            };
            format!("{:.0}{mark}", 100.0 * detection.suites as f64 / suites as f64)
        }));
        table.add_row(cells(row));
    }
    table
}

/// The opposite hypothesis, which the thesis never saw to hold.
pub(super) fn opposite(findings: &Findings, alpha: f64) -> String {
    let mut worse = Vec::new();
    for criterion in &findings.criteria {
        for step in criterion.boosting.iter().flat_map(|boosting| &boosting.steps) {
            if let Some(p) = step.worse_p.filter(|p| *p < alpha) {
                worse.push(format!("{} at M = {} ({})", criterion.name, step.suites, named_p("p", p)));
            }
        }
    }
    match worse.as_slice() {
        [] => "The opposite, that the best of M by score finds fewer implementations than any suite, was never significant; nor in the \
               thesis."
            .into(),
        worse => format!(
            "The opposite, that the best of M by score finds fewer implementations than any suite, was significant for {}; never in \
             the thesis.",
            worse.join(", ")
        ),
    }
}

pub(super) fn predictions(findings: &Findings, reference: Option<&Reference>) -> Table {
    let mut head = vec![
        "claim",
        "mutants A12",
        "p (Holm)",
        "implementations A12",
        "p (Holm)",
        "prediction",
        "z",
        "equal size",
        "size alone",
    ];
    let there = reference::columns(reference, ["mutants p", "effectiveness p"]);
    head.extend(there.iter().map(String::as_str));
    let mut table = table(head);
    for prediction in &findings.predictions {
        let (better, worse) = (&findings.criteria[prediction.better].name, &findings.criteria[prediction.worse].name);
        let mut row = vec![
            format!("{better} > {worse}"),
            format!("{:.2}", prediction.mutant_effect),
            or_none(prediction.mutant_p, p_value),
            format!("{:.2}", prediction.effectiveness_effect),
            or_none(prediction.effectiveness_p, p_value),
            prediction.agreement.to_string(),
            prediction.agreement_by_thesis.to_string(),
            or_none(prediction.same_size, |_| prediction.agreement_same_size.to_string()),
            prediction.agreement_by_size.to_string(),
        ];
        if let Some(reference) = reference {
            let claim = reference.claims.iter().find(|claim| {
                [(&claim.better, &claim.worse), (&claim.worse, &claim.better)].contains(&(better, worse))
            });
            let opposite = claim.is_some_and(|claim| claim.better != *better);
            let mark = |text: &str| if opposite { format!("{text} (opposite)") } else { text.to_owned() };
            row.push(or_none(claim, |claim| mark(&claim.mutant_p)));
            row.push(or_none(claim, |claim| mark(&claim.effectiveness_p)));
        }
        table.add_row(cells(row));
    }
    table
}
