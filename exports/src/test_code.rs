//! A suite as test code that runs without Simutant: for `cargo test`, and for pytest.
//!
//! Both exports have one test for each test case, named as it is in the suite, and call a function that the user writes
//! in a file of its own: a template is made if there is none, and a file that is there stays as it is. The function is
//! given the test case in its system's own form, and can ask what the simulation gave for it, which is an oracle for
//! systems whose result is a value; until it is written, every test fails and says where to write it.

use std::collections::BTreeSet;

use simutant_outcomes::{SimulatedCase, SimulatedSuite, Suite};

use crate::ExportedFile;

/// The function to write, in Rust.
const RUN_RS: &str = include_str!("test_code/run.rs.txt");

/// The function to write, in Python.
const RUN_PY: &str = include_str!("test_code/run.py.txt");

/// Returns the suite as a test target of Cargo: `NAME_suite.rs`, with a folder `NAME_suite` beside it that has the test
/// cases as JSON, what the simulation gave for them, and the function to write, `run.rs`. All belong into the folder
/// `tests` of a package; the code needs no dependency.
pub fn libtest(suite: &Suite, simulated: Option<&SimulatedSuite>) -> Vec<ExportedFile> {
    let name = format!("{}_suite", identifier(&suite.system));
    let (mut names, mut arms) = (BTreeSet::new(), String::new());
    let mut code = format!(
        "//! {}\n//!\n//! Written by `simutant export`, and written anew each time: what runs a test case is in `{name}/run.rs`.\n\n\
         #[path = \"{name}/run.rs\"]\nmod run;\n\n\
         fn check(name: &str, case: &str) {{\n    \
             if let Err(reason) = run::run(name, case) {{\n        \
                 panic!(\"{{name}}: {{reason}}\\ninput: {{case}}\");\n    }}\n}}\n",
        description(suite)
    );
    let mut files = Vec::new();
    for case in &suite.cases {
        let function = unique(function(&case.name), &mut names);
        let file = format!("{name}/{function}.json");
        let literal = string_literal(&case.name);
        code.push_str(&format!("\n#[test]\nfn {function}() {{\n    check({literal}, include_str!(\"{file}\"));\n}}\n"));
        files.push(ExportedFile::new(file, case.case.to_string()));
        if let Some(simulated) = simulated.and_then(|simulated| of_case(simulated, &case.name)) {
            let file = format!("{name}/{function}.simulated.json");
            arms.push_str(&format!("        {literal} => Some(include_str!(\"{file}\")),\n"));
            files.push(ExportedFile::new(file, written(serde_json::to_string_pretty(simulated))));
        }
    }
    code.push_str(&format!(
        "\n/// Returns what the simulation gave for a test case, as JSON: `verdict`, `returned`, `notes` and more.\n\
         #[allow(dead_code)]\npub fn simulated(name: &str) -> Option<&'static str> {{\n    \
             match name {{\n{arms}        _ => None,\n    }}\n}}\n"
    ));
    files.insert(0, ExportedFile::new(format!("{name}.rs"), code));
    files.push(ExportedFile::template(format!("{name}/run.rs"), RUN_RS.replace("{system}", &suite.system)));
    files
}

