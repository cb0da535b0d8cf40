//! A program of what a user's package names in its manifest: a specification that judges histories, a net that is explored.
//!
//! It is built beside the plain build of a system of the package, if it has one, so that what both depend on is compiled
//! once, and the package itself too.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use cargo_metadata::diagnostic::Diagnostic;

use super::cargo::{Compiled, cargo, rendered};
use super::check::is_in;
use super::files::{copy_file, write};
use super::plain::{self, IN_PARTS};
use super::request::{BuildEvent, BuildRequest};
use super::worker::PROFILE;
use super::workspace::Workspace;
use crate::error::{MutatorError, TypeTrouble};
use crate::package::PROBE_PACKAGE;

/// The line of a program that says by which type it judges begins so.
pub const TYPE_LINE: &str = "type Judged = ";

/// The line of a program that says in which state the service begins, begins so.
pub const INITIAL_LINE: &str = "let initial: Judged = ";

/// The line of a program that uses the function which returns a net begins so.
pub const NET_LINE: &str = "let served = ";

/// What a manifest names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named<'a> {
    /// A specification. The program has a line that begins with [`TYPE_LINE`], and one with [`INITIAL_LINE`].
    Specification {
        /// The type, as the manifest has it.
        type_path: &'a str,
        /// The initial state, as the manifest has it.
        initial: &'a str,
    },
    /// An HTTP service. The program has the same lines.
    HttpService {
        /// The type, as the manifest has it.
        type_path: &'a str,
        /// The initial state, as the manifest has it.
        initial: &'a str,
    },
    /// A net. The program has a line that begins with [`NET_LINE`].
    Net {
        /// The function that returns it, as the manifest has it.
        function: &'a str,
    },
}

impl Named<'_> {
    /// Returns how the names of its programs begin.
    const fn beginning(self) -> &'static str {
        match self {
            Self::Specification { .. } => "simutant-specification-",
            Self::HttpService { .. } => "simutant-http-",
            Self::Net { .. } => "simutant-net-",
        }
    }
}

/// What to build.
#[derive(Debug, Clone)]
pub struct ProgramRequest<'a> {
    /// The name that the manifest has.
    pub name: &'a str,
    /// What it names.
    pub named: Named<'a>,
    /// The text of the program.
    pub main: &'a str,
    /// The manifest.
    pub manifest: &'a Path,
    /// The package that has it, and the one of Simutant that it needs: their names and folders.
    pub dependencies: [(&'a str, &'a Path); 2],
    /// The user's lock file, if there is one.
    pub lock: &'a Path,
    /// The folder for what cargo builds: [`Package::products`](crate::Package::products) of the package's systems.
    pub products: &'a Path,
    /// A system of the package, if it has one.
    pub system: Option<&'a BuildRequest<'a>>,
}

/// Builds the program, and returns the executable.
///
/// # Errors
/// [`MutatorError::Type`], [`MutatorError::Initial`] or [`MutatorError::Net`] if the manifest is to blame,
/// [`MutatorError::PackageDoesNotCompile`] if the package is; others if a file cannot be read or written.
pub fn build_program(
    request: &ProgramRequest<'_>,
    progress: &mut dyn FnMut(BuildEvent),
) -> Result<PathBuf, MutatorError> {
    let workspace = match request.system {
        Some(system) => Workspace::new(system.package, &system.directory.join(plain::FOLDER))?,
        None => Workspace::without_system(
            &request.products.join(format!("{}{}", request.named.beginning(), request.name)),
            request.products,
        )?,
    };
    let _one_at_a_time = workspace.lock()?;
    let program = format!("{}{}-{}", request.named.beginning(), request.name, workspace.mark);
    let folder = workspace.root.join(&program);
    match request.system {
        Some(system) => workspace.write_plain(system, std::slice::from_ref(&folder))?,
        None => {
            let own = request.dependencies[0].0;
            let profile = format!("{PROFILE}\n[profile.release.package.{own:?}]\n{IN_PARTS}\n");
            workspace.write_manifest(std::slice::from_ref(&folder), &profile)?;
            let lock = workspace.root.join("Cargo.lock");
            if !lock.exists() && request.lock.exists() {
                copy_file(request.lock, &lock)?;
            }
        }
    }
    request.write(&folder, &program)?;
    if workspace.is_cold() {
        let mut check = cargo("check");
        check.args(["--package", &program]);
        let errors = workspace.run(&mut check, progress)?.errors;
        if !errors.is_empty() {
            return Err(request.error(&errors));
        }
    }
    match workspace.build_written(&program, progress)? {
        Compiled::Product(executable) => Ok(executable),
        Compiled::Errors(errors) => Err(request.error(&errors)),
    }
}

