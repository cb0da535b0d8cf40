//! What people say of mutants: a file beside the manifest, kept by stable identity.
//!
//! ```toml
//! [gbn.9a3c01f75b2e8d46]
//! judged = "equivalent"
//! reason = "the window is never empty here"
//! mutant = "ROR src/gbn/sender.rs:41: base < next -> base != next"
//! ```
//!
//! A table is a system and the identity of one of its mutants. `mutant` is for people who read the file; a program asks
//! for the identity alone, so an edit elsewhere in the code changes nothing. The file is edited in place: comments and
//! order stay.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use simutant_outcomes::{Judged, Judgement, Mutant, Sites};
use toml_edit::{DocumentMut, Item, Table, value};

/// The file's name, unless the manifest says otherwise.
pub(crate) const FILE: &str = "simutant-judgements.toml";

/// What the name of any such file ends in. So it is never taken for a source of the package, and judging compiles
/// nothing again.
pub(crate) const FILE_END: &str = "judgements.toml";

/// What a new file begins with.
const HEAD: &str = "# What people found out about mutants by reading them. `simutant judge` adds to this file, and it can be edited.\n\n";

/// The most characters of code that a change shows on each side.
const CODE_CHARACTERS_MAX: usize = 60;

/// Why judgements cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JudgementsError {
    /// The file is not TOML, or a field is missing, unknown or of another type.
    #[error("{path}: {message}; a table [SYSTEM.IDENTITY] has `judged` (\"equivalent\" or \"killable\") and `reason`")]
    Malformed {
        /// The file.
        path: String,
        /// What is wrong, with the line.
        message: String,
    },
    /// A judgement gives no reason.
    #[error("{path}: [{system}.{identity}] has no reason; say why, for those who read it after you")]
    NoReason {
        /// The file.
        path: String,
        /// The system.
        system: String,
        /// The mutant.
        identity: String,
    },
    /// The file cannot be read.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// What the operating system says.
        source: std::io::Error,
    },
}

/// A table of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    judged: Judged,
    reason: String,
    /// For people.
    #[serde(rename = "mutant")]
    _mutant: Option<String>,
}

/// Returns the judgements on mutants of `system` in a file, by identity; none if there is no file.
///
/// # Errors
/// [`JudgementsError`], which names the file and the cure.
pub fn read_judgements(path: &Path, system: &str) -> Result<BTreeMap<String, Judgement>, JudgementsError> {
    let text = text_of(path)?;
    let name = path.display().to_string();
    let mut systems: BTreeMap<String, BTreeMap<String, Entry>> = toml::from_str(&text)
        .map_err(|error| JudgementsError::Malformed { path: name.clone(), message: error.to_string() })?;
    let entries = systems.remove(system).unwrap_or_default();
    entries
        .into_iter()
        .map(|(identity, Entry { judged, reason, .. })| {
            if reason.trim().is_empty() {
                return Err(JudgementsError::NoReason { path: name.clone(), system: system.to_owned(), identity });
            }
            Ok((identity, Judgement { judged, reason }))
        })
        .collect()
}

/// Returns the text of the file at `path` with a judgement on a mutant added, or put in the place of the one that was
/// there.
///
/// # Errors
/// [`JudgementsError`] if the file that is there cannot be used, or the judgement has no reason.
pub fn with_judgement(
    path: &Path,
    sites: &Sites,
    mutant: &Mutant,
    judgement: &Judgement,
) -> Result<String, JudgementsError> {
    let (system, identity) = (&sites.system, &mutant.identity);
    let name = path.display().to_string();
    if judgement.reason.trim().is_empty() {
        let (system, identity) = (system.clone(), identity.clone());
        return Err(JudgementsError::NoReason { path: name, system, identity });
    }
    read_judgements(path, system)?;
    let text = text_of(path)?;
    let malformed = |message: String| JudgementsError::Malformed { path: name.clone(), message };
    let head = if text.trim().is_empty() { HEAD } else { "" };
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| malformed(error.to_string()))?;
    let of_system = document.entry(system).or_insert_with(|| {
        let mut table = Table::new();
        // Only the mutants have tables that are seen.
        table.set_implicit(true);
        Item::Table(table)
    });
    let of_system = of_system.as_table_like_mut().ok_or_else(|| malformed(format!("`{system}` is not a table")))?;
    let entry = of_system.entry(identity).or_insert_with(|| Item::Table(Table::new()));
    let entry = entry.as_table_like_mut().ok_or_else(|| malformed(format!("`{system}.{identity}` is not a table")))?;
    entry.insert("judged", value(judgement.judged.to_string()));
    entry.insert("reason", value(judgement.reason.trim()));
    entry.insert("mutant", value(described(sites, mutant)));
    Ok(format!("{head}{document}"))
}

