//! Black-box criteria: what goes wrong with replicas, and what clients ask for.

use simutant_sim_core::Probability;
use simutant_system::BlackBoxCriterion;

use crate::TestCase;
use crate::configuration::{LATENCY_MAX_MS, Outage};

/// How crashes and partitions stand to each other and to leases.
pub(crate) fn faults() -> BlackBoxCriterion<TestCase> {
    let requirements = [
        "no outage",
        "a crash",
        "two crashes",
        "a partition",
        "two partitions",
        "a partition with a client on the small side",
        "a partition that is longer than a lease, with a client on the small side",
        "a crash during a partition of another replica",
        "a crash of a replica that is cut off",
        "clocks that are 4 % apart or more",
    ];
    BlackBoxCriterion {
        name: "faults",
        requirements: requirements.map(str::to_owned).to_vec(),
        quotas: Vec::new(),
        covered: |case| {
            let (crashes, partitions) = (&case.crashes, &case.partitions);
            let overlap = |a: &Outage, b: &Outage| a.from_ms < b.until_ms() && b.from_ms < a.until_ms();
            let crash_in_partition = |is_same: bool| {
                let mut pairs = crashes.iter().flat_map(|crash| partitions.iter().map(move |other| (crash, other)));
                pairs.any(|(crash, other)| {
                    overlap(crash, &other.outage) && (crash.replica == other.outage.replica) == is_same
                })
            };
            let drifts = || case.drift_percent.iter().copied();
            let holds = [
                crashes.is_empty() && partitions.is_empty(),
                crashes.len() == 1,
                crashes.len() == 2,
                partitions.len() == 1,
                partitions.len() == 2,
                partitions.iter().any(|partition| partition.client > 0),
                partitions.iter().any(|partition| partition.client > 0 && partition.outage.for_ms > 250),
                crash_in_partition(false),
                crash_in_partition(true),
                drifts().max().zip(drifts().min()).is_some_and(|(max, min)| max - min >= 4),
            ];
            (0..holds.len()).filter(|&requirement| holds[requirement]).collect()
        },
    }
}

/// What clients ask for, and how fast the network is.
pub(crate) fn load() -> BlackBoxCriterion<TestCase> {
    let requirements = [
        "one client",
        "several clients",
        "reads alone",
        "changes alone",
        "reads and changes",
        "fast",
        "slow",
        "nothing lost",
        "something lost",
    ];
    BlackBoxCriterion {
        name: "load",
        requirements: requirements.map(str::to_owned).to_vec(),
        quotas: Vec::new(),
        covered: |case| {
            let requests = || case.clients.iter().flatten();
            let has_reads = requests().any(|request| request.is_read());
            let has_changes = requests().any(|request| !request.is_read());
            let kind = match (has_reads, has_changes) {
                (true, false) => 2,
                (false, true) => 3,
                _ => 4,
            };
            vec![
                usize::from(case.clients.len() > 1),
                kind,
                5 + usize::from(case.latency_max_ms > LATENCY_MAX_MS.end() / 2),
                7 + usize::from(case.drop != Probability::ZERO),
            ]
        },
    }
}
