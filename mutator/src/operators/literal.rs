//! LVR, literal value replacement: an integer n becomes n+1, n-1 and 0, a boolean the other one, a float x becomes 0,
//! 2x and -x.
//!
//! Source: Major's LVR. The set of Andrews, Briand and Labiche (ICSE 2005) replaces an integer n by 0, 1, -1, n+1 and
//! n-1. Literals in patterns, types and constant items stay, since no value can be chosen there while the program runs
//! (CVR replaces the values of constants at their uses); -1 is not made where the text shows that the type has none.

use simutant_outcomes::{Class, Tier};
use syn::{Expr, ExprLit, Lit};

use super::operator::{Change, Context, Operator, Place, Replacements};
use crate::syntax::parts::range_of;
use crate::syntax::types::is_unsigned_integer;

pub(super) const LITERAL_VALUE_REPLACEMENT: Operator =
    Operator { name: "LVR", tier: Tier::A, class: Class::General, changes };

fn changes(place: Place<'_>, context: &Context<'_>) -> Vec<Change> {
    let Place::Expression(Expr::Lit(ExprLit { lit, .. })) = place else { return Vec::new() };
    let values: Vec<String> = match lit {
        Lit::Bool(lit) => vec![(!lit.value).to_string()],
        Lit::Int(lit) if matches!(lit.suffix(), "f32" | "f64") => Vec::new(),
        Lit::Int(lit) => match lit.base10_parse::<i128>() {
            Ok(value) => {
                let mut values = vec![value.saturating_add(1), value - 1, 0];
                if context.replacements == Replacements::Andrews {
                    values.extend([1, -1]);
                }
                values.retain(|other| {
                    *other != value && (*other >= 0 || !(context.is_unsigned || is_unsigned_integer(lit.suffix())))
                });
                let mut seen = std::collections::BTreeSet::new();
                values.retain(|other| seen.insert(*other));
                values.into_iter().map(|other| format!("{other}{}", lit.suffix())).collect()
            }
            Err(_) => Vec::new(),
        },
        Lit::Float(lit) => match lit.base10_parse::<f64>() {
            Ok(0.0) => vec![format!("1.0{}", lit.suffix())],
            Ok(value) => {
                [0.0, value * 2.0, -value].into_iter().map(|other| format!("{other:?}{}", lit.suffix())).collect()
            }
            Err(_) => Vec::new(),
        },
        _ => Vec::new(),
    };
    let change = |value: String| Change::at(range_of(lit), vec![value.into()]);
    values.into_iter().map(change).collect()
}
