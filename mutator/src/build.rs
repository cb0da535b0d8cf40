//! One build of all mutants: copy the package, put probes and mutants in, compile, reject what does not, repeat.

mod compiled;
mod plain;
mod programs;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::File;
use std::io::BufReader;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use cargo_metadata::diagnostic::{Diagnostic, DiagnosticLevel, DiagnosticSpan};
use cargo_metadata::{Artifact, Message};
use simutant_outcomes::{Sites, SourceFile};
use toml::Table;

use crate::declarations::Declarations;
use crate::edit::{Output, Owner};
use crate::fingerprint::{Fingerprint, may_remember};
use crate::identity::Hash;
use crate::instrument::{Instrumented, Place, PlacedCandidate, Probes, Specification};
use crate::judgements::FILE_END;
use crate::mutation::Settings;
use crate::package::{Member, PROBE_PACKAGE};
use crate::source::Source;
use crate::verdicts::{Inputs, KnownVerdicts, Verdicts};
use crate::{MutatorError, Package, Selection};

pub use compiled::{Equivalence, compiler_equivalence};
pub use plain::build_plain;
pub use programs::{BuiltPrograms, ProgramsRequest, build_programs};

/// The folder of the probe crate, which the instrumented copy depends on.
const PROBE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/probe");

/// The package of the main program, which has a table of lines besides.
const MAIN: &str = "simutant-worker-main";

/// The package that gives the system to the worker: what is generic in the engine and in the worker is compiled there.
/// It is apart from the main program, since an edit that moves lines need not compile it again.
const LINK: &str = "simutant-worker-link";

/// How all that says nothing else is compiled: as fast as it runs, with all checks.
const PROFILE: &str =
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

/// Lets lints pass.
const CAP_LINTS: &str = "--cap-lints=allow";

/// How often the compiler may find something new. Each time something is rejected, so this is never reached by
/// ordinary code: errors come in four or five waves (names, types, borrows, ...).
const ROUNDS_MAX: usize = 100;

/// What marks a folder of build products, for backups and for [`list_files`] (bford.info/cachedir).
const PRODUCTS_TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55\n# This folder was made by simutant.\n";

/// For how long after its last build an executable is kept: longer than any campaign runs.
const KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// What is to be built.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The package and the system in it.
    pub package: &'a Package,
    /// The mutation operators.
    pub operators: &'a Selection,
    /// The folder for the generated workspace; what is there is overwritten. [`Package::build_directory`] is one for
    /// all studies of a system.
    pub directory: &'a Path,
    /// The crate that drives the instrumented system, as (name, folder). It exports `main(&[Box<dyn System>], &[(&str,
    /// &str, &[u32])]) -> ExitCode` and `system::<S>()`; the second argument of `main` lists for each instrumented file
    /// its path as it is compiled, as reports have it, and the original line of each of its lines.
    pub worker: (&'a str, &'a Path),
}

/// A finished build.
#[derive(Debug, Clone)]
pub struct Build {
    /// Requirements and mutants, numbered as in the executable.
    pub sites: Sites,
    /// The executable.
    pub worker: PathBuf,
    /// A hash of all source that went into it: outcomes of equal hashes can be compared.
    pub source_hash: u64,
    /// Hashes of the parts of that source, by which a study after an edit knows what it can keep.
    pub fingerprint: Fingerprint,
    /// The mutation operators that were asked for, in the form that [`Selection`] is written in.
    pub operators: String,
}

/// Something to tell a person who waits.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildEvent {
    /// The compiler starts, for the first time or again after mutants were rejected.
    Compiling {
        /// Which time, from 1.
        round: usize,
        /// Mutants in this round.
        mutants: usize,
        /// Mutants rejected so far.
        rejected: usize,
    },
    /// A crate has been compiled.
    Compiled {
        /// Its name.
        name: String,
    },
}

