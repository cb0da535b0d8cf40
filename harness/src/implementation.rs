//! An implementation under test: how to build it and how to start its sides, or a command that runs test cases on it,
//! read from a TOML file.
//!
//! ```toml
//! name = "mine"
//! system = "leases"
//! description = "The lease service, in C"
//! origin = "release"                                 # or "mistake", "mutant": where its faults come from, if it has any
//! on_demand = true                                   # optional; experiments run it only if it is named
//! sources = ["../src/*.rs"]                          # optional; its Rust source files, whose constants are compared with the specification's
//! input = "text"                                     # optional; what is in files that the testbed makes: "bytes" by default
//! build = ["make", "-C", "{here}", "OUT={build}"]    # optional; run once, before the first test case
//! build_in = "../server"                             # optional; the folder that this runs in: that of the file by default
//!
//! [driver]                                           # runs a test case and judges it: see `DriverCommand`
//! command = ["{build}/driver", "{case}", "{port}"]
//!
//! [mutants]                                          # optional; the Rust package that has the programs, if its mutants may be tried
//! manifest = "../Cargo.toml"                         # from the folder of the file
//! specification = ["src/sender.rs", "src/window/*.rs"] # the files that are mutated: names or patterns, from the package's folder
//! operators = "default"                              # optional; as --operators
//! ```
//!
//! Where the system has a testbed, an implementation may have a table for each of its roles instead of `[driver]`; the
//! testbed starts and judges the programs:
//!
//! ```toml
//! [[side]]                                           # sides are started in the order of the file
//! name = "receiver"
//! command = ["{build}/receiver", "{port}", "{output}"]
//! ready = "port"                                     # or "started", or { line = "listening" }
//!
//! [[side]]
//! name = "sender"
//! command = ["{build}/sender", "{peer_host}", "{peer_port}", "{input}"]
//! exit = "success"                                   # or "any", { code = 3 }, { signal = 15 }; "stopped" for a server that runs until it is told to end
//! stop = { signal = "SIGINT", grace_ms = 500 }       # optional; how a server is told to end: SIGTERM, and 2 s, by default
//!
//! [[side.file]]                                      # optional; a file that the side above needs, as of settings
//! name = "sender.conf"                               # is made in {work}
//! text = "peer {peer_host} {peer_port}"              # knows the same placeholders as the command
//! ```
//!
//! Where the oracle of the testbed has rules with names, a table allows an implementation to break some of them:
//!
//! ```toml
//! [waive]
//! if-match-put = "known, and not to be mended before the next release"
//! ```
//!
//! Where the testbed asks for a fixture, which outlives a test case, the file has a table `[fixture]` as a driver has
//! `[driver.fixture]`: see [`FixtureCommand`].
//!
//! Commands are run as they stand, without a shell, in a private folder of the test case. Every command knows `{here}`
//! (the folder of the file), `{build}` (the folder to build into) and, where a side is started, `{work}` (the private
//! folder), `{port2}` to `{port9}` (ports of its own, free for datagrams and for streams) and the placeholders of its
//! role in the system. `{{` and `}}` stand for the braces themselves.
//!
//! Where mutants are tried, `build` is not run: `{build}` is a folder in which the package's programs are in `release`,
//! as `cargo build --release --target-dir {build}` would have put them there. So the sides' commands are the same.
//!
//! A side that finds that it cannot do its part on this machine, as something is not installed or not allowed, says so
//! on standard error and ends with exit code 69 (`EX_UNAVAILABLE` of BSD's `sysexits.h`). Then nothing was tested, and
//! the run ends with an error.

pub(crate) mod driver;
mod error;
mod mutants;
mod template;
mod validation;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use simutant_outcomes::Origin;

use crate::history::HistoryJudge;
use crate::side::Side;
use crate::testbed::{InputContent, TIMEOUT, Testbed, Testbeds};

pub use driver::{DriverCommand, FixtureCommand, ProcessOwner};
pub use error::ImplementationError;
pub use mutants::{ActiveMutant, MutatedPackage};
pub(crate) use template::{fill_command, fill_planned, fill_text};
use validation::roles_of;
pub(crate) use validation::validate_texts;

