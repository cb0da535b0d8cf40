//! `simutant simulate --shrink`: the printed command runs the smaller test case, and it fails in the same way.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::{assert_exit, command, finished_study, folder, run, stderr, stdout, write};

/// How many bytes of a file go-back-n puts into a packet.
const SEGMENT_BYTES: u64 = 1_399;

/// A line of the sender's window that a mutant deletes: acknowledged packets need not be sent again.
const LOSES_ITS_PLACE: &str = "-            self.next = self.base;";

/// Returns a mutant whose diff has this line, by its number.
fn mutant_with(line: &str, out: &Path) -> String {
    let output = run(&["mutants", "gbn", "--json"], out);
    let json: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let mutants = json["mutants"].as_array().expect("a list");
    let found = mutants.iter().find(|mutant| mutant["diff"].as_str().expect("text").contains(line));
    found.unwrap_or_else(|| panic!("no mutant has {line}"))["number"].to_string()
}

/// Runs a printed command in a shell, with `--json`.
fn run_printed(command: &str) -> Value {
    let output = Command::new("sh").arg("-c").arg(format!("{command} --json")).output().expect("sh is everywhere");
    assert_exit(&output, 1);
    serde_json::from_str(&stdout(&output)).expect("JSON")
}

/// Returns what a line of the output says.
#[track_caller]
fn after<'a>(prefix: &str, text: &'a str) -> &'a str {
    text.lines().find_map(|line| line.strip_prefix(prefix)).unwrap_or_else(|| panic!("no `{prefix}` in {text}"))
}

/// The sender loses its place when more is acknowledged than was sent since it went back: all acknowledgements of some
/// packets must be lost, and fewer packets sent again. So at least two packets must be lost, and the file must have at
/// least two segments, since the halved window still has room for one and the end mark.
#[test]
fn a_failure_that_needs_a_loss_is_shrunk_to_few_segments_and_few_losses() {
    let study = finished_study();
    let mutant = mutant_with(LOSES_ITS_PLACE, &study.out);
    for number in ["3", "10"] {
        let shrink = ["simulate", "gbn", "--seed", "7", "--case", number, "--mutant", &mutant];
        let before = run(&[&shrink[..], &["--json"]].concat(), &study.out);
        let before: Value = serde_json::from_str(&stdout(&before)).expect("JSON");
        let output = run(&[&shrink[..], &["--shrink"]].concat(), &study.out);
        assert_exit(&output, 1);
        let text = stdout(&output);
        assert!(text.contains("is unacknowledged"), "{text}");

        let case: Value = serde_json::from_str(after("test case: ", &text)).expect("JSON");
        let bytes = case["bytes"].as_u64().expect("a number");
        assert!(bytes > SEGMENT_BYTES, "{text}");
        assert_eq!(bytes % SEGMENT_BYTES, 1, "a byte less would be as many segments: {text}");
        assert!(bytes * 4 < before["case"]["bytes"].as_u64().expect("a number"), "{text}");
        assert!(case["drop"].as_f64() > Some(0.0), "{text}");
        let (dropped, sent) = after("faults left: ", &text).split_once(" of ").expect("counts");
        let (dropped, sent) = (dropped.parse::<u64>().expect("a count"), sent.split(' ').next().expect("a count"));
        assert!((2..=4).contains(&dropped), "{text}");
        assert!(dropped < sent.parse().expect("a count"), "{text}");
        let (_, file) = text.split_once("--choices ").expect("losses are choices");
        let file = file.split(' ').next().expect("a path");
        let choices = std::fs::read_to_string(file).expect("it was written");
        let choices: Value = serde_json::from_str(&choices).expect("JSON");
        assert_eq!(choices["imposed"]["choices"].as_array().map(Vec::len), Some(dropped as usize), "{choices}");

        let again = run_printed(after("again: ", &text));
        assert_eq!(again["execution"]["verdict"], before["execution"]["verdict"]);
        // The numbers of packets are others.
        let panicked = |ran: &Value| {
            let reason = ran["execution"]["reason"].as_str().expect("text").to_owned();
            reason.split_once(": packet ").expect("a packet is named").0.to_owned()
        };
        assert_eq!(panicked(&again), panicked(&before));
        assert_eq!(again["case"], case);
        assert!(
            text.contains(&format!(
                "\n{} events, {} steps, ",
                again["execution"]["events"], again["execution"]["steps"]
            ))
        );
        // Without the losses, it does not fail.
        let none = r#"{"format_version":1,"system":"gbn","imposed":{"others":"simplest","choices":[]}}"#;
        let folder = folder();
        let none = write(&folder.path().join("none.json"), none);
        let arguments = ["simulate", "gbn", "--case", &case.to_string(), "--mutant", &mutant, "--choices", &none];
        assert_exit(&run(&arguments, &study.out), 0);
    }
}

