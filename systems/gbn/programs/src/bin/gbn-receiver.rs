//! Receives a file by go-back-n: `gbn-receiver --output FILE --listen ADDRESS:PORT [--fault NAME]`.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use simutant_gbn_programs::{Correct, faults, receive_file};
use simutant_programs::Options;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If nobody reads the complaint, the exit code is all there is.
            _ = writeln!(std::io::stderr(), "gbn-receiver: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let options = Options::parse(std::env::args().skip(1), &["--output", "--listen"])?;
    let (output, listen): (PathBuf, SocketAddr) = (options.get("--output")?, options.get("--listen")?);
    Ok(receive_file(&output, listen, options.behaviour(&faults::ALL, &Correct)?)?)
}
