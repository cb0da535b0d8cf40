//! Sources of test cases side by side: universes of one size, each of another source, on the same mutants.

use serde::{Deserialize, Serialize};
use simutant_outcomes::{BitSet, FORMAT_VERSION, InputSource, Outcomes, Reseeded};

use crate::baseline::{Moments, RandomBaseline};
use crate::dominators::dominators;
use crate::expected::worth::{mean, random_score};
use crate::missing::missing_of_random;
use crate::options::AnalysisOptions;
use crate::seconds::seconds;
use crate::suites::target;

/// The sizes of the random suites that sources are compared by, and their times in mean test cases of all sources.
const SIZES: [usize; 5] = [1, 2, 5, 10, 20];

/// What universes of several sources find.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SourceComparison {
    /// [`FORMAT_VERSION`].
    pub format_version: u32,
    /// The system.
    pub system: String,
    /// The seed of all universes.
    pub seed: u64,
    /// How many test cases each has.
    pub cases: usize,
    /// How many mutants the universe of at least one source kills: what the scores are of.
    pub killed_by_any: usize,
    /// How many of them are dominators, by all universes together: a mutant of each class that no other class subsumes.
    pub dominators: usize,
    /// The times of the random suites, in seconds: those of as many mean test cases of all sources as [`Self::sizes`] has.
    pub times: Vec<f64>,
    /// The sizes of the random suites.
    pub sizes: Vec<usize>,
    /// The names of the criteria.
    pub criteria: Vec<String>,
    /// The requirements that each criterion has, `None` where they are what the universe covers.
    pub requirements: Vec<Option<usize>>,
    /// What expected scores are of; `None` if each test case was run once, or nothing tells suites apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<ExpectedOfAny>,
    /// One for each source, in the order of the outcomes.
    pub sources: Vec<BySource>,
}

/// The mutants that the expected scores of sources count: those that a run of any universe kills.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ExpectedOfAny {
    /// How often each test case was run at most.
    pub reseedings: u32,
    /// How many mutants count.
    pub mutants: usize,
    /// The sum of their difficulties: the probability that a random test case of all universes lets the mutant survive.
    pub difficulty: f64,
}

/// What the universe of a source finds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BySource {
    /// The source.
    pub source: InputSource,
    /// How many mutants the universe kills.
    pub killed: usize,
    /// How many of them no other source's kills.
    pub killed_alone: usize,
    /// What its test cases take on average, in seconds.
    pub seconds: f64,
    /// The mean score of random suites that take each time on average, on the mutants that any source kills; `None` if
    /// nothing is killed, or the whole universe takes less.
    pub random_in_time: Vec<Option<f64>>,
    /// The same on the dominators.
    pub random_dominators_in_time: Vec<Option<f64>>,
    /// The same of expected scores; `None` without [`SourceComparison::expected`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub random_expected_in_time: Option<Vec<Option<f64>>>,
    /// The score of a random suite of each size on the mutants that any source kills, computed; `None` if nothing is
    /// killed, or the universe is smaller.
    pub random: Vec<Option<Moments>>,
    /// The same on the dominators.
    pub random_dominators: Vec<Option<Moments>>,
    /// The expected score of a random suite of each size, each mutant counted by its difficulty, were the chance of its
    /// test cases drawn anew; `None` without [`SourceComparison::expected`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub random_expected: Option<Vec<Option<f64>>>,
    /// How many requirements of each criterion the universe covers.
    pub covered: Vec<usize>,
    /// The events of all its runs on the original.
    pub events: u64,
}

