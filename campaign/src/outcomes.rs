//! From the journal to outcomes: what a campaign found out, in the order of cases and mutants.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU8;
use std::path::Path;

use serde_json::Value;
use simutant_mutator::Build;
use simutant_outcomes::{
    BitSet, CaseOutcome, Cause, CostRole, Criterion, CriterionKind, InputSource, Outcomes, ReasonCount, Reseeded,
    RunEnd, Sites, VerdictCounts,
};
use simutant_protocol::{CriterionDescription, RunLimits};

use crate::campaign::add_round;
use crate::campaign::settings::{GIVEN, INPUT_SOURCE, is_of};
use crate::cases::Cases;
use crate::journal::{Content, Journal, Recording, StoredRun, UniverseSize};
use crate::reseeding::Tally;
use crate::{CampaignError, cost, traced, white_box};

/// Returns the outcomes of the finished campaign in `directory`, which needs no build and may be that of another
/// machine.
///
/// # Errors
/// If there is no campaign, if it is not finished, or if its journal is damaged.
pub fn read_outcomes(directory: &Path) -> Result<Outcomes, CampaignError> {
    read(&Journal::open_existing(directory)?)
}

/// Returns the outcomes of the finished campaign in `directory`; `None` if it is of other source than `build`, be it of
/// the specification, the system around it, or Simutant.
///
/// # Errors
/// As [`read_outcomes`].
pub fn read_outcomes_of(build: &Build, directory: &Path) -> Result<Option<Outcomes>, CampaignError> {
    let journal = Journal::open_existing(directory)?;
    match journal.get("sites")? {
        // Before the runs are read, of which there may be many.
        Some(sites) if !is_of(&journal, &sites, build)? => Ok(None),
        _ => read(&journal).map(Some),
    }
}

/// Returns the mutants and requirements of the campaign in `directory`, which may be of other source than there is now.
///
/// # Errors
/// If there is no campaign, if its universe was not drawn, or if its journal is damaged.
pub fn read_sites(directory: &Path) -> Result<Sites, CampaignError> {
    let journal = Journal::open_existing(directory)?;
    let cases = journal.get("cases")?.unwrap_or_default();
    journal.get("sites")?.ok_or(CampaignError::Unfinished { executed: 0, cases })
}

/// Returns the limits of runs on mutants of the campaign in `directory`; `None` if there is none, or it has not come
/// that far.
///
/// # Errors
/// If its journal is damaged.
pub fn read_limits(directory: &Path) -> Result<Option<RunLimits>, CampaignError> {
    match Journal::find(directory)? {
        Some(journal) => journal.get("limits"),
        None => Ok(None),
    }
}

/// Returns how often the campaign in `directory` runs each test case: once, if there is none, or none that can be read.
pub fn read_reseedings(directory: &Path) -> NonZeroU8 {
    Journal::open_existing(directory).and_then(|journal| reseedings_of(&journal)).unwrap_or(NonZeroU8::MIN)
}

/// Returns the universe of the campaign in `directory`; `None` if there is none, or none that can be read.
pub fn read_universe(directory: &Path) -> Option<CampaignUniverse> {
    Journal::open_existing(directory).and_then(|journal| universe_of(&journal)).ok()
}

fn reseedings_of(journal: &Journal) -> Result<NonZeroU8, CampaignError> {
    let asked = u8::try_from(journal.rounds()?.asked).ok().and_then(NonZeroU8::new);
    Ok(asked.unwrap_or(NonZeroU8::MIN))
}

fn universe_of(journal: &Journal) -> Result<CampaignUniverse, CampaignError> {
    let seed: Option<u64> = journal.get("seed")?;
    Ok(CampaignUniverse {
        seed: seed.ok_or_else(|| journal.damaged("there is no seed"))?,
        input_source: journal.get(INPUT_SOURCE)?.unwrap_or_default(),
        cases: UniverseSize::read(journal)?.drawn,
        given: journal.get(GIVEN)?.unwrap_or_default(),
        reseedings: reseedings_of(journal)?,
    })
}

