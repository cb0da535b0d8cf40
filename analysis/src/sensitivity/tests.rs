use proptest::prelude::*;
use simutant_synthetic::{Covered, OPERATORS, TaggedMutants, asks_for, on_own_seeds, tagged};

use super::kill_rows::{Row, Survival};
use super::*;
use crate::{Analysis, analyse, analyse_with_threads};

fn options() -> AnalysisOptions {
    AnalysisOptions {
        suites: 6,
        resamples: 100,
        boosting_repetitions: 2,
        boosting_suites_max: 2,
        ..AnalysisOptions::default()
    }
}

fn analysed(outcomes: &Outcomes) -> Analysis {
    analyse(outcomes, &options()).expect("sound outcomes")
}

/// Gives test cases different times.
fn timed(mut outcomes: Outcomes) -> Outcomes {
    for (number, case) in outcomes.cases.iter_mut().enumerate() {
        case.virtual_time_ns = 1_000_000_000 * (number as u64 * 5 % 4);
    }
    outcomes
}

/// The values of criteria in an analysis, in this order; `None` if no mutant counts.
fn values(analysis: &Analysis, order: &[usize], is_reseeded: bool) -> Option<Vec<f64>> {
    let value = |&criterion: &usize| match (&analysis.expected, is_reseeded) {
        (Some(expected), true) => Some(expected.of_criterion(criterion).map_or(0.0, |found| found.worth.time)),
        (None, true) => None,
        _ => Some(analysis.criteria[criterion].score.map_or(0.0, |score| score.mean)),
    };
    let has_mutants = is_reseeded || analysis.mutants.counts.analysed > 0;
    has_mutants.then(|| order.iter().map(value).collect())?
}

fn are_near(one: &[f64], other: &[f64]) -> bool {
    one.iter().zip(other).all(|(one, other)| (one - other).abs() < 1e-9)
}

