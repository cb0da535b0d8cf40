//! Testbeds in a program of their own, that of `examples/testbed.rs`.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use simutant_harness::{
    ErrorClass, HarnessError, Implementation, ResultLog, RunOptions, TestReport, TestbedProgram, Testbeds, TrialLog,
    VoidTrials, run_suite,
};
use simutant_outcomes::{Suite, SuiteCase, Verdict};

/// Returns the program, which `cargo test` builds.
fn program() -> PathBuf {
    let test = std::env::current_exe().expect("a test has an executable");
    let folder = test.parent().and_then(Path::parent).expect("it is in the folder `deps` of the build");
    folder.join("examples/testbed")
}

fn testbeds() -> Testbeds {
    TestbedProgram::new(program()).testbeds().expect("`cargo build --examples` makes the program")
}

fn run(command: &str, cases: &[Value], options: &RunOptions) -> Result<TestReport, HarnessError> {
    run_in(&testbeds(), command, cases, options)
}

fn implementation(testbeds: &Testbeds, command: &str) -> Implementation {
    let text = format!(
        "name = 'greeter'\nsystem = 'greetings'\ndescription = ''\n[[side]]\nname = 'greeter'\ncommand = ['sh', '-c', '''{command}''']\n"
    );
    testbeds.parse(&text, Path::new("greeter.toml"), Path::new("/")).expect("a good file")
}

fn run_in(
    testbeds: &Testbeds,
    command: &str,
    cases: &[Value],
    options: &RunOptions,
) -> Result<TestReport, HarnessError> {
    let implementation = implementation(testbeds, command);
    let case = |(place, case): (usize, &Value)| SuiteCase::new(format!("greetings-{place}"), case.clone());
    let suite = Suite::of_cases("greetings", "by hand", 1, cases.iter().enumerate().map(case));
    let mut told = 0;
    let report = run_suite(&suite, &implementation, options, &mut |_| told += 1)?;
    assert_eq!(told, report.results.len(), "each result is told as it comes");
    Ok(report)
}

fn options() -> RunOptions {
    RunOptions::new(Path::new(env!("CARGO_TARGET_TMPDIR")).join("builds"))
}

/// Makes a program of a command. Another process writes it: a file that this one has open for writing may be inherited by
/// the processes that other tests start, and cannot be run until they have closed it.
fn script(path: &Path, command: &str) -> TestbedProgram {
    let writing = "printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$0\" && chmod 700 \"$0\"";
    let written = Command::new("sh").arg("-c").arg(writing).arg(path).arg(command).status();
    assert!(written.expect("there is a shell").success());
    TestbedProgram::new(path)
}

const GREETS: &str = "sed 's/.*/Hello, &!/' {names} > {greetings}";

#[test]
fn a_program_says_what_its_testbeds_are() {
    let testbeds = testbeds();
    assert_eq!(testbeds.systems().collect::<Vec<_>>(), ["greetings"]);
    let testbed = testbeds.of("greetings").next().expect("there is one");
    assert_eq!((testbed.roles()[0].name, testbed.roles()[0].placeholders), ("greeter", &["names", "greetings"][..]));
    assert_eq!(testbed.timeout(), Duration::from_secs(5));
}

#[test]
fn test_cases_run_in_the_program_in_the_order_of_the_suite() {
    let cases = [json!({ "names": ["Ada", "Alan"] }), json!({ "names": [] }), json!({ "names": ["Grace"] })];
    let options =
        RunOptions { jobs: 3.try_into().expect("not 0"), repetitions: NonZeroU32::new(2).expect("not 0"), ..options() };
    let report = run(GREETS, &cases, &options).expect("it runs");
    assert!(report.results.iter().all(|result| result.verdict == Verdict::Pass), "{report:#?}");
    let names: Vec<(&str, u32)> =
        report.results.iter().map(|result| (result.name.as_str(), result.repetition)).collect();
    let of = |number| [1, 2].map(|repetition| (["greetings-0", "greetings-1", "greetings-2"][number], repetition));
    assert_eq!(names, [of(0), of(1), of(2)].concat());
}

