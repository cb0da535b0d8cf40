//! The workspace of a worker: a main program, a package that gives the system to the engine, and how each is compiled.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use simutant_outcomes::SourceFile;
use toml::Table;

use super::cargo::{Compiled, cargo, cargo_program};
use super::files::{list_files, read, write};
use super::request::{BuildEvent, BuildRequest};
use super::workspace::Workspace;
use crate::error::MutatorError;
use crate::instrument::{FunctionPlace, Instrumented};
use crate::package::{Member, PROBE_PACKAGE, Package};
use crate::specification::fingerprint::may_remember;
use crate::text::edit::Output;

/// The package of the main program, which has a table of lines besides.
pub(super) const MAIN: &str = "simutant-worker-main";

/// The package that gives the system to the worker: what is generic in the engine and in the worker is compiled there.
/// It is apart from the main program, since an edit that moves lines need not compile it again.
pub(super) const LINK: &str = "simutant-worker-link";

/// How all that says nothing else is compiled: as fast as it runs, with all checks.
pub(super) const PROFILE: &str =
    "[profile.release]\nopt-level = 3\ndebug-assertions = true\noverflow-checks = true\npanic = \"unwind\"\n";

/// What is compiled again only if an edit changes it: in one piece, which is as fast as it can be.
const IN_ONE_PIECE: &str = "incremental = true\ncodegen-units = 1\n";

/// What is mutated: an edit compiles those parts anew that it changes, and optimises across modules what uses them.
/// Without the latter, runs would take longer by half.
const IN_MODULES: &str = "incremental = true\n";

/// The main program runs once, and so does not gain by the optimiser.
const UNOPTIMISED: &str = "incremental = true\nopt-level = 0\n";

/// The probes: their checks would be in every call and every turn of a loop, and their own tests have them.
const UNCHECKED: &str = "debug-assertions = false\noverflow-checks = false\n";

