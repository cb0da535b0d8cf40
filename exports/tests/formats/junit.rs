//! JUnit XML.

use roxmltree::{Document, Node};
use simutant_exports::{
    Root,
    junit::{JunitEnd, JunitReport, JunitTest, TestSuite, study},
};

use crate::Everything;

const SCHEMA: &str = include_str!("../schemas/junit-10.xsd");

/// The one pattern of the schema: a number with up to three digits after the point.
const TIME: &str = r"(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]{0,3})?";

fn named<'a, 'b>(schema: &'a Document<'b>, kind: &str, name: &str) -> Option<Node<'a, 'b>> {
    let mut children = schema.root_element().children();
    children.find(|node| node.tag_name().name() == kind && node.attribute("name") == Some(name))
}

/// Checks an element against its declaration. Every content model of the schema that a report uses is a choice that
/// repeats, or one element that does, so that the names of the children decide.
#[track_caller]
fn check(schema: &Document<'_>, node: Node<'_, '_>) {
    let name = node.tag_name().name();
    let declaration = named(schema, "element", name).unwrap_or_else(|| panic!("there is no <{name}>"));
    let within = |kind: &'static str| declaration.descendants().filter(move |node| node.tag_name().name() == kind);
    for attribute in node.attributes() {
        let known = within("attribute").find(|known| known.attribute("name") == Some(attribute.name()));
        let known = known.unwrap_or_else(|| panic!("<{name}> has no attribute {}", attribute.name()));
        if known.attribute("type") == Some("SUREFIRE_TIME") {
            let (whole, part) = attribute.value().split_once('.').unwrap_or((attribute.value(), ""));
            let are_digits = |text: &str| text.chars().all(|digit| digit.is_ascii_digit());
            assert!(are_digits(whole) && are_digits(part) && part.len() <= 3, "{}", attribute.value());
        }
    }
    for required in within("attribute").filter(|known| known.attribute("use") == Some("required")) {
        let required = required.attribute("name").expect("an attribute has a name");
        assert!(node.attribute(required).is_some(), "<{name}> lacks {required}");
    }
    let is_text = declaration.attribute("type") == Some("xs:string")
        || within("complexType").any(|kind| kind.attribute("mixed") == Some("true"));
    for child in node.children() {
        if child.is_element() {
            let child_name = child.tag_name().name();
            let is_known = within("element").any(|known| known.attribute("ref") == Some(child_name));
            assert!(is_known, "<{child_name}> in <{name}>");
            check(schema, child);
        } else {
            assert!(is_text || child.text().unwrap_or_default().trim().is_empty(), "text in <{name}>");
        }
    }
}

#[track_caller]
fn check_report(report: &JunitReport) -> String {
    let schema = Document::parse(SCHEMA).expect("the schema is XML");
    let time = named(&schema, "simpleType", "SUREFIRE_TIME").expect("the schema has it");
    let mut patterns = time.descendants().filter_map(|node| node.attribute("value"));
    assert_eq!(patterns.next(), Some(TIME), "the check of times is for another pattern");
    let xml = report.to_xml();
    let document = Document::parse(&xml).expect("well-formed");
    check(&schema, document.root_element());
    xml
}

#[test]
fn a_study_has_a_test_for_each_mutant() {
    let everything = Everything::new();
    let report = study(&everything.study(), &Root::new("systems/"));
    let xml = check_report(&report);
    let document = Document::parse(&xml).expect("well-formed");
    let suite = document.descendants().find(|node| node.has_tag_name("testsuite")).expect("there is a file");
    let counts = everything.analysis.mutants.counts;
    let skipped = counts.equivalent + counts.duplicate + everything.outcomes.sites.rejected.len();
    let expect = [
        ("name", "systems/src/arq/window.rs".to_owned()),
        ("tests", (counts.total() + everything.outcomes.sites.rejected.len()).to_string()),
        ("failures", (counts.unkilled() - counts.equivalent).to_string()),
        ("skipped", skipped.to_string()),
        ("errors", "0".into()),
    ];
    for (name, value) in expect {
        assert_eq!(suite.attribute(name), Some(value.as_str()), "{name}");
    }
    let with = |tag: &str| document.descendants().filter(|node| node.has_tag_name(tag)).count();
    assert_eq!(with("failure"), counts.unkilled() - counts.equivalent);
    assert_eq!(with("skipped"), skipped);
    let names: std::collections::BTreeSet<&str> = document
        .descendants()
        .filter(|node| node.has_tag_name("testcase"))
        .filter_map(|node| node.attribute("name"))
        .collect();
    assert_eq!(names.len(), with("testcase"), "no two tests have one name");
    let failure = document.descendants().find(|node| node.has_tag_name("failure")).expect("something survives");
    assert!(failure.text().is_some_and(|text| text.contains("\n@@ -")), "{failure:?}");
    // A study has no time but the virtual one.
    assert!(!xml.contains(" time="));
}

#[test]
fn results_of_tests_have_their_times_and_what_was_printed() {
    let case = |name: &str, duration_ms, end| JunitTest {
        name: name.into(),
        class: "gbn.udp".into(),
        duration_ms: Some(duration_ms),
        end,
        output: "é <&> \u{1b}[31m]]>\r\n".into(),
    };
    let failed = JunitEnd::Failed { kind: "timed-out".into(), message: "a \"b\"\n<c>".into(), text: "]]>".into() };
    let cases = vec![
        case("one", 1_234, JunitEnd::Passed),
        case("two", 60_000, failed),
        case("three", 1, JunitEnd::Skipped("no".into())),
    ];
    let suite = TestSuite { name: "gbn on udp".into(), properties: vec![("seed".into(), "1".into())], cases };
    let xml = check_report(&JunitReport { name: "gbn".into(), suites: vec![suite] });
    let document = Document::parse(&xml).expect("well-formed");
    let root = document.root_element();
    assert_eq!((root.attribute("time"), root.attribute("failures")), (Some("61.235"), Some("1")));
    let output = document.descendants().find(|node| node.has_tag_name("system-out")).and_then(|node| node.text());
    assert_eq!(output, Some("é <&> \u{fffd}[31m]]>\r\n"));
    let failure = document.descendants().find(|node| node.has_tag_name("failure")).expect("one failed");
    assert_eq!(failure.attribute("message"), Some("a \"b\"\n<c>"));
}

#[test]
fn the_check_finds_what_the_schema_does_not_have() {
    let schema = Document::parse(SCHEMA).expect("the schema is XML");
    for wrong in [
        "<testsuites skipped='1'/>",
        "<testsuites><testcase name='a'/></testsuites>",
        "<testsuites time='1.2345'/>",
        "<testcase/>",
        "<testsuites>text</testsuites>",
    ] {
        let document = Document::parse(wrong).expect("well-formed");
        let found = std::panic::catch_unwind(|| check(&schema, document.root_element()));
        assert!(found.is_err(), "{wrong}");
    }
}
