//! Packs the engine's source: the packages that the builds of a study need, with a workspace manifest of their own.
//!
//! Which packages and files these are follows from the manifests. The program gets each file as it is, but for the
//! manifests, which lose what only developers of Simutant need.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Component, Path, PathBuf};

use toml::{Table, Value};

/// The section of a manifest's `package.metadata` that makes a package a part of the engine's source. `root = true` says
/// that builds name the package, or that users depend on it: the worker and its probes, the engine, what systems and
/// programs with testbeds are made of. Others come along because these depend on them, and so do packages with systems.
const SECTION: &str = "simutant-engine";

/// The package whose manifest numbers the interface between the command and the engine's source.
const PROTOCOL: &str = "simutant-protocol";

/// The file with the judgements on mutants, unless a manifest names another one.
const JUDGEMENTS: &str = "simutant-judgements.toml";

/// Files of the workspace's folder that go with the source.
const BESIDE: [&str; 4] = ["Cargo.lock", "LICENSE-APACHE", "LICENSE-MIT", "rustfmt.toml"];

/// Sections of a package's manifest that its dependents do not need.
const LEFT_OUT: [&str; 5] = ["dev-dependencies", "example", "test", "bench", "badges"];

fn main() {
    let own = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let out = PathBuf::from(variable("OUT_DIR"));
    let root = own.parent().expect("the package is in the workspace");
    let workspace = Workspace::read(root);
    let packages = workspace.closure();

    let mut files = BTreeMap::new();
    let mut used = BTreeSet::new();
    for package in &packages {
        let member = &workspace.members[package];
        used.extend(member.dependencies().filter(|(_, value)| is_inherited(value)).map(|(name, _)| name.clone()));
        let folder = root.join(&member.folder);
        for path in member.sources(&folder) {
            files.insert(relative(root, &path), path);
        }
        watch(&folder.join("src"));
        watch(&folder.join("Cargo.toml"));
        let manifest = out.join(format!("{package}.toml"));
        write(&manifest, &member.packed().to_string());
        files.insert(format!("{}/Cargo.toml", member.folder), manifest);
    }
    let manifest = out.join("workspace.toml");
    let folders = packages.iter().map(|package| workspace.members[package].folder.as_str());
    write(&manifest, &workspace.packed(folders, &used).to_string());
    files.insert("Cargo.toml".to_owned(), manifest);
    for name in BESIDE {
        watch(&root.join(name));
        files.insert(name.to_owned(), root.join(name));
    }
    watch(&root.join("Cargo.toml"));

    let mut generated =
        String::from("/// The files in order of their paths.\npub(super) const FILES: &[BundledFile] = &[\n");
    for (path, from) in files {
        writeln!(generated, "    BundledFile {{ path: {path:?}, bytes: include_bytes!({from:?}) }},")
            .expect("text can be written to");
    }
    let interface = workspace.members[PROTOCOL].interface();
    write!(
        generated,
        "];\n\n/// The number that the manifest of `{PROTOCOL}` has.\npub const INTERFACE: u32 = {interface};\n"
    )
    .expect("text can be written to");
    write(&out.join("files.rs"), &generated);
}

/// Simutant's workspace.
struct Workspace {
    manifest: Table,
    members: BTreeMap<String, Member>,
}

/// A package of the workspace.
struct Member {
    /// The folder from the workspace's, with `/`.
    folder: String,
    manifest: Table,
}

impl Workspace {
    fn read(root: &Path) -> Self {
        let manifest = read_manifest(&root.join("Cargo.toml"));
        let folders = manifest["workspace"]["members"].as_array().expect("a workspace lists its members");
        let folders = folders.iter().flat_map(|folder| expanded(root, folder.as_str().expect("members are folders")));
        let member = |folder: String| {
            let manifest = read_manifest(&root.join(&folder).join("Cargo.toml"));
            (
                manifest["package"]["name"].as_str().expect("a package has a name").to_owned(),
                Member { folder, manifest },
            )
        };
        let members = folders.map(member).collect();
        Self { manifest, members }
    }

