//! Real servers: what each of them breaks is found, and nothing else is.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use simutant_harness::{Implementation, RunOptions, TestReport, run_suite};
use simutant_http::Http;
use simutant_http::testbed::TESTBEDS;
use simutant_outcomes::{Suite, SuiteCase, Verdict};
use simutant_system::{System, universe};

fn implementation(name: &str) -> Implementation {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("implementations");
    TESTBEDS.find(name, &[folder]).expect("the implementation is there and good")
}

/// Runs the first test cases of a universe.
fn run(implementation: &Implementation, seed: u64, count: usize) -> TestReport {
    run_until(implementation, seed, count, usize::MAX)
}

/// Runs the first test cases of a universe, until more than so many have failed.
fn run_until(implementation: &Implementation, seed: u64, count: usize, failures_max: usize) -> TestReport {
    let case = |number| {
        let case = serde_json::to_value(universe::<Http>(seed, number)).expect("plain data");
        SuiteCase::new(format!("http-{number}"), case)
    };
    let suite = Suite::of_cases(Http::NAME, "the first ones", seed, (0..count).map(case));
    let options = RunOptions {
        jobs: 2.try_into().expect("2 is not 0"),
        failures_max,
        ..RunOptions::new(Path::new(env!("CARGO_TARGET_TMPDIR")).join("implementations"))
    };
    run_suite(&suite, implementation, &options, &mut |_| {}).expect("`cargo xtask test` installs the server")
}

/// Returns the rules that findings name, with how many findings do.
fn kinds(report: &TestReport) -> BTreeMap<String, usize> {
    let mut kinds = BTreeMap::new();
    for result in &report.results {
        match &result.verdict {
            Verdict::Pass => {}
            Verdict::Fail(finding) => *kinds.entry(finding.kind.clone()).or_default() += 1,
            Verdict::Inconclusive(inconclusive) => panic!("{}: {inconclusive}", result.name),
        }
    }
    kinds
}

/// Waives rules of an implementation.
fn waiving(mut implementation: Implementation, rules: &[&str]) -> Implementation {
    for rule in rules {
        implementation.waive_rule(rule, "known", Path::new("test")).expect("there is such a rule");
    }
    implementation
}

#[test]
fn nginx_performs_changes_whatever_their_conditions_say() {
    let nginx = implementation("nginx");
    let report = run(&nginx, 1, 40);
    let found = kinds(&report);
    assert!(found["if-match-put"] + found["if-none-match-put"] > 20, "{found:?}");
    let finding = report.failures().find_map(|result| result.verdict.finding()).expect("it fails");
    let detail = &finding.detail;
    assert!(detail["messages"].as_u64().is_some_and(|messages| messages <= 80), "{detail}");
    let commands: Vec<&str> = detail["commands"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    assert!(commands.len() <= 3 && commands.iter().all(|command| command.starts_with("curl -s")), "{commands:?}");
    // With that known, others are found.
    let changes = ["if-match-put", "if-none-match-put", "if-match-any-put", "if-none-match-any-put", "if-match-strong"];
    let found = kinds(&run(&waiving(nginx, &changes), 2, 60));
    assert!(!changes.iter().any(|rule| found.contains_key(*rule)) && found.len() >= 2, "{found:?}");
}

#[test]
fn apache_compares_strongly_what_it_should_compare_weakly() {
    let apache = implementation("apache");
    let found = kinds(&run(&apache, 1, 60));
    assert!(found.get("if-none-match-weak").is_some_and(|count| *count > 5), "{found:?}");
    assert!(found.len() >= 3, "{found:?}");
}

#[test]
fn lighttpd_breaks_what_its_file_waives_and_nothing_else() {
    let lighttpd = implementation("lighttpd");
    let report = run(&lighttpd, 1, 120);
    assert_eq!(kinds(&report), BTreeMap::new());
    // Where nobody asks for it, it is kept.
    assert!(report.results.iter().any(|result| result.kept.contains(&"if-match-get".to_owned())));
    let mut strict = lighttpd;
    strict.waive.clear();
    let found = kinds(&run(&strict, 1, 120));
    assert!(found.contains_key("if-match-get"), "{found:?}");
}

#[test]
fn the_right_server_of_ours_passes_and_each_mistake_is_found_within_ten_test_cases() {
    assert_eq!(kinds(&run(&implementation("http"), 1, 100)), BTreeMap::new());
    for (fault, _) in simutant_http_programs::faults::ALL {
        let found = kinds(&run_until(&implementation(&format!("http-{fault}")), 1, 10, 0));
        assert!(!found.is_empty(), "{fault}");
        assert!(!found.contains_key("no-answer") && !found.contains_key("malformed"), "{fault}: {found:?}");
    }
}

#[test]
fn rules_that_the_oracle_does_not_have_are_refused() {
    let refused = implementation("nginx").waive_rule("if-match", "known", Path::new("nginx.toml"));
    let error = refused.expect_err("there is no such rule").to_string();
    assert!(
        error.starts_with("nginx.toml: waives the rule if-match, and the oracle has these: if-match-first"),
        "{error}"
    );
}

#[test]
#[ignore = "dufs is built for minutes"]
fn dufs_performs_changes_whatever_their_conditions_say() {
    let found = kinds(&run(&implementation("dufs"), 1, 40));
    assert!(found["if-match-put"] + found["put-replaces"] > 20, "{found:?}");
}
