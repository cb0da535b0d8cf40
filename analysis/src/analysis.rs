//! The whole analysis: from outcomes to everything that the tables and the report show.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};
use simutant_outcomes::{BitSet, FORMAT_VERSION, InputSource, Outcomes, Reseeded, RunEnd, Suite, VerdictCounts};

use crate::baseline::RandomBaseline;
use crate::boosting::{self, HeldOut, Kills};
use crate::chosen::{self, ChosenSuite};
use crate::conventional::{self, CostEffectiveness};
use crate::cost::{self, CostComparison};
use crate::criteria::CriterionAnalysis;
use crate::detection;
use crate::domination::SuiteValues;
use crate::dominators::{Dominators, dominators};
use crate::error::AnalysisError;
use crate::expected::built::ExpectedSuite;
use crate::expected::{self, Expected};
use crate::kills::KillsByCase;
use crate::mutants::{self, MutantClass, MutantClasses};
use crate::options::AnalysisOptions;
use crate::probabilities::KillProbabilities;
use crate::ranking::{self, Comparing, Killed, Ranking};
use crate::recommendation::{self, Recommendation};
use crate::reference::Comparison;
use crate::same_size;
use crate::seconds::seconds;
use crate::sensitivity::{self, FirstPlace, Sensitivity, Studied};
use crate::shape;
use crate::statistics::Bootstrap;
use crate::suites::built::BuiltSuite;
use crate::suites::{self, AdequateSuite, Scoring};
use crate::survivors::{self, Contradiction, ScoreBounds, Survivor};

/// What a campaign's outcomes say: plain data, the same bytes for the same outcomes and options.
///
/// Numbers of mutants, test cases and criteria are indices into the outcomes. No field is ever NaN or infinite: what is
/// not defined is `None`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    /// [`FORMAT_VERSION`].
    pub format_version: u32,
    /// The system.
    pub system: String,
    /// The seed that the universe was drawn from.
    pub universe_seed: u64,
    /// The source that it was drawn by.
    #[serde(default)]
    pub input_source: InputSource,
    /// How the analysis was done.
    pub options: AnalysisOptions,
    /// How large the campaign was.
    pub campaign: CampaignCounts,
    /// The class of each mutant.
    pub mutants: MutantClasses,
    /// The mutants that no test case kills, with how far they get.
    pub survivors: Vec<Survivor>,
    /// Judgements that kills show to be wrong.
    pub contradictions: Vec<Contradiction>,
    /// Identities that were judged and that no mutant has.
    pub stale_judgements: Vec<String>,
    /// The score of the whole universe on all mutants.
    pub score_bounds: ScoreBounds,
    /// The score of the chosen suite on all mutants: that of a study's `suite.json`, or else the recommended one; `None`
    /// without one.
    pub suite_score_bounds: Option<ScoreBounds>,
    /// The chosen suite: that of a study's `suite.json`, or else the recommended one; `None` without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<ChosenSuite>,
    /// The dominator mutants, among all that are killed.
    pub dominators: Dominators,
    /// One entry per criterion, in the order of the outcomes.
    pub criteria: Vec<CriterionAnalysis>,
    /// The names of criteria of which no test case covers anything; they are not among the others.
    #[serde(default)]
    pub left_out: Vec<String>,
    /// The criteria against random suites.
    pub cost_effectiveness: CostEffectiveness,
    /// The halves of the mutants that boosting uses; `None` if there are too few to split.
    pub held_out: Option<HeldOut>,
    /// The order of the criteria.
    pub ranking: Ranking,
    /// How the order stands to that of an earlier experiment ([`Reference::compare`](crate::Reference::compare));
    /// outcomes know of none, so the caller of [`analyse`](crate::analyse) adds it.
    pub comparison: Option<Comparison>,
    /// What suites are expected to kill; `None` without re-seedings, or without a mutant that some run kills and
    /// another does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Expected>,
    /// What the cost oracle kills, and what that makes of the criteria; `None` if none was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<CostComparison>,
    /// How the first place among criteria stands under other choices that were not the user's; `None` with fewer than
    /// two criteria that have suites.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<Sensitivity>,
    /// What to do; `None` if no criterion has a suite, or if no mutant tells those apart that may be best.
    pub recommendation: Option<Recommendation>,
    /// The suite that was built instead of the recommended one; [`analyse`](crate::analyse) builds none, so the caller
    /// adds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub built: Option<BuiltSuite>,
    /// The suite that was built for its expected score instead; the caller adds it, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub built_expected: Option<ExpectedSuite>,
}