/// An implementation: how to build and start it. It is the content of a TOML file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Implementation {
    /// Its name, for reports.
    pub name: String,
    /// The system that it implements, for example `leases`. Other systems with the same inputs run on it as well: see
    /// [`Implementation::serves`].
    pub system: String,
    /// What it is, in a sentence.
    pub description: String,
    /// Where its faults come from, if it has any.
    #[serde(default)]
    pub origin: Origin,
    /// Whether experiments leave it out unless it is named, since a test case of it takes seconds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_demand: bool,
    /// Its source files in Rust, if its constants are compared with those of the specification: names or
    /// patterns, from the folder of the file. Those of [`mutants`](Self::mutants) if there are none. What a trial says
    /// does not depend on them, so they are no part of what is written down of the implementation.
    #[serde(default, skip_serializing)]
    pub sources: Vec<String>,
    /// The program and arguments that build it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<Vec<String>>,
    /// The folder that the build runs in, from that of the file: that itself, if none is given. Some tools look for their
    /// settings in the folder that they run in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_in: Option<PathBuf>,
    /// Its sides, in the order in which they are started; none if it has a driver.
    #[serde(rename = "side", default, skip_serializing_if = "Vec::is_empty")]
    pub sides: Vec<Side>,
    /// The command that runs a test case and judges it, instead of sides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<DriverCommand>,
    /// What outlives a test case, if its testbed asks for such a thing. That of a driver is the driver's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixture: Option<FixtureCommand>,
    /// What is in the files that its programs are given, where their content is the testbed's to choose.
    #[serde(default, skip_serializing_if = "InputContent::is_default")]
    pub input: InputContent,
    /// The rules of the oracle that it may break, each with the reason: those that the testbed [has](Testbed::rules).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub waive: BTreeMap<String, String>,
    /// The package whose mutants can be tried in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutants: Option<MutatedPackage>,
    /// What its programs are told of mutants, if they have any in them: see [`Implementation::with_mutant`].
    #[serde(skip)]
    pub active_mutant: Option<ActiveMutant>,
    /// The folder of the file: `{here}`.
    #[serde(skip)]
    pub folder: PathBuf,
    /// What knows the systems that it may implement.
    #[serde(skip)]
    pub(crate) testbeds: Testbeds,
}

impl Testbeds {
    /// Returns the implementation that `name` means: a path if it ends in `.toml`, else `name.toml` in the first of
    /// `folders` that has it.
    ///
    /// ```
    /// use simutant_harness::{ImplementationError, Testbeds};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let text = "name = 'mine'\nsystem = 'leases'\ndescription = ''\n[driver]\ncommand = ['./driver', '{case}']";
    /// std::fs::write(folder.path().join("mine.toml"), text)?;
    /// let folders = [folder.path().to_owned()];
    /// assert_eq!(Testbeds::NONE.find("mine", &folders)?.system, "leases");
    /// let Err(ImplementationError::NotFound { available, .. }) = Testbeds::NONE.find("yours", &folders) else {
    ///     panic!("there is no such file")
    /// };
    /// assert_eq!(available, ["mine"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ImplementationError`], which names the file, the field and the cure.
    pub fn find(&self, name: &str, folders: &[PathBuf]) -> Result<Implementation, ImplementationError> {
        if name.ends_with(".toml") {
            return self.read(Path::new(name));
        }
        let file = format!("{name}.toml");
        match folders.iter().map(|folder| folder.join(&file)).find(|path| path.is_file()) {
            Some(path) => self.read(&path),
            None => Err(ImplementationError::NotFound {
                name: name.into(),
                folders: folders.to_vec(),
                available: Implementation::available(folders),
            }),
        }
    }

    /// Returns the implementation in the file at `path`.
    ///
    /// # Errors
    /// [`ImplementationError`], which names the file, the field and the cure.
    pub fn read(&self, path: &Path) -> Result<Implementation, ImplementationError> {
        let read = |source| ImplementationError::Read { path: path.into(), source };
        let text = std::fs::read_to_string(path).map_err(read)?;
        let absolute = path.canonicalize().map_err(read)?;
        let folder = absolute.parent().expect("a file that was read lies in a folder");
        self.parse(&text, path, folder)
    }

