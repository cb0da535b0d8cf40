//! Lets dnscache answer questions of the domain name system: `dns-dnscache --listen ADDRESS:PORT --hints FILE --folder FOLDER`.
//!
//! Ends with exit code 69 if dnscache is not installed.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use simutant_tests::Options;
use simutant_tests::dns::{Hints, dnscache};

/// `EX_UNAVAILABLE` of BSD's `sysexits.h`.
const UNAVAILABLE: u8 = 69;

fn main() -> ExitCode {
    let Err(error) = run() else { return ExitCode::SUCCESS };
    let is_missing = error.downcast_ref().is_some_and(dnscache::is_missing);
    let cure = if is_missing { "; is it installed? Debian's package is `dnscache`" } else { "" };
    // If nobody reads the complaint, the exit code is all there is.
    _ = writeln!(std::io::stderr(), "dns-dnscache: {error}{cure}");
    if is_missing { ExitCode::from(UNAVAILABLE) } else { ExitCode::FAILURE }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let options = Options::parse(std::env::args().skip(1), &["--listen", "--hints", "--folder"])?;
    let (listen, folder): (SocketAddr, PathBuf) = (options.get("--listen")?, options.get("--folder")?);
    let path: PathBuf = options.get("--hints")?;
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let hints: Hints = text.parse()?;
    Ok(dnscache::serve(listen, &hints, &folder)?)
}
