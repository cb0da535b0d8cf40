//! Specifications that the system `checker` does not draw, against a judge that tries all orders.

use std::fmt::Debug;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use simutant_oracle::specifications::{
    Bank, Keyed, Queue, Register, Set, UnorderedQueue, bank, containers, keyed, set,
};
use simutant_oracle::{Check, Order, Specification, Strategy, hints};
use simutant_random::Random;

use crate::judge::{Shape, brute_force, history, one_of};
use crate::tried::Tried;

/// A specification with what it is tried with.
struct Subject<S: Specification> {
    initial: S,
    operations: Vec<S::Operation>,
    made_up: fn(&mut Random, &S::Operation) -> S::Response,
}

impl<S> Subject<S>
where
    S: Specification<Operation: Clone + Debug, Response: Clone + Debug> + Debug,
{
    /// Holds the verdicts on a random history against who tries all orders.
    fn agrees(&self, seed: u64) {
        let shape = Shape { calls_max: 6, sessions: 3, unknown: 3, may_be_wrong: true };
        let operation = |random: &mut Random| one_of(random, &self.operations);
        let history = history(&mut Random::from_seed(seed), shape, &self.initial, operation, self.made_up);
        for order in [Order::linearizability(), Order::sequential(), Order::none()] {
            let expect = brute_force(&history, &self.initial, &order);
            for (strategy, has_fast_paths) in
                [(Strategy::JustInTime, true), (Strategy::JustInTime, false), (Strategy::BreadthFirst, false)]
            {
                let check = Check { order: order.clone(), strategy, has_fast_paths, ..Check::default() };
                let checked = check.run(&history, &self.initial);
                assert_eq!(checked.is_possible(), expect, "{order:?}, {strategy:?}: {checked:?} of {history:#?}");
            }
        }
    }

    fn hints_hold(&self) {
        hints::check(&self.initial, &self.operations, 3).expect("hints hold");
    }
}

fn unordered_queue() -> Subject<UnorderedQueue<u8>> {
    Subject {
        initial: vec![1].into(),
        operations: Queue::operations().into_iter().chain([containers::Operation::Put(0)]).collect(),
        made_up: Queue::made_up,
    }
}

/// Returns services of two keys, each with these operations.
fn keyed<S: Tried<Operation: Clone, Response: Clone>>(initial: S, operations: Vec<S::Operation>) -> Subject<Keyed<S>> {
    let of = |key: &str| -> Vec<keyed::Operation<S::Operation>> {
        operations.iter().map(|operation| keyed::Operation { key: key.into(), operation: operation.clone() }).collect()
    };
    let made_up = |random: &mut Random, asked: &keyed::Operation<S::Operation>| S::made_up(random, &asked.operation);
    Subject { initial: Keyed::new(initial), operations: [of("x"), of("y")].concat(), made_up }
}

fn registers() -> Subject<Keyed<Register<u8>>> {
    keyed(Register(Some(0)), Register::operations())
}

/// Sets whose operations overwrite one value of several.
fn sets() -> Subject<Keyed<Set<u8>>> {
    use set::Operation::{Add, Read, Remove};
    keyed(Set::default(), vec![Add(0), Add(1), Remove(0), Read])
}

fn overdrawn() -> Subject<Bank> {
    let made_up = |random: &mut Random, operation: &bank::Operation| match operation {
        bank::Operation::Read => {
            let balances = one_of(random, &[[2, 1, 0], [1, 2, 0], [3, 0, 0], [2, -1, 2], [1, 0, 2]]);
            bank::Response::Balances(["a", "b", "c"].map(Into::into).into_iter().zip(balances).collect())
        }
        operation => Bank::made_up(random, operation),
    };
    Subject { initial: Bank::initial().with_overdraft(), operations: Bank::operations(), made_up }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_unordered_queue_agrees_with_brute_force(seed: u64) {
        unordered_queue().agrees(seed);
    }

    #[test]
    fn keyed_registers_agree_with_brute_force(seed: u64) {
        registers().agrees(seed);
    }

    #[test]
    fn keyed_sets_agree_with_brute_force(seed: u64) {
        sets().agrees(seed);
    }

    #[test]
    fn a_bank_with_overdraft_agrees_with_brute_force(seed: u64) {
        overdrawn().agrees(seed);
    }
}

#[test]
fn hints_hold() {
    unordered_queue().hints_hold();
    registers().hints_hold();
    sets().hints_hold();
    overdrawn().hints_hold();
}
