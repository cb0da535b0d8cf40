//! Answers questions of the domain name system: `dns-resolver --listen ADDRESS:PORT --hints FILE [--fault NAME]`.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use simutant_dns_programs::{Correct, Hints, faults, serve};
use simutant_programs::Options;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If nobody reads the complaint, the exit code is all there is.
            _ = writeln!(std::io::stderr(), "dns-resolver: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let options = Options::parse(std::env::args().skip(1), &["--listen", "--hints"])?;
    let (listen, path): (SocketAddr, PathBuf) = (options.get("--listen")?, options.get("--hints")?);
    let behaviour = options.behaviour(&faults::ALL, &Correct)?;
    let hints: Hints = std::fs::read_to_string(path)?.parse()?;
    Ok(serve(listen, hints, behaviour)?)
}
