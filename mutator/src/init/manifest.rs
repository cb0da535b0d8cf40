//! A system more in a manifest, whose comments and order stay.

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value};

/// How a package depends on another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dependency {
    Missing,
    There,
    /// It is there with its feature `derive`.
    Derives,
}

/// What a manifest is to have.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    /// The system's name.
    pub(super) system: &'a str,
    /// The path of the type that implements `System`.
    pub(super) type_path: String,
    /// The specification file.
    pub(super) specification: String,
    /// The packages of the engine that are missing, with their folders.
    pub(super) packages: Vec<(&'static str, String)>,
    /// How it depends on serde.
    pub(super) serde: Dependency,
}

/// Returns a manifest's text with a system, and what was added to it; nothing if the system is there already.
pub(super) fn with_system(text: &str, entry: &Entry<'_>) -> Result<Option<(String, Vec<String>)>, String> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    let mut added = Vec::new();
    let mut systems: &mut dyn TableLike = document.as_table_mut();
    for key in ["package", "metadata", "simutant", "systems"] {
        systems = child(systems, key)?;
    }
    if systems.contains_key(entry.system) {
        return Ok(None);
    }
    let mut section = Table::new();
    section.insert("type", entry.type_path.clone().into());
    section.insert("specification", Array::from_iter([&entry.specification]).into());
    systems.insert(entry.system, Item::Table(section));
    added.push(format!("[package.metadata.simutant.systems.{}]", entry.system));

    for (name, folder) in &entry.packages {
        let mut package = InlineTable::new();
        package.insert("path", folder.clone().into());
        dependencies(&mut document)?.insert(name, value(package));
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
    Ok(Some((document.to_string(), added)))
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
            specification: "src/store/protocol.rs".into(),
            packages: if has_engine { Vec::new() } else { vec![("simutant-sim-core", "/engine".into())] },
            serde,
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
