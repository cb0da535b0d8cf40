//! Runs test cases of a system of ZooKeeper on the simulation, and counts those that do not pass, each of which is a false
//! alarm of the specification or a fault of the simulation:
//! `cargo run --release --package simutant-zookeeper --example alarms -- zookeeper 20000`.
//!
//! Arguments: `zookeeper` or `zookeeper-ensemble`, and how many test cases. It prints a line for each that does not pass,
//! and their number.

#![expect(clippy::print_stdout, reason = "it is a program for people")]

use std::error::Error;

use simutant_system::{System, universe};
use simutant_zookeeper::{ZooKeeper, ZooKeeperEnsemble};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [system, count] = &arguments[..] else { return Err("give a system and a number of test cases".into()) };
    let count = count.parse()?;
    let alarms = match &**system {
        ZooKeeper::NAME => alarms::<ZooKeeper>(count),
        ZooKeeperEnsemble::NAME => alarms::<ZooKeeperEnsemble>(count),
        other => return Err(format!("there is no system {other} here").into()),
    };
    println!("{alarms} of {count} test cases of {system} do not pass");
    Ok(())
}

fn alarms<S: System>(count: usize) -> usize {
    let mut alarms = 0;
    for index in 0..count {
        let ended = S::configure(&universe::<S>(1, index)).run().ended;
        if !ended.passed() {
            println!("test case {index}: {ended}");
            alarms += 1;
        }
    }
    alarms
}