    /// Returns the packages that builds need: the roots, those with systems, and all that these depend on.
    fn closure(&self) -> BTreeSet<String> {
        let is_wanted = |member: &Member| member.is_root() || member.has_systems();
        let wanted = self.members.iter().filter(|(_, member)| is_wanted(member));
        let mut open: Vec<String> = wanted.map(|(name, _)| name.clone()).collect();
        let mut found = BTreeSet::new();
        while let Some(name) = open.pop() {
            let member = self.members.get(&name).unwrap_or_else(|| panic!("no package `{name}` in the workspace"));
            let local = member.dependencies().filter_map(|(key, value)| self.package_of(key, value));
            let local: Vec<String> = local.collect();
            assert!(
                member.has_systems() || member.engine_section().is_some(),
                "`{name}` is in the engine's source, so its manifest needs a section package.metadata.{SECTION}"
            );
            if found.insert(name) {
                open.extend(local);
            }
        }
        found
    }

    /// Returns the package of the workspace that a dependency stands for, if it is one.
    fn package_of(&self, key: &str, dependency: &Value) -> Option<String> {
        let name = dependency.get("package").and_then(Value::as_str).unwrap_or(key);
        let is_local = dependency.get("path").is_some() || is_inherited(dependency);
        (is_local && self.members.contains_key(name)).then(|| name.to_owned())
    }

    /// Returns the manifest of a workspace with the packages in `folders`, which inherit the dependencies in `used`.
    fn packed<'a>(&self, folders: impl Iterator<Item = &'a str>, used: &BTreeSet<String>) -> Table {
        let mut workspace = self.manifest["workspace"].as_table().expect("it is a section").clone();
        workspace.retain(|key, _| ["resolver", "package", "lints"].contains(&key));
        workspace.insert("members".into(), folders.map(Value::from).collect::<Vec<_>>().into());
        let mut dependencies = self.manifest["workspace"]["dependencies"].as_table().expect("it is a section").clone();
        dependencies.retain(|name, _| used.contains(name));
        workspace.insert("dependencies".into(), dependencies.into());
        let version = workspace["package"]["version"].clone();
        let mark = Table::from_iter([("version".to_owned(), version)]);
        let metadata = Table::from_iter([("simutant-engine".to_owned(), mark.into())]);
        workspace.insert("metadata".into(), metadata.into());
        let mut manifest = Table::from_iter([("workspace".to_owned(), workspace.into())]);
        manifest.extend(self.manifest.get("profile").map(|profile| ("profile".to_owned(), profile.clone())));
        manifest
    }
}

/// Returns the folders of members that an entry of the workspace's manifest means: one, or those in the place of a `*`.
fn expanded(root: &Path, entry: &str) -> Vec<String> {
    let Some((above, below)) = entry.split_once('*') else { return vec![entry.to_owned()] };
    let names = std::fs::read_dir(root.join(above)).expect("the folder of the members is there");
    let names = names.map(|name| name.expect("it can be read").file_name().into_string().expect("it is UTF-8"));
    let folders = names.map(|name| format!("{above}{name}{below}"));
    folders.filter(|folder| root.join(folder).join("Cargo.toml").exists()).collect()
}

impl Member {
    /// Returns the section of the manifest that is about systems, if there are any.
    fn simutant_section(&self) -> Option<&Value> {
        let section = self.manifest.get("package")?.get("metadata")?.get("simutant")?;
        section.get("systems").is_some().then_some(section)
    }

    fn has_systems(&self) -> bool {
        self.simutant_section().is_some()
    }

    /// Returns the files with the figures of earlier experiments that the systems name, from the package's folder.
    fn references(&self) -> impl Iterator<Item = &str> {
        let systems = || self.simutant_section()?.get("systems")?.as_table();
        systems().into_iter().flat_map(Table::values).filter_map(|system| system.get("reference")?.as_str())
    }

    /// Returns the file with the judgements on the systems' mutants, from the package's folder. It need not be there.
    fn judgements(&self) -> Option<&str> {
        let named = self.simutant_section()?.get("judgements").and_then(Value::as_str);
        Some(named.unwrap_or(JUDGEMENTS))
    }

    fn engine_section(&self) -> Option<&Value> {
        self.manifest.get("package")?.get("metadata")?.get(SECTION)
    }