/// Builds the system's package once with all its mutants, and returns the executable and what it measures.
///
/// Mutants that do not compile are in [`Sites::rejected`]. Compiling takes as long as a release build of the package
/// and of what it depends on, and some seconds for each round in which mutants are rejected; what did not change since
/// an earlier build in the same folder is not compiled again.
///
/// # Errors
/// If the package does not compile by itself, or a file cannot be read or written.
pub fn build(request: &Request<'_>, progress: &mut dyn FnMut(BuildEvent)) -> Result<Build, MutatorError> {
    build_with(request, Probes::All, progress)
}

/// Builds the system's package with `probes`, in the same way as [`build`]: what differs is the instrumentation alone.
///
/// # Errors
/// As [`build`].
pub fn build_with(
    request: &Request<'_>,
    probes: Probes,
    progress: &mut dyn FnMut(BuildEvent),
) -> Result<Build, MutatorError> {
    let package = request.package;
    let specification = read_specification(package, request.operators)?;
    let workspace = Workspace::new(package, request.directory)?;
    let _one_at_a_time = workspace.lock()?;
    workspace.write_fixed(request)?;
    let all = workspace.hash(package, &[PROBE.as_ref(), request.worker.1], &BTreeSet::new())?;
    let inputs = Inputs { all, fixed: workspace.fixed_hash(request)? };
    let rounds = Rounds { workspace: &workspace, specification: &specification, probes, inputs };
    let accepted = rounds.run(progress, &mut |instrumented, progress| {
        workspace.write_main(&workspace.lines(instrumented), &instrumented.places)?;
        workspace.compile(package, progress)
    })?;
    let lock = read(&workspace.root.join("Cargo.lock"))?;
    let mut source_hash = Hash(inputs.all);
    source_hash.write(lock.as_bytes());
    let mut fixed = Hash(inputs.fixed);
    fixed.write(lock.as_bytes());
    accepted.instrumented.outputs.iter().for_each(|output| source_hash.write(output.text.as_bytes()));
    let worker = workspace.keep(&accepted.product, &format!("simutant-worker-{}-", package.system), &source_hash)?;
    Ok(Build {
        sites: accepted.instrumented.sites,
        worker,
        source_hash: source_hash.0,
        fingerprint: specification.fingerprint(fixed.0, &accepted.verdicts),
        operators: request.operators.to_string(),
    })
}

/// Compiling again and again, until the compiler has nothing against the mutants that are left.
struct Rounds<'a> {
    workspace: &'a Workspace,
    specification: &'a Specification,
    probes: Probes,
    /// What does not change between rounds.
    inputs: Inputs,
}

/// What is left after the last round.
struct Accepted<T> {
    instrumented: Instrumented,
    verdicts: Verdicts,
    /// What was compiled.
    product: T,
}

/// What compiles instrumented files that were written: see [`Rounds::run`].
type Compile<'a, T> = dyn FnMut(&Instrumented, &mut dyn FnMut(BuildEvent)) -> Result<Compiled<T>, MutatorError> + 'a;

impl Rounds<'_> {
    /// Writes the instrumented files and calls `compile`, until that gives something. What the compiler says against
    /// mutants is known the next time.
    fn run<T>(
        &self,
        progress: &mut dyn FnMut(BuildEvent),
        compile: &mut Compile<'_, T>,
    ) -> Result<Accepted<T>, MutatorError> {
        let &Self { workspace, specification, probes, inputs } = self;
        let known = workspace.root.join("verdicts.json");
        let mut verdicts = read_verdicts(&known, specification, inputs).unwrap_or_default();
        for round in 1..=ROUNDS_MAX {
            let instrumented = specification.instrument(&verdicts, probes);
            workspace.write_sources(&instrumented)?;
            let rejected = verdicts.rejected.len();
            progress(BuildEvent::Compiling { round, mutants: instrumented.sites.mutants.len(), rejected });
            let errors = match compile(&instrumented, progress)? {
                Compiled::Product(product) => {
                    let said = KnownVerdicts::new(&verdicts, specification, inputs);
                    write(&known, &serde_json::to_string(&said).expect("verdicts are plain data"))?;
                    return Ok(Accepted { instrumented, verdicts, product });
                }
                Compiled::Errors(errors) => errors,
            };
            let before = verdicts.count();
            for error in &errors {
                workspace.blame(error, &instrumented, specification, &mut verdicts);
            }
            if before == verdicts.count() {
                return Err(workspace.does_not_compile(&errors));
            }
        }
        let message = format!("mutants were still rejected after {ROUNDS_MAX} builds");
        Err(MutatorError::Cargo { directory: workspace.root.clone(), message })
    }
}

