//! `simutant explore`: nets of packages, nets in files, pictures, and tests for implementations.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::init::UserPackage;
use crate::support::{assert_exit, folder, stderr, stdout, text, write};

/// The folder of nets in PNML.
const NETS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/pnml/tests/nets");

fn explore(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_simutant"));
    command.arg("explore").args(arguments).current_dir(folder);
    command.output().expect("the command was built")
}

#[track_caller]
fn json(output: &Output) -> Value {
    assert_exit(output, 0);
    serde_json::from_str(&stdout(output)).expect("it is JSON")
}

#[track_caller]
fn check_refused(arguments: &[&str], expect: &str) {
    let folder = folder();
    let output = explore(folder.path(), arguments);
    assert_exit(&output, 3);
    assert!(stderr(&output).contains(expect), "{}", stderr(&output));
}

#[test]
fn a_net_in_a_file_is_explored_drawn_and_unfolded() {
    let folder = folder();
    let net = format!("{NETS}/philosophers.pnml");
    let with = ["--picture", "space.dot", "--net-picture", "net.svg", "--unfolded", "unfolded.pnml", "--json"];
    let explored = json(&explore(folder.path(), &[&[net.as_str()], &with[..]].concat()));
    let counts = |explored: &Value| ["markings", "arcs", "dead"].map(|count| explored[count].as_u64());
    assert_eq!(counts(&explored), [Some(34), Some(100), Some(0)]);
    assert_eq!(counts(&json(&explore(folder.path(), &["unfolded.pnml", "--json"]))), counts(&explored));
    let read = |file: &str| std::fs::read_to_string(folder.path().join(file)).expect("it was written");
    assert_eq!(read("space.dot").matches(" -> ").count(), 100);
    assert!(read("net.svg").contains(">takeLeft</text>"), "{}", read("net.svg"));

    let output = explore(folder.path(), &[&net, "--picture", "space.html"]);
    assert!(stdout(&output).contains("34 markings, 100 arcs\n         0  dead markings\n"), "{}", stdout(&output));
    assert!(read("space.html").contains("34 markings, 100 arcs, 0 dead markings"));
    let output = explore(folder.path(), &[&net, "--markings", "20"]);
    assert_exit(&output, 7);
    assert!(stderr(&output).contains("the budget of 20 markings ran out"), "{}", stderr(&output));
}

#[test]
fn what_cannot_be_explored_is_told() {
    let folder = folder();
    let damaged = write(&folder.path().join("damaged.pnml"), "<pnml>\n<net/>");
    check_refused(&[&damaged], "damaged.pnml: line 2: ");
    check_refused(&["nowhere.pnml"], "nowhere.pnml: No such file");
    let net = format!("{NETS}/votes.pnml");
    check_refused(
        &[&net, "--tests", "a.json"],
        "a file says nothing of stimuli and observations, and takes no --tests",
    );
    check_refused(&[&net, "--tests", "a.rb"], "--tests a.rb: its name must end in .json or .xml (data)");
    check_refused(&["two-phase-commit", "--tests", "a.go"], "Go runs tests in files whose names end in _test.go");
    let own = write(&folder.path().join("own.py"), "# By hand.\n");
    check_refused(&["two-phase-commit", "--tests", &own], "own.py: it was not written by this command");
    check_refused(&["two-phase-comit"], "did you mean `two-phase-commit`?");
    let names = write(&folder.path().join("names.toml"), "time_out = 2\n");
    check_refused(&["two-phase-commit", "--tests", "a.py", "--names", &names], "names.toml: TOML parse error");
}

