//! Circles of imports: a reader of one module in a circle has to read all of them, so a crate may have only small ones.
//!
//! A module imports another one by a `use` outside of tests. Re-exports are followed to the module that defines the
//! name. A re-export itself counts as an import only if the module's own code uses the name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, ensure};
use cargo_metadata::MetadataCommand;
use syn::visit::{self, Visit};
use syn::{Attribute, Ident, Item, ItemMod, ItemUse, Macro, UseTree, Visibility, parse_quote};

/// The most modules of a circle. What a larger one shares belongs to a module that imports none of it.
const MODULES_MAX: usize = 7;

/// The modules of a crate by their paths, each with what it imports and re-exports: the name there, the path in the
/// crate, and whether it is an import. A path that begins with another crate leads nowhere, and so stays in the module.
type Modules = BTreeMap<String, Vec<(String, String, bool)>>;

/// Fails if too many modules of a crate of the workspace import each other in a circle.
pub(crate) fn check() -> anyhow::Result<()> {
    let mut refused = Vec::new();
    for package in &MetadataCommand::new().no_deps().exec()?.packages {
        for target in &package.targets {
            let root = target.src_path.as_std_path();
            let mut modules = Modules::new();
            read_file(&mut modules, "crate", root, root.parent().context("a file is in a folder")?)?;
            refused.extend(large_circles(&modules).iter().map(|circle| format!("{}: {circle}", package.name)));
        }
    }
    ensure!(refused.is_empty(), "too many modules import each other in a circle:\n  {}", refused.join("\n  "));
    Ok(())
}

/// Adds the module of a file, and those below it, whose files are in the folder.
fn read_file(modules: &mut Modules, path: &str, file: &Path, folder: &Path) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let syntax = syn::parse_file(&text).with_context(|| format!("cannot parse {}", file.display()))?;
    read_module(modules, path, &syntax.items, folder)
}

fn read_module(modules: &mut Modules, path: &str, items: &[Item], folder: &Path) -> anyhow::Result<()> {
    let mut code = Code::default();
    items.iter().for_each(|item| code.visit_item(item));
    let mut names = Vec::new();
    for item in &code.uses {
        let is_private = matches!(item.vis, Visibility::Inherited);
        let is_import = |name: &String| is_private || code.mentioned.contains(name);
        names.extend(declared(path, &item.tree).into_iter().map(|(name, path)| (name.clone(), path, is_import(&name))));
    }
    modules.insert(path.to_owned(), names);
    for item in code.modules {
        let below = folder.join(item.ident.to_string());
        let (path, file) = (step(path, &item.ident), below.with_extension("rs"));
        match &item.content {
            Some((_, items)) => read_module(modules, &path, items, &below)?,
            // A `path` attribute leads to a file that is read where it belongs.
            None if file.is_file() => read_file(modules, &path, &file, &below)?,
            None => {}
        }
    }
    Ok(())
}

/// What is in a module outside of tests.
#[derive(Default)]
struct Code<'a> {
    modules: Vec<&'a ItemMod>,
    uses: Vec<&'a ItemUse>,
    /// The names that the module's own code begins paths with, and all names in macros.
    mentioned: BTreeSet<String>,
}