fn read_specification(package: &Package, selection: &Selection) -> Result<Specification, MutatorError> {
    let sources = package.files.iter().map(|file| Source::read(package, file)).collect::<Result<Vec<_>, _>>()?;
    let mut declarations = Declarations::default();
    for member in &package.members {
        read_declarations(member, &mut declarations)?;
    }
    let settings = Settings { selection, declarations: &declarations, names: &package.names };
    Ok(Specification::new(package.name(), &package.system, sources, &settings))
}

/// Reads what all files of a package declare; one that does not parse by itself declares nothing.
fn read_declarations(member: &Member, declarations: &mut Declarations) -> Result<(), MutatorError> {
    for (relative, path) in list_files(&member.root().join("src"))? {
        if relative.extension().is_some_and(|extension| extension == "rs") {
            let text = read(&path)?;
            if let Ok(mut syntax) = syn::parse_str(&text) {
                member.conditions.strip(&mut syntax);
                declarations.add(&syntax, &text);
            }
        }
    }
    Ok(())
}

/// The generated workspace: the instrumented copies of the package and its dependencies, and a main program.
#[derive(Debug)]
struct Workspace {
    root: PathBuf,
    /// The folders of the copies, as the package has its members.
    copies: Vec<PathBuf>,
    /// The files that are instrumented, in order.
    files: Vec<PathBuf>,
    target_directory: PathBuf,
    /// Tells this folder from others: cargo knows a package by its path from the workspace's root, so equal paths in
    /// two workspaces would be one and the same to it, and so would be what it built of them.
    mark: String,
}

/// What came of compiling.
enum Compiled<T> {
    Product(T),
    Errors(Vec<Diagnostic>),
}

/// What cargo did.
struct Run {
    artifacts: Vec<Artifact>,
    errors: Vec<Diagnostic>,
    succeeds: bool,
    /// What it wrote for a person.
    complaints: String,
}

/// A mutant that may be to blame for an error elsewhere in its function.
struct Suspect {
    candidate: usize,
    is_deletion: bool,
    /// Whether it is in the value of a constant that the function uses.
    is_of_constant: bool,
    /// Whether it is at a line that the error names.
    is_there: bool,
}

impl Workspace {
    fn new(package: &Package, directory: &Path) -> Result<Self, MutatorError> {
        std::fs::create_dir_all(directory).map_err(|error| MutatorError::io("create", directory, error))?;
        // The folder may be one of the package: what is built is no source of it.
        write(&package.products().join("CACHEDIR.TAG"), PRODUCTS_TAG)?;
        let root = directory.canonicalize().map_err(|error| MutatorError::io("find", directory, error))?;
        // The build products of all folders are in one place.
        let mut folder = Hash::default();
        folder.write(root.as_os_str().as_encoded_bytes());
        let mark = format!("{:016x}", folder.0);
        let folder = |member: &Member| match &member.short_name {
            None => root.join(format!("package-{mark}")),
            Some(name) => root.join(format!("dependencies-{mark}")).join(name),
        };
        let copies: Vec<PathBuf> = package.members.iter().map(folder).collect();
        let files = package.files.iter().map(|file| copies[file.member].join(&file.path)).collect();
        Ok(Self { root, copies, files, target_directory: package.products(), mark })
    }

    /// The folder of the main program.
    fn main(&self) -> PathBuf {
        self.root.join(format!("{MAIN}-{}", self.mark))
    }

    /// The folder of the package that gives the system to the worker.
    fn link(&self) -> PathBuf {
        self.root.join(format!("{LINK}-{}", self.mark))
    }

