//! The universe of a study on implementations.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{assert_exit, finished_study, folder, run, stderr, stdout, write};

/// Writes an implementation that copies the file as it is, or, if it `cuts`, all but what is beyond 301,000 bytes.
fn copies(folder: &Path, name: &str, cuts: bool) -> String {
    let copy = if cuts { "head -c 301000 \"$0\" > output; echo \"$0\" >> runs" } else { "cp \"$0\" output" };
    let text = format!(
        "name = \"{name}\"\nsystem = \"gbn\"\ndescription = \"Copies the file, and sends nothing\"\norigin = \"mistake\"\n\
         [[side]]\nname = \"receiver\"\ncommand = [\"true\"]\n\
         [[side]]\nname = \"sender\"\ncommand = [\"sh\", \"-c\", '{copy}', \"{{input}}\"]\n"
    );
    write(&folder.join(format!("{name}.toml")), text)
}

#[test]
fn a_program_that_fails_is_counted_and_what_was_run_is_not_run_again() {
    let study = finished_study();
    let folder = folder();
    let (right, cutting) = (copies(folder.path(), "right", false), copies(folder.path(), "cutting", true));
    let arguments =
        ["experiment", "gbn", "--seed", "7", "--implementation", &right, "--implementation", &cutting, "--json"];
    let output = run(&arguments, &study.out);
    assert_exit(&output, 0);
    let first: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let suite: Value =
        serde_json::from_slice(&std::fs::read(study.out.join("results.json")).expect("it is there")).expect("JSON");
    let [right, cutting] = [&first["subjects"][0], &first["subjects"][1]];
    assert_eq!((right["class"].as_str(), right["failed"].as_u64()), (Some("never-fails"), Some(0)));
    assert_eq!(suite["campaign"]["cases"], first["preparation"]["cases"]);
    // What is longer than 301,000 bytes is cut, whatever the network does.
    let trials = std::fs::read_to_string(study.out.join("trials.jsonl")).expect("it is there");
    let lines: Vec<Value> = trials.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of_cutting: Vec<&Value> = lines
        .iter()
        .filter_map(|line| line.get("trial"))
        .filter(|trial| trial["implementation"] == "cutting")
        .collect();
    assert_eq!(of_cutting.len(), 24);
    for trial in &of_cutting {
        let is_long = trial["case"]["bytes"].as_u64().is_some_and(|bytes| bytes > 301_000);
        assert_eq!(trial["failed"].is_string(), is_long, "{trial}");
    }
    let failed = of_cutting.iter().filter(|trial| trial["failed"].is_string()).count() as u64;
    assert_eq!(cutting["failed"].as_u64(), Some(failed));
    assert_eq!(cutting["class"].as_str(), Some("counted"), "some test cases of this universe are long, and not many");
    assert_eq!(first["findings"][0]["subjects"], serde_json::json!([1]));

    // Killed after a few test cases, the last of them half written down.
    let kept: Vec<&str> = trials.lines().take(30).collect();
    write(&study.out.join("trials.jsonl"), format!("{}\n{{\"trial\":{{\"impl", kept.join("\n")));
    let output = run(&arguments, &study.out);
    assert_exit(&output, 0);
    assert!(stderr(&output).contains("24 test cases on cutting, 4 of them before"), "{}", stderr(&output));
    let again: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(again["subjects"][1]["failed"], first["subjects"][1]["failed"]);
    // Other durations are other costs; what is found is the same.
    assert_eq!(again["findings"][0]["ranking"], first["findings"][0]["ranking"]);
}

