//! Constants of implementations that have other values in the specification.

use std::path::{Path, PathBuf};

use serde::Serialize;
use simutant_harness::Implementation;
use simutant_mutator::{ConstantDifference, MutatorError, NamedConstant, differences, named_constants, source_files};

use crate::arguments::SystemArguments;
use crate::{build, output};

/// A name that has other values in implementations than in the specification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Differing {
    /// The names of the implementations that have these values.
    pub(crate) implementations: Vec<String>,
    #[serde(flatten)]
    pub(crate) difference: ConstantDifference,
}

/// A result, and what differs between those that it is about.
#[derive(Debug, Serialize)]
pub(crate) struct Compared<'a, T> {
    #[serde(flatten)]
    pub(crate) result: &'a T,
    /// The constants of the specification that have other values in implementations, as far as their sources are known.
    #[serde(skip_serializing_if = "<[Differing]>::is_empty")]
    pub(crate) constants: &'a [Differing],
}

/// Returns which constants of the system differ in implementations whose sources are known, and warns of each on
/// standard error. What cannot be compared is warned of too, and is no error: no result depends on it.
pub(crate) fn compare(arguments: &SystemArguments, implementations: &[Implementation]) -> Vec<Differing> {
    let known: Vec<&Implementation> =
        implementations.iter().filter(|implementation| !implementation.sources().1.is_empty()).collect();
    if known.is_empty() {
        return Vec::new();
    }
    let specification = match build::find(arguments).and_then(|found| Ok(constants(&found.package.sources())?)) {
        Ok(specification) => specification,
        Err(error) => {
            output::tell(&format!("warning: constants are not compared with the specification's: {error}"));
            return Vec::new();
        }
    };
    let differing = differing(&specification, &known);
    for Differing { implementations, difference } in &differing {
        output::tell(&format!("warning: {}", difference.sentence(&called(implementations))));
    }
    differing
}

/// Returns what differs, each once, with all implementations in which it does.
fn differing(specification: &[NamedConstant], implementations: &[&Implementation]) -> Vec<Differing> {
    let mut all: Vec<Differing> = Vec::new();
    for implementation in implementations {
        let (folder, entries) = implementation.sources();
        let name = &implementation.name;
        let found =
            source_files(&folder, entries).and_then(|files| constants(&files).map_err(|error| error.to_string()));
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                output::tell(&format!("warning: constants of {name} are not compared: `sources`: {error}"));
                continue;
            }
        };
        for difference in differences(specification, &found) {
            match all.iter_mut().find(|known| known.difference == difference) {
                Some(known) => known.implementations.push(name.clone()),
                None => all.push(Differing { implementations: vec![name.clone()], difference }),
            }
        }
    }
    all
}

fn constants(files: &[PathBuf]) -> Result<Vec<NamedConstant>, MutatorError> {
    let mut all = Vec::new();
    for file in files {
        let file = file.canonicalize().unwrap_or_else(|_| file.clone());
        let text = std::fs::read_to_string(&file).map_err(|error| MutatorError::Io {
            action: "read",
            path: file.clone(),
            error,
        })?;
        all.extend(named_constants(&shown(&file), &text)?);
    }
    Ok(all)
}

/// Returns a path as it is named from the working directory, if it is below that.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    let relative = here.as_ref().ok().and_then(|here| path.strip_prefix(here).ok());
    relative.unwrap_or(path).display().to_string()
}

/// Returns what implementations are called in a sentence.
fn called(names: &[String]) -> String {
    match names {
        [first, second, rest @ ..] if !rest.is_empty() => format!("{first}, {second} and {} more", rest.len()),
        names => names.join(" and "),
    }
}

#[cfg(test)]
mod tests {
    use simutant_harness::Testbeds;

    use super::*;

    fn implementation(name: &str, folder: &Path, sources: &[&str]) -> Implementation {
        let text = format!(
            "name = '{name}'\nsystem = 'gbn'\ndescription = ''\nsources = {sources:?}\n[driver]\ncommand = ['true']"
        );
        Testbeds::NONE.parse(&text, Path::new("mine.toml"), folder).expect("an implementation")
    }

    #[test]
    fn what_differs_is_said_once_with_all_that_have_it() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("room");
        write(
            "spec.rs",
            "const WINDOW_MAX: u32 = 32;\nconst TIMEOUT: VirtualDuration = VirtualDuration::from_millis(15);",
        );
        write("mine.rs", "\nfn window_max(&self) -> u32 { 16 }\nconst TIMEOUT_MS: u64 = 15;");
        write("fault.rs", "const TIMEOUT_MS: u64 = 20;");
        let specification = constants(&[folder.path().join("spec.rs")]).expect("it parses");
        let all = [
            implementation("one", folder.path(), &["mine.rs"]),
            implementation("two", folder.path(), &["mine.rs", "fault.rs"]),
            implementation("lost", folder.path(), &["no.rs"]),
            implementation("three", folder.path(), &["m*.rs"]),
        ];
        let found = differing(&specification, &all.iter().collect::<Vec<_>>());
        let said: Vec<String> = found
            .iter()
            .map(|differing| {
                let folder = format!("{}/", folder.path().canonicalize().expect("it is there").display());
                differing.difference.sentence(&called(&differing.implementations)).replace(&folder, "")
            })
            .collect();
        let window = "WINDOW_MAX is 32 in the specification (spec.rs:1) and 16 in one, two and 1 more (mine.rs:2)";
        let timeout = "TIMEOUT is 15 ms in the specification (spec.rs:2) and 20 ms in two (fault.rs:1)";
        assert_eq!(said, [window, timeout]);

        let json = |constants: &[Differing]| {
            serde_json::to_value(Compared { result: &serde_json::json!({ "a": 1 }), constants })
        };
        assert_eq!(json(&[]).expect("plain data"), serde_json::json!({ "a": 1 }));
        let json = json(&found[1..]).expect("plain data");
        assert_eq!(json["constants"][0]["implementations"], serde_json::json!(["two"]));
        assert_eq!(json["constants"][0]["implementation"][0]["value"], "20 ms");
    }
}
