//! What the journal says of a campaign, so that another session knows whether it is the same.

use serde_json::Value;
use simutant_mutator::Build;
use simutant_outcomes::Sites;

use crate::journal::Journal;
use crate::{CampaignError, CampaignPlan};

/// The key of what tells one version of the source from another.
pub(crate) const SOURCE_HASH: &str = "source_hash";
/// The key of how the universe is drawn.
pub(crate) const INPUT_SOURCE: &str = "input_source";

/// The key of how many test cases the universe has.
pub(crate) const CASES: &str = "cases";

/// The key of the test cases that follow those that are drawn, as they were given.
pub(crate) const GIVEN: &str = "given";

/// What makes two campaigns the same, beside the sites.
pub(crate) fn settings(plan: &CampaignPlan) -> [(&'static str, Value); 13] {
    let CampaignPlan { build, seed, input_source, cases: _, given, reseedings: _, pruning, bounds } = plan;
    [
        ("system", build.sites.system.as_str().into()),
        ("package", build.sites.package.as_str().into()),
        ("seed", (*seed).into()),
        (INPUT_SOURCE, input_source.name().into()),
        (CASES, plan.universe().into()),
        (GIVEN, given.as_slice().into()),
        ("operators", build.operators.as_str().into()),
        (SOURCE_HASH, source_hash_of(&plan.build)),
        ("pruning", serde_json::to_value(pruning).expect("a name")),
        ("baseline_steps", bounds.baseline_steps.into()),
        ("baseline_events", bounds.baseline_events.into()),
        ("memory_bytes", bounds.memory_bytes.into()),
        ("hang_ns", (bounds.hang.as_nanos() as u64).into()),
    ]
}

/// Returns whether the journal, with these sites, is of the source of a build.
pub(crate) fn is_of(journal: &Journal, sites: &Sites, build: &Build) -> Result<bool, CampaignError> {
    let source_hash: Option<Value> = journal.get(SOURCE_HASH)?;
    Ok(*sites == build.sites && source_hash == Some(source_hash_of(build)))
}

pub(super) fn source_hash_of(build: &Build) -> Value {
    format!("{:016x}", build.source_hash).into()
}

/// Notes the settings and the source that the journal is about from now on.
pub(super) fn set_source(journal: &Journal, plan: &CampaignPlan) -> Result<(), CampaignError> {
    journal.set("sites", &plan.build.sites)?;
    journal.set("fingerprint", &plan.build.fingerprint)?;
    settings(plan).iter().try_for_each(|(key, value)| journal.set(key, value))
}
