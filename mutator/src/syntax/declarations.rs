//! What a package declares: enums with their variants, structs with their fields, functions, constants.
//!
//! Read from the text of all its files, since messages are seldom declared where they are sent. What a name stands for
//! goes by the modules and their imports (`modules.rs`); a name that still stands for several things is taken for
//! unknown, and noted. Types are their text without spaces.

use std::cell::RefCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Formatter};
use std::ops::Deref;

use syn::{
    Attribute, Block, Fields, FnArg, ImplItem, Item, ItemImpl, Meta, Pat, ReturnType, Signature, TraitItem, Type,
};

use crate::syntax::modules::{Imports, ModuleId, Modules};
use crate::syntax::parts::{join, range_of};
use crate::syntax::types::{bare, without_reference};

/// Declarations by path; `None` for a path of which there are several.
#[derive(Debug, Default)]
pub(crate) struct Declarations {
    modules: Modules,
    enums: BTreeMap<String, Option<Declared<Vec<EnumVariant>>>>,
    structs: BTreeMap<String, Option<Declared<Vec<Field>>>>,
    functions: BTreeMap<String, Option<Declared<FunctionSignature>>>,
    /// Methods by name, and then by the path of their type or trait.
    methods: BTreeMap<String, BTreeMap<String, Option<Declared<FunctionSignature>>>>,
    constants: BTreeMap<String, Option<Declared<String>>>,
    /// Types that implement a trait called `Message`.
    messages: BTreeSet<String>,
    /// Types that have a default value.
    defaults: BTreeSet<String>,
}

/// What is declared in a module: the names in it are names there.
#[derive(Debug, Clone)]
struct Declared<T> {
    module: ModuleId,
    what: T,
}

/// Equal texts in two modules can stand for one another.
impl<T: PartialEq> PartialEq for Declared<T> {
    fn eq(&self, other: &Self) -> bool {
        self.what == other.what
    }
}

/// A type as the source has it.
#[derive(Debug, Clone)]
pub(crate) struct TypeText {
    text: String,
    /// The path by which it is found, where the text has less of it.
    path: Option<String>,
    /// The module that has the text, unless that is the one of the function.
    module: Option<ModuleId>,
}

impl TypeText {
    /// Returns a type that stands in the function.
    pub(crate) fn here(text: impl Into<String>) -> Self {
        Self { text: text.into(), path: None, module: None }
    }

    /// Returns the type that a path in the function names.
    pub(crate) fn of_path<'s>(segments: impl IntoIterator<Item = &'s syn::PathSegment>) -> Self {
        let names: Vec<String> = segments.into_iter().map(|segment| segment.ident.to_string()).collect();
        let text = names.last().cloned().unwrap_or_default();
        let path = (names.len() > 1).then(|| names.join("::"));
        Self { text, path, module: None }
    }

    /// Returns the type without references around it.
    pub(crate) fn without_reference(self) -> Self {
        Self { text: without_reference(&self.text).to_owned(), ..self }
    }

    /// Returns the names in the type's path.
    fn segments(&self) -> Vec<String> {
        let path = self.path.as_deref().unwrap_or(&self.text);
        let path = without_reference(path).split('<').next().unwrap_or_default();
        path.split("::").map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
    }
}

impl Deref for TypeText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl Display for TypeText {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl PartialEq for TypeText {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

/// A variant of an enum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EnumVariant {
    pub(crate) name: String,
    /// Its payload: variants with equal ones can stand for one another.
    pub(crate) shape: String,
}

/// A named field of a struct.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) ty: String,
}

/// What can be told of a function from its signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FunctionSignature {
    /// The types of the parameters, without the receiver's.
    pub(crate) parameters: Vec<String>,
    /// What it returns, unless that is nothing.
    pub(crate) output: Option<String>,
}

