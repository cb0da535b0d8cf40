//! A system more in a manifest, whose comments and order stay.

use std::collections::BTreeMap;

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value};

/// How a package depends on another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dependency {
    Missing,
    There,
    /// It is there with its feature `derive`.
    Derives,
}

/// The packages of the engine that are missing, with their folders.
#[derive(Debug, Default)]
pub(super) struct EnginePackages {
    /// Those that the library depends on.
    pub(super) library: Vec<(&'static str, String)>,
    /// Those that examples depend on.
    pub(super) examples: Vec<(&'static str, String)>,
}

/// What a manifest is to have.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    /// The system's name.
    pub(super) system: &'a str,
    /// The path of the type that implements `System`, or `HttpService`.
    pub(super) type_path: String,
    /// The specification file of a system; `None` if it is an HTTP service.
    pub(super) specification: Option<String>,
    /// The example that is its testbed.
    pub(super) testbed: Option<String>,
    /// The path of the function that returns its net, and the arguments of it.
    pub(super) net: Option<(String, &'static [i64])>,
    /// The packages of the engine that are missing.
    pub(super) packages: EnginePackages,
    /// How it depends on serde.
    pub(super) serde: Dependency,
    /// Whether it depends on serde_json.
    pub(super) has_json: bool,
}

/// The kind of what a section is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    System,
    Http,
}

impl Kind {
    /// Returns the section that those of the kind are in.
    pub(super) const fn section(self) -> &'static str {
        match self {
            Self::System => "systems",
            Self::Http => "http",
        }
    }
}

impl Entry<'_> {
    pub(super) const fn kind(&self) -> Kind {
        if self.specification.is_some() { Kind::System } else { Kind::Http }
    }
}

/// Returns a manifest's text with a system, and what was added to it; nothing if the system is there already.
pub(super) fn with_system(text: &str, entry: &Entry<'_>) -> Result<Option<(String, Vec<String>)>, String> {
    let mut document = parse(text)?;
    let mut added = Vec::new();
    let kind = entry.kind().section();
    let mut systems: &mut dyn TableLike = document.as_table_mut();
    for key in ["package", "metadata", "simutant", kind] {
        systems = child(systems, key)?;
    }
    if systems.contains_key(entry.system) {
        return Ok(None);
    }
    let mut section = Table::new();
    section.insert("type", entry.type_path.clone().into());
    if let Some(specification) = &entry.specification {
        section.insert("specification", Array::from_iter([specification]).into());
    }
    if let Some(example) = &entry.testbed {
        section.insert("testbed", value(InlineTable::from_iter([("example", example.as_str())])));
    }
    systems.insert(entry.system, Item::Table(section));
    added.push(format!("[package.metadata.simutant.{kind}.{}]", entry.system));

    if let Some((function, arguments)) = &entry.net {
        let mut nets: &mut dyn TableLike = document.as_table_mut();
        for key in ["package", "metadata", "simutant", "nets"] {
            nets = child(nets, key)?;
        }
        let mut section = Table::new();
        section.insert("net", function.clone().into());
        section.insert("arguments", Array::from_iter(arguments.iter().copied()).into());
        nets.insert(entry.system, Item::Table(section));
        added.push(format!("[package.metadata.simutant.nets.{}]", entry.system));
    }
    for (name, folder) in &entry.packages.library {
        dependencies(&mut document)?.insert(name, value(InlineTable::from_iter([("path", folder.as_str())])));
        added.push(format!("dependency {name}"));
    }
    match entry.serde {
        Dependency::Derives => {}
        Dependency::Missing => {
            let mut serde = InlineTable::new();
            serde.insert("version", "1".into());
            serde.insert("features", Array::from_iter(["derive"]).into());
            dependencies(&mut document)?.insert("serde", value(serde));
            added.push("dependency serde".into());
        }
        Dependency::There => {
            let serde = dependencies(&mut document)?.get_mut("serde").ok_or("the dependency `serde` is not there")?;
            add_derive(serde)?;
            added.push("feature `derive` of the dependency serde".into());
        }
    }
    for (name, folder) in &entry.packages.examples {
        let examples = child(document.as_table_mut(), "dev-dependencies")?;
        examples.insert(name, value(InlineTable::from_iter([("path", folder.as_str())])));
        added.push(format!("dev-dependency {name}"));
    }
    if entry.testbed.is_some() && !entry.has_json {
        child(document.as_table_mut(), "dev-dependencies")?.insert("serde_json", Item::Value("1".into()));
        added.push("dev-dependency serde_json".into());
    }
    Ok(Some((document.to_string(), added)))
}