/// The universe of a campaign: what another one needs to begin where it ended.
#[derive(Debug, Clone, PartialEq)]
pub struct CampaignUniverse {
    /// The seed that it is drawn from.
    pub seed: u64,
    /// How it is drawn.
    pub input_source: InputSource,
    /// How many test cases are drawn.
    pub cases: usize,
    /// Test cases that follow these.
    pub given: Vec<Value>,
    /// How often each test case is run at most.
    pub reseedings: NonZeroU8,
}

/// Copies the finished campaign in `from` into the folder `to`, in the place of one that is there, and returns its
/// universe. It goes on there with the same plan, or with one of more test cases.
///
/// # Errors
/// [`CampaignError::Unfinished`] if test cases are left to be run; others if there is no campaign, its journal is
/// damaged, or it cannot be written.
pub fn copy_campaign(from: &Path, to: &Path) -> Result<CampaignUniverse, CampaignError> {
    let journal = Journal::open_existing(from)?;
    let universe = universe_of(&journal)?;
    let settings = Settings::read(&journal)?;
    let units = settings.map(|settings| journal.units(&settings.content)).transpose()?.unwrap_or_default();
    let cases = universe.cases + universe.given.len();
    let executed = units.iter().take(cases).flatten().count();
    if executed < cases {
        return Err(CampaignError::Unfinished { executed, cases });
    }
    std::fs::create_dir_all(to).map_err(|source| CampaignError::file(to, source))?;
    Journal::delete(to)?;
    journal.copy_to(to)?;
    Ok(universe)
}

/// Returns test case `number` of the campaign in `directory`, if there is one, and its universe is drawn from `seed`,
/// and so long, and drawn.
///
/// # Errors
/// If its journal is damaged.
pub fn read_case(directory: &Path, seed: u64, number: usize) -> Result<Option<Value>, CampaignError> {
    let cases = cases_of(directory, seed)?;
    Ok(cases.and_then(|cases| (number < cases.len()).then(|| cases.get(number))))
}

/// Returns the test cases of the campaign in `directory`, if there is one, and its universe is drawn from `seed`, and
/// drawn.
///
/// # Errors
/// If its journal is damaged.
pub fn read_cases(directory: &Path, seed: u64) -> Result<Option<Vec<Value>>, CampaignError> {
    Ok(cases_of(directory, seed)?.map(|cases| cases.into_values().collect()))
}

fn cases_of(directory: &Path, seed: u64) -> Result<Option<Cases>, CampaignError> {
    let Some(journal) = Journal::find(directory)? else { return Ok(None) };
    if journal.get("seed")? != Some(seed) {
        return Ok(None);
    }
    let universe: usize = journal.get("cases")?.unwrap_or_default();
    let mut cases = journal.cases(universe * journal.rounds()?.drawn)?;
    if let Some(cases) = &mut cases {
        cases.truncate(universe);
    }
    Ok(cases)
}

/// What is fixed when the universe has been drawn.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) system: String,
    pub(crate) seed: u64,
    pub(crate) input_source: InputSource,
    pub(crate) sites: Sites,
    /// The system's black-box criteria.
    pub(crate) criteria: Vec<CriterionDescription>,
    /// The names of the system's criteria that look at traces.
    pub(crate) trace_criteria: Vec<String>,
    /// How many test cases the universe has; the journal has each of them several times, if there are re-seedings.
    pub(crate) cases: usize,
    pub(crate) content: Content,
}

impl Settings {
    /// Reads them; `None` if the universe has not been drawn.
    pub(crate) fn read(journal: &Journal) -> Result<Option<Self>, CampaignError> {
        let (Some(system), Some(seed), Some(sites), Some(cases), Some(criteria), Some(trace_criteria)) = (
            journal.get("system")?,
            journal.get("seed")?,
            journal.get::<Sites>("sites")?,
            journal.get("cases")?,
            journal.get::<Vec<CriterionDescription>>("criteria")?,
            journal.get("trace_criteria")?,
        ) else {
            return Ok(None);
        };
        let own = criteria.iter().map(|criterion| criterion.requirements.len());
        let sets = white_box::measured(&sites).into_iter().chain(own).collect();
        let cases_drawn = cases * journal.rounds()?.drawn;
        let content = Content { cases: cases_drawn, mutants: sites.mutants.len(), requirements: sets };
        let input_source = journal.get(INPUT_SOURCE)?.unwrap_or_default();
        Ok(Some(Self { system, seed, input_source, sites, criteria, trace_criteria, cases, content }))
    }
}