    fn is_root(&self) -> bool {
        let root = || self.engine_section()?.get("root")?.as_bool();
        root().unwrap_or_default()
    }

    fn interface(&self) -> i64 {
        let number = || self.engine_section()?.get("interface")?.as_integer();
        number().expect("the manifest has package.metadata.simutant-engine.interface")
    }

    /// Returns what the package depends on, but for tests: names in the code, and entries.
    fn dependencies(&self) -> impl Iterator<Item = (&String, &Value)> {
        let platforms = self.manifest.get("target").and_then(Value::as_table);
        let tables = std::iter::once(&self.manifest)
            .chain(platforms.into_iter().flat_map(|platforms| platforms.values().filter_map(Value::as_table)));
        tables
            .flat_map(|table| ["dependencies", "build-dependencies"].map(|section| table.get(section)))
            .flatten()
            .filter_map(Value::as_table)
            .flatten()
    }

    /// Returns the manifest without what dependents do not need.
    fn packed(&self) -> Table {
        let mut manifest = self.manifest.clone();
        for section in LEFT_OUT {
            manifest.remove(section);
        }
        for platform in manifest.get_mut("target").and_then(Value::as_table_mut).into_iter().flatten() {
            platform.1.as_table_mut().map(|platform| platform.remove("dev-dependencies"));
        }
        let package = manifest["package"].as_table_mut().expect("it is a section");
        for kind in ["autoexamples", "autotests", "autobenches"] {
            package.insert(kind.into(), false.into());
        }
        manifest
    }

    /// Returns the files of the package: its source, a build script, what its systems name, and what the source
    /// includes from elsewhere in the package.
    fn sources(&self, folder: &Path) -> BTreeSet<PathBuf> {
        let mut files = BTreeSet::new();
        add_files(&folder.join("src"), &mut files);
        files.extend(Some(folder.join("build.rs")).filter(|script| script.exists()));
        files.extend(self.references().map(|path| folder.join(path)));
        if let Some(judgements) = self.judgements().map(|path| folder.join(path)).filter(|path| path.exists()) {
            watch(&judgements);
            files.insert(judgements);
        }
        let included: Vec<PathBuf> = files.iter().flat_map(|file| included(file)).collect();
        included.iter().for_each(|file| watch(file));
        files.extend(included);
        files
    }
}

/// Returns the files that a source file has as texts or bytes, as far as they are there.
fn included(file: &Path) -> Vec<PathBuf> {
    let Ok(text) = std::fs::read_to_string(file) else { return Vec::new() };
    let folder = file.parent().expect("a file is in a folder");
    let named = ["include_str!(\"", "include_bytes!(\""].into_iter().flat_map(|call| text.split(call).skip(1));
    let paths = named.filter_map(|rest| Some(normalised(&folder.join(rest.split_once('"')?.0))));
    paths.filter(|path| path.is_file()).collect()
}

fn add_files(folder: &Path, files: &mut BTreeSet<PathBuf>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("cannot list {}: {error}", folder.display()));
    for entry in entries {
        let path = entry.expect("a folder can be listed").path();
        let is_hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if is_hidden {
            continue;
        }
        if path.is_dir() {
            add_files(&path, files);
        } else {
            files.insert(path);
        }
    }
}

/// Whether a dependency is one of the workspace's.
fn is_inherited(dependency: &Value) -> bool {
    dependency.get("workspace").and_then(Value::as_bool) == Some(true)
}

/// Returns a path without the folders that it leaves again.
fn normalised(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => _ = result.pop(),
            component => result.push(component),
        }
    }
    result
}

/// Returns a path from the workspace's folder, with `/`.
fn relative(root: &Path, path: &Path) -> String {
    let path = path.strip_prefix(root).expect("packages are in the workspace");
    path.components().map(|part| part.as_os_str().to_str().expect("names are text")).collect::<Vec<_>>().join("/")
}

fn read_manifest(path: &Path) -> Table {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
}

fn watch(path: &Path) {
    println!("cargo::rerun-if-changed={}", path.display());
}

fn variable(name: &str) -> String {
    std::env::var(name).expect("cargo sets it")
}