/// Where a dependency comes from, if not from a folder.
const ORIGINS: [&str; 7] = ["version", "git", "branch", "tag", "rev", "registry", "registry-index"];

/// Returns a manifest's text in which the packages of `paths` are taken from there, and what was changed; nothing if
/// it depends on none of them, or only as it should be.
pub(super) fn with_engine_at(
    text: &str,
    paths: &BTreeMap<&str, String>,
) -> Result<Option<(String, Vec<String>)>, String> {
    let mut document = parse(text)?;
    let mut changes = Vec::new();
    let root = document.as_table_mut();
    repoint_all(root, paths, &mut changes);
    if let Some(workspace) = root.get_mut("workspace").and_then(Item::as_table_like_mut) {
        repoint_all(workspace, paths, &mut changes);
    }
    let platforms = root.get_mut("target").and_then(Item::as_table_like_mut);
    for (_, platform) in platforms.into_iter().flat_map(|platforms| platforms.iter_mut()) {
        platform.as_table_like_mut().into_iter().for_each(|platform| repoint_all(platform, paths, &mut changes));
    }
    Ok((!changes.is_empty()).then(|| (document.to_string(), changes)))
}

fn repoint_all(table: &mut dyn TableLike, paths: &BTreeMap<&str, String>, changes: &mut Vec<String>) {
    for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
        let dependencies = table.get_mut(section).and_then(Item::as_table_like_mut);
        for (key, dependency) in dependencies.into_iter().flat_map(|dependencies| dependencies.iter_mut()) {
            let name = dependency.get("package").and_then(Item::as_str).unwrap_or(key.get());
            let Some(path) = paths.get(name) else { continue };
            if repoint(dependency, path) {
                changes.push(format!("path of the dependency {}", key.get()));
            }
        }
    }
}

/// Lets a dependency be taken from a folder, and returns whether it was not before.
fn repoint(dependency: &mut Item, path: &str) -> bool {
    if let Item::Value(plain @ Value::String(_)) = dependency {
        let mut table = InlineTable::new();
        table.insert("path", path.into());
        // What stood around the version, a comment for instance, stays.
        *table.decor_mut() = plain.decor().clone();
        *dependency = value(table);
        return true;
    }
    let Some(table) = dependency.as_table_like_mut() else { return false };
    let is_inherited = table.contains_key("workspace");
    if is_inherited || table.get("path").and_then(Item::as_str) == Some(path) {
        return false;
    }
    for key in ORIGINS {
        table.remove(key);
    }
    table.insert("path", path.into());
    true
}

/// Returns a manifest's text whose workspace has no packages in `folder`, and what was changed; nothing if it is no
/// workspace's, or is so already.
pub(super) fn with_excluded(text: &str, folder: &str) -> Result<Option<(String, Vec<String>)>, String> {
    let mut document = parse(text)?;
    let Some(workspace) = document.get_mut("workspace") else { return Ok(None) };
    let workspace = workspace.as_table_like_mut().ok_or("`workspace` is no table")?;
    let excluded = workspace.entry("exclude").or_insert_with(|| Item::Value(Array::new().into()));
    let excluded = excluded.as_array_mut().ok_or("`exclude` of the workspace is no list")?;
    if excluded.iter().any(|known| known.as_str() == Some(folder)) {
        return Ok(None);
    }
    excluded.push(folder);
    Ok(Some((document.to_string(), vec![format!("{folder} excluded from the workspace")])))
}

