//! The files with the tests of a net are run: on adapters that are right, and on ones that are wrong.

use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use simutant_exports::net_tests::{HEADER, Language, Names, NamesError, files};
use simutant_nets::Paths;
use simutant_nets::exploring::{NamedCase, NamedTests};
use tempfile::TempDir;

const LANGUAGES: [Language; 3] = [Language::Python, Language::Rust, Language::Go];

/// The user's words. The adapter is at the place that a language has for it.
const NAMES: &str = "timeout = 2
[events]
vote = 'deliver_vote'
[fields]
worker = 'worker_id'
[values]
yes = 0
no = 1
abort = 'ABORT'
";

/// The coordinator says when it has decided, so that no test waits for what will not come.
const SAYS_DONE: (&str, &str) = ("SAYS_DONE", "yes");

/// Returns the tests of two-phase commit with three workers. The last one votes in a round of its own.
fn two_phase_commit(paths: Paths) -> NamedTests {
    let case = |votes: u32| {
        let is_yes = |worker: u32| votes & (1 << (3 - worker)) == 0;
        let decision = if votes == 0 { "commit" } else { "abort" };
        let vote = |worker| {
            let vote = if is_yes(worker) { "yes" } else { "no" };
            json!({ "vote": { "worker": worker, "vote": vote, "round": if worker == 3 { 2 } else { 1 } } })
        };
        let told = |worker| json!({ "told": { "worker": worker, "decision": decision } });
        let outcome = (1..=3).map(told).chain([json!({ "completed": { "decision": decision } })]);
        NamedCase { inputs: (1..=3).map(vote).collect(), outcomes: vec![outcome.collect()] }
    };
    let cases = (0..8).map(case).collect();
    NamedTests {
        net: "two-phase-commit".into(),
        arguments: vec![json!(3)],
        paths,
        endless: 0,
        repeated: Vec::new(),
        cases,
    }
}

/// A folder with tests and an adapter, ready to be run.
struct Project {
    language: Language,
    folder: TempDir,
}

impl Project {
    /// Writes tests, and the adapter of this folder, changed as told.
    fn new(language: Language, tests: &NamedTests, names: &str, change: [&str; 2]) -> Self {
        let (place, adapter) = match language {
            Language::Python => ("adapter = 'coordinator.Adapter'\n", include_str!("coordinator.py")),
            Language::Rust => ("adapter = 'coordinator.rs'\n", include_str!("coordinator.rs")),
            _ => ("adapter = 'Coordinator'\npackage = 'commit'\n", include_str!("coordinator.go")),
        };
        let names: Names = toml::from_str(&format!("{place}{names}")).expect("good names");
        let project = Self::with_files(language, tests, &names);
        assert!(change[0].is_empty() || adapter.contains(change[0]), "{}", change[0]);
        let extension = match language {
            Language::Python => "py",
            Language::Rust => "rs",
            _ => "go",
        };
        let adapter = adapter.replace(change[0], change[1]);
        std::fs::write(project.folder.path().join("coordinator").with_extension(extension), adapter).expect("a folder");
        project
    }

    fn with_files(language: Language, tests: &NamedTests, names: &Names) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for file in files(tests, names, language).expect("good names") {
            assert_ne!(String::from_utf8_lossy(&file.bytes).contains(HEADER), file.is_template, "{}", file.name);
            let path = folder.path().join(&file.name);
            std::fs::create_dir_all(path.parent().expect("it is in the folder")).expect("a temporary folder");
            std::fs::write(path, &file.bytes).expect("a temporary folder");
        }
        std::fs::write(folder.path().join("go.mod"), "module example.org/commit\n\ngo 1.18\n").expect("a folder");
        Self { language, folder }
    }

    /// Runs the tests, and returns whether they pass, and the output.
    fn run(&self, variables: &[(&str, &str)]) -> (bool, String) {
        let folder = self.folder.path();
        let mut command = match self.language {
            Language::Python => command("python3", &["-m", "unittest", "-v"]),
            Language::Rust => {
                let compiled = compile(folder);
                let text = text(&compiled);
                if !compiled.status.success() {
                    return (false, text);
                }
                Command::new(folder.join("tests"))
            }
            _ => command("go", &["test", "-v", "."]),
        };
        command.current_dir(folder).env("PYTHONDONTWRITEBYTECODE", "1").env("GOFLAGS", "-mod=mod");
        command.env("GOCACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("go")).env_remove("CASE");
        let output = command.envs(variables.iter().copied()).output().expect("`cargo xtask test` installs it");
        (output.status.success(), text(&output))
    }

    #[track_caller]
    fn passes(&self, variables: &[(&str, &str)]) -> String {
        let (is_passed, text) = self.run(variables);
        assert!(is_passed, "{:?}: {text}", self.language);
        text
    }

    #[track_caller]
    fn fails(&self, variables: &[(&str, &str)], parts: &[&str]) -> String {
        let (is_passed, text) = self.run(variables);
        assert!(!is_passed, "{:?}: {text}", self.language);
        for part in parts {
            assert!(text.contains(part), "{:?}: {part}: {text}", self.language);
        }
        text
    }
}

