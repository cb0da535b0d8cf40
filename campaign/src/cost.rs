//! The cost oracle over the journal: which runs pass, and cost too much or too little.
//!
//! Nothing is run for it, and which pairs are run again does not depend on it. What the oracle is asked for is noted in
//! the journal, so that readers of outcomes see its kills, too.

use serde::{Deserialize, Serialize};
use simutant_outcomes::{BitSet, CostBounds, CostKills, CostMeasure, CostOracle, CostRole, RunCost};

use crate::CampaignError;
use crate::crew::Crew;
use crate::journal::{Content, Journal, Recording, StoredRun};
use crate::outcomes::Settings;

/// The key under which it is noted.
const KEY: &str = "cost";
/// Test cases whose bounds are asked for at once.
const CASES_AT_ONCE: usize = 1000;

/// What the last study asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Judging {
    oracle: CostOracle,
    role: CostRole,
    /// What the system states for each test case of the journal; empty if it states nothing.
    stated: Vec<CostBounds>,
}

/// Notes the oracle, with what the system states.
pub(crate) fn judge(
    journal: &mut Journal,
    crew: &mut Crew<'_>,
    oracle: &CostOracle,
    role: CostRole,
) -> Result<(), CampaignError> {
    let Some(settings) = Settings::read(journal)? else { return Err(journal.damaged("the universe has no criteria")) };
    let mut stated = Vec::new();
    let cases = journal.cases(settings.content.cases)?.unwrap_or_default();
    for first in (0..cases.len()).step_by(CASES_AT_ONCE) {
        let last = cases.len().min(first + CASES_AT_ONCE);
        stated.extend(crew.cost_bounds(&cases.range(first..last))?);
    }
    if stated.iter().all(CostBounds::is_none) {
        stated.clear();
    }
    let judging = Judging { oracle: oracle.clone(), role, stated };
    // What cannot be judged is not noted, so that outcomes can be read as before.
    let recordings: Vec<Recording> =
        journal.recordings(&settings.content)?.into_iter().map_while(|known| known).collect();
    judging.originals(&recordings, settings.cases)?;
    if journal.get::<Judging>(KEY)?.as_ref() == Some(&judging) { Ok(()) } else { journal.set(KEY, &judging) }
}

/// Notes that there is none.
pub(crate) fn forget(journal: &Journal) -> Result<(), CampaignError> {
    journal.forget(KEY)
}

/// Returns what the oracle that is noted kills on the test cases of `scope`, apart from other kills, and whether it is
/// to count; `None` if none is noted.
pub(crate) fn kills(
    journal: &Journal,
    content: &Content,
    (universe, reseedings, scope): (usize, usize, &BitSet),
    recordings: &[Recording],
) -> Result<Option<(CostKills, CostRole)>, CampaignError> {
    let Some(judging) = journal.get::<Judging>(KEY)? else { return Ok(None) };
    if !judging.stated.is_empty() && judging.stated.len() < recordings.len() {
        return Err(journal.damaged("a cost oracle of fewer test cases than there are"));
    }
    let originals = judging.originals(recordings, universe)?;
    let mut kills = vec![BitSet::with_capacity(universe); content.mutants];
    let mut counts = vec![vec![0_u8; universe]; content.mutants];
    let mut wrong = None;
    journal.runs_in(0..universe * reseedings, content, |number, run| {
        let (case, mutant) = (number % universe, run.mutant as usize);
        if !scope.contains(case) || !recordings[number].infected.contains(mutant) {
            return;
        }
        match judging.kills(number, run, originals[number]) {
            Ok(false) => {}
            Ok(true) => {
                counts[mutant][case] += 1;
                if number < universe {
                    kills[mutant].insert(case);
                }
            }
            Err(error) => wrong = Some(error),
        }
    })?;
    if let Some(error) = wrong {
        return Err(error);
    }
    let reseeded = (reseedings > 1).then_some(counts);
    Ok(Some((CostKills { oracle: judging.oracle, role: CostRole::Apart, kills, reseeded }, judging.role)))
}

impl Judging {
    /// Returns whether more than the number of events is looked at.
    fn needs_more_than_events(&self) -> bool {
        !self.stated.is_empty() || self.oracle.measures().any(|measure| measure != CostMeasure::Events)
    }

    fn stated(&self, number: usize) -> CostBounds {
        self.stated.get(number).copied().unwrap_or_default()
    }

