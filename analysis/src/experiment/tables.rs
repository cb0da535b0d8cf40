//! The experiments as tables for a terminal, in the order of the thesis, with its figures beside ours.

use std::collections::BTreeMap;

use comfy_table::{Cell, CellAlignment, Table};

use super::thesis::{Figures, figures};
use super::{
    Characteristic, Choosing, Correlation, Curve, Experiment, Findings, Foreseen, Input, Kind, Prediction, Share,
    SubjectClass, SubjectSummary,
};
use crate::analysis::Analysis;
use crate::conventional::Relation;
use crate::criteria::CriterionAnalysis;
use crate::histogram::histogram;
use crate::mutants::MutantClass;
use crate::reference::{Agreement, Reference, reference};
use crate::score::{Score, percent};
use crate::statistics::{Interval, Summary};
use crate::tables::{Sections, boosting, cells, of_thesis, sizes_shown, table};
use crate::text::{correlation, count, level, list, named_p, or_none, p_value, plural, points, share_summary};

/// Into how many parts the range of an effectiveness is cut: figures 4.3 to 4.5.
const BINS: usize = 10;

/// Returns every table of the experiments, and what they say in sentences.
///
/// Plain text without colours, ending in a line break. `analysis` is the one whose suites were judged.
pub fn experiment_tables(experiment: &Experiment, analysis: &Analysis) -> String {
    let (reference, figures) = (reference(&experiment.system), figures(&experiment.system));
    let subjects_of = |kind| of_kind(experiment, kind).count();
    let mutants = match subjects_of(Kind::ImplementationMutants) {
        0 => String::new(),
        mutants => format!(", and {} of an implementation", plural(mutants, "mutant")),
    };
    let each = match experiment.repetitions {
        1 => String::new(),
        repetitions => format!(", each {repetitions} times"),
    };
    let mut sections = Sections::new(format!(
        "System {}, universe seed {}, {} test cases on {}{mutants}{each}\n",
        experiment.system,
        experiment.universe_seed,
        count(experiment.preparation.cases as u64),
        plural(subjects_of(Kind::Implementations), "implementation"),
    ));
    for kind in Kind::ALL {
        let notes = subjects_notes(experiment, kind, figures);
        match kind {
            Kind::Implementations => sections.add("Implementations (table 4.1)", subjects(experiment, kind), &notes),
            Kind::ImplementationMutants if takes_part(experiment, kind) => {
                sections.add(
                    "Mutants of an implementation, as table 4.1 has implementations",
                    subjects(experiment, kind),
                    &notes,
                );
            }
            Kind::ImplementationMutants => {}
        }
    }
    sections.add("Mutants and implementations by class (table 4.2)", classes(experiment, analysis, reference), &[
        "Without faults: mutants that no test case kills or that are another's duplicate, implementations that never fail. Pathological: \
         found too easily to tell suites apart."
            .into(),
    ]);
    sections.add("Preparation (table 4.3)", preparation(experiment, figures), &[
        "T: N * T_s * (N_m + 1) + N * T_i * N_i (equation 4.2), were nothing left out and nothing done side by side.".into(),
    ]);
    for kind in Kind::ALL {
        if !inputs_of(experiment, kind).is_empty() {
            let of = match kind {
                Kind::Implementations => "",
                Kind::ImplementationMutants => " on mutants of an implementation",
            };
            sections.add(
                &format!("Inputs that fail{of}, and those of the universe (tables 4.4 to 4.6)"),
                inputs(experiment, kind),
                &inputs_notes(figures),
            );
        }
    }
    for findings in &experiment.findings {
        add_findings(&mut sections, experiment, findings, (reference, figures));
    }
    let mut text = sections.text();
    text.push('\n');
    for sentence in sentences(experiment, analysis) {
        text.push_str(&sentence);
        text.push('\n');
    }
    text
}

