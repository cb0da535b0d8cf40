//! The smaller commands.

use std::process::Stdio;

use serde_json::Value;

use crate::support::{STUDY, assert_exit, command, finished_study, folder, run, stderr, stdout, write};

#[test]
fn mutants_are_listed_with_their_diffs() {
    let study = finished_study();
    let output = run(&["mutants", "gbn"], &study.out);
    assert_exit(&output, 0);
    let text = stdout(&output);
    let listed = text.lines().filter(|line| line.starts_with("mutant ")).count();
    assert_eq!(text.lines().filter(|line| line.starts_with("@@ ")).count(), listed, "a diff each");
    assert!(text.contains(&format!("\n{listed} mutants, ")), "{text}");

    let output = run(&["mutants", "gbn", "--json", "--rejected"], &study.out);
    let json: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let mutants = json["mutants"].as_array().expect("a list");
    assert_eq!(mutants.len(), listed);
    for (number, mutant) in mutants.iter().enumerate() {
        assert_eq!(mutant["number"], number);
        assert_ne!(mutant["original"], mutant["replacement"]);
        let said = |field: &str| mutant[field].as_str().expect("text");
        let place = format!("{}:{}:{} in {},", said("file"), mutant["line"], mutant["column"], said("function"));
        assert!(text.contains(&format!("mutant {number} [{}] ", said("identity"))), "{mutant}");
        assert!(text.contains(&place), "{place}");
        assert!(text.contains(mutant["diff"].as_str().expect("text")), "{mutant}");
    }
    for rejected in json["rejected"].as_array().expect("a list") {
        assert_ne!(rejected["reason"], "", "{rejected}");
    }
}

#[test]
fn a_test_case_runs_alone_by_number_as_json_and_from_a_file() {
    let study = finished_study();
    let by_number = run(&["simulate", "gbn", "--case", "3", "--seed", "7"], &study.out);
    assert_exit(&by_number, 0);
    let text = stdout(&by_number);
    assert!(!stderr(&by_number).contains("mutant"), "nothing here needs mutants: {}", stderr(&by_number));
    assert!(text.contains(" events, ") && !text.contains(" steps"), "{text}");
    let case = text.lines().find_map(|line| line.strip_prefix("test case: ")).expect("it is named");
    let as_json = run(&["simulate", "gbn", "--case", case], &study.out);
    assert_eq!(stdout(&as_json), text);
    let folder = folder();
    let path = write(&folder.path().join("case.json"), case);
    let from_file = run(&["simulate", "gbn", "--case", &path], &study.out);
    assert_eq!(stdout(&from_file), text);

    let traced = run(&["simulate", "gbn", "--case", "3", "--seed", "7", "--trace"], &study.out);
    assert!(stdout(&traced).ends_with(&text), "{}", stdout(&traced));
    assert!(stdout(&traced).lines().filter(|line| line.contains(" was sent: DAT ")).count() > 1);
    let as_data = run(&["simulate", "gbn", "--case", "3", "--seed", "7", "--trace", "--json"], &study.out);
    let data: Value = serde_json::from_str(&stdout(&as_data)).expect("JSON");
    let sent = stdout(&traced).lines().filter(|line| line.contains(" was sent: ")).count();
    let events = data["trace"].as_array().expect("a list").iter();
    assert_eq!(events.filter(|event| event["action"] == "sent").count(), sent);
}

/// What the journal says of a pair, the command says too.
#[test]
fn a_kill_can_be_looked_at_alone() {
    let study = finished_study();
    let journal = rusqlite::Connection::open(study.out.join("journal.sqlite")).expect("the study wrote it");
    let mut query = journal
        .prepare("SELECT test_case, mutant, reason, steps FROM executions WHERE verdict <> 'passed' GROUP BY verdict")
        .expect("the tables are as documented");
    let kills = query
        .query_map([], |row| Ok((row.get::<_, u32>(0)?, row.get::<_, u32>(1)?, row.get(2)?, row.get(3)?)))
        .expect("it can be asked");
    let kills: Vec<(u32, u32, String, u32)> = kills.map(|kill| kill.expect("a row")).collect();
    assert!(kills.len() >= 2, "{kills:?}");
    for (case, mutant, reason, steps) in kills {
        let (case, mutant) = (case.to_string(), mutant.to_string());
        let arguments = ["simulate", "gbn", "--seed", "7", "--case", &case, "--mutant", &mutant, "--json"];
        let output = run(&arguments, &study.out);
        assert_exit(&output, 1);
        let json: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
        assert_eq!(json["execution"]["reason"], reason.as_str());
        assert_eq!(json["execution"]["steps"], steps);
    }
}

