//! Small questions about pieces of syntax: where they are, what they are called, whether control goes on after them.

use std::ops::Range;

use syn::spanned::Spanned;
use syn::{Attribute, Block, Expr, Meta, Type, UnOp};

/// Macros after which control does not go on.
const DIVERGING_MACROS: [&str; 4] = ["panic", "unreachable", "todo", "unimplemented"];

/// Returns the bytes of a piece of syntax.
pub(crate) fn range_of(syntax: &impl Spanned) -> Range<usize> {
    syntax.span().byte_range()
}

/// Returns the body's range without its braces.
pub(crate) fn inside(body: &Block) -> Range<usize> {
    let range = range_of(body);
    range.start + 1..range.end - 1
}

/// Returns whether a condition contains a `let`, which cannot leave its place.
pub(crate) fn binds(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(binary) => binds(&binary.left) || binds(&binary.right),
        _ => false,
    }
}

/// Returns whether control does not go on after a call of a macro.
pub(crate) fn diverges(mac: &syn::Macro) -> bool {
    mac.path.segments.last().is_some_and(|segment| DIVERGING_MACROS.iter().any(|name| segment.ident == name))
}

/// Returns whether an item is a test. Modules of tests are not compiled, and taken out before.
pub(crate) fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| matches!(&attribute.meta, Meta::Path(path) if path.is_ident("test")))
}

/// Returns whether nothing but lifetimes is left open.
pub(crate) fn has_lifetimes_only(generics: &syn::Generics) -> bool {
    generics.params.iter().all(|parameter| matches!(parameter, syn::GenericParam::Lifetime(_)))
}

/// Returns the last name in the path of a type, without what it refers to by reference.
pub(crate) fn type_name(ty: &Type) -> String {
    match ty {
        Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default(),
        Type::Reference(reference) => type_name(&reference.elem),
        _ => "impl".into(),
    }
}

/// Returns the path of a type without its arguments, and without what refers to it.
pub(crate) fn type_path(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(path) => {
            let names: Vec<String> = path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            Some(names.join("::"))
        }
        Type::Reference(reference) => type_path(&reference.elem),
        _ => None,
    }
}

/// Returns the path of what has a name and is in something of this path.
pub(crate) fn join(path: &str, name: &str) -> String {
    match (path, name) {
        ("", part) | (part, "") => part.into(),
        _ => format!("{path}::{name}"),
    }
}

/// Returns an expression without the parentheses around it.
pub(crate) fn peeled(expression: &Expr) -> &Expr {
    match expression {
        Expr::Paren(inner) => peeled(&inner.expr),
        Expr::Group(inner) => peeled(&inner.expr),
        _ => expression,
    }
}

/// Returns whether an expression names a place, so that handing its value on would move out of it.
pub(crate) fn is_place(expression: &Expr) -> bool {
    match expression {
        Expr::Path(_) | Expr::Field(_) | Expr::Index(_) => true,
        Expr::Unary(inner) => matches!(inner.op, UnOp::Deref(_)),
        Expr::Paren(inner) => is_place(&inner.expr),
        _ => false,
    }
}