/// Returns a row of the main program's table: a file as the compiler names it, the original, and of which line of that each
/// line is.
pub(super) fn row_of_lines(compiled: &str, original: &str, lines: &[u32]) -> TokenStream {
    let lines = lines.iter().copied().map(Literal::u32_unsuffixed);
    quote!((#compiled, #original, &[#(#lines),*]))
}

impl Workspace {
    /// The folder of the main program.
    fn main(&self) -> PathBuf {
        self.root.join(format!("{MAIN}-{}", self.mark))
    }

    /// The folder of the package that gives the system to the worker.
    fn link(&self) -> PathBuf {
        self.root.join(format!("{LINK}-{}", self.mark))
    }

    /// The name of the executable among those of all folders.
    fn program(&self) -> String {
        format!("simutant-worker-{}", self.mark)
    }

    /// Writes the manifest of a workspace that makes a worker of `members`, and how each package is compiled.
    pub(super) fn write_worker_manifest(
        &self,
        members: &[PathBuf],
        settings: &[(&str, &str)],
        rest: &Table,
    ) -> Result<(), MutatorError> {
        let members = [members, &[self.link(), self.main()]].concat();
        let settings: String = settings
            .iter()
            .map(|(package, settings)| format!("[profile.release.package.{package:?}]\n{settings}\n"))
            .collect();
        self.write_manifest(&members, &format!("{PROFILE}\n{settings}{rest}"))
    }

    /// Writes all that does not change between rounds.
    pub(super) fn write_fixed(&self, request: &BuildRequest<'_>) -> Result<(), MutatorError> {
        let package = request.package;
        let copies: Vec<String> = package.members.iter().map(Member::specifier).collect();
        let mut settings = vec![(LINK, IN_ONE_PIECE), (MAIN, UNOPTIMISED), (PROBE_PACKAGE, UNCHECKED)];
        settings.extend(copies.iter().map(|copy| (copy.as_str(), IN_MODULES)));
        self.write_worker_manifest(&self.copies, &settings, &package.patches(&self.copies)?)?;
        self.write_copies(package, |member| package.manifest(member, &[(PROBE_PACKAGE, request.probe)], &self.copies))?;
        self.write_program(request, &self.copies[0])
    }

    /// Writes what makes a program of the package in the folder `system`, but for the table of lines.
    pub(super) fn write_program(&self, request: &BuildRequest<'_>, system: &Path) -> Result<(), MutatorError> {
        let (worker_name, worker_path) = request.worker;
        let package = request.package;
        write(
            &self.link().join("Cargo.toml"),
            &format!(
                "[package]\nname = {LINK:?}\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n\
                 worker = {{ path = {:?}, package = {worker_name:?} }}\n\
                 system = {{ path = {:?}, package = {:?}, {} }}\n",
                worker_path.display().to_string(),
                system.display().to_string(),
                package.name(),
                package.features.of_dependency(),
            ),
        )?;
        write(
            &self.link().join("src/lib.rs"),
            &format!(
                "//! Generated: the system behind a worker's protocol.\n\n\
                 pub fn run(lines: &'static [(&'static str, &'static str, &'static [u32])]) -> std::process::ExitCode {{\n    \
                 worker::main(&[worker::system::<system::{}>()], lines)\n}}\n",
                package.type_path,
            ),
        )?;
        write(
            &self.main().join("Cargo.toml"),
            &format!(
                "[package]\nname = {MAIN:?}\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
                 [[bin]]\nname = {:?}\npath = \"src/main.rs\"\n\n\
                 [dependencies]\nlink = {{ path = {:?}, package = {LINK:?} }}\nprobe = {{ path = {:?}, package = {PROBE_PACKAGE:?} }}\n",
                self.program(),
                self.link().display().to_string(),
                request.probe.display().to_string(),
            ),
        )
    }

    /// Returns the rows of the main program's table for the instrumented files.
    pub(super) fn lines(&self, instrumented: &Instrumented) -> Vec<TokenStream> {
        let files = instrumented.sites.files.iter().zip(&instrumented.outputs).zip(&self.files);
        let row = |((file, output), copy): ((&SourceFile, &Output), &PathBuf)| {
            // The compiler has paths from the workspace's root.
            let compiled = copy.strip_prefix(&self.root).unwrap_or(copy).display().to_string();
            row_of_lines(&compiled, &file.path, &output.original_lines())
        };
        files.map(row).collect()
    }

    /// Writes the main program, with the rows of its table, and where the functions of the system are.
    pub(super) fn write_main(&self, rows: &[TokenStream], places: &[FunctionPlace]) -> Result<(), MutatorError> {
        let places = places.iter().map(|place| {
            let FunctionPlace { block, branch, condition, pair, mutant, mutants, code } = *place;
            let [block, branch, condition, pair] = [block, branch, condition, pair].map(Literal::usize_unsuffixed);
            quote!(place(#block, #branch, #condition, #pair, #mutant, #mutants, #code))
        });
        let main = quote! {
            use probe::Place;

            const LINES: &[(&str, &str, &[u32])] = &[#(#rows),*];

            static PLACES: &[Place] = &[#(#places),*];

            const fn place(
                block: u32, branch: u32, condition: u32, pair: u32, mutant: u32, mutants: u32, code: u32,
            ) -> Place {
                Place { block, branch, condition, pair, mutant, mutants, code }
            }

            fn main() -> std::process::ExitCode {
                probe::place(PLACES);
                link::run(LINES)
            }
        };
        let about = "//! Generated: which line of the original each line is of, and where functions begin in reports.";
        let main = format!("{about}\n\n{main}\n");
        write(&self.main().join("src/main.rs"), &main)
    }

    /// Compiles the main program with all that it is made of.
    ///
    /// What the compiler makes incrementally now and then lacks symbols (rust-lang/rust, issue 81280). Where the linker
    /// complains, the packages that may be to blame are compiled from scratch, and what it says then counts.
    pub(super) fn compile(
        &self,
        package: &Package,
        progress: &mut dyn FnMut(BuildEvent),
    ) -> Result<Compiled<PathBuf>, MutatorError> {
        let program = self.program();
        let mut build = cargo("build");
        build.args(["--package", MAIN]);
        let mut run = self.run(&mut build, progress)?;
        if run.errors.iter().any(|error| error.message.starts_with("linking with")) {
            let mut clean = Command::new(cargo_program());
            let packages = package.members.iter().map(Member::specifier).chain([LINK, MAIN].map(String::from));
            clean.args(["clean", "--release"]).args(packages.map(|package| format!("--package={package}")));
            let cleaned = self.run(&mut clean, progress)?;
            if !cleaned.succeeds {
                return Err(MutatorError::Cargo { directory: self.root.clone(), message: cleaned.complaints });
            }
            run = self.run(&mut build, progress)?;
        }
        self.product(run, |artifacts| {
            let executable = artifacts.into_iter().find(|artifact| artifact.target.name == program);
            Some(executable?.executable?.into())
        })
    }

    /// Returns a hash of the same but for the specification files, unless functions in there may be remembered
    /// elsewhere.
    pub(super) fn fixed_hash(&self, request: &BuildRequest<'_>) -> Result<u64, MutatorError> {
        let package = request.package;
        let others = [request.probe, request.worker.1];
        let mut specification = BTreeSet::new();
        for (number, member) in package.members.iter().enumerate() {
            specification.extend(package.files_of(number).iter().map(|file| member.root().join(file)));
        }
        for member in &package.members {
            for (relative, path) in list_files(&member.root().join("src"))? {
                let is_code = relative.extension().is_some_and(|extension| extension == "rs");
                if is_code && !specification.contains(&path) && may_remember(&read(&path)?) {
                    return self.hash(package, &others, &BTreeSet::new());
                }
            }
        }
        self.hash(package, &others, &specification)
    }
}
