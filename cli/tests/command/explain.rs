//! What is told of single mutants: the command `explain`, the pages of a study, and what people say of mutants.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::init::UserPackage;
use crate::support::{assert_exit, command, finished_study, folder, run, stderr, stdout, text, write};

/// Returns what a study left in `results.json`.
fn read_results(out: &Path) -> Value {
    let text = std::fs::read_to_string(out.join("results.json")).expect("the study wrote it");
    serde_json::from_str(&text).expect("JSON")
}

/// Returns the number of the first mutant of a class.
#[track_caller]
fn first_of(results: &Value, class: &str) -> String {
    let classes = results["mutants"]["classes"].as_array().expect("a class for each mutant");
    classes.iter().position(|other| other == class).unwrap_or_else(|| panic!("no mutant is {class}")).to_string()
}

#[test]
fn a_study_has_pages_of_mutants_that_its_report_links_to() {
    let study = finished_study();
    let report = std::fs::read_to_string(study.out.join("report.html")).expect("the study wrote it");
    let mut pages = 0;
    for link in report.split("href=\"mutants/").skip(1) {
        let name = link.split('"').next().expect("a split has a first part");
        let page = std::fs::read_to_string(study.out.join("mutants").join(name)).expect("the page is there");
        let back = page.split("href=\"../report.html#").nth(1).and_then(|rest| rest.split('"').next());
        assert!(report.contains(&format!("id=\"{}\"", back.expect("it links back"))), "{name}");
        for link in page.split("href=\"../diagrams/").skip(1) {
            let diagram = link.split('"').next().expect("a split has a first part");
            assert!(study.out.join("diagrams").join(diagram).is_file(), "{name} links {diagram}");
        }
        // Others can give its commands.
        for path in [text(&study.out), env!("CARGO_BIN_EXE_simutant").to_owned()] {
            assert!(!page.contains(&path), "{name} has {path}");
        }
        pages += 1;
    }
    let written = std::fs::read_dir(study.out.join("mutants")).expect("the study wrote it").count();
    assert_eq!(written, pages, "each page has a link");
    assert!(pages > 1);

    let again = run(&["study", "gbn", "--cases", "24", "--seed", "7", "--pages", "1"], &study.out);
    assert_exit(&again, 0);
    assert_eq!(std::fs::read_dir(study.out.join("mutants")).expect("it is there").count(), 1, "earlier pages are gone");
}

#[test]
fn a_mutant_is_explained_with_the_event_at_which_its_run_leaves_the_originals() {
    let study = finished_study();
    let results = read_results(&study.out);
    let killed = first_of(&results, "pathological");
    let output = run(&["explain", "gbn", &killed], &study.out);
    assert_exit(&output, 0);
    let told = stdout(&output);
    assert!(told.contains("@@ ") && told.contains(" kill it\n") && told.contains("first difference: event "), "{told}");
    let page = told.lines().find_map(|line| line.strip_prefix("page: ")).expect("it names the page");
    let page = std::fs::read_to_string(page).expect("it wrote the page");
    assert_eq!(page.matches("<img src=\"data:image/svg+xml,%3C?xml").count(), 2, "both message sequences");

    let verdict = told.lines().find_map(|line| line.strip_prefix("on the mutant: ")).expect("the verdict is told");
    let again = told.lines().find_map(|line| line.strip_prefix("again: ")).expect("the command is told");
    let again = Command::new("sh").args(["-c", again]).output().expect("a shell is there");
    assert!(stdout(&again).contains(&format!("verdict: {verdict}\n")), "{verdict} is not in {}", stdout(&again));

    let survivor = first_of(&results, "never-infected");
    let told = stdout(&run(&["explain", "gbn", &survivor], &study.out));
    assert!(told.contains("24 test cases 0 infect it") && told.contains("the two runs have the same events"), "{told}");

    std::fs::remove_file(study.out.join("journal.sqlite")).expect("the study wrote it");
    let output = run(&["explain", "gbn", "0"], &study.out);
    assert_exit(&output, 3);
    assert!(stderr(&output).contains("no finished study of this source"), "{}", stderr(&output));
    let output = run(&["explain", "gbn", "0", "--case", "1", "--json"], &study.out);
    assert_exit(&output, 0);
    let json: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!((&json["mutant"], &json["explanation"]["number"]), (&Value::from(0), &Value::from(1)));
}

/// Makes a package of its own with the system `gcd`, and returns the path of its manifest.
fn copy_of_gcd(folder: &Path) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is in the workspace");
    let copied = Command::new("cp").arg("-r").args([&root.join("systems/gcd/src"), folder]).status();
    assert!(copied.expect("cp is everywhere").success());
    std::fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).expect("a temporary folder can be written");
    let manifest = format!(
        "[package]\nname = \"one-system\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [dependencies]\nserde = {{ version = \"1\", features = [\"derive\"] }}\n\
         simutant-sim-core = {{ path = {:?} }}\nsimutant-system = {{ path = {:?} }}\n\n\
         [package.metadata.simutant.systems.gcd]\ntype = \"Gcd\"\n\
         specification = [\"src/client.rs\", \"src/server.rs\"]\n",
        text(&root.join("sim-core")),
        text(&root.join("systems/system")),
    );
    write(&folder.join("Cargo.toml"), manifest)
}

