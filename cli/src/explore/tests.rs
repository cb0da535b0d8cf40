//! The files of a net's test cases.

use std::path::{Path, PathBuf};

use anyhow::Context;
use simutant_exports::net_tests::{HEADER, Language, Names, files};
use simutant_nets::Paths;
use simutant_nets::exploring::NamedTests;

use crate::arguments::ExploreArguments;
use crate::exit::BadInput;
use crate::output;

/// Where test cases go, and in which words.
#[derive(Debug)]
pub(super) struct TestFile {
    path: PathBuf,
    language: Language,
    names: Names,
    /// The file with the names.
    table: Option<PathBuf>,
}

impl TestFile {
    /// Returns the file that was asked for, before anything is explored: a mistake in it would be told too late.
    pub(super) fn asked(arguments: &ExploreArguments) -> Result<Option<Self>, BadInput> {
        let Some(path) = arguments.tests.clone() else { return Ok(None) };
        let extension = path.extension().and_then(|extension| extension.to_str());
        let language = extension.and_then(Language::from_extension).ok_or_else(|| {
            let expected = ".json or .xml (data), or .rs, .go or .py (tests)";
            BadInput(format!("--tests {}: its name must end in {expected}", path.display()))
        })?;
        if language == Language::Go && !path.to_string_lossy().ends_with("_test.go") {
            let message = format!("--tests {}: Go runs tests in files whose names end in _test.go", path.display());
            return Err(BadInput(message));
        }
        // Data is written anew as all results are; tests may stand beside code.
        let is_code = !matches!(language, Language::Json | Language::Xml);
        if is_code && std::fs::read_to_string(&path).is_ok_and(|text| !text.contains(HEADER)) {
            let message = format!("--tests {}: it was not written by this command; name another file", path.display());
            return Err(BadInput(message));
        }
        let names = match &arguments.names {
            Some(table) => read_names(table)?,
            None => Names::default(),
        };
        Ok(Some(Self { path, language, names, table: arguments.names.clone() }))
    }

    /// Writes the tests, and the template of an adapter beside them, unless it is there.
    pub(super) fn write(&self, tests: &NamedTests) -> anyhow::Result<()> {
        self.check(tests)?;
        // Simulated runs may have missed what a name is for; for other tests it is an error.
        let unused = self.names.unused(tests);
        if let (Some(table), Paths::Simulated, [_, ..]) = (&self.table, tests.paths, &unused[..]) {
            output::tell(&format!("{}: no test case has {}", table.display(), unused.join(", ")));
        }
        let written = files(tests, &self.names, self.language).map_err(|error| {
            BadInput(match &self.table {
                Some(table) => format!("--names {}: {error}", table.display()),
                None => format!("--tests {}: {error}; --names has other names", self.path.display()),
            })
        })?;
        let mut beside = written.into_iter();
        if let Some(file) = beside.next() {
            output::write_named(&self.path, &file.bytes)?;
        }
        for file in beside {
            let path = self.path.with_file_name(&file.name);
            if file.is_template && path.exists() {
                output::tell(&format!(
                    "{}: it stays as it is; other names or events need other methods there",
                    path.display()
                ));
                continue;
            }
            if let Some(folder) = path.parent() {
                let context = || format!("cannot make {}; name another file", folder.display());
                std::fs::create_dir_all(folder).with_context(context)?;
            }
            output::write_named(&path, &file.bytes)?;
            output::tell(&format!("{}: say there how your implementation is called", path.display()));
        }
        Ok(())
    }

    /// Refuses tests that cannot fail.
    fn check(&self, tests: &NamedTests) -> Result<(), BadInput> {
        let has_none = |reason: &str| {
            let NamedTests { net, .. } = tests;
            Err(BadInput(format!("--tests {}: {}", self.path.display(), reason.replace("NET", net))))
        };
        if tests.cases.is_empty() {
            return has_none("no run of the net NET comes to an end, so there is no test case");
        }
        if tests.cases.iter().all(|case| case.inputs.is_empty()) {
            return has_none("the net NET has no stimuli: say what a tester does by `.input` of transitions");
        }
        if tests.cases.iter().all(|case| case.outcomes.iter().all(Vec::is_empty)) {
            return has_none("the net NET has no observations: say what a tester sees by `.output` of transitions");
        }
        Ok(())
    }
}

fn read_names(table: &Path) -> Result<Names, BadInput> {
    let refuse = |error: &dyn std::fmt::Display| BadInput(format!("--names {}: {error}", table.display()));
    let text = std::fs::read_to_string(table).map_err(|error| refuse(&error))?;
    toml::from_str(&text).map_err(|error| refuse(&error.to_string().trim_end()))
}

#[cfg(test)]
mod checks {
    use serde_json::json;
    use simutant_nets::exploring::NamedCase;

    use super::*;

    #[test]
    fn tests_that_cannot_fail_are_refused() {
        let path = PathBuf::from("tests.py");
        let file = TestFile { path, language: Language::Python, names: Names::default(), table: None };
        let case = |input: &[&str], output: &[&str]| {
            let events = |events: &[&str]| events.iter().map(|event| json!(event)).collect::<Vec<_>>();
            NamedCase { inputs: events(input), outcomes: vec![events(output)] }
        };
        let refusal = |cases| {
            let tests = NamedTests {
                net: "office".into(),
                arguments: Vec::new(),
                paths: Paths::All,
                endless: 0,
                repeated: Vec::new(),
                cases,
            };
            file.check(&tests).err().map(|BadInput(message)| message)
        };
        let cases = [
            (vec![], Some("no run of the net office comes to an end, so there is no test case")),
            (vec![case(&[], &["sold"])], Some("has no stimuli: say what a tester does by `.input` of transitions")),
            (
                vec![case(&["ask"], &[])],
                Some("has no observations: say what a tester sees by `.output` of transitions"),
            ),
            (vec![case(&[], &[]), case(&["ask"], &["sold"])], None),
        ];
        for (cases, expect) in cases {
            let refusal = refusal(cases);
            assert_eq!(refusal.is_some(), expect.is_some(), "{refusal:?}");
            assert!(refusal.unwrap_or_default().contains(expect.unwrap_or_default()));
        }
    }
}
