//! Types of results that only the compiler can name: `impl Trait`.

use std::ops::Range;

use syn::punctuated::Punctuated;
use syn::visit::Visit;
use syn::{GenericArgument, PathArguments, ReturnType, Signature, Token, Type, TypeParamBound};

use crate::syntax::parts::range_of;

/// What a function returns whose result has a type that only the compiler can name. The bodies of such a function
/// return values of different types, which have to become one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hidden {
    pub(crate) kind: HiddenKind,
    /// Whether the value is in an `Option` or a `Result`.
    pub(crate) is_inside: bool,
}

/// What a value of such a type is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HiddenKind {
    /// Something that one of several can stand for: an iterator, text.
    Value,
    /// Something that becomes an iterator.
    Iterable,
    /// A future, which has to be in a box, so that it can be moved.
    Future,
    /// A closure, with what it can do, which no type of the probes can.
    Function(Range<usize>),
}

/// What `simutant_probe::Either` can do, and what every type of types that can, can.
const TRAITS: [&str; 13] = [
    "Clone",
    "Debug",
    "Display",
    "DoubleEndedIterator",
    "ExactSizeIterator",
    "FusedIterator",
    "Iterator",
    "RefUnwindSafe",
    "Send",
    "Sized",
    "Sync",
    "Unpin",
    "UnwindSafe",
];

const FUNCTIONS: [&str; 3] = ["Fn", "FnMut", "FnOnce"];

/// Traits that may stand beside another one in a `dyn`.
const AUTO_TRAITS: [&str; 5] = ["RefUnwindSafe", "Send", "Sync", "Unpin", "UnwindSafe"];

/// Returns what a function returns, if only the compiler can name its type.
///
/// # Errors
/// Says why the bodies of the function cannot return the same type.
pub(crate) fn hidden(signature: &Signature) -> Result<Option<Hidden>, &'static str> {
    if !returns_impl(signature) {
        return Ok(None);
    }
    let ReturnType::Type(_, returned) = &signature.output else { return Ok(None) };
    let (bounds, is_inside) = match &**returned {
        Type::ImplTrait(hidden) => (&hidden.bounds, false),
        Type::Path(path) => match path.path.segments.last().map(|last| (&last.ident, &last.arguments)) {
            Some((name, PathArguments::AngleBracketed(arguments))) if name == "Option" || name == "Result" => {
                let mut arguments = arguments.args.iter();
                let Some(GenericArgument::Type(Type::ImplTrait(hidden))) = arguments.next() else { return Err(PLACE) };
                (&hidden.bounds, true)
            }
            _ => return Err(PLACE),
        },
        _ => return Err(PLACE),
    };
    match kind(bounds) {
        Some(kind) => Ok(Some(Hidden { kind, is_inside })),
        None => Err(TRAIT),
    }
}

const PLACE: &str = "its bodies would return different types: an `impl Trait` is inside of the type that it returns";

const TRAIT: &str =
    "its bodies would return different types: it returns an `impl Trait` that is no iterator, future, closure or text";

fn kind(bounds: &Punctuated<TypeParamBound, Token![+]>) -> Option<HiddenKind> {
    let names: Vec<String> = bounds
        .iter()
        .filter_map(|bound| match bound {
            TypeParamBound::Trait(bound) => Some(bound.path.segments.last()?.ident.to_string()),
            _ => None,
        })
        .collect();
    let captures = bounds.iter().any(|bound| matches!(bound, TypeParamBound::PreciseCapture(_)));
    let are_among = |known: &[&str]| names.iter().filter(|name| !known.contains(&name.as_str())).count();
    let has = |name: &str| names.iter().any(|other| other == name);
    if names.iter().any(|name| FUNCTIONS.contains(&name.as_str())) {
        let fits = are_among(&AUTO_TRAITS) == 1 && !captures;
        return fits.then(|| HiddenKind::Function(range_of(bounds)));
    }
    match are_among(&TRAITS) {
        0 => Some(HiddenKind::Value),
        1 if has("Future") => Some(HiddenKind::Future),
        1 if has("IntoIterator") => Some(HiddenKind::Iterable),
        _ => None,
    }
}

/// Returns whether the type that a function returns is known to the compiler only.
fn returns_impl(signature: &Signature) -> bool {
    struct Finder(bool);
    impl Visit<'_> for Finder {
        fn visit_type_impl_trait(&mut self, _: &syn::TypeImplTrait) {
            self.0 = true;
        }
    }
    let mut finder = Finder(false);
    finder.visit_return_type(&signature.output);
    finder.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(returned: &str, expect: Result<Option<(&str, bool)>, &str>) {
        let text = format!("fn f() -> {returned}");
        let signature: Signature = syn::parse_str(&text).expect("the test's own signature");
        let found = hidden(&signature);
        let found = found.map(|hidden| {
            hidden.map(|Hidden { kind, is_inside }| {
                let kind = match kind {
                    HiddenKind::Value => "value".to_owned(),
                    HiddenKind::Iterable => "iterable".to_owned(),
                    HiddenKind::Future => "future".to_owned(),
                    HiddenKind::Function(range) => text[range].to_owned(),
                };
                (kind, is_inside)
            })
        });
        assert_eq!(found, expect.map(|hidden| hidden.map(|(kind, is_inside)| (kind.to_owned(), is_inside))));
    }

    #[test]
    fn what_bodies_return_can_be_one_type_where_its_traits_are_known() {
        check("Vec<u8>", Ok(None));
        check("impl Iterator<Item = u8> + '_", Ok(Some(("value", false))));
        check("impl std::fmt::Display + Send + use<'a, T>", Ok(Some(("value", false))));
        check("impl IntoIterator<Item = u8> + Clone", Ok(Some(("iterable", false))));
        check("impl Future<Output = u8> + Send", Ok(Some(("future", false))));
        check("impl Fn(u8) -> u8 + Send + '_", Ok(Some(("Fn(u8) -> u8 + Send + '_", false))));
        check("io::Result<impl Iterator<Item = u8>>", Ok(Some(("value", true))));
        check("Option<impl FnOnce()>", Ok(Some(("FnOnce()", true))));
    }

    #[test]
    fn it_cannot_elsewhere() {
        check("(u8, impl Iterator<Item = u8>)", Err(PLACE));
        check("Box<impl Fn()>", Err(PLACE));
        check("Result<u8, impl Display>", Err(PLACE));
        check("impl Write", Err(TRAIT));
        check("impl Iterator<Item = u8> + Mine", Err(TRAIT));
        check("impl Fn() + Clone", Err(TRAIT));
        check("impl Fn() + use<>", Err(TRAIT));
    }
}