#[test]
fn trials_of_two_machines_are_those_of_one() {
    let folder = folder();
    let (right, cutting) = (copies(folder.path(), "right", false), copies(folder.path(), "cutting", true));
    let arguments = ["experiment", "gbn", "--seed", "7", "--implementation", &right, "--implementation", &cutting];
    let json = |output: &std::process::Output| -> Value { serde_json::from_str(&stdout(output)).expect("JSON") };
    let (one, two) = (finished_study(), finished_study());
    let alone = run(&[&arguments[..], &["--json"]].concat(), &one.out);
    assert_exit(&alone, 0);
    let parts = ["0/2", "1/2"].map(|part| {
        let into = folder.path().join(format!("{}.jsonl", &part[..1])).to_str().expect("text").to_owned();
        let shard = run(&[&arguments[..], &["--shard", part, "--into", &into]].concat(), &two.out);
        assert_exit(&shard, 0);
        assert!(stdout(&shard).contains("12 test cases on 2 implementations\n"), "{}", stdout(&shard));
        into
    });
    assert!(!two.out.join("trials.jsonl").exists() && !two.out.join("experiment.json").exists());
    let [first, second] = &parts;
    // What is missing is tried here.
    let given = ["--json", "--trials", first, "--trials", second];
    let merged = run(&[&arguments[..], &given[..3]].concat(), &two.out);
    assert_exit(&merged, 0);
    assert!(stderr(&merged).contains("24 test cases on cutting, 12 of them before"), "{}", stderr(&merged));
    std::fs::remove_file(two.out.join("trials.jsonl")).expect("it is there");
    let merged = run(&[&arguments[..], &given].concat(), &two.out);
    assert_exit(&merged, 0);
    assert!(stderr(&merged).contains("24 test cases on cutting, 24 of them before"), "{}", stderr(&merged));
    let (alone, merged) = (json(&alone), json(&merged));
    for subject in [0, 1] {
        assert_eq!(merged["subjects"][subject]["failed"], alone["subjects"][subject]["failed"]);
    }
    assert!(alone["subjects"][1]["failed"].as_u64() > Some(0), "{alone}");
    assert_eq!(merged["findings"][0]["ranking"], alone["findings"][0]["ranking"]);

    #[track_caller]
    fn refused(arguments: &[&str], out: &Path, expect: &str) {
        let output = run(arguments, out);
        assert_exit(&output, 3);
        assert!(stderr(&output).contains(expect), "{}", stderr(&output));
    }
    refused(
        &[&arguments[..], &given, &["--timeout", "7"]].concat(),
        &two.out,
        "with another time limit than those here",
    );
    refused(&[&arguments[..], &["--trials", "none.jsonl"]].concat(), &two.out, "none.jsonl: there is no such file");
    let empty = folder.path().join("empty");
    refused(&[&arguments[..], &["--shard", "0/2", "--into", first]].concat(), &empty, "run the study first");
    let output = run(&[&arguments[..], &["--shard", "0/2"]].concat(), &two.out);
    assert_exit(&output, 2);
}

#[test]
fn repetitions_tell_how_likely_a_suite_finds_a_fault() {
    let study = finished_study();
    let folder = folder();
    let cutting = copies(folder.path(), "cutting", true);
    let once = ["experiment", "gbn", "--seed", "7", "--implementation", &cutting, "--json"];
    let output = run(&once, &study.out);
    assert_exit(&output, 0);
    let first: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!((first["repetitions"].as_u64(), first["subjects"][0].get("failing")), (Some(1), None));

    let thrice = [&once[..], &["--repeat", "3"]].concat();
    let output = run(&thrice, &study.out);
    assert_exit(&output, 0);
    let told = stderr(&output);
    assert!(told.contains("24 test cases, each 3 times, on cutting, 24 of them before"), "{told}");
    let found: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(found["repetitions"].as_u64(), Some(3));
    // What is cut is cut each time.
    let [once, thrice] = [&first["subjects"][0], &found["subjects"][0]];
    assert_eq!((&thrice["failed"], &thrice["failed_always"]), (&once["failed"], &once["failed"]));
    let failing = thrice["failing"].as_array().expect("a list");
    assert_eq!(failing.len() as u64, once["failed"].as_u64().expect("a number"));
    assert!(failing.iter().all(|case| case["failed"] == 3 && case["probability"] == 1.0), "{failing:?}");
    assert_eq!(first["findings"][0]["expected"], found["findings"][0]["expected"]);
    // Seeds, and the times that rules go by, are others.
    for way in ["chosen", "random"] {
        let shares = |experiment: &Value| experiment["findings"][0]["choosing"][way]["shares"].clone();
        assert!(shares(&first).is_array());
        assert_eq!(shares(&first), shares(&found));
    }
    let trials = std::fs::read_to_string(study.out.join("trials.jsonl")).expect("it is there");
    assert_eq!(trials.matches("\"repetition\":3").count(), 24);
}

