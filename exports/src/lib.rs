//! Studies in the formats of other tools.
//!
//! Every function here takes a [`Study`](simutant_analysis::Study), or its suite, and returns bytes: the same for the
//! same study. Nothing is run, and no file is written or read. [`net_tests`] takes the test cases of a net instead.
//!
//! | module | for | format |
//! | --- | --- | --- |
//! | [`junit`] | continuous integration | JUnit XML, as Jenkins, GitLab and others read it |
//! | [`sarif`] | code scanning | SARIF 2.1.0 |
//! | [`elements`] | viewers of mutation testing | the JSON of mutation-testing-elements, schema version 2 |
//! | [`test_code`] | running a suite without Simutant | Rust for `cargo test`, Python for pytest |
//! | [`net_tests`] | running the test cases of a net without Simutant | JSON, XML, tests in Rust, Go and Python |
//! | [`table`], [`tables`] | notebooks and papers | CSV, LaTeX, and Parquet with the feature `parquet` |
//!
//! Plots are drawings of the report: `simutant_report::plots`.
//!
//! # What other formats cannot say
//! A mutant that ends abnormally is killed here. The formats that have a word for such mutants mean one that could not
//! be tested by it, so they are given as killed. Where a format has no virtual time, no time stands there: a study has
//! no other.

mod change;
pub mod elements;
pub mod junit;
pub mod net_tests;
#[cfg(feature = "parquet")]
mod parquet;
pub mod sarif;
pub mod table;
pub mod tables;
pub mod test_code;
mod xml;

/// Where the source is, for those who read places in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Root {
    /// What comes before the paths of the specification files, which are relative to the package's folder: the way
    /// there from the root of the repository, with a `/` at its end, or nothing.
    pub prefix: String,
}

impl Root {
    /// Returns the root for a folder, which may be written with or without a `/` at its end.
    pub fn new(folder: &str) -> Self {
        let folder = folder.trim_start_matches("./").trim_end_matches('/');
        Self { prefix: if matches!(folder, "" | ".") { String::new() } else { format!("{folder}/") } }
    }

    fn path(&self, path: &str) -> String {
        format!("{}{path}", self.prefix)
    }
}

/// A file that an export gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportedFile {
    /// Its name, perhaps with a folder before it and `/` between.
    pub name: String,
    /// What is in it.
    pub bytes: Vec<u8>,
    /// Whether it is for the user to change: one that is there stays as it is.
    pub is_template: bool,
}

impl ExportedFile {
    /// Returns a file that is written anew each time.
    pub fn new(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { name: name.into(), bytes: bytes.into(), is_template: false }
    }

    fn template(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { is_template: true, ..Self::new(name, bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_is_a_prefix_of_paths() {
        for (folder, expect) in [
            ("", "src/a.rs"),
            (".", "src/a.rs"),
            ("./", "src/a.rs"),
            ("systems", "systems/src/a.rs"),
            ("./x/y/", "x/y/src/a.rs"),
        ] {
            assert_eq!(Root::new(folder).path("src/a.rs"), expect, "{folder}");
        }
    }
}
