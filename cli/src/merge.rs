//! `simutant merge`: the results of shards become a study.

use serde::Serialize;
use simutant_analysis::plural;
use simutant_campaign::{Bundle, Machine, Merged, RunForm, merge};
use simutant_report::wrapped;

use crate::arguments::{Common, MergeArguments};
use crate::exit::Exit;
use crate::output;

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Result<'a> {
    /// Test cases whose runs were taken, re-seedings counted apart.
    taken: usize,
    /// Those whose runs were known, and are the same.
    known: usize,
    /// Runs on mutants in what was taken.
    runs: u64,
    machines: &'a [Machine],
    /// First and last number of each range of test cases in which runs are missing.
    missing: Vec<[usize; 2]>,
}

pub(crate) fn run(arguments: &MergeArguments, common: &Common) -> anyhow::Result<Exit> {
    let MergeArguments { study, files, bundle, compress } = arguments;
    let bundle = bundle.as_deref().map(|folder| Bundle::open(folder, None)).transpose()?;
    let form = if *compress { RunForm::Packed } else { RunForm::Text };
    let merged = merge(study, bundle.as_ref(), files, form)?;
    output::print(&if common.json {
        let Merged { taken, known, runs, machines, missing, .. } = &merged;
        let missing = missing.iter().map(|range| [*range.start(), *range.end()]).collect();
        output::json(&Result { taken: *taken, known: *known, runs: *runs, machines, missing })?
    } else {
        text(&merged, study)
    })?;
    Ok(if merged.missing.is_empty() { Exit::Success } else { Exit::Inconclusive })
}

fn text(merged: &Merged, study: &std::path::Path) -> String {
    let Merged { taken, known, runs, machines, missing, cases } = merged;
    let names: Vec<&str> = machines.iter().map(|machine| machine.name.as_str()).collect();
    let mut lines = vec![
        format!("taken: {} with {}", plural(*taken, "test case"), plural(*runs as usize, "run")),
        format!("known already, and the same: {}; re-seedings are counted apart", plural(*known, "test case")),
        format!("machines: {}", names.join(", ")),
    ];
    let command = "the command of the study without --prepare";
    lines.push(match missing.len() {
        0 => format!(
            "complete: all of {}\nnext: {command} analyses it in {}",
            plural(*cases, "test case"),
            study.display()
        ),
        _ => format!(
            "missing: {} of {cases}, which are {}\nnext: merge their shards, or {command} runs them here",
            plural(merged.missing_cases(), "test case"),
            merged.missing_in_words(),
        ),
    });
    let mut text: String = lines.iter().flat_map(|lines| lines.lines()).map(|line| wrapped(line) + "\n").collect();
    text.truncate(text.trim_end().len());
    text + "\n"
}
