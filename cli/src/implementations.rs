//! Finds implementations: TOML files in the folder of the system's package.

mod histories;

use std::path::PathBuf;

use simutant_engine_source::{Engine, VARIABLE};
use simutant_harness::{Implementation, ImplementationError, TestbedProgram, Testbeds};
use simutant_mutator::MutatorError;
use simutant_study::{StudiedSystem, StudyError};

use self::histories::Judges;
use crate::arguments::SystemArguments;
use crate::build;
use crate::exit::BadInput;

/// The folder of implementations in the package of a system.
const OF_PACKAGE: &str = "implementations";

/// Returns the implementation that `name` means: a TOML file, or one of the folder's by its name.
pub(crate) fn find(name: &str, arguments: &SystemArguments) -> anyhow::Result<Implementation> {
    let Places { testbeds, folder, manifest } = places(arguments)?;
    let folders = Vec::from_iter(folder);
    let found = testbeds.find(name, &folders).map_err(|error| match error {
        // Those of other systems are of no help.
        ImplementationError::NotFound { name, folders, available } => {
            let serves =
                |name: &String| testbeds.find(name, &folders).is_ok_and(|found| found.serves(&arguments.system));
            let available = available.into_iter().filter(serves).collect();
            let error = ImplementationError::NotFound { name, folders, available };
            match left_in_repository(arguments) {
                Some(note) => BadInput(format!("{error}. {note}")).into(),
                None => anyhow::Error::from(error),
            }
        }
        // Only those of the package's systems have a testbed here.
        ImplementationError::NoTestbed { system, .. } | ImplementationError::Sides { system, .. }
            if system != arguments.system =>
        {
            BadInput(format!("--implementation {name}: it is of {system}, and not of {}", arguments.system)).into()
        }
        error => error.into(),
    })?;
    Judges::default().judged(found, manifest.as_deref())
}

/// Returns what to say where an implementation is missing of a system that comes with Simutant: the command carries its
/// source and its testbed, and not its implementations.
pub(crate) fn left_in_repository(arguments: &SystemArguments) -> Option<String> {
    let package = build::find(arguments).ok()?.package;
    let folder = package.folder().join(OF_PACKAGE);
    let own = Engine::own().ok()?.root().canonicalize().ok()?;
    let of_own = package.folder().canonicalize().ok()?.strip_prefix(own).ok()?.join(OF_PACKAGE);
    (package.has_testbed() && !folder.exists()).then(|| {
        format!(
            "The implementations of {} that come with Simutant are in its repository, in {}: set {VARIABLE} to a checkout of it",
            arguments.system,
            of_own.display()
        )
    })
}

/// Returns all implementations of the system but those that are there on demand.
pub(crate) fn all(arguments: &SystemArguments) -> anyhow::Result<Vec<Implementation>> {
    let Places { testbeds, folder, manifest } = places(arguments)?;
    let folders = Vec::from_iter(folder);
    let (mut found, judges) = (Vec::new(), Judges::default());
    for name in Implementation::available(&folders) {
        let implementation = match testbeds.find(&name, &folders) {
            // One of another system of the package.
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
#[derive(Default)]
struct Places {
    testbeds: Testbeds,
    /// The folder of the package that has them, if there is a package.
    folder: Option<PathBuf>,
    /// The manifest of the system's package, if there is one.
    manifest: Option<PathBuf>,
}

/// Returns the testbeds of the system, and where implementations are looked for. A TOML file with a driver can be used
/// for a system that no package has, so that is no error here.
fn places(arguments: &SystemArguments) -> anyhow::Result<Places> {
    let system = match build::find(arguments) {
        Ok(system) => system,
        Err(StudyError::Package(MutatorError::UnknownSystem { .. }) | StudyError::NoPackage { .. }) => {
            return Ok(Places::default());
        }
        Err(error) => return Err(error.into()),
    };
    Ok(Places {
        testbeds: testbeds(&system)?,
        folder: Some(system.package.folder().join(OF_PACKAGE)),
        manifest: Some(system.package.folder().join("Cargo.toml")),
    })
}

/// Returns the testbeds of the package: none if its manifest names no program that has them.
fn testbeds(system: &StudiedSystem) -> anyhow::Result<Testbeds> {
    let Some(program) = build::testbed(system)? else { return Ok(Testbeds::NONE) };
    Ok(TestbedProgram::new(program).testbeds()?)
}
