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
    assert_eq!((&report["format_version"], &report["results"][0]["verdict"]), (&json!(1), &json!("pass")));
}

#[test]
fn a_test_ends_when_its_time_is_up_or_at_the_first_failure() {
    let folder = folder();
    let case = |name: &str, seconds: f64, found: f64| json!({ "name": name, "case": { "bytes": 1000, "drop": 0.0, "duplicate": 0.0, "seed": 1 }, "seconds": seconds, "found": found });
    let suite = json!({
        "format_version": 1, "system": "gbn", "criterion": "by hand", "chosen": "by hand", "seed": 1,
        "mutant_score": null, "dominator_score": null, "seconds": 90.5,
        "cases": [case("cheap", 0.5, 0.3), case("dear", 60.0, 0.5), case("last", 30.0, 0.6)],
    });
    let suite = write(&folder.path().join("suite.json"), suite.to_string());
    let copies = copies(folder.path(), "true");
    let arguments = ["test", "gbn", "--suite", &suite, "--implementation", &copies];
    let output = run(&[&arguments[..], &["--time", "30s"]].concat(), folder.path());
    assert_exit(&output, 0);
    assert_eq!(stdout(&output), "1 passed, 0 failed\n", "the second is not expected to end in time");
    let told = stderr(&output);
    assert!(told.contains("; 50 % of what is expected, 90 s to go"), "{told}");
    let left = "1 of 3 test cases on copies; the others would take 90 s and are expected to add 30 points to 30.0 %";
    assert!(told.contains(left), "{told}");

    // With one job, and none at the same time as the failure.
    let copies = self::copies(folder.path(), "exit 3");
    let arguments = ["test", "gbn", "--suite", &suite, "--implementation", &copies, "--jobs", "1"];
    let output = run(&[&arguments[..], &["--until-failure"]].concat(), folder.path());
    assert_exit(&output, 1);
    assert!(stdout(&output).ends_with("0 passed, 1 failed\n"), "{}", stdout(&output));
}

/// In the second run, ends the command as nothing can be caught: that is the parent of the testbed, which runs the script. It
/// would go on with the next run, were it not ended with the command.
const KILLS_THE_COMMAND: &str = r"echo x >> {folder}/runs; test $(wc -l < {folder}/runs) -ne 2 || (kill -KILL $(cut -d\  -f4 /proc/$PPID/stat); sleep 9)";

/// Writes an implementation that copies the file, and does `first` before; `{folder}` in it is a folder that stays.
fn copies(folder: &Path, first: &str) -> String {
    let first = first.replace("{folder}", &folder.display().to_string());
    write(
        &folder.join("copies.toml"),
        format!(
            "name = \"copies\"\nsystem = \"gbn\"\ndescription = \"Copies the file\"\n\
             [[side]]\nname = \"receiver\"\ncommand = [\"true\"]\n\
             [[side]]\nname = \"sender\"\ncommand = [\"sh\", \"-c\", '{first}; cp \"$0\" output', \"{{input}}\"]\n"
        ),
    )
}

#[test]
fn the_folder_of_a_failed_test_case_is_kept_and_named() {
    let folder = folder();
    let suite = suite(folder.path());
    let copies = copies(folder.path(), "echo here > own; exit 3");
    let arguments = ["test", "gbn", "--suite", &suite, "--implementation", &copies];
    assert!(!stdout(&run(&arguments, folder.path())).contains("folder: "));
    let output = run(&[&arguments[..], &["--keep"]].concat(), folder.path());
    assert_exit(&output, 1);
    let text = stdout(&output);
    let named: Vec<&str> = text.lines().filter_map(|line| line.trim().strip_prefix("folder: ")).collect();
    assert_eq!(named.len(), 2, "{text}");
    for (named, name) in named.into_iter().zip(["large", "small"]) {
        assert!(named.ends_with(&format!("kept/copies/{name}")), "{named}");
        assert_eq!(std::fs::read_to_string(Path::new(named).join("own")).expect("it is kept"), "here\n");
    }
}

