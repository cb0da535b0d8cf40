//! probe
use std::path::Path;
use std::time::Duration;

use simutant_harness::{Implementation, RunOptions, TestReport, run_suite};
use simutant_outcomes::{Suite, SuiteCase};
use simutant_paxos::Paxos;
use simutant_paxos::testbed::TESTBEDS;
use simutant_system::universe;

fn implementation(name: &str) -> Implementation {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("implementations");
    TESTBEDS.find(name, &[folder]).expect("the implementation is there")
}

fn run(name: &str, indices: &[usize]) -> TestReport {
    let case = |(place, &index): (usize, &usize)| {
        let case = serde_json::to_value(universe::<Paxos>(1, index)).expect("a test case is plain data");
        SuiteCase::new(format!("{place}: {index}"), case)
    };
    let cases = indices.iter().enumerate().map(case);
    let suite = Suite::of_cases("paxos", "of the universe", 1, cases);
    let options = RunOptions {
        jobs: 12.try_into().expect("it is not 0"),
        timeout: Duration::from_secs(60),
        ..RunOptions::new(Path::new(env!("CARGO_TARGET_TMPDIR")).join("implementations"))
    };
    run_suite(&suite, &implementation(name), &options, &mut |_| {}).expect("the suite runs")
}

#[test]
fn probe() {
    let name = std::env::var("PROBE").unwrap_or("paxos".into());
    let n: usize = std::env::var("COUNT").unwrap_or("24".into()).parse().unwrap();
    let first: usize = std::env::var("FIRST").unwrap_or("0".into()).parse().unwrap();
    let begin = std::time::Instant::now();
    let report = run(&name, &(first..first + n).collect::<Vec<_>>());
    let mut failed = 0;
    for result in &report.results {
        if !result.verdict.passes() || !result.not_injected.is_empty() {
            failed += 1;
            println!("{name} {} {:?} {:?}", result.name, result.verdict, result.not_injected);
        }
    }
    println!("{name}: {failed} of {n} in {:?}", begin.elapsed());
    println!("{:?}", report.results.iter().map(|r| r.duration_ms as u64).collect::<Vec<_>>());
}
