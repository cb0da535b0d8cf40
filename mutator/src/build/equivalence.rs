//! Compiler equivalence: which mutants the optimiser makes the same code of as of the original, or of each other.
//!
//! Source: Papadakis, Jia, Harman and Le Traon, "Trivial compiler equivalence" (ICSE 2015); Kintis and others (TSE
//! 2018). Theirs compiles every mutant by itself and compares programs. Here every mutant is a function beside its
//! original in one more build of the package alone, and functions are compared.

mod copies;
mod machine_code;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use simutant_outcomes::Compiled;

use super::cargo::{Run, cargo};
use super::files::{list_files, read, write};
use super::request::{Build, BuildEvent, BuildRequest};
use super::specification::read_specification;
use super::workspace::Workspace;
use crate::error::MutatorError;
use crate::instrument::Instrumented;
use crate::package::Package;
use crate::specification::Specification;
use crate::syntax::source::FunctionId;
use crate::text::edit::Owner;
use copies::{Copied, CopiedFunction, LeftOut, Mentions, copy};
use machine_code::MachineCode;

/// The folder of the generated workspace in that of the instrumented build.
const FOLDER: &str = "compiled";

/// How often the compiler may find something new: of copies, each of which is as good as its mutant, few do not
/// compile.
const ROUNDS_MAX: usize = 20;

/// What the compiler's output says of mutants.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Equivalence {
    /// What follows for mutants, by their identities; nothing follows for the others.
    pub found: BTreeMap<String, Compiled>,
    /// How many mutants have machine code of their own: those of functions that are neither generic, nor of a trait,
    /// nor unsafe, nor recursive.
    pub compared: usize,
}

/// Compiles the specification once more, with a function for each mutant, and compares what the compiler made of them.
///
/// What is called equivalent is so for this compiler, machine and profile, which are those of the instrumented build.
/// It takes about as long as compiling the package with its mutants once more; what did not change since an earlier
/// call in the same folder is not compiled again.
///
/// # Errors
/// If the package does not compile by itself, or a file cannot be read or written.
pub fn compiler_equivalence(
    request: &BuildRequest<'_>,
    build: &Build,
    progress: &mut dyn FnMut(BuildEvent),
) -> Result<Equivalence, MutatorError> {
    let package = request.package;
    let directory = request.directory.join(FOLDER);
    let workspace = Workspace::new(package, &directory)?;
    let _one_at_a_time = workspace.lock()?;
    let known = workspace.root.join(format!("equivalence-{:016x}.json", build.source_hash));
    if let Some(known) = std::fs::read_to_string(&known).ok().and_then(|text| serde_json::from_str(&text).ok()) {
        return Ok(known);
    }
    workspace.write_fixed(request)?;
    let specification = read_specification(package, request.operators)?;
    let mentions = mentions(package)?;
    let mut left_out = LeftOut::default();
    for round in 1..=ROUNDS_MAX {
        let Copied { outputs, functions } = copy(&specification, &build.sites, &mentions, &left_out);
        let instrumented = Instrumented { outputs, sites: build.sites.clone(), places: Vec::new() };
        workspace.write_sources(&instrumented)?;
        workspace.write_main(&workspace.lines(&instrumented), &instrumented.places)?;
        let mutants = functions.iter().map(|function| function.mutants.len()).sum();
        let rejected = left_out.candidates.len();
        progress(BuildEvent::Compiling { round, mutants, rejected });
        let mut equivalence = Equivalence { found: BTreeMap::new(), compared: mutants };
        let mut errors = Vec::new();
        for member in 0..package.members.len() {
            if package.files_of(member).is_empty() {
                continue;
            }
            let object = workspace.root.join(format!("{member}.o"));
            let run = workspace.run(&mut workspace.emit(request, member, &object)?, progress)?;
            match run {
                Run { succeeds: true, .. } => {
                    let bytes = std::fs::read(&object).map_err(|error| MutatorError::io("read", &object, error))?;
                    workspace.compare(&bytes, &functions, &mut equivalence.found);
                }
                Run { errors: found, complaints, .. } if found.is_empty() => {
                    return Err(MutatorError::Cargo { directory: workspace.root, message: complaints });
                }
                Run { errors: found, .. } => errors.extend(found),
            }
        }
        if errors.is_empty() {
            write(&known, &serde_json::to_string(&equivalence).expect("it is plain data"))?;
            return Ok(equivalence);
        }
        let before = left_out.candidates.len() + left_out.functions.len();
        for error in &errors {
            workspace.leave_out(error, &instrumented, &specification, &mut left_out);
        }
        if before == left_out.candidates.len() + left_out.functions.len() {
            return Err(workspace.does_not_compile(&errors));
        }
    }
    let message = format!("copies of functions were still left out after {ROUNDS_MAX} builds");
    Err(MutatorError::Cargo { directory: workspace.root, message })
}