impl Analysis {
    /// Returns the survivor that shows most of what expectations and checks leave out: nobody has judged it, and of all
    /// it gets farthest, in most test cases. `None` if no test case reaches any.
    pub fn most_telling_survivor(&self) -> Option<&Survivor> {
        survivors::most_telling(&self.survivors)
    }

    /// Makes `suite` the chosen one, instead of the one that is recommended.
    ///
    /// # Panics
    /// If the analysis is not one of `outcomes`.
    pub fn choose(&mut self, outcomes: &Outcomes, suite: &Suite) {
        let chosen = ChosenSuite::of(outcomes, self, suite);
        self.suite_score_bounds = Some(chosen.scores.mutants);
        self.chosen = Some(chosen);
    }

    /// Returns whether no suite of a criterion is recommended since no mutant tells those criteria apart that may be
    /// best.
    pub fn is_undecided(&self) -> bool {
        self.sensitivity.as_ref().is_some_and(|sensitivity| sensitivity.first_place == FirstPlace::Undecided)
    }
}

/// How large a campaign was, and what it saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CampaignCounts {
    /// Test cases in the universe.
    pub cases: usize,
    /// Mutants.
    pub mutants: usize,
    /// Mutants that did not compile.
    pub mutants_rejected: usize,
    /// Mutants that comments or the manifest leave out.
    #[serde(default, skip_serializing_if = "simutant_outcomes::is_zero")]
    pub mutants_skipped: usize,
    /// Pairs of a mutant and a test case.
    pub pairs: u64,
    /// Pairs that were executed: the test case infects the mutant.
    pub pairs_executed: u64,
    /// Test cases with faults that come after their end.
    #[serde(default, skip_serializing_if = "simutant_outcomes::is_zero")]
    pub late_faults: usize,
    /// How the pairs ended; those that were not executed count as passed.
    pub verdicts: VerdictTotals,
    /// What the campaign checked of itself; outcomes do not say it, so the caller of [`analyse`](crate::analyse) adds
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked: Option<Checked>,
}

/// What a campaign checked of itself; anything wrong would have ended it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// Test cases that do the same on the package as it is written as on the original in the instrumented build.
    pub cases_compared: u64,
    /// Pairs that were pruned, and were run all the same: they end as the original.
    pub pairs_checked: u64,
}

impl CampaignCounts {
    /// Returns how many pairs did not need to be executed.
    pub fn pairs_pruned(&self) -> u64 {
        self.pairs - self.pairs_executed
    }
}

/// How many pairs ended in which way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerdictTotals {
    /// See [`RunEnd::Passed`].
    #[serde(alias = "reasonable")]
    pub passed: u64,
    /// See [`RunEnd::Failed`].
    #[serde(alias = "unreasonable")]
    pub failed: u64,
    /// See [`RunEnd::NotTerminated`].
    pub not_terminated: u64,
    /// See [`RunEnd::Abnormal`].
    pub abnormal: u64,
    /// See [`RunEnd::Inconclusive`].
    #[serde(default, skip_serializing_if = "simutant_outcomes::is_zero")]
    pub inconclusive: u64,
}

impl VerdictTotals {
    /// Returns how many pairs ended with `verdict`.
    pub fn of(self, verdict: RunEnd) -> u64 {
        match verdict {
            RunEnd::Passed => self.passed,
            RunEnd::Failed => self.failed,
            RunEnd::NotTerminated => self.not_terminated,
            RunEnd::Abnormal => self.abnormal,
            RunEnd::Inconclusive => self.inconclusive,
        }
    }

    fn add(mut self, counts: &VerdictCounts) -> Self {
        self.passed += u64::from(counts.passed);
        self.failed += u64::from(counts.failed);
        self.not_terminated += u64::from(counts.not_terminated);
        self.abnormal += u64::from(counts.abnormal);
        self.inconclusive += u64::from(counts.inconclusive);
        self
    }
}