#[test]
fn findings_and_output_come_back() {
    let report = run("echo oops >&2; cp {names} {greetings}", &[json!({ "names": ["Ada"] })], &options());
    let result = &report.expect("it runs").results[0];
    let finding = result.verdict.finding().expect("nobody is greeted");
    assert_eq!((finding.kind.as_str(), finding.summary.as_str()), ("not-greeted", "`Ada` is no greeting"));
    assert_eq!(result.processes[0].stderr.text, "oops\n");
}

#[test]
fn errors_keep_their_kind() {
    let error = run(GREETS, &[json!({ "names": [1] })], &options()).expect_err("a name is no text");
    assert_eq!(error.class(), ErrorClass::BadInput);
    assert!(error.to_string().contains("test case `greetings-0` of the suite: field names is no list"), "{error}");
    let error = run("echo no locale >&2; exit 69", &[json!({ "names": [] })], &options()).expect_err("it cannot run");
    assert_eq!(error.class(), ErrorClass::Implementation);
    assert!(error.to_string().contains("no locale"), "{error}");
}

#[test]
fn results_of_another_testbed_do_not_count() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let case = json!({ "names": ["Ada"] });
    let (mut known, mut dropped) = (Vec::new(), Vec::new());
    for version in ["1", "1", "2"] {
        let program = script(&folder.path().join("testbed"), &format!("# {version}\nexec '{}'", program().display()));
        let testbeds = program.testbeds().expect("it describes itself");
        let implementation = implementation(&testbeds, GREETS);
        let results = ResultLog::open(&folder.path().join("results"), &implementation, &options(), false);
        let mut results = results.expect("it can be opened");
        let mut trials = TrialLog::open(&folder.path().join("trials")).expect("it can be opened");
        dropped.extend(trials.agree(&implementation, &options(), false).expect("it can be written"));
        known.push([
            results.get("greetings-0", &case, 1).is_some(),
            trials.get("greeter", "greetings-0", &case, 1).is_some(),
        ]);
        let report = run_in(&testbeds, GREETS, std::slice::from_ref(&case), &options()).expect("it runs");
        results.add(&report.results[0]).expect("it can be written");
        trials.add("greeter", &report.results[0]).expect("it can be written");
    }
    assert_eq!(known, [[false, false], [true, true], [false, false]]);
    assert_eq!(dropped, [VoidTrials { trials: 1, fact: "testbed" }]);
}

#[test]
fn what_is_no_such_program_is_told() {
    let error = TestbedProgram::new("/nowhere/testbed").testbeds().expect_err("there is none").to_string();
    assert_eq!(error, "cannot start the testbed /nowhere/testbed: not found");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = script(&folder.path().join("talks"), "read request; echo hello");
    let error = program.testbeds().expect_err("it greets").to_string();
    assert!(error.contains("it printed `hello`, which is no response"), "{error}");
    let program = script(&folder.path().join("is-silent"), "read request");
    let error = program.testbeds().expect_err("it says nothing").to_string();
    assert!(error.contains("it named no testbeds"), "{error}");
}

#[test]
fn exit_code_101_is_a_panic() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("panics");
    let described = folder.path().join("described");
    let program = script(
        &path,
        &format!(
            "if [ -e '{0}' ]; then read -r request; exit 101; fi; touch '{0}'; exec '{1}'",
            described.display(),
            program().display()
        ),
    );
    let testbeds = program.testbeds().expect("it describes itself");
    let error = run_in(&testbeds, GREETS, &[json!({ "names": ["Ada"] })], &options()).expect_err("it ended");
    assert!(matches!(&error, HarnessError::ProgramPanicked { path: program } if *program == path), "{error}");
    assert!(error.class() == ErrorClass::Unavailable && error.to_string().contains("panicked"), "{error}");
}
