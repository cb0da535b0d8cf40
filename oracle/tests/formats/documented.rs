//! The table of the book that has the operations and responses of the ready-made specifications.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use simutant_oracle::Specification;
use simutant_oracle::catalogue::ReadyMade;
use simutant_oracle::formats::Value;
use simutant_oracle::specifications::{
    Bank, Counter, KeyValueStore, Lease, Log, Mutex, PriorityQueue, Queue, Register, Set, Stack, UniqueIds,
    UnorderedQueue,
};

const PAGE: &str = include_str!("../../../docs/src/reference/files.md");

/// Returns the cells of the table's rows: names, operations, responses.
fn rows() -> Vec<[Vec<String>; 3]> {
    let from = PAGE.find("### Operations of the ready-made specifications").expect("the page has the section");
    let rows = PAGE[from..].lines().skip_while(|line| !line.starts_with("| ---")).skip(1);
    let rows = rows.take_while(|line| line.starts_with('|')).map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
        let codes = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        [codes(cells[0]), codes(cells[1]), codes(cells[2])]
    });
    rows.collect()
}

fn check<S: Specification>(operations: &[String], responses: &[String])
where
    S::Operation: DeserializeOwned,
    S::Response: DeserializeOwned,
{
    for operation in operations {
        serde_json::from_str::<S::Operation>(operation).unwrap_or_else(|error| panic!("{operation}: {error}"));
    }
    for response in responses {
        serde_json::from_str::<S::Response>(response).unwrap_or_else(|error| panic!("{response}: {error}"));
    }
}

#[test]
fn the_books_operations_and_responses_are_those_of_the_specifications() {
    let mut names = BTreeSet::new();
    for [specifications, operations, responses] in rows() {
        assert!(!operations.is_empty() && !responses.is_empty(), "{specifications:?}");
        for name in specifications {
            let check = match ReadyMade::named(&name).expect("the table has names of specifications") {
                ReadyMade::Register => check::<Register<Value>>,
                ReadyMade::KeyValueStore => check::<KeyValueStore>,
                ReadyMade::Mutex => check::<Mutex>,
                ReadyMade::Lease => check::<Lease>,
                ReadyMade::Counter => check::<Counter>,
                ReadyMade::Set => check::<Set<Value>>,
                ReadyMade::Queue => check::<Queue<Value>>,
                ReadyMade::Stack => check::<Stack<Value>>,
                ReadyMade::PriorityQueue => check::<PriorityQueue<Value>>,
                ReadyMade::UnorderedQueue => check::<UnorderedQueue<Value>>,
                ReadyMade::Log => check::<Log<Value>>,
                ReadyMade::UniqueIds => check::<UniqueIds<Value>>,
                ReadyMade::Bank => check::<Bank>,
                other => panic!("{} has no row", other.name()),
            };
            check(&operations, &responses);
            names.insert(name);
        }
    }
    assert_eq!(names.len(), ReadyMade::ALL.len());
}
