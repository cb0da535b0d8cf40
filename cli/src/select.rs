//! `simutant select` and `simutant rank`: one suite, at the cost that choosing it really has.

use std::num::NonZeroUsize;

use simutant_analysis::{Options, Scenario, scenario};
use simutant_campaign::{Bounds, Campaign, End, Existing, Plan, Pruning, Simulator, read_reseedings};
use simutant_outcomes::{BitSet, Outcomes};

use crate::arguments::{Common, RankArguments, SelectArguments, SystemArguments, UniverseArguments};
use crate::exit::{BadInput, Exit};
use crate::progress::Phase;
use crate::study::{run_campaign, stopped, with_command};
use crate::{build, interrupt, output};

/// What is chosen from.
struct Choosing<'a> {
    system: &'a SystemArguments,
    universe: UniverseArguments,
    /// The names of the criteria; none are all.
    criteria: &'a [String],
    /// How many suites of each.
    suites: NonZeroUsize,
}

/// The conventional scenario, or with several suites that of boosting.
pub(crate) fn select(arguments: &SelectArguments, common: &Common) -> anyhow::Result<Exit> {
    let SelectArguments { system, universe, criterion, boost } = arguments;
    let criteria = std::slice::from_ref(criterion);
    choose(&Choosing { system, universe: *universe, criteria, suites: boost.unwrap_or(NonZeroUsize::MIN) }, common)
}

/// The ranking scenario.
pub(crate) fn rank(arguments: &RankArguments, common: &Common) -> anyhow::Result<Exit> {
    let RankArguments { system, universe, criterion, suites } = arguments;
    if criterion.len() == 1 {
        let message = format!("--criterion {}: one is not to be ranked; give several, or none for all", criterion[0]);
        return Err(BadInput(message).into());
    }
    choose(&Choosing { system, universe: *universe, criteria: criterion, suites: *suites }, common)
}

fn choose(choosing: &Choosing<'_>, common: &Common) -> anyhow::Result<Exit> {
    let Choosing { system, universe, criteria, suites } = *choosing;
    let out = common.out(&system.system);
    let interrupted = interrupt::flag()?;
    let Some((built, plain)) = build::both(system, &out, &interrupted)? else { return Ok(stopped(&out)) };
    let cases = match universe.cases {
        Some(cases) => cases.get(),
        None => Simulator::new(&built, Bounds::default()).universe()?,
    };
    let plan = Plan {
        build: built,
        seed: common.seed,
        input_source: universe.source,
        cases,
        // Those that a study has made stay; none is made for a choice by kills on own seeds.
        reseedings: read_reseedings(&out),
        pruning: Pruning::Infected,
        bounds: Bounds::default(),
    };
    let mut campaign = Campaign::open(&out, plan, Existing::Continue)?;
    let options = Options { seed: common.seed, ..Options::default() };
    let decide = |outcomes: &Outcomes| -> anyhow::Result<Scenario> {
        let found = scenario(outcomes, criteria, suites, &options, common.jobs());
        found.map_err(|error| BadInput(error.to_string()).into())
    };

    let run = |campaign: &mut Campaign, scope: &BitSet| {
        run_campaign(campaign, (&plain, Some(scope)), common, &interrupted)
            .map_err(|error| with_command(error, system, common))
    };
    let nothing = BitSet::with_capacity(cases);
    if run(&mut campaign, &nothing)? == End::Stopped {
        return Ok(stopped(&out));
    }
    let mut outcomes = campaign.outcomes_in(&nothing)?;
    let mut found = decide(&outcomes)?;
    let scope = found.scope();
    if !scope.is_clear() {
        if run(&mut campaign, &scope)? == End::Stopped {
            return Ok(stopped(&out));
        }
        let phase = Phase::open("choosing");
        outcomes = campaign.outcomes_in(&scope)?;
        found = decide(&outcomes)?;
        phase.end(&format!("one of {} suites", suites.get() * found.criteria.len()));
    }

    let path = out.join("suite.json");
    output::write(&path, &output::json(&found.suite(&outcomes))?)?;
    if common.json {
        output::print(&output::json(&found)?)?;
    } else {
        output::print(&format!("{}\nwritten to {}\n", found.text(), path.display()))?;
    }
    Ok(Exit::Success)
}
