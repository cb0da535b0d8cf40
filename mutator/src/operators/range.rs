//! RNG, range replacement: `a..b` becomes `a..=b`, and `a..=b` becomes `a..b`.
//!
//! Source: mutest-rs. The two are different types, so the choice is made around the loop or the chain of calls that
//! uses them.

use simutant_outcomes::{Class, Tier};
use syn::{Expr, RangeLimits};

use super::operator::{Change, Context, Operator, Place};
use super::pieces::operand;
use crate::syntax::parts::range_of;

pub(super) const RANGE_REPLACEMENT: Operator = Operator { name: "RNG", tier: Tier::A, class: Class::General, changes };

fn changes(place: Place<'_>, _context: &Context<'_>) -> Vec<Change> {
    let Place::Expression(Expr::Range(range)) = place else { return Vec::new() };
    let Some(end) = &range.end else { return Vec::new() };
    let other = match range.limits {
        RangeLimits::HalfOpen(_) => "..=",
        RangeLimits::Closed(_) => "..",
    };
    let mut replacement = range.start.as_deref().map(operand).unwrap_or_default();
    replacement.push(other.into());
    replacement.extend(operand(end));
    vec![Change::at(range_of(range), replacement).around()]
}
