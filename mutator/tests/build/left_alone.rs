//! Functions that have no mutants, since conditions leave them out or constants need them, and those that have.

use simutant_mutator::build;

use super::{build_toy, run, with_toy, write, write_toy};

/// With features, conditions of the target and of a build script, of which one holds.
const CONDITIONAL: &str = "
macro_rules! odd { ($($tokens:tt)*) => {} }
#[cfg(feature = \"log\")] fn logged(x: u32) -> u32 { odd!(x; + 1;); write!(; x + 1) }
#[cfg(windows)] mod other { pub fn far(x: u32) -> u32 { x + 1 } }
#[cfg(has_more)] fn more(x: u32) -> u32 { x + 3 }
#[cfg(not(has_more))] fn more(x: u32) -> u32 { x * 3 }
#[cfg(has_less)] fn less(x: u32) -> u32 { odd!(;); defmt!(x;) - 3 }
#[cfg(test)] mod tests { fn checked(x: u32) -> u32 { x + 1 } }
pub fn run(input: u32) -> String {
    #[cfg(has_more)] let input = input + 1;
    #[cfg(has_less)] less(input);
    match input { #[cfg(has_less)] 0 => less(input), _ => more(input) }.to_string()
}
";

#[test]
fn what_conditions_leave_out_is_listed_with_them_and_has_no_mutants() {
    let root = tempfile::tempdir().expect("a temporary folder");
    write_toy(root.path(), CONDITIONAL);
    let manifest = root.path().join("toy/Cargo.toml");
    let text = std::fs::read_to_string(&manifest).expect("it was written");
    write(&manifest, &format!("{text}[features]\nlog = []\n"));
    write(
        &root.path().join("toy/build.rs"),
        "fn main() { println!(\"cargo::rustc-check-cfg=cfg(has_more, has_less)\"); println!(\"cargo::rustc-cfg=has_more\"); }",
    );
    // What was learned holds for the next build, too.
    for _ in 0..2 {
        let built = with_toy(root.path(), "default", |request| build(request, &mut |_| {})).expect("it compiles");
        let sites = &built.sites;
        let mut left_out: Vec<String> =
            sites.left_out.iter().map(|function| format!("{} {}", function.path, function.reason)).collect();
        left_out.sort();
        assert_eq!(
            left_out,
            [
                "awkward::less left out by `#[cfg(has_less)]`",
                "awkward::logged left out by `#[cfg(feature = \"log\")]`",
                "awkward::more left out by `#[cfg(not(has_more))]`",
                "awkward::other::far left out by `#[cfg(windows)]`",
            ]
        );
        assert_eq!(sites.left_alone().len(), 4);
        assert!(sites.uninstrumented.is_empty() && sites.without_flow.is_empty(), "{:?}", sites.uninstrumented);
        let functions: Vec<&str> = sites.functions.iter().map(|function| function.path.as_str()).collect();
        assert_eq!(functions, ["awkward::more", "awkward::run"]);
        assert!(sites.rejected.iter().all(|rejected| rejected.mutant.original != "x;"), "{:?}", sites.rejected);
        assert!(run(&built).contains(" 4"), "a part of a function under a condition is there");
    }
}

#[test]
fn functions_of_files_that_conditions_leave_out_are_listed_too() {
    let root = tempfile::tempdir().expect("a temporary folder");
    write_toy(root.path(), "pub fn run(input: u32) -> String { input.to_string() }");
    let toy = root.path().join("toy");
    let manifest = std::fs::read_to_string(toy.join("Cargo.toml")).expect("it was written");
    let manifest = manifest.replace("src/awkward.rs", "src/**/*.rs");
    write(&toy.join("Cargo.toml"), &manifest);
    write(&toy.join("build.rs"), "fn main() { println!(\"cargo::rustc-check-cfg=cfg(has_more)\"); }");
    let library = std::fs::read_to_string(toy.join("src/lib.rs")).expect("it was written");
    let modules =
        "#[cfg(windows)] mod far;\n#[cfg(has_more)] mod more;\n#[cfg(test)] mod tests;\n#[cfg(windows)] mod odd;\n";
    write(&toy.join("src/lib.rs"), &format!("{modules}{library}"));
    write(&toy.join("src/far.rs"), "mod deep; #[cfg(unix)] fn near(x: u32) -> u32 { x + 1 }");
    std::fs::create_dir(toy.join("src/far")).expect("a temporary folder");
    write(&toy.join("src/far/deep.rs"), "const LIMIT: u32 = 3; fn f(x: u32) -> u32 { x + LIMIT }");
    write(&toy.join("src/more.rs"), "fn f(x: u32) -> u32 { x * 3 }");
    write(&toy.join("src/tests.rs"), "fn f(x: u32) -> u32 { x - 3 }");
    write(&toy.join("src/odd.rs"), "fn {");
    let built = with_toy(root.path(), "all", |request| build(request, &mut |_| {})).expect("it compiles");
    let left_out = built.sites.left_out.iter().map(|function| format!("{} {}", function.path, function.reason));
    let mut left_out: Vec<String> = left_out.collect();
    left_out.sort();
    assert_eq!(
        left_out,
        [
            "far::deep::f left out by `#[cfg(windows)]`",
            "far::near left out by `#[cfg(windows)]`",
            "more::f left out by `#[cfg(has_more)]`",
        ]
    );
    assert!(built.sites.mutants.iter().all(|mutant| built.sites.functions[mutant.function].path.contains("run")));
}

/// Of which a file that is no specification needs one.
const CONST: &str = "
pub struct Cell(u32);
impl Cell {
    pub const fn new(x: u32) -> Self { Self(start(x)) }
    pub const fn next(&self) -> u32 { self.0 + 1 }
}
const fn start(x: u32) -> u32 { x + 1 }
pub mod apart { pub const fn start(x: u32) -> u32 { x + 2 } }
pub fn run(input: u32) -> String { (Cell::new(input).next() + apart::start(input)).to_string() }
";

#[test]
fn a_const_function_has_mutants_unless_a_constant_of_any_file_needs_it() {
    let root = tempfile::tempdir().expect("a temporary folder");
    write_toy(root.path(), CONST);
    let library = root.path().join("toy/src/lib.rs");
    let text = std::fs::read_to_string(&library).expect("it was written");
    let left_alone = || {
        let built = with_toy(root.path(), "default", |request| build(request, &mut |_| {})).expect("it compiles");
        run(&built);
        let paths = built.sites.uninstrumented.iter().map(|function| function.path.clone());
        paths.collect::<Vec<String>>()
    };
    assert_eq!(left_alone(), [""; 0]);
    let needs = "pub static CELL: awkward::Cell = awkward::Cell::new(3);\n";
    write(&library, &format!("{text}{needs}"));
    assert_eq!(left_alone(), ["awkward::Cell::new", "awkward::start"]);
    write(&library, &text);
    assert_eq!(left_alone(), [""; 0], "nothing needs it any more");
}

#[test]
fn what_a_function_promises_of_a_type_without_a_name_holds_for_all_its_bodies() {
    let root = tempfile::tempdir().expect("a temporary folder");
    let text = "use std::fmt::Write;
        macro_rules! leave { ($condition:expr, $value:expr) => { if $condition { return $value; } } }
        fn all(x: u32) -> impl Iterator<Item = u32> { (0..x).map(move |y| y + x) }
        fn sent(x: u32) -> impl Iterator<Item = u32> { (0..x).map(move |y| y * x) }
        fn own(x: u32) -> (impl Fn() -> u32, u32) { (move || x + 1, x) }
        fn macroed(x: u32) -> impl Iterator<Item = u32> { leave!(x > 3, 0..7); 0..x + 1 }
        pub fn run(input: u32) -> String {
            let sent = sent(input);
            let sum: u32 = std::thread::spawn(move || sent.sum::<u32>()).join().expect(\"it ends\");
            let mut text = String::new();
            write!(text, \"{sum} {} {} {}\", all(input).count(), own(input).0(), macroed(input).sum::<u32>()).expect(\"room\");
            text
        }\n";
    let built = build_toy(root.path(), text, "default").expect("it compiles");
    run(&built);
    let left_alone: Vec<&str> = built.sites.uninstrumented.iter().map(|function| function.path.as_str()).collect();
    assert_eq!(left_alone, ["awkward::own", "awkward::macroed"]);
}
