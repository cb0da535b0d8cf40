//! The build of a package's programs with their mutants: real programs, which no worker runs and the environment tells
//! which mutant they are.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cargo_metadata::TargetKind;
use simutant_outcomes::Sites;

use super::cargo::{Compiled, cargo};
use super::files::copy_file;
use super::request::BuildEvent;
use super::rounds::{Accepted, Rounds};
use super::specification::read_specification;
use super::workspace::Workspace;
use crate::error::MutatorError;
use crate::instrument::Probes;
use crate::operators::Selection;
use crate::package::Programs;
use crate::specification::known::Inputs;
use crate::text::identity::Hash;

/// The folder of cargo's products in that of the build. It is no other package's: the names of programs are not ours.
const PRODUCTS: &str = "target";

/// The folder with the programs in the one that is returned, as `cargo build --release --target-dir` has it.
const RELEASE: &str = "release";

/// Which programs to build.
#[derive(Debug, Clone)]
pub struct ProgramsRequest<'a> {
    /// The package, and the files of it that are mutated.
    pub programs: &'a Programs,
    /// The mutation operators.
    pub operators: &'a Selection,
    /// The folder for the generated workspace; what is there is overwritten. [`Programs::build_directory`] is one for
    /// all studies.
    pub directory: &'a Path,
    /// The folder of the probe crate, which the instrumented copy depends on.
    pub probe: &'a Path,
}

/// Programs with all their mutants.
#[derive(Debug, Clone)]
pub struct BuiltPrograms {
    /// The mutants, numbered as the programs know them, and the functions that they are in; nothing else is measured.
    pub sites: Sites,
    /// The folder that has the programs in `release`, as if cargo had been told to build into it. Nobody builds into it
    /// again.
    pub folder: PathBuf,
    /// A hash of the programs: what programs of equal hashes do can be compared.
    pub hash: u64,
}

/// Builds a package's programs once with all their mutants.
///
/// They are compiled with the settings of the package's workspace for releases. A program does what it does as it is
/// written, unless the variable `SIMUTANT_MUTANT` has the number of a mutant: see `mutator/probe/src/program.rs`.
/// Mutants that do not compile are in [`Sites::rejected`].
///
/// # Errors
/// If the package does not compile by itself, or a file cannot be read or written.
pub fn build_programs(
    request: &ProgramsRequest<'_>,
    progress: &mut dyn FnMut(BuildEvent),
) -> Result<BuiltPrograms, MutatorError> {
    let package = &request.programs.package;
    let specification = read_specification(package, request.operators)?;
    let mut workspace = Workspace::new(package, request.directory)?;
    workspace.target_directory = workspace.root.join(PRODUCTS);
    let _one_at_a_time = workspace.lock()?;
    workspace.write_programs(request)?;
    let features = package.features.of_command();
    let mut inputs = Hash(workspace.hash(package, &[request.probe], &BTreeSet::new())?);
    // The features may be asked for outside of the package.
    features.iter().for_each(|feature| inputs.write(feature.as_bytes()));
    // What is not in the specification files is not told apart.
    let inputs = Inputs { all: inputs.0, fixed: inputs.0 };
    let rounds =
        Rounds { package, workspace: &workspace, specification: &specification, probes: Probes::Mutants, inputs };
    let Accepted { instrumented, product, .. } =
        rounds.run(progress, &mut |_, progress| workspace.compile_programs(&features, progress))?;
    let (folder, hash) = workspace.keep_programs(&product)?;
    Ok(BuiltPrograms { sites: instrumented.sites, folder, hash: hash.0 })
}

impl Workspace {
    /// Writes all that does not change between rounds.
    fn write_programs(&self, request: &ProgramsRequest<'_>) -> Result<(), MutatorError> {
        let ProgramsRequest { programs, probe, .. } = *request;
        let package = &programs.package;
        let rest = format!("{}\n{}", programs.profile()?, package.patches(&self.copies)?);
        self.write_manifest(&self.copies, &rest)?;
        self.write_copies(package, |member| programs.manifest(&self.copies[member], probe))
    }

    /// Returns the programs by their names.
    fn compile_programs(
        &self,
        features: &[String],
        progress: &mut dyn FnMut(BuildEvent),
    ) -> Result<Compiled<BTreeMap<String, PathBuf>>, MutatorError> {
        let mut command = cargo("build");
        command.arg("--bins").args(features);
        let run = self.run(&mut command, progress)?;
        self.product(run, |artifacts| {
            let programs = artifacts.into_iter().filter(|artifact| artifact.target.kind.contains(&TargetKind::Bin));
            let programs: BTreeMap<_, _> = programs
                .filter_map(|artifact| Some((artifact.target.name.clone(), artifact.executable?.into())))
                .collect();
            (!programs.is_empty()).then_some(programs)
        })
    }

    /// Copies programs to a folder whose name is their content's: whoever runs them goes on with them, whatever is
    /// built here meanwhile.
    fn keep_programs(&self, programs: &BTreeMap<String, PathBuf>) -> Result<(PathBuf, Hash), MutatorError> {
        let mut hash = Hash::default();
        for (name, path) in programs {
            hash.write(name.as_bytes());
            hash.write(&std::fs::read(path).map_err(|error| MutatorError::io("read", path, error))?);
        }
        let kind = "programs-";
        let folder = self.root.join(format!("{kind}{:016x}", hash.0));
        for path in programs.values() {
            let name = path.file_name().expect("a program has a name");
            copy_file(path, &folder.join(RELEASE).join(name))?;
        }
        self.clear(kind, &folder)?;
        Ok((folder, hash))
    }
}
