//! Implementations with a driver: any program, for any system, answers by exit code and a line of JSON.

use std::num::NonZeroU32;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use simutant_harness::{
    CaseResult, HarnessError, HistoryJudge, Implementation, JudgeHistories, MissingFaults, RunOptions, TestReport,
    Testbeds, run_suite,
};
use simutant_outcomes::{Finding, Inconclusive, Suite, SuiteCase, Verdict};

/// Returns an implementation of `leases` whose driver is a shell script, with further lines of the file.
fn driven(script: &str, further: &str) -> Implementation {
    let text = format!(
        "name = 'driven'\nsystem = 'leases'\ndescription = ''\n[driver]\ncommand = ['sh', '-c', '''{script}''']\n{further}"
    );
    Testbeds::NONE.parse(&text, Path::new("driven.toml"), Path::new("/")).expect("a good file")
}

fn suite(cases: &[Value]) -> Suite {
    let case = |(place, case): (usize, &Value)| SuiteCase::new(format!("leases-{place}"), case.clone());
    Suite::of_cases("leases", "by hand", 1, cases.iter().enumerate().map(case))
}

fn options() -> RunOptions {
    let builds = Path::new(env!("CARGO_TARGET_TMPDIR")).join("builds");
    RunOptions { timeout: Duration::from_secs(60), ..RunOptions::new(builds) }
}

fn run(implementation: &Implementation, cases: &[Value], options: &RunOptions) -> Result<TestReport, HarnessError> {
    run_suite(&suite(cases), implementation, options, &mut |_| {})
}

#[track_caller]
fn one(script: &str) -> CaseResult {
    one_with(script, &options())
}

#[track_caller]
fn one_with(script: &str, options: &RunOptions) -> CaseResult {
    let report = run(&driven(script, ""), &[json!({ "holders": 2 })], options).expect("the driver runs");
    report.results.into_iter().next().expect("there is one test case")
}

/// Judges a history by its text: it is wrong if it says so.
struct ByText;

impl JudgeHistories for ByText {
    fn judge(&self, file: &Path) -> Verdict {
        match std::fs::read_to_string(file).as_deref() {
            Ok(text) if text.contains("wrong") => Verdict::Fail(Finding::wrong_result("impossible-history", text)),
            Ok("") | Err(_) => Verdict::Inconclusive(Inconclusive { reason: "there are no calls".into() }),
            Ok(_) => Verdict::Pass,
        }
    }

    fn fingerprint(&self) -> u64 {
        1
    }
}

/// Runs test cases on a driver with further lines of its file, which has a specification.
#[track_caller]
fn judged(script: &str, further: &str, cases: usize) -> Vec<Verdict> {
    let mut implementation = driven(script, further);
    let history = implementation.driver.as_mut().and_then(|driver| driver.history.as_mut());
    history.expect("the file has one").judge = Some(HistoryJudge::new(ByText));
    let cases: Vec<Value> = (0..cases).map(|number| json!({ "number": number })).collect();
    let report = run(&implementation, &cases, &options()).expect("the driver runs");
    report.results.into_iter().map(|result| result.verdict).collect()
}

fn no_verdict(reason: &str) -> Verdict {
    Verdict::Inconclusive(Inconclusive { reason: reason.into() })
}

