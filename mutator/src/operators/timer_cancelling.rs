//! TMR-C, timer cancelling deletion: a timer is not cancelled.
//!
//! Deleted is a call that cancels, and the assignment of nothing to a variable that says when something is due. A stale
//! timer then fires. Source: as TMR-D.

use simutant_outcomes::{Class, Tier};
use syn::Expr;

use super::operator::{Change, Context, Operator, Place};
use super::pieces::{arguments, call_name, called, effect, last_name};
use crate::syntax::names::Kind;
use crate::syntax::parts::range_of;

pub(super) const TIMER_CANCELLING_DELETION: Operator =
    Operator { name: "TMR-C", tier: Tier::B, class: Class::Time, changes };

fn changes(place: Place<'_>, context: &Context<'_>) -> Vec<Change> {
    let Place::Statement(statement) = place else { return Vec::new() };
    let Some(expression) = effect(statement) else { return Vec::new() };
    let is_cancelled = match expression {
        Expr::Assign(assign) => {
            let is_none = last_name(&assign.right).as_deref() == Some("None");
            context.has_word(Kind::Deadline, &assign.left) && is_none
        }
        expression => {
            let call = called(expression);
            let is_of_timer = match call {
                Expr::MethodCall(call) => context.has_word(Kind::Deadline, &call.receiver),
                call => arguments(call).iter().any(|argument| context.has_word(Kind::Deadline, argument)),
            };
            let name = call_name(call);
            let takes_away = matches!(name.as_deref(), Some("take" | "remove" | "clear" | "drop"));
            context.is_call(Kind::Cancel, call) || (is_of_timer && takes_away)
        }
    };
    if is_cancelled { vec![Change::at(range_of(statement), vec!["".into()])] } else { Vec::new() }
}
