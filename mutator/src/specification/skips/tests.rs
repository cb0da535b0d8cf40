use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::mutation::{Candidate, Settings};
use crate::syntax::declarations::Declarations;
use crate::syntax::names::Names;
use crate::text::edit::plain_text;

const SAMPLE: &str = "\
const TRIES: u32 = 3;
/// Adds.
#[must_use]
fn add(a: u32, b: u32) -> u32 {
    let sum = a + b;
    if sum > TRIES { sum - 1 } else { sum }
}
impl Window {
    fn fmt(&self) -> u32 { self.a * 2 }
    fn grow(&mut self) {
        match self.a {
            0 => self.b = 7,
            _ => self.b += 8,
        }
        g(self.a + 9);
    }
}
";

fn specification(text: &str) -> Specification {
    let source = Source::parse("src/a.rs", text.into()).expect("the test's own source");
    let declarations = Declarations::of_text(text);
    let selection = Selection::parse("default,CVR").expect("known operators");
    let settings = Settings { selection: &selection, declarations: &declarations, names: &Names::default() };
    Specification::new("a", "a", vec![source], &settings)
}

fn pattern(text: &str) -> SkipPattern {
    toml::from_str(text).expect("the test's own pattern")
}

fn left_out(text: &str, patterns: &[SkipPattern]) -> Result<Specification, MutatorError> {
    let mut specification = specification(text);
    specification.leave_out(patterns, Path::new("Cargo.toml"))?;
    Ok(specification)
}

/// Returns the candidates by their identities, as text.
fn all(specification: &Specification) -> BTreeSet<(String, String)> {
    let text = &specification.sources[0].file.text;
    let shown = |placed: &PlacedCandidate| {
        let Candidate { operator, change, .. } = &placed.candidate;
        format!("{operator} {} -> {}", &text[change.range.clone()], plain_text(&change.replacement, text))
    };
    specification.all_candidates().map(|(_, placed)| (placed.identity.clone(), shown(placed))).collect()
}

/// Checks how many candidates are left out, all of which change what is in `code`, and that there are no others there.
#[track_caller]
fn check(text: &str, patterns: &[SkipPattern], code: &str, path: &str) {
    let specification = left_out(text, patterns).expect("it has a reason");
    let (before, after) = (all(&self::specification(text)), all(&specification));
    assert!(after.is_subset(&before), "identities stay");
    let [skipped] = &specification.skipped[..] else { panic!("{:?}", specification.skipped) };
    let span = skipped.span;
    assert_eq!((&text[span.start..span.end], &*skipped.path), (code, path));
    assert!(skipped.mutants > 0 && skipped.mutants <= before.len() - after.len(), "{skipped:?}");
    let is_there = |(_, placed): (_, &PlacedCandidate)| {
        let range = placed.candidate.range();
        span.start <= range.start && range.end <= span.end
    };
    assert_eq!(specification.all_candidates().filter(|placed| is_there(*placed)).count(), 0);
    assert_eq!(
        self::specification(text).all_candidates().filter(|placed| is_there(*placed)).count(),
        before.len() - after.len()
    );
}

/// Puts a comment on a line of its own above the line that begins with `line`.
fn above(line: &str, comment: &str) -> String {
    assert_eq!(SAMPLE.matches(line).count(), 1, "{line}");
    SAMPLE.replacen(line, &format!("{comment}\n{line}"), 1)
}

#[test]
fn a_comment_leaves_out_what_is_below_it() {
    let skip = "// simutant: skip: it is only shown";
    check(&above("    fn fmt", skip), &[], "fn fmt(&self) -> u32 { self.a * 2 }", "a::Window::fmt");
    check(&above("    let sum", skip), &[], "let sum = a + b;", "a::add");
    check(&above("            0 =>", skip), &[], "0 => self.b = 7,", "a::Window::grow");
    check(&above("        g(", skip), &[], "g(self.a + 9);", "a::Window::grow");
    check(&above("const TRIES", skip), &[], "const TRIES: u32 = 3;", "src/a.rs");
    let function = &SAMPLE[SAMPLE.find("/// Adds").expect("it is there")..SAMPLE.find("\nimpl").expect("it follows")];
    check(&above("/// Adds", skip), &[], function, "a::add");
    let between = above("fn add", skip);
    let function = function.replacen("fn add", &format!("{skip}\nfn add"), 1);
    check(&between, &[], &function, "a::add");
    let block = &SAMPLE[SAMPLE.find("impl").expect("it is there")..SAMPLE.len() - 1];
    check(&above("impl", "/* simutant: skip: none of it */"), &[], block, "src/a.rs");
}

