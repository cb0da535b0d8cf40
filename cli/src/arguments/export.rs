//! What `export` takes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// The system, whose study is in out/SYSTEM or in the folder of --out.
    pub(crate) system: String,
    /// The formats to write, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',', required = true, value_name = "FORMAT")]
    pub(crate) format: Vec<FormatArgument>,
    /// The file to write, or the folder for formats of several files [default: in the folder `export` of
    /// the study].
    #[arg(long, value_name = "PATH")]
    pub(crate) to: Option<PathBuf>,
    /// The package's folder as seen from the root of the repository, which reports put before the paths of source
    /// files.
    #[arg(long, default_value = "", value_name = "DIR")]
    pub(crate) source_root: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArgument {
    /// JUnit XML, in which a mutant is a test that fails if it survives.
    Junit,
    /// SARIF 2.1.0: survivors and uncovered requirements for code scanning.
    Sarif,
    /// The JSON of mutation-testing-elements, for viewers of mutation testing.
    MutationElements,
    /// The suite as tests for `cargo test`, into the folder tests of a package.
    Libtest,
    /// The suite as tests for pytest.
    Pytest,
    /// All tables of the study as CSV.
    Csv,
    /// All tables of the study as Parquet.
    Parquet,
    /// Tables for a paper, with the rules of booktabs.
    Latex,
    /// The plots of the report.
    Svg,
}
