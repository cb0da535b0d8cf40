//! A folder with the engine's source, and what is in it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use cargo_metadata::MetadataCommand;

use crate::cache;
use crate::error::EngineSourceError;
use crate::files::INTERFACE;

/// The variable that names the folder of the engine's source, or is [`OWN`].
pub const VARIABLE: &str = "SIMUTANT_ENGINE";

/// The value of [`VARIABLE`] that stands for the files that the command carries.
pub const OWN: &str = "bundled";

/// The section of a manifest's metadata that numbers the interface between the command and the engine's source.
pub const INTERFACE_KEY: &str = "simutant-engine";

/// The checkout that the command was built from, which may be gone.
const CHECKOUT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The worker process.
const WORKER: &str = "simutant-worker";

/// The probes of instrumented code.
const PROBE: &str = "simutant-probe";

/// A folder with the engine's source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Engine {
    root: PathBuf,
    worker: PathBuf,
    probe: PathBuf,
    interface: Option<u32>,
}

impl Engine {
    /// Returns the command's own: the one that [`VARIABLE`] names, the checkout that the command was built from, or the
    /// files that it carries, unpacked.
    ///
    /// # Errors
    /// [`EngineSourceError`]; a checkout that has changed so that the command cannot use it counts as gone.
    pub fn own() -> Result<Self, EngineSourceError> {
        Self::find(std::env::var_os(VARIABLE), Path::new(CHECKOUT), &cache::unpacked)
    }

    fn find(
        variable: Option<OsString>,
        checkout: &Path,
        unpacked: &dyn Fn() -> Result<PathBuf, EngineSourceError>,
    ) -> Result<Self, EngineSourceError> {
        match variable {
            Some(value) if value != OWN => return Self::containing(Path::new(&value))?.check(),
            None => {
                if let Ok(engine) = Self::containing(checkout).and_then(Self::check) {
                    return Ok(engine);
                }
            }
            Some(_) => {}
        }
        Self::containing(&unpacked()?)
    }

    /// Returns the engine whose workspace is `folder`, or has the package that is there.
    ///
    /// # Errors
    /// [`EngineSourceError::NotAnEngine`].
    pub fn containing(folder: &Path) -> Result<Self, EngineSourceError> {
        let not = |message: String| EngineSourceError::NotAnEngine { folder: folder.into(), message };
        let manifest = folder.join("Cargo.toml");
        if !manifest.exists() {
            return Err(not("there is no Cargo.toml".to_owned()));
        }
        let metadata = MetadataCommand::new().manifest_path(&manifest).no_deps().exec();
        let metadata = metadata.map_err(|error| not(error.to_string().trim().to_owned()))?;
        let mut folders = BTreeMap::new();
        let mut interface = None;
        for package in &metadata.packages {
            let number = package.metadata.get(INTERFACE_KEY).and_then(|section| section.get("interface")?.as_u64());
            interface = interface.or(number.and_then(|number| u32::try_from(number).ok()));
            folders.extend(package.manifest_path.parent().map(|folder| (package.name.as_str(), PathBuf::from(folder))));
        }
        let mut of = |name: &str| {
            folders
                .remove(name)
                .ok_or_else(|| not(format!("the workspace {} has no `{name}`", metadata.workspace_root)))
        };
        Ok(Self { worker: of(WORKER)?, probe: of(PROBE)?, root: metadata.workspace_root.clone().into(), interface })
    }

    /// Returns the engine if the command can work with it: if what they say to each other has the same number.
    ///
    /// # Errors
    /// [`EngineSourceError::OtherInterface`].
    pub fn check(self) -> Result<Self, EngineSourceError> {
        if self.interface == Some(INTERFACE) {
            return Ok(self);
        }
        Err(EngineSourceError::OtherInterface { folder: self.root, theirs: self.interface, ours: INTERFACE })
    }

    /// Returns the folder of the workspace.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the workspace's manifest: that of the systems that come with Simutant.
    pub fn manifest(&self) -> PathBuf {
        self.root.join("Cargo.toml")
    }

    /// Returns the package that drives an instrumented system: its name and folder.
    pub fn worker(&self) -> (&'static str, &Path) {
        (WORKER, &self.worker)
    }

