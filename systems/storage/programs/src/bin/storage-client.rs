//! Reads and writes a replicated register: `storage-client --servers ADDRESS:PORT,ADDRESS:PORT --number N --writers
//! one|several --reads regular|atomic --script read,write:7,pause:20 --timeout-ms N --log FILE [--fault NAME]`.

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use simutant_programs::Options;
use simutant_storage_programs::{Correct, Session, faults, run_session};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If nobody reads the complaint, the exit code is all there is.
            _ = writeln!(std::io::stderr(), "storage-client: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let known = ["--servers", "--number", "--writers", "--reads", "--script", "--timeout-ms", "--log"];
    let options = Options::parse(std::env::args().skip(1), &known)?;
    let session = Session {
        servers: options.get("--servers")?,
        number: options.get("--number")?,
        writers: options.get("--writers")?,
        reads: options.get("--reads")?,
        script: options.get("--script")?,
        timeout: Duration::from_millis(options.get("--timeout-ms")?),
        log: options.get("--log")?,
    };
    Ok(run_session(&session, options.behaviour(&faults::ALL, &Correct)?)?)
}