#[test]
fn judgements_have_their_say_in_studies_and_are_kept_where_the_manifest_says() {
    let folder = folder();
    let manifest = copy_of_gcd(folder.path());
    let out = folder.path().join("out");
    let file = folder.path().join("simutant-judgements.toml");
    let call = |arguments: &[&str]| {
        let mut call = command(&[arguments, &["--manifest-path", &manifest]].concat(), &out);
        call.env("CARGO_TARGET_DIR", UserPackage::target_directory()).output().expect("the command was built")
    };
    let study = || call(&["study", "gcd", "--cases", "12", "--suites", "10", "--pages", "2", "--verbose"]);
    assert_exit(&study(), 0);
    let before = read_results(&out);
    let survivor = &before["survivors"][0];
    let (number, identity) = (survivor["mutant"].to_string(), survivor["identity"].as_str().expect("a name"));
    let killed = first_of(&before, "pathological");

    for (arguments, code, expect) in [
        (&["judge", "gcd", "99999", "equivalent", "--reason", "r"][..], 3, "`99999`"),
        (&["judge", "gcd", &killed, "equivalent", "--reason", "r"], 3, "is not equivalent: gcd-"),
        (&["judge", "gcd", &number, "equivalent", "--reason", " "], 3, "has no reason"),
        (&["judge", "gcd", &number, "equivalent"], 2, "--reason"),
        (&["judge", "gcd", &number, "wrong", "--reason", "r"], 2, "wrong"),
    ] {
        let output = call(arguments);
        assert_exit(&output, code);
        assert!(stderr(&output).contains(expect), "`{expect}` is not in {}", stderr(&output));
        assert!(!file.exists(), "{arguments:?} wrote a judgement");
    }

    assert_exit(&call(&["judge", "gcd", &number, "equivalent", "--reason", "nobody looks"]), 0);
    assert!(file.is_file());
    let output = study();
    assert_exit(&output, 0);
    let told = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains(&format!("Judged equivalent, with the reasons in report.html: {number}.")), "{told}");
    assert!(told.contains("none in this session"), "judging runs nothing again: {told}");
    let after = read_results(&out);
    assert_eq!(after["mutants"]["counts"]["equivalent"], 1);
    assert_eq!(after["survivors"][0]["class"], "equivalent");
    assert_eq!(after["score_bounds"]["equivalent"], 1);
    assert_eq!(after["score_bounds"]["killed"], before["score_bounds"]["killed"]);

    // Made by hand, as by a change of the oracle or of the universe: a judgement that kills contradict, and a stale
    // one.
    let listed = stdout(&call(&["mutants", "gcd"]));
    let line = listed.lines().find(|line| line.starts_with(&format!("mutant {killed} ["))).expect("it is listed");
    let its_identity = line.split(['[', ']']).nth(1).expect("it has a name");
    let mut judgements = std::fs::read_to_string(&file).expect("it was written");
    for identity in [its_identity, "00000000deadbeef"] {
        judgements.push_str(&format!("[gcd.{identity}]\njudged = \"equivalent\"\nreason = \"a guess\"\n"));
    }
    write(&file, judgements);
    let output = study();
    assert_exit(&output, 3);
    for told in [stdout(&output), stderr(&output)] {
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(&format!("WRONG JUDGEMENT: mutant {killed} [{its_identity}]")), "{told}");
    }
    let list = stdout(&call(&["judge", "gcd", "--list"]));
    assert!(list.contains("STALE [00000000deadbeef]"), "{list}");
    assert!(list.contains(&format!("mutant {number} [{identity}]")) && list.contains("3 judgements"), "{list}");

    // The manifest may have them elsewhere.
    let keep_in = |judgements: &str| {
        let original = std::fs::read_to_string(&manifest).expect("it was written");
        let original = original.split("[package.metadata.simutant]").next().expect("a text has a start");
        write(Path::new(&manifest), format!("{original}[package.metadata.simutant]\njudgements = {judgements:?}\n"))
    };
    keep_in("kept/judgements.toml");
    let list = stdout(&call(&["judge", "gcd", "--list"]));
    assert!(list.starts_with("0 judgements in "), "{list}");
    assert_exit(&call(&["judge", "gcd", &number, "equivalent", "--reason", "nobody looks"]), 0);
    let list = stdout(&call(&["judge", "gcd", "--list"]));
    let elsewhere = folder.path().join("kept/judgements.toml");
    assert!(list.ends_with(&format!("1 judgement in {}\n", text(&elsewhere))) && elsewhere.is_file(), "{list}");
    keep_in("kept/judged.toml");
    let refused = call(&["judge", "gcd", "--list"]);
    assert_exit(&refused, 3);
    let expect = "`judgements` is `kept/judged.toml`: its name must end in `judgements.toml`";
    assert!(stderr(&refused).contains(expect), "{}", stderr(&refused));
}
