//! Holds a copy of a replicated register: `storage-server --listen ADDRESS:PORT --log FILE [--sync true] [--fault
//! NAME]`.

use std::io::Write;
use std::process::ExitCode;

use simutant_programs::Options;
use simutant_storage_programs::{Correct, Service, faults, serve};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If nobody reads the complaint, the exit code is all there is.
            _ = writeln!(std::io::stderr(), "storage-server: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let options = Options::parse(std::env::args().skip(1), &["--listen", "--log", "--sync"])?;
    let service = Service {
        listen: options.get("--listen")?,
        log: options.get("--log")?,
        is_synced: options.get_optional("--sync")?.unwrap_or(false),
    };
    Ok(serve(&service, options.behaviour(&faults::ALL, &Correct)?)?)
}
