//! Finds implementations: those of the system's package, and those that come with Simutant.

mod histories;

use std::path::PathBuf;

use simutant_engine_source::{Engine, VARIABLE};
use simutant_harness::{Implementation, ImplementationError, TestbedProgram, Testbeds};
use simutant_mutator::MutatorError;
use simutant_study::{StudiedSystem, StudyError};
use simutant_testbeds::TESTBEDS;

use self::histories::Judges;
use crate::arguments::SystemArguments;
use crate::build;
use crate::exit::BadInput;

/// The folder of the implementations that come with Simutant, in a checkout of it.
const OWN: &str = "tests/implementations";

/// The folder of implementations in the package of a system.
const OF_PACKAGE: &str = "implementations";

/// Returns the implementation that `name` means: a TOML file, or one of the folders' by its name.
pub(crate) fn find(name: &str, arguments: &SystemArguments) -> anyhow::Result<Implementation> {
    let Places { testbeds, folders, manifest } = places(arguments)?;
    let found = testbeds.find(name, &folders).map_err(|error| match error {
        // Those of other systems are of no help.
        ImplementationError::NotFound { name, folders, available } => {
            let serves =
                |name: &String| testbeds.find(name, &folders).is_ok_and(|found| found.serves(&arguments.system));
            let available = available.into_iter().filter(serves).collect();
            let error = ImplementationError::NotFound { name, folders, available };
            match without_own(&arguments.system) {
                Some(note) => BadInput(format!("{error}. {note}")).into(),
                None => anyhow::Error::from(error),
            }
        }
        error => error.into(),
    })?;
    Judges::default().judged(found, manifest.as_deref())
}

/// Returns what to say where an implementation is missing of a system whose implementations come with Simutant, and
/// they are not here.
pub(crate) fn without_own(system: &str) -> Option<String> {
    let is_missing = own().is_none() && TESTBEDS.systems().any(|known| known == system);
    is_missing.then(|| {
        format!(
            "The implementations of {system} that come with Simutant are in its repository, in {OWN}: set \
             {VARIABLE} to a checkout of it"
        )
    })
}

/// Returns the folder of the implementations that come with Simutant, which the command does not carry.
fn own() -> Option<PathBuf> {
    Engine::own().ok()?.root().join(OWN).canonicalize().ok()
}

/// Returns all implementations of the system but those that are there on demand.
pub(crate) fn all(arguments: &SystemArguments) -> anyhow::Result<Vec<Implementation>> {
    let Places { testbeds, folders, manifest } = places(arguments)?;
    let (mut found, judges) = (Vec::new(), Judges::default());
    for name in Implementation::available(&folders) {
        let implementation = match testbeds.find(&name, &folders) {
            // One of another system.
            Err(ImplementationError::NoTestbed { system, .. } | ImplementationError::Sides { system, .. })
                if system != arguments.system =>
            {
                continue;
            }
            found => found?,
        };
        let takes_part = implementation.serves(&arguments.system) && !implementation.on_demand;
        if takes_part {
            found.push(judges.judged(implementation, manifest.as_deref())?);
        }
    }
    Ok(found)
}

/// Where implementations of a system come from.
struct Places {
    testbeds: Testbeds,
    folders: Vec<PathBuf>,
    /// The manifest of the system's package, if there is one.
    manifest: Option<PathBuf>,
}

/// Returns the testbeds of the system, and where implementations are looked for. A TOML file with a driver can be used
/// for a system that no package has, so that is no error here.
fn places(arguments: &SystemArguments) -> anyhow::Result<Places> {
    let own = own();
    let system = match build::find(arguments) {
        Ok(system) => system,
        Err(StudyError::Package(MutatorError::UnknownSystem { .. }) | StudyError::NoPackage { .. }) => {
            return Ok(Places { testbeds: TESTBEDS, folders: Vec::from_iter(own), manifest: None });
        }
        Err(error) => return Err(error.into()),
    };
    let folder = system.package.folder().join(OF_PACKAGE);
    let manifest = Some(system.package.folder().join("Cargo.toml"));
    Ok(match testbeds(&system)? {
        // What comes with Simutant needs its own testbeds.
        Some(testbeds) => Places { testbeds, folders: vec![folder], manifest },
        None => Places { testbeds: TESTBEDS, folders: Some(folder).into_iter().chain(own).collect(), manifest },
    })
}

/// Returns the testbeds of the package, if it has some.
fn testbeds(system: &StudiedSystem) -> anyhow::Result<Option<Testbeds>> {
    let Some(program) = build::testbed(system)? else { return Ok(None) };
    Ok(Some(TestbedProgram::new(program).testbeds()?))
}
