//! Writes the report, the tables and the JSON of a made-up campaign, for a look at the page without running one.
//!
//! `cargo run -p simutant-report --example report -- <folder> [test cases]`

use std::error::Error;
use std::path::PathBuf;

use simutant_analysis::{AnalysisOptions, analyse, suite};
use simutant_report::{report, tables};
use simutant_synthetic::synthetic;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let folder = arguments.next().map(PathBuf::from).ok_or("give the folder to write to")?;
    let cases = match arguments.next() {
        Some(count) => count.to_string_lossy().parse()?,
        None => 500,
    };
    let outcomes = synthetic(cases, 1);
    let analysis = analyse(&outcomes, &AnalysisOptions::default())?;
    let suite = suite(&outcomes, &analysis).ok_or("the made-up universe covers something")?;
    assert!(suite.mutant_score.is_some_and(|score| score > 0.5), "the chosen suite kills most of the mutants");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("report.html"), report(&outcomes, &analysis, None))?;
    std::fs::write(folder.join("tables.txt"), tables(&analysis, None))?;
    std::fs::write(folder.join("analysis.json"), serde_json::to_string(&analysis)?)?;
    std::fs::write(folder.join("suite.json"), serde_json::to_string_pretty(&suite)?)?;
    Ok(())
}
