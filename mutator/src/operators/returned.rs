//! RVR, return value replacement: a value that a function returns becomes a simple one of its type.
//!
//! Both booleans; 0 and 1 for a number; nothing for an option; a success with a simple value for a result; the empty
//! one for a string or a collection; the default value of a type that is known to have one. The type is that of the
//! signature. Source: the return value mutators of PIT and the function values of cargo-mutants, but a value each
//! instead of a body each, so that what the function does remains.

use simutant_outcomes::{Class, Tier};
use syn::{Expr, GenericArgument, GenericParam, PathArguments, ReturnType, Type};

use super::operator::{Change, Context, Infection, Operator, Place, infection_of};
use crate::syntax::declarations::{TypeText, type_name};
use crate::syntax::parts::{peeled, range_of};
use crate::syntax::types::{is_float, is_integer};

pub(super) const RETURN_VALUE_REPLACEMENT: Operator =
    Operator { name: "RVR", tier: Tier::A, class: Class::General, changes };

/// Types of the standard library and of the engine that have a default value: the empty one, or zero.
const WITH_DEFAULT: [&str; 16] = [
    "String",
    "Vec",
    "VecDeque",
    "BTreeMap",
    "BTreeSet",
    "BinaryHeap",
    "HashMap",
    "HashSet",
    "Box",
    "Rc",
    "Arc",
    "Duration",
    "VirtualTime",
    "VirtualDuration",
    "RefCell",
    "Cell",
];

fn changes(place: Place<'_>, context: &Context<'_>) -> Vec<Change> {
    let Place::Value(value) = place else { return Vec::new() };
    let ReturnType::Type(_, ty) = &context.signature.output else { return Vec::new() };
    // A literal has its own replacements, which are the same.
    if let Expr::Lit(_) = peeled(value) {
        return Vec::new();
    }
    let values = values(ty, context);
    let is_plain = matches!(&**ty, Type::Path(_)) && {
        let name = type_name(ty);
        is_integer(&name) || is_float(&name) || name == "bool"
    };
    let infection = if is_plain { infection_of(&[value]) } else { Infection::Reached };
    values.into_iter().map(|other| Change::new(range_of(value), vec![other.into()], infection)).collect()
}

/// Returns simple values of a type.
fn values(ty: &Type, context: &Context<'_>) -> Vec<String> {
    let values = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
    let path = match ty {
        Type::Path(path) => path,
        Type::Paren(inner) => return self::values(&inner.elem, context),
        Type::Reference(reference) if reference.mutability.is_none() => {
            return match &*reference.elem {
                Type::Slice(_) => values(&["&[]"]),
                inner if type_name(inner) == "str" => values(&["\"\""]),
                _ => Vec::new(),
            };
        }
        Type::Tuple(tuple) => {
            let parts: Option<Vec<String>> =
                tuple.elems.iter().map(|part| self::values(part, context).into_iter().next()).collect();
            return match parts {
                Some(parts) if parts.len() > 1 => vec![format!("({})", parts.join(", "))],
                _ => Vec::new(),
            };
        }
        _ => return Vec::new(),
    };
    let Some(last) = path.path.segments.last() else { return Vec::new() };
    let name = last.ident.to_string();
    let argument = match &last.arguments {
        PathArguments::AngleBracketed(arguments) => arguments.args.iter().find_map(|argument| match argument {
            GenericArgument::Type(ty) => Some(ty),
            _ => None,
        }),
        _ => None,
    };
    match name.as_str() {
        "bool" => values(&["true", "false"]),
        name if is_integer(name) => values(&["0", "1"]),
        name if is_float(name) => values(&["0.0", "1.0"]),
        "Option" => values(&["None"]),
        "Result" => {
            let successes = match argument {
                Some(Type::Tuple(tuple)) if tuple.elems.is_empty() => values(&["()"]),
                Some(ty) => self::values(ty, context),
                None => Vec::new(),
            };
            successes.into_iter().map(|success| format!("Ok({success})")).collect()
        }
        _ if is_parameter(&name, context) || name == "Self" => Vec::new(),
        name => {
            let ty = TypeText::of_path(&path.path.segments);
            let has_default = context.scope.has_default(&ty);
            let is_known = || WITH_DEFAULT.contains(&name) && !context.scope.declares(&ty);
            if has_default || is_known() { values(&["Default::default()"]) } else { Vec::new() }
        }
    }
}

/// Whether a name is a type parameter of the function.
fn is_parameter(name: &str, context: &Context<'_>) -> bool {
    context.signature.generics.params.iter().any(|parameter| match parameter {
        GenericParam::Type(parameter) => parameter.ident == name,
        _ => false,
    })
}
