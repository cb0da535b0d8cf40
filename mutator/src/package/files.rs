//! Which files of a package are specification: names and patterns in a manifest, made into a list.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use glob::{MatchOptions, Pattern};

use crate::syntax::module_files::ModuleFile;

/// Returns the files below `root` that the entries name, each once: in the order of the entries, and those of a pattern
/// by name. Paths are relative to `root`, with `/`. A pattern does not name modules that are left out
/// and do not count.
///
/// # Errors
/// The entry that names no file below `root`, and why.
pub(crate) fn specification_files(
    root: &Path,
    entries: &[String],
    modules: &BTreeMap<PathBuf, ModuleFile>,
) -> Result<Vec<String>, String> {
    let mut files: Vec<String> = Vec::new();
    for entry in entries {
        let found = files_of(root, entry, modules).map_err(|reason| format!("`{entry}` {reason}"))?;
        files.extend(found.into_iter().filter(|file| !files.contains(file)).collect::<Vec<_>>());
    }
    Ok(files)
}

fn files_of(root: &Path, entry: &str, modules: &BTreeMap<PathBuf, ModuleFile>) -> Result<Vec<String>, String> {
    // A path that leads out of the package would be written outside of its copy, too.
    let is_inside = |component| matches!(component, Component::Normal(_) | Component::CurDir);
    if !Path::new(entry).components().all(is_inside) {
        return Err(format!("is not below {}", root.display()));
    }
    if root.join(entry).is_file() {
        return Ok(vec![plain(Path::new(entry))]);
    }
    if !entry.contains(['*', '?', '[']) {
        return Err(format!("is no file of {}", root.display()));
    }
    let pattern = format!("{}/{entry}", Pattern::escape(&root.to_string_lossy()));
    let options =
        MatchOptions { require_literal_separator: true, require_literal_leading_dot: true, ..MatchOptions::new() };
    let found = glob::glob_with(&pattern, options).map_err(|error| format!("is no pattern: {error}"))?;
    let left_out = |path: &PathBuf| modules.get(path).and_then(|module| module.left_out.as_ref());
    let counts = |path: &PathBuf| left_out(path).is_none_or(|left_out| left_out.counts);
    let files = found.filter_map(Result::ok).filter(|path| path.is_file() && counts(path));
    let files: Vec<PathBuf> = files.collect();
    let is_compiled = files.iter().any(|path| left_out(path).is_none());
    let mut files: Vec<String> = files.iter().filter_map(|path| path.strip_prefix(root).ok().map(plain)).collect();
    files.sort();
    if is_compiled { Ok(files) } else { Err(format!("matches no file of {}", root.display())) }
}

/// Returns a path in its shortest form, with `/`.
fn plain(path: &Path) -> String {
    let names = path.components().filter(|component| *component != Component::CurDir);
    names.map(|component| component.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::module_files::LeftOutModule;

    /// A folder with some files, one of which has a name that looks like a pattern.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for file in [
            "src/lib.rs",
            "src/b.rs",
            "src/a.rs",
            "src/deep/c.rs",
            "src/deep/e.rs",
            "src/f.rs",
            "src/[d].rs",
            "src/notes.md",
        ] {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().expect("it has one")).expect("it can be written");
            std::fs::write(path, "").expect("it can be written");
        }
        folder
    }

    #[track_caller]
    fn check(entries: &[&str], expect: Result<&[&str], &str>) {
        let folder = folder();
        let entries: Vec<String> = entries.iter().map(|entry| (*entry).to_owned()).collect();
        let left_out = |file, counts| {
            let left_out = Some(LeftOutModule { reason: String::new(), counts });
            (folder.path().join(file), ModuleFile { left_out, ..ModuleFile::default() })
        };
        let left_out = [left_out("src/deep/e.rs", false), left_out("src/f.rs", false), left_out("src/a.rs", true)];
        match (specification_files(folder.path(), &entries, &left_out.into()), expect) {
            (Ok(files), Ok(expect)) => assert_eq!(files, expect),
            (Err(message), Err(expect)) => assert!(message.starts_with(expect), "{message}"),
            (result, _) => panic!("{result:?}"),
        }
    }

    #[test]
    fn names_stay_in_order_and_patterns_are_sorted() {
        check(&["src/b.rs", "src/a.rs"], Ok(&["src/b.rs", "src/a.rs"]));
        check(&["src/?.rs"], Ok(&["src/a.rs", "src/b.rs"]));
        check(&["src/*.rs"], Ok(&["src/[d].rs", "src/a.rs", "src/b.rs", "src/lib.rs"]));
        check(&["src/deep/**/*.rs"], Ok(&["src/deep/c.rs"]));
        check(&["src/f.rs"], Ok(&["src/f.rs"]));
        check(&["./src/./a.rs"], Ok(&["src/a.rs"]));
        check(&["src/[d].rs"], Ok(&["src/[d].rs"]));
    }

    #[test]
    fn a_file_is_there_once() {
        check(&["src/b.rs", "src/?.rs", "./src/b.rs"], Ok(&["src/b.rs", "src/a.rs"]));
    }

    #[test]
    fn what_names_no_file_below_the_folder_is_refused() {
        check(&["src/e.rs"], Err("`src/e.rs` is no file of "));
        check(&["src"], Err("`src` is no file of "));
        check(&["src/e*.rs"], Err("`src/e*.rs` matches no file of "));
        check(&["src/***"], Err("`src/***` is no pattern: "));
        check(&["../src/a.rs"], Err("`../src/a.rs` is not below "));
        check(&["/etc/passwd"], Err("`/etc/passwd` is not below "));
    }
}
