//! Builds the programs of a small package with their mutants, and runs them as a user would: no worker, the environment
//! names the mutant.

use std::path::Path;
use std::process::{Command, Output};

use simutant_mutator::{
    BuiltPrograms, MutatorError, Programs, ProgramsRequest, ProgramsSection, Selection, build_programs,
};
use tempfile::TempDir;

/// Assertions are on in its releases, and a program needs a feature that is off.
const MANIFEST: &str = r#"
[workspace]
members = ["."]
[package]
name = "sums"
version = "0.1.0"
edition = "2024"
[features]
extra = []
[[bin]]
name = "extra"
required-features = ["extra"]
[profile.release]
debug-assertions = true
opt-level = 0
"#;

const LIB: &str = "pub mod sums;\n";

/// The sum of texts has mutants that do not compile.
const SUMS: &str = r#"//! Sums.
pub fn sum(a: u32, b: u32) -> u32 {
    a + b
}

pub async fn later(a: u32) -> u32 {
    if a > 2 { sum(a, 1) } else { 0 }
}

pub fn name(a: String, b: &str) -> String {
    a + b
}

pub fn is_even(a: u32) -> bool {
    a % 2 == 0
}
"#;

const ONE: &str = r#"
fn main() {
    println!("{} {} {}", sums::sums::sum(7, 3), sums::sums::name("a".into(), "b"), cfg!(debug_assertions));
}
"#;

/// A sum on three threads, and one that is a future which two threads poll.
const MANY: &str = r#"
use std::task::{Context, Poll, Waker};
fn main() {
    let sums: Vec<u32> = (0..3).map(|_| std::thread::spawn(|| sums::sums::sum(7, 3)).join().unwrap()).collect();
    let mut turns = 0;
    let mut future = Box::pin(async move {
        let first = sums::sums::later(7).await;
        std::future::poll_fn(move |_| { turns += 1; if turns > 1 { Poll::Ready(()) } else { Poll::Pending } }).await;
        (first, sums::sums::later(7).await)
    });
    let mut poll = |_| std::thread::scope(|scope| {
        scope.spawn(|| future.as_mut().poll(&mut Context::from_waker(Waker::noop()))).join().unwrap()
    });
    println!("{sums:?} {:?}", [poll(0), poll(1)]);
}
"#;

/// Numbers if the feature is on, and texts if it is not.
const BY_FEATURE: &str = r#"
#[cfg(feature = "extra")]
pub type Left = u32;
#[cfg(feature = "extra")]
pub type Right = u32;
#[cfg(not(feature = "extra"))]
pub type Left = String;
#[cfg(not(feature = "extra"))]
pub type Right = &'static str;
pub fn both(c: Left, d: Right) -> Left {
    c + d
}
"#;

const EXTRA: &str = r#"
#[cfg(not(feature = "extra"))]
compile_error!("the feature is off");
fn main() {
    println!("{}", sums::sums::sum(7, 3));
}
"#;

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a temporary folder");
    std::fs::write(path, text).expect("a temporary file");
}

/// Writes the package.
fn package() -> TempDir {
    let root = tempfile::tempdir().expect("a temporary folder");
    for (file, text) in [
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", LIB),
        ("src/sums.rs", SUMS),
        ("src/bin/one.rs", ONE),
        ("src/bin/many.rs", MANY),
        ("src/bin/extra.rs", EXTRA),
    ] {
        write(&root.path().join("sums").join(file), text);
    }
    root
}

fn find(root: &Path, specification: &[&str], features: &[&str]) -> Result<Programs, MutatorError> {
    let [specification, features] =
        [specification, features].map(|names| names.iter().map(|&name| name.into()).collect::<Vec<_>>());
    let section =
        ProgramsSection { name: "sums", specification: &specification, features: &features, default_features: true };
    Programs::find(&root.join("sums/Cargo.toml"), section)
}

fn built(root: &Path) -> BuiltPrograms {
    built_with(root, &[])
}

fn built_with(root: &Path, features: &[&str]) -> BuiltPrograms {
    built_by(root, features, &Selection::default())
}

fn built_by(root: &Path, features: &[&str], operators: &Selection) -> BuiltPrograms {
    let programs = find(root, &["src/sums.rs"], features).expect("it is there");
    let probe = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/probe"));
    let request = ProgramsRequest { programs: &programs, operators, directory: &root.join("build"), probe };
    build_programs(&request, &mut |_| {}).expect("it compiles")
}