/// Returns which functions call which, as far as names tell; tests call all, and are left out.
fn mentions(package: &Package) -> Result<Mentions, MutatorError> {
    let mut mentions = Mentions::default();
    for member in &package.members {
        let modules = member.modules();
        for (relative, path) in list_files(&member.root().join("src"))? {
            let is_left_out = modules.get(&path).is_some_and(|module| module.left_out.is_some());
            if is_left_out || relative.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let text = read(&path)?;
            if let Ok(mut syntax) = syn::parse_str(&text) {
                member.conditions.strip(&mut syntax);
                mentions.add(&syntax, &text);
            }
        }
    }
    Ok(mentions)
}

impl Workspace {
    /// Returns the command that compiles a member alone, in one piece, and keeps all its functions.
    fn emit(
        &self,
        request: &BuildRequest<'_>,
        member: usize,
        object: &std::path::Path,
    ) -> Result<std::process::Command, MutatorError> {
        let package = request.package.members[member].specifier();
        let mut command = cargo("rustc");
        command.args(["--lib", "--package", &package]);
        if member == 0 {
            command.args(request.package.features.of_command());
        }
        for setting in ["codegen-units=1", "incremental=false"] {
            command.args(["--config", &format!("profile.release.package.{package:?}.{setting}")]);
        }
        command.arg("--");
        command.args(["-Clink-dead-code", "-Csymbol-mangling-version=v0", "-Cdebuginfo=0"]);
        command.arg(format!("--emit=obj={}", object.display()));
        Ok(command)
    }

    /// Adds what follows from an object file.
    fn compare(&self, bytes: &[u8], functions: &[CopiedFunction], found: &mut BTreeMap<String, Compiled>) {
        let paths: Vec<String> =
            self.files.iter().map(|file| file.strip_prefix(&self.root).unwrap_or(file).display().to_string()).collect();
        let Some(code) = MachineCode::read(bytes, &paths) else { return };
        for function in functions {
            let Some(original) = code.function(&function.original) else { continue };
            // Of mutants with the same code the first one stands for all.
            let mut different = Vec::new();
            for (name, identity) in &function.mutants {
                let Some(mutant) = code.function(name) else { continue };
                if code.are_same(original, mutant) {
                    found.insert(identity.clone(), Compiled::Equivalent);
                } else if let Some((_, first)) = different.iter().find(|(other, _)| code.are_same(*other, mutant)) {
                    found.insert(identity.clone(), Compiled::Duplicate(String::clone(first)));
                } else {
                    different.push((mutant, identity.clone()));
                }
            }
        }
    }

    /// Leaves out the copy that an error is in.
    fn leave_out(
        &self,
        error: &cargo_metadata::diagnostic::Diagnostic,
        instrumented: &Instrumented,
        specification: &Specification,
        left_out: &mut LeftOut,
    ) {
        let children = error.children.iter().flat_map(|child| &child.spans);
        for span in error.spans.iter().chain(children) {
            let Some((file, range)) = self.range_of(span, instrumented) else { continue };
            let owners = &instrumented.outputs[file].owners;
            for (_, owner) in owners.iter().filter(|(owned, _)| owned.start <= range.start && range.end <= owned.end) {
                match *owner {
                    Owner::Mutant(candidate) => {
                        debug_assert_eq!(specification.candidate(candidate).file, file, "a mutant is in its file");
                        left_out.candidates.insert(candidate);
                        return;
                    }
                    Owner::Function(index) => {
                        left_out.functions.insert(FunctionId { file, index });
                        return;
                    }
                    Owner::Comparison(_) | Owner::Comparisons(..) | Owner::Recording(_) => {}
                }
            }
        }
    }
}
