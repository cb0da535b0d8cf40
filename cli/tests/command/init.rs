//! `simutant init` in packages of users, and studies of what it made.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::support::{assert_exit, folder, stderr, stdout, text, write};

/// The folder of the engine.
const ENGINE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// A package of a user, in a folder of its own.
pub(crate) struct UserPackage {
    folder: TempDir,
}

impl UserPackage {
    /// Returns a package with the system `store` of the template, in which a part of a file is replaced.
    pub(crate) fn changed(file: &str, part: &str, change: &str) -> Self {
        let package = Self::new("--lib");
        assert_exit(&package.simutant(&["init", "--no-vendor"]), 0);
        let source = package.read(file);
        assert_eq!(source.matches(part).count(), 1, "the template is another one");
        write(&package.path(file), source.replace(part, change));
        package
    }

    /// Returns the package that `cargo new` makes.
    pub(crate) fn new(kind: &str) -> Self {
        let folder = folder();
        let mut command = Command::new("cargo");
        command.args(["new", "--quiet", "--vcs", "none", "--name", "store", kind]).arg(folder.path().join("store"));
        assert!(command.status().expect("cargo runs the tests").success());
        // The versions that are there already, so that nothing has to be looked up.
        let lock = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.lock");
        std::fs::copy(lock, folder.path().join("store/Cargo.lock")).expect("it can be copied");
        Self { folder }
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join("store").join(file)
    }

    pub(crate) fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.path(file)).expect("it is there")
    }

    /// Returns the folder of what cargo builds, which all packages share.
    pub(crate) fn target_directory() -> &'static Path {
        Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it is in the folder of the build")
    }

    /// Runs a program in the package's folder.
    pub(crate) fn run(&self, program: &str, arguments: &[&str]) -> Output {
        self.run_with(program, arguments, &[])
    }

    /// Runs a program in the package's folder, with variables.
    fn run_with(&self, program: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
        self.command(program, arguments).envs(variables.iter().copied()).output().expect("it can be started")
    }

    /// Returns a program that is to run in the package's folder.
    pub(crate) fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.path("")).env("CARGO_TARGET_DIR", Self::target_directory());
        // As in the workspace and the examples: cargo shares what it compiled only for equal profiles.
        command.env_remove("SIMUTANT_ENGINE").env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only");
        command
    }

    pub(crate) fn simutant(&self, arguments: &[&str]) -> Output {
        self.run(env!("CARGO_BIN_EXE_simutant"), arguments)
    }

    /// Returns the package's own files with what is in them.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut open = vec![self.path("")];
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder).expect("it can be listed") {
                let path = entry.expect("it can be listed").path();
                if path.is_dir() {
                    open.push(path);
                } else if !path.ends_with("Cargo.lock") {
                    files.insert(path.clone(), std::fs::read(&path).expect("it can be read"));
                }
            }
        }
        files
    }

    /// Checks that `init` refuses with a message, and writes nothing.
    #[track_caller]
    pub(crate) fn check_refused(&self, arguments: &[&str], expect: &str) {
        let before = self.files();
        let output = self.simutant(&[&["init"], arguments].concat());
        assert_exit(&output, 3);
        assert!(stderr(&output).contains(expect), "`{expect}` is not in: {}", stderr(&output));
        assert_eq!(stdout(&output), "");
        assert!(self.files() == before, "files were changed");
    }
}

