//! The domain name system: Unbound and our own resolver find what is there, through losses too, and resolvers that
//! answer wrongly fail.

#[cfg(target_os = "linux")]
mod others;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use simutant_dns::testbed::TESTBEDS;
use simutant_harness::{Implementation, RunOptions, TestReport, run_suite};
use simutant_outcomes::{Suite, SuiteCase};

/// Returns options for a machine that may be busy: four jobs, a minute for each test case.
fn options() -> RunOptions {
    RunOptions {
        jobs: 4.try_into().expect("4 is not 0"),
        timeout: Duration::from_secs(60),
        ..RunOptions::new(Path::new(env!("CARGO_TARGET_TMPDIR")).join("implementations"))
    }
}

/// Returns an implementation of this package.
fn implementation(name: &str) -> Implementation {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("implementations");
    TESTBEDS.find(name, &[folder]).expect("the implementation is there and good")
}

/// Returns Unbound with more settings.
fn unbound(settings: &str) -> Implementation {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("implementations").join("unbound.toml");
    let text = std::fs::read_to_string(&path).expect("the implementation is there");
    let text = text.replace("remote-control:", &format!("{settings}\nremote-control:"));
    TESTBEDS.parse(&text, &path, Path::new("/")).expect("the implementation is good")
}

/// Returns a test case with three zones on two servers, the last of them below a name that has nothing else.
fn case(drop: f64, queries: &[(&str, &str)]) -> Value {
    let long = "and so on ".repeat(20);
    let texts: Vec<String> = (1..=8).map(|part| format!("\"part {part}: {long}\"")).collect();
    let queries: Vec<Value> =
        queries.iter().map(|(name, of)| json!({ "stub": 1, "start_ms": 0, "name": name, "type": of })).collect();
    json!({
        "zones": [
            { "apex": ".", "records": [
                ". 60 IN SOA ns1. hostmaster. 1 3600 600 86400 5", ". 60 IN NS ns1.", "ns1. 60 IN A 198.18.0.1",
                "oak. 60 IN NS ns2.oak.", "ns2.oak. 60 IN A 198.18.0.2", "alias. 60 IN CNAME host.oak.",
            ] },
            { "apex": "oak.", "records": [
                "oak. 60 IN SOA ns2.oak. hostmaster.oak. 1 3600 600 86400 5", "oak. 60 IN NS ns2.oak.", "ns2.oak. 60 IN A 198.18.0.2",
                "elm.between.oak. 60 IN NS ns1.",
                "host.oak. 2 IN A 198.18.1.1", "host.oak. 2 IN A 198.18.2.1", format!("host.oak. 60 IN TXT {}", texts.join(" ")),
            ] },
            { "apex": "elm.between.oak.", "records": [
                "elm.between.oak. 60 IN SOA ns1. hostmaster.elm.between.oak. 1 3600 600 86400 5", "elm.between.oak. 60 IN NS ns1.",
                "www.elm.between.oak. 60 IN CNAME alias.", "elm.between.oak. 60 IN MX 10 host.oak.",
            ] },
        ],
        "servers": [
            { "address": "198.18.0.1", "zones": [".", "elm.between.oak."] }, { "address": "198.18.0.2", "zones": ["oak."] },
        ],
        "queries": queries, "drop": drop, "duplicate": drop, "seed": 1,
    })
}

const QUERIES: [(&str, &str); 9] = [
    ("www.elm.between.oak.", "A"),
    ("elm.between.oak.", "MX"),
    ("host.oak.", "TXT"),
    ("between.oak.", "A"),
    ("nobody.oak.", "AAAA"),
    ("www.elm.between.oak.", "AAAA"),
    ("nobody.", "A"),
    ("alias.", "CNAME"),
    ("elm.between.oak.", "NS"),
];

fn run(implementation: &Implementation, cases: &[Value]) -> TestReport {
    let cases = cases.iter().enumerate().map(|(index, case)| SuiteCase::new(index.to_string(), case.clone()));
    let suite = Suite::of_cases("dns", "by hand", 0, cases);
    run_suite(&suite, implementation, &options(), &mut |_| {})
        .expect("the suite runs as root, with nsd and the resolvers: `cargo xtask test` installs them")
}

