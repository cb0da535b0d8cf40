//! The experiments as a page: implementations, what suites find of them, and what mutants predicted.

use maud::{Markup, html};
use simutant_analysis::{
    Agreement, Analysis, Experiment, Findings, Prediction, Reference, SubjectKind, SuiteUnit, count, percent,
};

use super::names::{Area, names};
use super::overview::prose;
use super::svg::{Scale, label, px};
use super::{choices, curve, distributions, document, order};
use crate::experiment::{
    BUDGETS_NOTE, CHANGE, CLASSES_NOTE, budgets, by_rate, classes, left_out, sentences, subject_columns, takes_part,
    unsteady,
};
use crate::terminal::Rows;
use crate::text::{correlation, or_none, p_value, points};
use crate::words::score_name;

/// Of the plot of mutant score against effectiveness.
const SIDE: f64 = 440.0;
const LEFT: f64 = 44.0;
const BOTTOM: f64 = 36.0;

/// Returns the experiments as the text of one HTML page that needs nothing else. `analysis` is the one whose suites
/// were judged.
pub fn experiment_report(experiment: &Experiment, analysis: &Analysis, reference: Option<&Reference>) -> String {
    let has_mutants = takes_part(experiment, SubjectKind::ImplementationMutants);
    document(
        &format!("Simutant: experiments with {}", experiment.system),
        html! {
            nav aria-label="Sections" {
                a.brand href="report.html" { "Simutant " b { (experiment.system) } }
                a href="#implementations" { "Implementations" }
                @if has_mutants { a href="#mutants" { "Their mutants" } }
                @for (index, findings) in experiment.findings.iter().enumerate() { a href={ "#findings" (index) } { "By " (findings.kind) } }
            }
            main {
                section #overview {
                    h1 { "What mutants predicted, and what implementations of " b { (experiment.system) } " show" }
                    div.leads {
                        @for sentence in sentences(experiment, analysis, reference) { p.lead { (prose(&sentence)) } }
                    }
                }
                section #classes {
                    h2 { "Mutants and implementations by class" }
                    (rows_table(&classes(experiment, analysis, reference)))
                    p.note { "As table 4.2 of the thesis. " (CLASSES_NOTE) }
                }
                section #implementations { h2 { "Implementations" } (implementations(experiment, SubjectKind::Implementations)) }
                @if has_mutants {
                    section #mutants {
                        h2 { "Mutants of an implementation" }
                        p {
                            "These share their operators with the mutants that choose, and so flatter them. They count nowhere else."
                        }
                        (implementations(experiment, SubjectKind::ImplementationMutants))
                    }
                }
                @for (index, findings) in experiment.findings.iter().enumerate() {
                    section id={ "findings" (index) } {
                        h2 { "By " (findings.subjects.len()) " " (findings.kind) }
                        (section(experiment, findings, analysis, reference))
                    }
                }
            }
            footer {
                p {
                    "Method: Matthew J. Rutherford, PhD thesis, University of Colorado, chapter 4. All tables, with the thesis's figures "
                    "beside ours, are in experiment.txt."
                }
            }
        },
    )
}

/// A table, the first cell of each row its head.
fn rows_table(table: &Rows) -> Markup {
    html! {
        div.scroll {
            table.numbers.compact {
                thead { tr { @for name in &table.head { th scope="col" { (name) } } } }
                tbody {
                    @for row in &table.rows {
                        tr { th scope="row" { (row[0]) } @for cell in &row[1..] { td { (cell) } } }
                    }
                }
            }
        }
    }
}

fn implementations(experiment: &Experiment, kind: SubjectKind) -> Markup {
    html! {
        p { "Each ran the " (count(experiment.preparation.cases as u64)) " test cases of the universe." }
        div.scroll {
            table.numbers.compact {
                thead {
                    tr { @for column in subject_columns(kind) { th scope="col" class=[(column == CHANGE).then_some("text")] { (column) } } }
                }
                tbody {
                    @for subject in by_rate(experiment, kind) {
                        tr {
                            th scope="row" { (subject.name) }
                            @if kind == SubjectKind::Implementations { td { (subject.origin) } }
                            td { (subject.failed) }
                            td { (percent(subject.failure_rate)) }
                            td { (subject.class) }
                            td { (or_none(subject.duration_ms, |duration| format!("{:.0}", duration.mean))) }
                            @if kind == SubjectKind::ImplementationMutants { td.text { (subject.description) } }
                        }
                    }
                }
            }
        }
        @for line in unsteady(experiment, kind).into_iter().chain(left_out(experiment, kind)) { p { (line) } }
    }
}

