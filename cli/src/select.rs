//! `simutant select` and `simutant rank`: one suite, at the cost that choosing it really has.

use std::num::NonZeroUsize;

use simutant_outcomes::InputSource;
use simutant_report::{choice_text, scenario_text};
use simutant_study::{ChoicePlan, FinishedStudy, OtherSuite, ScenarioPlan};

use crate::arguments::{Common, RankArguments, SelectArguments, SystemArguments, UniverseArguments};
use crate::choice::choice;
use crate::exit::{BadInput, Exit, with_options};
use crate::interrupt::{self, Interrupts};
use crate::output;
use crate::stages::Stages;
use crate::study::stopped;

/// The criterion of the conventional scenario, unless one was named.
const CRITERION: &str = "all-uses";

/// The conventional scenario, or with several suites that of boosting; or another suite of a finished study, if it was said
/// how.
pub(crate) fn select(arguments: &SelectArguments, common: &Common) -> anyhow::Result<Exit> {
    let SelectArguments { system, universe, criterion, boost, choice } = arguments;
    if choice.is_given() {
        return choose_again(arguments, common);
    }
    let suites = boost.unwrap_or(NonZeroUsize::MIN);
    let criterion = criterion.clone().unwrap_or_else(|| CRITERION.to_owned());
    choose(&plan(system, *universe, (&[criterion], suites), common), common)
}

/// Chooses another suite of the finished study, as a study chooses its own.
fn choose_again(arguments: &SelectArguments, common: &Common) -> anyhow::Result<Exit> {
    let SelectArguments { system, universe, criterion, boost, choice: how } = arguments;
    if universe.cases.is_some() || universe.source != InputSource::Uniform || boost.is_some() {
        let message = "--cases, --source and --boost do not go with --builder, --time, --target, --inputs and --budget, which choose \
                       from the finished study in --out";
        return Err(BadInput(message.to_owned()).into());
    }
    let out = common.out(&system.system);
    let finished = FinishedStudy::read(&out).map_err(with_options)?;
    if finished.outcomes.system != system.system {
        let message = format!("the study in {} is of {}", out.display(), finished.outcomes.system);
        return Err(BadInput(message).into());
    }
    let choice = choice(how, criterion.as_deref(), finished.outcomes.reseeded.is_some())?;
    let plan = ChoicePlan { system: system.request(), campaign: common.campaign(&system.system), choice };
    let interrupts = Interrupts::listen()?;
    let stages = Stages::new(&system.system);
    let chosen = interrupt::unless(plan.run(finished, &|event| stages.show(event), interrupts.flag()))?;
    let Some(chosen) = chosen else { return Ok(stopped(&out)) };
    let Some(OtherSuite { suite, analysis, path }) = chosen else {
        let message =
            "there is no such suite: no mutant tells the criteria apart, or nothing that is looked for is covered";
        return Err(BadInput(message.to_owned()).into());
    };
    let file = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    output::print(&if common.json {
        output::json(&suite)?
    } else {
        format!("{}\nwritten to {}\n", choice_text(&analysis, &suite, &file), path.display())
    })?;
    Ok(Exit::Success)
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
