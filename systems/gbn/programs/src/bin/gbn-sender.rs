//! Sends a file by go-back-n: `gbn-sender --input FILE --peer ADDRESS:PORT [--fault NAME]`.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use simutant_gbn_programs::{Correct, faults, send_file};
use simutant_programs::Options;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If nobody reads the complaint, the exit code is all there is.
            _ = writeln!(std::io::stderr(), "gbn-sender: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let options = Options::parse(std::env::args().skip(1), &["--input", "--peer"])?;
    let (input, peer): (PathBuf, SocketAddr) = (options.get("--input")?, options.get("--peer")?);
    Ok(send_file(&input, peer, options.behaviour(&faults::ALL, &Correct)?)?)
}