fn section(experiment: &Experiment, findings: &Findings, analysis: &Analysis, reference: Option<&Reference>) -> Markup {
    let alpha = experiment.options.alpha;
    html! {
        @for choosing in findings.choosing_in_time.iter().chain(&findings.choosing) {
            @let in_time = choosing.unit == SuiteUnit::MeanTimes;
            h3 { (if in_time { "Suites that take the same time" } else { "Suites of equal size" }) }
            p {
                "The expected share of the implementations that suites of each " (if in_time { "time" } else { "size" })
                " find: chosen by mutants (thickest), at random (thick, dashed), and by rules of thumb, which look at the inputs"
                (if in_time { " and at what each is expected to take" } else { "" }) " alone. The percentage is the mean over the "
                (if in_time { "times" } else { "sizes" }) "; the best come first."
            }
            (choices::figure(choosing))
            @if !choosing.budgets.is_empty() {
                p { (BUDGETS_NOTE) }
                (rows_table(&budgets(choosing, alpha)))
            }
        }
        @if !findings.operators.is_empty() {
            h3 { "Mutation operators" }
            p {
                "What suites find that are chosen by the mutants of one operator alone, and by those of all others: on average over the sizes "
                "above. An operator misleads if suites find significantly more without its mutants."
            }
            (operators(findings))
        }
        h3 { "Size and effectiveness" }
        p {
            "Each point is a criterion: the mean size of its suites, and the share of the implementations that these find (figure 4.2). The line "
            "is the expected effectiveness of random suites of each size, the band one standard deviation around it."
        }
        (curve::figure_of(&findings.criteria, &findings.cost_effectiveness.random, "effectiveness"))
        h3 { "Scores and effectiveness" }
        p { "Each point is a criterion: the mean " (score_name(analysis)) " of its suites, and the share of the implementations that these find." }
        (plot(findings, analysis))
        h3 { "The order of the criteria" }
        p {
            "An arrow leads to a criterion whose suites are significantly worse (Mann-Whitney, corrected by Holm's method); what follows from "
            "other arrows is left out."
        }
        div.graphs {
            figure { figcaption { b { "By " (score_name(analysis)) } } (order::ours(&analysis.criteria, &analysis.ranking)) }
            figure { figcaption { b { "By effectiveness" } } (order::ours(&findings.criteria, &findings.ranking)) }
            @if let Some(reference) = reference {
                figure { figcaption { b { "By effectiveness" } " in the " (reference.name) } (order::theirs(reference)) }
            }
        }
        details { summary { "Every pair" } (predictions(findings)) }
        h3 { "Effectiveness" }
        (distributions::grid(&findings.criteria, findings.subjects.len(), "effectiveness"))
        h3 { "Which implementations suites find" }
        (found(experiment, findings))
    }
}

fn operators(findings: &Findings) -> Markup {
    html! {
        div.scroll {
            table.numbers {
                thead {
                    tr {
                        @for name in ["operator", "mutants", "alone", "without", "gain without", "correlation"] {
                            th scope="col" { (name) }
                        }
                        th.text scope="col" { "verdict" }
                    }
                }
                tbody {
                    @for of in &findings.operators {
                        tr {
                            th scope="row" { (of.operator) }
                            td { (of.mutants) }
                            td { (or_none(of.alone.as_ref(), |curve| percent(curve.area))) }
                            td { (or_none(of.without.as_ref(), |curve| percent(curve.area))) }
                            td { (or_none(of.without.as_ref(), |curve| points(-curve.chosen_above))) }
                            td { (or_none(of.correlation, correlation)) }
                            td.text { @if of.misleads() { "misleads" } }
                        }
                    }
                }
            }
        }
    }
}

