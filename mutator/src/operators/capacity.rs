//! CH, channel replacement: a channel holds one message more or less, or a sender does not wait for room.
//!
//! Source: MXC of ConMAn for the count of permits, and its exchange of mechanisms (Bradbury, Cordy and Dingel, Mutation
//! 2006). A literal is left to LVR.

use simutant_outcomes::{Class, Tier};
use syn::Expr;

use super::operator::{Change, Context, Operator, Place, infection_of};
use super::pieces::{arguments, call_name, operand, source};
use crate::syntax::parts::{peeled, range_of};

pub(super) const CAPACITY_REPLACEMENT: Operator =
    Operator { name: "CH", tier: Tier::C, class: Class::Message, changes };

/// Calls whose last argument says how much a channel, a mailbox or a semaphore holds.
const BOUNDED: [&str; 6] = ["channel", "sync_channel", "bounded", "set_mailbox_max", "with_mailbox", "with_permits"];

fn changes(place: Place<'_>, _context: &Context<'_>) -> Vec<Change> {
    let Place::Expression(expression) = place else { return Vec::new() };
    if let Expr::Await(waits) = expression
        && let Expr::MethodCall(call) = &*waits.base
        && call.method == "send"
        && let Some(message) = call.args.first()
    {
        let replacement = vec![source(&*call.receiver), ".try_send(".into(), source(message), ")".into()];
        return vec![Change::at(range_of(expression), replacement)];
    }
    let is_bounded = call_name(expression).is_some_and(|name| BOUNDED.contains(&name.as_str()));
    match arguments(expression)[..] {
        [capacity] if is_bounded && !matches!(peeled(capacity), Expr::Lit(_)) => {
            let with = |text: &str| operand(capacity).into_iter().chain([text.to_owned().into()]).collect();
            let change = |text| Change::new(range_of(capacity), with(text), infection_of(&[capacity]));
            [" + 1", " - 1"].map(change).into()
        }
        _ => Vec::new(),
    }
}
