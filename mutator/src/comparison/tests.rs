//! Tests of the comparison.

use proptest::prelude::*;

use super::*;

fn constants(text: &str) -> Vec<NamedConstant> {
    named_constants("a.rs", text).expect("the test's own source")
}

/// Checks which constants are found, as `NAME = value` each.
#[track_caller]
fn check(text: &str, expect: &[&str]) {
    let found: Vec<String> = constants(text).iter().map(|found| format!("{} = {}", found.name, found.value)).collect();
    assert_eq!(found, expect, "{text}");
}

#[test]
fn items_and_functions_without_parameters_are_constants() {
    check(
        "const A: u32 = 1; pub static B: u8 = 2; impl C { const D: i8 = -3; fn e(&self) -> u8 { 4 } fn f() -> u8 { A } }
         trait G { const H: u8 = 5; const I: u8; fn j(&self) -> u64 { 1 << 32 } fn k(&self) -> u8; }
         fn l() -> f64 { const M: f64 = 0.05; M * 2.0 }",
        &["A = 1", "B = 2", "D = -3", "E = 4", "F = 1", "H = 5", "J = 4294967296", "M = 0.05"],
    );
}

#[test]
fn what_is_no_number_or_needs_a_run_is_left_out() {
    check(
        "const A: &str = \"1\"; const B: bool = true; const C: [u8; 1] = [1]; const D: R = R::new(1); const E: u8 = f(1);
         const F: u8 = 1 / 0; const G: u8 = G; const H: u8 = I; const I: u8 = H; fn j(k: u8) -> u8 { 1 } fn l() { 1; }
         const M: u8 = 300 as u8; const N: RangeInclusive<u8> = 1..=2; const O: i128 = 1 << 200; const P: u8 = n::Q;
         #[cfg(test)] mod tests { const R: u8 = 1; } #[test] fn s() -> u8 { 1 }",
        &[],
    );
}

#[test]
fn expressions_are_evaluated() {
    for (expression, expect) in [
        ("4 * 1_024", "4096"),
        ("(1 << 3) - 2 % 3", "6"),
        ("u8::MAX as usize + 1", "256"),
        ("i8::MIN", "-128"),
        ("u64::MAX", "18446744073709551615"),
        ("0x10 | 0b1", "17"),
        ("0.5 + 1.0", "1.5"),
        ("3 as f64 / 2.0", "1.5"),
        ("2.9 as u8", "2"),
        ("Duration::from_millis(25)", "25 ms"),
        ("VirtualDuration::from_secs(2) / 4", "500 ms"),
        ("std::time::Duration::from_secs_f64(0.015)", "15 ms"),
        ("Duration::new(1, 500)", "1000000500 ns"),
        ("VirtualTime::from_millis(20) + Duration::from_micros(5)", "20005 us"),
        ("2 * Duration::from_mins(1)", "120 s"),
        ("Duration::ZERO", "0 s"),
    ] {
        check(&format!("const A: T = {expression};"), &[&format!("A = {expect}")]);
    }
}

#[test]
fn a_unit_is_no_part_of_a_name() {
    check(
        "const WAIT_MS: u64 = 15; const wait: u8 = 1; const GAP_MS_MAX: u64 = 2_000; const TIME_S: f64 = 0.5; const MS: u8 = 1;
         const LEFT_NS: VirtualDuration = VirtualDuration::from_millis(3); const BYTES_MAX: u8 = 7;",
        &["WAIT = 15 ms", "WAIT = 1", "GAP_MAX = 2 s", "TIME = 500 ms", "MS = 1", "LEFT = 3 ms", "BYTES_MAX = 7"],
    );
}

const UNITS: [(&str, &str, u32); 4] =
    [("_NS", "from_nanos", 0), ("_US", "from_micros", 3), ("_MS", "from_millis", 6), ("_SECS", "from_secs", 9)];

