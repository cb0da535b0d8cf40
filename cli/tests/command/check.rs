//! `simutant check`: exit codes, messages, many files, files that cannot be read.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::init::UserPackage;
use crate::support::{assert_exit, folder, stderr, stdout, write};

/// A register that one client writes and another one reads, in its order.
const GOOD: &str = "{:process 0, :type :invoke, :f :write, :value 3}
{:process 1, :type :invoke, :f :read, :value nil}
{:process 1, :type :ok, :f :read, :value 3}
{:process 0, :type :ok, :f :write, :value 3}
";

/// The same, and a later read that misses what was written.
const STALE: &str = "{:process 0, :type :invoke, :f :write, :value 3}
{:process 0, :type :ok, :f :write, :value 3}
{:process 1, :type :invoke, :f :read, :value nil}
{:process 1, :type :ok, :f :read, :value 3}
{:process 0, :type :invoke, :f :write, :value 4}
{:process 0, :type :ok, :f :write, :value 4}
{:process 1, :type :invoke, :f :read, :value nil}
{:process 1, :type :ok, :f :read, :value 3}
";

/// Writes that are all under way at once, in any order, and a read of what none of them wrote.
fn hard() -> String {
    let event = |process: u32, kind: &str, operation: &str, value: u32| {
        format!("{{:process {process}, :type :{kind}, :f :{operation}, :value {value}}}\n")
    };
    let all = |kind: &str| (0..13).map(|process| event(process, kind, "write", process)).collect::<String>();
    let read = event(0, "invoke", "read", 0).replace(":value 0", ":value nil") + &event(0, "ok", "read", 99);
    all("invoke") + &all("ok") + &read
}

fn check(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_simutant"));
    command.arg("check").args(arguments).current_dir(folder);
    command.output().expect("the command was built")
}

#[test]
fn a_history_that_is_possible_passes_and_one_that_is_not_is_explained() {
    let folder = folder();
    write(&folder.path().join("good.edn"), GOOD);
    write(&folder.path().join("stale.edn"), STALE);
    let output = check(folder.path(), &["good.edn", "--specification", "register"]);
    assert_exit(&output, 0);
    assert_eq!(stdout(&output), "good.edn: possible (2 calls of 2 sessions)\n");

    let output = check(folder.path(), &["stale.edn", "--specification", "register"]);
    assert_exit(&output, 1);
    let expect = "\
stale.edn: impossible (4 calls of 2 sessions)
  No order of the calls explains the answer of
    call 3 of session 1, event 6 to event 7: read -> value 3
  All calls that ended before it can be explained. After them, the specification
  allows
    value 4, since the register has the value 4
  These 3 calls are impossible together, whatever the other call was answered:
    call 0 of session 0, event 0 to event 1: write 3 -> done, or any other
      answer
    call 2 of session 0, event 4 to event 5: write 4 -> done, or any other
      answer
    call 3 of session 1, event 6 to event 7: read -> value 3
";
    assert_eq!(stdout(&output), expect);

    // A session that lags behind is sequentially consistent.
    let output = check(folder.path(), &["stale.edn", "--specification", "register", "--order", "sequential"]);
    assert_exit(&output, 0);
    // Each strategy finds the same.
    for strategy in ["just-in-time", "answer-order", "call-order", "depth-first", "breadth-first"] {
        let arguments = ["good.edn", "stale.edn", "--specification", "register", "--strategy", strategy];
        let output = check(folder.path(), &arguments);
        assert_exit(&output, 1);
        assert!(stdout(&output).ends_with("2 histories: 1 possible, 1 impossible, 0 undecided, 0 unreadable\n"));
    }
}

#[test]
fn many_files_are_told_in_their_order_and_a_failure_comes_before_what_cannot_be_read() {
    let folder = folder();
    let mut names = Vec::new();
    for number in 0..20 {
        let name = format!("{number}.edn");
        write(&folder.path().join(&name), GOOD);
        names.push(name);
    }
    let mut arguments: Vec<&str> = names.iter().map(String::as_str).collect();
    arguments.extend(["none.edn", "--specification", "register"]);
    let output = check(folder.path(), &arguments);
    assert_exit(&output, 3);
    let text = stdout(&output);
    let told: Vec<&str> = text.lines().filter_map(|line| line.split_once(": possible")).map(|(name, _)| name).collect();
    assert_eq!(told, names);
    assert!(text.contains("none.edn: unreadable\n  cannot be read: No such file"), "{text}");
    assert!(text.ends_with("21 histories: 20 possible, 0 impossible, 0 undecided, 1 unreadable\n"), "{text}");

    write(&folder.path().join("stale.edn"), STALE);
    let output = check(folder.path(), &["none.edn", "stale.edn", "--specification", "register"]);
    assert_exit(&output, 1);
}

