//! `simutant sources`: which source of test cases finds more, at the same number of them and on the same mutants.

use std::num::NonZeroUsize;

use serde::Serialize;
use simutant_analysis::{SourceComparison, compare_sources, sources_table};
use simutant_campaign::{Bounds, Campaign, CampaignError, End, Existing, Plan, Pruning};
use simutant_outcomes::InputSource;

use crate::arguments::{Common, SourcesArguments};
use crate::exit::Exit;
use crate::study::{run_campaign, stopped, with_command};
use crate::{build, interrupt, output};

/// The folder of the campaigns, in that of the study: each has one of its own, by the source's name.
const FOLDER: &str = "sources";

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
    let out = common.out(&arguments.system.system);
    let interrupted = interrupt::flag()?;
    let built = build::both(&arguments.system, &out, &interrupted)?;
    let Some((built, plain)) = built else { return Ok(stopped(&out)) };
    let (mut all, mut failed) = (Vec::new(), Vec::new());
    for source in InputSource::ALL {
        let plan = Plan {
            build: built.clone(),
            seed: common.seed,
            input_source: source,
            cases: arguments.cases.map_or(CASES, NonZeroUsize::get),
            reseedings: arguments.reseedings.count(),
            pruning: Pruning::Infected,
            bounds: Bounds::default(),
        };
        output::tell(&format!("{:>12} {source}", "source"));
        let existing = if arguments.fresh { Existing::Delete } else { Existing::Continue };
        let mut campaign = Campaign::open(&out.join(FOLDER).join(source.name()), plan, existing)?;
        match run_campaign(&mut campaign, (&plain, None), common, &interrupted) {
            Ok(End::Stopped) => return Ok(stopped(&out)),
            Ok(_) => all.push(campaign.outcomes()?),
            Err(error @ CampaignError::BaselineFailed { .. }) => {
                failed.push(Failed { source, message: error.to_string() });
            }
            Err(error) => return Err(with_command(error, &arguments.system, common)),
        }
    }
    if all.is_empty() {
        failed.iter().for_each(|Failed { source, message }| output::tell(&format!("{source}: {message}")));
        return Ok(Exit::Failed);
    }
    let comparison = compare_sources(&all);
    output::print(&if common.json {
        output::json(&Compared { comparison: &comparison, failed: &failed })?
    } else {
        let mut text = sources_table(&comparison);
        failed
            .iter()
            .for_each(|Failed { source, message }| text.push_str(&format!("{source} is not among them: {message}\n")));
        text
    })?;
    Ok(if failed.is_empty() { Exit::Success } else { Exit::Failed })
}

/// Test cases of each source: few enough that what a source is good for shows.
const CASES: usize = 500;