/// Compares what universes of different sources find in the same time, and with as many test cases, with the same mutants, the
/// same number of test cases and the same seed. The options say what a test case takes.
///
/// Scores count the mutants that any of the universes kills. So a source is not praised for killing all of the few that
/// it kills. Where test cases were re-seeded, expected scores stand first.
///
/// # Panics
/// If there are no outcomes, or their systems, mutants, seeds or sizes differ.
pub fn compare_sources(all: &[Outcomes], options: &AnalysisOptions) -> SourceComparison {
    let first = all.first().expect("there is a source to compare");
    for outcomes in all {
        assert_eq!((&outcomes.system, outcomes.seed), (&first.system, first.seed), "one system and one seed");
        assert_eq!(outcomes.cases.len(), first.cases.len(), "one size");
        assert!(outcomes.sites.mutants == first.sites.mutants, "the same mutants");
    }
    let killed: Vec<BitSet> = all
        .iter()
        .map(|outcomes| outcomes.killed_mutants().into_iter().map(|mutant| mutant as usize).collect())
        .collect();
    let mut any = BitSet::with_capacity(first.sites.mutants.len());
    killed.iter().for_each(|killed| any.union_with(killed));
    let dominators = dominators_of_all(all);
    let survivals = Survivals::new(all);
    let seconds: Vec<f64> = all.iter().map(|outcomes| mean(&seconds(outcomes, options))).collect();
    let times = SIZES.map(|size| size as f64 * mean(&seconds));
    let (criteria, requirements): (Vec<String>, Vec<Option<usize>>) = criteria(all).into_iter().unzip();
    let by_source = |(index, outcomes): (usize, &Outcomes)| {
        let mut alone = killed[index].clone();
        killed
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != index)
            .for_each(|(_, other)| alone.difference_with(other));
        let cases = outcomes.cases.len();
        // Random suites of this mean size take each of the times on average.
        let sizes_in_time = times.map(|time| time / seconds[index]);
        let baseline =
            |mutants: &BitSet| RandomBaseline::new(mutants.ones().map(|mutant| &outcomes.kills[mutant]), cases);
        let (on_any, on_dominators) = (baseline(&any), baseline(&dominators));
        let random = |baseline: &RandomBaseline| -> Vec<Option<Moments>> {
            SIZES.map(|size| if size <= cases { baseline.at(size) } else { None }).into()
        };
        let in_time = |baseline: &RandomBaseline| -> Vec<Option<f64>> {
            sizes_in_time.map(|size| if size <= cases as f64 { baseline.mean_between(size) } else { None }).into()
        };
        let expected = |sizes: [f64; SIZES.len()]| survivals.as_ref().map(|survivals| survivals.random(index, sizes));
        let covered = |name: &String| {
            let criterion = outcomes.criteria.iter().find(|criterion| criterion.name == *name);
            criterion.map_or(0, |criterion| target(criterion).count_ones(..))
        };
        BySource {
            source: outcomes.input_source,
            killed: killed[index].count_ones(..),
            killed_alone: alone.count_ones(..),
            seconds: seconds[index],
            random_in_time: in_time(&on_any),
            random_dominators_in_time: in_time(&on_dominators),
            random_expected_in_time: expected(sizes_in_time),
            random: random(&on_any),
            random_dominators: random(&on_dominators),
            random_expected: expected(SIZES.map(|size| size as f64)),
            covered: criteria.iter().map(covered).collect(),
            events: outcomes.cases.iter().map(|case| case.events).sum(),
        }
    };
    let sources = all.iter().enumerate().map(by_source).collect();
    SourceComparison {
        format_version: FORMAT_VERSION,
        system: first.system.clone(),
        seed: first.seed,
        cases: first.cases.len(),
        killed_by_any: any.count_ones(..),
        dominators: dominators.count_ones(..),
        times: times.into(),
        sizes: SIZES.into(),
        criteria,
        requirements,
        expected: survivals.map(|survivals| survivals.of),
        sources,
    }
}

/// How likely test cases let mutants survive.
struct Survivals {
    of: ExpectedOfAny,
    /// For each mutant that counts its difficulty, and for each source how likely each test case lets it survive.
    mutants: Vec<(f64, Vec<Vec<f64>>)>,
}

impl Survivals {
    /// Takes the share of the re-seedings that let a mutant survive for the probability. A random suite has each test
    /// case once, so its expected score is linear in these, and an estimate that is right on average is enough.
    fn new(all: &[Outcomes]) -> Option<Self> {
        let reseeded: Vec<&Reseeded> = all.iter().map(|outcomes| outcomes.reseeded.as_ref()).collect::<Option<_>>()?;
        let survival = |(&runs, &kills): (&u8, &u8)| 1.0 - f64::from(kills) / f64::from(runs);
        let of_mutant = |mutant: usize| {
            let is_killed = reseeded.iter().any(|reseeded| reseeded.kills[mutant].iter().any(|kills| *kills > 0));
            is_killed.then(|| {
                let pairs = reseeded.iter().map(|reseeded| reseeded.runs[mutant].iter().zip(&reseeded.kills[mutant]));
                let survivals: Vec<Vec<f64>> = pairs.map(|pairs| pairs.map(survival).collect()).collect();
                let cases = survivals.iter().map(Vec::len).sum::<usize>() as f64;
                (survivals.iter().flatten().sum::<f64>() / cases, survivals)
            })
        };
        let mutants: Vec<(f64, Vec<Vec<f64>>)> = (0..all[0].sites.mutants.len()).filter_map(of_mutant).collect();
        let difficulty: f64 = mutants.iter().map(|mutant| mutant.0).sum();
        let of = ExpectedOfAny { reseedings: reseeded[0].reseedings, mutants: mutants.len(), difficulty };
        (difficulty > 0.0).then_some(Self { of, mutants })
    }

