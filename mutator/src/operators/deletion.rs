//! SDL, statement deletion: a statement or the body of a branch goes, or a decision becomes a constant.
//!
//! Source: muJava's SDL (Deng, Offutt and Li, ICST 2013). Declarations stay, since what follows needs them; assertions
//! stay, since they are the oracle; a body of one statement is not deleted again as a body.

use syn::{Expr, Stmt};

use super::{Change, Infection, Operator, Place, Replacements, infection_of, range_of};

#[derive(Debug)]
pub(super) struct StatementDeletion;

impl Operator for StatementDeletion {
    fn name(&self) -> &'static str {
        "SDL"
    }

    fn changes(&self, place: Place<'_>, _replacements: Replacements) -> Vec<Change> {
        match place {
            Place::Statement(statement @ Stmt::Expr(expression, semicolon)) => {
                let is_deleted_by_its_decision = matches!(expression, Expr::If(_));
                let has_effect_only = semicolon.is_some() || matches!(expression, Expr::ForLoop(_) | Expr::While(_));
                let is_endless_without = matches!(expression, Expr::Loop(_) | Expr::Return(_) | Expr::Macro(_));
                if is_deleted_by_its_decision || is_endless_without || !has_effect_only {
                    return Vec::new();
                }
                vec![Change { range: range_of(statement), replacement: Vec::new(), infection: Infection::Reached }]
            }
            Place::Body(block) if block.stmts.len() > 1 => {
                vec![Change { range: range_of(block), replacement: vec!["{}".into()], infection: Infection::Reached }]
            }
            // The constants of a relation or of a conditional operator are those of ROR and COR.
            Place::Decision(condition) if !matches!(condition, Expr::Binary(_) | Expr::Lit(_)) => ["true", "false"]
                .into_iter()
                .map(|constant| Change {
                    range: range_of(condition),
                    replacement: vec![constant.into()],
                    infection: infection_of(&[condition]),
                })
                .collect(),
            _ => Vec::new(),
        }
    }
}
