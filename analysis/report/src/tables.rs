//! The analysis as tables for a terminal.

use comfy_table::Table;
use simutant_analysis::{
    Analysis, Boosting, CostEffectiveness, CriterionAnalysis, CriterionRelations, HeldOut, MutantClass, PairTest,
    Recommendation, Reference, ReferenceMutants, Relation, Summary, Survivor, count, percent, screened,
};
use simutant_outcomes::{InputSource, Judged};

use crate::absent::{rare_sentence, suite_shares};
use crate::boosting::caveats;
use crate::contradiction::contradiction_sentence;
use crate::inconclusive;
use crate::late_faults;
use crate::summary::checked_sentence;
use crate::terminal::{Sections, cells, heading, table};
use crate::text::{
    correlation, interval, level, many, or_none, p_value, points, same_size_cells, share_summary, verdict,
};
use crate::words::{left_out_sentence, ranking_sentences, recommendation_sentences};
use crate::{built, cost, expected, reference, sensitivity, survivors, words};

/// How many random sizes fit into a line of the cost effectiveness table.
const SIZES_MAX: usize = 9;

/// Returns every table of the analysis, ready to be printed: the tables of the thesis with our figures, and beside them
/// those of `reference`, if there is one.
///
/// Plain text without colours, ending in a line break, in [sections](crate::sections).
pub fn tables(analysis: &Analysis, reference: Option<&Reference>) -> String {
    let mut sections = Sections::new(heading("campaign") + &overview(analysis));
    sections.begin("suite");
    suite(analysis, &mut sections);
    if !analysis.survivors.is_empty() {
        sections.begin("survivors");
        let headline = survivors::headline(analysis);
        sections.list("Mutants that nothing kills", headline.as_deref(), &survivors::listing(analysis));
        survivors_notes(analysis).iter().for_each(|note| sections.say(note));
    }
    sections.begin("mutants");
    let notes: Vec<String> = bounds(analysis).into_iter().chain([counted(analysis)]).collect();
    sections.add("Mutants by class (table 4.2)", mutants(analysis, reference), &notes);
    sections.begin("criteria");
    sections.add(
        "Criteria: the suites, their scores on the analysed mutants, and random suites of the same size",
        criteria(analysis, reference),
        &criteria_notes(analysis),
    );
    if let Some(expected) = &analysis.expected {
        sections.begin("expected");
        let title = "Expected scores: what suites kill when the chance of their test cases is drawn anew";
        sections.add(title, expected::criteria_rows(expected, analysis).table(), &expected::notes(expected));
        let title =
            "Expected scores without a criterion: suites that are built for them, random ones, and rules of thumb";
        for rows in expected.in_time.iter().map(expected::times_rows).chain([expected::baselines_rows(expected)]) {
            sections.add(title, rows.table(), &[]);
        }
    }
    if let Some(cost) = &analysis.cost {
        sections.begin("cost");
        let title = "Cost oracle: mean scores of the criteria without and with kills by cost";
        sections.add(title, cost::rows(cost, analysis).table(), &cost::notes(cost));
    }
    if let Some(sensitivity) = analysis.sensitivity.as_ref().filter(|sensitivity| !sensitivity.variants.is_empty()) {
        sections.begin("sensitivity");
        let title = "Sensitivity: which criterion comes first under other operators, functions, test cases, counts and thresholds";
        sections.add(
            title,
            sensitivity::rows(sensitivity, analysis).table(),
            &sensitivity::notes(sensitivity, analysis),
        );
    }
    sections.begin("effectiveness");
    let title = "Cost (C) and mutant score (E) against random suites of each size";
    sections.add(title, cost_effectiveness(analysis), &[]);
    sections.begin("boosting");
    match &analysis.held_out {
        Some(held_out) => sections.add(
            &boosting_title(held_out),
            boosting(&analysis.criteria, reference, ["any suite", "best of M"]),
            &caveats(analysis),
        ),
        None => {
            sections.say("Boosting: there are too few different analysed mutants to hold half of them out as judges.")
        }
    }
    sections.begin("ranking");
    if analysis.ranking.pairs.is_empty() {
        sections.say("Ranking: no two criteria have suites with scores, so none is better than another.");
    } else {
        sections.add(&ranking_title(analysis), ranking(analysis, reference), &ranking_notes(analysis));
    }
    let compared = analysis.comparison.as_ref().zip(reference);
    let sentences =
        compared.into_iter().flat_map(|(comparison, reference)| reference::sentences(comparison, reference));
    let recommended = analysis.chosen.is_some().then(|| recommendation_sentences(analysis)).into_iter().flatten();
    let cost = analysis.cost.iter().flat_map(|cost| cost::sentences(cost, analysis));
    let sentences: Vec<String> = sentences.chain(recommended).chain(cost).collect();
    if !sentences.is_empty() {
        sections.begin("recommendation");
        sections.lines(&sentences);
    }
    sections.text()
}

