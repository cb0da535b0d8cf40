//! Suites that are built instead of drawn, and judged by held-out mutants.

mod expected;

use simutant_outcomes::{BitSet, Criterion, CriterionKind, FORMAT_VERSION, MutantNumber, Outcomes, Suite};

use crate::analysis::Analysis;
use crate::baseline::RandomBaseline;
use crate::chosen::cases_of;
use crate::domination::{SuiteValue, dominating_built};
use crate::dominators::dominators;
use crate::kills::KillsByCase;
use crate::mutants::MutantClass;
use crate::score::Score;
use crate::statistics::Summary;
use crate::suites::budgeted::budgeted;
use crate::suites::built::{Builder, BuiltSuite, Earliness, JudgedSuite, MUTANTS};
use crate::suites::cover::Cover;
use crate::suites::greedy::greedy;
use crate::suites::minimum::{NODES_MAX, minimum};
use crate::suites::prioritised::prioritise;
use crate::suites::{AdequateSuite, Scoring, SuiteIndex, draw, events};

pub use expected::build_expected;

/// Builds a suite for a criterion, [`MUTANTS`] or else that of the recommendation, and has it judged; `None` if there
/// is no such criterion, or no test case covers anything of it.
///
/// # Panics
/// If `analysis` is not one of `outcomes`.
pub fn build_suite(
    outcomes: &Outcomes,
    analysis: &Analysis,
    builder: Builder,
    criterion: Option<&str>,
) -> Option<BuiltSuite> {
    let recommended = analysis.recommendation.as_ref();
    let recommended = recommended.map(|found| analysis.criteria[found.recommended_criterion()].name.as_str());
    let name = criterion.or(recommended)?;
    let kills = KillsByCase::new(outcomes);
    let known = outcomes.criteria.iter().find(|criterion| criterion.name == name);
    let (criterion, is_of_mutants) = match known {
        Some(criterion) => (criterion.clone(), false),
        None if name == MUTANTS => {
            let classes = &analysis.dominators.classes;
            (of_mutants(outcomes, classes.iter().map(|class| class.mutants[0])), true)
        }
        None => return None,
    };
    let mut cover = Cover::new(&criterion);
    if cover.target() == 0 {
        return None;
    }
    let (cases, size_min) = build(&mut cover, outcomes, builder);
    cover.clear();
    let adequate = cases.iter().position(|&case| {
        cover.take(case);
        cover.is_met()
    });
    let analysed = analysis.mutants.of(MutantClass::Analysed);
    let representatives = analysis.dominators.representatives(outcomes.sites.mutants.len());
    let killed = kills.of_suite(&cases);
    let score = |mutants: &BitSet| Score { killed: killed.intersection_count(mutants), of: mutants.count_ones(..) };
    let judged = if is_of_mutants {
        judge_by_half(outcomes, analysis, &kills, builder)
    } else {
        let drawn = analysis.criteria.iter().find(|other| other.name == name);
        let drawn = drawn.and_then(|criterion| Some((criterion.size?.mean, criterion.score?.mean)));
        drawn.and_then(|drawn| judge(outcomes, &kills, &cases, (&analysed, false), drawn))
    };
    let (score, dominator_score) = (score(&analysed), score(&representatives));
    let value = SuiteValue::killed(cases.len(), score.killed, dominator_score.killed, score.killed);
    let value_of = |choice: SuiteIndex, drawn: &AdequateSuite| {
        let stands_for_it = match builder {
            // An order of all test cases is not there for its size.
            Builder::Prioritised { budget: None } => false,
            Builder::Greedy { budget: Some(budget) } | Builder::Prioritised { budget: Some(budget) } => {
                drawn.events_selected <= budget
            }
            Builder::Greedy { budget: None } | Builder::Minimum => {
                is_of_mutants || analysis.criteria[choice.criterion].name == name
            }
        };
        let (size, dominators) = (drawn.cases.len(), drawn.dominators_killed);
        stands_for_it.then(|| SuiteValue::killed(size, drawn.killed, dominators, drawn.killed))
    };
    Some(BuiltSuite {
        builder,
        dominated_by: dominating_built(&analysis.criteria, value, value_of),
        criterion: criterion.name.clone(),
        events: cases.iter().map(|&case| outcomes.cases[case].events).sum(),
        target: cover.target(),
        covered: cover.progress(),
        adequate: adequate.map(|last| last + 1),
        size_min,
        score,
        dominator_score,
        judged,
        cases,
    })
}

/// Returns all test cases in the order in which each kills most analysed mutants that those before it do not: see
/// [`prioritise`]. Its beginnings are what a campaign chooses for each size.
pub(crate) fn order_by_kills(outcomes: &Outcomes, analysis: &Analysis) -> Vec<usize> {
    let analysed = analysis.mutants.of(MutantClass::Analysed);
    let criterion = of_mutants(outcomes, analysed.ones().map(|mutant| mutant as MutantNumber));
    let all: Vec<usize> = (0..outcomes.cases.len()).collect();
    prioritise(&mut Cover::new(&criterion), &outcomes.cases, &all)
}

