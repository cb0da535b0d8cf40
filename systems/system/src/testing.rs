//! Checks for the tests of a system: what the rest of Simutant relies on, and the compiler does not see.

use std::collections::BTreeSet;

use crate::system::{System, reseeding, universe};

/// How many test cases are re-seeded.
const CASES: usize = 40;

/// Checks that re-seedings are test cases that pass, depend on numbers alone, and differ from the test case and from each
/// other in its chance alone: `forget_chance` sets that to one value.
///
/// ```no_run
/// # use simutant_system::{System, testing::check_reseeding};
/// # fn tests<Gbn: System<TestCase = TestCase>>() {
/// check_reseeding::<Gbn>(|case| case.seed = 0);
/// # }
/// # #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
/// # struct TestCase { seed: u64 }
/// ```
///
/// # Panics
/// If that is not so, with the test case.
#[track_caller]
pub fn check_reseeding<S: System>(forget_chance: impl Fn(&mut S::TestCase)) {
    const SEED: u64 = 42;
    let without_chance = |case: &S::TestCase| {
        let mut case = case.clone();
        forget_chance(&mut case);
        case
    };
    let mut drawn = BTreeSet::new();
    for index in 0..CASES {
        let case = universe::<S>(SEED, index);
        assert_eq!(reseeding::<S>(SEED, index, 0, &case), case, "number 0 is the test case itself");
        for number in 1..4 {
            let reseeded = reseeding::<S>(SEED, index, number, &case);
            assert_eq!(reseeding::<S>(SEED, index, number, &case), reseeded, "it depends on numbers alone");
            assert_eq!(S::validate(&reseeded), Ok(()));
            let report = S::configure(&reseeded).run();
            assert!(report.ended.passed(), "{reseeded:?}: {}", report.ended);
            assert_ne!(reseeded, case);
            assert_eq!(without_chance(&reseeded), without_chance(&case), "all but its chance transfers");
            assert!(drawn.insert(format!("{reseeded:?}")), "drawn twice: {reseeded:?}");
        }
    }
}