#[test]
fn a_new_package_is_studied_at_once() {
    let package = UserPackage::new("--lib");
    let output = package.simutant(&["init"]);
    assert_exit(&output, 0);
    let expect = format!(
        "written src/store.rs\n\
         written src/store/protocol.rs\n\
         written implementations/store-python.toml\n\
         written implementations/store/driver.py\n\
         written implementations/store/sums.py\n\
         written third_party/simutant\n\
         changed Cargo.toml: [package.metadata.simutant.systems.store], dependency simutant-sim-core, dependency simutant-system, \
         dependency serde\n\
         changed src/lib.rs: pub mod store;\n\
         note: third_party/simutant is the engine's source, so that colleagues and CI can build the package with cargo alone; \
         `{program} init --no-vendor` depends on a folder of this machine instead\n\
         next: {program} study store finds out which inputs are worth running; the first lines of src/store.rs say how to make the system yours\n",
        program = env!("CARGO_BIN_EXE_simutant"),
    );
    assert_eq!(stdout(&output), expect);
    assert!(package.read("src/lib.rs").starts_with("pub mod store;\n\npub fn add("), "{}", package.read("src/lib.rs"));

    let tests = package.run("cargo", &["test", "--quiet"]);
    assert!(tests.status.success(), "{}{}", stdout(&tests), stderr(&tests));
    let format = package.run("cargo", &["fmt", "--check"]);
    assert!(format.status.success(), "{}{}", stdout(&format), stderr(&format));

    let before = package.files();
    let out = folder();
    let arguments = ["study", "store", "--cases", "60", "--suites", "20", "--pages", "2", "--out", &text(out.path())];
    let study = package.simutant(&arguments);
    assert_exit(&study, 0);
    assert!(package.files() == before, "a study changed the package");
    let told = stdout(&study);
    let next = told.lines().find_map(|line| Some(line.strip_prefix("next: ")?.split_once(" shows ")?.0));
    let next = next.filter(|command| command.contains(" explain store ")).unwrap_or_else(|| panic!("{told}"));
    assert_exit(&package.run("sh", &["-c", next]), 0);
    let suite: serde_json::Value =
        serde_json::from_slice(&std::fs::read(out.path().join("suite.json")).expect("the study wrote it"))
            .expect("it is JSON");
    assert_eq!(suite["system"], "store");
    assert!(suite["cases"].as_array().is_some_and(|cases| !cases.is_empty()), "{suite}");

    // The chosen inputs run on the real implementation beside it.
    let chosen = text(&out.path().join("suite.json"));
    let inputs = ["test", "store", "--out", &text(out.path()), "--implementation", "store-python"];
    let right = package.simutant(&[&inputs[..], &["--suite", &chosen]].concat());
    assert_exit(&right, 0);
    assert!(stdout(&right).ends_with(" passed, 0 failed\n"), "{}", stdout(&right));
    let program = package.read("implementations/store/sums.py");
    let forgetful = program.replace("if number == next_number:", "if True:");
    assert_ne!(forgetful, program);
    write(&package.path("implementations/store/sums.py"), &forgetful);
    let wrong = package.simutant(&[&inputs[..], &["--suite", &chosen]].concat());
    assert_exit(&wrong, 1);
    assert!(stdout(&wrong).contains(": the sum was "), "{}", stdout(&wrong));
    // A driver that is wrong itself says nothing of the implementation.
    let driver = package.read("implementations/store/driver.py");
    write(&package.path("implementations/store/driver.py"), driver.replace("import heapq\n", "import heaps\n"));
    let broken = package.simutant(&[&inputs[..], &["--suite", &chosen]].concat());
    assert_exit(&broken, 7);
    assert!(stdout(&broken).contains(": ModuleNotFoundError: "), "{}", stdout(&broken));
    assert!(stdout(&broken).contains("\n0 passed, 0 failed, "), "{}", stdout(&broken));

    package.check_refused(&[], "[package.metadata.simutant.systems.store] is there already");
    check_skips(&package);
}

#[test]
fn a_package_with_an_http_service_gets_the_source_of_the_engine_and_no_system() {
    let package = UserPackage::new("--lib");
    assert_exit(&package.simutant(&["init", "--http", "--no-vendor"]), 0);
    let library = package.read("src/lib.rs");
    let output = package.simutant(&["init", "--vendor"]);
    assert_exit(&output, 0);
    assert!(stdout(&output).contains("simutant http store http://127.0.0.1:8000 finds"), "{}", stdout(&output));
    assert_eq!(package.read("src/lib.rs"), library);
}

