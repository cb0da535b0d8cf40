//! A first system for a package: the manifest's section and a template to change.

mod changes;
mod library;
mod manifest;
mod templates;
mod vendor;

use std::path::{Component, Path, PathBuf};

use cargo_metadata::{DependencyKind, Edition, MetadataCommand, TargetKind};

use self::changes::Changes;
use self::manifest::{Dependency, EnginePackages, Entry, Kind};
pub use self::templates::SystemTemplate;
use self::templates::Template;
use self::vendor::Vendored;

/// Crates whose names a module must not have, besides those that the package depends on.
const TAKEN: [&str; 4] = ["alloc", "core", "serde", "std"];

/// What git is to ignore: the folder that studies write to.
const IGNORED: &str = "/out";

/// What `init` makes.
#[derive(Debug, Clone)]
pub struct InitRequest<'a> {
    /// The package's manifest.
    pub manifest: &'a Path,
    /// The system's name; the package's unless given.
    pub name: Option<&'a str>,
    /// What the system begins with.
    pub template: SystemTemplate,
    /// What the package depends on.
    pub engine: EngineSource<'a>,
}

/// The engine that a new system depends on.
#[derive(Debug, Clone, Copy)]
pub enum EngineSource<'a> {
    /// The folder of the engine's workspace, where it stands.
    Folder(&'a Path),
    /// The files of the engine's workspace, with their paths in it: they are put into the user's workspace, into the
    /// folder `third_party/simutant`, and all packages there that depend on an engine depend on that one.
    Vendored(&'a [(&'a str, &'a [u8])]),
    /// What makes a new system that others can build: these files, put into the user's workspace; the folder, if the
    /// package is in it.
    Shared {
        /// The folder of the engine's workspace.
        folder: &'a Path,
        /// The files, as of [`EngineSource::Vendored`].
        files: &'a [(&'a str, &'a [u8])],
    },
}

/// What was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Initialised {
    /// The system's name.
    pub system: String,
    /// Whether it is no system, but an HTTP service.
    pub is_http: bool,
    /// The file to begin with; `None` if the package had its system, and got the engine's source.
    pub begin: Option<PathBuf>,
    /// New files, and the folder of the engine's source if that is new.
    pub written: Vec<PathBuf>,
    /// Files that were there and are others now, each with what was changed.
    pub changed: Vec<(PathBuf, Vec<String>)>,
    /// The folder outside of the user's workspace that the package now depends on.
    pub outside: Option<PathBuf>,
}

/// Why a package gets no system. Nothing was written, unless it is [`InitError::Io`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InitError {
    /// There is no manifest.
    #[error("no package: there is no {}; `cargo new --lib NAME` makes a package", .0.display())]
    NoManifest(PathBuf),
    /// The manifest is that of a workspace alone.
    #[error("no package: {} is a workspace's; give one of its packages with --manifest-path", .0.display())]
    NoPackage(PathBuf),
    /// `cargo metadata` failed: the manifest is damaged.
    #[error("cannot read the package: {0}")]
    Metadata(#[from] cargo_metadata::Error),
    /// The package has no library that a worker could link.
    #[error(
        "{}: the package has no library, and a simulation is linked with a worker: make a src/lib.rs, and move the protocol there", .0.display()
    )]
    NoLibrary(PathBuf),
    /// The package is of the edition 2015.
    #[error("{}: the package is of edition 2015, and a simulation is made of async functions; `cargo fix --edition` brings it to 2018", .0.display())]
    Edition(PathBuf),
    /// The library has no standard library.
    #[error(
        "{}: the library is `no_std`, and the engine is not: make a package of its own for the simulation, which depends on this one, and name the \
         files of this one there, in [package.metadata.simutant.systems.NAME.dependencies]", .0.display()
    )]
    NoStd(PathBuf),
    /// The name cannot be one.
    #[error("--name {name}: {message}")]
    Name {
        /// The name.
        name: String,
        /// Why not.
        message: String,
    },
    /// The section is there already.
    #[error("{}: [package.metadata.simutant.{section}] is there already; --name gives the new one another name", manifest.display())]
    SectionExists {
        /// The manifest.
        manifest: PathBuf,
        /// The section, such as `systems.store`.
        section: String,
    },
    /// A file is there already.
    #[error("{} is there already, and nothing is overwritten; --name gives the new one another name", .0.display())]
    FileExists(PathBuf),
    /// The folder for the engine's source has something else.
    #[error("{} is there already, and is no copy of the engine's source; move it away", .0.display())]
    FolderTaken(PathBuf),
    /// The library has a module of that name.
    #[error("{}: there is a module `{module}` already; --name gives the new one another name", library.display())]
    ModuleExists {
        /// The library's file.
        library: PathBuf,
        /// The module.
        module: String,
    },
    /// A dependency is there in a form that the template cannot use.
    #[error("{}: the dependency `{name}` {obstacle}, and the template needs it as it is", manifest.display())]
    Dependency {
        /// The manifest.
        manifest: PathBuf,
        /// The dependency.
        name: &'static str,
        /// What stands in the way.
        obstacle: &'static str,
    },
    /// A file does not parse.
    #[error("{}: {message}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The parser's message.
        message: String,
    },
    /// A file cannot be read or written.
    #[error("cannot {action} {}: {error}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
}