impl Workspace {
    /// Builds a program that [`write_program`] wrote, and returns its executable.
    pub(super) fn build_written(
        &self,
        program: &str,
        progress: &mut dyn FnMut(BuildEvent),
    ) -> Result<Compiled<PathBuf>, MutatorError> {
        let mut build = cargo("build");
        build.args(["--package", program]);
        let run = self.run(&mut build, progress)?;
        self.product(run, |artifacts| {
            let executable = artifacts.into_iter().find(|artifact| artifact.target.name == program);
            Some(PathBuf::from(executable?.executable?))
        })
    }

    /// Returns the workspace of a program whose package has no system.
    fn without_system(root: &Path, products: &Path) -> Result<Self, MutatorError> {
        std::fs::create_dir_all(root).map_err(|error| MutatorError::io("create", root, error))?;
        Ok(Self {
            root: root.to_owned(),
            copies: Vec::new(),
            files: Vec::new(),
            target_directory: products.to_owned(),
            mark: "alone".to_owned(),
            conditions: RefCell::default(),
        })
    }
}

/// Writes a program that is built beside the plain build of a system. It depends on packages, of which are given the name, the
/// folder, and what the dependency says of features.
pub(super) fn write_program(
    folder: &Path,
    program: &str,
    system: Option<&BuildRequest<'_>>,
    dependencies: [((&str, &Path), &str); 2],
    main: &str,
) -> Result<(), MutatorError> {
    let mut manifest = format!(
        "[package]\nname = {program:?}\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n[dependencies]\n"
    );
    let mut depend = |key: &str, package: &str, folder: &Path, features: &str| {
        let comma = if features.is_empty() { "" } else { ", " };
        let path = folder.display().to_string();
        manifest.push_str(&format!("{key} = {{ path = {path:?}, package = {package:?}{comma}{features} }}\n"));
    };
    for ((package, folder), features) in dependencies {
        depend(package, package, folder, features);
    }
    if let Some(BuildRequest { worker: (worker, folder), probe, .. }) = system {
        // They ask for features of what all depend on: without them, cargo would compile that once more.
        depend("worker", worker, folder, "");
        depend("probe", PROBE_PACKAGE, probe, "");
    }
    write(&folder.join("Cargo.toml"), &manifest)?;
    write(&folder.join("src/main.rs"), main)
}

impl ProgramRequest<'_> {
    fn write(&self, folder: &Path, program: &str) -> Result<(), MutatorError> {
        let [package, needed] = self.dependencies;
        let features = self.system.map(|system| system.package.features.of_dependency()).unwrap_or_default();
        write_program(folder, program, self.system, [(package, &features), (needed, "")], self.main)
    }

    /// Returns what is to blame for errors of the compiler.
    fn error(&self, errors: &[Diagnostic]) -> MutatorError {
        if !errors.iter().all(|error| is_in(error, &[self.named.beginning()])) {
            return MutatorError::PackageDoesNotCompile { message: rendered(errors) };
        }
        let is_at = |error: &&Diagnostic, line: &str| {
            let mut texts = error.spans.iter().filter(|span| span.is_primary).flat_map(|span| &span.text);
            texts.any(|text| text.text.trim_start().starts_with(line))
        };
        let manifest = self.manifest.to_owned();
        let (kind, type_path, initial, trait_path) = match self.named {
            Named::Specification { type_path, initial } => {
                ("specification", type_path, initial, "simutant_oracle::Specification")
            }
            Named::HttpService { type_path, initial } => {
                ("HTTP service", type_path, initial, "simutant_http_tester::HttpService")
            }
            Named::Net { function } => {
                let at_line = errors.iter().find(|error| is_at(error, NET_LINE)).unwrap_or(&errors[0]);
                let (net, function, message) = (self.name.to_owned(), function.to_owned(), at_line.message.clone());
                return MutatorError::Net { manifest, net, function, message };
            }
        };
        let of_type = errors.iter().find(|error| is_at(error, TYPE_LINE));
        let of_initial = errors.iter().find(|error| is_at(error, INITIAL_LINE));
        // The other errors of such a type are what follows from that.
        let lacks_trait = |error: &&Diagnostic| error.code.as_ref().is_some_and(|code| code.code == "E0277");
        let of_trait = errors.iter().find(lacks_trait);
        match (of_type, of_initial) {
            (None, Some(error)) => MutatorError::Initial {
                manifest,
                specification: self.name.to_owned(),
                expression: initial.to_owned(),
                message: error.message.clone(),
            },
            (of_type, _) => MutatorError::Type {
                manifest,
                named_by: format!("{kind} `{}`", self.name),
                type_path: type_path.to_owned(),
                trouble: Box::new(TypeTrouble::new(of_type.or(of_trait).unwrap_or(&errors[0]), trait_path)),
            },
        }
    }
}