#[test]
fn a_new_package_with_a_machine_is_studied_and_runs_on_a_real_server() {
    let package = UserPackage::new("--lib");
    let output = package.simutant(&["init", "--machine", "--no-vendor"]);
    assert_exit(&output, 0);
    let expect = "written src/store.rs\n\
         written src/store/protocol.rs\n\
         written src/store/machine.rs\n\
         written examples/store_testbed.rs\n\
         written implementations/store-python.toml\n\
         written implementations/store/server.py\n\
         changed Cargo.toml: [package.metadata.simutant.systems.store], dependency simutant-sim-core, dependency simutant-system, \
         dependency simutant-models, dependency simutant-oracle, dependency serde, dev-dependency simutant-harness, \
         dev-dependency serde_json\n\
         changed src/lib.rs: pub mod store;\n";
    assert!(stdout(&output).starts_with(expect), "{}", stdout(&output));
    let tests = package.run("cargo", &["test", "--quiet"]);
    assert!(tests.status.success(), "{}{}", stdout(&tests), stderr(&tests));
    let format = package.run("cargo", &["fmt", "--check"]);
    assert!(format.status.success(), "{}{}", stdout(&format), stderr(&format));

    let out = folder();
    let study = |source: &str, cases: &str| {
        let arguments = [
            "study",
            "store",
            "--source",
            source,
            "--cases",
            cases,
            "--suites",
            "10",
            "--pages",
            "2",
            "--fresh",
            "--verbose",
        ];
        let output = package.simutant(&[&arguments[..], &["--out", &text(out.path())]].concat());
        assert_exit(&output, 0);
        stdout(&output)
    };
    for source in ["walk", "bandit"] {
        study(source, "5");
    }
    let told = study("pairs", "60");
    for criterion in ["machine-states", "machine-transitions", "machine-pairs", "machine-paths"] {
        assert!(told.contains(criterion), "{told}");
    }

    let chosen = text(&out.path().join("suite.json"));
    let arguments = ["test", "store", "--suite", &chosen, "--implementation", "store-python"];
    let test = || package.simutant(&arguments);
    let right = test();
    assert_exit(&right, 0);
    assert!(stdout(&right).ends_with(" passed, 0 failed\n"), "{}", stdout(&right));
    let server = package.read("implementations/store/server.py");
    // Every read after a write shows it, whatever the threads of the run do.
    let forgetful = server.replace("return values[0], \"done\"", "return value, \"done\"");
    assert_ne!(forgetful, server);
    write(&package.path("implementations/store/server.py"), &forgetful);
    let wrong = test();
    assert_exit(&wrong, 1);
    assert!(stdout(&wrong).contains(": no order of the calls explains that session "), "{}", stdout(&wrong));
    assert!(stdout(&wrong).contains("\n  No order of the calls explains the answer of\n"), "{}", stdout(&wrong));
    // Nor is one right that never answers.
    let silent = server.replace("channel.sendto(", "len(");
    assert_ne!(silent, server);
    write(&package.path("implementations/store/server.py"), silent.replace(".encode(), client)", ".encode())"));
    let suite: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&chosen).expect("the study wrote it")).expect("it is JSON");
    let first = suite["cases"][0]["name"].as_str().expect("it has a name");
    let wrong = package.simutant(&[&arguments[..], &["--only", first]].concat());
    assert_exit(&wrong, 1);
    assert!(stdout(&wrong).contains(" asked 30 times and got no answer"), "{}", stdout(&wrong));
}