/// Makes a first system in a package: a section in its manifest, what it depends on, the files of a template, and a
/// real implementation with what runs test cases on it.
///
/// All is looked at before anything is written, no file is overwritten, and comments and order of the manifest stay.
/// Only a copy of the engine's source that is older, or was changed, is replaced where it is to be vendored. A package
/// that has systems or HTTP services and gets the engine's source gets no further one, unless a name is given.
///
/// # Errors
/// If something is in the way; then nothing was written.
pub fn init(request: &InitRequest<'_>) -> Result<Initialised, InitError> {
    let manifest = request.manifest;
    if !manifest.exists() {
        return Err(InitError::NoManifest(manifest.into()));
    }
    let metadata = MetadataCommand::new().manifest_path(manifest).no_deps().exec()?;
    let wanted = canonical(manifest)?;
    let is_it = |package: &&cargo_metadata::Package| {
        canonical(package.manifest_path.as_std_path()).ok().as_ref() == Some(&wanted)
    };
    let package = metadata.packages.iter().find(is_it).ok_or_else(|| InitError::NoPackage(manifest.into()))?;
    let root = wanted.parent().unwrap_or(Path::new("/"));

    let mut changes = Changes::default();
    let system = System { request, package, root, manifest: &wanted };
    let engine = match request.engine {
        // Within this installation's own folder the two move together.
        EngineSource::Shared { folder, .. } if root.starts_with(canonical(folder)?) => EngineSource::Folder(folder),
        EngineSource::Shared { files, .. } => EngineSource::Vendored(files),
        engine => engine,
    };
    let renews = matches!(request.engine, EngineSource::Vendored(_)) && request.name.is_none();
    let (packages, outside) = match engine {
        EngineSource::Folder(folder) => {
            let folder = canonical(folder)?;
            let is_ours = root.starts_with(&folder);
            let shown = if is_ours { relative(root, &folder) } else { folder.clone() };
            let members = MetadataCommand::new().manifest_path(folder.join("Cargo.toml")).no_deps().exec()?;
            let packages = system.missing(|name| Ok(shown.join(folder_of(&members, name)?)))?;
            (packages, (!is_ours).then_some(folder))
        }
        EngineSource::Vendored(files) | EngineSource::Shared { files, .. } => {
            let vendored = Vendored::new(canonical(metadata.workspace_root.as_std_path())?, files)?;
            changes.vendored = vendored.plan()?;
            if let Some((kind, system)) = sections_of(package).next().filter(|_| renews) {
                vendored.repoint(&metadata, &mut changes)?;
                return changes.apply(kind, system, None, None);
            }
            let packages = system.missing(|name| Ok(relative(root, &vendored.package(name)?)))?;
            vendored.repoint(&metadata, &mut changes)?;
            (packages, None)
        }
    };
    let has_engine = packages.library.is_empty();
    let (kind, begin) = system.plan(packages, &mut changes)?;
    let name = request.name.unwrap_or(&package.name);
    changes.apply(kind, name, Some(begin), outside.filter(|_| !has_engine))
}

/// Returns the folder of a package of the engine, from that of the engine's workspace.
fn folder_of(engine: &cargo_metadata::Metadata, name: &str) -> Result<PathBuf, InitError> {
    let package = engine.packages.iter().find(|package| package.name.as_str() == name);
    let folder = package.and_then(|package| package.manifest_path.parent()?.strip_prefix(&engine.workspace_root).ok());
    let missing = || InitError::Syntax {
        path: engine.workspace_root.join("Cargo.toml").into(),
        message: format!("the engine's source has no package `{name}`"),
    };
    folder.map(PathBuf::from).ok_or_else(missing)
}

/// Returns the names of the systems and HTTP services in sections of a package, each with its kind.
fn sections_of(package: &cargo_metadata::Package) -> impl Iterator<Item = (Kind, &String)> {
    let named = |kind: Kind| package.metadata.get("simutant")?.get(kind.section())?.as_object();
    let all = move |kind| named(kind).into_iter().flat_map(move |named| named.keys().map(move |name| (kind, name)));
    all(Kind::System).chain(all(Kind::Http))
}

