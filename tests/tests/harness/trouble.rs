//! Programs that hang, crash, are missing or do not build: each is said plainly, and nothing waits for long.

use std::num::{NonZeroU32, NonZeroUsize};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;
use simutant_harness::{
    CaseResult, HarnessError, Implementation, ProcessExit, ProcessFailure, RunOptions, TestReport, run_suite,
};
use simutant_outcomes::{Finding, Verdict};

use crate::support::{GENTLE, implementation, options, run_one, scripts, suite};

const SLEEP: &str = r#"command = ["sleep", "1000"]"#;
const NOTHING: &str = r#"command = ["true"]"#;

/// Enough for programs that do little, on a busy machine too.
const AMPLE: Duration = Duration::from_secs(60);

/// Checks why a run fails, and that it did not take as long as the time limit.
#[track_caller]
fn check(receiver: &str, sender: &str, expect: impl Into<Finding>) -> CaseResult {
    let start = Instant::now();
    let result = run_one(&scripts(receiver, sender), AMPLE).expect("the scripts can be started");
    assert_eq!(result.verdict, Verdict::Fail(expect.into()));
    assert!(start.elapsed() < AMPLE, "took {:?}", start.elapsed());
    result
}

#[track_caller]
fn check_passes(receiver: &str, sender: &str) {
    let result = run_one(&scripts(receiver, sender), AMPLE).expect("the scripts can be started");
    assert_eq!(result.verdict, Verdict::Pass);
}

#[track_caller]
fn check_error(implementation: &Implementation, expect: &[&str]) {
    let message = run_one(implementation, AMPLE).expect_err("the implementation cannot be run").to_string();
    for part in expect {
        assert!(message.contains(part), "no `{part}` in: {message}");
    }
}

#[test]
fn a_program_that_hangs_is_ended_and_named() {
    let result = run_one(&scripts(SLEEP, NOTHING), Duration::from_millis(300)).expect("the scripts can be started");
    let finding = result.verdict.finding().expect("it cannot pass");
    assert_eq!((finding.kind.as_str(), &finding.detail["limit_ms"]), ("timed-out", &300.into()));
    assert!(finding.detail["traffic"]["silent_ms"].as_u64() >= Some(300), "{finding:?}");
    assert_eq!(finding.summary, "stuck: no datagram in 0.3 s; still running: receiver");
}

