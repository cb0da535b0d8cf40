//! Instruments and compiles a small package of awkward code, and runs every mutant of it.

#[path = "build/generated.rs"]
mod generated;
#[path = "build/guards.rs"]
mod guards;
#[path = "build/left_alone.rs"]
mod left_alone;

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use simutant_mutator::{
    Build, BuildEvent, BuildRequest, Equivalence, INITIAL_LINE, MutatorError, Named, Package, ProgramRequest,
    Selection, TYPE_LINE, build, build_plain, build_program, compiler_equivalence,
};
use simutant_outcomes::Compiled;

/// The folder of the probe crate.
const PROBE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/probe");

const MANIFEST: &str = r#"
[package]
name = "toy"
version = "0.1.0"
edition = "2024"

[workspace]

[package.metadata.simutant.systems.toy]
type = "Toy"
specification = ["src/awkward.rs"]
"#;

const LIB: &str =
    "pub mod awkward;\npub struct Toy;\nimpl Toy { pub fn run(input: u32) -> String { awkward::run(input) } }\n";

/// A worker that runs each mutant on a few inputs and prints what it found.
const WORKER: &str = r##"
use std::panic::{AssertUnwindSafe, catch_unwind};
thread_local! { static QUIET: std::cell::Cell<bool> = const { std::cell::Cell::new(false) }; }
pub type Run = fn(u32) -> String;
pub trait System { fn run(input: u32) -> String; }
pub fn system<S: System>() -> Run { S::run }
fn outcome(run: Run, input: u32) -> String {
    QUIET.set(true);
    let result = catch_unwind(AssertUnwindSafe(|| run(input)));
    QUIET.set(false);
    let panicked = |payload: Box<dyn std::any::Any + Send>| {
        if payload.is::<simutant_probe::OutOfSteps>() { "out of steps".to_owned() } else { "panic".to_owned() }
    };
    result.unwrap_or_else(panicked)
}
pub fn main(runs: &[Run], lines: &[(&str, &str, &[u32])]) -> std::process::ExitCode {
    std::panic::set_hook(Box::new(|info| if !QUIET.get() { eprintln!("{info}") }));
    let arguments: Vec<usize> = std::env::args().skip(1).map(|size| size.parse().unwrap()).collect();
    let [blocks, branches, pairs, conditions, mutants, ref parts @ ..] = arguments[..] else { panic!("five sizes") };
    let sizes = simutant_probe::RecordingSizes { blocks, branches, pairs, conditions, mutants };
    println!("lines {} {}", lines[0].1, lines[0].2.len());
    for input in 0..12 {
        simutant_probe::start_clean(100_000);
        let original = outcome(runs[0], input);
        let steps = simutant_probe::finish().steps;
        simutant_probe::start_choosing(100_000);
        let chosen = outcome(runs[0], input);
        assert_eq!((&original, steps), (&chosen, simutant_probe::finish().steps), "choosing changes nothing");
        simutant_probe::start_recording(100_000, sizes);
        let recorded_outcome = outcome(runs[0], input);
        let recorded = simutant_probe::finish();
        assert_eq!((original.clone(), steps), (recorded_outcome, recorded.steps), "recording changes nothing");
        let recording = recorded.recording.unwrap();
        assert_eq!(recording.pairs_unlisted, 0, "the analysis knows every pair");
        let covered = (&recording.blocks, &recording.branches, &recording.pairs, &recording.conditions);
        println!("covered {input} {covered:?}");
        for mutant in 0..sizes.mutants as u32 {
            simutant_probe::start_mutant(mutant, 3 * steps + 10);
            let mutated = outcome(runs[0], input);
            let finished = simutant_probe::finish();
            let killed = mutated != original;
            // A mutant of two is reached and infects as its parts do.
            let pair = parts.chunks(3).find(|pair| pair[0] == mutant as usize);
            let of = pair.map_or(vec![mutant], |pair| pair[1..].iter().map(|&part| part as u32).collect());
            let reached = of.iter().any(|part| recording.reached.contains(part));
            let infected = of.iter().any(|part| recording.infected.contains(part));
            assert!(!infected || reached, "mutant {mutant}: infected, so reached");
            assert_eq!(finished.mutant_reached, reached, "mutant {mutant} on {input}: reached");
            assert!(!killed || infected, "mutant {mutant} on {input}: killed ({original} became {mutated}), so infected");
            println!("pair {mutant} {input} {killed} {infected} {mutated}");
        }
    }
    std::process::ExitCode::SUCCESS
}
"##;

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a temporary folder");
    std::fs::write(path, text).expect("a temporary file");
}

/// Builds the package of `awkward` below `root`.
fn build_toy(root: &Path, awkward: &str, operators: &str) -> Result<Build, MutatorError> {
    write_toy(root, awkward);
    with_toy(root, operators, |request| build(request, &mut |_| {}))
}

/// Writes the package of `awkward` and its worker below `root`.
fn write_toy(root: &Path, awkward: &str) {
    write(&root.join("toy/Cargo.toml"), MANIFEST);
    write(
        &root.join("toy/src/lib.rs"),
        &format!(
            "{LIB}impl simutant_worker::System for Toy {{ fn run(input: u32) -> String {{ Toy::run(input) }} }}\n"
        ),
    );
    write(&root.join("toy/src/awkward.rs"), awkward);
    write(
        &root.join("worker/Cargo.toml"),
        &format!(
            "[package]\nname = \"simutant-worker\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[dependencies]\nsimutant-probe = {{ path = {PROBE:?} }}\n"
        ),
    );
    write(&root.join("worker/src/lib.rs"), WORKER);
    let manifest = format!("{MANIFEST}\n[dependencies]\nsimutant-worker = {{ path = \"../worker\" }}\n");
    write(&root.join("toy/Cargo.toml"), &manifest);
}

