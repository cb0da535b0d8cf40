//! ARG, argument swap: two arguments that stand next to one another and are of one type change places, or two fields of
//! a struct that is made.
//!
//! Confuses sequence with acknowledgement, an identity with another. The types are those of the declarations in the
//! package, so a call of something from elsewhere has its arguments swapped only if the types of both can be read off
//! the text. Source: argument order mutants of mutmut and universalmutator, guarded by types.

use simutant_outcomes::{Class, Tier};
use syn::{Expr, Member};

use super::message_target::exchange_fields;
use super::operator::{Change, Context, Operator, Place};
use super::pieces::{arguments, call_name, swapped};
use crate::syntax::parts::range_of;

pub(super) const ARGUMENT_SWAP: Operator = Operator { name: "ARG", tier: Tier::B, class: Class::General, changes };

fn changes(place: Place<'_>, context: &Context<'_>) -> Vec<Change> {
    match place {
        Place::Expression(call @ (Expr::Call(_) | Expr::MethodCall(_))) => {
            let types = parameter_types(call, context);
            let arguments = arguments(call);
            let whole = range_of(call);
            let pairs = arguments.windows(2).enumerate().filter(|(index, pair)| {
                let declared = types.get(*index).zip(types.get(index + 1));
                let is_one_type = match declared {
                    Some((one, other)) => one == other,
                    None => {
                        let (one, other) = (context.types.of(pair[0]), context.types.of(pair[1]));
                        one.is_some() && one == other
                    }
                };
                is_one_type && context.text_of(pair[0]) != context.text_of(pair[1]) && !is_symmetric(call)
            });
            let change = |(_, pair): (usize, &[&Expr])| {
                Change::at(whole.clone(), swapped(&whole, &range_of(pair[0]), &range_of(pair[1])))
            };
            pairs.map(change).collect()
        }
        Place::Expression(expression @ Expr::Struct(literal)) => {
            let Some(ty) = context.scope.named(literal.path.segments.iter()) else { return Vec::new() };
            let fields: Vec<&syn::FieldValue> = literal.fields.iter().collect();
            let type_of = |field: &syn::FieldValue| match &field.member {
                Member::Named(member) => context.scope.field(&ty, &member.to_string()),
                Member::Unnamed(_) => None,
            };
            let whole = range_of(expression);
            let is_pair = |pair: &&[&syn::FieldValue]| {
                type_of(pair[0]).is_some()
                    && type_of(pair[0]) == type_of(pair[1])
                    && context.text_of(&pair[0].expr) != context.text_of(&pair[1].expr)
            };
            let change =
                |pair: &[&syn::FieldValue]| Change::at(whole.clone(), exchange_fields(&whole, pair[0], pair[1]));
            fields.windows(2).filter(is_pair).map(change).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the types of the parameters of what is called, if the package declares it.
fn parameter_types<'a>(call: &Expr, context: &Context<'a>) -> &'a [String] {
    let scope = context.scope;
    let parameters = match call {
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) => scope.parameters(&path.path),
            _ => None,
        },
        Expr::MethodCall(call) => {
            let method = call.method.to_string();
            match context.types.of_base(&call.receiver) {
                Some(ty) => scope.method_parameters(&ty, &method),
                None if call.args.len() > 1 => scope.parameters_of_any(&method),
                None => None,
            }
        }
        _ => None,
    };
    parameters.unwrap_or_default()
}

/// Whether the order of the arguments cannot matter.
fn is_symmetric(call: &Expr) -> bool {
    matches!(call_name(call).as_deref(), Some("min" | "max" | "swap"))
}