#[test]
fn programs_that_pass_and_waste_datagrams_are_listed_and_pass() {
    let folder = folder();
    let suite = suite(folder.path());
    let wasteful = "for i in $(seq 200); do echo x > /dev/udp/{peer_host}/{peer_port}; done; ";
    let file = write(
        &folder.path().join("wasteful.toml"),
        format!(
            "name = \"wasteful\"\nsystem = \"gbn\"\ndescription = \"Copies the file, and sends 200 datagrams for nothing\"\n\
             [[side]]\nname = \"receiver\"\ncommand = [\"true\"]\n\
             [[side]]\nname = \"sender\"\ncommand = [\"bash\", \"-c\", '{wasteful}cp \"$0\" output', \"{{input}}\"]\n"
        ),
    );
    let arguments = ["test", "gbn", "--suite", &suite, "--implementation", &file, "--cost", "messages=100%"];
    let output = run(&arguments, folder.path());
    assert_exit(&output, 0);
    let text = stdout(&output);
    assert!(text.contains("COSTLY small: ") && text.ends_with("2 passed, 0 failed\n"), "{text}");
    let written = std::fs::read_to_string(folder.path().join("test-wasteful.json")).expect("results");
    let report: Value = serde_json::from_str(&written).expect("JSON");
    let simulated = |place: usize| report["cost"]["simulated"][place]["messages_max"].as_u64().expect("a number");
    assert!(simulated(0) > simulated(1) && simulated(1) > 0, "a large file takes more: {}", report["cost"]);
    assert_eq!(report["results"][0]["verdict"], json!("pass"));

    // What copies the file without a datagram is not costly, and nothing is said of cost unless it is asked for.
    let copies = copies(folder.path(), "true");
    let arguments = ["test", "gbn", "--suite", &suite, "--implementation", &copies];
    let output = run(&[&arguments[..], &["--cost", "messages=0%"]].concat(), folder.path());
    assert!(stdout(&output).starts_with("0 of 2 costly"), "{}", stdout(&output));
    let output = run(&[&arguments[..], &["--fresh", "--json"]].concat(), folder.path());
    let report: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(report.get("cost"), None);
    let output = run(&[&arguments[..], &["--cost", "time=20%"]].concat(), folder.path());
    assert_exit(&output, 3);
    assert!(stderr(&output).contains("give --cost messages=P%"), "{}", stderr(&output));
}

#[test]
fn what_is_inconclusive_is_neither_passed_nor_failed() {
    let folder = folder();
    let suite = suite(folder.path());
    let answer = |code: u8| {
        let script = format!("grep -q 20000 {{case}} && exit 0; echo '{{{{\"reason\": \"no quorum\"}}}}'; exit {code}");
        let text = format!(
            "name = 'driven'\nsystem = 'gbn'\ndescription = ''\n[driver]\ncommand = ['sh', '-c', '''{script}''']\n"
        );
        write(&folder.path().join("driven.toml"), text)
    };
    let junit = folder.path().join("junit.xml");
    let file = answer(75);
    let arguments =
        ["test", "gbn", "--suite", &suite, "--implementation", &file, "--junit", &junit.display().to_string()];
    let output = run(&arguments, folder.path());
    assert_exit(&output, 7);
    let text = stdout(&output);
    assert!(text.contains("INCONCLUSIVE small: no quorum\n"), "{text}");
    assert!(text.ends_with("1 passed, 0 failed, 1 inconclusive\n"), "{text}");
    let written = std::fs::read_to_string(junit).expect("it was written");
    assert!(written.contains("<error type=\"inconclusive\" message=\"no quorum\""), "{written}");
    assert!(written.contains("failures=\"0\" errors=\"1\""), "{written}");

    let output = run(&[&arguments[..6], &["--repeat", "2"]].concat(), folder.path());
    assert_exit(&output, 7);
    let text = stdout(&output);
    assert!(
        text.contains("INCONCLUSIVE small: failed 0 of 0 times, 2 inconclusive\n  inconclusive: no quorum\n"),
        "{text}"
    );
    assert!(text.ends_with("1 passed 2 times, 0 failed sometimes, 0 always, 1 inconclusive\n"), "{text}");

    // A failure decides.
    answer(1);
    let output = run(&arguments[..6], folder.path());
    assert_exit(&output, 1);
    assert!(stdout(&output).contains("FAILED small: no quorum\n"), "{}", stdout(&output));
}

fn lines(path: &Path) -> usize {
    std::fs::read_to_string(path).map_or(0, |text| text.lines().count())
}