/// Runs a program; returns what it printed, and whether it came to the mutant.
#[track_caller]
fn run(built: &BuiltPrograms, program: &str, mutant: Option<usize>) -> (String, bool) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let reached = folder.path().join("reached");
    let output = start(built, program, mutant.map(|mutant| mutant.to_string()).as_deref(), &reached);
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    (String::from_utf8(output.stdout).expect("it prints text"), reached.exists())
}

fn start(built: &BuiltPrograms, program: &str, mutant: Option<&str>, reached: &Path) -> Output {
    let mut command = Command::new(built.folder.join("release").join(program));
    command.env("SIMUTANT_MUTANT_REACHED", reached);
    if let Some(mutant) = mutant {
        command.env("SIMUTANT_MUTANT", mutant);
    }
    command.output().expect("the program was built")
}

const ONE_PRINTS: &str = "10 ab true\n";
const MANY_PRINTS: &str = "[10, 10, 10] [Pending, Ready((8, 8))]\n";

#[test]
fn programs_are_the_mutant_that_the_environment_names() {
    let root = package();
    let built = built(root.path());
    let sites = &built.sites;
    assert_eq!((sites.blocks.len(), sites.pairs.len()), (0, 0), "nothing is measured");
    let functions: Vec<&str> = sites.functions.iter().map(|function| function.path.as_str()).collect();
    assert_eq!(functions, ["sums::sum", "sums::later", "sums::name", "sums::is_even"]);
    let rejected: Vec<&str> = sites.rejected.iter().map(|rejected| rejected.mutant.original.as_str()).collect();
    assert!(rejected.contains(&"a + b"), "texts have no other operator: {rejected:?}");

    assert_eq!(run(&built, "one", None), (ONE_PRINTS.into(), false));
    assert_eq!(run(&built, "many", None), (MANY_PRINTS.into(), false));
    assert!(!built.folder.join("release/extra").exists());

    let mutants_of = |path: &str| -> Vec<usize> {
        let function = functions.iter().position(|function| *function == path).expect("it is listed");
        (0..sites.mutants.len()).filter(|mutant| sites.mutants[*mutant].function == function).collect()
    };
    let difference = mutants_of("sums::sum").into_iter().find(|mutant| sites.mutants[*mutant].replacement == "a - b");
    let difference = difference.expect("sums have differences as mutants");
    assert_eq!(run(&built, "one", Some(difference)), ("4 ab true\n".into(), true));
    // On all threads, and on whichever polls.
    assert_eq!(run(&built, "many", Some(difference)), ("[4, 4, 4] [Pending, Ready((6, 6))]\n".into(), true));

    for mutant in mutants_of("sums::is_even") {
        assert_eq!(run(&built, "one", Some(mutant)), (ONE_PRINTS.into(), false), "nobody calls it");
    }
    let killed = mutants_of("sums::later").into_iter().filter(|mutant| {
        let (printed, reached) = run(&built, "many", Some(*mutant));
        assert!(reached || printed == MANY_PRINTS, "{:?}", sites.mutants[*mutant]);
        printed != MANY_PRINTS
    });
    assert!(killed.count() > 3);
}

#[test]
fn a_constant_of_programs_is_that_of_the_mutant_in_all_functions() {
    let root = package();
    let sums = SUMS.replace("    a + b\n}\n\npub async", "    a + b + FIRST\n}\n\npub async");
    let sums =
        sums.replace("sum(a, 1)", "sum(a, 1) + FIRST").replace("pub fn sum", "const FIRST: u32 = 2;\npub fn sum");
    write(&root.path().join("sums/src/sums.rs"), &sums);
    for operators in ["CVR", "AOR,CVR"] {
        let built = built_by(root.path(), &[], &Selection::parse(operators).expect("known operators"));
        let mutants = &built.sites.mutants;
        let of_constants = (0..mutants.len()).filter(|number| mutants[*number].operator == "CVR");
        let values: Vec<(usize, u32)> =
            of_constants.map(|number| (number, mutants[number].replacement.parse().expect("a number"))).collect();
        assert_eq!(values.iter().map(|(_, first)| *first).collect::<Vec<_>>(), [3, 1, 4]);
        for (number, first) in values.into_iter().map(|(number, first)| (Some(number), first)).chain([(None, 2)]) {
            assert_eq!(run(&built, "one", number), (format!("{} ab true\n", 10 + first), number.is_some()));
            let (sum, later) = (10 + first, 8 + 2 * first);
            let expect = format!("[{sum}, {sum}, {sum}] [Pending, Ready(({later}, {later}))]\n");
            assert_eq!(run(&built, "many", number), (expect, number.is_some()));
        }
    }
}

