//! What is generated for small functions, and how numbers lie.

use insta::assert_snapshot;

use super::*;
use crate::mutation::Settings;
use crate::operators::Selection;
use crate::syntax::declarations::Declarations;
use crate::syntax::names::Names;
use crate::syntax::parts::inside;
use crate::syntax::source::{FunctionId, Source};

/// Returns the body of the first function in `text`, as `variant` has it.
fn rendered(text: &str, variant: Variant) -> String {
    rendered_with(text, variant, &Verdicts::default())
}

fn rendered_with(text: &str, variant: Variant, verdicts: &Verdicts) -> String {
    let source = Source::parse("src/a.rs", text.into()).expect("the test's own source");
    let settings =
        Settings { selection: &Selection::default(), declarations: &Declarations::default(), names: &Names::default() };
    let specification = Specification::new("a", "a", vec![source], &settings);
    let instrumenter = Instrumenter::new(&specification, Probes::All);
    let flows = instrumenter.flows(verdicts);
    let mut sites = specification.no_sites();
    let numbering = Numbering::new(&specification, verdicts, &mut sites);
    let plan = Plan { verdicts, flows, numbering };
    let (edits, _) =
        instrumenter.edits(FunctionId { file: 0, index: 0 }, &plan, (&FunctionPlace::default(), &mut 0), &mut sites);
    let mut output = Output::default();
    let inside = inside(&specification.sources[0].functions[0].body);
    Renderer::new(text, &edits).range(inside, variant, &mut output);
    output.text
}

/// Instruments files with these texts, and makes pairs of mutants if asked to.
fn instrumented(texts: &[&str], makes_pairs: bool) -> Instrumented {
    let sources = texts
        .iter()
        .enumerate()
        .map(|(file, text)| Source::parse(&format!("src/{file}.rs"), (*text).into()).expect("the test's own source"));
    let selection = Selection::parse(if makes_pairs { "AOR,ROR,HOM" } else { "AOR,ROR" }).expect("known operators");
    let settings = Settings { selection: &selection, declarations: &Declarations::default(), names: &Names::default() };
    let specification = Specification::new("a", "a", sources.collect(), &settings);
    let instrumented = Instrumenter::new(&specification, Probes::All).instrument(&Verdicts::default());
    check_places(&instrumented);
    instrumented
}

#[test]
fn what_waits_for_an_async_function_has_none_of_it() {
    let text = "/// A.\npub async fn a(x: &mut u8) -> u8 { let mut y = *x; while y < 9 { a(&mut y).await; } y }";
    let Output { text: output, owners, .. } = &instrumented(&[text], false).outputs[0];
    assert!(owners.contains(&(0..17, Owner::Function(0))), "{owners:?}");
    assert!(output.starts_with("#[inline(never)] /// A.\npub async fn a("), "{output}");
    assert!(!output.contains("static "), "{output}");
    // Its future is in a box before anything that may panic would have to drop it.
    assert!(output.contains("(::simutant_probe::apart(a(&mut y)), {"), "{output}");
}

/// Checks that what reports number is where the running program thinks.
#[track_caller]
fn check_places(Instrumented { sites, places, .. }: &Instrumented) {
    assert_eq!(places.len(), sites.functions.len());
    let (mut mutants, mut codes) = (0, 0);
    for (function, place) in places.iter().enumerate() {
        let before = |functions: &mut dyn Iterator<Item = usize>| functions.filter(|&of| of < function).count();
        assert_eq!(place.block, before(&mut sites.blocks.iter().map(|block| block.function)));
        assert_eq!(place.branch, before(&mut sites.branches.iter().map(|branch| branch.function)));
        assert_eq!(place.condition, before(&mut sites.conditions.iter().map(|condition| condition.function)));
        assert_eq!(place.pair, before(&mut sites.pairs.iter().map(|pair| pair.function)));
        assert_eq!(place.mutant, mutants);
        assert!(place.mutants == 0 || place.code >= codes, "{places:?}");
        mutants += place.mutants;
        codes = codes.max(place.code + place.mutants);
    }
    assert_eq!(mutants as usize, sites.mutants.len());
}