#[test]
fn repetitions_say_how_often_a_test_case_fails() {
    let folder = folder();
    let suite = suite(folder.path());
    // The third and the fifth run fail, whichever these are.
    let file = copies(
        folder.path(),
        "echo x >> {folder}/runs; case $(wc -l < {folder}/runs) in 3|5) echo no >&2; exit 7;; esac",
    );
    let junit = folder.path().join("junit.xml");
    let arguments = ["test", "gbn", "--suite", &suite, "--implementation", &file, "--repeat", "3", "--jobs", "1"];
    let output = run(&[&arguments[..], &["--junit", &junit.display().to_string()]].concat(), folder.path());
    assert_exit(&output, 1);
    assert_eq!(lines(&folder.path().join("runs")), 6);
    let text = stdout(&output);
    // The repetitions of all test cases come one after the other: `large` in runs 1, 3 and 5.
    let expect = "FAILED large: failed 2 of 3 times (95 % interval 20.8 % to 93.9 %)\n  2 times: the sender ended with exit code 7\n  input: ";
    assert!(text.contains(expect), "{text}");
    assert!(text.contains("  repetition 2, sender stderr: no\n"), "{text}");
    assert!(text.contains(" --repeat 3 --only large\n"), "{text}");
    assert!(text.ends_with("\n1 passed 3 times, 1 failed sometimes, 0 always\n"), "{text}");
    let junit = std::fs::read_to_string(junit).expect("it was written");
    assert!(junit.contains("failed 2 of 3 times (95 % interval 20.8 % to 93.9 %), first in repetition 2: "), "{junit}");
    assert_eq!(junit.matches("<testcase ").count(), 2, "{junit}");

    let written = std::fs::read_to_string(folder.path().join("test-copies.json")).expect("it was written");
    let report: Value = serde_json::from_str(&written).expect("JSON");
    assert_eq!((&report["format_version"], &report["repetitions"]), (&json!(1), &json!(3)));
    let [large, small] = [&report["cases"][0], &report["cases"][1]];
    assert_eq!((&large["name"], &large["failed"], &large["of"]), (&json!("large"), &json!(2), &json!(3)));
    assert_eq!((&small["failed"], &small["interval"]["lower"]), (&json!(0), &json!(0.0)));
    let results = report["results"].as_array().expect("a list");
    let order: Vec<_> = results.iter().map(|result| (result["name"].as_str(), result["repetition"].as_u64())).collect();
    let of =
        |name, others: [u64; 2]| [(Some(name), None), (Some(name), Some(others[0])), (Some(name), Some(others[1]))];
    assert_eq!(order, [of("large", [2, 3]), of("small", [2, 3])].concat());
}

#[test]
fn a_run_that_is_killed_goes_on_and_one_that_ended_begins_anew() {
    let folder = folder();
    let suite = suite(folder.path());
    let runs = folder.path().join("runs");
    let file = copies(folder.path(), KILLS_THE_COMMAND);
    let arguments = ["test", "gbn", "--suite", &suite, "--implementation", &file, "--repeat", "2", "--jobs", "1"];
    let output = run(&arguments, folder.path());
    assert_eq!((output.status.code(), lines(&runs)), (None, 2), "{}", stderr(&output));

    let output = run(&arguments, folder.path());
    assert_exit(&output, 0);
    assert_eq!(lines(&runs), 5, "three of four were left");
    assert!(stderr(&output).contains("2 test cases, each 2 times, on copies, 1 of them before"), "{}", stderr(&output));
    assert_eq!(stdout(&output), "2 passed 2 times, 0 failed sometimes, 0 always\n");

    let output = run(&arguments, folder.path());
    assert_exit(&output, 0);
    assert_eq!(lines(&runs), 9);
    assert!(!stderr(&output).contains("before"), "{}", stderr(&output));

    // More repetitions add to what there is.
    let more = [&arguments[..7], &["3", "--jobs", "1"]].concat();
    let output = run(&more, folder.path());
    assert_exit(&output, 0);
    assert_eq!(lines(&runs), 11);
    assert!(stderr(&output).contains("each 3 times, on copies, 4 of them before"), "{}", stderr(&output));
    assert_eq!(stdout(&output), "2 passed 3 times, 0 failed sometimes, 0 always\n");
}

