//! The oracle as a system: who checks the checker.
//!
//! A test case is a small history of one of the ready-made specifications, with its verdict by each order ([`case`],
//! drawn in `sample.rs`). A judge that tries all orders gives the verdicts when the test case is drawn (`judge.rs`):
//! nothing is mutated then. A run asks the oracle, by all strategies, and passes if it agrees: on the verdict, on the
//! witness, on the core of an explanation, and within budgets (`examine.rs`). A step of a search takes a nanosecond of virtual time. So a mutant of the search or of
//! a specification is a checker that is wrong, and a test case kills it if that shows.

mod any;
pub mod case;
mod edge;
mod examine;
mod judge;
mod nodes;
mod sample;
mod tried;

use simutant_sim_core::{Message, Random, Simulation, VirtualDuration};
use simutant_system::{BlackBoxCriterion, Domain, InvalidTestCase, Lengths, System, TraceCriterion};

pub use any::Name;
pub use case::{Case, WrongCall};

/// The system.
#[derive(Debug, Clone, Copy)]
pub struct CheckerSystem;

/// Nothing is sent.
#[derive(Debug, Clone, Hash)]
pub enum NoMessage {}

impl Message for NoMessage {
    fn kind(&self) -> &'static str {
        match *self {}
    }
}

impl System for CheckerSystem {
    const NAME: &'static str = "checker";

    const UNIVERSE: usize = 500;

    type TestCase = Case;
    type Message = NoMessage;

    fn sample(random: &mut Random) -> Case {
        let drawn: Vec<Name> = DRAWN.iter().flat_map(|&(name, times)| vec![name; times]).collect();
        Case::sample(drawn[random.uniform(0..drawn.len())], random)
    }

    fn validate(case: &Case) -> Result<(), InvalidTestCase> {
        CALLS.check("calls", &case.calls.len())?;
        let refuse = |error: WrongCall| InvalidTestCase::new("calls", error, "calls of the specification");
        case.check().map_err(refuse)
    }

    fn configure(case: &Case) -> Simulation<NoMessage> {
        let mut simulation = Simulation::new(0);
        let case = case.clone();
        simulation
            .add("checker", |context| async move {
                let (wrong, steps) = case.examine();
                // So two runs that search differently differ, and how much they do is their time.
                context.sleep(VirtualDuration::from_nanos(steps)).await;
                wrong
            })
            .expecting(None);
        simulation
    }

    fn criteria() -> Vec<BlackBoxCriterion<Case>> {
        vec![verdicts(), specifications()]
    }

    fn trace_criteria() -> Vec<TraceCriterion> {
        Vec::new()
    }
}

/// The specifications that test cases are drawn of, and how many of all: those with fast paths have more code, and what
/// a log or a tree of nodes answers depends on more.
const DRAWN: [(Name, usize); 15] = [
    (Name::Register, 4),
    (Name::Store, 3),
    (Name::Counter, 2),
    (Name::Set, 7),
    (Name::Queue, 5),
    (Name::Stack, 5),
    (Name::PriorityQueue, 4),
    (Name::Mutex, 1),
    (Name::Lease, 1),
    (Name::Log, 5),
    (Name::UniqueIds, 1),
    (Name::Bank, 2),
    (Name::Zookeeper, 9),
    (Name::Permissions, 3),
    (Name::StalePermissions, 2),
];

/// How many calls there may be.
const CALLS: Lengths = Lengths(0..=sample::WIDE_CALLS_MAX);

/// What orders say of a history.
fn verdicts() -> BlackBoxCriterion<Case> {
    let requirements = [
        "possible in any way",
        "impossible in every way",
        "sequentially consistent, and not linearizable",
        "linearizable, and not sequentially consistent",
        "possible but for revisions",
        "possible but for pairs",
        "each call is possible by itself, and not all",
        "simple checking misses what strict checking finds",
    ];
    BlackBoxCriterion {
        name: "verdicts",
        requirements: requirements.map(str::to_owned).to_vec(),
        quotas: Vec::new(),
        covered: |case| {
            let possible = &case.possible;
            let real_time = possible.linearizability;
            let Some(others) = &possible.others else { return Vec::new() };
            let holds = [
                real_time && others.sequential && others.pairs,
                !others.none,
                others.sequential && !real_time,
                real_time && !others.sequential,
                real_time && !others.revisions,
                real_time && !others.time_and_pairs,
                others.strict[0][0] && !real_time,
                others.simple[0][0] && !others.strict[0][0],
            ];
            (0..holds.len()).filter(|&requirement| holds[requirement]).collect()
        },
    }
}

/// Each specification, with a history that it allows and with one that it does not.
fn specifications() -> BlackBoxCriterion<Case> {
    let requirements =
        Name::ALL.iter().flat_map(|name| ["possible", "impossible"].map(|verdict| format!("{name:?}: {verdict}")));
    BlackBoxCriterion {
        name: "specifications",
        requirements: requirements.collect(),
        quotas: Vec::new(),
        covered: |case| vec![2 * case.specification as usize + usize::from(!case.possible.linearizability)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sampled_cases_are_valid_and_pass() {
        for index in 0..300 {
            let case = simutant_system::universe::<CheckerSystem>(1, index);
            assert_eq!(CheckerSystem::validate(&case), Ok(()));
            assert_eq!(case.judged().expect("it has calls of the specification"), case.possible);
            let ended = CheckerSystem::configure(&case).run().ended;
            assert!(ended.passed(), "{index} {}: {ended}", serde_json::to_string(&case).expect("it is plain data"));
        }
    }

    #[test]
    fn a_wrong_verdict_fails() {
        for index in 0..50 {
            let mut case = simutant_system::universe::<CheckerSystem>(1, index);
            case.possible.linearizability = !case.possible.linearizability;
            assert!(!CheckerSystem::configure(&case).run().ended.passed(), "{index}");
        }
    }
}
