//! Runs one test case on a simulated ZooKeeper that has a mistake, as a driver of Simutant:
//!
//!     zookeeper CASE SEED
//!
//! CASE is a file with the test case, SEED is what fixes how long messages are on their way. The library is that of the
//! system, with the mistake: see `build.py`.

use std::error::Error;
use std::process::ExitCode;

use simutant_sim_core::{Ended, Random};
use simutant_system::System;
use zookeeper::ZooKeeper;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [case, seed] = &arguments[..] else { return Err("give a test case and a seed".into()) };
    let case = serde_json::from_str(&std::fs::read_to_string(case)?)?;
    ZooKeeper::validate(&case)?;
    let case = ZooKeeper::reseed(&case, &mut Random::from_seed(seed.parse()?));
    let (code, class, reason) = match ZooKeeper::configure(&case).run().ended {
        Ended::Passed => return Ok(ExitCode::SUCCESS),
        Ended::Failed(violation) => (1, "wrong-result", violation.to_string()),
        Ended::NotTerminated(limit) => (1, "not-terminated", limit.to_string()),
        Ended::Abnormal(panic) => (1, "abnormal", panic.to_string()),
        Ended::Inconclusive(undecided) => (75, "wrong-result", undecided.reason),
    };
    println!("{}", serde_json::json!({ "class": class, "reason": reason }));
    Ok(ExitCode::from(code))
}
