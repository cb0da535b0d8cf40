//! Faults of a driver's plan on real processes: judged by the order of what happens, never by how long it takes.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use simutant_harness::{CaseResult, RunOptions, Testbeds, run_suite};
use simutant_outcomes::{FindingClass, Inconclusive, Suite, SuiteCase, Verdict};

/// Runs a test case whose driver is a shell script, which finds its plan in `$plan`. A function `await` of the script
/// waits for an event, and keeps all events in the file `events`; `finish` fails with all of them as details.
fn run(plan: &Value, script: &str) -> CaseResult {
    let script = format!(
        r#"plan=$(cat case.json)
        echo "$plan"
        await() {{{{
            while read -r line; do
                echo "$line" >> events
                case $line in *"\"event\":\"$1\""*) return 0 ;; esac
            done
            exit 9
        }}}}
        finish() {{{{
            echo "{{{{\"reason\": \"seen\", \"details\": [$(paste -sd, events)]}}}}"
            exit 1
        }}}}
        {script}"#
    );
    let driver = format!("[driver]\ncommand = ['sh', '-c', '''{script}''']\nprocesses = 'harness'\n");
    run_driver(&driver, plan, Duration::from_secs(60))
}

/// Runs a test case on an implementation with this driver.
fn run_driver(driver: &str, case: &Value, timeout: Duration) -> CaseResult {
    let text = format!("name = 'driven'\nsystem = 'any'\ndescription = ''\n{driver}");
    let implementation = Testbeds::NONE.parse(&text, Path::new("driven.toml"), Path::new("/")).expect("a good file");
    let suite = Suite::of_cases("any", "by hand", 1, [SuiteCase::new("any-0", case.clone())]);
    let builds = Path::new(env!("CARGO_TARGET_TMPDIR")).join("builds");
    let options = RunOptions { timeout, ..RunOptions::new(builds) };
    let report = run_suite(&suite, &implementation, &options, &mut |_| {}).expect("the driver runs");
    report.results.into_iter().next().expect("there is one test case")
}

/// Returns a process that is this shell script, and ready when it says so.
fn process(name: &str, script: &str) -> Value {
    json!({ "name": name, "command": ["sh", "-c", script], "ready": { "line": "ready" } })
}

fn crash(component: &str, at_ms: u64) -> Value {
    json!({ "at_ns": at_ms * 1_000_000, "fault": "crash", "component": component })
}

fn restart(component: &str, at_ms: u64) -> Value {
    json!({ "at_ns": at_ms * 1_000_000, "fault": "restart", "component": component })
}

/// Returns the kinds of the events that a driver saw, each with its process.
#[track_caller]
fn events(result: &CaseResult) -> Vec<String> {
    let finding = result.verdict.finding().unwrap_or_else(|| panic!("{:?} {:?}", result.verdict, result.notes));
    assert_eq!(finding.summary, "seen", "{finding:?}");
    let events = finding.detail.as_array().expect("the driver gives a list");
    let word = |event: &Value, field: &str| event[field].as_str().unwrap_or_default().to_owned();
    events.iter().map(|event| format!("{} {}", word(event, "event"), word(event, "process"))).collect()
}

/// A process that writes down each start, and runs until it is killed.
const RECORDER: &str = "echo started >> log; echo ready; exec sleep 1000";

#[test]
fn a_process_that_crashes_is_started_again_and_finds_its_files() {
    let plan = json!({
        "processes": [process("a", RECORDER), process("b", RECORDER)],
        "faults": { "schedule": [crash("a", 100), restart("b", 120), restart("a", 150)] }
    });
    let again = "until [ $(grep -c . a/log) = 2 ]; do sleep 0.05; done; [ $(grep -c . b/log) = 1 ] && finish";
    let result = run(&plan, &format!("await ready; {again}"));
    let seen = events(&result);
    assert_eq!(seen, ["begun ", "crashed a", "restarted a", "faults-over ", "ready a"], "b is up: nothing restarts it");
    assert_eq!(result.notes, [""; 0]);
    let killed = result.processes.iter().find(|ended| ended.process == "a, killed at 100 ms");
    assert_eq!(killed.expect("it is kept").stdout.text, "ready\n");
}

#[test]
fn a_process_whose_durable_state_is_lost_finds_nothing() {
    let lost = json!({ "at_ns": 1, "fault": "restart", "component": "a", "durable_state": "lost" });
    let script = "[ -e own ] && touch ../found; touch own; echo x >> ../starts; echo ready; exec sleep 1000";
    for (restart, is_found) in [(lost, false), (restart("a", 1), true)] {
        let plan = json!({
            "processes": [process("a", script)],
            "faults": { "schedule": [crash("a", 0), restart] }
        });
        let twice = "until [ $(grep -c . starts) = 2 ]; do sleep 0.05; done";
        let check = if is_found { "[ -e found ]" } else { "[ ! -e found ]" };
        let result = run(&plan, &format!("await restarted; {twice}; {check} || exit 9"));
        assert_eq!(result.verdict, Verdict::Pass, "{:?}", result.notes);
    }
}

