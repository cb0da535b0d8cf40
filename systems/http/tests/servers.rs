//! Real servers: what each of them breaks is found, and nothing else is.

use std::collections::BTreeMap;
use std::path::Path;

use simutant_harness::{Implementation, RunOptions, TestReport, run_suite};
use simutant_http::Http;
use simutant_http::testbed::TESTBEDS;
use simutant_outcomes::{Suite, SuiteCase};
use simutant_system::{System, universe};

fn implementation(name: &str) -> Implementation {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("implementations");
    TESTBEDS.find(name, &[folder]).expect("the implementation is there and good")
}

/// Runs the first test cases of a universe.
fn run(implementation: &Implementation, seed: u64, count: usize) -> TestReport {
    let case = |number| {
        let case = serde_json::to_value(universe::<Http>(seed, number)).expect("plain data");
        SuiteCase::new(format!("http-{number}"), case)
    };
    let suite = Suite::of_cases(Http::NAME, "the first ones", seed, (0..count).map(case));
    let options = RunOptions {
        jobs: 2.try_into().expect("2 is not 0"),
        ..RunOptions::new(Path::new(env!("CARGO_TARGET_TMPDIR")).join("implementations"))
    };
    run_suite(&suite, implementation, &options, &mut |_| {}).expect("`cargo xtask test` installs the server")
}

#[test]
fn explore() {
    for name in ["nginx", "apache", "lighttpd"] {
        let began = std::time::Instant::now();
        let report = run(&implementation(name), 1, 60);
        let mut kinds: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for result in &report.results {
            let (kind, summary) = match &result.verdict {
                simutant_outcomes::Verdict::Fail(finding) => (
                    finding.kind.clone(),
                    format!("{} {}", finding.summary, serde_json::to_string(&finding.detail["curl"]).unwrap()),
                ),
                simutant_outcomes::Verdict::Pass => ("pass".into(), format!("{:?}", result.notes)),
                simutant_outcomes::Verdict::Inconclusive(it) => ("inconclusive".into(), it.reason.clone()),
            };
            kinds.entry(kind).or_default().push(summary);
        }
        println!("== {name} {:?}", began.elapsed());
        for (kind, all) in kinds {
            println!("{} {kind}: {}", all.len(), all[0]);
        }
    }
}