/// Checks that functions ask for the mutants that are said to be theirs, which are no others'.
#[track_caller]
fn check_ranges(Instrumented { outputs, places, .. }: &Instrumented) {
    let text: String = outputs.iter().map(|output| &*output.text).collect();
    for FunctionPlace { mutants, code, .. } in places {
        assert!(text.contains(&format!(", ([{code}, {mutants}], [")), "{code}, {mutants}: {text}");
    }
}

#[test]
fn an_edit_leaves_the_code_of_other_functions_alone() {
    let (first, other) = ("fn f(a: u32) -> u32 { a + 1 }", "fn g(b: u32) -> u32 { if b > 2 { b * 3 } else { b } }");
    let edited = "fn f(a: u32) -> u32 { let mut sum = a; while sum < 9 && a > 1 { sum += a; } sum + 1 }";
    let (before, after) = (instrumented(&[first, other], false), instrumented(&[edited, other], false));
    check_ranges(&before);
    check_ranges(&after);
    assert_eq!(before.outputs[1].text, after.outputs[1].text);
    assert_ne!(before.outputs[0].text, after.outputs[0].text);
    let [before, after] = [before, after].map(|instrumented| instrumented.places[1]);
    for (before, after) in [
        (before.block, after.block),
        (before.branch, after.branch),
        (before.condition, after.condition),
        (before.pair, after.pair),
        (before.mutant as usize, after.mutant as usize),
    ] {
        assert!(before < after, "{before} {after}");
    }
    assert_eq!((before.mutants, before.code), (after.mutants, after.code));
}

#[test]
fn a_function_may_have_no_mutants_or_no_room() {
    let many = format!("fn h(a: u32) -> u32 {{ {} }}", "a + 1; ".repeat(100) + "a");
    let texts = ["fn f() {}", &*many, "fn g(b: u32) -> u32 { b + 2 }"];
    let instrumented = instrumented(&texts, false);
    check_ranges(&instrumented);
    let places = instrumented.places;
    assert_eq!(places[0].mutants, 0);
    assert!(places[1].mutants > 64 && places[2].code >= places[1].code + places[1].mutants, "{places:?}");
}

#[test]
fn where_there_are_pairs_generated_code_has_the_numbers_of_reports() {
    let texts = ["fn f(a: u32) -> u32 { a + 1 }", "fn e() {}", "fn g(b: u32) -> u32 { b + 2 }"];
    let Instrumented { sites, places, .. } = instrumented(&texts, true);
    assert!(sites.mutants.iter().any(|mutant| mutant.parts.is_some()));
    assert!(places.iter().all(|place| place.mutants == 0 || place.code == place.mutant), "{places:?}");
}

const SAMPLE: &str = "fn f(a: u32, list: &[u32]) -> u32 {
    let mut sum = 0;
    for item in list {
        if a < *item && sum > 2 {
            sum += g(*item)?;
            h();
        }
    }
    sum - 3
}";

const ARMS_AND_RANGES: &str = "fn f(a: u32) -> u32 {
    for i in 0..a {
        match i {
            0 => continue,
            1 => { g(); }
            n if n > 3 => h(),
            _ => break,
        }
    }
    (1..=a).map(|x| x + i).sum()
}";

#[test]
fn arms_jumps_and_ranges_are_chosen_where_their_types_allow_it() {
    assert_snapshot!(rendered(ARMS_AND_RANGES, Variant::Clean));
    assert_snapshot!(rendered(ARMS_AND_RANGES, Variant::Mutated));
    assert_snapshot!(rendered(ARMS_AND_RANGES, Variant::Recording));
}

