//! A testbed in Rust: test cases of the system `greetings` on programs that turn a file of names into a file of
//! greetings.
//!
//! A package names such a program beside its system, and `simutant test` builds and asks it:
//!
//! ```toml
//! [package.metadata.simutant.systems.greetings]
//! testbed = { example = "testbed" }
//! ```

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::Value;
use simutant_harness::{
    Conclusion, Environment, Finding, HarnessError, InvalidCase, Left, Placeholders, Process, Role, Setup, Testbed,
    Testbeds, Verdict, serve,
};

fn main() -> ExitCode {
    serve(Testbeds::new(&[&GreetingsTestbed]))
}

struct GreetingsTestbed;

impl Testbed for GreetingsTestbed {
    fn system(&self) -> &str {
        "greetings"
    }

    fn roles(&self) -> &[Role] {
        &[Role { name: "greeter", placeholders: &["names", "greetings"], listens: false }]
    }

    fn timeout(&self) -> Duration {
        Duration::from_secs(5)
    }

    fn check(&self, case: &Value) -> Result<(), InvalidCase> {
        match names(case) {
            Some(_) => Ok(()),
            None => Err(InvalidCase::outside_domain("names is no list of texts")),
        }
    }

    fn set_up(&self, setup: &Setup<'_>) -> Result<Box<dyn Environment>, HarnessError> {
        let names = names(setup.case).expect("the case was checked");
        let file = setup.folder.join("names");
        let text: String = names.iter().map(|name| format!("{name}\n")).collect();
        std::fs::write(&file, text).map_err(HarnessError::file("write", &file))?;
        Ok(Box::new(Greetings { names, file, greetings: setup.folder.join("greetings") }))
    }
}

fn names(case: &Value) -> Option<Vec<String>> {
    case["names"].as_array()?.iter().map(|name| Some(name.as_str()?.to_owned())).collect()
}

/// The files of one test case.
struct Greetings {
    names: Vec<String>,
    file: PathBuf,
    greetings: PathBuf,
}

impl Environment for Greetings {
    fn processes(&self, role: &str) -> Vec<Process> {
        let placeholders = Placeholders::from([
            ("names", self.file.clone().into_os_string()),
            ("greetings", self.greetings.clone().into_os_string()),
        ]);
        vec![Process { name: role.into(), placeholders, port: None, start: Duration::ZERO }]
    }

    fn judge(&self, _left: &Left<'_>) -> Result<Conclusion, HarnessError> {
        let found = std::fs::read_to_string(&self.greetings).unwrap_or_default();
        let right: String = self.names.iter().map(|name| format!("Hello, {name}!\n")).collect();
        let verdict = match found == right {
            true => Verdict::Pass,
            false => Verdict::Fail(Finding::wrong_result("not-greeted", format!("`{}` is no greeting", found.trim()))),
        };
        Ok(verdict.into())
    }
}
