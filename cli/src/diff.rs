//! `simutant diff`: what changed between two studies.

use simutant_analysis::Difference;

use crate::arguments::{Common, DiffArguments};
use crate::exit::{BadInput, Exit};
use crate::finished::Finished;
use crate::output;

pub(crate) fn run(arguments: &DiffArguments, common: &Common) -> anyhow::Result<Exit> {
    let (before, after) = (Finished::read(&arguments.before)?, Finished::read(&arguments.after)?);
    let difference =
        Difference::between(&before.study(), &after.study()).map_err(|error| BadInput(error.to_string()))?;
    output::print(&if common.json { output::json(&difference)? } else { difference.tables() })?;
    Ok(Exit::Success)
}
