//! The experiments as tables for a terminal, in the order of the thesis, with the figures of an earlier experiment
//! beside ours.

mod findings;
mod inputs;
mod sentences;
mod subjects;

use simutant_analysis::{Analysis, Experiment, Findings, Reference, SubjectKind, SuiteUnit, count, plural};

use crate::tables::boosting;
use crate::terminal::{Sections, heading, wrapped, wrapped_lines};

pub(crate) use findings::{BUDGETS_NOTE, budgets};
use sentences::resampled;
pub(crate) use sentences::sentences;
pub(crate) use subjects::{CHANGE, CLASSES_NOTE, by_rate, classes, left_out, subject_columns, takes_part, unsteady};

/// Returns what a person reads first of the experiments: how many faulty implementations the chosen suites find in the
/// same time as others, and what foretold it. Plain text, ending in a line break.
pub fn experiment_summary(experiment: &Experiment, analysis: &Analysis) -> String {
    let sentences = sentences::most_important(experiment, analysis);
    sentences
        .iter()
        .fold(wrapped_lines(&overview(experiment)), |text, sentence| format!("{text}\n{}\n", wrapped(sentence)))
}

/// Returns the [summary](experiment_summary) of the experiments and all their [tables](experiment_tables), in
/// [sections](crate::sections).
pub fn experiment_text(experiment: &Experiment, analysis: &Analysis, reference: Option<&Reference>) -> String {
    let tables = experiment_tables(experiment, analysis, reference);
    format!("{}{}\n{tables}", heading("summary"), experiment_summary(experiment, analysis))
}

/// Says what was run on what.
fn overview(experiment: &Experiment) -> String {
    let subjects_of = |kind| subjects::of_kind(experiment, kind).count();
    let mutants = match subjects_of(SubjectKind::ImplementationMutants) {
        0 => String::new(),
        mutants => format!(", and {} of an implementation", plural(mutants, "mutant")),
    };
    let each = match experiment.repetitions {
        1 => String::new(),
        repetitions => format!(", each {repetitions} times"),
    };
    format!(
        "System {}, universe seed {}, {} test cases on {}{mutants}{each}\n",
        experiment.system,
        experiment.universe_seed,
        count(experiment.preparation.cases as u64),
        plural(subjects_of(SubjectKind::Implementations), "implementation"),
    )
}

/// Returns every table of the experiments, and what they say in sentences.
///
/// Plain text without colours, ending in a line break, in [sections](crate::sections). `analysis` is the one whose
/// suites were judged.
pub fn experiment_tables(experiment: &Experiment, analysis: &Analysis, reference: Option<&Reference>) -> String {
    let mut sections = Sections::new(heading("implementations") + &overview(experiment));
    for kind in SubjectKind::ALL {
        let notes = subjects::notes(experiment, kind, reference);
        match kind {
            SubjectKind::Implementations => {
                sections.add("Implementations (table 4.1)", subjects::table_of(experiment, kind), &notes)
            }
            SubjectKind::ImplementationMutants if takes_part(experiment, kind) => {
                sections.add(
                    "Mutants of an implementation, as table 4.1 has implementations",
                    subjects::table_of(experiment, kind),
                    &notes,
                );
            }
            SubjectKind::ImplementationMutants => {}
        }
    }
    sections.begin("classes");
    sections.add(
        "Mutants and implementations by class (table 4.2)",
        classes(experiment, analysis, reference).table(),
        &[CLASSES_NOTE.to_owned()],
    );
    sections.add("Preparation (table 4.3)", subjects::preparation(experiment, reference), &[
        "T: N * T_s * (N_m + 1) + N * T_i * N_i (equation 4.2), were nothing left out and nothing done side by side.".into(),
    ]);
    sections.begin("inputs");
    for kind in SubjectKind::ALL {
        if !inputs::inputs_of(experiment, kind).is_empty() {
            let of = match kind {
                SubjectKind::Implementations => "",
                SubjectKind::ImplementationMutants => " on mutants of an implementation",
            };
            sections.add(
                &format!("Inputs that fail{of}, and those of the universe (tables 4.4 to 4.6)"),
                inputs::table_of(experiment, kind),
                &inputs::notes(reference),
            );
        }
    }
    for findings in &experiment.findings {
        add_findings(&mut sections, experiment, findings, reference);
    }
    sections.begin("findings");
    sections.lines(&sentences(experiment, analysis, reference));
    sections.text()
}

