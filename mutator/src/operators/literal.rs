//! LVR, literal value replacement: an integer n becomes n+1, n-1 and 0, a boolean the other one, a float x becomes 0, 2x and -x.
//!
//! Source: the constants of Andrews, Briand and Labiche (ICSE 2005), Major's LVR. Literals in patterns, types and
//! constant items stay, since no value can be chosen there while the program runs.

use syn::{Expr, ExprLit, Lit};

use super::{Change, Infection, Operator, Place, Replacements, range_of};

#[derive(Debug)]
pub(super) struct LiteralValueReplacement;

impl Operator for LiteralValueReplacement {
    fn name(&self) -> &'static str {
        "LVR"
    }

    fn changes(&self, place: Place<'_>, _replacements: Replacements) -> Vec<Change> {
        let Place::Expression(Expr::Lit(ExprLit { lit, .. })) = place else { return Vec::new() };
        let values: Vec<String> = match lit {
            Lit::Bool(lit) => vec![(!lit.value).to_string()],
            Lit::Int(lit) => match lit.base10_parse::<u128>() {
                Ok(0) => vec!["1", "-1"].into_iter().map(|value| format!("{value}{}", lit.suffix())).collect(),
                Ok(1) => [2, 0].into_iter().map(|value| format!("{value}{}", lit.suffix())).collect(),
                Ok(value) => [value.saturating_add(1), value - 1, 0]
                    .into_iter()
                    .map(|other| format!("{other}{}", lit.suffix()))
                    .collect(),
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
        let change = |value: String| Change::new(range_of(lit), vec![value.into()], Infection::Reached);
        values.into_iter().map(change).collect()
    }
}
