//! `simutant diff`: what changed between two studies.

use simutant_analysis::Difference;
use simutant_report::difference_tables;
use simutant_study::FinishedStudy;

use crate::arguments::{Common, DiffArguments};
use crate::exit::{BadInput, Exit, with_options};
use crate::output;

pub(crate) fn run(arguments: &DiffArguments, common: &Common) -> anyhow::Result<Exit> {
    let read = |folder| FinishedStudy::read(folder).map_err(with_options);
    let (before, after) = (read(&arguments.before)?, read(&arguments.after)?);
    let difference =
        Difference::between(&before.study(), &after.study()).map_err(|error| BadInput(error.to_string()))?;
    output::print(&if common.json { output::json(&difference)? } else { difference_tables(&difference) })?;
    Ok(Exit::Success)
}