/// What to run, or why there is no suite, and what the suite lacks.
fn suite(analysis: &Analysis, sections: &mut Sections) {
    let run = built::run_sentence(analysis).map_or_else(|| recommendation_sentences(analysis), |run| vec![run]);
    let built = analysis.built.iter().flat_map(|built| built::sentences(built, analysis, built::FILE));
    let built_expected =
        analysis.built_expected.iter().flat_map(|built| built::expected_sentences(built, analysis, built::FILE));
    let sentences: Vec<String> = run.into_iter().chain(built_expected).chain(built).collect();
    sections.lines(&sentences);
    if let Some(shares) = analysis.chosen.as_ref().and_then(suite_shares) {
        let notes: Vec<String> = rare_sentence(analysis).into_iter().collect();
        sections.add("What some inputs do without: the suite against the universe", shares.table(), &notes);
    }
}

fn overview(analysis: &Analysis) -> String {
    let campaign = &analysis.campaign;
    let checked = checked_sentence(analysis).map(|sentence| sentence + "\n").unwrap_or_default();
    format!(
        "System {}, universe seed {}{}, analysis seed {}\n{}, {} ({} did not compile{}), {}: {} executed, {} pruned\n\
         {} failed the oracle, {} hit a limit, {} crashed\n{checked}",
        analysis.system,
        analysis.universe_seed,
        match analysis.input_source {
            InputSource::Uniform => String::new(),
            source => format!(" of the source {source}"),
        },
        analysis.options.seed,
        many(campaign.cases as u64, "test case"),
        many(campaign.mutants as u64, "mutant"),
        count(campaign.mutants_rejected as u64),
        match campaign.mutants_skipped {
            0 => String::new(),
            skipped => format!(", {} skipped", count(skipped as u64)),
        },
        many(campaign.pairs, "pair"),
        count(campaign.pairs_executed),
        count(campaign.pairs_pruned()),
        many(campaign.verdicts.failed, "pair"),
        count(campaign.verdicts.not_terminated),
        count(campaign.verdicts.abnormal),
    )
}

/// Table 4.2: a row for each class.
fn mutants(analysis: &Analysis, reference: Option<&Reference>) -> Table {
    let counts = analysis.mutants.counts;
    let mut table = table(["class", "here"].into_iter().chain(reference.map(|reference| reference.name.as_str())));
    let there = reference.map(|reference| reference.mutants);
    let mut row = |name: &str, here: usize, there_of: fn(&ReferenceMutants) -> Option<usize>| {
        let there = there.as_ref().map(|there| or_none(there_of(there), |count| count.to_string()));
        table.add_row(cells([name.to_owned(), here.to_string()].into_iter().chain(there)));
    };
    // Only the compiler finds duplicates, when it is asked, and few systems hide what happens.
    let is_shown =
        |class: &MutantClass| !matches!(class, MutantClass::Duplicate | MutantClass::NotKnown) || counts.of(*class) > 0;
    for class in MutantClass::ALL.into_iter().filter(is_shown) {
        row(
            &class.to_string(),
            counts.of(class),
            match class {
                MutantClass::Equivalent => |there| Some(there.equivalent),
                MutantClass::Pathological => |there| Some(there.pathological),
                _ => |_| None,
            },
        );
    }
    row("all", counts.total(), |there| Some(there.all));
    row("N_u of the thesis", counts.used_in_thesis(), |there| Some(there.used));
    row("dominators", analysis.dominators.classes.len(), |_| None);
    table
}