impl Declarations {
    /// Returns what files declare, each with the path of its module, which begins with the name of its crate.
    pub(crate) fn new<'s>(files: impl Iterator<Item = (&'s str, &'s syn::File, &'s str)> + Clone) -> Self {
        let mut declarations = Self::default();
        for (module, syntax, _) in files.clone() {
            declarations.modules.add(module, &syntax.items);
        }
        for (module, syntax, text) in files {
            declarations.items(module, &syntax.items, text);
        }
        declarations
    }

    /// Returns what a text declares that is all of a crate.
    #[cfg(test)]
    pub(crate) fn of_text(text: &str) -> Self {
        Self::new([("a", &syn::parse_str(text).expect("the test's own source"), text)].into_iter())
    }

    fn items(&mut self, path: &str, items: &[Item], text: &str) {
        let Some(module) = self.modules.of_path(path) else { return };
        for item in items {
            match item {
                Item::Enum(item) => {
                    let name = join(path, &item.ident.to_string());
                    self.derives(&name, &item.attrs);
                    let variants = item.variants.iter().map(|variant| EnumVariant {
                        name: variant.ident.to_string(),
                        shape: shape(&variant.fields, text),
                    });
                    put(&mut self.enums, name, module, variants.collect());
                }
                Item::Struct(item) => {
                    let name = join(path, &item.ident.to_string());
                    self.derives(&name, &item.attrs);
                    let field = |field: &syn::Field| {
                        Some(Field { name: field.ident.as_ref()?.to_string(), ty: type_text(&field.ty, text) })
                    };
                    put(&mut self.structs, name, module, item.fields.iter().filter_map(field).collect());
                }
                Item::Const(item) => {
                    put(&mut self.constants, join(path, &item.ident.to_string()), module, type_text(&item.ty, text));
                }
                Item::Static(item) => {
                    put(&mut self.constants, join(path, &item.ident.to_string()), module, type_text(&item.ty, text));
                }
                Item::Fn(item) => {
                    let name = join(path, &item.sig.ident.to_string());
                    put(&mut self.functions, name, module, function(&item.sig, text));
                }
                Item::Mod(item) => {
                    if let Some((_, items)) = &item.content {
                        self.items(&join(path, &item.ident.to_string()), items, text);
                    }
                }
                Item::Impl(item) => self.implementation(module, item, text),
                Item::Trait(item) => {
                    for method in &item.items {
                        if let TraitItem::Fn(method) = method {
                            let name = item.ident.to_string();
                            self.method(module, (&name, &join(path, &name)), &method.sig, text);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn implementation(&mut self, module: ModuleId, item: &ItemImpl, text: &str) {
        let name = type_name(&item.self_ty);
        let segments = type_segments(&item.self_ty);
        // A type that is several by its name is none of them for certain: then it is not known here.
        let paths = self.modules.paths(Some(module), &Imports::default(), &segments);
        let [path] = &paths[..] else { return };
        let of = item.trait_.as_ref().and_then(|(path, _)| path.segments.last());
        match of.map(|segment| segment.ident.to_string()).as_deref() {
            Some("Message") => _ = self.messages.insert(path.clone()),
            Some("Default") => _ = self.defaults.insert(path.clone()),
            _ => {}
        }
        for item in &item.items {
            match item {
                ImplItem::Fn(method) => self.method(module, (&name, path), &method.sig, text),
                ImplItem::Const(item) => {
                    put(&mut self.constants, join(path, &item.ident.to_string()), module, type_text(&item.ty, text));
                }
                _ => {}
            }
        }
    }

    fn method(&mut self, module: ModuleId, (type_name, path): (&str, &str), signature: &Signature, text: &str) {
        let mut declared = function(signature, text);
        if declared.output.as_deref() == Some("Self") {
            declared.output = Some(type_name.to_owned());
        }
        put(self.methods.entry(signature.ident.to_string()).or_default(), path.to_owned(), module, declared);
    }

    fn derives(&mut self, path: &str, attributes: &[Attribute]) {
        let derives_default = attributes.iter().any(|attribute| match &attribute.meta {
            Meta::List(list) if list.path.is_ident("derive") => {
                list.tokens.clone().into_iter().any(|token| token.to_string() == "Default")
            }
            _ => false,
        });
        if derives_default {
            self.defaults.insert(path.to_owned());
        }
    }

    /// Returns how names are looked up in the body of a function.
    pub(crate) fn scope(&self, module: &str, self_type: Option<&str>, body: &Block) -> Scope<'_> {
        Scope {
            declarations: self,
            module: self.modules.of_path(module),
            blocks: Imports::of_body(body),
            self_type: self_type.map(|path| {
                let text = path.rsplit("::").next().unwrap_or_default().to_owned();
                TypeText { text, path: Some(path.to_owned()), module: None }
            }),
            ambiguous: RefCell::default(),
        }
    }
}

/// What the names in one function stand for.
#[derive(Debug)]
pub(crate) struct Scope<'a> {
    declarations: &'a Declarations,
    module: Option<ModuleId>,
    blocks: Imports,
    self_type: Option<TypeText>,
    /// The names that stand for several things, so that nothing is known of them.
    ambiguous: RefCell<BTreeSet<String>>,
}

impl<'a> Scope<'a> {
    /// Returns the type that the function is a method of.
    pub(crate) fn self_type(&self) -> Option<&TypeText> {
        self.self_type.as_ref()
    }

    /// Returns the names that stood for several things.
    pub(crate) fn into_ambiguous(self) -> BTreeSet<String> {
        self.ambiguous.into_inner()
    }

    /// Returns the paths that a type may have.
    fn paths(&self, ty: &TypeText) -> Vec<String> {
        let modules = &self.declarations.modules;
        match ty.module {
            Some(module) => modules.paths(Some(module), &Imports::default(), &ty.segments()),
            None => modules.paths(self.module, &self.blocks, &ty.segments()),
        }
    }

    /// Returns what is declared at one of the paths; nothing, with a note, if that is not one thing.
    fn one<T: PartialEq>(
        &self,
        name: &str,
        paths: &[String],
        declared: impl Fn(&str) -> Option<&'a Option<Declared<T>>>,
    ) -> Option<&'a Declared<T>> {
        let mut found = paths.iter().filter_map(|path| declared(path));
        let first = found.next()?;
        if first.is_none() || found.any(|other| other != first) {
            self.ambiguous.borrow_mut().insert(name.to_owned());
            return None;
        }
        first.as_ref()
    }

    /// Returns the variants of an enum.
    pub(crate) fn variants(&self, ty: &TypeText) -> Option<&'a [EnumVariant]> {
        let declared = self.one(ty, &self.paths(ty), |path| self.declarations.enums.get(path))?;
        Some(&declared.what)
    }

    /// Returns the named fields of a struct.
    pub(crate) fn fields(&self, ty: &TypeText) -> Option<&'a [Field]> {
        let declared = self.one(ty, &self.paths(ty), |path| self.declarations.structs.get(path))?;
        Some(&declared.what)
    }

    /// Returns the type of a field.
    pub(crate) fn field(&self, ty: &TypeText, field: &str) -> Option<TypeText> {
        let declared = self.one(ty, &self.paths(ty), |path| self.declarations.structs.get(path))?;
        let field = declared.what.iter().find(|known| known.name == field)?;
        Some(TypeText { text: field.ty.clone(), path: None, module: Some(declared.module) })
    }

    /// Returns the parameters of a function or method that a path names.
    pub(crate) fn parameters(&self, path: &syn::Path) -> Option<&'a [String]> {
        self.function(path).map(|function| function.what.parameters.as_slice())
    }

    /// Returns the type that a function or method returns, if a path names one; the outer `None` is no function.
    pub(crate) fn output(&self, path: &syn::Path) -> Option<Option<TypeText>> {
        self.function(path).map(Declared::output)
    }

    fn function(&self, path: &syn::Path) -> Option<&'a Declared<FunctionSignature>> {
        let last = path.segments.last()?.ident.to_string();
        let paths = self.paths(&self.named(path.segments.iter())?);
        if let Some(found) = self.one(&last, &paths, |path| self.declarations.functions.get(path)) {
            return Some(found);
        }
        let before = path.segments.iter().take(path.segments.len() - 1);
        let ty = self.named(before).filter(|ty| !ty.is_empty())?;
        self.of_type(&ty, &last)
    }

    fn of_type(&self, ty: &TypeText, method: &str) -> Option<&'a Declared<FunctionSignature>> {
        let methods = self.declarations.methods.get(method)?;
        self.one(&format!("{}::{method}", bare(ty)), &self.paths(ty), |path| methods.get(path))
    }

    /// Returns the parameters of a method of a type.
    pub(crate) fn method_parameters(&self, ty: &TypeText, method: &str) -> Option<&'a [String]> {
        self.of_type(ty, method).map(|method| method.what.parameters.as_slice())
    }

    /// Returns the type that a method of a type returns.
    pub(crate) fn method_output(&self, ty: &TypeText, method: &str) -> Option<TypeText> {
        self.of_type(ty, method)?.output()
    }

    /// Returns the parameters of the only method of this name, whatever its type.
    pub(crate) fn parameters_of_any(&self, method: &str) -> Option<&'a [String]> {
        let methods = self.declarations.methods.get(method)?;
        let types: Vec<String> = methods.keys().cloned().collect();
        let declared = self.one(method, &types, |path| methods.get(path))?;
        Some(&declared.what.parameters)
    }

    /// Returns the type of a constant that a path names.
    pub(crate) fn constant(&self, path: &syn::Path) -> Option<TypeText> {
        let ty = self.named(path.segments.iter())?;
        let declared = self.one(&ty, &self.paths(&ty), |path| self.declarations.constants.get(path))?;
        Some(TypeText { text: declared.what.clone(), path: None, module: Some(declared.module) })
    }

    /// Returns the type that a path names, `Self` among them.
    pub(crate) fn named<'s>(&self, segments: impl Iterator<Item = &'s syn::PathSegment>) -> Option<TypeText> {
        let ty = TypeText::of_path(segments);
        let names = ty.segments();
        match names.split_first() {
            Some((first, rest)) if first == "Self" => {
                let of = self.self_type.as_ref()?;
                let path = [of.segments(), rest.to_vec()].concat().join("::");
                let text = rest.last().unwrap_or(&of.text).clone();
                Some(TypeText { text, path: Some(path), module: of.module })
            }
            _ => Some(ty),
        }
    }

    /// Whether a type is declared here.
    pub(crate) fn declares(&self, ty: &TypeText) -> bool {
        let Declarations { enums, structs, .. } = self.declarations;
        self.paths(ty).iter().any(|path| enums.contains_key(path) || structs.contains_key(path))
    }

    /// Whether a type is one of messages by the trait that it implements.
    pub(crate) fn is_message(&self, ty: &TypeText) -> bool {
        self.paths(ty).iter().any(|path| self.declarations.messages.contains(path))
    }

    /// Whether a type that is declared here has a default value.
    pub(crate) fn has_default(&self, ty: &TypeText) -> bool {
        self.paths(ty).iter().all(|path| self.declarations.defaults.contains(path))
    }
}

