//! Finds implementations: those of the system's package, and those that come with Simutant.

use std::path::PathBuf;

use simutant_harness::{Implementation, ImplementationError};
use simutant_testbeds::TESTBEDS;

use crate::arguments::SystemArguments;
use crate::build;

/// The implementations that come with Simutant.
const OWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/implementations");

/// The folder of implementations in the package of a system.
const OF_PACKAGE: &str = "implementations";

/// Returns the implementation that `name` means: a TOML file, or one of the folders' by its name.
pub(crate) fn find(name: &str, arguments: &SystemArguments) -> Result<Implementation, ImplementationError> {
    let folders = folders(arguments);
    TESTBEDS.find(name, &folders).map_err(|error| match error {
        // Those of other systems are of no help.
        ImplementationError::NotFound { name, folders, available } => {
            let serves =
                |name: &String| TESTBEDS.find(name, &folders).is_ok_and(|found| found.serves(&arguments.system));
            let available = available.into_iter().filter(serves).collect();
            ImplementationError::NotFound { name, folders, available }
        }
        error => error,
    })
}

/// Returns all implementations of the system but those that are there on demand.
pub(crate) fn all(arguments: &SystemArguments) -> Result<Vec<Implementation>, ImplementationError> {
    let folders = folders(arguments);
    let mut found = Vec::new();
    for name in Implementation::available(&folders) {
        let implementation = TESTBEDS.find(&name, &folders)?;
        let takes_part = implementation.serves(&arguments.system) && !implementation.on_demand;
        found.extend(takes_part.then_some(implementation));
    }
    Ok(found)
}

/// Returns where implementations are looked for. A TOML file can be given without a package, so none is no error here.
fn folders(arguments: &SystemArguments) -> Vec<PathBuf> {
    let of_package = build::find(arguments).ok().map(|package| package.folder().join(OF_PACKAGE));
    let own = PathBuf::from(OWN);
    of_package.into_iter().chain([own.canonicalize().unwrap_or(own)]).collect()
}