fn command(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

fn compile(folder: &Path) -> Output {
    if folder.join("tests").exists() {
        return command("true", &[]).output().expect("it does nothing");
    }
    let name = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file").path());
    let test = name.into_iter().find(|path| path.to_string_lossy().ends_with("_test.rs")).expect("it was written");
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(["--test", "--edition", "2021", "-D", "warnings", "-o"]).arg(folder.join("tests")).arg(test);
    rustc.output().expect("a Rust compiler")
}

fn text(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned()).concat()
}

#[test]
fn a_right_coordinator_passes_in_the_users_words_and_a_wrong_one_does_not() {
    for language in LANGUAGES {
        let project = Project::new(language, &two_phase_commit(Paths::All), NAMES, ["", ""]);
        project.passes(&[("MODE", "right"), ("BARRIER", "3")]);
        // Six of eight vectors of votes are mixed.
        let text = project.fails(&[("MODE", "no-voters"), SAYS_DONE], &["too many: nothing"]);
        assert_eq!(text.matches("too many: ").count(), 6, "{text}");
        assert_eq!(text.matches("missing: nothing").count(), 0, "{text}");
        // The case no, yes, no, from the beginning of what is missing to the end of what is allowed.
        let [missing, call, number] = match language {
            Language::Python => [
                "{\"told\": {\"decision\": \"ABORT\", \"worker_id\": 2}}",
                "deliver_vote(worker_id=2, vote=0",
                "test_case_6",
            ],
            Language::Rust => ["Told { worker_id: 2, decision: \"ABORT\" }", "{\"worker_id\":2,\"vote\":0", "case 6"],
            _ => ["Told{WorkerId:2, Decision:\"ABORT\"}", "{\"worker_id\":2,\"vote\":0", "case_6"],
        };
        let report = &text[text.find(&format!("missing: {missing}; too many: nothing")).expect(missing)..];
        let report = &report[..report.find("allowed: ").expect("the allowed outcomes")];
        assert!(report.contains(call) && report.contains("observed: ") && text.contains(number), "{text}");

        project.fails(&[("MODE", "late")], &["both", "after the stop"]);
        let text = project.fails(&[("MODE", "raises")], &["no such worker"]);
        assert!(!text.contains("did not return"), "{text}");
        let text = project.fails(&[("MODE", "stuck")], &["did not return within"]);
        assert_eq!(
            text.matches("did not return within").count(),
            4,
            "each case has threads that are not stuck: {text}"
        );
        let text = project.fails(&[("MODE", "other")], &["surprise"]);
        assert_eq!(text.matches("too many: ").count(), 8, "{text}");
    }
}

#[test]
fn a_verdict_that_nothing_can_change_is_not_waited_for() {
    for language in LANGUAGES {
        let names = NAMES.replace("timeout = 2", "timeout = 60\nsettle = 60");
        let project = Project::new(language, &two_phase_commit(Paths::All), &names, ["", ""]);
        let begin = Instant::now();
        project.passes(&[("MODE", "right")]);
        project.fails(&[("MODE", "other")], &["surprise"]);
        let text = project.fails(&[("MODE", "no-voters"), SAYS_DONE], &[]);
        assert_eq!(text.matches("too many: nothing").count(), 6, "{text}");
        assert!(begin.elapsed() < Duration::from_secs(60), "{language:?}: {:?}", begin.elapsed());
    }
}

#[test]
fn one_case_runs_alone_in_rust_too() {
    let project = Project::new(Language::Rust, &two_phase_commit(Paths::All), NAMES, ["", ""]);
    let text = project.fails(&[("MODE", "no-voters"), SAYS_DONE, ("CASE", "6")], &["case 6: missing"]);
    assert_eq!(text.matches("too many: ").count(), 1, "{text}");
    project.passes(&[("MODE", "no-voters"), ("CASE", "1")]);
}

#[test]
fn a_method_that_is_missing_is_named() {
    for language in LANGUAGES {
        let (name, change) = match language {
            Language::Go => ("DeliverVote", ["DeliverVote(", "Deliver("]),
            _ => ("deliver_vote", ["deliver_vote(", "deliver("]),
        };
        let project = Project::new(language, &two_phase_commit(Paths::All), NAMES, change);
        project.fails(&[("MODE", "right")], &[name]);
    }
}