prop_compose! {
    fn any_study()(
        mutants in prop::collection::vec((prop::collection::vec(prop_oneof![3 => Just(0), 1 => 0..=8_u8], 11), 0..9_usize), 1..8),
        criteria in prop::collection::vec(prop::collection::vec(prop::collection::vec(prop::bool::weighted(0.3), 3), 11), 2..4),
        is_reseeded: bool,
    ) -> (TaggedMutants, Covered, bool) {
        (mutants, criteria, is_reseeded)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn without_a_part_is_the_analysis_of_outcomes_without_it((mutants, criteria, is_reseeded) in any_study()) {
        let make = |mutants: &TaggedMutants, criteria: &Covered| match is_reseeded {
            true => analysed(&timed(tagged(mutants, criteria))),
            false => analysed(&on_own_seeds(mutants, criteria)),
        };
        let Some(found) = make(&mutants, &criteria).sensitivity else { return Ok(()) };
        prop_assert!(are_near(&found.values, &values(&make(&mutants, &criteria), &found.order, is_reseeded).unwrap_or(found.values.clone())));
        let without = |choice: &OtherChoice, is_kept: &dyn Fn(usize) -> bool| {
            let kept: TaggedMutants = mutants.iter().filter(|(_, tag)| is_kept(*tag)).cloned().collect();
            let variant = found.variants.iter().find(|variant| variant.choice == *choice).map(|variant| &variant.values);
            if kept.is_empty() || kept.len() == mutants.len() {
                return variant.is_none();
            }
            match (values(&make(&kept, &criteria), &found.order, is_reseeded), variant) {
                (None, variant) => variant.is_none(),
                // None of its mutants counts.
                (Some(values), None) => are_near(&values, &found.values),
                (Some(values), Some(variant)) => are_near(&values, variant),
            }
        };
        for (number, operator) in OPERATORS.into_iter().enumerate() {
            prop_assert!(without(&OtherChoice::WithoutOperator(operator.into()), &|tag| tag % 3 != number), "{}: {:?}", operator, found);
            let function = OtherChoice::WithoutFunction(format!("f{number}"));
            prop_assert!(without(&function, &|tag| tag / 3 % 3 != number), "f{}: {:?}", number, found);
        }
    }

    #[test]
    fn without_a_fifth_is_the_analysis_of_outcomes_without_it((mutants, criteria, _) in any_study()) {
        let Some(found) = analysed(&on_own_seeds(&mutants, &criteria)).sensitivity else { return Ok(()) };
        for part in 0..5 {
            let is_kept = |case: usize| case % 5 != part;
            let kept = |row: &Vec<u8>| -> Vec<u8> { (0..row.len()).filter(|&case| is_kept(case)).map(|case| row[case]).collect() };
            let mutants: TaggedMutants = mutants.iter().map(|(row, tag)| (kept(row), *tag)).collect();
            let criteria: Covered = criteria
                .iter()
                .map(|covered| (0..covered.len()).filter(|&case| is_kept(case)).map(|case| covered[case].clone()).collect())
                .collect();
            let values = values(&analysed(&on_own_seeds(&mutants, &criteria)), &found.order, false);
            let variant = found.variants.iter().find(|variant| variant.choice == OtherChoice::WithoutFifth(part));
            match (values, variant) {
                (Some(values), Some(variant)) => prop_assert!(are_near(&values, &variant.values), "{} {:?} {:?}", part, values, variant),
                // Without a mutant that counts in the study there are no variants.
                (values, variant) => prop_assert!(variant.is_none() && (values.is_none() || found.rows == 0), "{} {:?}", part, found),
            }
        }
    }

    #[test]
    fn what_is_said_of_the_first_place_holds((mutants, criteria, is_reseeded) in any_study()) {
        let mut outcomes = tagged(&mutants, &criteria);
        outcomes.reseeded = outcomes.reseeded.filter(|_| is_reseeded);
        let analysis = analysed(&outcomes);
        let Some(found) = &analysis.sensitivity else { return Ok(()) };
        prop_assert!(found.values.windows(2).all(|pair| pair[0] >= pair[1] - EQUAL), "{:?}", found);
        let shares: f64 = found.first_in_resamples.iter().sum();
        prop_assert!(found.rows == 0 || (shares - 1.0).abs() < 1e-9, "{:?}", found);
        for (place, share) in found.first_in_resamples.iter().enumerate() {
            let is_often_first = *share >= options().alpha;
            let is_candidate = found.candidates.contains(&found.order[place]);
            let is_first_elsewhere = found.like_study().any(|variant| variant.first == found.order[place]);
            prop_assert!(is_candidate || !is_often_first && !is_first_elsewhere, "{}: {:?}", place, found);
            prop_assert!(!is_candidate || place < 2 || is_often_first || is_first_elsewhere, "{}: {:?}", place, found);
        }
        let recommended = analysis.recommendation.as_ref();
        prop_assert_eq!(recommended.is_none(), found.first_place == FirstPlace::Undecided);
        for variant in &found.variants {
            let of_first = found.order.iter().position(|&criterion| criterion == variant.first).expect("it is one of them");
            prop_assert!(variant.values.iter().all(|value| *value <= variant.values[of_first] + EQUAL));
            let criterion = recommended.map_or(found.order[0], crate::Recommendation::recommended_criterion);
            let place = found.order.iter().position(|&other| other == criterion).expect("it is one of them");
            prop_assert!((variant.values[of_first] - variant.values[place] - variant.regret).abs() < 2.0 * EQUAL);
        }
        if let Some(recommendation) = recommended {
            prop_assert!(found.candidates.contains(&recommendation.recommended_criterion()));
            let is_alone = matches!(found.first_place, FirstPlace::Firm | FirstPlace::FewRows);
            prop_assert_eq!(found.candidates.len() == 1, is_alone);
        }
    }

    #[test]
    fn the_deciding_rows_are_as_few_as_can_be(
        kills in prop::collection::vec((prop::collection::vec(0..3_u8, 6), 1..4_u32), 1..8),
        suites in prop::collection::vec(prop::collection::vec(0..6_usize, 1..3), 2..6),
        is_worth: bool,
    ) {
        let measure = if is_worth { Measure::Worth } else { Measure::Score };
        let survivals: Vec<Vec<f64>> =
            kills.iter().map(|(row, _)| row.iter().map(|&kill| f64::from(kill) / 2.0).collect()).collect();
        let rows: Vec<Row<'_>> = survivals
            .iter()
            .enumerate()
            .map(|(mutant, survival)| Row { mutants: vec![mutant], survival: Survival::Known(survival) })
            .collect();
        let suites: Vec<&[usize]> = suites.iter().map(Vec::as_slice).collect();
        let (one, other) = suites.split_at(suites.len() / 2);
        let rows = KillRows::new(rows, ((0..6).collect(), &[0.5, 1.0, 2.0, 0.5, 3.0, 1.0]), &[one.to_vec(), other.to_vec()], measure);
        let weights: Vec<f64> = kills.iter().map(|(_, weight)| f64::from(*weight)).collect();
        let mut scratch = Scratch::default();
        let found = deciding_rows(&rows, &weights, measure, &mut scratch);
        let mut is_enough = |taken: u32| {
            let weights: Vec<f64> = weights.iter().enumerate().map(|(row, weight)| if taken >> row & 1 == 1 { 0.0 } else { *weight }).collect();
            rows.values(&weights, measure, &mut scratch).is_none_or(|values| values[0] <= values[1] + EQUAL)
        };
        let fewest = (0..1_u32 << kills.len()).filter(|taken| is_enough(*taken)).map(u32::count_ones).min().expect("all rows are enough");
        let fewest = (fewest < DECIDING_ROWS_MIN as u32).then_some(fewest as usize);
        match measure {
            Measure::Score => prop_assert_eq!(found, fewest),
            Measure::Worth => prop_assert!(found.is_none_or(|found| fewest.is_some_and(|fewest| fewest <= found))),
        }
    }
}

#[test]
fn any_number_of_threads_finds_the_same() {
    let criteria = [asks_for(&[0, 1, 5]), asks_for(&[6, 7, 8, 9])].to_vec();
    let mutants: TaggedMutants =
        (0..9).map(|tag| ((0..10).map(|case| ((3 * tag + 5 * case + tag * case) % 9) as u8).collect(), tag)).collect();
    for outcomes in [tagged(&mutants, &criteria), on_own_seeds(&mutants, &criteria)] {
        let bytes = |threads| {
            let threads = NonZeroUsize::new(threads).expect("not zero");
            let analysis = analyse_with_threads(&outcomes, &options(), threads).expect("sound outcomes");
            serde_json::to_string(&analysis.sensitivity.expect("there are two criteria")).expect("plain data")
        };
        assert!(bytes(1) == bytes(2) && bytes(1) == bytes(3), "threads change the sensitivity");
    }
}