    /// Returns the implementation that `text` describes; `path` is for messages, `folder` is what `{here}` stands for.
    ///
    /// ```
    /// use std::path::Path;
    /// use simutant_harness::Testbeds;
    ///
    /// let parse = |driver: &str| {
    ///     let text = format!("name = 'mine'\nsystem = 'leases'\ndescription = 'Leases'\n[driver]\n{driver}");
    ///     Testbeds::NONE.parse(&text, Path::new("mine.toml"), Path::new("/home/me"))
    /// };
    /// let implementation = parse(r#"command = ["python3", "{here}/driver.py", "{case}"]"#)?;
    /// assert_eq!(implementation.folder, Path::new("/home/me"));
    /// let error = parse(r#"command = ["python3", "{hear}/driver.py", "{case}"]"#).expect_err("it has a typo");
    /// assert!(error.to_string().contains("{hear}"), "{error}");
    /// # Ok::<(), simutant_harness::ImplementationError>(())
    /// ```
    ///
    /// # Errors
    /// [`ImplementationError`], which names the file, the field and the cure.
    pub fn parse(&self, text: &str, path: &Path, folder: &Path) -> Result<Implementation, ImplementationError> {
        let mut implementation: Implementation = toml::from_str(text)
            .map_err(|source| ImplementationError::Malformed { path: path.into(), source: Box::new(source) })?;
        (implementation.folder, implementation.testbeds) = (folder.into(), *self);
        implementation.validate(path)?;
        Ok(implementation)
    }
}