    /// Writes the manifest of a workspace that makes a worker of `members`, and how each package is compiled.
    fn write_worker_manifest(
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

    /// Writes the workspace's manifest with its members, and `rest` after them.
    fn write_manifest(&self, members: &[PathBuf], rest: &str) -> Result<(), MutatorError> {
        let relative = |folder: &PathBuf| folder.strip_prefix(&self.root).unwrap_or(folder).display().to_string();
        let members: Vec<String> = members.iter().map(relative).collect();
        write(&self.root.join("Cargo.toml"), &format!("[workspace]\nresolver = \"3\"\nmembers = {members:?}\n\n{rest}"))
    }

    /// The name of the executable among those of all folders.
    fn program(&self) -> String {
        format!("simutant-worker-{}", self.mark)
    }

    /// Waits until no other process builds here, and keeps others out until the file is dropped.
    fn lock(&self) -> Result<File, MutatorError> {
        let path = self.root.join("build.lock");
        let lock = || {
            File::options().create(true).write(true).truncate(false).open(&path).and_then(|file| {
                file.lock()?;
                Ok(file)
            })
        };
        lock().map_err(|error| MutatorError::io("lock", &path, error))
    }

    /// Writes all that does not change between rounds.
    fn write_fixed(&self, request: &Request<'_>) -> Result<(), MutatorError> {
        let package = request.package;
        let copies: Vec<String> = package.members.iter().map(Member::specifier).collect();
        let mut settings = vec![(LINK, IN_ONE_PIECE), (MAIN, UNOPTIMISED), (PROBE_PACKAGE, UNCHECKED)];
        settings.extend(copies.iter().map(|copy| (copy.as_str(), IN_MODULES)));
        self.write_worker_manifest(&self.copies, &settings, &package.patches(&self.copies)?)?;
        self.write_copies(package, |member| {
            package.manifest(member, &[(PROBE_PACKAGE, Path::new(PROBE))], &self.copies)
        })?;
        self.write_program(request, &self.copies[0])
    }

    /// Copies the members, but for the files that are instrumented; `manifest` returns that of a member's copy.
    fn write_copies(
        &self,
        package: &Package,
        manifest: impl Fn(usize) -> Result<Table, MutatorError>,
    ) -> Result<(), MutatorError> {
        self.write_lock(package)?;
        for (member, copy) in self.copies.iter().enumerate() {
            let manifest = manifest(member)?;
            copy_package(package.members[member].root(), copy, &package.files_of(member))?;
            write(&copy.join("Cargo.toml"), &manifest.to_string())?;
        }
        Ok(())
    }

    /// Writes the lock file of the package's workspace, when that has changed: cargo drops the entries that are not
    /// needed here.
    fn write_lock(&self, package: &Package) -> Result<(), MutatorError> {
        if !package.lock.exists() {
            return Ok(());
        }
        let lock = read(&package.lock)?;
        let copied = self.root.join("Cargo.lock.copied");
        if !std::fs::read_to_string(&copied).is_ok_and(|known| known == lock) {
            write(&self.root.join("Cargo.lock"), &lock)?;
            write(&copied, &lock)?;
        }
        Ok(())
    }

    /// Writes what makes a program of the package in the folder `system`, but for the table of lines.
    fn write_program(&self, request: &Request<'_>, system: &Path) -> Result<(), MutatorError> {
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
                 [dependencies]\nlink = {{ path = {:?}, package = {LINK:?} }}\nprobe = {{ path = {PROBE:?}, package = {PROBE_PACKAGE:?} }}\n",
                self.program(),
                self.link().display().to_string(),
            ),
        )
    }

    fn write_sources(&self, instrumented: &Instrumented) -> Result<(), MutatorError> {
        instrumented.outputs.iter().zip(&self.files).try_for_each(|(output, copy)| write(copy, &output.text))
    }

    /// Returns the rows of the main program's table for the instrumented files.
    fn lines(&self, instrumented: &Instrumented) -> String {
        let files = instrumented.sites.files.iter().zip(&instrumented.outputs).zip(&self.files);
        let row = |((file, output), copy): ((&SourceFile, &Output), &PathBuf)| {
            // The compiler has paths from the workspace's root.
            let compiled = copy.strip_prefix(&self.root).unwrap_or(copy).display().to_string();
            format!("    ({compiled:?}, {:?}, &{:?}),\n", file.path, output.original_lines())
        };
        files.map(row).collect()
    }

    /// Writes the main program, with a row of its table for each line of `lines`, and where the functions of the system
    /// are.
    fn write_main(&self, lines: &str, places: &[Place]) -> Result<(), MutatorError> {
        let row = |place: &Place| {
            let Place { block, branch, condition, pair, mutant, mutants, code } = place;
            format!("    place({block}, {branch}, {condition}, {pair}, {mutant}, {mutants}, {code}),\n")
        };
        let places: String = places.iter().map(row).collect();
        let main = format!(
            "//! Generated: which line of the original each line is of, and where functions begin in reports.\n\n\
             use probe::Place;\n\n\
             const LINES: &[(&str, &str, &[u32])] = &[\n{lines}];\n\n\
             static PLACES: &[Place] = &[\n{places}];\n\n\
             const fn place(\n    block: u32, branch: u32, condition: u32, pair: u32, mutant: u32, mutants: u32, code: u32,\n) -> Place {{\n    \
             Place {{ block, branch, condition, pair, mutant, mutants, code }}\n}}\n\n\
             fn main() -> std::process::ExitCode {{\n    probe::place(PLACES);\n    link::run(LINES)\n}}\n",
        );
        write(&self.main().join("src/main.rs"), &main)
    }

    /// Compiles the main program with all that it is made of.
    ///
    /// What the compiler makes incrementally now and then lacks symbols (rust-lang/rust, issue 81280). Where the linker
    /// complains, the packages that may be to blame are compiled from scratch, and what it says then counts.
    fn compile(
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

    /// Returns what `find` finds among the artifacts, if cargo made all of them, or else what the compiler has against
    /// the source.
    fn product<T>(&self, run: Run, find: impl FnOnce(Vec<Artifact>) -> Option<T>) -> Result<Compiled<T>, MutatorError> {
        match find(run.artifacts) {
            Some(product) if run.succeeds => Ok(Compiled::Product(product)),
            _ if run.errors.is_empty() => {
                Err(MutatorError::Cargo { directory: self.root.clone(), message: run.complaints })
            }
            _ => Ok(Compiled::Errors(run.errors)),
        }
    }

    /// Runs cargo in the workspace.
    fn run(&self, command: &mut Command, progress: &mut dyn FnMut(BuildEvent)) -> Result<Run, MutatorError> {
        let mut child = command
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", &self.target_directory)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(MutatorError::NoCargo)?;
        let mut stderr = child.stderr.take().expect("it is piped");
        let complaints = std::thread::spawn(move || {
            let mut text = String::new();
            // What is not text cannot be shown; the exit status still tells.
            let _ = std::io::Read::read_to_string(&mut stderr, &mut text);
            text
        });
        let stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut errors = Vec::new();
        let mut artifacts = Vec::new();
        for message in Message::parse_stream(stdout) {
            match message.map_err(MutatorError::NoCargo)? {
                Message::CompilerMessage(message) if message.message.level == DiagnosticLevel::Error => {
                    errors.push(message.message);
                }
                Message::CompilerArtifact(artifact) => {
                    if !artifact.fresh {
                        progress(BuildEvent::Compiled { name: artifact.target.name.clone() });
                    }
                    artifacts.push(artifact);
                }
                _ => {}
            }
        }
        let status = child.wait().map_err(MutatorError::NoCargo)?;
        let complaints = complaints.join().unwrap_or_default();
        Ok(Run { artifacts, errors, succeeds: status.success(), complaints })
    }

    /// Finds out what an error is about, and rejects that.
    fn blame(
        &self,
        error: &Diagnostic,
        instrumented: &Instrumented,
        specification: &Specification,
        verdicts: &mut Verdicts,
    ) {
        let spans = |is_primary: bool| {
            let children = error.children.iter().flat_map(|child| &child.spans);
            error.spans.iter().chain(children).filter(move |span| span.is_primary == is_primary)
        };
        let (mut function, mut point, mut recording) = (None, None, None);
        // Of a value that is used after it was moved, the move is to blame, and that is a secondary place.
        let is_moved = error.code.as_ref().is_some_and(|code| code.code == "E0382");
        for span in spans(!is_moved).chain(spans(is_moved)) {
            let Some((file, range)) = self.range_of(span, instrumented) else { continue };
            let owners = &instrumented.outputs[file].owners;
            // Inner ranges come first.
            for (_, owner) in owners.iter().filter(|(owned, _)| owned.start <= range.start && range.end <= owned.end) {
                match *owner {
                    Owner::Mutant(candidate) => {
                        verdicts.rejected.insert(candidate, error.message.clone());
                        return;
                    }
                    Owner::Comparison(candidate) => {
                        verdicts.incomparable.insert(candidate);
                        return;
                    }
                    // One of them may be named elsewhere in the error.
                    Owner::Comparisons(first, last) => {
                        point = point.or(Some(first..=last));
                        break;
                    }
                    Owner::Recording(index) => recording = recording.or(Some((file, index))),
                    Owner::Function(index) => function = function.or(Some((file, index))),
                }
            }
        }
        if let Some(point) = point {
            verdicts.incomparable.extend(point);
            return;
        }
        // Without mutants and comparisons, the probes of data flow are what can be done without.
        if recording.is_some_and(|place| verdicts.without_flow.insert(place, error.message.clone()).is_none()) {
            return;
        }
        let Some((file, index_of_function)) = function else { return };
        // The error shows elsewhere in the function. What is most often to blame goes first, and the rest only if the
        // error stays: mutants of constants at the lines that it names, deletions there, other mutants there, deletions
        // elsewhere, everything, the probes.
        let lines: Vec<usize> =
            spans(true).chain(spans(false)).flat_map(|span| self.original_lines(span, instrumented)).collect();
        let is_at = |range: &Range<usize>| {
            let span = specification.sources[file].span(file, range);
            lines.iter().any(|line| (span.line..=span.line_end).contains(line))
        };
        let is_left = |(candidate, _): &(usize, &PlacedCandidate)| !verdicts.rejected.contains_key(candidate);
        let left: Vec<Suspect> = specification
            .all_candidates()
            .filter(is_left)
            .filter_map(|(candidate, placed)| {
                let is_deletion = placed.candidate.is_deletion();
                if let Some(number) = candidate.checked_sub(specification.candidates.len()) {
                    let uses = specification.constants.places_of(number, file, index_of_function);
                    let is_there = uses.iter().any(is_at);
                    return (!uses.is_empty()).then_some(Suspect {
                        candidate,
                        is_deletion,
                        is_of_constant: true,
                        is_there,
                    });
                }
                let is_own = (placed.file, placed.function) == (file, index_of_function);
                let suspect = |is_there| Suspect { candidate, is_deletion, is_of_constant: false, is_there };
                is_own.then(|| suspect(is_at(placed.candidate.range())))
            })
            .collect();
        let groups: [fn(&&Suspect) -> bool; 5] = [
            |suspect| suspect.is_of_constant && suspect.is_there,
            |suspect| suspect.is_deletion && suspect.is_there,
            |suspect| suspect.is_there,
            |suspect| suspect.is_deletion,
            |_| true,
        ];
        let blamed = groups.into_iter().map(|group| left.iter().filter(group).collect::<Vec<_>>());
        match blamed.into_iter().find(|blamed| !blamed.is_empty()) {
            Some(blamed) => {
                let reason = format!("not told apart from others: {}", error.message);
                verdicts.rejected.extend(blamed.iter().map(|suspect| (suspect.candidate, reason.clone())));
            }
            None => _ = verdicts.uninstrumented.insert((file, index_of_function), error.message.clone()),
        }
    }

    /// Returns the lines of the original that a span of the compiler stands for.
    fn original_lines(&self, span: &DiagnosticSpan, instrumented: &Instrumented) -> Vec<usize> {
        let Some((file, _)) = self.range_of(span, instrumented) else { return Vec::new() };
        let lines = instrumented.outputs[file].original_lines();
        (span.line_start..=span.line_end).filter_map(|line| Some(*lines.get(line.checked_sub(1)?)? as usize)).collect()
    }

    /// Returns the instrumented file and the bytes that a span of the compiler points to.
    fn range_of(&self, span: &DiagnosticSpan, instrumented: &Instrumented) -> Option<(usize, Range<usize>)> {
        let mut span = span;
        // An error in a macro's expansion belongs to the place where the macro is called.
        while let Some(expansion) = &span.expansion {
            span = &expansion.span;
        }
        let path = self.root.join(&span.file_name);
        let file = self.files.iter().position(|file| *file == path)?;
        debug_assert!(file < instrumented.outputs.len(), "every file of the workspace is instrumented");
        Some((file, span.byte_start as usize..span.byte_end as usize))
    }

    /// Copies an executable to a name that begins with `kind` and is its own, and removes those that nobody has asked
    /// for in a while: a campaign goes on with its executable, whatever is built here meanwhile.
    fn keep(&self, executable: &Path, kind: &str, hash: &Hash) -> Result<PathBuf, MutatorError> {
        let copy = self.root.join(format!("{kind}{:016x}", hash.0));
        copy_file(executable, &copy)?;
        self.clear(kind, &copy)?;
        Ok(copy)
    }

    /// Notes that `used` is asked for, a file or a folder whose name begins with `kind`, and removes those that nobody
    /// has asked for in a while.
    fn clear(&self, kind: &str, used: &Path) -> Result<(), MutatorError> {
        let now = SystemTime::now();
        // What cannot be touched is made again when it is missing, and what cannot be removed is only in the way.
        _ = File::open(used).and_then(|file| file.set_modified(now));
        let entries = std::fs::read_dir(&self.root).map_err(|error| MutatorError::io("list", &self.root, error))?;
        for entry in entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(kind)) {
            let used = entry.metadata().and_then(|metadata| metadata.modified());
            if used.is_ok_and(|used| now.duration_since(used).is_ok_and(|age| age > KEPT)) {
                let path = entry.path();
                _ = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
            }
        }
        Ok(())
    }

    /// Returns a hash of the same but for the specification files, unless functions in there may be remembered
    /// elsewhere.
    fn fixed_hash(&self, request: &Request<'_>) -> Result<u64, MutatorError> {
        let package = request.package;
        let others = [PROBE.as_ref(), request.worker.1];
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

    /// Returns a hash of all local source that goes into what is built, that of the packages in `others` included, but
    /// for the files that are left out: the same wherever the folders are.
    fn hash(&self, package: &Package, others: &[&Path], left_out: &BTreeSet<PathBuf>) -> Result<u64, MutatorError> {
        let dependencies = package.local_dependencies.iter().map(PathBuf::as_path);
        let sources = dependencies.chain(others.iter().copied()).map(|folder| folder.join("src"));
        let mut hash = Hash::default();
        for folder in package.members.iter().map(|member| member.root().to_owned()).chain(sources) {
            for (relative, path) in list_files(&folder)?.into_iter().filter(|(_, path)| !left_out.contains(path)) {
                hash.write(relative.to_string_lossy().as_bytes());
                hash.write(&std::fs::read(&path).map_err(|error| MutatorError::io("read", &path, error))?);
            }
        }
        Ok(hash.0)
    }

    fn does_not_compile(&self, errors: &[Diagnostic]) -> MutatorError {
        let rendered = |error: &Diagnostic| error.rendered.clone().unwrap_or_else(|| error.message.clone());
        let message = errors.iter().take(3).map(rendered).collect::<Vec<_>>().join("\n");
        MutatorError::DoesNotCompile { directory: self.root.clone(), message }
    }
}

