//! MSG-D, message deletion: a message is not sent.
//!
//! The deletion of a statement that sends, under the name of the fault: a lost message that no network lost. Source:
//! event-missing and output-missing of Fabbri, Delamaro, Maldonado and Masiero (ISSRE 1994).

use simutant_outcomes::{Class, Tier};
use syn::{Expr, Stmt};

use super::operator::{Change, Context, Operator, Place};
use super::pieces::{called, effect};
use crate::syntax::names::Kind;
use crate::syntax::parts::range_of;

pub(super) const MESSAGE_DELETION: Operator = Operator { name: "MSG-D", tier: Tier::B, class: Class::Message, changes };

fn changes(place: Place<'_>, context: &Context<'_>) -> Vec<Change> {
    match place {
        Place::Statement(statement) if sending(statement, context).is_some() => {
            vec![Change::at(range_of(statement), vec!["".into()])]
        }
        Place::ArmBody(body) if context.is_call(Kind::Send, called(body)) => {
            vec![Change::at(range_of(body), vec!["{}".into()])]
        }
        _ => Vec::new(),
    }
}

/// Returns the call by which a statement sends, if it does nothing else.
pub(super) fn sending<'s>(statement: &'s Stmt, context: &Context<'_>) -> Option<&'s Expr> {
    effect(statement).map(called).filter(|call| context.is_call(Kind::Send, call))
}
