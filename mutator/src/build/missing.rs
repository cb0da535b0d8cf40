//! Whether the type that a manifest names is certain not to be in its package: that is known before anything is compiled.

use syn::{Attribute, Item, Meta};

use super::files::read;
use crate::error::{MutatorError, TypeTrouble};
use crate::nearest::nearest;
use crate::package::Package;
use crate::syntax::conditions::item_attributes;
use crate::syntax::modules::Modules;
use crate::syntax::parts::join;

/// Attributes that put nothing beside what they are about.
const INERT: [&str; 19] = [
    "allow",
    "cfg",
    "cold",
    "deny",
    "deprecated",
    "derive",
    "doc",
    "error",
    "expect",
    "inline",
    "macro_export",
    "macro_use",
    "must_use",
    "non_exhaustive",
    "path",
    "repr",
    "serde",
    "track_caller",
    "warn",
];

/// Traits whose derivation declares no other type.
const PLAIN: [&str; 12] = [
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "Deserialize",
    "Eq",
    "Error",
    "Hash",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "Serialize",
];

impl Package {
    /// Looks for the system's type among the modules of the package.
    ///
    /// Where a macro, an attribute or an import from elsewhere may bring the type, or a file cannot be read, nothing is
    /// said: then the compiler finds out.
    ///
    /// # Errors
    /// [`MutatorError::Type`] if it cannot be there.
    pub(super) fn check_type(&self) -> Result<(), MutatorError> {
        let Some(Missing { name, kind, known }) = self.missing_type() else { return Ok(()) };
        let known = known.iter().map(String::as_str);
        let trouble = TypeTrouble::missing(kind, &name, nearest(&name, known));
        Err(MutatorError::Type {
            manifest: self.manifest_path().to_owned(),
            named_by: format!("system `{}`", self.system),
            type_path: self.type_path.clone(),
            trouble: Box::new(trouble),
        })
    }

    fn missing_type(&self) -> Option<Missing> {
        let member = self.members.first()?;
        let crate_name = member.library().ok()?.name.replace('-', "_");
        let path: syn::Path = syn::parse_str(&self.type_path).ok()?;
        let mut modules = Modules::default();
        let of_crate: Vec<_> = (member.modules().into_iter())
            .filter(|(_, module)| is_in(&crate_name, &module.module) && module.left_out.is_none())
            .collect();
        let mut declared = Vec::new();
        for (file, module) in &of_crate {
            let mut syntax: syn::File = syn::parse_str(&read(file).ok()?).ok()?;
            member.conditions.strip(&mut syntax);
            modules.add(&module.module, &syntax.items);
            add_declared(&module.module, &syntax.items, &mut declared)?;
        }
        // A module whose file no declaration leads to.
        let is_read = |path: &String| modules.of_path(path).is_some();
        if !declared.iter().all(is_read) {
            return None;
        }
        let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let (at, known) = modules.missing(&crate_name, &segments)?;
        let kind = if at + 1 == segments.len() { "type" } else { "module" };
        Some(Missing { name: segments[at].clone(), kind, known })
    }
}

/// A name that is not where a path says.
struct Missing {
    name: String,
    kind: &'static str,
    /// The names that are there.
    known: Vec<String>,
}

/// Adds the paths of the modules that are declared among `items`; `None` if more may be declared than is written there.
fn add_declared(path: &str, items: &[Item], declared: &mut Vec<String>) -> Option<()> {
    for item in items {
        if item_attributes(item).iter().any(may_declare) {
            return None;
        }
        if let Item::Mod(module) = item {
            let path = join(path, &module.ident.to_string());
            if let Some((_, items)) = &module.content {
                add_declared(&path, items, declared)?;
            }
            declared.push(path);
        }
    }
    Some(())
}

/// Returns whether an attribute may put items beside what it is about.
fn may_declare(attribute: &Attribute) -> bool {
    let is_of = |path: &syn::Path, names: &[&str]| {
        path.segments.last().is_some_and(|segment| names.iter().any(|name| segment.ident == name))
    };
    let Meta::List(list) = &attribute.meta else { return !is_of(attribute.path(), &INERT) };
    let mut may_declare = !is_of(&list.path, &INERT);
    if list.path.is_ident("derive") {
        let plain = list.parse_nested_meta(|derived| {
            may_declare |= !is_of(&derived.path, &PLAIN);
            Ok(())
        });
        may_declare |= plain.is_err();
    }
    may_declare
}

/// Returns whether a module is that of a crate or inside of it.
fn is_in(crate_name: &str, module: &str) -> bool {
    module.strip_prefix(crate_name).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}
