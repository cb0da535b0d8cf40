//! Suites on real implementations.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{assert_exit, folder, run, stderr, stdout, write};

/// Writes a suite of two inputs; `udp-fills-first-window` fails on the one that is named `small`, whatever is lost.
fn suite(folder: &Path) -> String {
    let case = |name: &str, bytes: u32| json!({ "name": name, "case": { "bytes": bytes, "drop": 0.0, "duplicate": 0.0, "seed": 1 } });
    let suite = json!({
        "format_version": 1, "system": "gbn", "criterion": "by hand", "chosen": "by hand", "seed": 1,
        "mutant_score": null, "dominator_score": null, "cases": [case("large", 20_000), case("small", 1_000)],
    });
    write(&folder.join("a suite.json"), suite.to_string())
}

#[test]
fn a_right_implementation_passes() {
    let folder = folder();
    let suite = suite(folder.path());
    let arguments = ["test", "gbn", "--suite", &suite, "--implementation", "udp"];
    let output = run(&arguments, folder.path());
    assert_exit(&output, 0);
    assert_eq!(stdout(&output), "2 passed, 0 failed\n");
    assert!(folder.path().join("test-udp.json").exists());
}

#[test]
fn a_failure_is_named_and_its_command_shows_it_again() {
    let folder = folder();
    let suite = suite(folder.path());
    let implementation = "udp-fills-first-window";
    let arguments = ["test", "gbn", "--suite", &suite, "--implementation", implementation];
    let output = run(&arguments, folder.path());
    assert_exit(&output, 1);
    let text = stdout(&output);
    assert!(text.contains("FAILED small: the sender ended with exit code 101"), "{text}");
    assert!(text.contains("\"bytes\":1000") && text.ends_with("1 passed, 1 failed\n"), "{text}");

    let alone = text.lines().find_map(|line| line.trim().strip_prefix("alone: ")).expect("a command");
    let output = Command::new("sh").args(["-c", alone]).output().expect("a shell");
    assert_exit(&output, 1);
    assert!(stdout(&output).ends_with("0 passed, 1 failed\n"), "{}{}", stdout(&output), stderr(&output));

    let output = run(&[&arguments[..], &["--json"]].concat(), folder.path());
    assert_exit(&output, 1);
    let report: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!((&report["format_version"], &report["results"][0]["outcome"]), (&json!(1), &json!("passed")));
}

#[test]
fn a_router_that_delivers_at_another_cost_is_named() {
    let folder = folder();
    let case = |name: &str, to: u8| {
        let messages = json!([{ "from": 1, "to": to }]);
        json!({ "name": name, "case": { "topology": "3-cycle", "messages": messages, "seed": 1 } })
    };
    let suite = json!({
        "format_version": 1, "system": "lsr", "criterion": "by hand", "chosen": "by hand", "seed": 1,
        "mutant_score": null, "dominator_score": null, "cases": [case("near", 2), case("far", 3)],
    });
    let suite = write(&folder.path().join("suite.json"), suite.to_string());
    let output = run(&["test", "lsr", "--suite", &suite, "--implementation", "lsr-counts-links"], folder.path());
    assert_exit(&output, 1);
    let text = stdout(&output);
    let expect = "FAILED far: router-3: message 1 came at a cost of 5, the shortest path costs 3";
    assert!(text.contains(expect) && text.ends_with("1 passed, 1 failed\n"), "{text}");
}

#[test]
fn an_implementation_that_cannot_run_here_is_unavailable_and_no_failure() {
    let folder = folder();
    let case = json!({ "topology": "duo", "messages": [{ "from": 1, "to": 2 }], "seed": 1 });
    let suite = json!({
        "format_version": 1, "system": "lsr", "criterion": "by hand", "chosen": "by hand", "seed": 1,
        "mutant_score": null, "dominator_score": null, "cases": [{ "name": "one", "case": case }],
    });
    let suite = write(&folder.path().join("suite.json"), suite.to_string());
    let file = write(
        &folder.path().join("absent.toml"),
        "name = \"absent\"\nsystem = \"lsr\"\ndescription = \"Routers that are not installed\"\n\
         [[side]]\nname = \"network\"\ncommand = [\"sh\", \"-c\", \"echo no routers here >&2; exit 69\"]\n",
    );
    let output = run(&["test", "lsr", "--suite", &suite, "--implementation", &file], folder.path());
    assert_exit(&output, 4);
    assert_eq!(stdout(&output), "");
    let expect = "implementation absent: side `network` cannot run here, so nothing was tested: no routers here";
    assert!(stderr(&output).contains(expect), "{}", stderr(&output));
}