#[test]
fn a_net_of_simutants_systems_is_found_anywhere_and_takes_arguments() {
    let folder = folder();
    let explored = json(&explore(folder.path(), &["two-phase-commit", "2", "--tests", "tests.xml", "--json"]));
    let counts = ["markings", "arcs", "dead"].map(|count| explored[count].as_u64());
    assert_eq!(counts, [Some(59), Some(85), Some(4)]);
    assert_eq!(explored["properties"][0]["witness"], Value::Null);
    assert_eq!(explored["tests"]["cases"].as_array().map(Vec::len), Some(4));
    let tests = std::fs::read_to_string(folder.path().join("tests.xml")).expect("it was written");
    assert!(tests.contains("<vote><worker>1</worker><vote>yes</vote></vote>"), "{tests}");

    let simulated = json(&explore(folder.path(), &["two-phase-commit", "15", "--simulate", "300", "--json"]));
    assert!(simulated["test_cases"].as_u64().is_some_and(|cases| (290..=300).contains(&cases)), "{simulated}");
    let output = explore(folder.path(), &["two-phase-commit", "7", "--memory", "1MB"]);
    assert_exit(&output, 7);
    assert!(
        stderr(&output).contains("the budget of 1000000 bytes ran out; the place `votes` has had"),
        "{}",
        stderr(&output)
    );
    check_refused(&["two-phase-commit", "many"], "argument 1 is \"many\": invalid type");
    check_refused(&["two-phase-commit", "1", "2"], "2 arguments were given, and it takes 1");
    let output = explore(folder.path(), &["two-phase-commit", "4", "--picture", "space.svg"]);
    assert_exit(&output, 3);
    assert!(
        stderr(&output).contains("space.svg: 2811 markings are too many to be drawn; at most 400 are"),
        "{output:?}"
    );
    // What would be ignored.
    for (option, with) in [(["--markings", "9"], true), (["--memory", "1MB"], true), (["--steps", "9"], false)] {
        let simulate = ["--simulate", "3"];
        let arguments = [&["two-phase-commit"][..], &option, if with { &simulate } else { &[] }].concat();
        let output = explore(folder.path(), &arguments);
        assert_exit(&output, 2);
        assert!(stderr(&output).contains("--simulate"), "{}", stderr(&output));
    }

    write(&folder.path().join("names.toml"), "events.vot = 'deliver'\n");
    let output = explore(folder.path(), &["two-phase-commit", "--tests", "a.py", "--names", "names.toml"]);
    assert_exit(&output, 3);
    assert!(stderr(&output).contains("names.toml: the tests have none of what the table names"), "{}", stderr(&output));
}

#[test]
fn a_new_package_with_a_net_has_tests_that_run_on_an_implementation() {
    let package = UserPackage::new("--lib");
    let output = package.simutant(&["init", "--net", "--no-vendor"]);
    assert_exit(&output, 0);
    assert!(stdout(&output).contains("explore store shows what the net can do"), "{}", stdout(&output));
    let format = package.run("cargo", &["fmt", "--check"]);
    assert!(format.status.success(), "{}", stdout(&format));

    let here = text(&package.path("implementations/store"));
    let tests = text(&package.path("implementations/store/test_store.py"));
    let output = package.simutant(&["explore", "store", "3", "1", "--tests", &tests]);
    assert_exit(&output, 0);
    let said = stdout(&output);
    assert!(said.contains("\n8 test cases, 4 with more than one allowed outcome, up to 3\n"), "{said}");
    let unittest = || {
        let mut command = Command::new("python3");
        command.args(["-m", "unittest", "test_store"]).current_dir(&here).output().expect("python3 is installed")
    };
    let right = unittest();
    assert!(right.status.success(), "{}", stderr(&right));
    let office = package.read("implementations/store/office.py");
    let generous = office.replace("if self.free == 0:", "if self.free < 0:");
    assert_ne!(generous, office);
    write(&package.path("implementations/store/office.py"), generous);
    let wrong = unittest();
    assert!(stderr(&wrong).contains("missing: {\"sold_out\": {\"customer\": 3}}"), "{}", stderr(&wrong));
    assert!(stderr(&wrong).ends_with("FAILED (failures=4)\n"), "{}", stderr(&wrong));

    let arguments = ["study", "store", "--source", "net", "--cases", "20", "--suites", "20", "--pages", "0"];
    let output = package.simutant(&[&arguments[..], &["--out", &text(&package.path("out"))]].concat());
    assert_exit(&output, 0);
    assert!(stdout(&output).contains("20 test cases (seed 1, net)"), "{}", stdout(&output));

    // A net with a mistake.
    let protocol = package.read("src/store/protocol.rs");
    let twice = protocol.replace("sell, seated.put())", "sell, seated.put().times(2))");
    assert_ne!(twice, protocol);
    write(&package.path("src/store/protocol.rs"), twice);
    let output = package.simutant(&["explore", "store"]);
    assert_exit(&output, 1);
    let said = stdout(&output);
    let expect = "always: no more are seated than there are seats: does not hold\n       1  ask(1)\n       2  ";
    assert!(said.contains(expect), "{said}");
}