    /// Returns the expected scores of random suites of a source, of these mean sizes.
    fn random(&self, source: usize, sizes: [f64; SIZES.len()]) -> Vec<Option<f64>> {
        let cases = self.mutants[0].1[source].len();
        let size_max = sizes.into_iter().fold(1.0, f64::max).ceil() as usize;
        let mut scores = vec![0.0; cases.min(size_max)];
        for (difficulty, survivals) in &self.mutants {
            let missing = missing_of_random(&survivals[source], scores.len());
            scores.iter_mut().zip(&missing[1..]).for_each(|(score, missing)| *score += difficulty * (1.0 - missing));
        }
        let score = |size: f64| (size <= cases as f64).then(|| random_score(&scores, size) / self.of.difficulty);
        sizes.map(score).into()
    }
}

/// Returns the dominators of the universes put together, one mutant of each class.
fn dominators_of_all(all: &[Outcomes]) -> BitSet {
    let cases = all[0].cases.len();
    let mutants = all[0].sites.mutants.len();
    let joined = |mutant: usize| {
        let mut kills = BitSet::with_capacity(cases * all.len());
        for (index, outcomes) in all.iter().enumerate() {
            kills.extend(outcomes.kills[mutant].ones().map(|case| index * cases + case));
        }
        kills
    };
    let joined: Vec<BitSet> = (0..mutants).map(joined).collect();
    dominators(&joined).representatives(mutants)
}

/// Returns the criteria that any of the outcomes has, with the number of requirements if that is the same in all.
fn criteria(all: &[Outcomes]) -> Vec<(String, Option<usize>)> {
    let mut criteria: Vec<(String, Option<usize>)> = Vec::new();
    for criterion in all.iter().flat_map(|outcomes| &outcomes.criteria) {
        if !criteria.iter().any(|(name, _)| *name == criterion.name) {
            let is_of_universe = criterion.kind == simutant_outcomes::CriterionKind::Trace;
            criteria.push((criterion.name.clone(), (!is_of_universe).then_some(criterion.requirements.len())));
        }
    }
    criteria
}

#[cfg(test)]
mod tests {
    use super::*;
    use simutant_synthetic::{from_kills, reseeded};

    fn of(source: InputSource, kills: &[&str]) -> Outcomes {
        Outcomes { input_source: source, ..from_kills(kills) }
    }

    #[test]
    fn scores_are_of_what_any_source_kills() {
        let all =
            [of(InputSource::Uniform, &["kk..", "....", "...."]), of(InputSource::Sobol, &["k...", "kkkk", "...."])];
        let found = compare_sources(&all, &AnalysisOptions::default());
        assert_eq!(found.killed_by_any, 2);
        let counts: Vec<(usize, usize)> =
            found.sources.iter().map(|source| (source.killed, source.killed_alone)).collect();
        assert_eq!(counts, [(1, 0), (2, 1)]);
        // One of four: half of one mutant of two; a quarter of one and all of the other.
        let means: Vec<Option<f64>> =
            found.sources.iter().map(|source| source.random[0].map(|moments| moments.mean)).collect();
        assert_eq!(means, [Some(0.25), Some(0.625)]);
        assert_eq!(found.sources[0].random[2..], [None, None, None], "there are not five test cases");
        assert_eq!((found.criteria.len(), found.sources[0].covered[0]), (1, 4));
        // Some test case kills each of them and not the other.
        assert_eq!(found.dominators, 2);
    }