#[test]
fn a_process_that_is_paused_does_nothing_until_it_goes_on() {
    let ticks = "echo x >> ticks; echo ready; while :; do echo x >> ticks; sleep 0.01; done";
    let pause = |nanos: u64| json!({ "at_ns": 1, "fault": "pause", "component": "a", "for_ns": nanos });
    let plan = |nanos| json!({ "processes": [process("a", ticks)], "faults": { "schedule": [pause(nanos)] } });
    let count = "$(grep -c . a/ticks)";
    let stands_still = format!("await paused; sleep 0.5; before={count}; sleep 0.5; [ {count} = $before ] || exit 9");
    let result = run(&plan(1_000_000_000_000), &stands_still);
    assert_eq!(result.verdict, Verdict::Pass, "and it is gone: the run ended");
    let goes_on = format!("await resumed; before={count}; until [ {count} -gt $before ]; do sleep 0.05; done; finish");
    assert_eq!(events(&run(&plan(200_000_000), &goes_on)), ["begun ", "paused a", "resumed a"]);
}

#[test]
fn a_fault_is_named_by_its_moment_in_the_test_case() {
    let plan = json!({
        "processes": [process("a", RECORDER)],
        "faults": { "schedule": [crash("a", 100), crash("a", 150)] },
        "time_scale": 0.5
    });
    let result = run(&plan, "await crashed; await faults-over; finish");
    assert_eq!(events(&result), ["begun ", "crashed a", "faults-over "]);
    assert_eq!(result.notes, ["without effect: crash of a at 150 ms: it was down already"]);
    assert!(result.processes.iter().any(|ended| ended.process == "a, killed at 100 ms"), "{:?}", result.processes);
}