#[test]
fn a_pair_is_chosen_in_both_functions_and_lies_in_both_ranges() {
    let text =
        "fn f(a: u32) -> u32 { a << 1 } fn g() {} fn h(a: u32) -> u32 { a >> 2 & a } fn i(a: u32) -> u32 { a << 3 }";
    let source = Source::parse("src/a.rs", text.into()).expect("the test's own source");
    let selection = Selection::parse("SOR,LOR,HOM").expect("known operators");
    let (declarations, names) = Default::default();
    let settings = Settings { selection: &selection, declarations: &declarations, names: &names };
    let specification = Specification::new("a", "a", vec![source], &settings);
    let instrumented = Instrumenter::new(&specification, Probes::All).instrument(&Verdicts::default());
    let text = &instrumented.outputs[0].text;
    let parts: Vec<_> = instrumented.sites.mutants.iter().map(|mutant| (&*mutant.operator, mutant.parts)).collect();
    // f's own, a pair of f and h, three of h's own, three pairs of h and i, i's own.
    assert_eq!(parts[..3], [("SOR", None), ("HOM", Some([0, 2])), ("LOR", None)]);
    assert_eq!(parts[5..], [("HOM", Some([2, 8])), ("HOM", Some([3, 8])), ("HOM", Some([4, 8])), ("SOR", None)]);
    for range in ["([0, 2], [0, 1])", "([0, 0], [0, 0])", "([1, 7], [2, 3])", "([5, 4], [8, 1])"] {
        assert!(text.contains(range), "{range} in {text}");
    }
    let points: Vec<&str> = text
        .match_indices("match ::simutant_probe::active()")
        .map(|(at, _)| {
            let point = &text[at..];
            &point[..point.find("hit()").expect("a mutant")]
        })
        .collect();
    assert_snapshot!(points.join("\n"));
    let both = instrumented.sites.diff(&instrumented.sites.mutants[1], 0);
    assert_eq!(both.matches("\n+").count(), 2 * 2, "{both}");
}

#[test]
fn a_constant_is_chosen_at_its_uses_in_all_functions_and_lies_after_all_ranges() {
    let text = "const A: u32 = 2; fn f(a: u32) -> u32 { a + A } const B: u32 = A + 3; fn g() -> &'static u32 { &B }
fn h(a: u32) -> u32 { a - 1 } fn i() -> u32 { const C: u32 = 1; C } fn j(a: u32) { assert!(a < A) }";
    for (operators, ranges) in [
        ("CVR", [(0, 0, "[[320, 3]]"), (64, 0, "[[320, 7]]"), (128, 0, ""), (192, 0, "[[327, 2]]"), (256, 0, "")]),
        ("AOR,CVR", [(0, 1, "[[320, 3]]"), (64, 0, "[[320, 7]]"), (128, 1, ""), (192, 0, "[[327, 2]]"), (256, 0, "")]),
        ("AOR,CVR,HOM", [(0, 2, "[[3, 3]]"), (0, 0, "[[3, 7]]"), (1, 2, ""), (0, 0, "[[10, 2]]"), (0, 0, "")]),
    ] {
        let source = Source::parse("src/a.rs", text.into()).expect("the test's own source");
        let selection = Selection::parse(operators).expect("known operators");
        let (declarations, names) = Default::default();
        let settings = Settings { selection: &selection, declarations: &declarations, names: &names };
        let specification = Specification::new("a", "a", vec![source], &settings);
        let Instrumented { outputs, sites, places } =
            Instrumenter::new(&specification, Probes::All).instrument(&Verdicts::default());
        let output = &outputs[0].text;
        let functions: Vec<&str> = output.split("::simutant_probe::FunctionMarks::new(").skip(1).collect();
        for (function, (first, count, constants)) in functions.iter().zip(ranges) {
            let asked = &function[..function.find(';').expect("a declaration")];
            assert!(asked.contains(&format!("([{first}, {count}], [")), "{operators}: {asked}");
            let expect = if constants.is_empty() { ")" } else { &format!(").with_constants(&{constants})") };
            assert!(asked.ends_with(&format!(")){expect}")[1..]), "{operators}: {asked}, {expect}");
        }
        let of_constants = sites.mutants.iter().filter(|mutant| mutant.operator == "CVR").count();
        assert_eq!(of_constants, 3 + 4 + 2);
        assert!(sites.mutants[sites.mutants.len() - of_constants..].iter().all(|mutant| mutant.operator == "CVR"));
        let last = places.last().expect("that of constants");
        assert_eq!((last.mutant as usize, last.mutants), (sites.mutants.len() - of_constants, 9));
        if operators == "CVR" {
            let cut = output.find("fn h").expect("it is there");
            assert_snapshot!(&output[..cut]);
        }
    }
}