fn add_findings(
    sections: &mut Sections,
    experiment: &Experiment,
    findings: &Findings,
    (reference, figures): (Option<&Reference>, Option<&Figures>),
) {
    let of = format!("{} {}", findings.subjects.len(), findings.kind);
    sections.add(
        &format!("Experiment 1: size and effectiveness of suites, judged by {of} (tables 4.7 and 4.8)"),
        effectiveness(experiment, findings, reference),
        &["E: the share of the implementations that fail on at least one test case of a suite; gain: points above random suites of the same \
           size."
            .into()],
    );
    sections.add(
        "Experiment 1: cost (C = c_a + M * c_e, in milliseconds) and effectiveness (E) against random suites of each size (tables 4.9 to 4.11)",
        cost_effectiveness(findings, figures),
        &[],
    );
    if let Some(choosing) = &findings.choosing {
        sections.add(
            &format!("Suites of equal size, chosen by mutants, by rules of thumb and at random: the expected share that they find, by size, of {of}"),
            choices(choosing, experiment.options.alpha),
            &[format!(
                "Area: the mean share over the sizes from 1 to {}. Gain: points that the chosen suites find more. Intervals: were other \
                 implementations drawn, the same for both.",
                choosing.chosen.shares.len(),
            ), findings.correlation.sentence()],
        );
    }
    if !findings.operators.is_empty() {
        sections.add(
            &format!("Mutation operators: what suites find that are chosen by the mutants of one alone, and without it, of {of}"),
            operators(findings, experiment.options.alpha),
            &[OPERATORS_NOTE.to_owned()],
        );
    }
    sections.add(
        "Effectiveness of suites: the share of them in each tenth (figures 4.3 to 4.5)",
        distributions(findings),
        &[],
    );
    sections.add(
        "Which implementations the suites of a criterion find, in percent of the suites",
        found(experiment, findings),
        &[format!(
            "+ significantly more often than random suites of the same sizes, - less often (binomial, Benjamini-Hochberg).{}",
            if experiment.repetitions > 1 { " By the first repetition." } else { "" },
        )],
    );
    sections.add(
        "Experiment 2: the best of M suites by score (tables 4.12 to 4.14)",
        boosting(&findings.criteria, reference, ["E", "E+"]),
        &[opposite(findings, experiment.options.alpha)],
    );
    sections.add(
        "Experiment 3: what mutants predicted of each pair of criteria, and what was found (tables 4.15 to 4.17)",
        predictions(findings, reference),
        &["A claim holds by the rank test, corrected for the number of pairs (Holm); z: by the thesis's test, which corrects for nothing. Equal \
           size: mutants and implementations on suites of equal size (van Elteren). Size alone: whether the criterion with the larger \
           suites is the better one."
            .into()],
    );
    sections.add(
        "Experiment 3: the order of the criteria by effectiveness, as mutants foresee it and as the size of suites alone does",
        foreseen(findings, experiment.options.alpha),
        &["tau: Kendall's, of the means of the criteria; intervals: were other implementations drawn. Pairs: of criteria, by the tests above.".into()],
    );
}

/// Returns how many mutants and implementations there are of each class.
fn classes(experiment: &Experiment, analysis: &Analysis, reference: Option<&Reference>) -> Table {
    let mut table = table(["", "all", "without faults", "pathological", "counted"]);
    let mut row = |name: &str, all: usize, pathological: usize, counted: usize| {
        let counts = [all, all - pathological - counted, pathological, counted].map(|count| count.to_string());
        table.add_row(cells([name.to_owned()].into_iter().chain(counts)));
    };
    let mutants = analysis.mutants.counts;
    row("mutants", mutants.total(), mutants.of(MutantClass::Pathological), mutants.of(MutantClass::Analysed));
    for kind in Kind::ALL.into_iter().filter(|kind| of_kind(experiment, *kind).next().is_some()) {
        let of = |class| of_kind(experiment, kind).filter(|subject| subject.class == class).count();
        let (pathological, counted) = (of(SubjectClass::Pathological), of(SubjectClass::Counted));
        row(&kind.to_string(), of_kind(experiment, kind).count(), pathological, counted);
    }
    if let Some(&[all, equivalent, pathological, used]) = reference.map(|reference| &reference.mutants) {
        let counts = [all, equivalent, pathological, used].map(|count| count.to_string());
        table.add_row(cells(["thesis, mutants".to_owned()].into_iter().chain(counts)));
    }
    table
}

/// The sizes of which the table of choices has a column.
const SIZES_SHOWN: [usize; 7] = [1, 2, 3, 5, 10, 15, 20];