#[test]
fn rounds_come_in_their_order_and_are_concurrent_themselves() {
    for language in LANGUAGES {
        let mut tests = two_phase_commit(Paths::All);
        tests.cases.truncate(2);
        let rounds = Project::new(language, &tests, &format!("order = 'round'\n{NAMES}"), ["", ""]);
        rounds.passes(&[("MODE", "rounds"), ("BARRIER", "2")]);
        rounds.fails(&[("MODE", "right"), ("BARRIER", "3")], &["did not return within"]);
        let sequential = Project::new(language, &tests, &format!("concurrent = false\n{NAMES}"), ["", ""]);
        sequential.passes(&[("MODE", "right")]);
        sequential.fails(&[("MODE", "rounds"), ("BARRIER", "2")], &["did not return within"]);
    }
}

#[test]
fn what_no_simulated_run_shows_is_inconclusive() {
    for language in LANGUAGES {
        let tests = two_phase_commit(Paths::Simulated);
        let project = Project::new(language, &tests, NAMES, ["", ""]);
        let text = project.passes(&[("MODE", "no-voters"), SAYS_DONE]);
        assert_eq!(text.matches("inconclusive").count(), 6, "{text}");
        assert!(text.contains("missing: ") && text.contains("allowed: "), "{text}");
        let text = project.passes(&[("MODE", "right")]);
        assert_eq!(text.matches("inconclusive").count(), 0, "{text}");
        project.fails(&[("MODE", "raises")], &["no such worker"]);
        let names = format!("paths = 'all'\nfailures_max = 4\n{NAMES}");
        let text = Project::new(language, &tests, &names, ["", ""])
            .fails(&[("MODE", "no-voters"), SAYS_DONE], &["after 4 failures"]);
        assert_eq!(text.matches("too many: ").count(), 4, "{text}");
    }
}

#[test]
fn an_outcome_that_may_become_another_one_must_stay() {
    for language in LANGUAGES {
        let mut tests = two_phase_commit(Paths::All);
        tests.cases.truncate(2);
        // Nothing, or what a coordinator does.
        tests.cases.iter_mut().for_each(|case| case.outcomes.push(Vec::new()));
        let project = Project::new(language, &tests, NAMES, ["", ""]);
        project.passes(&[("MODE", "right")]);
        // The second case is mixed. At the deadline, something is missing.
        let text = project.fails(&[("MODE", "no-voters")], &[]);
        assert_eq!(text.matches("too many: ").count(), 1, "{text}");
    }
}

/// Events of all shapes, with names that languages cannot have.
fn strange() -> NamedTests {
    let inputs = [
        json!("stop"),
        json!("\"\"\" ` */ \u{1f600}\n@net@"),
        json!({ "yield": { "self": 1, "type": -2, "": null, "it's": "\u{e9}\"\\\n" } }),
        json!({ "yield": { "self": 1, "": true } }),
        json!({ "told": [1, "abort", [], [1, 2]] }),
        json!({ "told": [i64::MIN, "`", [], []] }),
        json!({ "mixed": 1.5 }),
        json!({ "mixed": [2, "a"] }),
        json!({ "float": 1 }),
        json!({ "float": 1e300 }),
        json!({ "nested": { "some": { "a": 1 }, "large": u64::MAX } }),
        json!({ "a-b": null }),
        json!({ "xml-told": 0 }),
        json!({ "a_b": false }),
        json!([1, 2]),
        json!(7),
        json!(null),
        json!({ "one": 1, "two": 2 }),
    ];
    let case = NamedCase { inputs: inputs.to_vec(), outcomes: vec![inputs.to_vec(), Vec::new()] };
    let empty = NamedCase { inputs: Vec::new(), outcomes: vec![Vec::new()] };
    let arguments = vec![json!([1, 2]), json!("a\"b"), json!(null), json!({ "a": 1 })];
    NamedTests {
        net: "7 \"strange\"\n*/ nets".into(),
        arguments,
        paths: Paths::All,
        endless: 1,
        repeated: Vec::new(),
        cases: vec![case, empty],
    }
}

#[test]
fn a_template_is_code_whatever_the_names_are_and_says_where_to_write() {
    for language in LANGUAGES {
        let project = Project::with_files(language, &strange(), &Names::default());
        project.fails(&[], &["write the adapter in case_7__strange"]);
        if language == Language::Go {
            let output = command("gofmt", &["-l", "."]).current_dir(project.folder.path()).output().expect("as go is");
            assert_eq!(text(&output), "", "gofmt would change these");
        }
        let written = files(&strange(), &Names::default(), language).expect("good names");
        assert_eq!(written.iter().map(|file| file.is_template).collect::<Vec<_>>(), [false, true]);
    }
}

fn written(tests: &NamedTests, names: &str, language: Language) -> String {
    let names = toml::from_str(names).expect("good names");
    let [file] = &files(tests, &names, language).expect("good names")[..] else { panic!("data is one file") };
    String::from_utf8(file.bytes.clone()).expect("it is text")
}