#[test]
fn unbound_finds_what_is_there_and_what_is_not() {
    check_right(&unbound(""));
}

#[test]
fn our_own_resolver_does_so_too() {
    check_right(&implementation("dns"));
}

#[track_caller]
fn check_right(implementation: &Implementation) {
    let report = run(implementation, &[case(0.0, &QUERIES), case(0.15, &QUERIES[..3])]);
    let failures: Vec<_> = report.failures().collect();
    assert!(failures.is_empty(), "{failures:#?}");
    let [whole, lossy] = &report.results[..] else { panic!("{report:#?}") };
    assert!(whole.network.forward.received >= 8 && whole.network.forward.dropped == 0, "{whole:#?}");
    assert!(lossy.network.forward.received >= 4, "{lossy:#?}");
}

/// Checks that the resolver with a fault answers `queries` wrongly, each asked so many milliseconds after the start,
/// and how.
#[track_caller]
fn check_fault(fault: &str, queries: &[(u64, &str, &str)], expect: &str) {
    let names: Vec<(&str, &str)> = queries.iter().map(|&(_, name, of)| (name, of)).collect();
    let mut case = case(0.0, &names);
    for (index, (start_ms, ..)) in queries.iter().enumerate() {
        case["queries"][index]["start_ms"] = json!(start_ms);
    }
    let report = run(&implementation(&format!("dns-{fault}")), &[case]);
    let finding = report.results[0].verdict.finding().expect("the answer is wrong");
    assert!(finding.kind == "wrong-answer" && finding.summary.contains(expect), "{fault}: {finding}");
}

#[test]
fn an_alias_of_an_alias_that_is_not_followed_fails() {
    check_fault(
        "follows-one-alias",
        &[(0, "www.elm.between.oak.", "A")],
        "query 0 (www.elm.between.oak. A): the answer lacks host.oak. 2 IN A 198.18.1.1",
    );
}

#[test]
fn an_answer_that_is_older_than_it_says_fails() {
    check_fault(
        "aliases-stay-young",
        &[(0, "alias.", "A"), (3_500, "alias.", "A")],
        "query 1 (alias. A): the answer has alias. 60 IN CNAME host.oak., which the resolver knew for 3 s when it was asked",
    );
}

/// Checks that Unbound with these settings answers `query` wrongly, and how.
#[track_caller]
fn check(settings: &str, query: (&str, &str), expect: &str) {
    let report = run(&unbound(settings), &[case(0.0, &[QUERIES[1], query])]);
    let finding = report.results[0].verdict.finding().expect("the answer is wrong");
    assert_eq!((finding.kind.as_str(), &finding.detail["query"]), ("wrong-answer", &1.into()));
    assert!(finding.summary.contains(expect), "{finding}");
}

#[test]
fn a_resolver_that_makes_records_live_longer_fails() {
    let expect = "query 1 (host.oak. A): the answer has host.oak. 9 IN A";
    check("  cache-min-ttl: 9", ("host.oak.", "A"), expect);
}

#[test]
fn a_resolver_that_denies_what_is_there_fails() {
    let expect =
        "query 1 (alias. CNAME): the response code is NXDOMAIN; right is NOERROR [alias. 60 IN CNAME host.oak.]";
    check("  local-zone: alias. always_nxdomain", ("alias.", "CNAME"), expect);
}

#[test]
fn inputs_that_show_divergences_of_others_pass_on_unbound() {
    let mut cases = Vec::new();
    for entry in findings().read_dir().expect("the findings are there") {
        let name = entry.expect("it can be read").file_name();
        cases.extend(finding(&name.to_string_lossy()).cases.into_iter().map(|case| case.case));
    }
    assert!(cases.len() >= 8, "{cases:?}");
    let report = run(&unbound(""), &cases);
    let failures: Vec<_> = report.failures().collect();
    assert!(failures.is_empty(), "{failures:#?}");
}

fn findings() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("findings")
}

/// Returns an input that shows what was found.
fn finding(file: &str) -> Suite {
    let text = std::fs::read_to_string(findings().join(file)).expect("the finding is there");
    Suite::parse(&text, "dns").expect("it is a suite")
}
