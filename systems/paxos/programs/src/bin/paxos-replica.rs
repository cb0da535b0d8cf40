//! Takes part in Paxos: `paxos-replica --listen ADDRESS:PORT --number N --replicas ADDRESS:PORT,ADDRESS:PORT [--decrees N] --log
//! FILE [--learned FILE] [--fault NAME]`. Replicas decide on so many values, or on one.

use std::io::Write;
use std::num::NonZeroUsize;
use std::process::ExitCode;

use simutant_paxos_programs::{Correct, Service, faults, serve};
use simutant_programs::Options;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If nobody reads the complaint, the exit code is all there is.
            _ = writeln!(std::io::stderr(), "paxos-replica: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let known = ["--listen", "--number", "--replicas", "--decrees", "--log", "--learned"];
    let options = Options::parse(std::env::args().skip(1), &known)?;
    let service = Service {
        listen: options.get("--listen")?,
        number: options.get("--number")?,
        replicas: options.get("--replicas")?,
        decrees: options.get_optional("--decrees")?.unwrap_or(NonZeroUsize::MIN),
        log: options.get("--log")?,
        learned: options.get_optional("--learned")?,
    };
    Ok(serve(&service, options.behaviour(&faults::ALL, &Correct)?)?)
}
