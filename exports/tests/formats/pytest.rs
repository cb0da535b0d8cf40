//! A suite as tests for pytest.
//!
//! Without pytest the test is left out, except where the environment variable `CI` is set: there it fails.
//! `cargo xtask test` installs it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use simutant_exports::test_code::pytest;
use simutant_outcomes::{RunEnd, SimulatedCase, SimulatedSuite, SimulatedValue, SuiteCase};

use crate::Everything;

/// Returns a Python that has pytest: that of the build, or the system's.
fn python() -> Option<PathBuf> {
    let own = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("python").join("bin").join("python3");
    [own, "python3".into()].into_iter().find(|python| {
        let known = Command::new(python).args(["-m", "pytest", "--version"]).output();
        known.is_ok_and(|output| output.status.success())
    })
}

fn run(python: &Path, folder: &Path) -> (bool, String) {
    let mut pytest = Command::new(python);
    pytest.args(["-m", "pytest", "-v", "-p", "no:cacheprovider"]).env("PYTHONDONTWRITEBYTECODE", "1");
    let Output { status, stdout, .. } = pytest.current_dir(folder).output().expect("it was there before");
    (status.success(), String::from_utf8_lossy(&stdout).into_owned())
}

#[test]
fn pytest_runs_each_test_case_under_its_name() {
    let Some(python) = python() else {
        assert!(std::env::var_os("CI").is_none(), "pytest is missing; `cargo xtask test` installs it");
        report_skip();
        return;
    };
    let mut suite = Everything::new().suite.expect("there are suites");
    suite.chosen = "by \"hand\"\nof a \\ person\"".into();
    suite.cases.truncate(2);
    suite.cases[1].case["text"] = "\"a\"\n\u{e9}".into();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let case = |case: &SuiteCase| SimulatedCase {
        name: case.name.clone(),
        verdict: RunEnd::Passed,
        virtual_time_ns: 1,
        messages: 2,
        returned: vec![SimulatedValue { component: "server".into(), at_ns: 1, value: case.case["bytes"].to_string() }],
        notes: Vec::new(),
        is_cut: false,
    };
    let simulated = SimulatedSuite::new(&suite, suite.cases.iter().map(case).collect());
    for file in pytest(&suite, Some(&simulated)) {
        std::fs::write(folder.path().join(file.name), file.bytes).expect("a temporary folder");
    }
    let (is_passed, text) = run(&python, folder.path());
    assert!(!is_passed, "what is not written passes nothing: {text}");
    assert!(text.contains("2 failed") && text.contains("write it in arq_run.py"), "{text}");

    let code = "def run(case):\n    assert case[\"bytes\"] > 0\n    assert case.get(\"text\") is None, case[\"text\"] == '\"a\"\\n\\u00e9'\n";
    std::fs::write(folder.path().join("arq_run.py"), code).expect("a temporary folder");
    let (_, text) = run(&python, folder.path());
    let [first, second] = [&suite.cases[0].name, &suite.cases[1].name];
    for part in [
        format!("test_arq[{first}] PASSED"),
        format!("test_arq[{second}] FAILED"),
        "AssertionError: True".into(),
        "1 failed, 1 passed".into(),
    ] {
        assert!(text.contains(&part), "{part}: {text}");
    }

    // A function with two parameters is given what the simulation gave as well.
    let code = "def run(case, simulated):\n    assert simulated[\"returned\"][0][\"value\"] == str(case[\"bytes\"])\n";
    std::fs::write(folder.path().join("arq_run.py"), code).expect("a temporary folder");
    let (is_passed, text) = run(&python, folder.path());
    assert!(is_passed && text.contains("2 passed"), "{text}");
}

#[expect(clippy::print_stderr, reason = "who runs the tests must see that one was left out")]
fn report_skip() {
    eprintln!("the export for pytest was not tested: there is no pytest");
}
