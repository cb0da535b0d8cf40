//! Serves contents over HTTP: `http-server --listen ADDRESS:PORT [--fault NAME]`.

use std::io::Write;
use std::process::ExitCode;

use simutant_http_programs::{Correct, faults, serve};
use simutant_programs::Options;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If nobody reads the complaint, the exit code is all there is.
            _ = writeln!(std::io::stderr(), "http-server: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let options = Options::parse(std::env::args().skip(1), &["--listen"])?;
    Ok(serve(options.get("--listen")?, options.behaviour(&faults::ALL, &Correct)?)?)
}
