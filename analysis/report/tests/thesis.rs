//! The figures of the thesis beside ours.

use std::num::NonZeroUsize;

use simutant_analysis::{Analysis, AnalysisOptions, Reference, Study, analyse, experiment};
use simutant_outcomes::{Origin, Outcomes};
use simutant_report::{experiment_report, experiment_tables, plots, report, tables};
use simutant_synthetic::{subject, synthetic, trials};

fn of_thesis(system: &str) -> Reference {
    let file =
        if system == "gbn-thesis" { "gbn/thesis-reference.toml".into() } else { format!("{system}/reference.toml") };
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../systems");
    let text = std::fs::read_to_string(format!("{folder}/{file}")).expect("the thesis has the system");
    let reference: Reference = toml::from_str(&text).expect("figures");
    reference.validate().expect("they fit together");
    reference
}

/// Made-up outcomes of go-back-n as the thesis has it.
fn outcomes(cases: usize) -> Outcomes {
    Outcomes { system: "gbn-thesis".into(), ..synthetic(cases, 1) }
}

fn analysed(outcomes: &Outcomes, reference: &Reference, options: &AnalysisOptions) -> Analysis {
    let analysis = analyse(outcomes, options).expect("sound outcomes");
    Analysis { comparison: Some(reference.compare(&analysis.criteria, &analysis.ranking)), ..analysis }
}

#[test]
fn the_tables_stand_beside_those_of_the_thesis() {
    let (outcomes, reference) = (outcomes(120), of_thesis("gbn-thesis"));
    let analysis = analysed(&outcomes, &reference, &AnalysisOptions::default());
    insta::assert_snapshot!(tables(&analysis, Some(&reference)));
}

#[test]
fn the_experiments_stand_beside_those_of_the_thesis() {
    let (outcomes, reference) = (outcomes(120), of_thesis("gbn-thesis"));
    let analysis = analysed(&outcomes, &reference, &AnalysisOptions::default());
    let failing = (0..outcomes.kills.len()).filter(|&mutant| (2..=24).contains(&outcomes.kills[mutant].count_ones(..)));
    let subjects = failing.step_by(2).map(|mutant| subject(&format!("m{mutant}"), Origin::Mistake, &outcomes, mutant));
    let trials = trials(&outcomes, subjects.collect());
    let found = experiment(&outcomes, &analysis, &trials, &[], NonZeroUsize::MIN).expect("trials");
    insta::assert_snapshot!(experiment_tables(&found, &analysis, Some(&reference)));
    let page = experiment_report(&found, &analysis, Some(&reference));
    assert!(page.contains("</b> in the thesis</figcaption>") && page.contains("E = 0.37"), "{page}");
}

#[test]
fn its_order_is_drawn_beside_ours() {
    let (outcomes, reference) = (outcomes(60), of_thesis("gbn-thesis"));
    let options = AnalysisOptions { suites: 10, resamples: 100, ..AnalysisOptions::default() };
    let analysis = analysed(&outcomes, &reference, &options);
    let study = Study::new(&outcomes, &analysis, None).expect("they belong together");
    let names = |reference: Option<&Reference>| -> Vec<String> {
        plots(&study, reference).into_iter().map(|plot| plot.name).filter(|name| name.starts_with("order")).collect()
    };
    assert_eq!(names(Some(&reference)), ["order", "order-thesis"]);
    assert_eq!(names(None), ["order"]);
    let page = report(&outcomes, &analysis, Some(&reference));
    assert!(page.contains(" on implementations, in the thesis</figcaption>") && page.contains(&reference.source));
    assert!(page.contains("thesis: least M, E → E+") && page.contains("thesis p: mutants, effectiveness"));
    assert!(!report(&outcomes, &analysis, None).contains("in the thesis</figcaption>"));
}

/// Section 4.5, each claim as the means have it, but for those that do not hold by effectiveness.
#[track_caller]
fn check_order(system: &str, order: [&str; 5], others: &[(&str, &str)]) {
    let reference = of_thesis(system);
    let names: Vec<&str> = reference.criteria.iter().map(|criterion| criterion.name.as_str()).collect();
    assert_eq!(names, order);
    assert!(reference.criteria.is_sorted_by(|left, right| left.effectiveness < right.effectiveness));
    let place = |name: &str| names.iter().position(|other| *other == name).expect("a criterion of the thesis");
    let claimed = reference.claims.iter().map(|claim| {
        let pair = (place(&claim.better), place(&claim.worse));
        if others.contains(&(&claim.better, &claim.worse)) { (pair.1, pair.0) } else { pair }
    });
    let mut claimed: Vec<_> = claimed.collect();
    claimed.sort_unstable();
    let all: Vec<_> = (0..5).flat_map(|better| (0..better).map(move |worse| (better, worse))).collect();
    assert_eq!(claimed, all);
    let there = reference.implementations.expect("it had some");
    assert!(there.failure_rates.is_sorted() && there.failure_rates.len() >= there.preparation.subjects);
    assert_eq!(there.cost_effectiveness.len(), 3, "the white-box criteria");
}

#[test]
fn the_claims_are_exactly_the_order_of_the_means() {
    check_order("gbn-thesis", ["all-blocks", "all-branches", "IP-1", "all-uses", "IP-2"], &[]);
    check_order("lsr", ["all-blocks", "all-uses", "all-branches", "Quartet", "Pair-50"], &[]);
    let dns = ["All-resource-types", "TypicalUsage", "all-uses", "all-blocks", "all-branches"];
    check_order("dns", dns, &[("all-uses", "all-blocks")]);
}
