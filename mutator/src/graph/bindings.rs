//! What names mean: which identifiers a pattern binds, and which methods leave their receiver as it is.

use std::ops::Range;

use proc_macro2::{TokenStream, TokenTree};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Expr, FnArg, Lit, Macro, Pat, ReceiverKind, Token};

use crate::syntax::parts::range_of;
use crate::syntax::purity::PURE_METHODS;

/// What of a function's signature data flow needs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Signature {
    pub(crate) name: String,
    /// The type whose method it is, if any.
    pub(crate) type_name: Option<String>,
    /// Whether it takes `self` by reference.
    pub(crate) borrows_self: bool,
    /// What the parameters bind.
    pub(crate) parameters: Vec<(String, Range<usize>)>,
}

impl Signature {
    pub(crate) fn new(signature: &syn::Signature, type_name: Option<&str>) -> Self {
        let name = signature.ident.to_string();
        let mut known = Self { name, type_name: type_name.map(str::to_owned), ..Self::default() };
        for input in &signature.inputs {
            match input {
                FnArg::Receiver(receiver) if matches!(receiver.kind, ReceiverKind::Reference(..)) => {
                    known.borrows_self = true;
                }
                FnArg::Receiver(receiver) => known.parameters.push(("self".into(), range_of(&receiver.self_token))),
                FnArg::Typed(typed) => bindings(&typed.pat, &mut known.parameters),
            }
        }
        known
    }
}

/// Methods of the standard library and of the engine that leave their receiver as it is, beside those that can be
/// evaluated twice without anyone noticing.
const HARMLESS_METHODS: [&str; 56] = [
    "as_nanos",
    "as_millis",
    "as_secs",
    "binary_search",
    "borrow",
    "bytes",
    "ceil",
    "chars",
    "chunks",
    "clone",
    "cloned",
    "cmp",
    "deref",
    "div_ceil",
    "eq",
    "first_key_value",
    "floor",
    "get_or",
    "index",
    "into_iter",
    "is_multiple_of",
    "is_none_or",
    "is_some_and",
    "iter",
    "keys",
    "last_key_value",
    "leading_zeros",
    "lines",
    "ne",
    "now",
    "partial_cmp",
    "peek",
    "pow",
    "range",
    "rem_euclid",
    "running",
    "split",
    "split_at",
    "split_first",
    "split_last",
    "split_whitespace",
    "sqrt",
    "strip_prefix",
    "strip_suffix",
    "to_owned",
    "to_string",
    "to_vec",
    "total_cmp",
    "trailing_zeros",
    "trim",
    "try_into",
    "unsigned_abs",
    "values",
    "windows",
    "wrapping_mul",
    "zip",
];

/// Returns whether the method of this name leaves its receiver as it is.
pub(super) fn is_harmless(method: &str) -> bool {
    PURE_METHODS.contains(&method) || HARMLESS_METHODS.contains(&method)
}

/// Appends what a pattern binds, each name with its place.
pub(crate) fn bindings(pattern: &Pat, found: &mut Vec<(String, Range<usize>)>) {
    match pattern {
        Pat::Ident(inner) => {
            let name = inner.ident.to_string();
            // What looks like a constant or a variant is one, as the compiler's lints want it.
            let is_constant = inner.by_ref.is_none()
                && inner.mutability.is_none()
                && inner.subpat.is_none()
                && name.starts_with(char::is_uppercase);
            if !is_constant && !found.iter().any(|(known, _)| *known == name) {
                found.push((name, range_of(&inner.ident)));
            }
            if let Some((_, pattern)) = &inner.subpat {
                bindings(pattern, found);
            }
        }
        Pat::Guard(inner) => {
            bindings(&inner.pat, found);
            bindings_of_condition(&inner.guard, found);
        }
        // All alternatives bind the same names.
        Pat::Or(inner) => inner.cases.iter().for_each(|pattern| bindings(pattern, found)),
        Pat::Paren(inner) => bindings(&inner.pat, found),
        Pat::Reference(inner) => bindings(&inner.pat, found),
        Pat::Slice(inner) => inner.elems.iter().for_each(|pattern| bindings(pattern, found)),
        Pat::Struct(inner) => inner.fields.iter().for_each(|field| bindings(&field.pat, found)),
        Pat::Tuple(inner) => inner.elems.iter().for_each(|pattern| bindings(pattern, found)),
        Pat::TupleStruct(inner) => inner.elems.iter().for_each(|pattern| bindings(pattern, found)),
        Pat::Type(inner) => bindings(&inner.pat, found),
        _ => {}
    }
}

