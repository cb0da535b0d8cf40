//! TMR-D, timer arming deletion: a timer is not armed.
//!
//! Deleted is a call that arms one, and the assignment of a new time to a variable that says when something is due.
//! Source: the class of retransmission faults, as ConMAn's RTXC is for thread calls (Bradbury, Cordy and Dingel,
//! Mutation 2006).

use simutant_outcomes::{Class, Tier};
use syn::{BinOp, Expr};

use super::operator::{Change, Context, Operator, Place};
use super::pieces::{arguments, call_name, called, effect};
use crate::syntax::names::Kind;
use crate::syntax::parts::{peeled, range_of};

pub(super) const TIMER_ARMING_DELETION: Operator =
    Operator { name: "TMR-D", tier: Tier::B, class: Class::Time, changes };

fn changes(place: Place<'_>, context: &Context<'_>) -> Vec<Change> {
    let Place::Statement(statement) = place else { return Vec::new() };
    let Some(expression) = effect(statement) else { return Vec::new() };
    let is_armed = match expression {
        Expr::Assign(assign) => context.has_word(Kind::Deadline, &assign.left) && is_future(&assign.right, context),
        expression => {
            let call = called(expression);
            context.is_call(Kind::Timer, call) || context.is_call(Kind::Schedule, call)
        }
    };
    if is_armed { vec![Change::at(range_of(statement), vec!["".into()])] } else { Vec::new() }
}

/// Whether a value is a time to come: the time and something, or that in an option.
fn is_future(value: &Expr, context: &Context<'_>) -> bool {
    match peeled(value) {
        Expr::Binary(sum) => {
            matches!(sum.op, BinOp::Add(_)) && (context.is_now(&sum.left) || context.is_duration(&sum.right))
        }
        some @ Expr::Call(_) if call_name(some).as_deref() == Some("Some") => arguments(some)
            .iter()
            .any(|argument| is_future(argument, context) || context.is_call(Kind::Timer, argument)),
        call => context.is_call(Kind::Timer, call),
    }
}
