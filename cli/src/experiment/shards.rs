//! The trials of an experiment on several machines: a part of the test cases on each, into a file that the experiment takes.

use std::path::{Path, PathBuf};

use serde::Serialize;
use simutant_analysis::plural;
use simutant_campaign::Shard;
use simutant_harness::{Implementation, TrialLog};
use simutant_outcomes::LeftOut;

use super::mutants::Mutated;
use super::trying::{PILOT, Pilot, Trying};
use super::universe;
use crate::arguments::{Common, ExperimentArguments};
use crate::exit::{BadInput, Exit};
use crate::{output, simulate};

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Tried<'a> {
    system: &'a str,
    shard: String,
    /// Test cases of the part.
    cases: usize,
    /// The implementations that were tried with all of them.
    implementations: Vec<&'a str>,
    left_out: &'a [LeftOut],
}

/// Tries a part of the universe of a study, and analyses nothing.
pub(super) fn run(
    (shard, into): (Shard, &Path),
    (implementations, mutated): (&[Implementation], &[Mutated<'_>]),
    arguments: &ExperimentArguments,
    common: &Common,
) -> anyhow::Result<Exit> {
    let system = &arguments.system.system;
    let mut universe = universe(system, common.seed, cases(arguments, common)?);
    shard.retain(&mut universe.cases);
    let pilot = (0..PILOT).filter(|&number| shard.contains(number)).count().min(universe.cases.len());
    let mut trying = Trying::new(&universe, TrialLog::open(into)?, arguments.fresh);
    // The whole experiment decides by the first test cases who is left out. A part of these tells it only of who fails on
    // most; others are tried, perhaps in vain.
    trying.pilot = Pilot { cases: pilot, failed_max: pilot.div_ceil(2), is_whole: false };
    trying.everyone(implementations, mutated, arguments, common)?;
    let Trying { subjects, left_out, .. } = trying;
    let cases = universe.cases.len();
    let tried: Vec<&str> = subjects.iter().map(|subject| subject.name.as_str()).collect();
    output::print(&if common.json {
        let (shard, implementations, left_out) = (shard.to_string(), tried, left_out.as_slice());
        output::json(&output::Versioned::new(Tried { system, shard, cases, implementations, left_out }))?
    } else {
        let left_out: String =
            left_out.iter().map(|left_out| format!("left out here: {} ({})\n", left_out.name, left_out.why)).collect();
        format!(
            "part {shard} of the trials with {system}: {} on {}\n{left_out}written to {}\nnext: this command with --trials and the \
             files of all parts in the place of --shard and --into\n",
            plural(cases, "test case"),
            plural(tried.len(), "implementation"),
            into.display(),
        )
    })?;
    Ok(Exit::Success)
}

/// Returns the universe of the study that is in the folder.
fn cases(arguments: &ExperimentArguments, common: &Common) -> anyhow::Result<Vec<serde_json::Value>> {
    let system = &arguments.system.system;
    let out = common.out(system);
    simulate::studied_cases(&out, common)?.ok_or_else(|| {
        let message = format!(
            "--shard: {} has no study of {system} with seed {}; run the study first, or copy its folder here",
            out.display(),
            common.seed
        );
        BadInput(message).into()
    })
}

/// Opens the files with the trials of parts.
pub(super) fn logs(files: &[PathBuf]) -> anyhow::Result<Vec<TrialLog>> {
    let open = |path: &PathBuf| {
        if !path.is_file() {
            return Err(BadInput(format!("--trials {}: there is no such file", path.display())).into());
        }
        Ok(TrialLog::read(path)?)
    };
    files.iter().map(open).collect()
}
