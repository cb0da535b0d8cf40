//! SARIF 2.1.0, which code scanning reads: mutants that nothing kills, and requirements that nothing covers, with their
//! places.
//!
//! A rule is a class of mutants, or a criterion. Mutants that run otherwise and pass are warnings, since they show what
//! the oracle does not look at; all others are notes. Requirements that have no place, those of criteria over test
//! cases, stand at the beginning of the first specification file. Mutants that are known to be equivalent are there
//! with an accepted suppression, which has the reason. Mutants are known by their identity (`partialFingerprints`), so
//! that a result is the same one after edits elsewhere.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use simutant_analysis::{MutantClass, Study, Survivor};
use simutant_outcomes::{Sites, Span};

use crate::Root;
use crate::change::{ends, equivalence, evidence, sentence};

/// Where the schema is that the log says it has.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// What paths are relative to.
const BASE: &str = "%SRCROOT%";

/// Returns the log as JSON, ending in a line break.
pub fn sarif(study: &Study<'_>, root: &Root) -> String {
    let outcomes = study.outcomes;
    let mut rules = Rules::default();
    let mut results: Vec<Value> =
        study.analysis.survivors.iter().map(|survivor| survivor_result(study, survivor, root, &mut rules)).collect();
    for (index, criterion) in outcomes.criteria.iter().enumerate() {
        let places = places(&outcomes.sites, &criterion.name, criterion.requirements.len());
        for &requirement in &study.analysis.criteria[index].uncovered {
            let place = places.as_ref().map(|places| &places[requirement]);
            let label = &criterion.requirements[requirement];
            results.push(uncovered_result(study, (&criterion.name, label), place, root, &mut rules));
        }
    }
    let driver = json!({ "name": "Simutant", "version": env!("CARGO_PKG_VERSION"), "rules": rules.list });
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": driver },
            "automationDetails": { "id": format!("simutant/{}/", outcomes.system) },
            "columnKind": "utf16CodeUnits",
            "properties": {
                "system": outcomes.system,
                "seed": outcomes.seed,
                "testCases": outcomes.cases.len(),
                "score": study.analysis.score_bounds.to_string(),
            },
            "results": results,
        }],
    });
    format!("{log:#}\n")
}

/// The rules that results have needed so far.
#[derive(Default)]
struct Rules {
    known: BTreeSet<String>,
    list: Vec<Value>,
}

impl Rules {
    fn add(&mut self, id: &str, name: &str, text: &str, help: &str, level: &str) {
        if self.known.insert(id.to_owned()) {
            self.list.push(json!({
                "id": id,
                "name": name,
                "shortDescription": { "text": text },
                "help": { "text": help },
                "defaultConfiguration": { "level": level },
            }));
        }
    }
}

fn survivor_result(study: &Study<'_>, survivor: &Survivor, root: &Root, rules: &mut Rules) -> Value {
    let sites = &study.outcomes.sites;
    let mutant = &sites.mutants[survivor.mutant as usize];
    let (name, text, help, level) = of_class(survivor.class);
    let id = format!("mutant-{}", survivor.class.to_string().replace(' ', "-"));
    rules.add(&id, name, text, help, level);
    let function = &sites.functions[mutant.function].path;
    let message = format!(
        "{} ({}) in {function}, and no test case notices. {}.",
        sentence(sites, mutant),
        mutant.operator,
        capitalised(&evidence(study, survivor))
    );
    let mut result = json!({
        "ruleId": id,
        "level": level,
        "message": { "text": plain(&message) },
        "locations": [location(sites, mutant.span, Some(function), root)],
        "partialFingerprints": { "simutantMutant/v1": mutant.identity },
        "properties": {
            "mutant": survivor.mutant,
            "operator": mutant.operator,
            "reached": survivor.reached,
            "infected": survivor.infected,
            "diverged": survivor.diverged,
        },
    });
    if survivor.class == MutantClass::Equivalent {
        let reason = equivalence(survivor);
        result["suppressions"] = json!([{ "kind": "external", "status": "accepted", "justification": reason }]);
    }
    result
}