fn add_findings(sections: &mut Sections, experiment: &Experiment, findings: &Findings, reference: Option<&Reference>) {
    let of = format!("{} {}", findings.subjects.len(), findings.kind);
    sections.begin(&section("effectiveness", findings));
    sections.add(
        &format!("Experiment 1: size and effectiveness of suites, judged by {of} (tables 4.7 and 4.8)"),
        findings::effectiveness(experiment, findings, reference),
        &["E: the share of the implementations that fail on at least one test case of a suite; gain: points above random suites of the same \
           size."
            .into()],
    );
    sections.add(
        "Experiment 1: size against effectiveness, beside random suites (figure 4.2)",
        findings::size_against_effectiveness(findings),
        &["Random: what random suites of the mean size are expected to find, between two sizes by interpolation; above: points that the \
           criterion lies above their line. Smallest suites first; the figure is in the report of the experiment."
            .into()],
    );
    sections.add(
        "Experiment 1: cost (C = c_a + M * c_e, in milliseconds) and effectiveness (E) against random suites of each size (tables 4.9 to 4.11)",
        findings::cost_effectiveness(findings, reference),
        &[],
    );
    sections.begin(&section("choices", findings));
    for choosing in findings.choosing_in_time.iter().chain(&findings.choosing) {
        let (suites, sizes) = match choosing.unit {
            SuiteUnit::MeanTimes => ("Suites that take the same time", "times of a mean test case"),
            SuiteUnit::TestCases => ("Suites of equal size", "sizes"),
        };
        let mut notes = vec![format!(
            "Area: the mean share over {sizes} from 1 to {}. Gain: points that the chosen suites find more. Intervals: were other \
             {} drawn, the same for both.",
            choosing.chosen.shares.len(),
            resampled(&choosing.resampled),
        )];
        if choosing.unit == SuiteUnit::TestCases {
            notes.push(sentences::correlation_sentence(findings.correlation));
        }
        let title = format!(
            "{suites}, chosen by mutants, by rules of thumb and at random: the expected share that they find, by {sizes}, of {of}"
        );
        sections.add(&title, findings::choices(choosing, experiment.options.alpha), &notes);
        if !choosing.budgets.is_empty() {
            let title = format!(
                "Suites within a share of the time of the whole universe: gain of the chosen ones, and regret, of {of}"
            );
            let table = budgets(choosing, experiment.options.alpha).table();
            sections.add(&title, table, &[BUDGETS_NOTE.to_owned()]);
        }
    }
    if !findings.operators.is_empty() {
        sections.begin(&section("operators", findings));
        sections.add(
            &format!("Mutation operators: what suites find that are chosen by the mutants of one alone, and without it, of {of}"),
            findings::operators(findings, experiment.options.alpha),
            &[findings::OPERATORS_NOTE.to_owned()],
        );
    }
    sections.begin(&section("suites", findings));
    sections.add(
        "Effectiveness of suites: the share of them in each tenth (figures 4.3 to 4.5)",
        findings::distributions(findings),
        &[],
    );
    sections.add(
        "Which implementations the suites of a criterion find, in percent of the suites",
        findings::found(experiment, findings),
        &[format!(
            "+ significantly more often than random suites of the same sizes, - less often (binomial, Benjamini-Hochberg).{}",
            if experiment.repetitions > 1 { " By the first repetition." } else { "" },
        )],
    );
    sections.begin(&section("boosting", findings));
    sections.add(
        "Experiment 2: the best of M suites by score (tables 4.12 to 4.14)",
        boosting(&findings.criteria, reference, ["E", "E+"]),
        &[findings::opposite(findings, experiment.options.alpha)],
    );
    sections.begin(&section("ranking", findings));
    sections.add(
        "Experiment 3: what mutants predicted of each pair of criteria, and what was found (tables 4.15 to 4.17)",
        findings::predictions(findings, reference),
        &["A claim holds by the rank test, corrected for the number of pairs (Holm); z: by the thesis's test, which corrects for nothing. Equal \
           size: mutants and implementations on suites of equal size (van Elteren). Size alone: whether the criterion with the larger \
           suites is the better one."
            .into()],
    );
    sections.add(
        "Experiment 3: the order of the criteria by effectiveness, as mutants foresee it and as the size of suites alone does",
        findings::foreseen(findings, experiment.options.alpha),
        &["tau: Kendall's, of the means of the criteria; intervals: were other implementations drawn. Pairs: of criteria, by the tests above.".into()],
    );
}

