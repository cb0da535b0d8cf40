//! Two-phase commit on a network that loses packets, with crashes of everyone.
//!
//! The protocol is in [`protocol`]: that file is the specification. The rest is here: what a test case is, how
//! components, network and crashes are put together, the oracle, and two criteria.
//!
//! A run passes if all participants do the same with each transaction, each once; if only what all voted for is
//! committed; and, where nothing is lost and nobody crashes, if all of that is.

pub mod net;
pub mod protocol;
#[cfg(feature = "testbed")]
pub mod testbed;

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use simutant_oracle::{History, Session};
use simutant_sim_core::{CheckFailure, Faults, Link, Probability, Random, Simulation, VirtualDuration};
use simutant_system::{
    BlackBoxCriterion, Domain, InvalidTestCase, Lengths, NetCase, Observer, Outage, Outages, Probabilities, System,
    met_requirements,
};

use self::net::{CommitNet, Decision, Observation, Stimulus, Vote, Worker};
use self::protocol::{CommitMessage, PORT};

/// How many take part.
const PARTICIPANTS: Lengths = Lengths(1..=4);

/// How many transactions there are.
const TRANSACTIONS: Lengths = Lengths(1..=3);

/// How many crashes there are.
const CRASHES: RangeInclusive<usize> = 0..=3;

/// How long a crash lasts.
const CRASH_FOR_MS: RangeInclusive<u64> = 1..=500;

/// How long packets are on their way: both ways and a write take less than the coordinator's timeout.
const LATENCY_MS: RangeInclusive<u64> = 1..=40;

/// How likely a packet is lost, if any is.
const DROP: Probabilities = Probabilities::up_to(0.3);

/// The system.
#[derive(Debug, Clone, Copy)]
pub struct TwoPhaseCommit;

/// A test case: all that a run depends on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestCase {
    /// What each participant votes on each transaction: from 1 to 4 lists of from 1 to 3 votes, all of one length.
    pub votes: Vec<Vec<bool>>,
    /// How long every packet is on its way: from 1 to 40 ms.
    pub latency_ms: u64,
    /// The probability that a packet is lost: at most 0.3.
    pub drop: Probability,
    /// Who crashes, and is there again after at most 500 ms: at most 3. 0 is the coordinator, others are participants.
    /// Nobody crashes when all is likely to be over.
    pub crashes: Vec<Outage>,
    /// Fixes which packets are lost.
    pub seed: u64,
    /// The sets of observations, one of which must be made: those of the net, for its test cases.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub outcomes: BTreeSet<BTreeSet<Observation>>,
}

/// What participants did, each with a transaction and whether it was committed: the world outside of the protocol,
/// which a crash does not change. A participant's session has its number.
type World = Observer<(u32, bool), ()>;

impl System for TwoPhaseCommit {
    const NAME: &'static str = "two-phase-commit";

    const UNIVERSE: usize = 1_000;

    type TestCase = TestCase;
    type Message = CommitMessage;

    fn sample(random: &mut Random) -> TestCase {
        let participants = PARTICIPANTS.draw(random);
        let transactions = TRANSACTIONS.draw(random);
        // One vote in six is no, so that some transactions are committed.
        let mut vote = || random.uniform(0..6_u8) > 0;
        let votes = (0..participants).map(|_| (0..transactions).map(|_| vote()).collect()).collect();
        let latency_ms = LATENCY_MS.draw(random);
        let drop = DROP.draw_hundredths(random);
        let crashes = crashes(participants, transactions, latency_ms).draw(random);
        TestCase { votes, latency_ms, drop, crashes, seed: random.bits(), outcomes: BTreeSet::new() }
    }

    fn of_net(seed: u64, count: usize) -> Option<Vec<TestCase>> {
        CommitNet::of_net(seed, count).map(|cases| cases.into_iter().map(TestCase::from).collect())
    }

    fn reseed(case: &TestCase, random: &mut Random) -> TestCase {
        TestCase { seed: random.bits(), ..case.clone() }
    }

    fn validate(case: &TestCase) -> Result<(), InvalidTestCase> {
        let participants = case.votes.len();
        PARTICIPANTS.check("votes", &participants)?;
        TRANSACTIONS.check("votes[0]", &case.votes[0].len())?;
        for (index, votes) in case.votes.iter().enumerate() {
            let as_others = case.votes[0].len();
            Lengths(as_others..=as_others).check(format!("votes[{index}]"), &votes.len())?;
        }
        LATENCY_MS.check("latency_ms", &case.latency_ms)?;
        DROP.check("drop", &case.drop)?;
        crashes(participants, case.votes[0].len(), case.latency_ms).check("crashes", &case.crashes)
    }

