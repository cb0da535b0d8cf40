//! What a name means in a module: what the module declares, what it imports by name, and what it imports with a star.
//!
//! Paths begin with the name of their crate: `crate_name::module::Type`. Visibility is not looked at, since the source
//! compiles. A name from outside of the packages that are read has a path that begins with `::`.

use std::collections::{BTreeMap, BTreeSet};

use syn::{Block, Item, Stmt, UseTree};

use crate::syntax::parts::join;

/// The index of a module, or of an enum, whose variants are names, too.
pub(crate) type ModuleId = usize;

/// All modules of the packages that are read.
#[derive(Debug, Default)]
pub(crate) struct Modules {
    all: Vec<Module>,
    by_path: BTreeMap<String, ModuleId>,
    /// The paths of all that has a name, for names that no import explains.
    by_name: BTreeMap<String, BTreeSet<String>>,
}

#[derive(Debug)]
struct Module {
    path: String,
    is_enum: bool,
    scope: Imports,
}

/// The names of a module, or of the blocks of a function.
#[derive(Debug, Clone, Default)]
pub(crate) struct Imports {
    own: BTreeSet<String>,
    named: BTreeMap<String, Vec<Vec<String>>>,
    globs: Vec<Vec<String>>,
    /// Whether a macro may declare or import more.
    is_open: bool,
}

/// What a path leads to.
enum Found {
    /// Something that is declared here.
    Path(String),
    /// Something from elsewhere: the end of its path.
    Outside(Vec<String>),
    /// Something that comes through a macro, or through an import that leads elsewhere: what is left of the path.
    Unknown(Vec<String>),
    /// Nothing of this name.
    Nothing,
}

/// The names that are being followed, so that imports which lead to themselves end.
type Followed = Vec<(ModuleId, String)>;

