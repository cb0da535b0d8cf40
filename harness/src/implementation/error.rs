//! What can be wrong with an implementation's file.

use std::path::PathBuf;

/// Why an implementation cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImplementationError {
    /// No folder has a file of that name.
    #[error(
        "there is no implementation `{name}`: looked for {name}.toml in {}; there are: {}. Give one of these, or the path of a .toml file",
        list(folders.iter().map(|folder| folder.display().to_string())),
        list(available.iter().cloned())
    )]
    NotFound {
        /// The name that was asked for.
        name: String,
        /// Where it was looked for.
        folders: Vec<PathBuf>,
        /// What was found there.
        available: Vec<String>,
    },
    /// Test cases that run at the same time would add to one file, and each be judged by the calls of all.
    #[error(
        "{}: `file` of `[driver.history]` is {file}, which all test cases share; let it begin with {{fixture}} or {{work}}, or \
         let the driver copy what is of its test case",
        path.display()
    )]
    SharedHistory {
        /// The implementation's file.
        path: PathBuf,
        /// The file of histories.
        file: String,
    },
    /// The file cannot be read.
    #[error("cannot read {}: {source}; check the path and its permissions", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The file is not TOML, or a field is missing, unknown or of another type.
    #[error("{}: {source}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Says the line and the field.
        source: Box<toml::de::Error>,
    },
    /// Its name would be no name of a file.
    #[error("{}: field `name` is `{name}`; give a name of letters, digits, `.`, `_` and `-`, since files of results have it", path.display())]
    Name {
        /// The file.
        path: PathBuf,
        /// The name.
        name: String,
    },
    /// A rule is waived that the oracle does not have.
    #[error("{}: waives the rule {rule}, and the oracle {}", path.display(), known_rules(known))]
    NoRule {
        /// The file.
        path: PathBuf,
        /// The rule.
        rule: String,
        /// The rules that there are.
        known: Vec<String>,
    },
    /// The folder of the build cannot be used.
    #[error("{}: field `build_in`: {reason}", path.display())]
    BuildFolder {
        /// The file.
        path: PathBuf,
        /// What is wrong with the folder.
        reason: String,
    },
    /// There are sides, and no testbed of the system says what they are for.
    #[error(
        "{}: there is no testbed for the sides of `{system}`{}; give a `[driver]` with a command that runs a test case and judges it, which any system may have",
        path.display(), known_systems(known)
    )]
    NoTestbed {
        /// The file.
        path: PathBuf,
        /// The system in the file.
        system: String,
        /// The systems that have a testbed.
        known: Vec<String>,
    },
    /// There are both sides and a driver.
    #[error("{}: there are a `[driver]` and `[[side]]` tables; the driver runs all of a test case, so keep one of both", path.display())]
    DriverAndSides {
        /// The file.
        path: PathBuf,
    },
    /// The sides are not those of the system, each once.
    #[error(
        "{}: the sides are {}, but an implementation of `{system}` has exactly these, in any order: {}; correct the `[[side]]` tables",
        path.display(), list(found.iter().cloned()), or(needed)
    )]
    Sides {
        /// The file.
        path: PathBuf,
        /// The system.
        system: String,
        /// The sides in the file.
        found: Vec<String>,
        /// The sides of the system, in each of the ways in which it may be cut into sides.
        needed: Vec<Vec<String>>,
    },
    /// There is a fixture that the testbed does not use, or none although it needs one.
    #[error(
        "{}: {}", path.display(),
        if *has_one {
            format!("the testbed of `{system}` uses no fixture; remove the `[fixture]` table")
        } else {
            format!("test cases of `{system}` share what outlives them; say in a `[fixture]` table how that is started")
        }
    )]
    Fixture {
        /// The file.
        path: PathBuf,
        /// The system.
        system: String,
        /// Whether the file has one.
        has_one: bool,
    },
    /// A command has no program.
    #[error("{}: field {field} is empty; give the program and its arguments as a list of texts", path.display())]
    EmptyCommand {
        /// The file.
        path: PathBuf,
        /// The field, and the side that has it.
        field: String,
    },
    /// A command has a placeholder that is not known there.
    #[error(
        "{}: field {field}: `{{{placeholder}}}` is not known here; known: {}. For braces of your own write {{{{ and }}}}",
        path.display(), list(known.iter().cloned())
    )]
    UnknownPlaceholder {
        /// The file.
        path: PathBuf,
        /// The field, and the side that has it.
        field: String,
        /// The name between the braces.
        placeholder: String,
        /// What is known there.
        known: Vec<String>,
    },
    /// A brace is open or closed alone.
    #[error("{}: field {field}: a brace in `{text}` stands alone; for braces of your own write {{{{ and }}}}", path.display())]
    LoneBrace {
        /// The file.
        path: PathBuf,
        /// The field, and the side that has it.
        field: String,
        /// The argument.
        text: String,
    },
    /// A file of a side would not be in the private folder.
    #[error("{}: `file` of {side}: field `name` is `{name}`; give a name without slashes: files are made in {{work}}", path.display())]
    FileName {
        /// The implementation's file.
        path: PathBuf,
        /// The side, as the file has it.
        side: String,
        /// The name.
        name: String,
    },
    /// The package whose mutants can be tried is not there.
    #[error("{}: field `manifest` of `mutants`: there is no file {}; give the path of the package's Cargo.toml from the folder of this file", path.display(), manifest.display())]
    NoManifest {
        /// The implementation's file.
        path: PathBuf,
        /// The manifest that is not there.
        manifest: PathBuf,
    },
    /// The package names no file to mutate.
    #[error("{}: field `specification` of `mutants` is empty; name the files of the package that are mutated", path.display())]
    NothingMutated {
        /// The implementation's file.
        path: PathBuf,
    },
    /// A side that has no port cannot be ready when its port is bound.
    #[error("{}: {side}: field `ready` is \"port\", but this side is given no port; use \"started\" or {{ line = \"...\" }}", path.display())]
    NoPort {
        /// The file.
        path: PathBuf,
        /// The side, as the file has it.
        side: String,
    },
}

/// Returns the items with commas between them, or a word for none.
fn list(items: impl Iterator<Item = String>) -> String {
    let text = items.collect::<Vec<_>>().join(", ");
    if text.is_empty() { "none".into() } else { text }
}

/// Returns the lists with a word between them.
fn or(lists: &[Vec<String>]) -> String {
    lists.iter().map(|items| list(items.iter().cloned())).collect::<Vec<_>>().join("; or ")
}

/// Says which systems have a testbed.
fn known_rules(known: &[String]) -> String {
    match known {
        [] => "has no rules that can be waived".to_owned(),
        known => format!("has these: {}", known.join(", ")),
    }
}

fn known_systems(known: &[String]) -> String {
    if known.is_empty() { String::new() } else { format!(" (there are for {})", known.join(", ")) }
}