#[test]
fn a_history_that_a_driver_names_is_judged_as_check_does() {
    let folder = folder();
    let suite = suite(folder.path());
    let implementation = |table: &str| {
        // The large test case is right, and the small one reads what was overwritten.
        let print = r#"printf '{{:process %s, :type %s, :f %s, :value %s}}\n' "#;
        let writes = "0 :invoke :write 1 0 :ok :write 1 0 :invoke :write 2 0 :ok :write 2";
        let script = format!(
            r#"{print} {writes} 1 :invoke :read nil 1 :ok :read $(grep -q 20000 {{case}} && echo 2 || echo 1) > calls; echo '{{{{"history": "calls"}}}}'"#
        );
        let driver = format!("[driver]\ncommand = ['sh', '-c', '''{script}''']\n");
        let text = format!("name = 'driven'\nsystem = 'gbn'\ndescription = ''\n{driver}[driver.history]\n{table}\n");
        write(&folder.path().join("driven.toml"), text)
    };
    let file = implementation("specification = 'register'");
    let arguments = ["test", "gbn", "--suite", &suite, "--implementation", &file];
    let output = run(&arguments, folder.path());
    assert_exit(&output, 1);
    let text = stdout(&output);
    assert!(text.contains("FAILED small: ") && text.ends_with("1 passed, 1 failed\n"), "{text}");
    assert!(text.contains("  These 3 calls are impossible together"), "{text}");
    implementation("specification = 'register'\norder = 'sequential'\nformat = 'jepsen-edn'");
    let output = run(&arguments, folder.path());
    assert_exit(&output, 0);
    assert_eq!(stdout(&output), "2 passed, 0 failed\n", "the reader may lag behind");
    implementation("specification = 'register'\nformat = 'json-lines'");
    let output = run(&arguments, folder.path());
    assert_exit(&output, 7);
    let text = stdout(&output);
    assert!(text.contains("INCONCLUSIVE small: the history cannot be read as one of register: line 1"), "{text}");

    for (table, message) in [
        ("specification = 'register'\norder = 'any'", "[driver.history]: invalid value 'any' for '--order <ORDER>'"),
        ("specification = 'bank'", "[driver.history]: --specification bank: give its first state"),
        ("specification = 'registre'", "[driver.history]: --specification registre: "),
    ] {
        implementation(table);
        let output = run(&arguments, folder.path());
        assert_exit(&output, 3);
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
    }
}

#[test]
fn what_passes_without_its_faults_is_counted_apart_unless_asked_otherwise() {
    let folder = folder();
    let suite = suite(folder.path());
    let script = r#"grep -q 20000 {case} || echo '{{"not_injected": ["crash of b at 20 ms"]}}'"#;
    let text = format!(
        "name = 'driven'\nsystem = 'gbn'\ndescription = ''\n[driver]\ncommand = ['sh', '-c', '''{script}''']\n"
    );
    let file = write(&folder.path().join("driven.toml"), text);
    let arguments = ["test", "gbn", "--suite", &suite, "--implementation", &file];
    let output = run(&arguments, folder.path());
    assert_exit(&output, 7);
    let counts =
        "1 inconclusive (1 because faults could not be injected; --pass-without-faults counts these as passed)";
    let noted = "small: not injected: crash of b at 20 ms\n";
    assert_eq!(stdout(&output), format!("1 passed, 0 failed, {counts}\n{noted}"));
    let output = run(&[&arguments[..], &["--repeat", "2"]].concat(), folder.path());
    assert_exit(&output, 7);
    let expect = format!("1 passed 2 times, 0 failed sometimes, 0 always, {counts}\n{noted}{noted}");
    assert_eq!(stdout(&output), expect);
    let output = run(&[&arguments[..], &["--pass-without-faults"]].concat(), folder.path());
    assert_exit(&output, 0);
    assert_eq!(stdout(&output), format!("2 passed, 0 failed\n{noted}"));
}