/// Leaves code of a package out of mutation, by a comment and by a pattern.
fn check_skips(package: &UserPackage) {
    let listed = |package: &UserPackage| {
        let output = package.simutant(&["mutants", "store", "--json"]);
        assert_exit(&output, 0);
        serde_json::from_str::<serde_json::Value>(&stdout(&output)).expect("it is JSON")
    };
    let identities = |listed: &serde_json::Value| {
        let mutants = listed["mutants"].as_array().expect("a list").iter();
        mutants.map(|mutant| mutant["identity"].to_string()).collect::<BTreeSet<_>>()
    };
    let before = listed(package);
    assert_eq!(before["skipped"], serde_json::json!([]));
    let function = before["mutants"][0]["function"].as_str().expect("text").to_owned();
    let manifest = package.read("Cargo.toml");
    let section = "[package.metadata.simutant.systems.store]\n";
    let with = |entry: &str| manifest.replace(section, &format!("{section}skip = [{{ {entry} }}]\n"));
    write(&package.path("Cargo.toml"), with(&format!("function = \"{function}\", reason = \"old\"")));
    let after = listed(package);
    let (entry, all, left) = (&after["skipped"][0], identities(&before), identities(&after));
    assert_eq!((entry["path"].as_str(), entry["reason"].as_str()), (Some(&*function), Some("old")));
    let in_function = before["mutants"].as_array().expect("a list").iter();
    let in_function: BTreeSet<String> = in_function
        .filter(|mutant| mutant["function"] == *function)
        .map(|mutant| mutant["identity"].to_string())
        .collect();
    assert_eq!(all.difference(&left).cloned().collect::<BTreeSet<_>>(), in_function);
    assert!(left.is_subset(&all) && entry["mutants"].as_u64() >= Some(in_function.len() as u64), "{entry}");
    write(&package.path("Cargo.toml"), with(&format!("function = \"{function}\"")));
    let refused = package.simutant(&["mutants", "store"]);
    assert_exit(&refused, 3);
    assert!(stderr(&refused).contains(": an entry of `skip` has no `reason`"), "{}", stderr(&refused));
    write(&package.path("Cargo.toml"), manifest);
}

/// A testbed for what `init` makes: a program is told the amounts, and writes their sum to a file.
const TESTBED: &str = r#"
use std::path::PathBuf;

use simutant_harness::{
    Environment, Finding, HarnessError, InvalidCase, Conclusion, Left, Placeholders, Process, Role, Setup, Testbed,
    Testbeds, Verdict, serve,
};
use store::store::TestCase;

fn main() -> std::process::ExitCode {
    serve(Testbeds::new(&[&Sums]))
}

struct Sums;

impl Testbed for Sums {
    fn system(&self) -> &str {
        "store"
    }

    fn roles(&self) -> &[Role] {
        &[Role { name: "adder", placeholders: &["amounts", "output"], listens: false }]
    }

    fn check(&self, case: &serde_json::Value) -> Result<(), InvalidCase> {
        serde_json::from_value::<TestCase>(case.clone()).map(drop).map_err(|error| InvalidCase::malformed(&error))
    }

    fn set_up(&self, setup: &Setup<'_>) -> Result<Box<dyn Environment>, HarnessError> {
        let case: TestCase = serde_json::from_value(setup.case.clone()).expect("the case was checked");
        Ok(Box::new(Sum { amounts: case.amounts, output: setup.folder.join("sum") }))
    }
}

struct Sum {
    amounts: Vec<u64>,
    output: PathBuf,
}

impl Environment for Sum {
    fn processes(&self, role: &str) -> Vec<Process> {
        let amounts: Vec<String> = self.amounts.iter().map(u64::to_string).collect();
        let placeholders = Placeholders::from([
            ("amounts", amounts.join(" + ").into()),
            ("output", self.output.clone().into_os_string()),
        ]);
        vec![Process { name: role.into(), placeholders, port: None, start: Default::default() }]
    }

    fn judge(&self, _: &Left<'_>) -> Result<Conclusion, HarnessError> {
        let told = std::fs::read_to_string(&self.output).unwrap_or_default();
        let right = self.amounts.iter().sum::<u64>().to_string();
        let wrong = || Finding::wrong_result("wrong-sum", format!("the sum was {}, not {right}", told.trim()));
        Ok(if told.trim() == right { Verdict::Pass } else { Verdict::Fail(wrong()) }.into())
    }
}
"#;

