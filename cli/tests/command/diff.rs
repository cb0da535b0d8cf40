//! Studies against each other, and against what is asked of them.

use serde_json::Value;

use crate::support::{STUDY, assert_exit, finished_study, folder, results, run, stderr, stdout, text, write};

#[test]
fn a_study_is_held_against_another() {
    let before = finished_study();
    let after = finished_study();
    let folders = [text(&before.out), text(&after.out)];
    let diff = |more: &[&str]| {
        let output = run(&[&["diff", &folders[0], &folders[1]], more].concat(), folder().path());
        assert_exit(&output, 0);
        stdout(&output)
    };
    assert_eq!(diff(&[]), "gbn: the two studies do not differ.\n");

    let other = ["study", "gbn", "--cases", "24", "--seed", "8", "--fresh", "--suites", "20", "--operators", "-LVR"];
    assert_exit(&run(&other, &after.out), 0);
    let difference: Value = serde_json::from_str(&diff(&["--json"])).expect("JSON");
    assert_eq!((&difference["format_version"], &difference["same_universe"]), (&1.into(), &false.into()));
    let gone = difference["mutants"]["gone"].as_array().expect("a list");
    assert!(!gone.is_empty() && gone.iter().all(|mutant| mutant["operator"] == "LVR"), "{gone:?}");
    assert_eq!(difference["mutants"]["new"], Value::Array(Vec::new()));
    let printed = diff(&[]);
    for part in [format!("{} mutants, gone", gone.len()), "all-uses".into(), "Suite before: ".into()] {
        assert!(printed.contains(&part), "{part}: {printed}");
    }
}

#[test]
fn what_is_no_finished_study_is_not_compared() {
    let study = finished_study();
    let (good, nowhere) = (text(&study.out), folder());
    let refused = |second: &str, expect: &str| {
        let output = run(&["diff", &good, second], nowhere.path());
        assert_exit(&output, 3);
        assert!(stderr(&output).contains(expect) && stdout(&output).is_empty(), "{}", stderr(&output));
    };
    refused(&text(nowhere.path()), "there is no finished study in");
    let damaged = finished_study();
    let results = std::fs::read_to_string(damaged.path("results.json")).expect("the study wrote it");
    write(&damaged.out.join("results.json"), &results[..results.len() / 2]);
    refused(&text(&damaged.out), "results.json: ");
    write(&damaged.out.join("results.json"), results.replace("\"universe_seed\": 7", "\"universe_seed\": 8"));
    refused(&text(&damaged.out), "the analysis is not of these outcomes: seeds differ");
}

#[test]
fn a_score_that_is_too_low_is_told_by_the_exit_code_after_all_is_written() {
    let study = finished_study();
    let before = results(&study.out);
    let with = |options: &[&str]| run(&[&STUDY[..], options].concat(), &study.out);
    assert_exit(&with(&["--score-min", "1%", "--dominator-score-min", "1.5"]), 0);
    // Some mutants of go-back-n are equivalent, and none was judged.
    let output = with(&["--score-min", "100"]);
    assert_exit(&output, 6);
    assert!(stderr(&output).contains("SCORE TOO LOW: of the mutants suite.json kills "), "{}", stderr(&output));
    assert!(stderr(&output).contains("; --score-min asks for 100 %"), "{}", stderr(&output));
    assert!(results(&study.out) == before, "the results differ");
    let of_mutants = ["--builder", "minimum", "--criterion", "mutants"];
    assert_exit(&with(&[&of_mutants[..], &["--dominator-score-min", "100"]].concat()), 0);
    for wrong in ["101", "-1", "NaN", "eighty"] {
        let output = with(&[&format!("--score-min={wrong}")]);
        assert_exit(&output, 2);
    }
}