#[test]
fn a_history_that_the_driver_names_is_judged_by_the_specification() {
    let check = |text: &str, exit: u8, expect: Verdict| {
        let script = format!(r#"printf '{text}' > calls; echo '{{{{"history": "calls"}}}}'; exit {exit}"#);
        let found = judged(&script, "[driver.history]\nspecification = 'texts'\n", 1).swap_remove(0);
        assert_eq!(found, expect, "{text} {exit}");
    };
    let impossible = || Verdict::Fail(Finding::wrong_result("impossible-history", "wrong"));
    check("right", 0, Verdict::Pass);
    check("wrong", 0, impossible());
    check("", 0, no_verdict("there are no calls"));
    // What the driver did not find out, a history may show; that it is right does not make up for it.
    check("wrong", 75, impossible());
    check("right", 75, no_verdict("the driver gave no verdict"));
    // A driver that breaks down may have left half a history.
    check("wrong", 3, no_verdict("the driver ended with exit code 3, not 0, 1, 69 or 75"));
}

#[test]
fn a_history_needs_a_specification_and_a_specification_a_history() {
    let result = one(r#"echo '{{"history": "calls"}}'"#);
    let reason = "the driver answers with a history, and the implementation's file has no `[driver.history]` that names \
                  its specification";
    assert_eq!(result.verdict, no_verdict(reason));
    let table = "[driver.history]\nspecification = 'texts'\n";
    let names_none = "the driver's answer names no history, such as {\"history\": \"calls.jsonl\"}";
    assert_eq!(judged("true", table, 1), [no_verdict(names_none)]);
    let file = format!("{table}file = 'record'\n");
    assert_eq!(judged("true", &file, 1), [no_verdict("nobody wrote the `file` of `[driver.history]`")]);
}

#[test]
fn a_file_of_histories_that_all_test_cases_share_is_refused() {
    let table = "[driver.history]\nspecification = 'texts'\nfile = '/var/log/calls'\n";
    let text = format!("name = 'x'\nsystem = 'x'\ndescription = ''\n[driver]\ncommand = ['true']\n{table}");
    let parsed = Testbeds::NONE.parse(&text, Path::new("x.toml"), Path::new("/"));
    let error = parsed.expect_err("its test cases would judge each other's calls").to_string();
    assert!(error.contains("/var/log/calls, which all test cases share; let it begin with {fixture}"), "{error}");
}

#[test]
fn what_a_fixture_adds_to_a_file_during_a_test_case_is_its_history() {
    // The second test case finds what the first one left, and adds what is wrong.
    let script = "echo call >> {fixture}/record; grep -q 1 {case} && echo wrong >> {fixture}/record; true";
    let further = "[driver.fixture]\ncommand = ['sleep', '1000']\n\
                   [driver.history]\nspecification = 'texts'\nfile = '{fixture}/record'\n";
    let found = judged(script, further, 3);
    let impossible = Verdict::Fail(Finding::wrong_result("impossible-history", "call\nwrong\n"));
    assert_eq!(found, [Verdict::Pass, impossible, Verdict::Pass]);
}

#[test]
fn a_driver_is_given_the_test_case_and_a_folder_of_its_own() {
    let script = r#"[ "$(cat {case})" = '{{"holders":2}}' ] && [ "$(pwd -P)" = {work} ] && [ {name} = leases-0 ]"#;
    let result = one(&format!("{script} || exit 9"));
    assert_eq!((result.verdict, result.processes.len()), (Verdict::Pass, 0));
}

#[test]
fn a_failure_has_the_reason_and_the_details_that_the_driver_gives() {
    let result =
        one(r#"echo started; echo '{{"reason": "two holders", "kind": "overlap", "details": {{"at": 3}}}}'; exit 1"#);
    let finding = Finding::wrong_result("overlap", "two holders").with_detail(json!({ "at": 3 }));
    assert_eq!(result.verdict, Verdict::Fail(finding));
    assert!(result.processes[0].stdout.text.starts_with("started\n"));
}

#[test]
fn long_details_are_read_and_a_report_has_the_end_of_the_output() {
    let result =
        one(r#"printf '{{"reason": "long", "details": "'; head -c 50000 /dev/zero | tr '\0' x; echo '"}}'; exit 1"#);
    let finding = result.verdict.finding().expect("it fails");
    assert_eq!(finding.detail.as_str().map(str::len), Some(50_000), "{finding}");
    assert!(result.processes[0].stdout.text.len() < 5_000);
}

#[test]
fn a_fault_that_could_not_be_injected_is_noted_of_a_pass_too() {
    let result = one(r#"echo '{{"not_injected": ["partition of b at 20 ms"]}}'"#);
    let reason = "it passed, but a fault could not be injected".into();
    assert!(result.passes_without_faults());
    assert_eq!(result.verdict, Verdict::Inconclusive(Inconclusive { reason }));
    assert_eq!(result.not_injected, ["partition of b at 20 ms"]);
    let options = RunOptions { missing_faults: MissingFaults::Pass, ..options() };
    let result = one_with(r#"echo '{{"not_injected": ["partition of b at 20 ms"]}}'"#, &options);
    assert_eq!((&result.verdict, result.passes_without_faults()), (&Verdict::Pass, false));
    assert_eq!(result.remarks().collect::<Vec<_>>(), ["not injected: partition of b at 20 ms"]);
    // One that fails without them fails.
    let result = one(r#"echo '{{"not_injected": ["partition of b at 20 ms"], "reason": "two holders"}}'; exit 1"#);
    assert!(result.verdict.kills() && !result.passes_without_faults());
}

#[test]
fn what_is_not_found_out_ends_neither_the_run_nor_the_test_case_as_a_failure() {
    let script = r#"grep -q 2 {case} && exit 0; echo '{{"reason": "no majority"}}'; exit 75"#;
    let report = run(&driven(script, ""), &[json!({ "holders": 1 }), json!({ "holders": 2 })], &options());
    let report = report.expect("the driver runs");
    let inconclusive = Verdict::Inconclusive(Inconclusive { reason: "no majority".into() });
    let verdicts: Vec<&Verdict> = report.results.iter().map(|result| &result.verdict).collect();
    assert_eq!((verdicts, report.failures().count()), (vec![&inconclusive, &Verdict::Pass], 0));
}

#[test]
fn a_driver_that_crashes_says_nothing_of_the_implementation() {
    let result = one("echo NameError >&2; exit 1");
    let Verdict::Inconclusive(Inconclusive { reason }) = result.verdict else { panic!("{:?}", result.verdict) };
    assert!(reason.ends_with(": NameError") && reason.contains("gives no reason"), "{reason}");
}

#[test]
fn a_driver_that_lacks_something_ends_the_run() {
    let error = run(&driven("echo docker is not installed >&2; exit 69", ""), &[json!({})], &options());
    let message = error.expect_err("it cannot run").to_string();
    assert!(
        message.contains("driven: `[driver]` cannot run here, so nothing was tested: docker is not installed"),
        "{message}"
    );
}

#[test]
fn a_driver_that_is_not_there_is_named_as_the_file_has_it() {
    let text = "name = 'driven'\nsystem = 'leases'\ndescription = ''\n[driver]\ncommand = ['nodee']\n";
    let implementation = Testbeds::NONE.parse(text, Path::new("a.toml"), Path::new("/")).expect("a good file");
    let error = run(&implementation, &[json!({})], &options()).expect_err("there is no such program");
    assert!(std::error::Error::source(&error).is_none(), "nothing follows the message");
    let error = error.to_string();
    assert!(error.contains("`[driver]`: cannot start `nodee`: not found; correct its `command`"), "{error}");
}

#[test]
fn a_driver_that_hangs_is_killed_with_all_that_it_started() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("alive");
    // A server of the driver's that goes on after it.
    let script = format!("(while sleep 0.05; do date +%N > {0}; done) & sleep 1000", file.display());
    // Enough for a shell to start what it starts, on a busy machine too.
    let options = RunOptions { timeout: Duration::from_secs(3), ..options() };
    let report = run(&driven(&script, ""), &[json!({})], &options).expect("the driver runs");
    let finding = report.results[0].verdict.finding().expect("it did not end");
    assert_eq!((finding.kind.as_str(), finding.summary.as_str()), ("timed-out", "still running after 3000 ms: driver"));
    let last = std::fs::read(&file).expect("the server ran");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(std::fs::read(&file).expect("the file stays"), last, "the server is gone");
}

#[test]
fn each_repetition_has_a_seed_of_its_own_and_ports_that_are_free() {
    let script = r#"echo '{{"reason": "{seed} {port} {port2}"}}'; exit 1"#;
    let options = RunOptions { repetitions: NonZeroU32::new(3).expect("not zero"), ..options() };
    let report = run(&driven(script, ""), &[json!({})], &options).expect("the driver runs");
    let said = |result: &CaseResult| result.verdict.finding().expect("it fails").summary.clone();
    let said: Vec<Vec<u64>> = report
        .results
        .iter()
        .map(|result| said(result).split(' ').map(|word| word.parse().expect("a number")).collect())
        .collect();
    let seeds: std::collections::BTreeSet<u64> = said.iter().map(|words| words[0]).collect();
    assert_eq!(seeds.len(), 3, "{said:?}");
    assert!(said.iter().all(|words| words[1] != words[2] && words[1] > 1024 && words[2] > 1024), "{said:?}");
}

/// A fixture that writes down each of its starts, and ends when it is asked to.
fn with_fixture(folder: &Path, driver: &str) -> Implementation {
    let fixture = format!(
        "[driver.fixture]\ncommand = ['sh', '-c', '''echo {{port}} >> {0}/starts; echo {{port}} > own; echo ready; \
         until [ -e stop ]; do sleep 0.02; done; echo no quorum >&2; touch gone''']\nready = {{ line = 'ready' }}\n",
        folder.display()
    );
    driven(driver, &fixture)
}

fn starts(folder: &Path) -> Vec<String> {
    let starts = std::fs::read_to_string(folder.join("starts")).expect("it was started");
    starts.lines().map(String::from).collect()
}

#[test]
fn a_fixture_outlives_test_cases_that_pass_and_is_new_after_one_that_does_not() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let script = r#"[ "$(cat {fixture}/own)" = {fixture_port} ] || exit 9; grep -q bad {case} || exit 0; echo '{{"reason": "bad"}}'; exit 1"#;
    let implementation = with_fixture(folder.path(), script);
    let cases = ["good", "good", "bad", "good", "good"].map(|word| json!({ "is": word }));
    let report = run(&implementation, &cases, &options()).expect("the fixture is ready");
    let passes: Vec<bool> = report.results.iter().map(|result| result.verdict.passes()).collect();
    assert_eq!(passes, [true, true, false, true, true], "{report:#?}");
    assert_eq!(starts(folder.path()).len(), 2);
}

#[test]
fn a_test_case_during_which_the_fixture_ends_is_inconclusive() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let script = "grep -q bad {case} || exit 0; touch {fixture}/stop; while [ ! -e {fixture}/gone ]; do sleep 0.02; done; sleep 0.3";
    let implementation = with_fixture(folder.path(), script);
    let cases = ["good", "bad", "good"].map(|word| json!({ "is": word }));
    let report = run(&implementation, &cases, &options()).expect("the fixture is ready");
    let ended = Inconclusive { reason: "the fixture ended with exit code 0 during the test case: no quorum".into() };
    let verdicts: Vec<&Verdict> = report.results.iter().map(|result| &result.verdict).collect();
    assert_eq!(verdicts, [&Verdict::Pass, &Verdict::Inconclusive(ended), &Verdict::Pass]);
    assert_eq!(starts(folder.path()).len(), 2);
}

#[test]
fn a_fixture_that_is_not_ready_ends_the_run() {
    for (script, expect) in [
        ("echo no disk >&2; exit 3", "its fixture ended with exit code 3; correct the `fixture` table"),
        ("echo no disk; sleep 1000", "its fixture was not ready after 1 s"),
        ("echo no disk >&2; exit 69", "`[driver.fixture]` cannot run here, so nothing was tested: no disk"),
    ] {
        let fixture = format!(
            "[driver.fixture]\ncommand = ['sh', '-c', '{script}']\nready = {{ line = 'ready' }}\ntimeout_s = 1\n"
        );
        let error = run(&driven("true", &fixture), &[json!({})], &options()).expect_err("it is not ready").to_string();
        assert!(error.contains(expect) && error.contains("no disk"), "{error}");
    }
}

#[test]
fn a_driver_and_a_fixture_are_told_to_end_as_the_file_says() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let script = |name: &str, signal: &str, first: &str| {
        let file = folder.path().join(name);
        format!("trap \\\"touch {}; exit 0\\\" {signal}; {first}; while :; do sleep 0.05; done", file.display())
    };
    let stop = |signal: &str| format!("stop = {{ signal = 'SIG{signal}', grace_ms = 30000 }}\n");
    let fixture = format!(
        "[driver.fixture]\ncommand = [\"sh\", \"-c\", \"{}\"]\nready = {{ line = 'ready' }}\n{}",
        script("fixture", "INT", "echo ready"),
        stop("INT")
    );
    let driver = script("driver", "TERM", "true").replace("\\\"", "\"");
    let implementation = driven(&driver, &(stop("TERM") + &fixture));
    let options = RunOptions { timeout: Duration::from_secs(2), ..options() };
    let report = run(&implementation, &[json!({})], &options).expect("the driver runs");
    let finding = report.results[0].verdict.finding().expect("it did not end");
    assert_eq!(finding.summary, "still running after 2000 ms: driver");
    assert!(["driver", "fixture"].iter().all(|name| folder.path().join(name).exists()), "both clear up");
    check_refused("[driver]\ncommand = ['true']\nstop = { signal = 'TERM' }\n", "expected one of `SIGTERM`, `SIGINT`");
}

#[test]
fn the_file_says_how_long_and_how_many_at_a_time() {
    let implementation = driven("true", "timeout_s = 7\njobs_for_each_core = 3\n");
    assert_eq!(implementation.timeout("leases"), Duration::from_secs(7));
    assert_eq!(implementation.jobs_for_each_core("leases"), 3);
    assert_eq!(driven("true", "").timeout("leases"), Duration::from_secs(30));
    assert!(implementation.serves("leases") && !implementation.serves("locks"));
}

#[test]
fn the_folder_of_a_test_case_is_kept_if_that_is_asked_for() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let script = r#"echo it > own; echo '{{"reason": "no"}}'; exit 1"#;
    let result = one(script);
    assert_eq!(result.folder, None);
    let keep_directory = Some(folder.path().join("kept"));
    let options = RunOptions { keep_directory, repetitions: NonZeroU32::new(2).expect("not zero"), ..options() };
    let report = run(&driven(script, ""), &[json!({ "holders": 1 })], &options).expect("the driver runs");
    for (result, name) in report.results.iter().zip(["leases-0", "leases-0.2"]) {
        let kept = result.folder.as_ref().expect("it is kept");
        assert!(kept.ends_with(Path::new("kept").join(name)), "{}", kept.display());
        let read = |name: &str| std::fs::read_to_string(kept.join(name)).expect("it is there");
        assert_eq!([read("own"), read("case.json")], ["it\n", "{\"holders\":1}\n"]);
    }
}

#[test]
fn what_programs_print_is_in_a_file_unless_the_test_case_passes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let log_directory = Some(folder.path().join("logs"));
    let options = RunOptions { log_directory, ..options() };
    let script = r#"for i in $(seq 2000); do echo "line $i"; done >&2; echo '{{"reason": "no"}}'; exit 1"#;
    let result = one_with(script, &options);
    let log = result.log.as_ref().expect("it was written");
    let text = std::fs::read_to_string(log).expect("it is there");
    assert!(log.ends_with("logs/leases-0.log"), "{}", log.display());
    let lines: Vec<&str> = text.lines().filter(|line| line.contains(" stderr: ")).collect();
    assert_eq!((lines.len(), lines[0], lines[1_999]), (2_000, "driver stderr: line 1", "driver stderr: line 2000"));
    let [_, reported] = result.processes[0].printed();
    assert!(reported.len() < 500 && reported[0].contains("bytes before"), "{}", reported[0]);
    std::fs::remove_dir_all(folder.path().join("logs")).expect("it can be removed");
    assert_eq!(one_with("echo much; exit 0", &options).log, None);
    assert!(!folder.path().join("logs").exists());
}

#[test]
fn files_of_a_driver_are_made_beforehand() {
    let implementation =
        driven("grep -q 'is {name}' settings", "[[driver.file]]\nname = 'settings'\ntext = 'is {name}'\n");
    let report = run(&implementation, &[json!({})], &options()).expect("the driver runs");
    assert_eq!(report.results[0].verdict, Verdict::Pass);
}

#[track_caller]
fn check_refused(file: &str, expect: &str) {
    let text = format!("name = 'a'\nsystem = 'leases'\ndescription = ''\n{file}");
    let error = Testbeds::NONE.parse(&text, Path::new("a.toml"), Path::new("/")).expect_err("the file is damaged");
    assert!(error.to_string().contains(expect), "{error}");
}

#[test]
fn a_file_without_driver_or_with_a_damaged_one_is_refused() {
    check_refused(
        "[[side]]\nname = 'server'\ncommand = ['true']\n",
        "there is no testbed for the sides of `leases`; give a `[driver]`",
    );
    check_refused("", "give a `[driver]`");
    let both = "[driver]\ncommand = ['true']\n[[side]]\nname = 'server'\ncommand = ['true']\n";
    check_refused(both, "keep one of both");
    check_refused("[driver]\ncommand = []\n", "field `command` of `[driver]` is empty");
    check_refused(
        "[driver]\ncommand = ['{cse}']\n",
        "field `command` of `[driver]`: `{cse}` is not known here; known: {here}, {build}, {work}, {case}, {name}, {seed}, {port}, {port2} to {port9}",
    );
    check_refused("[driver]\ncommand = ['true']\ntimeout_s = 0\n", "nonzero");
    check_refused("[driver]\ncommand = ['{fixture}']\n", "`{fixture}` is not known here");
    let by_port = "[driver]\ncommand = ['true']\n[driver.fixture]\ncommand = ['true']\nready = 'port'\n";
    check_refused(by_port, "this side is given no port");
}
