//! The smaller commands.

use serde_json::Value;

use crate::support::{STUDY, assert_exit, command, run, stdout};

#[test]
fn mutants_are_listed_with_their_diffs() {
    let output = run(&["mutants", "gbn"], &STUDY.out);
    assert_exit(&output, 0);
    let text = stdout(&output);
    let listed = text.lines().filter(|line| line.starts_with("mutant ")).count();
    assert_eq!(text.lines().filter(|line| line.starts_with("@@ ")).count(), listed, "a diff each");

    let output = run(&["mutants", "gbn", "--json", "--rejected"], &STUDY.out);
    let json: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let mutants = json["mutants"].as_array().expect("a list");
    assert_eq!(mutants.len(), listed);
    for (number, mutant) in mutants.iter().enumerate() {
        assert_eq!(mutant["number"], number);
        assert_ne!(mutant["original"], mutant["replacement"]);
    }
    for rejected in json["rejected"].as_array().expect("a list") {
        assert_ne!(rejected["reason"], "", "{rejected}");
    }
}

#[test]
fn a_test_case_runs_alone_by_number_as_json_and_from_a_file() {
    let by_number = run(&["simulate", "gbn", "--case", "3", "--seed", "7"], &STUDY.out);
    assert_exit(&by_number, 0);
    let text = stdout(&by_number);
    let case = text.lines().find_map(|line| line.strip_prefix("test case: ")).expect("it is named");
    let as_json = run(&["simulate", "gbn", "--case", case], &STUDY.out);
    assert_eq!(stdout(&as_json), text);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("case.json");
    std::fs::write(&path, case).expect("a temporary file");
    let from_file = run(&["simulate", "gbn", "--case", path.to_str().expect("text")], &STUDY.out);
    assert_eq!(stdout(&from_file), text);

    let traced = run(&["simulate", "gbn", "--case", "3", "--seed", "7", "--trace"], &STUDY.out);
    assert!(stdout(&traced).ends_with(&text), "{}", stdout(&traced));
    assert!(stdout(&traced).lines().filter(|line| line.contains("\"kind\":\"DAT\"")).count() > 1);
}

/// What the journal says of a pair, the command says too.
#[test]
fn a_kill_can_be_looked_at_alone() {
    let journal = rusqlite::Connection::open(STUDY.out.join("journal.sqlite")).expect("the study wrote it");
    let mut query = journal
        .prepare(
            "SELECT test_case, mutant, text, steps FROM executions JOIN reasons ON number = reason
             WHERE verdict > 0 GROUP BY verdict",
        )
        .expect("the tables are as documented");
    let kills = query
        .query_map([], |row| Ok((row.get::<_, u32>(0)?, row.get::<_, u32>(1)?, row.get(2)?, row.get(3)?)))
        .expect("it can be asked");
    let kills: Vec<(u32, u32, String, u32)> = kills.map(|kill| kill.expect("a row")).collect();
    assert!(kills.len() >= 2, "{kills:?}");
    for (case, mutant, reason, steps) in kills {
        let (case, mutant) = (case.to_string(), mutant.to_string());
        let arguments = ["simulate", "gbn", "--seed", "7", "--case", &case, "--mutant", &mutant, "--json"];
        let output = run(&arguments, &STUDY.out);
        assert_exit(&output, 1);
        let json: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
        assert_eq!(json["execution"]["reason"], reason.as_str());
        assert_eq!(json["execution"]["steps"], steps);
    }
}

#[test]
fn a_reader_that_has_enough_is_no_error() {
    let mut child = command(&["mutants", "gbn"], &STUDY.out)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("the command was built");
    drop(child.stdout.take());
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}