fn plot(findings: &Findings, analysis: &Analysis) -> Markup {
    let x = Scale::new((0.0, 1.0), (LEFT, SIDE - 12.0));
    let y = Scale::new((0.0, 1.0), (SIDE - BOTTOM, 12.0));
    let points: Vec<(&str, f64, f64)> = findings
        .criteria
        .iter()
        .enumerate()
        .filter_map(|(index, found)| Some((found.name.as_str(), analysis.ranking.mean(index)?, found.score?.mean)))
        .collect();
    html! {
        svg.graph viewBox={ "0 0 " (SIDE + 110.0) " " (SIDE) } style={ "max-width:" (SIDE + 110.0) "px" } role="img"
            aria-label="Mean score and mean effectiveness of each criterion" {
            @for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
                line.rule x1=(px(x.at(0.0))) x2=(px(x.at(1.0))) y1=(px(y.at(tick))) y2=(px(y.at(tick))) {}
                text x=(px(LEFT - 6.0)) y=(px(y.at(tick) + 3.5)) text-anchor="end" { (tick) }
                (label(x.at(tick), SIDE - BOTTOM + 14.0, &tick.to_string()))
            }
            (label(x.at(0.5), SIDE - 4.0, &format!("mean {}", score_name(analysis))))
            text x=(px(LEFT)) y="9" { "mean effectiveness" }
            @for (name, score, effectiveness) in &points {
                circle.point cx=(px(x.at(*score))) cy=(px(y.at(*effectiveness))) r="4.5" {
                    title { (name) ": " (score_name(analysis)) " " (percent(*score)) ", effectiveness " (percent(*effectiveness)) }
                }
            }
            @let drawn: Vec<(&str, f64, f64)> = points.iter().map(|(name, score, found)| (*name, x.at(*score), y.at(*found))).collect();
            (names(&drawn, Area { left: LEFT, top: 0.0, right: SIDE, bottom: SIDE - BOTTOM }))
        }
    }
}

fn agreements(prediction: &Prediction) -> [Agreement; 3] {
    [prediction.agreement, prediction.agreement_same_size, prediction.agreement_by_size]
}

fn predictions(findings: &Findings) -> Markup {
    let class = |agreement: Agreement| match agreement {
        Agreement::Agrees => "better",
        Agreement::Undecided => "equal",
        Agreement::Differs => "worse",
    };
    html! {
        div.scroll {
            table.numbers.compact {
                thead {
                    tr {
                        th scope="col" { "claim" } th scope="col" { "mutants A12" } th scope="col" { "p (Holm)" }
                        th scope="col" { "implementations A12" } th scope="col" { "p (Holm)" } th scope="col" { "prediction" }
                        th scope="col" { "at equal size" } th scope="col" { "by size alone" }
                    }
                }
                tbody {
                    @for prediction in &findings.predictions {
                        tr {
                            th scope="row" { (findings.criteria[prediction.better].name) " > " (findings.criteria[prediction.worse].name) }
                            td { (format!("{:.2}", prediction.mutant_effect)) }
                            td { (or_none(prediction.mutant_p, p_value)) }
                            td { (format!("{:.2}", prediction.effectiveness_effect)) }
                            td { (or_none(prediction.effectiveness_p, p_value)) }
                            @for agreement in agreements(prediction) {
                                td.(class(agreement)) { (agreement) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn found(experiment: &Experiment, findings: &Findings) -> Markup {
    let criteria: Vec<_> = findings.criteria.iter().filter(|criterion| !criterion.suites.is_empty()).collect();
    let alpha = experiment.options.alpha;
    html! {
        p { "Percent of the suites of each criterion; green is significantly more often than random suites of the same sizes, red less often." }
        div.scroll {
            table.numbers.compact {
                thead {
                    tr { th scope="col" { "implementation" } @for criterion in &criteria { th scope="col" { (criterion.name) } } }
                }
                tbody {
                    @for (place, &subject) in findings.subjects.iter().enumerate() {
                        tr {
                            th scope="row" { (experiment.subjects[subject].name) }
                            @for criterion in &criteria {
                                @let detection = &criterion.detection[place];
                                @let suites = criterion.suites.len();
                                @let class = match detection.is_more_often(suites, alpha) {
                                    Some(true) => "better",
                                    Some(false) => "worse",
                                    None => "equal",
                                };
                                td.(class) { (format!("{:.0}", 100.0 * detection.suites as f64 / suites as f64)) }
                            }
                        }
                    }
                }
            }
        }
    }
}
