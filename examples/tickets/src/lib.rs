//! A seller of tickets and clients that order from it, on a network that loses and doubles packets.
//!
//! [`Tickets`] says what a seller may answer. It judges what simulated clients saw, in [`TicketSale::configure`], and
//! what clients of a real seller saw: `implementations/python/driver.py` records them, and judges nothing itself.

pub mod protocol;

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use simutant_oracle::{Open, Session, Specification};
use simutant_sim_core::{Link, Probability, Random, Simulation, VirtualDuration};
use simutant_system::{BlackBoxCriterion, Domain, InvalidTestCase, Lengths, Observer, Probabilities, System};

use self::protocol::{PORT, SaleMessage};

/// How many tickets there are.
pub const TICKETS: u64 = 100;

/// How many clients there are.
const CLIENTS: Lengths = Lengths(1..=4);

/// How many orders a client has.
const ORDERS: Lengths = Lengths(1..=5);

/// How many tickets an order is for.
const WANTED: RangeInclusive<u64> = 1..=40;

/// How long packets are on their way: an answer may come after the client has asked again.
const LATENCY_MS: RangeInclusive<u64> = 0..=70;

/// How likely a packet is lost, and how likely it is doubled.
const PROBABILITIES: Probabilities = Probabilities::up_to(0.3);

/// What a seller may answer: so many tickets are left.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Tickets(pub u64);

impl Specification for Tickets {
    /// How many are wanted.
    type Operation = u64;
    /// Whether they are sold.
    type Response = bool;

    fn step(&mut self, _: Session, wanted: &u64, _: &mut Open<'_>) -> bool {
        let is_sold = *wanted <= self.0;
        if is_sold {
            self.0 -= wanted;
        }
        is_sold
    }
}

/// The system.
#[derive(Debug, Clone, Copy)]
pub struct TicketSale;

/// A test case: all that a run depends on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestCase {
    /// What each client orders, one after the other: from 1 to 4 lists of from 1 to 5 orders for at most 40 tickets.
    pub orders: Vec<Vec<u64>>,
    /// How long every packet is on its way: at most 70 ms.
    pub latency_ms: u64,
    /// The probability that a packet is lost: at most 0.3.
    pub drop: Probability,
    /// The probability that a packet which is not lost arrives twice: at most 0.3.
    pub duplicate: Probability,
    /// Fixes which packets are lost and doubled.
    pub seed: u64,
}

/// What clients saw.
pub type Calls = Observer<u64, bool>;

impl System for TicketSale {
    const NAME: &'static str = "tickets";

    const UNIVERSE: usize = 500;

    type TestCase = TestCase;
    type Message = SaleMessage;

    fn sample(random: &mut Random) -> TestCase {
        let clients = CLIENTS.draw(random);
        let orders = (0..clients).map(|_| (0..ORDERS.draw(random)).map(|_| WANTED.draw(random)).collect()).collect();
        let latency_ms = LATENCY_MS.draw(random);
        let [drop, duplicate] = [(); 2].map(|()| PROBABILITIES.draw_hundredths(random));
        TestCase { orders, latency_ms, drop, duplicate, seed: random.bits() }
    }

    fn reseed(case: &TestCase, random: &mut Random) -> TestCase {
        TestCase { seed: random.bits(), ..case.clone() }
    }

    fn validate(case: &TestCase) -> Result<(), InvalidTestCase> {
        CLIENTS.check("orders", &case.orders.len())?;
        for (client, orders) in case.orders.iter().enumerate() {
            ORDERS.check(format!("orders[{client}]"), &orders.len())?;
            for (number, wanted) in orders.iter().enumerate() {
                WANTED.check(format!("orders[{client}][{number}]"), wanted)?;
            }
        }
        LATENCY_MS.check("latency_ms", &case.latency_ms)?;
        PROBABILITIES.check("drop", &case.drop)?;
        PROBABILITIES.check("duplicate", &case.duplicate)
    }

    fn configure(case: &TestCase) -> Simulation<SaleMessage> {
        let mut simulation = Simulation::new(case.seed);
        let link = Link::constant(VirtualDuration::from_millis(case.latency_ms));
        simulation.network(Link { drop: case.drop.into(), duplicate: case.duplicate, ..link });
        simulation.add("seller", protocol::seller);
        let seller = simulation.address("seller", PORT);
        let calls = Calls::new(&simulation);
        for (number, orders) in (1..).zip(&case.orders) {
            let (orders, calls) = (orders.clone(), calls.clone());
            let count = orders.len();
            let client = simulation.add(&format!("client-{number}"), move |context| {
                protocol::client(context, seller, Session(number), orders, calls)
            });
            // A client may give up where packets are lost, and nowhere else.
            if case.drop == Probability::ZERO {
                client.expecting(count);
            }
        }
        calls.check(&mut simulation, "each ticket is sold once", Tickets(TICKETS));
        simulation
    }

    fn criteria() -> Vec<BlackBoxCriterion<TestCase>> {
        vec![demand_and_losses()]
    }
}

/// Partitions of what a test case says, each field apart from the others.
fn demand_and_losses() -> BlackBoxCriterion<TestCase> {
    let requirements = ["one client", "several clients", "tickets for all", "too few tickets", "losses", "no losses"];
    BlackBoxCriterion {
        name: "demand-and-losses",
        requirements: requirements.map(str::to_owned).into(),
        quotas: Vec::new(),
        covered: |case| {
            let wanted: u64 = case.orders.iter().flatten().sum();
            let (is_one, is_enough) = (case.orders.len() == 1, wanted <= TICKETS);
            let is_lossy = case.drop != Probability::ZERO;
            let holds = [is_one, !is_one, is_enough, !is_enough, is_lossy, !is_lossy];
            (0..holds.len()).filter(|requirement| holds[*requirement]).collect()
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sampled_cases_are_valid_and_pass() {
        for index in 0..500 {
            let case = simutant_system::universe::<TicketSale>(1, index);
            assert_eq!(TicketSale::validate(&case), Ok(()));
            let ended = TicketSale::configure(&case).run().ended;
            assert!(ended.passed(), "{case:?}: {ended}");
        }
    }
}
