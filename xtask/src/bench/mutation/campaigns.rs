//! Campaigns on the sample: all pairs, and those that the recorded runs do not settle.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, bail, ensure};
use simutant_campaign::{Bounds, Campaign, End, Existing, Plan, Pruning};
use simutant_mutator::Probes;
use simutant_outcomes::{InputSource, Outcomes};

use super::instrumentation::{build_in, build_plain_in, worker};
use super::{Places, Spent, timed};

/// Test cases of a campaign. They are drawn: with so many, each test is drawn, and most of them about ten times.
const CASES: usize = 300;
const SEED: u64 = 1;
const TESTS: usize = 30;

/// All repetitions of both campaigns.
#[derive(Debug)]
pub(super) struct Campaigns {
    pub(super) full: Vec<Spent>,
    pub(super) pruned: Vec<Spent>,
    /// Pairs of a mutant and a test case.
    pub(super) pairs: u64,
    pub(super) mutants: usize,
    pub(super) cases: usize,
    pub(super) tests: usize,
    pub(super) killed: usize,
    /// The share of pairs that are not run.
    pub(super) pruned_share: f64,
}

impl Campaigns {
    /// Runs both campaigns in turns, and makes sure that they come to the same.
    pub(super) fn run(places: &Places, repetitions: usize, divisor: usize) -> anyhow::Result<Self> {
        let (folder, worker) = (places.out.path().join("build"), worker(&places.root));
        let worker = ("simutant-worker", &*worker);
        let build = build_in(places, Probes::All, &folder, worker)?;
        let plain = build_plain_in(places, &folder, worker)?;
        let plan = |cases, pruning| {
            let (build, plain) = (build.clone(), plain.clone());
            let input_source = InputSource::Uniform;
            Plan { build, plain, seed: SEED, input_source, cases, pruning, bounds: Bounds::default() }
        };
        let (mut full, mut pruned) = (Vec::new(), Vec::new());
        let mut last = None;
        let cases = CASES / divisor;
        for round in 1..=repetitions {
            eprintln!("xtask: running campaigns, {round} of {repetitions}");
            let (all, spent) = campaign(places, plan(cases, Pruning::None))?;
            full.push(spent);
            let (infected, spent) = campaign(places, plan(cases, Pruning::Infected))?;
            pruned.push(spent);
            same(&all, &infected).context("pruning changed what mutants come to")?;
            last = Some(all);
        }
        let outcomes = last.context("nothing was run")?;
        let drawn: BTreeSet<String> = outcomes.cases.iter().map(|case| case.case.to_string()).collect();
        ensure!(divisor > 1 || drawn.len() == TESTS, "{} of {TESTS} tests were drawn", drawn.len());
        Ok(Self {
            full,
            pruned,
            pairs: outcomes.pairs(),
            mutants: outcomes.sites.mutants.len(),
            cases,
            tests: TESTS,
            killed: outcomes.killed_mutants().len(),
            pruned_share: 1.0 - outcomes.pairs_infected() as f64 / outcomes.pairs() as f64,
        })
    }
}

/// Runs a campaign from its beginning until all is in the journal and checked, with one worker at a time; returns what it came to, and the time.
fn campaign(places: &Places, plan: Plan) -> anyhow::Result<(Outcomes, Spent)> {
    let (campaign, spent) = timed(|| {
        let mut campaign = Campaign::open(&places.out.path().join("campaign"), plan, Existing::Delete)?;
        let end = campaign.run(NonZeroUsize::MIN, &mut |_| {}, &AtomicBool::new(false))?;
        ensure!(end == End::Finished, "the campaign stopped");
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
    use simutant_outcomes::{BitSet, Cause, ReasonCount, Sites, Verdict, VerdictCounts};

    use super::super::SYSTEM;
    use super::*;

    /// Outcomes of two mutants on three test cases; the first is killed by the given ones.
    fn outcomes(killers: &[usize], reason: &str) -> Outcomes {
        let mut kills = vec![BitSet::with_capacity(3); 2];
        let mut verdicts = vec![VerdictCounts { reasonable: 3, ..VerdictCounts::default() }; 2];
        for &case in killers {
            kills[0].insert(case);
            verdicts[0].reasonable -= 1;
            verdicts[0].add(Verdict::Abnormal);
        }
        let reason = |&first_case: &usize| ReasonCount {
            verdict: Verdict::Abnormal,
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