#[test]
fn json_has_the_whole_explanation() {
    let folder = folder();
    write(&folder.path().join("stale.edn"), STALE);
    write(&folder.path().join("bad.edn"), "{:process 0, :type :invoke, :f :push, :value 3}\n");
    let output = check(folder.path(), &["stale.edn", "bad.edn", "--specification", "register", "--json"]);
    assert_exit(&output, 1);
    let listing: Value = serde_json::from_str(&stdout(&output)).expect("it is JSON");
    assert_eq!((&listing["impossible"], &listing["unreadable"]), (&1.into(), &1.into()));
    let impossible = &listing["histories"][0]["answer"]["impossible"];
    assert_eq!(impossible["stuck"]["call"], 3);
    assert_eq!(impossible["allowed"][0]["reason"], "the register has the value 4");
    assert_eq!(impossible["core"].as_array().map(Vec::len), Some(3));
    assert_eq!(impossible["core"][1]["known"], "ended");
    assert_eq!(impossible["core"][2]["known"], "answer");
    assert_eq!(impossible["longest"], serde_json::json!([0, 1, 2]));
    let unreadable = listing["histories"][1]["unreadable"].as_str().expect("it is told why");
    assert!(unreadable.starts_with("line 1, column ") && unreadable.contains(":push"), "{unreadable}");
}

#[test]
fn what_the_budget_does_not_decide_is_inconclusive() {
    let folder = folder();
    write(&folder.path().join("stale.edn"), STALE);
    for (option, value, words) in [("--steps", "1", "budget of steps"), ("--memory", "1B", "budget of memory")] {
        // By default no search is needed for this one.
        let arguments = ["stale.edn", "--specification", "register", "--strategy", "breadth-first", option, value];
        let output = check(folder.path(), &arguments);
        assert_exit(&output, 7);
        let text = stdout(&output);
        assert!(text.starts_with("stale.edn: undecided (4 calls of 2 sessions)\n  The "), "{text}");
        assert!(text.contains(words), "{text}");
    }
    // Whether there is time left is asked now and then, so the history has to be one that takes some.
    write(&folder.path().join("hard.edn"), hard());
    let arguments = ["hard.edn", "--specification", "register", "--strategy", "breadth-first", "--time", "0s"];
    let output = check(folder.path(), &arguments);
    assert_exit(&output, 7);
    assert!(stdout(&output).contains("The time ran out"), "{}", stdout(&output));
}

#[test]
fn a_history_in_which_nothing_was_observed_is_no_silent_pass() {
    let folder = folder();
    let path = folder.path();
    write(&path.join("good.edn"), GOOD);
    write(&path.join("nothing.edn"), "\n");
    let failed = "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :fail, :f :write, :value 1}\n";
    write(&path.join("failed.edn"), failed);
    let arguments = ["good.edn", "nothing.edn", "failed.edn", "--specification", "register"];
    let output = check(path, &arguments);
    assert_exit(&output, 0);
    let warning =
        "  Warning: no call was answered, so nothing was observed. With --require-answers\n  that is inconclusive.\n";
    let expect = format!(
        "good.edn: possible (2 calls of 2 sessions)\n\
         nothing.edn: possible (0 calls of 0 sessions)\n{warning}\
         failed.edn: possible (1 call of 1 session)\n{warning}\
         3 histories: 3 possible, 0 impossible, 0 undecided, 0 unreadable\n"
    );
    assert_eq!(stdout(&output), expect);

    let output = check(path, &[&arguments[..], &["--require-answers"]].concat());
    assert_exit(&output, 7);
    let text = stdout(&output);
    assert!(text.contains("failed.edn: inconclusive (1 call of 1 session)\n  No call was answered, so"), "{text}");
    assert!(text.ends_with("3 histories: 1 possible, 0 impossible, 2 without any answer, 0 undecided, 0 unreadable\n"));
    let output = check(path, &["nothing.edn", "--specification", "register", "--require-answers", "--json"]);
    assert_exit(&output, 7);
    let listing: Value = serde_json::from_str(&stdout(&output)).expect("it is JSON");
    assert_eq!((&listing["unobserved"], &listing["possible"]), (&1.into(), &0.into()));
    assert_eq!(listing["histories"][0]["answer"], "unobserved");
    assert_eq!(listing["histories"][0]["answered"], 0);
}

