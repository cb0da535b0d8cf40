use simutant_outcomes::Subject;
use simutant_synthetic::{eight_subjects, from_kills, subject, synthetic, trials};

use super::*;
use crate::analyse;
use crate::kills::KillsByCase;
use crate::mutants::MutantClass;
use crate::reference::Agreement;

fn few_resamples() -> AnalysisOptions {
    AnalysisOptions { resamples: 200, ..AnalysisOptions::default() }
}

#[track_caller]
fn run(outcomes: &Outcomes, subjects: Vec<Subject>) -> (Analysis, Experiment) {
    let analysis = analyse(outcomes, &few_resamples()).expect("sound outcomes");
    let found = experiment(outcomes, &analysis, &trials(outcomes, subjects), &[], NonZeroUsize::MIN).expect("trials");
    let json = serde_json::to_string(&found).expect("plain data");
    let read: Experiment = serde_json::from_str(&json).expect("an experiment can be read back");
    assert_eq!(read.subjects.len(), found.subjects.len());
    let undefined = format!("{found:?}");
    let undefined = undefined.split(|c: char| !c.is_alphanumeric()).find(|word| matches!(*word, "NaN" | "inf"));
    assert_eq!(undefined, None, "{found:?}");
    (analysis, found)
}

/// Mutants whose rows are implementations' too: what is predicted is what is found.
#[test]
fn implementations_that_are_as_the_mutants_agree_with_them() {
    let outcomes = synthetic(300, 2);
    let analysis = analyse(&outcomes, &few_resamples()).expect("sound outcomes");
    let mutants: Vec<usize> = analysis
        .mutants
        .of(MutantClass::Analysed)
        .ones()
        .filter(|&mutant| outcomes.kills[mutant].count_ones(..) <= 60)
        .collect();
    assert!(mutants.len() > 5, "{mutants:?}");
    let subjects = mutants.iter().map(|&mutant| subject(&format!("m{mutant}"), Origin::Mistake, &outcomes, mutant));
    let (analysis, found) = run(&outcomes, subjects.collect());
    let findings = &found.findings[0];
    assert_eq!(findings.subjects.len(), mutants.len());
    let share = Share::of(findings.predictions.iter().map(|prediction| prediction.agreement));
    assert_eq!(share.differ, 0, "{share:?}");
    assert!(share.agree >= share.total() / 2, "{share:?}");
    // Each suite finds the implementations whose mutants it kills.
    let kills = KillsByCase::new(&outcomes);
    let counted: BitSet = mutants.iter().copied().collect();
    for (judged, by_mutants) in findings.criteria.iter().zip(&analysis.criteria) {
        for (found, suite) in judged.suites.iter().zip(&by_mutants.suites) {
            assert_eq!(found.killed, kills.of_suite(&suite.cases).intersection_count(&counted));
        }
    }
}

/// Returns what is predicted of two criteria: `first` asks for one of the eight test cases that kill all mutants,
/// `second` for one of the next eight, of which implementations fail on six.
fn contrary_prediction() -> Prediction {
    let half = format!("{}{}", "k".repeat(8), ".".repeat(32));
    let mut outcomes = from_kills(&[&half, &half, &half]);
    let requirement = |name: &str, cases: std::ops::Range<usize>| {
        let mut criterion = outcomes.criteria[0].clone();
        criterion.name = name.into();
        criterion.requirements = vec!["it".into()];
        criterion.covered = (0..40).map(|case| (0..usize::from(cases.contains(&case))).collect()).collect();
        criterion.covered.iter_mut().for_each(|covered: &mut BitSet| covered.grow(1));
        criterion
    };
    outcomes.criteria = vec![requirement("first", 0..8), requirement("second", 8..16)];
    let mut failing = subject("contrary", Origin::Release, &outcomes, 0);
    failing.failed = (8..14).collect();
    failing.failed.grow(40);
    let (_, found) = run(&outcomes, vec![failing]);
    let [prediction] = found.findings[0].predictions.as_slice() else { panic!("{:?}", found.findings) };
    *prediction
}

#[test]
fn the_opposite_of_what_mutants_say_is_told() {
    // Criterion `first` asks for the one half, which kills all mutants; implementations fail in the other.
    let prediction = contrary_prediction();
    assert_eq!((prediction.better, prediction.worse), (1, 0));
    assert_eq!((prediction.agreement, prediction.agreement_by_thesis), (Agreement::Differs, Agreement::Differs));
}