#[test]
fn test_cases_run_on_the_testbed_of_the_users_package() {
    let package = UserPackage::new("--lib");
    assert_exit(&package.simutant(&["init", "--no-vendor"]), 0);
    let harness = Path::new(ENGINE).with_file_name("harness").canonicalize().expect("it is there");
    let manifest = package.read("Cargo.toml").replace(
        "[package.metadata.simutant.systems.store]\n",
        "[package.metadata.simutant.systems.store]\ntestbed = { example = \"testbed\" }\n",
    );
    let needs = format!("\n[dev-dependencies]\nserde_json = \"1\"\nsimutant-harness = {{ path = {harness:?} }}\n");
    write(&package.path("Cargo.toml"), manifest + &needs);
    std::fs::create_dir(package.path("examples")).expect("it can be made");
    write(&package.path("examples/testbed.rs"), TESTBED);
    let adder = |name: &str, expression: &str| {
        let text = format!(
            "name = '{name}'\nsystem = 'store'\ndescription = ''\n[[side]]\nname = 'adder'\n\
             command = ['sh', '-c', 'echo $(({expression})) > {{output}}']\n"
        );
        write(&package.path(&format!("implementations/{name}.toml")), text);
    };
    adder("adds", "{amounts}");
    adder("forgets", "{amounts} - 1");
    let test = |name: &str| package.simutant(&["test", "store", "--cases", "5", "--implementation", name]);
    let right = test("adds");
    assert_exit(&right, 0);
    assert_eq!(stdout(&right), "5 passed, 0 failed\n");
    assert!(stderr(&right).contains("compiling the testbed of store"), "{}", stderr(&right));
    let wrong = test("forgets");
    assert_exit(&wrong, 1);
    assert!(stdout(&wrong).contains(": the sum was "), "{}", stdout(&wrong));
    // Both kinds stand side by side, and only what is of the system is offered.
    let unknown = test("nobody");
    assert_exit(&unknown, 3);
    assert!(stderr(&unknown).contains("there are: adds, forgets, store-python. "), "{}", stderr(&unknown));
    write(&package.path("examples/testbed.rs"), "fn main() { does not compile }");
    let broken = test("adds");
    assert_exit(&broken, 4);
    assert!(stderr(&broken).contains("cannot build the testbed of store"), "{}", stderr(&broken));
}

/// What a small study is asked for.
const SMALL: [&str; 8] = ["study", "store", "--cases", "20", "--suites", "10", "--pages", "2"];

impl UserPackage {
    /// Studies the package, and checks that the study is whole.
    #[track_caller]
    fn check_studied(&self, variables: &[(&str, &str)]) {
        let out = folder();
        let out_path = text(out.path());
        let arguments = [&SMALL[..], &["--out", &out_path]].concat();
        assert_exit(&self.run_with(env!("CARGO_BIN_EXE_simutant"), &arguments, variables), 0);
        assert!(out.path().join("suite.json").exists());
    }
}