/// Does something with a package that [`write_toy`] wrote below `root`.
fn with_toy<T>(
    root: &Path,
    operators: &str,
    act: impl FnOnce(&BuildRequest<'_>) -> Result<T, MutatorError>,
) -> Result<T, MutatorError> {
    with_values(root, operators, &[], act)
}

/// Does something with that package, of which constants have other values.
fn with_values<T>(
    root: &Path,
    operators: &str,
    values: &[&str],
    act: impl FnOnce(&BuildRequest<'_>) -> Result<T, MutatorError>,
) -> Result<T, MutatorError> {
    let values: Vec<_> = values.iter().map(|value| value.parse().expect("a name and a value")).collect();
    let package = Package::find(&root.join("toy/Cargo.toml"), "toy")?.with_values(&values)?;
    act(&BuildRequest {
        package: &package,
        operators: &Selection::parse(operators).expect("a list of operators"),
        directory: &root.join("build"),
        worker: ("simutant-worker", &root.join("worker")),
        probe: Path::new(PROBE),
    })
}

fn run(built: &Build) -> String {
    let sites = &built.sites;
    let sizes =
        [&sites.blocks.len(), &sites.branches.len(), &sites.pairs.len(), &sites.conditions.len(), &sites.mutants.len()];
    let pairs = sites.mutants.iter().enumerate().filter_map(|(number, mutant)| Some((number, mutant.parts?)));
    let pairs = pairs.flat_map(|(number, [first, second])| [number, first as usize, second as usize]);
    let arguments = sizes.into_iter().copied().chain(pairs).map(|number| number.to_string());
    let output = Command::new(&built.worker).args(arguments).output().expect("the worker was built");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the worker prints text")
}

/// Returns the numbers below `count` that no run covered, of the list with this number that the worker prints.
fn uncovered(output: &str, list: usize, count: usize) -> Vec<usize> {
    let covered: BTreeSet<usize> = output
        .lines()
        .filter_map(|line| line.strip_prefix("covered "))
        .flat_map(|line| line.split('[').nth(list).expect("four lists").split([',', ']']))
        .filter_map(|number| number.trim().parse().ok())
        .collect();
    (0..count).filter(|number| !covered.contains(number)).collect()
}

/// Returns pairs of a definition and a use as a person reads them.
fn shown(built: &Build, pairs: &[usize]) -> Vec<String> {
    let sites = &built.sites;
    let show = |&number: &usize| {
        let pair = &sites.pairs[number];
        let definition = &sites.definitions[pair.definition];
        let outcome = pair.branch.map(|branch| format!(" ({})", sites.branches[branch].outcome)).unwrap_or_default();
        let (from, to) = (definition.span, pair.span);
        format!("{} {}:{} -> {}:{}{outcome}", definition.variable, from.line, from.column, to.line, to.column)
    };
    pairs.iter().map(show).collect()
}

/// The worker fails if it sees a pair that is not listed; here every pair that is listed is seen as well.
#[test]
fn without_loops_the_pairs_that_are_listed_are_those_that_are_seen() {
    let root = tempfile::tempdir().expect("a temporary folder");
    let built =
        build_toy(root.path(), &generated::programs(24, generated::Loops::None), "default").expect("it compiles");
    let count = built.sites.pairs.len();
    assert!(count > 500, "only {count} pairs");
    let mut missing = shown(&built, &uncovered(&run(&built), 3, count));
    // The loop of `run` itself always has a turn.
    missing.retain(|pair| !pair.starts_with("sum "));
    assert_eq!(missing, [""; 0]);
}

#[test]
fn with_loops_the_pairs_that_are_seen_are_listed() {
    let root = tempfile::tempdir().expect("a temporary folder");
    let built =
        build_toy(root.path(), &generated::programs(24, generated::Loops::Some), "default").expect("it compiles");
    let count = built.sites.pairs.len();
    let missing = uncovered(&run(&built), 3, count).len();
    assert!(missing < count, "{count} pairs, none of them is seen");
}

#[test]
fn awkward_code_is_instrumented_and_every_mutant_runs() {
    let root = tempfile::tempdir().expect("a temporary folder");
    let built = build_toy(root.path(), include_str!("build/awkward.rs"), "default").expect("it compiles");
    let output = run(&built);

    let sites = &built.sites;
    let mut killed: BTreeMap<usize, bool> = BTreeMap::new();
    for line in output.lines().filter_map(|line| line.strip_prefix("pair ")) {
        let fields: Vec<&str> = line.split(' ').collect();
        *killed.entry(fields[0].parse().expect("a number")).or_default() |= fields[2] == "true";
    }
    assert_eq!(killed.len(), sites.mutants.len());
    let survivors: Vec<String> = killed
        .iter()
        .filter(|(_, killed)| !**killed)
        .map(|(number, _)| {
            let mutant = &sites.mutants[*number];
            format!("{} {}: {} -> {}", mutant.operator, mutant.span.line, mutant.original, mutant.replacement)
        })
        .collect();
    let rejected: Vec<String> = sites
        .rejected
        .iter()
        .map(|rejected| {
            let mutant = &rejected.mutant;
            let line = mutant.span.line;
            format!("{} {line}: {} -> {} [{}]", mutant.operator, mutant.original, mutant.replacement, rejected.reason)
        })
        .collect();
    let uninstrumented: Vec<String> =
        sites.uninstrumented.iter().map(|function| format!("{}: {}", function.path, function.reason)).collect();
    let uncovered_branches: Vec<String> = uncovered(&output, 2, sites.branches.len())
        .into_iter()
        .map(|number| format!("{}: {}", sites.branches[number].span.line, sites.branches[number].outcome))
        .collect();
    let uncovered_blocks: Vec<usize> =
        uncovered(&output, 1, sites.blocks.len()).into_iter().map(|number| sites.blocks[number].span.line).collect();
    let uncovered_pairs = shown(&built, &uncovered(&output, 3, sites.pairs.len()));
    let uncovered_conditions: Vec<String> = uncovered(&output, 4, sites.conditions.len())
        .into_iter()
        .map(|number| &sites.conditions[number])
        .filter(|condition| condition.branch.is_none())
        .map(|condition| format!("{}:{} {}", condition.span.line, condition.span.column, condition.value))
        .collect();
    insta::assert_debug_snapshot!((
        sites.mutants.len(),
        survivors,
        rejected,
        uninstrumented,
        uncovered_blocks,
        uncovered_branches,
        sites.pairs.len(),
        uncovered_pairs,
        sites.conditions.len(),
        uncovered_conditions
    ));
}

#[test]
fn temporaries_live_as_long_as_in_the_original_and_in_what_mutants_are() {
    for (part, edition) in [(0, "2021"), (1, "2024")] {
        let (corpus, inputs) = guards::corpus(part);
        let root = tempfile::tempdir().expect("a temporary folder");
        write_toy(root.path(), &corpus);
        let replace = |file: &str, from: &str, to: &str| {
            let text = std::fs::read_to_string(root.path().join(file)).expect("it was written");
            assert!(text.contains(from), "{from}");
            write(&root.path().join(file), &text.replace(from, to));
        };
        replace("toy/Cargo.toml", "edition = \"2024\"", &format!("edition = \"{edition}\""));
        replace("worker/src/lib.rs", "0..12", &format!("0..{inputs}"));
        let only_reached = "if !recording.reached.contains(&mutant) { continue; }\n simutant_probe::start_mutant";
        replace("worker/src/lib.rs", "simutant_probe::start_mutant", only_reached);
        let built = with_toy(root.path(), "default", |request| build(request, &mut |_| {})).expect("it compiles");
        assert_eq!(built.sites.uninstrumented, []);
        let output = run(&built);
        let by_instrumented = output.lines().filter_map(|line| line.strip_prefix("pair ")).map(|line| {
            let fields: Vec<&str> = line.splitn(5, ' ').collect();
            let number = |field: usize| fields[field].parse().expect("a number");
            ((number(0), number(1)), fields[4].to_owned())
        });
        // What takes too many steps takes forever in a program that counts none.
        let by_instrumented: BTreeMap<(usize, usize), String> =
            by_instrumented.filter(|(_, outcome)| outcome != "out of steps").collect();
        assert!(by_instrumented.len() > inputs, "{}", by_instrumented.len());
        let by_source = guards::outcomes(root.path(), edition, &built.sites, by_instrumented.keys().copied());
        // Those of functions that all share are not among them.
        assert!(by_source.len() > 3 * inputs, "{} of {}", by_source.len(), by_instrumented.len());
        for (pair, outcome) in &by_source {
            let diff = || built.sites.diff(&built.sites.mutants[pair.0], 0);
            assert_eq!(by_instrumented[pair], *outcome, "edition {edition}, {pair:?}: {}", diff());
        }
    }
}

#[test]
fn a_mutant_of_two_runs_both_and_does_not_disturb_others() {
    const TWO: &str = "fn low(x: u32) -> u32 { if x > 4 { x << 1 } else { x } }
fn high(x: u32) -> u32 { x | 8 }
fn middle(x: u32) -> u32 { let twice = || low(x) << 1; twice() + high(x) }
pub fn run(input: u32) -> String { format!(\"{}\", middle(input)) }";
    let root = tempfile::tempdir().expect("a temporary folder");
    let built = build_toy(root.path(), TWO, "SOR,LOR,ROR,HOM").expect("it compiles");
    let values: BTreeMap<(u32, u32), u32> = run(&built)
        .lines()
        .filter_map(|line| line.strip_prefix("pair "))
        .map(|line| {
            let fields: Vec<&str> = line.split(' ').collect();
            let number = |field: usize| fields[field].parse().expect("a number");
            ((number(0), number(1)), number(4))
        })
        .collect();
    let mutants = &built.sites.mutants;
    // What the program computes with these replacements.
    let low = |mutant: &str, x: u32| {
        let exceeds = match mutant {
            "x >= 4" => x >= 4,
            "x != 4" => x != 4,
            "false" => false,
            _ => x > 4,
        };
        if !exceeds {
            x
        } else if mutant == "x >> 1" {
            x >> 1
        } else {
            x << 1
        }
    };
    let high = |mutant: &str, x: u32| match mutant {
        "x & 8" => x & 8,
        "x ^ 8" => x ^ 8,
        _ => x | 8,
    };
    let mut pairs = 0;
    for (&(number, input), &value) in &values {
        let changes = built.sites.changes(&mutants[number as usize]);
        pairs += usize::from(changes.len() == 2);
        let made = |function: &str| {
            let change = changes.iter().find(|change| built.sites.functions[change.function].path.ends_with(function));
            change.map_or("", |change| change.replacement.as_str())
        };
        let low = low(made("low"), input);
        let middle = if made("middle") == "low(x) >> 1" { low >> 1 } else { low << 1 };
        assert_eq!(value, middle + high(made("high"), input), "{changes:?} of {input}");
    }
    // Four mutants in `low`, each with one of `high`, and two there, each with that of `middle`.
    assert_eq!((mutants.len(), pairs), (4 + 4 + 2 + 2 + 1, 6 * 12));
}

/// What `build/constants.rs` computes, with these values of its constants where they can be chosen.
fn with_constants(input: u32, value: &dyn Fn(&str) -> Option<String>) -> String {
    let number = |path: &str, original: u32| value(path).map_or(original, |value| value.parse().expect("a number"));
    let limit = number("LIMIT", 3);
    let sum = number("SUM", limit * 2 + 1);
    let long = number("LONG", 25);
    let longer = long * number("LONGER", 2);
    let rate: f64 = value("RATE").map_or(0.5, |value| value.parse().expect("a number"));
    let is_on = value("IS_ON").is_none();
    let bonus = number("own::BONUS", limit + 1);
    let more = input + number("own::BONUS:1", 1);
    let fields = [
        sum.to_string(),
        (limit + limit.min(7)).to_string(),
        (long + 1 + longer).to_string(),
        (rate * 2.0).to_string(),
        (input + number("Meter::STEP", 2) + 4).to_string(),
        (input * 10).to_string(),
        (input > number("inner::LIMIT", 5)).to_string(),
        "3".to_owned(),
        (input % 12 == 3).to_string(),
        limit.to_string(),
        (if input > 5 { more + bonus } else { more }).to_string(),
        (input + 3).to_string(),
        (2 * (input + 1) + sum).to_string(),
        (if is_on && input > 1 { limit } else { input }).to_string(),
        (5 + limit + input).to_string(),
        number("WIDTH", 1).to_string(),
        (limit + 4).to_string(),
    ];
    fields.join(",")
}

#[test]
fn a_mutant_of_a_constant_shows_at_all_uses_that_can_choose_and_at_no_other() {
    let root = tempfile::tempdir().expect("a temporary folder");
    for operators in ["CVR", "CVR,AOR,LVR,ROR,SDL,RVR", "CVR,AOR,HOM"] {
        let built = build_toy(root.path(), include_str!("build/constants.rs"), operators).expect("it compiles");
        let sites = &built.sites;
        let of_constants = sites.mutants.iter().enumerate().filter(|(_, mutant)| mutant.operator == "CVR");
        let of_constants: BTreeMap<usize, &simutant_outcomes::Mutant> = of_constants.collect();
        if operators == "CVR" {
            let show = |mutant: &&simutant_outcomes::Mutant| {
                let function = &sites.functions[mutant.function].path;
                let class = mutant.class;
                format!("{}: {} -> {} ({class}, {function})", mutant.span.line, mutant.original, mutant.replacement)
            };
            let rejected =
                sites.rejected.iter().map(|rejected| format!("{}: {}", show(&&rejected.mutant), rejected.reason));
            let unmutated = sites.unmutated.iter().map(|constant| format!("{}: {}", constant.path, constant.reason));
            insta::assert_debug_snapshot!((
                of_constants.values().map(show).collect::<Vec<_>>(),
                rejected.collect::<Vec<_>>(),
                unmutated.collect::<Vec<_>>()
            ));
            assert_eq!(of_constants.len(), sites.mutants.len());
            let limit = &sites.mutants[0];
            assert_eq!(
                sites.diff(limit, 0).lines().skip(3).collect::<Vec<_>>(),
                ["-const LIMIT: u32 = 3;", "+const LIMIT: u32 = 4;"]
            );
        }
        let mut pairs = 0;
        // The worker finds out whether what is recorded as reached and infected is what a run of the mutant does.
        for line in run(&built).lines().filter_map(|line| line.strip_prefix("pair ")) {
            let fields: Vec<&str> = line.splitn(5, ' ').collect();
            let Some(mutant) = of_constants.get(&fields[0].parse().expect("a number")) else { continue };
            let input: u32 = fields[1].parse().expect("a number");
            let declaration = sites.files[0].text.lines().nth(mutant.span.line - 1).expect("its line");
            let words = declaration.split([' ', ':']).skip_while(|word| !matches!(*word, "const" | "static"));
            let name = words.skip(1).find(|word| !word.is_empty()).expect("a name");
            // Where one name stands for several, the line tells them apart.
            let path = match (name, mutant.original.as_str()) {
                ("LIMIT", "5") => "inner::LIMIT",
                ("BONUS", "1") => "own::BONUS:1",
                ("BONUS", _) => "own::BONUS",
                ("STEP", _) => "Meter::STEP",
                _ => name,
            };
            let value = |asked: &str| (asked == path).then(|| mutant.replacement.clone());
            assert_eq!(fields[4], with_constants(input, &value), "{path} = {} on {input}", mutant.replacement);
            pairs += 1;
        }
        assert_eq!(pairs, 12 * of_constants.len());
    }
}

#[test]
fn a_package_that_does_not_compile_says_so_with_the_compilers_words() {
    let root = tempfile::tempdir().expect("a temporary folder");
    let error = build_toy(root.path(), "pub fn run(input: u32) -> String { input }\n", "default")
        .expect_err("u32 is no String");
    let message = error.to_string();
    assert!(message.starts_with("the package does not compile") && message.contains("mismatched types"), "{message}");
    let own = root.path().canonicalize().expect("it is there").join("toy/src/awkward.rs").display().to_string();
    assert!(message.contains(&format!("{own}:")), "{message}");
}

/// A package below `root` that depends on an engine, and has a specification, too.
fn write_toy_with_engine(root: &Path, awkward: &str) {
    write_toy(root, awkward);
    let library = "[package]\nname = \"NAME\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    for name in ["simutant-sim-core", "simutant-oracle"] {
        write(&root.join(name).join("Cargo.toml"), &library.replace("NAME", name));
        write(&root.join(name).join("src/lib.rs"), "pub trait Specification { const ANSWER: u32; }\n");
    }
    let manifest = root.join("toy/Cargo.toml");
    let text = std::fs::read_to_string(&manifest).expect("it was written");
    let engine = "simutant-sim-core = { path = \"../simutant-sim-core\" }\nsimutant-oracle = { path = \"../simutant-oracle\" }\n";
    write(&manifest, &text.replace("[dependencies]\n", &format!("[dependencies]\n{engine}")));
    let library = root.join("toy/src/lib.rs");
    let text = std::fs::read_to_string(&library).expect("it was written");
    write(&library, &format!("{text}impl simutant_oracle::Specification for Toy {{ const ANSWER: u32 = 42; }}\n"));
}

/// Builds the package as it is written; returns the crates that were compiled, too.
fn plain(root: &Path) -> (Result<(), MutatorError>, Vec<String>) {
    let mut noted = Default::default();
    let built = with_toy(root, "AOR", |request| build_plain(request, &mut |event| note(event, &mut noted)));
    (built.map(drop), noted.0)
}

/// Adds the packages that are compiled, each once for each time.
fn note(event: BuildEvent, (compiled, running): &mut (Vec<String>, Vec<String>)) {
    if let BuildEvent::Running { packages } = event {
        compiled.extend(packages.iter().filter(|package| !running.contains(package)).cloned());
        *running = packages;
    }
}

const RUN: &str = "pub fn run(input: u32) -> String { input.to_string() }\n";

#[test]
fn a_mistake_of_the_package_is_told_before_the_engine_is_compiled() {
    let root = tempfile::tempdir().expect("a temporary folder");
    let root = root.path();
    let engine = || {
        let files = std::fs::read_dir(root.join("toy/target/simutant/release/deps")).into_iter().flatten().flatten();
        let names = files.map(|file| file.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.starts_with("libsimutant_sim_core-") && name.ends_with(".rlib")).count()
    };
    write_toy_with_engine(root, "pub fn run(input: u32) -> String { input }\n");
    for is_compiled in [false, true] {
        let (built, _) = plain(root);
        let message = built.expect_err("a number is no text").to_string();
        assert!(message.contains("mismatched types") && message.contains("src/awkward.rs:1:"), "{message}");
        assert_eq!(engine() > 0, is_compiled);
        if !is_compiled {
            write(&root.join("toy/src/awkward.rs"), RUN);
            plain(root).0.expect("it is right");
            write(&root.join("toy/src/awkward.rs"), "pub fn run(input: u32) -> String { input }\n");
        }
    }
}

#[test]
fn a_type_that_is_not_in_the_package_is_told_of_the_manifest() {
    let root = tempfile::tempdir().expect("a temporary folder");
    let root = root.path();
    write_toy_with_engine(root, RUN);
    let manifest = root.join("toy/Cargo.toml");
    let text = std::fs::read_to_string(&manifest).expect("it was written");
    let check = |type_path: &str, expect: &str| {
        write(&manifest, &text.replace("type = \"Toy\"", &format!("type = {type_path:?}")));
        let message = plain(root).0.expect_err("there is no such type").to_string();
        let named = format!("toy/Cargo.toml: type `{type_path}` of system `toy` {expect}");
        assert!(message.contains(&named) && !message.contains("src/lib.rs"), "{message}");
    };
    // First without anything compiled, then with everything. What the source shows is told before cargo is asked.
    let products = root.join("toy/target/simutant/release");
    check("Toi", "is not in the package: cannot find type `Toi` in the crate; did you mean `Toy`?; `type` is a path");
    check("awkwart::Toy", "is not in the package: cannot find module `awkwart` in the crate; did you mean `awkward`?");
    assert!(!products.exists());
    write(&root.join("toy/src/awkward.rs"), &format!("{RUN}pub struct Other; struct Hidden;\n"));
    check("awkward::Other", "does not implement `System`: ");
    check("awkward::Hidden", "cannot be used outside of the package: ");
    assert!(
        !products
            .join("deps")
            .read_dir()
            .expect("it was checked")
            .flatten()
            .any(|file| file.file_name().to_string_lossy().ends_with(".rlib"))
    );
    write(&manifest, &text);
    plain(root).0.expect("it is right");
    check("Toi", "is not in the package: cannot find type `Toi` in the crate; did you mean `Toy`?; `type` is a path");
    check("awkwart::Toy", "is not in the package: ");
    check("String", "is not in the package: ");
    write(&root.join("toy/src/awkward.rs"), &format!("{RUN}pub struct Other; struct Hidden;\n"));
    check("awkward::Other", "does not implement `System`: ");
    check("awkward::Hidden", "cannot be used outside of the package: ");
}

#[test]
fn what_a_study_compiles_is_not_compiled_again_for_a_specification() {
    let root = tempfile::tempdir().expect("a temporary folder");
    let root = root.path();
    write_toy_with_engine(root, RUN);
    let (built, compiled) = plain(root);
    built.expect("it is right");
    assert!(compiled.contains(&"simutant-oracle".to_owned()), "{compiled:?}");
    let judge = |name: &str, initial: &str| {
        let mut noted = Default::default();
        let main = format!(
            "use toy::*;\nfn main() {{\n    {TYPE_LINE}Toy;\n    {INITIAL_LINE}{initial};\n    drop(initial);\n    \
             println!(\"{{}}\", <Judged as simutant_oracle::Specification>::ANSWER);\n}}\n"
        );
        let built = with_toy(root, "AOR", |request| {
            let folders = ["toy", "simutant-oracle"].map(|name| root.join(name));
            let request = ProgramRequest {
                name,
                main: &main,
                named: Named::Specification { type_path: "Toy", initial },
                manifest: &root.join("toy/Cargo.toml"),
                dependencies: [("toy", &folders[0]), ("simutant-oracle", &folders[1])],
                lock: &root.join("toy/Cargo.lock"),
                products: &request.package.products(),
                system: Some(request),
            };
            build_program(&request, &mut |event| note(event, &mut noted))
        });
        (built, noted.0)
    };
    let (program, compiled) = judge("answers", "Toy");
    let output = Command::new(program.expect("it is right")).output().expect("it was built");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "42\n");
    assert!(matches!(&compiled[..], [name] if name.starts_with("simutant-specification-answers-")), "{compiled:?}");
    // The study goes on with what it has.
    assert_eq!(plain(root).1, [""; 0]);
    let message = judge("answers", "Toy(3)").0.expect_err("it has no field").to_string();
    assert!(message.contains("toy/Cargo.toml: specification `answers` cannot begin in `Toy(3)`: "), "{message}");
}

#[test]
fn what_cannot_be_compared_infects_and_is_no_error() {
    let root = tempfile::tempdir().expect("a temporary folder");
    let awkward = "#[derive(Clone, Copy)]
pub struct Time(u32);
impl std::ops::Add for Time { type Output = Time; fn add(self, other: Time) -> Time { Time(self.0 | other.0) } }
impl std::ops::Sub for Time { type Output = Time; fn sub(self, other: Time) -> Time { Time(self.0 & other.0) } }
fn later(x: Time, y: Time) -> Time { x + y }
fn shifted<T: Copy + std::ops::Add<Output = T> + std::ops::Sub<Output = T>>(x: T, y: T) -> T { x + y }
fn sum(x: u8, y: u8) -> u8 { x + y }
pub fn run(input: u32) -> String {
    let time = shifted(later(Time(input), Time(6)), Time(6));
    format!(\"{} {}\", time.0, sum(input as u8, 0))
}
";
    write_toy(root.path(), awkward);
    let mut rounds = 0;
    let mut asked = |event| rounds += u32::from(matches!(event, BuildEvent::Compiling { .. }));
    let built = with_toy(root.path(), "AOR", |request| build(request, &mut asked)).expect("the toy compiles");
    let output = run(&built);
    for (number, mutant) in built.sites.mutants.iter().enumerate() {
        let function = &built.sites.functions[mutant.function].path;
        let infected = (0..12).filter(|input| {
            let begin = format!("pair {number} {input} ");
            let pair = output.lines().find_map(|line| line.strip_prefix(&begin)).expect("it was run");
            pair.split(' ').nth(1) == Some("true")
        });
        let expect = if function.ends_with("sum") && mutant.replacement.contains('-') { 0 } else { 12 };
        assert_eq!(infected.count(), expect, "{function}: {}", mutant.replacement);
    }
    assert!(built.sites.mutants.len() >= 3, "{:?}", built.sites.mutants);
    assert_eq!((rounds, built.sites.rejected.len()), (1, 0));
}

#[test]
fn what_is_moved_is_not_compared_and_keeps_its_data_flow() {
    let root = tempfile::tempdir().expect("a temporary folder");
    let awkward = "#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Ballot(Vec<u32>);
fn newer(a: Ballot, b: Ballot) -> Ballot { a.max(b) }
pub fn run(input: u32) -> String { newer(Ballot(vec![input]), Ballot(vec![6])).0[0].to_string() }
";
    let built = build_toy(root.path(), awkward, "CALL").expect("the toy compiles");
    let sites = &built.sites;
    assert_eq!((sites.rejected.len(), sites.without_flow.len(), sites.uninstrumented.len()), (0, 0, 0));
    assert!(sites.mutants.iter().any(|mutant| mutant.replacement.contains("min")), "{:?}", sites.mutants);
    run(&built);
}

/// An attribute macro that gives an item's attributes to a struct, too.
const MACROS: &str = r#"
use proc_macro::{TokenStream, TokenTree};
#[proc_macro_attribute]
pub fn task(_: TokenStream, item: TokenStream) -> TokenStream {
    let is_hash = |token: &TokenTree| matches!(token, TokenTree::Punct(hash) if hash.as_char() == '#');
    let tokens: Vec<TokenTree> = item.into_iter().collect();
    let attributes = tokens.chunks(2).take_while(|pair| is_hash(&pair[0])).flatten().cloned();
    let marker: TokenStream = "pub struct Task;".parse().unwrap();
    attributes.chain(marker).chain(tokens.iter().cloned()).collect()
}
"#;

#[test]
fn an_async_function_whose_attributes_a_macro_takes_runs_as_it_is_written() {
    let root = tempfile::tempdir().expect("a temporary folder");
    write_toy(
        root.path(),
        "#[macros::task] async fn sum(x: u32) -> u32 { x + 2 }\n\
         pub fn run(input: u32) -> String { let _ = (sum(input), Task); (input + 1).to_string() }\n",
    );
    let manifest = root.path().join("toy/Cargo.toml");
    let text = std::fs::read_to_string(&manifest).expect("it was written");
    write(&manifest, &format!("{text}macros = {{ path = \"../macros\" }}\n"));
    let of_macros = "[package]\nname = \"macros\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[lib]\nproc-macro = true\n";
    write(&root.path().join("macros/Cargo.toml"), of_macros);
    write(&root.path().join("macros/src/lib.rs"), MACROS);
    let built = with_toy(root.path(), "default", |request| build(request, &mut |_| {})).expect("it compiles");
    let [function] = &built.sites.uninstrumented[..] else { panic!("{:?}", built.sites.uninstrumented) };
    assert_eq!(function.path, "awkward::sum");
    assert!(function.reason.contains("inline"), "{}", function.reason);
    assert!(!built.sites.mutants.is_empty(), "the other function has mutants");
}

#[test]
fn what_cannot_be_linked_is_compiled_from_scratch_once() {
    let root = tempfile::tempdir().expect("a temporary folder");
    write_toy(root.path(), "pub fn run(input: u32) -> String { (input + 1).to_string() }\n");
    let linker = root.path().join("linker");
    let links = |failures: usize| {
        let failed = root.path().join("failed");
        // It fails so often, and then links.
        let script = format!(
            "#!/bin/sh\necho >> {0}\n[ $(wc -l < {0}) -gt {failures} ] || {{ echo undefined symbol >&2; exit 1; }}\nexec cc \"$@\"\n",
            failed.display()
        );
        write(&linker, &script);
        std::fs::set_permissions(&linker, PermissionsExt::from_mode(0o755)).expect("the file is one's own");
        std::fs::remove_file(failed).ok();
        let mut noted = Default::default();
        let built = with_toy(root.path(), "default", |request| build(request, &mut |event| note(event, &mut noted)));
        built.map(|_| noted.0.iter().filter(|name| *name == "toy").count())
    };
    let configuration = format!("[target.'cfg(all())']\nlinker = {linker:?}\n");
    write(&root.path().join(".cargo/config.toml"), &configuration);
    assert_eq!(links(1).expect("it is linked the second time"), 2);
    write(&root.path().join("toy/src/awkward.rs"), "pub fn run(input: u32) -> String { (input + 2).to_string() }\n");
    let error = links(2).expect_err("a third time would be needed").to_string();
    assert!(error.contains("undefined symbol"), "{error}");
}

/// Two constants with one name, of which one is used beside the other.
const LIMITED: &str = "const LIMIT: u32 = 3;
pub fn run(input: u32) -> String {
    const STEP: u32 = 2;
    (input.min(LIMIT) + STEP + inner::value()).to_string()
}
mod inner {
    const LIMIT: u32 = 100;
    pub fn value() -> u32 { LIMIT }
}
";

#[test]
fn a_constant_has_another_value_in_all_that_is_built_and_in_no_file() {
    let root = tempfile::tempdir().expect("a temporary folder");
    let root = root.path();
    let plain = |values: &[&str]| {
        let executable = with_values(root, "AOR", values, |request| build_plain(request, &mut |_| {}));
        let executable = executable.expect("it compiles");
        let output = Command::new(executable).args(["0", "0", "0", "0", "1"]).output().expect("the worker was built");
        String::from_utf8(output.stdout).expect("the worker prints text")
    };
    let built = |values: &[&str]| {
        let built = with_values(root, "AOR", values, |request| build(request, &mut |_| {})).expect("it compiles");
        (run(&built), built.source_hash)
    };
    write_toy(root, LIMITED);
    let (as_written, values) = (built(&[]), ["awkward::LIMIT=1 + 4", "STEP=7"]);
    let (instrumented, uninstrumented) = (built(&values), plain(&values));
    assert_eq!(std::fs::read_to_string(root.join("toy/src/awkward.rs")).expect("it is there"), LIMITED);
    assert!(as_written.1 != instrumented.1, "its outcomes are those of another specification");
    write_toy(root, &LIMITED.replace("u32 = 3", "u32 = 1 + 4").replace("u32 = 2", "u32 = 7"));
    assert!(instrumented.0 != as_written.0 && instrumented.0 == built(&[]).0);
    assert!(uninstrumented.contains("pair 0 11 false false 112") && uninstrumented == plain(&[]), "{uninstrumented}");
}

#[test]
fn a_constant_that_cannot_have_the_value_is_refused() {
    let root = tempfile::tempdir().expect("a temporary folder");
    write_toy(root.path(), LIMITED);
    let refused = |value: &str| {
        let result = with_values(root.path(), "AOR", &[value], |request| build(request, &mut |_| {}));
        result.expect_err("it cannot be").to_string()
    };
    let error = refused("LIMITS=1");
    assert!(error.contains("no constant `LIMITS`") && error.contains("awkward::inner::LIMIT"), "{error}");
    let error = refused("LIMIT=1");
    assert!(error.contains("give more of the path of one: awkward::LIMIT, awkward::inner::LIMIT"), "{error}");
    let error = refused("inner::LIMIT=true");
    assert!(error.contains("mismatched types") && error.contains("expected `u32`, found `bool`"), "{error}");
}

#[test]
fn an_unknown_system_names_those_there_are() {
    let root = tempfile::tempdir().expect("a temporary folder");
    write(&root.path().join("Cargo.toml"), MANIFEST);
    write(&root.path().join("src/lib.rs"), "pub mod awkward;\n");
    write(&root.path().join("src/awkward.rs"), "");
    let error = Package::find(&root.path().join("Cargo.toml"), "tox").expect_err("there is no tox");
    assert!(error.to_string().ends_with("known systems: toy; did you mean `toy`?"), "{error}");
    let chosen = format!(
        "{MANIFEST}operators = \"a,-SDL\"\ncost = \"time=5%\"\n[package.metadata.simutant.names]\nsend = [\"cast\"]\n"
    );
    write(&root.path().join("Cargo.toml"), &chosen);
    let package = Package::find(&root.path().join("Cargo.toml"), "toy").expect("it is there");
    assert_eq!(*package.operators(), Selection::parse("a,-SDL").expect("they are known"));
    assert_eq!(package.cost().map(ToString::to_string).as_deref(), Some("time=5%"));
    assert_eq!(package.reference(), None);
    let of_experiment = |name: &str| chosen.replace("cost = ", &format!("reference = \"{name}\"\ncost = "));
    write(&root.path().join("Cargo.toml"), &of_experiment("data/toy-reference.toml"));
    let package = Package::find(&root.path().join("Cargo.toml"), "toy").expect("it is there");
    assert!(package.reference().is_some_and(|path| path.ends_with("data/toy-reference.toml")));
    write(&root.path().join("Cargo.toml"), &of_experiment("data/toy.toml"));
    let error = Package::find(&root.path().join("Cargo.toml"), "toy").expect_err("it would be taken for source");
    assert!(error.to_string().contains("its name must end in `reference.toml`"), "{error}");
    write(&root.path().join("Cargo.toml"), &chosen.replace("SDL", "SDK"));
    let error = Package::find(&root.path().join("Cargo.toml"), "toy").expect_err("there is no SDK");
    assert!(error.to_string().contains("did you mean `SDL`?"), "{error}");
    write(&root.path().join("Cargo.toml"), &chosen.replace("send", "sends"));
    let error = Package::find(&root.path().join("Cargo.toml"), "toy").expect_err("the kind is unknown");
    assert!(error.to_string().contains("unknown field `sends`"), "{error}");
    let damaged = MANIFEST.replace("specification", "specifications");
    write(&root.path().join("Cargo.toml"), &damaged);
    let error = Package::find(&root.path().join("Cargo.toml"), "toy").expect_err("the field is unknown");
    assert!(error.to_string().contains("unknown field `specifications`"), "{error}");
}

/// Returns what the compiler's output says of the mutants, and how many runs on them end otherwise than on the
/// original.
fn equivalence(root: &Path, text: &str, operators: &str) -> (Build, Equivalence, BTreeMap<usize, Vec<String>>) {
    let built = build_toy(root, text, operators).expect("it compiles");
    let equivalence = with_toy(root, operators, |request| compiler_equivalence(request, &built, &mut |_| {}));
    let mut runs: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for line in run(&built).lines().filter_map(|line| line.strip_prefix("pair ")) {
        let mut fields = line.splitn(5, ' ');
        let number = fields.next().and_then(|number| number.parse().ok()).expect("a number");
        runs.entry(number).or_default().push(fields.skip(1).collect::<Vec<_>>().join(" "));
    }
    (built, equivalence.expect("it compiles"), runs)
}

#[test]
fn mutants_with_the_code_of_the_original_or_of_each_other_are_found() {
    const EQUAL: &str = "pub fn run(input: u32) -> String {
    format!(\"{} {} {} {:?}\", low(input), sum(&[input, 3]), waits(input), Meter { count: input }.read(2))
}
fn low(x: u32) -> u32 { let y = x + 0; if y < 10 { y } else { 10 } }
fn sum(list: &[u32]) -> u32 { let mut total = 0; for index in 0..list.len() { total += pick(list, index); } total }
fn pick(list: &[u32], at: usize) -> u32 {
    list[at + 0] * 3
}
struct Meter { count: u32 }
impl Meter { fn read(&self, by: u32) -> Option<u32> { if by == 0 { return None; } let twice = self.count * 1; Some(twice / by) } }
async fn two(x: u32) -> u32 { std::future::ready(x).await + 0 }
fn waits(x: u32) -> u32 {
    let mut future = std::pin::pin!(two(x));
    match future.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => 99,
    }
}
fn recursive(x: u32) -> u32 { if x + 0 > 3 { recursive(x - 1) } else { x } }
fn generic<T: Into<u32>>(x: T) -> u32 { x.into() + 0 }
";
    let root = tempfile::tempdir().expect("a temporary folder");
    let (built, equivalence, runs) = equivalence(root.path(), EQUAL, "all");
    let mutants = &built.sites.mutants;
    let number_of = |identity: &str| mutants.iter().position(|mutant| mutant.identity == identity).expect("a mutant");
    let mut shown = String::new();
    for (identity, compiled) in &equivalence.found {
        let number = number_of(identity);
        let show = |number: usize| {
            let mutant = &mutants[number];
            format!(
                "{} {}: {} -> {}",
                built.sites.functions[mutant.function].path, mutant.operator, mutant.original, mutant.replacement
            )
        };
        match compiled {
            Compiled::Equivalent => {
                shown.push_str(&format!("{} as the original\n", show(number)));
                assert!(
                    runs[&number].iter().all(|run| run.starts_with("false")),
                    "{}: {:?}",
                    show(number),
                    runs[&number]
                );
            }
            Compiled::Duplicate(other) => {
                let other = number_of(other);
                shown.push_str(&format!("{} as {}\n", show(number), show(other)));
                let values = |number: usize| -> Vec<&str> {
                    runs[&number]
                        .iter()
                        .map(|run| run.rsplit_once("true ").or(run.rsplit_once("false ")).expect("a value").1)
                        .collect()
                };
                assert_eq!(values(number), values(other), "{} as {}", show(number), show(other));
            }
        }
    }
    let mut lines: Vec<&str> = shown.lines().collect();
    lines.sort_unstable();
    insta::assert_snapshot!(format!("{} of {} compared\n{}", equivalence.compared, mutants.len(), lines.join("\n")));
}