#[test]
fn implementations_are_counted_by_kind_and_rate() {
    let outcomes = from_kills(&["k.........", "kkk.......", ".........."]);
    let subjects = vec![
        subject("release", Origin::Release, &outcomes, 0),
        subject("mutant", Origin::Mutant, &outcomes, 0),
        subject("pathological", Origin::Mistake, &outcomes, 1),
        subject("right", Origin::Release, &outcomes, 2),
    ];
    let (_, found) = run(&outcomes, subjects);
    let classes: Vec<SubjectClass> = found.subjects.iter().map(|subject| subject.class).collect();
    let expected = [SubjectClass::Counted, SubjectClass::Counted, SubjectClass::Pathological, SubjectClass::NeverFails];
    assert_eq!(classes, expected);
    let findings: Vec<(SubjectKind, &[usize])> =
        found.findings.iter().map(|judged| (judged.kind, judged.subjects.as_slice())).collect();
    assert_eq!(findings, [(SubjectKind::Implementations, &[0][..]), (SubjectKind::ImplementationMutants, &[1][..])]);
    assert_eq!(found.preparation.subjects, 1);
    assert_eq!(found.mutant_preparation.map(|preparation| preparation.subjects), Some(1));
}

#[test]
fn verdicts_that_repeat_say_what_one_run_says() {
    let outcomes = synthetic(120, 4);
    let (_, once) = run(&outcomes, eight_subjects(&outcomes, |_| Vec::new()));
    let (_, thrice) = run(&outcomes, eight_subjects(&outcomes, |failed| vec![failed.clone(); 2]));
    assert_eq!((once.repetitions, thrice.repetitions), (1, 3));
    let (once, thrice) = (&once.findings[0], &thrice.findings[0]);
    assert_eq!(once.expected, thrice.expected);
    assert_eq!(once.ranking, thrice.ranking);
    assert_eq!(once.predictions, thrice.predictions);
    assert_eq!(once.foreseen, thrice.foreseen);
    // What is drawn again is another thing, where there are seeds.
    let shares = |findings: &Findings| -> Vec<(String, Vec<f64>)> {
        let choosing = findings.choosing.as_ref().expect("there are test cases");
        choosing.curves().map(|curve| (curve.name.clone(), curve.shares.clone())).collect()
    };
    assert_eq!(shares(once), shares(thrice));
    let near = |one: f64, other: f64| assert!((one - other).abs() < 1e-9, "{one} is not {other}");
    for (once, thrice) in once.criteria.iter().zip(&thrice.criteria) {
        assert_eq!((&once.score, &once.detection), (&thrice.score, &thrice.detection));
        let (once, thrice) = (once.same_size.as_ref().expect("suites"), thrice.same_size.as_ref().expect("suites"));
        near(once.random_mean, thrice.random_mean);
        near(once.gain.mean, thrice.gain.mean);
    }
    let boosted = |findings: &Findings| {
        let steps = findings.criteria.iter().flat_map(|criterion| &criterion.boosting).flat_map(|found| &found.steps);
        steps.map(|step| step.score.mean).collect::<Vec<f64>>()
    };
    assert!(!boosted(once).is_empty());
    boosted(once).into_iter().zip(boosted(thrice)).for_each(|(once, thrice)| near(once, thrice));
    for (once, thrice) in once.cost_effectiveness.random.iter().zip(&thrice.cost_effectiveness.random) {
        let (once, thrice) = (once.score.expect("moments"), thrice.score.expect("moments"));
        near(once.mean, thrice.mean);
        // A square root makes much of what rounding leaves of a difference.
        assert!((once.sd - thrice.sd).abs() < 1e-6, "{once:?} {thrice:?}");
    }
}

#[test]
fn effectiveness_is_the_expected_share_over_repetitions() {
    let outcomes = from_kills(&["k.........", ".k........", "..k......."]);
    let set = |cases: &[usize]| {
        let mut set: BitSet = cases.iter().copied().collect();
        set.grow(10);
        set
    };
    let failing = |name: &str, each: &[&[usize]]| Subject {
        failed: set(each[0]),
        again: each[1..].iter().map(|cases| set(cases)).collect(),
        ..subject(name, Origin::Release, &outcomes, 0)
    };
    // In one of four on test case 0; in two of four on each of 1 and 2.
    let subjects = vec![failing("seldom", &[&[], &[0], &[], &[]]), failing("often", &[&[1], &[1, 2], &[2], &[]])];
    let (analysis, found) = run(&outcomes, subjects);
    let seldom = &found.subjects[0];
    assert_eq!((seldom.failed, seldom.failed_always, seldom.failure_rate), (1, 0, 1.0 / 40.0));
    assert_eq!((seldom.failing[0].case, seldom.failing[0].failed, seldom.failing[0].probability), (0, 1, 0.25));
    // Wilson's interval of 1 of 4, by statsmodels: proportion_confint(1, 4, method='wilson').
    let interval = seldom.failing[0].interval;
    assert!(
        (interval.lower - 0.045_587_269).abs() < 1e-6 && (interval.upper - 0.699_358_157).abs() < 1e-6,
        "{interval:?}"
    );
    let findings = &found.findings[0];
    for (expected, criterion) in findings.expected.iter().zip(&analysis.criteria) {
        for (expected, suite) in expected.iter().zip(&criterion.suites) {
            let has = |case: usize| f64::from(u8::from(suite.cases.contains(&case)));
            let missed = (1.0 - 0.25 * has(0)) + (1.0 - 0.5 * has(1)) * (1.0 - 0.5 * has(2));
            assert!((expected - (1.0 - missed / 2.0)).abs() < 1e-12, "{expected} of {:?}", suite.cases);
        }
    }
}

