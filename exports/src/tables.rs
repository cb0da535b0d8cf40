//! The tables of a study: those for notebooks, and a few for papers.

use std::iter::repeat_n;

use simutant_analysis::{MutantClass, Study, case_name, kill_probabilities, seconds, suite_cases};
use simutant_outcomes::{BitSet, CriterionKind, RunEnd};

use crate::table::Table;

/// Returns all tables of a study.
///
/// | name | a row for each |
/// | --- | --- |
/// | `criteria` | criterion |
/// | `suites` | adequate suite of a criterion |
/// | `ranking` | ordered pair of criteria |
/// | `cases` | test case |
/// | `mutants` | mutant |
/// | `kills` | pair of a mutant and a test case that kills it |
/// | `probabilities` | pair of a mutant that expected scores count and a test case, of which some run kills it; none without re-seedings |
/// | `requirements` | requirement of a criterion |
/// | `coverage` | pair of a requirement and a test case that covers it |
///
/// Mutants, test cases and requirements have their numbers, from 0, and stand in the order of these.
pub fn tables(study: &Study<'_>) -> Vec<Table> {
    vec![
        criteria(study),
        suites(study),
        ranking(study),
        cases(study),
        mutants(study),
        kills(study),
        probabilities(study),
        requirements(study),
        coverage(study),
    ]
}

/// Returns the tables that a paper shows, with fewer columns: classes of mutants, criteria, and the neighbours in their
/// order.
pub fn tables_for_paper(study: &Study<'_>) -> Vec<Table> {
    let analysis = study.analysis;
    let system = &analysis.system;
    let counts = analysis.mutants.counts;
    let classes: Vec<MutantClass> = MutantClass::ALL.into_iter().filter(|class| counts.of(*class) > 0).collect();
    let classes = Table::new("classes", format!("Mutants of {system} by how far they get"))
        .text("class", classes.iter().map(MutantClass::to_string).chain(["all".into()]))
        .integer("mutants", classes.iter().map(|class| counts.of(*class)).chain([counts.total()]));

    let all = &analysis.criteria;
    let caption = format!(
        "Criteria for {system}: requirements that can be covered, and the means of {} suites each, with the gain in mutant score over \
         random suites of the same size and its {} % interval",
        analysis.options.suites,
        (1000.0 * (1.0 - analysis.options.alpha)).round() / 10.0
    );
    let gain = || all.iter().map(|criterion| criterion.same_size.as_ref());
    let criteria = Table::new("criteria", caption)
        .text("criterion", all.iter().map(|criterion| criterion.name.as_str()))
        .integer("feasible", all.iter().map(|criterion| criterion.feasible()))
        .integer("all", all.iter().map(|criterion| criterion.requirements))
        .real("size", all.iter().map(|criterion| Some(criterion.size?.mean)))
        .real("score", all.iter().map(|criterion| Some(criterion.score?.mean)))
        .real("dominators", all.iter().map(|criterion| Some(criterion.dominator_score?.mean)))
        .real("gain", gain().map(|gain| Some(gain?.gain.mean)))
        .real("from", gain().map(|gain| Some(gain?.gain_interval.lower)))
        .real("to", gain().map(|gain| Some(gain?.gain_interval.upper)));

    let order = &analysis.ranking.order;
    let neighbours: Vec<_> = order.windows(2).filter_map(|pair| analysis.ranking.pair(pair[0], pair[1])).collect();
    let pairs = || neighbours.iter();
    let caption = format!(
        "Criteria for {system} that are neighbours in the order of their mean scores: difference of the means, A12 with its interval, and \
         the p-values of the Mann-Whitney test, and of van Elteren's within sizes, corrected by Holm's method"
    );
    let ranking = Table::new("ranking", caption)
        .text("better", pairs().map(|pair| all[pair.better].name.as_str()))
        .text("worse", pairs().map(|pair| all[pair.worse].name.as_str()))
        .real("difference", pairs().map(|pair| Some(pair.difference)))
        .real("A12", pairs().map(|pair| Some(pair.effect)))
        .real("from", pairs().map(|pair| Some(pair.effect_interval?.lower)))
        .real("to", pairs().map(|pair| Some(pair.effect_interval?.upper)))
        .texts("p", pairs().map(|pair| pair.rank_sum_p.map(p_value)))
        .texts("p at size", pairs().map(|pair| Some(p_value(pair.same_size?.p))))
        .truth("holds", pairs().map(|pair| pair.significant));
    vec![classes, criteria, ranking]
}