/// Returns the suite as a module of pytest: `test_NAME_suite.py`, the suite as JSON, what the simulation gave for it,
/// and the function to write, `NAME_run.py`. The tests are parametrised, with the names of the test cases as ids.
pub fn pytest(suite: &Suite, simulated: Option<&SimulatedSuite>) -> Vec<ExportedFile> {
    let name = identifier(&suite.system);
    let read = match simulated {
        Some(_) => format!(
            "json.loads(pathlib.Path(__file__).with_name(\"{name}_simulated.json\").read_text(encoding=\"utf-8\"))[\"cases\"]"
        ),
        None => "[]".to_owned(),
    };
    let description = description(suite).replace('\\', "\\\\").replace('"', "\\\"");
    let code = format!(
        "\"\"\"{description}\n\n\
         Written by `simutant export`, and written anew each time: what runs a test case is in {name}_run.py.\n\"\"\"\n\n\
         import inspect\nimport json\nimport pathlib\n\nimport pytest\n\nimport {name}_run\n\n\
         SUITE = json.loads(pathlib.Path(__file__).with_name(\"{name}_suite.json\").read_text(encoding=\"utf-8\"))\n\n\
         SIMULATED = {{entry[\"name\"]: entry for entry in {read}}}\n\n\
         TAKES_SIMULATED = len(inspect.signature({name}_run.run).parameters) > 1\n\n\n\
         @pytest.mark.parametrize(\n    \"case, simulated\",\n    \
             [pytest.param(entry[\"case\"], SIMULATED.get(entry[\"name\"]), id=entry[\"name\"]) for entry in SUITE[\"cases\"]],\n)\n\
         def test_{name}(case, simulated):\n    \
             if TAKES_SIMULATED:\n        {name}_run.run(case, simulated)\n    else:\n        {name}_run.run(case)\n"
    );
    let mut files = vec![
        ExportedFile::new(format!("test_{name}_suite.py"), code),
        ExportedFile::new(format!("{name}_suite.json"), written(serde_json::to_string_pretty(suite))),
        ExportedFile::template(
            format!("{name}_run.py"),
            RUN_PY.replace("{system}", &suite.system).replace("{name}", &name),
        ),
    ];
    files.extend(simulated.map(|simulated| {
        ExportedFile::new(format!("{name}_simulated.json"), written(serde_json::to_string_pretty(simulated)))
    }));
    files
}

/// Returns what the simulation gave for a test case.
fn of_case<'a>(simulated: &'a SimulatedSuite, name: &str) -> Option<&'a SimulatedCase> {
    simulated.cases.iter().find(|case| case.name == name)
}

/// Returns what was written as JSON, with a line break at its end.
fn written(json: serde_json::Result<String>) -> String {
    json.expect("it is plain data") + "\n"
}