fn choices(choosing: &Choosing, alpha: f64) -> Table {
    let sizes = || SIZES_SHOWN.into_iter().filter(|size| *size <= choosing.chosen.shares.len());
    let level = level(alpha);
    let mut head = vec!["chosen by".to_owned()];
    head.extend(sizes().map(|size| size.to_string()));
    head.extend(["area".into(), level.clone(), "gain".into(), level]);
    let mut table = table(head);
    for curve in choosing.curves() {
        let mut row = vec![curve.name.clone()];
        row.extend(sizes().map(|size| percent(curve.shares[size - 1])));
        row.extend([percent(curve.area), or_none(curve.interval, percents)]);
        if std::ptr::eq(curve, &choosing.chosen) {
            row.extend([crate::text::NONE.into(), crate::text::NONE.into()]);
        } else {
            row.extend([points(curve.chosen_above), or_none(curve.chosen_above_interval, points_interval)]);
        }
        table.add_row(cells(row));
    }
    table
}

const OPERATORS_NOTE: &str = "Areas as above. Gain: points that suites find more without its mutants than with all; the intervals are of each \
                               operator by itself. Correlation: over test cases, of what its mutants' difficulties expect with failures.";

fn operators(findings: &Findings, alpha: f64) -> Table {
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

fn percents(interval: Interval) -> String {
    format!("{} to {}", percent(interval.lower), percent(interval.upper))
}

fn correlations(interval: Interval) -> String {
    format!("{} to {}", correlation(interval.lower), correlation(interval.upper))
}

fn points_interval(interval: Interval) -> String {
    format!("{} to {}", points(interval.lower), points(interval.upper))
}

fn foreseen(findings: &Findings, alpha: f64) -> Table {
    let level = level(alpha);
    let mut table = table(["foreseen by", "tau", &level, "pairs as foreseen", "opposite", "not told apart"]);
    let tau =
        |value: fn(&Foreseen) -> f64| or_none(findings.foreseen.as_ref(), |foreseen| correlation(value(foreseen)));
    let interval_of =
        |value: fn(&Foreseen) -> Option<Interval>| or_none(findings.foreseen.as_ref().and_then(value), correlations);
    let none = || crate::text::NONE.to_owned();
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

/// Returns the implementations of a kind.
fn of_kind(experiment: &Experiment, kind: Kind) -> impl Iterator<Item = &SubjectSummary> {
    experiment.subjects.iter().filter(move |subject| kind.has(subject.origin))
}

/// Returns the implementations of a kind, those first that fail most seldom.
pub(crate) fn by_rate(experiment: &Experiment, kind: Kind) -> Vec<&SubjectSummary> {
    let mut subjects: Vec<&SubjectSummary> = of_kind(experiment, kind).collect();
    subjects.sort_by_key(|subject| subject.failed);
    subjects
}

/// Returns whether there are any implementations of a kind, those included that are left out.
pub(crate) fn takes_part(experiment: &Experiment, kind: Kind) -> bool {
    of_kind(experiment, kind).next().is_some() || left_out(experiment, kind).next().is_some()
}

/// The head of the column with what a mutant changes.
pub(crate) const CHANGE: &str = "change";

/// Returns the heads of the columns for implementations of a kind: of mutants, what they change stands last, since it
/// may be long.
pub(crate) fn subject_columns(kind: Kind) -> [&'static str; 6] {
    match kind {
        Kind::Implementations => ["implementation", "faults", "failed", "rate", "class", "mean ms"],
        Kind::ImplementationMutants => ["mutant", "failed", "rate", "class", "mean ms", CHANGE],
    }
}

fn subjects(experiment: &Experiment, kind: Kind) -> Table {
    let mut table = table(subject_columns(kind));
    for subject in by_rate(experiment, kind) {
        let mut row = vec![
            subject.name.clone(),
            subject.failed.to_string(),
            percent(subject.failure_rate),
            subject.class.to_string(),
            or_none(subject.duration_ms, |duration| format!("{:.0}", duration.mean)),
        ];
        match kind {
            Kind::Implementations => {
                row.insert(1, subject.origin.to_string());
                table.add_row(cells(row));
            }
            Kind::ImplementationMutants => {
                let change = Cell::new(&subject.description).set_alignment(CellAlignment::Left);
                table.add_row(cells(row).into_iter().chain([change]));
            }
        }
    }
    table
}

fn subjects_notes(experiment: &Experiment, kind: Kind, figures: Option<&Figures>) -> Vec<String> {
    let mut notes = Vec::new();
    let pathological = of_kind(experiment, kind).filter(|subject| subject.class == SubjectClass::Pathological);
    let names: Vec<&str> = pathological.map(|subject| subject.name.as_str()).collect();
    if !names.is_empty() {
        notes.push(format!(
            "Left out, since they fail on more than {} of the test cases: {}.",
            percent(super::PATHOLOGICAL_ABOVE),
            list(&names)
        ));
    }
    notes.extend(unsteady(experiment, kind));
    notes.extend(left_out(experiment, kind));
    if let Some(figures) = figures.filter(|_| kind == Kind::Implementations) {
        let rates: Vec<String> = figures.failure_rates.iter().map(|rate| format!("{rate}")).collect();
        notes.push(format!("Thesis: {} %.", rates.join(", ")));
    }
    notes
}

/// Returns how far verdicts repeat, where test cases ran several times.
pub(crate) fn unsteady(experiment: &Experiment, kind: Kind) -> Option<String> {
    let sum = |value: fn(&SubjectSummary) -> usize| of_kind(experiment, kind).map(value).sum::<usize>();
    let (ever, always) = (sum(|subject| subject.failed), sum(|subject| subject.failed_always));
    (experiment.repetitions > 1).then(|| {
        format!(
            "Failed: in one of {} repetitions at least. Of {} pairs of an implementation and a test case that do, {} fail in every repetition.",
            experiment.repetitions,
            count(ever as u64),
            count(always as u64),
        )
    })
}

/// Returns which implementations of a kind do not take part, and why: mutants, of which there may be many, by their
/// number for each reason.
pub(crate) fn left_out(experiment: &Experiment, kind: Kind) -> impl Iterator<Item = String> {
    let left_out = experiment.left_out.iter().filter(move |left_out| kind.has(left_out.origin));
    let mut lines: Vec<(String, &str)> = Vec::new();
    match kind {
        Kind::Implementations => lines.extend(left_out.map(|left_out| (left_out.name.clone(), left_out.why.as_str()))),
        Kind::ImplementationMutants => {
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            left_out.for_each(|left_out| *counts.entry(&left_out.why).or_default() += 1);
            lines.extend(counts.into_iter().map(|(why, count)| (plural(count, "mutant"), why)));
        }
    }
    lines.into_iter().map(|(who, why)| format!("Left out, {who}: {why}."))
}

fn preparation(experiment: &Experiment, figures: Option<&Figures>) -> Table {
    let mut table = table(["", "N", "N_m", "N_i", "T_s", "T_i", "T"]);
    let here = [("here", Some(experiment.preparation)), ("here, on mutants", experiment.mutant_preparation)];
    for (name, ours) in here.into_iter().filter_map(|(name, ours)| Some((name, ours?))) {
        table.add_row(cells([
            name.to_owned(),
            ours.cases.to_string(),
            ours.mutants.to_string(),
            ours.subjects.to_string(),
            format!("{:.3} ms", ours.simulation_ms),
            format!("{:.0} ms", ours.execution_ms),
            duration(ours.total_s),
        ]));
    }
    if let Some(Figures { preparation: there, .. }) = figures {
        table.add_row(cells([
            "thesis".to_owned(),
            there.cases.to_string(),
            there.mutants.to_string(),
            there.subjects.to_string(),
            format!("{:.0} ms", 1e3 * there.simulation_s),
            format!("{:.0} ms", 1e3 * there.execution_s),
            duration(86_400.0 * there.total_days),
        ]));
    }
    table
}

/// Returns what was found about the inputs on which implementations of a kind fail.
fn inputs_of(experiment: &Experiment, kind: Kind) -> Vec<&Input> {
    experiment.inputs.iter().filter(|input| kind.has(experiment.subjects[input.subject].origin)).collect()
}

fn inputs(experiment: &Experiment, kind: Kind) -> Table {
    let mut table = table(["implementation", "field", "failing", "universe", "A12", "p (BH)"]);
    let mut last = None;
    for input in inputs_of(experiment, kind) {
        let mut name = |field: String| {
            let shown = if last == Some(input.subject) {
                String::new()
            } else {
                experiment.subjects[input.subject].name.clone()
            };
            last = Some(input.subject);
            [shown, field]
        };
        match &input.characteristic {
            Characteristic::Quantity { median_failing, median, effect, p } => {
                let [subject, field] = name(format!("{} (median)", input.field));
                let row = [subject, field, short(*median_failing), short(*median), format!("{effect:.2}"), p_value(*p)];
                table.add_row(cells(row));
            }
            Characteristic::Regions(regions) => {
                for region in regions {
                    let [subject, field] = name(format!("{} {}", input.field, region.value));
                    let rate = Score { killed: region.failed, of: region.cases };
                    let share = or_none(rate.value(), percent);
                    let overall = percent(experiment.subjects[input.subject].failure_rate);
                    table.add_row(cells([subject, field, share, overall, crate::text::NONE.into(), p_value(region.p)]));
                }
            }
        }
    }
    table
}

/// Writes a time in the unit that suits it.
fn duration(seconds: f64) -> String {
    match seconds {
        ..120.0 => format!("{seconds:.0} s"),
        ..7200.0 => format!("{:.0} min", seconds / 60.0),
        ..172_800.0 => format!("{:.0} h", seconds / 3600.0),
        _ => format!("{:.0} d", seconds / 86_400.0),
    }
}

/// Writes a quantity with as many digits as tell it from others.
fn short(value: f64) -> String {
    if value.fract() == 0.0 || value.abs() >= 100.0 { format!("{value:.0}") } else { format!("{value:.3}") }
}

fn inputs_notes(figures: Option<&Figures>) -> Vec<String> {
    let mut notes = vec![
        "A12: how often a field is higher in a test case that fails than in one that passes. Of a field that is no quantity: how many of its \
         test cases fail, and of all."
            .to_owned(),
    ];
    notes.extend(figures.map(|figures| format!("Thesis: {}.", figures.inputs)));
    notes
}

fn effectiveness(experiment: &Experiment, findings: &Findings, reference: Option<&Reference>) -> Table {
    let level = level(experiment.options.alpha);
    let mut head = vec!["criterion", "target", "size", "E", "random", "gain", &level, "p (Holm)"];
    if reference.is_some() {
        head.extend(["thesis target", "thesis size", "thesis E"]);
    }
    let mut table = table(head);
    for criterion in &findings.criteria {
        let same_size = criterion.same_size.as_ref();
        let target = Score { killed: criterion.feasible(), of: criterion.requirements };
        let mut row = vec![
            criterion.name.clone(),
            or_none(target.value(), percent),
            or_none(criterion.size, |size| format!("{:.1}", size.mean)),
            or_none(criterion.score, |score| share_summary(&score)),
            or_none(same_size, |same_size| percent(same_size.random_mean)),
            or_none(same_size, |same_size| points(same_size.gain.mean)),
            or_none(same_size, |same_size| {
                format!("{} to {}", points(same_size.gain_interval.lower), points(same_size.gain_interval.upper))
            }),
            or_none(same_size.and_then(|same_size| same_size.gain_p), p_value),
        ];
        if let Some(reference) = reference {
            let there = of_thesis(reference, &criterion.name);
            row.push(or_none(there.and_then(|there| there.target), percent));
            row.push(or_none(there.and_then(|there| there.size), |size| format!("{size:.1}")));
            row.push(or_none(there, |there| percent(there.effectiveness)));
        }
        table.add_row(cells(row));
    }
    table
}

fn cost_effectiveness(findings: &Findings, figures: Option<&Figures>) -> Table {
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
        let there = figures.and_then(|figures| figures.cost_effectiveness.iter().find(|row| row.criterion == name));
        if let Some(there) = there {
            line("  thesis", "C", &|index| Some(there.at(random[index].size)?[0]));
            line("", "E", &|index| Some(there.at(random[index].size)?[1]));
        }
    }
    table
}

fn distributions(findings: &Findings) -> Table {
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

fn found(experiment: &Experiment, findings: &Findings) -> Table {
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
fn opposite(findings: &Findings, alpha: f64) -> String {
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

fn predictions(findings: &Findings, reference: Option<&Reference>) -> Table {
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
    if reference.is_some() {
        head.extend(["thesis mutants p", "thesis effectiveness p"]);
    }
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
                [(claim.better, claim.worse), (claim.worse, claim.better)].contains(&(better.as_str(), worse.as_str()))
            });
            let opposite = claim.is_some_and(|claim| claim.better != better);
            let mark = |text: &str| if opposite { format!("{text} (opposite)") } else { text.to_owned() };
            row.push(or_none(claim, |claim| mark(claim.mutant_p)));
            row.push(or_none(claim, |claim| mark(claim.effectiveness_p)));
        }
        table.add_row(cells(row));
    }
    table
}