/// A system that is to be made.
struct System<'a> {
    request: &'a InitRequest<'a>,
    package: &'a cargo_metadata::Package,
    /// The package's folder.
    root: &'a Path,
    /// The package's manifest.
    manifest: &'a Path,
}

impl System<'_> {
    /// Returns the packages of the engine that the package does not depend on yet, with what `folder` makes of their
    /// names.
    fn missing(&self, folder: impl Fn(&str) -> Result<PathBuf, InitError>) -> Result<EnginePackages, InitError> {
        let template = self.request.template.template();
        let mut missing = EnginePackages::default();
        for name in template.packages {
            if self.dependency(name)? == Dependency::Missing {
                missing.library.push((name, folder(name)?.display().to_string()));
            }
        }
        for name in template.example_packages {
            if !self.package.dependencies.iter().any(|dependency| dependency.name == *name) {
                missing.examples.push((name, folder(name)?.display().to_string()));
            }
        }
        Ok(missing)
    }

    /// Plans the files of the system, which is to depend on `packages`. Returns its kind, and the file of its module.
    fn plan(&self, packages: EnginePackages, changes: &mut Changes) -> Result<(Kind, PathBuf), InitError> {
        let Self { request, package, root, .. } = *self;
        let manifest = request.manifest;
        if package.edition == Edition::E2015 {
            return Err(InitError::Edition(manifest.into()));
        }
        let is_library = |target: &&cargo_metadata::Target| {
            target.kind.iter().any(|kind| matches!(kind, TargetKind::Lib | TargetKind::RLib))
        };
        let library = package.targets.iter().find(is_library).ok_or_else(|| InitError::NoLibrary(manifest.into()))?;
        let crate_name = library.name.replace('-', "_");
        let library = canonical(library.src_path.as_std_path())?;

        let name = request.name.unwrap_or(&package.name);
        let template = request.template.template();
        let module = module_name(name, package, template)?;
        let type_name = template.type_name(type_name(&module));
        let filled = |text: &str| {
            text.replace("%NAME%", name)
                .replace("%TYPE%", &type_name)
                .replace("%MODULE%", &module)
                .replace("%CRATE%", &crate_name)
        };
        let folder = library.parent().unwrap_or(root);
        let begin = folder.join(&module).with_extension("rs");
        let protocol = folder.join(&module).join("protocol.rs");
        let entry = Entry {
            system: name,
            type_path: format!("{module}::{type_name}"),
            specification: template.protocol.map(|_| below(root, &protocol)),
            testbed: template.testbed.map(filled),
            net: template.net.map(|(function, arguments)| (format!("{module}::protocol::{function}"), arguments)),
            packages,
            serde: if template.protocol.is_some() { self.dependency("serde")? } else { Dependency::Derives },
            has_json: package.dependencies.iter().any(|dependency| dependency.name == "serde_json"),
        };
        let is_new = changes.edit(self.manifest, |text| manifest::with_system(text, &entry))?;
        if !is_new {
            let section = format!("{}.{name}", entry.kind().section());
            return Err(InitError::SectionExists { manifest: manifest.into(), section });
        }

        let mut new = vec![(begin.clone(), template.module)];
        new.extend(template.protocol.map(|text| (protocol, text)));
        new.extend(template.beside.iter().map(|(file, text)| (folder.join(&module).join(file), *text)));
        new.extend(template.others.iter().map(|(file, text)| (root.join(filled(file)), *text)));
        if let Some((there, _)) = new.iter().find(|(path, _)| path.exists()) {
            return Err(InitError::FileExists(there.clone()));
        }
        changes.new.extend(new.into_iter().map(|(path, template)| (path, filled(template))));
        let library_text = changes::read(&library)?;
        let new_library = library::with_module(&library_text, &module).map_err(|obstacle| match obstacle {
            library::Obstacle::NoStd => InitError::NoStd(library.clone()),
            library::Obstacle::ModuleExists => {
                InitError::ModuleExists { library: library.clone(), module: module.clone() }
            }
            library::Obstacle::Syntax(message) => InitError::Syntax { path: library.clone(), message },
        })?;
        let added = vec![format!("pub mod {module};")];
        changes.edit(&library, |_| Ok(Some((new_library, added))))?;
        self.plan_ignored(changes)?;
        Ok((entry.kind(), begin))
    }

    /// Plans that git ignores what studies write, if the package is in a repository.
    fn plan_ignored(&self, changes: &mut Changes) -> Result<(), InitError> {
        let path = self.root.join(".gitignore");
        if path.exists() {
            changes.edit(&path, |text| Ok(with_ignored(text)))?;
        } else if self.root.ancestors().any(|folder| folder.join(".git").exists()) {
            changes.new.push((path, format!("{IGNORED}\n")));
        }
        Ok(())
    }

    fn dependency(&self, name: &'static str) -> Result<Dependency, InitError> {
        dependency(self.package, self.request.manifest, name)
    }
}