/// Returns the cargo that this was started by, or the one that is found.
fn cargo_program() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Returns a command of cargo that compiles as the instrumented build does, and tells what it does.
fn cargo(command: &str) -> Command {
    let mut cargo = Command::new(cargo_program());
    cargo.args([command, "--release", "--message-format=json"]);
    // Mutants look odd on purpose: no lint may reject what compiles. What the user says to the compiler stays.
    match (std::env::var("CARGO_ENCODED_RUSTFLAGS"), std::env::var("RUSTFLAGS")) {
        (Ok(flags), _) => cargo.env("CARGO_ENCODED_RUSTFLAGS", format!("{flags}\u{1f}{CAP_LINTS}")),
        (_, Ok(flags)) => cargo.env("RUSTFLAGS", format!("{flags} {CAP_LINTS}")),
        _ => cargo.args(["--config", &format!("build.rustflags=[{CAP_LINTS:?}]")]),
    };
    cargo
}

/// Reads what earlier builds found out that still holds; a file that cannot be used is as good as none.
fn read_verdicts(path: &Path, specification: &Specification, inputs: Inputs) -> Option<Verdicts> {
    let known: KnownVerdicts = serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()?;
    Some(known.verdicts(specification, inputs))
}

fn read(path: &Path) -> Result<String, MutatorError> {
    std::fs::read_to_string(path).map_err(|error| MutatorError::io("read", path, error))
}

