//! The JSON of mutation-testing-elements, schema version 2, which viewers of mutation testing open.
//!
//! The files are the specification with its mutants, and the universe as one file of tests with a test case a line. A
//! mutant is `coveredBy` the test cases that reach it, and `killedBy` all that kill it. Its status is
//!
//! | status | mutants |
//! | --- | --- |
//! | `Killed` | those that test cases kill, also by ending abnormally |
//! | `Timeout` | those that test cases kill by not ending alone |
//! | `NoCoverage` | those that no test case reaches |
//! | `Survived` | the others that no test case kills |
//! | `Ignored` | those that are judged or compiled to be equivalent, and duplicates |
//! | `CompileError` | those that the compiler rejected |
//!
//! A viewer's score is thus the share that the universe kills of all mutants but those that are known to be equivalent.

use serde_json::{Value, json};
use simutant_analysis::{MutantClass, Study, case_name};
use simutant_outcomes::{BitSet, Mutant, Sites};

use crate::Root;
use crate::change::{Standing, ends, sentence};

/// The score from which viewers show green, and below which they show red, as they do by themselves.
const THRESHOLDS: (u32, u32) = (80, 60);

/// Returns the report as JSON on one line, ending in a line break.
///
/// Its size grows with the number of pairs of a test case and a mutant that are reached.
pub fn elements(study: &Study<'_>, root: &Root) -> String {
    let outcomes = study.outcomes;
    let sites = &outcomes.sites;
    let files = sites.files.iter().enumerate().map(|(file, source)| {
        let own = |mutant: &Mutant| mutant.span.file == file;
        let of_file = sites.mutants.iter().enumerate().filter(|(_, mutant)| own(mutant));
        let rejected = sites.rejected.iter().filter(|rejected| own(&rejected.mutant));
        let mutants: Vec<Value> = of_file
            .map(|(number, mutant)| tested(study, number, mutant))
            .chain(rejected.map(|rejected| {
                // The numbers of its parts, if it has some, are not those of mutants that are left.
                let mutant = Mutant { parts: None, ..rejected.mutant.clone() };
                let mut value = described(sites, &mutant);
                value["status"] = "CompileError".into();
                value["statusReason"] = rejected.reason.as_str().into();
                value
            }))
            .collect();
        let value = json!({ "language": "rust", "source": source.text, "mutants": mutants });
        (root.path(&source.path), value)
    });
    let (high, low) = THRESHOLDS;
    let report = json!({
        "schemaVersion": "2",
        "thresholds": { "high": high, "low": low },
        "framework": { "name": "Simutant", "version": env!("CARGO_PKG_VERSION") },
        "config": {
            "system": outcomes.system,
            "package": sites.package,
            "seed": outcomes.seed,
            "testCases": outcomes.cases.len(),
        },
        "files": files.collect::<serde_json::Map<_, _>>(),
        "testFiles": { format!("{}-universe.jsonl", outcomes.system): universe(study) },
    });
    format!("{report}\n")
}

fn tested(study: &Study<'_>, number: usize, mutant: &Mutant) -> Value {
    let outcomes = study.outcomes;
    let mut value = described(&outcomes.sites, mutant);
    let (status, reason) = match Standing::of(study, number) {
        Standing::Killed(reason) => ("Killed", reason),
        Standing::TimedOut(reason) => ("Timeout", reason),
        Standing::Alive(MutantClass::NeverReached, reason) => ("NoCoverage", reason),
        Standing::Alive(_, reason) => ("Survived", reason),
        Standing::Ignored(reason) => ("Ignored", reason),
    };
    let reached = (0..outcomes.cases.len()).filter(|&case| outcomes.cases[case].reached.contains(number));
    value["status"] = status.into();
    value["statusReason"] = reason.into();
    value["coveredBy"] = reached.map(|case| case.to_string()).collect();
    value["killedBy"] = ids(&outcomes.kills[number]);
    value["testsCompleted"] = outcomes.cases.iter().filter(|case| case.infected.contains(number)).count().into();
    value
}

fn ids(cases: &BitSet) -> Value {
    cases.ones().map(|case| case.to_string()).collect()
}

fn described(sites: &Sites, mutant: &Mutant) -> Value {
    let (start, end) = ends(sites, mutant.span);
    let mut value = json!({
        "id": mutant.identity,
        "mutatorName": mutant.operator,
        "description": sentence(sites, mutant),
        "location": {
            "start": { "line": start.line, "column": start.column },
            "end": { "line": end.line, "column": end.column },
        },
    });
    // Of a mutant of higher order a viewer could show one part alone.
    if mutant.parts.is_none() {
        value["replacement"] = mutant.replacement.as_str().into();
    }
    value
}

/// The universe as a file of tests: a test case a line.
fn universe(study: &Study<'_>) -> Value {
    let cases = &study.outcomes.cases;
    let source: String = cases.iter().map(|case| format!("{}\n", case.case)).collect();
    let tests: Vec<Value> = (0..cases.len())
        .map(|case| {
            json!({
                "id": case.to_string(),
                "name": case_name(&study.outcomes.system, case, cases.len()),
                "location": { "start": { "line": case + 1, "column": 1 } },
            })
        })
        .collect();
    json!({ "source": source, "tests": tests })
}