#[test]
fn a_mutant_that_a_run_does_not_reach_is_said_to_be_so() {
    let study = finished_study();
    let journal = rusqlite::Connection::open(study.out.join("journal.sqlite")).expect("the study wrote it");
    let recording = |row: &rusqlite::Row<'_>| Ok((row.get::<_, u32>(0)?, row.get::<_, Vec<u8>>(1)?));
    let mut query = journal.prepare("SELECT test_case, reached FROM recordings").expect("as documented");
    let recordings = query.query_map([], recording).expect("it can be asked");
    let (case, mutant) = recordings
        .flatten()
        .find_map(|(case, reached)| {
            let byte = reached.iter().position(|&byte| byte != 0xff)?;
            Some((case.to_string(), (byte * 8 + reached[byte].trailing_ones() as usize).to_string()))
        })
        .expect("some test case does not reach all mutants");
    let output = run(&["simulate", "gbn", "--seed", "7", "--case", &case, "--mutant", &mutant], &study.out);
    assert_exit(&output, 0);
    assert!(stdout(&output).contains(&format!("mutant {mutant}, ")), "{}", stdout(&output));
    assert!(stdout(&output).contains("the run does not reach it"), "{}", stdout(&output));
}

/// Runs a command whose output nobody reads, and returns its exit code.
fn unread(arguments: &[&str], is_stderr_read: bool) -> Option<i32> {
    let study = finished_study();
    let mut child = command(arguments, &study.out)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command was built");
    drop(child.stdout.take());
    if !is_stderr_read {
        drop(child.stderr.take());
    }
    child.wait_with_output().expect("it ends").status.code()
}

#[test]
fn a_reader_that_has_enough_is_no_error() {
    for arguments in [&["mutants", "gbn"][..], &["simulate", "gbn", "--case", "1", "--trace"], &STUDY, &["--help"]] {
        assert_eq!(unread(arguments, true), Some(0), "{arguments:?}");
        // As in `simutant mutants gbn 2>&1 | head`.
        assert_eq!(unread(arguments, false), Some(0), "{arguments:?}, and nobody reads standard error");
    }
}

/// What `systems/gbn/README.md` says of the faulty programs of go-back-n: mutants of the simulation that do the same.
#[test]
fn mistakes_that_people_make_with_go_back_n_have_mutants_that_stand_for_them() {
    let study = finished_study();
    let mutants = |system| -> Value {
        let output = run(&["mutants", system, "--json"], &study.out);
        let json: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
        json["mutants"].clone()
    };
    let has = |mutants: &Value, operator: &str, line: &str| {
        let stands = |mutant: &Value| {
            mutant["operator"] == operator
                && mutant["diff"].as_str().expect("text").lines().any(|of_diff| of_diff == line)
        };
        assert!(mutants.as_array().expect("a list").iter().any(stands), "{operator}, {line}");
    };
    let of_gbn = mutants("gbn");
    for (mistake, operator, line) in [
        ("counts-all-timeouts", "RTY", "-                    tries = 0;"),
        ("ends-unacknowledged", "ROR", "+        if window.base >= window.end {"),
        ("leaves-after-end", "SDL", "-    stay(&mut channel, last).await;"),
        ("repeats-last-ack-once", "ROR", "+        if true {"),
        ("learns-first-number", "ROR", "+        if sequence >= FIRST {"),
        ("refuses-early-acknowledgements", "ROR", "+        if self.unsent != self.next {"),
    ] {
        let program = format!("../systems/gbn/implementations/udp-{mistake}.toml");
        assert!(std::path::Path::new(&program).is_file(), "no program has the mistake {mistake}");
        has(&of_gbn, operator, line);
    }
    // The window grows beyond its limit.
    has(&of_gbn, "CALL", "+        self.size = u32::max(grown, WINDOW_MAX);");
    // Number 0 is acknowledged before anything has arrived.
    has(&mutants("gbn-last-ack"), "LVR", "+        return Acknowledgement { sequence: SEQUENCE_NUMBERS - 0 };");
}