/// Returns the text of a `.gitignore` with the folder of studies, and what was added; `None` if it has that.
fn with_ignored(text: &str) -> Option<(String, Vec<String>)> {
    if text.lines().any(|line| line.trim().trim_matches('/') == IGNORED.trim_matches('/')) {
        return None;
    }
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    Some((format!("{text}{end}{IGNORED}\n"), vec![IGNORED.to_owned()]))
}

/// Returns the module that a system of this name is in.
fn module_name(name: &str, package: &cargo_metadata::Package, template: &Template) -> Result<String, InitError> {
    let refuse = |message: &str| InitError::Name { name: name.into(), message: message.into() };
    let is_plain = |character: char| matches!(character, 'a'..='z' | '0'..='9' | '-' | '_');
    if !name.chars().all(is_plain) || !name.starts_with(|first: char| first.is_ascii_lowercase()) {
        return Err(refuse("a name is of lower-case letters, digits, `-` and `_`, and begins with a letter"));
    }
    let module = name.replace('-', "_");
    if syn::parse_str::<syn::Ident>(&module).is_err() {
        return Err(refuse("a word of the language cannot be a module"));
    }
    let crate_name = |dependency: &cargo_metadata::Dependency| {
        dependency.rename.as_ref().unwrap_or(&dependency.name).replace('-', "_")
    };
    let is_engine = template.packages.iter().any(|engine| engine.replace('-', "_") == module);
    if is_engine
        || TAKEN.contains(&module.as_str())
        || package.dependencies.iter().any(|other| crate_name(other) == module)
    {
        return Err(refuse("a crate has this name, and a module cannot have it as well"));
    }
    Ok(module)
}

/// Returns a module's name as types have it: `two_phase_commit` is `TwoPhaseCommit`.
fn type_name(module: &str) -> String {
    let capitalised = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str()).unwrap_or_default()
    };
    module.split('_').map(capitalised).collect()
}

/// Returns how a package depends on another one.
fn dependency(package: &cargo_metadata::Package, manifest: &Path, name: &'static str) -> Result<Dependency, InitError> {
    let refuse = |obstacle| Err(InitError::Dependency { manifest: manifest.into(), name, obstacle });
    let ordinary = package.dependencies.iter().find(|dependency| {
        dependency.name == name && dependency.kind == DependencyKind::Normal && dependency.target.is_none()
    });
    match ordinary {
        None => Ok(Dependency::Missing),
        Some(dependency) if dependency.rename.is_some() => refuse("has another name there"),
        Some(dependency) if dependency.optional => refuse("is optional"),
        Some(dependency) if dependency.features.iter().any(|feature| feature == "derive") => Ok(Dependency::Derives),
        Some(_) => Ok(Dependency::There),
    }
}

/// Returns the way from a folder to a path; both are absolute.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let common = from.components().zip(to.components()).take_while(|(from, to)| from == to).count();
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    up.chain(to.components().skip(common)).collect()
}

/// Returns the path of a file below a folder as manifests have it.
fn below(root: &Path, file: &Path) -> String {
    let components = relative(root, file);
    components.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

fn canonical(path: &Path) -> Result<PathBuf, InitError> {
    path.canonicalize().map_err(|error| io("find", path, error))
}

fn io(action: &'static str, path: &Path, error: std::io::Error) -> InitError {
    InitError::Io { action, path: path.into(), error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_named_in_camel_case() {
        assert_eq!(type_name("store"), "Store");
        assert_eq!(type_name("two_phase_commit"), "TwoPhaseCommit");
        assert_eq!(type_name("a__b2_"), "AB2");
    }

    #[test]
    fn what_studies_write_is_ignored_once() {
        let ignored = |text: &str| with_ignored(text).map(|(text, _)| text);
        assert_eq!(ignored("/target\n").as_deref(), Some("/target\n/out\n"));
        assert_eq!(ignored("/target").as_deref(), Some("/target\n/out\n"));
        assert_eq!(ignored("").as_deref(), Some("/out\n"));
        for there in ["out", "/out", "out/\n", "target\n/out/ \n*.o\n"] {
            assert_eq!(ignored(there), None, "{there:?}");
        }
    }

    #[test]
    fn the_path_between_folders_goes_through_what_they_share() {
        assert_eq!(relative(Path::new("/a/b/c"), Path::new("/a/d")), Path::new("../../d"));
        assert_eq!(below(Path::new("/a"), Path::new("/a/src/b.rs")), "src/b.rs");
    }
}