/// Returns where and what a mutant is, on one line.
pub(crate) fn described(sites: &Sites, mutant: &Mutant) -> String {
    let on_one_line = |code: &str| {
        let code = code.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut short: String = code.chars().take(CODE_CHARACTERS_MAX).collect();
        if short.len() < code.len() {
            short.push('…');
        }
        short
    };
    let Mutant { operator, span, original, replacement, .. } = mutant;
    let path = &sites.files[span.file].path;
    format!("{operator} {path}:{}: {} -> {}", span.line, on_one_line(original), on_one_line(replacement))
}

fn text_of(path: &Path) -> Result<String, JudgementsError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(source) => Err(JudgementsError::Io { path: path.display().to_string(), source }),
    }
}

#[cfg(test)]
mod tests {
    use simutant_outcomes::{Class, SourceFile, Span, Tier};

    use super::*;

    fn sites() -> Sites {
        let text = "a\nb < c\n";
        let mutant = |number: usize, replacement: &str| Mutant {
            identity: format!("{number:016x}"),
            operator: "ROR".into(),
            tier: Tier::A,
            class: Class::General,
            tag: None,
            function: 0,
            span: Span { file: 0, start: 2, end: 7, line: 2, column: 1, line_end: 2 },
            original: "b < c".into(),
            replacement: replacement.into(),
            parts: None,
        };
        Sites {
            package: "small".into(),
            system: "small".into(),
            files: vec![SourceFile { path: "src/a.rs".into(), text: text.into() }],
            mutants: vec![mutant(0xa, "b <= c"), mutant(0xb, "b == \"c\"")],
            ..Sites::default()
        }
    }

    /// Judges mutant `number`, and writes and reads the file.
    fn judge(path: &Path, number: usize, judged: Judged, reason: &str) -> BTreeMap<String, Judgement> {
        let sites = sites();
        let judgement = Judgement { judged, reason: reason.into() };
        let text = with_judgement(path, &sites, &sites.mutants[number], &judgement).expect("it can be judged");
        std::fs::write(path, text).expect("a temporary folder can be written");
        read_judgements(path, "small").expect("it can be read back")
    }

    #[test]
    fn judgements_are_added_and_replaced_and_the_rest_of_the_file_stays() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join(FILE);
        assert!(read_judgements(&path, "small").expect("no file is no judgement").is_empty());
        judge(&path, 0, Judged::Killable, "first");
        let text = std::fs::read_to_string(&path).expect("it was written");
        let mine = "\n# Mine.\n[other.00000000000000ff]\njudged = \"equivalent\" # sure\nreason = \"r\"\n";
        std::fs::write(&path, text + mine).expect("a temporary folder can be written");
        judge(&path, 1, Judged::Killable, " \"quoted\" \\ ");
        let all = judge(&path, 0, Judged::Equivalent, "second");
        let of = |judged, reason: &str| Judgement { judged, reason: reason.into() };
        let expected = [(0xa, of(Judged::Equivalent, "second")), (0xb, of(Judged::Killable, "\"quoted\" \\"))];
        assert_eq!(all, expected.map(|(number, judgement)| (format!("{number:016x}"), judgement)).into());
        insta::assert_snapshot!(std::fs::read_to_string(&path).expect("it was written"));
    }

    #[test]
    fn a_damaged_file_is_named_with_its_line_and_the_cure() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join(FILE);
        let check = |text: &str, expect: &str| {
            std::fs::write(&path, text).expect("a temporary folder can be written");
            let error = read_judgements(&path, "small").expect_err("it is damaged").to_string();
            assert!(error.contains(expect) && error.contains(FILE), "{error}");
        };
        check("[small.a]\njudged = \"maybe\"\nreason = \"r\"\n", "unknown variant `maybe`");
        check("[small.a]\njudged = \"equivalent\"\n", "missing field `reason`");
        check("[small.a]\njudged = \"equivalent\"\nreason = \" \"\n", "[small.a] has no reason");
        check("[small.a]\njudged = \"killable\"\nreason = \"r\"\n[small.a]\n", "duplicate key");
        check("small = 3\n", "line 1");
        let sites = sites();
        let empty = Judgement { judged: Judged::Killable, reason: "\n".into() };
        let error = with_judgement(&path, &sites, &sites.mutants[0], &empty).expect_err("there is no reason");
        assert!(matches!(error, JudgementsError::NoReason { .. }), "{error}");
    }
}