/// What the experiments say.
pub(crate) fn sentences(experiment: &Experiment, analysis: &Analysis) -> Vec<String> {
    let mut sentences = Vec::new();
    if !experiment.findings.iter().any(|findings| findings.kind == Kind::Implementations) {
        sentences.push(format!(
            "No implementation fails on some test cases and on at most {} of them: there is nothing{} to judge suites by.",
            percent(super::PATHOLOGICAL_ABOVE),
            if experiment.findings.is_empty() { "" } else { " but mutants of an implementation" }
        ));
    }
    for findings in &experiment.findings {
        let subjects = format!("{} {}", findings.subjects.len(), findings.kind);
        let alpha = experiment.options.alpha;
        // What takes the ground from under the rest comes first.
        let [rules, sizes] = [findings.choosing_sentence(alpha), findings.size_sentence(alpha)];
        let (warnings, others): (Vec<_>, Vec<_>) =
            [rules, sizes].into_iter().flatten().partition(|sentence: &Sentence| sentence.is_warning);
        sentences.extend(warnings.into_iter().map(|sentence| sentence.text));
        let gains: Vec<&CriterionAnalysis> =
            findings.criteria.iter().filter(|criterion| gains(criterion, experiment)).collect();
        let names: Vec<&str> = gains.iter().map(|criterion| criterion.name.as_str()).collect();
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
        sentences.extend(findings.operators_sentence());
        sentences.extend(findings.prediction_sentences(reference(&experiment.system)));
        sentences.extend(others.into_iter().map(|sentence| sentence.text));
        sentences.extend(findings.order_sentence(analysis));
        if findings.subjects.len() < SUBJECTS_MIN {
            sentences.push(format!(
                "{} are few: one of them moves an effectiveness by {}.",
                capitalised(&subjects),
                percent(1.0 / findings.subjects.len() as f64)
            ));
        }
    }
    sentences
}

