//! Campaigns on the sample: all pairs, and those that the recorded runs do not settle.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use anyhow::{Context, bail, ensure};
use simutant_campaign::{Bounds, Campaign, CampaignPlan, Existing, Pruning, SessionEnd};
use simutant_mutator::{Build, Probes};
use simutant_outcomes::{InputSource, Outcomes};

use super::instrumentation::{build_in, build_plain_in, worker};
use super::{Places, Spent, timed};

/// Test cases of a campaign. They are drawn: with so many, each test is drawn, and most of them about ten times.
const CASES: usize = 300;
const SEED: u64 = 1;
/// Tests of the sample.
pub(super) const TESTS: usize = 30;

/// Campaigns on the sample, which are repeated.
#[derive(Debug)]
pub(super) struct Campaigns {
    build: Build,
    plain: PathBuf,
    /// Test cases of each.
    pub(super) cases: usize,
}

/// What both campaigns cost once, and what they came to.
#[derive(Debug)]
pub(super) struct CampaignCosts {
    /// All pairs.
    pub(super) full: Spent,
    /// Those that the recorded runs do not settle, and these.
    pub(super) pruned: Spent,
    /// What all pairs came to.
    pub(super) outcomes: Outcomes,
}

impl Campaigns {
    /// Builds what they run, and divides the number of their test cases.
    pub(super) fn build(places: &Places, divisor: usize) -> anyhow::Result<Self> {
        eprintln!("xtask: building what the campaigns need");
        let (folder, worker) = (places.out.path().join("build"), worker(&places.root));
        let worker = ("simutant-worker", &*worker);
        let build = build_in(places, Probes::All, &folder, worker)?;
        let plain = build_plain_in(places, &folder, worker)?;
        Ok(Self { build, plain, cases: CASES / divisor })
    }

    /// Runs both campaigns, and makes sure that they come to the same.
    pub(super) fn run(&self, places: &Places) -> anyhow::Result<CampaignCosts> {
        let (outcomes, full) = campaign(places, self.plan(Pruning::None), &self.plain)?;
        let (pruned_outcomes, pruned) = campaign(places, self.plan(Pruning::Infected), &self.plain)?;
        same(&outcomes, &pruned_outcomes).context("pruning changed what mutants come to")?;
        let drawn: BTreeSet<String> = outcomes.cases.iter().map(|case| case.case.to_string()).collect();
        ensure!(self.cases < CASES || drawn.len() == TESTS, "{} of {TESTS} tests were drawn", drawn.len());
        Ok(CampaignCosts { full, pruned, outcomes })
    }

    fn plan(&self, pruning: Pruning) -> CampaignPlan {
        CampaignPlan {
            build: self.build.clone(),
            seed: SEED,
            input_source: InputSource::Uniform,
            cases: self.cases,
            given: Vec::new(),
            reseedings: std::num::NonZeroU8::MIN,
            pruning,
            bounds: Bounds::default(),
        }
    }
}

/// Runs a campaign from its beginning until all is in the journal and checked, with one worker at a time; returns what
/// it came to, and the time.
fn campaign(places: &Places, plan: CampaignPlan, plain: &Path) -> anyhow::Result<(Outcomes, Spent)> {
    let (campaign, spent) = timed(|| {
        let mut campaign = Campaign::open(&places.out.path().join("campaign"), plan, Existing::Delete)?;
        let end = campaign.run(plain, NonZeroUsize::MIN, &mut |_| {}, &AtomicBool::new(false))?;
        ensure!(end == SessionEnd::Finished, "the campaign stopped");
        Ok(campaign)
    })?;
    Ok((campaign.outcomes()?, spent))
}

/// Checks that two campaigns came to the same: the same pairs kill, with the same verdicts and for the same reasons.
fn same(first: &Outcomes, second: &Outcomes) -> anyhow::Result<()> {
    for mutant in 0..first.kills.len().max(second.kills.len()) {
        let fact = |outcomes: &Outcomes| {
            let kills = outcomes.kills.get(mutant).cloned();
            (kills, outcomes.verdicts.get(mutant).copied(), outcomes.reasons.get(mutant).cloned())
        };
        let (first, second) = (fact(first), fact(second));
        if first != second {
            bail!("mutant {mutant} came to {first:?} and to {second:?}");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use simutant_outcomes::{BitSet, Cause, ReasonCount, RunEnd, Sites, VerdictCounts};

    use super::super::SYSTEM;
    use super::*;

    /// Outcomes of two mutants on three test cases; the first is killed by the given ones.
    fn outcomes(killers: &[usize], reason: &str) -> Outcomes {
        let mut kills = vec![BitSet::with_capacity(3); 2];
        let mut verdicts = vec![VerdictCounts { passed: 3, ..VerdictCounts::default() }; 2];
        for &case in killers {
            kills[0].insert(case);
            verdicts[0].passed -= 1;
            verdicts[0].add(RunEnd::Abnormal);
        }
        let reason = |&first_case: &usize| ReasonCount {
            verdict: RunEnd::Abnormal,
            cause: Cause::Panic,
            reason: reason.to_owned(),
            count: killers.len() as u32,
            first_case,
        };
        let sites = Sites { package: "sample".to_owned(), system: SYSTEM.to_owned(), ..Sites::default() };
        Outcomes {
            system: SYSTEM.to_owned(),
            seed: SEED,
            input_source: InputSource::Uniform,
            sites,
            cases: Vec::new(),
            criteria: Vec::new(),
            left_out: Vec::new(),
            kills,
            verdicts,
            causes: Vec::new(),
            diverged: Vec::new(),
            reasons: vec![killers.first().map(reason).into_iter().collect(), Vec::new()],
            reseeded: None,
            cost: None,
        }
    }

    #[test]
    fn campaigns_that_come_to_the_same_pass() {
        same(&outcomes(&[0, 2], "a panic"), &outcomes(&[0, 2], "a panic")).expect("nothing differs");
    }

    #[test]
    fn a_pair_that_pruning_lost_is_found() {
        let error = same(&outcomes(&[0, 2], "a panic"), &outcomes(&[0], "a panic")).expect_err("a kill is missing");
        assert!(error.to_string().starts_with("mutant 0 came to "), "{error}");
    }

    #[test]
    fn another_reason_or_another_test_case_is_found() {
        let first = outcomes(&[1], "a panic");
        for second in [outcomes(&[1], "another"), outcomes(&[2], "a panic")] {
            same(&first, &second).expect_err("the kills differ, or why");
        }
    }
}
