//! AOIS, increment insertion: a variable is raised or lowered by one, before or after it is used.
//!
//! Source: muJava's AOIS, four mutants for each use of a variable that is a number. Rust has no `++`, so it is a block
//! with an assignment; a variable that cannot be assigned to has none. Many of them are equivalent.

use simutant_outcomes::{Class, Tier};
use syn::{Expr, FnArg, ReceiverKind};

use super::operator::{Change, Context, Operator, Place};
use super::pieces::source;
use super::unary_insertion::{is_variable, number, operands};
use crate::syntax::parts::{peeled, range_of};
use crate::text::edit::Piece;

pub(super) const INCREMENT_INSERTION: Operator =
    Operator { name: "AOIS", tier: Tier::C, class: Class::General, changes };

fn changes(place: Place<'_>, context: &Context<'_>) -> Vec<Change> {
    let Place::Expression(expression) = place else { return Vec::new() };
    let used = operands(expression).into_iter().map(peeled);
    let used = used.filter(|used| is_variable(used) && number(used, context).is_some() && is_mutable(used, context));
    used.flat_map(inserted).collect()
}

fn inserted(used: &Expr) -> Vec<Change> {
    let one_of = |operator: &str| -> Vec<Piece> { vec![source(used), format!(" {operator}= 1; ").into()] };
    let before = |operator| {
        let mut pieces: Vec<Piece> = vec!["{ ".into()];
        pieces.extend(one_of(operator));
        pieces.extend([source(used), " }".into()]);
        pieces
    };
    let after = |operator| {
        let mut pieces: Vec<Piece> = vec!["{ let simutant_before = ".into(), source(used), "; ".into()];
        pieces.extend(one_of(operator));
        pieces.push("simutant_before }".into());
        pieces
    };
    let changes = [before("+"), before("-"), after("+"), after("-")];
    changes.into_iter().map(|replacement| Change::at(range_of(used), replacement)).collect()
}

/// Whether a variable can be assigned to, as far as the text shows.
fn is_mutable(used: &Expr, context: &Context<'_>) -> bool {
    match used {
        Expr::Path(path) => path.path.get_ident().is_some_and(|name| context.types.is_mutable(&name.to_string())),
        Expr::Field(field) => match &*field.base {
            Expr::Path(path) if path.path.is_ident("self") => {
                context.signature.inputs.iter().any(|input| match input {
                    FnArg::Receiver(receiver) => {
                        receiver.mutability.is_some()
                            || matches!(&receiver.kind, ReceiverKind::Reference(_, _, Some(_)))
                    }
                    FnArg::Typed(_) => false,
                })
            }
            base => is_mutable(base, context),
        },
        _ => false,
    }
}