#[test]
fn json_is_read_as_it_was_and_has_a_line_for_each_outcome() {
    for tests in [two_phase_commit(Paths::Simulated), strange()] {
        let text = written(&tests, "", Language::Json);
        assert_eq!(serde_json::from_str::<NamedTests>(&text).expect("it is JSON"), tests);
    }
    let mut tests = two_phase_commit(Paths::All);
    tests.cases.truncate(1);
    tests.cases[0].inputs.truncate(1);
    tests.cases[0].outcomes[0].truncate(1);
    tests.cases[0].outcomes.push(Vec::new());
    let expect = "{
  \"format_version\": 1,
  \"net\": \"two-phase-commit\",
  \"arguments\": [3],
  \"paths\": \"all\",
  \"endless\": 0,
  \"cases\": [
    {\"inputs\": [{\"cast\":{\"worker\":1,\"vote\":true,\"round\":1}}],
     \"outcomes\": [
       [{\"told\":{\"worker\":1,\"decision\":\"commit\"}}],
       []]}
  ]
}
";
    assert_eq!(written(&tests, "events.vote = 'cast'\nvalues.yes = true", Language::Json), expect);
    let expect = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<tests net=\"two-phase-commit\" paths=\"all\">
<arguments><value>3</value></arguments>
<case id=\"1\">
<inputs>
<vote><worker>1</worker><vote>yes</vote><round>1</round></vote>
</inputs>
<outcomes>
<outcome>
<told><worker>1</worker><decision>commit</decision></told>
</outcome>
<outcome>
</outcome>
</outcomes>
</case>
</tests>
";
    assert_eq!(written(&tests, "", Language::Xml), expect);
}

#[test]
fn xml_is_well_formed_whatever_the_names_are() {
    let text = written(&strange(), "", Language::Xml);
    let document = roxmltree::Document::parse(&text).expect("well-formed");
    let inputs = document.descendants().find(|node| node.has_tag_name("inputs")).expect("there are inputs");
    let events: Vec<_> = inputs.children().filter(roxmltree::Node::is_element).collect();
    assert_eq!(events.len(), 18);
    assert_eq!(
        (events[0].tag_name().name(), events[0].has_children(), events[0].attribute("null")),
        ("stop", false, None)
    );
    assert_eq!(events[1].attribute("name"), Some("\"\"\" ` */ \u{1f600}\n@net@"));
    let field = events[2].children().find(|field| field.attribute("name") == Some("it's")).expect("a field");
    assert_eq!((field.tag_name().name(), field.text()), ("field", Some("\u{e9}\"\\\n")));
    assert_eq!((events[12].tag_name().name(), events[12].attribute("name")), ("event", Some("xml-told")));
    assert_eq!(events[15].first_child().and_then(|text| text.text()), Some("7"));
    assert_eq!(events[16].attribute("null"), Some("true"));
}

#[track_caller]
fn mistake(paths: Paths, names: &str) -> NamesError {
    let names = toml::from_str(names).expect("they can be read");
    files(&two_phase_commit(paths), &names, Language::Python).expect_err("the names have a mistake")
}

#[test]
fn names_that_do_not_fit_are_told() {
    for (names, expect) in [
        ("events.voet = 'a'", "events.voet"),
        ("fields.decisions = 'a'", "fields.decisions"),
        ("values.maybe = 1\nvalues.aborted = 2", "values.aborted, values.maybe"),
        ("events.worker = 'a'", "events.worker"),
        ("order = 'rounds'", "order.rounds"),
        ("order = 'vote'", "has no whole number there"),
        ("values.yes = 0\nvalues.no = 0", "would both be"),
        ("events.told = 'completed'\nvalues.abort = 1\nvalues.commit = 1", "would both be"),
        ("fields.worker = 'a'\nfields.vote = 'a'", "worker and vote would both be a"),
        ("timeout = -1", "`timeout` is -1"),
        ("settle = nan", "`settle` is NaN"),
        ("adapter = 'os; import'", "`adapter` is os; import"),
    ] {
        let text = mistake(Paths::All, names).to_string();
        assert!(text.contains(expect), "{names}: {text}");
    }
    // A simulation may have missed it.
    let names: Names = toml::from_str("values.maybe = 1").expect("they can be read");
    let tests = two_phase_commit(Paths::Simulated);
    assert_eq!(names.unused(&tests), ["values.maybe"]);
    assert!(files(&tests, &names, Language::Go).is_ok());
}

#[test]
fn a_bare_value_gets_a_name() {
    let tests = NamedTests {
        cases: vec![NamedCase { inputs: vec![json!(3)], outcomes: vec![vec![Value::Null]] }],
        ..strange()
    };
    let text = written(&tests, "events.event = 'read'", Language::Json);
    assert!(text.contains("[{\"read\":3}]") && text.contains("[{\"read\":null}]"), "{text}");
}