/// A sentence, and whether it says that something as good comes without mutants.
struct Sentence {
    text: String,
    is_warning: bool,
}

impl Choosing {
    /// Returns all ways to choose: by mutants, at random, and by each rule.
    pub(crate) fn curves(&self) -> impl Iterator<Item = &Curve> {
        [&self.chosen].into_iter().chain(&self.own_seeds).chain([&self.random]).chain(&self.rules)
    }
}

/// With fewer implementations than this a sentence says that they are few: the thesis had eight or more for each
/// system.
const SUBJECTS_MIN: usize = 8;

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

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

impl Correlation {
    /// Says how kills and failures go together.
    fn sentence(self) -> String {
        let expected = self.expected.map_or_else(String::new, |expected| {
            format!(
                ", mutants that it is expected to kill by {}, and by {} if each counts by its difficulty",
                correlation(expected),
                or_none(self.by_difficulty, correlation),
            )
        });
        format!(
            "Over test cases, mutants killed on a test case's own seed correlate with the share of these that fail on it by {}{expected}.",
            or_none(self.own_seeds, correlation),
        )
    }
}

impl Findings {
    /// Says whether the chosen suites find more than those of the best rule of thumb.
    fn choosing_sentence(&self, alpha: f64) -> Option<Sentence> {
        let choosing = self.choosing.as_ref()?;
        let best = choosing.best_rule()?;
        let sizes = choosing.chosen.shares.len();
        let level = level(alpha);
        let interval = |interval| format!(", {level} interval {}", points_interval(interval));
        let interval = best.chosen_above_interval.map_or_else(String::new, interval);
        let (chosen, random) = (percent(choosing.chosen.area), percent(choosing.random.area));
        let subjects = format!("{} {}", self.subjects.len(), self.kind);
        let is_warning = !best.is_beaten();
        let text = if is_warning {
            let is_better = best.chosen_above_interval.map_or(best.chosen_above < 0.0, |interval| interval.upper < 0.0);
            format!(
                "A rule of thumb does {} the suites that mutants choose: on average over 1 to {sizes} test cases, those of the rule `{}` \
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
                "The suites that mutants choose find {chosen} of {subjects} on average over 1 to {sizes} test cases, {:.1} points more than those \
                 of the best of {} rules of thumb, `{}` ({}{interval}); random ones find {random}.",
                100.0 * best.chosen_above,
                choosing.rules.len(),
                best.name,
                percent(best.area),
            )
        };
        Some(Sentence { text, is_warning })
    }