#[test]
fn a_vendored_package_needs_no_simutant() {
    let package = UserPackage::new("--lib");
    // The command is as an installed one: it has only the files that it carries.
    let cache = folder();
    let cache_path = text(cache.path());
    let installed = [("SIMUTANT_ENGINE", "bundled"), ("XDG_CACHE_HOME", cache_path.as_str())];
    let simutant = |arguments: &[&str]| package.run_with(env!("CARGO_BIN_EXE_simutant"), arguments, &installed);
    let output = simutant(&["init", "--vendor"]);
    assert_exit(&output, 0);
    let expect = "written implementations/store/sums.py\nwritten third_party/simutant\nchanged Cargo.toml: ";
    assert!(stdout(&output).contains(expect), "{}", stdout(&output));
    assert!(!stdout(&output).contains("note: "), "{}", stdout(&output));
    let manifest = package.read("Cargo.toml");
    assert!(manifest.contains("simutant-sim-core = { path = \"third_party/simutant/sim-core\" }"), "{manifest}");

    let moved = UserPackage { folder: folder() };
    std::fs::rename(package.path(""), moved.path("")).expect("it can be moved");
    moved.check_studied(&installed);
    assert_eq!(std::fs::read_dir(cache.path()).expect("it is there").count(), 0, "the package has all that it needs");

    // A copy that the command cannot work with is refused, and renewed.
    let protocol = "third_party/simutant/campaign/protocol/Cargo.toml";
    let own = moved.read(protocol);
    write(&moved.path(protocol), own.replace("interface = ", "interface = 99"));
    let refused = moved.simutant(&SMALL);
    assert_exit(&refused, 3);
    assert!(stderr(&refused).contains("`simutant init --vendor` puts the command's own"), "{}", stderr(&refused));
    let renewed = moved.simutant(&["init", "--vendor"]);
    assert_exit(&renewed, 0);
    let expect = format!(
        "changed third_party/simutant: the engine's source of this command\n\
         next: {} study store finds out which inputs are worth running\n",
        env!("CARGO_BIN_EXE_simutant"),
    );
    assert_eq!(stdout(&renewed), expect);
    assert_eq!(moved.read(protocol), own);
    let before = moved.files();
    assert_exit(&moved.simutant(&["init", "--vendor"]), 0);
    assert!(moved.files() == before, "there was nothing to do");
}

#[test]
fn a_package_is_studied_with_the_copy_of_the_engine_that_it_depends_on() {
    let package = UserPackage::new("--lib");
    let cache = folder();
    let cache_path = text(cache.path());
    let installed = [("SIMUTANT_ENGINE", "bundled"), ("XDG_CACHE_HOME", cache_path.as_str())];
    let simutant = |arguments: &[&str]| package.run_with(env!("CARGO_BIN_EXE_simutant"), arguments, &installed);
    let output = simutant(&["init", "--no-vendor"]);
    assert_exit(&output, 0);
    let copy = std::fs::read_dir(cache.path().join("simutant")).expect("it was unpacked").next();
    let copy = copy.expect("there is one version").expect("it can be listed").path();
    let expect = format!("init --vendor` puts its source into the package ({})\n", copy.display());
    assert!(stdout(&output).contains(&expect), "{}", stdout(&output));

    // The command's own engine is the checkout here, and the package's is in the cache.
    package.check_studied(&[]);
    // Systems that come with Simutant are studied without a checkout, but their implementations are in it.
    let out = folder();
    let study =
        simutant(&["study", "gcd", "--cases", "20", "--suites", "10", "--pages", "2", "--out", &text(out.path())]);
    assert_exit(&study, 0);
    let missing = simutant(&["test", "gbn", "--cases", "3", "--implementation", "udp"]);
    assert_exit(&missing, 3);
    assert!(stderr(&missing).contains("are in its repository, in systems/gbn/implementations"), "{}", stderr(&missing));

    // A cache that was cleared is filled again, and the command says what it cannot mend.
    std::fs::remove_dir_all(&copy).expect("it is there");
    let gone = package.simutant(&SMALL);
    assert_exit(&gone, 3);
    assert!(stderr(&gone).contains("`simutant init --vendor` puts the command's own"), "{}", stderr(&gone));
    package.check_studied(&installed);

    // From there to a copy of its own.
    let vendored = simutant(&["init", "--vendor"]);
    assert_exit(&vendored, 0);
    let expect = "written third_party/simutant\nchanged Cargo.toml: path of the dependency simutant-sim-core, \
                  path of the dependency simutant-system\nnext: ";
    assert!(stdout(&vendored).starts_with(expect), "{}", stdout(&vendored));
    let resolved = package.run("cargo", &["metadata", "--format-version", "1"]);
    assert!(resolved.status.success(), "{}", stderr(&resolved));
}