/// Appends what the patterns of a chain of conditions bind.
fn bindings_of_condition(condition: &Expr, found: &mut Vec<(String, Range<usize>)>) {
    match condition {
        Expr::Let(inner) => bindings(&inner.pat, found),
        Expr::Binary(inner) => {
            bindings_of_condition(&inner.left, found);
            bindings_of_condition(&inner.right, found);
        }
        _ => {}
    }
}

/// Returns the arguments of a macro call that are evaluated whenever it is, as far as they are known, and the names
/// that its format string mentions.
pub(super) fn macro_arguments(mac: &Macro) -> (Vec<Expr>, Vec<(String, Range<usize>)>) {
    let Some(name) = mac.path.segments.last().map(|segment| segment.ident.to_string()) else {
        return Default::default();
    };
    let evaluated = match name.as_str() {
        "assert" | "debug_assert" => 1,
        "assert_eq" | "assert_ne" | "debug_assert_eq" | "debug_assert_ne" => 2,
        "format" | "print" | "println" | "eprint" | "eprintln" | "write" | "writeln" | "panic" | "unreachable"
        | "todo" | "unimplemented" | "vec" => usize::MAX,
        "matches" => {
            // The pattern is no expression: only what comes before the first comma is parsed.
            let is_before = |token: &TokenTree| !matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',');
            let scrutinee: TokenStream = mac.tokens.clone().into_iter().take_while(is_before).collect();
            return (syn::parse2(scrutinee).into_iter().collect(), Vec::new());
        }
        _ => return Default::default(),
    };
    let parser = Punctuated::<Expr, Token![,]>::parse_terminated;
    let Ok(arguments) = parser.parse2(mac.tokens.clone()) else { return Default::default() };
    let mut expressions = Vec::new();
    let mut names = Vec::new();
    for argument in arguments.into_iter().take(evaluated) {
        match argument {
            // A named argument of a format string.
            Expr::Assign(named) if name != "vec" => expressions.push(*named.right),
            Expr::Lit(literal) if evaluated == usize::MAX && name != "vec" => {
                if let Lit::Str(text) = &literal.lit {
                    let range = range_of(&literal);
                    names.extend(mentioned(&text.value()).into_iter().map(|name| (name, range.clone())));
                }
            }
            other => expressions.push(other),
        }
    }
    (expressions, names)
}

/// Returns the names of variables in a format string.
fn mentioned(format: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for piece in format.replace("{{", "").split('{').skip(1) {
        let inside = piece.split('}').next().unwrap_or_default();
        let name = inside.split(':').next().unwrap_or_default().trim();
        let is_name = name.starts_with(|first: char| first.is_alphabetic() || first == '_');
        if is_name && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_bind_names_but_no_constants() {
        let pattern = Parser::parse_str(Pat::parse_multi, "(a, Some(b @ 1..), S { c, d: [e, ..], .. }, NONE, &mut f)");
        let mut found = Vec::new();
        bindings(&pattern.expect("the test's own pattern"), &mut found);
        assert_eq!(found.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["a", "b", "c", "e", "f"]);
    }

    #[test]
    fn a_format_string_mentions_names() {
        assert_eq!(mentioned("{{x}} {a} {b:?} {0} {} {a:>3}"), ["a", "b"]);
    }

    #[test]
    fn the_message_of_an_assertion_is_not_evaluated() {
        let mac: Macro = syn::parse_str("assert_eq!(a, b, \"{c}\", d)").expect("the test's own macro");
        let (arguments, names) = macro_arguments(&mac);
        assert_eq!((arguments.len(), names.len()), (2, 0));
        let mac: Macro = syn::parse_str("format!(\"{c}\", d, e = f)").expect("the test's own macro");
        let (arguments, names) = macro_arguments(&mac);
        assert_eq!((arguments.len(), names.len()), (2, 1));
    }
}