    /// Says which operators' mutants choose best alone, and which mislead.
    fn operators_sentence(&self) -> Option<String> {
        let (best, chosen) = (self.operators.first()?, &self.choosing.as_ref()?.chosen);
        let alone = best.alone.as_ref()?;
        let misleading = self.operators.iter().filter(|of| of.misleads());
        let misleading: Vec<String> = misleading
            .filter_map(|of| Some(format!("{} ({})", of.operator, percent(of.without.as_ref()?.area))))
            .collect();
        Some(format!(
            "Of {} operators, the mutants of {} alone choose best: their suites find {}, those of all mutants {}. {}.",
            self.operators.len(),
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
    fn size_sentence(&self, alpha: f64) -> Option<Sentence> {
        let foreseen = self.foreseen.as_ref()?;
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
            let share = Share::of(self.predictions.iter().map(agreement));
            format!("{} as the implementations have them and {} the other way round", share.agree, share.differ)
        };
        let text = format!(
            "{claim}: Kendall's tau with the order by effectiveness of {} criteria is {} by size and {} by score{difference}; of {} \
             pairs, size has {}, mutants {}.",
            foreseen.criteria,
            correlation(foreseen.by_size),
            correlation(foreseen.by_mutants),
            self.predictions.len(),
            share(|pair| pair.agreement_by_size),
            share(|pair| pair.agreement),
        );
        Some(Sentence { text, is_warning })
    }

    /// Says how many predictions held, of all and of those that the thesis made.
    fn prediction_sentences(&self, reference: Option<&Reference>) -> Vec<String> {
        if self.predictions.is_empty() {
            return vec![
                "Experiment 3: there are no two criteria with scores by mutants and by implementations.".into(),
            ];
        }
        let is_of_thesis = |reference: &Reference, prediction: &&Prediction| {
            [prediction.better, prediction.worse]
                .into_iter()
                .all(|criterion| of_thesis(reference, &self.criteria[criterion].name).is_some())
        };
        let mut sentences = vec![format!(
            "Experiment 3: of {} pairs of criteria, {}.",
            self.predictions.len(),
            held(self.predictions.iter())
        )];
        let equal: Vec<Agreement> = self
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
                self.predictions.iter().filter(|prediction| is_of_thesis(reference, prediction)).collect();
            sentences.push(format!(
                "Of the {} pairs that the thesis has, {}; there, 29 of 30 pairs of three systems were predicted.",
                theirs.len(),
                held(theirs.iter().copied())
            ));
        }
        sentences
    }

    /// Says how the criterion that mutants recommend does on the implementations.
    fn order_sentence(&self, analysis: &Analysis) -> Option<String> {
        let (&by_mutants, &by_effectiveness) = (analysis.ranking.order.first()?, self.ranking.order.first()?);
        let mean = |index: usize| self.criteria[index].score.map(|score: Summary| percent(score.mean));
        let (recommended, best) = (&self.criteria[by_mutants].name, &self.criteria[by_effectiveness].name);
        let place = self.ranking.order.iter().position(|&index| index == by_mutants)? + 1;
        Some(if by_mutants == by_effectiveness {
            format!("Mutants put {recommended} first, and so do the implementations (E {}).", mean(by_mutants)?)
        } else {
            format!(
                "Mutants put {recommended} first (E {}, place {place} of {} by the implementations), these put {best} first (E {}){}.",
                mean(by_mutants)?,
                self.ranking.order.len(),
                mean(by_effectiveness)?,
                match self.ranking.pair(by_effectiveness, by_mutants) {
                    Some(pair) if pair.significant => ", significantly",
                    _ => ", not significantly",
                },
            )
        })
    }
}