#[test]
fn packages_of_a_workspace_share_one_copy_of_the_engine() {
    let package = UserPackage::new("--lib");
    write(&package.path("Cargo.toml"), "[workspace]\nresolver = \"3\"\nmembers = [\"first\", \"second\"]\n");
    for name in ["first", "second"] {
        std::fs::create_dir_all(package.path(name).join("src")).expect("it can be made");
        write(&package.path(&format!("{name}/src/lib.rs")), "");
        let manifest = format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
        write(&package.path(&format!("{name}/Cargo.toml")), manifest);
    }
    let init = |name: &str, arguments: &[&str]| {
        let manifest = format!("{name}/Cargo.toml");
        let output = package.simutant(&[&["init", "--manifest-path", &manifest], arguments].concat());
        assert_exit(&output, 0);
    };
    init("first", &["--no-vendor"]);
    // Two copies of one version cannot be told apart.
    let elsewhere = UserPackage::new("--lib");
    assert_exit(&elsewhere.simutant(&["init", "--vendor"]), 0);
    let manifest = package.read("second/Cargo.toml");
    let other = text(&elsewhere.path("third_party/simutant/sim-core"));
    let twice = format!("{manifest}[dependencies]\nsimutant-sim-core = {{ path = {other:?} }}\n");
    write(&package.path("second/Cargo.toml"), twice);
    let refused = package.simutant(&["study", "first"]);
    assert_exit(&refused, 3);
    assert!(stderr(&refused).contains("missing, or there twice; `simutant init --vendor`"), "{}", stderr(&refused));
    init("second", &["--vendor"]);
    for name in ["first", "second"] {
        let manifest = package.read(&format!("{name}/Cargo.toml"));
        assert!(manifest.contains("path = \"../third_party/simutant/sim-core\""), "{manifest}");
    }
    assert!(package.read("Cargo.toml").contains("exclude = [\"third_party/simutant\"]"));
    let built = package.run("cargo", &["check", "--quiet", "--workspace"]);
    assert!(built.status.success(), "{}", stderr(&built));

    std::fs::remove_dir_all(package.path("third_party/simutant")).expect("it is there");
    std::fs::create_dir(package.path("third_party/simutant")).expect("it can be made");
    write(&package.path("third_party/simutant/Cargo.toml"), "[workspace]\n");
    package.check_refused(&["--manifest-path", "second/Cargo.toml", "--vendor"], "is no copy of the engine's source");
}

#[test]
fn an_engine_from_a_repository_is_refused_with_the_cure() {
    let package = UserPackage::new("--lib");
    assert_exit(&package.simutant(&["init", "--vendor"]), 0);
    let repository = folder();
    std::fs::rename(package.path("third_party/simutant"), repository.path().join("engine")).expect("it can be moved");
    let address = format!("file://{}", text(&repository.path().join("engine")));
    for arguments in [
        &["init", "--quiet"][..],
        &["add", "."],
        &["-c", "user.name=test", "-c", "user.email=test@example.org", "commit", "--quiet", "--message", "engine"],
    ] {
        let mut git = Command::new("git");
        let done = git.args(arguments).current_dir(repository.path().join("engine")).status();
        assert!(done.expect("git is installed").success());
    }
    let manifest = package.read("Cargo.toml");
    let mut from_repository = manifest.clone();
    for folder in ["sim-core", "systems/system"] {
        let by_path = format!("{{ path = \"third_party/simutant/{folder}\" }}");
        assert!(manifest.contains(&by_path), "{manifest}");
        from_repository = from_repository.replace(&by_path, &format!("{{ git = {address:?} }}"));
    }
    write(&package.path("Cargo.toml"), from_repository);
    let refused = package.simutant(&SMALL);
    assert_exit(&refused, 3);
    let expect = "store: the dependency `simutant-sim-core` is from a registry or a repository";
    assert!(stderr(&refused).contains(expect), "{}", stderr(&refused));
    assert_exit(&package.simutant(&["init", "--vendor"]), 0);
    assert_eq!(package.read("Cargo.toml"), manifest);
}

