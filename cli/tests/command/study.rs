//! What a study writes, and that its seed alone decides.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use serde_json::Value;
use simutant_campaign::{Bounds, Campaign, Existing, Plan, Pruning};
use simutant_mutator::{Package, Replacements, Request, build};
use simutant_outcomes::{Outcomes, Suite};

use crate::support::{RESULTS, STUDY, assert_exit, results, run, stdout};

#[test]
fn a_study_writes_what_it_says() {
    for file in RESULTS.into_iter().chain(["journal.sqlite"]) {
        assert!(STUDY.out.join(file).is_file(), "{file}");
        assert!(STUDY.stdout.contains(file), "{file}: {}", STUDY.stdout);
    }
    for part in ["24 test cases", "all-blocks", "all-branches", "IP-1", "IP-2", "executed", "pruned", "per second"] {
        assert!(STUDY.stdout.contains(part), "{part}: {}", STUDY.stdout);
    }
    let text = std::fs::read_to_string(STUDY.out.join("suite.json")).expect("it was written");
    let suite = Suite::parse(&text, "gbn").expect("a study writes good suites");
    assert!(!suite.cases.is_empty());
    let report = std::fs::read_to_string(STUDY.out.join("report.html")).expect("it was written");
    assert!(!report.contains("http://") || !report.contains("src=\"http"), "the page stands alone");
}

#[test]
fn the_seed_alone_decides() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let expected = results(&STUDY.out);

    let output = run(&["study", "gbn", "--cases", "24", "--seed", "7", "--jobs", "1"], folder.path());
    assert_exit(&output, 0);
    assert!(results(folder.path()) == expected, "one worker instead of two");

    let output = run(&["study", "gbn", "--cases", "24", "--seed", "7", "--json"], folder.path());
    assert_exit(&output, 0);
    assert!(results(folder.path()) == expected, "a second run over the same journal");
    let printed: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(printed["format_version"], 1);
    let written = std::fs::read_to_string(folder.path().join("results.json")).expect("it was written");
    assert_eq!(stdout(&output), written);

    let output = run(&["study", "gbn", "--cases", "24", "--seed", "8", "--fresh"], folder.path());
    assert_exit(&output, 0);
    assert!(results(folder.path()) != expected, "another seed");
}

#[test]
fn a_second_run_executes_nothing() {
    let output = run(&["study", "gbn", "--cases", "24", "--seed", "7"], &STUDY.out);
    assert_exit(&output, 0);
    assert!(stdout(&output).contains("none in this session"), "{}", stdout(&output));
}

#[test]
fn the_suite_of_a_criterion_can_be_asked_for() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = run(&["study", "gbn", "--cases", "24", "--criterion", "IP-1"], folder.path());
    assert_exit(&output, 0);
    let text = std::fs::read_to_string(folder.path().join("suite.json")).expect("it was written");
    assert_eq!(Suite::parse(&text, "gbn").expect("a good suite").criterion, "IP-1");
}

/// Pairs that are pruned would have passed, and the number of workers changes nothing.
#[test]
fn the_pruned_matrix_is_the_full_matrix_for_any_number_of_workers() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let package = Package::find(Path::new("../Cargo.toml"), "gbn").expect("gbn comes with Simutant");
    let request = Request {
        package: &package,
        replacements: Replacements::All,
        directory: &folder.path().join("build"),
        worker: ("simutant-worker", Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../campaign/worker"))),
    };
    let built = build(&request, &mut |_| {}).expect("gbn can be mutated");
    let outcomes = |pruning, jobs: usize| -> Outcomes {
        let out = folder.path().join(format!("{pruning:?}-{jobs}"));
        let plan = Plan { build: built.clone(), seed: 3, cases: 12, pruning, bounds: Bounds::default() };
        let mut campaign = Campaign::open(&out, plan, Existing::Continue).expect("it opens");
        let jobs = NonZeroUsize::new(jobs).expect("not zero");
        campaign.run(jobs, &mut |_| {}, &AtomicBool::new(false)).expect("it runs");
        campaign.outcomes().expect("it is finished")
    };
    let full = outcomes(Pruning::None, 2);
    assert!(full.pairs_infected() < full.pairs(), "there is something to prune");
    assert!(!full.killed_mutants().is_empty());
    for (pruning, jobs) in [(Pruning::Infected, 1), (Pruning::Infected, 3), (Pruning::Reached, 2)] {
        let pruned = outcomes(pruning, jobs);
        for (number, mutant) in full.sites.mutants.iter().enumerate() {
            assert_eq!(pruned.kills[number], full.kills[number], "{pruning:?}: {mutant:?}");
            assert_eq!(pruned.verdicts[number], full.verdicts[number], "{pruning:?}: {mutant:?}");
        }
        assert!(pruned == full, "{pruning:?} with {jobs} workers");
    }
}