impl Imports {
    /// Returns what the blocks of a function declare and import.
    pub(crate) fn of_body(body: &Block) -> Self {
        struct Finder(Imports);
        impl<'ast> syn::visit::Visit<'ast> for Finder {
            fn visit_block(&mut self, block: &'ast Block) {
                for statement in &block.stmts {
                    if let Stmt::Item(item) = statement {
                        self.0.add(item);
                    }
                }
                syn::visit::visit_block(self, block);
            }

            fn visit_item(&mut self, _: &'ast Item) {}
        }
        let mut finder = Finder(Self::default());
        syn::visit::Visit::visit_block(&mut finder, body);
        finder.0
    }

    /// Adds what an item declares or imports.
    fn add(&mut self, item: &Item) {
        match item {
            Item::Use(item) => self.import(&item.tree, &mut Vec::new()),
            Item::ExternCrate(item) => {
                let name = item.rename.as_ref().map_or(&item.ident, |(_, rename)| rename).to_string();
                self.named.entry(name).or_default().push(vec![item.ident.to_string()]);
            }
            Item::Macro(item) => self.is_open |= item.ident.is_none(),
            item => self.own.extend(declared_name(item)),
        }
    }

    fn import(&mut self, tree: &UseTree, path: &mut Vec<String>) {
        let mut name = |name: String, last: String| {
            let mut path = path.clone();
            // `use a::{self}` imports `a`.
            if last != "self" || path.is_empty() {
                path.push(last);
            }
            let name = if name == "self" { path.last().cloned().unwrap_or_default() } else { name };
            self.named.entry(name).or_default().push(path);
        };
        match tree {
            UseTree::Path(inner) => {
                path.push(inner.ident.to_string());
                self.import(&inner.tree, path);
                path.pop();
            }
            UseTree::Name(inner) => name(inner.ident.to_string(), inner.ident.to_string()),
            UseTree::Rename(inner) => name(inner.rename.to_string(), inner.ident.to_string()),
            UseTree::Glob(_) => self.globs.push(path.clone()),
            UseTree::Group(inner) => inner.items.iter().for_each(|tree| self.import(tree, path)),
        }
    }
}

/// Returns the name of what an item declares, if it is neither a module nor an import.
fn declared_name(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::TraitAlias(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

impl Modules {
    /// Adds the module of this path, with those inside, and returns it.
    pub(crate) fn add(&mut self, path: &str, items: &[Item]) -> ModuleId {
        let module = self.module(path, false);
        for item in items {
            self.all[module].scope.add(item);
            if let Some(name) = declared_name(item) {
                self.by_name.entry(name.clone()).or_default().insert(join(path, &name));
            }
            match item {
                Item::Enum(item) => {
                    let variants = self.module(&join(path, &item.ident.to_string()), true);
                    let names = item.variants.iter().map(|variant| variant.ident.to_string());
                    self.all[variants].scope.own.extend(names);
                }
                Item::Mod(item) => {
                    if let Some((_, items)) = &item.content {
                        self.add(&join(path, &item.ident.to_string()), items);
                    }
                }
                _ => {}
            }
        }
        module
    }

    fn module(&mut self, path: &str, is_enum: bool) -> ModuleId {
        let next = self.all.len();
        let module = *self.by_path.entry(path.to_owned()).or_insert(next);
        if module == next {
            self.all.push(Module { path: path.to_owned(), is_enum, scope: Imports::default() });
        }
        module
    }

    /// Returns the module of this path.
    pub(crate) fn of_path(&self, path: &str) -> Option<ModuleId> {
        self.by_path.get(path).copied()
    }

    /// Returns which segment of a path that begins in `root` is certain not to be there, and the names that are where it
    /// should be; `None` if all are, or one may be.
    pub(crate) fn missing(&self, root: &str, segments: &[String]) -> Option<(usize, Vec<String>)> {
        let mut path = root.to_owned();
        for (at, name) in segments.iter().enumerate() {
            let module = *self.by_path.get(&path)?;
            match self.find_in(module, name, &mut Vec::new()) {
                Found::Path(found) => path = found,
                Found::Nothing => return Some((at, self.names_in(module))),
                Found::Outside(_) | Found::Unknown(_) => return None,
            }
        }
        None
    }

    /// Returns the names that a module declares and imports by name, those of the modules in it included.
    fn names_in(&self, module: ModuleId) -> Vec<String> {
        let Module { path, scope, .. } = &self.all[module];
        let inner = self.by_path.keys().filter_map(|inner| inner.strip_prefix(path.as_str())?.strip_prefix("::"));
        let inner = inner.filter(|name| !name.contains("::")).map(str::to_owned);
        scope.own.iter().chain(scope.named.keys()).cloned().chain(inner).collect()
    }

    /// Returns the paths of what `segments` may name in a module, and in blocks with names of their own: one, unless
    /// nothing says where the name comes from and several things have it.
    pub(crate) fn paths(&self, module: Option<ModuleId>, blocks: &Imports, segments: &[String]) -> Vec<String> {
        let found = match (module, segments.first()) {
            (Some(module), Some(first)) => match self.find_among(blocks, module, first, &mut Vec::new()) {
                Found::Nothing => self.follow(module, segments, &mut Vec::new()),
                // A name that only a block has.
                Found::Path(path) if blocks.own.contains(first) => Found::Outside(vec![path]),
                found => self.descend_from(found, &segments[1..], &mut Vec::new()),
            },
            _ => Found::Unknown(segments.to_vec()),
        };
        match found {
            Found::Path(path) => vec![path],
            Found::Outside(segments) => vec![outside(&segments)],
            Found::Unknown(lost) => self.anywhere(&lost),
            Found::Nothing => vec![outside(segments)],
        }
    }

    /// Returns the paths that a name may have which no import explains, with what follows it.
    fn anywhere(&self, lost: &[String]) -> Vec<String> {
        for (at, name) in lost.iter().enumerate() {
            if let Some(known) = self.by_name.get(name) {
                let rest = &lost[at + 1..];
                return known
                    .iter()
                    .map(|path| rest.iter().fold(path.clone(), |path, name| join(&path, name)))
                    .collect();
            }
        }
        vec![outside(lost)]
    }

    /// Follows a path that stands in a module.
    fn follow(&self, module: ModuleId, segments: &[String], followed: &mut Followed) -> Found {
        let Some((first, rest)) = segments.split_first() else { return Found::Nothing };
        let path = &self.all[module].path;
        let root = || path.split("::").next().unwrap_or_default().to_owned();
        match first.as_str() {
            "crate" | "$crate" => self.descend(root(), rest, followed),
            "self" => self.descend(path.clone(), rest, followed),
            "super" => {
                let mut above = path.as_str();
                let mut rest = segments;
                while let Some((first, others)) = rest.split_first()
                    && first == "super"
                {
                    above = above.rsplit_once("::").map_or(above, |(above, _)| above);
                    rest = others;
                }
                self.descend(above.to_owned(), rest, followed)
            }
            name => match self.find_in(module, name, followed) {
                Found::Nothing | Found::Unknown(_) if self.by_path.contains_key(name) => {
                    self.descend(name.to_owned(), rest, followed)
                }
                // A crate that is not read, or what every module has.
                Found::Nothing => Found::Outside(segments.to_vec()),
                Found::Unknown(_) if !rest.is_empty() && name.starts_with(char::is_lowercase) => {
                    Found::Outside(segments.to_vec())
                }
                found => self.descend_from(found, rest, followed),
            },
        }
    }

    fn descend_from(&self, found: Found, rest: &[String], followed: &mut Followed) -> Found {
        let and_rest = |mut segments: Vec<String>| {
            segments.extend_from_slice(rest);
            segments
        };
        match found {
            Found::Path(path) => self.descend(path, rest, followed),
            Found::Outside(segments) => Found::Outside(and_rest(segments)),
            Found::Unknown(segments) => Found::Unknown(and_rest(segments)),
            Found::Nothing => Found::Nothing,
        }
    }

    /// Goes on from what has this path.
    fn descend(&self, path: String, rest: &[String], followed: &mut Followed) -> Found {
        let Some((first, others)) = rest.split_first() else { return Found::Path(path) };
        match self.by_path.get(&path) {
            Some(&module) if !self.all[module].is_enum => match self.find_in(module, first, followed) {
                Found::Nothing => Found::Unknown(rest.to_vec()),
                found => self.descend_from(found, others, followed),
            },
            // A part of a type.
            _ => Found::Path(rest.iter().fold(path, |path, name| join(&path, name))),
        }
    }

    /// Finds a name among all that a module has.
    fn find_in(&self, module: ModuleId, name: &str, followed: &mut Followed) -> Found {
        let inner = join(&self.all[module].path, name);
        if self.by_path.contains_key(&inner) {
            return Found::Path(inner);
        }
        self.find_among(&self.all[module].scope, module, name, followed)
    }

    /// Finds a name in a scope whose imports begin in `module`.
    fn find_among(&self, scope: &Imports, module: ModuleId, name: &str, followed: &mut Followed) -> Found {
        if scope.own.contains(name) {
            return Found::Path(join(&self.all[module].path, name));
        }
        let key = (module, name.to_owned());
        if followed.contains(&key) {
            return Found::Nothing;
        }
        followed.push(key);
        let found = self.imported(scope, module, name, followed);
        followed.pop();
        found
    }

    fn imported(&self, scope: &Imports, module: ModuleId, name: &str, followed: &mut Followed) -> Found {
        if let Some(paths) = scope.named.get(name) {
            // Several, if a module and a type have the name, or each is under a condition of its own.
            let mut found = paths.iter().map(|path| self.follow(module, path, followed)).collect::<Vec<_>>();
            let of_here = found.iter().position(|found| matches!(found, Found::Path(_)));
            return found.swap_remove(of_here.unwrap_or(0));
        }
        let mut may_be_elsewhere = scope.is_open;
        for glob in &scope.globs {
            let Found::Path(path) = self.follow(module, glob, followed) else {
                may_be_elsewhere = true;
                continue;
            };
            let Some(&of_glob) = self.by_path.get(&path) else { continue };
            match self.find_in(of_glob, name, followed) {
                Found::Nothing => {}
                Found::Unknown(_) => may_be_elsewhere = true,
                found => return found,
            }
        }
        if may_be_elsewhere { Found::Unknown(vec![name.to_owned()]) } else { Found::Nothing }
    }
}

/// Returns a path for what is not declared here: its name, and the type before it.
fn outside(segments: &[String]) -> String {
    let begins = segments.len().saturating_sub(2);
    let is_type = |name: &String| name.starts_with(char::is_uppercase);
    let begins = if segments.get(begins).is_some_and(is_type) { begins } else { segments.len().saturating_sub(1) };
    format!("::{}", segments[begins..].join("::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files of two crates, by the paths of their modules.
    const FILES: [(&str, &str); 6] = [
        ("toy", "mod a; mod b; pub use a::Window; pub struct Gauge; pub enum Kind { Open, Shut } pub fn make() {}"),
        (
            "toy::a",
            "pub struct Window; mod deep { use super::*; pub struct Deep; } pub use self::deep::Deep as Renamed;",
        ),
        (
            "toy::b",
            "use super::a::Window as Pane; use crate::Kind::*; use other::{Far, self as away}; use std::time::Duration;
             use toy_is_not_here::Window; pub struct Duration2;",
        ),
        ("toy::c", "use elsewhere::*; use std::Far; pub struct Twice;"),
        ("toy::d", "cfg_if! { if #[cfg(unix)] { use crate::a::Window; } } use self::loops::Same; pub struct Twice;"),
        ("other", "pub struct Far; pub mod near { pub struct Near; } pub use near::*;"),
    ];

    #[track_caller]
    fn check(module: &str, path: &str, expect: &[&str]) {
        let mut modules = Modules::default();
        for (path, text) in FILES {
            modules.add(path, &syn::parse_str::<syn::File>(text).expect("the test's own source").items);
        }
        let segments: Vec<String> = path.split("::").map(str::to_owned).collect();
        let module = modules.of_path(module);
        assert!(module.is_some());
        assert_eq!(modules.paths(module, &Imports::default(), &segments), expect);
    }

    #[test]
    fn a_path_is_followed_through_imports_of_all_kinds() {
        check("toy", "Window", &["toy::a::Window"]);
        check("toy", "make", &["toy::make"]);
        check("toy::a", "crate::Window", &["toy::a::Window"]);
        check("toy::a::deep", "Window", &["toy::a::Window"]);
        check("toy::a::deep", "super::super::Gauge", &["toy::Gauge"]);
        check("toy::a", "Renamed", &["toy::a::deep::Deep"]);
        check("toy::a", "self::deep::Deep::new", &["toy::a::deep::Deep::new"]);
        check("toy::b", "Pane", &["toy::a::Window"]);
        check("toy::b", "Open", &["toy::Kind::Open"]);
        check("toy", "Kind::parse", &["toy::Kind::parse"]);
        check("toy::b", "Far", &["other::Far"]);
        check("toy::b", "away::Near", &["other::near::Near"]);
        check("toy::a", "other::near::Near", &["other::near::Near"]);
    }

    #[test]
    fn what_comes_from_elsewhere_is_nothing_of_this_name_here() {
        check("toy::b", "Duration", &["::Duration"]);
        check("toy::b", "Window", &["::Window"]);
        check("toy::b", "Gauge", &["::Gauge"]);
        check("toy::c", "Far", &["::Far"]);
        check("toy::b", "std::collections::VecDeque::new", &["::VecDeque::new"]);
    }

    #[test]
    fn a_name_that_no_import_explains_is_whatever_has_it() {
        check("toy::c", "Gauge", &["toy::Gauge"]);
        check("toy::d", "Window::new", &["toy::a::Window::new"]);
        check("toy", "crate::unknown::Twice", &["toy::c::Twice", "toy::d::Twice"]);
        check("toy::c", "Twice", &["toy::c::Twice"]);
        check("toy::c", "Nowhere", &["::Nowhere"]);
    }

    #[test]
    fn blocks_have_names_of_their_own() {
        let mut modules = Modules::default();
        let items = |text| syn::parse_str::<syn::File>(text).expect("the test's own source").items;
        modules.add("toy", &items("mod a { pub struct Gauge; pub struct Pane; } struct Pane; struct Plain;"));
        let body = syn::parse_str("{ use a::Gauge; if x { struct Pane; } }").expect("the test's own source");
        let blocks = Imports::of_body(&body);
        let paths = |name: &str| modules.paths(modules.of_path("toy"), &blocks, &[name.to_owned()]);
        assert_eq!(paths("Gauge"), ["toy::a::Gauge"]);
        assert_eq!(paths("Pane"), ["::toy::Pane"], "it is not that of the module");
        assert_eq!(paths("Plain"), ["toy::Plain"]);
    }

    #[test]
    fn imports_in_a_circle_end() {
        let mut modules = Modules::default();
        let file =
            "mod a { pub use super::b::*; pub use super::b::C; } mod b { pub use super::a::*; pub use super::a::C; }";
        modules.add("toy", &syn::parse_str::<syn::File>(file).expect("the test's own source").items);
        for name in ["C", "D"] {
            let path = [name.to_owned()];
            assert_eq!(modules.paths(modules.of_path("toy::a"), &Imports::default(), &path), [format!("::{name}")]);
        }
    }
}
