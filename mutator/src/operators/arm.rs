//! MAD, match arm deletion: an arm goes, so that what it took comes to the arm that takes everything; a guard becomes a
//! constant.
//!
//! Source: cargo-mutants' match arm and guard mutants. An arm goes only if the last arm takes whatever comes and does
//! something else; otherwise the match would not be complete, or the mutant the original.

use simutant_outcomes::{Class, Tier};
use syn::{Expr, Pat};

use super::operator::{Change, Context, Operator, Place, infection_of};
use crate::syntax::parts::range_of;

pub(super) const MATCH_ARM_DELETION: Operator = Operator { name: "MAD", tier: Tier::A, class: Class::General, changes };

fn changes(place: Place<'_>, context: &Context<'_>) -> Vec<Change> {
    match place {
        Place::Arm(arm, last) => {
            let text = |body: &Expr| context.text_of(body).split_whitespace().collect::<String>();
            let is_same = matches!(last.pat, Pat::Wild(_)) && text(&arm.body) == text(&last.body);
            if is_same { Vec::new() } else { vec![Change::at(range_of(arm), Vec::new())] }
        }
        Place::Guard(guard) if !matches!(guard, Expr::Lit(_)) => {
            let change = |constant: &str| Change::new(range_of(guard), vec![constant.into()], infection_of(&[guard]));
            ["true", "false"].map(change).into()
        }
        _ => Vec::new(),
    }
}
