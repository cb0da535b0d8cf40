//! The JSON of mutation-testing-elements.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use simutant_analysis::MutantClass;
use simutant_exports::{Root, elements::elements};

use crate::{Everything, validate};

fn report(everything: &Everything) -> Value {
    serde_json::from_str(&elements(&everything.study(), &Root::new("systems"))).expect("JSON")
}

#[test]
fn a_report_is_valid() {
    validate(include_str!("../schemas/mutation-testing-report-schema.json"), &report(&Everything::new()));
}

#[test]
fn every_mutant_has_its_status_and_the_test_cases_that_kill_it() {
    let everything = Everything::new();
    let outcomes = &everything.outcomes;
    let report = report(&everything);
    let file = &report["files"]["systems/src/arq/window.rs"];
    assert_eq!(file["source"], outcomes.sites.files[0].text.as_str());
    let mutants = file["mutants"].as_array().expect("a list");
    assert_eq!(mutants.len(), outcomes.sites.mutants.len() + 1);
    let ids: BTreeSet<&str> = mutants.iter().filter_map(|mutant| mutant["id"].as_str()).collect();
    assert_eq!(ids.len(), mutants.len(), "no two have one id");

    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for mutant in mutants {
        *counts.entry(mutant["status"].as_str().expect("text")).or_default() += 1;
    }
    let classes = everything.analysis.mutants.counts;
    let detected = counts["Killed"] + counts["Timeout"];
    assert_eq!(detected, classes.killed());
    assert_eq!(counts["NoCoverage"], classes.of(MutantClass::NeverReached));
    let survived = [MutantClass::NeverInfected, MutantClass::NeverPropagated, MutantClass::NeverKilled];
    assert_eq!(counts["Survived"], survived.iter().map(|class| classes.of(*class)).sum::<usize>());
    assert_eq!(counts["Ignored"], classes.equivalent + classes.duplicate);
    assert_eq!(counts["CompileError"], 1);
    // What a viewer makes of it is what the study says.
    let valid = detected + counts["Survived"] + counts["NoCoverage"];
    let upper = everything.analysis.score_bounds.upper();
    assert_eq!((detected, valid), (upper.killed, upper.of));

    let tests = report["testFiles"]["arq-universe.jsonl"]["tests"].as_array().expect("a list");
    assert_eq!(tests.len(), outcomes.cases.len());
    for (number, mutant) in mutants[..outcomes.sites.mutants.len()].iter().enumerate() {
        let cases = |field: &str| -> Vec<usize> {
            let ids = mutant[field].as_array().expect("a list").iter();
            ids.map(|id| id.as_str().expect("text").parse().expect("a number")).collect()
        };
        assert_eq!(cases("killedBy"), outcomes.kills[number].ones().collect::<Vec<_>>());
        let reached = (0..outcomes.cases.len()).filter(|&case| outcomes.cases[case].reached.contains(number));
        assert_eq!(cases("coveredBy"), reached.collect::<Vec<_>>());
    }
}

#[test]
fn a_location_is_the_code_that_is_replaced() {
    let everything = Everything::new();
    let report = report(&everything);
    let file = &report["files"]["systems/src/arq/window.rs"];
    let lines: Vec<&str> = file["source"].as_str().expect("text").split_inclusive('\n').collect();
    for (mutant, known) in file["mutants"].as_array().expect("a list").iter().zip(&everything.outcomes.sites.mutants) {
        let at = |end: &str| {
            let number = |field: &str| mutant["location"][end][field].as_u64().expect("a number") as usize;
            // The source is ASCII, so that a column is a byte.
            lines[..number("line") - 1].iter().map(|line| line.len()).sum::<usize>() + number("column") - 1
        };
        assert_eq!(lines.concat()[at("start")..at("end")], known.original);
    }
}
