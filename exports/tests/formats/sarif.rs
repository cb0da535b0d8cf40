//! SARIF.

use serde_json::Value;
use simutant_exports::{Root, sarif::sarif};

use crate::{Everything, validate};

fn log(everything: &Everything) -> Value {
    serde_json::from_str(&sarif(&everything.study(), &Root::default())).expect("JSON")
}

#[test]
fn a_log_is_valid() {
    let published = include_str!("../schemas/sarif-schema-2.1.0.json");
    // The pattern of a language's name, which no log here has, is a regular expression in the dialect of browsers
    // alone.
    let (pattern, strict) = ("^[a-zA-Z]{2}|^[a-zA-Z]{2}-[a-zA-Z]{2}]?$", "^[a-zA-Z]{2}(-[a-zA-Z]{2})?$");
    assert!(published.contains(pattern), "the schema is right now");
    validate(&published.replace(pattern, strict), &log(&Everything::new()));
}

#[test]
fn survivors_and_uncovered_requirements_are_results() {
    let everything = Everything::new();
    let log = log(&everything);
    let run = &log["runs"][0];
    let results = run["results"].as_array().expect("a list");
    let survivors = &everything.analysis.survivors;
    let uncovered: usize = everything.analysis.criteria.iter().map(|criterion| criterion.uncovered.len()).sum();
    assert!(uncovered > 0 && !survivors.is_empty());
    assert_eq!(results.len(), survivors.len() + uncovered);
    let rules: Vec<&Value> =
        run["tool"]["driver"]["rules"].as_array().expect("a list").iter().map(|rule| &rule["id"]).collect();
    assert!(results.iter().all(|result| rules.contains(&&result["ruleId"])));

    for (result, survivor) in results.iter().zip(survivors) {
        let mutant = &everything.outcomes.sites.mutants[survivor.mutant as usize];
        assert_eq!(result["partialFingerprints"]["simutantMutant/v1"], mutant.identity.as_str());
        let physical = &result["locations"][0]["physicalLocation"];
        assert_eq!(physical["artifactLocation"]["uri"], "src/arq/window.rs");
        assert_eq!(physical["region"]["startLine"], mutant.span.line);
        assert_eq!(physical["region"]["snippet"]["text"], mutant.original.as_str());
        let text = result["message"]["text"].as_str().expect("text");
        assert!(text.contains(&format!("{} reach it", survivor.reached)), "{text}");
        assert_eq!(result["suppressions"].is_array(), survivor.class.to_string() == "equivalent", "{result}");
    }
    let reasons: Vec<&Value> = results
        .iter()
        .map(|result| &result["suppressions"][0]["justification"])
        .filter(|reason| !reason.is_null())
        .collect();
    assert_eq!(reasons.len(), everything.analysis.mutants.counts.equivalent);
    assert!(reasons.iter().any(|reason| *reason == "judged equivalent: it \"cannot\"\tmatter"), "{reasons:?}");

    for result in &results[survivors.len()..] {
        assert_eq!(result["level"], "note");
        let is_of_code = result["ruleId"].as_str().is_some_and(|rule| rule.starts_with("uncovered-all-"));
        let location = &result["locations"][0];
        assert_eq!(location["logicalLocations"].is_array(), is_of_code, "{result}");
        assert!(location["physicalLocation"]["region"]["startLine"].is_number(), "{result}");
    }
}