/// Sends a datagram again and again, `times` in all.
fn sends(times: u32) -> String {
    let script = format!(
        "for i in $(seq {times}); do echo x > /dev/udp/{{peer_host}}/{{peer_port}}; sleep 0.02; done; sleep 1000"
    );
    format!(r#"command = ["bash", "-c", "{script}"]"#)
}

#[test]
fn programs_that_send_until_the_end_are_slow_and_those_that_stop_are_stuck() {
    for (times, expect) in [(100_000, "slow: "), (3, "stuck: ")] {
        let result = run_one(&scripts(SLEEP, &sends(times)), Duration::from_secs(2)).expect("bash can be started");
        let finding = result.verdict.finding().expect("it cannot pass");
        assert!(finding.summary.starts_with(expect), "{finding}");
        assert!(finding.summary.ends_with("still running: receiver, sender"), "{finding}");
        assert!(finding.detail["traffic"]["datagrams"].as_u64() >= Some(3), "{finding:?}");
    }
}

#[test]
fn repetitions_have_other_networks_and_the_first_is_that_of_one_run() {
    // The receiver's file is the sender's, which differs where the seed of the run does.
    let copies = r#"command = ["sh", "-c", "cp {input} {work}/output; cksum < {input}; exit 3"]"#;
    let run = |repetitions: u32, seed| {
        let repetitions = NonZeroU32::new(repetitions).expect("not 0");
        let options = RunOptions { repetitions, seed, ..options() };
        let report =
            run_suite(&suite(&[GENTLE]), &scripts(NOTHING, copies), &options, &mut |_| {}).expect("they start");
        let said =
            report.results.into_iter().map(|result| (result.repetition, result.processes[1].stdout.text.clone()));
        said.collect::<Vec<_>>()
    };
    let thrice = run(3, 5);
    assert_eq!(thrice.iter().map(|(repetition, _)| *repetition).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(thrice, run(3, 5));
    assert_eq!(thrice[..1], run(1, 5));
    let different: std::collections::BTreeSet<&String> = thrice.iter().map(|(_, said)| said).collect();
    assert_eq!(different.len(), 3, "{thrice:?}");
}

#[test]
fn a_crash_is_reported_with_the_last_words_and_ends_the_other_side() {
    let crash = r#"command = ["sh", "-c", "echo last words >&2; kill -SEGV $$"]"#;
    let expect = ProcessFailure::Exited { process: "sender".into(), exit: ProcessExit::Signal(11) };
    let result = check(SLEEP, crash, expect);
    assert_eq!(
        (result.processes[1].process.as_str(), result.processes[1].exit),
        ("sender", Some(ProcessExit::Signal(11)))
    );
    assert_eq!(result.processes[1].stderr.text, "last words\n");
}

#[test]
fn an_exit_code_is_reported() {
    let exit = r#"command = ["sh", "-c", "exit 3"]"#;
    check(exit, SLEEP, ProcessFailure::Exited { process: "receiver".into(), exit: ProcessExit::Code(3) });
}

#[test]
fn a_side_may_end_as_its_file_says() {
    let receiver = r#"command = ["sh", "-c", "cp {work}/input {output}; exit 3"]"#;
    let crash = r#"command = ["sh", "-c", "kill -SEGV $$"]"#;
    for (end, expect) in [("any", true), ("code = 3", true), ("code = 4", false), ("signal = 3", false)] {
        let exit = if end == "any" { "exit = \"any\"".to_owned() } else { format!("exit = {{ {end} }}") };
        let receiver = format!("{receiver}\n{exit}");
        if expect {
            check_passes(&receiver, NOTHING);
        } else {
            check(
                &receiver,
                NOTHING,
                ProcessFailure::Exited { process: "receiver".into(), exit: ProcessExit::Code(3) },
            );
        }
    }
    let copies = r#"command = ["sh", "-c", "cp {work}/input {output}"]"#;
    check_passes(copies, &format!("{crash}\nexit = {{ signal = 11 }}"));
}

#[test]
fn a_side_that_cannot_run_here_is_no_failure_but_ends_the_run() {
    let without = r#"command = ["sh", "-c", "echo nothing is installed >&2; exit 69"]"#;
    check_error(
        &scripts(SLEEP, without),
        &["implementation scripts", "side `sender` cannot run here, so nothing was tested: nothing is installed"],
    );
}

#[test]
fn a_side_that_ends_before_it_is_ready_is_reported() {
    let expect = ProcessFailure::EndedBeforeReady { process: "receiver".into() };
    check(&format!("{NOTHING}\nready = \"port\""), SLEEP, expect.clone());
    check(&format!("{NOTHING}\nready = {{ line = \"listening\" }}"), SLEEP, expect);
}

#[test]
fn a_side_that_ends_before_it_is_ready_has_a_second_chance() {
    for (bad_starts, passes) in [(1, true), (2, false)] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let starts = folder.path().join("starts");
        let receiver = format!(
            "command = [\"sh\", \"-c\", \"echo start >> {0}; [ $(wc -l < {0}) -gt {bad_starts} ] || exit 1; echo now listening; sleep 1000\"]\n\
             ready = {{ line = \"listening\" }}\nexit = \"stopped\"",
            starts.display(),
        );
        let sender = r#"command = ["cp", "{input}", "{work}/output"]"#;
        if passes {
            check_passes(&receiver, sender);
        } else {
            check(&receiver, sender, ProcessFailure::Exited { process: "receiver".into(), exit: ProcessExit::Code(1) });
        }
        let starts = std::fs::read_to_string(&starts).expect("it was started");
        assert_eq!(starts.lines().count(), 2);
    }
}

#[test]
fn a_side_that_is_never_ready_is_reported() {
    for ready in ["\"port\"", "{ line = \"listening\" }"] {
        let scripts = scripts(&format!("{SLEEP}\nready = {ready}"), SLEEP);
        let result = run_one(&scripts, Duration::from_millis(300)).expect("the scripts can be started");
        let expect = ProcessFailure::NotReady { process: "receiver".into(), limit_ms: 300 };
        assert_eq!(result.verdict, Verdict::Fail(expect.into()));
    }
}

#[test]
fn a_missing_or_wrong_output_file_is_reported() {
    let differs = |summary: &str, offset, expected_bytes, found_bytes| {
        let detail = json!({ "offset": offset, "expected_bytes": expected_bytes, "found_bytes": found_bytes });
        Finding::wrong_result("output-differs", summary).with_detail(detail)
    };
    check(NOTHING, NOTHING, Finding::wrong_result("no-output", "there is no output file"));
    let empty = r#"command = ["touch", "{output}"]"#;
    check(empty, NOTHING, differs("the output ends after 0 of 1 bytes", 0, 1, 0));
    let double = r#"command = ["sh", "-c", "cat {input} {input} > {work}/output"]"#;
    check(NOTHING, double, differs("the output has 2 bytes, 1 too many", 1, 1, 2));
}

#[test]
fn a_server_is_told_to_end_and_killed_if_it_stays() {
    let sender = r#"command = ["cp", "{input}", "{work}/sent"]"#;
    let polite = r#"command = ["sh", "-c", "trap 'mv {work}/sent {output}; exit 1' TERM; echo now listening; while :; do sleep 0.01; done"]
        ready = { line = "listening" }
        exit = "stopped""#;
    check_passes(polite, sender);
    let sender = r#"command = ["cp", "{input}", "{work}/output"]"#;
    let stubborn = r#"command = ["sh", "-c", "trap '' TERM; echo now listening; while :; do sleep 0.1; done"]
        ready = { line = "listening" }
        exit = "stopped""#;
    check_passes(stubborn, sender);
}

#[test]
fn a_missing_program_is_named_with_its_side() {
    let missing = r#"command = ["{here}nowhere/program"]"#;
    check_error(
        &scripts(SLEEP, missing),
        &["implementation scripts: side `sender`: cannot start `/nowhere/program`: not found", "`command`"],
    );
}

#[test]
fn a_build_that_fails_is_shown_with_its_output() {
    let mut scripts = scripts(NOTHING, NOTHING);
    scripts.build = Some(["sh", "-c", "echo no luck >&2; exit 7"].map(String::from).to_vec());
    check_error(&scripts, &["implementation scripts: its `build` command `sh -c", "exit code 7", "no luck"]);
    scripts.build = Some(vec!["/nowhere/make".into()]);
    check_error(&scripts, &["cannot start its `build` command `/nowhere/make`: No such file"]);
}

#[test]
fn a_suite_of_another_system_or_with_a_bad_case_is_refused() {
    let mut other = suite(&[GENTLE]);
    other.system = "gcd".into();
    let message = run_suite(&other, &implementation("udp"), &options(), &mut |_| {}).expect_err("another system");
    assert!(message.to_string().starts_with("the suite is for `gcd`, but the implementation udp is of `gbn`"));

    let message = run_suite(&suite(&[GENTLE, (0, 0.0, 0.0, 1)]), &implementation("udp"), &options(), &mut |_| {});
    let message = message.expect_err("no bytes").to_string();
    assert!(message.starts_with("test case `1` of the suite: field bytes is 0: it must be from 1"), "{message}");
}

/// Runs many test cases at a time in a process that may have few files open by its `kind` of limit ("S", soft, or "",
/// both).
#[track_caller]
fn check_limited(kind: &str, test: &str) -> Option<Result<TestReport, HarnessError>> {
    const VARIABLE: &str = "SIMUTANT_TEST_LIMITED";
    if std::env::var_os(VARIABLE).is_some() {
        // The programs have the limit that the run was started with.
        let sender = format!(
            r#"command = ["sh", "-c", "[ $(ulimit -Sn) = {FILES} ] && sleep 1 && cp {{input}} {{work}}/output"]"#
        );
        let options = RunOptions { jobs: NonZeroUsize::MIN.saturating_add(2 * FILES), ..options() };
        return Some(run_suite(&suite(&[GENTLE; 2 * FILES]), &scripts(NOTHING, &sender), &options, &mut |_| {}));
    }
    let output = Command::new("sh")
        .args(["-c", &format!(r#"ulimit -{kind}n {FILES} && exec "$0" --exact "$1""#)])
        .arg(std::env::current_exe().expect("a test has an executable"))
        .arg(format!("trouble::{test}"))
        .env(VARIABLE, "1")
        .output()
        .expect("there is a shell");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    None
}

/// Fewer than the test cases need that run at a time.
const FILES: usize = 40;

#[test]
fn a_usual_limit_of_open_files_is_no_limit_of_the_jobs() {
    let Some(report) = check_limited("S", "a_usual_limit_of_open_files_is_no_limit_of_the_jobs") else { return };
    assert_eq!(report.expect("the suite runs").failures().count(), 0);
}

#[test]
fn a_run_that_may_not_open_enough_files_says_what_to_do() {
    let Some(report) = check_limited("", "a_run_that_may_not_open_enough_files_says_what_to_do") else { return };
    let message = report.expect_err("it needs more files").to_string();
    assert!(message.contains("run fewer jobs at a time") && message.contains("`ulimit -n`"), "{message}");
}