#[test]
fn a_comment_can_name_operators() {
    let specification = left_out(&above("    if sum", "// simutant: skip ROR, lvr: a tie"), &[]).expect("a reason");
    let operators = |specification: &Specification| {
        let in_add = specification.candidates.iter().filter(|placed| placed.function == Some(0));
        in_add.map(|placed| placed.candidate.operator).collect::<BTreeSet<_>>()
    };
    let (before, after) = (operators(&self::specification(SAMPLE)), operators(&specification));
    assert_eq!(before.difference(&after).copied().collect::<Vec<_>>(), ["LVR", "ROR"]);
    assert_eq!(specification.skipped[0].operators.as_deref(), Some("ROR, lvr"));
    assert_eq!(specification.skipped[0].reason, "a tie");
}

#[test]
fn what_only_holds_skipped_code_keeps_its_mutants() {
    let text =
        "fn f() {\n    if a > 3 {\n        // simutant: skip: rare\n        self.b = c + 7;\n        g();\n    }\n}\n";
    let left = all(&left_out(text, &[]).expect("a reason"));
    let mutants: Vec<&str> = left.iter().map(|(_, mutant)| &mutant[..4]).collect();
    assert!(mutants.contains(&"ROR ") && !mutants.contains(&"AOR "), "{left:?}");
    assert!(left.iter().any(|(_, mutant)| mutant.starts_with("SDL {") && mutant.contains("c + 7")), "{left:?}");
}

#[test]
fn patterns_leave_out_functions_and_files() {
    let text = SAMPLE;
    let fmt = "fn fmt(&self) -> u32 { self.a * 2 }";
    for function in ["fmt", "Window::f*", "a::Window::fmt", "*::fmt"] {
        let pattern = pattern(&format!("function = \"{function}\"\nreason = \"shown\""));
        check(text, &[pattern], fmt, "a::Window::fmt");
    }
    check(text, &[pattern("file = \"src/*.rs\"\nreason = \"all\"")], text, "src/a.rs");
    let left = left_out(text, &[pattern("file = \"src/a.rs\"\nfunction = \"*\"\nreason = \"all\"")]).expect("a reason");
    assert!(left.candidates.is_empty() && !left.constants.candidates().is_empty());
    let paths: Vec<&str> = left.skipped.iter().map(|skipped| &*skipped.path).collect();
    assert_eq!(paths, ["a::add", "a::Window::fmt", "a::Window::grow"]);
    let some =
        left_out(text, &[pattern("function = \"*\"\noperators = \"ROR\"\nreason = \"ties\"")]).expect("a reason");
    assert_eq!(some.skipped.len(), 1, "the others have no such mutants: {:?}", some.skipped);
    let none =
        left_out(text, &[pattern("function = \"*\"\noperators = \"DUR\"\nreason = \"none\"")]).expect("a reason");
    assert!(none.skipped.len() == 3 && none.skipped.iter().all(|skipped| skipped.mutants == 0));
}

#[test]
fn a_mutant_counts_with_the_first_that_leaves_it_out() {
    let text = above("    fn fmt", "// simutant: skip: shown");
    let left = left_out(&text, &[pattern("function = \"fmt\"\nreason = \"shown\"")]).expect("reasons");
    let counts: Vec<bool> = left.skipped.iter().map(|skipped| skipped.mutants > 0).collect();
    assert_eq!(counts, [true, false]);
    assert_eq!(left.no_sites().mutants_skipped(), left.skipped[0].mutants);
}

