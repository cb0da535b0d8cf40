//! MSG-2, message duplication: a message is sent twice.
//!
//! Shows whether the receiver, and the protocol with it, can tell a message from its repetition. Source: event-extra
//! and output-extra of Fabbri, Delamaro, Maldonado and Masiero (ISSRE 1994). Where what is sent cannot be used twice,
//! the first message is made of clones.

use simutant_outcomes::{Class, Tier};

use super::message_deletion::sending;
use super::operator::{Change, Context, Operator, Place};
use super::pieces::{arguments, source};
use crate::syntax::parts::range_of;
use crate::text::edit::Piece;

pub(super) const MESSAGE_DUPLICATION: Operator =
    Operator { name: "MSG-2", tier: Tier::B, class: Class::Message, changes };

fn changes(place: Place<'_>, context: &Context<'_>) -> Vec<Change> {
    let Place::Statement(statement) = place else { return Vec::new() };
    let Some(call) = sending(statement, context) else { return Vec::new() };
    let range = range_of(statement);
    let twice = vec![source(statement), " ".into(), source(statement)];
    let mut cloned: Vec<Piece> = Vec::new();
    let mut at = range.start;
    for argument in arguments(call) {
        let argument = range_of(argument);
        cloned.extend([Piece::Source(at..argument.start), "(".into(), Piece::Source(argument.clone())]);
        cloned.push(").clone()".into());
        at = argument.end;
    }
    cloned.extend([Piece::Source(at..range.end), " ".into(), source(statement)]);
    vec![Change::at(range.clone(), twice), Change::at(range, cloned).standing_in()]
}