impl Implementation {
    /// Returns the names of the implementations in `folders`, sorted; a folder that cannot be read has none.
    pub fn available(folders: &[PathBuf]) -> Vec<String> {
        let mut names: Vec<String> = folders
            .iter()
            .filter_map(|folder| folder.read_dir().ok())
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".toml").map(String::from))
            .collect();
        names.sort();
        names.dedup();
        names
    }

    /// Returns what outlives a test case, if something does.
    pub(crate) fn fixture(&self) -> Option<&FixtureCommand> {
        match &self.driver {
            Some(driver) => driver.fixture.as_ref(),
            None => self.fixture.as_ref(),
        }
    }

    /// Returns who judges the histories that its driver names, if somebody does.
    pub(crate) fn history_judge(&self) -> Option<&HistoryJudge> {
        self.driver.as_ref()?.history.as_ref()?.judge.as_ref()
    }

    /// Returns its sides, in the order in which they are started; of one with a driver, that alone.
    pub(crate) fn sides(&self) -> Vec<Side> {
        match &self.driver {
            Some(driver) => vec![driver.side()],
            None => self.sides.clone(),
        }
    }

    /// Returns the folder from which its source files are named, and their names or patterns: none unless its file
    /// says.
    pub fn sources(&self) -> (PathBuf, &[String]) {
        match &self.mutants {
            Some(package) if self.sources.is_empty() => {
                let manifest = self.folder.join(&package.manifest);
                (manifest.parent().unwrap_or(&self.folder).to_path_buf(), &package.specification)
            }
            _ => (self.folder.clone(), &self.sources),
        }
    }

    /// Returns the testbed of its own system: the one whose roles are its sides, and no others; the driver, if it has
    /// one.
    pub(crate) fn testbed(&self) -> Option<&dyn Testbed> {
        if let Some(driver) = &self.driver {
            return Some(driver);
        }
        let sorted = |mut sides: Vec<String>| {
            sides.sort_unstable();
            sides
        };
        let found = sorted(self.sides.iter().map(|side| side.name.clone()).collect());
        self.testbeds.of(&self.system).find(|testbed| sorted(roles_of(*testbed)) == found).map(|testbed| testbed as _)
    }

    /// Returns what runs test cases of a system on this implementation, if they do run on it.
    pub(crate) fn testbed_for<'a>(&'a self, system: &'a str) -> Option<&'a dyn Testbed> {
        let own = self.testbed()?;
        if self.driver.is_some() {
            return (self.system == system).then_some(own);
        }
        let serves = |testbed: &&'static dyn Testbed| {
            [testbed.system(), testbed.implemented_as()].contains(&self.system.as_str())
                && testbed.roles() == own.roles()
        };
        self.testbeds.of(system).find(serves).map(|testbed| testbed as _)
    }

    /// Returns whether test cases of a system run on this implementation: those of its own, and those of systems that
    /// have the same inputs and are implemented by the same programs.
    pub fn serves(&self, system: &str) -> bool {
        self.testbed_for(system).is_some()
    }

    /// Allows it to break a rule of its oracle, as its file can.
    ///
    /// # Errors
    /// [`ImplementationError::NoRule`] if there is no such rule. `path` is for messages.
    pub fn waive_rule(&mut self, rule: &str, reason: &str, path: &Path) -> Result<(), ImplementationError> {
        self.waive.insert(rule.to_owned(), reason.to_owned());
        self.validate_rules(path)
    }

    /// Returns the default time limit of a test case of a system on it.
    ///
    /// ```
    /// use std::path::Path;
    /// use std::time::Duration;
    /// use simutant_harness::Testbeds;
    ///
    /// let text = r#"
    ///     name = "mine"
    ///     system = "leases"
    ///     description = "Leases, in Python"
    ///
    ///     [driver]
    ///     command = ["python3", "{here}/driver.py", "{case}"]
    ///     timeout_s = 60
    /// "#;
    /// let implementation = Testbeds::NONE.parse(text, Path::new("mine.toml"), Path::new("."))?;
    /// assert!(implementation.serves("leases") && !implementation.serves("locks"));
    /// assert_eq!(implementation.timeout("leases"), Duration::from_secs(60));
    /// # Ok::<(), simutant_harness::ImplementationError>(())
    /// ```
    pub fn timeout(&self, system: &str) -> Duration {
        self.testbed_for(system).map_or(TIMEOUT, Testbed::timeout)
    }

    /// Returns whether each repetition of a test case of a system has fates of its own: see [`Testbed::redraws`]. A driver is
    /// given a seed of its own for each.
    pub fn redraws(&self, system: &str) -> bool {
        self.testbed_for(system).is_none_or(Testbed::redraws)
    }

    /// Returns how many test cases of a system run on it at once for each core by default.
    pub fn jobs_for_each_core(&self, system: &str) -> usize {
        self.testbed_for(system).map_or(1, Testbed::jobs_for_each_core)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::side::{ExpectedExit, Ready, SideFile};
    use crate::test_support::TESTBEDS;

    const GOOD: &str = r#"name = "mine"
system = "copy"
description = "An example"
build = ["make", "-C", "{here}", "OUT={build}"]

[[side]]
name = "receiver"
command = ["{build}/receiver", "{port}", "{output}"]
ready = "port"
exit = "stopped"

[[side]]
name = "sender"
command = ["{build}/sender", "{peer}", "{input}"]
"#;

    fn parse(text: &str) -> Result<Implementation, ImplementationError> {
        TESTBEDS.parse(text, Path::new("mine.toml"), Path::new("/folder"))
    }

    #[track_caller]
    fn check_error(from: &str, to: &str) -> String {
        assert!(GOOD.contains(from), "{from}");
        parse(&GOOD.replace(from, to)).expect_err("the file is damaged").to_string()
    }

    #[test]
    fn a_good_file_gives_sides_in_order_with_defaults() {
        let mine = parse(GOOD).expect("a good file");
        assert_eq!(mine.folder, Path::new("/folder"));
        let [receiver, sender] = mine.sides.as_slice() else { panic!("{mine:?}") };
        assert_eq!((&receiver.ready, receiver.exit), (&Ready::Port, ExpectedExit::Stopped));
        assert_eq!((&sender.ready, sender.exit), (&Ready::Started, ExpectedExit::Success));
    }

    #[test]
    fn a_line_may_tell_that_a_side_is_ready() {
        let mine = parse(&GOOD.replace(r#""port""#, r#"{ line = "listening" }"#)).expect("a good file");
        assert_eq!(mine.sides[0].ready, Ready::Line("listening".into()));
    }

    #[test]
    fn an_unknown_field_is_named_with_its_line() {
        insta::assert_snapshot!(check_error("exit =", "exits ="), @r#"
        mine.toml: TOML parse error at line 10, column 1
           |
        10 | exits = "stopped"
           | ^^^^^
        unknown field `exits`, expected one of `name`, `command`, `file`, `ready`, `exit`, `stop`
        "#);
    }

    #[test]
    fn a_missing_field_is_named() {
        insta::assert_snapshot!(check_error("system = \"copy\"\n", ""), @r#"
        mine.toml: TOML parse error at line 1, column 1
          |
        1 | name = "mine"
          | ^
        missing field `system`
        "#);
    }

    #[test]
    fn an_unknown_system_is_named() {
        insta::assert_snapshot!(check_error(r#""copy""#, r#""tcp""#), @r#"mine.toml: there is no testbed for the sides of `tcp` (there are for copy, copy-again, mesh); give a `[driver]` with a command that runs a test case and judges it, which any system may have"#);
    }

    #[test]
    fn sides_must_be_those_of_the_system() {
        insta::assert_snapshot!(check_error(r#""sender""#, r#""client""#), @r#"mine.toml: the sides are receiver, client, but an implementation of `copy` has exactly these, in any order: receiver, sender; correct the `[[side]]` tables"#);
    }

    #[test]
    fn a_system_may_have_more_than_one_way_to_be_cut_into_sides() {
        let mesh = |sides: &[&str]| {
            let side = |side: &&str| format!("[[side]]\nname = \"{side}\"\ncommand = [\"true\"]\n");
            let sides: String = sides.iter().map(side).collect();
            parse(&format!("name = \"mine\"\nsystem = \"mesh\"\ndescription = \"\"\n{sides}"))
        };
        for sides in [&["client", "router"][..], &["network"]] {
            let roles = mesh(sides).expect("good sides").testbed().expect("they have a testbed").roles().len();
            assert_eq!(roles, sides.len(), "{sides:?}");
        }
        let message = mesh(&["network", "router"]).expect_err("they are of both ways").to_string();
        insta::assert_snapshot!(message, @"mine.toml: the sides are network, router, but an implementation of `mesh` has exactly these, in any order: router, client; or network; correct the `[[side]]` tables");
    }

    #[test]
    fn an_implementation_serves_its_own_system_and_those_with_the_same_inputs() {
        let served = |system: &str| -> Vec<&str> {
            let own = parse(&GOOD.replace("\"copy\"", &format!("\"{system}\""))).expect("a good file");
            TESTBEDS.systems().filter(|other| own.serves(other)).collect()
        };
        assert_eq!(served("copy"), ["copy", "copy-again"]);
        assert_eq!(served("copy-again"), ["copy-again"]);
        let network = "name = \"mine\"\nsystem = \"mesh\"\ndescription = \"\"\n[[side]]\nname = \"network\"\ncommand = [\"true\"]\n";
        let network = parse(network).expect("a good file");
        let testbed = network.testbed_for("mesh").expect("it serves its own system");
        assert_eq!(testbed.roles().len(), 1, "the testbed is the one of its sides");
        assert!(!network.serves("copy"));
    }

    #[test]
    fn a_name_that_no_file_could_have_is_refused() {
        for name in ["", "a/b", "../a", ".hidden", "a b"] {
            let message = check_error("name = \"mine\"", &format!("name = \"{name}\""));
            assert!(message.contains(&format!("field `name` is `{name}`; give a name of letters")), "{message}");
        }
        parse(&GOOD.replace("name = \"mine\"", "name = \"mine-2_b.c\"")).expect("a good name");
    }

    #[test]
    fn a_side_may_not_come_twice() {
        let message = check_error(r#""sender""#, r#""receiver""#);
        assert!(message.contains("the sides are receiver, receiver, but"), "{message}");
    }

    #[test]
    fn an_unknown_placeholder_is_named_with_those_that_are_known() {
        insta::assert_snapshot!(check_error("{port}", "{prt}"), @r#"mine.toml: field `command` of side `receiver`: `{prt}` is not known here; known: {here}, {build}, {work}, {listen}, {host}, {port}, {output}, {seed}, {port2} to {port9}. For braces of your own write {{ and }}"#);
    }

    #[test]
    fn the_placeholders_of_another_side_are_unknown() {
        let message = check_error("{peer}", "{output}");
        assert!(message.contains("field `command` of side `sender`: `{output}` is not known here"), "{message}");
    }

    #[test]
    fn a_lone_brace_is_shown() {
        insta::assert_snapshot!(check_error("OUT={build}", "OUT={build"), @r#"mine.toml: field `build`: a brace in `OUT={build` stands alone; for braces of your own write {{ and }}"#);
    }

    #[test]
    fn an_empty_command_is_named() {
        insta::assert_snapshot!(check_error(r#"["{build}/sender", "{peer}", "{input}"]"#, "[]"), @r#"mine.toml: field `command` of side `sender` is empty; give the program and its arguments as a list of texts"#);
    }

    #[test]
    fn files_have_the_placeholders_of_the_command_and_stay_in_the_private_folder() {
        let sender = r#"command = ["{build}/sender", "{peer}", "{input}"]"#;
        let with = |name: &str, text: &str| format!("{sender}\n[[side.file]]\nname = \"{name}\"\ntext = \"{text}\"");
        let good = parse(&GOOD.replace(sender, &with("{seed}.conf", "peer {peer}"))).expect("a good file");
        assert_eq!(good.sides[1].files, [SideFile { name: "{seed}.conf".into(), text: "peer {peer}".into() }]);
        insta::assert_snapshot!(check_error(sender, &with("a", "{output}")), @r#"mine.toml: field `file` of side `sender`: `{output}` is not known here; known: {here}, {build}, {work}, {peer}, {peer_host}, {peer_port}, {input}, {seed}, {port2} to {port9}. For braces of your own write {{ and }}"#);
        insta::assert_snapshot!(check_error(sender, &with("../a", "")), @r#"mine.toml: `file` of side `sender`: field `name` is `../a`; give a name without slashes: files are made in {work}"#);
    }

    /// Parses the good file with a table `[mutants]`, in a folder that has a manifest.
    fn with_mutants(table: &str) -> Result<Implementation, ImplementationError> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("Cargo.toml"), "").expect("the folder can be written");
        let text = format!("{GOOD}\n[mutants]\n{table}\n");
        TESTBEDS.parse(&text, Path::new("mine.toml"), folder.path())
    }

    #[test]
    fn the_package_whose_mutants_can_be_tried_is_named() {
        let table = "manifest = \"Cargo.toml\"\nspecification = [\"src/*.rs\"]";
        let mine = with_mutants(table).expect("a good file");
        let package = MutatedPackage {
            manifest: "Cargo.toml".into(),
            specification: vec!["src/*.rs".into()],
            features: Vec::new(),
            default_features: true,
            operators: None,
        };
        let with_features = with_mutants(&format!("{table}\nfeatures = [\"a\"]\ndefault-features = false"));
        let other = MutatedPackage { features: vec!["a".into()], default_features: false, ..package.clone() };
        assert_eq!(with_features.expect("a good file").mutants, Some(other));
        assert_eq!(mine.mutants, Some(package));
        let active = ActiveMutant { number: Some(7), programs: 1 };
        let mutant = mine.with_mutant("mine~7".into(), "It is changed".into(), active);
        assert_eq!((mutant.origin, &mutant.build, &mutant.mutants), (Origin::Mutant, &None, &None));
        assert_eq!((mutant.active_mutant, &mutant.sides), (Some(active), &mine.sides));
    }

    #[test]
    fn sources_are_those_of_the_file_or_else_those_that_are_mutated() {
        let mutated = with_mutants("manifest = \"Cargo.toml\"\nspecification = [\"src/*.rs\"]").expect("a good file");
        assert_eq!(mutated.sources(), (mutated.folder.clone(), &["src/*.rs".to_owned()][..]));
        let named = Implementation { sources: vec!["../a.rs".into()], ..mutated.clone() };
        assert_eq!(named.sources(), (mutated.folder, &["../a.rs".to_owned()][..]));
        assert!(!serde_json::to_string(&named).expect("plain data").contains("a.rs"), "trials do not depend on them");
        assert_eq!(Implementation { mutants: None, sources: Vec::new(), ..named }.sources().1, [""; 0]);
    }

    #[test]
    fn what_cannot_be_mutated_is_told() {
        let check = |table: &str, expect: &str| {
            let message = with_mutants(table).expect_err("the table is damaged").to_string();
            assert!(message.starts_with("mine.toml: ") && message.contains(expect), "{message}");
        };
        let specification = "specification = [\"src/a.rs\"]";
        check(
            &format!("manifest = \"../Cargo.toml\"\n{specification}"),
            "field `manifest` of `mutants`: there is no file ",
        );
        check(&format!("manifest = \".\"\n{specification}"), "give the path of the package's Cargo.toml");
        check("manifest = \"Cargo.toml\"\nspecification = []", "field `specification` of `mutants` is empty");
        check("manifest = \"Cargo.toml\"", "missing field `specification`");
        check(&format!("manifest = \"Cargo.toml\"\n{specification}\nseed = 1"), "unknown field `seed`");
    }

    #[test]
    fn a_side_without_port_cannot_be_ready_by_port() {
        let sender = r#"command = ["{build}/sender", "{peer}", "{input}"]"#;
        insta::assert_snapshot!(check_error(sender, &format!("{sender}\nready = \"port\"")), @r#"mine.toml: side `sender`: field `ready` is "port", but this side is given no port; use "started" or { line = "..." }"#);
    }

    #[test]
    fn a_name_that_no_folder_has_is_answered_with_those_there_are() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("mine.toml"), GOOD).expect("the folder can be written");
        let folders = [folder.path().to_path_buf()];
        assert_eq!(TESTBEDS.find("mine", &folders).expect("it is there").name, "mine");
        let message = TESTBEDS.find("yours", &folders).expect_err("it is not there").to_string();
        assert!(message.contains("no implementation `yours`"), "{message}");
        assert!(message.contains("there are: mine."), "{message}");
    }
}