    /// Returns what the original costs on each test case, which the system must allow.
    fn originals(&self, recordings: &[Recording], universe: usize) -> Result<Vec<RunCost>, CampaignError> {
        let original = |(number, recording): (usize, &Recording)| {
            let &Recording { events, messages, virtual_time_ns, .. } = recording;
            let messages = match messages {
                None if self.needs_more_than_events() => return Err(CampaignError::CostUnknown),
                messages => messages.unwrap_or_default(),
            };
            let cost = RunCost { events, messages, virtual_time_ns };
            let exceeds = |&(measure, most): &(CostMeasure, u64)| cost.of(measure) > most;
            let bounds =
                CostMeasure::ALL.into_iter().filter_map(|measure| Some((measure, self.stated(number).of(measure)?)));
            match bounds.into_iter().find(exceeds) {
                Some((measure, most)) => {
                    let (number, found) = (number % universe, cost.of(measure));
                    Err(CampaignError::CostStatedWrongly { number, measure, found, most })
                }
                None => Ok(cost),
            }
        };
        recordings.iter().enumerate().map(original).collect()
    }

    /// Returns whether a run passes and is too costly, or not costly enough. One with the events of the original's
    /// costs the same.
    fn kills(&self, number: usize, run: &StoredRun, original: RunCost) -> Result<bool, CampaignError> {
        if run.cause.is_some() || !run.diverged {
            return Ok(false);
        }
        let (messages, virtual_time_ns) = match run.spent {
            Some(spent) => (spent.messages, spent.virtual_time_ns),
            None if self.needs_more_than_events() => return Err(CampaignError::CostUnknown),
            None => (0, 0),
        };
        let cost = RunCost { events: run.events, messages, virtual_time_ns };
        Ok(self.oracle.exceeded(cost, original, self.stated(number)).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simutant_outcomes::Cause;
    use simutant_protocol::Spent;

    fn judging(oracle: &str, stated: Vec<CostBounds>) -> Judging {
        Judging { oracle: oracle.parse().expect("it is an oracle"), role: CostRole::Apart, stated }
    }

    /// A run that passes with other events, and costs a hundred of everything but what is given.
    fn run(events: u64, spent: Option<(u64, u64)>) -> StoredRun {
        let spent = spent.map(|(messages, virtual_time_ns)| Spent { messages, virtual_time_ns });
        StoredRun { mutant: 0, cause: None, diverged: true, reason: 1, events, steps: 9, entered: 1, spent }
    }

    fn recording(messages: Option<u64>) -> Recording {
        Recording {
            events: 100,
            steps: 9,
            virtual_time_ns: 100,
            messages,
            late_faults: None,
            digest: 0,
            memory_bytes: 0,
            entered: 0,
            reached: BitSet::new(),
            infected: BitSet::new(),
            covered: Vec::new(),
        }
    }

    #[track_caller]
    fn check(judging: &Judging, run: StoredRun, expect: bool) {
        let original = RunCost { events: 100, messages: 100, virtual_time_ns: 100 };
        assert_eq!(judging.kills(0, &run, original).ok(), Some(expect), "{run:?}");
    }

    #[test]
    fn a_run_kills_by_cost_only_if_it_passes_with_other_events() {
        let events = judging("events=20%", Vec::new());
        check(&events, run(121, None), true);
        check(&events, run(79, Some((100, 100))), true);
        check(&events, run(120, None), false);
        check(&events, StoredRun { diverged: false, ..run(121, None) }, false);
        for cause in Cause::ALL {
            check(&events, StoredRun { cause: Some(cause), ..run(121, None) }, false);
        }
        check(&judging("messages=20%", Vec::new()), run(200, Some((121, 100))), true);
        check(&judging("messages=20%", Vec::new()), run(200, Some((100, 900))), false);
        check(&judging("time=20%", Vec::new()), run(100, Some((100, 79))), true);
    }

    #[test]
    fn a_system_can_state_bounds_and_its_original_must_keep_them() {
        let bounds = |most| CostBounds { messages_max: Some(most), ..CostBounds::default() };
        check(&judging("events=20%", vec![bounds(110)]), run(100, Some((111, 0))), true);
        check(&judging("events=20%", vec![bounds(110)]), run(100, Some((110, 0))), false);
        let of_original = |most| judging("events=20%", vec![bounds(most)]).originals(&[recording(Some(100))], 1);
        assert!(of_original(100).is_ok());
        let error = of_original(99).expect_err("it costs more").to_string();
        assert!(
            error.starts_with("test case 0 on the original costs 100 messages, but its system states 99"),
            "{error}"
        );
    }

    #[test]
    fn what_an_old_journal_does_not_say_is_an_error_and_no_guess() {
        let original = RunCost { events: 100, messages: 100, virtual_time_ns: 100 };
        for oracle in ["messages=20%", "time=20%", "events=20%,time=20%"] {
            let judging = judging(oracle, Vec::new());
            assert!(matches!(judging.kills(0, &run(100, None), original), Err(CampaignError::CostUnknown)), "{oracle}");
            assert!(matches!(judging.originals(&[recording(None)], 1), Err(CampaignError::CostUnknown)), "{oracle}");
        }
        assert!(judging("events=20%", Vec::new()).originals(&[recording(None)], 1).is_ok());
    }
}
