//! `simutant score`, and test cases of a person's own in a study.

use serde_json::{Value, json};

use crate::support::{RESULTS, STUDY, assert_exit, finished_study, folder, results, run, stderr, stdout};

#[test]
fn a_suite_of_ones_own_is_scored_beside_the_study_which_stays_as_it_is() {
    let study = finished_study();
    let before = results(&study.out);
    let mine = folder();
    let case = |drop: f64| json!({ "bytes": 9_000, "drop": drop, "duplicate": 0.0, "seed": 5 });
    let write = |name: &str, value: &Value| {
        let path = mine.path().join(name);
        std::fs::write(&path, value.to_string()).expect("there is room");
        path.to_string_lossy().into_owned()
    };
    let calm = write("calm.json", &case(0.0));
    write("more.json", &json!([case(0.1), case(0.2)]));
    let all = mine.path().to_string_lossy().into_owned();

    let score = |suite: &[&str]| -> Value {
        let suites = suite.iter().flat_map(|suite| ["--suite", suite]);
        let arguments: Vec<&str> = ["score", "gbn", "--json"].into_iter().chain(suites).collect();
        let output = run(&arguments, &study.out);
        assert_exit(&output, 0);
        serde_json::from_str(&stdout(&output)).expect("JSON")
    };
    let number = |score: &Value, pointer: &str| score.pointer(pointer).and_then(Value::as_u64).expect("a number");
    let (one, three) = (score(&[&calm]), score(&[&all]));
    assert_eq!((number(&one, "/inputs"), number(&three, "/inputs"), number(&three, "/universe")), (1, 3, 27));
    assert!(number(&one, "/mutants/score/killed") < number(&three, "/mutants/score/killed"));
    assert!(one["expected"]["score"]["mean"].as_f64() < three["expected"]["score"]["mean"].as_f64());
    // The study's own suite kills what its study says.
    let own = score(&[&study.out.join("suite.json").to_string_lossy()]);
    assert!(number(&own, "/random_below_same_time") > number(&one, "/random_below_same_time"));
    assert!(results(&study.out) == before, "the study is as it was");

    let output = run(&["score", "gbn", "--suite", &all], &study.out);
    assert_exit(&output, 0);
    for part in ["A suite of 3 inputs for gbn that take ", "In the same time random", "that add most", "gbn-00"] {
        assert!(stdout(&output).contains(part), "{part}: {}", stdout(&output));
    }
    let lossy = write("lossy.json", &case(0.9));
    let output = run(&["score", "gbn", "--suite", &lossy], &study.out);
    assert_exit(&output, 3);
    for part in ["drop is 0.9: it must be from 0 to 0.2", r#""bytes":9000"#] {
        assert!(stderr(&output).contains(part), "{part}: {}", stderr(&output));
    }
    let output = run(&["score", "gbn", "--suite", &calm], &mine.path().join("nowhere"));
    assert_exit(&output, 3);
    assert!(stderr(&output).contains("there is no finished study in"), "{}", stderr(&output));
}

#[test]
fn test_cases_of_ones_own_join_the_universe_and_leave_it() {
    let (study, mine) = (finished_study(), folder());
    let before = results(&study.out);
    let path = mine.path().join("mine.json");
    let case = json!({ "bytes": 9_000, "drop": 0.2, "duplicate": 0.0, "seed": 5 });
    std::fs::write(&path, case.to_string()).expect("there is room");
    let output = run(&[&STUDY[..], &["--with", &path.to_string_lossy()]].concat(), &study.out);
    assert_exit(&output, 0);
    assert!(stdout(&output).contains("25 test cases") && stdout(&output).contains("kept "), "{}", stdout(&output));
    let output = run(&["simulate", "gbn", "--case", "24", "--seed", "7", "--json"], &study.out);
    let simulated: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(simulated["case"], case);

    assert_exit(&run(&STUDY, &study.out), 0);
    for (file, (after, before)) in RESULTS.into_iter().zip(results(&study.out).into_iter().zip(before)) {
        assert!(after == before, "{file} is what it was without them");
    }
}
