//! The files of a net's test cases.

use std::path::{Path, PathBuf};

use simutant_exports::net_tests::{Language, Names, files};
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
        let names = match &arguments.names {
            Some(table) => read_names(table)?,
            None => Names::default(),
        };
        Ok(Some(Self { path, language, names, table: arguments.names.clone() }))
    }

    /// Writes the tests, and the template of an adapter beside them, unless it is there.
    pub(super) fn write(&self, tests: &NamedTests) -> anyhow::Result<()> {
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
                continue;
            }
            output::write_named(&path, &file.bytes)?;
            output::tell(&format!("{}: say there how your implementation is called", path.display()));
        }
        Ok(())
    }
}

fn read_names(table: &Path) -> Result<Names, BadInput> {
    let refuse = |error: &dyn std::fmt::Display| BadInput(format!("--names {}: {error}", table.display()));
    let text = std::fs::read_to_string(table).map_err(|error| refuse(&error))?;
    toml::from_str(&text).map_err(|error| refuse(&error.to_string().trim_end()))
}