#[test]
fn what_has_no_reason_or_is_about_nothing_is_refused_with_its_line() {
    #[track_caller]
    fn check(text: &str, patterns: &[SkipPattern], expect: &str) {
        let message = left_out(text, patterns).expect_err("it is refused").to_string();
        assert!(message.starts_with(expect), "{message}");
    }
    for comment in ["// simutant: skip", "// simutant: skip:", "// simutant: skip ROR", "// simutant: skip ROR:  "] {
        check(&above("    let sum", comment), &[], "src/a.rs:5: this skip has no reason");
    }
    check(&above("    let sum", "// simutant: skips: a"), &[], "src/a.rs:5: a comment that begins with `simutant:`");
    check(&above("    let sum", "// simutant: skip ROX: a"), &[], "src/a.rs:5: there is no operator or set `ROX`");
    check(&above("/// Adds", "/// simutant: skip: a"), &[], "src/a.rs:2: documentation leaves nothing out");
    check(&SAMPLE.replace("+ b;", "+ b; // simutant: skip: a"), &[], "src/a.rs:5: it stands behind code");
    check(&format!("{SAMPLE}// simutant: skip: a"), &[], "src/a.rs:18: below it begins no item");
    check(
        SAMPLE,
        &[pattern("function = \"fnt\"\nreason = \"a\"")],
        "Cargo.toml: `skip` matches nothing of the specification: function `fnt`",
    );
    check(SAMPLE, &[pattern("file = \"src/b.rs\"\nreason = \"a\"")], "Cargo.toml: `skip` matches nothing");
    check(SAMPLE, &[pattern("function = \"fmt\"")], "Cargo.toml: an entry of `skip` has no `reason`");
    check(SAMPLE, &[pattern("reason = \"a\"")], "Cargo.toml: an entry of `skip` names no `function` and no `file`");
    check(SAMPLE, &[pattern("function = \"a***\"\nreason = \"a\"")], "Cargo.toml: `skip`: ");
}

#[test]
fn words_like_it_elsewhere_are_nothing() {
    for (line, text) in
        [("    let sum", "let _ = \"// simutant: skip\";"), ("    let sum", "// A `simutant: skip` comment.")]
    {
        assert!(left_out(&above(line, text), &[]).expect("it is nothing").skipped.is_empty(), "{text}");
    }
}

#[test]
fn the_line_of_an_entry_is_that_of_the_manifest() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let manifest = folder.path().join("Cargo.toml");
    let text = "[package]\nname = \"a\"\n[package.metadata.simutant.systems.\"a-b\"]\nskip = [\n  { function = \"f\" },\n  { function = \"g\" },\n]\n\
                [[package.metadata.simutant.systems.c.skip]]\nfunction = \"h\"\n";
    std::fs::write(&manifest, text).expect("room");
    assert_eq!(line_of(&manifest, "a-b", 0), Some(5));
    assert_eq!(line_of(&manifest, "a-b", 1), Some(6));
    assert_eq!(line_of(&manifest, "c", 0), Some(8));
    assert_eq!(line_of(&manifest, "d", 0), None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// A comment above any line either is refused, or leaves out what is below it, and nothing else changes.
    #[test]
    fn a_comment_changes_nothing_elsewhere(line in 0..SAMPLE.lines().count()) {
        let mut lines: Vec<&str> = SAMPLE.lines().collect();
        lines.insert(line, "// simutant: skip: a reason");
        let text = lines.join("\n");
        if let Ok(left) = left_out(&text, &[]) {
            let span = left.skipped[0].span;
            let before = specification(&text);
            let is_inside = |placed: &PlacedCandidate| {
                let range = placed.candidate.range();
                span.start <= range.start && range.end <= span.end
            };
            let others = before.all_candidates().filter(|(_, placed)| !is_inside(placed));
            let others: Vec<&str> = others.map(|(_, placed)| &*placed.identity).collect();
            let kept: Vec<&str> = left.all_candidates().map(|(_, placed)| &*placed.identity).collect();
            prop_assert_eq!(kept, others);
        }
    }
}