proptest! {
    /// However a length of time is written, it is the same one; and what is shown of it is read as it.
    #[test]
    fn a_length_of_time_in_any_unit_comes_back(amount in 0_u32.., (suffix, constructor, zeros) in prop::sample::select(&UNITS[..])) {
        let nanos = i128::from(amount) * 10_i128.pow(zeros);
        let text = format!("const A{suffix}: u64 = {amount}; const A: Duration = Duration::{constructor}({amount});");
        for found in constants(&text) {
            prop_assert_eq!((found.name.as_str(), found.value), ("A", ConstantValue::Time(nanos)));
            prop_assert_eq!(found.value.to_string().parse(), Ok(found.value));
        }
    }

    #[test]
    fn a_number_comes_back(value in any::<i64>(), share in any::<f64>().prop_filter("a number", |share| share.is_finite())) {
        let found = constants(&format!("const A: i64 = {value}; const B: f64 = {share:?};"));
        let values: Vec<ConstantValue> = found.iter().map(|found| found.value).collect();
        prop_assert_eq!(&values, &[ConstantValue::Integer(value.into()), ConstantValue::Float(share)]);
        for value in values {
            prop_assert_eq!(value.to_string().parse(), Ok(value));
        }
    }

    /// Nothing differs from itself, and a name differs as soon as its value is another one.
    #[test]
    fn a_name_with_another_value_differs(values in prop::collection::vec((0_u8..4, 0_u8..4), 0..6)) {
        let text = |value: fn(&(u8, u8)) -> u8| -> String {
            values.iter().enumerate().map(|(index, pair)| format!("const C{index}: u8 = {};\n", value(pair))).collect()
        };
        let (here, there) = (constants(&text(|pair| pair.0)), constants(&text(|pair| pair.1)));
        prop_assert_eq!(differences(&here, &here), []);
        let found: Vec<String> = differences(&here, &there).into_iter().map(|found| found.name).collect();
        let other = values.iter().enumerate().filter(|(_, (one, other))| one != other);
        let expect: Vec<String> = other.map(|(index, _)| format!("C{index}")).collect();
        prop_assert_eq!(found, expect);
    }
}

#[test]
fn a_value_that_is_written_badly_is_refused() {
    for text in ["", "x", "1 h", "1 ms ", "1  ms", "x ms"] {
        assert_eq!(text.parse::<ConstantValue>(), Err(InvalidValue(text.to_owned())));
    }
}

/// Checks what is said of a specification and an implementation.
#[track_caller]
fn check_sentences(specification: &str, implementation: &str, expect: &[&str]) {
    let specification = named_constants("spec.rs", specification).expect("the test's own source");
    let implementation = named_constants("mine.rs", implementation).expect("the test's own source");
    let found = differences(&specification, &implementation);
    let sentences: Vec<String> = found.iter().map(|difference| difference.sentence("mine")).collect();
    assert_eq!(sentences, expect);
}

#[test]
fn an_implementation_is_held_against_its_specification() {
    let specification = "
        const WINDOW_MAX: u32 = 32;
        const TIMEOUT: VirtualDuration = VirtualDuration::from_millis(15);
        const TRIES: u32 = 40;
        const PATIENCE: VirtualDuration = VirtualDuration::from_secs(2);
        mod stub { const PATIENCE: VirtualDuration = VirtualDuration::from_secs(600); }";
    check_sentences(specification, specification, &[]);
    check_sentences(
        specification,
        "const TIMEOUT_MS: u64 = 15;\nfn window_max(&self) -> u32 { 16 }\nconst OTHER: u8 = 1;
         const PATIENCE: Duration = Duration::from_secs(2); const PATIENCE_S: u8 = 5; const TRIES: f64 = 40.0;",
        &[
            "PATIENCE is 2 s in the specification (spec.rs:5), 600 s (spec.rs:6) and 5 s in mine (mine.rs:4)",
            "WINDOW_MAX is 32 in the specification (spec.rs:2) and 16 in mine (mine.rs:2)",
        ],
    );
    // A number without a unit may be anything.
    check_sentences(specification, "const TIMEOUT: u64 = 99;", &[]);
}

#[test]
fn text_that_is_no_source_is_refused_with_its_line() {
    let error = named_constants("a.rs", "const A: u8 = 1;\nconst = 2;").expect_err("a name is missing");
    assert!(error.to_string().starts_with("a.rs:2: "), "{error}");
}

#[test]
fn sources_are_named_or_matched_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::create_dir(folder.path().join("src")).expect("room");
    for file in ["src/a.rs", "src/b.rs", "c.rs"] {
        std::fs::write(folder.path().join(file), "").expect("room");
    }
    let files = |entries: &[&str]| {
        let entries: Vec<String> = entries.iter().map(|entry| (*entry).to_owned()).collect();
        source_files(&folder.path().join("src"), &entries)
    };
    let found = files(&["b.rs", "*.rs", "../c.rs"]).expect("all are there");
    let names: Vec<_> = found.iter().filter_map(|path| path.file_name()?.to_str()).collect();
    assert_eq!(names, ["b.rs", "a.rs", "c.rs"]);
    for entry in ["d.rs", "d*.rs", "a[.rs"] {
        assert!(files(&[entry]).expect_err("there is none").starts_with(&format!("`{entry}` ")));
    }
}
