//! What holds of all mutants, whatever the operators: no two are the same text, identities survive edits, names follow
//! precedence, and nothing that compiles elsewhere makes the mutator panic or write what does not parse.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use syn::Item;

use super::*;
use crate::instrument::{Instrumenter, Probes};
use crate::specification::Specification;
use crate::specification::verdicts::Verdicts;
use crate::syntax::parts::{inside, range_of};
use crate::syntax::source::Source;
use crate::test_support::candidates;
use crate::text::edit::plain_text;
use crate::text::identity::Hash;

const AWKWARD: &str = include_str!("../../tests/build/awkward.rs");

/// Returns the text as a specification of its own with every operator.
fn specification(text: &str) -> Option<Specification> {
    let source = Source::parse("src/a.rs", text.into()).ok()?;
    let declarations = Declarations::of_text(text);
    let selection = Selection::parse("all").expect("a set").with_all_replacements();
    let settings = Settings { selection: &selection, declarations: &declarations, names: &Names::default() };
    Some(Specification::new("a", "a", vec![source], &settings))
}

/// Returns a function's text with one candidate made.
fn mutated(text: &str, function: &Range<usize>, candidate: &Candidate) -> String {
    let range = candidate.range();
    let replacement = plain_text(&candidate.change.replacement, text);
    format!("{}{replacement}{}", &text[function.start..range.start], &text[range.end..function.end])
}

/// Returns code as its tokens: what formatting and comments do not change.
fn tokens(text: &str) -> String {
    text.parse::<proc_macro2::TokenStream>().expect("it was parsed before").to_string()
}

/// Checks that no two mutants of a file are the same, and none is the original.
fn check_all_differ(text: &str, specification: &Specification) {
    let functions = &specification.sources[0].functions;
    let original = |(index, function): (usize, &FunctionSource)| {
        ((index, tokens(&text[function.range.clone()])), "the original".to_owned())
    };
    let mut seen: BTreeMap<(usize, String), String> = functions.iter().enumerate().map(original).collect();
    for placed in &specification.candidates {
        let candidate = &placed.candidate;
        let function = placed.function.expect("it is in a function");
        let mutant = mutated(text, &functions[function].range, candidate);
        let name = format!("{} {}", candidate.operator, &text[candidate.range().clone()]);
        if let Ok(tokens) = mutant.parse::<proc_macro2::TokenStream>() {
            let known = seen.insert((function, tokens.to_string()), name.clone());
            assert_eq!(known, None, "{name} -> {}", plain_text(&candidate.change.replacement, text));
        }
    }
}

/// Checks that the instrumented text of a file parses.
fn check_parses(path: &Path, specification: &Specification) {
    for output in Instrumenter::new(specification, Probes::All).instrument(&Verdicts::default()).outputs {
        if let Err(error) = syn::parse_str::<syn::File>(&output.text) {
            let at = error.span().start();
            let line = output.text.lines().nth(at.line.saturating_sub(1)).unwrap_or_default();
            panic!("{}: {error} at {}:{}: {line}", path.display(), at.line, at.column);
        }
    }
}

#[test]
fn no_two_mutants_are_the_same_text_and_none_is_the_original() {
    let specification = specification(AWKWARD).expect("it parses");
    assert!(specification.candidates.len() > 600, "{}", specification.candidates.len());
    check_all_differ(AWKWARD, &specification);
    check_parses(Path::new("awkward.rs"), &specification);
}