/// No p-value is shown as 0.
fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}

fn criteria(study: &Study<'_>) -> Table {
    let all = || study.analysis.criteria.iter();
    let gain = || all().map(|criterion| criterion.same_size.as_ref());
    let expected = || {
        let expected = study.analysis.expected.as_ref();
        (0..study.analysis.criteria.len()).map(move |criterion| expected?.of_criterion(criterion))
    };
    Table::new("criteria", "Criteria with the means of their suites")
        .text("criterion", all().map(|criterion| criterion.name.as_str()))
        .text("kind", all().map(|criterion| kind(criterion.kind)))
        .integer("requirements", all().map(|criterion| criterion.requirements))
        .integer("feasible", all().map(|criterion| criterion.feasible()))
        .integer("needed", all().map(|criterion| criterion.needed))
        .integer("suites", all().map(|criterion| criterion.suites.len()))
        .real("size_mean", all().map(|criterion| Some(criterion.size?.mean)))
        .real("size_sd", all().map(|criterion| criterion.size?.sd))
        .real("considered_mean", all().map(|criterion| Some(criterion.considered?.mean)))
        .real("score_mean", all().map(|criterion| Some(criterion.score?.mean)))
        .real("score_sd", all().map(|criterion| criterion.score?.sd))
        .real("score_min", all().map(|criterion| Some(criterion.score?.min)))
        .real("score_median", all().map(|criterion| Some(criterion.score?.median)))
        .real("score_max", all().map(|criterion| Some(criterion.score?.max)))
        .real("dominator_score_mean", all().map(|criterion| Some(criterion.dominator_score?.mean)))
        .real("dominator_score_sd", all().map(|criterion| criterion.dominator_score?.sd))
        .real("seconds_mean", expected().map(|expected| Some(expected?.seconds)))
        .real("expected_score_mean", expected().map(|expected| Some(expected?.score.mean)))
        .real("expected_score_sd", expected().map(|expected| expected?.score.sd))
        .real("expected_random_same_time", expected().map(|expected| Some(expected?.random_same_time)))
        .real("expected_random_same_size", expected().map(|expected| Some(expected?.random_same_size)))
        .real("worth_time", expected().map(|expected| Some(expected?.worth.time)))
        .real("worth_inputs", expected().map(|expected| Some(expected?.worth.inputs)))
        .real("cost_mean", all().map(|criterion| Some(criterion.cost?.mean)))
        .real("random_mean", gain().map(|gain| Some(gain?.random_mean)))
        .real("gain_mean", gain().map(|gain| Some(gain?.gain.mean)))
        .real("gain_lower", gain().map(|gain| Some(gain?.gain_interval.lower)))
        .real("gain_upper", gain().map(|gain| Some(gain?.gain_interval.upper)))
        .real("gain_p", gain().map(|gain| gain?.gain_p))
        .integers("boosting_suites_min", all().map(|criterion| Some(criterion.boosting.as_ref()?.suites_min? as i64)))
}

fn suites(study: &Study<'_>) -> Table {
    let analysis = study.analysis;
    let (analysed, dominators) = (analysis.mutants.counts.analysed, analysis.dominators.classes.len());
    let share = |killed: usize, of: usize| (of > 0).then(|| killed as f64 / of as f64);
    let all = || {
        analysis.criteria.iter().flat_map(|criterion| {
            criterion.suites.iter().enumerate().map(move |(number, suite)| (&criterion.name, number, suite))
        })
    };
    let cases = |cases: &[usize]| cases.iter().map(usize::to_string).collect::<Vec<_>>().join(" ");
    Table::new("suites", "Adequate suites with what they cost and kill")
        .text("criterion", all().map(|(criterion, ..)| criterion.as_str()))
        .integer("suite", all().map(|(_, number, _)| number))
        .integer("size", all().map(|(.., suite)| suite.cases.len()))
        .integer("considered", all().map(|(.., suite)| suite.considered))
        .integer("events_considered", all().map(|(.., suite)| suite.events_considered))
        .integer("events_selected", all().map(|(.., suite)| suite.events_selected))
        .integer("killed", all().map(|(.., suite)| suite.killed))
        .real("score", all().map(|(.., suite)| share(suite.killed, analysed)))
        .integer("dominators_killed", all().map(|(.., suite)| suite.dominators_killed))
        .real("dominator_score", all().map(|(.., suite)| share(suite.dominators_killed, dominators)))
        .text("cases", all().map(|(.., suite)| cases(&suite.cases)))
}