    fn configure(case: &TestCase) -> Simulation<CommitMessage> {
        let mut simulation = Simulation::new(case.seed);
        simulation.network(link(case));
        simulation.faults(faults(case));
        let world = World::new(&simulation);
        for (index, votes) in case.votes.iter().enumerate() {
            let (votes, world) = (votes.clone(), world.clone());
            simulation.add_restartable(&name(index + 1), move |context| {
                let world = world.clone();
                let apply = move |transaction, commit| world.observed(session(index + 1), (transaction, commit), ());
                protocol::participant(context, votes.clone(), apply)
            });
        }
        let addresses: Vec<_> = (1..=case.votes.len()).map(|who| simulation.address(&name(who), PORT)).collect();
        let transactions = case.votes[0].len() as u32;
        let decided = simulation
            .add_restartable(&name(0), move |context| protocol::coordinator(context, addresses.clone(), transactions))
            .returned();
        let case = case.clone();
        simulation.check("all did the same, and what was voted for", move || {
            let decided = decided.get();
            check(decided.as_deref().map(Vec::as_slice), &world, &case)
        });
        simulation
    }

    fn criteria() -> Vec<BlackBoxCriterion<TestCase>> {
        vec![votes(), faults_and_losses()]
    }
}

fn name(who: usize) -> String {
    if who == 0 { "coordinator".to_owned() } else { format!("p{who}") }
}

fn session(who: usize) -> Session {
    Session(who as u64)
}

/// Returns which crashes there may be: a transaction takes two round trips and two writes at least.
fn crashes(participants: usize, transactions: usize, latency_ms: u64) -> Outages {
    let busy_ms = transactions as u64 * (4 * latency_ms + 10);
    Outages { count: CRASHES, components: 0..=participants, begin_ms: 0..=busy_ms, for_ms: CRASH_FOR_MS }
}

fn link(case: &TestCase) -> Link {
    Link { drop: case.drop.into(), ..Link::constant(VirtualDuration::from_millis(case.latency_ms)) }
}

fn faults(case: &TestCase) -> Faults {
    let schedule = case.crashes.iter().flat_map(|crash| crash.crash(name(crash.component))).collect();
    Faults { schedule, ..Faults::default() }
}

/// The oracle: what a coordinator that returned has decided on each transaction, and what participants did.
fn check(decided: Option<&[bool]>, world: &World, case: &TestCase) -> Result<(), CheckFailure> {
    world.recorder().with(|history| {
        check_votes(decided, history, case)?;
        check_outcome(decided, history, &case.outcomes)
    })
}

fn check_votes(
    decided: Option<&[bool]>,
    world: &History<(u32, bool), ()>,
    TestCase { votes, drop, crashes, .. }: &TestCase,
) -> Result<(), CheckFailure> {
    let decided = decided.ok_or_else(|| CheckFailure::new("the coordinator did not return"))?;
    let is_calm = *drop == Probability::ZERO && crashes.is_empty();
    for (transaction, &commit) in decided.iter().enumerate() {
        let all_voted_yes = votes.iter().all(|votes| votes[transaction]);
        if commit && !all_voted_yes {
            return Err(CheckFailure::new(format!("transaction {transaction} was committed against a vote")));
        }
        if is_calm && commit != all_voted_yes {
            return Err(CheckFailure::new(format!("transaction {transaction} was aborted for no reason")));
        }
    }
    let expected: Vec<(u32, bool)> = (0..).zip(decided.iter().copied()).collect();
    for who in 1..=votes.len() {
        // What comes first does not matter.
        let mut done: Vec<_> = world.of(session(who)).map(|call| call.operation).collect();
        done.sort();
        if done != expected {
            let who = name(who);
            return Err(CheckFailure::new(format!("{who} did {done:?}, but {expected:?} was decided")));
        }
    }
    Ok(())
}

/// The oracle of the net's test cases, which have one transaction.
fn check_outcome(
    decided: Option<&[bool]>,
    world: &History<(u32, bool), ()>,
    outcomes: &BTreeSet<BTreeSet<Observation>>,
) -> Result<(), CheckFailure> {
    let decision = |commit| if commit { Decision::Commit } else { Decision::Abort };
    let told = world.calls().iter().map(|call| {
        let (worker, (_, commit)) = (call.session.0 as u8, call.operation);
        Observation::Told { worker, decision: decision(commit) }
    });
    let completed = decided.into_iter().flatten();
    let completed = completed.map(|&commit| Observation::Completed { decision: decision(commit) });
    let observed: BTreeSet<Observation> = told.chain(completed).collect();
    match outcomes.is_empty() || outcomes.contains(&observed) {
        true => Ok(()),
        false => Err(CheckFailure::new(format!("{observed:?} was observed, and one of {outcomes:?} is allowed"))),
    }
}

