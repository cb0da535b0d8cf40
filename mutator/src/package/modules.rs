//! Which module each file of a package holds, and which files of a library are not compiled, since their modules are
//! under conditions that do not hold: `#[cfg(test)] mod tests;`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::{Expr, ExprLit, Item, ItemMod, Lit, Meta};

use crate::syntax::conditions::Conditions;
use crate::syntax::parts::join;

/// Returns the files that declarations of modules lead to from `library`, but none that is certainly compiled.
///
/// What a macro declares is not seen, so a file that no declaration leads to may be compiled, and is not here.
pub(super) fn left_out(library: &Path, conditions: &Conditions) -> BTreeSet<PathBuf> {
    let all = Walk::of(library, "", None).found;
    let compiled = Walk::of(library, "", Some(conditions)).found;
    all.into_keys().filter(|file| !compiled.contains_key(file)).collect()
}

/// Returns the files that declarations of modules lead to from `root`, with the modules that they hold: paths that
/// begin with `name`, the crate's.
pub(super) fn modules(root: &Path, name: &str, conditions: &Conditions) -> BTreeMap<PathBuf, String> {
    Walk::of(root, name, Some(conditions)).found
}

struct Walk<'a> {
    conditions: Option<&'a Conditions>,
    found: BTreeMap<PathBuf, String>,
}

impl<'a> Walk<'a> {
    fn of(root: &Path, name: &str, conditions: Option<&'a Conditions>) -> Self {
        let mut walk = Self { conditions, found: BTreeMap::new() };
        walk.file(root, root.parent().unwrap_or(root), name);
        walk
    }

    /// Adds a file and those that its modules lead to; `folder` is where these are. A file that does not parse leads
    /// nowhere.
    fn file(&mut self, file: &Path, folder: &Path, module: &str) {
        if self.found.contains_key(file) {
            return;
        }
        self.found.insert(file.to_owned(), module.to_owned());
        let Ok(text) = std::fs::read_to_string(file) else { return };
        let Ok(mut syntax) = syn::parse_str::<syn::File>(&text) else { return };
        self.conditions.inspect(|conditions| conditions.strip(&mut syntax));
        self.modules(&syntax.items, file.parent().unwrap_or(folder), folder, module);
    }

    /// Follows the modules among `items`; `beside` is where their `path` attributes begin.
    fn modules(&mut self, items: &[Item], beside: &Path, folder: &Path, around: &str) {
        for item in items {
            let Item::Mod(module) = item else { continue };
            let name = module.ident.to_string();
            let path = join(around, &name);
            let inner = folder.join(name.trim_start_matches("r#"));
            if let Some((_, items)) = &module.content {
                self.modules(items, &inner, &inner, &path);
            } else if let Some(file) = path_of(module) {
                let file = beside.join(file);
                let folder = file.parent().unwrap_or(folder).to_owned();
                self.file(&file, &folder, &path);
            } else {
                let file = inner.with_extension("rs");
                let file = if file.is_file() { file } else { inner.join("mod.rs") };
                if file.is_file() {
                    self.file(&file, &inner, &path);
                }
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
    #[test]
    fn a_file_holds_the_module_that_is_declared() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (file, text) in [
            ("lib.rs", "mod a; mod b { mod d; } #[path = \"shared.rs\"] mod renamed; #[cfg(test)] mod tests;"),
            ("a/mod.rs", "mod inner;"),
            ("a/inner.rs", ""),
            ("b/d.rs", ""),
            ("shared.rs", ""),
            ("tests.rs", ""),
        ] {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().expect("it has one")).expect("it can be written");
            std::fs::write(path, text).expect("it can be written");
        }
        let modules = modules(&folder.path().join("lib.rs"), "toy", &Conditions::default());
        let found: Vec<&str> = modules.values().map(String::as_str).collect();
        assert_eq!(found, ["toy::a::inner", "toy::a", "toy::b::d", "toy", "toy::renamed"]);
    }
}
