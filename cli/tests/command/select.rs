//! The usage scenarios by themselves.

use std::path::Path;

use serde_json::Value;

use crate::support::{STUDY, assert_exit, finished_study, results, run, stderr, stdout};

/// Deletes what a campaign found out, and keeps what was built.
fn forget(out: &Path) {
    for entry in std::fs::read_dir(out).expect("the study is there") {
        let path = entry.expect("it can be listed").path();
        if path.is_file() {
            std::fs::remove_file(path).expect("it can be removed");
        }
    }
}

fn json(out: &Path, arguments: &[&str]) -> Value {
    let output = run(&[arguments, &["--cases", "24", "--seed", "7", "--json"]].concat(), out);
    assert_exit(&output, 0);
    serde_json::from_str(&stdout(&output)).expect("JSON")
}

#[test]
fn each_scenario_runs_what_it_needs_and_a_study_goes_on_from_there() {
    let study = finished_study();
    let expected = results(&study.out);
    forget(&study.out);

    let conventional = json(&study.out, &["select", "gbn", "--criterion", "all-branches"]);
    assert_eq!((&conventional["mutants"], &conventional["cost"]["mutant_runs"]), (&Value::Null, &0.into()));
    let suite: Value =
        serde_json::from_slice(&std::fs::read(study.out.join("selected-suite.json")).expect("it is there"))
            .expect("JSON");
    assert_eq!((&suite["criterion"], &suite["mutant_score"]), (&"all-branches".into(), &Value::Null));
    let cases = |value: &Value| value.as_array().map(Vec::len);
    assert_eq!(cases(&suite["cases"]), cases(&conventional["criteria"][0]["suites"][0]["cases"]));

    let boosted = json(&study.out, &["select", "gbn", "--criterion", "all-branches", "--boost", "4"]);
    assert_eq!(cases(&boosted["criteria"][0]["suites"]), Some(4));
    let runs = boosted["cost"]["mutant_runs"].as_u64().expect("a number");
    assert!(runs > 0, "{boosted}");
    // The first suite is the one that was drawn alone.
    assert_eq!(boosted["criteria"][0]["suites"][0]["cases"], conventional["criteria"][0]["suites"][0]["cases"]);

    let ranked =
        json(&study.out, &["rank", "gbn", "--criterion", "all-branches", "--criterion", "IP-1", "--suites", "4"]);
    assert!(ranked["cost"]["mutant_runs"].as_u64().expect("a number") > runs, "{ranked}");
    assert_eq!(cases(&ranked["ranking"]["pairs"]), Some(2));

    let output = run(&STUDY, &study.out);
    assert_exit(&output, 0);
    assert!(results(&study.out) == expected, "the study is another one after the scenarios");
    // What a study knows of other test cases changes no choice.
    let again = json(&study.out, &["select", "gbn", "--criterion", "all-branches", "--boost", "4"]);
    assert_eq!((&again["choice"], &again["mutants"]), (&boosted["choice"], &boosted["mutants"]));
    assert!(results(&study.out) == expected, "the study's own suite is another one");
}

#[test]
fn a_criterion_that_is_not_there_and_a_ranking_of_one_are_refused() {
    let study = finished_study();
    let check = |arguments: &[&str], expect: &str| {
        let output = run(&[arguments, &["--cases", "24", "--seed", "7"]].concat(), &study.out);
        assert_exit(&output, 3);
        assert!(stderr(&output).contains(expect), "{}", stderr(&output));
    };
    check(
        &["select", "gbn", "--criterion", "none"],
        "--criterion none: there is no such criterion; there are: all-blocks, ",
    );
    check(
        &["rank", "gbn", "--criterion", "IP-1", "--criterion", "IP-3"],
        "there is no such criterion; did you mean `IP-1`?; there are: ",
    );
    check(&["rank", "gbn", "--criterion", "IP-1"], "--criterion IP-1: ranking needs at least two criteria");
}

#[test]
fn another_suite_of_a_finished_study_is_chosen_as_the_study_does_and_nothing_is_run() {
    let study = finished_study();
    let before = results(&study.out);
    // By default a choice is made from the test cases that the study has.
    let output = run(&["select", "gbn", "--criterion", "all-branches", "--seed", "7"], &study.out);
    assert_exit(&output, 0);
    assert!(stdout(&output).starts_with("System gbn, universe seed 7, 24 test cases\n"), "{}", stdout(&output));
    let output = run(&["select", "gbn", "--time", "3s", "--json"], &study.out);
    assert_exit(&output, 0);
    assert!(!stderr(&output).contains("mutating"), "{}", stderr(&output));
    let chosen: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let seconds = chosen["seconds"].as_f64().expect("a number");
    assert!(0.0 < seconds && seconds <= 3.0, "{chosen}");
    assert_eq!(results(&study.out), before, "the study is as it was");
    // The study itself would choose it.
    let read = |name: &str| std::fs::read(study.out.join(name)).expect("it is there");
    let selected = read("selected-suite.json");
    assert_exit(&run(&[&STUDY[..], &["--time", "3s"]].concat(), &study.out), 0);
    assert!(selected == read("suite.json"), "it chooses another one");

    let output = run(&["select", "gbn", "--builder", "minimum", "--criterion", "all-branches"], &study.out);
    assert_exit(&output, 0);
    let told = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("selected-suite.json has "), "{told}");
    assert!(told.contains("none with fewer inputs is adequate"), "{told}");
    let check = |arguments: &[&str], out: &Path, expect: &str| {
        let output = run(&[&["select", "gbn"], arguments].concat(), out);
        assert_exit(&output, 3);
        assert!(stderr(&output).contains(expect), "{}", stderr(&output));
    };
    check(&["--time", "3s", "--cases", "24"], &study.out, "--cases, --source and --boost do not go with");
    check(&["--builder", "greedy", "--criterion", "none"], &study.out, "--criterion none: there is no such criterion");
    check(
        &["--builder", "minimum", "--time", "3s"],
        &study.out,
        "--time, --inputs and --target go with --builder expected",
    );
    check(&["--time", "3s"], &study.out.join("nowhere"), "there is no finished study in");
}