/// Analyses `outcomes`.
///
/// Cost O(mutants^2 * cases / 64) for the random baseline, O(suites * cases) for each criterion, O(resamples * suites *
/// functions) for the intervals of each.
///
/// # Errors
/// [`AnalysisError`] if an option is out of its range, or if the parts of the outcomes do not fit together, as those of
/// a campaign do.
pub fn analyse(outcomes: &Outcomes, options: &AnalysisOptions) -> Result<Analysis, AnalysisError> {
    analyse_with_threads(outcomes, options, NonZeroUsize::MIN)
}

/// Analyses `outcomes` as [`analyse`] does, on this many threads. The result is the same, byte for byte, for any
/// number.
///
/// # Errors
/// As for [`analyse`].
pub fn analyse_with_threads(
    outcomes: &Outcomes,
    options: &AnalysisOptions,
    threads: NonZeroUsize,
) -> Result<Analysis, AnalysisError> {
    options.validate()?;
    shape::validate(outcomes)?;
    survivors::check_compiled(outcomes, options)?;
    let mutants = mutants::classify(outcomes, options);
    let dominators = dominators(&outcomes.kills);
    let analysed = mutants.of(MutantClass::Analysed);
    let representatives = dominators.representatives(outcomes.sites.mutants.len());
    let kills = KillsByCase::new(outcomes);
    let baseline_of = |mutants: &BitSet| {
        RandomBaseline::new(mutants.ones().map(|mutant| &outcomes.kills[mutant]), outcomes.cases.len())
    };
    let baseline = baseline_of(&analysed);
    let probabilities = KillProbabilities::of(outcomes, &mutants);
    let held_out = match probabilities.as_ref().zip(outcomes.reseeded.as_ref()) {
        Some((probabilities, reseeded)) => boosting::hold_out(probabilities.rows(reseeded), options.seed),
        None => {
            let rows = analysed.ones().map(|mutant| (mutant, outcomes.kills[mutant].as_slice()));
            boosting::hold_out(rows, options.seed)
        }
    };
    let to_boost = probabilities.as_ref().map_or(Kills::Certain(&kills), Kills::Likely);

    // Suites are drawn once for each criterion: all that follows compares the same suites.
    let events = suites::events(outcomes);
    let scoring = Scoring { events: &events, kills: &kills, analysed: &analysed, dominators: &representatives };
    let count = mutants.counts.analysed;
    let level = 1.0 - options.alpha;
    let mut killed: Vec<Vec<BitSet>> = Vec::with_capacity(outcomes.criteria.len());
    let mut criteria: Vec<CriterionAnalysis> = outcomes
        .criteria
        .iter()
        .map(|criterion| {
            let suites = suites::draw(criterion, options.suites, options.seed, &scoring);
            let purpose = format!("gains of {}", criterion.name);
            let bootstrap = Bootstrap { seed: options.seed, purpose: &purpose, resamples: options.resamples, threads };
            let same_size = same_size::same_size(&suites, count, &baseline, (level, &bootstrap));
            let killed_by_suite: Vec<BitSet> = suites.iter().map(|suite| kills.of_suite(&suite.cases)).collect();
            let detection = detection::detections(&suites, &killed_by_suite, &analysed, &outcomes.kills, level);
            killed.push(killed_by_suite);
            let halves = held_out.as_ref();
            let boosting = halves.and_then(|halves| halves.boost(&criterion.name, &suites, to_boost, options));
            let classes = dominators.classes.len();
            let summary = CriterionAnalysis::new(criterion, suites, count, classes, options.cost_multiplier);
            CriterionAnalysis { same_size, boosting, detection, ..summary }
        })
        .collect();
    // Each criterion tests its gain; Holm's correction needs the p-values of all of them.
    conventional::correct(&mut criteria);

    let events: Vec<f64> = events.iter().map(|&events| events as f64).collect();
    let random = conventional::random_sizes(&events, &baseline, &baseline_of(&representatives), options);
    // With re-seedings kills are probabilities, and criteria are ranked by expected scores; without, kills are certain.
    let by_probability = probabilities.as_ref().zip(outcomes.reseeded.as_ref());
    let ranking = match by_probability {
        Some((probabilities, reseeded)) => {
            rank_expected(outcomes, reseeded, probabilities, &criteria, options, threads)
        }
        None => ranking::rank(&criteria, &Comparing::of(outcomes, &analysed, &killed, options, threads)),
    };
    let seconds = seconds(outcomes, options);
    let expected = by_probability.and_then(|(probabilities, reseeded)| {
        let chosen_by = (options.coupling, &*seconds, options.seed);
        expected::expected(outcomes, reseeded, &criteria, &representatives, probabilities, chosen_by)
    });
    let sizes = (count, dominators.classes.len());
    let mut sensitivity = sensitivity::sensitivity(&Studied {
        outcomes,
        options,
        seconds: &seconds,
        classes: &mutants,
        criteria: &criteria,
        dominators: &representatives,
        probabilities: probabilities.as_ref().filter(|_| expected.is_some()),
        expected: expected.as_ref(),
        threads,
    });
    // Mutants with equal kill rows rank suites alike, so domination compares one of each row.
    let rows = analysed.ones().map(|mutant| (mutant, outcomes.kills[mutant].as_slice()));
    let different: BitSet = ranking::different(rows).into_iter().collect();
    let values = SuiteValues::new(&criteria, expected.as_ref(), &kills, &different);
    let mut recommendation = recommend(&criteria, &values, expected.as_ref(), sensitivity.as_mut(), sizes);
    // The rules of thumb need no simulation: they are given the time that the recommended suite takes, and compared
    // with it.
    if let Some((recommendation, probabilities)) = recommendation.as_mut().zip(probabilities.as_ref()) {
        let cases = &criteria[recommendation.choice.criterion].suites[recommendation.choice.suite].cases;
        let limit = cases.iter().map(|&case| seconds[case]).sum();
        let rules = expected::rules_of(outcomes, &seconds);
        let chosen_by = (options.coupling, options.seed);
        recommendation.same_time = expected::scores_in_time(probabilities, (&seconds, vec![limit]), &rules, chosen_by);
    }
    let all_cases: Vec<usize> = (0..outcomes.cases.len()).collect();
    let score_bounds = survivors::bounds(&kills.of_suite(&all_cases), &mutants);
    let mut analysis = Analysis {
        format_version: FORMAT_VERSION,
        system: outcomes.system.clone(),
        universe_seed: outcomes.seed,
        input_source: outcomes.input_source,
        options: options.clone(),
        campaign: campaign_counts(outcomes),
        cost_effectiveness: conventional::cost_effectiveness(&criteria, random, options.alpha),
        comparison: None,
        survivors: survivors::survivors(outcomes, &mutants, options),
        contradictions: survivors::contradictions(&cost::ordinary(outcomes), options),
        stale_judgements: survivors::stale(outcomes, options),
        score_bounds,
        suite_score_bounds: None,
        chosen: None,
        expected,
        cost: cost::compare(outcomes, &criteria, options),
        sensitivity,
        recommendation,
        built: None,
        built_expected: None,
        mutants,
        dominators,
        criteria,
        left_out: outcomes.left_out.clone(),
        held_out,
        ranking,
    };
    if let Some(suite) = chosen::suite(outcomes, &analysis) {
        analysis.choose(outcomes, &suite);
    }
    Ok(analysis)
}

