//! Lets dnscache answer questions of the domain name system: `dns-dnscache --listen ADDRESS:PORT --hints FILE --folder
//! FOLDER`.
//!
//! Ends with exit code 69 if dnscache is not installed.

use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use simutant_dns_programs::{Hints, dnscache};
use simutant_programs::Options;
use simutant_programs::{UNAVAILABLE, find};

fn main() -> ExitCode {
    let Some(program) = find("dnscache") else {
        _ = writeln!(
            std::io::stderr(),
            "dns-dnscache: `dnscache` is not installed: Debian has it in the package dnscache"
        );
        return ExitCode::from(UNAVAILABLE);
    };
    let Err(error) = run(&program) else { return ExitCode::SUCCESS };
    // If nobody reads the complaint, the exit code is all there is.
    _ = writeln!(std::io::stderr(), "dns-dnscache: {error}");
    ExitCode::FAILURE
}

fn run(program: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let options = Options::parse(std::env::args().skip(1), &["--listen", "--hints", "--folder"])?;
    let (listen, folder): (SocketAddr, PathBuf) = (options.get("--listen")?, options.get("--folder")?);
    let path: PathBuf = options.get("--hints")?;
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let hints: Hints = text.parse()?;
    Ok(dnscache::serve(program, listen, &hints, &folder)?)
}
