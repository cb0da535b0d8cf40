//! Which files of a library are not compiled, since the modules that they hold are under conditions that do not hold:
//! `#[cfg(test)] mod tests;`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use syn::{Expr, ExprLit, Item, ItemMod, Lit, Meta};

use crate::syntax::conditions::Conditions;

/// Returns the files that declarations of modules lead to from `library`, but none that is certainly compiled.
///
/// What a macro declares is not seen, so a file that no declaration leads to may be compiled, and is not here.
pub(super) fn left_out(library: &Path, conditions: &Conditions) -> BTreeSet<PathBuf> {
    let mut all = BTreeSet::new();
    walk(library, library.parent().unwrap_or(library), None, &mut all);
    let mut compiled = BTreeSet::new();
    walk(library, library.parent().unwrap_or(library), Some(conditions), &mut compiled);
    all.difference(&compiled).cloned().collect()
}

/// Adds a file and those that its modules lead to; `folder` is where these are. A file that does not parse leads
/// nowhere.
fn walk(file: &Path, folder: &Path, conditions: Option<&Conditions>, found: &mut BTreeSet<PathBuf>) {
    if !found.insert(file.to_owned()) {
        return;
    }
    let Ok(text) = std::fs::read_to_string(file) else { return };
    let Ok(mut syntax) = syn::parse_str::<syn::File>(&text) else { return };
    conditions.inspect(|conditions| conditions.strip(&mut syntax));
    modules(&syntax.items, file.parent().unwrap_or(folder), folder, conditions, found);
}

/// Follows the modules among `items`; `beside` is where their `path` attributes begin.
fn modules(
    items: &[Item],
    beside: &Path,
    folder: &Path,
    conditions: Option<&Conditions>,
    found: &mut BTreeSet<PathBuf>,
) {
    for item in items {
        let Item::Mod(module) = item else { continue };
        let name = module.ident.to_string();
        let inner = folder.join(name.trim_start_matches("r#"));
        if let Some((_, items)) = &module.content {
            modules(items, &inner, &inner, conditions, found);
        } else if let Some(path) = path_of(module) {
            let file = beside.join(path);
            let folder = file.parent().unwrap_or(folder).to_owned();
            walk(&file, &folder, conditions, found);
        } else {
            let file = inner.with_extension("rs");
            let file = if file.is_file() { file } else { inner.join("mod.rs") };
            if file.is_file() {
                walk(&file, &inner, conditions, found);
            }
        }
    }
}

/// Returns the path that an attribute gives a module.
fn path_of(module: &ItemMod) -> Option<String> {
    module.attrs.iter().find_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(path), .. }) => Some(path.value()),
            _ => None,
        },
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_modules_that_are_not_compiled_are_left_out() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (file, text) in [
            ("lib.rs", "mod a; #[cfg(test)] mod tests; mod b { #[cfg(test)] mod c; mod d; } #[cfg(test)] mod shared;"),
            ("a.rs", "#[cfg(all(test, unix))] mod tests; #[path = \"shared.rs\"] mod shared;"),
            ("a/tests/mod.rs", "mod deep; fn f() {}"),
            ("a/tests/deep.rs", ""),
            ("tests.rs", "fn {"),
            ("b/c.rs", ""),
            ("b/d.rs", ""),
            ("shared.rs", ""),
            ("unknown.rs", ""),
        ] {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().expect("it has one")).expect("it can be written");
            std::fs::write(path, text).expect("it can be written");
        }
        let left_out = left_out(&folder.path().join("lib.rs"), &Conditions::default());
        let left_out: Vec<&Path> = left_out.iter().filter_map(|file| file.strip_prefix(folder.path()).ok()).collect();
        let expect = ["a/tests/deep.rs", "a/tests/mod.rs", "b/c.rs", "tests.rs"];
        assert_eq!(left_out, expect.map(Path::new));
    }
}