    /// Returns the folder of the package that instrumented code calls.
    pub fn probe(&self) -> &Path {
        &self.probe
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::files::{files, write};

    /// Returns a folder that has the carried files.
    fn unpacked() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("there is room");
        files().iter().for_each(|file| write(folder.path(), file).expect("there is room"));
        folder
    }

    fn root(engine: &Engine) -> PathBuf {
        engine.root().canonicalize().expect("it is there")
    }

    #[track_caller]
    fn check_found(variable: Option<&Path>, checkout: &Path, cache: &Path, expect: &Path) {
        let variable = variable.map(|path| path.as_os_str().to_owned());
        let engine = Engine::find(variable, checkout, &|| Ok(cache.to_owned())).expect("there is one");
        assert_eq!(root(&engine), expect.canonicalize().expect("it is there"));
        for folder in [engine.worker().1, engine.probe()] {
            assert!(folder.join("src/lib.rs").exists(), "{}", folder.display());
        }
    }

    #[test]
    fn the_checkout_comes_before_the_cache_and_the_variable_before_both() {
        let (cache, other) = (unpacked(), unpacked());
        let checkout = Path::new(CHECKOUT);
        check_found(None, checkout, cache.path(), checkout);
        check_found(Some(Path::new(OWN)), checkout, cache.path(), cache.path());
        check_found(Some(other.path()), checkout, cache.path(), other.path());
        check_found(None, Path::new("/nowhere"), cache.path(), cache.path());
    }

    #[test]
    fn a_checkout_that_the_command_cannot_use_counts_as_gone() {
        let (checkout, cache) = (unpacked(), unpacked());
        set_interface(checkout.path(), "interface = 999999");
        check_found(None, checkout.path(), cache.path(), cache.path());
        fs::remove_file(checkout.path().join("Cargo.toml")).expect("it is there");
        check_found(None, checkout.path(), cache.path(), cache.path());
    }

    fn set_interface(folder: &Path, with: &str) {
        let path = folder.join("campaign/protocol/Cargo.toml");
        let text = fs::read_to_string(&path).expect("it is there");
        let own = format!("interface = {INTERFACE}");
        assert!(text.contains(&own), "{text}");
        fs::write(path, text.replace(&own, with)).expect("it can be written");
    }

    #[test]
    fn an_engine_with_another_interface_is_refused() {
        let folder = unpacked();
        let check = |with: &str, expect: &str| {
            set_interface(folder.path(), with);
            let error = Engine::containing(&folder.path().join("sim-core")).and_then(Engine::check);
            let error = error.expect_err("it is another one").to_string();
            assert!(error.contains(expect) && error.contains("simutant init --vendor"), "{error}");
            fs::remove_dir_all(folder.path()).expect("it is ours");
            files().iter().for_each(|file| write(folder.path(), file).expect("there is room"));
        };
        check("interface = 999999", &format!("has interface 999999, and this command {INTERFACE}"));
        check("", "has interface none");
    }

    #[test]
    fn a_folder_without_a_worker_is_no_engine() {
        let folder = unpacked();
        let manifest = folder.path().join("Cargo.toml");
        let text = fs::read_to_string(&manifest).expect("it is there");
        fs::write(&manifest, text.replace(", \"campaign/worker\"", "")).expect("it can be written");
        let refused = |folder: &Path| Engine::containing(folder).expect_err("it is none").to_string();
        assert!(refused(folder.path()).contains("has no `simutant-worker`"), "{}", refused(folder.path()));
        assert!(refused(Path::new("/nowhere")).contains("/nowhere: there is no Cargo.toml"));
    }

    /// All that the packages need of each other is there, so that cargo resolves them without what was left out.
    #[test]
    fn the_carried_files_are_a_workspace() {
        let folder = unpacked();
        let metadata = MetadataCommand::new().manifest_path(folder.path().join("Cargo.toml")).exec();
        let metadata = metadata.expect("cargo can read it");
        let own: Vec<_> = metadata.packages.iter().filter(|package| package.source.is_none()).collect();
        assert_eq!(own.len(), metadata.workspace_packages().len());
        let systems = own.iter().filter(|package| package.metadata.get("simutant").is_some()).count();
        assert!(systems > 0, "the systems that come with Simutant are there");
        for package in &own {
            let target = package.targets.iter().find(|target| !target.src_path.exists());
            assert!(target.is_none(), "{}: {target:?}", package.name);
        }
    }
}