#[test]
fn a_fault_that_changed_nothing_is_said() {
    let after_a = format!("until [ -e ../a/done ]; do sleep 0.05; done; {RECORDER}");
    let plan = json!({
        "processes": [{ "name": "a", "command": ["touch", "done"] }, process("b", &after_a)],
        "faults": {
            "schedule": [
                crash("b", 250), crash("a", 300), restart("a", 310), crash("b", 320), restart("b", 330), crash("b", 3_600_000)
            ],
            "clocks": [{ "component": "b", "offset_ns": 5 }]
        }
    });
    let result = run(&plan, "await ended; await restarted");
    let reason = "it passed, but a fault could not be injected".into();
    assert_eq!(result.verdict, Verdict::Inconclusive(Inconclusive { reason }));
    insta::assert_snapshot!(result.remarks().collect::<Vec<_>>().join("\n"), @r"
    not injected: wrong clock of b: all processes have the clock of the machine
    too late: crash of b at 3600000 ms: the test case had ended
    without effect: crash of a at 300 ms: it had ended before, with exit code 0
    without effect: crash of b at 320 ms: it was down already
    ");
}

#[test]
fn a_process_that_ends_badly_by_itself_is_a_failure() {
    let plan = json!({ "processes": [process("a", "echo ready; sleep 0.1; echo broken >&2; exit 3")] });
    let result = run(&plan, "await never");
    let finding = result.verdict.finding().expect("it fails");
    assert_eq!((finding.class, finding.summary.as_str()), (FindingClass::Abnormal, "the a ended with exit code 3"));
    assert!(result.processes.iter().any(|ended| ended.process == "a" && ended.stderr.text == "broken\n"));
}

#[test]
fn a_plan_that_is_none_is_inconclusive() {
    let inconclusive = |plan: Value| match run(&plan, "await never").verdict {
        Verdict::Inconclusive(Inconclusive { reason }) => reason,
        other => panic!("{other:?}"),
    };
    let unknown = inconclusive(json!({ "processes": [{ "name": "a", "command": ["true", "{b}"] }] }));
    assert!(
        unknown.starts_with("the first line that the driver printed is no plan: the command of a: {b} is not known")
    );
    let network = json!({ "processes": [], "network": { "link": { "drop": 2 } } });
    assert!(inconclusive(network).contains("is no plan"));
    let mistyped = json!({ "processes": [process("a", RECORDER)], "faults": { "schedule": [crash("aa", 1)] } });
    assert_eq!(inconclusive(mistyped), "the plan crashes aa, but its processes are: a");
    let partition = json!({ "from_ns": 1, "groups": [["aa"]] });
    let mistyped =
        json!({ "processes": [process("a", RECORDER)], "network": { "partitions": [partition] }, "clients": ["b"] });
    assert_eq!(inconclusive(mistyped), "the network of the plan names aa, but its processes and clients are: a, b");
}

#[test]
fn a_driver_that_prints_no_plan_in_time_says_nothing_of_the_implementation() {
    let driver = "[driver]\ncommand = ['sh', '-c', 'printf plan; sleep 1000']\nprocesses = 'harness'\n";
    let result = run_driver(driver, &json!({}), Duration::from_secs(1));
    let reason = "the driver printed no plan in 1000 ms: a plan is its first line, flushed".to_owned();
    assert_eq!(result.verdict, Verdict::Inconclusive(Inconclusive { reason }));
}

#[test]
fn a_process_that_is_not_ready_in_time_says_nothing_of_the_implementation() {
    let driver = "[driver]\ncommand = ['sh', '-c', 'cat case.json; echo; while read -r line; do :; done; sleep 1000']\n\
                  processes = 'harness'\n";
    let ready_once = "[ -e started ] && exec sleep 1000; touch started; echo ready; exec sleep 1000";
    let deaf = |ready: Value| json!({ "name": "a", "command": ["sleep", "1000"], "ready": ready });
    let faults = || json!({ "schedule": [crash("b", 10), restart("b", 20)] });
    let plans = [
        (json!({ "processes": [deaf(json!({ "line": "ready" }))] }), "a"),
        (json!({ "processes": [deaf("port".into())] }), "a"),
        (json!({ "processes": [process("a", RECORDER), process("b", ready_once)], "faults": faults() }), "b"),
    ];
    for (plan, name) in plans {
        let result = run_driver(driver, &plan, Duration::from_secs(2));
        let reason =
            format!("process `{name}` of the driver's plan was not ready in 2000 ms, the time limit of a test case");
        assert_eq!(result.verdict, Verdict::Inconclusive(Inconclusive { reason }), "{plan}");
    }
    // One that is ready again, and does not end, is to blame.
    let plan = json!({ "processes": [process("b", RECORDER)], "faults": faults() });
    assert!(run_driver(driver, &plan, Duration::from_secs(2)).verdict.kills());
}

#[test]
fn processes_know_each_other_and_the_driver_knows_all() {
    let words = "echo \"$@\" > words; echo ready; exec sleep 1000";
    let process = |name: &str, placeholders: &[&str]| {
        let mut command = vec!["sh", "-c", words, "sh"];
        command.extend(placeholders);
        json!({ "name": name, "command": command, "ready": { "line": "ready" } })
    };
    let processes = [process("a", &["{port}", "{b}", "{port2}"]), process("b", &["{port}", "{peers}", "{a:port2}"])];
    let script = r#"await begun; echo "{{\"reason\": \"seen\", \"details\": {{\"begun\": $line, \"words\": \"$(cat a/words b/words | paste -sd' ')\"}}}}"; exit 1"#;
    for network in [Value::Null, json!({ "link": { "latency": { "constant_ns": 1 } } })] {
        let plan = json!({ "processes": processes, "clients": ["client"], "network": network });
        let result = run(&plan, script);
        let detail = &result.verdict.finding().unwrap_or_else(|| panic!("{:?}", result.verdict)).detail;
        let words: Vec<&str> = detail["words"].as_str().expect("a text").split(' ').collect();
        let [a_port, b_of_a, a_port2, b_port, peers_of_b, a2_of_b] = words.as_slice() else { panic!("{words:?}") };
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let begun = &detail["begun"];
        let [a, b] = ["a", "b"].map(|name| text(&begun["addresses"][name]));
        assert_eq!([&a, &b], [&format!("127.0.0.1:{a_port}"), &format!("127.0.0.1:{b_port}")]);
        let a2 = text(&begun["addresses"]["a:port2"]);
        assert_eq!(a2, format!("127.0.0.1:{a_port2}"));
        let [of_client, a2_of_client] = ["b", "a:port2"].map(|name| text(&begun["clients"]["client"][name]));
        match network.is_null() {
            true => {
                assert_eq!([*b_of_a, *peers_of_b, &of_client], [b.as_str(), &format!("a={a}"), &b]);
                assert_eq!([*a2_of_b, &a2_of_client], [&a2, &a2]);
            }
            false => {
                assert!(*b_of_a != b && *peers_of_b != format!("a={a}") && of_client != b && of_client != *b_of_a);
                assert!(*a2_of_b != a2 && a2_of_client != a2 && a2_of_client != *a2_of_b);
            }
        }
    }
}

#[test]
fn processes_are_ended_as_the_plan_says_when_the_driver_has_ended() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = |name: &str| folder.path().join(name);
    let server = |name: &str| {
        let file = file(name).display().to_string();
        process(name, &format!("trap 'touch {file}; exit 3' INT; echo ready; while :; do sleep 0.05; done"))
    };
    let mut asked = server("asked");
    asked["stop"] = json!({ "signal": "SIGINT", "grace_ms": 30_000 });
    // One that is paused hears it, too.
    let pause = json!({ "at_ns": 0, "fault": "pause", "component": "asked", "for_ns": 3_600_000_000_000_u64 });
    let plan = json!({ "processes": [asked, server("killed")], "faults": { "schedule": [pause] } });
    assert_eq!(run(&plan, "await paused").verdict, Verdict::Pass);
    assert_eq!(["asked", "killed"].map(|name| file(name).exists()), [true, false]);
}