fn parse(text: &str) -> Result<DocumentMut, String> {
    text.parse().map_err(|error: toml_edit::TomlError| error.to_string())
}

fn value(table: InlineTable) -> Item {
    Item::Value(Value::InlineTable(table))
}

fn dependencies(document: &mut DocumentMut) -> Result<&mut dyn TableLike, String> {
    let table = child(document.as_table_mut(), "dependencies")?;
    Ok(table)
}

/// Returns a table in a table; a new one is written only where it has values of its own.
fn child<'t>(table: &'t mut dyn TableLike, key: &str) -> Result<&'t mut dyn TableLike, String> {
    let new = || {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    };
    table.entry(key).or_insert_with(new).as_table_like_mut().ok_or_else(|| format!("`{key}` is no table"))
}

/// Turns serde's feature on that derives.
fn add_derive(serde: &mut Item) -> Result<(), String> {
    if let Item::Value(plain @ Value::String(_)) = serde {
        let mut table = InlineTable::new();
        table.insert("version", plain.as_str().unwrap_or_default().into());
        table.insert("features", Array::from_iter(["derive"]).into());
        // What stood around the version, a comment for instance, stays.
        *table.decor_mut() = plain.decor().clone();
        *serde = value(table);
        return Ok(());
    }
    let table = serde.as_table_like_mut().ok_or("the dependency `serde` is neither a version nor a table")?;
    let features = table.entry("features").or_insert_with(|| Item::Value(Array::new().into()));
    features.as_array_mut().ok_or("the features of `serde` are no list")?.push("derive");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, has_engine: bool, serde: Dependency, expect: Option<&str>) {
        let entry = Entry {
            system: "store",
            type_path: "store::Store".into(),
            specification: Some("src/store/protocol.rs".into()),
            testbed: None,
            net: None,
            packages: EnginePackages {
                library: if has_engine { Vec::new() } else { vec![("simutant-sim-core", "/engine".into())] },
                examples: Vec::new(),
            },
            serde,
            has_json: false,
        };
        let result = with_system(text, &entry).expect("the test's own manifest");
        assert_eq!(result.as_ref().map(|(text, _)| text.as_str()), expect);
    }

    #[test]
    fn a_new_package_gets_a_section_and_dependencies() {
        check(
            "[package]\nname = \"a\"\nedition = \"2024\"\n\n[dependencies]\n",
            false,
            Dependency::Missing,
            Some(
                "[package]\nname = \"a\"\nedition = \"2024\"\n\n\
                 [package.metadata.simutant.systems.store]\n\
                 type = \"store::Store\"\nspecification = [\"src/store/protocol.rs\"]\n\n\
                 [dependencies]\nsimutant-sim-core = { path = \"/engine\" }\n\
                 serde = { version = \"1\", features = [\"derive\"] }\n",
            ),
        );
    }

    #[test]
    fn comments_and_order_stay() {
        check(
            "# mine\n[dependencies] # all\nserde = \"1.0.1\" # data\nb = \"2\"\n\n[package]\nname = \"a\" # short\n",
            true,
            Dependency::There,
            Some(
                "# mine\n[dependencies] # all\n\
                 serde = { version = \"1.0.1\", features = [\"derive\"] } # data\nb = \"2\"\n\n\
                 [package]\nname = \"a\" # short\n\n\
                 [package.metadata.simutant.systems.store]\n\
                 type = \"store::Store\"\nspecification = [\"src/store/protocol.rs\"]\n",
            ),
        );
    }

    #[test]
    fn serde_keeps_its_other_features() {
        let section = "\n[package.metadata.simutant.systems.store]\n\
                       type = \"store::Store\"\nspecification = [\"src/store/protocol.rs\"]\n";
        let forms = [
            ("serde = { workspace = true }", "serde = { workspace = true , features = [\"derive\"] }"),
            (
                "serde = { version = \"1\", features = [\"rc\"] }",
                "serde = { version = \"1\", features = [\"rc\", \"derive\"] }",
            ),
            ("serde.workspace = true", "serde.workspace = true\nserde.features = [\"derive\"]"),
        ];
        for (before, after) in forms {
            let package = "[package]\nname = \"a\"\n";
            check(
                &format!("{package}\n[dependencies]\n{before}\n"),
                true,
                Dependency::There,
                Some(&format!("{package}{section}\n[dependencies]\n{after}\n")),
            );
        }
    }

    #[test]
    fn a_dependency_on_an_engine_is_taken_from_the_copy() {
        let paths = BTreeMap::from([("engine", "third_party/e".to_owned()), ("harness", "third_party/h".to_owned())]);
        let check = |before: &str, expect: Option<(&str, &[&str])>| {
            let result = with_engine_at(before, &paths).expect("the test's own manifest");
            let changes = |names: &[&str]| names.iter().map(|name| format!("path of the dependency {name}")).collect();
            assert_eq!(result, expect.map(|(text, names)| (text.to_owned(), changes(names))));
        };
        check("[dependencies]\nother = { path = \"engine\" }\nengine.workspace = true\n", None);
        check("[dependencies]\nengine = { path = \"third_party/e\" }\n", None);
        check(
            "[dependencies]\nengine = { path = \"/cache/e\", features = [\"a\"] } # mine\nb = \"1\"\n",
            Some((
                "[dependencies]\nengine = { path = \"third_party/e\", features = [\"a\"] } # mine\nb = \"1\"\n",
                &["engine"],
            )),
        );
        check(
            "[dependencies]\nengine = \"1\" # theirs\n\n[dev-dependencies.harness]\ngit = \"https://example.org\"\nrev = \"0\"\n",
            Some((
                "[dependencies]\nengine = { path = \"third_party/e\" } # theirs\n\n[dev-dependencies.harness]\npath = \"third_party/h\"\n",
                &["engine", "harness"],
            )),
        );
        check(
            "[workspace.dependencies]\ne = { path = \"/e\", package = \"engine\" }\n\n[target.'cfg(unix)'.build-dependencies]\nharness.path = \"/h\"\n",
            Some((
                "[workspace.dependencies]\ne = { path = \"third_party/e\", package = \"engine\" }\n\n[target.'cfg(unix)'.build-dependencies]\nharness.path = \"third_party/h\"\n",
                &["e", "harness"],
            )),
        );
    }

    #[test]
    fn a_copy_is_excluded_from_the_workspace() {
        let check = |before: &str, expect: Option<&str>| {
            let result = with_excluded(before, "third_party/e").expect("the test's own manifest");
            assert_eq!(result.as_ref().map(|(text, _)| text.as_str()), expect);
        };
        check("[package]\nname = \"a\"\n", None);
        check("[workspace]\nexclude = [\"third_party/e\"]\n", None);
        check(
            "[workspace] # all\nmembers = [\"a\"]\n",
            Some("[workspace] # all\nmembers = [\"a\"]\nexclude = [\"third_party/e\"]\n"),
        );
        check(
            "[workspace]\nexclude = [\"b\"] # not b\n",
            Some("[workspace]\nexclude = [\"b\", \"third_party/e\"] # not b\n"),
        );
    }

    #[test]
    fn a_second_system_goes_beside_the_first_and_the_same_one_is_not_touched() {
        let other = "[package]\nname = \"a\"\n\n[package.metadata.simutant.systems.other]\ntype = \"Other\"\n";
        check(
            other,
            true,
            Dependency::Derives,
            Some(&format!(
                "{other}\n[package.metadata.simutant.systems.store]\n\
                 type = \"store::Store\"\nspecification = [\"src/store/protocol.rs\"]\n"
            )),
        );
        check("[package.metadata.simutant.systems]\nstore = { type = \"Store\" }\n", true, Dependency::Derives, None);
    }
}