/// Picks the best suite of the best criterion; where others are best under other choices, the largest of their best
/// suites, and where no mutant tells these apart, none. No other suite dominates what is picked.
fn recommend(
    criteria: &[CriterionAnalysis],
    values: &SuiteValues,
    expected: Option<&Expected>,
    sensitivity: Option<&mut Sensitivity>,
    sizes: (usize, usize),
) -> Option<Recommendation> {
    let Some(sensitivity) = sensitivity else {
        let candidates = match expected {
            Some(expected) => expected.criteria.iter().map(|criterion| criterion.criterion).collect(),
            None => recommendation::best_first(criteria),
        };
        let first = &candidates[..candidates.len().min(1)];
        return recommendation::recommend_largest(criteria, first, values, expected, sizes);
    };
    if sensitivity.first_place == FirstPlace::Undecided {
        return None;
    }
    let recommendation = recommendation::recommend_largest(criteria, &sensitivity.candidates, values, expected, sizes)?;
    sensitivity.recommend(recommendation.recommended_criterion());
    Some(recommendation)
}

/// Ranks criteria by what their suites are expected to kill, each mutant counted by its difficulty.
fn rank_expected(
    outcomes: &Outcomes,
    reseeded: &Reseeded,
    probabilities: &KillProbabilities,
    criteria: &[CriterionAnalysis],
    options: &AnalysisOptions,
    threads: NonZeroUsize,
) -> Ranking {
    let mutants = &probabilities.mutants;
    let killed = |suite: &AdequateSuite| {
        probabilities.survivals(&suite.cases).into_iter().map(|survival| 1.0 - survival).collect()
    };
    let killed: Vec<Vec<Vec<f64>>> =
        criteria.iter().map(|criterion| criterion.suites.iter().map(killed).collect()).collect();
    let places: BitSet = (0..mutants.len()).collect();
    let place = |mutant: usize| mutants.binary_search(&mutant).expect("rows are of mutants that count");
    let comparing = Comparing {
        functions: mutants.iter().map(|&mutant| outcomes.sites.mutants[mutant].function).collect(),
        analysed: &places,
        different: ranking::different(probabilities.rows(reseeded).map(|(mutant, row)| (place(mutant), row))),
        killed: Killed::Likely { probabilities: &killed, weights: &probabilities.difficulty },
        options,
        threads,
    };
    ranking::rank(criteria, &comparing)
}