pub(crate) fn read(journal: &Journal) -> Result<Outcomes, CampaignError> {
    let mut all = BitSet::new();
    let cases: usize = journal.get("cases")?.unwrap_or_default();
    all.grow(cases);
    all.insert_range(..);
    read_in(journal, &all)
}

/// Reads the outcomes with the runs on mutants of the test cases of `scope` alone.
pub(crate) fn read_in(journal: &Journal, scope: &BitSet) -> Result<Outcomes, CampaignError> {
    let cases = journal.get("cases")?.unwrap_or_default();
    let unfinished = |executed| CampaignError::Unfinished { executed, cases };
    let Settings { system, seed, input_source, sites, criteria, trace_criteria, cases: universe, content } =
        Settings::read(journal)?.ok_or_else(|| unfinished(0))?;
    let mut inputs = journal.cases(content.cases)?.ok_or_else(|| unfinished(0))?;
    let units = journal.units(&content)?;
    let rounds = journal.rounds()?;
    let reseedings = rounds.used();
    let is_executed =
        |case: usize| (0..reseedings).all(|round| units.get(round * universe + case).is_some_and(Option::is_some));
    let executed = (0..universe).filter(|&case| is_executed(case)).count();
    let mut recordings = journal.recordings(&content)?;
    recordings.truncate(universe * reseedings);
    let recordings: Option<Vec<_>> = recordings.into_iter().collect();
    let (Some(mut recordings), true) = (recordings, scope.ones().all(is_executed)) else {
        return Err(unfinished(executed));
    };
    let mut traced = journal.traced(&content, trace_criteria.len())?;
    traced.iter_mut().for_each(|of_criterion| of_criterion.truncate(universe * reseedings));

    let white_box: Vec<_> = white_box::of(&sites).collect();
    let mut covered: Vec<Vec<BitSet>> = vec![Vec::with_capacity(content.cases); white_box.len() + criteria.len()];
    for recording in &recordings {
        let (measured, own) = recording.covered.split_first_chunk().expect("the probes' sets come first");
        let of_code = white_box.iter().map(|(criterion, _)| (criterion.covered)(&sites, &measured.each_ref()));
        for (of_criterion, of_case) in covered.iter_mut().zip(of_code.chain(own.iter().cloned())) {
            of_criterion.push(of_case);
        }
    }
    let cost = cost::kills(journal, &content, (universe, reseedings, scope), &recordings)?;
    let runs = match reseedings {
        1 => None,
        _ => Some(reseeded_runs(journal, &content, (universe, reseedings, scope), &recordings)?),
    };
    inputs.truncate(universe);
    recordings.truncate(universe);
    let mut criteria: Vec<Criterion> = white_box
        .into_iter()
        .map(|(known, requirements)| (known.name.to_owned(), CriterionKind::WhiteBox, requirements, Vec::new()))
        .chain(criteria.into_iter().map(|own| (own.name, CriterionKind::BlackBox, own.requirements, own.quotas)))
        .zip(covered)
        .map(|((name, kind, requirements, quotas), covered)| Criterion { name, kind, requirements, quotas, covered })
        .collect();
    let mut left_out = Vec::new();
    for (name, covered) in trace_criteria.iter().zip(traced) {
        let (requirements, covered) = traced::requirements(&covered, universe);
        if requirements.is_empty() {
            left_out.push(name.clone());
            continue;
        }
        let (name, kind, quotas) = (name.clone(), CriterionKind::Trace, Vec::new());
        criteria.push(Criterion { name, kind, requirements, quotas, covered });
    }
    let reseeded = runs.map(|tally| {
        let count = |criterion: &Criterion| coverage_counts(&criterion.covered, universe);
        let covered = criteria.iter().map(count).collect();
        let (runs, kills) = tally.by_mutant();
        Reseeded { reseedings: reseedings as u32, chance: rounds.chance.into_iter().collect(), runs, kills, covered }
    });
    criteria.iter_mut().for_each(|criterion| criterion.covered.truncate(universe));
    let of_universe = Content { cases: universe, ..content };
    let Matrix { kills, verdicts, causes, diverged, reasons } = Matrix::read(journal, &of_universe, scope)?;
    // Last, since values take several times the memory of their text.
    let cases = inputs.into_values().zip(recordings).map(|(case, recording)| CaseOutcome {
        case,
        events: recording.events,
        steps: recording.steps,
        virtual_time_ns: recording.virtual_time_ns,
        messages: recording.messages.unwrap_or_default(),
        late_faults: recording.late_faults.unwrap_or(0),
        reached: recording.reached,
        infected: recording.infected,
    });
    let role = cost.as_ref().map(|judged| judged.1);
    let outcomes = Outcomes {
        system,
        seed,
        input_source,
        sites,
        cases: cases.collect(),
        criteria,
        left_out,
        kills,
        verdicts,
        causes,
        diverged,
        reasons,
        reseeded,
        cost: cost.map(|judged| judged.0),
    };
    Ok(match role {
        Some(CostRole::Counted) => outcomes.with_cost_kills(),
        Some(CostRole::Apart) | None => outcomes,
    })
}