/// Returns the name of a section of findings.
fn section(name: &str, findings: &Findings) -> String {
    match findings.kind {
        SubjectKind::Implementations => name.to_owned(),
        SubjectKind::ImplementationMutants => format!("{name}-of-mutants"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment_report;
    use crate::terminal::flat;
    use simutant_analysis::{AnalysisOptions, analyse, experiment};
    use simutant_outcomes::{BitSet, LeftOut, Origin, Outcomes, Subject};
    use simutant_synthetic::{eight_subjects, from_kills, subject, synthetic, trials};
    use std::num::NonZeroUsize;

    fn few_resamples() -> AnalysisOptions {
        AnalysisOptions { resamples: 200, ..AnalysisOptions::default() }
    }

    /// Experiments, and shows what they found in every way.
    #[track_caller]
    fn run(outcomes: &Outcomes, subjects: Vec<Subject>) -> (Analysis, Experiment) {
        let analysis = analyse(outcomes, &few_resamples()).expect("sound outcomes");
        let found =
            experiment(outcomes, &analysis, &trials(outcomes, subjects), &[], NonZeroUsize::MIN).expect("trials");
        for shown in [experiment_tables(&found, &analysis, None), experiment_report(&found, &analysis, None)] {
            let undefined = shown.split(|c: char| !c.is_alphanumeric()).find(|word| matches!(*word, "NaN" | "inf"));
            assert_eq!(undefined, None, "{shown}");
        }
        (analysis, found)
    }

    #[test]
    fn repetitions_are_said() {
        let outcomes = from_kills(&["k.........", ".k........", "..k......."]);
        let again = |failed: &BitSet| vec![BitSet::with_capacity(failed.len()), failed.clone()];
        let subject = |mutant: usize| {
            let subject = subject(&mutant.to_string(), Origin::Release, &outcomes, mutant);
            Subject { again: again(&subject.failed), ..subject }
        };
        let (analysis, found) = run(&outcomes, (0..3).map(subject).collect());
        let text = flat(&experiment_tables(&found, &analysis, None));
        assert!(text.contains("test cases on 3 implementations, each 3 times"), "{text}");
        assert!(text.contains("Of 3 pairs of an implementation and a test case that do, 0 fail in every"), "{text}");
    }

    #[test]
    fn mutants_of_implementations_have_tables_of_their_own() {
        let outcomes = from_kills(&["k.........", "kkk.......", ".k........"]);
        let subjects = vec![
            subject("release", Origin::Release, &outcomes, 0),
            subject("release~1", Origin::Mutant, &outcomes, 2),
            subject("release~2", Origin::Mutant, &outcomes, 1),
        ];
        let analysis = analyse(&outcomes, &few_resamples()).expect("sound outcomes");
        let mut trials = trials(&outcomes, subjects);
        let left_out = |name: &str, why: &str| LeftOut { name: name.into(), origin: Origin::Mutant, why: why.into() };
        trials.left_out.extend([
            left_out("release~3", "none of the first 10 test cases reaches it"),
            left_out("release~4", "too many fail"),
            left_out("release~5", "none of the first 10 test cases reaches it"),
        ]);
        let found = experiment(&outcomes, &analysis, &trials, &[], NonZeroUsize::MIN).expect("trials");
        assert_eq!(found.left_out.len(), 4, "each with its name");
        let text = experiment_tables(&found, &analysis, None);
        assert!(
            flat(&text).contains("10 test cases on 1 implementation, and 2 mutants of an implementation"),
            "{text}"
        );
        // From its title to the next empty line.
        let table = |title: &str| {
            let at = text.find(title).unwrap_or_else(|| panic!("no {title} in {text}"));
            text[at..].split("\n\n").next().expect("there is a first part")
        };
        let own = table("Mutants of an implementation, as table 4.1");
        let others = table("Implementations (table 4.1)");
        assert!(own.contains("release~1") && own.contains("ROR at src/a.rs:2"), "{own}");
        assert!(!others.contains('~'), "{others}");
        assert!(own.contains("Left out, 2 mutants: none of the first 10 test cases reaches it."), "{own}");
        assert!(own.contains("Left out, 1 mutant: too many fail."), "{own}");
        assert!(!own.contains("absent") && others.contains("Left out, absent: "), "{own}{others}");
        let page = experiment_report(&found, &analysis, None);
        let (before, mutants) = page.split_once("<section id=\"mutants\">").expect("they have a section");
        assert!(!before.contains("release~") && mutants.contains("Left out, 2 mutants: "), "{page}");
        assert!(mutants.contains("release~1") && mutants.contains("ROR at src/a.rs:2"), "{page}");
    }

    #[test]
    fn mutants_are_counted_as_the_thesis_does_and_sizes_stand_against_effectiveness() {
        let outcomes = synthetic(120, 1);
        let (analysis, found) = run(&outcomes, eight_subjects(&outcomes, |_| Vec::new()));
        let counts = analysis.mutants.counts;
        assert!(counts.used_in_thesis() > counts.analysed, "some survive");
        assert_eq!((found.mutants, found.mutants_used_in_thesis), (counts, counts.used_in_thesis()));
        let json = serde_json::to_value(&found).expect("plain data");
        assert_eq!(json["mutants"]["analysed"], counts.analysed);
        let text = experiment_tables(&found, &analysis, None);
        let table = |title: &str| {
            let at = text.find(title).unwrap_or_else(|| panic!("no {title} in {text}"));
            text[at..].split("\n\n").next().expect("there is a first part")
        };
        let classes = table("Mutants and implementations by class (table 4.2)");
        let row = classes.lines().find(|line| line.starts_with(" mutants ")).expect("a row for mutants");
        let last: Vec<&str> = row.split_whitespace().rev().take(2).collect();
        assert_eq!(last, [counts.used_in_thesis().to_string(), counts.analysed.to_string()], "{row}");
        let figure = table("Experiment 1: size against effectiveness");
        assert!(figure.contains("(figure 4.2)"), "{figure}");
        for criterion in &found.findings[0].criteria {
            let row = figure.lines().find(|line| line.split_whitespace().next() == Some(&criterion.name));
            let row = row.unwrap_or_else(|| panic!("{} is not in {figure}", criterion.name));
            let gain = criterion.same_size.as_ref().expect("sizes are known").gain.mean;
            let above = row.split_whitespace().last().expect("it has cells").replace('−', "-");
            let above: f64 = above.parse().expect("points");
            // The line is convex or concave between sizes, so that the mean gain is about the same and not the same.
            assert!((above - 100.0 * gain).abs() < 5.0, "{row}: {gain}");
        }
        let page = experiment_report(&found, &analysis, None);
        assert!(page.contains("(figure 4.2)") && page.contains("Suite size against effectiveness"), "{page}");
        assert!(page.contains("table 4.2") && page.contains("N_u"), "{page}");
    }

    #[test]
    fn nothing_that_counts_is_said_and_not_judged() {
        let outcomes = from_kills(&["k...", ".k..", "...."]);
        let (analysis, found) = run(&outcomes, vec![subject("right", Origin::Release, &outcomes, 2)]);
        assert_eq!((found.findings.len(), found.inputs.len()), (0, 0));
        assert!(flat(&experiment_tables(&found, &analysis, None)).contains("there is nothing to judge suites by"));
        for shown in [experiment_tables(&found, &analysis, None), experiment_report(&found, &analysis, None)] {
            assert!(flat(&shown).contains("absent: its program is not there."), "{shown}");
            assert!(!shown.contains("-0 ms"), "{shown}");
        }
        run(&outcomes, Vec::new());
    }

    /// A universe with `a` from 0 to 119, eight mutants that the test cases `killing` kill, and implementations that fail
    /// on two of `failing`.
    #[track_caller]
    fn check_first_sentence(killing: fn(usize) -> usize, failing: impl Fn(usize) -> usize, expect: &str) {
        let rows: Vec<String> =
            (0..8).map(|row| (0..120).map(|case| if case == killing(row) { 'k' } else { '.' }).collect()).collect();
        let mut outcomes = from_kills(&rows.iter().map(String::as_str).collect::<Vec<_>>());
        for (number, case) in outcomes.cases.iter_mut().enumerate() {
            case.case = serde_json::json!({ "a": number });
        }
        let subjects = (0..8).map(|number| {
            let mut failed: BitSet = [failing(number), failing((number + 1) % 8)].into_iter().collect();
            failed.grow(120);
            Subject { failed, ..subject(&number.to_string(), Origin::Release, &outcomes, 0) }
        });
        let (analysis, found) = run(&outcomes, subjects.collect());
        let sentences = sentences(&found, &analysis, None);
        let place = sentences.iter().position(|sentence| sentence.contains("rule")).expect("rules are told of");
        assert!(sentences[place].starts_with(expect), "{sentences:?}");
        // A warning comes first of all, good news after the experiments.
        assert_eq!(place == 0, expect.starts_with("A rule"), "{sentences:?}");
    }

    #[test]
    fn a_rule_of_thumb_that_is_as_good_is_told_first() {
        let low = |row: usize| 2 * row;
        let spread = |row: usize| 14 * row + 5;
        check_first_sentence(
            low,
            |number| 119 - number,
            "A rule of thumb does better than the suites that mutants choose",
        );
        let mixed = |number| if number % 2 == 0 { number } else { 119 - number / 2 };
        check_first_sentence(low, mixed, "A rule of thumb does as well as the suites that mutants choose");
        check_first_sentence(spread, spread, "The suites that mutants choose find ");
    }

    #[test]
    fn sizes_that_foresee_the_order_as_well_are_told_before_the_experiments() {
        let outcomes = synthetic(120, 1);
        let (analysis, found) = run(&outcomes, eight_subjects(&outcomes, |_| Vec::new()));
        let foreseen = found.findings[0].foreseen.expect("there is an order");
        assert!(foreseen.by_size >= foreseen.by_mutants, "{foreseen:?}");
        let sentences = sentences(&found, &analysis, None);
        let place = |start: &str| sentences.iter().position(|sentence| sentence.starts_with(start));
        assert!(place("The mean size of suites alone foresees") < place("Experiment 1"), "{sentences:?}");
        assert!(place("The mean size of suites alone foresees").is_some(), "{sentences:?}");
    }
}
