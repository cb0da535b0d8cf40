//! Resolvers that others wrote, as packages have them: they find what is there, and what `FINDINGS.md` says of them
//! shows in its input.

use simutant_outcomes::{Suite, Verdict};

use super::{QUERIES, case, finding, implementation, run};

#[test]
fn they_find_what_is_there_and_what_is_not() {
    for name in ["bind", "knot-resolver-short-ttls", "pdns-recursor-short-ttls"] {
        let report = run(&implementation(name), &[case(0.0, &QUERIES)]);
        let failures: Vec<_> = report.failures().collect();
        assert!(failures.is_empty(), "{name}: {failures:#?}");
        assert!(report.results[0].network.forward.received >= 8, "{name}: {report:#?}");
    }
}

/// Runs the input of a finding, and checks why each of its test cases fails; `None` for those that pass.
#[track_caller]
fn check(name: &str, file: &str, expect: &[Option<&str>]) {
    let Suite { cases, .. } = finding(file);
    let cases: Vec<_> = cases.into_iter().map(|case| case.case).collect();
    let report = run(&implementation(name), &cases);
    assert_eq!(report.results.len(), expect.len(), "{name}: {report:#?}");
    for (result, expect) in report.results.iter().zip(expect) {
        match (&result.verdict, expect) {
            (Verdict::Pass, None) => {}
            (Verdict::Fail(finding), Some(expect)) if finding.summary.contains(expect) => {}
            _ => panic!("{name} {expect:?}: {result:#?}"),
        }
    }
}

#[test]
fn times_to_live_are_raised() {
    let none = Some("query 0 (none.oak. A): the answer has none.oak. 1 IN A 198.18.1.1, which lives for 0 s only");
    check("pdns-recursor", "raised-times-to-live.json", &[none, None, None]);
    let expect = [
        "query 0 (none.oak. A): the answer has none.oak. 5 IN A 198.18.1.1, which lives for 0 s only",
        "query 0 (two.oak. A): the answer has two.oak. 5 IN A 198.18.1.2, which lives for 2 s only",
        "query 0 (two.oak. TXT): the SOA record lives for 5 s, and it may be kept for 2 s only",
    ];
    check("knot-resolver", "raised-times-to-live.json", &expect.map(Some));
    for name in ["pdns-recursor-short-ttls", "knot-resolver-short-ttls"] {
        check(name, "raised-times-to-live.json", &[None; 3]);
    }
}

#[test]
fn a_name_error_of_the_root_denies_others() {
    let expect = "query 1 (two.oak. A): the response code is NXDOMAIN; right is NOERROR [two.oak. 2 IN A 198.18.1.2]";
    check("pdns-recursor-short-ttls", "name-error-of-the-root.json", &[Some(expect)]);
    check("bind", "name-error-of-the-root.json", &[None]);
}

#[test]
fn negative_answers_lack_the_soa_record() {
    let expect = ["nobody. A", "host.oak. TXT"]
        .map(|query| format!("query 0 ({query}): no SOA record says for how long that holds"));
    check("dnscache", "empty-answers.json", &[Some(&expect[0]), Some(&expect[1]), None]);
    check("bind", "empty-answers.json", &[None; 3]);
}
