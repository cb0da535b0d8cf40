//! What every source is: the same on every machine, valid, and structured where it says so.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use simutant_sim_core::{Message, Simulation};

use super::*;
use crate::{BlackBoxCriterion, InvalidTestCase};

/// Nobody sends anything.
#[derive(Debug, Clone, Hash)]
struct Silence;

impl Message for Silence {
    fn kind(&self) -> &'static str {
        "SILENCE"
    }
}

/// A small parameter, a large one, a share, a seed that comes first, a list whose length changes the shape, and a
/// constraint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Case {
    seed: u64,
    kind: u8,
    size: u32,
    share: f64,
    list: Vec<u8>,
}

#[derive(Debug)]
struct Shaped;

impl System for Shaped {
    const NAME: &'static str = "shaped";
    type TestCase = Case;
    type Message = Silence;

    fn sample(random: &mut Random) -> Case {
        let seed = random.bits();
        let (kind, size, share) = (random.uniform(0..3), random.uniform(10..=1_009), random.unit());
        let length = random.uniform(0..=4_usize);
        Case { seed, kind, size, share, list: (0..length).map(|_| random.uniform(0..2)).collect() }
    }

    fn validate(case: &Case) -> Result<(), InvalidTestCase> {
        let is_valid = !(case.kind == 2 && case.size == 1_009);
        let invalid = || InvalidTestCase { field: "size".into(), value: case.size.to_string(), allowed: "less".into() };
        if is_valid { Ok(()) } else { Err(invalid()) }
    }

    fn configure(case: &Case) -> Simulation<Silence> {
        Simulation::new(case.seed)
    }

    fn criteria() -> Vec<BlackBoxCriterion<Case>> {
        Vec::new()
    }
}

fn cases(source: InputSource, seed: u64, size: usize) -> Vec<Case> {
    let universe = Universe::<Shaped>::new(source, seed, size);
    (0..size).map(|index| universe.case(index)).collect()
}

#[test]
fn parameters_are_what_half_of_the_test_cases_draw_from_a_range() {
    // The seed is none; three of five test cases have two entries in the list, two of five have three.
    assert_eq!(Parameters::of::<Shaped>(1).levels, [3, 5, 5, 5, 2, 2]);
}

#[test]
fn every_source_is_a_function_of_seed_index_and_size() {
    let all: Vec<Vec<Case>> = InputSource::ALL.iter().map(|&source| cases(source, 1, 200)).collect();
    for (source, first) in InputSource::ALL.into_iter().zip(&all) {
        assert_eq!(&cases(source, 1, 200), first, "{source:?}");
        assert_ne!(&cases(source, 2, 200), first, "{source:?}");
        let seeds: BTreeSet<u64> = first.iter().map(|case| case.seed).collect();
        assert_eq!(seeds.len(), 200, "{source:?}: seeds stay random");
        let longer = cases(source, 1, 300);
        assert_eq!(longer[..200] == first[..], source != InputSource::LatinHypercube, "{source:?}");
    }
    let different: BTreeSet<String> = all.iter().map(|cases| format!("{cases:?}")).collect();
    assert_eq!(different.len(), InputSource::ALL.len());
}

#[test]
fn the_uniform_source_is_the_universe() {
    for (index, case) in cases(InputSource::Uniform, 7, 50).into_iter().enumerate() {
        assert_eq!(case, universe::<Shaped>(7, index));
    }
}

#[test]
fn test_cases_that_are_placed_are_valid() {
    for source in InputSource::ALL.into_iter().filter(|source| *source != InputSource::Uniform) {
        assert!(cases(source, 3, 400).iter().all(|case| Shaped::validate(case).is_ok()), "{source:?}");
    }
}

#[test]
fn a_latin_hypercube_has_one_test_case_in_each_stratum() {
    let cases = cases(InputSource::LatinHypercube, 1, 100);
    let strata: BTreeSet<u64> = cases.iter().map(|case| (case.share * 100.0) as u64).collect();
    assert_eq!(strata.len(), 100);
    let strata: BTreeSet<u32> = cases.iter().map(|case| (case.size - 10) / 10).collect();
    // One of them may be refused by the system, and drawn anew.
    assert!(strata.len() >= 99, "{}", strata.len());
}