#[test]
fn keys_in_values_are_those_of_a_service_for_each_key() {
    let folder = folder();
    let path = folder.path();
    let call = |name: &str, asked: &str, answered: &str| {
        let event = |kind: &str, value: &str| format!("{{:process 0, :type :{kind}, :f :{name}, :value {value}}}\n");
        event("invoke", asked) + &event("ok", answered)
    };
    let text = call("write", "[1 3]", "[1 3]") + &call("read", "[2 nil]", "[2 nil]");
    write(&path.join("keys.edn"), &text);
    write(&path.join("stale.edn"), text + &call("read", "[1 nil]", "[1 nil]"));
    let output = check(path, &["keys.edn", "--specification", "register"]);
    assert_exit(&output, 3);
    let told = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("choose a specification with keys: `key-value-store`, or check with `--keyed`"), "{told}");
    let output = check(path, &["keys.edn", "stale.edn", "--specification", "register", "--keyed"]);
    assert_exit(&output, 1);
    let text = stdout(&output);
    assert!(text.starts_with("keys.edn: possible (2 calls of 1 session)\nstale.edn: impossible"), "{text}");
    assert!(text.contains("read of key \"1\" -> no value") && text.contains("write 3 of key \"1\" -> done"), "{text}");
    let output = check(path, &["keys.edn", "--specification", "tickets", "--keyed"]);
    assert_exit(&output, 3);
    assert!(stderr(&output).contains("write its type as Keyed<...> there"), "{}", stderr(&output));
}

