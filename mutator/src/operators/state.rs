//! STATE, state replacement: a component goes into, or begins in, another state, or stays in the one that it is in.
//!
//! A state is a variant of an enum that is assigned, that a variable named for states begins with, or that a function
//! returns; it becomes the next variant with the same payload, or each in the whole set. Source: arc-missing,
//! wrong-starting-state and state-exchanged of Fabbri, Delamaro, Maldonado and Masiero (ISSRE 1994), change-target of
//! Aichernig, Lorber and Nickovic (TAP 2013).

use simutant_outcomes::{Class, Tier};
use syn::{Expr, Member, Stmt};

use super::message_variant::{enum_of, other_variants};
use super::operator::{Change, Context, Operator, Place};
use super::pieces::last_name;
use crate::syntax::declarations::bound_name;
use crate::syntax::names::Kind;
use crate::syntax::parts::{peeled, range_of};

pub(super) const STATE_REPLACEMENT: Operator = Operator { name: "STATE", tier: Tier::B, class: Class::State, changes };

fn changes(place: Place<'_>, context: &Context<'_>) -> Vec<Change> {
    match place {
        Place::Statement(statement @ Stmt::Expr(Expr::Assign(assign), Some(_))) => {
            let is_state = enum_of(peeled(&assign.right), context).is_some();
            let is_named = last_name(&assign.left).is_some_and(|name| context.names.has_word(Kind::State, &name));
            if is_state || is_named { vec![Change::at(range_of(statement), vec!["".into()])] } else { Vec::new() }
        }
        Place::Expression(Expr::Assign(assign)) => other_variants(peeled(&assign.right), context),
        Place::Statement(Stmt::Local(local)) => match (&local.init, bound_name(&local.pat)) {
            (Some(init), Some(name)) if context.names.has_word(Kind::State, &name) => {
                other_variants(peeled(&init.expr), context)
            }
            _ => Vec::new(),
        },
        Place::Expression(Expr::Struct(literal)) => {
            let states = literal.fields.iter().filter(|field| match &field.member {
                Member::Named(name) => context.names.has_word(Kind::State, &name.to_string()),
                Member::Unnamed(_) => false,
            });
            states.flat_map(|field| other_variants(peeled(&field.expr), context)).collect()
        }
        Place::Value(value) => other_variants(value, context),
        _ => Vec::new(),
    }
}