/// The test cases of the net: one transaction, and nothing fails.
impl From<NetCase<Worker, Stimulus, Observation>> for TestCase {
    fn from(case: NetCase<Worker, Stimulus, Observation>) -> Self {
        // By worker, as in the net.
        let vote = |&Stimulus::Vote { vote, .. }: &Stimulus| vec![vote == Vote::Yes];
        Self {
            votes: case.inputs.iter().map(vote).collect(),
            latency_ms: *LATENCY_MS.start(),
            drop: Probability::ZERO,
            crashes: Vec::new(),
            seed: case.seed,
            outcomes: case.outcomes,
        }
    }
}

/// How many take part, and how they vote.
fn votes() -> BlackBoxCriterion<TestCase> {
    let requirements = [
        "one participant",
        "several participants",
        "one transaction",
        "several transactions",
        "all vote yes",
        "one votes no",
        "several vote no",
    ];
    BlackBoxCriterion {
        name: "votes",
        requirements: requirements.map(str::to_owned).to_vec(),
        quotas: Vec::new(),
        covered: |case| {
            let transactions = case.votes[0].len();
            let against = |transaction: usize| case.votes.iter().filter(|votes| !votes[transaction]).count();
            let some = |is_it: fn(usize) -> bool| (0..transactions).any(|transaction| is_it(against(transaction)));
            let holds = [
                case.votes.len() == 1,
                case.votes.len() > 1,
                transactions == 1,
                transactions > 1,
                some(|against| against == 0),
                some(|against| against == 1),
                some(|against| against > 1),
            ];
            met_requirements(&holds)
        },
    }
}

/// Who crashes, when, and what the network does.
fn faults_and_losses() -> BlackBoxCriterion<TestCase> {
    let requirements = [
        "nobody crashes",
        "the coordinator crashes",
        "the coordinator crashes in the first 100 ms",
        "a participant crashes",
        "a participant crashes in the first 100 ms",
        "two crash",
        "nothing lost",
        "something lost",
    ];
    BlackBoxCriterion {
        name: "faults-and-losses",
        requirements: requirements.map(str::to_owned).to_vec(),
        quotas: Vec::new(),
        covered: |case| {
            let some = |is_it: fn(&Outage) -> bool| case.crashes.iter().any(is_it);
            let holds = [
                case.crashes.is_empty(),
                some(|crash| crash.component == 0),
                some(|crash| crash.component == 0 && crash.at_ms < 100),
                some(|crash| crash.component > 0),
                some(|crash| crash.component > 0 && crash.at_ms < 100),
                case.crashes.iter().any(|crash| crash.component != case.crashes[0].component),
                case.drop == Probability::ZERO,
                case.drop != Probability::ZERO,
            ];
            met_requirements(&holds)
        },
    }
}

#[cfg(test)]
mod tests {
    use simutant_system::universe;

    use super::*;

    #[test]
    fn sampled_cases_are_valid_and_pass_and_few_crashes_come_too_late() {
        let mut too_late = 0;
        for index in 0..2_000 {
            let case = universe::<TwoPhaseCommit>(1, index);
            assert_eq!(TwoPhaseCommit::validate(&case), Ok(()));
            let report = TwoPhaseCommit::configure(&case).run();
            assert!(report.ended.passed(), "{case:?}: {}", report.ended);
            too_late += u32::from(report.faults_after_end > 0);
        }
        assert!(too_late < 100, "{too_late}");
    }

    #[test]
    fn the_simulation_does_what_the_net_allows_and_other_outcomes_are_found() {
        let cases = TwoPhaseCommit::of_net(1, 100).expect("it has a net");
        assert_eq!(cases.len(), 2 + 4 + 8 + 16);
        for case in cases {
            assert_eq!(TwoPhaseCommit::validate(&case), Ok(()));
            let ended = TwoPhaseCommit::configure(&case).run().ended;
            assert!(ended.passed(), "{case:?}: {ended}");
            // One observation less is another outcome.
            let fewer = |outcome: &BTreeSet<Observation>| outcome.iter().skip(1).copied().collect();
            let other = TestCase { outcomes: case.outcomes.iter().map(fewer).collect(), ..case };
            assert!(!TwoPhaseCommit::configure(&other).run().ended.passed());
        }
    }

    #[test]
    fn a_coordinator_that_crashes_before_it_decides_aborts() {
        let crash = Outage { component: 0, at_ms: 30, for_ms: 100 };
        let votes = vec![vec![true], vec![true]];
        let case = TestCase {
            votes,
            latency_ms: 20,
            drop: Probability::ZERO,
            crashes: vec![crash],
            seed: 0,
            outcomes: BTreeSet::new(),
        };
        let committed = |case: &TestCase| {
            let mut simulation = TwoPhaseCommit::configure(case);
            simulation.record_trace();
            let report = simulation.run();
            assert!(report.ended.passed(), "{}", report.ended);
            format!("{:?}", report.trace).contains("commit: true")
        };
        assert!(!committed(&case));
        assert!(committed(&TestCase { crashes: Vec::new(), ..case }));
    }
}