/// Writes a file, unless it is as it should be: cargo compiles again what is newer.
fn write(path: &Path, text: &str) -> Result<(), MutatorError> {
    if std::fs::read_to_string(path).is_ok_and(|known| known == text) {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(|error| MutatorError::io("create", parent, error))?;
    }
    std::fs::write(path, text).map_err(|error| MutatorError::io("write", path, error))
}

/// Returns the files below a folder with their paths from it, in order. Left out are hidden files, judgements on
/// mutants, and folders that are build products, studies, or other packages.
fn list_files(folder: &Path) -> Result<BTreeMap<PathBuf, PathBuf>, MutatorError> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(current) = open.pop() {
        let entries = match std::fs::read_dir(&current) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(MutatorError::io("list", &current, error)),
        };
        for entry in entries {
            let path = entry.map_err(|error| MutatorError::io("list", &current, error))?.path();
            let is_left_out = path.file_name().is_some_and(|name| {
                let name = name.to_string_lossy();
                name.starts_with('.') || name.ends_with(FILE_END)
            });
            if is_left_out {
                continue;
            }
            if path.is_file() {
                files.insert(path.strip_prefix(folder).unwrap_or(&path).to_owned(), path);
            } else if !["CACHEDIR.TAG", "journal.sqlite", "Cargo.toml"].iter().any(|mark| path.join(mark).exists()) {
                open.push(path);
            }
        }
    }
    Ok(files)
}

