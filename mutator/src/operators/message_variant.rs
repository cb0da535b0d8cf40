//! MSG-V, message variant replacement: a message of one kind becomes one of another kind with the same payload.
//!
//! Source: event-exchanged and output-exchanged of Fabbri, Delamaro, Maldonado and Masiero (ISSRE 1994). An enum is one
//! of messages if it implements a trait `Message`, if its name says so, or where a variant is sent. Of several variants
//! with the same payload it is the next one; all of them in the whole set.

use simutant_outcomes::{Class, Tier};
use syn::{Expr, Path};

use super::operator::{Change, Context, Operator, Place, Replacements};
use super::pieces::{arguments, replaced};
use crate::syntax::declarations::{EnumVariant, TypeText};
use crate::syntax::names::Kind;
use crate::syntax::parts::{peeled, range_of};

pub(super) const MESSAGE_VARIANT_REPLACEMENT: Operator =
    Operator { name: "MSG-V", tier: Tier::B, class: Class::Message, changes };

fn changes(place: Place<'_>, context: &Context<'_>) -> Vec<Change> {
    let Place::Expression(expression) = place else { return Vec::new() };
    if context.is_call(Kind::Send, expression) || context.is_call(Kind::Schedule, expression) {
        return arguments(expression)
            .into_iter()
            .flat_map(|argument| other_variants(peeled(argument), context))
            .collect();
    }
    match enum_of(expression, context) {
        Some(ty) if context.scope.is_message(&ty) || context.names.has_word(Kind::Message, &ty) => {
            other_variants(expression, context)
        }
        _ => Vec::new(),
    }
}

/// Returns the path by which an expression makes a variant.
fn path_of(expression: &Expr) -> Option<&Path> {
    match expression {
        Expr::Path(path) if path.qself.is_none() => Some(&path.path),
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) if path.qself.is_none() => Some(&path.path),
            _ => None,
        },
        Expr::Struct(literal) => Some(&literal.path),
        _ => None,
    }
}

/// Returns the enum of which an expression makes a variant.
pub(super) fn enum_of(expression: &Expr, context: &Context<'_>) -> Option<TypeText> {
    let segments = &path_of(expression)?.segments;
    let before = segments.len().checked_sub(1).filter(|before| *before > 0)?;
    let ty = context.scope.named(segments.iter().take(before))?;
    let variant = &segments.last()?.ident;
    context.scope.variants(&ty)?.iter().any(|known| *variant == known.name).then_some(ty)
}

/// Returns the changes of a variant to others of its enum with the same payload.
pub(super) fn other_variants(expression: &Expr, context: &Context<'_>) -> Vec<Change> {
    let Some(ty) = enum_of(expression, context) else { return Vec::new() };
    let Some(last) = path_of(expression).and_then(|path| path.segments.last()) else { return Vec::new() };
    let variants = context.scope.variants(&ty).unwrap_or_default();
    let Some(at) = variants.iter().position(|variant| last.ident == variant.name) else { return Vec::new() };
    let next = variants.iter().cycle().skip(at + 1).take(variants.len() - 1);
    let same = next.filter(|other| other.shape == variants[at].shape);
    let count = if context.replacements == Replacements::Reduced { 1 } else { variants.len() };
    let range = range_of(expression);
    let change = |other: &EnumVariant| {
        Change::at(range.clone(), replaced(&range, &range_of(&last.ident), vec![other.name.clone().into()]))
    };
    same.take(count).map(change).collect()
}