fn ranking(study: &Study<'_>) -> Table {
    let criteria = &study.analysis.criteria;
    let all = || study.analysis.ranking.pairs.iter();
    Table::new("ranking", "Ordered pairs of criteria with the tests of the claim that the first is better")
        .text("better", all().map(|pair| criteria[pair.better].name.as_str()))
        .text("worse", all().map(|pair| criteria[pair.worse].name.as_str()))
        .real("difference", all().map(|pair| Some(pair.difference)))
        .real("a12", all().map(|pair| Some(pair.effect)))
        .real("a12_lower", all().map(|pair| Some(pair.effect_interval?.lower)))
        .real("a12_upper", all().map(|pair| Some(pair.effect_interval?.upper)))
        .real("a12_over_functions_lower", all().map(|pair| Some(pair.effect_interval_over_functions?.lower)))
        .real("a12_over_functions_upper", all().map(|pair| Some(pair.effect_interval_over_functions?.upper)))
        .real("rank_sum_p", all().map(|pair| pair.rank_sum_p))
        .real("same_size_a12", all().map(|pair| Some(pair.same_size?.effect)))
        .real("same_size_p", all().map(|pair| Some(pair.same_size?.p)))
        .real("equivalent_p", all().map(|pair| pair.equivalent_p))
        .real("z", all().map(|pair| Some(pair.test?.z)))
        .real("z_p", all().map(|pair| Some(pair.test?.p)))
        .truth("holds", all().map(|pair| pair.significant))
        .truth("same", all().map(|pair| pair.same))
        .truth("holds_by_thesis", all().map(|pair| pair.thesis_holds))
}

fn cases(study: &Study<'_>) -> Table {
    let outcomes = study.outcomes;
    let count = outcomes.cases.len();
    let all = || outcomes.cases.iter();
    let mut in_suite = BitSet::with_capacity(count);
    in_suite.extend(study.suite.iter().flat_map(|suite| suite_cases(outcomes, suite)));
    let mut killed = vec![0_i64; count];
    outcomes.kills.iter().flat_map(BitSet::ones).for_each(|case| killed[case] += 1);
    Table::new("cases", "Test cases with what the original does on them")
        .integer("number", 0..count)
        .text("name", (0..count).map(|case| case_name(&outcomes.system, case, count)))
        .text("case", all().map(|case| case.case.to_string()))
        .integer("events", all().map(|case| case.events))
        .integer("steps", all().map(|case| case.steps))
        .integer("virtual_time_ns", all().map(|case| case.virtual_time_ns))
        .real("seconds", seconds(outcomes, &study.analysis.options).into_iter().map(Some))
        .integer("reached", all().map(|case| case.reached.count_ones(..)))
        .integer("infected", all().map(|case| case.infected.count_ones(..)))
        .integer("killed", killed)
        .truth("in_suite", (0..count).map(|case| in_suite.contains(case)))
}