#[test]
fn the_standard_input_is_a_history_once() {
    let folder = folder();
    let mut command = Command::new(env!("CARGO_BIN_EXE_simutant"));
    command.args(["check", "-", "--specification", "register"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the command was built");
    child.stdin.take().expect("it is piped").write_all(GOOD.as_bytes()).expect("it is read");
    let output = child.wait_with_output().expect("it ends");
    assert_exit(&output, 0);
    assert_eq!(stdout(&output), "-: possible (2 calls of 2 sessions)\n");

    let output = check(folder.path(), &["-", "-", "--specification", "register"]);
    assert_exit(&output, 3);
    assert!(stderr(&output).contains("the standard input can be read once"), "{}", stderr(&output));
}

#[test]
fn what_cannot_be_used_is_named_with_its_cure() {
    let folder = folder();
    write(&folder.path().join("good.edn"), GOOD);
    write(&folder.path().join("text"), "what is this?\n");
    #[track_caller]
    fn refused(folder: &Path, arguments: &[&str], expect: &str) {
        let output = check(folder, arguments);
        assert_exit(&output, 3);
        let said = stderr(&output) + &stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(expect), "{said}");
    }
    let path = folder.path();
    refused(path, &["good.edn", "--specification", "registre"], "Simutant has no such one (register, key-value-store,");
    refused(path, &["good.edn", "--specification", "registre"], "did you mean `register`?");
    refused(
        path,
        &["good.edn", "--specification", "bank"],
        "--specification bank: give its first state with --initial",
    );
    refused(path, &["good.edn", "--specification", "counter", "--initial", "\"x\""], "it is an integer, by default 0");
    refused(
        path,
        &["good.edn", "--specification", "counter", "--initial", "none.json"],
        "--initial none.json: not JSON",
    );
    refused(path, &["text", "--specification", "register"], "limo, polylin, with --format");
    refused(path, &["text", "--specification", "register", "--format", "jepsen-edn"], "line 1, column");
    refused(path, &[".", "--specification", "register"], "unreadable");
    let output = check(path, &["good.edn", "--specification", "register", "--time", "5"]);
    assert_exit(&output, 2);
    assert!(stderr(&output).contains("for example 30s or 500ms"), "{}", stderr(&output));
}

#[test]
fn histories_that_two_machines_checked_are_told_as_those_of_one() {
    let folder = folder();
    let path = folder.path();
    let names = ["a.edn", "b.edn", "c.edn", "d.edn", "none.edn"];
    for (name, text) in names.into_iter().zip([GOOD, STALE, GOOD, GOOD]) {
        write(&path.join(name), text);
    }
    let arguments = [&names[..], &["--specification", "register"]].concat();
    let alone = check(path, &arguments);
    assert_exit(&alone, 1);
    for (part, file, code) in [("0/2", "0.json", 3), ("1/2", "1.json", 1)] {
        let output = check(path, &[&arguments[..], &["--shard", part, "--json"]].concat());
        assert_exit(&output, code);
        write(&path.join(file), &output.stdout);
    }
    let listing: Value =
        serde_json::from_slice(&std::fs::read(path.join("1.json")).expect("it is there")).expect("JSON");
    let files: Vec<&str> =
        listing["histories"].as_array().expect("a list").iter().filter_map(|judged| judged["file"].as_str()).collect();
    assert_eq!(files, ["b.edn", "d.edn"]);
    let given = [&arguments[..], &["--judged", "0.json", "--judged", "1.json"]].concat();
    let merged = check(path, &given);
    assert_exit(&merged, 1);
    assert_eq!(stdout(&merged), stdout(&alone));

    // A file that is another one by now is checked here.
    let told = std::fs::read_to_string(path.join("1.json")).expect("it is there");
    write(&path.join("b.edn"), GOOD);
    let merged = check(path, &given);
    assert_exit(&merged, 3);
    assert!(stdout(&merged).contains("5 histories: 4 possible, 0 impossible, 0 undecided, 1 unreadable"));
    write(&path.join("b.edn"), STALE);

    #[track_caller]
    fn refused(path: &Path, arguments: &[&str], expect: &str) {
        let output = check(path, arguments);
        assert_exit(&output, 3);
        assert!(stderr(&output).contains(expect), "{}", stderr(&output));
    }
    refused(path, &[&given[..], &["--order", "sequential"]].concat(), "its order is linearizability, and here it is");
    refused(path, &[&given[..], &["--scope", "simple"]].concat(), "its scope is history, and here it is");
    refused(path, &[&given[..], &["--smt"]].concat(), "its solver is not asked, and here it is asked");
    refused(
        path,
        &[&given[..], &["--initial", "4"]].concat(),
        "its initial state is that of an empty service, and here",
    );
    refused(path, &[&arguments[..], &["--judged", "a.edn"]].concat(), "--judged a.edn: not what `check --json` prints");
    let other = told.replace("\"impossible\": 1", "\"impossible\": 0");
    let start = other.find("\"answer\"").expect("it is told");
    let end = start + other[start..].find("\"explored\"").expect("it is told");
    write(
        &path.join("other.json"),
        format!("{}\"answer\": {{\"possible\": {{\"order\": []}}}}, {}", &other[..start], &other[end..]),
    );
    refused(path, &[&given[..], &["--judged", "other.json"]].concat(), "it says something else of b.edn than another");
}

/// A value that another one took the place of before it was read, if both answers are right.
const READ_AFTER_REPLACEMENT: &str = r#"{"session":1,"mode":"asynchronous","operation":{"put":{"key":"x","value":"a"}},"invoked_ns":0,"end":{"returned":{"at_ns":10,"response":"done"}}}
{"session":2,"mode":"asynchronous","operation":{"compare_and_set":{"key":"x","from":"a","to":"b"}},"invoked_ns":1,"end":{"returned":{"at_ns":11,"response":{"compared":true}}}}
{"session":2,"mode":"asynchronous","operation":{"get":{"key":"x"}},"invoked_ns":2,"end":{"returned":{"at_ns":12,"response":{"value":"a"}}}}
"#;

#[test]
fn each_answer_is_explained_by_itself_where_that_is_asked_for() {
    let folder = folder();
    write(&folder.path().join("seen.jsonl"), READ_AFTER_REPLACEMENT);
    let base = ["seen.jsonl", "--specification", "key-value-store", "--order", "ordered-sequential"];
    let with = |more: &[&str]| check(folder.path(), &[&base[..], more].concat());
    for filter in ["none", "weak", "strong"] {
        // Nothing may have been replaced, if the answer to that is not compared.
        let output = with(&["--scope", "simple", "--filter", filter, "--smt"]);
        assert_exit(&output, 0);
        assert_eq!(stdout(&output), "seen.jsonl: possible (3 calls of 2 sessions)\n  z3 says that it is possible.\n");
        let output = with(&["--scope", "strict", "--filter", filter, "--smt"]);
        assert_exit(&output, 1);
        let text = stdout(&output);
        assert!(
            text.starts_with("seen.jsonl: impossible") && text.ends_with("\n  z3 says that it is impossible.\n"),
            "{text}"
        );
    }
    assert_exit(&with(&[]), 1);
    let output = with(&["--filter", "weak"]);
    assert_exit(&output, 3);
    assert!(stderr(&output).contains("--filter: goes with --scope simple or strict"), "{}", stderr(&output));
}

#[test]
fn specifications_of_simutants_systems_are_found_anywhere() {
    let folder = folder();
    let created = r#"{"session":1,"operation":{"create":{"path":"/a"}},"invoked_ns":0,"end":{"returned":{"at_ns":1,"response":"done"}}}"#;
    let missed = r#"{"session":1,"operation":{"exists":{"path":"/a"}},"invoked_ns":2,"end":{"returned":{"at_ns":3,"response":{"exists":false}}}}"#;
    write(&folder.path().join("good.jsonl"), created);
    write(&folder.path().join("wrong.jsonl"), format!("{created}\n{missed}\n"));
    write(&folder.path().join("good.edn"), GOOD);
    let with = |file: &str| check(folder.path(), &[file, "--specification", "zookeeper"]);
    assert_exit(&with("good.jsonl"), 0);
    assert_exit(&with("wrong.jsonl"), 1);
    let output = with("good.edn");
    assert_exit(&output, 3);
    assert!(stdout(&output).contains("has no vocabulary"), "{}", stdout(&output));
    let output = check(folder.path(), &["good.jsonl", "--specification", "zookeper"]);
    assert_exit(&output, 3);
    assert!(stderr(&output).contains("did you mean `zookeeper`?"), "{}", stderr(&output));
    write(&folder.path().join("Cargo.toml"), "[package]\nname = 7\n");
    let output = check(folder.path(), &["good.jsonl", "--specification", "registre"]);
    assert_exit(&output, 3);
    let said = stderr(&output);
    assert!(said.contains("cannot read the package") && said.contains("did you mean `register`?"), "{said}");
}

#[test]
fn a_solver_judges_as_well() {
    let folder = folder();
    write(&folder.path().join("good.edn"), GOOD);
    write(&folder.path().join("stale.edn"), STALE);
    let large: String = (0..201).map(|_| GOOD).collect();
    write(&folder.path().join("large.edn"), large);
    let names = ["good.edn", "stale.edn", "large.edn"];
    let arguments = [&names[..], &["--specification", "register", "--smt"]].concat();
    let output = check(folder.path(), &[&arguments[..], &["--json"]].concat());
    assert_exit(&output, 1);
    let listing: Value = serde_json::from_str(&stdout(&output)).expect("it is JSON");
    let answers: Vec<&Value> = (0..3).map(|number| &listing["histories"][number]["smt"]["answer"]).collect();
    assert_eq!(answers, ["possible", "impossible", "undecided"]);
    let reason = &listing["histories"][2]["smt"]["reason"];
    assert_eq!(reason, "formulas are written for at most 200 calls");
    assert!(listing["histories"][0]["formulas"].is_null(), "nobody asked for the texts");

    let mut command = Command::new(env!("CARGO_BIN_EXE_simutant"));
    let output = command.arg("check").args(&arguments).current_dir(folder.path()).env("PATH", "/nowhere").output();
    let output = output.expect("the command was built");
    assert_exit(&output, 4);
    assert!(stderr(&output).contains("no solver is installed"), "{}", stderr(&output));
}

#[test]
fn an_initial_state_is_json_or_a_file() {
    let folder = folder();
    let read = "{:process 1, :type :invoke, :f :read, :value nil}\n{:process 1, :type :ok, :f :read, :value 9}\n";
    write(&folder.path().join("read.edn"), read);
    write(&folder.path().join("nine.json"), "9\n");
    for (initial, code) in [("9", 0), ("nine.json", 0), ("8", 1)] {
        let output = check(folder.path(), &["read.edn", "--specification", "register", "--initial", initial]);
        assert_exit(&output, code);
        assert!(!stdout(&output).contains("--initial"), "{}", stdout(&output));
    }
    // The read is impossible whatever others were answered: the state may be to blame that nobody gave.
    let output = check(folder.path(), &["read.edn", "--specification", "register"]);
    assert_exit(&output, 1);
    let told = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("say so with --initial: a value, or null"), "{told}");
}