#[test]
fn what_passes_before_a_fault_was_due_is_counted_apart() {
    let folder = folder();
    let suite = suite(folder.path());
    let late = json!({ "at_ns": 3_600_000_000_000_u64, "fault": "crash", "component": "a" });
    let plan = |faults: &[Value]| {
        let process = json!({ "name": "a", "command": ["sleep", "1000"] });
        json!({ "processes": [process], "faults": { "schedule": faults } })
            .to_string()
            .replace('{', "{{")
            .replace('}', "}}")
    };
    let (early, calm) = (plan(&[late]), plan(&[]));
    let script = format!("grep -q 20000 {{case}} && echo '{early}' || echo '{calm}'; read begun");
    let text = format!(
        "name = 'driven'\nsystem = 'gbn'\ndescription = ''\n[driver]\ncommand = ['sh', '-c', \"\"\"{}\"\"\"]\n\
         processes = 'harness'\n",
        script.replace('"', "\\\"")
    );
    let file = write(&folder.path().join("driven.toml"), text);
    let arguments = ["test", "gbn", "--suite", &suite, "--implementation", &file];
    let output = run(&arguments, folder.path());
    assert_exit(&output, 0);
    let (early, fault) = (" (1 of them ended before a fault was due)", "crash of a at 3600000 ms");
    let noted = format!("large: too late: {fault}: the test case had ended\n");
    assert_eq!(stdout(&output), format!("2 passed{early}, 0 failed\n{noted}"));
    let junit = folder.path().join("junit.xml");
    let output = run(&[&arguments[..], &["--json", "--junit", &junit.to_string_lossy()]].concat(), folder.path());
    let report: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(report["results"][0]["late_faults"], json!([fault]));
    assert_eq!(report["results"][1]["late_faults"], json!(null));
    let xml = std::fs::read_to_string(junit).expect("it is written");
    assert!(xml.contains(noted.trim()), "{xml}");
    let output = run(&[&arguments[..], &["--repeat", "2"]].concat(), folder.path());
    let expect = format!("2 passed 2 times{early}, 0 failed sometimes, 0 always\n{noted}{noted}");
    assert_eq!(stdout(&output), expect);
}

#[test]
fn what_a_killed_run_left_is_not_used_if_it_is_to_be_fresh() {
    let folder = folder();
    let suite = suite(folder.path());
    let runs = folder.path().join("runs");
    let file = copies(folder.path(), KILLS_THE_COMMAND);
    let arguments = ["test", "gbn", "--suite", &suite, "--implementation", &file, "--jobs", "1"];
    assert_eq!(run(&arguments, folder.path()).status.code(), None);
    let output = run(&[&arguments[..], &["--fresh"]].concat(), folder.path());
    assert_exit(&output, 0);
    assert_eq!((lines(&runs), stdout(&output).as_str()), (4, "2 passed, 0 failed\n"));
}

#[test]
fn test_cases_of_the_universe_take_the_place_of_a_suite() {
    let folder = folder();
    let file = copies(folder.path(), "true");
    let arguments = ["--cases", "3", "--implementation", &file, "--seed", "7", "--json"];
    let output = run(&[&["test", "gbn"][..], &arguments].concat(), folder.path());
    assert_exit(&output, 0);
    assert!(!stderr(&output).contains("mutant"), "nothing here needs mutants: {}", stderr(&output));
    let report: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let results = report["results"].as_array().expect("a list");
    assert_eq!(results.len(), 3);
    let output = run(&["simulate", "gbn", "--case", "2", "--seed", "7", "--json"], folder.path());
    let simulated: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(simulated["case"], results[2]["case"]);
    let name = results[2]["name"].as_str().expect("a name");
    let output = run(&[&["test", "gbn", "--only", name][..], &arguments].concat(), folder.path());
    let alone: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let written = |file: &str| {
        let text = std::fs::read_to_string(folder.path().join(file)).expect("it was written");
        serde_json::from_str::<Value>(&text).expect("JSON")
    };
    assert_eq!((&written("only-copies.json"), &written("test-copies.json")), (&alone, &report));
    assert_eq!((&alone["results"][0]["case"], &alone["results"][1]), (&results[2]["case"], &Value::Null));

    let output = run(&[&["test", "gbn", "--suite", "suite.json"][..], &arguments].concat(), folder.path());
    assert_exit(&output, 2);
    assert!(stderr(&output).contains("'--suite <FILE>' cannot be used with '--cases <N>'"), "{}", stderr(&output));
    let output = run(&[&["test", "gbn", "--waive", "if-match"][..], &arguments].concat(), folder.path());
    assert_exit(&output, 3);
    let refused = "waives the rule if-match, and the oracle has no rules that can be waived";
    assert!(stderr(&output).contains(refused), "{}", stderr(&output));
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