#[test]
fn programs_ask_for_the_constants_that_a_function_uses() {
    let text = "const A: bool = true; fn f() -> bool { A } fn g(a: u32) -> u32 { if A { a + 1 } else { 0 } } fn h() {}";
    let source = Source::parse("src/a.rs", text.into()).expect("the test's own source");
    let selection = Selection::parse("AOR,CVR").expect("known operators");
    let (declarations, names) = Default::default();
    let settings = Settings { selection: &selection, declarations: &declarations, names: &names };
    let specification = Specification::new("a", "a", vec![source], &settings);
    let instrumented = Instrumenter::new(&specification, Probes::Mutants).instrument(&Verdicts::default());
    assert_snapshot!(instrumented.outputs[0].text);
    let plain = Instrumenter::new(&specification, Probes::None).instrument(&Verdicts::default());
    assert_eq!(plain.outputs[0].text, text);
}

#[test]
fn the_clean_body_counts_steps() {
    assert_snapshot!(rendered(SAMPLE, Variant::Clean));
}

#[test]
fn the_mutated_body_chooses_at_each_point() {
    assert_snapshot!(rendered(SAMPLE, Variant::Mutated));
}

#[test]
fn the_covering_body_notes_coverage_alone() {
    assert_snapshot!(rendered(SAMPLE, Variant::Covering));
}

#[test]
fn uses_that_see_the_same_share_a_row_and_some_decisions_need_a_vector() {
    let text = "fn f(a: u32, b: bool, c: bool) -> u32 {
    let mut n = a;
    while n < 9 && n > 2 || b && c {
        n += n * n;
        if n == n + a { g(n, n, h(n)); }
    }
    [1].iter().map(|d| { let e = d + a; e + d }).sum()
}";
    assert_snapshot!(rendered(text, Variant::Covering));
}

#[test]
fn what_a_way_leaves_out_and_what_is_defined_in_between_is_noted_for_itself() {
    let text = "impl S { fn f(&mut self, a: bool, b: bool) {
    if g(a && b) { h(); }
    let t = (self.n, self.n, &mut self.n, self.n);
    i(t);
} }";
    assert_snapshot!(rendered(text, Variant::Covering));
}

#[test]
fn a_body_without_data_flow_notes_blocks_and_branches() {
    let text = "fn f(a: Option<u32>) -> u32 { match a { Some(b) if b > 1 => b, _ => 0 } }";
    let verdicts = Verdicts {
        without_flow: [(FunctionId { file: 0, index: 0 }, "an error".to_owned())].into(),
        ..Verdicts::default()
    };
    assert_snapshot!(rendered_with(text, Variant::Covering, &verdicts));
}

#[test]
fn the_recording_body_notes_coverage_and_infection() {
    assert_snapshot!(rendered(SAMPLE, Variant::Recording));
}

#[test]
fn long_code_is_told_with_its_longest_function() {
    let instrumented = instrumented(&["fn f(a: u32) -> u32 { a + 1 }", "fn g(a: u32) -> u32 { a + a * a - 2 }"], false);
    let bytes: usize = instrumented.outputs.iter().map(|output| output.text.len()).sum();
    let source = |file: usize, text: &str| Source::parse(&format!("src/{file}.rs"), text.into()).expect("it parses");
    let (selection, declarations, names) = Default::default();
    let settings = Settings { selection: &selection, declarations: &declarations, names: &names };
    let sources = vec![source(0, "fn f(a: u32) -> u32 { a + 1 }"), source(1, "fn g(a: u32) -> u32 { a + a * a - 2 }")];
    let specification = Specification::new("a", "a", sources, &settings);
    assert_eq!(instrumented.if_longer(bytes, &specification), None);
    let function_bytes = instrumented.outputs[1].text.len() - "fn g(a: u32) -> u32 {}".len();
    let long = BuildEvent::Long { bytes, function: "1::g".to_owned(), function_bytes };
    assert_eq!(instrumented.if_longer(bytes - 1, &specification), Some(long));
}

#[test]
fn choices_that_would_copy_too_much_are_left_out_and_listed() {
    let listed = |count: usize| {
        let list: String = (0..count).map(|call| format!("g({call}).h() > 2, ")).collect();
        let sites = instrumented(&[&format!("fn k() {{ let list = [{list}]; }}")], false).sites;
        (sites.mutants.len(), sites.rejected.len())
    };
    let (few, none) = listed(10);
    assert_eq!((few, none), (30, 0));
    let (placed, too_long) = listed(400);
    assert_eq!(placed + too_long, 1200);
    assert!(0 < placed && placed < too_long, "{placed} {too_long}");
}