/// Returns the test cases, and for a smallest suite the bound.
fn build(cover: &mut Cover<'_>, outcomes: &Outcomes, builder: Builder) -> (Vec<usize>, Option<usize>) {
    let cases = &outcomes.cases;
    match builder {
        Builder::Greedy { budget: None } => (greedy(cover, cases), None),
        Builder::Greedy { budget: Some(budget) } => (budgeted(cover, cases, budget), None),
        Builder::Minimum => {
            let found = minimum(cover, cases, NODES_MAX);
            (found.cases, Some(found.size_min))
        }
        Builder::Prioritised { budget } => {
            let all: Vec<usize> = (0..cases.len()).collect();
            let mut order = prioritise(cover, cases, &all);
            let mut left = budget.unwrap_or(u64::MAX);
            let fits = |&&case: &&usize| {
                let rest = left.checked_sub(cases[case].events.max(1));
                left = rest.unwrap_or(left);
                rest.is_some()
            };
            let fitting = order.iter().take_while(fits).count();
            order.truncate(fitting);
            (order, None)
        }
    }
}

/// Returns the criterion that asks for these mutants to be killed.
fn of_mutants(outcomes: &Outcomes, mutants: impl Iterator<Item = MutantNumber>) -> Criterion {
    let mutants: Vec<MutantNumber> = mutants.collect();
    let mut covered = vec![BitSet::with_capacity(mutants.len()); outcomes.cases.len()];
    for (requirement, &mutant) in mutants.iter().enumerate() {
        outcomes.kills[mutant as usize].ones().for_each(|case| covered[case].insert(requirement));
    }
    let requirements = mutants.iter().map(|mutant| format!("mutant {mutant}")).collect();
    Criterion { name: MUTANTS.into(), kind: CriterionKind::WhiteBox, requirements, quotas: Vec::new(), covered }
}

/// Builds for one half of the mutants, and has the other half judge.
fn judge_by_half(
    outcomes: &Outcomes,
    analysis: &Analysis,
    kills: &KillsByCase,
    builder: Builder,
) -> Option<JudgedSuite> {
    let halves = analysis.held_out.as_ref()?;
    let choosing: Vec<BitSet> = halves.choosing.iter().map(|&mutant| outcomes.kills[mutant as usize].clone()).collect();
    let classes = dominators(&choosing).classes;
    let criterion = of_mutants(outcomes, classes.iter().map(|class| halves.choosing[class.mutants[0] as usize]));
    let judging: BitSet = halves.judging.iter().map(|&mutant| mutant as usize).collect();
    let (cases, _) = build(&mut Cover::new(&criterion), outcomes, builder);
    let none = BitSet::new();
    let scoring = Scoring { events: &events(outcomes), kills, analysed: &judging, dominators: &none };
    let drawn = draw(&criterion, analysis.options.suites, analysis.options.seed, &scoring);
    let mean =
        |value: &dyn Fn(&AdequateSuite) -> f64| Some(Summary::of(&drawn.iter().map(value).collect::<Vec<f64>>())?.mean);
    let size = mean(&|suite| suite.cases.len() as f64)?;
    let score = mean(&|suite| suite.killed as f64)? / halves.judging.len() as f64;
    judge(outcomes, kills, &cases, (&judging, true), (size, score))
}

/// `None` without judges.
fn judge(
    outcomes: &Outcomes,
    kills: &KillsByCase,
    cases: &[usize],
    (judges, is_half): (&BitSet, bool),
    (drawn_size, drawn_score): (f64, f64),
) -> Option<JudgedSuite> {
    let universe = outcomes.cases.len();
    let killed = kills.of_suite(cases).intersection_count(judges);
    let score = Score { killed, of: judges.count_ones(..) }.value()?;
    let baseline = RandomBaseline::new(judges.ones().map(|mutant| &outcomes.kills[mutant]), universe);
    let random_score = baseline.at(cases.len())?.mean;
    let order = (cases.len() == universe).then(|| earliness(outcomes, cases, judges));
    let judges = judges.count_ones(..);
    Some(JudgedSuite { judges, is_half, size: cases.len(), score, drawn_size, drawn_score, random_score, order })
}

/// `judges` are killed mutants, at least one.
fn earliness(outcomes: &Outcomes, order: &[usize], judges: &BitSet) -> Earliness {
    let size = order.len() as f64;
    let apfd = |first: &dyn Fn(&BitSet) -> f64| {
        let firsts: f64 = judges.ones().map(|mutant| first(&outcomes.kills[mutant])).sum();
        1.0 - firsts / (size * judges.count_ones(..) as f64) + 1.0 / (2.0 * size)
    };
    let first = |kills: &BitSet| {
        let place = order.iter().position(|&case| kills.contains(case));
        place.expect("a mutant that counts is killed") as f64 + 1.0
    };
    Earliness { apfd: apfd(&first), random: apfd(&|kills| (size + 1.0) / (kills.count_ones(..) as f64 + 1.0)) }
}

