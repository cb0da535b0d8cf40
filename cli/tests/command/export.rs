//! Studies in the formats of other tools.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::{assert_exit, finished_study, folder, run, stderr, stdout, text};

const FORMATS: &str = "junit,sarif,mutation-elements,libtest,pytest,csv,parquet,latex,svg";

/// The files that `export --json` names.
fn written(printed: &str, field: &str) -> Vec<PathBuf> {
    let json: Value = serde_json::from_str(printed).expect("JSON");
    let files = json[field].as_array().expect("a list");
    files.iter().map(|file| file.as_str().expect("a path").into()).collect()
}

#[test]
fn every_format_is_written_the_same_each_time() {
    let study = finished_study();
    let export = || {
        let output = run(&["export", "gbn", "--format", FORMATS, "--json"], &study.out);
        assert_exit(&output, 0);
        stdout(&output)
    };
    let first = export();
    let files = written(&first, "files");
    let read = |paths: &[PathBuf]| -> Vec<Vec<u8>> {
        paths
            .iter()
            .map(|path| std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
            .collect()
    };
    let bytes = read(&files);
    assert!(bytes.iter().all(|bytes| !bytes.is_empty()), "{files:?}");
    let has = |name: &str| files.iter().any(|path| path.ends_with(Path::new("export").join(name)));
    for name in [
        "mutants.junit.xml",
        "mutants.sarif",
        "mutation.json",
        "libtest/gbn_suite.rs",
        "pytest/test_gbn_suite.py",
        "csv/kills.csv",
        "parquet/coverage.parquet",
        "latex/criteria.tex",
        "svg/size-and-score.svg",
        "svg/distribution-all-uses.svg",
    ] {
        assert!(has(name), "{name}: {files:?}");
    }
    let second = export();
    assert!(read(&files) == bytes, "the bytes differ");
    let kept = written(&second, "kept");
    assert_eq!(kept.len(), 2, "the functions to write are the user's now: {kept:?}");
    assert_eq!(written(&second, "files").len() + kept.len(), files.len());
}

#[test]
fn one_format_goes_where_it_is_asked_to() {
    let study = finished_study();
    let folder = folder();
    let to = text(&folder.path().join("new/report.sarif"));
    let output = run(&["export", "gbn", "--format", "sarif", "--to", &to, "--source-root", "systems/gbn"], &study.out);
    assert_exit(&output, 0);
    assert_eq!(stdout(&output), format!("written {to}\n"));
    let log: Value = serde_json::from_str(&std::fs::read_to_string(&to).expect("it was written")).expect("JSON");
    let uri = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert!(uri.as_str().is_some_and(|uri| uri.starts_with("systems/gbn/src/")), "{uri}");
    assert!(!study.out.join("export").exists());

    for (arguments, code, expect) in [
        (&["export", "gbn", "--format", "csv,svg", "--to", &to][..], 3, "--to is for one --format"),
        (&["export", "lsr", "--format", "csv"], 3, "is of gbn"),
        (&["export", "gbn", "--format", "pdf"], 2, "mutation-elements"),
        (&["export", "gbn"], 2, "--format"),
    ] {
        let output = run(arguments, &study.out);
        assert_exit(&output, code);
        assert!(stderr(&output).contains(expect), "{}", stderr(&output));
    }
}

/// What users do: put the export into a package, write the function, and run `cargo test`.
#[test]
fn an_exported_suite_runs_in_a_package() {
    let study = finished_study();
    let package = folder();
    let path = |name: &str| package.path().join(name);
    std::fs::create_dir_all(path("src")).expect("a temporary folder");
    std::fs::write(path("src/lib.rs"), "").expect("a temporary folder");
    let manifest = "[package]\nname = \"mine\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n";
    std::fs::write(path("Cargo.toml"), manifest).expect("a temporary folder");
    let tests = text(&path("tests"));
    let export = ["export", "gbn", "--format", "libtest", "--to", &tests];
    assert_exit(&run(&export, &study.out), 0);
    let run_rs = "pub fn run(name: &str, case: &str) -> Result<(), String> {\n    \
                  let simulated = crate::simulated(name).ok_or(\"nothing is simulated\")?;\n    \
                  let is_right = simulated.contains(name) && simulated.contains(\"\\\"passed\\\"\");\n    \
                  if is_right && name.starts_with(\"gbn-\") && case.starts_with('{') { Ok(()) } else { Err(case.into()) }\n}\n";
    std::fs::write(path("tests/gbn_suite/run.rs"), run_rs).expect("a temporary folder");
    assert_exit(&run(&export, &study.out), 0);
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["test", "--offline"])
        .env("CARGO_TARGET_DIR", path("target"))
        .current_dir(package.path())
        .output()
        .expect("cargo runs the tests");
    assert_exit(&output, 0);
    let suite: Value =
        serde_json::from_str(&std::fs::read_to_string(study.path("suite.json")).expect("it was written"))
            .expect("JSON");
    let count = suite["cases"].as_array().expect("a list").len();
    let simulated: Value =
        serde_json::from_str(&std::fs::read_to_string(study.path("simulated.json")).expect("it was written"))
            .expect("JSON");
    let names =
        |list: &Value| list["cases"].as_array().expect("a list").iter().map(|case| case["name"].clone()).collect();
    let (chosen, given): (Vec<Value>, Vec<Value>) = (names(&suite), names(&simulated));
    assert_eq!(given, chosen);
    let returned = |case: &Value| case["returned"].as_array().is_some_and(|values| !values.is_empty());
    assert!(simulated["cases"].as_array().expect("a list").iter().all(returned), "{simulated}");
    assert!(stdout(&output).contains(&format!("{count} passed; 0 failed")), "{}", stdout(&output));
}