#[test]
fn a_sobol_sequence_is_even_at_every_power_of_two() {
    let cases = cases(InputSource::Sobol, 1, 256);
    for power in [16, 64, 256] {
        let strata: BTreeSet<u64> = cases[..power].iter().map(|case| (case.share * power as f64) as u64).collect();
        assert_eq!(strata.len(), power);
    }
}

#[test]
fn boundary_values_come_one_at_a_time_and_in_pairs() {
    let cases = cases(InputSource::Boundary, 1, 12 + 15 * 4);
    let is_end = |case: &Case| [case.size == 10, case.size == 1_009, case.share == 0.0, case.share > 0.999_999];
    let count = |is_met: &dyn Fn(&Case) -> bool| cases.iter().filter(|case| is_met(case)).count();
    // One alone, and two with each of the five other parameters; the last size of kind 2 is refused where that is not
    // an end.
    assert!(count(&|case| is_end(case)[0]) >= 11);
    assert!(count(&|case| is_end(case)[2]) >= 11);
    assert!(count(&|case| is_end(case)[3]) >= 11);
    assert!(count(&|case| is_end(case)[1] && case.kind == 0) >= 1);
    assert!(count(&|case| is_end(case)[0] && is_end(case)[3]) >= 1);
}

/// All that can be had is there: pairs with an entry of the list only where the list is long enough, and never what is
/// refused.
#[test]
fn a_covering_array_covers_what_there_is_and_leaves_out_what_is_refused() {
    let cases = cases(InputSource::Covering2, 1, 100);
    let sizes = [10, 260, 510, 759, 1_009];
    let size_of = |case: &Case| sizes.iter().position(|size| case.size.abs_diff(*size) <= 1);
    let pairs: BTreeSet<(u8, usize)> = cases.iter().filter_map(|case| Some((case.kind, size_of(case)?))).collect();
    assert_eq!(pairs.len(), 3 * 5 - 1, "{pairs:?}");
    let pairs: BTreeSet<(u8, usize)> = cases.iter().map(|case| (case.kind, case.list.len())).collect();
    assert_eq!(pairs.len(), 3 * 5);
    let entries: BTreeSet<(u8, u8)> =
        cases.iter().filter_map(|case| Some((*case.list.first()?, *case.list.get(1)?))).collect();
    assert_eq!(entries.len(), 4);
}

/// Random test cases leave gaps where these do not.
#[test]
fn adaptive_test_cases_lie_farther_apart_than_random_ones() {
    let nearest = |source| -> f64 {
        let cases = cases(source, 5, 60);
        // An entry that is not there is far from every one that is.
        let entry = |case: &Case, index: usize| case.list.get(index).map_or(2.0, |entry| f64::from(*entry));
        let place = |case: &Case| {
            let (kind, size) = (f64::from(case.kind) / 2.0, f64::from(case.size) / 1_009.0);
            [kind, size, case.share, case.list.len() as f64 / 4.0, entry(case, 0), entry(case, 1)]
        };
        let distance = |one: &Case, other: &Case| -> f64 {
            place(one).iter().zip(place(other)).map(|(one, other)| (one - other).powi(2)).sum::<f64>().sqrt()
        };
        let nearest = |index: usize| {
            let others = (0..cases.len()).filter(|other| *other != index);
            others.map(|other| distance(&cases[index], &cases[other])).fold(f64::INFINITY, f64::min)
        };
        (0..cases.len()).map(nearest).sum::<f64>() / cases.len() as f64
    };
    assert!(nearest(InputSource::Adaptive) > 1.1 * nearest(InputSource::Uniform));
}

#[test]
fn a_panic_while_drawing_leaves_nothing_behind() {
    struct Panics;
    impl System for Panics {
        const NAME: &'static str = "panics";
        type TestCase = ();
        type Message = Silence;
        fn sample(random: &mut Random) {
            panic!("{}", random.uniform(0..9_u8));
        }
        fn validate((): &()) -> Result<(), InvalidTestCase> {
            Ok(())
        }
        fn configure((): &()) -> Simulation<Silence> {
            Simulation::new(0)
        }
        fn criteria() -> Vec<BlackBoxCriterion<()>> {
            Vec::new()
        }
    }
    let panicked = std::panic::catch_unwind(|| Universe::<Panics>::new(InputSource::Sobol, 1, 1));
    assert!(panicked.is_err());
    assert!(!simutant_random::is_intercepted());
}
