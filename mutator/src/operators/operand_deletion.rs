//! ODL, VDL and CDL, operand deletion: of `a op b` one operand remains, of `op a` the operand, and `a op= b` becomes
//! `a = b`.
//!
//! VDL deletes operands that are variables, fields or elements, CDL literals; ODL deletes each. Source: Delamaro,
//! Offutt and Ammann (ICST 2014) as muJava's source has them.

use simutant_outcomes::{Class, Tier};
use syn::{BinOp, Expr, ExprBinary};

use super::operator::{Change, Context, Operator, Place, infection_of};
use super::pieces::source;
use crate::syntax::parts::{binds, peeled, range_of};
use crate::syntax::purity::is_assignment;

pub(super) const OPERAND_DELETION: Operator =
    Operator { name: "ODL", tier: Tier::C, class: Class::General, changes: operand_deletion };

pub(super) const VARIABLE_DELETION: Operator =
    Operator { name: "VDL", tier: Tier::C, class: Class::General, changes: variable_deletion };

pub(super) const CONSTANT_DELETION: Operator =
    Operator { name: "CDL", tier: Tier::C, class: Class::General, changes: constant_deletion };

fn operand_deletion(place: Place<'_>, _context: &Context<'_>) -> Vec<Change> {
    match place {
        Place::Expression(expression @ Expr::Unary(unary)) => {
            vec![Change::new(range_of(expression), vec![source(&*unary.expr)], infection_of(&[&unary.expr]))]
        }
        Place::Expression(Expr::Binary(binary)) if is_assignment(&binary.op) => {
            let plain = vec![source(&*binary.left), " = ".into(), source(&*binary.right)];
            vec![Change::at(range_of(binary), plain)]
        }
        Place::Expression(Expr::Binary(binary)) => without(binary, |_| true),
        _ => Vec::new(),
    }
}

fn variable_deletion(place: Place<'_>, _context: &Context<'_>) -> Vec<Change> {
    let Place::Expression(Expr::Binary(binary)) = place else { return Vec::new() };
    without(binary, |operand| matches!(peeled(operand), Expr::Path(_) | Expr::Field(_) | Expr::Index(_)))
}

fn constant_deletion(place: Place<'_>, _context: &Context<'_>) -> Vec<Change> {
    let Place::Expression(Expr::Binary(binary)) = place else { return Vec::new() };
    without(binary, |operand| matches!(peeled(operand), Expr::Lit(_)))
}

/// Returns the changes of a binary expression to one operand, where the other one is to be deleted. What is left of a
/// relation is a condition only where its operands are: those are the operands of `&&` and `||`.
fn without(binary: &ExprBinary, is_deleted: impl Fn(&Expr) -> bool) -> Vec<Change> {
    let is_comparison =
        matches!(binary.op, BinOp::Lt(_) | BinOp::Gt(_) | BinOp::Le(_) | BinOp::Ge(_) | BinOp::Eq(_) | BinOp::Ne(_));
    if is_comparison || is_assignment(&binary.op) || binds(&binary.left) || binds(&binary.right) {
        return Vec::new();
    }
    let infection = infection_of(&[&binary.left, &binary.right]);
    let sides = [(&binary.right, &binary.left), (&binary.left, &binary.right)];
    let change = |(_, kept): (_, &Expr)| Change::new(range_of(binary), vec![source(kept)], infection);
    sides.into_iter().filter(|(deleted, _)| is_deleted(deleted)).map(|(one, other)| change((one, &**other))).collect()
}