fn mutants(study: &Study<'_>) -> Table {
    let (outcomes, analysis) = (study.outcomes, study.analysis);
    let sites = &outcomes.sites;
    let count = sites.mutants.len();
    let all = || sites.mutants.iter();
    let (mut reached, mut infected) = (vec![0_i64; count], vec![0_i64; count]);
    for case in &outcomes.cases {
        case.reached.ones().for_each(|mutant| reached[mutant] += 1);
        case.infected.ones().for_each(|mutant| infected[mutant] += 1);
    }
    let mut dominators = vec![None; count];
    for (number, class) in analysis.dominators.classes.iter().enumerate() {
        class.mutants.iter().for_each(|&mutant| dominators[mutant as usize] = Some(number as i64));
    }
    let ends = |verdict: RunEnd| outcomes.verdicts.iter().map(move |counts| counts.of(verdict));
    let judgement = || all().map(|mutant| analysis.options.judgements.get(&mutant.identity));
    Table::new("mutants", "Mutants with how far they get")
        .integer("number", 0..count)
        .text("identity", all().map(|mutant| mutant.identity.as_str()))
        .text("operator", all().map(|mutant| mutant.operator.as_str()))
        .text("tier", all().map(|mutant| mutant.tier.to_string()))
        .text("about", all().map(|mutant| mutant.class.to_string()))
        .texts("tag", all().map(|mutant| mutant.tag.clone()))
        .text("function", all().map(|mutant| sites.functions[mutant.function].path.as_str()))
        .text("file", all().map(|mutant| sites.files[mutant.span.file].path.as_str()))
        .integer("line", all().map(|mutant| mutant.span.line))
        .integer("column", all().map(|mutant| mutant.span.column))
        .text("original", all().map(|mutant| mutant.original.as_str()))
        .text("replacement", all().map(|mutant| mutant.replacement.as_str()))
        .text("class", analysis.mutants.classes.iter().map(MutantClass::to_string))
        .integer("reached", reached)
        .integer("infected", infected)
        .integer("diverged", outcomes.diverged.iter().map(|cases| cases.count_ones(..)))
        .integer("killed", outcomes.kills.iter().map(|cases| cases.count_ones(..)))
        .integer("failed", ends(RunEnd::Failed))
        .integer("not_terminated", ends(RunEnd::NotTerminated))
        .integer("abnormal", ends(RunEnd::Abnormal))
        .integer("inconclusive", ends(RunEnd::Inconclusive))
        .integers("dominator", dominators)
        .texts("judged", judgement().map(|judgement| Some(judgement?.judged.to_string())))
        .texts("reason", judgement().map(|judgement| Some(judgement?.reason.clone())))
}

fn kills(study: &Study<'_>) -> Table {
    let kills = &study.outcomes.kills;
    Table::new("kills", "Test cases that kill mutants")
        .integer("mutant", (0..kills.len()).flat_map(|mutant| repeat_n(mutant, kills[mutant].count_ones(..))))
        .integer("case", kills.iter().flat_map(BitSet::ones))
}

fn probabilities(study: &Study<'_>) -> Table {
    let pairs = kill_probabilities(study.outcomes, &study.analysis.mutants);
    let all = || pairs.iter();
    Table::new("probabilities", "Test cases some of whose runs kill mutants, with how likely a run does")
        .integer("mutant", all().map(|pair| pair.mutant))
        .integer("case", all().map(|pair| pair.case))
        .integer("runs", all().map(|pair| pair.runs))
        .integer("kills", all().map(|pair| pair.kills))
        .real("probability", all().map(|pair| Some(pair.probability)))
}

fn requirements(study: &Study<'_>) -> Table {
    let outcomes = study.outcomes;
    let suite = study.suite.map(|suite| suite_cases(outcomes, suite)).unwrap_or_default();
    let all = || {
        let criteria = outcomes.criteria.iter();
        criteria.flat_map(|criterion| (0..criterion.requirements.len()).map(move |number| (criterion, number)))
    };
    let cases = |covered: &[BitSet], number: usize| covered.iter().filter(|covered| covered.contains(number)).count();
    Table::new("requirements", "Requirements of criteria with how many test cases cover them")
        .text("criterion", all().map(|(criterion, _)| criterion.name.as_str()))
        .integer("requirement", all().map(|(_, number)| number))
        .text("label", all().map(|(criterion, number)| criterion.requirements[number].as_str()))
        .integer("cases", all().map(|(criterion, number)| cases(&criterion.covered, number)))
        .integer(
            "cases_of_suite",
            all().map(|(criterion, number)| {
                suite.iter().filter(|&&case| criterion.covered[case].contains(number)).count()
            }),
        )
}

fn coverage(study: &Study<'_>) -> Table {
    let all = || {
        study.outcomes.criteria.iter().flat_map(|criterion| {
            let cases = criterion.covered.iter().enumerate();
            cases.flat_map(move |(case, covered)| covered.ones().map(move |number| (criterion, number, case)))
        })
    };
    Table::new("coverage", "Test cases that cover requirements")
        .text("criterion", all().map(|(criterion, ..)| criterion.name.as_str()))
        .integer("requirement", all().map(|(_, number, _)| number))
        .integer("case", all().map(|(.., case)| case))
}

fn kind(kind: CriterionKind) -> &'static str {
    match kind {
        CriterionKind::WhiteBox => "white-box",
        CriterionKind::BlackBox => "black-box",
        CriterionKind::Trace => "trace",
    }
}

