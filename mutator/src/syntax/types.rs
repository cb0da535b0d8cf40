//! The types that can be read off the text of a function: of parameters, fields, constants, casts, literals.
//!
//! This is no type inference. What is not known is left to the compiler, which rejects the mutants that do not
//! type-check.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};
use syn::{Block, Expr, FnArg, Lit, Local, Member, Pat, Signature, UnOp};

use crate::syntax::declarations::{Scope, TypeText, bound_name, type_name, type_text};
use crate::syntax::names::{Kind, Names};

/// The types of the names in one function.
#[derive(Debug)]
pub(crate) struct Types<'a> {
    scope: &'a Scope<'a>,
    /// Names whose bindings are all of one type.
    locals: BTreeMap<String, Option<TypeText>>,
    /// Names that are bound by `mut`.
    mutable: BTreeSet<String>,
}

impl<'a> Types<'a> {
    pub(crate) fn new(scope: &'a Scope<'a>, names: &Names, signature: &Signature, body: &Block, text: &str) -> Self {
        let mut types = Self { scope, locals: BTreeMap::new(), mutable: BTreeSet::new() };
        for input in &signature.inputs {
            if let FnArg::Typed(parameter) = input {
                types.note_mutable(&parameter.pat);
                match bound_name(&parameter.pat) {
                    Some(name) => types.bind(name, Some(TypeText::here(type_text(&parameter.ty, text)))),
                    None => Binder { types: &mut types, names, text }.visit_pat(&parameter.pat),
                }
            }
        }
        Binder { types: &mut types, names, text }.visit_block(body);
        types
    }

    fn note_mutable(&mut self, pattern: &Pat) {
        match pattern {
            Pat::Ident(pattern) if pattern.mutability.is_some() => _ = self.mutable.insert(pattern.ident.to_string()),
            Pat::Type(pattern) => self.note_mutable(&pattern.pat),
            _ => {}
        }
    }

    fn bind(&mut self, name: String, ty: Option<TypeText>) {
        let known = self.locals.entry(name).or_insert_with(|| ty.clone());
        if *known != ty {
            *known = None;
        }
    }

    /// Whether a local name is bound so that it can be assigned to.
    pub(crate) fn is_mutable(&self, name: &str) -> bool {
        self.mutable.contains(name)
    }

    /// Returns the type of an expression, as the text that the source has for it, without references around it.
    pub(crate) fn of(&self, expression: &Expr) -> Option<TypeText> {
        self.find(expression).map(TypeText::without_reference)
    }

    /// Returns the names of locals and parameters that are known to be of a type, in alphabetical order.
    pub(crate) fn locals_of<'s>(&'s self, ty: &'s str) -> impl Iterator<Item = &'s str> {
        let is_it = move |found: &&Option<TypeText>| found.as_deref() == Some(ty);
        self.locals.iter().filter(move |(_, found)| is_it(found)).map(|(name, _)| name.as_str())
    }

    /// Returns the type of a receiver or of what a field is taken from.
    pub(crate) fn of_base(&self, base: &Expr) -> Option<TypeText> {
        if is_self(base) { self.scope.self_type().cloned() } else { self.of(base) }
    }

    fn find(&self, expression: &Expr) -> Option<TypeText> {
        match expression {
            Expr::Paren(inner) => self.find(&inner.expr),
            Expr::Reference(inner) => self.find(&inner.expr),
            Expr::Unary(inner) if matches!(inner.op, UnOp::Deref(_) | UnOp::Neg(_)) => self.find(&inner.expr),
            Expr::Cast(inner) => Some(TypeText::here(type_name(&inner.ty))),
            Expr::Lit(inner) => match &inner.lit {
                Lit::Int(literal) if !literal.suffix().is_empty() => Some(TypeText::here(literal.suffix())),
                Lit::Float(literal) if !literal.suffix().is_empty() => Some(TypeText::here(literal.suffix())),
                Lit::Bool(_) => Some(TypeText::here("bool")),
                _ => None,
            },
            Expr::Path(inner) => match inner.path.get_ident() {
                Some(name) => match self.locals.get(&name.to_string()) {
                    Some(known) => known.clone(),
                    None => self.scope.constant(&inner.path),
                },
                None => self.scope.constant(&inner.path).or_else(|| {
                    let ty = self.before_last(&inner.path)?;
                    // `u32::MAX`, `State::Open`.
                    if is_integer(&ty) { Some(ty) } else { self.scope.variants(&ty).map(|_| ty) }
                }),
            },
            Expr::Field(inner) => {
                let Member::Named(member) = &inner.member else { return None };
                self.scope.field(&self.of_base(&inner.base)?, &member.to_string())
            }
            Expr::Struct(inner) => self.scope.named(inner.path.segments.iter()),
            Expr::Call(inner) => {
                let Expr::Path(path) = &*inner.func else { return None };
                if let Some(output) = self.scope.output(&path.path) {
                    return output;
                }
                let last = path.path.segments.last()?.ident.to_string();
                match self.before_last(&path.path)? {
                    ty if is_integer(&ty) => Some(ty),
                    // By the customs of Rust, these make a value of the type before them.
                    ty if last == "new" || last == "default" || last.starts_with("from_") => Some(ty),
                    ty => self.scope.variants(&ty).map(|_| ty),
                }
            }
            Expr::MethodCall(inner) => {
                let method = inner.method.to_string();
                match method.as_str() {
                    "len" | "count" => return Some(TypeText::here("usize")),
                    "clone" | "saturating_sub" | "wrapping_sub" | "saturating_add" | "wrapping_add" | "min" | "max" => {
                        return self.find(&inner.receiver);
                    }
                    // A place of a net, which says what its tokens are.
                    "place" => {
                        let tokens = inner.turbofish.as_ref()?.args.first()?;
                        let syn::GenericArgument::Type(tokens) = tokens else { return None };
                        return Some(TypeText::here(format!("Place<{}>", type_name(tokens))));
                    }
                    _ => {}
                }
                self.scope.method_output(&self.of_base(&inner.receiver)?, &method)
            }
            Expr::Binary(inner) => {
                let (left, right) = (self.find(&inner.left)?, self.find(&inner.right)?);
                (left == right && !crate::syntax::purity::is_relation(&inner.op)).then_some(left)
            }
            _ => None,
        }
    }