/// Says what is counted: the thesis counts more than scores do.
fn counted(analysis: &Analysis) -> String {
    let counts = analysis.mutants.counts;
    format!(
        "Scores count the {} analysed mutants, which are killed, and not by most test cases. The thesis's N_u, {} here, has those as well \
         that nothing kills, unless they are equivalent: these are the same for every suite.",
        counts.analysed,
        counts.used_in_thesis(),
    )
}

/// The scores on all mutants, which are bounds as long as some mutants may be equivalent; judgements that are wrong
/// come first.
fn bounds(analysis: &Analysis) -> Vec<String> {
    let cases = analysis.campaign.cases;
    let mut lines: Vec<String> =
        analysis.contradictions.iter().map(|wrong| contradiction_sentence(wrong, &analysis.system, cases)).collect();
    lines.extend(inconclusive::sentence(analysis));
    lines.extend(late_faults::sentence(analysis));
    let mut line = format!("Of all mutants the universe kills {}", analysis.score_bounds);
    if let Some(bounds) = analysis.suite_score_bounds {
        line.push_str(&format!(", the chosen suite {bounds}"));
    }
    if analysis.score_bounds.equivalent > 0 {
        line.push_str(&format!(
            ": without and with the {} that are known to be equivalent",
            analysis.score_bounds.equivalent
        ));
    }
    lines.push(line + ".");
    lines
}

fn survivors_notes(analysis: &Analysis) -> Vec<String> {
    let mut notes = Vec::new();
    let numbers = |is_meant: &dyn Fn(&Survivor) -> bool| -> Vec<String> {
        let meant = analysis.survivors.iter().filter(|survivor| is_meant(survivor));
        meant.map(|survivor| survivor.mutant.to_string()).collect()
    };
    let compiled = numbers(&|survivor| survivor.compiled.is_some());
    if !compiled.is_empty() {
        notes.push(format!("Equivalent, since they have the machine code of the original: {}.", compiled.join(", ")));
    }
    for judged in [Judged::Equivalent, Judged::Killable] {
        let mutants = numbers(&|survivor| survivor.judgement.as_ref().is_some_and(|other| other.judged == judged));
        if !mutants.is_empty() {
            notes.push(format!("Judged {judged}, with the reasons in report.html: {}.", mutants.join(", ")));
        }
    }
    for identity in &analysis.stale_judgements {
        notes.push(format!("No mutant has the identity {identity}, which was judged: its code has changed."));
    }
    notes
}

fn criteria(analysis: &Analysis, reference: Option<&Reference>) -> Table {
    let mut head =
        vec!["criterion", "feasible", "suites", "size", "considered", "score", "dominators", "random", "gain"];
    let level = level(analysis.options.alpha);
    head.extend([level.as_str(), "p (Holm)", "more/less"]);
    let there = reference::columns(reference, ["size", "E"]);
    head.extend(there.iter().map(String::as_str));
    let mut table = table(head);
    for criterion in &analysis.criteria {
        let same_size = criterion.same_size.as_ref();
        let mean = |summary: Option<Summary>| or_none(summary, |summary| format!("{:.1}", summary.mean));
        let mut feasible = format!("{}/{}", criterion.feasible(), criterion.requirements);
        if criterion.needed < criterion.feasible() {
            feasible.push_str(&format!(" ({} needed)", criterion.needed));
        }
        let mut row = vec![
            criterion.name.clone(),
            feasible,
            criterion.suites.len().to_string(),
            mean(criterion.size),
            mean(criterion.considered),
            or_none(criterion.score, |score| share_summary(&score)),
            or_none(criterion.dominator_score, |score| share_summary(&score)),
        ];
        row.extend(same_size_cells(same_size));
        row.push(or_none(same_size, |_| {
            let (more, less) = screened(&criterion.detection, criterion.suites.len(), analysis.options.alpha);
            format!("{more}/{less}")
        }));
        if let Some(reference) = reference {
            let there = reference.criterion(&criterion.name);
            row.push(or_none(there.and_then(|there| there.size), |size| format!("{size:.1}")));
            row.push(or_none(there, |there| format!("{:.2}", there.effectiveness)));
        }
        table.add_row(cells(row));
    }
    table
}

