//! Gives a message to a router: `lsr-client --peer ADDRESS:PORT --number N --source ROUTER --destination ROUTER`.

use std::io::Write;
use std::process::ExitCode;

use simutant_lsr_programs::publish;
use simutant_programs::Options;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If nobody reads the complaint, the exit code is all there is.
            _ = writeln!(std::io::stderr(), "lsr-client: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let options = Options::parse(std::env::args().skip(1), &["--peer", "--number", "--source", "--destination"])?;
    let (source, destination) = (options.get("--source")?, options.get("--destination")?);
    Ok(publish(options.get("--peer")?, options.get("--number")?, source, destination)?)
}
