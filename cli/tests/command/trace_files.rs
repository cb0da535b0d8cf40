//! Diagrams and files of traces.

use std::path::Path;

use serde_json::Value;

use crate::support::{assert_exit, finished_study, folder, run, snapshot, stderr, stdout, text};

const SIMULATE: [&str; 6] = ["simulate", "gbn", "--case", "3", "--seed", "7"];

/// Runs the test case with `options`, each followed by the path of a file in `folder`.
fn simulate(options: &[(&str, &str)], folder: &Path, out: &Path) -> std::process::Output {
    let files: Vec<(&str, String)> = options.iter().map(|(option, name)| (*option, text(&folder.join(name)))).collect();
    let files = files.iter().flat_map(|(option, path)| [*option, path.as_str()]);
    run(&SIMULATE.into_iter().chain(files).collect::<Vec<_>>(), out)
}

#[test]
fn the_files_have_the_run_and_the_output_is_as_without_them() {
    let study = finished_study();
    let folder = folder();
    let plain = run(&SIMULATE, &study.out);
    let options = [
        ("--diagram", "a.html"),
        ("--diagram", "new/a.svg"),
        ("--trace-file", "a.jsonl"),
        ("--trace-file", "a.pcapng"),
        ("--trace-file", "a.perfetto.json"),
    ];
    let output = simulate(&options, folder.path(), &study.out);
    assert_exit(&output, 0);
    assert_eq!(stdout(&output), stdout(&plain));

    let file = |name: &str| std::fs::read(folder.path().join(name)).expect("it was written");
    let lines = String::from_utf8(file("a.jsonl")).expect("text");
    let traced = run(&[&SIMULATE[..], &["--trace", "--json"]].concat(), &study.out);
    let parse = |line: &str| serde_json::from_str::<Value>(line).expect("JSON");
    let printed = parse(&stdout(&traced))["trace"].as_array().expect("a list").clone();
    assert!(printed.len() > 2, "{printed:?}");
    assert_eq!(lines.lines().map(parse).collect::<Vec<_>>(), printed);

    let perfetto: Value = serde_json::from_slice(&file("a.perfetto.json")).expect("JSON");
    assert!(perfetto["traceEvents"].as_array().is_some_and(|events| events.len() > printed.len()));
    assert!(file("a.pcapng").starts_with(&[0x0a, 0x0d, 0x0d, 0x0a]));
    for name in ["a.html", "new/a.svg"] {
        let text = String::from_utf8(file(name)).expect("text");
        assert!(text.contains("<title>gbn: {&quot;bytes&quot;:"), "{name}");
        assert!(text.contains(">passed<"), "{name}");
    }
}

#[test]
fn names_that_say_no_kind_are_refused_with_those_that_do() {
    let study = finished_study();
    let folder = folder();
    for (option, name, expect) in [("--diagram", "a.png", ".html"), ("--trace-file", "a.json", ".perfetto.json")] {
        let output = simulate(&[(option, name)], folder.path(), &study.out);
        assert_exit(&output, 2);
        assert!(stderr(&output).contains(name) && stderr(&output).contains(expect), "{}", stderr(&output));
    }
    assert!(snapshot(folder.path()).is_empty());
}

#[test]
fn a_file_that_cannot_be_written_is_named() {
    let study = finished_study();
    let folder = folder();
    std::fs::create_dir(folder.path().join("a.html")).expect("a temporary folder can be written");
    let full = folder.path().join("full.svg");
    std::os::unix::fs::symlink("/dev/full", &full).expect("a temporary folder can be written");
    for name in ["a.html", "full.svg"] {
        let output = simulate(&[("--diagram", name)], folder.path(), &study.out);
        assert_exit(&output, 5);
        assert!(stderr(&output).contains(name), "{}", stderr(&output));
        assert_eq!(stdout(&output), "");
    }
    assert!(full.is_symlink(), "what is no file stays what it is");
}