/// Returns text as a message has it in which nothing is a link or stands for an argument (SARIF 2.1.0, sections 3.11.5
/// and 3.11.6).
fn plain(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '{' | '}' => escaped.extend([character, character]),
            '\\' | '[' | ']' => escaped.extend(['\\', character]),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// A rule's name, what it says, what to do, and its level.
fn of_class(class: MutantClass) -> (&'static str, &'static str, &'static str, &'static str) {
    match class {
        MutantClass::NeverKilled => (
            "MutantNeverKilled",
            "Runs differ on the mutant, and pass.",
            "The oracle does not look at what differs: add a check, or judge the mutant equivalent. `simutant explain` shows the \
             first difference.",
            "warning",
        ),
        MutantClass::NotKnown => (
            "MutantNotKnown",
            "The mutant changes a value, and the events of runs do not show what becomes of it.",
            "A check of results is missing, or a test case in which the value matters; or the mutant is equivalent.",
            "note",
        ),
        MutantClass::NeverPropagated => (
            "MutantNeverPropagated",
            "The mutant changes a value, and no run differs.",
            "It may be equivalent. If not, a test case is missing in which the value matters.",
            "note",
        ),
        MutantClass::NeverInfected => (
            "MutantNeverInfected",
            "Runs reach the mutant, and its value is always the original's.",
            "A test case is missing in which the changed code gives another value, if there can be one.",
            "note",
        ),
        MutantClass::NeverReached => (
            "MutantNeverReached",
            "No run reaches the mutant.",
            "A test case is missing that runs this code, if there can be one.",
            "note",
        ),
        _ => (
            "MutantEquivalent",
            "The mutant is known to be equivalent.",
            "Nothing is to be done; the suppression says who said so.",
            "note",
        ),
    }
}

fn uncovered_result(
    study: &Study<'_>,
    (criterion, label): (&str, &str),
    place: Option<&Place>,
    root: &Root,
    rules: &mut Rules,
) -> Value {
    let sites = &study.outcomes.sites;
    let id = format!("uncovered-{criterion}");
    let name = format!("Uncovered{}", criterion.split('-').map(capitalised).collect::<String>());
    let text = format!("No test case of the universe covers a requirement of {criterion}.");
    rules.add(&id, &name, &text, "Either no test case can, or one is missing.", "note");
    let mut result = json!({
        "ruleId": id,
        "level": "note",
        "message": { "text": plain(&format!("No test case covers this requirement of {criterion}: {label}")) },
        "partialFingerprints": { "simutantRequirement/v1": format!("{criterion}/{label}") },
    });
    if let Some(Place { span, function, related }) = place {
        result["locations"] = json!([location(sites, *span, Some(&sites.functions[*function].path), root)]);
        if let Some(related) = related {
            let mut related = location(sites, *related, None, root);
            related["id"] = 1.into();
            related["message"] = json!({ "text": "the definition" });
            result["relatedLocations"] = json!([related]);
        }
    } else if let Some(file) = sites.files.first() {
        // Code scanning takes no result without a place: these are about the specification as a whole.
        let artifact = json!({ "uri": uri(&root.path(&file.path)), "uriBaseId": BASE });
        let physical = json!({ "artifactLocation": artifact, "region": { "startLine": 1 } });
        result["locations"] = json!([{ "physicalLocation": physical }]);
    }
    result
}

/// Where a requirement is.
struct Place {
    span: Span,
    function: usize,
    /// The definition that a use is to see.
    related: Option<Span>,
}

/// Returns the places of the requirements of a criterion; `None` for criteria that do not look at the code.
fn places(sites: &Sites, criterion: &str, requirements: usize) -> Option<Vec<Place>> {
    let place = |span: Span, function: usize| Place { span, function, related: None };
    let pairs = |is_asked: fn(&simutant_outcomes::Pair) -> bool| -> Vec<Place> {
        let pairs = sites.pairs.iter().filter(|pair| is_asked(pair));
        let related = |pair: &simutant_outcomes::Pair| Some(sites.definitions[pair.definition].span);
        pairs.map(|pair| Place { related: related(pair), ..place(pair.span, pair.function) }).collect()
    };
    let places: Vec<Place> = match criterion {
        "all-blocks" => sites.blocks.iter().map(|block| place(block.span, block.function)).collect(),
        "all-branches" => sites.branches.iter().map(|branch| place(branch.span, branch.function)).collect(),
        "all-defs" => sites.definitions.iter().map(|definition| place(definition.span, definition.function)).collect(),
        "all-uses" => pairs(|_| true),
        "all-p-uses" => pairs(|pair| pair.branch.is_some()),
        "mc-dc" => sites.conditions.iter().map(|condition| place(condition.span, condition.function)).collect(),
        _ => return None,
    };
    // A system may call a criterion of its own by one of these names.
    (places.len() == requirements).then_some(places)
}

fn location(sites: &Sites, span: Span, function: Option<&String>, root: &Root) -> Value {
    let (start, end) = ends(sites, span);
    let file = &sites.files[span.file];
    let mut location = json!({
        "physicalLocation": {
            "artifactLocation": { "uri": uri(&root.path(&file.path)), "uriBaseId": BASE },
            "region": {
                "startLine": start.line,
                "startColumn": start.column,
                "endLine": end.line,
                "endColumn": end.column,
                "snippet": { "text": &file.text[span.start..span.end] },
            },
        },
    });
    if let Some(function) = function {
        location["logicalLocations"] = json!([{ "fullyQualifiedName": function, "kind": "function" }]);
    }
    location
}

/// Returns a path as a relative reference (RFC 3986).
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(byte as char),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_references() {
        assert_eq!(uri("systems/src/a b%é.rs"), "systems/src/a%20b%25%C3%A9.rs");
    }
}