fn criteria_notes(analysis: &Analysis) -> Vec<String> {
    let mut notes = vec![
        "Gain: points above random suites of the same size, with its interval, and the t test that its mean is 0; more/less: mutants \
         that its suites kill significantly more, and less, often than random suites of the same size."
            .to_string(),
    ];
    notes.extend(left_out_sentence(analysis));
    notes
}

/// Tables 4.9 to 4.11.
fn cost_effectiveness(analysis: &Analysis) -> Table {
    let sizes = sizes_shown(&analysis.criteria, &analysis.cost_effectiveness);
    let random = &analysis.cost_effectiveness.random;
    let mut head = vec!["random size".to_string(), String::new()];
    head.extend(sizes.iter().map(|&index| random[index].size.to_string()));
    let mut table = table(head);
    for row in &analysis.cost_effectiveness.criteria {
        let mut line = |name: &str, letter: &str, relations: &[Relation]| {
            let mut row = vec![name.to_string(), letter.into()];
            row.extend(sizes.iter().map(|&index| or_none(relations.get(index), Relation::to_string)));
            table.add_row(cells(row));
        };
        line(&analysis.criteria[row.criterion].name, "C", &row.cost);
        line("", "E", &row.score);
    }
    table
}

/// Indices of the random sizes that are worth a column: from the smallest mean suite up to where every criterion is
/// cheaper and scores lower.
pub(crate) fn sizes_shown(criteria: &[CriterionAnalysis], relations: &CostEffectiveness) -> Vec<usize> {
    let smallest = criteria.iter().filter_map(|criterion| criterion.size).map(|size| size.mean);
    let first = smallest.fold(f64::INFINITY, f64::min).min(1e9) as usize;
    let is_turned = |row: &CriterionRelations, index: usize| {
        row.cost[index] == Relation::Better && row.score.get(index).is_none_or(|score| *score == Relation::Worse)
    };
    let last = (0..relations.random.len())
        .find(|&index| index >= first && relations.criteria.iter().all(|row| is_turned(row, index)))
        .unwrap_or(relations.random.len().saturating_sub(1));
    let first = first.saturating_sub(1).min(last);
    let step = (last + 1 - first).div_ceil(SIZES_MAX).max(1);
    (first..relations.random.len().min(last + 1)).step_by(step).collect()
}

fn boosting_title(held_out: &HeldOut) -> String {
    format!(
        "Boosting: the best of M suites by {} of the mutants, judged by the other {}, which were held out",
        held_out.choosing.len(),
        held_out.judging.len(),
    )
}