/// A sender that believes to be done at once needs neither losses nor a second byte.
#[test]
fn a_failure_that_needs_nothing_is_shrunk_to_nothing() {
    let study = finished_study();
    let mutant = mutant_with("+        if window.base != window.end {", &study.out);
    let shrink = ["simulate", "gbn", "--seed", "7", "--case", "5", "--mutant", &mutant, "--shrink", "--json"];
    let output = run(&shrink, &study.out);
    assert_exit(&output, 1);
    let json: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let smallest = serde_json::json!({"bytes": 1, "drop": 0.0, "duplicate": 0.0, "seed": 0});
    assert_eq!(json["case"], smallest);
    assert_eq!(json["is_minimal"], true);
    assert_eq!(json["imposed"], serde_json::json!({"others": "seed", "choices": []}));
    let command = json["command"].as_str().expect("text");
    assert!(!command.contains("--choices"), "{command}");
    let again = run_printed(command);
    assert_eq!(again["execution"], json["execution"]);
    assert_eq!(again["case"], smallest);
    assert_eq!(stdout(&run(&shrink, &study.out)), stdout(&output), "the same again");
}

#[test]
fn the_number_of_runs_is_bounded() {
    let study = finished_study();
    let mutant = mutant_with(LOSES_ITS_PLACE, &study.out);
    let arguments =
        ["simulate", "gbn", "--seed", "7", "--case", "3", "--mutant", &mutant, "--shrink", "--shrink-runs", "9"];
    let output = run(&arguments, &study.out);
    assert_exit(&output, 1);
    assert!(stdout(&output).contains("--shrink-runs was used up"), "{}", stdout(&output));
    assert!(stderr(&output).contains("shrinking 9 candidates"), "{}", stderr(&output));
    let again = run_printed(after("again: ", &stdout(&output)));
    assert_eq!(again["execution"]["verdict"], "abnormal");
}

#[test]
fn what_cannot_be_shrunk_or_imposed_is_said() {
    let study = finished_study();
    let check = |arguments: &[&str], code, expect: &str| {
        let output = command(&[&["simulate", "gbn", "--case", "1"], arguments].concat(), &study.out).output();
        let output = output.expect("the command was built");
        assert_exit(&output, code);
        assert!(stderr(&output).contains(expect), "`{expect}` is not in: {}", stderr(&output));
        assert_eq!(stdout(&output), "");
    };
    check(&["--shrink"], 3, "does not fail");
    check(&["--shrink-runs", "5"], 2, "--shrink");
    check(&["--choices", "/no/such/file"], 3, "/no/such/file");
    let folder = folder();
    let file = |name: &str, text: &str| write(&folder.path().join(name), text);
    check(&["--choices", &file("a", "{}")], 3, "format_version");
    let future = r#"{"format_version":99,"system":"gbn","imposed":{"others":"seed","choices":[]}}"#;
    check(&["--choices", &file("b", future)], 3, "format_version is 99");
    let unknown = r#"{"format_version":1,"system":"gbn","imposed":{"others":"nobody","choices":[]}}"#;
    check(&["--choices", &file("c", unknown)], 3, "nobody");
    let foreign = r#"{"format_version":1,"system":"lsr","imposed":{"others":"seed","choices":[]}}"#;
    check(&["--choices", &file("d", foreign)], 3, "these choices are for lsr, not for gbn");
}