#[test]
fn a_picture_shows_the_first_history_that_is_impossible() {
    let folder = folder();
    let path = folder.path();
    write(&path.join("good.edn"), GOOD);
    write(&path.join("stale.edn"), STALE);
    let drawn = |arguments: &[&str], file: &str, code: i32| {
        let output = check(path, &[arguments, &["--specification", "register", "--picture", file]].concat());
        assert_exit(&output, code);
        let text = std::fs::read_to_string(path.join(file)).expect("it is written");
        (stdout(&output), stderr(&output), text)
    };
    let (out, _, page) = drawn(&["good.edn"], "good.html", 0);
    assert_eq!(out, "good.edn: possible (2 calls of 2 sessions)\n");
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("good.edn") && page.contains("write 3"), "{page}");

    // What is right is drawn only if nothing is wrong.
    let (_, told, picture) = drawn(&["good.edn", "stale.edn", "stale.edn"], "stale.svg", 1);
    assert!(told.contains("the picture shows stale.edn (impossible)"), "{told}");
    assert!(picture.contains("<svg") && picture.contains("stale.edn"), "{picture}");
    assert!(picture.contains("the register has the value 4"), "{picture}");
    let (_, told, _) = drawn(&["none.edn", "good.edn"], "both.svg", 3);
    assert!(told.contains("the picture shows good.edn (possible)"), "{told}");

    // What is printed as data does not have the calls once more.
    let (out, _, _) = drawn(&["stale.edn", "--json"], "again.svg", 1);
    let listing: Value = serde_json::from_str(&out).expect("it is JSON");
    assert_eq!(listing["histories"][0]["history"], Value::Null);

    let output = check(path, &["none.edn", "--specification", "register", "--picture", "none.svg"]);
    assert_exit(&output, 3);
    assert!(stderr(&output).contains("there is no picture") && !path.join("none.svg").exists());
    let output = check(path, &["good.edn", "--specification", "register", "--picture", "good.png"]);
    assert_exit(&output, 2);
    assert!(stderr(&output).contains("must end in .html"), "{}", stderr(&output));
}

