//! What is chance in the test cases of each system, and that nothing else is.

use serde_json::Value;
use simutant_system::{System, reseeding, universe};
use simutant_systems::{
    dns::Dns, gbn::Gbn, gbn::GbnLastAck, gbn_thesis::GbnThesis, gcd::Gcd, lsr::Lsr, zookeeper::ZooKeeper,
};

const SEED: u64 = 42;

/// Checks that re-seedings are test cases that pass, and differ from each other in the field `seed` alone.
#[track_caller]
fn check<S: System>() {
    let mut of_one = Vec::new();
    for index in 0..40 {
        let case = universe::<S>(SEED, index);
        assert_eq!(reseeding::<S>(SEED, index, 0, &case), case, "number 0 is the test case itself");
        for number in 1..4 {
            let reseeded = reseeding::<S>(SEED, index, number, &case);
            assert_eq!(reseeding::<S>(SEED, index, number, &case), reseeded, "it depends on numbers alone");
            assert_eq!(S::validate(&reseeded), Ok(()));
            let report = S::configure(&reseeded).run();
            assert!(report.ended.passed(), "{reseeded:?}: {}", report.ended);
            let [mut before, mut after] =
                [&case, &reseeded].map(|case| serde_json::to_value(case).expect("a test case is plain data"));
            assert_ne!(before["seed"], after["seed"]);
            of_one.push(after["seed"].clone());
            (before["seed"], after["seed"]) = (Value::Null, Value::Null);
            assert_eq!(before, after, "all but the seed transfers");
        }
    }
    of_one.sort_by_key(Value::to_string);
    of_one.dedup();
    assert_eq!(of_one.len(), 120, "every re-seeding has a seed of its own");
}

#[test]
fn the_chance_of_go_back_n_is_its_seed() {
    check::<Gbn>();
    check::<GbnLastAck>();
    check::<GbnThesis>();
}

#[test]
fn the_chance_of_link_state_routing_is_its_seed() {
    check::<Lsr>();
}

#[test]
fn the_chance_of_the_domain_name_system_is_its_seed() {
    check::<Dns>();
}

#[test]
fn the_chance_of_the_server_of_divisors_is_its_seed() {
    check::<Gcd>();
}

#[test]
fn the_chance_of_zookeeper_is_its_seed() {
    check::<ZooKeeper>();
}