    /// Returns the type that a path names before its last name.
    fn before_last(&self, path: &syn::Path) -> Option<TypeText> {
        let count = path.segments.len().checked_sub(1).filter(|count| *count > 0)?;
        self.scope.named(path.segments.iter().take(count))
    }

    /// Whether an expression is of an unsigned integer type.
    pub(crate) fn is_unsigned(&self, expression: &Expr) -> bool {
        self.of(expression).is_some_and(|ty| is_unsigned_integer(&ty))
    }
}

const UNSIGNED: [&str; 6] = ["u8", "u16", "u32", "u64", "u128", "usize"];

const SIGNED: [&str; 6] = ["i8", "i16", "i32", "i64", "i128", "isize"];

pub(crate) fn is_integer(ty: &str) -> bool {
    UNSIGNED.contains(&ty) || SIGNED.contains(&ty)
}

pub(crate) fn is_unsigned_integer(ty: &str) -> bool {
    UNSIGNED.contains(&ty)
}

pub(crate) fn is_float(ty: &str) -> bool {
    ty == "f32" || ty == "f64"
}

fn is_self(expression: &Expr) -> bool {
    matches!(expression, Expr::Path(path) if path.path.is_ident("self"))
}

/// Returns a type without `&`, a lifetime and `mut` before it.
pub(crate) fn without_reference(ty: &str) -> &str {
    let Some(rest) = ty.strip_prefix('&') else { return ty };
    let rest = if rest.starts_with('\'') { rest.split_once(' ').map_or(rest, |(_, rest)| rest) } else { rest };
    without_reference(rest.strip_prefix("mut ").unwrap_or(rest))
}

/// Returns the name of a type without its path and its arguments.
pub(crate) fn bare(ty: &str) -> &str {
    let ty = without_reference(ty).split('<').next().unwrap_or_default();
    ty.rsplit("::").next().unwrap_or_default()
}

/// Collects what a function binds.
struct Binder<'t, 'a> {
    types: &'t mut Types<'a>,
    names: &'t Names,
    text: &'t str,
}

impl<'ast> Visit<'ast> for Binder<'_, '_> {
    fn visit_local(&mut self, local: &'ast Local) {
        if let Some(init) = &local.init {
            self.visit_expr(&init.expr);
            if let Some((_, otherwise)) = &init.diverge {
                self.visit_expr(otherwise);
            }
        }
        self.types.note_mutable(&local.pat);
        match (bound_name(&local.pat), &local.pat) {
            (Some(name), Pat::Type(pattern)) => {
                self.types.bind(name, Some(TypeText::here(type_text(&pattern.ty, self.text))));
            }
            (Some(name), _) => {
                let value = local.init.as_ref().map(|init| &*init.expr);
                let is_now = matches!(value, Some(Expr::MethodCall(call)) if call.args.is_empty()
                    && self.names.is(Kind::Now, &call.method.to_string()));
                let ty = value.filter(|_| !is_now).and_then(|value| self.types.of(value));
                self.types.bind(name, ty);
            }
            (None, pattern) => self.visit_pat(pattern),
        }
    }

    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        self.types.bind(pattern.ident.to_string(), None);
        if pattern.mutability.is_some() {
            self.types.mutable.insert(pattern.ident.to_string());
        }
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::declarations::Declarations;

    #[track_caller]
    fn check(body: &str, expression: &str, expect: Option<&str>) {
        let text = format!(
            "const LIMIT: u32 = 3; struct A {{ list: Vec<u8>, other: B }} struct B {{ size: u16 }} fn g() -> i8 {{}}
             impl A {{ fn name(&self) -> String {{}} }} fn f(a: &'x mut A, n: u64, same: u8) {{ {body} }}"
        );
        let syntax: syn::File = syn::parse_str(&text).expect("the test's own source");
        let declarations = Declarations::of_text(&text);
        let Some(syn::Item::Fn(function)) = syntax.items.last() else { panic!("the function is last") };
        let names = Names::default();
        let scope = declarations.scope("a", Some("A"), &function.block);
        let types = Types::new(&scope, &names, &function.sig, &function.block, &text);
        let expression: Expr = syn::parse_str(expression).expect("the test's own source");
        assert_eq!(types.of(&expression).as_deref(), expect);
    }

    #[test]
    fn types_are_read_off_the_text() {
        check("", "LIMIT", Some("u32"));
        check("", "a.other.size + a.other.size", Some("u16"));
        check("", "self.other", Some("B"));
        check("", "self.name()", Some("String"));
        check("", "a.list.len()", Some("usize"));
        check("", "x as i32", Some("i32"));
        check("let y = g();", "y", Some("i8"));
        check("", "u32::MAX", Some("u32"));
        check("", "unknown(3)", None);
        check("", "n < n", None);
    }

    #[test]
    fn a_name_with_two_types_has_none() {
        check("let same: u16 = 3;", "same", None);
        check("let same: u8 = 3;", "same", Some("u8"));
        check("if let Some(n) = x {}", "n", None);
    }
}