/// Tables 4.12 to 4.14, with names for what any suite scores and the best of M.
pub(crate) fn boosting(criteria: &[CriterionAnalysis], reference: Option<&Reference>, [any, best]: [&str; 2]) -> Table {
    let mut head = vec!["criterion", "min M", any, best, "p", "tau", "top beats random", "p"];
    let there = reference::columns(reference, ["min M", "E", "E+"]);
    head.extend(there.iter().map(String::as_str));
    let mut table = table(head);
    for criterion in criteria {
        let boosting = criterion.boosting.as_ref();
        let step = boosting.and_then(Boosting::boosted);
        let mut row = vec![
            criterion.name.clone(),
            or_none(step, |step| step.suites.to_string()),
            or_none(boosting, |boosting| percent(boosting.baseline)),
            or_none(step, |step| share_summary(&step.score)),
            or_none(step.and_then(|step| step.better), |test| p_value(test.p)),
            or_none(boosting.and_then(|boosting| boosting.foresight.correlation_at_size), correlation),
            or_none(boosting.and_then(|boosting| boosting.foresight.top), |top| {
                format!("{:.2} ({:.2})", top.beats_random, top.all_beat_random)
            }),
            or_none(boosting.and_then(|boosting| boosting.foresight.top?.p), p_value),
        ];
        if let Some(reference) = reference {
            let there = reference.criterion(&criterion.name);
            row.push(or_none(there.and_then(|there| there.suites_min), |suites| suites.to_string()));
            row.push(or_none(there, |there| format!("{:.2}", there.effectiveness)));
            row.push(or_none(there, |there| format!("{:.2}", there.boosted)));
        }
        table.add_row(cells(row));
    }
    table
}

fn ranking_notes(analysis: &Analysis) -> Vec<String> {
    let mut notes = ranking_sentences(&analysis.ranking, analysis);
    if !analysis.ranking.pairs.is_empty() {
        notes.push(
            "A12: how often a suite of the first scores higher than one of the second, equals counting half; at size: the same among \
             suites of one size (van Elteren). A claim holds if the corrected rank test is significant, and mean and A12 both say so; z test p is \
             the thesis's test, which corrects for nothing."
                .into(),
        );
    }
    notes
}

fn ranking_title(analysis: &Analysis) -> String {
    let title = "Ranking: which criterion's suites score higher";
    let (shown, all) = (short(analysis).len(), analysis.ranking.pairs.len() / 2);
    if shown == all {
        return title.into();
    }
    format!(
        "{title}; neighbours in the order, and what the recommendation leaves open: {shown} of {all} pairs (all: report.html, results.json)"
    )
}

fn short(analysis: &Analysis) -> Vec<&PairTest> {
    let recommended = analysis.recommendation.as_ref().map(Recommendation::recommended_criterion);
    words::short(&analysis.ranking, recommended)
}