/// What the suite is, on one line.
fn description(suite: &Suite) -> String {
    let Suite { system, criterion, chosen, seed, cases, .. } = suite;
    let text = format!("{} inputs for {system}, by {criterion}: {chosen} (seed {seed}).", cases.len());
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a name that Rust and Python take as the beginning of a name.
pub(crate) fn identifier(text: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let plain: String = text.chars().map(word).collect();
    if plain.starts_with(|first: char| !first.is_ascii_digit()) { plain } else { format!("case_{plain}") }
}

/// Returns a name for the test of a test case, which no word of the language is, nor a function beside it.
fn function(name: &str) -> String {
    let name = identifier(name);
    if name.trim_matches('_').is_empty() || !name.contains('_') { format!("case_{name}") } else { name }
}

pub(crate) fn unique(name: String, taken: &mut BTreeSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{name}_{number}"));
    let free = std::iter::once(name.clone()).chain(numbered).find(|name| !taken.contains(name));
    let free = free.expect("there are more numbers than names");
    taken.insert(free.clone());
    free
}

/// Returns text as a literal of Rust.
pub(crate) fn string_literal(text: &str) -> String {
    format!("\"{}\"", text.escape_default())
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::{Command, Output};

    use simutant_outcomes::{RunEnd, SimulatedValue, SuiteCase};

    use super::*;

    fn suite(names: &[&str]) -> Suite {
        let case = |(number, name): (usize, &&str)| {
            SuiteCase::new(*name, serde_json::json!({ "bytes": number, "text": "\"a\"\n\u{e9}" }))
        };
        Suite {
            format_version: simutant_outcomes::FORMAT_VERSION,
            system: "two-phase-commit".into(),
            criterion: "all-uses".into(),
            chosen: "by \"hand\"\nof a \\ person".into(),
            seed: u64::MAX,
            mutant_score: Some(0.5),
            dominator_score: None,
            seconds: None,
            cases: names.iter().enumerate().map(case).collect(),
        }
    }

    /// What a simulation gives that adds the numbers of test cases to 40.
    fn simulated(suite: &Suite) -> SimulatedSuite {
        let case = |(number, case): (usize, &SuiteCase)| SimulatedCase {
            name: case.name.clone(),
            verdict: RunEnd::Passed,
            virtual_time_ns: 1,
            messages: 2,
            returned: vec![SimulatedValue {
                component: "server".into(),
                at_ns: 1,
                value: format!("Sum({})", 40 + number),
            }],
            notes: Vec::new(),
            is_cut: false,
        };
        SimulatedSuite::new(suite, suite.cases.iter().enumerate().map(case).collect())
    }

    fn write(folder: &Path, files: &[ExportedFile]) {
        for ExportedFile { name, bytes, .. } in files {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a temporary folder");
            std::fs::write(path, bytes).expect("a temporary folder");
        }
    }

    fn stdout(output: &Output) -> String {
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    #[test]
    fn names_are_those_of_functions_and_never_twice() {
        for (name, expect) in [
            ("gbn-0042", "gbn_0042"),
            ("7", "case_7"),
            ("fn", "case_fn"),
            ("a b!", "a_b_"),
            ("", "case_"),
            ("É", "case__"),
        ] {
            assert_eq!(function(name), expect, "{name}");
        }
        let mut taken = BTreeSet::new();
        let names = ["a-b", "a_b", "A.b", "a_b_2"].map(|name| unique(function(name), &mut taken));
        assert_eq!(names, ["a_b", "a_b_2", "a_b_3", "a_b_2_2"]);
        // A file of JSON each, and two more; with what the simulation gave another one each.
        let suite = suite(&["a-b", "a_b"]);
        assert_eq!(libtest(&suite, None).len(), 4);
        assert_eq!(libtest(&suite, Some(&simulated(&suite))).len(), 6);
    }

    /// Compiles the code as `cargo test` does, and runs it.
    #[track_caller]
    fn run_libtest(folder: &Path, arguments: &[&str]) -> Output {
        let binary = folder.join("binary");
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let mut compile = Command::new(rustc);
        compile.args(["--test", "--edition", "2021", "-D", "warnings", "-o"]).arg(&binary);
        let compiled = compile.arg(folder.join("two_phase_commit_suite.rs")).output().expect("a Rust compiler");
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        Command::new(binary).args(arguments).output().expect("it was built")
    }

    #[test]
    fn cargo_test_runs_each_test_case_and_says_which_one_fails() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let suite = suite(&["c-0001", "c-0002", "type"]);
        let files = libtest(&suite, Some(&simulated(&suite)));
        write(folder.path(), &files);
        let output = run_libtest(folder.path(), &["--test-threads", "1"]);
        let text = stdout(&output);
        assert!(!output.status.success(), "what is not written passes nothing: {text}");
        assert!(text.contains("0 passed; 3 failed") && text.contains("write it in run.rs"), "{text}");

        let run = "pub fn run(name: &str, case: &str) -> Result<(), String> {\n    \
                   assert!(case.contains(\"bytes\"));\n    \
                   let number = name.parse().unwrap_or(if name == \"type\" { 42 } else { 39 + name[2..].parse::<u8>().unwrap() });\n    \
                   assert!(crate::simulated(name).unwrap().contains(&format!(\"Sum({number})\")));\n    \
                   assert_eq!(crate::simulated(\"nothing\"), None);\n    \
                   if name == \"c-0002\" { Err(\"it is the second\".into()) } else { Ok(()) }\n}\n";
        std::fs::write(folder.path().join("two_phase_commit_suite/run.rs"), run).expect("a temporary folder");
        let output = run_libtest(folder.path(), &["--test-threads", "1"]);
        let text = stdout(&output);
        for part in [
            "test c_0001 ... ok",
            "test c_0002 ... FAILED",
            "test case_type ... ok",
            "c-0002: it is the second",
            "\"bytes\":1",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(text.contains("2 passed; 1 failed"), "{text}");
    }

    #[test]
    fn the_function_to_write_is_a_template_and_nothing_else_is() {
        for files in [libtest(&suite(&["a"]), None), pytest(&suite(&["a"]), None)] {
            let templates: Vec<&str> = files.iter().filter(|file| file.is_template).map(|file| &*file.name).collect();
            assert_eq!(templates.len(), 1, "{templates:?}");
            assert!(templates[0].contains("run"), "{templates:?}");
        }
    }
}
