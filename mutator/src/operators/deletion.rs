//! SDL, statement deletion: a statement or the body of a branch goes, or a decision becomes a constant.
//!
//! Source: muJava's SDL (Deng, Offutt and Li, ICST 2013). Declarations stay, since what follows needs them; assertions
//! stay, since they are the oracle; a body whose only statement is deleted by itself is not deleted again. muJava's set
//! makes every decision true, and none false.

use simutant_outcomes::{Class, Tier};
use syn::{Block, Expr, Stmt, UnOp};

use super::operator::{Change, Context, Infection, Operator, Place, Replacements, infection_of};
use crate::syntax::parts::range_of;

pub(super) const STATEMENT_DELETION: Operator = Operator { name: "SDL", tier: Tier::A, class: Class::General, changes };

fn changes(place: Place<'_>, context: &Context<'_>) -> Vec<Change> {
    let deletion = |range, nothing: &str| vec![Change::new(range, vec![nothing.into()], Infection::Reached)];
    match place {
        Place::Statement(statement) if is_deleted(statement) => deletion(range_of(statement), ""),
        Place::Body(block) if !is_deleted_as_statement(block) => deletion(range_of(block), "{}"),
        Place::ArmBody(body) if has_effect(body) => deletion(range_of(body), "{}"),
        // The constants of a relation or of a conditional operator are those of ROR and COR.
        Place::Decision(condition) if context.replacements == Replacements::MuJava => {
            vec![Change::new(range_of(condition), vec!["true".into()], infection_of(&[condition]))]
        }
        Place::Decision(condition) if !is_compound(condition) => ["true", "false"]
            .into_iter()
            .map(|constant| Change::new(range_of(condition), vec![constant.into()], infection_of(&[condition])))
            .collect(),
        _ => Vec::new(),
    }
}

/// Returns whether a statement is one that can go by itself.
fn is_deleted(statement: &Stmt) -> bool {
    match statement {
        // An `if` goes when its decision becomes a constant.
        Stmt::Expr(Expr::If(_), _) => false,
        // Without them a loop would have no end and a function no result.
        Stmt::Expr(Expr::Loop(_) | Expr::Return(_), _) => false,
        Stmt::Expr(Expr::Macro(_), _) => false,
        Stmt::Expr(Expr::ForLoop(_) | Expr::While(_), _) => true,
        Stmt::Expr(_, semicolon) => semicolon.is_some(),
        _ => false,
    }
}

/// Returns whether a body is empty, or the deletion of its only statement is the same as its own.
fn is_deleted_as_statement(block: &Block) -> bool {
    match &block.stmts[..] {
        [] => true,
        [Stmt::Expr(expression, None)] => is_deleted(&block.stmts[0]) || !has_effect(expression),
        [only] => is_deleted(only) || matches!(only, Stmt::Macro(_) | Stmt::Local(_) | Stmt::Item(_)),
        _ => false,
    }
}

/// Returns whether an expression may be there for what it does, not for its value.
fn has_effect(expression: &Expr) -> bool {
    match expression {
        Expr::Call(call) => !is_constructor(&call.func),
        Expr::MethodCall(_) | Expr::Await(_) | Expr::Assign(_) | Expr::Match(_) | Expr::If(_) => true,
        Expr::Binary(binary) => crate::syntax::purity::is_assignment(&binary.op),
        _ => false,
    }
}

/// Returns whether what is called makes a value: a variant or a tuple struct, by the case of its name.
fn is_constructor(function: &Expr) -> bool {
    let Expr::Path(path) = function else { return false };
    let last = path.path.segments.last().map(|segment| segment.ident.to_string());
    last.is_some_and(|name| name.starts_with(char::is_uppercase))
}

fn is_compound(condition: &Expr) -> bool {
    match condition {
        Expr::Paren(inner) => is_compound(&inner.expr),
        Expr::Unary(inner) if matches!(inner.op, UnOp::Not(_)) => is_compound(&inner.expr),
        Expr::Binary(_) | Expr::Lit(_) => true,
        _ => false,
    }
}
