//! The types that can be read off the text of a function: of parameters, fields, constants, casts, literals.
//!
//! This is no type inference. What is not known is left to the compiler, which rejects the mutants that do not
//! type-check.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};
use syn::{Block, Expr, FnArg, Lit, Local, Member, Pat, Signature, UnOp};

use crate::syntax::declarations::{Declarations, bound_name, type_text};
use crate::syntax::names::{Kind, Names};

/// The types of the names in one function.
#[derive(Debug)]
pub(crate) struct Types<'a> {
    declarations: &'a Declarations,
    self_type: Option<&'a str>,
    /// Names whose bindings are all of one type.
    locals: BTreeMap<String, Option<String>>,
    /// Names that are bound by `mut`.
    mutable: BTreeSet<String>,
}

impl<'a> Types<'a> {
    pub(crate) fn new(
        declarations: &'a Declarations,
        names: &Names,
        self_type: Option<&'a str>,
        signature: &Signature,
        body: &Block,
        text: &str,
    ) -> Self {
        let mut types = Self { declarations, self_type, locals: BTreeMap::new(), mutable: BTreeSet::new() };
        for input in &signature.inputs {
            if let FnArg::Typed(parameter) = input {
                types.note_mutable(&parameter.pat);
                match bound_name(&parameter.pat) {
                    Some(name) => types.bind(name, Some(type_text(&parameter.ty, text))),
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

    fn bind(&mut self, name: String, ty: Option<String>) {
        let known = self.locals.entry(name).or_insert_with(|| ty.clone());
        if *known != ty {
            *known = None;
        }
    }

    /// Returns the type that the function is a method of.
    pub(crate) fn self_type(&self) -> Option<&'a str> {
        self.self_type
    }

    /// Whether a local name is bound so that it can be assigned to.
    pub(crate) fn is_mutable(&self, name: &str) -> bool {
        self.mutable.contains(name)
    }

    /// Returns the type of an expression, as the text that the source has for it, without references around it.
    pub(crate) fn of(&self, expression: &Expr) -> Option<String> {
        self.find(expression).map(|ty| without_reference(&ty).to_owned())
    }

    /// Returns the names of locals and parameters that are known to be of a type, in alphabetical order.
    pub(crate) fn locals_of<'s>(&'s self, ty: &'s str) -> impl Iterator<Item = &'s str> {
        let is_it = move |found: &&Option<String>| found.as_deref() == Some(ty);
        self.locals.iter().filter(move |(_, found)| is_it(found)).map(|(name, _)| name.as_str())
    }

    fn find(&self, expression: &Expr) -> Option<String> {
        match expression {
            Expr::Paren(inner) => self.find(&inner.expr),
            Expr::Reference(inner) => self.find(&inner.expr),
            Expr::Unary(inner) if matches!(inner.op, UnOp::Deref(_) | UnOp::Neg(_)) => self.find(&inner.expr),
            Expr::Cast(inner) => Some(crate::syntax::declarations::type_name(&inner.ty)),
            Expr::Lit(inner) => match &inner.lit {
                Lit::Int(literal) if !literal.suffix().is_empty() => Some(literal.suffix().to_owned()),
                Lit::Float(literal) if !literal.suffix().is_empty() => Some(literal.suffix().to_owned()),
                Lit::Bool(_) => Some("bool".to_owned()),
                _ => None,
            },
            Expr::Path(inner) => {
                let segments = &inner.path.segments;
                let last = segments.last()?.ident.to_string();
                if segments.len() == 1 {
                    match self.locals.get(&last) {
                        Some(known) => known.clone(),
                        None => self.declarations.constant(&last).map(str::to_owned),
                    }
                } else {
                    let ty = self.named(&segments[segments.len() - 2].ident.to_string())?;
                    let path = format!("{ty}::{last}");
                    match self.declarations.constant(&path).or_else(|| self.declarations.constant(&last)) {
                        Some(constant) => Some(constant.to_owned()),
                        // `u32::MAX`, `State::Open`.
                        None if is_integer(&ty) => Some(ty),
                        None => self.declarations.variants(&ty).map(|_| ty),
                    }
                }
            }
            Expr::Field(inner) => {
                let Member::Named(member) = &inner.member else { return None };
                let base = if is_self(&inner.base) { self.self_type?.to_owned() } else { self.of(&inner.base)? };
                self.declarations.field(bare(&base), &member.to_string()).map(str::to_owned)
            }
            Expr::Struct(inner) => self.named(&inner.path.segments.last()?.ident.to_string()),
            Expr::Call(inner) => {
                let Expr::Path(path) = &*inner.func else { return None };
                let segments = &path.path.segments;
                let last = segments.last()?.ident.to_string();
                match segments.len() {
                    1 => self.declarations.function(&last)?.output.clone(),
                    count => {
                        let ty = self.named(&segments[count - 2].ident.to_string())?;
                        match self.declarations.function(&format!("{ty}::{last}")) {
                            Some(function) => function.output.clone(),
                            None if is_integer(&ty) => Some(ty),
                            // By the customs of Rust, these make a value of the type before them.
                            None if last == "new" || last == "default" || last.starts_with("from_") => Some(ty),
                            None => self.declarations.variants(&ty).map(|_| ty),
                        }
                    }
                }
            }
            Expr::MethodCall(inner) => {
                let method = inner.method.to_string();
                match method.as_str() {
                    "len" | "count" => return Some("usize".to_owned()),
                    "clone" | "saturating_sub" | "wrapping_sub" | "saturating_add" | "wrapping_add" | "min" | "max" => {
                        return self.find(&inner.receiver);
                    }
                    _ => {}
                }
                let receiver =
                    if is_self(&inner.receiver) { self.self_type.map(str::to_owned) } else { self.of(&inner.receiver) };
                let function = self.declarations.function(&format!("{}::{method}", bare(&receiver?)))?;
                function.output.clone()
            }
            Expr::Binary(inner) => {
                let (left, right) = (self.find(&inner.left)?, self.find(&inner.right)?);
                (left == right && !crate::syntax::purity::is_relation(&inner.op)).then_some(left)
            }
            _ => None,
        }
    }

    fn named(&self, name: &str) -> Option<String> {
        if name == "Self" { self.self_type.map(str::to_owned) } else { Some(name.to_owned()) }
    }

    /// Whether an expression is of an unsigned integer type.
    pub(crate) fn is_unsigned(&self, expression: &Expr) -> bool {
        self.of(expression).is_some_and(|ty| UNSIGNED.contains(&ty.as_str()))
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
            (Some(name), Pat::Type(pattern)) => self.types.bind(name, Some(type_text(&pattern.ty, self.text))),
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

    #[track_caller]
    fn check(body: &str, expression: &str, expect: Option<&str>) {
        let text = format!(
            "const LIMIT: u32 = 3; struct A {{ list: Vec<u8>, other: B }} struct B {{ size: u16 }} fn g() -> i8 {{}}
             impl A {{ fn name(&self) -> String {{}} }} fn f(a: &'x mut A, n: u64, same: u8) {{ {body} }}"
        );
        let syntax: syn::File = syn::parse_str(&text).expect("the test's own source");
        let mut declarations = Declarations::default();
        declarations.add(&syntax, &text);
        let Some(syn::Item::Fn(function)) = syntax.items.last() else { panic!("the function is last") };
        let names = Names::default();
        let types = Types::new(&declarations, &names, Some("A"), &function.sig, &function.block, &text);
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