#[test]
fn what_cannot_be_tried_is_named_before_anything_is_built() {
    let folder = folder();
    let check = |arguments: &[&str], expect: &str| {
        let output = run(arguments, folder.path());
        assert_exit(&output, 3);
        assert!(stderr(&output).contains(expect), "{}", stderr(&output));
    };
    check(
        &["experiment", "gcd"],
        "no implementation of gcd is in the folder `implementations` of its package; give yours with --implementation",
    );
    let udp = concat!(env!("CARGO_MANIFEST_DIR"), "/../systems/gbn/implementations/udp.toml");
    check(&["experiment", "lsr", "--implementation", udp], "udp.toml: it is of gbn, and not of lsr");
    check(
        &["experiment", "gbn", "--implementation", "udp", "--implementation", "udp"],
        "another one has the name `udp`",
    );
    check(&["experiment", "gbn", "--implementation", "nothing"], "nothing");
    let without = copies(folder.path(), "without", false);
    check(
        &["experiment", "gbn", "--mutants", "3", "--implementation", &without],
        "--mutants 3: no implementation that takes part has the table [mutants]",
    );
    let package = Package::new("refused");
    let file = package.implementation("specification = [\"src/other.rs\"]");
    check(
        &["experiment", "gbn", "--mutants", "3", "--implementation", &file],
        "[mutants] of implementation refused: cannot mutate the programs of ",
    );
    let file = package.implementation("specification = [\"src/copy.rs\"]\noperators = \"ROT\"");
    check(
        &["experiment", "gbn", "--mutants", "3", "--implementation", &file],
        "[mutants] of implementation refused: `operators`: there is no operator or set `ROT`, did you mean `ROR`?",
    );
}

/// A package with a program that copies a file, in a folder that stays, so that it is compiled once.
struct Package {
    name: &'static str,
    folder: PathBuf,
}

/// No mutant of it runs for ever.
const COPY: &str = "//! Copies in blocks.
const BLOCK: usize = 65_536;

pub fn copy(input: &[u8]) -> Vec<u8> {
    (0..input.len()).step_by(BLOCK).flat_map(|start| &input[start..end(start, input.len())]).copied().collect()
}

fn end(start: usize, length: usize) -> usize {
    let end = start + BLOCK;
    if end < length { end } else { length }
}

pub fn is_never_called(length: usize) -> bool {
    length > 7
}
";