#[test]
fn every_operator_finds_its_idiom_in_the_corpus() {
    let specification = specification(AWKWARD).expect("it parses");
    let selection = Selection::default();
    let found: BTreeSet<&str> = specification.candidates.iter().map(|placed| placed.candidate.operator).collect();
    let missing = crate::operators::ALL.iter().map(|operator| operator.name);
    let missing: Vec<&str> =
        missing.filter(|name| selection.replacements(name).is_some() && !found.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_more_telling_name_is_kept() {
    #[track_caller]
    fn check(text: &str, operators: &str, expect: &[&str]) {
        let names: Vec<&str> = candidates(text, operators).1.iter().map(|candidate| candidate.operator).collect();
        assert_eq!(names, expect);
    }
    let send = "fn f() { channel.send(to, m); }";
    check(send, "SDL", &["SDL"]);
    check(send, "SDL,MSG-D", &["MSG-D"]);
    check("fn f() { self.timer = None; }", "SDL,TMR-C,STATE", &["TMR-C"]);
    check("fn f() { attempts = 0; }", "SDL,RTY", &["RTY"]);
    check("fn f() { if r.chance(p) { g(); } }", "COI,PRB", &["PRB", "PRB", "PRB"]);
    check("fn f() { g(a + b); }", "AORB,AOR", &["AOR", "AORB", "AORB", "AORB"]);
    // The same text in two ways: the first or the second of two equal statements.
    check("fn f() { a(); a(); }", "SDL", &["SDL"]);
}

#[test]
fn a_negation_is_not_made_twice() {
    let text = "fn f() { if a.is_some() && !(b.is_none()) { g(c.is_ok()); } }";
    let mutants = crate::test_support::mutants(text, "COI,CALL");
    assert_eq!(
        mutants,
        "COI a.is_some() -> !a.is_some()\nCOI !(b.is_none()) -> (b.is_none())\nCALL b.is_none() -> b.is_some()\nCALL c.is_ok() -> c.is_err()\n"
    );
}

/// Returns the identities and the functions of all mutants.
fn identities(text: &str) -> BTreeMap<String, String> {
    let specification = specification(text).expect("it parses");
    let path = |placed: &PlacedCandidate| {
        specification.function(placed.function_id().expect("it is in a function")).path.clone()
    };
    specification.candidates.iter().map(|placed| (placed.identity.clone(), path(placed))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    #[test]
    fn identities_survive_edits_elsewhere(at in 0..1_000_usize, kind in 0..3_usize) {
        static BEFORE: std::sync::LazyLock<BTreeMap<String, String>> = std::sync::LazyLock::new(|| identities(AWKWARD));
        let before = &*BEFORE;
        let source = Source::parse("src/a.rs", AWKWARD.into()).expect("it parses");
        let function = &source.functions[at % source.functions.len()];
        let (place, text) = match kind {
            0 => (function.range.start, "fn inserted_here(x: u32) -> u32 { if x > 3 { x + 1 } else { 7 } }\n"),
            1 => (inside(&function.body).start, " let inserted = 3 + 4 * len(); "),
            _ => (function.range.start, "/* a comment\n\n\n of several lines */ "),
        };
        // What stands before a function's name belongs to it: a whole function goes before that.
        let place = if kind == 0 { start_of_item(place) } else { place };
        let edited = format!("{}{text}{}", &AWKWARD[..place], &AWKWARD[place..]);
        let after = identities(&edited);
        for (identity, path) in before.iter().filter(|(_, path)| kind != 1 || **path != function.path) {
            prop_assert_eq!(after.get(identity), Some(path));
        }
    }
}

/// Returns where the item that holds a place begins, at the end of what stands between the items before.
fn start_of_item(place: usize) -> usize {
    let syntax: syn::File = syn::parse_str(AWKWARD).expect("it parses");
    let start = |item: &Item| range_of(item).start;
    syntax.items.iter().map(start).filter(|start| *start <= place).max().unwrap_or_default()
}

/// Source files of other crates: those that cargo has downloaded for this workspace, in a fixed order, a part of them.
fn files_of_other_crates() -> Vec<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo"))).unwrap_or_default();
    let mut open = vec![home.join("registry/src")];
    let mut files = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_small = entry.metadata().is_ok_and(|metadata| metadata.len() < 24_000);
            if path.is_dir() {
                open.push(path);
            } else if is_small && path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    // Which files are taken does not depend on which others there are.
    let key = |path: &PathBuf| {
        let mut hash = Hash::default();
        hash.write(path.file_name().unwrap_or_default().as_encoded_bytes());
        hash.write(path.parent().and_then(Path::file_name).unwrap_or_default().as_encoded_bytes());
        hash.0
    };
    files.sort_by_key(|path| (key(path), path.clone()));
    files
}

#[test]
fn the_source_of_other_crates_is_mutated_without_a_panic_and_parses() {
    const MUTANTS: usize = 1_000;
    let files = files_of_other_crates();
    let mut mutants = 0;
    // How many a file has depends on which crates this machine has.
    for path in &files {
        if mutants >= MUTANTS {
            return;
        }
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        // Some files are parts of others, or tests of what does not parse.
        let Some(specification) = specification(&text) else { continue };
        mutants += specification.candidates.len();
        check_parses(path, &specification);
    }
    assert!(files.len() < 200, "{mutants} mutants in {} files", files.len());
}