#[test]
fn programs_have_the_features_that_are_asked_for() {
    let root = package();
    let built = built_with(root.path(), &["extra"]);
    let difference = built.sites.mutants.iter().position(|mutant| mutant.replacement == "a - b").expect("it is there");
    assert_eq!(run(&built, "extra", None), ("10\n".into(), false));
    assert_eq!(run(&built, "extra", Some(difference)), ("4\n".into(), true));
    // What the compiler says is about the features that it was told.
    write(&root.path().join("sums/src/sums.rs"), &format!("{SUMS}\n{BY_FEATURE}"));
    let difference_is_rejected = |features: &[&str]| {
        let built = built_with(root.path(), features);
        let mut rejected = built.sites.rejected.iter().map(|rejected| rejected.mutant.replacement.as_str());
        rejected.any(|replacement| replacement == "c - d")
    };
    assert!(difference_is_rejected(&[]) && !difference_is_rejected(&["extra"]));
    let error = find(root.path(), &["src/sums.rs"], &["more"]).expect_err("there is none").to_string();
    assert!(error.contains("`features`: the package has no feature `more`; it has extra"), "{error}");
}

#[test]
fn a_number_that_is_none_ends_the_program() {
    let root = package();
    let built = built(root.path());
    let check = |mutant: &str, reached: &Path, expect: &str| {
        let output = start(&built, "one", Some(mutant), reached);
        assert_eq!(output.status.code(), Some(69), "{mutant}");
        assert!(String::from_utf8_lossy(&output.stderr).starts_with(expect), "{output:?}");
        assert!(output.stdout.is_empty(), "{output:?}");
    };
    check("first", &root.path().join("reached"), "simutant: SIMUTANT_MUTANT is first, which is no number of a mutant");
    check("4294967295", &root.path().join("reached"), "simutant: SIMUTANT_MUTANT is 4294967295, ");
    let nowhere = root.path().join("nowhere/reached");
    let number = built.sites.mutants.iter().position(|mutant| mutant.replacement == "a - b").expect("it is there");
    check(&number.to_string(), &nowhere, "simutant: SIMUTANT_MUTANT_REACHED is ");
}

#[test]
fn programs_of_other_source_are_told_apart_and_stay() {
    let root = package();
    let first = built(root.path());
    let again = built(root.path());
    assert_eq!((first.hash, &first.folder), (again.hash, &again.folder));
    write(&root.path().join("sums/README.md"), "Nothing that is compiled.\n");
    assert_eq!(built(root.path()).hash, first.hash);
    write(&root.path().join("sums/src/sums.rs"), &SUMS.replace("a > 2", "a > 3"));
    let second = built(root.path());
    assert_ne!(first.hash, second.hash);
    assert_eq!(run(&first, "one", None), (ONE_PRINTS.into(), false), "who runs the first goes on");
    assert_eq!(run(&second, "many", None), (MANY_PRINTS.into(), false));
}

#[test]
fn what_cannot_be_mutated_is_told() {
    let root = package();
    let check = |specification: &[&str], expect: &str| {
        let error = find(root.path(), specification, &[]).expect_err("it cannot be mutated").to_string();
        assert!(error.contains(expect), "{error}");
    };
    check(&["src/other.rs"], "sums/Cargo.toml: `specification`: `src/other.rs` is no file of ");
    check(&[], "`specification`: names no files");
    let manifest = root.path().join("sums/Cargo.toml");
    write(&manifest, "[package]\nname = \"sums\"\nversion = \"0.1.0\"\nedition = \"2024\"\nautobins = false\n");
    check(&["src/sums.rs"], "`manifest`: the package has no programs");
    let member = "[package]\nname = \"member\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    write(&root.path().join("sums/member/Cargo.toml"), member);
    write(&root.path().join("sums/member/src/lib.rs"), "");
    write(&manifest, "[workspace]\nmembers = [\"member\"]\n");
    check(&["src/sums.rs"], "`manifest`: is that of a workspace, and of no package");
}