pub(crate) fn campaign_counts(outcomes: &Outcomes) -> CampaignCounts {
    CampaignCounts {
        late_faults: outcomes.cases.iter().filter(|case| case.late_faults > 0).count(),
        cases: outcomes.cases.len(),
        mutants: outcomes.sites.mutants.len(),
        mutants_rejected: outcomes.sites.rejected.len(),
        mutants_skipped: outcomes.sites.mutants_skipped(),
        pairs: outcomes.pairs(),
        pairs_executed: outcomes.pairs_infected(),
        verdicts: outcomes.verdicts.iter().fold(VerdictTotals::default(), VerdictTotals::add),
        checked: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite;
    use simutant_outcomes::Suite;
    use simutant_synthetic::{from_kills, synthetic};

    /// What is asked here does not need many resamples.
    fn few_resamples() -> AnalysisOptions {
        AnalysisOptions { resamples: 200, ..AnalysisOptions::default() }
    }

    /// Analyses, and checks what must hold of every analysis.
    #[track_caller]
    fn check(outcomes: &Outcomes, options: &AnalysisOptions) -> Analysis {
        let analysis = analyse(outcomes, options).expect("sound outcomes");
        let json = serde_json::to_string(&analysis).expect("plain data");
        let read: Analysis = serde_json::from_str(&json).expect("an analysis can be read back");
        assert_eq!(read.ranking.order, analysis.ranking.order);
        let shown = format!("{analysis:?}");
        let undefined = shown.split(|c: char| !c.is_alphanumeric()).find(|word| matches!(*word, "NaN" | "inf"));
        assert_eq!(undefined, None);
        let chosen = suite(outcomes, &analysis);
        assert_eq!(chosen.is_some(), analysis.recommendation.is_some());
        if let Some(chosen) = chosen {
            let text = serde_json::to_string(&chosen).expect("plain data");
            assert_eq!(Suite::parse(&text, &outcomes.system).expect("a good suite").cases, chosen.cases);
        }
        analysis
    }

    #[test]
    fn the_same_input_gives_the_same_bytes() {
        let write = || {
            let outcomes = synthetic(60, 3);
            let analysis = analyse(&outcomes, &few_resamples()).expect("sound outcomes");
            serde_json::to_string(&analysis).expect("plain data")
        };
        assert!(write() == write(), "two analyses of the same outcomes differ");
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bytes() {
        let outcomes = synthetic(60, 3);
        let options = few_resamples();
        let bytes = |threads| {
            let threads = NonZeroUsize::new(threads).expect("not zero");
            let analysis = analyse_with_threads(&outcomes, &options, threads).expect("sound outcomes");
            serde_json::to_string(&analysis).expect("plain data")
        };
        assert!(bytes(1) == bytes(2) && bytes(1) == bytes(7), "threads change the analysis");
    }

    #[test]
    fn another_seed_draws_other_suites() {
        let outcomes = synthetic(60, 3);
        let suites = |seed| check(&outcomes, &AnalysisOptions { seed, ..few_resamples() }).criteria[0].suites.clone();
        assert!(suites(1) != suites(2), "the seed changes nothing");
    }

    #[test]
    fn a_criterion_more_does_not_change_the_others() {
        let outcomes = synthetic(60, 3);
        let mut fewer = outcomes.clone();
        fewer.criteria.remove(0);
        let criteria = |outcomes| {
            let mut criteria = check(outcomes, &few_resamples()).criteria;
            // This alone is corrected for the number of criteria.
            criteria.iter_mut().flat_map(|criterion| &mut criterion.same_size).for_each(|test| test.gain_p = None);
            criteria
        };
        assert!(criteria(&outcomes)[1..] == criteria(&fewer), "a criterion less changed the others");
    }

    #[test]
    fn a_campaign_is_counted() {
        let outcomes = from_kills(&["kri", "..r"]);
        let counts = check(&outcomes, &AnalysisOptions::default()).campaign;
        assert_eq!((counts.cases, counts.mutants, counts.pairs), (3, 2, 6));
        assert_eq!((counts.pairs_executed, counts.pairs_pruned()), (2, 4));
        assert_eq!((counts.verdicts.passed, counts.verdicts.failed), (5, 1));
    }

    #[test]
    fn small_and_degenerate_outcomes_are_analysed_without_panics() {
        let check_unscored = |outcomes: &Outcomes| {
            let analysis = check(outcomes, &AnalysisOptions::default());
            assert!(analysis.criteria.iter().all(|criterion| criterion.score.is_none()));
            assert!(analysis.ranking.order.is_empty() && analysis.ranking.pairs.is_empty());
            assert_eq!((&analysis.ranking.all, &analysis.ranking.by_mutant), (&None, &None));
            assert!(analysis.criteria.iter().all(|criterion| criterion.detection.is_empty()));
            analysis
        };
        // No mutant at all; all mutants pathological; none killed.
        let mut none = from_kills(&["."]);
        none.sites.mutants.clear();
        none.kills.clear();
        none.verdicts.clear();
        none.reasons.clear();
        none.causes.clear();
        none.diverged.clear();
        none.cases[0].reached.clone_from(&Default::default());
        none.cases[0].infected.clone_from(&Default::default());
        assert!(check_unscored(&none).recommendation.is_some());
        assert_eq!(check_unscored(&from_kills(&["kkk", "kk."])).mutants.counts.pathological, 2);
        assert_eq!(check_unscored(&from_kills(&["...", "ri."])).dominators.classes.len(), 0);
        // One test case that kills one mutant is more than half of the universe.
        assert_eq!(check_unscored(&from_kills(&["k"])).mutants.counts.pathological, 1);
        // No requirement is feasible.
        let mut infeasible = from_kills(&["k..", ".k."]);
        infeasible.criteria.iter_mut().flat_map(|criterion| &mut criterion.covered).for_each(|set| set.clear());
        assert_eq!(check_unscored(&infeasible).recommendation, None);
        // Every suite scores the same.
        let constant = check(&from_kills(&["k..", "k..", ".k.", ".k."]), &AnalysisOptions::default());
        assert_eq!(constant.criteria[0].score.expect("mutants count").sd, Some(0.0));
        // One mutant counts, so that it cannot be held out.
        let one = check(&from_kills(&["k..."]), &AnalysisOptions::default());
        assert_eq!((one.criteria[0].detection.len(), &one.held_out), (1, &None));
        // A few of each: two suites of each criterion, of two test cases.
        check(&synthetic(2, 1), &AnalysisOptions { suites: 2, ..AnalysisOptions::default() });
    }
}
