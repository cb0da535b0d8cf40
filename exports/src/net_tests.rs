//! Test cases of a net as files for an implementation in any language.
//!
//! [`files`] writes them as data, in JSON or XML, or as one file of tests in Rust, Go or Python that needs no Simutant.
//! Such a file runs each test case on the user's adapter, for which a template is written. A [`Names`] table puts
//! events, fields and values into the user's words.
//!
//! ```
//! use serde_json::json;
//! use simutant_exports::net_tests::{Language, Names, files};
//! use simutant_nets::Paths;
//! use simutant_nets::exploring::{NamedCase, NamedTests};
//!
//! let tests = NamedTests {
//!     net: "two-phase-commit".into(),
//!     arguments: vec![json!(1)],
//!     paths: Paths::All,
//!     endless: 0, repeated: Vec::new(),
//!     cases: vec![NamedCase {
//!         inputs: vec![json!({ "vote": { "worker": 1, "vote": "no" } })],
//!         outcomes: vec![vec![json!({ "told": { "worker": 1, "decision": "abort" } })]],
//!     }],
//! };
//! let names: Names = toml::from_str("events.vote = 'deliver_vote'")?;
//! let [tests, adapter] = &files(&tests, &names, Language::Python)?[..] else { panic!("there are two") };
//! assert_eq!((&*tests.name, &*adapter.name), ("test_two_phase_commit.py", "two_phase_commit_adapter.py"));
//! assert!(String::from_utf8_lossy(&adapter.bytes).contains("def deliver_vote(self, worker, vote):"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How a test case is run
//! It has an adapter of its own, which is started with the arguments of the net. The calls are made from several
//! threads, all at once unless the names have `order` or `concurrent`, and each must return before the timeout. The
//! test then asks what was observed, until nothing that may still come would change the verdict:
//!
//! - Observations only become more. Where they are no part of a larger outcome, waiting is over.
//! - Where they are an allowed outcome and part of a larger one, they must stay the same for `settle` seconds.
//! - At the deadline, or when the adapter's `is_done` says so, a missing observation is a failure like a wrong one.
//!
//! The adapter is then stopped, and asked once more. An observation that came late and that no allowed outcome has is a
//! failure. One that is missing then is none: the stop may have cut it off.
//!
//! A failure names the case, its calls, what was observed, the allowed outcomes, and what the nearest one lacks or has
//! not.
//!
//! # Simulated paths
//! Tests of simulated runs do not know all outcomes. One that they do not know is inconclusive, as for
//! [`Tests::judge`](simutant_nets::Tests::judge), and is reported as skipped, with the same text. That is also so where
//! something is missing at the deadline. In a net that loses messages, another run may end with less, and a simulation
//! sees many sets of stimuli only once; so a failure might be a false alarm. A user who knows that a set of stimuli has
//! one outcome says `paths = "all"` in the names. All other outcomes then fail. A call that fails, or does not return,
//! is a failure in any case.
//!
//! # Values
//! Rust and Go have a type for each field: a boolean, an integer, a float, a text, a list, or one that may be missing.
//! Where its values differ otherwise, or are nested, it is text in compact JSON. Texts are no enums, because an
//! implementation may answer what no test case expects; an observation without a type is `Other`.

mod events;
mod go;
mod names;
mod python;
mod rust;
mod text;
mod xml;

use serde_json::Value;
use simutant_nets::exploring::{NamedCase, NamedTests};
use simutant_outcomes::FORMAT_VERSION;

pub use names::{Names, NamesError};

use crate::ExportedFile;
use crate::test_code::identifier;
use events::Program;

/// The words in the header of each file of tests in a language, by which it is told from files of users.
pub const HEADER: &str = "by `simutant explore`";

/// A language that tests are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Data, in the form of [`NamedTests`] with a `format_version`.
    Json,
    /// Data, with an element for each event, and one for each of its fields.
    Xml,
    /// Tests for `cargo test`.
    Rust,
    /// Tests for `go test`.
    Go,
    /// Tests for unittest and pytest.
    Python,
}

impl Language {
    /// Returns the language whose files have such names, by what comes after the last dot.
    pub fn from_extension(extension: &str) -> Option<Self> {
        Some(match extension {
            "json" => Self::Json,
            "xml" => Self::Xml,
            "rs" => Self::Rust,
            "go" => Self::Go,
            "py" => Self::Python,
            _ => return None,
        })
    }
}

/// Returns the tests as files: first the one that has them, and may have another name, then the template of an adapter
/// if there is one.
///
/// # Errors
/// [`NamesError`] if the names do not fit the tests. Names that occur nowhere are no error for simulated tests, which
/// may have missed them: see [`Names::unused`].
pub fn files(tests: &NamedTests, names: &Names, language: Language) -> Result<Vec<ExportedFile>, NamesError> {
    let tests = names.apply(tests)?;
    let data = |extension, text: String| {
        vec![ExportedFile::new(format!("{}_tests.{extension}", identifier(&tests.net)), text)]
    };
    let program = Program::new(&tests, names)?;
    Ok(match language {
        Language::Json => data("json", json(&tests)),
        Language::Xml => data("xml", xml::xml(&tests)),
        Language::Rust => rust::files(&tests, names, &program),
        Language::Go => go::files(&tests, names, &program)?,
        Language::Python => python::files(&tests, names, &program)?,
    })
}

/// Returns the tests as JSON, with a line for the inputs of a case, and one for each outcome.
fn json(tests: &NamedTests) -> String {
    let NamedTests { net, arguments, paths, endless, cases, .. } = tests;
    let (net, paths, arguments) = (Value::from(net.as_str()), serde_json::json!(paths), serde_json::json!(arguments));
    let mut text = format!(
        "{{\n  \"format_version\": {FORMAT_VERSION},\n  \"net\": {net},\n  \"arguments\": {arguments},\n  \
             \"paths\": {paths},\n  \"endless\": {endless},\n  \"cases\": ["
    );
    let events = |events: &Vec<Value>| format!("[{}]", text::joined(events.iter().map(Value::to_string)));
    for (number, NamedCase { inputs, outcomes }) in cases.iter().enumerate() {
        let outcomes: Vec<String> = outcomes.iter().map(events).collect();
        let separator = if number == 0 { "" } else { "," };
        let (inputs, outcomes) = (events(inputs), outcomes.join(",\n       "));
        text.push_str(&format!("{separator}\n    {{\"inputs\": {inputs},\n     \"outcomes\": [\n       {outcomes}]}}"));
    }
    text + "\n  ]\n}\n"
}