/// Counts what the runs of all rounds came to on the test cases of `scope`.
fn reseeded_runs(
    journal: &Journal,
    content: &Content,
    (universe, reseedings, scope): (usize, usize, &BitSet),
    recordings: &[Recording],
) -> Result<Tally, CampaignError> {
    let mut tally = Tally::new(universe, content.mutants);
    for round in 0..reseedings {
        let numbers: Vec<usize> = scope.ones().map(|case| round * universe + case).collect();
        add_round(journal, content, &numbers, recordings, &mut tally)?;
    }
    Ok(tally)
}

/// Returns for each test case and requirement how many of its re-seedings cover it; `covered` has all rounds, one after
/// the other.
fn coverage_counts(covered: &[BitSet], universe: usize) -> Vec<Vec<u8>> {
    let requirements = covered.first().map_or(0, BitSet::len);
    let mut counts = vec![vec![0_u8; requirements]; universe];
    for (number, covered) in covered.iter().enumerate() {
        covered.ones().for_each(|requirement| counts[number % universe][requirement] += 1);
    }
    counts
}

/// What became of each mutant.
struct Matrix {
    kills: Vec<BitSet>,
    verdicts: Vec<VerdictCounts>,
    causes: Vec<BTreeMap<Cause, u32>>,
    diverged: Vec<BitSet>,
    reasons: Vec<Vec<ReasonCount>>,
}

