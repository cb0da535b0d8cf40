//! Test cases that a person wrote or another tool made, in files.

use std::path::{Path, PathBuf};

use serde_json::Value;
use simutant_outcomes::Suite;

use crate::exit::BadInput;

/// Returns the test cases in files and folders, in the order in which they were given; those of a folder are all its
/// files that end in `.json`, by name. A file has one test case, an array of test cases, or a suite of the system.
///
/// # Errors
/// [`BadInput`] names the file that cannot be read, or that there is no test case.
pub(crate) fn read(paths: &[PathBuf], system: &str) -> Result<Vec<Value>, BadInput> {
    let mut cases = Vec::new();
    for path in paths {
        let before = cases.len();
        for file in files(path)? {
            cases.extend(of_file(&file, system)?);
        }
        if cases.len() == before {
            return Err(BadInput(format!("{}: there is no test case", path.display())));
        }
    }
    Ok(cases)
}

/// Returns the JSON that the value of an option is, or that a file of this name has, with what to call it in messages.
/// `other` says what else the value could have been.
///
/// # Errors
/// [`BadInput`] if it is neither.
pub(crate) fn json_or_file(option: &str, given: &str, other: &str) -> Result<(String, String), BadInput> {
    if given.starts_with(['{', '[', '"']) {
        return Ok((given.to_owned(), option.to_owned()));
    }
    let text = std::fs::read_to_string(given);
    let text = text.map_err(|error| BadInput(format!("{option} {given}: {other}not JSON, and as a file: {error}")))?;
    Ok((text, given.to_owned()))
}

fn files(path: &Path) -> Result<Vec<PathBuf>, BadInput> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let unreadable = |error: std::io::Error| BadInput(format!("{}: {error}", path.display()));
    let entries = std::fs::read_dir(path).map_err(unreadable)?;
    let paths = entries.map(|entry| Ok(entry?.path()));
    let mut files: Vec<PathBuf> = paths.collect::<Result<_, _>>().map_err(unreadable)?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    Ok(files)
}

fn of_file(path: &Path, system: &str) -> Result<Vec<Value>, BadInput> {
    let bad = |error: &dyn std::fmt::Display| BadInput(format!("{}: {error}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| bad(&error))?;
    let value: Value = serde_json::from_str(&text).map_err(|error| bad(&format!("not JSON: {error}")))?;
    let is_suite = ["format_version", "system", "cases"].iter().all(|field| value.get(field).is_some());
    if is_suite {
        let suite = Suite::parse(&text, system).map_err(|error| bad(&error))?;
        return Ok(suite.cases.into_iter().map(|case| case.case).collect());
    }
    Ok(match value {
        Value::Array(cases) => cases,
        case => vec![case],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_its_files_by_name_and_a_file_one_test_case_many_or_a_suite() {
        let folder = tempfile::tempdir().expect("there is room");
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).expect("there is room");
            folder.path().join(name)
        };
        write("b.json", r#"[{"n":2},{"n":3}]"#);
        write("a.json", r#"{"n":1}"#);
        write("notes.txt", "not JSON");
        let suite = r#"{"format_version":1,"system":"arq","criterion":"c","chosen":"","seed":1,"mutant_score":null,"dominator_score":null,"cases":[{"name":"arq-0004","case":{"n":4}}]}"#;
        write("c.json", suite);
        let numbers = |paths: &[PathBuf]| -> Vec<u64> {
            let cases = read(paths, "arq").expect("all can be read");
            cases.iter().map(|case| case["n"].as_u64().expect("it is there")).collect()
        };
        let all = folder.path().to_owned();
        assert_eq!(numbers(std::slice::from_ref(&all)), [1, 2, 3, 4]);
        assert_eq!(numbers(&[folder.path().join("c.json"), folder.path().join("a.json")]), [4, 1]);

        #[track_caller]
        fn check(path: PathBuf, system: &str, expect: &str) {
            let BadInput(message) = read(&[path], system).expect_err("it is bad");
            assert!(message.contains(expect), "{message}");
        }
        check(all, "gbn", "c.json: field `system` is `arq`, but the command is for `gbn`");
        check(folder.path().join("notes.txt"), "arq", "notes.txt: not JSON: ");
        check(folder.path().join("none.json"), "arq", "none.json: ");
        check(write("empty.json", "[]"), "arq", "empty.json: there is no test case");
    }
}