const MAIN: &str = "mod copy;
fn main() {
    let input = std::fs::read(std::env::args().nth(1).expect(\"a path\")).expect(\"a file\");
    if std::env::args().count() > 2 {
        assert!(copy::is_never_called(input.len()));
    }
    std::fs::write(\"output\", copy::copy(&input)).expect(\"room\");
}
";

impl Package {
    fn new(name: &'static str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("packages").join(name);
        std::fs::create_dir_all(folder.join("src")).expect("room");
        let manifest = format!("[workspace]\n[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
        write(&folder.join("Cargo.toml"), manifest);
        write(&folder.join("src/main.rs"), MAIN);
        write(&folder.join("src/copy.rs"), COPY);
        Self { name, folder }
    }

    /// Writes the implementation, whose table `[mutants]` has these fields; returns the path of its file.
    fn implementation(&self, mutants: &str) -> String {
        let name = self.name;
        let text = format!(
            "name = \"{name}\"\nsystem = \"gbn\"\ndescription = \"Copies the file, and sends nothing\"\n\
             build = [\"cargo\", \"build\", \"--release\", \"--target-dir\", \"{{build}}\"]\n\
             [[side]]\nname = \"receiver\"\ncommand = [\"true\"]\n\
             [[side]]\nname = \"sender\"\ncommand = [\"{{build}}/release/{name}\", \"{{input}}\"]\n\
             [mutants]\nmanifest = \"Cargo.toml\"\n{mutants}\n"
        );
        write(&self.folder.join(format!("{name}.toml")), text)
    }
}

#[test]
fn mutants_of_an_implementation_take_part_apart_from_all_others() {
    let study = finished_study();
    let package = Package::new("copying");
    let file = package.implementation("specification = [\"src/copy.rs\"]");
    let arguments =
        ["experiment", "gbn", "--seed", "7", "--implementation", &file, "--mutants", "3", "--timeout", "20"];
    let output = run(&arguments, &study.out);
    assert_exit(&output, 0);
    assert!(stderr(&output).contains("24 test cases on copying~original, 0 failed"), "{}", stderr(&output));
    let read = || -> Value {
        let text = std::fs::read(study.out.join("experiment.json")).expect("it was written");
        serde_json::from_slice(&text).expect("JSON")
    };
    let first = read();
    // Three functions: one mutant of each, and nothing calls one of them.
    let subjects = first["subjects"].as_array().expect("a list");
    let [copying, mutants @ ..] = subjects.as_slice() else { panic!("{first}") };
    assert_eq!((copying["origin"].as_str(), copying["failed"].as_u64()), (Some("release"), Some(0)));
    assert_eq!(mutants.len(), 2);
    for mutant in mutants {
        assert_eq!(mutant["origin"], "mutant");
        let name = mutant["name"].as_str().expect("a name");
        assert!(name.len() == "copying~".len() + 8 && name.starts_with("copying~"), "{name}");
        let description = mutant["description"].as_str().expect("a text");
        assert!(description.contains(" at src/copy.rs:") && description.contains(" -> "), "{description}");
    }
    assert!(mutants.iter().any(|mutant| mutant["failed"].as_u64() > Some(0)), "{first}");
    let [unreached] = first["left_out"].as_array().expect("a list").as_slice() else { panic!("{first}") };
    assert_eq!(
        (&unreached["origin"], &unreached["why"]),
        (&"mutant".into(), &"none of the first 24 test cases reaches it".into())
    );
    assert_eq!(first["preparation"]["subjects"], 0, "mutants are in no sum of the others");
    let text = std::fs::read_to_string(study.out.join("experiment.txt")).expect("it was written");
    assert!(text.contains("Left out, 1 mutant: none of the first 24 test cases reaches it."), "{text}");

    // What was run is not run again, until the programs are others.
    let said = |output: &std::process::Output| stderr(output).matches("24 test cases on copying~").count();
    let kept = |output: &std::process::Output| {
        let said = stderr(output);
        said.lines().filter(|line| line.contains("on copying~") && line.contains(", 24 of them before")).count()
    };
    assert_eq!((said(&output), kept(&output)), (3, 0));
    let again = run(&arguments, &study.out);
    assert_exit(&again, 0);
    assert_eq!(kept(&again), 2, "{}", stderr(&again));
    assert_eq!(read()["subjects"], first["subjects"]);
    write(&package.folder.join("src/copy.rs"), COPY.replace("65_536", "65_535"));
    let edited = run(&arguments, &study.out);
    assert_exit(&edited, 0);
    assert_eq!((said(&edited), kept(&edited)), (3, 0), "{}", stderr(&edited));

    // Mutants of what fails by itself would say nothing.
    write(&package.folder.join("src/copy.rs"), COPY.replace(".copied()", ".copied().take(301_000)"));
    assert_exit(&run(&arguments, &study.out), 0);
    let failing = read();
    assert_eq!(failing["subjects"].as_array().map(Vec::len), Some(1), "{failing}");
    let why: Vec<&Value> =
        failing["left_out"].as_array().expect("a list").iter().map(|mutant| &mutant["why"]).collect();
    assert_eq!(why, ["its programs fail test cases while no mutant is active"; 3]);
}