impl BuiltSuite {
    /// Returns the suite with its inputs.
    ///
    /// # Panics
    /// If it is not one of `outcomes`.
    pub fn suite(&self, outcomes: &Outcomes, analysis: &Analysis) -> Suite {
        let (seconds, cases) = cases_of(outcomes, &analysis.options, &self.cases);
        Suite {
            format_version: FORMAT_VERSION,
            system: analysis.system.clone(),
            criterion: self.criterion.clone(),
            chosen: self.chosen(),
            seed: analysis.options.seed,
            mutant_score: self.score.value(),
            dominator_score: self.dominator_score.value(),
            seconds: Some(seconds),
            cases,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnalysisOptions, analyse};
    use simutant_synthetic::{from_kills, synthetic};

    fn analysed(outcomes: &Outcomes) -> Analysis {
        analyse(outcomes, &AnalysisOptions { resamples: 200, ..AnalysisOptions::default() }).expect("sound outcomes")
    }

    const GREEDY: Builder = Builder::Greedy { budget: None };
    const PRIORITISED: Builder = Builder::Prioritised { budget: None };

    #[test]
    fn every_builder_meets_every_criterion_and_the_smallest_is_the_smallest() {
        let outcomes = synthetic(120, 1);
        let analysis = analysed(&outcomes);
        for name in analysis.criteria.iter().map(|criterion| criterion.name.as_str()).chain([MUTANTS]) {
            let build = |builder| build_suite(&outcomes, &analysis, builder, Some(name)).expect("it is covered");
            let [greedy, smallest, order] = [GREEDY, Builder::Minimum, PRIORITISED].map(build);
            for built in [&greedy, &smallest, &order] {
                assert_eq!(built.covered, built.target, "{name}");
                assert!(built.judged.is_some(), "{name}: there are mutants that judge");
            }
            assert!(smallest.cases.len() <= greedy.cases.len(), "{name}");
            assert_eq!(smallest.size_min, Some(smallest.cases.len()), "{name}");
            assert_eq!(
                (greedy.adequate, order.adequate),
                (Some(greedy.cases.len()), Some(greedy.cases.len())),
                "{name}"
            );
            assert_eq!(order.cases.len(), 120);
            let suite = order.suite(&outcomes, &analysis);
            let text = serde_json::to_string(&suite).expect("plain data");
            assert_eq!(Suite::parse(&text, &outcomes.system).expect("a good suite").cases, suite.cases);
        }
    }

    #[test]
    fn a_suite_for_mutants_kills_all_that_are_killed() {
        let outcomes = from_kills(&["kk..", "k...", "..kk", "....", "kkkk"]);
        let analysis = analysed(&outcomes);
        let built = build_suite(&outcomes, &analysis, Builder::Minimum, Some(MUTANTS)).expect("mutants are killed");
        assert_eq!((built.cases.len(), built.target), (2, 2));
        assert_eq!(KillsByCase::new(&outcomes).of_suite(&built.cases).count_ones(..), 4);
        assert!(built.chosen().contains("none with fewer inputs is adequate"), "{}", built.chosen());
    }

    #[test]
    fn a_budget_is_kept_and_cuts_an_order() {
        let outcomes = synthetic(120, 1);
        let analysis = analysed(&outcomes);
        let build =
            |builder| build_suite(&outcomes, &analysis, builder, Some("all-blocks")).expect("there is code that runs");
        let whole = build(PRIORITISED);
        let budget = whole.events / 10;
        let greedy = build(Builder::Greedy { budget: Some(budget) });
        let cut = build(Builder::Prioritised { budget: Some(budget) });
        for built in [&greedy, &cut] {
            assert!(built.events <= budget && !built.cases.is_empty(), "{built:?}");
        }
        assert!(whole.cases.starts_with(&cut.cases) && cut.cases.len() < whole.cases.len());
        let next = outcomes.cases[whole.cases[cut.cases.len()]].events;
        assert!(cut.events + next > budget, "one more would fit");
    }

    /// Three mutants, one test case kills each; the order is the universe's own for equal gains.
    #[test]
    fn earliness_is_that_of_its_definition() {
        let outcomes = from_kills(&["k...", ".k..", "..kk"]);
        let judges: BitSet = (0..3).collect();
        let found = earliness(&outcomes, &[3, 1, 0, 2], &judges);
        // The first kills come at places 3, 2 and 1.
        assert!((found.apfd - (1.0 - 6.0 / 12.0 + 1.0 / 8.0)).abs() < 1e-12, "{found:?}");
        // Of four places the first of one comes at 2.5 on average, the first of two at 5/3.
        assert!((found.random - (1.0 - (2.5 + 2.5 + 5.0 / 3.0) / 12.0 + 1.0 / 8.0)).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn without_mutants_or_requirements_nothing_is_judged_and_nothing_panics() {
        let outcomes = from_kills(&["....", "...."]);
        let analysis = analysed(&outcomes);
        let built = build_suite(&outcomes, &analysis, Builder::Minimum, None).expect("a criterion is recommended");
        assert_eq!((built.cases.len(), built.judged.clone(), built.score.value()), (4, None, None));
        for unknown in [MUTANTS, "IP-9"] {
            assert_eq!(build_suite(&outcomes, &analysis, GREEDY, Some(unknown)), None);
        }
    }
}
