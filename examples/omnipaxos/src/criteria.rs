//! Black-box criteria: what goes wrong with servers, and everything else.

use simutant_sim_core::Probability;
use simutant_system::BlackBoxCriterion;

use crate::TestCase;
use crate::configuration::{COMMANDS, LATENCY_MS, Outage};

/// How outages stand to each other.
pub(crate) fn faults() -> BlackBoxCriterion<TestCase> {
    let requirements = [
        "no outage",
        "one crash",
        "two crashes",
        "one isolation",
        "two isolations",
        "a server crashes while another one is isolated",
        "an isolated server crashes",
        "two servers are out at once",
        "an outage of more than 300 ms",
    ];
    BlackBoxCriterion {
        name: "faults",
        requirements: requirements.map(str::to_owned).to_vec(),
        quotas: Vec::new(),
        covered: |case| {
            let (crashes, isolations) = (&case.crashes, &case.isolations);
            let all: Vec<Outage> = crashes.iter().chain(isolations).copied().collect();
            let overlap = |a: &Outage, b: &Outage| a.from_ms < b.until_ms() && b.from_ms < a.until_ms();
            let crash_in_isolation = |is_same: bool| {
                let mut pairs = crashes.iter().flat_map(|crash| isolations.iter().map(move |other| (crash, other)));
                pairs.any(|(crash, other)| overlap(crash, other) && (crash.server == other.server) == is_same)
            };
            let mut pairs = all.iter().flat_map(|a| all.iter().map(move |b| (a, b)));
            let holds = [
                all.is_empty(),
                crashes.len() == 1,
                crashes.len() == 2,
                isolations.len() == 1,
                isolations.len() == 2,
                crash_in_isolation(false),
                crash_in_isolation(true),
                pairs.any(|(a, b)| a.server != b.server && overlap(a, b)),
                all.iter().any(|outage| outage.for_ms > 300),
            ];
            (0..holds.len()).filter(|&requirement| holds[requirement]).collect()
        },
    }
}

/// Partitions of the number of servers and commands, of latency and of loss.
pub(crate) fn environment() -> BlackBoxCriterion<TestCase> {
    let requirements =
        ["3 servers", "5 servers", "few commands", "many commands", "fast", "slow", "nothing lost", "something lost"];
    BlackBoxCriterion {
        name: "environment",
        requirements: requirements.map(str::to_owned).to_vec(),
        quotas: Vec::new(),
        covered: |case| {
            vec![
                usize::from(case.servers == 5),
                2 + usize::from(case.commands > COMMANDS.end() / 2),
                4 + usize::from(case.latency_ms > LATENCY_MS.end() / 2),
                6 + usize::from(case.drop != Probability::ZERO),
            ]
        },
    }
}
