//! MSG-D, message deletion: a message is not sent.
//!
//! The deletion of a statement that sends, under the name of the fault: a lost message that no network lost. Source:
//! event-missing and output-missing of Fabbri, Delamaro, Maldonado and Masiero (ISSRE 1994).

use simutant_outcomes::{Class, Tier};
use syn::{Expr, Stmt};

use super::{Change, Context, Operator, Place, called, effect, range_of};
use crate::syntax::names::Kind;

#[derive(Debug)]
pub(super) struct MessageDeletion;

impl Operator for MessageDeletion {
    fn name(&self) -> &'static str {
        "MSG-D"
    }

    fn tier(&self) -> Tier {
        Tier::B
    }

    fn class(&self) -> Class {
        Class::Message
    }

    fn changes(&self, place: Place<'_>, context: &Context<'_>) -> Vec<Change> {
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
}

/// Returns the call by which a statement sends, if it does nothing else.
pub(super) fn sending<'s>(statement: &'s Stmt, context: &Context<'_>) -> Option<&'s Expr> {
    effect(statement).map(called).filter(|call| context.is_call(Kind::Send, call))
}