/// Makes `to` hold a package's files, but for its manifest and the files that are instrumented.
fn copy_package(from: &Path, to: &Path, specification: &[&str]) -> Result<(), MutatorError> {
    let is_generated = |relative: &Path| {
        let is_manifest = relative == Path::new("Cargo.toml") || relative == Path::new("Cargo.lock");
        is_manifest || specification.iter().any(|file| Path::new(file) == relative)
    };
    let files = list_files(from)?;
    for (relative, path) in files.iter().filter(|(relative, _)| !is_generated(relative)) {
        copy_file(path, &to.join(relative))?;
    }
    let stale = list_files(to)?;
    for (_, path) in stale.iter().filter(|(relative, _)| !is_generated(relative) && !files.contains_key(*relative)) {
        std::fs::remove_file(path).map_err(|error| MutatorError::io("remove", path, error))?;
    }
    Ok(())
}

/// Copies a file, unless the copy is as it should be: cargo compiles again what is newer.
fn copy_file(from: &Path, to: &Path) -> Result<(), MutatorError> {
    let bytes = std::fs::read(from).map_err(|error| MutatorError::io("read", from, error))?;
    if std::fs::read(to).is_ok_and(|known| known == bytes) {
        return Ok(());
    }
    if let Some(parent) = to.parent() {
        std::fs::create_dir_all(parent).map_err(|error| MutatorError::io("create", parent, error))?;
    }
    // Not written over: a worker may run that was started from there.
    _ = std::fs::remove_file(to);
    std::fs::copy(from, to).map_err(|error| MutatorError::io("write", to, error))?;
    Ok(())
}