impl<'a> Visit<'a> for Code<'a> {
    fn visit_item_mod(&mut self, item: &'a ItemMod) {
        self.modules.extend((!is_for_tests(&item.attrs)).then_some(item));
    }

    fn visit_item_use(&mut self, item: &'a ItemUse) {
        self.uses.extend((!is_for_tests(&item.attrs)).then_some(item));
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        self.mentioned.extend(path.segments.first().map(|segment| segment.ident.to_string()));
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'a Macro) {
        let tokens = call.tokens.to_string();
        self.mentioned.extend(tokens.split(|part: char| !part.is_alphanumeric() && part != '_').map(str::to_owned));
    }
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.contains(&parse_quote!(#[cfg(test)]))
}

/// Returns the names that a `use` declares, or a part of it that goes on from a path, and where they lead.
fn declared(from: &str, tree: &UseTree) -> Vec<(String, String)> {
    match tree {
        UseTree::Path(tree) => declared(&step(from, &tree.ident), &tree.tree),
        UseTree::Group(group) => group.items.iter().flat_map(|tree| declared(from, tree)).collect(),
        UseTree::Name(name) => vec![(name.ident.to_string(), step(from, &name.ident))],
        UseTree::Rename(rename) => vec![(rename.rename.to_string(), step(from, &rename.ident))],
        UseTree::Glob(_) => vec![("*".to_owned(), from.to_owned())],
    }
}

/// Returns where one more part of a path leads to.
fn step(from: &str, part: &Ident) -> String {
    match part.to_string().as_str() {
        "crate" => "crate".to_owned(),
        "super" => from.rsplit_once("::").map_or(from, |(above, _)| above).to_owned(),
        "self" => from.to_owned(),
        name => format!("{from}::{name}"),
    }
}

/// Returns the module that defines what is at a path.
fn defining(modules: &Modules, path: &str) -> String {
    let (mut found, mut path) = (path.to_owned(), path.to_owned());
    // Two modules can import all of each other, so that this may not end by itself.
    for _ in 0..modules.len() {
        found.clone_from(&path);
        while !modules.contains_key(&found) {
            found.truncate(found.rfind("::").expect("a crate has a root"));
        }
        let Some(name) = path[found.len()..].split("::").nth(1) else { break };
        let Some((_, further, _)) = modules[&found].iter().find(|(other, ..)| other == name) else { break };
        path = format!("{further}{}", &path[found.len() + "::".len() + name.len()..]);
    }
    found
}

/// Returns the modules that a module imports.
fn imported(modules: &Modules, module: &str) -> BTreeSet<String> {
    modules[module].iter().filter(|(.., is_import)| *is_import).map(|(_, path, _)| defining(modules, path)).collect()
}

/// Returns the circles that are too large, each as a list of its modules.
fn large_circles(modules: &Modules) -> Vec<String> {
    let mut reached: BTreeMap<&String, BTreeSet<String>> =
        modules.keys().map(|module| (module, imported(modules, module))).collect();
    // Warshall's algorithm: what leads to a module leads to all that is reached from there.
    for via in modules.keys() {
        let further = reached[via].clone();
        let before = reached.values_mut().filter(|reached| reached.contains(via));
        before.for_each(|reached| reached.extend(further.iter().cloned()));
    }
    let circle = |module| reached[module].iter().filter(|other| reached[other].contains(module)).cloned().collect();
    let circles: BTreeSet<Vec<String>> = modules.keys().map(circle).collect();
    circles.iter().filter(|circle| circle.len() > MODULES_MAX).map(|circle| circle.join(", ")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modules(text: &str) -> Modules {
        let mut modules = Modules::new();
        let syntax = syn::parse_file(text).expect("it parses");
        read_module(&mut modules, "crate", &syntax.items, Path::new("")).expect("no file is read");
        modules
    }

    /// Modules `m0`, `m1` and so on that import each other in a circle: the last one the first by `last`.
    fn circle(count: usize, last: &str) -> Vec<String> {
        let module = |number: usize| format!("mod m{number} {{ use super::m{}::Next; }}\n", number + 1);
        let text: String = (0..count - 1).map(module).collect();
        large_circles(&modules(&format!("{text} mod m{} {{ {last} }}", count - 1)))
    }

    #[test]
    fn a_circle_of_eight_is_refused() {
        let all = "crate::m0, crate::m1, crate::m2, crate::m3, crate::m4, crate::m5, crate::m6, crate::m7";
        assert_eq!(circle(8, "use crate::m0::Next;"), [all]);
        assert_eq!(circle(8, "fn f() { use crate::m0::Next; }"), [all]);
        assert_eq!(circle(8, "mod tests { use crate::m0::Next; }"), [""; 0], "it is another module");
        assert_eq!(circle(8, "struct NoImport;"), [""; 0]);
        assert_eq!(circle(7, "use crate::m0::Next;"), [""; 0]);
    }

    #[test]
    fn tests_import_what_they_like() {
        assert_eq!(circle(8, "#[cfg(test)] use crate::m0::Next;"), [""; 0]);
        assert_eq!(circle(8, "#[cfg(test)] mod tests { use crate::m0::Next; } use self::tests::Next;"), [""; 0]);
    }

    /// Checks what module `a` imports; itself stands for what is in other crates, too.
    #[track_caller]
    fn check_imported(text: &str, expect: &[&str]) {
        let others = ["mod b { pub struct B; pub mod c { pub struct C; } }", "mod d { pub struct D; }"].concat();
        let mut found = imported(&modules(&format!("{others} {text}")), "crate::a");
        found.remove("crate::a");
        assert!(found.iter().eq(expect), "{found:?}");
    }

    #[test]
    fn braces_and_other_names_are_followed() {
        check_imported(
            "mod a { use crate::{b::{self, B, c::C as E}, d::*}; }",
            &["crate::b", "crate::b::c", "crate::d"],
        );
        check_imported("mod a { use super::d::D; use std::fmt; use fmt::fmt; }", &["crate::d"]);
    }

    #[test]
    fn what_is_re_exported_is_imported_from_where_it_is_defined() {
        check_imported("pub use b::B; pub use d::D as E; mod a { use crate::{B, E}; }", &["crate::b", "crate::d"]);
        check_imported("mod e { pub use super::b::c; } mod a { use crate::e::c::C; }", &["crate::b::c"]);
        // Nothing defines this one.
        check_imported("pub use crate::e::A; mod e { pub use crate::A; } mod a { use crate::A; }", &["crate::e"]);
    }

    #[test]
    fn a_re_export_is_an_import_if_the_module_uses_the_name() {
        check_imported("mod a { pub use crate::b::B; }", &[]);
        check_imported("mod a { pub use crate::b::B; fn f(_: B) {} }", &["crate::b"]);
        check_imported("mod a { pub use crate::b::B; fn f() { vec![B] } }", &["crate::b"]);
    }
}