    #[test]
    fn expected_scores_count_what_re_seedings_kill_by_one_difficulty_for_all() {
        let uniform = reseeded(&[&[8, 0, 0, 0], &[0, 4, 0, 0], &[0, 0, 0, 0]]);
        let sobol =
            Outcomes { input_source: InputSource::Sobol, ..reseeded(&[&[0, 0, 0, 0], &[8, 8, 8, 8], &[0, 0, 0, 0]]) };
        let found = compare_sources(&[uniform, sobol], &AnalysisOptions::default());
        // Survival of a random test case: 7/8 and 3.5/8; the third mutant does not count.
        let of = found.expected.expect("there are re-seedings");
        assert_eq!((of.reseedings, of.mutants, of.difficulty), (8, 2, 0.875 + 0.4375));
        let scores = |source: usize| found.sources[source].random_expected.clone().expect("there are re-seedings");
        let (one, two) = (0.875 / 1.3125, 0.4375 / 1.3125);
        let close = |found: Option<f64>, expect: f64| (found.expect("four test cases") - expect).abs() < 1e-12;
        assert!(close(scores(0)[0], one * 0.25 + two * 0.125), "{:?}", scores(0));
        // Of the six pairs, three have the test case of each mutant.
        assert!(close(scores(0)[1], one * 0.5 + two * 0.25), "{:?}", scores(0));
        assert!(close(scores(1)[0], two) && scores(1)[2..] == [None; 3], "{:?}", scores(1));
    }

    #[test]
    fn a_source_of_cheap_test_cases_has_more_of_them_in_the_same_time() {
        let mut all = [
            reseeded(&[&[8, 0, 0, 0, 0, 0], &[0, 4, 0, 0, 0, 0]]),
            Outcomes { input_source: InputSource::Sobol, ..reseeded(&[&[8, 0, 0, 0, 0, 0], &[0, 4, 0, 0, 0, 0]]) },
        ];
        let same = compare_sources(&all, &AnalysisOptions::default());
        let [one, other] = [&same.sources[0], &same.sources[1]];
        assert_eq!(one.random_expected_in_time, other.random_expected_in_time);
        let are_close = |one: &[Option<f64>], other: &[Option<f64>]| {
            let mut pairs = one.iter().zip(other);
            pairs.all(|pair| {
                matches!(pair, (None, None)) || matches!(pair, (Some(one), Some(other)) if (one - other).abs() < 1e-9)
            })
        };
        let expected = |scores: &Option<Vec<Option<f64>>>| scores.clone().expect("there are re-seedings");
        assert!(
            are_close(&expected(&one.random_expected_in_time), &expected(&one.random_expected)),
            "all take the same"
        );
        let means = |source: &BySource| -> Vec<Option<f64>> {
            source.random.iter().map(|moments| moments.map(|moments| moments.mean)).collect()
        };
        assert!(are_close(&one.random_in_time, &means(one)));
        // Those of the second source take twice what those of the first do: 0.4 s to 0.8 s, 0.6 s on average.
        all[0].cases.iter_mut().for_each(|case| case.virtual_time_ns = 100_000_000);
        all[1].cases.iter_mut().for_each(|case| case.virtual_time_ns = 500_000_000);
        let found = compare_sources(&all, &AnalysisOptions::default());
        assert!((found.times[1] - 1.2).abs() < 1e-9 && (found.sources[0].seconds - 0.4).abs() < 1e-9, "{found:?}");
        let at = |source: usize| found.sources[source].random_in_time.clone();
        // Three of the first, and one and a half of the second.
        let expect = [means(one)[0].map(|mean| 3.0 * mean), means(one)[0].map(|mean| 1.5 * mean)];
        for (found, expect) in [at(0)[1], at(1)[1]].into_iter().zip(expect) {
            assert!((found.expect("six are enough") - expect.expect("some are killed")).abs() < 1e-9);
        }
        // Five mean test cases take 3 s: more than the first universe does.
        assert_eq!((at(0)[2], at(1)[2].is_some()), (None, true));
        assert_eq!(found.sources[0].random_expected, same.sources[0].random_expected);
    }

    #[test]
    #[should_panic(expected = "one size")]
    fn universes_of_different_sizes_are_not_compared() {
        let all = [of(InputSource::Uniform, &["k..."]), of(InputSource::Sobol, &["k..."].map(|_| "k...."))];
        compare_sources(&all, &AnalysisOptions::default());
    }
}