#[cfg(test)]
mod tests {
    use simutant_analysis::{AnalysisOptions, analyse, suite};

    use super::*;
    use crate::table::Values;
    use simutant_synthetic::{reseeded, synthetic};

    fn integers<'a>(table: &'a Table, name: &str) -> &'a [Option<i64>] {
        let column = table.columns.iter().find(|column| column.name == name).expect("it has the column");
        let Values::Integers(values) = &column.values else { panic!("{name} is not of whole numbers") };
        values
    }

    #[test]
    fn probabilities_are_of_what_some_run_kills() {
        let outcomes = reseeded(&[&[8, 4, 0, 1], &[0, 4, 1, 4]]);
        let options = AnalysisOptions { suites: 10, resamples: 100, ..AnalysisOptions::default() };
        let analysis = analyse(&outcomes, &options).expect("sound outcomes");
        let table = probabilities(&Study::new(&outcomes, &analysis, None).expect("they belong together"));
        let of =
            |column: &str| integers(&table, column).iter().map(|value| value.expect("it is there")).collect::<Vec<_>>();
        assert_eq!((of("mutant"), of("case")), (vec![0, 0, 0, 1, 1, 1], vec![0, 1, 3, 1, 2, 3]));
        assert_eq!((of("runs"), of("kills")), (vec![8; 6], vec![8, 4, 1, 4, 1, 4]));
        let Values::Reals(shares) = &table.columns[4].values else { panic!("they are real numbers") };
        let shares: Vec<f64> = shares.iter().map(|share| share.expect("it is there")).collect();
        assert!(shares.iter().all(|share| 0.0 < *share && *share <= 1.0) && shares[0] > shares[2], "{shares:?}");
    }

    #[test]
    fn the_tables_have_what_the_outcomes_have() {
        let outcomes = synthetic(40, 1);
        let options = AnalysisOptions { suites: 10, resamples: 100, ..AnalysisOptions::default() };
        let analysis = analyse(&outcomes, &options).expect("sound outcomes");
        let chosen = suite(&outcomes, &analysis);
        let study = Study::new(&outcomes, &analysis, chosen.as_ref()).expect("they belong together");
        let tables = tables(&study);
        let table = |name: &str| tables.iter().find(|table| table.name == name).expect("there is such a table");
        let rows: Vec<(&str, usize)> = tables.iter().map(|table| (table.name, table.rows())).collect();
        let kills: usize = outcomes.kills.iter().map(|kills| kills.count_ones(..)).sum();
        let covered = outcomes.criteria.iter().flat_map(|criterion| &criterion.covered);
        let covered: usize = covered.map(|covered| covered.count_ones(..)).sum();
        let requirements = outcomes.criteria.iter().map(|criterion| criterion.requirements.len()).sum();
        assert_eq!(
            rows,
            [
                ("criteria", 4),
                ("suites", 40),
                ("ranking", 12),
                ("cases", 40),
                ("mutants", outcomes.sites.mutants.len()),
                ("kills", kills),
                ("probabilities", 0),
                ("requirements", requirements),
                ("coverage", covered),
            ]
        );
        for (mutant, case) in integers(table("kills"), "mutant").iter().zip(integers(table("kills"), "case")) {
            let index = |number: &Option<i64>| number.expect("it is there") as usize;
            assert!(outcomes.kills[index(mutant)].contains(index(case)));
        }
        let takes = table("cases").columns.iter().find(|column| column.name == "seconds").expect("it has the column");
        let expect: Vec<Option<f64>> = seconds(&outcomes, &options).into_iter().map(Some).collect();
        assert!(matches!(&takes.values, Values::Reals(seconds) if *seconds == expect), "{:?}", takes.values);
        let sum = |name: &str, column: &str| integers(table(name), column).iter().flatten().sum::<i64>();
        assert_eq!(sum("mutants", "killed"), kills as i64);
        assert_eq!(sum("cases", "killed"), kills as i64);
        assert_eq!(sum("cases", "infected"), sum("mutants", "infected"));
        assert_eq!(sum("requirements", "cases"), covered as i64);
        assert_eq!(
            sum("mutants", "not_terminated") + sum("mutants", "abnormal") + sum("mutants", "failed"),
            kills as i64
        );
        for table in tables.iter().chain(&tables_for_paper(&study)) {
            assert!(table.to_latex(3).lines().count() > table.rows(), "{}", table.name);
        }
    }
}
