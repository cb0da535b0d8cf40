//! CVR, constant value replacement: the value of a `const` or plain `static` is another one at all its uses. An integer
//! n becomes n+1, n-1, 2n and n/2, a float x becomes 2x and x/2, a boolean the other one; the literal in a call that
//! makes the value, as in `VirtualDuration::from_millis(25)`, likewise.
//!
//! These are wrong limits: a timeout, a window, a number of tries, a range of numbers. Source: Mothra's CRP, constant
//! replacement (King and Offutt, "A Fortran language system for mutation-based software testing", 1991), for declared
//! constants rather than for literals, which LVR replaces; half and double are mistakes of units and widths that one more
//! and one less are too near to show. `CVR:all` makes an integer 0 and 1 as well. No value is out of the range of the
//! type, as far as the text shows it, and none is the original's.
//!
//! Where a constant is used is found out elsewhere (`constants.rs`), since that is in many places.

use std::collections::BTreeSet;

use simutant_outcomes::{Class, Tier};
use syn::{Expr, ExprLit, Lit, UnOp};

use super::operator::{Change, Context, Operator, Place, Replacements};
use crate::syntax::types::{is_integer, is_unsigned_integer};

/// What there is to say about mutants of constants; they are made where constants are declared.
pub(crate) const CONSTANT: Operator = Operator { name: "CVR", tier: Tier::C, class: Class::General, changes };

fn changes(_place: Place<'_>, _context: &Context<'_>) -> Vec<Change> {
    Vec::new()
}

/// Returns what a literal becomes, with or without a sign before it. `ty` is its type, if it is known.
pub(crate) fn values(literal: &Expr, ty: Option<&str>, replacements: Replacements) -> Vec<String> {
    let (literal, sign) = match literal {
        Expr::Unary(inner) if matches!(inner.op, UnOp::Neg(_)) => (&*inner.expr, -1),
        _ => (literal, 1),
    };
    let Expr::Lit(ExprLit { lit, .. }) = literal else { return Vec::new() };
    match lit {
        Lit::Bool(lit) => vec![(!lit.value).to_string()],
        Lit::Float(lit) => floats(lit.base10_parse().ok().map(|value: f64| f64::from(sign) * value), lit.suffix()),
        Lit::Int(lit) if matches!(lit.suffix(), "f32" | "f64") => {
            floats(lit.base10_parse().ok().map(|value: f64| f64::from(sign) * value), lit.suffix())
        }
        Lit::Int(lit) => {
            let Ok(value) = lit.base10_parse::<i128>() else { return Vec::new() };
            let ty = if lit.suffix().is_empty() { ty } else { Some(lit.suffix()) };
            let others = integers(i128::from(sign) * value, ty, replacements).into_iter();
            others.map(|other| format!("{other}{}", lit.suffix())).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns what an integer becomes.
pub(crate) fn integers(value: i128, ty: Option<&str>, replacements: Replacements) -> Vec<i128> {
    let mut others = vec![value.checked_add(1), value.checked_sub(1), value.checked_mul(2), Some(value / 2)];
    if replacements == Replacements::All {
        others.extend([Some(0), Some(1)]);
    }
    let is_possible = |other: i128| match ty {
        Some(ty) if is_integer(ty) => is_in_range(other, ty),
        // What is not negative seldom has a type that can be.
        _ => other >= 0 || value < 0,
    };
    let mut seen = BTreeSet::from([value]);
    others.into_iter().flatten().filter(|other| is_possible(*other) && seen.insert(*other)).collect()
}

fn is_in_range(value: i128, ty: &str) -> bool {
    let bits = match ty.trim_start_matches(['u', 'i']) {
        "size" => 64,
        bits => bits.parse::<u32>().unwrap_or(128),
    };
    if is_unsigned_integer(ty) {
        value >= 0 && (bits > 126 || value < 1 << bits)
    } else {
        bits > 127 || (-(1 << (bits - 1))..1 << (bits - 1)).contains(&value)
    }
}

fn floats(value: Option<f64>, suffix: &str) -> Vec<String> {
    let others = match value {
        Some(0.0) => vec![1.0],
        Some(value) => vec![value * 2.0, value / 2.0],
        None => Vec::new(),
    };
    let is_another = |other: &f64| other.is_finite() && Some(*other) != value;
    others.into_iter().filter(is_another).map(|other| format!("{other:?}{suffix}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(literal: &str, ty: Option<&str>, expect: &[&str]) {
        let literal: Expr = syn::parse_str(literal).expect("the test's own source");
        assert_eq!(values(&literal, ty, Replacements::Reduced), expect);
    }

    #[test]
    fn integers_become_one_more_one_less_twice_and_half() {
        check("16", Some("u32"), &["17", "15", "32", "8"]);
        check("1_399", None, &["1400", "1398", "2798", "699"]);
        check("0x10u8", None, &["17u8", "15u8", "32u8", "8u8"]);
        check("0", Some("usize"), &["1"]);
        check("0", Some("i32"), &["1", "-1"]);
        check("1", None, &["2", "0"]);
        check("2", None, &["3", "1", "4"]);
        check("-3", None, &["-2", "-4", "-6", "-1"]);
        check("200", Some("u8"), &["201", "199", "100"]);
        check("255u8", None, &["254u8", "127u8"]);
        check("-128", Some("i8"), &["-127", "-64"]);
        check("127", Some("i8"), &["126", "63"]);
        check("true", None, &["false"]);
        check("2.5", None, &["5.0", "1.25"]);
        check("-0.5f32", None, &["-1.0f32", "-0.25f32"]);
        check("0.0", None, &["1.0"]);
        check("1e308", None, &["5e307"]);
        check("\"text\"", None, &[]);
        check("'c'", None, &[]);
        assert_eq!(integers(16, None, Replacements::All), [17, 15, 32, 8, 0, 1]);
    }

    #[test]
    fn no_value_is_the_original_or_out_of_range() {
        for (ty, range) in [("u8", 0..=255), ("i8", -128..=127)] {
            for value in range.clone() {
                for replacements in [Replacements::Reduced, Replacements::All] {
                    let others = integers(value, Some(ty), replacements);
                    assert!(others.iter().all(|other| *other != value && range.contains(other)), "{value}: {others:?}");
                    assert!(!others.is_empty(), "{value}");
                    let different: BTreeSet<&i128> = others.iter().collect();
                    assert_eq!(different.len(), others.len(), "{value}: {others:?}");
                }
            }
        }
        for (ty, most) in
            [("u64", i128::from(u64::MAX)), ("i64", i128::from(i64::MAX)), ("usize", i128::from(u64::MAX))]
        {
            assert_eq!(integers(most, Some(ty), Replacements::Reduced), [most - 1, most / 2]);
        }
        assert_eq!(integers(i128::MAX, Some("i128"), Replacements::Reduced), [i128::MAX - 1, i128::MAX / 2]);
    }
}