#[test]
fn revisions_that_contradict_the_rest_are_told_apart_from_other_failures() {
    let folder = folder();
    let call = |session: u64, operation: &str, period: (u64, u64), response: &str, revision: u64| {
        format!(
            "{{\"session\":{session},\"operation\":{operation},\"invoked_ns\":{},\"revision\":{revision},\
             \"end\":{{\"returned\":{{\"at_ns\":{},\"response\":{response}}}}}}}\n",
            period.0, period.1
        )
    };
    let write_1 = call(1, "{\"write\":1}", (0, 5), "\"done\"", 7);
    let late = write_1.clone() + &call(2, "{\"write\":2}", (10, 15), "\"done\"", 6);
    write(&folder.path().join("late.jsonl"), &late);
    // Without its revisions it is as impossible.
    write(&folder.path().join("wrong.jsonl"), late + &call(3, "\"read\"", (20, 25), "{\"value\":9}", 8));
    let arguments = ["late.jsonl", "wrong.jsonl", "--specification", "register"];
    assert_exit(&check(folder.path(), &arguments[1..]), 1);
    let output = check(folder.path(), &[&arguments[..], &["--revisions"]].concat());
    assert_exit(&output, 1);
    let expect = "\
late.jsonl: impossible (2 calls of 2 sessions)
  It is possible without the revisions: these calls' revisions contradict the
  answers, or the order of the calls, by which the first one was taken before
  the second:
    call 0 of session 1, 0 s to 0.000000005 s: write 1 -> done, revision 7
    call 1 of session 2, 0.00000001 s to 0.000000015 s: write 2 -> done,
      revision 6
";
    let text = stdout(&output);
    assert!(text.starts_with(expect), "{text}");
    let (_, wrong) = text.split_once("wrong.jsonl: impossible").expect("it is told, too");
    assert!(!wrong.contains("without the revisions"), "{text}");
}

/// What a user writes: a service that sells tickets.
const TICKETS: &str = r#"
use simutant_oracle::{Open, Session, Specification};

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Tickets(pub u64);

impl Specification for Tickets {
    type Operation = u64;
    type Response = bool;