impl Declared<FunctionSignature> {
    fn output(&self) -> Option<TypeText> {
        Some(TypeText { text: self.what.output.clone()?, path: None, module: Some(self.module) })
    }
}

/// Declares a path, or makes it unknown if it is declared in another way already.
fn put<T: PartialEq>(declared: &mut BTreeMap<String, Option<Declared<T>>>, path: String, module: ModuleId, what: T) {
    let what = Declared { module, what };
    match declared.entry(path) {
        Entry::Vacant(entry) => _ = entry.insert(Some(what)),
        Entry::Occupied(mut entry) => {
            if entry.get().as_ref() != Some(&what) {
                entry.insert(None);
            }
        }
    }
}

fn shape(fields: &Fields, text: &str) -> String {
    let fields = fields.iter().map(|field| {
        let name = field.ident.as_ref().map(|name| format!("{name}:")).unwrap_or_default();
        name + &type_text(&field.ty, text)
    });
    fields.collect::<Vec<_>>().join(",")
}

fn function(signature: &Signature, text: &str) -> FunctionSignature {
    let parameters = signature.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(parameter) => Some(type_text(&parameter.ty, text)),
        FnArg::Receiver(_) => None,
    });
    let output = match &signature.output {
        ReturnType::Default => None,
        ReturnType::Type(_, ty) => Some(type_text(ty, text)),
    };
    FunctionSignature { parameters: parameters.collect(), output }
}

