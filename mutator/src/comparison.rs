//! Constants of a specification beside those of an implementation: which have one name and two values.
//!
//! A constant is a `const` or `static` item, or a function without parameters whose body is a value: `fn
//! window_max(&self)
//! -> u32 { 32 }` is called `WINDOW_MAX` too. Values are numbers and lengths of time, as far as the text of the file
//! shows them ([`ConstantValue`]). A unit in a name is none of the name: `TIMEOUT_MS = 15` and `TIMEOUT =
//! from_millis(15)` are one.

mod evaluation;
mod value;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, FnArg, Ident, Signature, Stmt};

use crate::error::MutatorError;
use crate::syntax::parts::is_test;
use evaluation::evaluate;

pub use value::{ConstantValue, InvalidValue};

/// A constant with its value and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedConstant {
    /// Its name, in capitals and without a unit.
    pub name: String,
    /// Its value.
    pub value: ConstantValue,
    /// The file, as it was given.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
}

/// Where a constant has which value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ConstantPlace {
    /// The value.
    pub value: String,
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
}

/// A name that has other values in an implementation than in the specification.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ConstantDifference {
    /// The name.
    pub name: String,
    /// All places in the specification.
    pub specification: Vec<ConstantPlace>,
    /// The places in the implementation whose values the specification does not have.
    pub implementation: Vec<ConstantPlace>,
}

/// Returns the constants in the text of a Rust source file whose values it shows, in its order; those of tests are left
/// out.
///
/// # Errors
/// [`MutatorError::Syntax`] if it does not parse.
pub fn named_constants(path: &str, text: &str) -> Result<Vec<NamedConstant>, MutatorError> {
    let file = syn::parse_file(text).map_err(|error| MutatorError::Syntax {
        path: path.to_owned(),
        line: error.span().start().line,
        message: error.to_string(),
    })?;
    let mut finder = Finder::default();
    finder.visit_file(&file);
    let names: BTreeMap<String, &Expr> =
        finder.found.iter().map(|found| (found.name.to_string(), found.value)).collect();
    let constant = |found: &Found<'_>| {
        let (name, unit) = value::name_and_unit(&found.name.to_string());
        let value = evaluate(found.value, &names)?;
        let value = unit.map_or(Some(value), |unit| value.in_unit(unit))?;
        Some(NamedConstant { name, value, file: path.to_owned(), line: found.name.span().start().line })
    };
    Ok(finder.found.iter().filter_map(constant).collect())
}

/// Returns the names that are in both, and that have a value in the implementation which they have nowhere in the
/// specification; a number is never compared with a length of time.
pub fn differences(specification: &[NamedConstant], implementation: &[NamedConstant]) -> Vec<ConstantDifference> {
    let mut by_name: BTreeMap<&str, Vec<&NamedConstant>> = BTreeMap::new();
    for constant in specification {
        by_name.entry(&constant.name).or_default().push(constant);
    }
    let difference = |(name, here): (&str, Vec<&NamedConstant>)| {
        let is_other = |there: &&NamedConstant| {
            let mut comparable = here.iter().filter(|here| here.value.is_comparable(there.value)).peekable();
            comparable.peek().is_some() && !comparable.any(|here| here.value == there.value)
        };
        let other = implementation.iter().filter(|there| there.name == name).filter(is_other);
        let implementation: Vec<ConstantPlace> = other.map(NamedConstant::place).collect();
        let specification = here.iter().map(|constant| constant.place()).collect();
        (!implementation.is_empty()).then(|| ConstantDifference {
            name: name.to_owned(),
            specification,
            implementation,
        })
    };
    by_name.into_iter().filter_map(difference).collect()
}

/// Returns the files that names and patterns mean, from a folder, each once.
///
/// # Errors
/// The entry that means no file, and why.
pub fn source_files(folder: &Path, entries: &[String]) -> Result<Vec<PathBuf>, String> {
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in entries {
        let pattern = format!("{}/{entry}", glob::Pattern::escape(&folder.to_string_lossy()));
        let found = glob::glob(&pattern).map_err(|error| format!("`{entry}` is no pattern: {error}"))?;
        let found: Vec<PathBuf> = found.filter_map(Result::ok).filter(|path| path.is_file()).collect();
        if found.is_empty() {
            return Err(format!("`{entry}` means no file of {}", folder.display()));
        }
        files.extend(found.into_iter().filter(|path| !files.contains(path)).collect::<Vec<_>>());
    }
    Ok(files)
}

impl NamedConstant {
    fn place(&self) -> ConstantPlace {
        ConstantPlace { value: self.value.to_string(), file: self.file.clone(), line: self.line }
    }
}

impl fmt::Display for ConstantPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.file, self.line)
    }
}

impl ConstantDifference {
    /// Returns what differs in a sentence, `implementation` being what the implementation is called.
    pub fn sentence(&self, implementation: &str) -> String {
        let values = |places: &[ConstantPlace], whose: &str| {
            let mut text = String::new();
            for (index, place) in places.iter().enumerate() {
                let (comma, whose) = if index == 0 { ("", format!(" in {whose}")) } else { (", ", String::new()) };
                text.push_str(&format!("{comma}{}{whose} ({place})", place.value));
            }
            text
        };
        let here = values(&self.specification, "the specification");
        format!("{} is {here} and {}", self.name, values(&self.implementation, implementation))
    }
}

/// A constant in the syntax of a file.
struct Found<'a> {
    name: &'a Ident,
    value: &'a Expr,
}

#[derive(Default)]
struct Finder<'a> {
    found: Vec<Found<'a>>,
}

impl<'a> Finder<'a> {
    fn add(&mut self, name: &'a Ident, value: &'a Expr) {
        self.found.push(Found { name, value });
    }

    /// Adds a function that is a name for a value.
    fn add_function(&mut self, signature: &'a Signature, statements: &'a [Stmt]) {
        let is_plain = signature.inputs.iter().all(|input| matches!(input, FnArg::Receiver(_)));
        if let ([Stmt::Expr(value, None)], true) = (statements, is_plain) {
            self.add(&signature.ident, value);
        }
    }
}

impl<'a> Visit<'a> for Finder<'a> {
    fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
        if !is_of_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_const(&mut self, item: &'a syn::ItemConst) {
        self.add(&item.ident, &item.expr);
    }

    fn visit_item_static(&mut self, item: &'a syn::ItemStatic) {
        self.add(&item.ident, &item.expr);
    }

    fn visit_impl_item_const(&mut self, item: &'a syn::ImplItemConst) {
        self.add(&item.ident, &item.expr);
    }

    fn visit_trait_item_const(&mut self, item: &'a syn::TraitItemConst) {
        if let Some((_, value)) = &item.default {
            self.add(&item.ident, value);
        }
    }

    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        if !is_of_tests(&item.attrs) {
            self.add_function(&item.sig, &item.block.stmts);
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        self.add_function(&item.sig, &item.block.stmts);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'a syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.add_function(&item.sig, &block.stmts);
        }
        visit::visit_trait_item_fn(self, item);
    }
}

fn is_of_tests(attributes: &[Attribute]) -> bool {
    let is_cfg = |attribute: &Attribute| {
        attribute.path().is_ident("cfg") && attribute.parse_args::<Ident>().is_ok_and(|condition| condition == "test")
    };
    is_test(attributes) || attributes.iter().any(is_cfg)
}

#[cfg(test)]
mod tests;
