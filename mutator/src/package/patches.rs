//! `[patch]` and `[replace]` of the generated workspace.

use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::Member;

/// Returns the sections `patch` and `replace` of a workspace's manifest with absolute paths, and with copies put in the
/// place of packages: `copies` are packages from elsewhere, each with its folder and the sources that it is put in the
/// place of, `copy_of` tells where the copy of a local package is.
pub(super) fn patches(
    manifest: &Table,
    root: &Path,
    copies: &[(&Member, &PathBuf, &[String])],
    copy_of: &dyn Fn(&Path) -> Option<PathBuf>,
) -> Table {
    let mut result = Table::new();
    for name in ["patch", "replace"] {
        if let Some(Value::Table(section)) = manifest.get(name) {
            let mut section = section.clone();
            make_absolute(&mut section, root, copy_of);
            result.insert(name.into(), section.into());
        }
    }
    if copies.is_empty() {
        return result;
    }
    let section = result.entry("patch").or_insert_with(|| Table::new().into());
    let Value::Table(section) = section else { return result };
    for entries in section.iter_mut().filter_map(|(_, entries)| entries.as_table_mut()) {
        entries.retain(|key, entry| !copies.iter().any(|(member, ..)| is_patched_to(key, entry, member)));
    }
    for (number, (member, folder, sources)) in copies.iter().enumerate() {
        for source in *sources {
            let entries = section.entry(source.clone()).or_insert_with(|| Table::new().into());
            let Value::Table(entries) = entries else { continue };
            let mut entry = Table::new();
            entry.insert("package".into(), member.metadata.name.to_string().into());
            entry.insert("path".into(), folder.display().to_string().into());
            entries.insert(format!("simutant-copy-{number}"), entry.into());
        }
    }
    result
}

/// Whether an entry of `[patch]` is where a package that is no local one comes from: its copy takes its place.
fn is_patched_to(key: &str, entry: &Value, member: &Member) -> bool {
    let text = |field| entry.get(field).and_then(Value::as_str);
    let Some(source) = &member.metadata.source else { return false };
    let is_its_name = text("package").unwrap_or(key) == member.metadata.name.as_str();
    let is_its_source = match text("git") {
        Some(address) => source.repr.strip_prefix("git+").is_some_and(|source| source.starts_with(address)),
        None => text("path").is_none() && !source.repr.starts_with("git+"),
    };
    is_its_name && is_its_source
}

fn make_absolute(table: &mut Table, root: &Path, copy_of: &dyn Fn(&Path) -> Option<PathBuf>) {
    for (key, value) in table.iter_mut() {
        match value {
            Value::Table(inner) => make_absolute(inner, root, copy_of),
            Value::String(path) if key == "path" => {
                let original = root.join(&*path);
                *path = copy_of(&original).unwrap_or(original).display().to_string();
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(manifest: &str, expect: &str) {
        let manifest: Table = toml::from_str(manifest).expect("the test's own manifest");
        let copy_of = |original: &Path| (original == Path::new("/w/copied")).then(|| "/copy".into());
        let patches = patches(&manifest, Path::new("/w"), &[], &copy_of);
        assert_eq!(patches, toml::from_str(expect).expect("the test's own manifest"));
    }

    #[test]
    fn paths_are_absolute_and_lead_to_copies() {
        check(
            "[patch.crates-io]\na = { path = \"a\" }\nb = { path = \"copied\" }\nc = { git = \"https://example.org/c\" }",
            "[patch.crates-io]\na = { path = \"/w/a\" }\nb = { path = \"/copy\" }\nc = { git = \"https://example.org/c\" }",
        );
        check("[replace]\n\"a:1.0.0\" = { path = \"/a\" }", "[replace]\n\"a:1.0.0\" = { path = \"/a\" }");
    }

    #[test]
    fn without_such_sections_there_are_none() {
        check("[package]\nname = \"a\"\n[dependencies]\nb = { path = \"b\" }", "");
    }
}