    fn step(&mut self, _: Session, wanted: &u64, _: &mut Open<'_>) -> bool {
        assert!(*wanted > 0, "nobody wants no ticket");
        let is_sold = *wanted <= self.0;
        if is_sold {
            self.0 -= wanted;
        }
        is_sold
    }
}
"#;

#[test]
fn a_specification_of_ones_own_judges_as_the_others_do() {
    let package = UserPackage::new("--lib");
    let oracle = concat!(env!("CARGO_MANIFEST_DIR"), "/../oracle");
    let manifest = |section: &str| {
        let text = format!(
            "[package]\nname = \"store\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
             [dependencies]\nsimutant-oracle = {{ path = {oracle:?} }}\n\n\
             [package.metadata.simutant.specifications.tickets]\n{section}\n"
        );
        write(&package.path("Cargo.toml"), text);
    };
    write(&package.path("src/lib.rs"), TICKETS);
    let sale = |session: u64, tickets: u64, invoked: u64, returned: u64| {
        format!(
            "{{\"session\":{session},\"operation\":{tickets},\"invoked_ns\":{invoked},\
             \"end\":{{\"returned\":{{\"at_ns\":{returned},\"response\":true}}}}}}\n"
        )
    };
    write(&package.path("good.jsonl"), sale(1, 60, 10, 30) + &sale(2, 40, 20, 40));
    write(&package.path("twice.jsonl"), sale(1, 60, 10, 30) + &sale(2, 50, 20, 40));
    write(&package.path("none.jsonl"), sale(1, 0, 10, 30));
    write(&package.path("good.edn"), GOOD);
    let arguments = ["check", "good.jsonl", "twice.jsonl", "--specification", "tickets"];

    manifest("type = \"Tickets\"\ninitial = \"Tickets(100)\"");
    let output = package.simutant(&arguments);
    assert_exit(&output, 1);
    let text = stdout(&output);
    assert!(text.starts_with("good.jsonl: possible (2 calls of 2 sessions)\ntwice.jsonl: impossible"), "{text}");
    assert!(text.contains("These 2 calls are impossible together"), "{text}");

    // Its calls come back from the program.
    let output = package.simutant(&["check", "twice.jsonl", "--specification", "tickets", "--picture", "twice.html"]);
    assert_exit(&output, 1);
    let page = std::fs::read_to_string(package.path("twice.html")).expect("it is written");
    assert!(page.contains("session 2") && page.contains("its answer"), "{page}");

    // Its steps may panic, and it has no words for files of others.
    let output = package.simutant(&["check", "none.jsonl", "good.edn", "--specification", "tickets", "--jobs", "1"]);
    assert_exit(&output, 3);
    // Lines end where they have to.
    let text = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("none.jsonl: no answer") && text.contains("nobody wants no ticket"), "{text}");
    assert!(text.contains("good.edn: unreadable") && text.contains("has no vocabulary for it"), "{text}");
    assert!(text.ends_with("1 unreadable, 1 without an answer"), "{text}");
    let output = package.simutant(&["check", "good.jsonl", "none.jsonl", "--specification", "tickets", "--json"]);
    assert_exit(&output, 4);
    let listing: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&listing["possible"], &listing["unanswered"]), (&1.into(), &1.into()));

    // What is wrong with the package is told before anything is judged.
    let refused = |expect: &str, code: i32| {
        let output = package.simutant(&arguments);
        assert_exit(&output, code);
        assert!(stderr(&output).contains(expect), "{}", stderr(&output));
    };
    manifest("type = \"Tickets\"\nstart = \"Tickets(100)\"");
    refused("unknown field `start`", 3);
    manifest("type = \"Tickets\"");
    refused("specification `tickets` cannot begin in `::std::default::Default::default()`: the trait bound", 3);
    manifest("type = \"Tikcets\"\ninitial = \"Tickets(100)\"");
    refused("Cargo.toml: type `Tikcets` of specification `tickets` is not in the package: ", 3);
    manifest("type = \"Vec<u8>\"\ninitial = \"Vec::new()\"");
    refused("Cargo.toml: type `Vec<u8>` of specification `tickets` does not implement `simutant_oracle::Specif", 3);
    write(
        &package.path("Cargo.toml"),
        "[package]\nname = \"store\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n",
    );
    refused("Simutant has no such one (register,", 3);
}
