//! Takes part in two-phase commit: `two-phase-commit-worker --coordinator ADDRESS:PORT --number N --log FILE --votes
//! yes,no,yes [--sync true] [--fault NAME]`.

use std::io::Write;
use std::process::ExitCode;

use simutant_programs::Options;
use simutant_two_phase_commit_programs::{Correct, Work, faults, work};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If nobody reads the complaint, the exit code is all there is.
            _ = writeln!(std::io::stderr(), "two-phase-commit-worker: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let known = ["--coordinator", "--number", "--log", "--votes", "--sync"];
    let options = Options::parse(std::env::args().skip(1), &known)?;
    let what = Work {
        coordinator: options.get("--coordinator")?,
        number: options.get("--number")?,
        log: options.get("--log")?,
        is_synced: options.get_optional("--sync")?.unwrap_or(false),
        votes: options.get("--votes")?,
    };
    Ok(work(&what, options.behaviour(&faults::ALL, &Correct)?)?)
}