#[test]
fn repetitions_are_of_one_number() {
    let outcomes = from_kills(&["k...", ".k.."]);
    let analysis = analyse(&outcomes, &few_resamples()).expect("sound outcomes");
    let mut subjects =
        vec![subject("one", Origin::Release, &outcomes, 0), subject("two", Origin::Release, &outcomes, 1)];
    subjects[1].again.push(outcomes.kills[0].clone());
    let error = experiment(&outcomes, &analysis, &trials(&outcomes, subjects), &[], NonZeroUsize::MIN);
    let error = error.expect_err("one ran once, the other twice").to_string();
    assert!(error.contains("`two` was tried 2 times with each test case, others 1 times"), "{error}");
}

#[test]
fn orders_of_the_campaign_are_chosen_by() {
    let outcomes = from_kills(&["k.....", ".k...."]);
    let analysis = analyse(&outcomes, &few_resamples()).expect("sound outcomes");
    let trials = trials(&outcomes, vec![subject("one", Origin::Release, &outcomes, 0)]);
    let shares = |chosen: &[Vec<usize>]| {
        let found = experiment(&outcomes, &analysis, &trials, chosen, NonZeroUsize::MIN).expect("trials");
        found.findings[0].choosing.clone().expect("test cases").chosen.shares
    };
    assert_eq!(shares(&[vec![5, 4, 3, 2, 0, 1]]), [0.0, 0.0, 0.0, 0.0, 1.0, 1.0]);
    assert_eq!(shares(&[])[1], 1.0, "two test cases kill all mutants");
}

#[test]
fn at_equal_size_the_opposite_can_be_found() {
    // Each criterion asks for a quarter of the universe, so all suites have one test case. Mutants are killed in
    // the first quarter, implementations fail in the second.
    let prediction = contrary_prediction();
    assert_eq!(prediction.agreement_same_size, Agreement::Differs);
    let same_size = prediction.same_size.expect("all suites have one size");
    assert!(same_size.mutant_effect < 0.1 && same_size.effectiveness_effect > 0.8, "{same_size:?}");
    assert_eq!((prediction.size_effect, prediction.size_p), (0.5, None));
    assert_eq!(prediction.agreement_by_size, Agreement::Undecided);
}

#[test]
fn trials_of_another_universe_are_refused() {
    let outcomes = from_kills(&["k...", ".k.."]);
    let analysis = analyse(&outcomes, &few_resamples()).expect("sound outcomes");
    let check = |trials: &Trials, expect: &str| {
        let error = experiment(&outcomes, &analysis, trials, &[], NonZeroUsize::MIN).expect_err("they do not fit");
        assert!(error.to_string().contains(expect), "{error}");
    };
    let good = trials(&outcomes, vec![subject("one", Origin::Release, &outcomes, 0)]);
    check(&Trials { seed: 77, ..good.clone() }, "with seed 77, the study is of");
    let mut short = good;
    short.subjects[0].durations_ms.pop();
    check(&short, "`one` was tried with 3 test cases, the universe has 4");
}

#[test]
fn any_number_of_threads_gives_the_same() {
    let outcomes = synthetic(80, 3);
    let analysis = analyse(&outcomes, &few_resamples()).expect("sound outcomes");
    let subjects = (0..6).map(|mutant| subject(&mutant.to_string(), Origin::Release, &outcomes, 3 * mutant));
    let trials = trials(&outcomes, subjects.collect());
    let with = |threads| {
        let threads = NonZeroUsize::new(threads).expect("not 0");
        let found = experiment(&outcomes, &analysis, &trials, &[], threads).expect("trials");
        serde_json::to_string(&found).expect("plain data")
    };
    assert!(with(1) == with(3));
}
