//! `simutant select` and `simutant rank`: one suite, at the cost that choosing it really has.

use std::num::NonZeroUsize;

use simutant_report::scenario_text;
use simutant_study::ScenarioPlan;

use crate::arguments::{Common, RankArguments, SelectArguments, SystemArguments, UniverseArguments};
use crate::exit::{BadInput, Exit};
use crate::interrupt::{self, Interrupts};
use crate::output;
use crate::stages::Stages;
use crate::study::stopped;

/// The conventional scenario, or with several suites that of boosting.
pub(crate) fn select(arguments: &SelectArguments, common: &Common) -> anyhow::Result<Exit> {
    let SelectArguments { system, universe, criterion, boost } = arguments;
    let suites = boost.unwrap_or(NonZeroUsize::MIN);
    choose(&plan(system, *universe, (std::slice::from_ref(criterion), suites), common), common)
}

/// The ranking scenario.
pub(crate) fn rank(arguments: &RankArguments, common: &Common) -> anyhow::Result<Exit> {
    let RankArguments { system, universe, criterion, suites } = arguments;
    if criterion.len() == 1 {
        let message = format!(
            "--criterion {}: ranking needs at least two criteria; repeat --criterion, or omit it to rank all",
            criterion[0]
        );
        return Err(BadInput(message).into());
    }
    choose(&plan(system, *universe, (criterion, *suites), common), common)
}

fn plan(
    system: &SystemArguments,
    universe: UniverseArguments,
    (criteria, suites): (&[String], NonZeroUsize),
    common: &Common,
) -> ScenarioPlan {
    ScenarioPlan {
        system: system.request(),
        campaign: common.campaign(&system.system),
        cases: universe.cases,
        input_source: universe.source,
        criteria: criteria.to_vec(),
        suites,
    }
}

fn choose(plan: &ScenarioPlan, common: &Common) -> anyhow::Result<Exit> {
    let interrupts = Interrupts::listen()?;
    let stages = Stages::new(&plan.system.system);
    let chosen = interrupt::unless(plan.run(&|event| stages.show(event), interrupts.flag()))?;
    let Some(chosen) = chosen else { return Ok(stopped(&plan.campaign.out)) };
    if common.json {
        output::print(&output::json(&chosen.scenario)?)?;
    } else {
        output::print(&format!("{}\nwritten to {}\n", scenario_text(&chosen.scenario), chosen.path.display()))?;
    }
    Ok(Exit::Success)
}
