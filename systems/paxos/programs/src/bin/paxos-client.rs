//! Proposes a value: `paxos-client --replicas ADDRESS:PORT,ADDRESS:PORT --number N --value N [--at-ms N] --timeout-ms N --log
//! FILE [--fault NAME]`. A client decides nothing, so the faults are those of replicas, and change nothing here; nor does its
//! number.

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use simutant_paxos_programs::{Correct, Proposal, faults, propose};
use simutant_programs::Options;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If nobody reads the complaint, the exit code is all there is.
            _ = writeln!(std::io::stderr(), "paxos-client: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let known = ["--replicas", "--number", "--value", "--at-ms", "--timeout-ms", "--log"];
    let options = Options::parse(std::env::args().skip(1), &known)?;
    options.get::<u64>("--number")?;
    options.behaviour(&faults::ALL, &Correct)?;
    let proposal = Proposal {
        replicas: options.get("--replicas")?,
        value: options.get("--value")?,
        delay: Duration::from_millis(options.get_optional("--at-ms")?.unwrap_or(0)),
        timeout: Duration::from_millis(options.get("--timeout-ms")?),
        log: options.get("--log")?,
    };
    Ok(propose(&proposal)?)
}
