//! What a package declares: enums with their variants, structs with their fields, functions, constants.
//!
//! Read from the text of all its files, since messages are seldom declared where they are sent. A name that is declared
//! in two ways is taken for unknown. Types are their text without spaces.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use syn::{Attribute, Fields, FnArg, ImplItem, Item, Meta, Pat, ReturnType, Signature, TraitItem, Type};

use crate::syntax::parts::range_of;

/// Declarations by name; `None` for a name that stands for several things.
#[derive(Debug, Default)]
pub(crate) struct Declarations {
    enums: BTreeMap<String, Option<Vec<EnumVariant>>>,
    structs: BTreeMap<String, Option<Vec<Field>>>,
    /// Functions by name, methods as `Type::name`.
    functions: BTreeMap<String, Option<FunctionSignature>>,
    constants: BTreeMap<String, Option<String>>,
    /// Types that implement a trait called `Message`.
    messages: BTreeSet<String>,
    /// Types that have a default value.
    defaults: BTreeSet<String>,
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
    /// Adds what a file declares.
    pub(crate) fn add(&mut self, syntax: &syn::File, text: &str) {
        self.items(&syntax.items, text);
    }

    fn items(&mut self, items: &[Item], text: &str) {
        for item in items {
            match item {
                Item::Enum(item) => {
                    let name = item.ident.to_string();
                    self.derives(&name, &item.attrs);
                    let variants = item.variants.iter().map(|variant| EnumVariant {
                        name: variant.ident.to_string(),
                        shape: shape(&variant.fields, text),
                    });
                    put(&mut self.enums, name, variants.collect());
                }
                Item::Struct(item) => {
                    let name = item.ident.to_string();
                    self.derives(&name, &item.attrs);
                    let field = |field: &syn::Field| {
                        Some(Field { name: field.ident.as_ref()?.to_string(), ty: type_text(&field.ty, text) })
                    };
                    put(&mut self.structs, name, item.fields.iter().filter_map(field).collect());
                }
                Item::Const(item) => {
                    put(&mut self.constants, item.ident.to_string(), type_text(&item.ty, text));
                }
                Item::Static(item) => {
                    put(&mut self.constants, item.ident.to_string(), type_text(&item.ty, text));
                }
                Item::Fn(item) => {
                    put(&mut self.functions, item.sig.ident.to_string(), function(&item.sig, text));
                }
                Item::Mod(item) => {
                    if let Some((_, items)) = &item.content {
                        self.items(items, text);
                    }
                }
                Item::Impl(item) => {
                    let name = type_name(&item.self_ty);
                    let of = item.trait_.as_ref().and_then(|(path, _)| path.segments.last());
                    match of.map(|segment| segment.ident.to_string()).as_deref() {
                        Some("Message") => _ = self.messages.insert(name.clone()),
                        Some("Default") => _ = self.defaults.insert(name.clone()),
                        _ => {}
                    }
                    for item in &item.items {
                        match item {
                            ImplItem::Fn(method) => self.method(&name, &method.sig, text),
                            ImplItem::Const(item) => {
                                let path = format!("{name}::{}", item.ident);
                                put(&mut self.constants, path, type_text(&item.ty, text));
                            }
                            _ => {}
                        }
                    }
                }
                Item::Trait(item) => {
                    for method in &item.items {
                        if let TraitItem::Fn(method) = method {
                            self.method(&item.ident.to_string(), &method.sig, text);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn method(&mut self, type_name: &str, signature: &Signature, text: &str) {
        let mut declared = function(signature, text);
        if declared.output.as_deref() == Some("Self") {
            declared.output = Some(type_name.to_owned());
        }
        put(&mut self.functions, format!("{type_name}::{}", signature.ident), declared);
    }

    fn derives(&mut self, name: &str, attributes: &[Attribute]) {
        let derives_default = attributes.iter().any(|attribute| match &attribute.meta {
            Meta::List(list) if list.path.is_ident("derive") => {
                list.tokens.clone().into_iter().any(|token| token.to_string() == "Default")
            }
            _ => false,
        });
        if derives_default {
            self.defaults.insert(name.to_owned());
        }
    }

    /// Returns the variants of an enum.
    pub(crate) fn variants(&self, name: &str) -> Option<&[EnumVariant]> {
        self.enums.get(name)?.as_deref()
    }

    /// Returns the named fields of a struct.
    pub(crate) fn fields(&self, name: &str) -> Option<&[Field]> {
        self.structs.get(name)?.as_deref()
    }

    /// Returns the type of a field.
    pub(crate) fn field(&self, name: &str, field: &str) -> Option<&str> {
        let fields = self.fields(name)?;
        fields.iter().find(|declared| declared.name == field).map(|field| field.ty.as_str())
    }

    /// Returns a function by its name, or a method by `Type::name`.
    pub(crate) fn function(&self, name: &str) -> Option<&FunctionSignature> {
        self.functions.get(name)?.as_ref()
    }

    /// Returns the only method of this name, whatever its type.
    pub(crate) fn method_of_any(&self, name: &str) -> Option<&FunctionSignature> {
        let suffix = format!("::{name}");
        let mut methods = self.functions.iter().filter(|(path, _)| path.ends_with(&suffix));
        let (_, first) = methods.next()?;
        methods.all(|(_, other)| other == first).then_some(first.as_ref()).flatten()
    }

    /// Returns the type of a constant.
    pub(crate) fn constant(&self, name: &str) -> Option<&str> {
        self.constants.get(name)?.as_deref()
    }

    /// Whether a type is declared here.
    pub(crate) fn declares(&self, name: &str) -> bool {
        self.enums.contains_key(name) || self.structs.contains_key(name)
    }

    /// Whether a type is one of messages by the trait that it implements.
    pub(crate) fn is_message(&self, name: &str) -> bool {
        self.messages.contains(name)
    }

    /// Whether a type that is declared here has a default value.
    pub(crate) fn has_default(&self, name: &str) -> bool {
        self.defaults.contains(name)
    }
}

/// Declares a name, or makes it unknown if it is declared in another way already.
fn put<T: PartialEq>(declared: &mut BTreeMap<String, Option<T>>, name: String, value: T) {
    match declared.entry(name) {
        Entry::Vacant(entry) => _ = entry.insert(Some(value)),
        Entry::Occupied(mut entry) => {
            if entry.get().as_ref() != Some(&value) {
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

    fn declared(text: &str) -> Declarations {
        let mut declarations = Declarations::default();
        declarations.add(&syn::parse_str(text).expect("the test's own source"), text);
        declarations
    }

    #[test]
    fn what_is_declared_in_two_ways_is_unknown() {
        let known = declared("enum A { B(u8), C(u8), D } mod x { enum A { B(u8), C(u8), D } }");
        assert_eq!(known.variants("A").map(<[EnumVariant]>::len), Some(3));
        let unknown = declared("enum A { B } mod x { enum A { C } }");
        assert_eq!(unknown.variants("A"), None);
    }

    #[test]
    fn methods_are_known_by_their_type_and_by_their_name_if_all_agree() {
        let known = declared(
            "struct A { b: Vec < &'a  T > } impl A { fn f(&self, x: u32) -> Self {} } impl C { fn f(&self, x: u32) -> A {} }",
        );
        assert_eq!(known.field("A", "b"), Some("Vec<&'a T>"));
        assert_eq!(known.function("A::f").and_then(|function| function.output.as_deref()), Some("A"));
        assert!(known.method_of_any("f").is_some());
        assert!(known.method_of_any("g").is_none());
    }
}
