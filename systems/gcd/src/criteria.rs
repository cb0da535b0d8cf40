//! Black-box criteria of the service: what clients ask for, and under which conditions.

use std::collections::BTreeSet;

use simutant_sim_core::Probability;
use simutant_system::{BlackBoxCriterion, met_requirements};

use super::TestCase;
use super::configuration::{LATENCY_MAX, PROBABILITY_MAX, REQUESTS_MAX};

/// How the numbers of a request stand to each other, and to those of the requests before: what the cache depends on.
pub(super) fn request_relations() -> BlackBoxCriterion<TestCase> {
    let requirements = [
        "a < b",
        "a = b",
        "a > b",
        "the numbers of an earlier client in the same order",
        "the numbers of an earlier client in the other order",
        "more pairs of numbers than the cache holds",
    ];
    BlackBoxCriterion {
        name: "request-relations",
        requirements: requirements.map(str::to_owned).to_vec(),
        quotas: Vec::new(),
        covered: |case| {
            let pairs: Vec<(u32, u32)> = case.requests.iter().map(|request| (request.a, request.b)).collect();
            let earlier = |is_related: fn((u32, u32), (u32, u32)) -> bool| {
                (1..pairs.len()).any(|later| pairs[..later].iter().any(|&pair| is_related(pair, pairs[later])))
            };
            let distinct: BTreeSet<_> = pairs.iter().map(|&(a, b)| (a.min(b), a.max(b))).collect();
            let holds = [
                pairs.iter().any(|(a, b)| a < b),
                pairs.iter().any(|(a, b)| a == b),
                pairs.iter().any(|(a, b)| a > b),
                earlier(|pair, later| pair == later),
                earlier(|(a, b), later| a != b && (b, a) == later),
                distinct.len() > case.cache_size,
            ];
            met_requirements(&holds)
        },
    }
}

/// Partitions of everything that is not what clients ask for: their number, latency, loss and duplication.
pub(super) fn environment() -> BlackBoxCriterion<TestCase> {
    let mut requirements: Vec<String> = (1..=REQUESTS_MAX).map(|count| format!("{count} clients")).collect();
    let quarter_ms = LATENCY_MAX.as_nanos() / 4_000_000;
    requirements.extend((0..4).map(|quarter| {
        let (low, high) = (quarter * quarter_ms, (quarter + 1) * quarter_ms);
        format!("latency from {low} ms to {}{high} ms", if quarter == 3 { "" } else { "below " })
    }));
    for field in ["drop", "duplicate"] {
        requirements.push(format!("{field} 0"));
        requirements.push(format!("{field} above 0, below {}", PROBABILITY_MAX / 2.0));
        requirements.push(format!("{field} from {} to {PROBABILITY_MAX}", PROBABILITY_MAX / 2.0));
    }
    BlackBoxCriterion {
        name: "environment",
        requirements,
        quotas: Vec::new(),
        covered: |case| {
            let third = |probability: Probability| match probability.get() {
                0.0 => 0,
                value if value < PROBABILITY_MAX / 2.0 => 1,
                _ => 2,
            };
            let latency = (case.latency.as_nanos() * 4 / LATENCY_MAX.as_nanos()).min(3) as usize;
            let latency_first = REQUESTS_MAX;
            let drop_first = latency_first + 4;
            let duplicate_first = drop_first + 3;
            vec![
                case.requests.len() - 1,
                latency_first + latency,
                drop_first + third(case.drop),
                duplicate_first + third(case.duplicate),
            ]
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(criterion: BlackBoxCriterion<TestCase>, case: &TestCase, expect: &[&str]) {
        let covered = (criterion.covered)(case);
        assert_eq!(covered.into_iter().map(|index| &criterion.requirements[index]).collect::<Vec<_>>(), expect);
    }

    #[test]
    fn the_published_configurations_cover_different_relations() {
        check(request_relations(), &TestCase::client_pair_a(), &["a < b"]);
        let same = "the numbers of an earlier client in the same order";
        check(request_relations(), &TestCase::client_pair_b(), &["a < b", same]);
        let other = "the numbers of an earlier client in the other order";
        check(request_relations(), &TestCase::client_pair_c(), &["a < b", "a > b", other]);
        let full = "more pairs of numbers than the cache holds";
        check(request_relations(), &TestCase::cache_test(), &["a < b", "a > b", other, full]);
    }

    #[test]
    fn a_cut_belongs_to_the_partition_above() {
        let case = TestCase { drop: Probability::new(0.1).expect("it is one"), ..TestCase::cache_test() };
        let expect = ["3 clients", "latency from 100 ms to below 150 ms", "drop from 0.1 to 0.2", "duplicate 0"];
        check(environment(), &case, &expect);
        let case = TestCase {
            latency: LATENCY_MAX,
            drop: Probability::new(0.099).expect("it is one"),
            duplicate: Probability::new(0.2).expect("it is one"),
            ..TestCase::client_pair_a()
        };
        let drop = "drop above 0, below 0.1";
        check(environment(), &case, &["2 clients", "latency from 150 ms to 200 ms", drop, "duplicate from 0.1 to 0.2"]);
    }
}
