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

/// Draws test cases; a source that learns is told that they cover their kind, their length, and their entries.
fn cases(source: InputSource, seed: u64, size: usize) -> Vec<Case> {
    let covered = |case: &Case| {
        let mut coverage = Coverage::default();
        coverage.insert("kind", &case.kind.to_string());
        coverage.insert("list", &format!("{:?}", case.list));
        coverage
    };
    drawn::<Shaped>(source, seed, size, covered)
}

fn drawn<S: System>(
    source: InputSource,
    seed: u64,
    size: usize,
    covered: impl Fn(&S::TestCase) -> Coverage,
) -> Vec<S::TestCase> {
    let mut universe = Universe::<S>::new(source, seed, size);
    let next = |index| {
        let case = universe.case(index);
        universe.learn(&covered(&case));
        case
    };
    (0..size).map(next).collect()
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
    // Without a machine those that walk are uniform, and so is that of a net without a net.
    let needs_more = |source: &&InputSource| source.walks() || **source == InputSource::Net;
    assert_eq!(different.len(), InputSource::ALL.iter().filter(|source| !needs_more(source)).count());
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

/// A lock with many digits behind a list of any length: who knows how far a wrong key gets opens it digit by digit.
#[derive(Debug)]
struct Nested;

/// How many digits the lock has.
const DIGITS: usize = 6;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Key {
    /// Makes the digits other draws from test case to test case, more than the first 12.
    before: Vec<u32>,
    digits: Vec<u8>,
    chance: u64,
}

impl Key {
    /// How many digits are right before the first wrong one.
    fn depth(&self) -> usize {
        self.digits.iter().zip(1..).take_while(|(digit, right)| **digit == right * 5 % 8).count()
    }
}

impl System for Nested {
    const NAME: &'static str = "nested";
    type TestCase = Key;
    type Message = Silence;

    fn sample(random: &mut Random) -> Key {
        let before = (0..random.uniform(10..=20)).map(|_| random.uniform(0..1_000)).collect();
        let chance = random.bits();
        Key { before, digits: (0..DIGITS).map(|_| random.uniform(0..8)).collect(), chance }
    }

    fn validate(key: &Key) -> Result<(), InvalidTestCase> {
        let refused = || InvalidTestCase::new("digits", "all 0", "others");
        if key.digits.iter().all(|&digit| digit == 0) { Err(refused()) } else { Ok(()) }
    }

    fn configure(key: &Key) -> Simulation<Silence> {
        Simulation::new(key.chance)
    }

    fn criteria() -> Vec<BlackBoxCriterion<Key>> {
        Vec::new()
    }
}

fn branches(key: &Key) -> Coverage {
    let mut coverage = Coverage::default();
    (0..=key.depth()).for_each(|depth| coverage.insert("branch", &depth.to_string()));
    coverage
}

#[test]
fn a_guided_source_finds_what_is_nested_and_uniform_draws_miss_it() {
    let deepest = |source, covered: &dyn Fn(&Key) -> Coverage| {
        let of_seed = |seed| drawn::<Nested>(source, seed, 4_000, covered).iter().map(Key::depth).max();
        [1, 2, 3].map(|seed| of_seed(seed).expect("there are keys"))
    };
    assert_eq!(deepest(InputSource::Guided, &branches), [DIGITS; 3]);
    let without_feedback = [
        deepest(InputSource::Uniform, &branches),
        deepest(InputSource::Guided, &|_| Coverage::default()),
        // All that is new is the first one.
        deepest(InputSource::Guided, &|_| branches(&Key { before: Vec::new(), digits: Vec::new(), chance: 0 })),
    ];
    assert!(without_feedback.iter().flatten().all(|&depth| depth < DIGITS), "{without_feedback:?}");
}

#[test]
fn a_quarter_of_guided_test_cases_are_uniform_ones_when_those_find_nothing_more() {
    let keys = drawn::<Nested>(InputSource::Guided, 1, 2_000, branches);
    let is_uniform = |(index, key): (usize, &Key)| *key == universe::<Nested>(1, index);
    let uniform = (0..).zip(&keys).map(is_uniform).filter(|is_uniform| *is_uniform).count();
    assert!((400..600).contains(&uniform), "{uniform}");
    let endless = |key: &Key| {
        let mut coverage = branches(key);
        coverage.insert("chance", &key.chance.to_string());
        coverage
    };
    // Where each test case is as new as any other, neither manner is better.
    let keys = drawn::<Nested>(InputSource::Guided, 1, 400, endless);
    let uniform = (0..).zip(&keys).map(is_uniform).filter(|is_uniform| *is_uniform).count();
    assert!((60..340).contains(&uniform), "{uniform}");
    let chances: BTreeSet<u64> = keys.iter().map(|key| key.chance).collect();
    assert_eq!(chances.len(), keys.len(), "chance is drawn anew");
}

#[test]
fn a_guided_test_case_depends_on_what_those_before_it_covered_and_on_nothing_else() {
    let keys = drawn::<Nested>(InputSource::Guided, 1, 300, branches);
    let told = |size, learned: usize| {
        let mut told = Universe::<Nested>::new(InputSource::Guided, 1, size);
        keys.iter().take(learned).for_each(|key| told.learn(&branches(key)));
        assert_eq!(told.learned(), learned);
        told
    };
    // Told at once, and for another size.
    let mut all = told(9, 299);
    assert!((0..300).all(|index| all.case(index) == keys[index]));
    // Beyond what was told, test cases are random.
    let mut none = told(300, 0);
    assert_eq!((none.case(0), none.case(299)), (keys[0].clone(), universe::<Nested>(1, 299)));
    // What one test case covers decides what comes after it, and nothing before.
    let new = (1..300).find(|&index| keys[..index].iter().all(|key| key.depth() < keys[index].depth()));
    let new = new.expect("one gets deeper than the first");
    let mut otherwise = told(300, new);
    otherwise.learn(&Coverage::default());
    keys[new + 1..].iter().for_each(|key| otherwise.learn(&branches(key)));
    assert!((0..=new).all(|index| otherwise.case(index) == keys[index]));
    assert!((new + 1..300).any(|index| otherwise.case(index) != keys[index]));
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
