//! The universe of a study on implementations.

use std::path::Path;

use serde_json::Value;

use crate::support::{assert_exit, finished_study, folder, run, stderr, stdout, write};

/// Writes an implementation that copies the file as it is, or, if it `cuts`, all but what is beyond 301,000 bytes.
fn copies(folder: &Path, name: &str, cuts: bool) -> String {
    let copy = if cuts { "head -c 301000 \"$0\" > output; echo \"$0\" >> runs" } else { "cp \"$0\" output" };
    let text = format!(
        "name = \"{name}\"\nsystem = \"gbn\"\ndescription = \"Copies the file, and sends nothing\"\norigin = \"mistake\"\n\
         [[side]]\nname = \"receiver\"\ncommand = [\"true\"]\n\
         [[side]]\nname = \"sender\"\ncommand = [\"sh\", \"-c\", '{copy}', \"{{input}}\"]\n"
    );
    write(&folder.join(format!("{name}.toml")), text)
}

#[test]
fn a_program_that_fails_is_counted_and_what_was_run_is_not_run_again() {
    let study = finished_study();
    let folder = folder();
    let (right, cutting) = (copies(folder.path(), "right", false), copies(folder.path(), "cutting", true));
    let arguments =
        ["experiment", "gbn", "--seed", "7", "--implementation", &right, "--implementation", &cutting, "--json"];
    let output = run(&arguments, &study.out);
    assert_exit(&output, 0);
    let first: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let suite: Value =
        serde_json::from_slice(&std::fs::read(study.out.join("results.json")).expect("it is there")).expect("JSON");
    let [right, cutting] = [&first["subjects"][0], &first["subjects"][1]];
    assert_eq!((right["class"].as_str(), right["failed"].as_u64()), (Some("never-fails"), Some(0)));
    assert_eq!(suite["campaign"]["cases"], first["preparation"]["cases"]);
    // What is longer than 301,000 bytes is cut, whatever the network does.
    let trials = std::fs::read_to_string(study.out.join("trials.jsonl")).expect("it is there");
    let lines: Vec<Value> = trials.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of_cutting: Vec<&Value> = lines
        .iter()
        .filter_map(|line| line.get("trial"))
        .filter(|trial| trial["implementation"] == "cutting")
        .collect();
    assert_eq!(of_cutting.len(), 24);
    for trial in &of_cutting {
        let is_long = trial["case"]["bytes"].as_u64().is_some_and(|bytes| bytes > 301_000);
        assert_eq!(trial["failed"].is_string(), is_long, "{trial}");
    }
    let failed = of_cutting.iter().filter(|trial| trial["failed"].is_string()).count() as u64;
    assert_eq!(cutting["failed"].as_u64(), Some(failed));
    assert_eq!(cutting["class"].as_str(), Some("counted"), "some test cases of this universe are long, and not many");
    assert_eq!(first["findings"][0]["subjects"], serde_json::json!([1]));

    // Killed after a few test cases, the last of them half written down.
    let kept: Vec<&str> = trials.lines().take(30).collect();
    write(&study.out.join("trials.jsonl"), format!("{}\n{{\"trial\":{{\"impl", kept.join("\n")));
    let output = run(&arguments, &study.out);
    assert_exit(&output, 0);
    assert!(stderr(&output).contains("24 test cases on cutting, 4 of them before"), "{}", stderr(&output));
    let again: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(again["subjects"][1]["failed"], first["subjects"][1]["failed"]);
    // Other durations are other costs; what is found is the same.
    assert_eq!(again["findings"][0]["ranking"], first["findings"][0]["ranking"]);
}

#[test]
fn what_cannot_be_tried_is_named_before_anything_is_built() {
    let folder = folder();
    let check = |arguments: &[&str], expect: &str| {
        let output = run(arguments, folder.path());
        assert_exit(&output, 3);
        assert!(stderr(&output).contains(expect), "{}", stderr(&output));
    };
    check(&["experiment", "gcd"], "no implementation of gcd comes with Simutant; give yours with --implementation");
    check(&["experiment", "lsr", "--implementation", "udp"], "--implementation udp: it is of gbn, and not of lsr");
    check(
        &["experiment", "gbn", "--implementation", "udp", "--implementation", "udp"],
        "another one has the name `udp`",
    );
    check(&["experiment", "gbn", "--implementation", "nothing"], "nothing");
}