#[test]
fn what_is_in_the_way_is_told_and_nothing_is_written() {
    let package = UserPackage::new("--lib");
    write(&package.path("src/other.rs"), "");
    package.check_refused(&["--name", "other"], "src/other.rs is there already, and nothing is overwritten");
    package.check_refused(&["--name", "Store"], "--name Store: a name is of lower-case letters");
    package.check_refused(&["--name", "fn"], "--name fn: a word of the language");
    package.check_refused(&["--name", "serde"], "--name serde: a crate has this name");
    package.check_refused(&["--name", "tests"], "there is a module `tests` already");
    package.check_refused(&["--manifest-path", "nowhere/Cargo.toml"], "no package: there is no nowhere/Cargo.toml");
    let library = package.read("src/lib.rs");
    write(&package.path("src/lib.rs"), format!("#![no_std]\n{library}"));
    package.check_refused(&[], "the library is `no_std`, and the engine is not");
    write(&package.path("src/lib.rs"), "fn {");
    package.check_refused(&[], "src/lib.rs: line 1, column 4");
    write(&package.path("src/lib.rs"), library);
    let manifest = package.read("Cargo.toml");
    write(&package.path("Cargo.toml"), manifest.replace("2024", "2015"));
    package.check_refused(&[], "edition 2015");
    write(
        &package.path("Cargo.toml"),
        manifest.replace("[dependencies]", "[dependencies]\nserde = { version = \"1\", optional = true }"),
    );
    package.check_refused(&[], "the dependency `serde` is optional");
    write(&package.path("Cargo.toml"), "[workspace]\n");
    package.check_refused(&[], "Cargo.toml is a workspace's; give one of its packages with --manifest-path");
}

#[test]
fn a_package_without_a_library_is_refused() {
    UserPackage::new("--bin").check_refused(&[], "the package has no library");
}

#[test]
fn a_folder_without_a_package_is_refused() {
    let nowhere = folder();
    let mut command = Command::new(env!("CARGO_BIN_EXE_simutant"));
    let output = command.arg("init").current_dir(nowhere.path()).output().expect("it can be started");
    assert_exit(&output, 3);
    assert!(
        stderr(&output).contains("no package: there is no Cargo.toml in this folder or above"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_package_keeps_what_it_has() {
    let package = UserPackage::new("--lib");
    let manifest = "# The store.\n[package]\nname = \"store\" # short\nedition = \"2021\"\n\n\
                    [dependencies]\n# Data.\nserde = \"1\" # all of it\n";
    write(&package.path("Cargo.toml"), manifest);
    write(&package.path("src/lib.rs"), "//! The store.\n\nmod kept;\n\nuse kept::kept;\n\npub fn used() { kept() }\n");
    write(&package.path("src/kept.rs"), "pub fn kept() {}\n");
    let output = package.simutant(&["init", "--no-vendor", "--name", "two-stores", "--json"]);
    assert_exit(&output, 0);
    let made: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("it is JSON");
    assert_eq!(made["system"], "two-stores");
    assert!(made["next"].as_str().is_some_and(|next| next.ends_with(" study two-stores")), "{made}");
    let library = "//! The store.\n\nmod kept;\npub mod two_stores;\n\nuse kept::kept;\n\npub fn used() { kept() }\n";
    assert_eq!(package.read("src/lib.rs"), library);
    let engine = Path::new(ENGINE).canonicalize().expect("it is there");
    let expect = format!(
        "# The store.\n[package]\nname = \"store\" # short\nedition = \"2021\"\n\n\
         [package.metadata.simutant.systems.two-stores]\ntype = \"two_stores::TwoStores\"\n\
         specification = [\"src/two_stores/protocol.rs\"]\n\n\
         [dependencies]\n# Data.\nserde = {{ version = \"1\", features = [\"derive\"] }} # all of it\n\
         simutant-sim-core = {{ path = {:?} }}\nsimutant-system = {{ path = {:?} }}\n",
        text(&engine.join("sim-core")),
        text(&engine.join("systems/system")),
    );
    assert_eq!(package.read("Cargo.toml"), expect);
    let tests = package.run("cargo", &["test", "--quiet"]);
    assert!(tests.status.success(), "{}{}", stdout(&tests), stderr(&tests));
}