/// Returns a type's text without spaces, but for those between words.
pub(crate) fn type_text(ty: &Type, text: &str) -> String {
    let text = text.get(range_of(ty)).unwrap_or_default();
    let mut plain = String::new();
    for letter in text.split_whitespace().collect::<Vec<_>>().join(" ").chars() {
        let joins = |letter: char| letter.is_alphanumeric() || letter == '_';
        if joins(letter) && plain.ends_with(' ') && !plain.trim_end().ends_with(joins) {
            plain.truncate(plain.trim_end().len());
        }
        if !joins(letter) && letter != ' ' {
            plain.truncate(plain.trim_end().len());
        }
        plain.push(letter);
    }
    plain
}

/// Returns the last name in a type's path, whatever is around it.
pub(crate) fn type_name(ty: &Type) -> String {
    match ty {
        Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default(),
        Type::Reference(reference) => type_name(&reference.elem),
        _ => String::new(),
    }
}

/// Returns the names in a type's path, whatever is around it.
fn type_segments(ty: &Type) -> Vec<String> {
    match ty {
        Type::Path(path) => path.path.segments.iter().map(|segment| segment.ident.to_string()).collect(),
        Type::Reference(reference) => type_segments(&reference.elem),
        _ => Vec::new(),
    }
}

/// Returns the name that a pattern binds, if it is no more than that.
pub(crate) fn bound_name(pattern: &Pat) -> Option<String> {
    match pattern {
        Pat::Ident(pattern) if pattern.subpat.is_none() => Some(pattern.ident.to_string()),
        Pat::Type(pattern) => bound_name(&pattern.pat),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what a text declares, in module `a`, and a path in it.
    fn ask<T>(text: &str, module: &str, ask: impl Fn(&Scope<'_>, &TypeText) -> T, path: &str) -> (T, usize) {
        let declarations = Declarations::of_text(text);
        let body = syn::parse_str("{}").expect("the test's own source");
        let scope = declarations.scope(module, None, &body);
        let path: syn::Path = syn::parse_str(path).expect("the test's own path");
        let answer = ask(&scope, &TypeText::of_path(&path.segments));
        (answer, scope.into_ambiguous().len())
    }

    #[test]
    fn what_is_declared_in_two_ways_is_unknown() {
        let variants = |scope: &Scope<'_>, ty: &TypeText| scope.variants(ty).map(<[EnumVariant]>::len);
        let known = "enum A { B(u8), C(u8), D } enum A { B(u8), C(u8), D }";
        assert_eq!(ask(known, "a", variants, "A"), (Some(3), 0));
        assert_eq!(ask("enum A { B } enum A { C }", "a", variants, "A"), (None, 1), "and it is noted");
    }

    #[test]
    fn a_type_of_another_module_changes_nothing() {
        let field = |scope: &Scope<'_>, ty: &TypeText| scope.field(ty, "size").map(|ty| ty.to_string());
        let text = "struct Window { size: u32 } mod x { pub struct Window { size: u8 } mod y { use super::*; } }";
        assert_eq!(ask(text, "a", field, "Window"), (Some("u32".into()), 0));
        assert_eq!(ask(text, "a::x", field, "Window"), (Some("u8".into()), 0));
        assert_eq!(ask(text, "a::x::y", field, "Window"), (Some("u8".into()), 0));
        assert_eq!(ask(text, "a::x", field, "super::Window"), (Some("u32".into()), 0));
        assert_eq!(ask(text, "a", field, "x::Window"), (Some("u8".into()), 0));
        let unknown = "use elsewhere::*; mod x { struct Window { size: u32 } } mod y { struct Window { size: u8 } }";
        assert_eq!(ask(unknown, "a", field, "Window"), (None, 1));
        assert_eq!(ask(&unknown.replace("u8", "u32"), "a", field, "Window"), (Some("u32".into()), 0));
    }

    #[test]
    fn methods_are_known_by_their_type_and_by_their_name_if_all_agree() {
        let text = "struct A { b: Vec < &'a  T > } impl A { fn f(&self, x: u32) -> Self {} }
                    mod m { impl super::C { fn f(&self, x: u32) -> A {} fn h(&self, x: u8) {} } } impl A { fn h(&self, x: u16) {} }";
        let field = |scope: &Scope<'_>, ty: &TypeText| scope.field(ty, "b").map(|ty| ty.to_string());
        assert_eq!(ask(text, "a", field, "A"), (Some("Vec<&'a T>".into()), 0));
        let output = |scope: &Scope<'_>, ty: &TypeText| scope.method_output(ty, "f").map(|ty| ty.to_string());
        assert_eq!(ask(text, "a", output, "A"), (Some("A".into()), 0));
        let any = |name: &'static str| {
            ask(text, "a", move |scope, _| scope.parameters_of_any(name).map(<[String]>::len), "A")
        };
        assert_eq!(any("f"), (Some(1), 0));
        assert_eq!(any("g"), (None, 0));
        assert_eq!(any("h"), (None, 1));
    }
}
