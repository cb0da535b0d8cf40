//! `simutant sources`: which source of test cases finds more, in the same time and with as many of them, on the same mutants.

use std::num::NonZeroUsize;

use serde::Serialize;
use simutant_analysis::{SourceComparison, compare_sources};
use simutant_campaign::Existing;
use simutant_outcomes::InputSource;
use simutant_report::{sources_summary, sources_tables};
use simutant_study::{SourceOutcomes, SourcesPlan};

use crate::arguments::{Common, SourcesArguments};
use crate::exit::Exit;
use crate::interrupt::{self, Interrupts};
use crate::output;
use crate::stages::Stages;
use crate::study::stopped;

#[derive(Debug, Serialize)]
struct Compared<'a> {
    #[serde(flatten)]
    comparison: &'a SourceComparison,
    /// Sources whose universe has a test case that does not pass on the original.
    failed: &'a [Failed],
}

#[derive(Debug, Serialize)]
struct Failed {
    source: InputSource,
    /// Which test case, and what happened.
    message: String,
}

pub(crate) fn run(arguments: &SourcesArguments, common: &Common) -> anyhow::Result<Exit> {
    let plan = SourcesPlan {
        system: arguments.system.request(),
        campaign: common.campaign(&arguments.system.system),
        cases: arguments.cases.unwrap_or(CASES),
        reseedings: arguments.reseedings.count(),
        existing: if arguments.fresh { Existing::Delete } else { Existing::Continue },
    };
    let interrupts = Interrupts::listen()?;
    let stages = Stages::new(&plan.system.system);
    let found = interrupt::unless(plan.run(&|event| stages.show(event), interrupts.flag()))?;
    let Some(SourceOutcomes { outcomes: all, failed, options }) = found else { return Ok(stopped(&plan.campaign.out)) };
    let failed = failed.into_iter().map(|(source, error)| Failed { source, message: error.to_string() });
    let failed: Vec<Failed> = failed.collect();
    if all.is_empty() {
        failed.iter().for_each(|Failed { source, message }| output::tell(&format!("{source}: {message}")));
        return Ok(Exit::Failed);
    }
    let comparison = compare_sources(&all, &options);
    let tables = sources_tables(&comparison);
    output::write(&plan.campaign.out.join("sources.txt"), &tables)?;
    output::print(&if common.json {
        output::json(&Compared { comparison: &comparison, failed: &failed })?
    } else {
        let mut text = if common.verbose { tables } else { sources_summary(&comparison) };
        failed
            .iter()
            .for_each(|Failed { source, message }| text.push_str(&format!("{source} is not among them: {message}\n")));
        text.push_str(&output::shows(&plan.campaign.out));
        text
    })?;
    Ok(if failed.is_empty() { Exit::Success } else { Exit::Failed })
}

/// Test cases of each source: few enough that what a source is good for shows.
const CASES: NonZeroUsize = NonZeroUsize::new(500).expect("it is not 0");
