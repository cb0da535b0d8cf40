//! Routes messages by link states: `lsr-router --id N --listen ADDRESS:PORT --neighbours LIST --output FILE [--fault
//! NAME]`.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use simutant_lsr_programs::{Correct, Neighbours, faults, route};
use simutant_programs::Options;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If nobody reads the complaint, the exit code is all there is.
            _ = writeln!(std::io::stderr(), "lsr-router: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let options = Options::parse(std::env::args().skip(1), &["--id", "--listen", "--neighbours", "--output"])?;
    let (listen, output): (SocketAddr, PathBuf) = (options.get("--listen")?, options.get("--output")?);
    let Neighbours(neighbours) = options.get("--neighbours")?;
    let behaviour = options.behaviour(&faults::ALL, &Correct)?;
    Ok(route(options.get("--id")?, neighbours, listen, &output, behaviour)?)
}