/// Tables 4.15 to 4.17, of the pairs that there is room for.
fn ranking(analysis: &Analysis, reference: Option<&Reference>) -> Table {
    let level = level(analysis.options.alpha);
    let mut head =
        vec!["claim", "difference", "A12", &level, "p (Holm)", "A12 at size", "p (Holm)", "holds", "z test p"];
    let there = reference::columns(reference, ["mutants p", "effectiveness p"]);
    head.extend(there.iter().map(String::as_str));
    let mut table = table(head);
    for pair in short(analysis) {
        let (better, worse) = (&analysis.criteria[pair.better].name, &analysis.criteria[pair.worse].name);
        let mut row = vec![
            format!("{better} > {worse}"),
            points(pair.difference),
            format!("{:.2}", pair.effect),
            or_none(pair.effect_interval, interval),
            or_none(pair.rank_sum_p, p_value),
            or_none(pair.same_size, |test| format!("{:.2}", test.effect)),
            or_none(pair.same_size, |test| p_value(test.p)),
            verdict(pair).into(),
            or_none(pair.test, |test| p_value(test.p)),
        ];
        if let Some(reference) = reference {
            let claim = reference.claims.iter().find(|claim| claim.better == *better && claim.worse == *worse);
            row.push(or_none(claim, |claim| claim.mutant_p.clone()));
            row.push(or_none(claim, |claim| claim.effectiveness_p.clone()));
        }
        table.add_row(cells(row));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report;
    use simutant_analysis::{AnalysisOptions, analyse};
    use simutant_outcomes::{Outcomes, Quota, SkippedCode};
    use simutant_synthetic::{from_kills, synthetic};

    #[test]
    fn a_quota_is_shown_with_what_it_asks_for() {
        let mut outcomes = from_kills(&["k...", ".k.."]);
        outcomes.criteria[0].quotas.push(Quota { requirements: 1..4, covered_min: 2 });
        let analysis = analyse(&outcomes, &AnalysisOptions::default()).expect("sound outcomes");
        let tables = tables(&analysis, None);
        assert!(tables.contains("4/4 (3 needed)"), "{tables}");
        assert!(analysis.criteria[0].suites.iter().all(|suite| suite.cases.len() == 3), "a case covers itself");
    }

    #[test]
    fn mutants_that_are_left_out_are_counted_and_listed() {
        let mut outcomes = from_kills(&["k..", ".k.", "k.k"]);
        let before = analyse(&outcomes, &AnalysisOptions::default()).expect("sound outcomes");
        assert!(!tables(&before, None).contains("skipped") && !report(&outcomes, &before, None).contains("skipped"));
        let skipped = |mutants, operators: Option<&str>, reason: &str| SkippedCode {
            path: "window::fmt".into(),
            span: outcomes.sites.functions[0].span,
            operators: operators.map(str::to_owned),
            mutants,
            reason: reason.into(),
        };
        outcomes.sites.skipped = vec![skipped(3, None, "only shown"), skipped(1, Some("ROR"), "a tie")];
        let analysis = analyse(&outcomes, &AnalysisOptions::default()).expect("sound outcomes");
        assert!(tables(&analysis, None).contains("3 mutants (0 did not compile, 4 skipped)"));
        let page = report(&outcomes, &analysis, None);
        for part in ["4 mutants skipped", "only shown", "1 mutant of ROR in <code>window::fmt</code>"] {
            assert!(page.contains(part), "{part}");
        }
    }

    #[test]
    fn without_an_earlier_experiment_there_are_no_columns_for_it() {
        let analysis =
            analyse(&from_kills(&["k..", ".k.", "k.k"]), &AnalysisOptions::default()).expect("sound outcomes");
        insta::assert_snapshot!(tables(&analysis, None));
    }

    /// What is not defined, or is a share of nothing, is never shown as a number.
    #[track_caller]
    fn check_shown(outcomes: &Outcomes, options: &AnalysisOptions) {
        let analysis = analyse(outcomes, options).expect("sound outcomes");
        for shown in [tables(&analysis, None), report(outcomes, &analysis, None)] {
            let undefined = shown.split(|c: char| !c.is_alphanumeric()).find(|word| matches!(*word, "NaN" | "inf"));
            assert_eq!(undefined, None);
            for claim in ["100.0 % (0 of 0)", "100.0 % of the 0", "100.0 % of none"] {
                assert!(!shown.contains(claim), "all of nothing: {claim}");
            }
        }
    }

    #[test]
    fn small_and_degenerate_outcomes_are_shown_without_numbers_for_nothing() {
        let mut none = from_kills(&["."]);
        none.sites.mutants.clear();
        none.kills.clear();
        none.verdicts.clear();
        none.reasons.clear();
        none.causes.clear();
        none.diverged.clear();
        none.cases[0].reached.clone_from(&Default::default());
        none.cases[0].infected.clone_from(&Default::default());
        let mut infeasible = from_kills(&["k..", ".k."]);
        infeasible.criteria.iter_mut().flat_map(|criterion| &mut criterion.covered).for_each(|set| set.clear());
        let rows: [&[&str]; 5] = [&["kkk", "kk."], &["...", "ri."], &["k"], &["k..", "k..", ".k.", ".k."], &["k..."]];
        for outcomes in rows.into_iter().map(from_kills).chain([none, infeasible]) {
            check_shown(&outcomes, &AnalysisOptions::default());
        }
        check_shown(&synthetic(2, 1), &AnalysisOptions { suites: 2, ..AnalysisOptions::default() });
    }

    #[test]
    fn the_same_input_gives_the_same_bytes() {
        let write = || {
            let outcomes = synthetic(60, 3);
            let analysis = analyse(&outcomes, &AnalysisOptions { resamples: 200, ..AnalysisOptions::default() });
            let analysis = analysis.expect("sound outcomes");
            (tables(&analysis, None), report(&outcomes, &analysis, None))
        };
        assert!(write() == write(), "two reports of the same outcomes differ");
    }
}