impl Matrix {
    fn read(journal: &Journal, content: &Content, scope: &BitSet) -> Result<Self, CampaignError> {
        let mut kills = vec![BitSet::with_capacity(content.cases); content.mutants];
        // Pairs that were not run pass.
        let all_passed = VerdictCounts { passed: content.cases as u32, ..VerdictCounts::default() };
        let mut verdicts = vec![all_passed; content.mutants];
        let mut causes = vec![BTreeMap::new(); content.mutants];
        let mut diverged = vec![BitSet::with_capacity(content.cases); content.mutants];
        let texts = journal.reasons()?;
        let mut reasons: Vec<BTreeMap<(Cause, i64), Count>> = vec![BTreeMap::new(); content.mutants];
        let mut visit = |case, run: &StoredRun| {
            if !scope.contains(case) {
                return;
            }
            let mutant = run.mutant as usize;
            if run.diverged {
                diverged[mutant].insert(case);
            }
            let Some(cause) = run.cause else { return };
            verdicts[mutant].passed -= 1;
            verdicts[mutant].add(run.verdict());
            if !run.verdict().kills() {
                return;
            }
            kills[mutant].insert(case);
            *causes[mutant].entry(cause).or_default() += 1;
            let first = Count { verdict: run.verdict(), count: 0, first_case: case };
            reasons[mutant].entry((cause, run.reason)).or_insert(first).count += 1;
        };
        let alike = std::thread::scope(|threads| {
            let alike = threads.spawn(|| alike(&texts));
            journal.executions(content, &texts, &mut visit)?;
            Ok::<_, CampaignError>(alike.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        })?;
        let reasons = reasons.into_iter().map(|counts| most_frequent(counts, &texts, &alike)).collect();
        Ok(Self { kills, verdicts, causes, diverged, reasons })
    }
}

/// Returns for each reason the number of the first that is the same but for numbers in it.
fn alike(texts: &BTreeMap<i64, String>) -> BTreeMap<i64, i64> {
    let mut first = HashMap::new();
    texts.iter().map(|(&number, text)| (number, *first.entry(without_numbers(text)).or_insert(number))).collect()
}

/// Returns a reason with `#` for each number but a line's: the same fault gives other numbers on other test cases.
pub(crate) fn without_numbers(reason: &str) -> String {
    let mut text = String::with_capacity(reason.len());
    let mut is_line = false;
    for character in reason.chars() {
        if !character.is_ascii_digit() {
            is_line = character == ':' && text.ends_with(".rs");
            text.push(character);
        } else if is_line {
            text.push(character);
        } else if !text.ends_with('#') {
            text.push('#');
        }
    }
    text
}

/// How often a mutant was killed for a reason, and by which test case first.
#[derive(Debug, Clone)]
struct Count {
    verdict: RunEnd,
    count: u32,
    first_case: usize,
}

/// Returns the reasons for which a mutant was killed most often; those that are `alike` but for numbers are one, in the
/// words of the first test case.
fn most_frequent(
    counts: BTreeMap<(Cause, i64), Count>,
    texts: &BTreeMap<i64, String>,
    alike: &BTreeMap<i64, i64>,
) -> Vec<ReasonCount> {
    // Of those that are alike, the count of all and the number of the one that came first.
    let mut merged: BTreeMap<(Cause, i64), (Count, i64)> = BTreeMap::new();
    for ((cause, number), new) in counts {
        match merged.entry((cause, alike[&number])) {
            Entry::Vacant(vacant) => _ = vacant.insert((new, number)),
            Entry::Occupied(mut entry) => {
                let (known, of_known) = entry.get_mut();
                let count = known.count + new.count;
                if new.first_case < known.first_case {
                    (*known, *of_known) = (new, number);
                }
                known.count = count;
            }
        }
    }
    let mut counts: Vec<(Cause, Count, i64)> =
        merged.into_iter().map(|((cause, _), (count, number))| (cause, count, number)).collect();
    counts.sort_by_key(|(_, count, _)| (std::cmp::Reverse(count.count), count.first_case));
    let most = counts.into_iter().take(Outcomes::REASONS_MAX);
    most.map(|(cause, Count { verdict, count, first_case }, number)| ReasonCount {
        verdict,
        cause,
        reason: texts[&number].clone(),
        count,
        first_case,
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_that_differ_in_numbers_are_one_but_places_are_kept() {
        let reason = "a panicked at src/a.rs:12: 5 is not 17";
        assert_eq!(without_numbers(reason), "a panicked at src/a.rs:12: # is not #");
    }

    #[test]
    fn reasons_that_are_one_have_the_words_of_the_first_test_case() {
        let texts: BTreeMap<i64, String> = [(1, "5 is not 17"), (2, "it hangs"), (3, "4 is not 6")]
            .map(|(number, text)| (number, text.to_owned()))
            .into();
        let alike = alike(&texts);
        assert_eq!(alike, [(1, 1), (2, 2), (3, 1)].into());
        let count = |count, first_case| Count { verdict: RunEnd::Abnormal, count, first_case };
        let counts =
            [((Cause::Panic, 1), count(2, 7)), ((Cause::Panic, 2), count(4, 0)), ((Cause::Panic, 3), count(3, 1))];
        let found = most_frequent(counts.into(), &texts, &alike);
        let found: Vec<(&str, u32, usize)> =
            found.iter().map(|reason| (&*reason.reason, reason.count, reason.first_case)).collect();
        assert_eq!(found, [("4 is not 6", 5, 1), ("it hangs", 4, 0)]);
    }
}
