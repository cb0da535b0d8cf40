//! What the values of constants become.

use std::ops::Range;

use syn::{BinOp, Expr, ExprLit, Lit, UnOp};

use super::{Constant, Constants};
use crate::operators::{Replacements, integers, values};
use crate::syntax::parts::{peeled, range_of};
use crate::syntax::source::Source;
use crate::syntax::types::is_integer;

impl Constants {
    /// Returns the places in the value of a constant with what stands there instead.
    pub(super) fn changes(
        &self,
        sources: &[Source],
        number: usize,
        replacements: Replacements,
    ) -> Vec<(Range<usize>, String)> {
        let Constant { file, index, .. } = self.constants[number];
        let constant = &sources[file].constants[index];
        if constant.obstacle.is_some() {
            return Vec::new();
        }
        let ty = Some(&*constant.ty_text);
        let value = peeled(&constant.value);
        if is_literal(value) {
            return values(value, ty, replacements).into_iter().map(|other| (range_of(value), other)).collect();
        }
        let is_computed = matches!(value, Expr::Binary(_) | Expr::Unary(_));
        if is_computed
            && is_integer(&constant.ty_text)
            && let Some(known) = self.evaluate(sources, number, value)
        {
            let others = integers(known, ty, replacements).into_iter();
            return others.map(|other| (range_of(value), other.to_string())).collect();
        }
        let mut literals = Vec::new();
        add_literals(value, &mut literals);
        let others = literals.into_iter().flat_map(|literal| {
            values(literal, None, replacements).into_iter().map(move |other| (range_of(literal), other))
        });
        others.collect()
    }

    /// Returns the value of a part of a constant's value, if that follows from literals alone.
    fn evaluate(&self, sources: &[Source], number: usize, expression: &Expr) -> Option<i128> {
        let part = |expression: &Expr| self.evaluate(sources, number, expression);
        match expression {
            Expr::Paren(inner) => part(&inner.expr),
            Expr::Lit(ExprLit { lit: Lit::Int(literal), .. }) => literal.base10_parse().ok(),
            Expr::Unary(inner) if matches!(inner.op, UnOp::Neg(_)) => part(&inner.expr)?.checked_neg(),
            Expr::Path(path) => {
                let range = range_of(&path.path.segments.last()?.ident);
                let &(named, _) = self.constants[number].names.iter().find(|(_, last)| *last == range)?;
                let Constant { file, index, ref bases, .. } = self.constants[named];
                let value = peeled(&sources[file].constants[index].value);
                // What names itself does not compile.
                if bases.contains(&number) { None } else { self.evaluate(sources, named, value) }
            }
            Expr::Binary(inner) => {
                let (left, right) = (part(&inner.left)?, part(&inner.right)?);
                match inner.op {
                    BinOp::Add(_) => left.checked_add(right),
                    BinOp::Sub(_) => left.checked_sub(right),
                    BinOp::Mul(_) => left.checked_mul(right),
                    BinOp::Div(_) => left.checked_div(right),
                    BinOp::Rem(_) => left.checked_rem(right),
                    BinOp::Shl(_) => left.checked_mul(1_i128.checked_shl(u32::try_from(right).ok()?)?),
                    BinOp::Shr(_) => left.checked_shr(u32::try_from(right).ok()?),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// Whether an expression is a literal, with a sign or without.
fn is_literal(expression: &Expr) -> bool {
    match expression {
        Expr::Lit(_) => true,
        Expr::Unary(inner) => matches!(inner.op, UnOp::Neg(_)) && matches!(&*inner.expr, Expr::Lit(_)),
        _ => false,
    }
}

/// Adds the literals that a value is made of by calls, casts and operators.
fn add_literals<'e>(expression: &'e Expr, literals: &mut Vec<&'e Expr>) {
    match expression {
        _ if is_literal(expression) => literals.push(expression),
        Expr::Paren(inner) => add_literals(&inner.expr, literals),
        Expr::Group(inner) => add_literals(&inner.expr, literals),
        Expr::Cast(inner) => add_literals(&inner.expr, literals),
        Expr::Unary(inner) => add_literals(&inner.expr, literals),
        Expr::Call(call) => call.args.iter().for_each(|argument| add_literals(argument, literals)),
        Expr::MethodCall(call) => {
            add_literals(&call.receiver, literals);
            call.args.iter().for_each(|argument| add_literals(argument, literals));
        }
        Expr::Binary(inner) => {
            add_literals(&inner.left, literals);
            add_literals(&inner.right, literals);
        }
        _ => {}
    }
}
