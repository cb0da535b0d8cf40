//! Which module each file of a package holds, and under which conditions: `#[cfg(test)] mod tests;`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use syn::{Attribute, Expr, ExprLit, Item, ItemMod, Lit, Meta};

use crate::syntax::conditions::{Conditions, is_for_tests, left_out_by};
use crate::syntax::parts::{join, range_of};

/// A file that declarations of modules lead to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ModuleFile {
    /// The path of its module, from the crate's name on.
    pub(crate) module: String,
    /// What leaves the module out, if something does.
    pub(crate) left_out: Option<LeftOutModule>,
    /// The conditions around the module of which it is not known whether they hold, and for each what is to be said if
    /// it does not.
    pub(crate) conditions: Vec<(Meta, String)>,
}

/// Why a module is not compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeftOutModule {
    /// Says which condition it is.
    pub(crate) reason: String,
    /// Whether its functions count as left out: it is not there for tests, and it parses.
    pub(crate) counts: bool,
}

/// Returns the files that declarations of modules lead to from `root`; the paths of their modules begin with `name`,
/// the crate's. A file that is left out in one place and not in another one is compiled.
///
/// What a macro declares is not seen, so a file that no declaration leads to may be compiled, and is not here.
pub(crate) fn module_files(root: &Path, name: &str, conditions: &Conditions) -> BTreeMap<PathBuf, ModuleFile> {
    let mut walk = Walk { conditions, found: BTreeMap::new() };
    walk.file(root, root.parent().unwrap_or(root), ModuleFile { module: name.to_owned(), ..ModuleFile::default() });
    walk.found
}

struct Walk<'a> {
    conditions: &'a Conditions,
    found: BTreeMap<PathBuf, ModuleFile>,
}

impl Walk<'_> {
    /// Adds a file and those that its modules lead to; `folder` is where these are. A file that does not parse leads
    /// nowhere.
    fn file(&mut self, file: &Path, folder: &Path, module: ModuleFile) {
        if self.found.get(file).is_some_and(|found| found.left_out.is_none() || module.left_out.is_some()) {
            return;
        }
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let parsed = syn::parse_str::<syn::File>(&text);
        let found = self.found.entry(file.to_owned()).insert_entry(module.clone()).into_mut();
        let Ok(syntax) = parsed else {
            found.left_out.iter_mut().for_each(|left_out| left_out.counts = false);
            return;
        };
        let module = self.under(module, &syntax.attrs, &text);
        self.modules(&syntax.items, &text, file.parent().unwrap_or(folder), folder, &module);
    }

    /// Follows the modules among `items`; `beside` is where their `path` attributes begin.
    fn modules(&mut self, items: &[Item], text: &str, beside: &Path, folder: &Path, around: &ModuleFile) {
        for item in items {
            let Item::Mod(module) = item else { continue };
            let name = module.ident.to_string();
            let here = ModuleFile { module: join(&around.module, &name), ..around.clone() };
            let here = self.under(here, &module.attrs, text);
            let inner = folder.join(name.trim_start_matches("r#"));
            if let Some((_, items)) = &module.content {
                self.modules(items, text, &inner, &inner, &here);
            } else if let Some(file) = path_of(module) {
                let file = beside.join(file);
                let folder = file.parent().unwrap_or(folder).to_owned();
                self.file(&file, &folder, here);
            } else {
                let file = inner.with_extension("rs");
                let file = if file.is_file() { file } else { inner.join("mod.rs") };
                if file.is_file() {
                    self.file(&file, &inner, here);
                }
            }
        }
    }

    /// Returns a module with the conditions among its attributes.
    fn under(&self, mut module: ModuleFile, attributes: &[Attribute], text: &str) -> ModuleFile {
        for (attribute, condition) in self.conditions.doubtful(attributes) {
            let reason = left_out_by(&text[range_of(attribute)]);
            if self.conditions.holds(&condition).is_none() {
                module.conditions.push((condition, reason));
                continue;
            }
            let left_out = module.left_out.get_or_insert(LeftOutModule { reason, counts: true });
            left_out.counts &= !is_for_tests(&condition);
        }
        module
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
        let modules = module_files(&folder.path().join("lib.rs"), "toy", &Conditions::default());
        let left_out = modules.iter().filter(|(_, module)| module.left_out.is_some());
        let left_out: Vec<&Path> = left_out.filter_map(|(file, _)| file.strip_prefix(folder.path()).ok()).collect();
        let expect = ["a/tests/deep.rs", "a/tests/mod.rs", "b/c.rs", "tests.rs"];
        assert_eq!(left_out, expect.map(Path::new));
    }

    #[test]
    fn what_is_around_a_module_says_why_it_is_left_out() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (file, text) in [
            ("lib.rs", "#[cfg(all(test,\n unix))] mod a; #[cfg(not(test))] mod b; #[cfg(with_c)] mod c { mod d; }"),
            ("a.rs", "#[cfg(not(unix))] mod e; mod f;"),
            ("a/e.rs", ""),
            ("a/f.rs", ""),
            ("b.rs", "#![cfg(not(not(test)))] mod g;"),
            ("b/g.rs", ""),
            ("c/d.rs", ""),
        ] {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().expect("it has one")).expect("it can be written");
            std::fs::write(path, text).expect("it can be written");
        }
        let found = module_files(&folder.path().join("lib.rs"), "toy", &Conditions::default());
        let of = |file: &str| &found[&folder.path().join(file)];
        let for_tests = LeftOutModule { reason: "left out by `#[cfg(all(test, unix))]`".to_owned(), counts: false };
        assert_eq!(of("a/f.rs").left_out, Some(for_tests.clone()));
        assert_eq!(of("a/e.rs").left_out, Some(for_tests));
        assert_eq!(of("b.rs").left_out, None, "what its own text says is read with it");
        let left_out = LeftOutModule { reason: "left out by `#![cfg(not(not(test)))]`".to_owned(), counts: true };
        assert_eq!(of("b/g.rs").left_out, Some(left_out));
        let said: Vec<&str> = of("c/d.rs").conditions.iter().map(|(_, said)| said.as_str()).collect();
        assert_eq!((of("c/d.rs").left_out.as_ref(), said), (None, vec!["left out by `#[cfg(with_c)]`"]));
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
        let modules = module_files(&folder.path().join("lib.rs"), "toy", &Conditions::default());
        let compiled = modules.values().filter(|module| module.left_out.is_none());
        let found: Vec<&str> = compiled.map(|module| module.module.as_str()).collect();
        assert_eq!(found, ["toy::a::inner", "toy::a", "toy::b::d", "toy", "toy::renamed"]);
    }
}
