//! Coordinates two-phase commit: `two-phase-commit-coordinator --listen ADDRESS:PORT --workers N --log FILE
//! [--transactions N] [--timeout-ms N] [--sync true] [--fault NAME]`. Without `--transactions`, standard input has a
//! line with a number for each.

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use simutant_programs::Options;
use simutant_two_phase_commit_programs::{Coordination, Correct, PATIENCE, Source, coordinate, faults};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If nobody reads the complaint, the exit code is all there is.
            _ = writeln!(std::io::stderr(), "two-phase-commit-coordinator: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let known = ["--listen", "--workers", "--log", "--transactions", "--timeout-ms", "--sync"];
    let options = Options::parse(std::env::args().skip(1), &known)?;
    let coordination = Coordination {
        listen: options.get("--listen")?,
        workers: options.get("--workers")?,
        log: options.get("--log")?,
        is_synced: options.get_optional("--sync")?.unwrap_or(false),
        timeout: options.get_optional("--timeout-ms")?.map_or(PATIENCE, Duration::from_millis),
        source: options.get_optional("--transactions")?.map_or(Source::Input, Source::Count),
    };
    Ok(coordinate(&coordination, options.behaviour(&faults::ALL, &Correct)?)?)
}
