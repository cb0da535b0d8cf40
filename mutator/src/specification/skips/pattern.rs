//! Patterns in the manifest that leave code out of mutation.

use std::path::Path;

use glob::{MatchOptions, Pattern};
use serde::Deserialize;
use toml::de::DeTable;

use super::{Skip, selection};
use crate::syntax::source::Source;

/// An entry of `skip` in the manifest's section of a system.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SkipPattern {
    /// The functions: a name, or the end of a path; `*` stands for any text.
    function: Option<String>,
    /// The files, as `specification` names them.
    file: Option<String>,
    /// The operators; all if there is no list.
    #[serde(default)]
    operators: String,
    /// Why.
    #[serde(default)]
    reason: String,
}

impl SkipPattern {
    /// Returns what it leaves out: functions, or whole files if it names none.
    pub(super) fn skips(&self, sources: &[Source]) -> Result<Vec<Skip>, String> {
        let Self { function, file, operators, reason } = self;
        if reason.trim().is_empty() {
            return Err("an entry of `skip` has no `reason`".to_owned());
        }
        let operators = selection(operators.trim())?;
        let pattern = |text: &Option<String>| {
            text.as_deref().map(Pattern::new).transpose().map_err(|error| format!("`skip`: {error}"))
        };
        let (functions, files) = (pattern(function)?, pattern(file)?);
        let skip = |file, range, path: &String| Skip {
            file,
            range,
            path: path.clone(),
            operators: operators.clone(),
            reason: reason.trim().to_owned(),
        };
        let options = MatchOptions { require_literal_separator: true, ..MatchOptions::new() };
        let of_files = sources
            .iter()
            .enumerate()
            .filter(|(_, source)| files.as_ref().is_none_or(|files| files.matches_with(&source.file.path, options)));
        let found: Vec<Skip> = match &functions {
            None if files.is_none() => return Err("an entry of `skip` names no `function` and no `file`".to_owned()),
            None => {
                of_files.map(|(number, source)| skip(number, 0..source.file.text.len(), &source.file.path)).collect()
            }
            Some(functions) => of_files
                .flat_map(|(number, source)| source.functions.iter().map(move |function| (number, function)))
                .filter(|(_, function)| is_named(functions, &function.path))
                .map(|(number, function)| skip(number, function.range.clone(), &function.path))
                .collect(),
        };
        if found.is_empty() {
            let named = |name: &str, text: &Option<String>| text.as_ref().map(|text| format!("{name} `{text}`"));
            let named: Vec<String> = named("function", function).into_iter().chain(named("file", file)).collect();
            return Err(format!("`skip` matches nothing of the specification: {}", named.join(" of ")));
        }
        Ok(found)
    }
}

/// Returns whether a pattern stands for a path or for the end of it.
fn is_named(pattern: &Pattern, path: &str) -> bool {
    let ends = path.match_indices("::").map(|(at, colons)| &path[at + colons.len()..]);
    std::iter::once(path).chain(ends).any(|end| pattern.matches(end))
}

/// Returns the line of an entry of `skip` in a manifest, from 1.
pub(super) fn line_of(manifest: &Path, system: &str, number: usize) -> Option<usize> {
    let text = std::fs::read_to_string(manifest).ok()?;
    let document = DeTable::parse(&text).ok()?;
    let mut table = document.get_ref();
    for key in ["package", "metadata", "simutant", "systems", system] {
        table = table.get(key)?.get_ref().as_table()?;
    }
    let entry = table.get("skip")?.get_ref().as_array()?.get(number)?;
    Some(text[..entry.span().start].matches('\n').count() + 1)
}
