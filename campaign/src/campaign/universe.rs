//! The test cases of a campaign: drawn, with what a source learns meanwhile, and re-seeded.

use std::num::NonZeroU8;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use serde_json::Value;
use simutant_outcomes::{Coverage, differences};
use simutant_protocol::{Recorded, Sizes, UniverseSettings};

use super::original::check_baseline;
use super::{Campaign, workshop};
use crate::cases::Cases;
use crate::crew::{Crew, DRAW_COUNT};
use crate::journal::Rounds;
use crate::traced::Traced;
use crate::{CampaignError, CampaignPlan, Phase, Progress, white_box};

impl Campaign {
    /// Returns the test cases of all rounds, drawn now if they are not in the journal; `None` if it was told to stop.
    pub(super) fn draw_universe(
        &mut self,
        progress: &mut dyn FnMut(Progress),
        stop: &AtomicBool,
    ) -> Result<Option<Cases>, CampaignError> {
        let total = self.plan.universe();
        let rounds = self.journal.rounds()?;
        if let Some(mut cases) = self.journal.cases(total * rounds.drawn)? {
            let known = cases.len();
            let rounds = self.reseed(&mut Crew::new(workshop(&self.plan)), &mut cases, rounds)?;
            self.journal.transaction(|journal| {
                journal.set_rounds(&rounds)?;
                journal.add_cases(known, &cases)
            })?;
            cases.truncate(total * rounds.used());
            return Ok(Some(cases));
        }
        let mut crew = Crew::new(workshop(&self.plan));
        let description = crew.description()?;
        let Some(drawn) = self.draw_cases(&mut crew, progress, stop)? else { return Ok(None) };
        let mut cases = Cases::default();
        cases.extend(drawn);
        let rounds = self.reseed(&mut crew, &mut cases, Rounds::default())?;
        let adopted = self.journal.transaction(|journal| {
            journal.set_rounds(&rounds)?;
            journal.set("criteria", &description.criteria)?;
            journal.set("trace_criteria", &description.trace_criteria)?;
            journal.set_cases(&cases)
        })?;
        self.session.recordings_kept = adopted.len() as u64;
        Ok(Some(cases))
    }

    /// Draws the first round. A source that learns is asked for one test case at a time, and told what each covers; that
    /// takes runs, so it can be stopped, and an original that fails is an error here as it is in the baseline.
    fn draw_cases(
        &self,
        crew: &mut Crew<'_>,
        progress: &mut dyn FnMut(Progress),
        stop: &AtomicBool,
    ) -> Result<Option<Vec<Value>>, CampaignError> {
        let CampaignPlan { seed, input_source: source, cases: total, ref given, ref build, .. } = self.plan;
        let universe = UniverseSettings { source, seed, size: total };
        let mut drawn = |done| progress(Progress { phase: Phase::Universe, done, total, executions: 0 });
        let mut cases = if source.learns() { Vec::with_capacity(total) } else { crew.draw_all(universe, &mut drawn)? };
        // A source does not learn of mutants: its universe is the same for any operators.
        let sizes = Sizes { measured: white_box::measured(&build.sites).to_vec(), mutants: 0 };
        let mut learned: Vec<Coverage> = Vec::new();
        while cases.len() < total {
            if stop.load(Relaxed) {
                return Ok(None);
            }
            if let Some(last) = cases.last() {
                let (recorded, traced) = crew.record(last, sizes.clone())?;
                // What an original that fails covers may be up to the machine: nothing is learned from it.
                check_baseline(&self.plan, cases.len() - 1, last, &recorded)?;
                learned.push(coverage(&recorded, &traced));
            }
            cases.extend(crew.draw(universe, cases.len(), 1, &learned)?);
            drawn(cases.len());
        }
        cases.extend(normalise_given(crew, seed, total, given)?);
        Ok(Some(cases))
    }

    fn reseed(&self, crew: &mut Crew<'_>, cases: &mut Cases, rounds: Rounds) -> Result<Rounds, CampaignError> {
        let CampaignPlan { seed, reseedings, .. } = self.plan;
        add_reseedings(crew, (seed, self.plan.universe()), reseedings, cases, rounds)
    }
}

/// Returns the test cases that a person gave in the form that the system has for them; the first one is number `first`
/// of the universe of `seed`.
pub(crate) fn normalise_given(
    crew: &mut Crew<'_>,
    seed: u64,
    first: usize,
    given: &[Value],
) -> Result<Vec<Value>, CampaignError> {
    let mut cases = Vec::with_capacity(given.len());
    for (number, case) in (first..).zip(given) {
        // Re-seeding 0 is the test case itself.
        let same = crew.reseed(seed, 0, number, std::slice::from_ref(case));
        cases.extend(same.map_err(|error| error.of_given(case))?);
    }
    Ok(cases)
}

/// Adds the rounds of re-seedings that are missing after `rounds` to the test cases of a universe with this seed and size,
/// until there are `asked`, and returns the rounds that there are then. If nothing is chance in a test case, there is one.
pub(crate) fn add_reseedings(
    crew: &mut Crew<'_>,
    (seed, universe): (u64, usize),
    asked: NonZeroU8,
    cases: &mut Cases,
    rounds: Rounds,
) -> Result<Rounds, CampaignError> {
    let asked = usize::from(asked.get());
    let Rounds { mut drawn, mut chance, .. } = rounds;
    while drawn < asked {
        let before = cases.len();
        for first in (0..universe).step_by(DRAW_COUNT) {
            let last = universe.min(first + DRAW_COUNT);
            let original = cases.range(first..last);
            let reseeded = crew.reseed(seed, drawn as u32, first, &original)?;
            for (before, after) in original.iter().zip(&reseeded) {
                chance.extend(differences(before, after));
            }
            cases.extend(reseeded);
        }
        if chance.is_empty() {
            cases.truncate(before);
            break;
        }
        drawn += 1;
    }
    Ok(Rounds { asked, drawn, chance })
}

/// Returns what a source learns of a run of the original: the requirements of all criteria that it covers.
fn coverage(recorded: &Recorded, traced: &Traced) -> Coverage {
    let mut coverage = Coverage::default();
    let mut insert = |criterion: &str, numbers: &[u32]| {
        numbers.iter().for_each(|number| coverage.insert(criterion, &number.to_string()));
    };
    white_box::NAMES.iter().zip(&recorded.measured).for_each(|(kind, numbers)| insert(kind, numbers));
    (0..).zip(&recorded.covered).for_each(|(number, numbers): (u32, _)| insert(&format!("case/{number}"), numbers));
    for (number, labels) in traced.iter().enumerate() {
        labels.iter().for_each(|label| coverage.insert(&format!("trace/{number}"), label));
    }
    coverage
}
